public class Arithmetic {
    static int collatz(int n) {
        int steps = 0;
        while (n != 1) {
            n = (n & 1) == 0 ? n / 2 : 3 * n + 1;
            steps++;
        }
        return steps;
    }

    static long mix(long x) {
        x ^= x >>> 33;
        x *= 0xff51afd7ed558ccdL;
        x ^= x >> 17;
        return x << 3 | x >>> 61;
    }

    public static void main(String[] args) {
        int[] numbers = {0, 1, -1, 7, -7, 31, 32, 33, Integer.MAX_VALUE, Integer.MIN_VALUE};
        for (int a : numbers) {
            for (int b : numbers) {
                System.out.println(a + " " + b + ": " + (a + b) + " " + (a - b) + " " + (a * b) + " " + (a & b) + " "
                        + (a | b) + " " + (a ^ b) + " " + (a << b) + " " + (a >> b) + " " + (a >>> b) + " " + (a < b)
                        + " " + (a <= b) + " " + Integer.compare(a, b));
                if (b != 0) System.out.println(a / b + " " + a % b);
                long x = a, y = (long) b * 65537;
                System.out.println((x + y) + " " + (x * y) + " " + (x << b) + " " + (x >>> b) + " " + Long.compare(x, y));
                if (y != 0) System.out.println(x / y + " " + x % y);
            }
            System.out.println((byte) a + " " + (short) a + " " + (int) (char) a + " " + (long) a + " " + (float) a + " " + -a + " " + ~a);
        }
        for (int n = 1; n < 30; n++) System.out.print(collatz(n) + " ");
        System.out.println();
        long x = 42;
        for (int i = 0; i < 20; i++) {
            x = mix(x + i);
            System.out.println(x);
        }
        double[] doubles = {0.0, -0.0, 1.5, -2.25, 1e300, 1e-300, Double.NaN, Double.POSITIVE_INFINITY, 123456789.125};
        for (double a : doubles) {
            for (double b : doubles) {
                System.out.println((a < b) + " " + (a > b) + " " + (a == b) + " " + (a >= b) + " "
                        + Double.doubleToLongBits(a + b) + " " + Double.doubleToLongBits(a * b) + " "
                        + Double.doubleToLongBits(a / b) + " " + Double.doubleToLongBits(a % b));
            }
            System.out.println((int) a + " " + (long) a + " " + Float.floatToIntBits((float) a) + " " + Math.sqrt(a) + " " + a);
        }
        char c = 'x';
        c += 2;
        byte b = (byte) 200;
        b >>>= 1;
        short s = (short) 40000;
        System.out.println(c + " " + b + " " + s + " " + (c > 'y') + " " + (char) (c + 1));
        boolean p = true, q = false;
        p &= q | p;
        q ^= p;
        System.out.println(p + " " + q + " " + (p ^ q) + " " + (p != q));
        try {
            System.out.println(1 / (numbers[0]));
        } catch (ArithmeticException e) {
            System.out.println("caught " + e.getMessage());
        }
    }
}
