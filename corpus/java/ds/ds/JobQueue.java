package ds;

/** A queue of jobs; what any chain can do comes with the interfaces. */
public class JobQueue implements Queue<Job> {
    private Job first, last;
    private int size;

    @Override
    public Job first() {
        return first;
    }

    @Override
    public Job last() {
        return last;
    }

    @Override
    public void ends(Job first, Job last) {
        this.first = first;
        this.last = last;
        size = first == null ? 0 : first.length();
    }

    @Override
    public boolean repOK() {
        return Queue.super.repOK() && size == (first == null ? 0 : first.length());
    }

    public void add(int priority) {
        add(new Job(priority));
    }

    /** Both queues are sound, and have nothing in common. */
    private boolean apart(JobQueue other) {
        return other != null && other.repOK() && (last == null || last != other.last);
    }

    public int drain(JobQueue other) {
        if (other != this && !apart(other)) throw new IllegalArgumentException();
        int both = other == this ? size : size + other.size;
        take(other);
        assert repOK() && size == both && (other == this || other.isEmpty());
        return size;
    }

    public int drainBroken(JobQueue other) {
        if (other != this && !apart(other)) throw new IllegalArgumentException();
        int both = other == this ? size : size + other.size;
        takeBroken(other);
        assert repOK() && size == both && (other == this || other.isEmpty());
        return size;
    }
}

/** Something that has a next one. */
interface Chained<N extends Chained<N>> {
    N next();

    void next(N next);

    @SuppressWarnings("unchecked")
    default N last() {
        N at = (N) this;
        while (at.next() != null) at = at.next();
        return at;
    }

    default int length() {
        return next() == null ? 1 : 1 + next().length();
    }
}

/** A chain with both ends at hand. */
interface Queue<N extends Chained<N>> {
    N first();

    N last();

    void ends(N first, N last);

    default boolean isEmpty() {
        return first() == null;
    }

    default boolean repOK() {
        return isEmpty() ? last() == null : first().last() == last();
    }

    default void add(N item) {
        if (isEmpty()) ends(item, item);
        else {
            last().next(item);
            ends(first(), item);
        }
    }

    /** Moves everything of another queue to the end of this one. */
    default void take(Queue<N> other) {
        if (other == this || other.isEmpty()) return;
        N first = other.first(), last = other.last();
        other.ends(null, null);
        if (!isEmpty()) last().next(first);
        ends(isEmpty() ? first : first(), last);
    }

    /** Forgets that the end moves too. */
    default void takeBroken(Queue<N> other) {
        if (other == this || other.isEmpty()) return;
        if (isEmpty()) ends(other.first(), other.last());
        else last().next(other.first());
        other.ends(null, null);
    }
}

final class Job implements Chained<Job> {
    private final int priority;
    private Job next;

    Job(int priority) {
        this.priority = priority;
    }

    @Override
    public Job next() {
        return next;
    }

    @Override
    public void next(Job next) {
        this.next = next;
    }
}
