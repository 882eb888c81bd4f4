package ds;

import java.util.function.UnaryOperator;

/** A stack of records, each above the rest. */
public class LinkedStack<E> {
    record Cell<E>(E item, Cell<E> below) {}

    private Cell<E> top;
    private int size;

    boolean repOK() {
        int count = 0;
        for (Cell<E> cell = top; cell != null; cell = cell.below()) count++;
        return count == size;
    }

    public void push(E item) {
        top = new Cell<>(item, top);
        size++;
        assert repOK() && top.item() == item;
    }

    public E pop() {
        if (top == null) throw new IllegalStateException("empty");
        E item = top.item();
        top = top.below();
        size--;
        assert repOK();
        return item;
    }

    /** Takes two where there are two. */
    public E popBroken() {
        if (top == null) throw new IllegalStateException("empty");
        E item = top.item();
        UnaryOperator<Cell<E>> under = cell -> cell.below() == null ? null : cell.below().below();
        top = under.apply(top);
        size--;
        assert repOK();
        return item;
    }
}
