//! The instructions, one arm for each family. Arithmetic is that of the memory's reading.

use crate::code::{Code, Constant, Instr, Kind, Shuffle};
use crate::machine::{Answer, Cut, Done, Task, Trouble, gap, kind_of, unverifiable};
use crate::program::FieldPlace;
use crate::state::{Control, Outcome, Slot, State};
use crate::types::Type;
use parallax_engines::{BoolOf, IntOf, Memory, Stop, Value};
use parallax_heap::ClassId;
use parallax_op::{BinOp, Bits, FloatFormat, FloatRelOp, RelOp, Rounding, UnOp, Width};
use parallax_sem::Core;
use std::rc::Rc;

/// Arrays whose length is known may have this many elements in a run over unknown inputs.
const KNOWN_ROOM: usize = 1 << 12;
/// And this many otherwise.
const CONCRETE_ROOM: usize = 1 << 24;

impl<M: Memory> State<M> {
    /// Pushes a value.
    pub fn push(&mut self, slot: Slot<M>) {
        if let Some(frame) = &mut self.frame {
            frame.stack.push(slot);
        }
    }

    /// Pops a value.
    pub fn pop(&mut self) -> Result<Slot<M>, Trouble> {
        match self.frame.as_mut().and_then(|frame| frame.stack.pop()) {
            Some(slot) => Ok(slot),
            None => unverifiable("an empty stack"),
        }
    }

    /// Pops an `int`.
    pub fn pop_int(&mut self) -> Result<IntOf<M>, Trouble> {
        match self.pop()? {
            Slot::Int(value) => Ok(value),
            Slot::Bool(value) => Ok(self.memory()?.core().bool_to_val(32, &value)),
            _ => unverifiable("not an int"),
        }
    }

    /// Pops a reference.
    pub fn pop_ref(&mut self) -> Result<M::Ref, Trouble> {
        match self.pop()? {
            Slot::Ref(value) => Ok(value),
            _ => unverifiable("not a reference"),
        }
    }

    /// Pops a number of a kind, with its width.
    pub fn pop_number(&mut self, kind: Kind) -> Result<IntOf<M>, Trouble> {
        match (kind, self.pop()?) {
            (Kind::Int, Slot::Int(value))
            | (Kind::Long, Slot::Long(value))
            | (Kind::Float, Slot::Float(value))
            | (Kind::Double, Slot::Double(value)) => Ok(value),
            (Kind::Int, Slot::Bool(value)) => Ok(self.memory()?.core().bool_to_val(32, &value)),
            _ => unverifiable("a number of another kind"),
        }
    }

    /// Pushes a number of a kind.
    pub fn push_number(&mut self, kind: Kind, value: IntOf<M>) {
        self.push(match kind {
            Kind::Int | Kind::Ref => Slot::Int(value),
            Kind::Long => Slot::Long(value),
            Kind::Float => Slot::Float(value),
            Kind::Double => Slot::Double(value),
        });
    }

    /// Goes on elsewhere.
    fn jump(&mut self, target: usize) {
        if let Some(frame) = &mut self.frame {
            frame.next = target;
        }
    }

    /// A constant of 32 bits, if the value is one.
    pub fn known_int(&self, value: &IntOf<M>) -> Result<Option<i32>, Trouble> {
        Ok(self.known_bits(32, value)?.and_then(|bits| bits.to_i128()).map(|value| value as i32))
    }

    /// A constant, if the value is one.
    pub fn known_bits(&self, width: Width, value: &IntOf<M>) -> Result<Option<Bits>, Trouble> {
        Ok(match self.memory()?.core().targets(width, value).as_deref() {
            Some([(_, only)]) => Some(only.clone()),
            _ => None,
        })
    }
}

fn float(double: bool) -> FloatFormat {
    if double { FloatFormat::F64 } else { FloatFormat::F32 }
}

fn width(kind: Kind) -> Width {
    match kind {
        Kind::Long | Kind::Double => 64,
        _ => 32,
    }
}

