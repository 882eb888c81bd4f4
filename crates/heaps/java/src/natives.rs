//! What stands for native methods: each row of `library`, done.

use crate::library::Model;
use crate::machine::{Answer, Done, Task, Trouble, gap, unverifiable};
use crate::program::Method;
use crate::state::{Outcome, Slot, Split, State, Then};
use crate::types::{Type, dotted};
use parallax_engines::{Memory, Value};
use parallax_heap::ClassId;
use parallax_op::{Bits, FloatFormat, FloatUnOp, Rounding};
use parallax_sem::Core;
use std::rc::Rc;

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
            Model::Missing => return gap(format!("not modelled: {}", self.program.method_name(method))),
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
            Model::One if method.signature.result == Some(Type::Boolean) => {
                let yes = state.memory()?.bool(true);
                state.push(Slot::Bool(yes));
            }
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
            Model::Log => {
                // JVMs differ in the last bit of a logarithm; for how many digits a large number may have, any will do.
                let caller = state.frame.as_ref().map(|frame| self.class_name(frame.method.class));
                if caller.as_deref() != Some("java.math.BigInteger") {
                    return gap("not modelled: native java.lang.StrictMath.log");
                }
                let Some(Slot::Double(value)) = arguments.pop() else { return unverifiable("not a double") };
                let Some(bits) = state.known_bits(64, &value)?.and_then(|bits| bits.to_u64()) else {
                    return gap("floating point over unknown values");
                };
                let log = f64::from_bits(bits).ln().to_bits();
                let log = state.memory()?.core().constant(&Bits::new(64, log.into()));
                state.push(Slot::Double(log));
            }
            Model::GetClass => {
                let object = reference(0)?;
                let go = |state: &mut State<M>, class: ClassId| {
                    let name = self.program.class(class).name.clone();
                    let mirror = self.mirror(state, &name)?;
                    state.push(Slot::Ref(mirror));
                    Ok(Done::Next)
                };
                let saw = |state: &mut State<M>, class: ClassId| {
                    self.saw(state, Outcome::Dispatch(class, 0));
                    go(state, class)
                };
                state.memory()?.ask_class(&object);
                return match state.memory()?.classes(&object).as_slice() {
                    [only] => saw(state, *only),
                    _ => {
                        let split = state.split(|memory| memory.partition(&object, |class| class))?;
                        self.each(state, split, |state, (class, _)| saw(state, class))
                    }
                };
            }
            Model::IdentityHash => {
                let object = reference(0)?;
                let split = state.split(|memory| memory.null_check(&object))?;
                return self.each(state, split, |state, object| {
                    self.saw(state, Outcome::NonNull(object));
                    if object && self.symbolic {
                        return gap("not modelled: the identity hash code of an object");
                    }
                    // Any number is one that a JVM may give an object.
                    let hash = state.memory()?.int(if object { 42 } else { 0 });
                    state.push(Slot::Int(hash));
                    Ok(Done::Next)
                });
            }
            Model::Notify => return self.notify(state, &reference(0)?),
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
            Model::ForName => {
                let name: Rc<str> = self.text(state, &reference(0)?)?.replace('.', "/").into();
                let class = self.program.load(&name)?;
                let mirror = self.mirror(state, &name)?;
                state.push(Slot::Ref(mirror));
                let Slot::Bool(now) = argument(1)? else { return unverifiable("not a boolean") };
                match state.split(|memory| memory.branch(&now))? {
                    Split::One(false) => {}
                    Split::One(true) => self.initialise(state, class)?,
                    Split::Many(_) => return gap("a class that is perhaps initialised"),
                }
            }
            Model::Superclass => {
                let name = self.named(state, &reference(0)?)?;
                let class = self.program.load(&name)?;
                let class = self.program.class(class);
                // In their files interfaces name `java.lang.Object`.
                let parent = class.superclass.filter(|_| class.flags & crate::read::flags::INTERFACE == 0);
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
                return self.object_of_native(state, &array.clone(), move |task, state| {
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
                let known = [("line.separator", "\n"), ("file.separator", "/"), ("path.separator", ":")];
                if let Some((_, value)) = known.iter().find(|(known, _)| *known == name) {
                    let text = self.literal(state, &value.encode_utf16().collect())?;
                    state.push(Slot::Ref(text));
                    return Ok(Done::Next);
                }
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
                // What is half of a character only is printed as JVMs print what an encoding has not.
                let characters = char::decode_utf16(units.iter().copied());
                let mut text: String = characters.map(|known| known.unwrap_or('?')).collect();
                if line {
                    text.push('\n');
                }
                state.output.push(text.into());
            }
            Model::Mismatch => return self.mismatch(state, &arguments),
            Model::Builder => return self.builder(state, method, arguments),
            Model::Decimal => return self.decimal(state, method, arguments),
            Model::Format => {
                let known = match argument(1)? {
                    Slot::Int(number) => state.known_int(&number)?.is_some(),
                    Slot::Long(number) => state.known_bits(64, &number)?.is_some(),
                    _ => return unverifiable("not a number"),
                };
                // Its digits are a loop of divisions.
                if self.symbolic && !known {
                    return gap(self.unknown_text());
                }
                self.push_frame(state, method.clone(), arguments, Then::Give)?;
            }
            Model::BoundsMessage => {
                let text = match self.symbolic {
                    true => self.opaque_string(state)?,
                    false => {
                        let text = self.bounds_message(state, &reference(0)?, &reference(1)?)?;
                        self.literal(state, &text.encode_utf16().collect())?
                    }
                };
                state.push(Slot::Ref(text));
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
            Model::FindHandle => return self.find_handle(state, &arguments),
            Model::Properties => {
                // Whether languages have the codes of old is asked for by name, and unset.
                let caller = state.frame.as_ref().map(|frame| self.class_name(frame.method.class));
                let class = self.program.class(self.program.load("java/util/Properties")?);
                let constructor = class.method("<init>", "()V").cloned();
                let (Some("sun.util.locale.BaseLocale"), Some(constructor)) =
                    (caller.as_deref(), constructor)
                else {
                    self.push_frame(state, method.clone(), arguments, Then::Give)?;
                    return Ok(Done::Next);
                };
                self.inform(state)?;
                let made = state.memory_mut()?.new_object(class.id);
                state.push(Slot::Ref(made.clone()));
                self.push_frame(state, constructor, vec![Slot::Ref(made)], Then::Give)?;
                self.initialise(state, class.id)?;
            }
            Model::Lookup => {
                let class = self.program.load("java/lang/invoke/MethodHandles$Lookup")?;
                self.inform(state)?;
                let lookup = state.memory_mut()?.new_object(class);
                state.push(Slot::Ref(lookup));
            }
            Model::DefaultLocale => {
                let class = self.program.class(method.class);
                let place = class.statics.iter().position(|field| &*field.name == "US");
                let statics = state.globals.statics.get(&class.id).map(|(_, statics)| statics.clone());
                let (Some(place), Some(statics)) = (place, statics) else {
                    return gap("not modelled: locales");
                };
                let Value::Ref(locale) = self.read_known(state, &statics, place)? else {
                    return gap("not modelled: locales");
                };
                state.push(Slot::Ref(locale));
            }
            Model::NewLine => {
                let stream = reference(0)?;
                if self.is_output(state, &stream)? == Some(true) && !self.symbolic {
                    state.output.push("\n".into());
                }
            }
        }
        Ok(Done::Next)
    }

    /// What the JDK says of an index that is out of bounds; of ranges it says more than is known here.
    fn bounds_message<M: Memory>(
        &self,
        state: &mut State<M>,
        check: &M::Ref,
        numbers: &M::Ref,
    ) -> Result<String, Trouble> {
        let unknown = "not modelled: the message of a range that is out of bounds";
        if self.text(state, check)? != "checkIndex" {
            return gap(unknown);
        }
        let mut found = Vec::new();
        for name in ["e0", "e1"] {
            let Some(Value::Ref(boxed)) = self.field_known(state, numbers, name)? else {
                return gap(unknown);
            };
            let Some(Value::Int(number)) = self.field_known(state, &boxed, "value")? else {
                return gap(unknown);
            };
            let Some(number) = state.known_int(&number)? else { return gap(unknown) };
            found.push(number);
        }
        Ok(format!("Index {} out of bounds for length {}", found[0], found[1]))
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
}
