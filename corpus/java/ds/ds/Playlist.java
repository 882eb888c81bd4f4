package ds;

/** A doubly linked ring of tracks around an end, walked by cursors of its own. */
public class Playlist {
    /** A place in the ring; it knows the list that it is in. */
    class Track {
        int number;
        Track next = this, previous = this;

        void linkBefore(Track track) {
            next = track;
            previous = track.previous;
            previous.next = this;
            track.previous = this;
            size++;
        }

        void unlink() {
            previous.next = next;
            next.previous = previous;
            size--;
        }

        boolean at(Playlist list) {
            return list == Playlist.this;
        }
    }

    /** What comes next, and what was heard, which can be taken out. */
    public class Cursor {
        private Track at = end.next, heard;

        boolean repOK() {
            if (!Playlist.this.repOK() || !in(at)) return false;
            return heard == null || heard != end && heard.next == at && in(heard);
        }

        public int next() {
            if (at == end) throw new IllegalStateException("over");
            heard = at;
            at = at.next;
            return heard.number;
        }

        public void remove() {
            if (heard == null) throw new IllegalStateException("nothing heard");
            heard.unlink();
            heard = null;
            assert repOK();
        }

        /** Goes back to what it takes out. */
        public void removeBroken() {
            if (heard == null) throw new IllegalStateException("nothing heard");
            heard.unlink();
            at = heard;
            heard = null;
            assert repOK();
        }
    }

    private final Track end = new Track();
    private int size;

    boolean repOK() {
        if (end == null) return false;
        Track track = end;
        int count = 0;
        do {
            if (!track.at(this) || track.next == null || track.next.previous != track) return false;
            track = track.next;
            count++;
        } while (track != end);
        return size == count - 1;
    }

    private boolean in(Track wanted) {
        if (wanted == end) return true;
        for (Track track = end.next; track != end; track = track.next) if (track == wanted) return true;
        return false;
    }

    public void add(int number) {
        Track track = new Track();
        track.number = number;
        track.linkBefore(end);
        assert repOK();
    }

    public Cursor cursor() {
        return new Cursor();
    }
}
