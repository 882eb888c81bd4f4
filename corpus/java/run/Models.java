import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;

/** What data structures use of java.lang and java.util: the same with the JDK's classes and with the models. */
public class Models {
    enum Colour { RED, GREEN { @Override public String toString() { return "green!"; } }, BLUE }

    record Pair(int key, String name) implements Comparable<Pair> {
        public int compareTo(Pair other) {
            return Integer.compare(key, other.key);
        }
    }

    static class Range implements Iterable<Integer> {
        final int end;

        Range(int end) {
            this.end = end;
        }

        public Iterator<Integer> iterator() {
            return new Iterator<>() {
                int at;

                public boolean hasNext() {
                    return at < end;
                }

                public Integer next() {
                    if (!hasNext()) throw new NoSuchElementException("at " + at);
                    return at++;
                }
            };
        }
    }

    static class Copied implements Cloneable {
        int[] items = {1, 2};

        Copied copy() throws CloneNotSupportedException {
            return (Copied) clone();
        }
    }

    static void say(Object what) {
        System.out.println(what);
    }

    static void fails(String what, Runnable action) {
        try {
            action.run();
            say(what + " went well");
        } catch (RuntimeException | AssertionError e) {
            say(what + ": " + e.getClass().getName() + ", " + (e instanceof ArrayStoreException ? null : e.getMessage()) + (e.getCause() == null ? "" : ", " + e.getCause()));
        }
    }

    public static void main(String[] args) throws Exception {
        boxes();
        strings();
        say(Math.max(3, -4) + " " + Math.abs(-7L) + " " + (1 / Math.min(0.0, -0.0) < 0) + " " + Math.floorMod(-7, 3) + " " + Math.floorDiv(-7, 3));
        fails("addExact", () -> Math.addExact(Integer.MAX_VALUE, 1));
        fails("multiplyExact", () -> Math.multiplyExact(1 << 20, 1 << 20));
        int sum = 0;
        for (int item : new Range(5)) sum += item;
        say(sum);
        fails("next", () -> new Range(0).iterator().next());
        fails("remove", () -> new Range(1).iterator().remove());
        Comparator<Pair> order = Comparator.comparing(Pair::name);
        Pair a = new Pair(1, "one"), b = new Pair(2, "two");
        say(order.compare(a, b) < 0);
        say(order.reversed().compare(a, b) < 0);
        say(Comparator.<Pair>naturalOrder().compare(a, b));
        say(a + " " + a.equals(new Pair(1, "one")) + " " + a.equals(b) + " " + (a.hashCode() == new Pair(1, "one").hashCode()));
        say(Objects.hash(1, 2, 3) + " " + Objects.equals(null, a) + " " + Objects.toString(null, "none"));
        fails("requireNonNull", () -> Objects.requireNonNull(null, "wanted"));
        fails("checkIndex", () -> Objects.checkIndex(3, 3));
        Predicate<String> empty = String::isEmpty;
        Function<Integer, Integer> twice = x -> 2 * x;
        say(empty.negate().or(String::isEmpty).test("x") + " " + twice.andThen(x -> x + 1).compose((Integer x) -> x - 1).apply(5));
        for (Colour colour : Colour.values()) say(colour + " " + colour.ordinal() + " " + colour.name() + " " + colour.getDeclaringClass().getName());
        say(Colour.valueOf("BLUE").compareTo(Colour.RED));
        fails("valueOf", () -> Colour.valueOf("PINK"));
        say(switch (Colour.valueOf("GREEN")) { case RED -> 1; case GREEN -> 2; case BLUE -> 3; });
        Copied one = new Copied(), two = one.copy();
        say(one != two && one.items == two.items && one.items.clone().length == 2);
        arrays();
        fails("divide", () -> say(1 / sum(0)));
        fails("cast", () -> say(((Object) "text").getClass().cast("fine")));
        fails("cause", () -> { throw new IllegalStateException("outer", new RuntimeException("inner")); });
        fails("assertion", () -> { throw new AssertionError(42); });
        say(new Object().toString().startsWith("java.lang.Object@"));
        say(new int[0].getClass().getName() + " " + String[][].class.getName() + " " + Models.class.getSimpleName() + " " + int.class);
    }

    static int sum(int... items) {
        int sum = 0;
        for (int item : items) sum += item;
        return sum;
    }

    static void boxes() {
        Integer small = 127, same = 127, large = 128, other = 128;
        say((small == same) + " " + (large == other) + " " + large.equals(other) + " " + small.compareTo(large));
        say(Long.valueOf(-5).hashCode() + " " + Boolean.TRUE.hashCode() + " " + Character.valueOf('x') + " " + Byte.valueOf((byte) -1) + " " + Short.valueOf((short) 300).intValue());
        say(Integer.toString(Integer.MIN_VALUE) + " " + Long.MIN_VALUE + " " + Long.MAX_VALUE + " " + Integer.parseInt("-123") + " " + Long.parseLong("9223372036854775807"));
        fails("parse", () -> Integer.parseInt("2147483648"));
        fails("parse", () -> Integer.parseInt("12x"));
        fails("parse", () -> Integer.parseInt(""));
        say(Integer.bitCount(-1) + " " + Long.numberOfLeadingZeros(1) + " " + Integer.numberOfTrailingZeros(96) + " " + Integer.highestOneBit(100) + " " + Integer.rotateLeft(0x80000001, 1));
        say(Double.compare(0.0, -0.0) + " " + Double.valueOf(Double.NaN).equals(Double.NaN) + " " + Float.floatToIntBits(1.5f) + " " + Double.isNaN(0.0 / 0.0));
        say(Integer.compareUnsigned(-1, 1) + " " + Character.isDigit('7') + " " + Character.isLetter('?') + " " + (int) (Math.sqrt(2.25) * 2));
    }

    static void strings() {
        String text = "abc" + 1 + 2L + 'x' + true + null;
        say(text + " " + text.length() + " " + text.charAt(3) + " " + text.hashCode() + " " + text.indexOf('x') + " " + text.substring(2, 5));
        say("abc".compareTo("abd") + " " + "abc".equals("ab" + "c") + " " + "\u20ac\u00e4".length() + " " + "\u20ac".charAt(0) + " " + "a".concat("b"));
        fails("charAt", () -> "abc".substring(4));
        StringBuilder builder = new StringBuilder("x").append(1).append('y').append(2L).append((Object) null).append(false);
        say(builder + " " + builder.length() + " " + builder.reverse());
        say(String.valueOf(new char[] {'o', 'k'}.length) + new String(new char[] {'o', 'k'}));
    }

    static void arrays() {
        int[] numbers = Arrays.copyOf(new int[] {1, 2, 3}, 5);
        say(Arrays.toString(numbers) + " " + Arrays.hashCode(numbers) + " " + Arrays.equals(numbers, numbers.clone()));
        String[] words = Arrays.copyOf(new String[] {"a"}, 2);
        say(Arrays.toString(words) + words.getClass().getName());
        Object[] mixed = {"a", "b", 3, "d"};
        String[] narrow = new String[4];
        fails("arraycopy", () -> System.arraycopy(mixed, 0, narrow, 0, 4));
        say(Arrays.toString(narrow).substring(0, 6));
        fails("arraycopy", () -> System.arraycopy(mixed, 0, narrow, 2, 2));
        say(Arrays.toString(narrow));
        fails("store", () -> ((Object[]) narrow)[0] = "fits");
        try {
            ((Object[]) narrow)[1] = 1;
        } catch (ArrayStoreException e) {
            say("another class");
        }
    }
}
