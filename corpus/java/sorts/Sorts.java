import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/** The sorts of the library, over objects of which nothing is known. */
public class Sorts {
    static class Item implements Comparable<Item> {
        int key;

        @Override
        public int compareTo(Item other) {
            return Integer.compare(key, other.key);
        }
    }

    static int reversed(Item a, Item b) {
        List<Item> items = new ArrayList<>();
        items.add(a);
        items.add(b);
        items.sort(Comparator.reverseOrder());
        return items.get(0).key;
    }

    static int natural(Item a, Item b) {
        List<Item> items = new ArrayList<>(Arrays.asList(a, b));
        Collections.sort(items);
        return items.get(0).key;
    }

    static Item array(Item a, Item b) {
        Item[] items = {a, b};
        Arrays.sort(items, (one, two) -> Integer.compare(one.key, two.key));
        return items[1];
    }

    static int objects(Item a, Item b) {
        Object[] items = {a, b};
        Arrays.sort(items);
        return ((Item) items[0]).key;
    }

    static int numbers(boolean up) {
        List<Integer> numbers = new ArrayList<>(List.of(3, 1, 2));
        numbers.sort(up ? null : Comparator.reverseOrder());
        return numbers.get(0);
    }
}
