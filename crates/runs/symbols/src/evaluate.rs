//! Expressions evaluated in a frame.

use crate::arithmetic::Ones;
use crate::elf::Machine;
use crate::error::{Error, Result};
use crate::expression::{Binary, Expression, parse};
use crate::frame::Frame;
use crate::symbols::Symbols;
use crate::types::{Kind, Made, Type};
use crate::value::{Place, State, Value};

/// The registers of x86-64 by their DWARF numbers.
const X86_64: &[&str] = &[
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "rip",
];

impl Symbols {
    /// The value of an expression in a frame.
    pub fn evaluate(&self, text: &str, frame: &Frame, state: &dyn State) -> Result<Value> {
        self.evaluated(&self.parsed(text, frame)?, frame, state)
    }

    /// An expression read where the names of a frame mean what they do.
    pub(crate) fn parsed(&self, text: &str, frame: &Frame) -> Result<Expression> {
        parse(text, &|name| {
            self.variable(frame, name).is_err() && self.type_named(name, module_of(frame)).is_some()
        })
    }

    /// The DWARF number of a register by its name.
    pub fn register_named(&self, name: &str) -> Option<u16> {
        let name = match name {
            "pc" => "rip",
            "sp" => "rsp",
            "fp" => "rbp",
            other => other,
        };
        if self.machine() != Machine::X86_64 {
            return None;
        }
        if let Some(number) = name.strip_prefix("xmm").and_then(|number| number.parse::<u16>().ok()) {
            return (number < 16).then_some(17 + number);
        }
        X86_64.iter().position(|known| *known == name).map(|at| at as u16)
    }

