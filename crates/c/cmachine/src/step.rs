//! One instruction.

use super::host::{Host, Problem};
use super::memory::Kind;
use super::pointers::{bits_of, word};
use super::state::Event;
use super::value::Value;
use super::{Fill, LARGEST, Machine, Result, State, Stop};
use parallax_cmodule::{
    Binary, BlockId, FloatBinary, FloatCompare, Instruction, Operand, Operation, Register, Rmw, Terminator,
    TypeId, TypeKind,
};
use parallax_op::{BinOp, Bits, BoolOp, FloatFormat, RelOp, UnOp};
use parallax_path::{Bound, Split};
use parallax_sem::Core;
use smallvec::SmallVec;
use std::sync::Arc;

impl<'m, C: Core, H: Host<C>> Machine<'m, C, H> {
    /// What an operand is in the running frame.
    pub(super) fn operand(&mut self, state: &State<C>, operand: &Operand) -> Result<Value<C>, C> {
        match operand {
            Operand::Register(register) => match &state.frame().registers[register.0 as usize] {
                Some(value) => Ok(value.clone()),
                None => Err(Stop::Unsupported("a register is used before it is set".into())),
            },
            Operand::Constant(id) => self.constant(*id),
        }
    }

    pub(super) fn bits(&mut self, state: &mut State<C>, operand: &Operand) -> Result<C::Val, C> {
        let value = self.operand(state, operand)?;
        self.exposed(state, &value)
    }

    /// An operand that is no pointer, whatever it was.
    fn number_operand(&mut self, state: &mut State<C>, operand: &Operand) -> Result<Value<C>, C> {
        let value = self.operand(state, operand)?;
        self.plain(state, &value)
    }

    pub(super) fn set(state: &mut State<C>, register: Option<Register>, value: Value<C>) {
        if let Some(register) = register {
            state.frame_mut().registers[register.0 as usize] = Some(value);
        }
    }

    /// Executes one instruction or terminator.
    pub fn step(&mut self, state: &mut State<C>) -> Result<(), C> {
        state.steps += 1;
        self.branched = false;
        let frame = state.frame_mut();
        let index = frame.index as usize;
        frame.index += 1;
        let module = self.module;
        let block = &module.functions[frame.function.0 as usize].blocks[frame.block.0 as usize];
        match block.instructions.get(index) {
            Some(instruction) => self.execute(state, instruction)?,
            None => self.leave(state, &block.terminator)?,
        }
        state.fixes = 0;
        Ok(())
    }

