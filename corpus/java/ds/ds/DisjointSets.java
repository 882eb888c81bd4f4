package ds;

/** Disjoint sets of numbers below a bound: trees by parent, the smaller below the root of the larger. */
public class DisjointSets {
    private final int[] parent;
    private final int[] size;

    public DisjointSets(int count) {
        parent = new int[count];
        size = new int[count];
        for (int i = 0; i < count; i++) {
            parent[i] = i;
            size[i] = 1;
        }
    }

    boolean repOK() {
        if (parent == null || size == null || parent == size || parent.length != size.length) return false;
        for (int i = 0; i < parent.length; i++) if (parent[i] < 0 || parent[i] >= parent.length) return false;
        for (int root = 0; root < parent.length; root++) {
            if (parent[root] != root) continue;
            int count = 0;
            for (int i = 0; i < parent.length; i++) if (root(i) == root) count++;
            if (size[root] != count) return false;
        }
        for (int i = 0; i < parent.length; i++) if (root(i) < 0) return false;
        return true;
    }

    /** The root of an element; -1 on a cycle. */
    private int root(int element) {
        int steps = 0;
        while (parent[element] != element) {
            element = parent[element];
            if (++steps > parent.length) return -1;
        }
        return element;
    }

    public int find(int element) {
        if (element < 0 || element >= parent.length) throw new IllegalArgumentException();
        int root = root(element);
        while (parent[element] != root) {
            int above = parent[element];
            parent[element] = root;
            element = above;
        }
        return root;
    }

    public void union(int a, int b) {
        int x = find(a), y = find(b);
        if (x != y) {
            int below = size[x] < size[y] ? x : y, above = below == x ? y : x;
            parent[below] = above;
            size[above] += size[below];
        }
        assert repOK() && find(a) == find(b);
    }

    /** Hangs the element, not its root, below the other. */
    public void unionBroken(int a, int b) {
        int x = find(a), y = find(b);
        if (x != y) {
            parent[a] = y;
            size[y] += size[x];
        }
        assert repOK() && find(a) == find(b);
    }
}
