package ds;

/** A set of words of bits, in a tree by prefix. */
public class Trie {
    static final class Node {
        /** The word that leads here. */
        final int bits, length;
        boolean word;
        Node zero, one;

        Node(int bits, int length) {
            this.bits = bits;
            this.length = length;
        }
    }

    private final Node root = new Node(0, 0);

    boolean repOK() {
        return root != null && sound(root, 0, 0);
    }

    /** Every node stands for the word that leads to it, every branch leads to a word, none is longer than two bits. */
    private static boolean sound(Node node, int bits, int length) {
        if (length > 2 || node.bits != bits || node.length != length) return false;
        if (node.zero == null && node.one == null) return node.word || length == 0;
        return (node.zero == null || sound(node.zero, bits, length + 1))
                && (node.one == null || sound(node.one, bits | 1 << length, length + 1));
    }

    public boolean contains(int bits, int length) {
        Node node = root;
        for (int at = 0; at < length && node != null; at++) node = (bits >> at & 1) == 0 ? node.zero : node.one;
        return node != null && node.word;
    }

    public void add(int bits, int length) {
        if (length < 0 || length > 2) throw new IllegalArgumentException();
        Node node = root;
        for (int at = 0; at < length; at++) {
            Node next = (bits >> at & 1) == 0 ? node.zero : node.one;
            if (next == null) {
                boolean zero = (bits >> at & 1) == 0;
                next = new Node(zero ? node.bits : node.bits | 1 << at, at + 1);
                if (zero) node.zero = next;
                else node.one = next;
            }
            node = next;
        }
        node.word = true;
        assert repOK() && contains(bits, length);
    }

    public void remove(int bits, int length) {
        if (length < 0 || length > 2) throw new IllegalArgumentException();
        remove(root, bits, length, false);
        assert repOK() && !contains(bits, length);
    }

    /** Leaves branches that lead nowhere. */
    public void removeBroken(int bits, int length) {
        if (length < 0 || length > 2) throw new IllegalArgumentException();
        remove(root, bits, length, true);
        assert repOK() && !contains(bits, length);
    }

    /** Whether the node is of no use any more. */
    private static boolean remove(Node node, int bits, int length, boolean broken) {
        if (node == null) return false;
        if (length == 0) node.word = false;
        else if ((bits & 1) == 0) {
            if (remove(node.zero, bits >> 1, length - 1, broken) && !broken) node.zero = null;
        } else {
            if (remove(node.one, bits >> 1, length - 1, broken) && !broken) node.one = null;
        }
        return !node.word && node.zero == null && node.one == null;
    }
}
