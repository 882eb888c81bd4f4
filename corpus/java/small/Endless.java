public class Endless {
    static int counter;

    static {
        while (counter >= 0) counter = (counter + 1) & 0xff;
    }

    public static void main(String[] args) {}
}
