//! Native methods of the JDK, and a few others that would lead out of the program: one row each. What the rows do stands in
//! `natives`.
//!
//! A method that has neither a body nor a row here is a gap.

/// What a method does that is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Nothing.
    Nothing,
    /// Gives zero, false or null.
    Zero,
    /// Gives one.
    One,
    /// Gives its first argument.
    First,
    /// Gives its argument, the bits of a number of another type.
    Bits,
    /// Square root.
    Sqrt,
    /// `Math.log`, where the last bit does not matter.
    Log,
    /// `Object.getClass`
    GetClass,
    /// `Object.hashCode`, of the object or the argument.
    IdentityHash,
    /// `Object.clone`
    Clone,
    /// `System.arraycopy`
    ArrayCopy,
    /// `Class.desiredAssertionStatus`
    Assertions,
    /// `Class.getPrimitiveClass`
    PrimitiveClass,
    /// `Class.isArray`
    IsArray,
    /// `Class.isPrimitive`
    IsPrimitive,
    /// `Class.isInterface`
    IsInterface,
    /// `Class.isInstance`
    IsInstance,
    /// `Class.isAssignableFrom`
    IsAssignable,
    /// `Class.forName0`
    ForName,
    /// `Class.getSuperclass`
    Superclass,
    /// `Class.getSimpleName`
    SimpleName,
    /// `Class.getCanonicalName`
    CanonicalName,
    /// `Class.getEnumConstantsShared`
    EnumConstants,
    /// `Array.newArray`
    NewArray,
    /// `Array.getLength`
    ArrayLength,
    /// `Thread.currentThread`
    Thread,
    /// `String.intern`
    Intern,
    /// `System.getProperty`
    Property,
    /// `System.lineSeparator`
    LineSeparator,
    /// `System.nanoTime`
    Time,
    /// `PrintStream.write` and `writeln` of a string.
    Print(bool),
    /// `PrintStream.newLine`
    NewLine,
    /// `ArraysSupport.vectorizedMismatch`
    Mismatch,
    /// `Object.notify` and `notifyAll`
    Notify,
    /// A method of `StringBuilder` or its kin: its own, where the content is known.
    Builder,
    /// `Preconditions.outOfBoundsMessage`, which would ask for a locale.
    BoundsMessage,
    /// `Reference.refersTo0`
    RefersTo,
    /// `Unsafe.objectFieldOffset1`: the place of the field.
    FieldOffset,
    /// Access to a field or an element by its place.
    Unsafe(Access),
    /// `MethodHandles.lookup`
    Lookup,
    /// `Lookup.findVarHandle`
    FindHandle,
    /// `Locale.initDefault`: of a JVM that is told nothing else, American English.
    DefaultLocale,
    /// `Integer.toString` and `Long.toString`, of a number alone.
    Decimal,
    /// A part of a format that prints a number.
    Format,
    /// `GetPropertyAction.privilegedGetProperties`, for those who ask for what is never set.
    Properties,
    /// A gap: its body would look at what the machine never made.
    Missing,
}

/// What a method of `Unsafe` does to a field or an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Get,
    /// Writes it.
    Put,
    /// Writes it if it is what was expected, and gives whether it was.
    CompareAndSet,
    /// Writes it if it is what was expected, and gives what it was.
    CompareAndExchange,
    /// Writes it, and gives what it was.
    Swap,
    /// Adds to it, and gives what it was.
    Add,
}

fn unsafe_access(name: &str) -> Option<Access> {
    let kind = |rest: &str| {
        let rest = rest.trim_end_matches("Volatile").trim_end_matches("Acquire").trim_end_matches("Release");
        matches!(rest, "Int" | "Long" | "Reference")
    };
    if let Some(rest) = name.strip_prefix("compareAndExchange") {
        return matches!(rest, "Int" | "Long" | "Reference").then_some(Access::CompareAndExchange);
    }
    if let Some(rest) = name.strip_prefix("compareAndSet") {
        return matches!(rest, "Int" | "Long" | "Reference").then_some(Access::CompareAndSet);
    }
    if let Some(rest) = name.strip_prefix("get") {
        return kind(rest).then_some(Access::Get);
    }
    name.strip_prefix("put").filter(|rest| kind(rest)).map(|_| Access::Put)
}

