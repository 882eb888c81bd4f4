package java.lang;

public final class StringBuilder implements java.io.Serializable, Comparable<StringBuilder>, CharSequence {
    private char[] units = new char[16];
    private int count;

    public StringBuilder() {}

    public StringBuilder(int capacity) {
        if (capacity < 0) throw new NegativeArraySizeException(Integer.toString(capacity));
    }

    public StringBuilder(String text) {
        append(text);
    }

    private void room(int more) {
        if (count + more <= units.length) return;
        char[] wider = new char[Math.max(2 * units.length, count + more)];
        System.arraycopy(units, 0, wider, 0, count);
        units = wider;
    }

    public StringBuilder append(String text) {
        if (text == null) text = "null";
        int length = text.length();
        room(length);
        for (int at = 0; at < length; at++) units[count + at] = text.charAt(at);
        count += length;
        return this;
    }

    public StringBuilder append(Object object) {
        return append(String.valueOf(object));
    }

    public StringBuilder append(CharSequence text) {
        return append(String.valueOf(text));
    }

    public StringBuilder append(char unit) {
        room(1);
        units[count++] = unit;
        return this;
    }

    public StringBuilder append(int value) {
        return append(Integer.toString(value));
    }

    public StringBuilder append(long value) {
        return append(Long.toString(value));
    }

    public StringBuilder append(boolean value) {
        return append(value ? "true" : "false");
    }

    public StringBuilder append(float value) {
        return append(Float.toString(value));
    }

    public StringBuilder append(double value) {
        return append(Double.toString(value));
    }

    public int length() {
        return count;
    }

    public void setLength(int length) {
        if (length < 0) throw new StringIndexOutOfBoundsException(length);
        if (length > count) room(length - count);
        for (int at = count; at < length; at++) units[at] = 0;
        count = length;
    }

    public char charAt(int index) {
        if (index < 0 || index >= count)
            throw new StringIndexOutOfBoundsException("index " + index + ",length " + count);
        return units[index];
    }

    public StringBuilder reverse() {
        for (int low = 0, high = count - 1; low < high; low++, high--) {
            char unit = units[low];
            units[low] = units[high];
            units[high] = unit;
        }
        return this;
    }

    public int compareTo(StringBuilder other) {
        return toString().compareTo(other.toString());
    }

    public String toString() {
        return new String(units, 0, count);
    }
}
