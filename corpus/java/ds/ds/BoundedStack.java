package ds;

/** A stack in an array. */
public class BoundedStack {
    private final int[] items;
    private int top;

    public BoundedStack(int capacity) {
        items = new int[capacity];
    }

    boolean repOK() {
        return items != null && 0 <= top && top <= items.length;
    }

    public void push(int value) {
        if (top == items.length) throw new IllegalStateException();
        items[top++] = value;
    }

    public int pop() {
        if (top == 0) throw new IllegalStateException();
        return items[--top];
    }

    /** Takes the element before looking whether there is one. */
    public int popBroken() {
        return items[--top];
    }
}
