package ds;

import java.util.function.Function;
import java.util.function.IntPredicate;

/** A sorted list of pairs in the style of records, switches and lambdas. */
public class SortedPairs {
    sealed interface Chain permits Empty, Link {}

    record Empty() implements Chain {}

    record Link(int key, int value, Chain rest) implements Chain {}

    enum Order { BEFORE, SAME, AFTER }

    private Chain first;

    boolean repOK() {
        if (first == null) return false;
        Chain at = first;
        while (at instanceof Link link) {
            if (link.rest() == null) return false;
            if (link.rest() instanceof Link next && next.key() <= link.key()) return false;
            at = link.rest();
        }
        return true;
    }

    private static Order order(int a, int b) {
        return a < b ? Order.BEFORE : a == b ? Order.SAME : Order.AFTER;
    }

    public void put(int key, int value) {
        first = with(first, key, value, false);
        assert repOK() && count(k -> k == key) == 1;
    }

    /** Puts a second pair beside one of the same key. */
    public void putBroken(int key, int value) {
        first = with(first, key, value, true);
        assert repOK() && count(k -> k == key) == 1;
    }

    private static Chain with(Chain chain, int key, int value, boolean broken) {
        Function<Chain, Chain> before = rest -> new Link(key, value, rest);
        if (!(chain instanceof Link link)) return before.apply(chain);
        return switch (order(key, link.key())) {
            case BEFORE -> before.apply(chain);
            case SAME -> broken ? before.apply(chain) : new Link(key, value, link.rest());
            case AFTER -> new Link(link.key(), link.value(), with(link.rest(), key, value, broken));
        };
    }

    private int count(IntPredicate wanted) {
        int count = 0;
        for (Chain at = first; at instanceof Link link; at = link.rest()) if (wanted.test(link.key())) count++;
        return count;
    }
}
