//! Library functions that C cannot say: allocation, the end of the program, the outside world, jumps.
//!
//! Everything else in the C library is a model in C (`models/`), over these.

use super::call::Passed;
use super::harness::Harness;
use super::host::{Host, Problem};
use super::memory::Kind;
use super::output::Form;
use super::pointers::{join, null, word};
use super::state::Jump;
use super::system::Call;
use super::value::{ObjectId, Pointer, Target, Value};
use super::{Fill, LARGEST, Machine, Result, State, Stop};
use parallax_cmodule::{Instruction, Operand, Operation};
use parallax_op::{Bits, BoolOp, RelOp};
use parallax_path::{Bound, Premise, Split};
use parallax_sem::Core;
use std::rc::Rc;

/// Digits behind the point that a number may be printed with; the model has room for so many.
const MOST_DIGITS: usize = 2000;
/// Values of a number that is not constant that are printed into memory one by one; for the rest something stands in.
const FEW: u32 = 8;

/// A function the machine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    Refuse,
    Malloc,
    MallocAligned,
    Zeroed,
    Free,
    Size,
    Copy,
    Fill,
    Exit,
    Abort,
    AtExit,
    AssertFail,
    Write,
    WriteNumber,
    Known,
    Read,
    System(Call),
    Time,
    Random,
    UnknownSeed,
    Unknown,
    Forget,
    Threads,
    FormatDouble,
    ParseDouble,
    Mathematics,
    FloatFunction,
    SetJump,
    LongJump,
    Intrinsic,
    Harness(Harness),
}

/// The builtin of a name.
pub(super) fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "malloc" => Builtin::Malloc,
        "__parallax_malloc_aligned" => Builtin::MallocAligned,
        "__parallax_zeroed" => Builtin::Zeroed,
        "free" => Builtin::Free,
        "__parallax_size" => Builtin::Size,
        "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" => Builtin::Copy,
        "memset" | "__memset_chk" => Builtin::Fill,
        // Instrumented code calls these instead.
        "__asan_memcpy" | "__asan_memmove" | "__msan_memcpy" | "__msan_memmove" | "__tsan_memcpy"
        | "__tsan_memmove" | "__hwasan_memcpy" | "__hwasan_memmove" => Builtin::Copy,
        "__asan_memset" | "__msan_memset" | "__tsan_memset" | "__hwasan_memset" => Builtin::Fill,
        "exit" | "_exit" | "_Exit" | "quick_exit" => Builtin::Exit,
        "abort" => Builtin::Abort,
        "atexit" => Builtin::AtExit,
        "__assert_fail" | "__assert" => Builtin::AssertFail,
        "__parallax_write" => Builtin::Write,
        "__parallax_write_number" => Builtin::WriteNumber,
        "__parallax_known" => Builtin::Known,
        "__parallax_read" => Builtin::Read,
        "__parallax_time" => Builtin::Time,
        "__parallax_random" => Builtin::Random,
        "__parallax_unknown_seed" => Builtin::UnknownSeed,
        "__parallax_refuse" => Builtin::Refuse,
        "__parallax_unknown" => Builtin::Unknown,
        "__parallax_forget" => Builtin::Forget,
        "pthread_create" | "thrd_create" | "fork" | "vfork" | "clone" => Builtin::Threads,
        "__parallax_format_double" | "__parallax_format_long_double" => Builtin::FormatDouble,
        "__parallax_parse_double" | "__parallax_parse_float" | "__parallax_parse_long_double" => {
            Builtin::ParseDouble
        }
        "sin" | "cos" | "tan" | "exp" | "exp2" | "expm1" | "log" | "log2" | "log10" | "log1p" | "atan"
        | "asin" | "acos" | "sinh" | "cosh" | "tanh" | "cbrt" | "pow" | "atan2" | "hypot" | "fmod"
        | "ldexp" | "ldexpf" | "ldexpl" | "sinf" | "cosf" | "tanf" | "expf" | "exp2f" | "logf" | "log2f"
        | "log10f" | "atanf" | "asinf" | "acosf" | "sinhf" | "coshf" | "tanhf" | "cbrtf" | "powf"
        | "atan2f" | "hypotf" | "fmodf" => Builtin::Mathematics,
        "sqrt" | "floor" | "ceil" | "fabs" | "trunc" | "round" | "rint" | "nearbyint" | "copysign"
        | "fma" | "sqrtf" | "floorf" | "ceilf" | "fabsf" | "truncf" | "roundf" | "rintf" | "nearbyintf"
        | "copysignf" | "fmaf" | "sqrtl" | "floorl" | "ceill" | "fabsl" | "truncl" | "roundl" => {
            Builtin::FloatFunction
        }
        "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" => Builtin::SetJump,
        "longjmp" | "_longjmp" | "siglongjmp" => Builtin::LongJump,
        _ if name.starts_with("llvm.") => Builtin::Intrinsic,
        _ => match Call::named(name) {
            Some(call) => Builtin::System(call),
            None => Builtin::Harness(Harness::named(name)?),
        },
    })
}

