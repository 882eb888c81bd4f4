package java.lang;

public final class Integer extends Number implements Comparable<Integer> {
    public static final int MIN_VALUE = 0x80000000;
    public static final int MAX_VALUE = 0x7fffffff;
    public static final int SIZE = 32;
    public static final int BYTES = 4;

    @SuppressWarnings("unchecked")
    public static final Class<Integer> TYPE = (Class<Integer>) Class.getPrimitiveClass("int");

    private final int value;

    public Integer(int value) {
        this.value = value;
    }

    /** The boxes that are the same whenever they are equal. */
    private static final class Cache {
        static final Integer[] BOXES = new Integer[256];

        static {
            for (int at = 0; at < 256; at++) BOXES[at] = new Integer((int) (at - 128));
        }
    }

    public static Integer valueOf(int value) {
        if (value >= -128 && value <= 127) return Cache.BOXES[(int) value + 128];
        return new Integer(value);
    }

    public byte byteValue() {
        return (byte) value;
    }

    public short shortValue() {
        return (short) value;
    }

    public int intValue() {
        return (int) value;
    }

    public long longValue() {
        return value;
    }

    public float floatValue() {
        return value;
    }

    public double doubleValue() {
        return value;
    }

    public String toString() {
        return toString(value);
    }

    public static String toString(int value) {
        return Long.toString(value);
    }

    public int hashCode() {
        return hashCode(value);
    }

    public static int hashCode(int value) {
        return value;
    }

    public boolean equals(Object other) {
        return other instanceof Integer && (((Integer) other).value) == value;
    }

    public int compareTo(Integer other) {
        return compare(value, other.value);
    }

    public static int compare(int x, int y) {
        return x < y ? -1 : x == y ? 0 : 1;
    }

    public static int max(int a, int b) {
        return a >= b ? a : b;
    }

    public static int min(int a, int b) {
        return a <= b ? a : b;
    }

    public static int sum(int a, int b) {
        return a + b;
    }

    public static int signum(int value) {
        return value < 0 ? -1 : value == 0 ? 0 : 1;
    }

    public static int compareUnsigned(int x, int y) {
        return compare(x + MIN_VALUE, y + MIN_VALUE);
    }

    public static int bitCount(int value) {
        int count = 0;
        for (int at = 0; at < SIZE; at++) count += (int) (value >>> at & 1);
        return count;
    }

    public static int numberOfLeadingZeros(int value) {
        int at = SIZE - 1;
        while (at >= 0 && (value >>> at & 1) == 0) at--;
        return SIZE - 1 - at;
    }

    public static int numberOfTrailingZeros(int value) {
        int at = 0;
        while (at < SIZE && (value >>> at & 1) == 0) at++;
        return at;
    }

    public static int highestOneBit(int value) {
        return value == 0 ? 0 : 1 << SIZE - 1 - numberOfLeadingZeros(value);
    }

    public static int lowestOneBit(int value) {
        return value & -value;
    }

    public static int rotateLeft(int value, int distance) {
        return value << distance | value >>> -distance;
    }

    public static int rotateRight(int value, int distance) {
        return value >>> distance | value << -distance;
    }

    public static int parseInt(String text) {
        return (int) Text.parse(text, MIN_VALUE, MAX_VALUE);
    }
}
