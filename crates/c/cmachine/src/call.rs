//! Calls and returns.

use super::host::{Host, Problem};
use super::memory::Kind;
use super::pointers::word;
use super::state::{Event, Frame};
use super::value::{Target, Value};
use super::{DEEPEST, FORGOTTEN, Fill, Machine, Result, State, Stop, library};
use parallax_cmodule::{Argument, BlockId, Callee, FunctionId, Instruction, Register, TypeId, TypeKind};
use parallax_op::{Bits, BoolOp, RelOp};
use parallax_path::{Bound, Split};
use parallax_sem::Core;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes that lie where a pointer leads which a function without a model returned.
const STRANGER: u64 = 256;

/// An argument of a call that is under way.
#[derive(Clone)]
pub(super) struct Passed<C: Core> {
    pub(super) value: Value<C>,
    pub(super) ty: TypeId,
    pub(super) by_value: Option<TypeId>,
}

/// A call that the analysis answers itself.
pub struct PendingCall<C: Core> {
    /// The function.
    pub function: FunctionId,
    /// Its arguments, structures by value as pointers to the caller's.
    pub arguments: Vec<Value<C>>,
    /// Where the caller wants the result.
    pub result: Option<Register>,
}

impl<'m, C: Core, H: Host<C>> Machine<'m, C, H> {
    pub(super) fn call(
        &mut self,
        state: &mut State<C>,
        at: &'m Instruction,
        callee: &Callee,
        arguments: &[Argument],
    ) -> Result<(), C> {
        let mut passed = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let value = self.operand(state, &argument.value)?;
            passed.push(Passed { value, ty: argument.ty, by_value: argument.by_value });
        }
        match callee {
            Callee::Function(function) => self.invoke(state, at, *function, &passed),
            Callee::Assembly(assembly) if assembly.text.trim().is_empty() => {
                // Empty assembly is a barrier for the compiler and does nothing.
                match self.module.ty(at.ty).kind {
                    TypeKind::Void => Ok(()),
                    _ => Err(Stop::Unsupported("inline assembly with a result".into())),
                }
            }
            Callee::Assembly(assembly) => {
                Err(Stop::Unsupported(format!("inline assembly: {}", assembly.text)))
            }
            Callee::Pointer(pointer) => {
                let pointer = self.operand(state, pointer)?;
                self.call_through(state, at, &pointer, &passed)
            }
        }
    }

    /// An indirect call: one successor per function it can be.
    fn call_through(
        &mut self,
        state: &mut State<C>,
        at: &'m Instruction,
        pointer: &Value<C>,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let pointer = self.pointer(state, pointer)?;
        let mut targets = Vec::new();
        for entry in &pointer.entries {
            let core = self.host.core();
            let never = core.not(&entry.guard);
            match entry.target {
                Target::Function(function) => {
                    let start = core.relop(parallax_op::RelOp::Eq, 64, &entry.offset, &word(&self.host, 0));
                    let start = core.boolop(BoolOp::Implies, &entry.guard, &start);
                    self.require(state, &start, Problem::OutOfBounds, || {
                        "a call into the middle of code".into()
                    })?;
                    targets.push((entry.guard.clone(), function));
                }
                Target::Null | Target::Number => {
                    let page =
                        core.relop(parallax_op::RelOp::Ult, 64, &entry.offset, &word(&self.host, 4096));
                    let null = core.boolop(BoolOp::And, &entry.guard, &page);
                    let not_null = core.not(&null);
                    self.require(state, &not_null, Problem::NullDereference, || {
                        "a null function is called".into()
                    })?;
                    let words = || "a number that is no function is called".to_string();
                    self.require(state, &never, Problem::OutOfBounds, words)?;
                }
                Target::Object(_) | Target::Token(_) => {
                    self.require(state, &never, Problem::OutOfBounds, || {
                        "data is called as a function".into()
                    })?;
                }
            }
        }
        let location = state.location(self.module, state.frames.len() - 1);
        let mut possible = Vec::new();
        for (guard, function) in targets {
            match self.host.split(&state.path, &guard) {
                Split::True => {
                    possible = vec![(guard, function)];
                    break;
                }
                Split::Both => possible.push((guard, function)),
                Split::False => {}
                Split::Neither => return Err(Stop::Dead),
            }
        }
        let several = possible.len() > 1;
        let Some((last_guard, last)) = possible.pop() else { return Err(Stop::Dead) };
        for (guard, function) in possible {
            let mut other = state.clone();
            other.forks += 1;
            self.host.take(&mut other.path, guard);
            other.events.push(Event::Choice(location, function.0.into()));
            if self.host.answers(function) {
                // One call can wait at a time: this one comes again, with a single function it can be.
                other.frame_mut().index -= 1;
                self.forks.push(other);
                continue;
            }
            match self.invoke(&mut other, at, function, passed) {
                Ok(()) => self.forks.push(other),
                Err(stop) => self.stopped.push((other, stop)),
            }
        }
        if several {
            state.forks += 1;
            self.host.take(&mut state.path, last_guard);
            state.events.push(Event::Choice(location, last.0.into()));
        }
        self.invoke(state, at, last, passed)
    }

    pub(super) fn invoke(
        &mut self,
        state: &mut State<C>,
        at: &'m Instruction,
        function: FunctionId,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let name = self.module.function(function).name.as_str();
        let builtin = self.builtins[function.0 as usize];
        self.promised(state, function, passed)?;
        if self.host.answers(function) {
            let arguments = passed.iter().map(|p| p.value.clone()).collect();
            self.pending = Some(PendingCall { function, arguments, result: at.result });
            return Ok(());
        }
        if builtin.is_none() && self.module.function(function).is_defined() {
            return self.enter(state, function, passed.to_vec(), at.result);
        }
        // What is no pointer by its type is a number from here on.
        let mut passed = passed.to_vec();
        for argument in &mut passed {
            let pointers = match self.module.ty(argument.ty).kind {
                TypeKind::Vector { element, .. } => matches!(self.module.ty(element).kind, TypeKind::Pointer),
                TypeKind::Pointer => true,
                _ => false,
            };
            if !pointers {
                argument.value = self.plain(state, &argument.value.clone())?;
            }
        }
        let passed = &passed;
        match builtin {
            None if !self.module.function(function).alloc_size.is_empty() => {
                self.declared_allocator(state, at, function, passed)
            }
            None => self.unmodelled(state, at, name, passed),
            Some(library::Builtin::Intrinsic) => {
                self.intrinsic(state, at, name.trim_start_matches("llvm."), passed)
            }
            Some(builtin) => self.builtin(state, at, builtin, name, passed),
        }
    }

    /// Null is no argument for a parameter that is declared never to be. Models of the library say for themselves what
    /// they do with null: prototypes there forbid it even where nothing is read.
    fn promised(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let module = self.module;
        let definition = module.function(function);
        if definition.library || self.builtins[function.0 as usize].is_some() {
            return Ok(());
        }
        for (parameter, argument) in definition.parameters.iter().zip(passed) {
            if parameter.nonnull && !matches!(argument.value, Value::Many(_)) {
                let null = self.is_null(state, &argument.value)?;
                let fine = self.host.core().not(&null);
                self.require(state, &fine, Problem::NullArgument, || {
                    format!("{} of {} is declared never to be null", parameter.name, definition.name)
                })?;
            }
        }
        for (index, parameter) in definition.parameters.iter().enumerate() {
            if let Some(fine) = self.room(state, function, index, passed)? {
                self.require(state, &fine, Problem::OutOfBounds, || {
                    format!("{} of {} points to less than is declared", parameter.name, definition.name)
                })?;
            }
        }
        Ok(())
    }

    /// Goes on behind a call that the analysis answered.
    pub fn answer(&mut self, state: &mut State<C>, call: PendingCall<C>, value: Option<Value<C>>) {
        if let Some(value) = value {
            Self::set(state, call.result, value);
        }
    }

    /// Starts a function.
    pub(super) fn enter(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
        mut passed: Vec<Passed<C>>,
        result: Option<Register>,
    ) -> Result<(), C> {
        if state.frames.len() >= DEEPEST {
            return Err(Stop::Unsupported(format!("more than {DEEPEST} nested calls")));
        }
        let definition = self.module.function(function);
        if passed.iter().zip(&definition.parameters).any(|(given, wanted)| given.ty != wanted.ty) {
            passed = self.by_class(state, function, passed)?;
        }
        // Its contract runs first, on top of it and with the same arguments.
        let contract = self.contracts[function.0 as usize].map(|contract| (contract, passed.clone()));
        let mut objects = Vec::new();
        for argument in &mut passed {
            // What is passed by value is the callee's own: it gets a copy.
            if let Some(ty) = argument.by_value {
                let layout = self.module.ty(ty);
                let size = word(&self.host, layout.size);
                let kind = Kind::Stack(function);
                let align = u64::from(layout.align);
                let (id, copy) = self.allocate(state, kind, size, layout.size, align, Fill::Undefined, None);
                let copy = Value::Pointer(copy);
                let original = argument.value.clone();
                self.copy(state, &copy, &original, layout.size)?;
                objects.push(id);
                argument.value = copy;
            }
        }
        let mut registers = vec![None; definition.registers as usize];
        for (index, parameter) in definition.parameters.iter().enumerate() {
            registers[index] = Some(match passed.get(index) {
                Some(argument) => argument.value.clone(),
                None => self.undefined(parameter.ty)?,
            });
        }
        let named = definition.parameters.len().min(passed.len());
        let variadic = passed.drain(named..).map(|p| (p.value, p.ty, p.by_value)).collect();
        state.serials += 1;
        let frame = Frame {
            function,
            block: BlockId(0),
            previous: BlockId(0),
            index: 0,
            registers,
            slots: vec![None; definition.slots.len()],
            variadic,
            objects,
            result,
            serial: state.serials,
        };
        state.frames.push(Rc::new(frame));
        self.host.enter_block(state);
        match contract {
            Some((contract, passed)) => self.enter(state, contract, passed, None),
            None => Ok(()),
        }
    }

    /// Starts the program (or any function) with these arguments.
    pub fn begin(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
        arguments: Vec<Value<C>>,
    ) -> Result<(), C> {
        state.entry_arguments = Arc::new(arguments.clone());
        let types: Vec<TypeId> = self.module.function(function).parameters.iter().map(|p| p.ty).collect();
        let passed = arguments
            .into_iter()
            .zip(types)
            .map(|(value, ty)| Passed { value, ty, by_value: None })
            .collect();
        self.enter(state, function, passed, None)
    }

    /// Starts the program at `main`: functions marked as constructors run before it, those marked as destructors when it
    /// has ended and after what `atexit` was given.
    pub fn begin_program(
        &mut self,
        state: &mut State<C>,
        main: FunctionId,
        arguments: Vec<Value<C>>,
    ) -> Result<(), C> {
        self.begin(state, main, arguments)?;
        Rc::make_mut(&mut state.exits).at_exit.extend(self.module.marked("llvm.global_dtors"));
        // Each is entered on top of what comes after it.
        for function in self.module.marked("llvm.global_ctors").into_iter().rev() {
            self.enter(state, function, Vec::new(), None)?;
        }
        Ok(())
    }

    /// Objects of a frame die with it.
    pub(super) fn kill(&mut self, state: &mut State<C>, frame: &Frame<C>) {
        let never = self.host.core().boolean(false);
        for &object in &frame.objects {
            state.memory.drop_content(object);
            state.memory.object_mut(object).alive = never.clone();
        }
    }

    pub(super) fn leave_function(&mut self, state: &mut State<C>, value: Option<Value<C>>) -> Result<(), C> {
        let frame = state.frames.pop().expect("a running program has a frame");
        self.kill(state, &frame);
        if state.frames.is_empty() {
            return self.finish(state, value);
        }
        if let Some(value) = value {
            let caller = state.frame();
            let block = &self.module.function(caller.function).blocks[caller.block.0 as usize];
            let wanted = (caller.index as usize).checked_sub(1).and_then(|at| block.instructions.get(at));
            let given = self.module.function(frame.function).result;
            let value = match wanted.map(|call| call.ty).filter(|&ty| ty != given) {
                Some(ty) if frame.result.is_some() => self.in_register(state, given, ty, &value)?,
                _ => value,
            };
            Self::set(state, frame.result, value);
        }
        Ok(())
    }

    /// The end of the program: functions registered with `atexit` run first, the last one first.
    pub(super) fn finish(&mut self, state: &mut State<C>, value: Option<Value<C>>) -> Result<(), C> {
        let exits = Rc::make_mut(&mut state.exits);
        let status = exits.status.get_or_insert(value).clone();
        match exits.at_exit.pop() {
            Some(function) => self.enter(state, function, Vec::new(), None),
            None => Err(Stop::Exit(status)),
        }
    }

    /// The list that `va_start` makes: all arguments in the memory area, none in registers, as the x86-64 convention
    /// allows; clang's expansion of `va_arg` then always takes the way through memory.
    pub(super) fn variadic_list(&mut self, state: &mut State<C>, list: &Value<C>) -> Result<(), C> {
        let arguments = state.frame().variadic.clone();
        let mut places = Vec::new();
        let mut at = 0u64;
        for (_, ty, by_value) in &arguments {
            let layout = self.module.ty(by_value.unwrap_or(*ty));
            let align = u64::from(layout.align).max(8);
            at = at.div_ceil(align) * align;
            places.push(at);
            at += layout.size.div_ceil(8) * 8;
        }
        let size = word(&self.host, at.max(1));
        let kind = Kind::Stack(state.frame().function);
        let (id, area) = self.allocate(state, kind, size, at.max(1), 16, Fill::Undefined, None);
        state.frame_mut().objects.push(id);
        let area = Value::Pointer(area);
        for ((value, ty, by_value), place) in arguments.iter().zip(places) {
            let target = self.shifted(state, &area, place)?;
            match by_value {
                Some(ty) => {
                    let size = self.module.ty(*ty).size;
                    self.copy(state, &target, value, size)?;
                }
                None => {
                    // Narrow integers are passed widened; what is above them is unspecified, and read by nobody.
                    self.store(state, &target, *ty, value)?;
                }
            }
        }
        let half = |n: u64| Value::Bits(self.host.core().constant(&Bits::new(32, n.into())));
        let (gp, fp) = (half(48), half(176));
        let hits = self.access(state, list, 24, true)?;
        self.write_hits(state, &hits, 0, 4, &gp)?;
        self.write_hits(state, &hits, 4, 4, &fp)?;
        self.write_hits(state, &hits, 8, 8, &area)?;
        let none = Value::Pointer(super::pointers::null(&self.host));
        self.write_hits(state, &hits, 16, 8, &none)
    }

    /// A function nobody defines or models: it may return anything and change what its arguments point to.
    pub(super) fn unmodelled(
        &mut self,
        state: &mut State<C>,
        at: &Instruction,
        name: &str,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let layout = self.module.ty(at.ty);
        let (width, is_pointer) = (layout.bits(), matches!(layout.kind, TypeKind::Pointer));
        if width.is_none() && !matches!(layout.kind, TypeKind::Void) {
            return Err(Stop::Unsupported(format!(
                "a call of {name}, which is not defined and returns a structure"
            )));
        }
        let result = match self.host.unknown(state, width.unwrap_or(32), name) {
            Ok(value) => value,
            Err(words) => return Err(Stop::Unsupported(words)),
        };
        let words = format!("{name} has no model: it returns anything and changes what it is given");
        self.host.bounded(Bound::StandsIn(words));
        for argument in passed {
            if let Value::Pointer(pointer) = &argument.value {
                for entry in &pointer.entries {
                    if let Target::Object(id) = entry.target
                        && !state.memory.object(id).read_only
                    {
                        self.forget(state, id, name)?;
                    }
                }
            }
        }
        let value = match is_pointer {
            true => self.stranger(state, &result, name)?,
            false => Value::Bits(result),
        };
        if width.is_some() {
            Self::set(state, at.result, value);
        }
        Ok(())
    }

    /// What a pointer leads to that a function without a model returned: null, or memory that nothing else points to, whose bytes are
    /// anything. The last is a NUL, so that texts in it end.
    fn stranger(&mut self, state: &mut State<C>, chosen: &C::Val, name: &str) -> Result<Value<C>, C> {
        let (size, fill) = (word(&self.host, STRANGER), Fill::Undefined);
        let (id, pointer) = self.allocate(state, Kind::Input, size, STRANGER, 16, fill, None);
        self.forget(state, id, name)?;
        let nul = self.host.core().constant(&Bits::zero(8));
        state.memory.object_mut(id).content.write(&self.host, STRANGER - 1, 1, Value::Bits(nul));
        let is_null = self.host.core().relop(RelOp::Eq, 64, chosen, &word(&self.host, 0));
        let none = Value::Pointer(super::pointers::null(&self.host));
        self.joined(state, &is_null, &none, &Value::Pointer(pointer), 64)
    }

    /// Every byte of an object becomes unknown; what lies further than is followed is said.
    pub(super) fn forget(&mut self, state: &mut State<C>, id: super::ObjectId, name: &str) -> Result<(), C> {
        let capacity = state.memory.object(id).capacity;
        if capacity > FORGOTTEN {
            let words = format!(
                "{name} has no model, and only the first {FORGOTTEN} of {capacity} bytes it is given are taken for changed"
            );
            self.host.bounded(Bound::Unsupported(words));
        }
        let capacity = capacity.min(FORGOTTEN);
        let mut at = 0;
        while at < capacity {
            let run = (capacity - at).min(8);
            let unknown = self.host.unknown(state, (run * 8) as u16, name).map_err(Stop::Unsupported)?;
            state.memory.object_mut(id).content.write(&self.host, at, run, Value::Bits(unknown));
            at += run;
        }
        Ok(())
    }

    /// An argument as bits.
    pub(super) fn argument_bits(&self, passed: &[Passed<C>], index: usize) -> Result<C::Val, C> {
        match passed.get(index) {
            Some(Passed { value: Value::Bits(bits), .. }) => Ok(bits.clone()),
            _ => Err(Stop::Unsupported(
                "a library function is called with too few arguments, or with a pointer for a number".into(),
            )),
        }
    }
}
