package java.lang.reflect;

public final class Array {
    private Array() {}

    public static Object newInstance(Class<?> component, int length) throws NegativeArraySizeException {
        return newArray(component, length);
    }

    public static native int getLength(Object array) throws IllegalArgumentException;

    private static native Object newArray(Class<?> component, int length) throws NegativeArraySizeException;
}
