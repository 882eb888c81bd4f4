//! Functions that verification harnesses call: those of KLEE and of SV-COMP.

use super::call::Passed;
use super::host::{Host, Problem};
use super::memory::Kind;
use super::pointers::word;
use super::value::{Target, Value};
use super::{Fill, Machine, Result, State, Stop};
use parallax_cmodule::{Instruction, TypeId, TypeKind};
use parallax_op::{Bits, BoolOp, RelOp};
use parallax_path::Bound;
use parallax_sem::Core;

/// What a harness function asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harness {
    MakeSymbolic,
    Int,
    Range,
    Choose,
    Assume,
    Assert,
    Error,
    Nothing,
    Size,
    First,
    IsSymbolic,
    SilentExit,
    ReachError,
    Nondet,
    /// A condition that holds where the program is entered and must hold at calls.
    Requires,
    /// Whether there are so many bytes at a pointer.
    HasBytes,
    /// Whether the bytes at a pointer end with a NUL within their object.
    IsString,
    /// Whether two pointers point into different objects.
    Apart,
    /// Everything at a pointer's object becomes unknown.
    HavocObject,
    /// There is memory at an address that is a number.
    FixedObject,
    /// A pointer has to have so many bytes behind it.
    CheckAccess,
    /// Refused by name: what it does is not done here.
    Refused,
    /// Memory is said to be out of bounds for a while, which is not looked at.
    Poison,
    /// A sanitizer's runtime is told of a mistake of this kind.
    Sanitizer(Problem),
}

impl Harness {
    pub(super) fn named(name: &str) -> Option<Harness> {
        Some(match name {
            "klee_make_symbolic" => Harness::MakeSymbolic,
            "klee_int" => Harness::Int,
            "klee_range" => Harness::Range,
            "klee_choose" => Harness::Choose,
            "klee_assume" | "__VERIFIER_assume" => Harness::Assume,
            "klee_assert" | "__VERIFIER_assert" => Harness::Assert,
            "klee_abort" | "klee_report_error" | "klee_assert_fail" => Harness::Error,
            "__CPROVER_assume" => Harness::Assume,
            "__CPROVER_assert" => Harness::Assert,
            "__CPROVER_havoc_object" => Harness::HavocObject,
            "__CPROVER_cover" | "__CPROVER_atomic_begin" | "__CPROVER_atomic_end" => Harness::Nothing,
            "__CPROVER_precondition" => Harness::Requires,
            "__CPROVER_postcondition" => Harness::Assert,
            "__parallax_requires" => Harness::Requires,
            "__parallax_ensures" => Harness::Assert,
            "__parallax_has_bytes" => Harness::HasBytes,
            "__parallax_is_string" => Harness::IsString,
            "__parallax_apart" => Harness::Apart,
            "klee_silent_exit" => Harness::SilentExit,
            "klee_prefer_cex"
            | "klee_warning"
            | "klee_warning_once"
            | "klee_print_expr"
            | "klee_print_range"
            | "klee_set_forking"
            | "klee_stack_trace"
            | "klee_open_merge"
            | "klee_close_merge"
            | "klee_mark_global"
            | "klee_posix_prefer_cex"
            | "klee_is_replay"
            | "__VERIFIER_atomic_begin"
            | "__VERIFIER_atomic_end" => Harness::Nothing,
            "klee_define_fixed_object" => Harness::FixedObject,
            "klee_check_memory_access" => Harness::CheckAccess,
            "klee_alias_function" | "klee_alias_function_regex" => Harness::Refused,
            "klee_get_obj_size" => Harness::Size,
            "klee_is_symbolic" => Harness::IsSymbolic,
            "reach_error" | "__VERIFIER_error" => Harness::ReachError,
            _ if name.starts_with("klee_get_value") => Harness::First,
            _ if name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_") => Harness::Nondet,
            _ if name.starts_with("__ubsan_handle_") => Harness::Sanitizer(undefined_behaviour(name)),
            _ if name.starts_with("__asan_report_") => Harness::Sanitizer(Problem::OutOfBounds),
            "__asan_poison_memory_region" | "__msan_poison" => Harness::Poison,
            _ if name.starts_with("__msan_warning") => Harness::Sanitizer(Problem::Uninitialised),
            // What the program does is checked here anyway.
            _ if RUNTIMES.iter().any(|runtime| name.starts_with(runtime)) => Harness::Nothing,
            _ => return None,
        })
    }
}