impl Task {
    /// One instruction.
    pub(crate) fn instruction<M: Memory>(&self, state: &mut State<M>) -> Answer<M> {
        let Some(frame) = &mut state.frame else { return unverifiable("nothing to run") };
        let Some(code) = frame.method.code.clone() else { return unverifiable("a method without a body") };
        frame.at = frame.next;
        frame.next += 1;
        if frame.stack.len() > code.stack {
            return unverifiable("more operands than declared");
        }
        let at = frame.at;
        let Some(instruction) = code.instructions.get(at) else {
            return unverifiable("control that leaves the method");
        };
        self.execute(state, &code, at, instruction)
    }

    fn execute<M: Memory>(
        &self,
        state: &mut State<M>,
        code: &Rc<Code>,
        at: usize,
        instruction: &Instr,
    ) -> Answer<M> {
        match instruction {
            Instr::Nop | Instr::Goto(_) => {
                if let Instr::Goto(target) = instruction {
                    return self.jump_to(state, at, *target);
                }
            }
            Instr::Push(constant) => return self.constant(state, constant),
            Instr::Load(kind, n) => {
                let slot = state.frame.as_ref().and_then(|frame| frame.locals.get(usize::from(*n))).cloned();
                let slot = match slot {
                    Some(slot) if fits(*kind, &slot) => slot,
                    _ => return unverifiable("a variable of another kind"),
                };
                state.push(slot);
            }
            Instr::Store(kind, n) => {
                let slot = state.pop()?;
                if !fits(*kind, &slot) && !matches!((kind, &slot), (Kind::Ref, Slot::Address(_))) {
                    return unverifiable("a value of another kind");
                }
                match state.frame.as_mut().and_then(|frame| frame.locals.get_mut(usize::from(*n))) {
                    Some(local) => *local = slot,
                    None => return unverifiable("a variable that is not there"),
                }
            }
            Instr::Increment(n, by) => {
                let by = state.memory()?.int((*by).into());
                let local = state.frame.as_ref().and_then(|frame| frame.locals.get(usize::from(*n))).cloned();
                let value = match local {
                    Some(Slot::Int(value)) => value,
                    Some(Slot::Bool(value)) => state.memory()?.core().bool_to_val(32, &value),
                    _ => return unverifiable("not an int"),
                };
                let sum = state.memory()?.core().binop(BinOp::Add, 32, &value, &by);
                if let Some(frame) = &mut state.frame {
                    frame.locals[usize::from(*n)] = Slot::Int(sum);
                }
            }
            Instr::Shuffle(shuffle) => return self.shuffle(state, *shuffle),
            Instr::Binary(op, long) => {
                let kind = if *long { Kind::Long } else { Kind::Int };
                let right = state.pop()?;
                let left = state.pop()?;
                // Truth values stay what they are under the operators that Java has for them.
                if let (Slot::Bool(a), Slot::Bool(b)) = (&left, &right)
                    && let Some(op) = match op {
                        BinOp::And => Some(parallax_op::BoolOp::And),
                        BinOp::Or => Some(parallax_op::BoolOp::Or),
                        _ => None,
                    }
                {
                    let both = state.memory()?.core().boolop(op, a, b);
                    state.push(Slot::Bool(both));
                    return Ok(Done::Next);
                }
                state.push(left);
                state.push(right);
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                let value = state.memory()?.core().binop(*op, width(kind), &a, &b);
                state.push_number(kind, value);
            }
            Instr::Shift(op, long) => {
                let kind = if *long { Kind::Long } else { Kind::Int };
                let distance = state.pop_int()?;
                let value = state.pop_number(kind)?;
                let memory = state.memory()?;
                let core = memory.core();
                let mask = memory.int(if *long { 63 } else { 31 });
                let distance = core.binop(BinOp::And, 32, &distance, &mask);
                let distance = if *long { core.zext(32, 64, &distance) } else { distance };
                let value = core.binop(*op, width(kind), &value, &distance);
                state.push_number(kind, value);
            }
            Instr::Divide(op, long) => {
                let kind = if *long { Kind::Long } else { Kind::Int };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                let core = state.memory()?.core();
                let zero = core.constant(&Bits::zero(width(kind)));
                let fine = core.relop(RelOp::Ne, width(kind), &b, &zero);
                let split = state.split(|memory| memory.branch(&fine))?;
                return self.each(state, split, |state, fine| {
                    self.saw(state, Outcome::Divisor(fine));
                    if !fine {
                        return self.raise(state, "java/lang/ArithmeticException", Some("/ by zero"));
                    }
                    let value = state.memory()?.core().binop(*op, width(kind), &a, &b);
                    state.push_number(kind, value);
                    Ok(Done::Next)
                });
            }
            Instr::Negate(kind) => {
                let value = state.pop_number(*kind)?;
                let core = state.memory()?.core();
                let value = match kind {
                    Kind::Int | Kind::Long | Kind::Ref => core.unop(UnOp::Neg, width(*kind), &value),
                    // The sign bit, of NaN too.
                    Kind::Float | Kind::Double => {
                        let sign = Bits::new(width(*kind), 1 << (width(*kind) - 1));
                        core.binop(BinOp::Xor, width(*kind), &value, &core.constant(&sign))
                    }
                };
                state.push_number(*kind, value);
            }
            Instr::FloatBinary(op, double) => {
                let kind = if *double { Kind::Double } else { Kind::Float };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                self.known_floats(state, kind, &[&a, &b])?;
                let value =
                    state.memory()?.core().float_bin(*op, float(*double), Rounding::NearestEven, &a, &b);
                state.push_number(kind, value);
            }
            Instr::FloatRemainder(double) => {
                let kind = if *double { Kind::Double } else { Kind::Float };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                let (Some(x), Some(y)) =
                    (state.known_bits(width(kind), &a)?, state.known_bits(width(kind), &b)?)
                else {
                    return gap("the remainder of floats that are not known");
                };
                let (x, y) = (x.to_u64().unwrap_or(0), y.to_u64().unwrap_or(0));
                let bits = match double {
                    true => Bits::new(64, (f64::from_bits(x) % f64::from_bits(y)).to_bits().into()),
                    false => {
                        let value = f32::from_bits(x as u32) % f32::from_bits(y as u32);
                        Bits::new(32, value.to_bits().into())
                    }
                };
                let value = state.memory()?.core().constant(&bits);
                state.push_number(kind, value);
            }
            Instr::Convert(from, to) => {
                let value = state.pop_number(*from)?;
                if matches!(from, Kind::Float | Kind::Double) || matches!(to, Kind::Float | Kind::Double) {
                    self.known_floats(state, *from, &[&value])?;
                }
                let core = state.memory()?.core();
                let nearest = Rounding::NearestEven;
                let value = match (from, to) {
                    (Kind::Int, Kind::Long) => core.sext(32, 64, &value),
                    (Kind::Long, Kind::Int) => core.extract(64, 0, 32, &value),
                    (Kind::Int | Kind::Long, Kind::Float | Kind::Double) => {
                        let to = float(*to == Kind::Double);
                        core.int_to_float(true, width(*from), to, nearest, &value)
                    }
                    (Kind::Float | Kind::Double, Kind::Int | Kind::Long) => {
                        let from = float(*from == Kind::Double);
                        core.float_to_int(true, from, width(*to), Rounding::Zero, &value)
                    }
                    (Kind::Float, Kind::Double) => {
                        core.float_to_float(FloatFormat::F32, FloatFormat::F64, nearest, &value)
                    }
                    (Kind::Double, Kind::Float) => {
                        core.float_to_float(FloatFormat::F64, FloatFormat::F32, nearest, &value)
                    }
                    _ => value,
                };
                state.push_number(*to, value);
            }
            Instr::Narrow(ty) => {
                let value = state.pop_int()?;
                let memory = state.memory()?;
                let narrow = self.value(memory, ty, Slot::Int(value))?;
                let slot = self.slot(memory, ty, narrow)?;
                state.push(slot);
            }
            Instr::CompareLong => {
                let b = state.pop_number(Kind::Long)?;
                let a = state.pop_number(Kind::Long)?;
                let core = state.memory()?.core();
                let less = core.relop(RelOp::Slt, 64, &a, &b);
                let same = core.relop(RelOp::Eq, 64, &a, &b);
                let value = three_way(state.memory()?, &less, &same);
                state.push(Slot::Int(value));
            }
            Instr::CompareFloat(double, unordered) => {
                let kind = if *double { Kind::Double } else { Kind::Float };
                let b = state.pop_number(kind)?;
                let a = state.pop_number(kind)?;
                self.known_floats(state, kind, &[&a, &b])?;
                let memory = state.memory()?;
                let core = memory.core();
                let format = float(*double);
                let less = core.float_rel(FloatRelOp::Lt, format, &a, &b);
                let same = core.float_rel(FloatRelOp::Eq, format, &a, &b);
                let more = core.float_rel(FloatRelOp::Lt, format, &b, &a);
                let last = core.cond(32, &more, &memory.int(1), &memory.int(*unordered));
                let last = core.cond(32, &same, &memory.int(0), &last);
                let value = core.cond(32, &less, &memory.int(-1), &last);
                state.push(Slot::Int(value));
            }
            Instr::IfZero(relation, target) => {
                let condition = match (state.pop()?, relation) {
                    (Slot::Bool(value), RelOp::Ne) => value,
                    (Slot::Bool(value), RelOp::Eq) => state.memory()?.core().not(&value),
                    (slot, _) => {
                        state.push(slot);
                        let value = state.pop_int()?;
                        let memory = state.memory()?;
                        memory.core().relop(*relation, 32, &value, &memory.int(0))
                    }
                };
                return self.branch(state, &condition, at, *target);
            }
            Instr::IfInt(relation, target) => {
                let (right, left) = (state.pop()?, state.pop()?);
                let condition = match (left, right, relation) {
                    (Slot::Bool(a), Slot::Bool(b), RelOp::Eq | RelOp::Ne) => {
                        let core = state.memory()?.core();
                        let same = core.boolop(parallax_op::BoolOp::Iff, &a, &b);
                        if *relation == RelOp::Eq { same } else { core.not(&same) }
                    }
                    (left, right, _) => {
                        state.push(left);
                        state.push(right);
                        let (b, a) = (state.pop_int()?, state.pop_int()?);
                        state.memory()?.core().relop(*relation, 32, &a, &b)
                    }
                };
                return self.branch(state, &condition, at, *target);
            }
            Instr::IfSame(wanted, target) => {
                let (b, a) = (state.pop_ref()?, state.pop_ref()?);
                return self.same(state, &a, &b, *wanted, at, *target);
            }
            Instr::IfNull(wanted, target) => {
                let reference = state.pop_ref()?;
                let null = state.memory()?.null();
                return self.same(state, &reference, &null, *wanted, at, *target);
            }
            Instr::Subroutine(target) => {
                state.push(Slot::Address(at + 1));
                state.jump(*target);
            }
            Instr::SubroutineReturn(n) => {
                match state.frame.as_ref().and_then(|frame| frame.locals.get(usize::from(*n))) {
                    Some(Slot::Address(target)) => {
                        let target = *target;
                        state.jump(target);
                    }
                    _ => return unverifiable("not a return address"),
                }
            }
            Instr::Switch(cases, default) => {
                let value = state.pop_int()?;
                return self.switch(state, &value, cases, *default, 0);
            }
            Instr::Return(kind) => {
                let value = match kind {
                    None => None,
                    Some(kind) => {
                        let slot = state.pop()?;
                        if !fits(*kind, &slot) {
                            return unverifiable("a result of another kind");
                        }
                        Some(slot)
                    }
                };
                let result = state.frame.as_ref().and_then(|frame| frame.method.signature.result.clone());
                let value = match (result, value) {
                    (None, None) => None,
                    (Some(ty), Some(slot)) if kind_of(&ty) == kind.unwrap_or(Kind::Ref) => {
                        let memory = state.memory()?;
                        let value = self.value(memory, &ty, slot)?;
                        Some(self.slot(memory, &ty, value)?)
                    }
                    _ => return unverifiable("a result of another type"),
                };
                state.control = Control::Return(value);
            }
            Instr::Throw => {
                let exception = state.pop_ref()?;
                return self.object(state, &exception.clone(), move |_, state| {
                    state.control = Control::Throw(exception.clone());
                    Ok(Done::Next)
                });
            }
            Instr::GetField(member) => {
                let FieldPlace::Instance(place, ty) = self.program.field(member)? else {
                    return unverifiable("a static field");
                };
                let base = state.pop_ref()?;
                let content = &*member.class == "java/lang/String" && &*member.name == "value";
                return self.object(state, &base.clone(), move |task, state| {
                    task.has_field(state, &base, place)?;
                    let split = state.split(|memory| memory.read(&base, place))?;
                    task.each(state, split, |state, value| {
                        if let (true, Value::Ref(bytes)) = (content, &value) {
                            // Only a string of unknown content has none.
                            let bytes = bytes.clone();
                            let split = state.split(|memory| memory.null_check(&bytes))?;
                            return task.each(state, split, |state, known| {
                                if !known {
                                    return gap("the content of a string that depends on unknown values");
                                }
                                state.push(Slot::Ref(bytes.clone()));
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
                return self.each(state, split, |state, value| {
                    let slot = self.slot(state.memory()?, &ty, value)?;
                    state.push(slot);
                    Ok(Done::Next)
                });
            }
            Instr::Invoke(call, member, signature) => return self.invoke(state, *call, member, signature),
            Instr::InvokeDynamic(bootstrap, name, signature) => {
                let Some(frame) = &state.frame else { return unverifiable("nothing to run") };
                let method = self.program.link(&frame.method.clone(), at, *bootstrap, name, signature)?;
                self.inform(state)?;
                let arguments = self.arguments(state, &signature.parameters)?;
                return self.call(state, method, arguments);
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
            Instr::NewArray(name, dimensions) => {
                let class = self.program.load(name)?;
                self.inform(state)?;
                let mut lengths = Vec::new();
                for _ in 0..*dimensions {
                    lengths.push(state.pop_int()?);
                }
                lengths.reverse();
                return self.new_array(state, class, &lengths);
            }
            Instr::ArrayLength => {
                let array = state.pop_ref()?;
                return self.object(state, &array.clone(), move |task, state| {
                    task.is_array(state, &array, None)?;
                    let length = state.memory()?.length(&array)?;
                    state.push(Slot::Int(length));
                    Ok(Done::Next)
                });
            }
            Instr::ArrayLoad(ty) => {
                let index = state.pop_int()?;
                let array = state.pop_ref()?;
                return self.element(state, &array, &index, ty, |task, state, element| {
                    let split = state.split(|memory| memory.element(&array, &index))?;
                    task.each(state, split, |state, value| {
                        let slot = task.slot(state.memory()?, element, value)?;
                        state.push(slot);
                        Ok(Done::Next)
                    })
                });
            }
            Instr::ArrayStore(ty) => {
                let slot = state.pop()?;
                let index = state.pop_int()?;
                let array = state.pop_ref()?;
                return self.element(state, &array, &index, ty, |task, state, element| {
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
                });
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
            Instr::Monitor => {
                let reference = state.pop_ref()?;
                return self.object(state, &reference, |_, _| Ok(Done::Next));
            }
            Instr::Opaque => {
                if self.symbolic {
                    let text = self.opaque_string(state)?;
                    state.control = Control::Return(Some(Slot::Ref(text)));
                }
            }
            Instr::Unsupported(what) => return gap(format!("not modelled: {what}")),
        }
        let _ = code;
        Ok(Done::Next)
    }

    /// Floats over unknown values are not followed.
    fn known_floats<M: Memory>(
        &self,
        state: &State<M>,
        kind: Kind,
        values: &[&IntOf<M>],
    ) -> Result<(), Trouble> {
        for value in values {
            if self.symbolic && state.known_bits(width(kind), value)?.is_none() {
                return gap("floating point over unknown values");
            }
        }
        Ok(())
    }

    fn constant<M: Memory>(&self, state: &mut State<M>, constant: &Constant) -> Answer<M> {
        let memory = state.memory()?;
        let bits = |width, value: u128| memory.core().constant(&Bits::new(width, value));
        let slot = match constant {
            Constant::Null => Slot::Ref(memory.null()),
            Constant::Int(value) => Slot::Int(memory.int(*value)),
            Constant::Long(value) => Slot::Long(bits(64, u128::from(*value as u64))),
            Constant::Float(value) => Slot::Float(bits(32, (*value).into())),
            Constant::Double(value) => Slot::Double(bits(64, (*value).into())),
            Constant::String(text) => Slot::Ref(self.literal(state, text)?),
            Constant::Class(name) => Slot::Ref(self.mirror(state, name)?),
        };
        state.push(slot);
        Ok(Done::Next)
    }

    fn shuffle<M: Memory>(&self, state: &mut State<M>, shuffle: Shuffle) -> Answer<M> {
        let Some(frame) = &mut state.frame else { return unverifiable("nothing to run") };
        let stack = &mut frame.stack;
        // How many entries make up so many places from the top down, counted below `skip` entries.
        let entries = |stack: &[Slot<M>], skip: usize, places: usize| -> Result<usize, Trouble> {
            let (mut count, mut held) = (0, 0);
            while held < places {
                let Some(slot) = stack.len().checked_sub(1 + skip + count).map(|at| &stack[at]) else {
                    return unverifiable("an empty stack");
                };
                held += 1 + usize::from(slot.is_wide());
                count += 1;
            }
            if held == places { Ok(count) } else { unverifiable("half of a long") }
        };
        let (taken, under) = match shuffle {
            Shuffle::Pop | Shuffle::Pop2 => {
                let count = entries(stack, 0, if shuffle == Shuffle::Pop { 1 } else { 2 })?;
                stack.truncate(stack.len() - count);
                return Ok(Done::Next);
            }
            Shuffle::Swap => {
                entries(stack, 0, 1)?;
                entries(stack, 1, 1)?;
                let top = stack.len() - 1;
                stack.swap(top, top - 1);
                return Ok(Done::Next);
            }
            Shuffle::Dup => (1, 0),
            Shuffle::DupX1 => (1, 1),
            Shuffle::DupX2 => (1, 2),
            Shuffle::Dup2 => (2, 0),
            Shuffle::Dup2X1 => (2, 1),
            Shuffle::Dup2X2 => (2, 2),
        };
        let taken = entries(stack, 0, taken)?;
        let below = entries(stack, taken, under)?;
        let copies: Vec<Slot<M>> = stack[stack.len() - taken..].to_vec();
        let at = stack.len() - taken - below;
        stack.splice(at..at, copies);
        Ok(Done::Next)
    }

    /// Goes to a place, and counts rounds of loops.
    fn jump_to<M: Memory>(&self, state: &mut State<M>, from: usize, target: usize) -> Answer<M> {
        let counts = self.bounds.rounds > 0 && state.initialising == 0 && target <= from;
        if let Some(frame) = &mut state.frame {
            frame.next = target;
            if counts {
                let at = match frame.rounds.iter().position(|(place, _)| *place == from) {
                    Some(at) => at,
                    None => {
                        frame.rounds.push((from, 0));
                        frame.rounds.len() - 1
                    }
                };
                frame.rounds[at].1 += 1;
                if frame.rounds[at].1 > self.bounds.rounds {
                    return Err(Trouble::Cut(Cut::Loop));
                }
            }
        }
        Ok(Done::Next)
    }

    fn branch<M: Memory>(
        &self,
        state: &mut State<M>,
        condition: &BoolOf<M>,
        from: usize,
        target: usize,
    ) -> Answer<M> {
        let split = state.split(|memory| memory.branch(condition))?;
        self.each(state, split, |state, holds| {
            self.saw(state, Outcome::Branch(holds));
            if holds { self.jump_to(state, from, target) } else { Ok(Done::Next) }
        })
    }

    fn same<M: Memory>(
        &self,
        state: &mut State<M>,
        a: &M::Ref,
        b: &M::Ref,
        wanted: bool,
        from: usize,
        target: usize,
    ) -> Answer<M> {
        let split = state.split(|memory| memory.equal(a, b))?;
        self.each(state, split, |state, same| {
            self.saw(state, Outcome::Equal(same));
            if same == wanted { self.jump_to(state, from, target) } else { Ok(Done::Next) }
        })
    }

    fn switch<M: Memory>(
        &self,
        state: &mut State<M>,
        value: &IntOf<M>,
        cases: &[(i32, usize)],
        default: usize,
        at: usize,
    ) -> Answer<M> {
        if let Some(known) = state.known_int(value)? {
            let case = cases.iter().find(|(key, _)| *key == known);
            self.saw(state, Outcome::Case(case.map(|(key, _)| *key)));
            state.jump(case.map_or(default, |(_, target)| *target));
            return Ok(Done::Next);
        }
        let Some(&(key, target)) = cases.get(at) else {
            self.saw(state, Outcome::Case(None));
            state.jump(default);
            return Ok(Done::Next);
        };
        let memory = state.memory()?;
        let here = memory.core().relop(RelOp::Eq, 32, value, &memory.int(key));
        let split = state.split(|memory| memory.branch(&here))?;
        self.each(state, split, |state, here| {
            if here {
                self.saw(state, Outcome::Case(Some(key)));
                state.jump(target);
                return Ok(Done::Next);
            }
            self.switch(state, value, cases, default, at + 1)
        })
    }

    /// NULLCHECK.
    pub(crate) fn object<M: Memory>(
        &self,
        state: &mut State<M>,
        reference: &M::Ref,
        then: impl Fn(&Task, &mut State<M>) -> Answer<M>,
    ) -> Answer<M> {
        let split = state.split(|memory| memory.null_check(reference))?;
        self.each(state, split, |state, object| {
            self.saw(state, Outcome::NonNull(object));
            match object {
                true => then(self, state),
                false => self.raise_unsaid(state, "java/lang/NullPointerException"),
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

    /// Whether what is put into an array of references fits its type.
    pub(crate) fn store_fits<M: Memory>(
        &self,
        state: &mut State<M>,
        array: &M::Ref,
        value: &M::Ref,
        then: impl Fn(&Task, &mut State<M>) -> Answer<M>,
    ) -> Answer<M> {
        let memory = state.memory()?;
        let (arrays, values) = (memory.classes(array), memory.classes(value));
        let element = |class: ClassId| match &self.program.class(class).element {
            Some(Type::Ref(name)) => self.program.load(name),
            _ => Ok(crate::program::OBJECT),
        };
        let mut outcomes = Vec::new();
        for array in &arrays {
            let wanted = element(*array)?;
            outcomes.extend(values.iter().map(|value| self.program.is_subclass(*value, wanted)));
        }
        match outcomes.iter().all(|fits| *fits) {
            true => then(self, state),
            false if outcomes.iter().all(|fits| !*fits) && arrays.len() == 1 => {
                // Null fits every array.
                let null = state.memory()?.null();
                let split = state.split(|memory| memory.equal(value, &null))?;
                self.each(state, split, |state, null| {
                    self.saw(state, Outcome::Fits(null));
                    match null {
                        true => then(self, state),
                        false => self.raise_unsaid(state, "java/lang/ArrayStoreException"),
                    }
                })
            }
            false => gap("an element that may or may not fit its array"),
        }
    }

    /// Makes an array, of arrays if there are more lengths.
    pub(crate) fn new_array<M: Memory>(
        &self,
        state: &mut State<M>,
        class: ClassId,
        lengths: &[IntOf<M>],
    ) -> Answer<M> {
        let [length, more @ ..] = lengths else { return unverifiable("an array without a length") };
        let memory = state.memory()?;
        let fine = memory.core().relop(RelOp::Sle, 32, &memory.int(0), length);
        let split = state.split(|memory| memory.branch(&fine))?;
        self.each(state, split, |state, fine| {
            self.saw(state, Outcome::Length(fine));
            if !fine {
                return match state.known_int(length)?.filter(|_| !self.symbolic) {
                    Some(length) => {
                        let text = length.to_string();
                        self.raise(state, "java/lang/NegativeArraySizeException", Some(&text))
                    }
                    None => self.raise_unsaid(state, "java/lang/NegativeArraySizeException"),
                };
            }
            let known = state.memory()?.core().targets(32, length);
            let known = known.and_then(|all| all.iter().filter_map(|(_, bits)| bits.to_u64()).max());
            match known {
                Some(most) => {
                    let most = most as usize;
                    if most > if self.symbolic { KNOWN_ROOM } else { CONCRETE_ROOM } {
                        return Err(Trouble::Cut(Cut::Array));
                    }
                    let made = state.memory_mut()?.make_array(class, most, length);
                    self.fill(state, class, &made, most, more)
                }
                None => {
                    let memory = state.memory()?;
                    let most = memory.array_bound();
                    let short = memory.core().relop(RelOp::Sle, 32, length, &memory.int(most as i32));
                    let split = state.split(|memory| memory.branch(&short))?;
                    self.each(state, split, |state, short| {
                        if !short {
                            return Err(Trouble::Cut(Cut::Array));
                        }
                        if !more.is_empty() {
                            return gap("an array of arrays of unknown number");
                        }
                        let made = state.memory_mut()?.make_array(class, most, length);
                        state.push(Slot::Ref(made));
                        Ok(Done::Next)
                    })
                }
            }
        })
    }

    /// Fills an array with arrays, and leaves it on the stack.
    fn fill<M: Memory>(
        &self,
        state: &mut State<M>,
        class: ClassId,
        array: &M::Ref,
        count: usize,
        lengths: &[IntOf<M>],
    ) -> Answer<M> {
        if !lengths.is_empty() {
            let Some(Type::Ref(name)) = self.program.class(class).element.clone() else {
                return unverifiable("too many lengths");
            };
            let inner = self.program.load(&name)?;
            self.inform(state)?;
            for at in 0..count {
                if let Done::Forks(_) = self.new_array(state, inner, lengths)? {
                    return gap("an array of arrays of unknown length");
                }
                let element = Value::Ref(state.pop_ref()?);
                let index = state.memory()?.int(at as i32);
                if let Done::Forks(_) = self.store(state, array, &index, &element)? {
                    return gap("an array of arrays of unknown length");
                }
            }
        }
        state.push(Slot::Ref(array.clone()));
        Ok(Done::Next)
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

fn fits<M: Memory>(kind: Kind, slot: &Slot<M>) -> bool {
    matches!(
        (kind, slot),
        (Kind::Int, Slot::Int(_) | Slot::Bool(_))
            | (Kind::Long, Slot::Long(_))
            | (Kind::Float, Slot::Float(_))
            | (Kind::Double, Slot::Double(_))
            | (Kind::Ref, Slot::Ref(_))
    )
}

/// -1, 0 or 1.
fn three_way<M: Memory>(memory: &M, less: &BoolOf<M>, same: &BoolOf<M>) -> IntOf<M> {
    let core = memory.core();
    let rest = core.cond(32, same, &memory.int(0), &memory.int(1));
    core.cond(32, less, &memory.int(-1), &rest)
}
