package ds;

/** A height-balanced search tree. */
public class Avl {
    static class Node {
        int key, height;
        Node left, right;

        Node(int key) {
            this.key = key;
            height = 1;
        }
    }

    private Node root;

    boolean repOK() {
        return check(root, null, null) >= 0;
    }

    /** The height, or -1 if something is wrong below. */
    private static int check(Node node, Node low, Node high) {
        if (node == null) return 0;
        if (low != null && node.key <= low.key || high != null && node.key >= high.key) return -1;
        int left = check(node.left, low, node);
        if (left < 0) return -1;
        int right = check(node.right, node, high);
        if (right < 0 || left - right > 1 || right - left > 1) return -1;
        int height = 1 + (left > right ? left : right);
        return node.height == height ? height : -1;
    }

    public void insert(int key) {
        root = insert(root, key, false);
        assert repOK() && contains(key);
    }

    public void insertBroken(int key) {
        root = insert(root, key, true);
        assert repOK() && contains(key);
    }

    public boolean contains(int key) {
        Node node = root;
        while (node != null && node.key != key) node = key < node.key ? node.left : node.right;
        return node != null;
    }

    private static int height(Node node) {
        return node == null ? 0 : node.height;
    }

    private static Node measured(Node node) {
        int left = height(node.left), right = height(node.right);
        node.height = 1 + (left > right ? left : right);
        return node;
    }

    private static Node right(Node node) {
        Node up = node.left;
        node.left = up.right;
        up.right = measured(node);
        return measured(up);
    }

    private static Node left(Node node) {
        Node up = node.right;
        node.right = up.left;
        up.left = measured(node);
        return measured(up);
    }

    private static Node insert(Node node, int key, boolean broken) {
        if (node == null) return new Node(key);
        if (key == node.key) return node;
        if (key < node.key) node.left = insert(node.left, key, broken);
        else node.right = insert(node.right, key, broken);
        measured(node);
        int lean = height(node.left) - height(node.right);
        if (lean > 1) {
            // The broken version does not know the double rotation.
            if (!broken && key > node.left.key) node.left = left(node.left);
            return right(node);
        }
        if (lean < -1) {
            if (key < node.right.key) node.right = right(node.right);
            return left(node);
        }
        return node;
    }
}
