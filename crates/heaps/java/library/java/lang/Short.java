package java.lang;

public final class Short extends Number implements Comparable<Short> {
    public static final short MIN_VALUE = -32768;
    public static final short MAX_VALUE = 32767;
    public static final int SIZE = 16;
    public static final int BYTES = 2;

    @SuppressWarnings("unchecked")
    public static final Class<Short> TYPE = (Class<Short>) Class.getPrimitiveClass("short");

    private final short value;

    public Short(short value) {
        this.value = value;
    }

    /** The boxes that are the same whenever they are equal. */
    private static final class Cache {
        static final Short[] BOXES = new Short[256];

        static {
            for (int at = 0; at < 256; at++) BOXES[at] = new Short((short) (at - 128));
        }
    }

    public static Short valueOf(short value) {
        if (value >= -128 && value <= 127) return Cache.BOXES[(int) value + 128];
        return new Short(value);
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

    public static String toString(short value) {
        return Long.toString(value);
    }

    public int hashCode() {
        return hashCode(value);
    }

    public static int hashCode(short value) {
        return (int) value;
    }

    public boolean equals(Object other) {
        return other instanceof Short && (((Short) other).value) == value;
    }

    public int compareTo(Short other) {
        return compare(value, other.value);
    }

    public static int compare(short x, short y) {
        return x - y;
    }
}
