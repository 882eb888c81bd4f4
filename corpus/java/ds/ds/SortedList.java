package ds;

/** A sorted singly linked list of numbers, with an insertion that is right and one that is not. */
public class SortedList {
    private static class Node {
        private final int key;
        private Node next;

        Node(int key, Node next) {
            this.key = key;
            this.next = next;
        }
    }

    private Node head;
    private int size;

    boolean repOK() {
        int count = 0;
        for (Node node = head; node != null; node = node.next) {
            if (node.next != null && node.key >= node.next.key) return false;
            count++;
        }
        return count == size;
    }

    public boolean insert(int key) {
        Node before = null, at = head;
        while (at != null && at.key < key) {
            before = at;
            at = at.next;
        }
        if (at != null && at.key == key) return false;
        Node fresh = new Node(key, at);
        if (before == null) head = fresh;
        else before.next = fresh;
        size++;
        assert repOK();
        return true;
    }

    /** Forgets that the key may be smaller than all others. */
    public boolean insertBroken(int key) {
        Node before = head, at = head;
        while (at != null && at.key < key) {
            before = at;
            at = at.next;
        }
        if (at != null && at.key == key) return false;
        Node fresh = new Node(key, at);
        if (before == null) head = fresh;
        else before.next = fresh;
        size++;
        assert repOK();
        return true;
    }
}
