//! Objects: their fields, static fields, and what they are instances of.

use crate::builders::is_content;
use crate::code::Instr;
use crate::machine::{Answer, Done, Task, Trouble, gap, unverifiable};
use crate::program::FieldPlace;
use crate::read::flags;
use crate::state::{Outcome, Slot, State};
use parallax_engines::{End, Memory, Step, Stop, Value};
use parallax_heap::ClassId;

impl Task {
    /// An instruction on objects or static fields.
    pub(crate) fn on_object<M: Memory>(&self, state: &mut State<M>, instruction: &Instr) -> Answer<M> {
        match instruction {
            Instr::GetField(member) => {
                let FieldPlace::Instance(place, ty) = self.program.field(member)? else {
                    return unverifiable("a static field");
                };
                let base = state.pop_ref()?;
                // No constructor of an inner class takes null for the object around it: such an input is none.
                let outer = self.symbolic && self.is_outer(&member.class, &member.name, place)?;
                let content = is_content(&member.class, &member.name);
                return self.object(state, &base.clone(), move |task, state| {
                    task.has_field(state, &base, place)?;
                    let split = state.split(|memory| memory.read(&base, place))?;
                    task.each(state, split, |state, value| {
                        if let (true, Value::Ref(bytes)) = (content, &value) {
                            // Only a text of unknown content has none.
                            let bytes = bytes.clone();
                            let split = state.split(|memory| memory.null_check(&bytes))?;
                            return task.each(state, split, |state, known| {
                                if !known {
                                    return gap(task.unknown_text());
                                }
                                state.push(Slot::Ref(bytes.clone()));
                                Ok(Done::Next)
                            });
                        }
                        if let (true, Value::Ref(outer)) = (outer, &value) {
                            let outer = outer.clone();
                            let split = state.split(|memory| memory.null_check(&outer))?;
                            return task.each(state, split, |state, object| {
                                if !object {
                                    return Ok(Done::Forks(vec![Step::Done(state.clone(), End::Discarded)]));
                                }
                                state.push(Slot::Ref(outer.clone()));
                                Ok(Done::Next)
                            });
                        }
                        let slot = task.slot(state.memory()?, &ty, value)?;
                        state.push(slot);
                        Ok(Done::Next)
                    })
                });
            }
            Instr::PutField(member) => {
                let FieldPlace::Instance(place, ty) = self.program.field(member)? else {
                    return unverifiable("a static field");
                };
                let slot = state.pop()?;
                let base = state.pop_ref()?;
                let value = self.value(state.memory()?, &ty, slot)?;
                return self.object(state, &base.clone(), move |task, state| {
                    task.has_field(state, &base, place)?;
                    state.memory_mut()?.write(&base, place, &value)?;
                    Ok(Done::Next)
                });
            }
            Instr::GetStatic(member) | Instr::PutStatic(member) => {
                let FieldPlace::Static(class, place, ty) = self.program.field(member)? else {
                    return unverifiable("an instance field");
                };
                let Some(statics) = self.ready(state, class)? else { return Ok(Done::Next) };
                if matches!(instruction, Instr::PutStatic(_)) {
                    let slot = state.pop()?;
                    let value = self.value(state.memory()?, &ty, slot)?;
                    state.memory_mut()?.write(&statics, place, &value)?;
                    return Ok(Done::Next);
                }
                let split = state.split(|memory| memory.read(&statics, place))?;
                // `SharedSecrets` looks whether it has what it is asked for, and has it made.
                let unset = self.program.class(class).is_unset() && !member.name.ends_with("Access");
                return self.each(state, split, |state, value| {
                    if let (true, Value::Ref(reference)) = (unset, &value)
                        && state.memory()?.classes(reference).is_empty()
                    {
                        let class = self.class_name(class);
                        return gap(format!("not modelled: {class}.{}", member.name));
                    }
                    let slot = self.slot(state.memory()?, &ty, value)?;
                    state.push(slot);
                    Ok(Done::Next)
                });
            }
            Instr::New(name) => {
                let class = self.program.load(name)?;
                if !self.program.class(class).is_concrete() {
                    return gap(format!("an instance of {}, which is abstract", self.class_name(class)));
                }
                if self.ready(state, class)?.is_none() {
                    return Ok(Done::Next);
                }
                self.inform(state)?;
                let made = state.memory_mut()?.new_object(class);
                state.push(Slot::Ref(made));
            }
            Instr::CheckCast(name) => {
                let class = self.program.load(name)?;
                let reference = state.pop_ref()?;
                return self.instance(state, &reference.clone(), class, move |task, state, is| match is {
                    None | Some(true) => {
                        task.saw(state, Outcome::Cast(true));
                        state.push(Slot::Ref(reference.clone()));
                        Ok(Done::Next)
                    }
                    Some(false) => {
                        task.saw(state, Outcome::Cast(false));
                        task.raise_unsaid(state, "java/lang/ClassCastException")
                    }
                });
            }
            Instr::InstanceOf(name) => {
                let class = self.program.load(name)?;
                let reference = state.pop_ref()?;
                return self.instance(state, &reference, class, |task, state, is| {
                    let is = is == Some(true);
                    task.saw(state, Outcome::Instance(is));
                    let value = state.memory()?.bool(is);
                    state.push(Slot::Bool(value));
                    Ok(Done::Next)
                });
            }
            _ => return Err(Stop::Broken("an instruction of another family".into()).into()),
        }
        Ok(Done::Next)
    }

