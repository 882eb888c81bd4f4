    static {
        // Before any class of the program is loaded.
        ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(true);
    }

    private static final sun.misc.Unsafe UNSAFE = unsafe();

    private static sun.misc.Unsafe unsafe() {
        try {
            java.lang.reflect.Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** An object as it is before its constructor runs. */
    private static Object make(String name) throws Exception {
        return UNSAFE.allocateInstance(load(name));
    }

    private static Object array(String name, int length) throws Exception {
        return java.lang.reflect.Array.newInstance(load(name.replace('/', '.')).getComponentType(), length);
    }

    private static Object construct(String name, String descriptor, Object[] arguments) throws Throwable {
        for (java.lang.reflect.Constructor<?> constructor : load(name).getDeclaredConstructors()) {
            if (descriptor(void.class, constructor.getParameterTypes()).equals(descriptor)) {
                constructor.setAccessible(true);
                try {
                    return constructor.newInstance(arguments);
                } catch (java.lang.reflect.InvocationTargetException e) {
                    throw e.getCause();
                }
            }
        }
        throw new NoSuchMethodException(name + descriptor);
    }

    private static String descriptor(Class<?> result, Class<?>[] parameters) {
        return java.lang.invoke.MethodType.methodType(result, parameters).toMethodDescriptorString();
    }

    @SuppressWarnings("removal")
    private static void put(Object object, String owner, String name, Object value) throws Exception {
        java.lang.reflect.Field field = load(owner).getDeclaredField(name);
        long at = UNSAFE.objectFieldOffset(field);
        Class<?> type = field.getType();
        if (type == boolean.class) UNSAFE.putBoolean(object, at, (Boolean) value);
        else if (type == byte.class) UNSAFE.putByte(object, at, (Byte) value);
        else if (type == char.class) UNSAFE.putChar(object, at, (Character) value);
        else if (type == short.class) UNSAFE.putShort(object, at, (Short) value);
        else if (type == int.class) UNSAFE.putInt(object, at, (Integer) value);
        else if (type == long.class) UNSAFE.putLong(object, at, (Long) value);
        else if (type == float.class) UNSAFE.putFloat(object, at, (Float) value);
        else if (type == double.class) UNSAFE.putDouble(object, at, (Double) value);
        else UNSAFE.putObject(object, at, value);
    }

    @SuppressWarnings("removal")
    private static Object get(Object object, String owner, String name) throws Exception {
        java.lang.reflect.Field field = load(owner).getDeclaredField(name);
        if (field.getDeclaringClass().isRecord()) {
            field.setAccessible(true);
            return field.get(object);
        }
        long at = UNSAFE.objectFieldOffset(field);
        Class<?> type = field.getType();
        if (type == boolean.class) return UNSAFE.getBoolean(object, at);
        if (type == byte.class) return UNSAFE.getByte(object, at);
        if (type == char.class) return UNSAFE.getChar(object, at);
        if (type == short.class) return UNSAFE.getShort(object, at);
        if (type == int.class) return UNSAFE.getInt(object, at);
        if (type == long.class) return UNSAFE.getLong(object, at);
        if (type == float.class) return UNSAFE.getFloat(object, at);
        if (type == double.class) return UNSAFE.getDouble(object, at);
        return UNSAFE.getObject(object, at);
    }

    private static Object call(String owner, String name, String descriptor, Object self, Object[] arguments)
            throws Throwable {
        for (java.lang.reflect.Method method : load(owner).getDeclaredMethods()) {
            if (method.getName().equals(name)
                    && descriptor(method.getReturnType(), method.getParameterTypes()).equals(descriptor)) {
                if (!method.canAccess(self)) method.setAccessible(true);
                try {
                    return method.invoke(self, arguments);
                } catch (java.lang.reflect.InvocationTargetException e) {
                    throw e.getCause();
                }
            }
        }
        throw new NoSuchMethodException(owner + "." + name + descriptor);
    }
}