/// How names of functions of sanitizers' runtimes begin.
const RUNTIMES: [&str; 7] =
    ["__asan_", "__ubsan_", "__msan_", "__tsan_", "__lsan_", "__hwasan_", "__sanitizer_"];

/// The kind of mistake that a function of UndefinedBehaviorSanitizer's runtime reports.
fn undefined_behaviour(name: &str) -> Problem {
    let name = name.trim_start_matches("__ubsan_handle_").trim_end_matches("_abort");
    let name = name.trim_end_matches("_minimal");
    match name {
        "add_overflow" | "sub_overflow" | "mul_overflow" | "negate_overflow" => Problem::Overflow,
        "float_cast_overflow" => Problem::FloatConversion,
        "implicit_conversion" => Problem::LossyConversion,
        "divrem_overflow" => Problem::DivisionByZero,
        "shift_out_of_bounds" => Problem::BadShift,
        "nonnull_arg" | "nullability_arg" | "nonnull_return_v1" | "nullability_return_v1" => {
            Problem::NullArgument
        }
        "load_invalid_value" => Problem::Uninitialised,
        "type_mismatch_v1" | "type_mismatch" => Problem::NullDereference,
        "out_of_bounds" | "pointer_overflow" | "vla_bound_not_positive" | "alignment_assumption" => {
            Problem::OutOfBounds
        }
        // Code that is said to be unreachable, a missing return, a builtin that must not be given zero, ...
        _ => Problem::Assertion,
    }
}

