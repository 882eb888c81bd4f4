//! Calls, class initialisation, exceptions, and the objects that the machine itself makes: strings and classes.

use crate::code::{Call, Member};
use crate::machine::{Answer, Done, Task, Trouble, Uncaught, gap, unverifiable};
use crate::program::{Class, Method};
use crate::read::flags;
use crate::state::{Control, Frame, Outcome, Slot, State, Status, Then};
use crate::types::{Signature, Type, dotted};
use parallax_engines::{End, Memory, Step, Value};
use parallax_heap::ClassId;
use parallax_op::Bits;
use parallax_path::Chain;
use parallax_sem::Core;
use std::rc::Rc;

impl Task {
    /// Pops arguments of these types.
    pub(crate) fn arguments<M: Memory>(
        &self,
        state: &mut State<M>,
        types: &[Type],
    ) -> Result<Vec<Slot<M>>, Trouble> {
        let mut arguments = Vec::with_capacity(types.len() + 1);
        for ty in types.iter().rev() {
            let slot = state.pop()?;
            let memory = state.memory()?;
            let slot = match ty {
                Type::Boolean => {
                    let value = self.value(memory, ty, slot)?;
                    self.slot(memory, ty, value)?
                }
                _ => {
                    self.value(memory, ty, slot.clone())?;
                    slot
                }
            };
            arguments.push(slot);
        }
        arguments.reverse();
        Ok(arguments)
    }

    /// `invokestatic` and its kin.
    pub(crate) fn invoke<M: Memory>(
        &self,
        state: &mut State<M>,
        call: Call,
        member: &Member,
        signature: &Rc<Signature>,
    ) -> Answer<M> {
        if &*member.class == "java/lang/invoke/VarHandle" {
            return self.call_handle(state, member, signature);
        }
        if &*member.class == "java/lang/invoke/MethodHandle" {
            return gap(format!("not modelled: {}.{}", dotted(&member.class), member.name));
        }
        let method = self.program.resolve(member)?;
        if method.is_static() != (call == Call::Static) {
            return gap(format!("{} is not called as it is declared", self.program.method_name(&method)));
        }
        if call == Call::Static {
            if self.ready(state, method.class)?.is_none() {
                return Ok(Done::Next);
            }
            let arguments = self.arguments(state, &signature.parameters)?;
            return self.call(state, method, arguments);
        }
        let arguments = self.arguments(state, &signature.parameters)?;
        let receiver = state.pop_ref()?;
        if call == Call::Special {
            let method = self.special(state, &method)?;
            return self.object(state, &receiver.clone(), move |task, state| {
                let mut all = vec![Slot::Ref(receiver.clone())];
                all.extend(arguments.iter().cloned());
                task.call(state, method.clone(), all)
            });
        }
        self.object(state, &receiver.clone(), move |task, state| {
            task.dispatch(state, &method, &receiver, &arguments)
        })
    }

    /// What `invokespecial` means: the method itself, or the superclass's for a call through `super`.
    fn special<M: Memory>(&self, state: &State<M>, method: &Rc<Method>) -> Result<Rc<Method>, Trouble> {
        let Some(frame) = &state.frame else { return unverifiable("nothing to run") };
        let caller = self.program.class(frame.method.class);
        let named = self.program.class(method.class);
        let through_super = &*method.name != "<init>"
            && method.flags & flags::PRIVATE == 0
            && caller.id != method.class
            && named.flags & flags::INTERFACE == 0;
        if !through_super {
            return Ok(method.clone());
        }
        let found = caller
            .superclass
            .and_then(|parent| self.program.method(parent, &method.name, &method.descriptor));
        Ok(found.unwrap_or_else(|| method.clone()))
    }

