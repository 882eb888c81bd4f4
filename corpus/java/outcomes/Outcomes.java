/** One method or more for each kind of outcome that a path may have, over inputs of which nothing is known. */
public class Outcomes {
    static class Base {
        int number;

        int value() {
            return number;
        }
    }

    static class Derived extends Base {
        @Override
        int value() {
            return 7;
        }
    }

    static class Trap extends RuntimeException {}

    static class Cloned implements Cloneable {
        int number;

        @Override
        public Cloned clone() throws CloneNotSupportedException {
            return (Cloned) super.clone();
        }
    }

    static int dereferences(Base a) {
        return a.number;
    }

    static boolean compares(Base a, Base b) {
        return a == b || a == null;
    }

    static int branches(int a, boolean b) {
        return a < 3 || b ? 1 : 2;
    }

    static int switches(int a) {
        switch (a) {
            case 1: return 10;
            case 5: return 50;
            case 600: return 6;
            default: return 0;
        }
    }

    static int dispatches(Base a) {
        return a.value();
    }

    static boolean instance(Base a) {
        return a instanceof Derived;
    }

    static boolean classIs(Object a) {
        return Derived.class.isInstance(a);
    }

    static boolean classOf(Base a) {
        return a.getClass() == Derived.class;
    }

    static int casts(Base a) {
        return ((Derived) a).number;
    }

    static int indexes(int[] a, int at) {
        return a[at];
    }

    static int lengths(int n) {
        return new int[n].length;
    }

    static int rows(int n) {
        int[][] rows = new int[n][2];
        if (n > 1) rows[1][1] = 5;
        return rows.length == 0 ? -1 : rows[rows.length - 1][1];
    }

    static int columns(int n, int m) {
        int[][] rows = new int[n][m];
        return rows.length > 1 ? rows[1].length : -1;
    }

    static int cubes(int n) {
        return new byte[2][n][1].length;
    }

    static int divides(int a, long b) {
        return (int) (7 / a % b);
    }

    static void stores(Object[] to, Base what) {
        to[0] = what;
    }

    static void storesKnown(Base what) {
        Object[] to = new Derived[1];
        to[0] = what;
    }

    static int catches(int a) {
        try {
            if (a == 4) throw new Trap();
            return 8 / a;
        } catch (ArithmeticException e) {
            return -1;
        } catch (Trap e) {
            return -2;
        }
    }

    static boolean clones(int[] a) {
        return a.clone().length == 0;
    }

    static int clonesObject(Cloned a) throws CloneNotSupportedException {
        return a.clone().number;
    }

    static int copies(int[] a, int n) {
        int[] r = new int[3];
        System.arraycopy(a, 0, r, 0, n);
        return r[0];
    }

    static int copiesWithin(int[] a, int from) {
        System.arraycopy(a, from, a, 0, 1);
        return a[0];
    }

    static int copyOf(int[] a) {
        return java.util.Arrays.copyOf(a, 2)[0];
    }

    static Base copyOfObjects(Base[] a) {
        return java.util.Arrays.copyOf(a, 2)[1];
    }

    static int copiesFitting(Base a, Base b) {
        Object[] from = {a, b};
        Derived[] to = new Derived[2];
        try {
            System.arraycopy(from, 0, to, 0, 2);
        } catch (ArrayStoreException e) {
            return to[0] == null ? 0 : 1;
        }
        return 2;
    }

    static Object[] copiesObjects(Base[] from) {
        Object[] to = new Object[2];
        System.arraycopy(from, 0, to, 0, from.length);
        return to;
    }
}
