//! `ArraysSupport.vectorizedMismatch`: the first element in which two arrays differ.

use crate::machine::{Answer, Done, Task, unverifiable};
use crate::state::{Outcome, Slot, State};
use crate::types::Type;
use parallax_engines::{IntOf, Memory, Value};
use parallax_op::{BinOp, RelOp, UnOp};
use parallax_sem::Core;

/// Two arrays, and where each is looked at first.
struct Arrays<M: Memory> {
    one: (M::Ref, IntOf<M>),
    two: (M::Ref, IntOf<M>),
}

impl Task {
    /// It may look at no element at all and give how many are left, in complement: its callers look at those. Not so where
    /// elements have eight bytes, of which none is ever left.
    pub(crate) fn mismatch<M: Memory>(&self, state: &mut State<M>, arguments: &[Slot<M>]) -> Answer<M> {
        let [Slot::Ref(one), Slot::Long(from), Slot::Ref(two), Slot::Long(to), Slot::Int(length), _] =
            arguments
        else {
            return unverifiable("arguments of vectorizedMismatch");
        };
        let elements = [self.is_array(state, one, None)?, self.is_array(state, two, None)?];
        if !elements.iter().any(|element| matches!(element, Type::Long | Type::Double)) {
            let left = state.memory()?.core().unop(UnOp::Not, 32, length);
            state.push(Slot::Int(left));
            return Ok(Done::Next);
        }
        // Arrays begin at offset 0, and their elements are one apart.
        let core = state.memory()?.core();
        let (from, to) = (core.extract(64, 0, 32, from), core.extract(64, 0, 32, to));
        let arrays = Arrays { one: (one.clone(), from), two: (two.clone(), to) };
        self.counted(state, length, &|task, state, length| task.mismatch_from(state, &arrays, 0, length))
    }

    fn mismatch_from<M: Memory>(
        &self,
        state: &mut State<M>,
        arrays: &Arrays<M>,
        number: i32,
        length: i32,
    ) -> Answer<M> {
        if number == length {
            // No element is left.
            let none = state.memory()?.int(-1);
            state.push(Slot::Int(none));
            return Ok(Done::Next);
        }
        let element = |state: &mut State<M>, (array, first): &(M::Ref, IntOf<M>)| {
            let memory = state.memory()?;
            let index = memory.core().binop(BinOp::Add, 32, first, &memory.int(number));
            state.split(|memory| memory.element(array, &index))
        };
        let one = element(state, &arrays.one)?;
        self.each(state, one, |state, one| {
            let two = element(state, &arrays.two)?;
            self.each(state, two, |state, two| {
                let (Value::Int(one), Value::Int(two)) = (&one, &two) else {
                    return unverifiable("numbers of eight bytes");
                };
                let same = state.memory()?.core().relop(RelOp::Eq, 64, one, two);
                let split = state.split(|memory| memory.branch(&same))?;
                self.each(state, split, |state, same| {
                    self.saw(state, Outcome::Branch(same));
                    if same {
                        return self.mismatch_from(state, arrays, number + 1, length);
                    }
                    let found = state.memory()?.int(number);
                    state.push(Slot::Int(found));
                    Ok(Done::Next)
                })
            })
        })
    }
}