    /// Calls what a method means for each object that the receiver may be.
    pub(crate) fn dispatch<M: Memory>(
        &self,
        state: &mut State<M>,
        method: &Rc<Method>,
        receiver: &M::Ref,
        arguments: &[Slot<M>],
    ) -> Answer<M> {
        let target = |class: ClassId| -> Option<Rc<Method>> {
            if method.flags & flags::PRIVATE != 0 || &*method.name == "<init>" {
                return Some(method.clone());
            }
            let found = self.program.method(class, &method.name, &method.descriptor)?;
            (!found.is_abstract() && !found.is_static()).then_some(found)
        };
        let go = |state: &mut State<M>, target: Option<Rc<Method>>, receiver: &M::Ref| {
            let Some(target) = target else {
                return gap(format!("{} has no body", self.program.method_name(method)));
            };
            self.saw(state, Outcome::Dispatch(target.class, target.index));
            let mut all = vec![Slot::Ref(receiver.clone())];
            all.extend(arguments.iter().cloned());
            self.call(state, target, all)
        };
        if method.flags & (flags::PRIVATE | flags::FINAL) == 0 {
            state.memory()?.ask_class(receiver);
        }
        let classes = state.memory()?.classes(receiver);
        // The verifier would see to it that the receiver is an instance.
        let fits = |class: &ClassId| {
            self.program.is_subclass(*class, method.class) || self.is_interface(method.class)
        };
        if !classes.iter().all(fits) {
            return unverifiable("a receiver of another class");
        }
        let key = |class: ClassId| target(class).map(|method| (method.class, method.index));
        if let Some(first) = classes.first()
            && classes.iter().all(|class| key(*class) == key(*first))
        {
            return go(state, target(*first), receiver);
        }
        let split = state.split(|memory| memory.partition(receiver, key))?;
        self.each(state, split, |state, (key, receiver)| {
            let target = key.map(|(class, index)| self.program.class(class).methods[index as usize].clone());
            go(state, target, &receiver)
        })
    }

    fn is_interface(&self, class: ClassId) -> bool {
        self.program.class(class).flags & flags::INTERFACE != 0
    }

    /// Starts a method, or does what its model says.
    pub(crate) fn call<M: Memory>(
        &self,
        state: &mut State<M>,
        method: Rc<Method>,
        arguments: Vec<Slot<M>>,
    ) -> Answer<M> {
        if let Some(model) = method.model {
            return self.model(state, model, &method, arguments);
        }
        self.push_frame(state, method, arguments, Then::Give)?;
        Ok(Done::Next)
    }

    /// The static fields of a class that is initialised; none if that has to happen first, and the instruction again
    /// after it.
    pub(crate) fn ready<M: Memory>(
        &self,
        state: &mut State<M>,
        class: ClassId,
    ) -> Result<Option<M::Ref>, Trouble> {
        if let Some((_, statics)) = state.globals.statics.get(&class) {
            return Ok(Some(statics.clone()));
        }
        let frames = state.callers.len();
        self.initialise(state, class)?;
        if state.callers.len() == frames {
            // Nothing had to run.
            return Ok(state.globals.statics.get(&class).map(|(_, statics)| statics.clone()));
        }
        // The frame that asked is a caller now; it runs its instruction again.
        let mut above: Vec<Frame<M>> = Vec::new();
        while state.callers.len() > frames {
            let Some((frame, below)) = state.callers.split_last() else { break };
            above.push(frame.clone());
            state.callers = below.clone();
        }
        if let Some(asked) = above.last_mut() {
            asked.next = asked.at;
        }
        while let Some(frame) = above.pop() {
            state.callers.push(frame);
        }
        Ok(None)
    }

    /// Begins to initialise a class and, first, its superclasses and those interfaces that have default methods.
    pub(crate) fn initialise<M: Memory>(&self, state: &mut State<M>, class: ClassId) -> Result<(), Trouble> {
        // The frame that is pushed last runs first.
        for id in self.before(state, class).into_iter().rev() {
            let class = self.program.class(id);
            self.prepare(state, &class)?;
            let initialiser = match &*class.name {
                // What a JVM does as it starts.
                "jdk/internal/access/SharedSecrets" => {
                    let system = self.program.load("java/lang/System")?;
                    self.program.class(system).method("setJavaLangAccess", "()V").cloned()
                }
                _ => class.method("<clinit>", "()V").cloned(),
            };
            match initialiser {
                Some(method) if method.model.is_none() && method.is_static() && method.code.is_some() => {
                    self.push_frame(state, method, Vec::new(), Then::Initialised(id))?;
                }
                _ => {
                    if let Some(entry) = Rc::make_mut(&mut state.globals).statics.get_mut(&id) {
                        entry.0 = Status::Done;
                    }
                }
            }
        }
        Ok(())
    }