    fn execute(&mut self, state: &mut State<C>, instruction: &'m Instruction) -> Result<(), C> {
        let ty = instruction.ty;
        let value = match &instruction.operation {
            Operation::SlotLoad { slot } => match &state.frame().slots[slot.0 as usize] {
                Some(value) => value.clone(),
                None => {
                    let unknown = self.undefined(ty)?;
                    state.frame_mut().slots[slot.0 as usize] = Some(unknown.clone());
                    unknown
                }
            },
            Operation::SlotStore { slot, value } => {
                let value = self.operand(state, value)?;
                if state.unknown_memory {
                    let slots = &self.module.function(state.frame().function).slots;
                    if let Some(variable) = slots[slot.0 as usize].variable {
                        self.used_as(state, &value, self.module.variables[variable.0 as usize].ty);
                    }
                }
                state.frame_mut().slots[slot.0 as usize] = Some(value);
                return Ok(());
            }
            Operation::Load { pointer } => {
                let pointer = self.operand(state, pointer)?;
                self.load(state, &pointer, ty)?
            }
            Operation::Store { pointer, value, of } => {
                let (pointer, value) = (self.operand(state, pointer)?, self.operand(state, value)?);
                return self.store(state, &pointer, *of, &value);
            }
            Operation::Binary { op, a, b } => {
                let (a, b) = (self.operand(state, a)?, self.operand(state, b)?);
                self.checked_binary(state, *op, ty, &a, &b)?
            }
            Operation::Compare { op, of, a, b } => {
                let (a, b) = (self.operand(state, a)?, self.operand(state, b)?);
                let (of, op) = (*of, *op);
                let width_type = match self.module.ty(of).kind {
                    TypeKind::Vector { element, .. } => element,
                    _ => of,
                };
                let width = self.module.ty(width_type).bits().unwrap_or(64);
                if let (Value::Bits(a), Value::Bits(b)) = (&a, &b) {
                    let holds = self.host.core().relop(op, width, a, b);
                    Self::set(state, instruction.result, self.flag(&holds));
                    return Ok(());
                }
                self.lanes(ty, &[&a, &b], &mut |machine, _, values| {
                    let holds = machine.compare(state, op, width, values[0], values[1])?;
                    Ok(machine.flag(&holds))
                })?
            }
            Operation::Address { base, offset, indices, .. } => {
                let base = self.operand(state, base)?;
                let indices = indices
                    .iter()
                    .map(|(index, ty, step)| Ok((self.number_operand(state, index)?, *ty, *step)))
                    .collect::<Result<SmallVec<[_; 2]>, C>>()?;
                self.address_of(&base, *offset, &indices)?
            }
            Operation::Cast { op, from, a } => {
                let a = self.operand(state, a)?;
                self.cast(state, *op, *from, ty, &a)?
            }
            Operation::Select { condition, vector, a, b } => {
                let condition = self.operand(state, condition)?;
                let (a, b) = (self.operand(state, a)?, self.operand(state, b)?);
                self.select(state, ty, &condition, *vector, &a, &b)?
            }
            Operation::Call { callee, arguments } => return self.call(state, instruction, callee, arguments),
            Operation::FloatBinary { op, a, b } => {
                let (a, b) = (self.number_operand(state, a)?, self.number_operand(state, b)?);
                let op = *op;
                let floats =
                    self.host.checks().floats && !self.module.function(state.frame().function).library;
                self.lanes(ty, &[&a, &b], &mut |machine, ty, values| {
                    let format = machine.float_format(ty)?;
                    let (a, b) = (bits_of(values[0])?, bits_of(values[1])?);
                    let result = machine.float_binary(op, format, &a, &b)?;
                    if floats {
                        machine.check_number(state, format, [&a, &b], &result);
                    }
                    Ok(Value::Bits(result))
                })?
            }
            Operation::FloatNegate { a } => {
                let a = self.number_operand(state, a)?;
                self.lanes(ty, &[&a], &mut |machine, ty, values| {
                    let format = machine.float_format(ty)?;
                    Ok(Value::Bits(machine.float_negate(format, &bits_of(values[0])?)))
                })?
            }
            Operation::FloatCompare { op, of, a, b } => {
                let (a, b) = (self.number_operand(state, a)?, self.number_operand(state, b)?);
                let format = match self.module.ty(*of).kind {
                    TypeKind::Vector { element, .. } => self.float_format(element)?,
                    _ => self.float_format(*of)?,
                };
                let op = *op;
                self.lanes(ty, &[&a, &b], &mut |machine, _, values| {
                    let (a, b) = (bits_of(values[0])?, bits_of(values[1])?);
                    Ok(machine.flag(&machine.float_compare(op, format, &a, &b)))
                })?
            }
            Operation::Alloca { of, count, count_type, align, variable } => {
                let count = self.bits(state, count)?;
                let width = self.module.ty(*count_type).bits().unwrap_or(64);
                let layout = self.module.ty(*of);
                let core = self.host.core();
                let count = if width < 64 { core.zext(width, 64, &count) } else { count };
                let most = word(&self.host, LARGEST / layout.size.max(1));
                let few = core.relop(RelOp::Ule, 64, &count, &most);
                match self.host.split(&state.path, &few) {
                    Split::True => {}
                    Split::Both => {
                        self.host.bounded(Bound::Values(LARGEST, "bytes of locals".into()));
                        self.host.take(&mut state.path, few);
                    }
                    Split::False => return Err(Stop::Unsupported("a local of more than 16 GiB".into())),
                    Split::Neither => return Err(Stop::Dead),
                }
                let size = self.host.core().binop(BinOp::Mul, 64, &count, &word(&self.host, layout.size));
                let room = self.capacity(state, &size);
                let kind = Kind::Stack(state.frame().function);
                let align = u64::from(layout.align.max(*align));
                let (id, pointer) = self.allocate(state, kind, size, room, align, Fill::Undefined, *variable);
                state.frame_mut().objects.push(id);
                Value::Pointer(pointer)
            }
            Operation::Extract { a, path, .. } => {
                let mut value = self.operand(state, a)?;
                for &index in path {
                    value = match &value {
                        Value::Many(values) => values[index as usize].clone(),
                        _ => return Err(Stop::Unsupported("an element of something that has none".into())),
                    };
                }
                value
            }
            Operation::Insert { a, value, path } => {
                let (aggregate, value) = (self.operand(state, a)?, self.operand(state, value)?);
                inserted(&aggregate, path, value)?
            }
            Operation::ExtractElement { of, a, index, index_type } => {
                let vector = self.operand(state, a)?;
                let index = self.lane_number(state, index, *index_type)?;
                match (&vector, &self.module.ty(*of).kind) {
                    (Value::Many(values), TypeKind::Vector { .. }) if (index as usize) < values.len() => {
                        values[index as usize].clone()
                    }
                    _ => self.undefined(ty)?,
                }
            }
            Operation::InsertElement { a, value, index, index_type } => {
                let (vector, value) = (self.operand(state, a)?, self.operand(state, value)?);
                let index = self.lane_number(state, index, *index_type)?;
                inserted(&vector, &[index as u32], value)?
            }
            Operation::Shuffle { a, b, mask, .. } => {
                let (a, b) = (self.operand(state, a)?, self.operand(state, b)?);
                let (Value::Many(a), Value::Many(b)) = (&a, &b) else {
                    return Err(Stop::Unsupported("a shuffle of something that is no vector".into()));
                };
                let TypeKind::Vector { element, .. } = self.module.ty(ty).kind else {
                    return Err(Stop::Unsupported("a shuffle".into()));
                };
                let mut values = Vec::with_capacity(mask.len());
                for lane in mask {
                    values.push(match lane {
                        Some(lane) if (*lane as usize) < a.len() => a[*lane as usize].clone(),
                        Some(lane) => b[*lane as usize - a.len()].clone(),
                        None => self.undefined(element)?,
                    });
                }
                Value::many(values)
            }
            Operation::Freeze { a } => self.operand(state, a)?,
            Operation::AtomicUpdate { op, pointer, value } => {
                let (pointer, value) = (self.operand(state, pointer)?, self.operand(state, value)?);
                let old = self.load(state, &pointer, ty)?;
                let new = self.updated(state, *op, ty, &old, &value)?;
                self.store(state, &pointer, ty, &new)?;
                old
            }
            Operation::CompareExchange { pointer, expected, new, of } => {
                let pointer = self.operand(state, pointer)?;
                let (expected, new) = (self.operand(state, expected)?, self.operand(state, new)?);
                let old = self.load(state, &pointer, *of)?;
                let width = self.module.ty(*of).bits().unwrap_or(64);
                let same = self.compare(state, RelOp::Eq, width, &old, &expected)?;
                let stored = self.joined(state, &same, &new, &old, width)?;
                self.store(state, &pointer, *of, &stored)?;
                Value::many(vec![old, self.flag(&same)])
            }
            Operation::Phi { .. } => return Ok(()),
            Operation::Nothing => return Ok(()),
            Operation::VariadicArgument { .. } => {
                return Err(Stop::Unsupported("va_arg as an instruction".into()));
            }
            Operation::Unsupported(what) => return Err(Stop::Unsupported(what.clone())),
        };
        Self::set(state, instruction.result, value);
        Ok(())
    }

