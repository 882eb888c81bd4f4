package java.lang;

/** Numbers as text, and back. */
final class Text {
    private Text() {}

    static String decimal(long value) {
        if (value == 0) return "0";
        byte[] digits = new byte[20];
        int at = 20;
        // Negative numbers reach further.
        long rest = value < 0 ? value : -value;
        while (rest != 0) {
            digits[--at] = (byte) ('0' - rest % 10);
            rest /= 10;
        }
        if (value < 0) digits[--at] = '-';
        byte[] exact = new byte[20 - at];
        System.arraycopy(digits, at, exact, 0, exact.length);
        return new String(exact, (byte) 0);
    }

    static String hexadecimal(int value) {
        byte[] digits = new byte[8];
        int at = 8;
        do {
            int digit = value & 15;
            digits[--at] = (byte) (digit < 10 ? '0' + digit : 'a' + digit - 10);
            value >>>= 4;
        } while (value != 0);
        byte[] exact = new byte[8 - at];
        System.arraycopy(digits, at, exact, 0, exact.length);
        return new String(exact, (byte) 0);
    }

    static long parse(String text, long least, long most) {
        if (text == null) throw new NumberFormatException("Cannot parse null string: null");
        int length = text.length(), at = 0;
        boolean negative = length > 0 && text.charAt(0) == '-';
        if (negative || length > 0 && text.charAt(0) == '+') at++;
        if (at == length) throw wrong(text);
        long value = 0;
        for (; at < length; at++) {
            int digit = text.charAt(at) - '0';
            if (digit < 0 || digit > 9 || value < (Long.MIN_VALUE + digit) / 10) throw wrong(text);
            value = value * 10 - digit;
        }
        if (negative ? value < least : value < -most) throw wrong(text);
        return negative ? value : -value;
    }

    private static NumberFormatException wrong(String text) {
        return new NumberFormatException("For input string: \"" + text + "\"");
    }
}