    /// The classes that are initialised with a class, in order; itself the last.
    fn before<M: Memory>(&self, state: &State<M>, class: ClassId) -> Vec<ClassId> {
        let mut order = Vec::new();
        let mut at = Some(class);
        let mut chain = Vec::new();
        while let Some(id) = at.filter(|id| !state.globals.statics.contains_key(id)) {
            chain.push(id);
            let class = self.program.class(id);
            at = class.superclass.filter(|_| class.flags & flags::INTERFACE == 0);
        }
        for id in chain.into_iter().rev() {
            let class = self.program.class(id);
            if class.flags & flags::INTERFACE == 0 {
                for interface in &class.interfaces {
                    self.interfaces_before(state, *interface, &mut order);
                }
            }
            order.push(id);
        }
        order
    }

    /// An interface that has default methods, and such interfaces above it first.
    fn interfaces_before<M: Memory>(&self, state: &State<M>, id: ClassId, order: &mut Vec<ClassId>) {
        let interface = self.program.class(id);
        for above in &interface.interfaces {
            self.interfaces_before(state, *above, order);
        }
        let default = |method: &Rc<Method>| method.code.is_some() && !method.is_static();
        let known = order.contains(&id) || state.globals.statics.contains_key(&id);
        if !known && interface.methods.iter().any(default) {
            order.push(id);
        }
    }

    /// `Object.notify`: nobody waits, but only who holds the monitor may call it.
    pub(crate) fn notify<M: Memory>(&self, state: &mut State<M>, object: &M::Ref) -> Answer<M> {
        let held = state.monitors.clone();
        self.notify_if_held(state, object, &held)
    }

    fn notify_if_held<M: Memory>(
        &self,
        state: &mut State<M>,
        object: &M::Ref,
        held: &Chain<M::Ref>,
    ) -> Answer<M> {
        let Some((newest, others)) = held.split_last() else {
            let message = Some("current thread is not owner");
            return self.raise(state, "java/lang/IllegalMonitorStateException", message);
        };
        let split = state.split(|memory| memory.equal(newest, object))?;
        self.each(state, split, |state, same| {
            self.saw(state, Outcome::Equal(same));
            if same { Ok(Done::Next) } else { self.notify_if_held(state, object, others) }
        })
    }

    /// Makes the static fields of a class, with the constants they start with.
    fn prepare<M: Memory>(&self, state: &mut State<M>, class: &Rc<Class>) -> Result<(), Trouble> {
        self.inform(state)?;
        let statics = state.memory_mut()?.new_object(class.statics_id());
        let entry = (Status::Running, statics.clone());
        Rc::make_mut(&mut state.globals).statics.insert(class.id, entry);
        for (place, field) in class.statics.iter().enumerate() {
            let Some(constant) = &field.constant else { continue };
            let memory = state.memory()?;
            let bits = |width, value: u128| memory.core().constant(&Bits::new(width, value));
            use crate::code::Constant;
            let slot = match constant {
                Constant::Int(value) => Slot::Int(memory.int(*value)),
                Constant::Long(value) => Slot::Long(bits(64, u128::from(*value as u64))),
                Constant::Float(value) => Slot::Float(bits(32, (*value).into())),
                Constant::Double(value) => Slot::Double(bits(64, (*value).into())),
                Constant::String(text) => Slot::Ref(self.literal(state, text)?),
                Constant::Null | Constant::Class(_) => continue,
            };
            let value = self.value(state.memory()?, &field.ty, slot)?;
            state.memory_mut()?.write(&statics, place, &value)?;
        }
        if &*class.name == "java/lang/System" {
            for name in ["out", "err"] {
                let stream = self.program.load("java/io/PrintStream")?;
                self.inform(state)?;
                let stream = state.memory_mut()?.new_object(stream);
                if let Some(place) = class.statics.iter().position(|field| &*field.name == name) {
                    state.memory_mut()?.write(&statics, place, &Value::Ref(stream))?;
                }
            }
        }
        Ok(())
    }

