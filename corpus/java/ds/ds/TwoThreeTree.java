package ds;

/** A search tree whose nodes have one key or two and whose leaves are equally deep. */
public class TwoThreeTree {
    sealed interface Tree permits Empty, Two, Three {}

    static final class Empty implements Tree {}

    static final class Two implements Tree {
        final int key;
        final Tree left, right;

        Two(Tree left, int key, Tree right) {
            this.left = left;
            this.key = key;
            this.right = right;
        }
    }

    static final class Three implements Tree {
        final int low, high;
        final Tree left, middle, right;

        Three(Tree left, int low, Tree middle, int high, Tree right) {
            this.left = left;
            this.low = low;
            this.middle = middle;
            this.high = high;
            this.right = right;
        }
    }

    private Tree root = new Empty();

    boolean repOK() {
        return depth(root, Long.MIN_VALUE, Long.MAX_VALUE) >= 0;
    }

    /** How deep the leaves are; -1 if they differ, or a key is not strictly between the two. */
    private static int depth(Tree tree, long above, long below) {
        if (tree instanceof Empty) return 0;
        if (tree instanceof Two two) {
            if (two.key <= above || two.key >= below) return -1;
            int depth = depth(two.left, above, two.key);
            return depth >= 0 && depth(two.right, two.key, below) == depth ? depth + 1 : -1;
        }
        if (!(tree instanceof Three three) || three.low <= above || three.high >= below) return -1;
        if (three.low >= three.high) return -1;
        int depth = depth(three.left, above, three.low);
        return depth >= 0
                        && depth(three.middle, three.low, three.high) == depth
                        && depth(three.right, three.high, below) == depth
                ? depth + 1
                : -1;
    }

    public boolean contains(int key) {
        Tree at = root;
        while (!(at instanceof Empty)) {
            if (at instanceof Two two) {
                if (key == two.key) return true;
                at = key < two.key ? two.left : two.right;
            } else if (at instanceof Three three) {
                if (key == three.low || key == three.high) return true;
                at = key < three.low ? three.left : key < three.high ? three.middle : three.right;
            }
        }
        return false;
    }

    public void insert(int key) {
        if (contains(key)) return;
        root = root(with(root, key, false));
        assert repOK() && contains(key);
    }

    /** Puts a key that is split off a child of two keys on the wrong side. */
    public void insertBroken(int key) {
        if (contains(key)) return;
        root = root(with(root, key, true));
        assert repOK() && contains(key);
    }

    /** What came of a subtree: one as deep as it was, or a node more than it had room for, which is taken in above. */
    private sealed interface Grown permits Same, Split {}

    private record Same(Tree tree) implements Grown {}

    private record Split(Tree left, int key, Tree right) implements Grown {}

    private static Tree root(Grown grown) {
        if (grown instanceof Split up) return new Two(up.left(), up.key(), up.right());
        return ((Same) grown).tree();
    }

    private static Grown with(Tree tree, int key, boolean broken) {
        if (tree instanceof Two two) return with(two, key, broken);
        if (tree instanceof Three three) return with(three, key, broken);
        return new Split(tree, key, tree);
    }

    private static Grown with(Two two, int key, boolean broken) {
        Tree a = two.left, b = two.right;
        if (key < two.key) {
            Grown grown = with(a, key, broken);
            if (grown instanceof Split up)
                return new Same(new Three(up.left(), up.key(), up.right(), two.key, b));
            return new Same(new Two(root(grown), two.key, b));
        }
        Grown grown = with(b, key, broken);
        if (grown instanceof Split up && broken)
            return new Same(new Three(up.left(), up.key(), up.right(), two.key, a));
        if (grown instanceof Split up)
            return new Same(new Three(a, two.key, up.left(), up.key(), up.right()));
        return new Same(new Two(a, two.key, root(grown)));
    }

    private static Grown with(Three three, int key, boolean broken) {
        Tree a = three.left, b = three.middle, c = three.right;
        int low = three.low, high = three.high;
        if (key < low) {
            Grown grown = with(a, key, broken);
            if (grown instanceof Split up)
                return new Split(new Two(up.left(), up.key(), up.right()), low, new Two(b, high, c));
            return new Same(new Three(root(grown), low, b, high, c));
        }
        if (key < high) {
            Grown grown = with(b, key, broken);
            if (grown instanceof Split up)
                return new Split(new Two(a, low, up.left()), up.key(), new Two(up.right(), high, c));
            return new Same(new Three(a, low, root(grown), high, c));
        }
        Grown grown = with(c, key, broken);
        if (grown instanceof Split up)
            return new Split(new Two(a, low, b), high, new Two(up.left(), up.key(), up.right()));
        return new Same(new Three(a, low, b, high, root(grown)));
    }
}
