package java.lang;

/** As in the JDK, one byte for each unit where all are below 256, else two, the low one first. */
public final class String implements java.io.Serializable, Comparable<String>, CharSequence {
    private final byte[] value;
    private final byte coder;
    private int hash;

    public String() {
        this(new byte[0], (byte) 0);
    }

    public String(String other) {
        this(other.value, other.coder);
    }

    public String(char[] units) {
        this(units, 0, units.length);
    }

    public String(char[] units, int start, int count) {
        if (start < 0 || count < 0 || start > units.length - count) throw new StringIndexOutOfBoundsException(start);
        boolean narrow = true;
        for (int at = 0; at < count; at++) if (units[start + at] > 255) narrow = false;
        byte[] bytes = new byte[narrow ? count : 2 * count];
        for (int at = 0; at < count; at++) {
            char unit = units[start + at];
            if (narrow) bytes[at] = (byte) unit;
            else {
                bytes[2 * at] = (byte) unit;
                bytes[2 * at + 1] = (byte) (unit >> 8);
            }
        }
        value = bytes;
        coder = (byte) (narrow ? 0 : 1);
    }

    String(byte[] value, byte coder) {
        this.value = value;
        this.coder = coder;
    }

    public int length() {
        return value.length >> coder;
    }

    public boolean isEmpty() {
        return value.length == 0;
    }

    public char charAt(int index) {
        if (index < 0 || index >= length())
            throw new StringIndexOutOfBoundsException("index " + index + ", length " + length());
        if (coder == 0) return (char) (value[index] & 255);
        return (char) (value[2 * index] & 255 | value[2 * index + 1] << 8);
    }

    public char[] toCharArray() {
        char[] units = new char[length()];
        for (int at = 0; at < units.length; at++) units[at] = charAt(at);
        return units;
    }

    public String substring(int start) {
        return substring(start, length());
    }

    public String substring(int start, int end) {
        if (start < 0 || end < start || end > length())
            throw new StringIndexOutOfBoundsException("begin " + start + ", end " + end + ", length " + length());
        return new String(toCharArray(), start, end - start);
    }

    public String concat(String other) {
        return new StringBuilder().append(this).append(other).toString();
    }

    public int indexOf(int unit) {
        for (int at = 0; at < length(); at++) if (charAt(at) == unit) return at;
        return -1;
    }

    public boolean startsWith(String prefix) {
        if (prefix.length() > length()) return false;
        for (int at = 0; at < prefix.length(); at++) if (charAt(at) != prefix.charAt(at)) return false;
        return true;
    }

    public boolean equals(Object other) {
        if (this == other) return true;
        if (!(other instanceof String)) return false;
        return compareTo((String) other) == 0;
    }

    public int hashCode() {
        int hash = 0;
        for (int at = 0; at < length(); at++) hash = 31 * hash + charAt(at);
        return hash;
    }

    public int compareTo(String other) {
        int least = Math.min(length(), other.length());
        for (int at = 0; at < least; at++) {
            int difference = charAt(at) - other.charAt(at);
            if (difference != 0) return difference;
        }
        return length() - other.length();
    }

    public String toString() {
        return this;
    }

    public native String intern();

    public static String valueOf(Object object) {
        return object == null ? "null" : object.toString();
    }

    public static String valueOf(int value) {
        return Integer.toString(value);
    }

    public static String valueOf(long value) {
        return Long.toString(value);
    }

    public static String valueOf(char value) {
        return new String(new char[] {value});
    }

    public static String valueOf(boolean value) {
        return value ? "true" : "false";
    }

    public static String valueOf(double value) {
        return Double.toString(value);
    }

    public static String valueOf(float value) {
        return Float.toString(value);
    }
}