    /// Throws an exception of the machine's own.
    pub(crate) fn raise<M: Memory>(
        &self,
        state: &mut State<M>,
        class: &str,
        message: Option<&str>,
    ) -> Answer<M> {
        let text = match message {
            Some(message) => Some(self.literal(state, &message.encode_utf16().collect::<Rc<[u16]>>())?),
            None => None,
        };
        self.raise_with(state, class, text)
    }

    /// The same with a message that nobody knows.
    pub(crate) fn raise_unsaid<M: Memory>(&self, state: &mut State<M>, class: &str) -> Answer<M> {
        // The JVM works a message out of the bytecode, or out of numbers that are not known here.
        let message = self.opaque_string(state)?;
        self.raise_with(state, class, Some(message))
    }

    fn raise_with<M: Memory>(&self, state: &mut State<M>, name: &str, message: Option<M::Ref>) -> Answer<M> {
        let class = self.program.load(name)?;
        self.inform(state)?;
        let exception = state.memory_mut()?.new_object(class);
        let descriptor = if message.is_some() { "(Ljava/lang/String;)V" } else { "()V" };
        let Some(constructor) = self.program.class(class).method("<init>", descriptor).cloned() else {
            return gap(format!("{} has no constructor", dotted(name)));
        };
        let mut arguments = vec![Slot::Ref(exception.clone())];
        arguments.extend(message.map(Slot::Ref));
        // The constructor runs once the class is initialised.
        self.push_frame(state, constructor, arguments, Then::Throw(exception))?;
        self.initialise(state, class)?;
        Ok(Done::Next)
    }

    /// Looks for a handler in the frame that runs; leaves it if there is none.
    pub(crate) fn thrown<M: Memory>(&self, state: &mut State<M>, exception: M::Ref) -> Answer<M> {
        let Some(frame) = &state.frame else {
            let class = state.memory()?.classes(&exception);
            let class = class.first().map_or_else(String::new, |class| self.class_name(*class));
            let at = state.raised.unwrap_or_else(|| self.place(state));
            let ended = state.about_to(Control::Throw(exception));
            return Ok(Done::Forks(vec![Step::Done(ended, End::Error(Uncaught { class }, at))]));
        };
        let at = frame.at;
        let method = frame.method.clone();
        if state.raised.is_none() {
            let memory = state.memory()?;
            let again = state.caught.newest_first().find(|(known, _)| memory.identical(known, &exception));
            state.raised = Some(again.map_or_else(|| self.place(state), |(_, place)| *place));
        }
        let handlers: Vec<(usize, Option<ClassId>)> = match &method.code {
            None => Vec::new(),
            Some(code) => {
                let covering = code.handlers.iter().enumerate();
                let covering = covering.filter(|(_, handler)| handler.start <= at && at < handler.end);
                let mut found = Vec::new();
                for (number, handler) in covering {
                    let catches =
                        handler.catches.as_deref().map(|name| self.program.load(name)).transpose()?;
                    found.push((number, catches));
                }
                found
            }
        };
        let key = |class: ClassId| {
            let fits = |catches: &Option<ClassId>| {
                catches.is_none_or(|catches| self.program.is_subclass(class, catches))
            };
            handlers.iter().find(|(_, catches)| fits(catches)).map(|(number, _)| *number as u32)
        };
        let go = |state: &mut State<M>, caught: Option<u32>, exception: M::Ref| {
            if caught.is_some() {
                self.saw(state, Outcome::Caught(caught));
            }
            let target =
                caught.and_then(|number| Some(method.code.as_ref()?.handlers.get(number as usize)?.target));
            match (target, &mut state.frame) {
                (Some(target), Some(frame)) => {
                    frame.stack = vec![Slot::Ref(exception.clone())];
                    frame.next = target;
                    state.control = Control::Run;
                    if let Some(place) = state.raised.take() {
                        state.caught.push((exception, place));
                    }
                }
                _ => {
                    let then = self.pop_frame(state);
                    if matches!(then, Some(Then::Initialised(_))) {
                        return gap("a class initialiser that throws");
                    }
                    // Where the frame below stands is where it called.
                    state.control = Control::Throw(exception);
                    if matches!(then, Some(Then::End)) {
                        state.frame = None;
                    }
                }
            }
            Ok(Done::Next)
        };
        let classes = state.memory()?.classes(&exception);
        match classes.first().map(|class| key(*class)) {
            Some(first)
                if classes.iter().all(|class| key(*class) == first)
                    && (first.is_some() || classes.len() == 1 || !state.callers.is_empty()) =>
            {
                go(state, first, exception)
            }
            _ => {
                let split =
                    state.split(|memory| memory.partition(&exception, |class| (key(class), class)))?;
                self.each(state, split, |state, ((caught, _), exception)| go(state, caught, exception))
            }
        }
    }

