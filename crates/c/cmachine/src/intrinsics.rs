//! LLVM's own functions: block moves, overflow, bit counting, floating point, variadic lists.

use super::arithmetic::NEAREST;
use super::call::Passed;
use super::host::{Host, Problem};
use super::memory::Kind;
use super::pointers::bits_of;
use super::value::{Entry, Target, Value};
use super::{Machine, Result, State, Stop};
use parallax_cmodule::{Binary, Instruction, TypeId, TypeKind};
use parallax_op::{BinOp, Bits, BoolOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp};
use parallax_path::Bound;
use parallax_sem::Core;

impl<'m, C: Core, H: Host<C>> Machine<'m, C, H> {
    pub(super) fn intrinsic(
        &mut self,
        state: &mut State<C>,
        at: &'m Instruction,
        name: &str,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let ty = at.ty;
        let value = |index: usize| passed[index].value.clone();
        let base = name.split('.').next().unwrap_or(name);
        let result = match base {
            "memcpy" | "memmove" => {
                let len = self.move_length(passed)?;
                return self.copy_range(state, &value(0), &value(1), &len, base == "memcpy");
            }
            "memset" => {
                let len = self.move_length(passed)?;
                let byte = bits_of(&value(1))?;
                return self.fill_range(state, &value(0), &byte, &len);
            }
            "va_start" => return self.variadic_list(state, &value(0)),
            "lifetime" => return self.lifetime(state, name.starts_with("lifetime.start"), &value(1)),
            "va_end" | "dbg" | "donothing" | "prefetch" | "assume" | "experimental" | "invariant"
            | "stackrestore" | "var" => return Ok(()),
            "stacksave" => Value::Pointer(super::pointers::null(&self.host)),
            "va_copy" => return self.copy(state, &value(0), &value(1), 24),
            "expect" | "launder" | "strip" | "ssa" | "annotation" | "ptr" | "threadlocal" => value(0),
            "ptrmask" => {
                let and = Binary { op: BinOp::And, no_signed_wrap: false };
                self.binary(state, and, ty, &value(0), &value(1))?
            }
            "objectsize" => Value::Bits(self.constant_of(ty, Bits::ones(64))),
            "is" if name.starts_with("is.fpclass") => {
                let classes = self.length(state, passed, 1)?;
                let of = passed[0].ty;
                let of = match self.module.ty(of).kind {
                    TypeKind::Vector { element, .. } => element,
                    _ => of,
                };
                let format = self.float_format(of)?;
                self.lanes(ty, &[&value(0)], &mut |machine, _, values| {
                    let bits = bits_of(values[0])?;
                    Ok(machine.flag(&machine.is_class(format, &bits, classes)))
                })?
            }
            "is" => self.flag(&self.host.core().boolean(false)),
            "trap" | "ubsantrap" => {
                let always = self.host.core().boolean(true);
                self.host.problem(state, super::Problem::Assertion, &always, "the program traps".into());
                return Err(Stop::Dead);
            }
            "sadd" | "uadd" | "ssub" | "usub" | "smul" | "umul" if name.contains("with.overflow") => {
                self.with_overflow(base, passed)?
            }
            "sadd" | "uadd" | "ssub" | "usub" => self.saturating(base, ty, &value(0), &value(1))?,
            "smax" | "smin" | "umax" | "umin" => {
                let relation = match base {
                    "smax" => RelOp::Sgt,
                    "smin" => RelOp::Slt,
                    "umax" => RelOp::Ugt,
                    _ => RelOp::Ult,
                };
                self.lanes(ty, &[&value(0), &value(1)], &mut |machine, ty, values| {
                    let width = machine.module.ty(ty).bits().unwrap_or(64);
                    let first = machine.compare(state, relation, width, values[0], values[1])?;
                    machine.joined(state, &first, values[0], values[1], width)
                })?
            }
            "abs" => {
                let mut fits = self.host.core().boolean(true);
                let result = self.lanes(ty, &[&value(0)], &mut |machine, ty, values| {
                    let width = machine.module.ty(ty).bits().unwrap_or(64);
                    let core = machine.host.core();
                    let bits = bits_of(values[0])?;
                    let zero = core.constant(&Bits::zero(width));
                    let lane = machine.no_signed_overflow(BinOp::Sub, width, &zero, &bits);
                    fits = core.boolop(BoolOp::And, &fits, &lane);
                    let negative = core.relop(RelOp::Slt, width, &bits, &zero);
                    Ok(Value::Bits(core.cond(width, &negative, &core.unop(UnOp::Neg, width, &bits), &bits)))
                })?;
                // The second operand says whether the lowest number is a mistake.
                let undefined = passed.get(1).is_some_and(|flag| {
                    matches!(&flag.value, Value::Bits(bits) if self.host.value(1, bits).is_some_and(|bit| bit == Bits::one(1)))
                });
                if undefined && self.host.checks().overflow {
                    self.require(state, &fits, Problem::Overflow, || {
                        "the signed result does not fit".into()
                    })?;
                }
                result
            }
            "ctpop" | "ctlz" | "cttz" => {
                let op = match base {
                    "ctpop" => UnOp::Popcount,
                    "ctlz" => UnOp::Clz,
                    _ => UnOp::Ctz,
                };
                self.lanes(ty, &[&value(0)], &mut |machine, ty, values| {
                    let width = machine.module.ty(ty).bits().unwrap_or(64);
                    Ok(Value::Bits(machine.host.core().unop(op, width, &bits_of(values[0])?)))
                })?
            }
            "bswap" => self.lanes(ty, &[&value(0)], &mut |machine, ty, values| {
                let width = machine.module.ty(ty).bits().unwrap_or(64);
                Ok(Value::Bits(machine.reversed(width, 8, &bits_of(values[0])?)))
            })?,
            "bitreverse" => self.lanes(ty, &[&value(0)], &mut |machine, ty, values| {
                let width = machine.module.ty(ty).bits().unwrap_or(64);
                Ok(Value::Bits(machine.reversed(width, 1, &bits_of(values[0])?)))
            })?,
            "fshl" | "fshr" => {
                let left = base == "fshl";
                self.lanes(ty, &[&value(0), &value(1), &value(2)], &mut |machine, ty, values| {
                    let width = machine.module.ty(ty).bits().unwrap_or(64);
                    let part = |index: usize| bits_of(values[index]);
                    Ok(Value::Bits(machine.funnel(left, width, &part(0)?, &part(1)?, &part(2)?)))
                })?
            }
            "vector" if name.starts_with("vector.reduce.") => self.reduce(state, name, ty, passed)?,
            "fabs" | "sqrt" | "floor" | "ceil" | "trunc" | "rint" | "nearbyint" | "round" | "roundeven"
            | "copysign" | "fma" | "fmuladd" | "minnum" | "maxnum" => {
                let operands: Vec<Value<C>> = passed.iter().map(|p| p.value.clone()).collect();
                let operands: Vec<&Value<C>> = operands.iter().collect();
                let base = base.to_string();
                self.lanes(ty, &operands, &mut |machine, ty, values| {
                    machine.float_function(&base, ty, values)
                })?
            }
            "pow" | "powi" | "sin" | "cos" | "exp" | "exp2" | "log" | "log2" | "log10" | "ldexp" | "tan" => {
                let base = base.to_string();
                return self.mathematics(state, at, &base, passed);
            }
            _ => return Err(Stop::Unsupported(format!("the intrinsic llvm.{name}"))),
        };
        Self::set(state, at.result, result);
        Ok(())
    }