impl<'m, C: Core, H: Host<C>> Machine<'m, C, H> {
    pub(super) fn harness(
        &mut self,
        state: &mut State<C>,
        at: &'m Instruction,
        harness: Harness,
        name: &str,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let result = match harness {
            Harness::Nothing => match self.module.ty(at.ty).kind {
                TypeKind::Void => return Ok(()),
                _ => self.zero(at.ty)?,
            },
            Harness::MakeSymbolic => {
                let len = self.length(state, passed, 1)?;
                let label = self.label(state, passed, 2, "symbolic")?;
                return self.make_symbolic(state, &passed[0].value, len, &label);
            }
            Harness::Int => {
                let label = self.label(state, passed, 0, "int")?;
                Value::Bits(self.host.input(state, 32, &label))
            }
            Harness::Range | Harness::Choose => {
                let label = self.label(state, passed, 2, "range")?;
                let width = self.module.ty(at.ty).bits().unwrap_or(32);
                let value = self.host.input(state, width, &label);
                let first = self.argument_bits(passed, 0)?;
                let core = self.host.core();
                let within = match harness {
                    Harness::Range => {
                        let above = core.relop(RelOp::Sge, 32, &value, &first);
                        let below = core.relop(RelOp::Slt, 32, &value, &self.argument_bits(passed, 1)?);
                        core.boolop(BoolOp::And, &above, &below)
                    }
                    _ => core.relop(RelOp::Ult, width, &value, &first),
                };
                self.assume(state, &within)?;
                Value::Bits(value)
            }
            Harness::Assume => {
                let condition = self.condition(passed)?;
                return self.assume(state, &condition);
            }
            Harness::Assert => {
                let condition = self.condition(passed)?;
                return self
                    .require(state, &condition, Problem::Assertion, || format!("{name} does not hold"));
            }
            Harness::Requires => {
                let condition = self.condition(passed)?;
                return match self.is_at_entry(state) {
                    true => self.assume(state, &condition),
                    false => self.require(state, &condition, Problem::Assertion, || {
                        "a precondition does not hold".into()
                    }),
                };
            }
            Harness::HasBytes => {
                let wanted = self.argument_bits(passed, 1)?;
                let holds = self.has_bytes(state, &passed[0].value, &wanted)?;
                self.truth_as(at.ty, &holds)
            }
            Harness::IsString => {
                let holds = self.is_string(state, &passed[0].value)?;
                self.truth_as(at.ty, &holds)
            }
            Harness::Apart => {
                let holds = self.in_different_objects(state, passed)?;
                self.truth_as(at.ty, &holds)
            }
            Harness::HavocObject => {
                let pointer = self.pointer(state, &passed.first().ok_or_else(|| missing(name))?.value)?;
                for entry in &pointer.entries {
                    if let Target::Object(id) = entry.target {
                        let capacity = state.memory.object(id).capacity;
                        if capacity > super::FORGOTTEN {
                            return Err(Stop::Unsupported(format!("{name} of {capacity} bytes")));
                        }
                        self.make_symbolic(state, &Value::Pointer(self.start_of(id)), capacity, "havoc")?;
                    }
                }
                return Ok(());
            }
            Harness::FixedObject => {
                let address =
                    self.exposed(state, &passed.first().ok_or_else(|| missing(name))?.value.clone())?;
                let address = self.fix(state, 64, &address)?.to_u64().unwrap_or(0);
                let len = self.length(state, passed, 1)?;
                if len == 0 || len > super::LARGEST || state.memory.at_address(address).is_some() {
                    return Err(Stop::Unsupported(format!("{name}: {len} bytes at {address:#x}")));
                }
                let size = word(&self.host, len);
                let made = self.allocate(state, Kind::Global, size, len, 16, Fill::Undefined, None);
                state.memory.place(made.0, word(&self.host, address));
                return Ok(());
            }
            Harness::CheckAccess => {
                let len = self.length(state, passed, 1)?;
                if len > 0 {
                    self.access(state, &passed[0].value, len, false)?;
                }
                return Ok(());
            }
            Harness::Refused => return Err(Stop::Unsupported(name.to_string())),
            Harness::Sanitizer(problem) => return self.sanitizer(state, problem, name, passed),
            Harness::Poison => {
                self.host.bounded(Bound::StandsIn(format!("{name} forbids nothing")));
                return Ok(());
            }
            Harness::Error => {
                let always = self.host.core().boolean(true);
                self.host.problem(state, Problem::Assertion, &always, format!("{name} is called"));
                return Err(Stop::Dead);
            }
            Harness::ReachError => {
                let always = self.host.core().boolean(true);
                self.host.problem(state, Problem::ReachedError, &always, format!("{name} is called"));
                return Err(Stop::Dead);
            }
            Harness::SilentExit => return Err(Stop::Exit(passed.first().map(|p| p.value.clone()))),
            Harness::Size => {
                let pointer = self.pointer(state, &passed.first().ok_or_else(|| missing(name))?.value)?;
                let mut size = word(&self.host, 0);
                for entry in &pointer.entries {
                    if let Target::Object(id) = entry.target {
                        size = self.host.core().cond(64, &entry.guard, &state.memory.object(id).size, &size);
                    }
                }
                Value::Bits(size)
            }
            Harness::First => passed.first().map(|p| p.value.clone()).ok_or_else(|| missing(name))?,
            Harness::IsSymbolic => {
                let width = passed.first().and_then(|p| self.module.ty(p.ty).bits()).unwrap_or(64);
                let bits = self.argument_bits(passed, 0)?;
                self.small(32, i64::from(self.host.value(width, &bits).is_none()))
            }
            Harness::Nondet => {
                let label = name.trim_start_matches("__VERIFIER_").trim_start_matches("nondet_");
                let value = self.nondet(state, at.ty, label)?;
                if let (Value::Bits(bits), "bool" | "_Bool", Some(width @ 2..)) =
                    (&value, label, self.module.ty(at.ty).bits())
                {
                    let core = self.host.core();
                    let small = core.relop(RelOp::Ule, width, bits, &core.constant(&Bits::one(width)));
                    self.assume(state, &small)?;
                }
                value
            }
        };
        Self::set(state, at.result, result);
        Ok(())
    }

    /// A sanitizer's runtime is told of a mistake. The program goes on where the language says what happens then.
    fn sanitizer(
        &mut self,
        state: &mut State<C>,
        problem: Problem,
        name: &str,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let problem = match (problem, self.checked_type(state, passed)?) {
            (Problem::Overflow, Some((INTEGER, info))) if info & 1 == 0 => Problem::UnsignedOverflow,
            (Problem::DivisionByZero, Some((FLOAT, _))) => Problem::FloatDivision,
            _ => problem,
        };
        // A pointer that is no null is misaligned, or its object is too small.
        let problem = match (problem, passed.get(1)) {
            (Problem::NullDereference, Some(pointer)) if pointer.value.is_scalar() => {
                let null = self.is_null(state, &pointer.value.clone())?;
                if self.host.truth(&null) == Some(false) { Problem::OutOfBounds } else { problem }
            }
            _ => problem,
        };
        let words = match problem {
            Problem::UnsignedOverflow => "unsigned arithmetic wraps around".to_string(),
            Problem::LossyConversion => "a conversion changes the value".to_string(),
            Problem::FloatDivision => "a floating-point number is divided by zero".to_string(),
            Problem::FloatConversion => "a floating-point number does not fit the integer type".to_string(),
            _ => format!("{name} is called"),
        };
        let always = self.host.core().boolean(true);
        self.host.problem(state, problem, &always, words);
        if problem.is_defined() && !name.ends_with("_abort") { Ok(()) } else { Err(Stop::Dead) }
    }

