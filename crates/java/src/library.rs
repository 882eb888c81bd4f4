//! What stands for native methods of the JDK, and for a few others that would lead out of the program: one row each.
//!
//! A method that has neither a body nor a row here is a gap.

use crate::machine::{Answer, Done, Task, Trouble, gap, unverifiable};
use crate::program::Method;
use crate::state::{Outcome, Slot, State, Then};
use crate::types::{Type, dotted};
use parallax_engines::{Memory, Value, ValueOf};
use parallax_heap::ClassId;
use parallax_op::{Bits, FloatFormat, FloatUnOp, RelOp, Rounding};
use parallax_sem::Core;
use std::rc::Rc;

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
    /// `Reference.refersTo0`
    RefersTo,
    /// `Unsafe.objectFieldOffset1`: the place of the field.
    FieldOffset,
    /// Access to a field or an element by its place.
    Unsafe(Access),
}

/// What a method of `Unsafe` does to a field or an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Get,
    /// Writes it.
    Put,
    /// Writes it if it is what was expected.
    CompareAndSet,
}

fn unsafe_access(name: &str) -> Option<Access> {
    let kind = |rest: &str| {
        let rest = rest.trim_end_matches("Volatile").trim_end_matches("Acquire").trim_end_matches("Release");
        matches!(rest, "Int" | "Long" | "Reference")
    };
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
        ("java/lang/Object", "notify" | "notifyAll", _) => M::Nothing,
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
        ("java/lang/Class", "getSimpleName", _) => M::SimpleName,
        ("java/lang/Class", "getCanonicalName", _) => M::CanonicalName,
        ("java/lang/Class", "getEnumConstantsShared", _) => M::EnumConstants,
        ("java/lang/Class", "<clinit>", _) => M::Nothing,
        ("java/lang/Float", "floatToRawIntBits" | "intBitsToFloat", _) => M::Bits,
        ("java/lang/Double", "doubleToRawLongBits" | "longBitsToDouble", _) => M::Bits,
        ("java/lang/StrictMath" | "java/lang/Math", "sqrt", _) => M::Sqrt,
        ("java/lang/Throwable", "fillInStackTrace", "(I)Ljava/lang/Throwable;") => M::First,
        ("java/lang/Throwable", "printStackTrace", "()V") => M::Nothing,
        ("java/lang/reflect/Array", "newArray", _) => M::NewArray,
        ("java/lang/reflect/Array", "getLength", _) => M::ArrayLength,
        ("java/lang/Thread", "currentThread", _) => M::Thread,
        ("java/lang/Thread" | "java/lang/ref/Reference", "<clinit>", _) => M::Nothing,
        ("java/lang/ref/Reference" | "java/lang/ref/PhantomReference", "refersTo0", _) => M::RefersTo,
        ("java/lang/String", "intern", _) => M::Intern,
        ("java/lang/StringUTF16", "isBigEndian", _) => M::Zero,
        ("java/io/PrintStream", "<clinit>" | "flush", _) => M::Nothing,
        ("java/io/PrintStream", "write" | "implWrite", "(Ljava/lang/String;)V") => M::Print(false),
        ("java/io/PrintStream", "writeln" | "implWriteln", "(Ljava/lang/String;)V") => M::Print(true),
        ("java/io/PrintStream", "newLine" | "implNewLine", _) => M::NewLine,
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
        ("jdk/internal/reflect/Reflection", "getCallerClass", _) => M::Zero,
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

impl Task {
    /// Does what a model says.
    pub(crate) fn model<M: Memory>(
        &self,
        state: &mut State<M>,
        model: Model,
        method: &Rc<Method>,
        mut arguments: Vec<Slot<M>>,
    ) -> Answer<M> {
        let argument = |at: usize| match arguments.get(at) {
            Some(slot) => Ok(slot.clone()),
            None => unverifiable("too few arguments"),
        };
        let reference = |at: usize| match arguments.get(at) {
            Some(Slot::Ref(reference)) => Ok(reference.clone()),
            _ => unverifiable("not a reference"),
        };
        match model {
            Model::Nothing => {}
            Model::Zero => match &method.signature.result {
                None => {}
                Some(Type::Ref(_)) => {
                    let null = state.memory()?.null();
                    state.push(Slot::Ref(null));
                }
                Some(Type::Boolean) => {
                    let no = state.memory()?.bool(false);
                    state.push(Slot::Bool(no));
                }
                Some(ty) => {
                    let kind = crate::machine::kind_of(ty);
                    let width = if ty.is_wide() { 64 } else { 32 };
                    let zero = state.memory()?.core().constant(&Bits::zero(width));
                    state.push_number(kind, zero);
                }
            },
            Model::One => {
                let one = state.memory()?.int(1);
                state.push(Slot::Int(one));
            }
            Model::First => {
                let first = argument(0)?;
                state.push(first);
            }
            Model::Bits => match arguments.pop() {
                Some(Slot::Int(bits)) => state.push(Slot::Float(bits)),
                Some(Slot::Float(bits)) => state.push(Slot::Int(bits)),
                Some(Slot::Long(bits)) => state.push(Slot::Double(bits)),
                Some(Slot::Double(bits)) => state.push(Slot::Long(bits)),
                _ => return unverifiable("not a number"),
            },
            Model::Sqrt => {
                let Some(Slot::Double(value)) = arguments.pop() else { return unverifiable("not a double") };
                if self.symbolic && state.known_bits(64, &value)?.is_none() {
                    return gap("floating point over unknown values");
                }
                let core = state.memory()?.core();
                let root = core.float_un(FloatUnOp::Sqrt, FloatFormat::F64, Rounding::NearestEven, &value);
                state.push(Slot::Double(root));
            }
            Model::GetClass => {
                let object = reference(0)?;
                let go = |state: &mut State<M>, class: ClassId| {
                    let name = self.program.class(class).name.clone();
                    let mirror = self.mirror(state, &name)?;
                    state.push(Slot::Ref(mirror));
                    Ok(Done::Next)
                };
                return match state.memory()?.classes(&object).as_slice() {
                    [only] => go(state, *only),
                    _ => {
                        let split = state.split(|memory| memory.partition(&object, |class| class))?;
                        self.each(state, split, |state, (class, _)| {
                            self.saw(state, Outcome::Dispatch(class, 0));
                            go(state, class)
                        })
                    }
                };
            }
            Model::IdentityHash => {
                if self.symbolic {
                    return gap("not modelled: the identity hash code of an object");
                }
                // Any number is one that a JVM may give.
                let hash = state.memory()?.int(42);
                state.push(Slot::Int(hash));
            }
            Model::Clone => return self.clone_object(state, &reference(0)?),
            Model::ArrayCopy => return self.array_copy(state, &arguments),
            Model::Assertions => {
                let name = self.named(state, &reference(0)?)?;
                let own = self.program.load(&name).is_ok_and(|class| self.program.class(class).own);
                let on = state.memory()?.bool(self.assertions && own);
                state.push(Slot::Bool(on));
            }
            Model::PrimitiveClass => {
                let name = self.text(state, &reference(0)?)?;
                let mirror = self.mirror(state, &name.into())?;
                state.push(Slot::Ref(mirror));
            }
            Model::IsArray | Model::IsPrimitive | Model::IsInterface => {
                let name = self.named(state, &reference(0)?)?;
                let primitive = matches!(
                    &*name,
                    "boolean" | "byte" | "char" | "short" | "int" | "long" | "float" | "double" | "void"
                );
                let is = match model {
                    Model::IsArray => name.starts_with('['),
                    Model::IsPrimitive => primitive,
                    _ if primitive => false,
                    _ => {
                        let class = self.program.load(&name)?;
                        self.program.class(class).flags & crate::read::flags::INTERFACE != 0
                    }
                };
                let is = state.memory()?.bool(is);
                state.push(Slot::Bool(is));
            }
            Model::IsInstance => {
                let name = self.named(state, &reference(0)?)?;
                let class = self.program.load(&name)?;
                return self.instance(state, &reference(1)?, class, |task, state, is| {
                    task.saw(state, Outcome::Instance(is == Some(true)));
                    let is = state.memory()?.bool(is == Some(true));
                    state.push(Slot::Bool(is));
                    Ok(Done::Next)
                });
            }
            Model::IsAssignable => {
                let (one, two) = (self.named(state, &reference(0)?)?, self.named(state, &reference(1)?)?);
                let is = one == two
                    || match (self.program.load(&one), self.program.load(&two)) {
                        (Ok(one), Ok(two)) => self.program.is_subclass(two, one),
                        _ => false,
                    };
                let is = state.memory()?.bool(is);
                state.push(Slot::Bool(is));
            }
            Model::Superclass => {
                let name = self.named(state, &reference(0)?)?;
                let class = self.program.load(&name)?;
                let parent = self.program.class(class).superclass;
                let mirror = match parent {
                    Some(parent) => self.mirror(state, &self.program.class(parent).name.clone())?,
                    None => state.memory()?.null(),
                };
                state.push(Slot::Ref(mirror));
            }
            Model::SimpleName => {
                let name = self.named(state, &reference(0)?)?;
                if name.starts_with('[') {
                    return gap("not modelled: the simple name of an array class");
                }
                let class = self.program.load(&name)?;
                let simple: Rc<[u16]> = self.program.class(class).simple_name.encode_utf16().collect();
                let text = self.literal(state, &simple)?;
                state.push(Slot::Ref(text));
            }
            Model::CanonicalName => {
                let name = self.named(state, &reference(0)?)?;
                let Some(text) = self.canonical(&name)? else {
                    return gap(format!("not modelled: the canonical name of {}", dotted(&name)));
                };
                let text = self.literal(state, &text.encode_utf16().collect())?;
                state.push(Slot::Ref(text));
            }
            Model::EnumConstants => {
                let name = self.named(state, &reference(0)?)?;
                let class = self.program.class(self.program.load(&name)?);
                match class.method("values", &format!("()[L{name};")) {
                    Some(values) => {
                        let values = values.clone();
                        self.push_frame(state, values, Vec::new(), Then::Give)?;
                        self.initialise(state, class.id)?;
                    }
                    None => {
                        let null = state.memory()?.null();
                        state.push(Slot::Ref(null));
                    }
                }
            }
            Model::NewArray => {
                let element = self.named(state, &reference(0)?)?;
                let descriptor = match &*element {
                    "boolean" => "Z".to_owned(),
                    "byte" => "B".to_owned(),
                    "char" => "C".to_owned(),
                    "short" => "S".to_owned(),
                    "int" => "I".to_owned(),
                    "long" => "J".to_owned(),
                    "float" => "F".to_owned(),
                    "double" => "D".to_owned(),
                    _ => Type::Ref(element.clone()).descriptor(),
                };
                let class = self.program.load(&format!("[{descriptor}"))?;
                self.inform(state)?;
                let Some(Slot::Int(length)) = arguments.get(1) else { return unverifiable("not an int") };
                return self.new_array(state, class, std::slice::from_ref(length));
            }
            Model::ArrayLength => {
                let array = reference(0)?;
                return self.object(state, &array.clone(), move |task, state| {
                    task.is_array(state, &array, None)?;
                    let length = state.memory()?.length(&array)?;
                    state.push(Slot::Int(length));
                    Ok(Done::Next)
                });
            }
            Model::Thread => {
                let thread = match &state.globals.thread {
                    Some(thread) => thread.clone(),
                    None => {
                        let class = self.program.load("java/lang/Thread")?;
                        self.inform(state)?;
                        let thread = state.memory_mut()?.new_object(class);
                        Rc::make_mut(&mut state.globals).thread = Some(thread.clone());
                        thread
                    }
                };
                state.push(Slot::Ref(thread));
            }
            Model::Intern => {
                let units = self.units(state, &reference(0)?)?;
                let text = self.literal(state, &units)?;
                state.push(Slot::Ref(text));
            }
            Model::Property => {
                let name = self.text(state, &reference(0)?)?;
                let unset = ["jdk.", "java.util.", "java.lang.Integer.", "org.openjdk.", "sun."];
                if !unset.iter().any(|prefix| name.starts_with(prefix)) {
                    return gap(format!("not modelled: the system property {name}"));
                }
                let null = state.memory()?.null();
                state.push(Slot::Ref(null));
            }
            Model::LineSeparator => {
                let text = self.literal(state, &[u16::from(b'\n')].into())?;
                state.push(Slot::Ref(text));
            }
            Model::Time => {
                // The salt of unmodifiable sets and maps may be any number; a program that looks at the clock may not.
                let caller = state.frame.as_ref().map(|frame| self.class_name(frame.method.class));
                if caller.as_deref() != Some("java.util.ImmutableCollections") {
                    return gap("not modelled: java.lang.System.nanoTime");
                }
                let zero = state.memory()?.core().constant(&Bits::zero(64));
                state.push(Slot::Long(zero));
            }
            Model::Print(line) => {
                let stream = reference(0)?;
                let Some(out) = self.is_output(state, &stream)? else { return Ok(Done::Next) };
                if self.symbolic || !out {
                    return Ok(Done::Next);
                }
                let units = self.units(state, &reference(1)?)?;
                let mut text = String::from_utf16_lossy(&units);
                if line {
                    text.push('\n');
                }
                state.output.push(text.into());
            }
            Model::RefersTo => {
                let class = self.program.class(self.program.load("java/lang/ref/Reference")?);
                let place = class.layout.iter().position(|field| &*field.name == "referent");
                let Some(place) = place else { return gap("not modelled: references") };
                let Value::Ref(referent) = self.read_known(state, &reference(0)?, place)? else {
                    return gap("not modelled: references");
                };
                let other = reference(1)?;
                let split = state.split(|memory| memory.equal(&referent, &other))?;
                return self.each(state, split, |state, same| {
                    self.saw(state, Outcome::Equal(same));
                    let same = state.memory()?.bool(same);
                    state.push(Slot::Bool(same));
                    Ok(Done::Next)
                });
            }
            Model::FieldOffset => {
                let name = self.named(state, &reference(1)?)?;
                let field = self.text(state, &reference(2)?)?;
                let class = self.program.class(self.program.load(&name)?);
                let place = class.layout.iter().rposition(|known| *known.name == *field);
                let Some(place) = place else { return gap(format!("the place of field {field}")) };
                let place = state.memory()?.core().constant(&Bits::new(64, place as u128));
                state.push(Slot::Long(place));
            }
            Model::Unsafe(access) => return self.unsafely(state, access, method, &arguments),
            Model::NewLine => {
                let stream = reference(0)?;
                if self.is_output(state, &stream)? == Some(true) && !self.symbolic {
                    state.output.push("\n".into());
                }
            }
        }
        Ok(Done::Next)
    }

    /// The canonical name of a class that stands in a file or in other classes by name.
    fn canonical(&self, name: &str) -> Result<Option<String>, Trouble> {
        if name.starts_with('[') {
            return Ok(None);
        }
        let class = self.program.class(self.program.load(name)?);
        let inside = name.strip_suffix(&*class.simple_name).and_then(|rest| rest.strip_suffix('$'));
        match inside {
            _ if class.simple_name.is_empty() => Ok(None),
            Some(outer) => Ok(self.canonical(outer)?.map(|outer| format!("{outer}.{}", class.simple_name))),
            None => Ok(Some(dotted(name))),
        }
    }

    /// `Unsafe`: the object is the first argument, the place the second.
    fn unsafely<M: Memory>(
        &self,
        state: &mut State<M>,
        access: Access,
        method: &Rc<Method>,
        arguments: &[Slot<M>],
    ) -> Answer<M> {
        let [_, Slot::Ref(object), Slot::Long(place), rest @ ..] = arguments else {
            return unverifiable("arguments of Unsafe");
        };
        let Some(place) = state.known_bits(64, place)?.and_then(|bits| bits.to_u64()) else {
            return gap("not modelled: Unsafe at an unknown place");
        };
        let classes = state.memory()?.classes(object);
        let [class] = classes.as_slice() else { return gap("not modelled: Unsafe of an unknown object") };
        let class = self.program.class(*class);
        let ty = match (&class.element, class.layout.get(place as usize)) {
            (Some(element), _) => element.clone(),
            (None, Some(field)) => field.ty.clone(),
            (None, None) => return gap("not modelled: Unsafe at a place that is no field"),
        };
        let array = class.element.is_some();
        if array {
            let length = state.memory()?.length(object)?;
            if state.known_int(&length)?.is_none_or(|length| place >= length as u64) {
                return gap("not modelled: Unsafe beyond an array");
            }
        }
        let wanted = match access {
            Access::Get => method.signature.result.clone(),
            _ => method.signature.parameters.last().cloned(),
        };
        let same = match (&wanted, &ty) {
            (Some(Type::Ref(_)), Type::Ref(_)) => true,
            (Some(wanted), ty) => wanted == ty,
            (None, _) => false,
        };
        if !same {
            return gap("not modelled: Unsafe that reads one type as another");
        }
        let index = state.memory()?.int(place as i32);
        let current = match state.split(|memory| match array {
            true => memory.element(object, &index),
            false => memory.read(object, place as usize),
        })? {
            crate::state::Split::One(value) => value,
            crate::state::Split::Many(_) => return gap("not modelled: Unsafe of an unknown value"),
        };
        let new = match (access, rest) {
            (Access::Get, []) => {
                let slot = self.slot(state.memory()?, &ty, current)?;
                state.push(slot);
                return Ok(Done::Next);
            }
            (Access::Put, [new]) => new.clone(),
            (Access::CompareAndSet, [expected, new]) => {
                let expected = self.value(state.memory()?, &ty, expected.clone())?;
                let same = match (&current, &expected) {
                    (Value::Ref(a), Value::Ref(b)) => match state.split(|memory| memory.equal(a, b))? {
                        crate::state::Split::One(same) => Some(same),
                        crate::state::Split::Many(_) => None,
                    },
                    (Value::Int(a), Value::Int(b)) => {
                        let core = state.memory()?.core();
                        let same = core.relop(RelOp::Eq, ty.width(), a, b);
                        core.decided(&same)
                    }
                    _ => None,
                };
                let Some(same) = same else { return gap("not modelled: Unsafe of an unknown value") };
                let answer = state.memory()?.bool(same);
                state.push(Slot::Bool(answer));
                if !same {
                    return Ok(Done::Next);
                }
                new.clone()
            }
            _ => return unverifiable("arguments of Unsafe"),
        };
        let value = self.value(state.memory()?, &ty, new)?;
        match array {
            true => self.store(state, object, &index, &value),
            false => {
                state.memory_mut()?.write(object, place as usize, &value)?;
                Ok(Done::Next)
            }
        }
    }

    /// Whether a stream is `System.out`; none if nobody can tell.
    fn is_output<M: Memory>(&self, state: &mut State<M>, stream: &M::Ref) -> Result<Option<bool>, Trouble> {
        if self.symbolic {
            return Ok(None);
        }
        let system = self.program.load("java/lang/System")?;
        let class = self.program.class(system);
        let Some((_, statics)) = state.globals.statics.get(&system).cloned() else { return Ok(Some(false)) };
        let Some(place) = class.statics.iter().position(|field| &*field.name == "out") else {
            return Ok(None);
        };
        let Value::Ref(out) = self.read_known(state, &statics, place)? else { return Ok(None) };
        match state.split(|memory| memory.equal(&out, stream))? {
            crate::state::Split::One(same) => Ok(Some(same)),
            crate::state::Split::Many(_) => gap("a stream that is not known"),
        }
    }

    /// A field of an object that is known.
    fn read_known<M: Memory>(
        &self,
        state: &mut State<M>,
        base: &M::Ref,
        place: usize,
    ) -> Result<ValueOf<M>, Trouble> {
        match state.split(|memory| memory.read(base, place))? {
            crate::state::Split::One(value) => Ok(value),
            crate::state::Split::Many(_) => gap("a field of an object that is not known"),
        }
    }

    /// The internal name of the class that an object of `java.lang.Class` stands for.
    fn named<M: Memory>(&self, state: &mut State<M>, mirror: &M::Ref) -> Result<Rc<str>, Trouble> {
        let class = self.program.class(self.program.load("java/lang/Class")?);
        let place = class.layout.iter().position(|field| &*field.name == crate::program::NUMBER);
        let unknown = "a class object that is not known";
        if state.memory()?.classes(mirror).as_slice() != [class.id] {
            return gap(unknown);
        }
        let Some(Value::Int(number)) =
            place.map(|place| self.read_known(state, mirror, place)).transpose()?
        else {
            return gap(unknown);
        };
        let number = state.known_int(&number)?.and_then(|number| self.program.mirrored(number as usize));
        number.map_or_else(|| gap(unknown), Ok)
    }

    /// The text of a string that is known.
    fn text<M: Memory>(&self, state: &mut State<M>, string: &M::Ref) -> Result<String, Trouble> {
        Ok(String::from_utf16_lossy(&self.units(state, string)?))
    }

    fn units<M: Memory>(&self, state: &mut State<M>, string: &M::Ref) -> Result<Rc<[u16]>, Trouble> {
        let unknown = "the content of a string that depends on unknown values";
        let class = self.program.class(self.program.load("java/lang/String")?);
        if state.memory()?.classes(string).as_slice() != [class.id] {
            return gap(unknown);
        }
        let place = |name: &str| class.layout.iter().position(|field| &*field.name == name);
        let (Some(value), Some(coder)) = (place("value"), place("coder")) else { return gap(unknown) };
        let (Value::Ref(array), Value::Int(coder)) =
            (self.read_known(state, string, value)?, self.read_known(state, string, coder)?)
        else {
            return gap(unknown);
        };
        if state.memory()?.classes(&array).is_empty() {
            return gap(unknown);
        }
        let length = state.memory()?.length(&array)?;
        let (Some(length), Some(coder)) = (state.known_int(&length)?, state.known_bits(8, &coder)?) else {
            return gap(unknown);
        };
        let mut bytes = Vec::new();
        for at in 0..length {
            let index = state.memory()?.int(at);
            let element = match state.split(|memory| memory.element(&array, &index))? {
                crate::state::Split::One(Value::Int(byte)) => state.known_bits(8, &byte)?,
                _ => None,
            };
            let Some(byte) = element.and_then(|bits| bits.to_u64()) else { return gap(unknown) };
            bytes.push(byte as u16);
        }
        Ok(match coder.is_zero() {
            true => bytes.into(),
            false => bytes.chunks_exact(2).map(|pair| pair[0] | pair[1] << 8).collect(),
        })
    }
}