    /// A local of a block begins or ends: between the two it exists, and each time anew.
    fn lifetime(&mut self, state: &mut State<C>, starts: bool, local: &Value<C>) -> Result<(), C> {
        let pointer = self.pointer(state, local)?;
        if let Some(Entry::<C> { target: Target::Object(id), .. }) = pointer.only()
            && matches!(state.memory.object(*id).kind, Kind::Stack(_))
        {
            state.memory.drop_content(*id);
            state.memory.object_mut(*id).alive = self.host.core().boolean(starts);
        }
        Ok(())
    }

    pub(super) fn length(
        &mut self,
        state: &mut State<C>,
        passed: &[Passed<C>],
        index: usize,
    ) -> Result<u64, C> {
        let len = self.argument_bits(passed, index)?;
        let width = self.module.ty(passed[index].ty).bits().unwrap_or(64);
        Ok(self.fix(state, width, &len)?.to_u64().unwrap_or(u64::MAX))
    }

    fn constant_of(&self, ty: TypeId, bits: Bits) -> C::Val {
        let width = self.module.ty(ty).bits().unwrap_or(64);
        let bits = if width < bits.width() { bits.extract(0, width) } else { bits.zext(width) };
        self.host.core().constant(&bits)
    }

    fn with_overflow(&mut self, base: &str, passed: &[Passed<C>]) -> Result<Value<C>, C> {
        let width = self.module.ty(passed[0].ty).bits().unwrap_or(64);
        let (a, b) = (self.argument_bits(passed, 0)?, self.argument_bits(passed, 1)?);
        let core = self.host.core();
        let op = match &base[1..] {
            "add" => BinOp::Add,
            "sub" => BinOp::Sub,
            _ => BinOp::Mul,
        };
        let result = core.binop(op, width, &a, &b);
        let fine = if base.starts_with('s') {
            self.no_signed_overflow(op, width, &a, &b)
        } else {
            let known = |value: &C::Val| self.host.value(width, value);
            let factor =
                known(&b).map(|factor| (factor, &a)).or_else(|| known(&a).map(|factor| (factor, &b)));
            match (op, factor) {
                (BinOp::Add, _) => core.relop(RelOp::Uge, width, &result, &a),
                (BinOp::Sub, _) => core.relop(RelOp::Uge, width, &a, &b),
                (_, Some((factor, _))) if factor.is_zero() => core.boolean(true),
                (_, Some((factor, number))) => {
                    let most = BinOp::Udiv.apply(&Bits::ones(width), &factor);
                    core.relop(RelOp::Ule, width, number, &core.constant(&most))
                }
                (_, None) => {
                    let wide = width * 2;
                    let exact =
                        core.binop(op, wide, &core.zext(width, wide, &a), &core.zext(width, wide, &b));
                    core.relop(RelOp::Eq, wide, &exact, &core.zext(width, wide, &result))
                }
            }
        };
        let overflow = core.not(&fine);
        Ok(Value::many(vec![Value::Bits(result), self.flag(&overflow)]))
    }

