//! Expressions compiled for one place in the code.
//!
//! Whoever asks the same question each time a program passes a place need not look up names, run the location
//! expressions of DWARF and unwind again: there, `x` is always the four bytes at `rbp - 20`. What has no such simple form
//! is not compiled, and [`Symbols::evaluate`] answers instead; where both answer, they answer the same.

use crate::arithmetic::{Number, promoted};
use crate::debug::Bytes;
use crate::expression::{Binary, Expression, Unary};
use crate::frame::Frame;
use crate::location::Context;
use crate::scope::Variable;
use crate::symbols::Symbols;
use crate::types::{Kind, Type};
use crate::value::{Place, State, Value, extended, low_bits};
use gimli::Operation;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An expression, ready to be evaluated wherever the program is at the place it was compiled for.
#[derive(Debug)]
pub struct Compiled {
    /// What it means, where it is a variable or a part of one.
    place: Option<Term>,
    number: Option<Code>,
}

/// A number of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// An integer, a character, a truth value, an enumeration.
    Whole(i128),
    /// A floating-point number.
    Real(f64),
    /// An address: of a pointer, of an array.
    Address(u64),
}

/// What an expression means.
#[derive(Clone, Debug)]
enum Term {
    /// Something in memory.
    Place { address: Address, ty: Type, bits: Option<(u64, u64)> },
    /// A variable in a register.
    Held { register: u16, ty: Type },
    /// A number that is computed.
    Computed(Code),
}

/// How an address is found.
#[derive(Clone, Debug)]
enum Address {
    Fixed(u64),
    Register {
        number: u16,
        offset: u64,
    },
    /// Behind where a pointer points.
    Pointed {
        pointer: Box<Code>,
        offset: u64,
    },
    /// An element of an array, and so far into it.
    Element {
        first: Box<Address>,
        index: Box<Code>,
        size: u64,
        offset: u64,
    },
}

#[derive(Clone, Debug)]
enum Code {
    Known(Number),
    Load { address: Address, shape: Shape },
    Register { number: u16, shape: Shape },
    Pointer { address: Address, to: Type },
    Unary(Unary, Box<Code>),
    Binary(Binary, Box<Code>, Box<Code>),
}

/// How bytes make a number.
#[derive(Clone, Debug)]
struct Shape {
    /// At most eight.
    size: u64,
    bits: Option<(u64, u64)>,
    sort: Sort,
}

#[derive(Clone, Debug)]
enum Sort {
    Integer { signed: bool },
    Float,
    Pointer(Type),
}

impl Shape {
    fn number(&self, raw: u64) -> Number {
        let raw = match self.bits {
            Some((first, count)) => (u128::from(raw) >> first) & low_bits(count),
            None => raw.into(),
        };
        let bits = self.bits.map_or(self.size * 8, |(_, count)| count);
        match &self.sort {
            Sort::Integer { signed } => promoted(extended(raw, bits, *signed), self.size, *signed, self.bits),
            Sort::Float if self.size == 4 => {
                Number::Float { value: f32::from_bits(raw as u32).into(), size: 4 }
            }
            Sort::Float => Number::Float { value: f64::from_bits(raw as u64), size: 8 },
            Sort::Pointer(to) => Number::Pointer { address: raw as u64, to: to.clone() },
        }
    }

    /// How many bytes hold it.
    fn bytes(&self) -> usize {
        self.bits.map_or(self.size, |(first, count)| (first + count).div_ceil(8)) as usize
    }
}

/// A program without registers and memory: what needs either is not known yet.
struct Nowhere;

impl State for Nowhere {
    fn pc(&self) -> u64 {
        0
    }

    fn register(&self, _: u16) -> Option<u128> {
        None
    }

    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

impl Address {
    fn value(&self, symbols: &Symbols, state: &dyn State) -> Option<u64> {
        Some(match self {
            Address::Fixed(address) => *address,
            Address::Register { number, offset } => (state.register(*number)? as u64).wrapping_add(*offset),
            Address::Pointed { pointer, offset } => match pointer.value(symbols, state)? {
                Number::Pointer { address, .. } => address.wrapping_add(*offset),
                _ => return None,
            },
            Address::Element { first, index, size, offset } => match index.value(symbols, state)? {
                Number::Integer { value, .. } => first
                    .value(symbols, state)?
                    .wrapping_add(i128::from(*size).wrapping_mul(value) as u64)
                    .wrapping_add(*offset),
                _ => return None,
            },
        })
    }

