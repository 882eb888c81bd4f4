package java.lang;

public final class Long extends Number implements Comparable<Long> {
    public static final long MIN_VALUE = 0x8000000000000000L;
    public static final long MAX_VALUE = 0x7fffffffffffffffL;
    public static final int SIZE = 64;
    public static final int BYTES = 8;

    @SuppressWarnings("unchecked")
    public static final Class<Long> TYPE = (Class<Long>) Class.getPrimitiveClass("long");

    private final long value;

    public Long(long value) {
        this.value = value;
    }

    /** The boxes that are the same whenever they are equal. */
    private static final class Cache {
        static final Long[] BOXES = new Long[256];

        static {
            for (int at = 0; at < 256; at++) BOXES[at] = new Long((long) (at - 128));
        }
    }

    public static Long valueOf(long value) {
        if (value >= -128 && value <= 127) return Cache.BOXES[(int) value + 128];
        return new Long(value);
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

    public static String toString(long value) {
        return Text.decimal(value);
    }

    public int hashCode() {
        return hashCode(value);
    }

    public static int hashCode(long value) {
        return (int) (value ^ value >>> 32);
    }

    public boolean equals(Object other) {
        return other instanceof Long && (((Long) other).value) == value;
    }

    public int compareTo(Long other) {
        return compare(value, other.value);
    }

    public static int compare(long x, long y) {
        return x < y ? -1 : x == y ? 0 : 1;
    }

    public static long max(long a, long b) {
        return a >= b ? a : b;
    }

    public static long min(long a, long b) {
        return a <= b ? a : b;
    }

    public static long sum(long a, long b) {
        return a + b;
    }

    public static int signum(long value) {
        return value < 0 ? -1 : value == 0 ? 0 : 1;
    }

    public static int compareUnsigned(long x, long y) {
        return compare(x + MIN_VALUE, y + MIN_VALUE);
    }

    public static int bitCount(long value) {
        int count = 0;
        for (int at = 0; at < SIZE; at++) count += (int) (value >>> at & 1);
        return count;
    }

    public static int numberOfLeadingZeros(long value) {
        int at = SIZE - 1;
        while (at >= 0 && (value >>> at & 1) == 0) at--;
        return SIZE - 1 - at;
    }

    public static int numberOfTrailingZeros(long value) {
        int at = 0;
        while (at < SIZE && (value >>> at & 1) == 0) at++;
        return at;
    }

    public static long highestOneBit(long value) {
        return value == 0 ? 0 : 1L << SIZE - 1 - numberOfLeadingZeros(value);
    }

    public static long lowestOneBit(long value) {
        return value & -value;
    }

    public static long rotateLeft(long value, int distance) {
        return value << distance | value >>> -distance;
    }

    public static long rotateRight(long value, int distance) {
        return value >>> distance | value << -distance;
    }

    public static long parseLong(String text) {
        return (long) Text.parse(text, MIN_VALUE, MAX_VALUE);
    }
}