    fn saturating(&mut self, base: &str, ty: TypeId, a: &Value<C>, b: &Value<C>) -> Result<Value<C>, C> {
        let base = base.to_string();
        self.lanes(ty, &[a, b], &mut |machine, ty, values| {
            let width = machine.module.ty(ty).bits().unwrap_or(64);
            let core = machine.host.core();
            let (a, b) = (bits_of(values[0])?, bits_of(values[1])?);
            let op = if base.ends_with("add") { BinOp::Add } else { BinOp::Sub };
            let result = core.binop(op, width, &a, &b);
            let zero = core.constant(&Bits::zero(width));
            let (fine, limit) = match base.as_str() {
                "uadd" => (core.relop(RelOp::Uge, width, &result, &a), core.constant(&Bits::ones(width))),
                "usub" => (core.relop(RelOp::Uge, width, &a, &b), zero),
                _ => {
                    let lowest = core.constant(&Bits::new(width, 1u128 << (width - 1)));
                    let highest = core.unop(UnOp::Not, width, &lowest);
                    let negative = core.relop(RelOp::Slt, width, &a, &zero);
                    (
                        machine.no_signed_overflow(op, width, &a, &b),
                        core.cond(width, &negative, &lowest, &highest),
                    )
                }
            };
            Ok(Value::Bits(core.cond(width, &fine, &result, &limit)))
        })
    }

    /// Pieces of `unit` bits in the opposite order.
    fn reversed(&self, width: u16, unit: u16, bits: &C::Val) -> C::Val {
        let core = self.host.core();
        let mut result = core.extract(width, 0, unit, bits);
        for index in 1..width / unit {
            let next = core.extract(width, index * unit, unit, bits);
            result = core.concat(index * unit, unit, &result, &next);
        }
        result
    }

