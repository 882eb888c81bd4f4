import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Texts in the default locale, formats, and atomic references. */
public class Texts {
    interface Part { void run(); }

    static void part(String name, Part part) {
        try {
            part.run();
        } catch (RuntimeException e) {
            System.out.println(name + ": " + e.getClass().getName());
        }
    }

    public static void main(String[] args) {
        part("case", () -> {
            System.out.println("hello, World".toUpperCase() + " " + "HELLO, World".toLowerCase());
            System.out.println("stra\u00dfe".toUpperCase().length());
        });
        part("format", () -> {
            System.out.println(String.format("%d %s %x %X %c", 42, "text", 255, 255, 'q'));
            System.out.println(String.format("[%5d|%-5d|%05d|%10s|%-10s|%3c]", 42, -42, 42, "right", "left", 'x'));
            System.out.println(String.format("%s and %s are %b%n", 1, null, true).length());
            System.out.println("%d items".formatted(3));
            System.out.println(String.format("%d %d %x", Long.MIN_VALUE, (byte) -1, -1L));
            System.out.println(String.format("%%|%+d|%2$s|%1$d", 7, "second"));
        });
        part("missing", () -> System.out.println(String.format("%d %d", 1)));
        part("other", () -> System.out.println(String.format("%d", "text")));
        part("unknown", () -> System.out.println(String.format("%q", 1)));
        part("reference", () -> {
            AtomicReference<String> held = new AtomicReference<>("a");
            System.out.println(held.compareAndSet("b", "c") + " " + held.get());
            System.out.println(held.compareAndSet("a", "c") + " " + held.getAndSet("d") + " " + held);
            System.out.println(held.updateAndGet(text -> text + "!") + held.getAndUpdate(text -> "e") + held.getPlain());
            System.out.println(held.compareAndExchange("e", "f") + held.getAcquire());
            held.lazySet("g");
            System.out.println(held.get());
        });
        part("integer", () -> {
            AtomicInteger count = new AtomicInteger(5);
            System.out.println(count.getAndAdd(3) + " " + count.incrementAndGet() + " " + count.compareAndSet(9, 1) + count);
        });
        part("boolean", () -> {
            var flag = new java.util.concurrent.atomic.AtomicBoolean();
            System.out.println(flag.compareAndSet(false, true) + " " + flag.getAndSet(false) + " " + flag.get());
        });
        part("property", () -> System.out.println(System.getProperty("line.separator").length()
            + System.getProperty("file.separator") + System.getProperty("path.separator")));
    }
}
