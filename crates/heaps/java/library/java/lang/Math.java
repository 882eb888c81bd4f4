package java.lang;

public final class Math {
    public static final double PI = 3.141592653589793;
    public static final double E = 2.718281828459045;

    private Math() {}

    public static int abs(int a) {
        return a < 0 ? -a : a;
    }

    public static int max(int a, int b) {
        return a >= b ? a : b;
    }

    public static int min(int a, int b) {
        return a <= b ? a : b;
    }

    public static int addExact(int a, int b) {
        int sum = a + b;
        if (((a ^ sum) & (b ^ sum)) < 0) throw new ArithmeticException("integer overflow");
        return sum;
    }

    public static int subtractExact(int a, int b) {
        int difference = a - b;
        if (((a ^ b) & (a ^ difference)) < 0) throw new ArithmeticException("integer overflow");
        return difference;
    }

    public static int negateExact(int a) {
        if (a == Integer.MIN_VALUE) throw new ArithmeticException("integer overflow");
        return -a;
    }

    public static int floorDiv(int a, int b) {
        int quotient = a / b;
        return (a ^ b) < 0 && quotient * b != a ? quotient - 1 : quotient;
    }

    public static int floorMod(int a, int b) {
        int rest = a % b;
        return (rest ^ b) < 0 && rest != 0 ? rest + b : rest;
    }

    public static long abs(long a) {
        return a < 0 ? -a : a;
    }

    public static long max(long a, long b) {
        return a >= b ? a : b;
    }

    public static long min(long a, long b) {
        return a <= b ? a : b;
    }

    public static long addExact(long a, long b) {
        long sum = a + b;
        if (((a ^ sum) & (b ^ sum)) < 0) throw new ArithmeticException("long overflow");
        return sum;
    }

    public static long subtractExact(long a, long b) {
        long difference = a - b;
        if (((a ^ b) & (a ^ difference)) < 0) throw new ArithmeticException("long overflow");
        return difference;
    }

    public static long negateExact(long a) {
        if (a == Long.MIN_VALUE) throw new ArithmeticException("long overflow");
        return -a;
    }

    public static long floorDiv(long a, long b) {
        long quotient = a / b;
        return (a ^ b) < 0 && quotient * b != a ? quotient - 1 : quotient;
    }

    public static long floorMod(long a, long b) {
        long rest = a % b;
        return (rest ^ b) < 0 && rest != 0 ? rest + b : rest;
    }

    public static float abs(float a) {
        return Float.intBitsToFloat(Float.floatToRawIntBits(a) & 0x7fffffff);
    }

    public static float max(float a, float b) {
        if (a != a) return a;
        if (a == 0 && b == 0 && Float.floatToRawIntBits(a) < 0) return b;
        return a >= b ? a : b;
    }

    public static float min(float a, float b) {
        if (a != a) return a;
        if (a == 0 && b == 0 && Float.floatToRawIntBits(b) < 0) return b;
        return a <= b ? a : b;
    }

    public static double abs(double a) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(a) & 0x7fffffffffffffffL);
    }

    public static double max(double a, double b) {
        if (a != a) return a;
        if (a == 0 && b == 0 && Double.doubleToRawLongBits(a) < 0) return b;
        return a >= b ? a : b;
    }

    public static double min(double a, double b) {
        if (a != a) return a;
        if (a == 0 && b == 0 && Double.doubleToRawLongBits(b) < 0) return b;
        return a <= b ? a : b;
    }

    public static int multiplyExact(int a, int b) {
        long product = (long) a * b;
        if ((int) product != product) throw new ArithmeticException("integer overflow");
        return (int) product;
    }

    public static int incrementExact(int a) {
        return addExact(a, 1);
    }

    public static int decrementExact(int a) {
        return subtractExact(a, 1);
    }

    public static int toIntExact(long value) {
        if ((int) value != value) throw new ArithmeticException("integer overflow");
        return (int) value;
    }

    public static native double sqrt(double a);
}
