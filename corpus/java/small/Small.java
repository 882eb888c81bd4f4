public class Small {
    static class Helper {
        int twice(int n) {
            return 2 * n;
        }
    }

    static int[] table = {1, 2, 3};
    long wide;

    static int sum(int n) {
        int total = 0;
        for (int i = 0; i < n; i++) {
            try {
                total += table[i] * new Helper().twice(i);
            } catch (ArrayIndexOutOfBoundsException e) {
                total ^= 7;
            } finally {
                total++;
            }
        }
        return total;
    }

    public static void main(String[] args) {
        Small small = new Small();
        small.wide = sum(5) << 33;
        Object o = small.wide > 0 ? small : args;
        switch (sum(2)) {
            case 1: case 7: System.out.println("seven"); break;
            case 100: System.out.println("hundred"); break;
            default: System.out.println(o instanceof Small);
        }
        System.out.println((int) (3.5 * sum(3)) + " " + (small.wide >>> 2));
    }
}
