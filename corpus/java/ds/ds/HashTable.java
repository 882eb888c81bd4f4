package ds;

/** A hash table whose buckets are chains. */
public class HashTable<V> {
    static final class Entry<V> {
        final int key;
        V value;
        Entry<V> next;

        Entry(int key, V value, Entry<V> next) {
            this.key = key;
            this.value = value;
            this.next = next;
        }
    }

    private final Entry<V>[] buckets;
    private int size;

    @SuppressWarnings("unchecked")
    public HashTable(int buckets) {
        this.buckets = (Entry<V>[]) new Entry<?>[buckets];
    }

    boolean repOK() {
        if (buckets == null || buckets.length != 2) return false;
        int count = 0;
        for (int at = 0; at < buckets.length; at++) {
            for (Entry<V> entry = buckets[at]; entry != null; entry = entry.next) {
                if ((entry.key & buckets.length - 1) != at) return false;
                for (Entry<V> later = entry.next; later != null; later = later.next)
                    if (later.key == entry.key) return false;
                count++;
            }
        }
        return count == size;
    }

    public V get(int key) {
        Entry<V> entry = buckets[key & buckets.length - 1];
        while (entry != null && entry.key != key) entry = entry.next;
        return entry == null ? null : entry.value;
    }

    public V put(int key, V value) {
        int at = key & buckets.length - 1;
        for (Entry<V> entry = buckets[at]; entry != null; entry = entry.next) {
            if (entry.key == key) {
                V old = entry.value;
                entry.value = value;
                return old;
            }
        }
        buckets[at] = new Entry<>(key, value, buckets[at]);
        size++;
        assert repOK() && get(key) == value;
        return null;
    }

    public boolean remove(int key) {
        return remove(key, false);
    }

    public boolean removeBroken(int key) {
        return remove(key, true);
    }

    private boolean remove(int key, boolean broken) {
        int at = key & buckets.length - 1;
        Entry<V> before = null;
        for (Entry<V> entry = buckets[at]; entry != null; entry = entry.next) {
            if (entry.key == key) {
                if (before == null) buckets[at] = entry.next;
                // The broken version cuts off the rest of the chain.
                else before.next = broken ? null : entry.next;
                size--;
                assert repOK() && get(key) == null;
                return true;
            }
            before = entry;
        }
        return false;
    }
}
