package java.lang;

public final class Character implements java.io.Serializable, Comparable<Character> {
    public static final char MIN_VALUE = 0;
    public static final char MAX_VALUE = 65535;

    @SuppressWarnings("unchecked")
    public static final Class<Character> TYPE = (Class<Character>) Class.getPrimitiveClass("char");

    private final char value;

    public Character(char value) {
        this.value = value;
    }

    private static final class Cache {
        static final Character[] BOXES = new Character[128];

        static {
            for (int at = 0; at < 128; at++) BOXES[at] = new Character((char) at);
        }
    }

    public static Character valueOf(char value) {
        return value <= 127 ? Cache.BOXES[value] : new Character(value);
    }

    public char charValue() {
        return value;
    }

    /** Letters beyond ASCII are a matter of the JDK's tables. */
    public static boolean isDigit(char unit) {
        if (unit > 127) return other(unit);
        return unit >= '0' && unit <= '9';
    }

    public static boolean isLetter(char unit) {
        if (unit > 127) return other(unit);
        return unit >= 'a' && unit <= 'z' || unit >= 'A' && unit <= 'Z';
    }

    public static boolean isLetterOrDigit(char unit) {
        return isLetter(unit) || isDigit(unit);
    }

    public static boolean isWhitespace(char unit) {
        if (unit > 127) return other(unit);
        return unit == ' ' || unit >= 9 && unit <= 13 || unit >= 28 && unit <= 31;
    }

    private static native boolean other(char unit);

    public String toString() {
        return String.valueOf(value);
    }

    public static String toString(char value) {
        return String.valueOf(value);
    }

    public int hashCode() {
        return value;
    }

    public static int hashCode(char value) {
        return value;
    }

    public boolean equals(Object other) {
        return other instanceof Character && ((Character) other).value == value;
    }

    public int compareTo(Character other) {
        return value - other.value;
    }

    public static int compare(char x, char y) {
        return x - y;
    }
}
