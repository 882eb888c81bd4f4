package ds;

/** A binary search tree of numbers. */
public class SearchTree {
    static class Node {
        int key;
        Node left, right;
    }

    Node root;

    boolean repOK() {
        return ordered(root, null, null);
    }

    private static boolean ordered(Node node, Node low, Node high) {
        if (node == null) return true;
        if (low != null && node.key <= low.key) return false;
        if (high != null && node.key >= high.key) return false;
        return ordered(node.left, low, node) && ordered(node.right, node, high);
    }

    public boolean find(int key) {
        Node node = root;
        while (node != null) {
            if (key == node.key) return true;
            node = key < node.key ? node.left : node.right;
        }
        return false;
    }

    public void delete(int key) {
        root = delete(root, key, false);
        assert repOK() && !find(key);
    }

    public void deleteBroken(int key) {
        root = delete(root, key, true);
        assert repOK() && !find(key);
    }

    private static Node delete(Node node, int key, boolean broken) {
        if (node == null) return null;
        if (key < node.key) {
            node.left = delete(node.left, key, broken);
            return node;
        }
        if (key > node.key) {
            node.right = delete(node.right, key, broken);
            return node;
        }
        if (node.left == null) return node.right;
        if (node.right == null) return node.left;
        Node least = node.right;
        while (least.left != null) least = least.left;
        node.key = least.key;
        // The broken version leaves the copied key in the right subtree.
        if (!broken) node.right = delete(node.right, least.key, false);
        return node;
    }
}