impl<'m, C: Core, H: Host<C>> Machine<'m, C, H> {
    pub(super) fn builtin(
        &mut self,
        state: &mut State<C>,
        at: &'m Instruction,
        builtin: Builtin,
        name: &str,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let needed = match builtin {
            Builtin::System(call) => call.arguments(),
            Builtin::Copy | Builtin::Fill | Builtin::Write | Builtin::Read | Builtin::Forget => 3,
            Builtin::FormatDouble => 5,
            Builtin::WriteNumber => 6,
            Builtin::ParseDouble | Builtin::MallocAligned => 2,
            Builtin::Abort
            | Builtin::AssertFail
            | Builtin::Random
            | Builtin::Threads
            | Builtin::Time
            | Builtin::Intrinsic
            | Builtin::Harness(_) => 0,
            _ => 1,
        };
        if passed.len() < needed {
            return Err(Stop::Unsupported(format!("{name} is called with {} arguments", passed.len())));
        }
        let value = |index: usize| passed[index].value.clone();
        let on_number = match builtin {
            Builtin::Write | Builtin::Read => true,
            Builtin::System(call) => call.on_number(),
            _ => false,
        };
        if on_number {
            // A file of unknown number is one that nothing here opened.
            let file = self.argument_bits(passed, 0)?;
            if self.host.value(32, &file).is_none() {
                return self.unmodelled(state, at, "a file of unknown number", passed);
            }
        }
        let result = match builtin {
            Builtin::Malloc => {
                let size = self.argument_bits(passed, 0)?;
                Value::Pointer(self.malloc(state, &size, 16, Fill::Undefined)?)
            }
            Builtin::MallocAligned => {
                let size = self.argument_bits(passed, 1)?;
                let align = self.number(state, passed, 0)?;
                Value::Pointer(self.malloc(
                    state,
                    &size,
                    (align as u64).clamp(16, 1 << 30),
                    Fill::Undefined,
                )?)
            }
            Builtin::Zeroed => {
                let size = self.argument_bits(passed, 0)?;
                Value::Pointer(self.malloc(state, &size, 16, Fill::Zero)?)
            }
            Builtin::Free => return self.free(state, &value(0)),
            Builtin::Size => {
                let pointer = self.pointer(state, &value(0))?;
                self.freeable(state, &pointer)?;
                let mut size = word(&self.host, 0);
                for entry in &pointer.entries {
                    if let Target::Object(id) = entry.target {
                        size = self.host.core().cond(64, &entry.guard, &state.memory.object(id).size, &size);
                    }
                }
                Value::Bits(size)
            }
            Builtin::Copy => {
                let len = self.move_length(passed)?;
                let apart = name.contains("memcpy");
                self.copy_range(state, &value(0), &value(1), &len, apart)?;
                value(0)
            }
            Builtin::Fill => {
                let len = self.move_length(passed)?;
                let byte = self.argument_bits(passed, 1)?;
                let byte = self.host.core().extract(32, 0, 8, &byte);
                self.fill_range(state, &value(0), &byte, &len)?;
                value(0)
            }
            Builtin::Exit => {
                self.check_status(state, &value(0));
                if name != "exit" {
                    Rc::make_mut(&mut state.exits).at_exit.clear();
                }
                if state.exits.at_exit.is_empty() {
                    return Err(Stop::Exit(Some(value(0))));
                }
                state.frames.clear();
                return self.finish(state, Some(value(0)));
            }
            Builtin::Abort if self.abort_is_quiet => {
                self.host.assume(Premise::new("abort ends a path and is no mistake, as in SV-COMP"));
                return Err(Stop::Excluded);
            }
            Builtin::Abort => {
                let always = self.host.core().boolean(true);
                self.host.problem(state, Problem::Assertion, &always, "abort is called".into());
                return Err(Stop::Dead);
            }
            Builtin::AssertFail => {
                let words = match passed.first() {
                    Some(text) => {
                        let text = self.constant_string(state, &text.value.clone())?;
                        format!("assertion failed: {}", String::from_utf8_lossy(&text))
                    }
                    None => "assertion failed".to_string(),
                };
                let always = self.host.core().boolean(true);
                self.host.problem(state, Problem::Assertion, &always, words);
                return Err(Stop::Dead);
            }
            Builtin::AtExit => {
                let pointer = self.pointer(state, &value(0))?;
                match pointer.only().map(|entry| entry.target) {
                    Some(Target::Function(function)) => {
                        Rc::make_mut(&mut state.exits).at_exit.push(function);
                    }
                    _ => return Err(Stop::Unsupported("atexit with a function that is not constant".into())),
                }
                self.small(32, 0)
            }
            Builtin::Known => {
                let bits = self.argument_bits(passed, 0)?;
                self.small(32, self.host.value(64, &bits).is_some().into())
            }
            Builtin::WriteNumber => {
                let mut given = [0; 6];
                for index in [0, 2, 3, 4, 5] {
                    given[index] = self.number(state, passed, index)?;
                }
                let value = self.argument_bits(passed, 1)?;
                let flag = |bit: i64| given[3] & bit != 0;
                let form = Form {
                    conversion: given[2] as u8,
                    left: flag(1),
                    plus: flag(2),
                    space: flag(4),
                    zero: flag(8),
                    width: usize::try_from(given[4]).unwrap_or(0),
                    precision: usize::try_from(given[5]).ok(),
                };
                self.leaves_defined(state, 64, &value, "an uninitialised number is printed");
                self.host.write_number(state, given[0] as i32, &value, form);
                return Ok(());
            }
            Builtin::Write => return self.write_file(state, at, passed),
            Builtin::Read => return self.read_file(state, at, passed),
            Builtin::System(call) => return self.system_call(state, at, call, passed),
            Builtin::Time => Value::Bits(self.host.time(state)),
            Builtin::UnknownSeed => {
                let seed = self.argument_bits(passed, 0)?;
                let constant = self.host.value(64, &seed).is_some();
                self.small(
                    32,
                    (!constant || self.host.random_inputs() && self.is_given_a_register(state)).into(),
                )
            }
            Builtin::Random => {
                let words =
                    "rand gives any numbers after a seed that is not constant, the same for the same seed";
                self.host.bounded(Bound::StandsIn(words.into()));
                let bits = self.host.unknown(state, 31, "rand").map_err(Stop::Unsupported)?;
                Value::Bits(self.host.core().zext(31, 32, &bits))
            }
            Builtin::Unknown => {
                let label = self.constant_string(state, &value(0))?;
                let label = String::from_utf8_lossy(&label).into_owned();
                let value = self.host.unknown(state, 64, &label).map_err(Stop::Unsupported)?;
                self.host.assume(Premise::new(format!("{label}: the outside world answers anything")));
                Value::Bits(value)
            }
            Builtin::Forget => {
                let room = self.length(state, passed, 1)?;
                let count = self.argument_bits(passed, 2)?;
                return self.forget_range(state, &value(0), room, &count);
            }
            Builtin::Refuse => {
                let what = self.constant_string(state, &value(0))?;
                return Err(Stop::Unsupported(String::from_utf8_lossy(&what).into_owned()));
            }
            Builtin::Threads => return Err(Stop::Unsupported(format!("{name}: only one thread is run"))),
            Builtin::FormatDouble => return self.format_double(state, at, passed),
            Builtin::ParseDouble => return self.parse_double(state, at, passed),
            Builtin::Mathematics => {
                let base = name.to_string();
                return self.mathematics(state, at, &base, passed);
            }
            Builtin::FloatFunction => {
                let base = match name {
                    "ceil" | "ceilf" => "ceil",
                    _ => name.trim_end_matches(['f', 'l']),
                };
                let values: Vec<&Value<C>> = passed.iter().map(|p| &p.value).collect();
                self.float_function(base, at.ty, &values)?
            }
            Builtin::SetJump => {
                let jump = Jump {
                    depth: state.frames.len() - 1,
                    serial: state.frame().serial,
                    at: (state.frame().block, state.frame().previous, state.frame().index),
                    result: at.result,
                };
                Rc::make_mut(&mut state.exits).jumps.push(jump);
                let number = word(&self.host, state.exits.jumps.len() as u64);
                let hits = self.access(state, &value(0), 8, true)?;
                self.write_hits(state, &hits, 0, 8, &Value::Bits(number))?;
                self.small(32, 0)
            }
            Builtin::LongJump => return self.long_jump(state, passed),
            Builtin::Intrinsic => return Err(Stop::Unsupported(format!("the intrinsic {name}"))),
            Builtin::Harness(harness) => return self.harness(state, at, harness, name, passed),
        };
        Self::set(state, at.result, result);
        Ok(())
    }

