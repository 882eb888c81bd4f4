//! Arrays: made, read, written, within their bounds and of what fits them.

use crate::code::Instr;
use crate::machine::{Answer, Cut, Done, Task, Trouble, gap, unverifiable};
use crate::state::{Outcome, Slot, State};
use crate::types::Type;
use parallax_engines::{IntOf, Memory, Stop, Value};
use parallax_heap::ClassId;
use parallax_op::RelOp;
use parallax_sem::Core;

/// Arrays whose length is known may have this many elements in a run over unknown inputs.
const KNOWN_ROOM: usize = 1 << 12;
/// And this many otherwise.
const CONCRETE_ROOM: usize = 1 << 24;

impl Task {
    /// An instruction on arrays.
    pub(crate) fn array<M: Memory>(&self, state: &mut State<M>, instruction: &Instr) -> Answer<M> {
        match instruction {
            Instr::NewArray(name, dimensions) => {
                let class = self.program.load(name)?;
                self.inform(state)?;
                let mut lengths = Vec::new();
                for _ in 0..*dimensions {
                    lengths.push(state.pop_int()?);
                }
                lengths.reverse();
                self.new_array(state, class, &lengths)
            }
            Instr::ArrayLength => {
                let array = state.pop_ref()?;
                self.object(state, &array.clone(), move |task, state| {
                    task.is_array(state, &array, None)?;
                    let length = state.memory()?.length(&array)?;
                    state.push(Slot::Int(length));
                    Ok(Done::Next)
                })
            }
            Instr::ArrayLoad(ty) => {
                let index = state.pop_int()?;
                let array = state.pop_ref()?;
                self.element(state, &array, &index, ty, |task, state, element| {
                    let split = state.split(|memory| memory.element(&array, &index))?;
                    task.each(state, split, |state, value| {
                        let slot = task.slot(state.memory()?, element, value)?;
                        state.push(slot);
                        Ok(Done::Next)
                    })
                })
            }
            Instr::ArrayStore(ty) => {
                let slot = state.pop()?;
                let index = state.pop_int()?;
                let array = state.pop_ref()?;
                self.element(state, &array, &index, ty, |task, state, element| {
                    let value = task.value(state.memory()?, element, slot.clone())?;
                    match &value {
                        Value::Ref(reference) => {
                            let reference = reference.clone();
                            task.store_fits(state, &array, &reference, |task, state| {
                                task.store(state, &array, &index, &Value::Ref(reference.clone()))
                            })
                        }
                        _ => task.store(state, &array, &index, &value),
                    }
                })
            }
            _ => Err(Stop::Broken("an instruction of another family".into()).into()),
        }
    }

    /// That a reference is to arrays, of these elements; gives their element type.
    pub(crate) fn is_array<M: Memory>(
        &self,
        state: &State<M>,
        array: &M::Ref,
        of: Option<&Type>,
    ) -> Result<Type, Trouble> {
        let mut found = None;
        for class in state.memory()?.classes(array) {
            let Some(element) = self.program.class(class).element.clone() else {
                return unverifiable("not an array");
            };
            let fits = match (of, &element) {
                (None, _) => true,
                (Some(Type::Byte), element) => matches!(element, Type::Byte | Type::Boolean),
                (Some(Type::Ref(_)), element) => matches!(element, Type::Ref(_)),
                (Some(wanted), element) => wanted == element,
            };
            if !fits {
                return unverifiable("an array of other elements");
            }
            match &found {
                None => found = Some(element),
                // All kinds of references are one kind.
                Some(Type::Ref(_)) if matches!(element, Type::Ref(_)) => {}
                Some(same) if *same == element => {}
                Some(_) if of.is_none() => {}
                Some(_) => return gap("an array that may be of bytes or of Booleans"),
            }
        }
        match found {
            Some(element) => Ok(element),
            None => Err(Stop::Broken("an array of no class".into()).into()),
        }
    }

