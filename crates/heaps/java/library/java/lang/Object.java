package java.lang;

public class Object {
    public Object() {}

    public final native Class<?> getClass();

    public native int hashCode();

    public boolean equals(Object other) {
        return this == other;
    }

    protected native Object clone() throws CloneNotSupportedException;

    public String toString() {
        return getClass().getName() + "@" + Text.hexadecimal(hashCode());
    }

    public final native void notify();

    public final native void notifyAll();
}
