package ds;

/** A doubly linked list with a generic element. */
public class Doubly<E> {
    static final class Node<E> {
        E item;
        Node<E> next, previous;

        Node(E item, Node<E> previous, Node<E> next) {
            this.item = item;
            this.previous = previous;
            this.next = next;
        }
    }

    private Node<E> first, last;

    boolean repOK() {
        Node<E> before = null;
        for (Node<E> node = first; node != null; node = node.next) {
            if (node.previous != before) return false;
            before = node;
        }
        return last == before;
    }

    public E removeFirst() {
        Node<E> gone = first;
        if (gone == null) throw new IllegalStateException("empty");
        first = gone.next;
        if (first == null) last = null;
        else first.previous = null;
        assert repOK();
        return gone.item;
    }

    /** Leaves the new first node pointing back. */
    public E removeFirstBroken() {
        Node<E> gone = first;
        if (gone == null) throw new IllegalStateException("empty");
        first = gone.next;
        if (first == null) last = null;
        assert repOK();
        return gone.item;
    }

    public void addLast(E item) {
        Node<E> fresh = new Node<>(item, last, null);
        if (last == null) first = fresh;
        else last.next = fresh;
        last = fresh;
        assert repOK();
    }
}
