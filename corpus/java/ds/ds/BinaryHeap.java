package ds;

/** A binary heap in an array of fixed length, filled with any number of keys at once. */
public class BinaryHeap {
    private final int[] keys;
    private int size;

    public BinaryHeap(int capacity, int... keys) {
        this.keys = new int[capacity];
        pushAll(keys);
    }

    boolean repOK() {
        if (keys == null || size < 0 || size > keys.length) return false;
        for (int at = 1; at < size; at++) if (keys[(at - 1) / 2] > keys[at]) return false;
        return true;
    }

    public int least() {
        if (size == 0) throw new IllegalStateException("empty");
        return keys[0];
    }

    public int pushAll(int... more) {
        reserve(more.length);
        for (int key : more) {
            keys[size++] = key;
            up(size - 1);
        }
        assert repOK();
        return size;
    }

    /** Lets only the last key rise. */
    public int pushAllBroken(int... more) {
        reserve(more.length);
        for (int key : more) keys[size++] = key;
        if (more.length > 0) up(size - 1);
        assert repOK();
        return size;
    }

    private void reserve(int more) {
        if (more > keys.length - size) throw new IllegalStateException("full");
    }

    private void up(int at) {
        while (at > 0 && keys[(at - 1) / 2] > keys[at]) {
            int above = (at - 1) / 2, key = keys[at];
            keys[at] = keys[above];
            keys[above] = key;
            at = above;
        }
    }

    /** The least of several heaps; those that are empty do not count. */
    public static int leastOf(BinaryHeap... heaps) {
        int least = Integer.MAX_VALUE;
        for (BinaryHeap heap : heaps) if (heap.size > 0) least = Math.min(least, heap.least());
        return least;
    }
}
