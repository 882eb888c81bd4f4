import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;

/** Runs the test methods of the classes it is given and counts; what JUnit's console does, for a machine without it. */
public class RunTests {
    public static void main(String[] names) throws Exception {
        int passed = 0, failed = 0;
        for (String name : names) {
            Class<?> tests = Class.forName(name);
            for (Method method : tests.getDeclaredMethods()) {
                if (method.getAnnotation(Test.class) == null) continue;
                var constructor = tests.getDeclaredConstructor();
                constructor.setAccessible(true);
                method.setAccessible(true);
                try {
                    method.invoke(constructor.newInstance());
                    passed++;
                } catch (InvocationTargetException e) {
                    failed++;
                    System.out.println("FAILED " + name + "." + method.getName() + ": " + e.getCause());
                }
            }
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }
}