    /// Reports a result that is not a number although both operands are.
    fn check_number(
        &mut self,
        state: &State<C>,
        format: FloatFormat,
        operands: [&C::Val; 2],
        result: &C::Val,
    ) {
        let unordered = FloatCompare { equal: false, greater: false, less: false, unordered: true };
        let is_nan = |value: &C::Val| self.float_compare(unordered, format, value, value);
        let core = self.host.core();
        let before = core.boolop(BoolOp::Or, &is_nan(operands[0]), &is_nan(operands[1]));
        let ok = core.boolop(BoolOp::Or, &core.not(&is_nan(result)), &before);
        self.notice(state, &ok, Problem::NotANumber, "the result is not a number");
    }

    pub(super) fn float_format(&self, ty: TypeId) -> Result<FloatFormat, C> {
        match self.module.ty(ty).kind {
            TypeKind::Float(format) => Ok(format),
            _ => Err(Stop::Unsupported("floating-point arithmetic on something else".into())),
        }
    }

    fn lane_number(&mut self, state: &mut State<C>, index: &Operand, ty: TypeId) -> Result<u64, C> {
        let index = self.bits(state, index)?;
        let width = self.module.ty(ty).bits().unwrap_or(64);
        Ok(self.fix(state, width, &index)?.to_u64().unwrap_or(u64::MAX))
    }