/// The row of a method, if it has one.
pub fn model(class: &str, name: &str, descriptor: &str) -> Option<Model> {
    use Model as M;
    if name == "registerNatives" || name == "initIDs" {
        return Some(M::Nothing);
    }
    Some(match (class, name, descriptor) {
        ("java/lang/Object", "getClass", _) => M::GetClass,
        ("java/lang/Object", "hashCode", _) | ("java/lang/System", "identityHashCode", _) => M::IdentityHash,
        ("java/lang/Object", "clone", _) => M::Clone,
        ("java/lang/Object", "notify" | "notifyAll", _) => M::Notify,
        ("java/lang/Runtime", "availableProcessors", _) => M::One,
        ("java/lang/System", "arraycopy", _) => M::ArrayCopy,
        ("java/lang/System", "<clinit>", _) => M::Nothing,
        ("java/lang/System", "getSecurityManager", _) => M::Zero,
        ("java/lang/System", "getProperty", "(Ljava/lang/String;)Ljava/lang/String;") => M::Property,
        ("java/lang/System", "lineSeparator", _) => M::LineSeparator,
        ("java/lang/System", "nanoTime", _) => M::Time,
        ("java/lang/Class", "desiredAssertionStatus", _) => M::Assertions,
        ("java/lang/Class", "getPrimitiveClass", _) => M::PrimitiveClass,
        ("java/lang/Class", "isArray", _) => M::IsArray,
        ("java/lang/Class", "isPrimitive", _) => M::IsPrimitive,
        ("java/lang/Class", "isInterface", _) => M::IsInterface,
        ("java/lang/Class", "isInstance", _) => M::IsInstance,
        ("java/lang/Class", "isAssignableFrom", _) => M::IsAssignable,
        ("java/lang/Class", "getSuperclass", _) => M::Superclass,
        ("java/lang/Class", "forName0", _) => M::ForName,
        ("java/lang/Class", "getSimpleName", _) => M::SimpleName,
        ("java/lang/Class", "getCanonicalName", _) => M::CanonicalName,
        ("java/lang/Class", "getEnumConstantsShared", _) => M::EnumConstants,
        ("java/lang/Class", "<clinit>", _) => M::Nothing,
        ("java/lang/Float", "floatToRawIntBits" | "intBitsToFloat", _) => M::Bits,
        ("java/lang/Double", "doubleToRawLongBits" | "longBitsToDouble", _) => M::Bits,
        ("java/lang/StrictMath" | "java/lang/Math", "sqrt", _) => M::Sqrt,
        ("java/lang/Math", "log", _) => M::Log,
        ("java/lang/Throwable", "fillInStackTrace", "(I)Ljava/lang/Throwable;") => M::First,
        ("java/lang/Throwable", "printStackTrace", "()V") => M::Nothing,
        ("java/lang/reflect/Array", "newArray", _) => M::NewArray,
        ("java/lang/reflect/Array", "getLength", _) => M::ArrayLength,
        ("java/lang/Thread", "currentThread", _) => M::Thread,
        ("java/lang/Thread" | "java/lang/ref/Reference", "<clinit>", _) => M::Nothing,
        ("java/lang/ref/Reference" | "java/lang/ref/PhantomReference", "refersTo0", _) => M::RefersTo,
        ("java/lang/String", "intern", _) => M::Intern,
        ("java/lang/NullPointerException", "getExtendedNPEMessage", _) => M::Zero,
        (
            "java/lang/AbstractStringBuilder" | "java/lang/StringBuilder" | "java/lang/StringBuffer",
            name,
            _,
        ) if !name.starts_with('<') => M::Builder,
        ("java/lang/Integer", "toString", "(I)Ljava/lang/String;")
        | ("java/lang/Long", "toString", "(J)Ljava/lang/String;") => M::Decimal,
        (
            "java/util/Formatter$FormatSpecifier",
            "print",
            "(BLjava/util/Locale;)V"
            | "(SLjava/util/Locale;)V"
            | "(ILjava/util/Locale;)V"
            | "(JLjava/util/Locale;)V",
        ) => M::Format,
        ("java/lang/StringUTF16", "isBigEndian", _) => M::Zero,
        ("java/io/PrintStream", "<clinit>" | "flush", _) => M::Nothing,
        ("java/io/PrintStream", "write" | "implWrite", "(Ljava/lang/String;)V") => M::Print(false),
        ("java/io/PrintStream", "writeln" | "implWriteln", "(Ljava/lang/String;)V") => M::Print(true),
        ("java/io/PrintStream", "newLine" | "implNewLine", _) => M::NewLine,
        // The streams and the thread that there are were made without their constructors: whatever else asks for them
        // would find null where a JVM has an object.
        ("java/io/PrintStream", "print" | "println" | "append", _) => return None,
        ("java/lang/Thread", "interrupted" | "isInterrupted" | "onSpinWait", _) => return None,
        ("java/io/PrintStream" | "java/lang/Thread", ..) => M::Missing,
        ("jdk/internal/util/ArraysSupport", "vectorizedMismatch", _) => M::Mismatch,
        ("jdk/internal/util/Preconditions", "outOfBoundsMessage", _) => M::BoundsMessage,
        ("jdk/internal/misc/VM", "initialize" | "initializeFromArchive", _) => M::Nothing,
        ("jdk/internal/misc/VM", "getSavedProperty", _) => M::Zero,
        ("jdk/internal/misc/CDS", "initializeFromArchive" | "defineArchivedModules", _) => M::Nothing,
        (
            "jdk/internal/misc/CDS",
            "isDumpingClassList0"
            | "isDumpingArchive0"
            | "isSharingEnabled0"
            | "getRandomSeedForDumping"
            | "isDumpingClassList"
            | "isDumpingArchive"
            | "isSharingEnabled"
            | "getCDSConfigStatus",
            _,
        ) => M::Zero,
        (
            "java/security/AccessController",
            "getStackAccessControlContext" | "getInheritedAccessControlContext",
            _,
        ) => M::Zero,
        ("java/security/AccessController", "ensureMaterializedForStackWalk", _) => M::Nothing,
        // Nobody asked for the old sort.
        ("java/util/Arrays$LegacyMergeSort", "<clinit>", _) => M::Nothing,
        // With a seed of its own a generator needs nothing of it; without one it is a gap.
        ("java/util/Random", "<clinit>", _) => M::Nothing,
        // Its place is taken by what a JVM does as it starts: see `Task::initialise`.
        ("jdk/internal/access/SharedSecrets", "<clinit>", _) => M::Nothing,
        ("java/util/concurrent/atomic/AtomicLong", "VMSupportsCS8", _) => M::One,
        // What reflection hides, in maps by class: there is no reflection, and classes have no hash codes.
        ("jdk/internal/reflect/Reflection", "<clinit>", _) => M::Nothing,
        ("jdk/internal/reflect/Reflection", "getCallerClass", _) => M::Zero,
        ("java/util/Locale", "initDefault", _) => M::DefaultLocale,
        ("sun/security/action/GetPropertyAction", "privilegedGetProperties", _) => M::Properties,
        // Lookups are asked for handles of fields alone.
        ("java/lang/invoke/MethodHandles", "<clinit>", _) => M::Nothing,
        ("java/lang/invoke/MethodHandles", "lookup", _) => M::Lookup,
        ("java/lang/invoke/MethodHandles$Lookup", "findVarHandle", _) => M::FindHandle,
        ("java/lang/invoke/MethodHandles$Lookup", ..) => M::Missing,
        ("jdk/internal/misc/Unsafe", "arrayBaseOffset0", _) => M::Zero,
        // Elements are as far apart as their numbers.
        ("jdk/internal/misc/Unsafe", "arrayIndexScale0", _) => M::One,
        ("jdk/internal/misc/Unsafe", "objectFieldOffset1", _) => M::FieldOffset,
        ("jdk/internal/misc/Unsafe", "storeFence" | "loadFence" | "fullFence", _) => M::Nothing,
        ("jdk/internal/misc/Unsafe", name, _) if unsafe_access(name).is_some() => {
            M::Unsafe(unsafe_access(name)?)
        }
        _ => return None,
    })
}
