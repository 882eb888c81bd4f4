    /** The classes that the test on a thread sees. Some of these tests change static fields or what they hold. */
    private static final ThreadLocal<ClassLoader> CLASSES = new ThreadLocal<>();

    /** From here on classes are as their initialisers leave them. */
    private static void fresh() {
        CLASSES.set(new Fresh());
    }

    private static Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(name, true, CLASSES.get());
    }

    /** Loads all classes anew but for those of the JDK. */
    private static final class Fresh extends ClassLoader {
        Fresh() {
            super(Fresh.class.getClassLoader());
            setDefaultAssertionStatus(true);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) return known;
                try {
                    return getPlatformClassLoader().loadClass(name);
                } catch (ClassNotFoundException e) {
                    // Not one of the JDK.
                }
                String file = name.replace('.', '/') + ".class";
                try (java.io.InputStream stream = getParent().getResourceAsStream(file)) {
                    if (stream == null) throw new ClassNotFoundException(name);
                    byte[] bytes = stream.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length, Fresh.class.getProtectionDomain());
                } catch (java.io.IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

