//! Numbers of the program: the usual conversions of C, and its operators.

use crate::error::{Error, Result};
use crate::expression::{Binary, Unary};
use crate::literal::Integer;
use crate::symbols::Symbols;
use crate::types::{Kind, Made, Type};
use crate::value::{State, Value, extended, low_bits};
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
            | Kind::Enum { size, signed, .. } => {
                promoted(self.integer(&value, state)?, *size, *signed, value.bits)
            }
            Kind::Boolean { size } => promoted(self.integer(&value, state)?, *size, false, value.bits),
            Kind::Float { size } => {
                let number = self.float(&value, state)?;
                if *size > 8 && !is_exact(self.raw(&value, state)?) {
                    return Err(inexact());
                }
                Number::Float { value: number, size: *size }
            }
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
    pub(crate) fn literal(&self, literal: &Integer) -> Value {
        let (size, signed) = literal.ty(self.address_size());
        self.value_of(Number::Integer { value: literal.value.into(), size, signed })
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
            (number @ (Number::Integer { .. } | Number::Float { .. }), Unary::Plus) => number,
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

    /// What an operator makes of two numbers.
    pub(crate) fn combined(&self, operator: Binary, left: Number, right: Number) -> Result<Number> {
        use Ordering::{Equal, Greater, Less};
        if !operator.compares() {
            return match operator {
                Binary::And => Ok(Number::truth(left.is_true() && right.is_true())),
                Binary::Or => Ok(Number::truth(left.is_true() || right.is_true())),
                _ => self.reckon(operator, left, right),
            };
        }
        let order = self.ordering(left, right)?;
        let compared = |holds: fn(Option<Ordering>) -> bool| Number::truth(holds(order));
        Ok(match operator {
            Binary::Equal => compared(|order| order == Some(Equal)),
            Binary::Unequal => compared(|order| order != Some(Equal)),
            Binary::Less => compared(|order| order == Some(Less)),
            Binary::LessEqual => compared(|order| matches!(order, Some(Less | Equal))),
            Binary::Greater => compared(|order| order == Some(Greater)),
            _ => compared(|order| matches!(order, Some(Greater | Equal))),
        })
    }

    /// How two numbers compare after C's conversions; what is not a number has no order.
    fn ordering(&self, left: Number, right: Number) -> Result<Option<Ordering>> {
        Ok(match converted(left, right) {
            (Number::Integer { value: a, size, signed }, Number::Integer { value: b, .. }) => {
                // All bits of this type may be in use; the sign of `i128` is then one of them.
                let is_widest = size >= 16 && !signed;
                Some(if is_widest { (a as u128).cmp(&(b as u128)) } else { a.cmp(&b) })
            }
            (Number::Float { value: a, .. }, Number::Float { value: b, .. }) => a.partial_cmp(&b),
            (left @ Number::Pointer { .. }, right) | (left, right @ Number::Pointer { .. }) => {
                let address = |number: &Number| match number {
                    Number::Pointer { address, .. } => Ok(*address),
                    Number::Integer { value, .. } => {
                        Ok((*value as u128 & low_bits(8 * self.address_size())) as u64)
                    }
                    Number::Float { .. } => {
                        Err(self.complaint(&number.ty(), "cannot be compared with a pointer"))
                    }
                };
                Some(address(&left)?.cmp(&address(&right)?))
            }
            // Both are converted to one type, unless one is a pointer.
            (_, right) => return Err(self.complaint(&right.ty(), "cannot be compared so")),
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
            // A shift has the type of its left side.
            (
                Number::Integer { value: a, size, signed },
                Number::Integer { value: b, .. },
                Binary::ShiftLeft | Binary::ShiftRight,
            ) => {
                let Some(by) = u32::try_from(b).ok().filter(|by| u64::from(*by) < 8 * size) else {
                    return Err(self.complaint(&Type::integer(size, signed), "is shifted by too many bits"));
                };
                Ok(Number::integer(
                    match operator {
                        Binary::ShiftLeft => a << by,
                        _ if signed => a >> by,
                        _ => (a as u128 >> by) as i128,
                    },
                    size,
                    signed,
                ))
            }
            (left, right, _) => match converted(left, right) {
                (Number::Integer { value: a, size, signed }, Number::Integer { value: b, .. }) => {
                    self.whole(operator, a, b, size, signed)
                }
                (Number::Float { value: x, size }, Number::Float { value: y, .. }) => {
                    if size > 8 {
                        return Err(inexact());
                    }
                    let value = match operator {
                        Binary::Plus => x + y,
                        Binary::Minus => x - y,
                        Binary::Times => x * y,
                        Binary::Divide => x / y,
                        _ => return Err(wrong(&Number::Float { value: y, size })),
                    };
                    Ok(Number::float(value, size))
                }
                (_, right) => Err(wrong(&right)),
            },
        }
    }

    /// What an operator makes of two integers of one type.
    fn whole(&self, operator: Binary, a: i128, b: i128, size: u64, signed: bool) -> Result<Number> {
        let complaint = |what: &str| self.complaint(&Type::integer(size, signed), what);
        let is_widest = size >= 16 && !signed;
        let value = match operator {
            Binary::Plus => a.wrapping_add(b),
            Binary::Minus => a.wrapping_sub(b),
            Binary::Times => a.wrapping_mul(b),
            Binary::Divide | Binary::Remainder if b == 0 => return Err(complaint("is zero and divides")),
            Binary::Divide if is_widest => (a as u128 / b as u128) as i128,
            Binary::Remainder if is_widest => (a as u128 % b as u128) as i128,
            Binary::Divide => a.wrapping_div(b),
            Binary::Remainder => a.wrapping_rem(b),
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            _ => return Err(complaint("cannot be combined so")),
        };
        Ok(Number::integer(value, size, signed))
    }

    /// The value that a conditional expression has: that of the side that was chosen, in the type that both sides convert to.
    /// `other` is a value of the other side's type.
    pub(crate) fn chosen(&self, value: Value, other: &Value, state: &dyn State) -> Result<Value> {
        let is_number = |value: &Value| -> Result<bool> {
            Ok(matches!(
                &*self.kind(&value.ty)?,
                Kind::Integer { .. }
                    | Kind::Character { .. }
                    | Kind::Enum { .. }
                    | Kind::Boolean { .. }
                    | Kind::Float { .. }
            ))
        };
        if !is_number(&value)? || !is_number(other)? {
            return Ok(value);
        }
        let other = self.to_number(other, &Ones { of: state })?;
        Ok(self.value_of(converted(self.to_number(&value, state)?, other).0))
    }

    /// A value as another type: numbers are converted, pointers and structures in memory are looked at anew.
    pub(crate) fn cast(&self, value: &Value, to: Type, state: &dyn State) -> Result<Value> {
        let number = self.to_number(value, state)?;
        Ok(match &*self.kind(&to)? {
            Kind::Float { size: 9.. } => return Err(inexact()),
            Kind::Float { size } => {
                let found = self.float_value(as_float(&number, *size), *size);
                Value { ty: to.clone(), ..found }
            }
            Kind::Boolean { size } => {
                Value::computed(to.clone(), self.number(number.is_true().into(), *size))
            }
            Kind::Integer { size, .. }
            | Kind::Character { size, .. }
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

/// Two numbers in the type that C converts both to; a pointer stays what it is.
fn converted(left: Number, right: Number) -> (Number, Number) {
    match (&left, &right) {
        (Number::Integer { size: s, signed: p, .. }, Number::Integer { size: t, signed: q, .. }) => {
            let size = *s.max(t);
            // The unsigned type wins where it is as large.
            let signed = (*p || *s < size) && (*q || *t < size);
            let to = |number: &Number| match number {
                Number::Integer { value, .. } => Number::integer(*value, size, signed),
                other => other.clone(),
            };
            (to(&left), to(&right))
        }
        (Number::Pointer { .. }, _) | (_, Number::Pointer { .. }) => (left, right),
        _ => {
            let size = |number: &Number| match number {
                Number::Float { size, .. } => *size,
                _ => 4,
            };
            let size = size(&left).max(size(&right));
            let to = |number: &Number| Number::Float { value: as_float(number, size), size };
            (to(&left), to(&right))
        }
    }
}

/// An integer after the promotions of C; of a bit field, with its bits. `int` if that holds all values of the type.
pub(crate) fn promoted(value: i128, size: u64, signed: bool, bits: Option<(u64, u64)>) -> Number {
    let width = bits.map_or(8 * size, |(_, count)| count);
    if width < 32 {
        Number::Integer { value, size: 4, signed: true }
    } else if width == 32 {
        Number::Integer { value, size: 4, signed }
    } else {
        Number::Integer { value, size, signed }
    }
}

/// A number as a floating-point number of so many bytes, rounded once.
fn as_float(number: &Number, size: u64) -> f64 {
    let whole = |value: i128| if size == 4 { f64::from(value as f32) } else { value as f64 };
    match number {
        Number::Integer { value, size: 16, signed: false } if size == 4 => f64::from(*value as u128 as f32),
        Number::Integer { value, size: 16, signed: false } => *value as u128 as f64,
        Number::Integer { value, .. } => whole(*value),
        Number::Float { value, .. } if size == 4 => f64::from(*value as f32),
        Number::Float { value, .. } => *value,
        Number::Pointer { address, .. } => whole((*address).into()),
    }
}

/// Whether a double holds what the 80 bits of an extended number say.
fn is_exact(raw: u128) -> bool {
    let (mantissa, exponent) = (raw as u64, (raw >> 64) as u16 & 0x7fff);
    let is_special = exponent == 0x7fff || raw << 1 == 0 || mantissa == 0;
    is_special || mantissa.trailing_zeros() >= 11 && (16383 - 1022..=16383 + 1023).contains(&exponent)
}

fn inexact() -> Error {
    Error::Unsupported { what: "arithmetic of long double, beyond the precision of double".to_owned() }
}

/// A program whose memory holds ones everywhere: what an expression is without being evaluated, its type, is told there.
pub(crate) struct Ones<'a> {
    pub of: &'a dyn State,
}

impl State for Ones<'_> {
    fn pc(&self) -> u64 {
        self.of.pc()
    }

    fn register(&self, number: u16) -> Option<u128> {
        self.of.register(number)
    }

    fn read(&self, _: u64, into: &mut [u8]) -> bool {
        into.fill(1);
        true
    }
}
