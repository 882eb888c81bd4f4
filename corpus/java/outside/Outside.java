// What leads out of the program: each is a gap, and neither an exception nor an answer of the machine's own.
public class Outside {
    static class ThreadStarts {
        public static void main(String[] args) {
            new Thread(() -> System.out.println("runs")).start();
        }
    }

    static class ThreadHasAName {
        public static void main(String[] args) {
            System.out.println(Thread.currentThread().getName());
        }
    }

    static class PropertyWithDefault {
        public static void main(String[] args) {
            System.out.println(System.getProperty("nothing", "default"));
        }
    }

    static class Properties {
        public static void main(String[] args) {
            System.out.println(System.getProperties() != null);
        }
    }

    static class Input {
        public static void main(String[] args) throws java.io.IOException {
            System.out.println(System.in.read());
        }
    }

    static class Formatted {
        public static void main(String[] args) {
            System.out.printf("%05d%n", 3);
        }
    }

    static class Bytes {
        public static void main(String[] args) {
            System.out.write('a');
        }
    }

    static class Characters {
        public static void main(String[] args) {
            System.out.print(new char[] {'a', 'b'});
        }
    }

    static class StreamOfItsOwn {
        public static void main(String[] args) {
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            new java.io.PrintStream(bytes).print("text");
            System.out.println(bytes.size());
        }
    }
}
