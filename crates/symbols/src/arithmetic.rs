//! Numbers of the program: the usual conversions of C, and its operators.

use crate::error::Result;
use crate::expression::{Binary, Unary};
use crate::symbols::Symbols;
use crate::types::{Kind, Made, Type};
use crate::value::{State, Value, extended};
use std::cmp::Ordering;

/// A value to reckon with.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    Integer { value: i128, size: u64, signed: bool },
    Float { value: f64, size: u64 },
    Pointer { address: u64, to: Type },
}

impl Number {
    /// The number that a comparison gives.
    pub fn truth(holds: bool) -> Number {
        Number::Integer { value: holds.into(), size: 4, signed: true }
    }

    /// Whether it counts as true.
    pub fn is_true(&self) -> bool {
        match self {
            Number::Integer { value, .. } => *value != 0,
            Number::Float { value, .. } => *value != 0.0,
            Number::Pointer { address, .. } => *address != 0,
        }
    }

    fn integer(value: i128, size: u64, signed: bool) -> Number {
        Number::Integer { value: extended(value as u128, size * 8, signed), size, signed }
    }

    fn float(value: f64, size: u64) -> Number {
        if size == 4 {
            Number::Float { value: (value as f32).into(), size: 4 }
        } else {
            Number::Float { value, size: 8 }
        }
    }

    fn ty(&self) -> Type {
        match self {
            Number::Integer { size, signed, .. } => Type::integer(*size, *signed),
            Number::Float { size, .. } => Type(Made::Float { size: *size }),
            Number::Pointer { to, .. } => Type::pointer(to.clone()),
        }
    }
}

impl Symbols {
    pub(crate) fn to_number(&self, value: &Value, state: &dyn State) -> Result<Number> {
        let value = self.referred(value, state)?;
        Ok(match &*self.kind(&value.ty)? {
            Kind::Integer { size, signed }
            | Kind::Character { size, signed }
            | Kind::Enum { size, signed, .. } => promoted(self.integer(&value, state)?, *size, *signed),
            Kind::Boolean { size } => promoted(self.integer(&value, state)?, *size, false),
            Kind::Float { size } => Number::Float { value: self.float(&value, state)?, size: *size },
            Kind::Pointer { to, .. } => {
                Number::Pointer { address: self.integer(&value, state)? as u64, to: to.clone() }
            }
            Kind::Array { of, .. } => {
                Number::Pointer { address: self.integer(&value, state)? as u64, to: of.clone() }
            }
            Kind::Function { .. } => {
                Number::Pointer { address: self.integer(&value, state)? as u64, to: value.ty.clone() }
            }
            _ => return Err(self.complaint(&value.ty, "is no number")),
        })
    }

    fn value_of(&self, number: Number) -> Value {
        match number {
            Number::Integer { value, size, signed } => {
                Value::computed(Type::integer(size, signed), self.number(value, size))
            }
            Number::Float { value, size } => self.float_value(value, size),
            Number::Pointer { address, to } => self.pointer(address, to),
        }
    }

    /// An integer literal.
    pub(crate) fn literal(&self, value: i128) -> Value {
        let (size, signed) = match value {
            _ if i32::try_from(value).is_ok() => (4, true),
            _ if i64::try_from(value).is_ok() => (8, true),
            _ => (8, false),
        };
        self.value_of(Number::Integer { value, size, signed })
    }

    pub(crate) fn float_value(&self, value: f64, size: u64) -> Value {
        let (bits, size) =
            if size == 4 { (u128::from((value as f32).to_bits()), 4) } else { (value.to_bits().into(), 8) };
        Value::computed(Type(Made::Float { size }), self.number(bits as i128, size))
    }

    /// Whether a value counts as true.
    pub fn is_true(&self, value: &Value, state: &dyn State) -> Result<bool> {
        Ok(self.to_number(value, state)?.is_true())
    }

    pub(crate) fn unary(&self, operator: Unary, value: &Value, state: &dyn State) -> Result<Value> {
        match operator {
            Unary::Deref => self.deref(value, state),
            Unary::AddressOf => self.address_of(&self.referred(value, state)?),
            _ => Ok(self.value_of(self.turned(operator, self.to_number(value, state)?)?)),
        }
    }

    /// What an operator makes of a number.
    pub(crate) fn turned(&self, operator: Unary, number: Number) -> Result<Number> {
        Ok(match (number, operator) {
            (number, Unary::Not) => Number::truth(!number.is_true()),
            (Number::Integer { value, size, signed }, Unary::Minus) => {
                Number::integer(value.wrapping_neg(), size, signed)
            }
            (Number::Integer { value, size, signed }, Unary::Complement) => {
                Number::integer(!value, size, signed)
            }
            (Number::Float { value, size }, Unary::Minus) => Number::float(-value, size),
            (number, _) => return Err(self.complaint(&number.ty(), "has no such operator")),
        })
    }

    pub(crate) fn binary(
        &self,
        operator: Binary,
        left: &Value,
        right: &Value,
        state: &dyn State,
    ) -> Result<Value> {
        let (left, right) = (self.to_number(left, state)?, self.to_number(right, state)?);
        Ok(self.value_of(self.combined(operator, left, right)?))
    }

    /// Compares two numbers by their values, whatever their types; not-a-number has no order.
    pub fn compare(&self, left: &Value, right: &Value, state: &dyn State) -> Result<Option<Ordering>> {
        Ok(ordering(&self.to_number(left, state)?, &self.to_number(right, state)?))
    }