    fn checked_binary(
        &mut self,
        state: &mut State<C>,
        op: Binary,
        ty: TypeId,
        a: &Value<C>,
        b: &Value<C>,
    ) -> Result<Value<C>, C> {
        // What a pointer is moved by, compared with or masked by concerns no check.
        if !matches!((a, b), (Value::Bits(_) | Value::Many(_), Value::Bits(_) | Value::Many(_)))
            && matches!(op.op, BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or | BinOp::Xor)
        {
            return self.binary(state, op, ty, a, b);
        }
        let checks = self.host.checks();
        let division = matches!(op.op, BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem);
        let shift = checks.shifts && matches!(op.op, BinOp::Shl | BinOp::Lshr | BinOp::Ashr);
        // A quotient that does not fit is no matter of taste: processors trap, as for zero.
        let signed = checks.overflow && op.no_signed_wrap || matches!(op.op, BinOp::Sdiv | BinOp::Srem);
        if division || shift || signed {
            let (a, b) = (&self.plain(state, a)?, &self.plain(state, b)?);
            let mut requirements = Vec::new();
            self.lanes(ty, &[a, b], &mut |machine, ty, values| {
                let width = machine.module.ty(ty).bits().unwrap_or(64);
                let (x, y) = (bits_of(values[0])?, bits_of(values[1])?);
                let core = machine.host.core();
                if division {
                    let not_zero = core.relop(RelOp::Ne, width, &y, &core.constant(&Bits::zero(width)));
                    requirements.push((not_zero, Problem::DivisionByZero, "the divisor is zero"));
                }
                if shift {
                    let bound = core.constant(&Bits::new(width, width.into()));
                    let fits = core.relop(RelOp::Ult, width, &y, &bound);
                    requirements.push((
                        fits,
                        Problem::BadShift,
                        "the shift is as wide as the operand or wider",
                    ));
                }
                if signed {
                    let fits = machine.no_signed_overflow(op.op, width, &x, &y);
                    requirements.push((fits, Problem::Overflow, "the signed result does not fit"));
                }
                Ok(values[0].clone())
            })?;
            for (ok, kind, words) in requirements {
                self.require(state, &ok, kind, || words.to_string())?;
            }
        }
        if let (BinOp::Shl | BinOp::Lshr | BinOp::Ashr, Value::Bits(by)) = (op.op, b) {
            let by = Value::Bits(self.shifted_by(ty, by));
            return self.binary(state, op, ty, a, &by);
        }
        self.binary(state, op, ty, a, b)
    }

    /// How far a shift by a number goes. The language does not say where that is the width or more; processors take it
    /// modulo the width, and that is what a native run shows.
    fn shifted_by(&self, ty: TypeId, by: &C::Val) -> C::Val {
        let Some(width @ (32 | 64)) = self.module.ty(ty).bits() else { return by.clone() };
        let most = u64::from(width) - 1;
        if self.host.value(width, by).and_then(|n| n.to_u64()).is_some_and(|n| n <= most) {
            return by.clone();
        }
        let core = self.host.core();
        core.binop(BinOp::And, width, by, &core.constant(&Bits::new(width, most.into())))
    }

    fn select(
        &mut self,
        state: &mut State<C>,
        ty: TypeId,
        condition: &Value<C>,
        vector: bool,
        a: &Value<C>,
        b: &Value<C>,
    ) -> Result<Value<C>, C> {
        if vector {
            return self.lanes(ty, &[condition, a, b], &mut |machine, ty, values| {
                let guard = machine.truth_of(values[0])?;
                machine.choose(state, ty, &guard, values[1], values[2])
            });
        }
        let guard = self.truth_of(condition)?;
        self.choose(state, ty, &guard, a, b)
    }

    /// A choice between values of any type.
    fn choose(
        &mut self,
        state: &mut State<C>,
        ty: TypeId,
        guard: &C::Bool,
        a: &Value<C>,
        b: &Value<C>,
    ) -> Result<Value<C>, C> {
        let (Value::Many(x), Value::Many(y)) = (a, b) else {
            return self.joined(state, guard, a, b, self.module.ty(ty).bits().unwrap_or(64));
        };
        let module = self.module;
        let inner = |index: usize| match &module.ty(ty).kind {
            TypeKind::Struct(fields) => fields[index].0,
            TypeKind::Array { element, .. } | TypeKind::Vector { element, .. } => *element,
            _ => ty,
        };
        let pairs = x.iter().zip(y.iter()).enumerate();
        let values = pairs.map(|(i, (x, y))| self.choose(state, inner(i), guard, x, y));
        Ok(Value::many(values.collect::<Result<_, C>>()?))
    }