    /// Whether the running function was called with an argument that the program computes.
    fn is_given_a_register(&self, state: &State<C>) -> bool {
        let Some(caller) = state.frames.len().checked_sub(2).and_then(|depth| state.frames.get(depth)) else {
            return true;
        };
        let block = &self.module.function(caller.function).blocks[caller.block.0 as usize];
        let call = (caller.index as usize).checked_sub(1).and_then(|index| block.instructions.get(index));
        match call.map(|call| &call.operation) {
            Some(Operation::Call { arguments, .. }) => {
                arguments.iter().any(|argument| matches!(argument.value, Operand::Register(_)))
            }
            _ => true,
        }
    }

    pub(super) fn small(&self, width: u16, number: i64) -> Value<C> {
        Value::Bits(self.host.core().constant(&Bits::from_i128(width, number.into())))
    }

    /// An argument that must be one number.
    pub(super) fn number(
        &mut self,
        state: &mut State<C>,
        passed: &[Passed<C>],
        index: usize,
    ) -> Result<i64, C> {
        let bits = self.argument_bits(passed, index)?;
        let width = self.module.ty(passed[index].ty).bits().unwrap_or(64);
        Ok(self.fix(state, width, &bits)?.to_i128().unwrap_or(0) as i64)
    }

    /// Memory of a size; null where it is more than there can be. The size stays what it is, in an object with room for
    /// the largest that it can be.
    pub(super) fn malloc(
        &mut self,
        state: &mut State<C>,
        size: &C::Val,
        align: u64,
        fill: Fill,
    ) -> Result<Pointer<C>, C> {
        let core = self.host.core();
        let possible = core.relop(RelOp::Ule, 64, size, &word(&self.host, LARGEST));
        match self.host.split(&state.path, &possible) {
            Split::False => {
                let always = self.host.core().boolean(true);
                self.out_of_memory(state, &always)?;
                return Ok(null(&self.host));
            }
            Split::Neither => return Err(Stop::Dead),
            Split::Both => {
                let mut other = state.clone();
                self.host.take(&mut other.path, self.host.core().not(&possible));
                other.frame_mut().index -= 1;
                self.forks.push(other);
                self.host.take(&mut state.path, possible);
            }
            Split::True => {}
        }
        let capacity = self.capacity(state, size);
        let (id, pointer) = self.allocate(state, Kind::Heap, size.clone(), capacity, align, fill, None);
        if self.host.failing_allocation() {
            let fails = self.host.input(state, 1, "malloc_fails");
            let fails = self.host.core().val_to_bool(1, &fails);
            state.memory.object_mut(id).alive = self.host.core().not(&fails);
            self.out_of_memory(state, &fails)?;
            let none = Value::Pointer(null(&self.host));
            let joined = self.joined(state, &fails, &none, &Value::Pointer(pointer), 64)?;
            return self.pointer(state, &joined);
        }
        Ok(pointer)
    }

