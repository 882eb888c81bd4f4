package java.lang;

public abstract class Enum<E extends Enum<E>> implements Comparable<E>, java.io.Serializable {
    private final String name;
    private final int ordinal;

    protected Enum(String name, int ordinal) {
        this.name = name;
        this.ordinal = ordinal;
    }

    public final String name() {
        return name;
    }

    public final int ordinal() {
        return ordinal;
    }

    public String toString() {
        return name;
    }

    public final boolean equals(Object other) {
        return this == other;
    }

    public final int hashCode() {
        return super.hashCode();
    }

    public final int compareTo(E other) {
        return ordinal - ((Enum<?>) other).ordinal;
    }

    @SuppressWarnings("unchecked")
    public final Class<E> getDeclaringClass() {
        Class<?> own = getClass(), above = own.getSuperclass();
        return (Class<E>) (above == (Class<?>) Enum.class ? own : above);
    }

    public static <T extends Enum<T>> T valueOf(Class<T> kind, String name) {
        if (name == null) throw new NullPointerException("Name is null");
        for (T constant : kind.getEnumConstantsShared()) if (constant.name().equals(name)) return constant;
        throw new IllegalArgumentException("No enum constant " + kind.getCanonicalName() + "." + name);
    }
}
