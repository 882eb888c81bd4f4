package java.lang;

public final class Class<T> {
    private String name;
    private Class<?> componentType;

    private Class() {}

    public String getName() {
        return name;
    }

    public Class<?> getComponentType() {
        return componentType;
    }

    public native boolean isArray();

    public native boolean isPrimitive();

    public native boolean isInterface();

    public native boolean isInstance(Object object);

    public native boolean isAssignableFrom(Class<?> other);

    public native Class<? super T> getSuperclass();

    public native String getSimpleName();

    public native String getCanonicalName();

    public native boolean desiredAssertionStatus();

    native T[] getEnumConstantsShared();

    static native Class<?> getPrimitiveClass(String name);

    @SuppressWarnings("unchecked")
    public T cast(Object object) {
        if (object != null && !isInstance(object)) throw new ClassCastException();
        return (T) object;
    }

    public String toString() {
        return (isInterface() ? "interface " : isPrimitive() ? "" : "class ") + name;
    }
}