    /// `errno` is ENOMEM where an allocation fails; a program that never looks at it has none.
    fn out_of_memory(&mut self, state: &mut State<C>, fails: &C::Bool) -> Result<(), C> {
        const ENOMEM: u64 = 12;
        let globals = self.module.globals.iter();
        let Some(index) = globals.into_iter().position(|global| global.name == "__parallax_errno") else {
            return Ok(());
        };
        let target = Target::Object(ObjectId(index as u32));
        let errno = Value::Pointer(Pointer::to(self.host.core().boolean(true), target, word(&self.host, 0)));
        let hits = self.access(state, &errno, 4, true)?;
        let before = self.read_hits(state, &hits, 0, 4)?;
        let now = self.host.core().constant(&Bits::new(32, ENOMEM.into()));
        let now = join(&self.host, fails, &Value::Bits(now), &before, 32)
            .ok_or_else(|| Stop::Unsupported("errno that is no number".into()))?;
        self.write_hits(state, &hits, 0, 4, &now)
    }

    /// The most that a size can be on a path, at least roughly.
    pub(super) fn capacity(&mut self, state: &State<C>, size: &C::Val) -> u64 {
        if let Some(size) = self.host.value(64, size).and_then(|s| s.to_u64()) {
            return size;
        }
        for room in [64, 512, 1 << 12, 1 << 16, 1 << 20] {
            let fits = self.host.core().relop(RelOp::Ule, 64, size, &word(&self.host, room));
            if self.host.split(&state.path, &fits) == Split::True {
                return room;
            }
        }
        LARGEST
    }

