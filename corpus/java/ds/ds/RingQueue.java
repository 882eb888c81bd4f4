package ds;

/** A queue of numbers in an array that is used round and round. */
public class RingQueue {
    private final int[] items;
    private int head, size;

    public RingQueue(int capacity) {
        items = new int[capacity];
    }

    boolean repOK() {
        if (items == null || items.length == 0) return false;
        return 0 <= head && head < items.length && 0 <= size && size <= items.length;
    }

    public void enqueue(int value) {
        if (size == items.length) throw new IllegalStateException("full");
        int at = head + size;
        if (at >= items.length) at -= items.length;
        items[at] = value;
        size++;
        assert repOK() && last() == value;
    }

    /** Forgets to go round. */
    public void enqueueBroken(int value) {
        if (size == items.length) throw new IllegalStateException("full");
        items[head + size] = value;
        size++;
        assert repOK() && last() == value;
    }

    public int dequeue() {
        if (size == 0) throw new IllegalStateException("empty");
        int value = items[head];
        head = head + 1 == items.length ? 0 : head + 1;
        size--;
        assert repOK();
        return value;
    }

    private int last() {
        int at = head + size - 1;
        return items[at >= items.length ? at - items.length : at];
    }
}
