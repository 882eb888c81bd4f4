package ds;

import java.util.function.IntUnaryOperator;

/** A cache that drops what was not used for longest: a map from keys to nodes, and the nodes in order of use. */
public class LruCache {
    static final class Node {
        int key, value;
        Node newer, older, chain;
    }

    private final Node[] map;
    private Node newest, oldest;
    private int size;

    public LruCache(int buckets) {
        map = new Node[buckets];
    }

    private static final int CAPACITY = 2;

    boolean repOK() {
        if (map == null || map.length != 1) return false;
        int count = 0;
        Node newer = null;
        for (Node node = newest; node != null; node = node.older) {
            if (node.newer != newer || count == CAPACITY || lookup(node.key) != node) return false;
            newer = node;
            count++;
        }
        if (oldest != newer || size != count) return false;
        int mapped = 0;
        for (Node node = map[0]; node != null; node = node.chain) if (++mapped > count) return false;
        return mapped == count;
    }

    private Node lookup(int key) {
        int steps = 0;
        for (Node node = map[0]; node != null && steps <= CAPACITY; node = node.chain, steps++)
            if (node.key == key) return node;
        return null;
    }

    public int get(int key) {
        return get(key, wanted -> -wanted, false);
    }

    public int getBroken(int key) {
        return get(key, wanted -> -wanted, true);
    }

    private int get(int key, IntUnaryOperator loader, boolean broken) {
        Node node = lookup(key);
        if (node == null) {
            if (size == CAPACITY) drop(broken);
            node = new Node();
            node.key = key;
            node.value = loader.applyAsInt(key);
            node.chain = map[0];
            map[0] = node;
            size++;
        } else {
            unlink(node);
        }
        node.older = newest;
        node.newer = null;
        if (newest != null) newest.newer = node;
        newest = node;
        if (oldest == null) oldest = node;
        assert repOK() && newest.key == key;
        return node.value;
    }

    private void unlink(Node node) {
        if (node.newer == null) newest = node.older;
        else node.newer.older = node.older;
        if (node.older == null) oldest = node.newer;
        else node.older.newer = node.newer;
    }

    /** The broken version forgets the map. */
    private void drop(boolean broken) {
        Node gone = oldest;
        unlink(gone);
        size--;
        if (broken) return;
        if (map[0] == gone) {
            map[0] = gone.chain;
            return;
        }
        Node before = map[0];
        while (before.chain != gone) before = before.chain;
        before.chain = gone.chain;
    }
}
