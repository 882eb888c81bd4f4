package ds;

import java.util.Objects;

/** A red-black tree, after Okasaki's insertion: what is unbalanced is built anew. */
public class RedBlackTree<K extends Comparable<K>> {
    static final class Node<K extends Comparable<K>> {
        boolean red;
        K key;
        Node<K> left, right;

        Node(boolean red, Node<K> left, K key, Node<K> right) {
            this.red = red;
            this.left = left;
            this.key = key;
            this.right = right;
        }
    }

    private Node<K> root;

    boolean repOK() {
        return (root == null || !root.red) && check(root, null, null) >= 0;
    }

    /** The number of black nodes on every way down, or -1. */
    private int check(Node<K> node, Node<K> low, Node<K> high) {
        if (node == null) return 0;
        if (node.key == null) return -1;
        if (low != null && node.key.compareTo(low.key) <= 0) return -1;
        if (high != null && node.key.compareTo(high.key) >= 0) return -1;
        if (node.red && (isRed(node.left) || isRed(node.right))) return -1;
        int left = check(node.left, low, node);
        if (left < 0 || check(node.right, node, high) != left) return -1;
        return node.red ? left : left + 1;
    }

    private static boolean isRed(Node<?> node) {
        return node != null && node.red;
    }

    public void insert(K key) {
        Objects.requireNonNull(key);
        root = into(root, key, false);
        root.red = false;
        assert repOK() && contains(key);
    }

    public void insertBroken(K key) {
        Objects.requireNonNull(key);
        root = into(root, key, true);
        root.red = false;
        assert repOK() && contains(key);
    }

    public boolean contains(K key) {
        Node<K> node = root;
        while (node != null) {
            int order = key.compareTo(node.key);
            if (order == 0) return true;
            node = order < 0 ? node.left : node.right;
        }
        return false;
    }

    private Node<K> into(Node<K> node, K key, boolean broken) {
        if (node == null) return new Node<>(true, null, key, null);
        int order = key.compareTo(node.key);
        if (order == 0) return node;
        if (order < 0) node.left = into(node.left, key, broken);
        else node.right = into(node.right, key, broken);
        if (node.red) return node;
        if (isRed(node.left)) {
            Node<K> left = node.left;
            if (isRed(left.left)) return three(left.left, left, node, left.right);
            // The broken version leaves a red right child of a red left child.
            if (isRed(left.right) && !broken) {
                Node<K> middle = left.right;
                left.right = middle.left;
                return three(left, middle, node, middle.right);
            }
        }
        if (isRed(node.right)) {
            Node<K> right = node.right;
            if (isRed(right.right)) {
                node.right = right.left;
                node.red = false;
                right.right.red = false;
                right.left = node;
                right.red = true;
                return right;
            }
            if (isRed(right.left)) {
                Node<K> middle = right.left;
                node.right = middle.left;
                right.left = middle.right;
                node.red = right.red = false;
                middle.left = node;
                middle.right = right;
                middle.red = true;
                return middle;
            }
        }
        return node;
    }

    /** A red node over two black ones. */
    private static <K extends Comparable<K>> Node<K> three(Node<K> low, Node<K> middle, Node<K> high, Node<K> between) {
        high.left = between;
        low.red = high.red = false;
        middle.red = true;
        middle.left = low;
        middle.right = high;
        return middle;
    }
}
