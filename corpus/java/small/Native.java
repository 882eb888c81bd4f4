public class Native {
    static native int away();

    public static void main(String[] args) {
        away();
    }
}
