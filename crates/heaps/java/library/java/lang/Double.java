package java.lang;

public final class Double extends Number implements Comparable<Double> {
    public static final double POSITIVE_INFINITY = (double) (1.0 / 0.0);
    public static final double NEGATIVE_INFINITY = (double) (-1.0 / 0.0);
    public static final double NaN = (double) (0.0 / 0.0);
    public static final double MAX_VALUE = 0x1.fffffffffffffp+1023;
    public static final double MIN_VALUE = 0x0.0000000000001p-1022;

    @SuppressWarnings("unchecked")
    public static final Class<Double> TYPE = (Class<Double>) Class.getPrimitiveClass("double");

    private final double value;

    public Double(double value) {
        this.value = value;
    }

    public static Double valueOf(double value) {
        return new Double(value);
    }

    public static native long doubleToRawLongBits(double value);

    public static native double longBitsToDouble(long bits);

    public static long doubleToLongBits(double value) {
        return value != value ? 0x7ff8000000000000L : doubleToRawLongBits(value);
    }

    public static boolean isNaN(double value) {
        return value != value;
    }

    public boolean isNaN() {
        return isNaN(value);
    }

    public static boolean isInfinite(double value) {
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
    public static native String toString(double value);

    public String toString() {
        return toString(value);
    }

    public int hashCode() {
        return hashCode(value);
    }

    public static int hashCode(double value) {
        return Long.hashCode(doubleToLongBits(value));
    }

    public boolean equals(Object other) {
        return other instanceof Double && doubleToLongBits(((Double) other).value) == doubleToLongBits(value);
    }

    public int compareTo(Double other) {
        return compare(value, other.value);
    }

    public static int compare(double x, double y) {
        if (x < y) return -1;
        if (x > y) return 1;
        long a = doubleToLongBits(x), b = doubleToLongBits(y);
        return a == b ? 0 : a < b ? -1 : 1;
    }
}