    fn funnel(&self, left: bool, width: u16, high: &C::Val, low: &C::Val, by: &C::Val) -> C::Val {
        let core = self.host.core();
        let both = core.concat(width, width, high, low);
        let by = core.binop(BinOp::Urem, width, by, &core.constant(&Bits::new(width, width.into())));
        let by = core.zext(width, 2 * width, &by);
        if left {
            let moved = core.binop(BinOp::Shl, 2 * width, &both, &by);
            core.extract(2 * width, width, width, &moved)
        } else {
            let moved = core.binop(BinOp::Lshr, 2 * width, &both, &by);
            core.extract(2 * width, 0, width, &moved)
        }
    }

    fn reduce(
        &mut self,
        state: &mut State<C>,
        name: &str,
        ty: TypeId,
        passed: &[Passed<C>],
    ) -> Result<Value<C>, C> {
        let Some(Value::Many(lanes)) = passed.last().map(|p| p.value.clone()) else {
            return Err(Stop::Unsupported(format!("the intrinsic llvm.{name}")));
        };
        let width = self.module.ty(ty).bits().unwrap_or(64);
        let kind = name.split('.').nth(2).unwrap_or("");
        let mut result = lanes[0].clone();
        if matches!(kind, "fadd" | "fmul") {
            // The first argument is where the sum starts; the order is the written one.
            result = passed[0].value.clone();
        }
        let from = usize::from(!matches!(kind, "fadd" | "fmul"));
        for lane in &lanes[from..] {
            result = match kind {
                "add" | "mul" | "and" | "or" | "xor" => {
                    let op = match kind {
                        "add" => BinOp::Add,
                        "mul" => BinOp::Mul,
                        "and" => BinOp::And,
                        "or" => BinOp::Or,
                        _ => BinOp::Xor,
                    };
                    self.binary(state, Binary { op, no_signed_wrap: false }, ty, &result, lane)?
                }
                "smax" | "smin" | "umax" | "umin" => {
                    let relation = match kind {
                        "smax" => RelOp::Sgt,
                        "smin" => RelOp::Slt,
                        "umax" => RelOp::Ugt,
                        _ => RelOp::Ult,
                    };
                    let first = self.compare(state, relation, width, &result, lane)?;
                    self.joined(state, &first, &result, lane, width)?
                }
                "fadd" | "fmul" => {
                    let format = self.float_format(ty)?;
                    let op = if kind == "fadd" {
                        parallax_cmodule::FloatBinary::Add
                    } else {
                        parallax_cmodule::FloatBinary::Mul
                    };
                    let (a, b) = (bits_of(&result)?, bits_of(lane)?);
                    Value::Bits(self.float_binary(op, format, &a, &b)?)
                }
                _ => return Err(Stop::Unsupported(format!("the intrinsic llvm.{name}"))),
            };
        }
        Ok(result)
    }

    /// Whether a float is in one of the classes of `llvm.is.fpclass`, told from its bits.
    fn is_class(&self, format: FloatFormat, bits: &C::Val, classes: u64) -> C::Bool {
        let core = self.host.core();
        let width = format.width();
        let fraction_width = match format {
            FloatFormat::F16 => 10,
            FloatFormat::F32 => 23,
            FloatFormat::F64 => 52,
            FloatFormat::X87 => 63,
            FloatFormat::F128 => 112,
        };
        let exponent_low = if format == FloatFormat::X87 { 64 } else { fraction_width };
        let exponent_width = width - 1 - exponent_low;
        let fraction = core.extract(width, 0, fraction_width, bits);
        let exponent = core.extract(width, exponent_low, exponent_width, bits);
        let is = |w: u16, v: &C::Val, c: Bits| core.relop(RelOp::Eq, w, v, &core.constant(&c));
        let and = |a: &C::Bool, b: &C::Bool| core.boolop(BoolOp::And, a, b);
        let not = |a: &C::Bool| core.not(a);
        let negative = is(1, &core.extract(width, width - 1, 1, bits), Bits::one(1));
        let empty = is(fraction_width, &fraction, Bits::zero(fraction_width));
        let low = is(exponent_width, &exponent, Bits::zero(exponent_width));
        let high = is(exponent_width, &exponent, Bits::ones(exponent_width));
        let quiet = is(1, &core.extract(fraction_width, fraction_width - 1, 1, &fraction), Bits::one(1));
        let nan = and(&high, &not(&empty));
        let normal = and(&not(&high), &not(&low));
        let kinds = [
            (0x001, and(&nan, &not(&quiet))),
            (0x002, and(&nan, &quiet)),
            (0x004, and(&negative, &and(&high, &empty))),
            (0x008, and(&negative, &normal)),
            (0x010, and(&negative, &and(&low, &not(&empty)))),
            (0x020, and(&negative, &and(&low, &empty))),
            (0x040, and(&not(&negative), &and(&low, &empty))),
            (0x080, and(&not(&negative), &and(&low, &not(&empty)))),
            (0x100, and(&not(&negative), &normal)),
            (0x200, and(&not(&negative), &and(&high, &empty))),
        ];
        kinds
            .iter()
            .filter(|(mask, _)| classes & mask != 0)
            .fold(core.boolean(false), |sum, (_, holds)| core.boolop(BoolOp::Or, &sum, holds))
    }

