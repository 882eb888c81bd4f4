package org.junit.jupiter.api;

import java.util.Objects;

/** As much of JUnit's assertions as generated tests use. */
public class Assertions {
    public interface Executable {
        void execute() throws Throwable;
    }

    private static void fail(Object expected, Object actual) {
        throw new AssertionError("expected " + expected + " but was " + actual);
    }

    public static void assertEquals(Object expected, Object actual) {
        if (!Objects.equals(expected, actual)) fail(expected, actual);
    }

    public static void assertSame(Object expected, Object actual) {
        if (expected != actual) fail("the same object", "another");
    }

    public static void assertNull(Object actual) {
        if (actual != null) fail("null", "an object");
    }

    public static void assertNotNull(Object actual) {
        if (actual == null) fail("an object", "null");
    }

    public static Throwable assertThrows(Class<?> expected, Executable executable) {
        try {
            executable.execute();
        } catch (Throwable thrown) {
            if (expected.isInstance(thrown)) return thrown;
            throw new AssertionError("expected " + expected + " but was " + thrown, thrown);
        }
        throw new AssertionError("nothing was thrown");
    }
}
