package ds;

/** A heap whose left subtrees are the deeper ones, of anything that can be compared with its kind or a wider one. */
public class LeftistHeap<E extends Comparable<? super E>> {
    static final class Node<E> {
        final E item;
        /** The number of nodes on the way to the right. */
        final int rank;
        final Node<? extends E> left, right;

        Node(E item, Node<? extends E> left, Node<? extends E> right) {
            this.item = item;
            this.left = left;
            this.right = right;
            rank = rank(right) + 1;
        }
    }

    private Node<? extends E> root;

    private static int rank(Node<?> node) {
        return node == null ? 0 : node.rank;
    }

    boolean repOK() {
        return root == null || sound(root);
    }

    private static <T extends Comparable<? super T>> boolean sound(Node<? extends T> node) {
        if (node.item == null) return false;
        return fits(node, node.left) && fits(node, node.right)
                && node.rank == rank(node.right) + 1
                && rank(node.left) >= rank(node.right);
    }

    private static <T extends Comparable<? super T>> boolean fits(Node<? extends T> node, Node<? extends T> below) {
        if (below == null) return true;
        return below.item != null && node.item.compareTo(below.item) <= 0 && sound(below);
    }

    public E least() {
        if (root == null) throw new IllegalStateException("empty");
        return root.item;
    }

    public void insert(E item) {
        if (item == null) throw new IllegalArgumentException();
        root = merge(root, new Node<E>(item, null, null), false);
        assert repOK();
    }

    public void add(LeftistHeap<? extends E> other) {
        if (other == null || !other.repOK()) throw new IllegalArgumentException();
        root = merge(root, other.root, false);
        assert repOK();
    }

    /** Leaves the deeper subtree on the right. */
    public void addBroken(LeftistHeap<? extends E> other) {
        if (other == null || !other.repOK()) throw new IllegalArgumentException();
        root = merge(root, other.root, true);
        assert repOK();
    }

    private static <T extends Comparable<? super T>> Node<? extends T> merge(
            Node<? extends T> a, Node<? extends T> b, boolean broken) {
        if (a == null) return b;
        if (b == null) return a;
        if (a.item.compareTo(b.item) > 0) return merge(b, a, broken);
        Node<? extends T> merged = merge(a.right, b, broken);
        return !broken && rank(a.left) < rank(merged)
                ? new Node<T>(a.item, merged, a.left)
                : new Node<T>(a.item, a.left, merged);
    }
}
