import java.util.Arrays;
import java.util.BitSet;

/** What stands for methods of the JDK that are not Java, called with many arguments: each line sums up a hundred or more calls. */
public class Natives {
    private static long seed = 42;

    /** A number below a bound, the same on every machine. */
    static int below(int bound) {
        seed = seed * 6364136223846793005L + 1442695040888963407L;
        return (int) ((seed >>> 33) % bound);
    }

    static int sum;

    static void add(int value) {
        sum = sum * 31 + value;
    }

    static void line(String what) {
        System.out.println(what + " " + sum);
        sum = 0;
    }

    /** Arrays that differ in one place, in none, or in their lengths. */
    static void mismatches() {
        for (int round = 0; round < 150; round++) {
            int length = below(20);
            int other = below(4) == 0 ? below(20) : length;
            int at = below(20);
            long[] a = new long[length];
            long[] b = new long[other];
            double[] c = new double[length];
            double[] d = new double[other];
            int[] e = new int[length];
            int[] f = new int[other];
            byte[] g = new byte[length];
            byte[] h = new byte[other];
            for (int i = 0; i < length; i++) {
                a[i] = i * 0x100000001L;
                c[i] = i / 2.0;
                e[i] = i;
                g[i] = (byte) i;
            }
            for (int i = 0; i < other; i++) {
                long more = i == at ? 1 + below(3) : 0;
                b[i] = i * 0x100000001L + (more << 40);
                d[i] = i / 2.0 + more;
                f[i] = i + (int) more;
                h[i] = (byte) (i + more);
            }
            add(Arrays.equals(a, b) ? 1 : 0);
            add(Arrays.mismatch(a, b));
            add(Arrays.compare(a, b));
            add(Arrays.equals(c, d) ? 1 : 0);
            add(Arrays.mismatch(c, d));
            add(Arrays.compare(c, d));
            add(Arrays.mismatch(e, f));
            add(Arrays.compare(g, h));
            int from = below(length + 1);
            int to = from + below(length - from + 1);
            if (to <= other) {
                add(Arrays.equals(a, from, to, b, from, to) ? 1 : 0);
                add(Arrays.mismatch(c, from, to, d, from, to));
                add(Arrays.mismatch(e, from, to, f, from, to));
            }
        }
        line("mismatch");
        double[] zero = {0.0, Double.NaN, 1};
        double[] minus = {-0.0, Double.NaN, 1};
        add(Arrays.mismatch(zero, minus));
        add(Arrays.equals(zero, zero.clone()) ? 1 : 0);
        line("zeros");
    }

    static void bits() {
        for (int round = 0; round < 100; round++) {
            BitSet one = new BitSet();
            BitSet two = new BitSet();
            for (int i = 0; i < 6; i++) {
                int bit = below(200);
                one.set(bit);
                two.set(below(8) == 0 ? below(200) : bit);
            }
            add(one.equals(two) ? 1 : 0);
            add(one.hashCode());
        }
        line("bits");
    }

    static void copies() {
        for (int round = 0; round < 120; round++) {
            int[] from = new int[below(9)];
            int[] to = new int[below(9)];
            for (int i = 0; i < from.length; i++) {
                from[i] = below(100);
            }
            try {
                System.arraycopy(from, below(6) - 1, to, below(6) - 1, below(7) - 1);
            } catch (IndexOutOfBoundsException e) {
                add(7);
            }
            add(Arrays.hashCode(to));
        }
        line("arraycopy");
    }

    static void faults() {
        try {
            System.arraycopy(null, 0, new int[1], 0, 1);
        } catch (NullPointerException e) {
            System.out.println("arraycopy " + e.getMessage());
        }
        try {
            java.lang.reflect.Array.getLength(null);
        } catch (NullPointerException e) {
            System.out.println("getLength " + e.getMessage());
        }
        System.out.println(System.identityHashCode(null));
        Object lock = new Object();
        Object other = new Object();
        for (Object notified : new Object[] {lock, other}) {
            try {
                synchronized (lock) {
                    synchronized (lock) {
                        notified.notify();
                    }
                    notified.notifyAll();
                }
                System.out.println("notified");
            } catch (IllegalMonitorStateException e) {
                System.out.println(e.getMessage());
            }
        }
        try {
            lock.notify();
            System.out.println("notified");
        } catch (IllegalMonitorStateException e) {
            System.out.println("outside: " + e.getMessage());
        }
        new Natives().held();
        heldByClass();
        System.out.println("half \uD83D of a pair, \uD83D\uDE00 whole");
    }

    synchronized void held() {
        notify();
        System.out.println("held");
        try {
            throw new IllegalStateException();
        } catch (IllegalStateException e) {
            notifyAll();
        }
    }

    static synchronized void heldByClass() {
        Natives.class.notify();
        System.out.println("held by the class");
    }

    interface Plain {
        int NUMBER = say("plain");
    }

    interface Above {
        int NUMBER = say("above");

        default int above() {
            return 1;
        }
    }

    interface Between extends Above, Plain {
        int NUMBER = say("between");

        default int between() {
            return 2;
        }
    }

    static class Parent implements Above {
        static int number = say("parent");
    }

    static class Child extends Parent implements Between {
        static int number = say("child");
    }

    static int say(String text) {
        System.out.println(text);
        return 1;
    }

    public static void main(String[] arguments) {
        mismatches();
        bits();
        copies();
        faults();
        System.out.println(Child.number + new Child().between());
        System.out.println(Plain.NUMBER);
    }
}
