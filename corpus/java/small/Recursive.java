public class Recursive {
    static int down(int n) {
        return down(n + 1) + 1;
    }

    public static void main(String[] args) {
        down(0);
    }
}