    /// Whether a field is the one in which an inner object keeps the object around it.
    fn is_outer(&self, class: &str, name: &str, place: usize) -> Result<bool, Trouble> {
        if !name.starts_with("this$") {
            return Ok(false);
        }
        let class = self.program.class(self.program.load(class)?);
        let made = flags::FINAL | flags::SYNTHETIC;
        Ok(class.layout.get(place).is_some_and(|field| field.flags & made == made))
    }

    /// NULLCHECK of an instruction, of which the JVM makes a message.
    pub(crate) fn object<M: Memory>(
        &self,
        state: &mut State<M>,
        reference: &M::Ref,
        then: impl Fn(&Task, &mut State<M>) -> Answer<M>,
    ) -> Answer<M> {
        self.checked(state, reference, then, |task, state| {
            task.raise_unsaid(state, "java/lang/NullPointerException")
        })
    }

    /// NULLCHECK of a native method, which says nothing.
    pub(crate) fn object_of_native<M: Memory>(
        &self,
        state: &mut State<M>,
        reference: &M::Ref,
        then: impl Fn(&Task, &mut State<M>) -> Answer<M>,
    ) -> Answer<M> {
        self.checked(state, reference, then, |task, state| {
            task.raise(state, "java/lang/NullPointerException", None)
        })
    }

    fn checked<M: Memory>(
        &self,
        state: &mut State<M>,
        reference: &M::Ref,
        then: impl Fn(&Task, &mut State<M>) -> Answer<M>,
        otherwise: impl Fn(&Task, &mut State<M>) -> Answer<M>,
    ) -> Answer<M> {
        let split = state.split(|memory| memory.null_check(reference))?;
        self.each(state, split, |state, object| {
            self.saw(state, Outcome::NonNull(object));
            match object {
                true => then(self, state),
                false => otherwise(self, state),
            }
        })
    }

    /// That the objects of a reference have a field, which the verifier would see to.
    fn has_field<M: Memory>(&self, state: &State<M>, base: &M::Ref, place: usize) -> Result<(), Trouble> {
        let classes = state.memory()?.classes(base);
        match classes.iter().all(|class| self.program.class(*class).layout.len() > place) {
            true => Ok(()),
            false => unverifiable("a field of another class"),
        }
    }

    /// Whether a reference is an instance of a class: none if it is null.
    pub(crate) fn instance<M: Memory>(
        &self,
        state: &mut State<M>,
        reference: &M::Ref,
        class: ClassId,
        then: impl Fn(&Task, &mut State<M>, Option<bool>) -> Answer<M>,
    ) -> Answer<M> {
        let null = state.memory()?.null();
        let split = state.split(|memory| memory.equal(reference, &null))?;
        self.each(state, split, |state, null| {
            self.saw(state, Outcome::Equal(null));
            if null {
                return then(self, state, None);
            }
            state.memory()?.ask_class(reference);
            let classes = state.memory()?.classes(reference);
            let is = |sub: ClassId| self.program.is_subclass(sub, class);
            if let Some(first) = classes.first().map(|class| is(*class))
                && classes.iter().all(|class| is(*class) == first)
            {
                return then(self, state, Some(first));
            }
            // An engine that decides late decides now which object it is.
            let split = state.split(|memory| memory.null_check(reference))?;
            self.each(state, split, |state, _| {
                let split = state.split(|memory| memory.partition(reference, is))?;
                self.each(state, split, |state, (is, _)| then(self, state, Some(is)))
            })
        })
    }
}
