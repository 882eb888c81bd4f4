//! The decimal digits of an unknown number, as a text whose length and characters are conditional on the number.
//!
//! The library's own code divides in a loop, once for each digit: a path for each length, and questions to the solver that
//! take minutes. As in `builders`, no outcome inside is part of a trace, so that a run with a known number has the same one.

use crate::builders::is_content;
use crate::machine::{Answer, Done, Task, Trouble, gap, unverifiable};
use crate::program::Method;
use crate::state::{Slot, State, Then};
use parallax_engines::{BoolOf, IntOf, Memory, Value};
use parallax_op::{BinOp, Bits, RelOp, UnOp};
use parallax_sem::Core;
use std::rc::Rc;

impl Task {
    /// `Integer.toString` and `Long.toString`, of one number.
    pub(crate) fn decimal<M: Memory>(
        &self,
        state: &mut State<M>,
        method: &Rc<Method>,
        arguments: Vec<Slot<M>>,
    ) -> Answer<M> {
        let (width, number) = match &arguments[..] {
            [Slot::Int(number)] => (32, number.clone()),
            [Slot::Long(number)] => (64, number.clone()),
            _ => return unverifiable("not a number"),
        };
        if !self.symbolic {
            self.push_frame(state, method.clone(), arguments, Then::Give)?;
            return Ok(Done::Next);
        }
        if state.known_bits(width, &number)?.is_some() {
            self.push_frame(state, method.clone(), arguments, Then::Quiet)?;
            return Ok(Done::Next);
        }
        let text = self.decimal_text(state, width, &number)?;
        // A builder takes it for unknown, and need not copy as many characters as there may be.
        state.unknown.push(text.clone());
        state.push(Slot::Ref(text));
        Ok(Done::Next)
    }

    fn decimal_text<M: Memory>(
        &self,
        state: &mut State<M>,
        width: u16,
        number: &IntOf<M>,
    ) -> Result<M::Ref, Trouble> {
        let bytes = self.program.load("[B")?;
        let string = self.program.class(self.program.load("java/lang/String")?);
        let place = string.layout.iter().position(|field| is_content(&string.name, &field.name));
        let Some(place) = place else { return gap("not modelled: strings of this JDK") };
        self.inform(state)?;
        let memory = state.memory_mut()?;
        let (length, characters) = characters(memory, width, number);
        let array = memory.make_array(bytes, characters.len(), &length);
        for (at, character) in characters.into_iter().enumerate() {
            let index = state.memory()?.int(at as i32);
            if let Done::Forks(_) = self.store(state, &array, &index, &Value::Int(character))? {
                return gap("the digits of a number");
            }
        }
        let memory = state.memory_mut()?;
        let text = memory.new_object(string.id);
        memory.write(&text, place, &Value::Ref(array))?;
        Ok(text)
    }
}

/// How many characters a number has, and which: as many as the longest has, of 8 bits each.
fn characters<M: Memory>(memory: &M, width: u16, number: &IntOf<M>) -> (IntOf<M>, Vec<IntOf<M>>) {
    let core = memory.core();
    let constant = |value: u128| core.constant(&Bits::new(width, value));
    let negative: BoolOf<M> = core.relop(RelOp::Slt, width, number, &constant(0));
    // The lowest number is its own negation, and the right one without sign.
    let size = core.cond(width, &negative, &core.unop(UnOp::Neg, width, number), number);
    let mut powers = vec![1u128];
    while powers[powers.len() - 1] <= (1u128 << width) / 20 {
        powers.push(powers[powers.len() - 1] * 10);
    }
    let shifted: Vec<IntOf<M>> =
        powers.iter().map(|power| core.binop(BinOp::Udiv, width, &size, &constant(*power))).collect();
    let sign = core.bool_to_val(32, &negative);
    let mut length = core.binop(BinOp::Add, 32, &memory.int(1), &sign);
    for power in &powers[1..] {
        let more = core.bool_to_val(32, &core.not(&core.relop(RelOp::Ult, width, &size, &constant(*power))));
        length = core.binop(BinOp::Add, 32, &length, &more);
    }
    // The last digit is that of ones.
    let digits: Vec<IntOf<M>> = (0..powers.len())
        .map(|at| {
            let digit = match shifted.get(at + 1) {
                Some(above) => {
                    let above = core.binop(BinOp::Mul, width, above, &constant(10));
                    core.binop(BinOp::Sub, width, &shifted[at], &above)
                }
                None => shifted[at].clone(),
            };
            core.binop(BinOp::Add, 8, &core.extract(width, 0, 8, &digit), &core.constant(&Bits::new(8, 0x30)))
        })
        .collect();
    let minus = core.constant(&Bits::new(8, 0x2d));
    let characters = (0..=powers.len()).map(|at| {
        let from_end = core.binop(BinOp::Sub, 32, &length, &memory.int(at as i32 + 1));
        let mut character = core.constant(&Bits::zero(8));
        for (place, digit) in digits.iter().enumerate() {
            let here = core.relop(RelOp::Eq, 32, &from_end, &memory.int(place as i32));
            character = core.cond(8, &here, digit, &character);
        }
        if at == 0 { core.cond(8, &negative, &minus, &character) } else { character }
    });
    let characters = characters.collect();
    (length, characters)
}
