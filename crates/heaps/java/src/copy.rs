//! Copies: `Object.clone` and `System.arraycopy`, over arrays whose lengths need not be known.

use crate::machine::{Answer, Done, Task, Trouble, gap, unverifiable};
use crate::state::{Outcome, Slot, Split, State};
use crate::types::{Type, dotted};
use parallax_engines::{IntOf, Memory, Value, ValueOf};
use parallax_heap::ClassId;
use parallax_op::{BinOp, RelOp};
use parallax_sem::Core;

/// What is done with each number that a count may be.
type Go<'a, M, T> = &'a dyn Fn(&Task, &mut State<M>, T) -> Answer<M>;
/// What is done with the elements that were read.
type GoOn<'a, M> = &'a dyn Fn(&Task, &mut State<M>, &[ValueOf<M>]) -> Answer<M>;

impl Task {
    /// `Object.clone`
    pub(crate) fn clone_object<M: Memory>(&self, state: &mut State<M>, object: &M::Ref) -> Answer<M> {
        let classes = state.memory()?.classes(object);
        let [class] = classes.as_slice() else { return gap("a clone of an object of several classes") };
        let class = self.program.class(*class);
        if class.element.is_none() {
            let cloneable = self.program.load("java/lang/Cloneable")?;
            if !self.program.is_subclass(class.id, cloneable) {
                return self.raise(state, "java/lang/CloneNotSupportedException", Some(&dotted(&class.name)));
            }
            let copy = state.memory_mut()?.new_object(class.id);
            return self.copy_fields(state, object, &copy, 0, class.layout.len());
        }
        let length = state.memory()?.length(object)?;
        let known = state.memory()?.core().targets(32, &length);
        let most = known.and_then(|all| all.iter().filter_map(|(_, bits)| bits.to_u64()).max());
        let room = most.map_or(state.memory()?.array_bound(), |most| most as usize);
        let copy = state.memory_mut()?.make_array(class.id, room, &length);
        state.push(Slot::Ref(copy.clone()));
        let zero = state.memory()?.int(0);
        self.copy_elements(state, object, &zero, &copy, &zero, &length, false)
    }

    fn copy_fields<M: Memory>(
        &self,
        state: &mut State<M>,
        from: &M::Ref,
        to: &M::Ref,
        place: usize,
        end: usize,
    ) -> Answer<M> {
        if place == end {
            state.push(Slot::Ref(to.clone()));
            return Ok(Done::Next);
        }
        let split = state.split(|memory| memory.read(from, place))?;
        self.each(state, split, |state, value| {
            state.memory_mut()?.write(to, place, &value)?;
            self.copy_fields(state, from, to, place + 1, end)
        })
    }

    /// `System.arraycopy`
    pub(crate) fn array_copy<M: Memory>(&self, state: &mut State<M>, arguments: &[Slot<M>]) -> Answer<M> {
        let [Slot::Ref(from), Slot::Int(start), Slot::Ref(to), Slot::Int(at), Slot::Int(count)] = arguments
        else {
            return unverifiable("arguments of arraycopy");
        };
        let (from, start, to, at, count) =
            (from.clone(), start.clone(), to.clone(), at.clone(), count.clone());
        self.object_of_native(state, &from.clone(), move |task, state| {
            let (from, start, to, at, count) =
                (from.clone(), start.clone(), to.clone(), at.clone(), count.clone());
            task.object_of_native(state, &to.clone(), move |task, state| {
                let memory = state.memory()?;
                let is_array = |class: &ClassId| task.program.class(*class).element.is_some();
                if !memory.classes(&from).iter().chain(&memory.classes(&to)).all(is_array) {
                    return task.raise_unsaid(state, "java/lang/ArrayStoreException");
                }
                let (source, target) = (task.is_array(state, &from, None)?, task.is_array(state, &to, None)?);
                let references = matches!((&source, &target), (Type::Ref(_), Type::Ref(_)));
                if source != target && !references {
                    return task.raise_unsaid(state, "java/lang/ArrayStoreException");
                }
                let memory = state.memory()?;
                let core = memory.core();
                let zero = memory.int(0);
                let mut fine = core.boolean(true);
                let mut all = |condition| fine = core.boolop(parallax_op::BoolOp::And, &fine, &condition);
                all(core.relop(RelOp::Sle, 32, &zero, &count));
                // Lengths are not negative, so that differences do not overflow.
                for (array, first) in [(&from, &start), (&to, &at)] {
                    let length = memory.length(array)?;
                    all(core.relop(RelOp::Sle, 32, &zero, first));
                    let rest = core.binop(BinOp::Sub, 32, &length, first);
                    all(core.relop(RelOp::Sle, 32, &count, &rest));
                }
                let split = state.split(|memory| memory.branch(&fine))?;
                task.each(state, split, |state, fine| {
                    task.saw(state, Outcome::InBounds(fine));
                    if !fine {
                        return task.raise_unsaid(state, "java/lang/ArrayIndexOutOfBoundsException");
                    }
                    let checked = references && !task.all_fit(state, &from, &to)?;
                    task.copy_elements(state, &from, &start, &to, &at, &count, checked)
                })
            })
        })
    }