    /// The string of a literal: one object for each text.
    pub(crate) fn literal<M: Memory>(
        &self,
        state: &mut State<M>,
        text: &Rc<[u16]>,
    ) -> Result<M::Ref, Trouble> {
        if let Some(known) = state.globals.strings.get(text) {
            return Ok(known.clone());
        }
        let latin = text.iter().all(|unit| *unit < 256);
        let bytes: Vec<u8> = match latin {
            true => text.iter().map(|unit| *unit as u8).collect(),
            false => text.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        };
        let string = self.string(state)?;
        let array = self.program.load("[B")?;
        self.inform(state)?;
        let memory = state.memory_mut()?;
        let length = memory.int(bytes.len() as i32);
        let array = memory.make_array(array, bytes.len(), &length);
        for (at, byte) in bytes.iter().enumerate() {
            let memory = state.memory()?;
            let index = memory.int(at as i32);
            let value = Value::Int(memory.core().constant(&Bits::new(8, (*byte).into())));
            if let Done::Forks(_) = self.store(state, &array, &index, &value)? {
                return gap("a literal");
            }
        }
        let class = self.program.class(self.program.load("java/lang/String")?);
        for (place, field) in class.layout.iter().enumerate() {
            let memory = state.memory_mut()?;
            match &*field.name {
                "value" => memory.write(&string, place, &Value::Ref(array.clone()))?,
                "coder" if !latin => {
                    let one = Value::Int(memory.core().constant(&Bits::one(8)));
                    memory.write(&string, place, &one)?;
                }
                _ => {}
            }
        }
        Rc::make_mut(&mut state.globals).strings.insert(text.clone(), string.clone());
        Ok(string)
    }

    fn string<M: Memory>(&self, state: &mut State<M>) -> Result<M::Ref, Trouble> {
        let class = self.program.load("java/lang/String")?;
        self.inform(state)?;
        Ok(state.memory_mut()?.new_object(class))
    }

    /// A string of which nobody knows the content.
    pub(crate) fn opaque_string<M: Memory>(&self, state: &mut State<M>) -> Result<M::Ref, Trouble> {
        let text = self.string(state)?;
        state.unknown.push(text.clone());
        Ok(text)
    }

    /// The object of `java.lang.Class` for a class, an array or (by its keyword) a primitive type.
    pub(crate) fn mirror<M: Memory>(&self, state: &mut State<M>, name: &Rc<str>) -> Result<M::Ref, Trouble> {
        if let Some(known) = state.globals.mirrors.get(name) {
            return Ok(known.clone());
        }
        let class = self.program.load("java/lang/Class")?;
        self.inform(state)?;
        let mirror = state.memory_mut()?.new_object(class);
        Rc::make_mut(&mut state.globals).mirrors.insert(name.clone(), mirror.clone());
        let text: Rc<[u16]> = dotted(name).encode_utf16().collect();
        let text = self.literal(state, &text)?;
        let component = match Type::element_of(name) {
            None => None,
            Some(Type::Ref(element)) => Some(self.mirror(state, &element)?),
            Some(primitive) => Some(self.mirror(state, &primitive.source().into())?),
        };
        let number = self.program.number(name);
        let layout = &self.program.class(class).layout;
        for (place, field) in layout.iter().enumerate() {
            let memory = state.memory_mut()?;
            match &*field.name {
                "name" => memory.write(&mirror, place, &Value::Ref(text.clone()))?,
                "componentType" => {
                    if let Some(component) = &component {
                        memory.write(&mirror, place, &Value::Ref(component.clone()))?;
                    }
                }
                crate::program::NUMBER => {
                    let value = Value::Int(memory.int(number as i32));
                    memory.write(&mirror, place, &value)?;
                }
                _ => {}
            }
        }
        Ok(mirror)
    }
}