    /// An element of an array: not null, within bounds.
    fn element<M: Memory>(
        &self,
        state: &mut State<M>,
        array: &M::Ref,
        index: &IntOf<M>,
        ty: &Type,
        then: impl Fn(&Task, &mut State<M>, &Type) -> Answer<M>,
    ) -> Answer<M> {
        self.object(state, array, |task, state| {
            let element = task.is_array(state, array, Some(ty))?;
            let memory = state.memory()?;
            let length = memory.length(array)?;
            let inside = memory.core().relop(RelOp::Ult, 32, index, &length);
            let split = state.split(|memory| memory.branch(&inside))?;
            task.each(state, split, |state, inside| {
                task.saw(state, Outcome::InBounds(inside));
                if inside {
                    return then(task, state, &element);
                }
                let class = "java/lang/ArrayIndexOutOfBoundsException";
                // What one engine knows another may not: over unknown inputs no message is said.
                match (state.known_int(index)?, state.known_int(&length)?) {
                    (Some(index), Some(length)) if !task.symbolic => {
                        let text = format!("Index {index} out of bounds for length {length}");
                        task.raise(state, class, Some(&text))
                    }
                    _ => task.raise_unsaid(state, class),
                }
            })
        })
    }

    /// Puts a value into an array, at an index within bounds.
    pub(crate) fn store<M: Memory>(
        &self,
        state: &mut State<M>,
        array: &M::Ref,
        index: &IntOf<M>,
        value: &parallax_engines::ValueOf<M>,
    ) -> Answer<M> {
        let split = state.split(|memory| {
            Ok(memory.set_element(array, index, value)?.into_iter().map(|memory| (memory, ())).collect())
        })?;
        self.each(state, split, |_, ()| Ok(Done::Next))
    }

    /// What is put into an array of references must fit its type.
    fn store_fits<M: Memory>(
        &self,
        state: &mut State<M>,
        array: &M::Ref,
        value: &M::Ref,
        then: impl Fn(&Task, &mut State<M>) -> Answer<M>,
    ) -> Answer<M> {
        self.fits(state, array, value, |task, state, fits| {
            task.saw(state, Outcome::Fits(fits));
            match fits {
                true => then(task, state),
                false => match state.memory()?.classes(value).as_slice() {
                    // Of unknown values, engines know more or less: a message that all of them have is none.
                    [only] if !task.symbolic => {
                        let text = task.class_name(*only);
                        task.raise(state, "java/lang/ArrayStoreException", Some(&text))
                    }
                    _ => task.raise_unsaid(state, "java/lang/ArrayStoreException"),
                },
            }
        })
    }

    /// Whether what is put into an array of references fits its type. This is no outcome yet.
    pub(crate) fn fits<M: Memory>(
        &self,
        state: &mut State<M>,
        array: &M::Ref,
        value: &M::Ref,
        then: impl Fn(&Task, &mut State<M>, bool) -> Answer<M>,
    ) -> Answer<M> {
        let memory = state.memory()?;
        let (arrays, values) = (memory.classes(array), memory.classes(value));
        let element = |class: ClassId| match &self.program.class(class).element {
            Some(Type::Ref(name)) => self.program.load(name),
            _ => Ok(crate::program::OBJECT),
        };
        let mut wanted = Vec::new();
        for array in &arrays {
            wanted.push(element(*array)?);
        }
        memory.ask_class(array);
        if wanted.iter().any(|wanted| *wanted != crate::program::OBJECT) {
            memory.ask_class(value);
        }
        let fits = |value: &ClassId| wanted.iter().all(|wanted| self.program.is_subclass(*value, *wanted));
        if values.iter().all(fits) {
            return then(self, state, true);
        }
        let one = |state: &mut State<M>, wanted: ClassId| {
            // Null fits every array.
            let fits =
                |class: Option<ClassId>| class.is_none_or(|class| self.program.is_subclass(class, wanted));
            let split = state.split(|memory| memory.classify(value, fits))?;
            self.each(state, split, |state, fits| then(self, state, fits))
        };
        if let [only] = wanted.as_slice() {
            return one(state, *only);
        }
        let split = state.split(|memory| memory.partition(array, |class| element(class).ok()))?;
        self.each(state, split, |state, (wanted, _)| match wanted {
            Some(wanted) => one(state, wanted),
            None => gap("an array of a class that is not there"),
        })
    }

