//! C types spelled again from debug information, with the same layout: so a driver passes structures just as the
//! program's own files do, without including them.

use parallax_cmachine::{size_of, strip};
use parallax_cmodule::{DebugType, DebugTypeId, Field, Module};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Types within types; debug information of a corrupt module may go in circles.
const DEEPEST: u32 = 32;

/// The types that a driver declares.
pub(super) struct Types<'m> {
    module: &'m Module,
    names: FxHashMap<DebugTypeId, String>,
    /// Their declarations, in order.
    pub(super) text: String,
}

impl<'m> Types<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Types { module, names: FxHashMap::default(), text: String::new() }
    }

    /// A name for a type, which is declared if need be; `void` for none.
    pub(super) fn name(&mut self, ty: Option<DebugTypeId>) -> Result<String, String> {
        self.named(ty, 0)
    }

    fn named(&mut self, ty: Option<DebugTypeId>, depth: u32) -> Result<String, String> {
        let Some(id) = strip(self.module, ty) else { return Ok("void".into()) };
        if depth > DEEPEST {
            return Err("a type that is part of itself".into());
        }
        if let Some(name) = self.names.get(&id) {
            return Ok(name.clone());
        }
        let name = format!("t{}_", id.0);
        match &self.module.debug_types[id.0 as usize] {
            DebugType::Pointer(_) => return Ok("void *".into()),
            DebugType::Enum { bits, .. } => return integer(*bits, false).map(String::from),
            DebugType::Base { name, bits, float, signed } => {
                return base(name, *bits, *float, *signed).map(String::from);
            }
            DebugType::Array { element, len } => {
                let element = self.named(*element, depth + 1)?;
                let _ = writeln!(self.text, "typedef {element} {name}[{len}];");
            }
            DebugType::Struct { fields, size, .. } => self.record("struct", &name, fields, *size, depth)?,
            DebugType::Union { fields, size, .. } => self.record("union", &name, fields, *size, depth)?,
            DebugType::Function(_) | DebugType::Alias { .. } | DebugType::Unknown => {
                return Err("a type that debug information does not describe".into());
            }
        }
        self.names.insert(id, name.clone());
        Ok(name)
    }

    /// A structure or union, and that its layout is the one it had.
    fn record(
        &mut self,
        word: &str,
        name: &str,
        fields: &'m [Field],
        size: u64,
        depth: u32,
    ) -> Result<(), String> {
        let mut body = String::new();
        let mut checks = format!("_Static_assert(sizeof({name}) == {size}, \"layout\");\n");
        for (number, field) in fields.iter().enumerate() {
            let ty = self.named(field.ty, depth + 1)?;
            if size_of(self.module, field.ty) * 8 == field.bits {
                let _ = write!(body, " {ty} f{number};");
                let offset = field.offset_bits / 8;
                let _ = writeln!(
                    checks,
                    "_Static_assert(__builtin_offsetof({name}, f{number}) == {offset}, \"layout\");"
                );
            } else {
                let _ = write!(body, " {ty} f{number} : {};", field.bits);
            }
        }
        let _ = write!(self.text, "typedef {word} {{{body} }} {name};\n{checks}");
        Ok(())
    }
}

fn base(name: &str, bits: u64, float: bool, signed: bool) -> Result<&'static str, String> {
    Ok(match (bits, name.to_ascii_lowercase().contains("complex"), float) {
        (64, true, _) => "_Complex float",
        (128, true, _) => "_Complex double",
        (32, _, true) => "float",
        (64, _, true) => "double",
        (128, _, true) if name == "long double" => "long double",
        (_, false, false) if name == "_Bool" => "_Bool",
        (_, false, false) => return integer(bits, signed),
        _ => return Err(format!("{name} as an argument")),
    })
}

fn integer(bits: u64, signed: bool) -> Result<&'static str, String> {
    Ok(match (bits, signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned",
        (64, true) => "long",
        (64, false) => "unsigned long",
        (128, true) => "__int128",
        (128, false) => "unsigned __int128",
        _ => return Err(format!("a number of {bits} bits")),
    })
}
