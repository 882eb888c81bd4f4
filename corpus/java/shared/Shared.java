import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Methods that change what the classes of a program share, and one that only looks at it. */
public class Shared {
    static class Box {
        int number;
        Box next;
    }

    /** Initialised in the middle of a path, and then once for all. */
    static class Late {
        static int seen = count;
    }

    enum Mode {
        SLOW, FAST;

        int used;
    }

    static int count;
    static int[] numbers = {1, 2, 3};
    static final int[] FIXED = {4, 5};
    static final Box BOX = new Box();
    static final List<Integer> LIST = new ArrayList<>();
    static final Map<Integer, Integer> MAP = new HashMap<>();
    static final AtomicInteger ATOMIC = new AtomicInteger();

    static int reads(int i) {
        return count + FIXED[0] + i == 8 ? 1 : 2;
    }

    static int counter(int i) {
        count += i;
        return count == 10 ? 1 : 2;
    }

    static int element(int i) {
        numbers[1] += i;
        return numbers[1] == 9 ? 1 : 2;
    }

    static int fixedElement(int i) {
        FIXED[0] = FIXED[0] + i;
        return FIXED[0] == 9 ? 1 : 2;
    }

    static int copied(int[] from) {
        if (FIXED[0] != 4) return 3;
        System.arraycopy(from, 0, FIXED, 0, 1);
        return FIXED[0] == 9 ? 1 : 2;
    }

    static int field(int i) {
        BOX.number += i;
        return BOX.number == 10 ? 1 : 2;
    }

    static int deepField(int i) {
        if (BOX.next == null) BOX.next = new Box();
        BOX.next.number += i;
        return BOX.next.number == 10 ? 1 : 2;
    }

    static int list(int i) {
        if (i > 5) LIST.add(7);
        return LIST.size();
    }

    static int map(boolean add) {
        if (add) MAP.put(1, 2);
        return MAP.size();
    }

    static int atomic(int i) {
        if (i > 5) ATOMIC.incrementAndGet();
        return ATOMIC.get();
    }

    static int constant(int i) {
        if (i > 5) Mode.FAST.used++;
        return Mode.FAST.used;
    }

    static int late(int i) {
        count += i;
        return Late.seen == 10 ? 1 : 2;
    }
}
