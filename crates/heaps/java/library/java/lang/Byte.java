package java.lang;

public final class Byte extends Number implements Comparable<Byte> {
    public static final byte MIN_VALUE = -128;
    public static final byte MAX_VALUE = 127;
    public static final int SIZE = 8;
    public static final int BYTES = 1;

    @SuppressWarnings("unchecked")
    public static final Class<Byte> TYPE = (Class<Byte>) Class.getPrimitiveClass("byte");

    private final byte value;

    public Byte(byte value) {
        this.value = value;
    }

    /** The boxes that are the same whenever they are equal. */
    private static final class Cache {
        static final Byte[] BOXES = new Byte[256];

        static {
            for (int at = 0; at < 256; at++) BOXES[at] = new Byte((byte) (at - 128));
        }
    }

    public static Byte valueOf(byte value) {
        if (value >= -128 && value <= 127) return Cache.BOXES[(int) value + 128];
        return new Byte(value);
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

    public static String toString(byte value) {
        return Long.toString(value);
    }

    public int hashCode() {
        return hashCode(value);
    }

    public static int hashCode(byte value) {
        return (int) value;
    }

    public boolean equals(Object other) {
        return other instanceof Byte && (((Byte) other).value) == value;
    }

    public int compareTo(Byte other) {
        return compare(value, other.value);
    }

    public static int compare(byte x, byte y) {
        return x - y;
    }
}