    /// Reports what must not be freed.
    fn freeable(&mut self, state: &mut State<C>, pointer: &Pointer<C>) -> Result<(), C> {
        for entry in &pointer.entries {
            let core = self.host.core();
            let never = core.not(&entry.guard);
            let zero = core.relop(RelOp::Eq, 64, &entry.offset, &word(&self.host, 0));
            let at_start = core.boolop(BoolOp::Implies, &entry.guard, &zero);
            match entry.target {
                Target::Null | Target::Number => {
                    let words = || "a number that is no address is freed".to_string();
                    self.require(state, &at_start, Problem::InvalidFree, words)?;
                }
                Target::Function(_) | Target::Token(_) => {
                    self.require(state, &never, Problem::InvalidFree, || "code is freed".into())?;
                }
                Target::Object(id) => {
                    let object = state.memory.object(id);
                    let alive = core.boolop(BoolOp::Implies, &entry.guard, &object.alive);
                    let words = match object.kind {
                        Kind::Global => Some("a global is freed"),
                        Kind::Stack(_) => Some("a local variable is freed"),
                        Kind::Heap | Kind::Input => None,
                    };
                    if let Some(words) = words {
                        self.require(state, &never, Problem::InvalidFree, || words.into())?;
                    }
                    self.require(state, &alive, Problem::DoubleFree, || "memory is freed twice".into())?;
                    let words = || "a pointer into the middle of an allocation is freed".to_string();
                    self.require(state, &at_start, Problem::InvalidFree, words)?;
                }
            }
        }
        Ok(())
    }

    fn free(&mut self, state: &mut State<C>, pointer: &Value<C>) -> Result<(), C> {
        let pointer = self.pointer(state, pointer)?;
        self.freeable(state, &pointer)?;
        for entry in &pointer.entries {
            if let Target::Object(id) = entry.target {
                let core = self.host.core();
                let kept = core.not(&entry.guard);
                let alive = core.boolop(BoolOp::And, &state.memory.object(id).alive, &kept);
                let gone = self.host.truth(&alive) == Some(false);
                state.memory.object_mut(id).alive = alive;
                if gone {
                    state.memory.drop_content(id);
                }
            }
        }
        Ok(())
    }

    fn long_jump(&mut self, state: &mut State<C>, passed: &[Passed<C>]) -> Result<(), C> {
        let hits = self.access(state, &passed[0].value, 8, false)?;
        let number = self.read_hits(state, &hits, 0, 8)?;
        let number = self.exposed(state, &number)?;
        let number = self.fix(state, 64, &number)?.to_u64().unwrap_or(0);
        let jump = number.checked_sub(1).and_then(|n| state.exits.jumps.get(n as usize)).copied();
        let result = match passed.get(1) {
            Some(_) => self.number(state, passed, 1)?,
            None => 1,
        };
        let Some(jump) = jump else {
            return Err(Stop::Unsupported("longjmp with a buffer that no setjmp has filled".into()));
        };
        if state.frames.get(jump.depth).is_none_or(|frame| frame.serial != jump.serial) {
            let always = self.host.core().boolean(true);
            let words = "longjmp into a function that has returned";
            self.host.problem(state, Problem::UseAfterFree, &always, words.into());
            return Err(Stop::Dead);
        }
        while state.frames.len() > jump.depth + 1 {
            let frame = state.frames.pop().expect("deeper than the frame jumped to");
            self.kill(state, &frame);
        }
        let frame = state.frame_mut();
        (frame.block, frame.previous, frame.index) = jump.at;
        let result = self.small(32, if result == 0 { 1 } else { result });
        Self::set(state, jump.result, result);
        Ok(())
    }

