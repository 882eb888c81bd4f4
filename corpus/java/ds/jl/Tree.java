package jl;

/** The search tree of corpus/javalite/tree.jl, statement by statement. */
class Tree {
    static class Node {
        Node left;
        Node right;
        int key;

        boolean ordered(int low, int high) {
            if (key <= low) return false;
            if (high <= key) return false;
            if (left != null) if (!left.ordered(low, key)) return false;
            if (right != null) if (!right.ordered(key, high)) return false;
            return true;
        }
    }

    Node root;

    boolean repOK() {
        return root == null || root.ordered(-1000, 1000);
    }

    Node search(int key) {
        Node node = root;
        while (node != null) {
            if (node.key == key) return node;
            node = key < node.key ? node.left : node.right;
        }
        return null;
    }
}
