package java.lang;

public final class Float extends Number implements Comparable<Float> {
    public static final float POSITIVE_INFINITY = (float) (1.0 / 0.0);
    public static final float NEGATIVE_INFINITY = (float) (-1.0 / 0.0);
    public static final float NaN = (float) (0.0 / 0.0);
    public static final float MAX_VALUE = 0x1.fffffep+127f;
    public static final float MIN_VALUE = 0x0.000002p-126f;

    @SuppressWarnings("unchecked")
    public static final Class<Float> TYPE = (Class<Float>) Class.getPrimitiveClass("float");

    private final float value;

    public Float(float value) {
        this.value = value;
    }

    public static Float valueOf(float value) {
        return new Float(value);
    }

    public static native int floatToRawIntBits(float value);

    public static native float intBitsToFloat(int bits);

    public static int floatToIntBits(float value) {
        return value != value ? 0x7fc00000 : floatToRawIntBits(value);
    }

    public static boolean isNaN(float value) {
        return value != value;
    }

    public boolean isNaN() {
        return isNaN(value);
    }

    public static boolean isInfinite(float value) {
        return value == POSITIVE_INFINITY || value == NEGATIVE_INFINITY;
    }

    public int intValue() {
        return (int) value;
    }

    public long longValue() {
        return (long) value;
    }

    public float floatValue() {
        return (float) value;
    }

    public double doubleValue() {
        return value;
    }

    /** Shortest decimals are the JDK's. */
    public static native String toString(float value);

    public String toString() {
        return toString(value);
    }

    public int hashCode() {
        return hashCode(value);
    }

    public static int hashCode(float value) {
        return floatToIntBits(value);
    }

    public boolean equals(Object other) {
        return other instanceof Float && floatToIntBits(((Float) other).value) == floatToIntBits(value);
    }

    public int compareTo(Float other) {
        return compare(value, other.value);
    }

    public static int compare(float x, float y) {
        if (x < y) return -1;
        if (x > y) return 1;
        int a = floatToIntBits(x), b = floatToIntBits(y);
        return a == b ? 0 : a < b ? -1 : 1;
    }
}
