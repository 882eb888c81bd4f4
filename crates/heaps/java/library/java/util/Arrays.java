package java.util;

public final class Arrays {
    private Arrays() {}

    public static boolean[] copyOf(boolean[] from, int length) {
        boolean[] copy = new boolean[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static boolean[] copyOfRange(boolean[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        boolean[] copy = new boolean[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(boolean[] array, boolean value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(boolean[] a, boolean[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(a[at] == b[at])) return false;
        return true;
    }

    public static int hashCode(boolean[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (boolean item : array) hash = 31 * hash + Boolean.hashCode(item);
        return hash;
    }

    public static String toString(boolean[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    public static byte[] copyOf(byte[] from, int length) {
        byte[] copy = new byte[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static byte[] copyOfRange(byte[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        byte[] copy = new byte[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(byte[] array, byte value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(byte[] a, byte[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(a[at] == b[at])) return false;
        return true;
    }

    public static int hashCode(byte[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (byte item : array) hash = 31 * hash + Byte.hashCode(item);
        return hash;
    }

    public static String toString(byte[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    public static char[] copyOf(char[] from, int length) {
        char[] copy = new char[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static char[] copyOfRange(char[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        char[] copy = new char[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(char[] array, char value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(char[] a, char[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(a[at] == b[at])) return false;
        return true;
    }

    public static int hashCode(char[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (char item : array) hash = 31 * hash + Character.hashCode(item);
        return hash;
    }

    public static String toString(char[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    public static short[] copyOf(short[] from, int length) {
        short[] copy = new short[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static short[] copyOfRange(short[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        short[] copy = new short[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(short[] array, short value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(short[] a, short[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(a[at] == b[at])) return false;
        return true;
    }

    public static int hashCode(short[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (short item : array) hash = 31 * hash + Short.hashCode(item);
        return hash;
    }

    public static String toString(short[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    public static int[] copyOf(int[] from, int length) {
        int[] copy = new int[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static int[] copyOfRange(int[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        int[] copy = new int[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(int[] array, int value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(int[] a, int[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(a[at] == b[at])) return false;
        return true;
    }

    public static int hashCode(int[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (int item : array) hash = 31 * hash + Integer.hashCode(item);
        return hash;
    }

    public static String toString(int[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    public static long[] copyOf(long[] from, int length) {
        long[] copy = new long[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static long[] copyOfRange(long[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        long[] copy = new long[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(long[] array, long value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(long[] a, long[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(a[at] == b[at])) return false;
        return true;
    }

    public static int hashCode(long[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (long item : array) hash = 31 * hash + Long.hashCode(item);
        return hash;
    }

    public static String toString(long[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    public static float[] copyOf(float[] from, int length) {
        float[] copy = new float[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static float[] copyOfRange(float[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        float[] copy = new float[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(float[] array, float value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(float[] a, float[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(Float.compare(a[at], b[at]) == 0)) return false;
        return true;
    }

    public static int hashCode(float[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (float item : array) hash = 31 * hash + Float.hashCode(item);
        return hash;
    }

    public static String toString(float[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    public static double[] copyOf(double[] from, int length) {
        double[] copy = new double[length];
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static double[] copyOfRange(double[] from, int start, int end) {
        if (start > end) throw new IllegalArgumentException(start + " > " + end);
        double[] copy = new double[end - start];
        System.arraycopy(from, start, copy, 0, Math.min(from.length - start, end - start));
        return copy;
    }

    public static void fill(double[] array, double value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(double[] a, double[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!(Double.compare(a[at], b[at]) == 0)) return false;
        return true;
    }

    public static int hashCode(double[] array) {
        if (array == null) return 0;
        int hash = 1;
        for (double item : array) hash = 31 * hash + Double.hashCode(item);
        return hash;
    }

    public static String toString(double[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }

    @SuppressWarnings("unchecked")
    public static <T> T[] copyOf(T[] from, int length) {
        T[] copy = (T[]) java.lang.reflect.Array.newInstance(from.getClass().getComponentType(), length);
        System.arraycopy(from, 0, copy, 0, Math.min(from.length, length));
        return copy;
    }

    public static void fill(Object[] array, Object value) {
        for (int at = 0; at < array.length; at++) array[at] = value;
    }

    public static boolean equals(Object[] a, Object[] b) {
        if (a == b) return true;
        if (a == null || b == null || a.length != b.length) return false;
        for (int at = 0; at < a.length; at++) if (!Objects.equals(a[at], b[at])) return false;
        return true;
    }

    public static int hashCode(Object[] array) {
        return Objects.hash(array);
    }

    public static String toString(Object[] array) {
        if (array == null) return "null";
        StringBuilder text = new StringBuilder("[");
        for (int at = 0; at < array.length; at++) text.append(at == 0 ? "" : ", ").append(array[at]);
        return text.append(']').toString();
    }
}