    fn behind(self, more: u64) -> Address {
        match self {
            Address::Fixed(address) => Address::Fixed(address.wrapping_add(more)),
            Address::Register { number, offset } => {
                Address::Register { number, offset: offset.wrapping_add(more) }
            }
            Address::Pointed { pointer, offset } => {
                Address::Pointed { pointer, offset: offset.wrapping_add(more) }
            }
            Address::Element { first, index, size, offset } => {
                Address::Element { first, index, size, offset: offset.wrapping_add(more) }
            }
        }
    }
}

impl Code {
    fn value(&self, symbols: &Symbols, state: &dyn State) -> Option<Number> {
        Some(match self {
            Code::Known(number) => number.clone(),
            Code::Load { address, shape } => {
                let address = address.value(symbols, state)?;
                let mut bytes = [0; 8];
                if !state.read(address, &mut bytes[..shape.bytes()]) {
                    return None;
                }
                shape.number(u64::from_le_bytes(bytes))
            }
            Code::Register { number, shape } => shape.number(cut(state.register(*number)?, shape.size)),
            Code::Pointer { address, to } => {
                Number::Pointer { address: address.value(symbols, state)?, to: to.clone() }
            }
            Code::Unary(operator, of) => symbols.turned(*operator, of.value(symbols, state)?).ok()?,
            // The right side of these is only looked at if it matters.
            Code::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let left = left.value(symbols, state)?.is_true();
                let settled = left == (*operator == Binary::Or);
                Number::truth(if settled { left } else { right.value(symbols, state)?.is_true() })
            }
            Code::Binary(operator, left, right) => {
                let (left, right) = (left.value(symbols, state)?, right.value(symbols, state)?);
                symbols.combined(*operator, left, right).ok()?
            }
        })
    }
}

fn cut(raw: u128, size: u64) -> u64 {
    raw as u64 & low_bits(size * 8) as u64
}

impl Compiled {
    /// The number that it comes to; none if [`Symbols::evaluate`] has to say, or to say why there is none.
    pub fn number(&self, symbols: &Symbols, state: &dyn State) -> Option<Scalar> {
        Some(match self.number.as_ref()?.value(symbols, state)? {
            Number::Integer { value, .. } => Scalar::Whole(value),
            Number::Pointer { address, .. } => Scalar::Address(address),
            Number::Float { value, .. } => Scalar::Real(value),
        })
    }

    /// The DWARF number of the register that holds the variable, if one does.
    pub fn register(&self) -> Option<u16> {
        match self.place.as_ref()? {
            Term::Held { register, .. } => Some(*register),
            _ => None,
        }
    }

    /// The value that it means, where it is a variable or a part of one.
    pub fn value(&self, symbols: &Symbols, state: &dyn State) -> Option<Value> {
        match self.place.as_ref()? {
            Term::Place { address, ty, bits } => {
                let address = address.value(symbols, state)?;
                Some(Value { ty: ty.clone(), place: Place::Memory(address), bits: *bits })
            }
            Term::Held { register, ty } => {
                let size = symbols.size(ty).ok()?;
                let bytes = symbols.number(state.register(*register)? as i128, size);
                Some(Value::computed(ty.clone(), bytes))
            }
            Term::Computed(_) => None,
        }
    }
}

/// What was compiled, by place and text; none for what has no simple form.
#[derive(Default)]
pub(crate) struct Cache(Mutex<HashMap<u64, Entries>>);

type Entries = Vec<(Box<str>, Option<Arc<Compiled>>)>;

/// Compiled expressions are kept for so many places.
const MOST_PLACES: usize = 4096;
/// So many for one place.
const MOST_TEXTS: usize = 64;