    fn updated(
        &mut self,
        state: &mut State<C>,
        op: Rmw,
        ty: TypeId,
        old: &Value<C>,
        value: &Value<C>,
    ) -> Result<Value<C>, C> {
        let width = self.module.ty(ty).bits().unwrap_or(64);
        Ok(match op {
            Rmw::Xchg => value.clone(),
            Rmw::Binary(op) => self.binary(state, Binary { op, no_signed_wrap: false }, ty, old, value)?,
            Rmw::Nand => {
                let and = Binary { op: BinOp::And, no_signed_wrap: false };
                let both = self.binary(state, and, ty, old, value)?;
                let both = self.exposed(state, &both)?;
                Value::Bits(self.host.core().unop(UnOp::Not, width, &both))
            }
            Rmw::Choose(relation) => {
                let keep = self.compare(state, relation, width, old, value)?;
                self.joined(state, &keep, old, value, width)?
            }
            Rmw::Float(op) => {
                let op = if op == FloatBinary::Sub { FloatBinary::Sub } else { FloatBinary::Add };
                let format = self.float_format(ty)?;
                let (a, b) = (self.exposed(state, old)?, self.exposed(state, value)?);
                Value::Bits(self.float_binary(op, format, &a, &b)?)
            }
        })
    }

    /// The program says that it never comes here (`__builtin_unreachable`).
    fn unreachable(&mut self, state: &mut State<C>) -> Result<(), C> {
        // Behind a call it may be that the call was not to return.
        let frame = state.frame();
        let block = &self.module.function(frame.function).blocks[frame.block.0 as usize];
        if matches!(block.instructions.last().map(|last| &last.operation), Some(Operation::Call { .. })) {
            return Err(Stop::Unsupported(
                "code that the compiler holds to be unreachable was reached behind a call".into(),
            ));
        }
        let always = self.host.core().boolean(true);
        let words = "code is reached that the program says is never reached".into();
        self.host.problem(state, Problem::Unreachable, &always, words);
        Err(Stop::Dead)
    }