    /// Makes an array, of arrays if there are more lengths.
    pub(crate) fn new_array<M: Memory>(
        &self,
        state: &mut State<M>,
        class: ClassId,
        lengths: &[IntOf<M>],
    ) -> Answer<M> {
        if lengths.is_empty() {
            return unverifiable("an array without a length");
        }
        self.check_lengths(state, class, lengths, 0)
    }

    /// No length is negative, even of arrays that an array without elements does not hold.
    fn check_lengths<M: Memory>(
        &self,
        state: &mut State<M>,
        class: ClassId,
        lengths: &[IntOf<M>],
        checked: usize,
    ) -> Answer<M> {
        let Some(length) = lengths.get(checked) else {
            return self.count_arrays(state, class, lengths, &[]);
        };
        let memory = state.memory()?;
        let fine = memory.core().relop(RelOp::Sle, 32, &memory.int(0), length);
        let split = state.split(|memory| memory.branch(&fine))?;
        self.each(state, split, |state, fine| {
            self.saw(state, Outcome::Length(fine));
            if fine {
                return self.check_lengths(state, class, lengths, checked + 1);
            }
            match state.known_int(length)?.filter(|_| !self.symbolic) {
                Some(length) => {
                    let text = length.to_string();
                    self.raise(state, "java/lang/NegativeArraySizeException", Some(&text))
                }
                None => self.raise_unsaid(state, "java/lang/NegativeArraySizeException"),
            }
        })
    }

    /// Makes numbers of all lengths but the last: so many arrays there are.
    fn count_arrays<M: Memory>(
        &self,
        state: &mut State<M>,
        class: ClassId,
        lengths: &[IntOf<M>],
        counts: &[i32],
    ) -> Answer<M> {
        let length = &lengths[counts.len()];
        self.room(state, length, |task, state, room| {
            if counts.len() + 1 == lengths.len() {
                let made = task.make_arrays(state, class, counts, length, room)?;
                state.push(Slot::Ref(made));
                return Ok(Done::Next);
            }
            task.counted(state, length, &|task, state, count| {
                task.count_arrays(state, class, lengths, &[counts, &[count]].concat())
            })
        })
    }

    /// How many elements an array of this length needs room for.
    fn room<M: Memory>(
        &self,
        state: &mut State<M>,
        length: &IntOf<M>,
        then: impl Fn(&Task, &mut State<M>, usize) -> Answer<M>,
    ) -> Answer<M> {
        let known = state.memory()?.core().targets(32, length);
        let known = known.and_then(|all| all.iter().filter_map(|(_, bits)| bits.to_u64()).max());
        if let Some(most) = known {
            let most = most as usize;
            return match most > if self.symbolic { KNOWN_ROOM } else { CONCRETE_ROOM } {
                true => Err(Trouble::Cut(Cut::Array)),
                false => then(self, state, most),
            };
        }
        let memory = state.memory()?;
        let most = memory.array_bound();
        let short = memory.core().relop(RelOp::Sle, 32, length, &memory.int(most as i32));
        let split = state.split(|memory| memory.branch(&short))?;
        self.each(state, split, |state, short| match short {
            true => then(self, state, most),
            false => Err(Trouble::Cut(Cut::Array)),
        })
    }

    /// Arrays in arrays, so many of each; the innermost have a length that need not be known.
    fn make_arrays<M: Memory>(
        &self,
        state: &mut State<M>,
        class: ClassId,
        counts: &[i32],
        length: &IntOf<M>,
        room: usize,
    ) -> Result<M::Ref, Trouble> {
        let [count, counts @ ..] = counts else {
            return Ok(state.memory_mut()?.make_array(class, room, length));
        };
        let Some(Type::Ref(name)) = self.program.class(class).element.clone() else {
            return unverifiable("too many lengths");
        };
        let inner = self.program.load(&name)?;
        self.inform(state)?;
        let known = state.memory()?.int(*count);
        let array = state.memory_mut()?.make_array(class, *count as usize, &known);
        for at in 0..*count {
            let element = Value::Ref(self.make_arrays(state, inner, counts, length, room)?);
            let index = state.memory()?.int(at);
            if let Done::Forks(_) = self.store(state, &array, &index, &element)? {
                return Err(Stop::Broken("an element of a known array forks".into()).into());
            }
        }
        Ok(array)
    }
}