    fn evaluated(&self, expression: &Expression, frame: &Frame, state: &dyn State) -> Result<Value> {
        match expression {
            Expression::Name(name) => self.named(name, frame, state),
            Expression::Register(name) => {
                let unknown = || Error::NoVariable { name: format!("${name}"), function: None };
                let number = self.register_named(name).ok_or_else(unknown)?;
                let raw = if name == "pc" || name == "rip" {
                    Some(frame.pc.into())
                } else {
                    frame.registers.get(state, number)
                };
                let raw = raw.ok_or(Error::NoRegister { register: number })?;
                let size = if (17..33).contains(&number) { 16 } else { self.address_size() };
                Ok(Value::computed(Type::integer(size, size == 8), self.number(raw as i128, size)))
            }
            Expression::Integer(literal) => Ok(self.literal(literal)),
            Expression::Float(value, size) => Ok(self.float_value(*value, *size)),
            Expression::Character(code) => {
                Ok(Value::computed(self.cast_type("char", module_of(frame))?, vec![*code]))
            }
            Expression::Member(of, name) => self.member(&self.kept(of, frame, state)?, state, name),
            Expression::Index(of, index) => {
                let index = self.integer(&self.kept(index, frame, state)?, state)?;
                self.element(&self.kept(of, frame, state)?, state, index)
            }
            Expression::Unary(operator, of) => self.unary(*operator, &self.operand(of, frame, state)?, state),
            // The right side of these is only looked at if it matters.
            Expression::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let left = self.operand(left, frame, state)?;
                if self.is_true(&left, state)? == (*operator == Binary::Or) {
                    return self.binary(*operator, &left, &left, state);
                }
                self.binary(*operator, &left, &self.operand(right, frame, state)?, state)
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.operand(left, frame, state)?, self.operand(right, frame, state)?);
                self.binary(*operator, &left, &right, state)
            }
            Expression::Cast { name, stars, of } => {
                let ty = self.written_type(name, *stars, frame)?;
                self.cast(&self.kept(of, frame, state)?, ty, state)
            }
            Expression::SizeOf(of) => {
                let ty = match (self.unevaluated(of, frame, state), &**of) {
                    // A name that is no variable may be that of a type.
                    (Err(Error::NoVariable { .. }), Expression::Name(name)) => {
                        self.written_type(name, 0, frame)?
                    }
                    (value, _) => self.referred(&value?, state)?.ty,
                };
                self.size_value(&ty)
            }
            Expression::SizeOfType { name, stars } => {
                self.size_value(&self.written_type(name, *stars, frame)?)
            }
            Expression::Span(first, length) => {
                let length = self.integer(&self.kept(length, frame, state)?, state)?;
                self.span(&self.kept(first, frame, state)?, length)
            }
            Expression::Conditional(condition, then, otherwise) => {
                let holds = self.is_true(&self.kept(condition, frame, state)?, state)?;
                let (chosen, other) = if holds { (then, otherwise) } else { (otherwise, then) };
                let value = self.operand(chosen, frame, state)?;
                match self.unevaluated(other, frame, state) {
                    Ok(other) => self.chosen(value, &other, state),
                    Err(_) => Ok(value),
                }
            }
        }
    }

    /// A value that has the type of an expression, whether or not there is a value.
    fn unevaluated(&self, expression: &Expression, frame: &Frame, state: &dyn State) -> Result<Value> {
        match self.operand(expression, frame, state) {
            Err(Error::Unreadable { .. }) => self.operand(expression, frame, &Ones { of: state }),
            found => found,
        }
    }

    fn size_value(&self, ty: &Type) -> Result<Value> {
        let size = self.address_size();
        Ok(Value::computed(Type::integer(size, false), self.number(self.size(ty)?.into(), size)))
    }

    /// So many values of one type behind each other, from this one on.
    fn span(&self, first: &Value, length: i128) -> Result<Value> {
        let length = u32::try_from(length).ok().filter(|length| *length > 0);
        match (&first.place, first.bits, length) {
            (Place::Memory(address), None, Some(length)) => {
                let of = std::sync::Arc::new(first.ty.clone());
                Ok(Value::at(Type(Made::Array { of, length: length.into() }), *address))
            }
            (_, _, None) => Err(self.complaint(&first.ty, "cannot be repeated so often")),
            _ => Err(self.complaint(&first.ty, "is not in memory and has nothing behind it")),
        }
    }

    /// A type as an expression writes it.
    fn written_type(&self, name: &str, stars: usize, frame: &Frame) -> Result<Type> {
        let ty = self.cast_type(name, module_of(frame))?;
        Ok((0..stars).fold(ty, |ty, _| Type::pointer(ty)))
    }

    /// A part of an expression, whose value must have been kept.
    fn kept(&self, expression: &Expression, frame: &Frame, state: &dyn State) -> Result<Value> {
        let value = self.evaluated(expression, frame, state)?;
        match (&value.place, expression) {
            (Place::OptimizedOut | Place::Synthetic, Expression::Name(name)) => {
                Err(Error::OptimizedOut { what: name.clone() })
            }
            _ => Ok(value),
        }
    }

    /// An operand: a name of an enumeration is an `int` there, whatever its enumeration is.
    fn operand(&self, expression: &Expression, frame: &Frame, state: &dyn State) -> Result<Value> {
        let value = self.kept(expression, frame, state)?;
        if let (Expression::Name(name), Kind::Enum { .. }) = (expression, &*self.kind(&value.ty)?)
            && self.variable(frame, name).is_err()
            && let Ok(number) = i32::try_from(self.integer(&value, state)?)
        {
            return Ok(Value::computed(Type::INT, self.number(number.into(), 4)));
        }
        Ok(value)
    }

    /// What a name means in a frame: a variable, a member of `this`, a function.
    fn named(&self, name: &str, frame: &Frame, state: &dyn State) -> Result<Value> {
        let locals = self.variables(frame)?;
        if let Some(variable) = locals.iter().find(|variable| variable.name == name) {
            return self.value(variable, Some(frame), state);
        }
        if let Some(this) = locals.iter().find(|variable| variable.name == "this") {
            let this = self.value(this, Some(frame), state)?;
            match self.member(&this, state, name) {
                Err(Error::Type { .. } | Error::OptimizedOut { .. }) => {}
                found => return found,
            }
        }
        let near = frame.function_die.map(|(module, die)| (module, die.unit));
        if let Some(variable) = self.global(name, near, frame.function.as_deref())? {
            return self.value(&variable, Some(frame), state);
        }
        if let Some(value) = self.enumerator(name, near, frame.function.as_deref())? {
            return Ok(value);
        }
        match self.functions_named(name).first() {
            Some(address) => Ok(self.pointer(*address, Type::VOID)),
            None => Err(Error::NoVariable { name: name.to_owned(), function: frame.function.clone() }),
        }
    }

    fn cast_type(&self, name: &str, near: usize) -> Result<Type> {
        let built_in = built_in(name, self.address_size());
        // The program's own type of that name prints better than ours.
        match self.type_named(name, near) {
            Some((module, die)) => Ok(Type::declared(module, Some(die))),
            None => built_in.ok_or_else(|| Error::NoVariable { name: name.to_owned(), function: None }),
        }
    }
}

/// A type that C has by itself, by its words in any order.
fn built_in(name: &str, long: u64) -> Option<Type> {
    let count = |word: &str| name.split(' ').filter(|own| *own == word).count();
    const KNOWN: [&str; 12] = [
        "void", "bool", "_Bool", "char", "short", "int", "long", "__int128", "signed", "unsigned", "float",
        "double",
    ];
    if !name.split(' ').all(|word| KNOWN.contains(&word)) {
        return None;
    }
    let signed = count("unsigned") == 0;
    let size = match (count("long"), count("short")) {
        _ if count("__int128") > 0 => 16,
        (0, 0) => 4,
        (0, _) => 2,
        (1, 0) => long,
        _ => 8,
    };
    Some(match name {
        "void" => Type::VOID,
        "bool" | "_Bool" => Type(Made::Boolean),
        "float" => Type(Made::Float { size: 4 }),
        "double" => Type(Made::Float { size: 8 }),
        _ if ["void", "bool", "_Bool", "float", "double"].iter().any(|word| count(word) > 0) => return None,
        _ if count("char") > 0 => Type::integer(1, signed),
        _ => Type::integer(size, signed),
    })
}

fn module_of(frame: &Frame) -> usize {
    frame.function_die.map_or(0, |(module, _)| module)
}