    /// Functions of floats that the core or plain bits can say.
    pub(super) fn float_function(
        &mut self,
        name: &str,
        ty: TypeId,
        values: &[&Value<C>],
    ) -> Result<Value<C>, C> {
        let format = self.float_format(ty)?;
        let width = format.width();
        let core = self.host.core();
        let a = bits_of(values[0])?;
        let sign = Bits::new(width, 1u128 << (width - 1));
        let magnitude = core.constant(&Bits::new(width, (1u128 << (width - 1)) - 1));
        let second = |index: usize| bits_of(values[index]);
        let result = match name {
            "fabs" => core.binop(BinOp::And, width, &a, &magnitude),
            "sqrt" => core.float_un(FloatUnOp::Sqrt, format, NEAREST, &a),
            "floor" | "ceil" | "trunc" | "rint" | "nearbyint" | "roundeven" | "round" => {
                let rounding = match name {
                    "floor" => Rounding::Down,
                    "ceil" => Rounding::Up,
                    "trunc" => Rounding::Zero,
                    "round" => Rounding::NearestAway,
                    _ => NEAREST,
                };
                core.float_un(FloatUnOp::Round, format, rounding, &a)
            }
            "copysign" => {
                let size = core.binop(BinOp::And, width, &a, &magnitude);
                let sign = core.binop(BinOp::And, width, &second(1)?, &core.constant(&sign));
                core.binop(BinOp::Or, width, &size, &sign)
            }
            "fma" => core.float_fma(format, NEAREST, &a, &second(1)?, &second(2)?),
            "fmuladd" => {
                // May be fused; native code for this target is not.
                let product = core.float_bin(parallax_op::FloatBinOp::Mul, format, NEAREST, &a, &second(1)?);
                core.float_bin(parallax_op::FloatBinOp::Add, format, NEAREST, &product, &second(2)?)
            }
            "minnum" | "maxnum" => {
                let b = second(1)?;
                let less = core.float_rel(FloatRelOp::Lt, format, &a, &b);
                let b_is_number = core.float_rel(FloatRelOp::Eq, format, &b, &b);
                let a_is_number = core.float_rel(FloatRelOp::Eq, format, &a, &a);
                let first =
                    if name == "minnum" { less } else { core.float_rel(FloatRelOp::Lt, format, &b, &a) };
                let take_a = core.boolop(BoolOp::Or, &first, &core.not(&b_is_number));
                let take_a = core.boolop(BoolOp::And, &take_a, &a_is_number);
                core.cond(width, &take_a, &a, &b)
            }
            _ => return Err(Stop::Unsupported(format!("the function {name}"))),
        };
        Ok(Value::Bits(result))
    }

