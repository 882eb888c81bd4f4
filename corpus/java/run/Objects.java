import java.util.*;
import java.util.function.*;

public class Objects {
    interface Shape { double area(); default String describe() { return "shape of " + area(); } }
    record Circle(double radius) implements Shape { public double area() { return 3 * radius * radius; } }
    record Box(int width, int height, String label) implements Shape {
        public double area() { return width * height; }
        @Override public String describe() { return label + " " + Shape.super.describe(); }
    }
    enum Colour { RED, GREEN { @Override int weight() { return 7; } }, BLUE; int weight() { return ordinal() + 1; } }
    static abstract class Animal {
        static int count;
        final String name;
        Animal(String name) { this.name = name; count++; }
        abstract String sound();
        public String toString() { return name + " says " + sound(); }
    }
    static class Dog extends Animal { Dog() { super("dog"); } String sound() { return "woof"; } }
    static class Puppy extends Dog { @Override String sound() { return super.sound() + "?"; } }
    class Inner { int value = Objects.this.base + 1; }
    int base = 41;

    static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }

    static String finallyOrder(int n) {
        StringBuilder trace = new StringBuilder();
        try {
            trace.append("try ");
            if (n == 1) throw new IllegalStateException("one");
            if (n == 2) return trace.append("return ").toString();
            Object o = n == 3 ? null : "x";
            trace.append(o.hashCode()).append(' ');
        } catch (IllegalStateException | UnsupportedOperationException e) {
            trace.append("caught ").append(e.getMessage()).append(' ');
        } catch (NullPointerException e) {
            trace.append("npe ");
        } finally {
            trace.append("finally");
        }
        return trace.toString();
    }

    static int sum(int... values) { int total = 0; for (int v : values) total += v; return total; }

    public static void main(String[] args) {
        List<Shape> shapes = new ArrayList<>(List.of(new Circle(2), new Box(3, 4, "box")));
        for (Shape s : shapes) System.out.println(s.describe() + " " + s + " " + (s instanceof Box b ? b.label() : "-"));
        System.out.println(new Box(1, 2, "a").equals(new Box(1, 2, "a")) + " " + new Box(1, 2, "a").equals(new Box(1, 2, "b"))
                + " " + new Box(1, 2, "a").hashCode() + " " + new Circle(1).equals(new Circle(1)));
        for (Colour c : Colour.values()) {
            switch (c) {
                case RED -> System.out.println("red " + c.weight());
                case GREEN -> System.out.println("green " + c.weight());
                default -> System.out.println(c + " " + c.weight() + " " + c.compareTo(Colour.RED));
            }
        }
        System.out.println(Colour.valueOf("BLUE").ordinal());
        try { Colour.valueOf("PINK"); } catch (IllegalArgumentException e) { System.out.println(e.getMessage()); }
        Animal[] animals = {new Dog(), new Puppy(), new Animal("cat") { String sound() { return "meow"; } }};
        for (Animal a : animals) System.out.println(a + " " + (a instanceof Dog) + " " + a.getClass().getName());
        System.out.println(Animal.count + " " + new Objects().new Inner().value + " " + depth(500));
        for (int n = 0; n < 5; n++) System.out.println(finallyOrder(n));
        System.out.println(sum() + " " + sum(1, 2, 3));
        Function<Integer, Integer> twice = x -> x * 2;
        int offset = 10;
        IntBinaryOperator add = (x, y) -> x + y + offset;
        Supplier<List<String>> make = ArrayList::new;
        BiFunction<String, Integer, Character> at = String::charAt;
        System.out.println(twice.andThen(x -> x + 1).apply(20) + " " + add.applyAsInt(1, 2) + " " + make.get().size() + " " + at.apply("hello", 1));
        Map<String, Integer> map = new HashMap<>();
        for (String word : "the quick brown fox jumps over the lazy dog the end".split(" ")) map.merge(word, 1, Integer::sum);
        System.out.println(new TreeMap<>(map));
        Deque<Integer> deque = new ArrayDeque<>();
        for (int i = 0; i < 40; i++) { deque.addFirst(i); if (i % 3 == 0) deque.pollLast(); }
        System.out.println(deque);
        LinkedList<Integer> list = new LinkedList<>(List.of(5, 3, 9, 1));
        Collections.sort(list);
        list.addLast(4);
        list.remove(Integer.valueOf(3));
        System.out.println(list + " " + list.contains(9) + " " + list.indexOf(4));
        PriorityQueue<Integer> heap = new PriorityQueue<>(Comparator.reverseOrder());
        for (int i : new int[] {3, 1, 4, 1, 5, 9, 2, 6}) heap.add(i);
        StringBuilder out = new StringBuilder();
        while (!heap.isEmpty()) out.append(heap.poll()).append(',');
        System.out.println(out.reverse());
        int[][] grid = new int[3][4];
        grid[1][2] = 5;
        System.out.println(Arrays.deepToString(grid) + " " + Arrays.toString(new boolean[2]) + " " + Arrays.toString(grid[1].clone()));
        try { Object o = "s"; Integer i = (Integer) o; System.out.println(i); } catch (ClassCastException e) { System.out.println("cce"); }
        try { int[] a = new int[2]; a[2] = 1; } catch (ArrayIndexOutOfBoundsException e) { System.out.println(e.getMessage()); }
        try { Object[] a = new String[1]; a[0] = 1; } catch (ArrayStoreException e) { System.out.println("ase"); }
        try { int[] a = new int[-1]; } catch (NegativeArraySizeException e) { System.out.println(e.getMessage()); }
        try { list.get(17); } catch (IndexOutOfBoundsException e) { System.out.println(e.getMessage()); }
        try { for (Integer i : list) list.remove(i); } catch (ConcurrentModificationException e) { System.out.println("cme"); }
        System.out.println("abc".compareTo("abd") + " " + "x,y,z".indexOf(',') + " " + "Hello".replace('l', 'L') + " " + "  t ".trim() + "|" + "ab".repeat(3)
                + " " + "été".length() + " " + "\u4f60\u597d".charAt(1) + " " + String.join("-", List.of("p", "q")) + " " + "a".equals("b"));
        Integer a = 127, b = 127, c = 1000, d = 1000;
        System.out.println((a == b) + " " + (c == d) + " " + c.equals(d) + " " + Integer.parseInt("-123") + " " + Integer.toHexString(255) + " " + Long.MAX_VALUE);
        String text = switch (map.get("the")) { case 3 -> "three"; case 2 -> "two"; default -> "?"; };
        switch (text) { case "three": System.out.println("string switch"); break; default: System.out.println("no"); }
        Iterator<Integer> it = new Iterator<>() { int i = 0; public boolean hasNext() { return i < 3; } public Integer next() { return i++; } };
        while (it.hasNext()) System.out.print(it.next() + " ");
        System.out.println();
        throw new IllegalStateException("the end");
    }
}
