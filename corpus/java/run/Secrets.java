import java.math.BigInteger;
import java.util.*;

/** Library classes that ask the JDK's own secrets of it. */
public class Secrets {
    enum Day { MON, TUE, WED }

    interface Named { }

    public static void main(String[] args) throws Exception {
        EnumMap<Day, Integer> hours = new EnumMap<>(Day.class);
        hours.put(Day.WED, 3);
        hours.put(Day.MON, 1);
        System.out.println(hours + " " + hours.containsKey(Day.TUE) + " " + hours.get(Day.WED));
        EnumSet<Day> days = EnumSet.of(Day.TUE, Day.MON);
        System.out.println(days + " " + EnumSet.complementOf(days) + " " + EnumSet.allOf(Day.class).size());
        System.out.println(new StringJoiner(", ", "[", "]").add("a").add("b").setEmptyValue("none"));
        System.out.println(String.join("-", List.of("x", "y", "z")));
        System.out.println(new UUID(0x123456789abcdefL, -2));
        System.out.println(new BigInteger("123456789012345678901234567890").pow(3).mod(BigInteger.valueOf(97)));
        System.out.println(BigInteger.ONE.shiftLeft(300));
        Random random = new Random(42);
        System.out.println(random.nextInt(100) + " " + random.nextLong() + " " + random.nextBoolean());
        List<Integer> cards = new ArrayList<>(List.of(1, 2, 3, 4, 5));
        Collections.shuffle(cards, new Random(7));
        System.out.println(cards);
        System.out.println(Named.class.getSuperclass() + " " + Day.class.getSuperclass() + " " + Class.forName("Secrets$Day"));
        Object[] numbers = new Integer[1];
        try {
            numbers[0] = "text";
        } catch (ArrayStoreException e) {
            System.out.println(e.getMessage());
        }
    }
}