    /// Functions of real numbers that only the machine's own library knows: computed on constants, unknown otherwise.
    pub(super) fn mathematics(
        &mut self,
        state: &mut State<C>,
        at: &Instruction,
        name: &str,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        if matches!(name, "ldexp" | "ldexpf" | "ldexpl") {
            return self.scale_by_two(state, at, name, passed);
        }
        let single = matches!(self.module.ty(at.ty).kind, TypeKind::Float(FloatFormat::F32));
        let mut numbers = Vec::new();
        for argument in passed {
            let width = self.module.ty(argument.ty).bits().unwrap_or(64);
            let bits = bits_of(&argument.value)?;
            numbers.push(match (self.host.value(width, &bits), &self.module.ty(argument.ty).kind) {
                (Some(bits), TypeKind::Float(FloatFormat::F64)) => {
                    Some(f64::from_bits(bits.to_u64().unwrap_or(0)))
                }
                (Some(bits), TypeKind::Float(FloatFormat::F32)) => {
                    Some(f64::from(f32::from_bits(bits.to_u64().unwrap_or(0) as u32)))
                }
                (Some(bits), TypeKind::Int(_)) => bits.to_i128().map(|n| n as f64),
                _ => None,
            });
        }
        let get = |index: usize| numbers.get(index).copied().flatten();
        let result = match (get(0), get(1)) {
            (Some(x), y) => real_function(name, x, y, single),
            _ => None,
        };
        let width = self.module.ty(at.ty).bits().unwrap_or(64);
        let bits = match result {
            Some(number) if single => {
                self.host.core().constant(&Bits::new(32, u128::from((number as f32).to_bits())))
            }
            Some(number) => self.host.core().constant(&Bits::new(64, number.to_bits().into())),
            None => {
                let words = format!("the result of {name} on values that are not constant is unknown");
                self.host.bounded(Bound::StandsIn(words));
                self.host.unknown(state, width, name).map_err(Stop::Unsupported)?
            }
        };
        Self::set(state, at.result, Value::Bits(bits));
        Ok(())
    }

    /// `ldexp`: a number times a power of two.
    fn scale_by_two(
        &mut self,
        state: &mut State<C>,
        at: &Instruction,
        name: &str,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let (format, (x, by)) =
            (self.float_format(at.ty)?, (self.argument_bits(passed, 0)?, self.argument_bits(passed, 1)?));
        let known = (self.host.value(format.width(), &x), self.host.value(32, &by).and_then(|n| n.to_i128()));
        let bits = match known {
            (Some(x), Some(by)) => {
                self.host.core().constant(&crate::float_text::scaled(format, &x, by as i32))
            }
            _ => {
                let words = format!("the result of {name} on values that are not constant is unknown");
                self.host.bounded(Bound::StandsIn(words));
                self.host.unknown(state, format.width(), name).map_err(Stop::Unsupported)?
            }
        };
        Self::set(state, at.result, Value::Bits(bits));
        Ok(())
    }
}

fn real_function(name: &str, x: f64, y: Option<f64>, single: bool) -> Option<f64> {
    if single {
        let (x, y) = (x as f32, y.map(|y| y as f32));
        let result = match name.strip_suffix('f').unwrap_or(name) {
            "sin" => x.sin(),
            "cos" => x.cos(),
            "tan" => x.tan(),
            "exp" => x.exp(),
            "exp2" => x.exp2(),
            "log" => x.ln(),
            "log2" => x.log2(),
            "log10" => x.log10(),
            "atan" => x.atan(),
            "asin" => x.asin(),
            "acos" => x.acos(),
            "sinh" => x.sinh(),
            "cosh" => x.cosh(),
            "tanh" => x.tanh(),
            "cbrt" => x.cbrt(),
            "pow" => x.powf(y?),
            "powi" => x.powi(y? as i32),
            "atan2" => x.atan2(y?),
            "hypot" => x.hypot(y?),
            "fmod" => x % y?,
            _ => return None,
        };
        return Some(f64::from(result));
    }
    Some(match name {
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "expm1" => x.exp_m1(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "atan" => x.atan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "cbrt" => x.cbrt(),
        "pow" => x.powf(y?),
        "powi" => x.powi(y? as i32),
        "atan2" => x.atan2(y?),
        "hypot" => x.hypot(y?),
        "fmod" => x % y?,
        _ => return None,
    })
}