impl Symbols {
    /// An expression compiled for a place in the code, in the innermost frame there. None if it has no simple form: then
    /// [`Symbols::evaluate`] answers.
    pub fn compiled(&self, text: &str, pc: u64) -> Option<Arc<Compiled>> {
        let lock = || self.compiled.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            |entries: &Entries| entries.iter().find(|(own, _)| **own == *text).map(|(_, one)| one.clone());
        if let Some(known) = lock().get(&pc).and_then(known) {
            return known;
        }
        let compiled = self.compile(text, pc).map(Arc::new);
        let mut all = lock();
        if all.len() >= MOST_PLACES {
            all.clear();
        }
        let entries = all.entry(pc).or_default();
        if entries.len() >= MOST_TEXTS {
            entries.clear();
        }
        entries.push((text.into(), compiled.clone()));
        compiled
    }

    fn compile(&self, text: &str, pc: u64) -> Option<Compiled> {
        let compiler = self.compiler(pc)?;
        let expression = self.parsed(text, &compiler.frame).ok()?;
        Some(compiler.finished(compiler.term(&expression)?))
    }

    /// A variable of the innermost frame at a place in the code, compiled.
    pub fn compile_variable(&self, variable: &Variable, pc: u64) -> Option<Compiled> {
        let compiler = self.compiler(pc)?;
        Some(compiler.finished(compiler.variable(variable)?))
    }

    /// What a register holds, as a value of a type, compiled for a place in the code.
    pub fn compile_register(&self, register: u16, ty: &Type, pc: u64) -> Option<Compiled> {
        let compiler = self.compiler(pc)?;
        Some(compiler.finished(compiler.held(register, ty.clone())?))
    }

    fn compiler(&self, pc: u64) -> Option<Compiler<'_>> {
        (!self.is_big_endian()).then(|| Compiler { symbols: self, frame: self.frame_at(pc) })
    }
}

/// What compiles for one place.
struct Compiler<'a> {
    symbols: &'a Symbols,
    frame: Frame,
}

