//! Which variables are in scope at a place, and their values there.

use crate::debug::{Debug, Die};
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::lines::{Line, LineTable};
use crate::location::Context;
use crate::symbols::Symbols;
use crate::types::{Kind, Made, Type, constant};
use crate::value::{Place, State, Value};
use gimli::{AttributeValue, Reader};
use std::collections::HashSet;
use std::sync::Arc;

/// What a variable is to its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter.
    Parameter,
    /// A local variable.
    Local,
    /// A variable outside functions.
    Global,
}

/// A variable in scope.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is to its function.
    pub role: Role,
    /// Its type.
    pub ty: Type,
    pub(crate) declared: (usize, Die),
}

/// A function, an inlined one, or a block of one, that contains a place in the code.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub die: Die,
    pub is_inlined: bool,
    /// Its variables and parameters.
    variables: Vec<(Die, Role)>,
}

impl Debug {
    /// The blocks of a function that contain an address of the file, outermost first.
    pub fn blocks(&self, function: Die, address: u64) -> Result<Vec<Block>> {
        let malformed = |why| self.malformed(why);
        let unit = &self.units[function.unit].unit;
        let mut entries = unit.entries_at_offset(function.offset).map_err(malformed)?;
        let (mut blocks, mut open): (Vec<Block>, Vec<(isize, usize)>) = (Vec::new(), Vec::new());
        let mut depth = 0isize;
        let mut is_first = true;
        while let Some((delta, entry)) = entries.next_dfs().map_err(malformed)? {
            depth = if is_first { 0 } else { depth + delta };
            if depth <= 0 && !is_first {
                break;
            }
            let tag = entry.tag();
            let die = Die { unit: function.unit, offset: entry.offset() };
            while open.last().is_some_and(|(outer, _)| *outer >= depth) {
                open.pop();
            }
            let parent = open.last().filter(|(outer, _)| outer + 1 == depth).map(|(_, block)| *block);
            let is_block = matches!(
                tag,
                gimli::DW_TAG_lexical_block
                    | gimli::DW_TAG_inlined_subroutine
                    | gimli::DW_TAG_try_block
                    | gimli::DW_TAG_catch_block
            );
            let role = match tag {
                gimli::DW_TAG_formal_parameter => Some(Role::Parameter),
                gimli::DW_TAG_variable => Some(Role::Local),
                _ => None,
            };
            if is_first {
                blocks.push(Block { die, is_inlined: false, variables: Vec::new() });
                open.push((0, 0));
            } else if let (true, Some(parent)) = (is_block, parent) {
                let is_inlined = tag == gimli::DW_TAG_inlined_subroutine;
                let ranges = self.ranges_of(unit, entry)?;
                if ranges.iter().any(|range| range.contains(&address)) {
                    open.push((depth, blocks.len()));
                    blocks.push(Block { die, is_inlined, variables: Vec::new() });
                } else if ranges.is_empty() && !is_inlined {
                    // A block that says nothing of its extent is as large as the one around it.
                    open.push((depth, parent));
                }
            } else if let (Some(role), Some(parent)) = (role, parent) {
                blocks[parent].variables.push((die, role));
            }
            is_first = false;
        }
        for at in 0..blocks.len() {
            self.add_forgotten(&mut blocks, at)?;
        }
        Ok(blocks)
    }

    /// Variables of an inlined function that its instance does not mention: they exist, without a value.
    fn add_forgotten(&self, blocks: &mut [Block], at: usize) -> Result<()> {
        let Some(origin) = self.origin(blocks[at].die)? else { return Ok(()) };
        let mut mentioned = HashSet::new();
        for block in blocks[at..].iter() {
            for (die, _) in &block.variables {
                mentioned.extend(self.origin(*die)?);
            }
        }
        let mut children = self.children(origin)?;
        let blocks_inside = children.iter().filter(|(_, tag)| *tag == gimli::DW_TAG_lexical_block);
        for (block, _) in blocks_inside.copied().collect::<Vec<_>>() {
            children.extend(self.children(block)?);
        }
        for (child, tag) in children {
            let role = match tag {
                gimli::DW_TAG_formal_parameter => Role::Parameter,
                gimli::DW_TAG_variable => Role::Local,
                _ => continue,
            };
            // The declaration of a method names its parameters once more.
            if self.origin(child)?.is_none() && !mentioned.contains(&child) && self.is_abstract(origin)? {
                blocks[at].variables.push((child, role));
            }
        }
        Ok(())
    }

