//! Operations on values that touch no memory.

use super::host::Host;
use super::pointers::{self, bits_of, word};
use super::value::Value;
use super::{Machine, Result, State, Stop};
use parallax_cmodule::{Binary, Cast, FloatBinary, FloatCompare, TypeId, TypeKind};
use parallax_op::{BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, RelOp, Rounding};
use parallax_sem::Core;

/// LLVM computes to the nearest, always.
pub(super) const NEAREST: Rounding = Rounding::NearestEven;

/// What is done to the elements of vectors, given the type of an element.
type Lane<'a, M, C> = dyn FnMut(&mut M, TypeId, &[&Value<C>]) -> Result<Value<C>, C> + 'a;

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// Applies a scalar operation to each element, where the type is a vector.
    pub(super) fn lanes(
        &mut self,
        ty: TypeId,
        values: &[&Value<C>],
        scalar: &mut Lane<'_, Self, C>,
    ) -> Result<Value<C>, C> {
        let TypeKind::Vector { element, len } = self.module.ty(ty).kind else {
            return scalar(self, ty, values);
        };
        let mut results = Vec::with_capacity(len as usize);
        for lane in 0..len as usize {
            let mut operands = Vec::with_capacity(values.len());
            for value in values {
                operands.push(match value {
                    Value::Many(lanes) => &lanes[lane],
                    other => *other,
                });
            }
            results.push(scalar(self, element, &operands)?);
        }
        Ok(Value::many(results))
    }

    /// Integer arithmetic.
    pub(super) fn binary(
        &mut self,
        state: &mut State<C>,
        op: Binary,
        ty: TypeId,
        a: &Value<C>,
        b: &Value<C>,
    ) -> Result<Value<C>, C> {
        self.lanes(ty, &[a, b], &mut |machine, ty, values| {
            let width = machine.module.ty(ty).bits().unwrap_or(64);
            machine.binary_scalar(state, op.op, width, values[0], values[1])
        })
    }

    /// Condition under which a signed operation does not overflow.
    pub(super) fn no_signed_overflow(&self, op: BinOp, width: u16, a: &C::Val, b: &C::Val) -> C::Bool {
        let core = self.host.core();
        let wide = match op {
            BinOp::Mul => (width * 2).min(parallax_op::MAX_WIDTH),
            BinOp::Add | BinOp::Sub => width + 1,
            BinOp::Shl => {
                // No bit is lost: shifting back gives the operand.
                let there = core.binop(BinOp::Shl, width, a, b);
                let back = core.binop(BinOp::Ashr, width, &there, b);
                return core.relop(RelOp::Eq, width, &back, a);
            }
            BinOp::Sdiv | BinOp::Srem => {
                let lowest = core.constant(&Bits::new(width, 1u128 << (width - 1)));
                let minus_one = core.constant(&Bits::ones(width));
                let lowest = core.relop(RelOp::Ne, width, a, &lowest);
                let by = core.relop(RelOp::Ne, width, b, &minus_one);
                return core.boolop(BoolOp::Or, &lowest, &by);
            }
            _ => return core.boolean(true),
        };
        let known = |value: &C::Val| self.host.value(width, value);
        if op == BinOp::Mul
            && width > 1
            && let Some((factor, other)) =
                known(b).map(|factor| (factor, a)).or_else(|| known(a).map(|factor| (factor, b)))
        {
            return self.fits_times(width, other, &factor);
        }
        let exact = core.binop(op, wide, &core.sext(width, wide, a), &core.sext(width, wide, b));
        let narrow = core.sext(width, wide, &core.extract(wide, 0, width, &exact));
        core.relop(RelOp::Eq, wide, &exact, &narrow)
    }

    /// When a signed number times a constant fits: a comparison with what is the most, or the least, divided by it.
    fn fits_times(&self, width: u16, number: &C::Val, factor: &Bits) -> C::Bool {
        let core = self.host.core();
        if factor.is_zero() {
            return core.boolean(true);
        }
        let lowest = Bits::one(1).concat(&Bits::zero(width - 1));
        let highest = Bits::zero(1).concat(&Bits::ones(width - 1));
        let by = |limit: &Bits| core.constant(&BinOp::Sdiv.apply(limit, factor));
        if *factor == Bits::ones(width) {
            return core.relop(RelOp::Ne, width, number, &core.constant(&lowest));
        }
        let (least, most) = match factor.sign() {
            true => (by(&highest), by(&lowest)),
            false => (by(&lowest), by(&highest)),
        };
        core.boolop(
            BoolOp::And,
            &core.relop(RelOp::Sge, width, number, &least),
            &core.relop(RelOp::Sle, width, number, &most),
        )
    }

    /// Floating-point arithmetic on scalars.
    pub(super) fn float_binary(
        &mut self,
        op: FloatBinary,
        format: FloatFormat,
        a: &C::Val,
        b: &C::Val,
    ) -> Result<C::Val, C> {
        let core = self.host.core();
        let op = match op {
            FloatBinary::Add => FloatBinOp::Add,
            FloatBinary::Sub => FloatBinOp::Sub,
            FloatBinary::Mul => FloatBinOp::Mul,
            FloatBinary::Div => FloatBinOp::Div,
            FloatBinary::Rem => {
                // LLVM's remainder truncates, as `fmod` does; the core's rounds to nearest.
                let (a, b) = (self.host.value(format.width(), a), self.host.value(format.width(), b));
                let (Some(a), Some(b), FloatFormat::F64) = (a, b, format) else {
                    return Err(Stop::Unsupported("a floating-point remainder that is not constant".into()));
                };
                let number = |bits: Bits| f64::from_bits(bits.to_u64().unwrap_or(0));
                let rest = number(a) % number(b);
                return Ok(self.host.core().constant(&Bits::new(64, rest.to_bits().into())));
            }
        };
        Ok(core.float_bin(op, format, NEAREST, a, b))
    }

    /// Floating-point comparison of scalars.
    pub(super) fn float_compare(
        &self,
        op: FloatCompare,
        format: FloatFormat,
        a: &C::Val,
        b: &C::Val,
    ) -> C::Bool {
        let core = self.host.core();
        let any = |wanted: &[(bool, C::Bool)]| {
            wanted
                .iter()
                .filter(|(wanted, _)| *wanted)
                .fold(core.boolean(false), |sum, (_, holds)| core.boolop(BoolOp::Or, &sum, holds))
        };
        let less = core.float_rel(FloatRelOp::Lt, format, a, b);
        let greater = core.float_rel(FloatRelOp::Lt, format, b, a);
        let equal = core.float_rel(FloatRelOp::Eq, format, a, b);
        let ordered = any(&[(true, less.clone()), (true, greater.clone()), (true, equal.clone())]);
        any(&[(op.less, less), (op.greater, greater), (op.equal, equal), (op.unordered, core.not(&ordered))])
    }

    /// The bits with the sign changed.
    pub(super) fn float_negate(&self, format: FloatFormat, a: &C::Val) -> C::Val {
        let width = format.width();
        let sign = Bits::new(width, 1u128 << (width - 1));
        self.host.core().binop(BinOp::Xor, width, a, &self.host.core().constant(&sign))
    }

    /// Conversion; vectors element by element, except bit casts.
    pub(super) fn cast(
        &mut self,
        state: &mut State<C>,
        op: Cast,
        from: TypeId,
        to: TypeId,
        a: &Value<C>,
    ) -> Result<Value<C>, C> {
        if op == Cast::Bitcast {
            return self.bit_cast(state, from, to, a);
        }
        if let (TypeKind::Vector { element: from, len }, TypeKind::Vector { element: to, .. }) =
            (&self.module.ty(from).kind, &self.module.ty(to).kind)
        {
            let Value::Many(lanes) = a else { return Err(Stop::Unsupported("a vector cast".into())) };
            let (from, to, len) = (*from, *to, *len as usize);
            let values = lanes
                .iter()
                .take(len)
                .map(|lane| self.cast(state, op, from, to, lane))
                .collect::<Result<Vec<_>, C>>()?;
            return Ok(Value::many(values));
        }
        let module = self.module;
        let (from_kind, to_kind) = (&module.ty(from).kind, &module.ty(to).kind);
        let (wide, narrow) =
            (self.module.ty(from).bits().unwrap_or(64), self.module.ty(to).bits().unwrap_or(64));
        match op {
            Cast::PtrToInt | Cast::IntToPtr if wide == narrow => return Ok(a.clone()),
            _ => {}
        }
        let bits = self.exposed(state, a)?;
        let core = self.host.core();
        let result = match (op, from_kind, to_kind) {
            (Cast::Trunc, ..) => core.extract(wide, 0, narrow, &bits),
            (Cast::ZExt, ..) => core.zext(wide, narrow, &bits),
            (Cast::SExt, ..) => core.sext(wide, narrow, &bits),
            (Cast::PtrToInt | Cast::IntToPtr, ..) if wide < narrow => core.zext(wide, narrow, &bits),
            (Cast::PtrToInt | Cast::IntToPtr, ..) => core.extract(wide, 0, narrow, &bits),
            (Cast::FpTrunc | Cast::FpExt, TypeKind::Float(f), TypeKind::Float(g)) => {
                core.float_to_float(*f, *g, NEAREST, &bits)
            }
            (Cast::FpToSi, TypeKind::Float(f), _) => {
                core.float_to_int(true, *f, narrow, Rounding::Zero, &bits)
            }
            (Cast::FpToUi, TypeKind::Float(f), _) => {
                core.float_to_int(false, *f, narrow, Rounding::Zero, &bits)
            }
            (Cast::SiToFp, _, TypeKind::Float(g)) => core.int_to_float(true, wide, *g, NEAREST, &bits),
            (Cast::UiToFp, _, TypeKind::Float(g)) => core.int_to_float(false, wide, *g, NEAREST, &bits),
            _ => return Err(Stop::Unsupported(format!("the conversion {op:?}"))),
        };
        Ok(Value::Bits(result))
    }

    fn bit_cast(
        &mut self,
        state: &mut State<C>,
        from: TypeId,
        to: TypeId,
        a: &Value<C>,
    ) -> Result<Value<C>, C> {
        let bits = match a {
            Value::Many(lanes) => {
                let TypeKind::Vector { element, .. } = self.module.ty(from).kind else {
                    return Err(Stop::Unsupported("a bit cast of an aggregate".into()));
                };
                let width = self.module.ty(element).bits().unwrap_or(8);
                self.packed(state, lanes, width)?
            }
            scalar => match self.module.ty(to).kind {
                TypeKind::Vector { .. } | TypeKind::Float(_) => {
                    (self.exposed(state, scalar)?, self.module.ty(from).bits().unwrap_or(64))
                }
                _ => return Ok(scalar.clone()),
            },
        };
        let TypeKind::Vector { element, len } = self.module.ty(to).kind else {
            return Ok(Value::Bits(bits.0));
        };
        let width = self.module.ty(element).bits().unwrap_or(8);
        let core = self.host.core();
        let lanes = (0..len)
            .map(|lane| Value::Bits(core.extract(bits.1, lane as u16 * width, width, &bits.0)))
            .collect();
        Ok(Value::many(lanes))
    }

    /// Address arithmetic; a vector anywhere makes a vector.
    pub(super) fn address_of(
        &mut self,
        base: &Value<C>,
        offset: i64,
        indices: &[(Value<C>, TypeId, i64)],
    ) -> Result<Value<C>, C> {
        let lanes = std::iter::once(base)
            .chain(indices.iter().map(|(index, ..)| index))
            .find_map(|value| if let Value::Many(lanes) = value { Some(lanes.len()) } else { None });
        if let Some(lanes) = lanes {
            let lane_of = |value: &Value<C>, lane: usize| match value {
                Value::Many(lanes) => lanes[lane].clone(),
                other => other.clone(),
            };
            let mut results = Vec::new();
            for lane in 0..lanes {
                let indices: Vec<_> = indices
                    .iter()
                    .map(|(index, ty, step)| {
                        let ty = match self.module.ty(*ty).kind {
                            TypeKind::Vector { element, .. } => element,
                            _ => *ty,
                        };
                        (lane_of(index, lane), ty, *step)
                    })
                    .collect();
                results.push(self.address_of(&lane_of(base, lane), offset, &indices)?);
            }
            return Ok(Value::many(results));
        }
        let core = self.host.core();
        let mut distance = word(&self.host, offset as u64);
        for (index, ty, step) in indices {
            let width = self.module.ty(*ty).bits().unwrap_or(64);
            let index = bits_of(index)?;
            let index = match width {
                64 => index,
                w if w < 64 => core.sext(w, 64, &index),
                w => core.extract(w, 0, 64, &index),
            };
            let scaled = match *step {
                1 => index,
                step => core.binop(BinOp::Mul, 64, &index, &word(&self.host, step as u64)),
            };
            distance = core.binop(BinOp::Add, 64, &distance, &scaled);
        }
        Ok(match base {
            Value::Pointer(pointer) => Value::Pointer(pointers::shift(&self.host, pointer, &distance)),
            Value::Bits(bits) => Value::Bits(core.binop(BinOp::Add, 64, bits, &distance)),
            Value::Many(_) | Value::Part(..) => {
                return Err(Stop::Unsupported("address arithmetic on something else".into()));
            }
        })
    }

    /// A truth value as an i1.
    pub(super) fn flag(&self, b: &C::Bool) -> Value<C> {
        Value::Bits(self.host.core().bool_to_val(1, b))
    }

    /// An i1 as a truth value.
    pub(super) fn truth_of(&self, value: &Value<C>) -> Result<C::Bool, C> {
        Ok(self.host.core().val_to_bool(1, &bits_of(value)?))
    }
}