impl Compiler<'_> {
    fn finished(&self, term: Term) -> Compiled {
        let place = (!matches!(term, Term::Computed(_))).then(|| term.clone());
        Compiled { place, number: self.as_number(term) }
    }

    /// A value in a register.
    fn held(&self, register: u16, ty: Type) -> Option<Term> {
        let fits = register < 17 && (1..=8).contains(&self.symbols.size(&ty).ok()?);
        fits.then_some(Term::Held { register, ty })
    }

    fn shape(&self, ty: &Type, bits: Option<(u64, u64)>) -> Option<Shape> {
        let (size, sort) = match &*self.symbols.kind(ty).ok()? {
            Kind::Integer { size, signed }
            | Kind::Character { size, signed }
            | Kind::Enum { size, signed, .. } => (*size, Sort::Integer { signed: *signed }),
            Kind::Boolean { size } => (*size, Sort::Integer { signed: false }),
            Kind::Float { size: size @ (4 | 8) } => (*size, Sort::Float),
            Kind::Pointer { to, size: 8 } => (8, Sort::Pointer(to.clone())),
            _ => return None,
        };
        let shape = Shape { size, bits, sort };
        let fits = match bits {
            Some((first, count)) => first.checked_add(count).is_some_and(|end| end <= 64),
            None => (1..=8).contains(&size),
        };
        fits.then_some(shape)
    }

    /// A term as a number: what is in memory is loaded, arrays are where they start.
    fn as_number(&self, term: Term) -> Option<Code> {
        match term {
            Term::Computed(code) => Some(code),
            Term::Held { register, ty } => {
                Some(Code::Register { number: register, shape: self.shape(&ty, None)? })
            }
            Term::Place { address, ty, bits } => match &*self.symbols.kind(&ty).ok()? {
                Kind::Array { of, .. } => Some(Code::Pointer { address, to: of.clone() }),
                _ => Some(Code::Load { address, shape: self.shape(&ty, bits)? }),
            },
        }
    }

    fn number(&self, expression: &Expression) -> Option<Code> {
        self.as_number(self.term(expression)?)
    }

    fn term(&self, expression: &Expression) -> Option<Term> {
        let symbols = self.symbols;
        let known =
            |value: Value| Some(Term::Computed(Code::Known(symbols.to_number(&value, &Nowhere).ok()?)));
        match expression {
            Expression::Name(name) => self.named(name),
            Expression::Register(name) if name == "pc" || name == "rip" => {
                let pc = symbols.number(self.frame.pc.into(), 8);
                known(Value::computed(Type::integer(8, true), pc))
            }
            Expression::Register(name) => {
                let number = symbols.register_named(name).filter(|number| *number < 17)?;
                let shape = Shape { size: 8, bits: None, sort: Sort::Integer { signed: true } };
                Some(Term::Computed(Code::Register { number, shape }))
            }
            Expression::Integer(literal) => known(symbols.literal(literal)),
            Expression::Float(value, size) => known(symbols.float_value(*value, *size)),
            Expression::Character(code) => known(Value::computed(Type::integer(1, true), vec![*code])),
            Expression::Member(of, name) => self.member(self.term(of)?, name),
            Expression::Index(of, index) => self.element(self.term(of)?, self.number(index)?),
            Expression::Unary(Unary::Deref, of) => {
                self.element(self.term(of)?, Code::Known(Number::truth(false)))
            }
            Expression::Unary(Unary::AddressOf, of) => match self.term(of)? {
                Term::Place { address, ty, bits: None } => {
                    Some(Term::Computed(Code::Pointer { address, to: ty }))
                }
                _ => None,
            },
            Expression::Unary(operator, of) => {
                Some(Term::Computed(Code::Unary(*operator, Box::new(self.number(of)?))))
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (Box::new(self.number(left)?), Box::new(self.number(right)?));
                Some(Term::Computed(Code::Binary(*operator, left, right)))
            }
            Expression::Cast { .. }
            | Expression::SizeOf(_)
            | Expression::SizeOfType { .. }
            | Expression::Span(..)
            | Expression::Conditional(..) => None,
        }
    }

    fn named(&self, name: &str) -> Option<Term> {
        let (symbols, frame) = (self.symbols, &self.frame);
        let locals = symbols.variables(frame).ok()?;
        if let Some(variable) = locals.iter().find(|variable| variable.name == name) {
            return self.variable(variable);
        }
        // A member of `this` may be meant.
        if locals.iter().any(|variable| variable.name == "this") {
            return None;
        }
        let near = frame.function_die.map(|(module, die)| (module, die.unit));
        self.variable(&symbols.global(name, near, frame.function.as_deref()).ok()??)
    }

    /// What a pointer points to, as something in memory.
    fn pointed(&self, pointer: Code, to: &Type) -> Option<Term> {
        if matches!(&*self.symbols.kind(to).ok()?, Kind::Void) {
            return None;
        }
        let address = Address::Pointed { pointer: Box::new(pointer), offset: 0 };
        Some(Term::Place { address, ty: to.clone(), bits: None })
    }

    fn member(&self, of: Term, name: &str) -> Option<Term> {
        let symbols = self.symbols;
        let pointer = match &of {
            Term::Place { ty, .. } | Term::Held { ty, .. } => match &*symbols.kind(ty).ok()? {
                Kind::Pointer { to, .. } => Some(to.clone()),
                _ => None,
            },
            Term::Computed(_) => return None,
        };
        let of = match pointer {
            Some(to) => self.pointed(self.as_number(of)?, &to)?,
            None => of,
        };
        let Term::Place { address, ty, bits: None } = of else { return None };
        // Where it lies in a structure at no address is where it lies in one at any.
        let found = symbols.member(&Value::at(ty, 0), &Nowhere, name).ok()?;
        let Place::Memory(offset) = found.place else { return None };
        Some(Term::Place { address: address.behind(offset), ty: found.ty, bits: found.bits })
    }

    fn element(&self, of: Term, index: Code) -> Option<Term> {
        let ty = match &of {
            Term::Place { ty, .. } | Term::Held { ty, .. } => ty.clone(),
            Term::Computed(_) => return None,
        };
        let (first, of, least) = match (&*self.symbols.kind(&ty).ok()?, of) {
            (Kind::Array { of, .. }, Term::Place { address, .. }) => (address, of.clone(), 0),
            (Kind::Pointer { to, .. }, pointer) => {
                let Term::Place { address, .. } = self.pointed(self.as_number(pointer)?, to)? else {
                    return None;
                };
                (address, to.clone(), 1)
            }
            _ => return None,
        };
        let size = self.symbols.size(&of).ok()?.max(least);
        let address = match index {
            Code::Known(Number::Integer { value, .. }) => {
                first.behind(i128::from(size).wrapping_mul(value) as u64)
            }
            index => Address::Element { first: Box::new(first), index: Box::new(index), size, offset: 0 },
        };
        Some(Term::Place { address, ty: of, bits: None })
    }

    fn variable(&self, variable: &Variable) -> Option<Term> {
        let symbols = self.symbols;
        let ((module, die), ty) = (variable.declared, variable.ty.clone());
        let debug = symbols.debug(module).ok()?;
        if let Kind::Array { length: None, .. } | Kind::Reference { .. } = &*symbols.kind(&ty).ok()? {
            return None;
        }
        if debug.attribute(die, gimli::DW_AT_const_value).ok()?.is_some() {
            let value = symbols.value(variable, Some(&self.frame), &Nowhere).ok()?;
            return Some(Term::Computed(Code::Known(symbols.to_number(&value, &Nowhere).ok()?)));
        }
        let (unit, location) = debug.attribute(die, gimli::DW_AT_location).ok()??;
        let context = Context::of(symbols, &self.frame, &Nowhere, module, die.unit);
        let encoding = debug.units[unit].unit.encoding();
        let expression = context.chosen(unit, location).ok()??;
        match self.place(operations(expression, encoding)?.as_slice(), module)? {
            Simple::Memory(address) => Some(Term::Place { address, ty, bits: None }),
            Simple::Register(register) => self.held(register, ty),
        }
    }

    /// The place that an expression of DWARF means, if it is a simple one.
    fn place(&self, operations: &[Operation<Bytes>], module: usize) -> Option<Simple> {
        Some(match operations {
            [Operation::Address { address }] => {
                Simple::Memory(Address::Fixed(address.wrapping_add(self.symbols.bias(module))))
            }
            [Operation::FrameOffset { offset }] => Simple::Memory(self.frame_base()?.behind(*offset as u64)),
            [Operation::CallFrameCFA] => Simple::Memory(self.canonical_address()?),
            [Operation::RegisterOffset { register, offset, base_type }] if base_type.0 == 0 => {
                Simple::Memory(Address::Register { number: register.0, offset: *offset as u64 })
            }
            [Operation::Register { register }] => Simple::Register(register.0),
            _ => return None,
        })
    }

    fn frame_base(&self) -> Option<Address> {
        let (module, function) = self.frame.function_die?;
        let debug = self.symbols.debug(module).ok()?;
        let (unit, value) = debug.attribute(function, gimli::DW_AT_frame_base).ok()??;
        let context = Context::of(self.symbols, &self.frame, &Nowhere, module, unit);
        let expression = context.chosen(unit, value).ok()??;
        match operations(expression, debug.units[unit].unit.encoding())?.as_slice() {
            // The register's own value is the base.
            [Operation::Register { register }] => Some(Address::Register { number: register.0, offset: 0 }),
            [Operation::FrameOffset { .. }] => None,
            other => match self.place(other, module)? {
                Simple::Memory(address) => Some(address),
                Simple::Register(_) => None,
            },
        }
    }

    /// The canonical address of the frame, where it is an offset from a register.
    fn canonical_address(&self) -> Option<Address> {
        let (number, offset) = self.symbols.cfa_rule(self.frame.look)?;
        Some(Address::Register { number, offset: offset as u64 })
    }
}

enum Simple {
    Memory(Address),
    Register(u16),
}

fn operations(
    expression: gimli::Expression<Bytes>,
    encoding: gimli::Encoding,
) -> Option<Vec<Operation<Bytes>>> {
    let mut operations = expression.operations(encoding);
    let mut all = Vec::new();
    while let Some(operation) = operations.next().ok()? {
        all.push(operation);
        if all.len() > 2 {
            return None;
        }
    }
    Some(all)
}
