package jl;

/** The red-black tree of corpus/javalite/redblack.jl, statement by statement. */
class RedBlack {
    static class Node {
        Node left;
        Node right;
        Node parent;
        int key;
        boolean red;

        /** The black height, or -1 if something is wrong below. */
        int height(int low, int high) {
            int left = 0;
            int right = 0;
            if (key <= low) return -1;
            if (high <= key) return -1;
            if (this.left != null) {
                if (this.left.parent != this) return -1;
                if (red) if (this.left.red) return -1;
                left = this.left.height(low, key);
                if (left < 0) return -1;
            }
            if (this.right != null) {
                if (this.right.parent != this) return -1;
                if (red) if (this.right.red) return -1;
                right = this.right.height(key, high);
                if (right < 0) return -1;
            }
            if (left != right) return -1;
            return red ? left : left + 1;
        }
    }

    Node root;

    boolean repOK() {
        Node root = this.root;
        if (root == null) return true;
        if (root.red) return false;
        if (root.parent != null) return false;
        return 0 <= root.height(-1000, 1000);
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
