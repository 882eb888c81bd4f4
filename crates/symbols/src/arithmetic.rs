//! Numbers of the program: the usual conversions of C, and its operators.

use crate::error::Result;
use crate::expression::{Binary, Unary};
use crate::symbols::Symbols;
use crate::types::{Kind, Made, Type};
use crate::value::{State, Value, extended};

/// A value to reckon with.
enum Number {
    Integer { value: i128, size: u64, signed: bool },
    Float { value: f64, size: u64 },
    Pointer { address: u64, to: Type },
}

impl Symbols {
    fn to_number(&self, value: &Value, state: &dyn State) -> Result<Number> {
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

    fn truth(&self, holds: bool) -> Value {
        Value::computed(Type::INT, self.number(holds.into(), 4))
    }

    /// Whether a value counts as true.
    pub fn is_true(&self, value: &Value, state: &dyn State) -> Result<bool> {
        Ok(match self.to_number(value, state)? {
            Number::Integer { value, .. } => value != 0,
            Number::Float { value, .. } => value != 0.0,
            Number::Pointer { address, .. } => address != 0,
        })
    }

    pub(crate) fn unary(&self, operator: Unary, value: &Value, state: &dyn State) -> Result<Value> {
        match operator {
            Unary::Deref => return self.deref(value, state),
            Unary::AddressOf => return self.address_of(&self.referred(value, state)?),
            Unary::Not => return Ok(self.truth(!self.is_true(value, state)?)),
            Unary::Minus | Unary::Complement => {}
        }
        Ok(match (self.to_number(value, state)?, operator) {
            (Number::Integer { value, size, signed }, Unary::Minus) => {
                self.wrapped(value.wrapping_neg(), size, signed)
            }
            (Number::Integer { value, size, signed }, _) => self.wrapped(!value, size, signed),
            (Number::Float { value, size }, Unary::Minus) => self.float_value(-value, size),
            _ => return Err(self.complaint(&value.ty, "has no such operator")),
        })
    }

    fn wrapped(&self, value: i128, size: u64, signed: bool) -> Value {
        let value = extended(value as u128, size * 8, signed);
        self.value_of(Number::Integer { value, size, signed })
    }

    pub(crate) fn binary(
        &self,
        operator: Binary,
        left: &Value,
        right: &Value,
        state: &dyn State,
    ) -> Result<Value> {
        let ordering = match operator {
            Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual => self.compare(left, right, state)?,
            _ => return self.reckon(operator, left, right, state),
        };
        use std::cmp::Ordering::{Equal, Greater, Less};
        Ok(self.truth(match operator {
            Binary::Equal => ordering == Some(Equal),
            Binary::Unequal => ordering != Some(Equal),
            Binary::Less => ordering == Some(Less),
            Binary::LessEqual => matches!(ordering, Some(Less | Equal)),
            Binary::Greater => ordering == Some(Greater),
            _ => matches!(ordering, Some(Greater | Equal)),
        }))
    }

    /// Compares two numbers by their values, whatever their types; not-a-number has no order.
    pub fn compare(
        &self,
        left: &Value,
        right: &Value,
        state: &dyn State,
    ) -> Result<Option<std::cmp::Ordering>> {
        let (left, right) = (self.to_number(left, state)?, self.to_number(right, state)?);
        let whole = |number: &Number| match number {
            Number::Integer { value, .. } => Some(*value),
            Number::Pointer { address, .. } => Some((*address).into()),
            Number::Float { .. } => None,
        };
        Ok(match (whole(&left), whole(&right)) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => as_float(&left).partial_cmp(&as_float(&right)),
        })
    }

    fn reckon(&self, operator: Binary, left: &Value, right: &Value, state: &dyn State) -> Result<Value> {
        if let Binary::And | Binary::Or = operator {
            let (one, other) = (self.is_true(left, state)?, self.is_true(right, state)?);
            return Ok(self.truth(if operator == Binary::And { one && other } else { one || other }));
        }
        let wrong = || self.complaint(&right.ty, "cannot be combined so");
        match (self.to_number(left, state)?, self.to_number(right, state)?, operator) {
            (
                Number::Pointer { address, to },
                Number::Integer { value, .. },
                Binary::Plus | Binary::Minus,
            ) => {
                let step = i128::from(self.size(&to)?.max(1)).wrapping_mul(value);
                let step = if operator == Binary::Plus { step } else { step.wrapping_neg() };
                Ok(self.pointer(address.wrapping_add(step as u64), to))
            }
            (Number::Integer { value, .. }, Number::Pointer { address, to }, Binary::Plus) => {
                let step = i128::from(self.size(&to)?.max(1)).wrapping_mul(value);
                Ok(self.pointer(address.wrapping_add(step as u64), to))
            }
            (Number::Pointer { address, to }, Number::Pointer { address: other, .. }, Binary::Minus) => {
                let bytes = i128::from(address.wrapping_sub(other) as i64);
                Ok(self.wrapped(bytes / i128::from(self.size(&to)?.max(1)), 8, true))
            }
            (
                Number::Integer { value: a, size: s, signed: p },
                Number::Integer { value: b, size: t, signed: q },
                _,
            ) => {
                let size = s.max(t);
                // The unsigned type wins where it is as large.
                let signed = (p || s < size) && (q || t < size);
                let value = match operator {
                    Binary::Plus => a.wrapping_add(b),
                    Binary::Minus => a.wrapping_sub(b),
                    Binary::Times => a.wrapping_mul(b),
                    Binary::Divide => {
                        a.checked_div(b).ok_or_else(|| self.complaint(&right.ty, "is zero and divides"))?
                    }
                    Binary::Remainder => {
                        a.checked_rem(b).ok_or_else(|| self.complaint(&right.ty, "is zero and divides"))?
                    }
                    Binary::BitAnd => a & b,
                    Binary::BitOr => a | b,
                    Binary::BitXor => a ^ b,
                    Binary::ShiftLeft => return Ok(self.wrapped(a.checked_shl(b as u32).unwrap_or(0), s, p)),
                    Binary::ShiftRight => {
                        return Ok(self.wrapped(a.checked_shr(b as u32).unwrap_or(0), s, p));
                    }
                    _ => return Err(wrong()),
                };
                Ok(self.wrapped(value, size, signed))
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
                    _ => return Err(wrong()),
                };
                Ok(self.float_value(value, size(&a).max(size(&b))))
            }
            _ => Err(wrong()),
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

/// An integer after the promotions of C.
fn promoted(value: i128, size: u64, signed: bool) -> Number {
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
