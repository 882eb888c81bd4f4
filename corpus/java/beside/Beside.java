import java.util.Arrays;

/** What was once wrong beside the JVM: over inputs of which nothing is known, these are all the ends there are. */
public class Beside {
    static class Parent {
        private int number;

        int parents() {
            return number;
        }
    }

    static class Child extends Parent {
        private int number;
    }

    /** Two private fields of one name in one object are two. */
    static int twoFields(Child child) {
        return child.parents() == 1 && child.number == 2 ? 1 : 0;
    }

    static boolean longs(long[] a, long[] b) {
        return Arrays.equals(a, b);
    }

    static int firstLong(long[] a, long[] b) {
        return Arrays.mismatch(a, b);
    }

    interface Sized {
        int size();
    }

    static class Small implements Sized {
        byte size;

        public int size() {
            return size;
        }
    }

    static class Large implements Sized {
        int size;

        public int size() {
            return size;
        }
    }

    /** Numbers of one name and of two widths. */
    static int widths(Sized sized) {
        return sized.size() > 200 ? 1 : 0;
    }

    record Range(int low, int high) {
        Range {
            if (high < low) {
                throw new IllegalArgumentException();
            }
        }
    }

    record Pair(int one, long two) {}

    /** No range is empty: what its constructor refuses is no input. */
    static int ranges(Range range) {
        return range != null && range.high() < range.low() ? 1 / 0 : 0;
    }

    static int pairs(Pair pair) {
        return pair.one() < pair.two() ? 1 : 0;
    }

    static class Node {
        static final Node NIL = new Node();
        Node next;
        int key;
    }

    /** An input may be what a class initialiser made. */
    static int sentinel(Node node) {
        return node.next == Node.NIL ? 1 : 0;
    }

    /** A write to it shows in an input that is the same. */
    static int shared(Node node) {
        node.key = 3;
        return Node.NIL.key == 3 ? 1 : 0;
    }

    static class Base {}

    static class Derived extends Base {}

    /** An array of bases may be one of derived objects. */
    static int stores(Base[] bases) {
        bases[0] = new Base();
        return 1;
    }

    static int instanceOf(Base[] bases) {
        return bases instanceof Derived[] ? 1 : 0;
    }

    /** An object may be of any class. */
    static int anything(Object object) {
        return object instanceof Base ? 1 : 0;
    }

    static int same(Object object, Base base) {
        return object == base ? 1 : 0;
    }

    /** Only null matters. */
    static int nothing(Object object, String text) {
        return object == null ? 1 : 0;
    }

    /** Where it was thrown, not where it was thrown again. */
    static int rethrown(int[] numbers) {
        try {
            return numbers[0];
        } finally {
            numbers = null;
        }
    }

    static int inside(Base lock, int[] numbers) {
        synchronized (lock) {
            return numbers[0];
        }
    }

    static void notified(Base lock, Base other) {
        synchronized (lock) {
            other.notify();
        }
    }

    static class Named {
        int key;

        @Override
        public String toString() {
            if (key == 7) {
                throw new IllegalStateException();
            }
            return "named";
        }
    }

    /** An object is asked for its text, whatever the text of the rest. */
    static int appended(int number, Named named) {
        String text = new StringBuilder().append(number).append(named).append('c').toString();
        return text == null ? 0 : 1;
    }

    /** A message of known and unknown parts. */
    static int message(int number, char sign, boolean odd, Named named) {
        if (number > 3) {
            StringBuilder text = new StringBuilder("n ").append(12).append(sign).append(odd);
            throw new IllegalArgumentException(text.append(number).append((String) null).append("!").toString());
        }
        return 1;
    }

    /** A part that the text does not have. */
    static int partly(int number) {
        StringBuilder text = new StringBuilder();
        text.append(number);
        text.append("abc", 2, 9);
        return 1;
    }

    /** The characters of a number are those of its digits. */
    static int digits(int number) {
        String text = Integer.toString(number);
        if (text.length() == 11) {
            return 1;
        }
        return text.charAt(text.length() - 1) == '7' ? 2 : 3;
    }

    static int longDigits(long number) {
        String text = String.valueOf(number);
        return text.charAt(0) == '-' ? text.length() > 5 ? 1 : 2 : 3;
    }

    /** A format whose second part does not fit. */
    static int formatted(int number) {
        return number > 300 && String.format("%d %d", number, "text") == null ? 0 : 1;
    }
}