    fn leave(&mut self, state: &mut State<C>, terminator: &'m Terminator) -> Result<(), C> {
        match terminator {
            Terminator::Jump(target) => self.go(state, *target),
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.operand(state, condition)?;
                let holds = self.truth_of(&condition)?;
                if let Some(truth) = self.host.truth(&holds) {
                    return self.go(state, if truth { *then } else { *otherwise });
                }
                self.check_condition(state, &holds)?;
                self.count_visit(state);
                let location = state.location(self.module, state.frames.len() - 1);
                match self.host.split(&state.path, &holds) {
                    Split::True => self.go(state, *then),
                    Split::False => self.go(state, *otherwise),
                    Split::Neither => Err(Stop::Dead),
                    Split::Both => {
                        self.host.asks(&holds);
                        self.host.tests(state, &holds);
                        state.forks += 1;
                        let mut other = state.clone();
                        self.host.take(&mut other.path, self.host.core().not(&holds));
                        other.events.push(Event::Branch(location, false));
                        self.go(&mut other, *otherwise)?;
                        self.forks.push(other);
                        self.host.take(&mut state.path, holds);
                        state.events.push(Event::Branch(location, true));
                        self.go(state, *then)
                    }
                }
            }
            Terminator::Switch { value, ty, cases, default } => {
                self.switch(state, value, *ty, cases, *default)
            }
            Terminator::Return(value) => {
                let value = match value {
                    Some(value) => Some(self.operand(state, value)?),
                    None => None,
                };
                if let (Some(value), 1, false) = (&value, state.frames.len(), state.unknown_memory) {
                    self.check_status(state, value);
                }
                self.leave_function(state, value)
            }
            Terminator::Indirect { address, targets } => {
                let address = self.bits(state, address)?;
                let number = self.fix(state, 64, &address)?.to_u64().unwrap_or(0);
                match targets.iter().find(|target| 1 + u64::from(target.0) == number) {
                    Some(&target) => self.go(state, target),
                    None => Err(Stop::Unsupported("an indirect jump to no block of this function".into())),
                }
            }
            Terminator::Unreachable => self.unreachable(state),
            Terminator::Unsupported(what) => Err(Stop::Unsupported(what.clone())),
        }
    }

    /// Reports a status of the program that is uninitialised.
    pub(super) fn check_status(&mut self, state: &State<C>, status: &Value<C>) {
        if let Value::Bits(status) = status
            && state.exits.status.is_none()
        {
            let low = self.host.core().extract(32, 0, 8, status);
            self.leaves_defined(state, 8, &low, "the program ends with an uninitialised status");
        }
    }

    /// Reports a branch that depends on something uninitialised.
    fn check_condition(&mut self, state: &mut State<C>, condition: &C::Bool) -> Result<(), C> {
        self.check_defined(state, condition, "which way to go depends on an uninitialised value")
    }

    /// Counts how often a call takes one branch that depends on input: what loop limits are about. Branches that the
    /// path decides count too, or a walk around a cycle of unknown memory would never end.
    fn count_visit(&mut self, state: &mut State<C>) {
        self.branched = true;
        let key = (state.frame().serial, state.frame().block);
        *Arc::make_mut(&mut state.visits).entry(key).or_insert(0) += 1;
    }

    fn switch(
        &mut self,
        state: &mut State<C>,
        value: &Operand,
        ty: TypeId,
        cases: &[(parallax_cmodule::ConstantId, BlockId)],
        default: BlockId,
    ) -> Result<(), C> {
        let width = self.module.ty(ty).bits().unwrap_or(64);
        let value = self.bits(state, value)?;
        if let Some(constant) = self.host.value(width, &value) {
            for (case, target) in cases {
                if let parallax_cmodule::Constant::Bits(bits) = self.module.constant(*case)
                    && *bits == constant
                {
                    return self.go(state, *target);
                }
            }
            return self.go(state, default);
        }
        let zero =
            self.host.core().relop(RelOp::Eq, width, &value, &self.host.core().constant(&Bits::zero(width)));
        self.check_condition(state, &zero)?;
        self.count_visit(state);
        let location = state.location(self.module, state.frames.len() - 1);
        let mut ways = Vec::new();
        let mut rest = self.host.core().boolean(true);
        for (number, (case, target)) in cases.iter().enumerate() {
            let case = self.constant(*case)?;
            let core = self.host.core();
            let same = core.relop(RelOp::Eq, width, &value, &bits_of(&case)?);
            rest = core.boolop(parallax_op::BoolOp::And, &rest, &core.not(&same));
            ways.push((same, *target, Some(number as u32)));
        }
        ways.push((rest, default, None));
        let mut possible = Vec::new();
        for (guard, target, number) in ways {
            match self.host.split(&state.path, &guard) {
                Split::True => {
                    possible = vec![(guard, target, number)];
                    break;
                }
                Split::Both => possible.push((guard, target, number)),
                Split::False => {}
                Split::Neither => return Err(Stop::Dead),
            }
        }
        let several = possible.len() > 1;
        if several {
            state.forks += 1;
        }
        let Some((last_guard, last_target, last_number)) = possible.pop() else { return Err(Stop::Dead) };
        for (guard, target, number) in possible {
            let mut other = state.clone();
            self.host.take(&mut other.path, guard);
            other.events.push(Event::Switch(location, number));
            self.go(&mut other, target)?;
            self.forks.push(other);
        }
        if several {
            self.host.take(&mut state.path, last_guard);
            state.events.push(Event::Switch(location, last_number));
        }
        self.go(state, last_target)
    }

    /// Enters a block: its phis take their values together.
    pub(super) fn go(&mut self, state: &mut State<C>, target: BlockId) -> Result<(), C> {
        let from = state.frame().block;
        let block = &self.module.function(state.frame().function).blocks[target.0 as usize];
        let mut taken = Vec::new();
        for instruction in &block.instructions {
            let Operation::Phi { incoming } = &instruction.operation else { break };
            let Some((_, operand)) = incoming.iter().find(|(block, _)| *block == from) else {
                return Err(Stop::Unsupported("a phi without a value for this way in".into()));
            };
            taken.push((instruction.result, self.operand(state, operand)?));
        }
        let phis = taken.len() as u32;
        let frame = state.frame_mut();
        frame.previous = from;
        frame.block = target;
        frame.index = phis;
        for (register, value) in taken {
            Self::set(state, register, value);
        }
        self.host.enter_block(state);
        Ok(())
    }
}

fn inserted<C: Core>(aggregate: &Value<C>, path: &[u32], value: Value<C>) -> Result<Value<C>, C> {
    let Some((&first, rest)) = path.split_first() else { return Ok(value) };
    let Value::Many(values) = aggregate else {
        return Err(Stop::Unsupported("an element of something that has none".into()));
    };
    let mut values = (**values).clone();
    let Some(place) = values.get_mut(first as usize) else { return Ok(aggregate.clone()) };
    *place = inserted(&place.clone(), rest, value)?;
    Ok(Value::many(values))
}