    fn write_file(&mut self, state: &mut State<C>, at: &Instruction, passed: &[Passed<C>]) -> Result<(), C> {
        let file = self.number(state, passed, 0)? as i32;
        let len = self.length(state, passed, 2)?;
        let mut bytes = Vec::new();
        if len > 0 {
            let hits = self.access(state, &passed[1].value, len, false)?;
            for index in 0..len {
                let byte = self.read_hits(state, &hits, index, 1)?;
                bytes.push(self.exposed(state, &byte)?);
            }
        }
        for byte in &bytes {
            self.leaves_defined(state, 8, byte, "an uninitialised byte is written to a file");
        }
        let done = self.host.write(state, file, &bytes);
        let result = self.small(64, if done { len as i64 } else { -1 });
        Self::set(state, at.result, result);
        Ok(())
    }

    fn read_file(&mut self, state: &mut State<C>, at: &Instruction, passed: &[Passed<C>]) -> Result<(), C> {
        let file = self.number(state, passed, 0)? as i32;
        let len = self.length(state, passed, 2)?;
        let result = match self.host.read(state, file, len) {
            Some(bytes) => {
                if !bytes.is_empty() {
                    let hits = self.access(state, &passed[1].value, bytes.len() as u64, true)?;
                    for (index, byte) in bytes.iter().enumerate() {
                        self.write_hits(state, &hits, index as u64, 1, &Value::Bits(byte.clone()))?;
                    }
                }
                bytes.len() as i64
            }
            None => -1,
        };
        let result = self.small(64, result);
        Self::set(state, at.result, result);
        Ok(())
    }

    /// `int __parallax_format_double(char *out, int conversion, int precision, int alternate, double value)`: the
    /// characters of a magnitude, without sign or padding; their number. A precision below zero is none. The same for
    /// `long double`.
    fn format_double(
        &mut self,
        state: &mut State<C>,
        at: &Instruction,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let conversion = self.number(state, passed, 1)? as u8;
        let precision = usize::try_from(self.number(state, passed, 2)?).ok();
        if precision.is_some_and(|digits| digits > MOST_DIGITS) {
            return Err(Stop::Unsupported(format!("a number printed with more than {MOST_DIGITS} digits")));
        }
        let alternate = self.number(state, passed, 3)? != 0;
        let bits = self.argument_bits(passed, 4)?;
        let format = self.float_format(passed[4].ty)?;
        // The first few values that it can have are printed as they are, one by one.
        let text = match self.fix_within(state, format.width(), &bits, FEW)? {
            Some(bits) => crate::float_text::magnitude(format, &bits, conversion, precision, alternate),
            None => {
                let words = "a floating-point number that is not constant is printed as '?'";
                self.host.bounded(Bound::StandsIn(words.into()));
                "?".to_string()
            }
        };
        let hits = self.access(state, &passed[0].value, text.len() as u64, true)?;
        for (index, byte) in text.bytes().enumerate() {
            let byte = self.small(8, byte.into());
            self.write_hits(state, &hits, index as u64, 1, &byte)?;
        }
        let result = self.small(32, text.len() as i64);
        Self::set(state, at.result, result);
        Ok(())
    }

    /// `double __parallax_parse_double(const char *text, long len, int *range)`: the number that exactly these
    /// characters are, and whether it is out of range. The same for `float` and `long double`.
    fn parse_double(
        &mut self,
        state: &mut State<C>,
        at: &Instruction,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let len = self.length(state, passed, 1)?;
        let mut text = String::new();
        for index in 0..len {
            let place = self.shifted(state, &passed[0].value, index)?;
            let hits = self.access(state, &place, 1, false)?;
            let byte = self.read_hits(state, &hits, 0, 1)?;
            let byte = self.exposed(state, &byte)?;
            text.push(self.fix(state, 8, &byte)?.to_u64().unwrap_or(0) as u8 as char);
        }
        let (number, range) = crate::float_text::parse(self.float_format(at.ty)?, &text);
        let hits = self.access(state, &passed[2].value, 4, true)?;
        let range = self.small(32, range.into());
        self.write_hits(state, &hits, 0, 4, &range)?;
        let bits = self.host.core().constant(&number);
        Self::set(state, at.result, Value::Bits(bits));
        Ok(())
    }
}