    /// What an operator makes of two numbers.
    pub(crate) fn combined(&self, operator: Binary, left: Number, right: Number) -> Result<Number> {
        use Ordering::{Equal, Greater, Less};
        let compared = |holds: fn(Option<Ordering>) -> bool| Number::truth(holds(ordering(&left, &right)));
        Ok(match operator {
            Binary::And => Number::truth(left.is_true() && right.is_true()),
            Binary::Or => Number::truth(left.is_true() || right.is_true()),
            Binary::Equal => compared(|order| order == Some(Equal)),
            Binary::Unequal => compared(|order| order != Some(Equal)),
            Binary::Less => compared(|order| order == Some(Less)),
            Binary::LessEqual => compared(|order| matches!(order, Some(Less | Equal))),
            Binary::Greater => compared(|order| order == Some(Greater)),
            Binary::GreaterEqual => compared(|order| matches!(order, Some(Greater | Equal))),
            _ => return self.reckon(operator, left, right),
        })
    }

    fn reckon(&self, operator: Binary, left: Number, right: Number) -> Result<Number> {
        let wrong = |right: &Number| self.complaint(&right.ty(), "cannot be combined so");
        match (left, right, operator) {
            (
                Number::Pointer { address, to },
                Number::Integer { value, .. },
                Binary::Plus | Binary::Minus,
            ) => {
                let step = i128::from(self.size(&to)?.max(1)).wrapping_mul(value);
                let step = if operator == Binary::Plus { step } else { step.wrapping_neg() };
                Ok(Number::Pointer { address: address.wrapping_add(step as u64), to })
            }
            (Number::Integer { value, .. }, Number::Pointer { address, to }, Binary::Plus) => {
                let step = i128::from(self.size(&to)?.max(1)).wrapping_mul(value);
                Ok(Number::Pointer { address: address.wrapping_add(step as u64), to })
            }
            (Number::Pointer { address, to }, Number::Pointer { address: other, .. }, Binary::Minus) => {
                let bytes = i128::from(address.wrapping_sub(other) as i64);
                Ok(Number::integer(bytes / i128::from(self.size(&to)?.max(1)), 8, true))
            }
            (
                Number::Integer { value: a, size: s, signed: p },
                Number::Integer { value: b, size: t, signed: q },
                _,
            ) => {
                let size = s.max(t);
                // The unsigned type wins where it is as large.
                let signed = (p || s < size) && (q || t < size);
                let zero = || self.complaint(&Type::integer(t, q), "is zero and divides");
                let value = match operator {
                    Binary::Plus => a.wrapping_add(b),
                    Binary::Minus => a.wrapping_sub(b),
                    Binary::Times => a.wrapping_mul(b),
                    Binary::Divide => a.checked_div(b).ok_or_else(zero)?,
                    Binary::Remainder => a.checked_rem(b).ok_or_else(zero)?,
                    Binary::BitAnd => a & b,
                    Binary::BitOr => a | b,
                    Binary::BitXor => a ^ b,
                    Binary::ShiftLeft => {
                        return Ok(Number::integer(a.checked_shl(b as u32).unwrap_or(0), s, p));
                    }
                    Binary::ShiftRight => {
                        return Ok(Number::integer(a.checked_shr(b as u32).unwrap_or(0), s, p));
                    }
                    _ => return Err(wrong(&Number::Integer { value: b, size: t, signed: q })),
                };
                Ok(Number::integer(value, size, signed))
            }
            (
                a @ (Number::Float { .. } | Number::Integer { .. }),
                b @ (Number::Float { .. } | Number::Integer { .. }),
                _,
            ) => {
                let (x, y) = (as_float(&a), as_float(&b));
                let size = |number: &Number| match number {
                    Number::Float { size, .. } => *size,
                    _ => 4,
                };
                let value = match operator {
                    Binary::Plus => x + y,
                    Binary::Minus => x - y,
                    Binary::Times => x * y,
                    Binary::Divide => x / y,
                    _ => return Err(wrong(&b)),
                };
                Ok(Number::float(value, size(&a).max(size(&b))))
            }
            (_, right, _) => Err(wrong(&right)),
        }
    }

    /// A value as another type: numbers are converted, pointers and structures in memory are looked at anew.
    pub(crate) fn cast(&self, value: &Value, to: Type, state: &dyn State) -> Result<Value> {
        let number = self.to_number(value, state)?;
        Ok(match &*self.kind(&to)? {
            Kind::Float { size } => {
                let found = self.float_value(as_float(&number), *size);
                Value { ty: to.clone(), ..found }
            }
            Kind::Integer { size, .. }
            | Kind::Character { size, .. }
            | Kind::Boolean { size }
            | Kind::Enum { size, .. }
            | Kind::Pointer { size, .. } => {
                let whole = match number {
                    Number::Integer { value, .. } => value,
                    Number::Float { value, .. } => value as i128,
                    Number::Pointer { address, .. } => address.into(),
                };
                Value::computed(to.clone(), self.number(whole, *size))
            }
            _ => return Err(self.complaint(&to, "is no type to convert to")),
        })
    }
}

/// How two numbers compare by their values.
fn ordering(left: &Number, right: &Number) -> Option<Ordering> {
    let whole = |number: &Number| match number {
        Number::Integer { value, .. } => Some(*value),
        Number::Pointer { address, .. } => Some((*address).into()),
        Number::Float { .. } => None,
    };
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => as_float(left).partial_cmp(&as_float(right)),
    }
}

/// An integer after the promotions of C.
pub(crate) fn promoted(value: i128, size: u64, signed: bool) -> Number {
    if size < 4 {
        Number::Integer { value, size: 4, signed: true }
    } else {
        Number::Integer { value, size, signed }
    }
}

fn as_float(number: &Number) -> f64 {
    match number {
        Number::Integer { value, .. } => *value as f64,
        Number::Float { value, .. } => *value,
        Number::Pointer { address, .. } => *address as f64,
    }
}