    /// Whether every element of one array certainly fits the other.
    fn all_fit<M: Memory>(&self, state: &State<M>, from: &M::Ref, to: &M::Ref) -> Result<bool, Trouble> {
        let memory = state.memory()?;
        memory.ask_class(to);
        let element = |class: ClassId| match &self.program.class(class).element {
            Some(Type::Ref(name)) => self.program.load(name),
            _ => Ok(crate::program::OBJECT),
        };
        for one in memory.classes(from) {
            for two in memory.classes(to) {
                let (one, two) = (element(one)?, element(two)?);
                if !self.program.is_subclass(one, two) {
                    return Ok(false);
                }
                if two != crate::program::OBJECT {
                    memory.ask_class(from);
                }
            }
        }
        Ok(true)
    }

    /// Copies elements that are there, as if through an array in between. If they are `checked`, those before the first
    /// that does not fit are copied.
    #[expect(clippy::too_many_arguments, reason = "those of arraycopy")]
    fn copy_elements<M: Memory>(
        &self,
        state: &mut State<M>,
        from: &M::Ref,
        start: &IntOf<M>,
        to: &M::Ref,
        at: &IntOf<M>,
        count: &IntOf<M>,
        checked: bool,
    ) -> Answer<M> {
        self.counted(state, count, &|task, state, known| {
            task.read_elements(state, from, start, known, Vec::new(), &|task, state, values| match checked {
                true => task.write_checked(state, to, at, values, 0),
                false => task.write_elements(state, to, at, values, 0),
            })
        })
    }

    /// Goes on with a count that is a number. It is an outcome even if no other number was possible: what one engine
    /// knows another may not, and all see the same outcomes.
    pub(crate) fn counted<M: Memory>(
        &self,
        state: &mut State<M>,
        count: &IntOf<M>,
        then: Go<'_, M, i32>,
    ) -> Answer<M> {
        let saw = |task: &Task, state: &mut State<M>, known: i32| {
            task.saw(state, Outcome::Count(known as u32));
            then(task, state, known)
        };
        match state.known_int(count)? {
            Some(known) => saw(self, state, known),
            None => self.count_elements(state, count, 0, &saw),
        }
    }

    /// Every number that a count may be.
    fn count_elements<M: Memory>(
        &self,
        state: &mut State<M>,
        count: &IntOf<M>,
        known: i32,
        then: Go<'_, M, i32>,
    ) -> Answer<M> {
        if known > 4096 {
            return gap("a copy of an unknown number of elements");
        }
        let memory = state.memory()?;
        let here = memory.core().relop(RelOp::Eq, 32, count, &memory.int(known));
        let split = state.split(|memory| memory.branch(&here))?;
        self.each(state, split, |state, here| match here {
            true => then(self, state, known),
            false => self.count_elements(state, count, known + 1, then),
        })
    }

    fn read_elements<M: Memory>(
        &self,
        state: &mut State<M>,
        from: &M::Ref,
        start: &IntOf<M>,
        count: i32,
        mut values: Vec<ValueOf<M>>,
        then: GoOn<'_, M>,
    ) -> Answer<M> {
        // A loop as long as nothing forks, so that long copies do not nest.
        while (values.len() as i32) < count {
            let memory = state.memory()?;
            let index = memory.core().binop(BinOp::Add, 32, start, &memory.int(values.len() as i32));
            match state.split(|memory| memory.element(from, &index))? {
                Split::One(value) => values.push(value),
                many => {
                    return self.each(state, many, |state, value| {
                        let mut values = values.clone();
                        values.push(value);
                        self.read_elements(state, from, start, count, values, then)
                    });
                }
            }
        }
        then(self, state, &values)
    }

    fn write_elements<M: Memory>(
        &self,
        state: &mut State<M>,
        to: &M::Ref,
        at: &IntOf<M>,
        values: &[ValueOf<M>],
        first: usize,
    ) -> Answer<M> {
        for (number, value) in values.iter().enumerate().skip(first) {
            let memory = state.memory()?;
            let index = memory.core().binop(BinOp::Add, 32, at, &memory.int(number as i32));
            let split = state.split(|memory| {
                let memories = memory.set_element(to, &index, value)?;
                Ok(memories.into_iter().map(|memory| (memory, ())).collect())
            })?;
            match split {
                Split::One(()) => {}
                many => {
                    return self.each(state, many, |state, ()| {
                        self.write_elements(state, to, at, values, number + 1)
                    });
                }
            }
        }
        Ok(Done::Next)
    }

    /// The same where each must be asked whether it fits. That one does not fit is an outcome, with how many were copied
    /// before it; where all fit, an engine that knows the arrays better does not even ask.
    fn write_checked<M: Memory>(
        &self,
        state: &mut State<M>,
        to: &M::Ref,
        at: &IntOf<M>,
        values: &[ValueOf<M>],
        number: usize,
    ) -> Answer<M> {
        let Some(Value::Ref(value)) = values.get(number) else { return Ok(Done::Next) };
        self.fits(state, to, value, |task, state, fits| {
            if !fits {
                task.saw(state, Outcome::Count(number as u32));
                task.saw(state, Outcome::Fits(false));
                return task.raise_unsaid(state, "java/lang/ArrayStoreException");
            }
            let memory = state.memory()?;
            let index = memory.core().binop(BinOp::Add, 32, at, &memory.int(number as i32));
            let split = state.split(|memory| {
                let memories = memory.set_element(to, &index, &values[number])?;
                Ok(memories.into_iter().map(|memory| (memory, ())).collect())
            })?;
            task.each(state, split, |state, ()| task.write_checked(state, to, at, values, number + 1))
        })
    }
}