    /// Kind and details of the type that a record of UndefinedBehaviorSanitizer describes, where there is one: after
    /// the place in the source comes the address of the description.
    fn checked_type(&mut self, state: &mut State<C>, passed: &[Passed<C>]) -> Result<Option<(u64, u64)>, C> {
        const PLACE: u64 = 16;
        let Some(Value::Pointer(record)) = passed.first().map(|p| &p.value) else { return Ok(None) };
        let Some(Target::Object(id)) = record.only().map(|entry| entry.target) else { return Ok(None) };
        if state.memory.object(id).capacity < PLACE + 8 {
            return Ok(None);
        }
        let description = self.read_content(state, id, PLACE, 8)?;
        let Value::Pointer(description) = description else { return Ok(None) };
        let Some(Target::Object(id)) = description.only().map(|entry| entry.target) else { return Ok(None) };
        let Some(bytes) = state.memory.object(id).content.constant(0, 4) else { return Ok(None) };
        let half = |at: usize| u64::from(bytes[at]) | u64::from(bytes[at + 1]) << 8;
        Ok(Some((half(0), half(2))))
    }

    /// Any value of a type; what is wide comes in parts (`__int128`, structures).
    fn nondet(&mut self, state: &mut State<C>, ty: TypeId, label: &str) -> Result<Value<C>, C> {
        let module = self.module;
        let layout = module.ty(ty);
        let parts: Vec<TypeId> = match &layout.kind {
            TypeKind::Struct(fields) => fields.iter().map(|(field, _)| *field).collect(),
            TypeKind::Array { element, len } => vec![*element; *len as usize],
            TypeKind::Vector { element, len } => vec![*element; *len as usize],
            TypeKind::Void => return Ok(Value::many(Vec::new())),
            _ => match layout.bits() {
                Some(width) => return Ok(Value::Bits(self.host.input(state, width, label))),
                None => return Err(Stop::Unsupported(format!("an unknown {label}"))),
            },
        };
        let parts = parts.into_iter().map(|part| self.nondet(state, part, label));
        Ok(Value::many(parts.collect::<Result<_, C>>()?))
    }

    fn condition(&mut self, passed: &[Passed<C>]) -> Result<C::Bool, C> {
        let bits = self.argument_bits(passed, 0)?;
        let width = self.module.ty(passed[0].ty).bits().unwrap_or(32);
        Ok(self.host.core().val_to_bool(width, &bits))
    }

    fn label(
        &mut self,
        state: &mut State<C>,
        passed: &[Passed<C>],
        index: usize,
        otherwise: &str,
    ) -> Result<String, C> {
        match passed.get(index) {
            Some(text) => {
                let text = self.constant_string(state, &text.value.clone())?;
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            None => Ok(otherwise.to_string()),
        }
    }

    /// Makes bytes an input, word by word where they can be.
    pub fn make_symbolic(
        &mut self,
        state: &mut State<C>,
        pointer: &Value<C>,
        len: u64,
        label: &str,
    ) -> Result<(), C> {
        if len == 0 {
            return Ok(());
        }
        let hits = self.access(state, pointer, len, true)?;
        if matches!(len, 1 | 2 | 4 | 8) {
            let value = self.host.input(state, (len * 8) as u16, label);
            return self.write_hits(state, &hits, 0, len, &Value::Bits(value));
        }
        for index in 0..len {
            let value = self.host.input(state, 8, &format!("{label}[{index}]"));
            self.write_hits(state, &hits, index, 1, &Value::Bits(value))?;
        }
        Ok(())
    }
}

/// Kinds of types in the records of UndefinedBehaviorSanitizer.
const INTEGER: u64 = 0;
const FLOAT: u64 = 1;

/// A harness function was called without the argument it is about.
fn missing<C: Core>(name: &str) -> Stop<C> {
    Stop::Unsupported(format!("{name} without its argument"))
}