    fn is_abstract(&self, die: Die) -> Result<bool> {
        let entry = self.entry(die)?;
        Ok(entry.tag() == gimli::DW_TAG_lexical_block || self.own(die, gimli::DW_AT_inline)?.is_some())
    }

    /// What a call site that returns to an address of the file says of its parameters.
    pub fn call_site_parameters(&self, function: Die, return_address: u64) -> Result<Vec<Die>> {
        let malformed = |why| self.malformed(why);
        let unit = &self.units[function.unit].unit;
        let mut entries = unit.entries_at_offset(function.offset).map_err(malformed)?;
        let (mut depth, mut is_first, mut site) = (0isize, true, None);
        let mut found = Vec::new();
        while let Some((delta, entry)) = entries.next_dfs().map_err(malformed)? {
            depth = if is_first { 0 } else { depth + delta };
            if depth <= 0 && !is_first {
                break;
            }
            is_first = false;
            if site.is_some_and(|site| depth <= site) {
                break;
            }
            match entry.tag() {
                gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site => {
                    let returns = match entry.attr_value(gimli::DW_AT_call_return_pc).map_err(malformed)? {
                        Some(value) => Some(value),
                        None => entry.attr_value(gimli::DW_AT_low_pc).map_err(malformed)?,
                    };
                    let returns = match returns {
                        Some(value) => self.dwarf.attr_address(unit, value).map_err(malformed)?,
                        None => None,
                    };
                    if returns == Some(return_address) {
                        site = Some(depth);
                    }
                }
                gimli::DW_TAG_call_site_parameter | gimli::DW_TAG_GNU_call_site_parameter
                    if site.is_some() =>
                {
                    found.push(Die { unit: function.unit, offset: entry.offset() });
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

impl Symbols {
    /// The blocks around a place, outermost first; remembered by function and place.
    pub(crate) fn blocks(&self, module: usize, function: Die, look: u64) -> Result<Arc<Vec<Block>>> {
        let address = look.wrapping_sub(self.bias(module));
        if let Some(known) = self.known_blocks(module, address) {
            return Ok(known);
        }
        let blocks = Arc::new(self.debug(module)?.blocks(function, address)?);
        self.remember_blocks(module, address, blocks.clone());
        Ok(blocks)
    }

    /// The line that an inlined function was called at.
    pub(crate) fn call_line(&self, module: usize, die: Die) -> Option<Line> {
        let debug = self.debug(module).ok()?;
        let line = debug.unsigned(die, gimli::DW_AT_call_line).ok()??;
        let column = debug.unsigned(die, gimli::DW_AT_call_column).ok()?.unwrap_or(0);
        let number = match debug.own(die, gimli::DW_AT_call_file).ok()?? {
            AttributeValue::FileIndex(number) => number,
            other => other.udata_value()?,
        };
        let file = LineTable::file(&debug.dwarf, &debug.units[die.unit].unit, number).ok()??;
        Some(Line { file: file.into(), line, column })
    }

    /// The parameters and local variables of a frame, innermost blocks first, each in the order of its declaration.
    pub fn variables(&self, frame: &Frame) -> Result<Vec<Variable>> {
        let Some((module, function)) = frame.function_die else { return Ok(Vec::new()) };
        let debug = self.debug(module)?;
        // Frames show nothing of a function whose blocks are malformed; who asks for them gets the reason.
        let blocks = self.blocks(module, function, frame.look)?;
        let mut found = Vec::new();
        for block in blocks.get(frame.own.clone()).unwrap_or_default().iter().rev() {
            for (die, role) in &block.variables {
                // Lengths of arrays that clang keeps in variables of its own are no part of the source.
                let is_made_up = |name: &String| name.starts_with("__vla_expr");
                if let Some(name) = debug.name(*die)?.filter(|name| !is_made_up(name)) {
                    let ty = Type::declared(module, debug.type_die(*die)?);
                    found.push(Variable { name, role: *role, ty, declared: (module, *die) });
                }
            }
        }
        Ok(found)
    }

    /// The variable that a name means in a frame: the innermost one, then one of the class, then a global one.
    pub fn variable(&self, frame: &Frame, name: &str) -> Result<Variable> {
        let variables = self.variables(frame)?;
        if let Some(found) = variables.into_iter().find(|variable| variable.name == name) {
            return Ok(found);
        }
        let unit = frame.function_die.map(|(module, die)| (module, die.unit));
        let prefix = frame.function.as_deref();
        match self.global(name, unit, prefix)? {
            Some(found) => Ok(found),
            None => Err(Error::NoVariable { name: name.to_owned(), function: frame.function.clone() }),
        }
    }

    /// The value of a variable in a frame.
    pub fn value(&self, variable: &Variable, frame: Option<&Frame>, state: &dyn State) -> Result<Value> {
        let (module, die) = variable.declared;
        let debug = self.debug(module)?;
        let empty = crate::unwind::Registers::default();
        let context = match frame {
            Some(frame) => Context::of(self, frame, state, module, die.unit),
            None => Context {
                symbols: self,
                state,
                registers: &empty,
                module,
                unit: Some(die.unit),
                cfa: None,
                frame: None,
                climbed: 0,
            },
        };
        let ty = self.with_lengths(&variable.ty, &context)?;
        if let Some((unit, value)) = debug.attribute(die, gimli::DW_AT_const_value)? {
            return self.constant_value(ty, unit, value);
        }
        let lost = |ty| Ok(Value { ty, place: Place::OptimizedOut, bits: None });
        let Some((unit, value)) = debug.attribute(die, gimli::DW_AT_location)? else {
            let is_declared = debug.own(die, gimli::DW_AT_declaration)?.is_some();
            if is_declared && let Some(found) = self.global(&variable.name, None, None)? {
                return self.value(&found, None, state);
            }
            return lost(ty);
        };
        let Some(expression) = context.chosen(unit, value)? else { return lost(ty) };
        if expression.0.is_empty() {
            return lost(ty);
        }
        let pieces = match context.run(expression, debug.units[unit].unit.encoding(), None) {
            Ok(pieces) => pieces,
            Err(Error::OptimizedOut { .. } | Error::NoRegister { .. }) => return lost(ty),
            Err(error) => return Err(error),
        };
        let size = self.size(&ty)?;
        Ok(Value { place: context.place(&pieces, size)?, ty, bits: None })
    }

    fn constant_value(&self, ty: Type, unit: usize, value: crate::debug::Attribute) -> Result<Value> {
        let size = self.size(&ty)?;
        let bytes = match &value {
            AttributeValue::Block(block) => {
                block.to_slice().map_or_else(|_| Vec::new(), |bytes| bytes.into_owned())
            }
            AttributeValue::String(text) => {
                let _ = unit;
                let mut bytes = text.to_slice().map_or_else(|_| Vec::new(), |bytes| bytes.into_owned());
                bytes.push(0);
                bytes
            }
            number => self.number(constant(number), size),
        };
        Ok(Value::computed(ty, bytes))
    }

    /// An array type whose length the program knows, with that length.
    fn with_lengths(&self, ty: &Type, context: &Context<'_>) -> Result<Type> {
        let Kind::Array { of, length: None } = &*self.kind(ty)? else { return Ok(ty.clone()) };
        let Made::Declared { module, die } = ty.0 else { return Ok(ty.clone()) };
        let debug = self.debug(module)?;
        for (child, tag) in debug.children(die)? {
            if tag != gimli::DW_TAG_subrange_type {
                continue;
            }
            for (name, more) in [(gimli::DW_AT_count, 0), (gimli::DW_AT_upper_bound, 1)] {
                let Some(bound) = debug.own(child, name)? else { continue };
                let bound = match self.bound(bound, child, context) {
                    Ok(bound) => bound,
                    Err(Error::OptimizedOut { .. }) => continue,
                    Err(error) => return Err(error),
                };
                let length = bound.saturating_add(more);
                return Ok(Type(Made::Array {
                    of: Arc::new(of.clone()),
                    length: u64::try_from(length).unwrap_or(0),
                }));
            }
        }
        Ok(ty.clone())
    }

    fn bound(&self, bound: crate::debug::Attribute, child: Die, context: &Context<'_>) -> Result<i128> {
        let debug = self.debug(context.module)?;
        if let AttributeValue::Exprloc(expression) = bound {
            let encoding = debug.units[child.unit].unit.encoding();
            // The bound is the value that the expression computes, whether it calls it an address or not.
            return context.address(expression, encoding, None).map(|bound| i128::from(bound as i64));
        }
        let Some(die) = debug.reference(child.unit, &bound)? else {
            return Err(Error::OptimizedOut { what: "the length of the array".to_owned() });
        };
        let ty = Type::declared(context.module, debug.type_die(die)?);
        let counter =
            Variable { name: String::new(), role: Role::Local, ty, declared: (context.module, die) };
        let value = self.value(&counter, context.frame, context.state)?;
        self.integer(&value, context.state)
    }
}
