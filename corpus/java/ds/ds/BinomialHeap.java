package ds;

/** A binomial heap: trees of growing degree, the least key of each on top. */
public class BinomialHeap {
    static final class Node {
        int key, degree;
        Node child, sibling;

        Node(int key) {
            this.key = key;
        }
    }

    private Node head;

    boolean repOK() {
        int before = -1;
        for (Node node = head; node != null; node = node.sibling) {
            if (node.degree <= before || !isTree(node)) return false;
            before = node.degree;
        }
        return true;
    }

    /** A tree of degree d has children of degrees d - 1, ..., 0, none of a smaller key. */
    private static boolean isTree(Node root) {
        int wanted = root.degree;
        for (Node child = root.child; child != null; child = child.sibling) {
            wanted--;
            if (child.degree != wanted || child.key < root.key || !isTree(child)) return false;
        }
        return wanted == 0;
    }

    public int least() {
        if (head == null) throw new IllegalStateException("empty");
        int least = head.key;
        for (Node node = head.sibling; node != null; node = node.sibling) if (node.key < least) least = node.key;
        return least;
    }

    public void insert(int key) {
        insert(key, false);
        assert repOK() && least() <= key;
    }

    public void insertBroken(int key) {
        insert(key, true);
        assert repOK() && least() <= key;
    }

    private void insert(int key, boolean broken) {
        Node carry = new Node(key);
        Node rest = head;
        while (rest != null && rest.degree == carry.degree) {
            Node next = rest.sibling;
            carry = broken ? link(carry, rest) : carry.key <= rest.key ? link(carry, rest) : link(rest, carry);
            rest = next;
        }
        carry.sibling = rest;
        head = carry;
    }

    /** The broken version does not ask which key is smaller. */
    private static Node link(Node above, Node below) {
        below.sibling = above.child;
        above.child = below;
        above.degree++;
        return above;
    }
}
