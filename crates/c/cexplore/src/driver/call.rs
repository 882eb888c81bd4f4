//! The `main` of a driver that calls a function: it builds the memory, then the arguments, then calls.

use super::types::Types;
use crate::explore::Input;
use crate::run::{Argument, Block, Place};
use parallax_cmachine::{parameter_pieces, size_of};
use parallax_cmodule::{Function, FunctionId, GlobalId, Module};
use parallax_op::Bits;
use std::fmt::Write;

const PUT: &str = "\
void *malloc(unsigned long); void *memset(void *, int, unsigned long);
void *memcpy(void *, const void *, unsigned long);
static void put_(void *at, unsigned long offset, unsigned long long v, int n) {
  for (int i = 0; i < n; i++) ((unsigned char *)at)[offset + i] = (unsigned char)(v >> (8 * i));
}
";

/// Names of the program's own things in the driver: by symbol, so that no declaration can conflict.
struct Symbols<'m> {
    module: &'m Module,
    declarations: String,
    hidden: Vec<(String, String)>,
}

impl Symbols<'_> {
    fn declare(&mut self, ours: &str, symbol: &str, exported: bool, file: &str) -> Result<(), String> {
        let line = format!("extern char {ours}[] __asm__(\"{symbol}\");\n");
        if self.declarations.contains(&line) {
            return Ok(());
        }
        self.declarations.push_str(&line);
        if !exported {
            // The linker numbers things of one name; the object has another number, or none.
            if symbol.rsplit_once('.').is_some_and(|(_, end)| end.bytes().all(|b| b.is_ascii_digit())) {
                return Err(format!("{symbol} is static, and not the only thing of its name"));
            }
            self.hidden.push((symbol.to_string(), file.to_string()));
        }
        Ok(())
    }

    fn function(&mut self, id: FunctionId) -> Result<String, String> {
        let function = self.module.function(id);
        let symbol = if function.name == "main" { "program_main_" } else { &function.name };
        let ours = format!("f{}_", id.0);
        let file = self.module.file_of(function.location).to_string();
        self.declare(&ours, symbol, function.exported, &file)?;
        Ok(ours)
    }

    fn global(&mut self, id: GlobalId) -> Result<String, String> {
        let global = self.module.global(id);
        if global.thread_local {
            return Err(format!("{} is a variable of each thread", global.name));
        }
        let ours = format!("g{}_", id.0);
        let variable = global.variable.map(|v| &self.module.variables[v.0 as usize]);
        let file = variable.map_or("", |v| &self.module.files[v.file as usize]).to_string();
        self.declare(&ours, &global.name, global.exported, &file)?;
        Ok(ours)
    }

    fn place(&mut self, place: &Place) -> Result<String, String> {
        Ok(match place {
            Place::Null => "(void *)0".into(),
            Place::Block(number, offset) => format!("(void *)(b{number} + {offset})"),
            Place::Function(id) => format!("(void *){}", self.function(*id)?),
        })
    }
}

/// Adds a `main` that builds the memory and calls the function; the static symbols that it needs.
pub(super) fn main(
    module: &Module,
    name: &str,
    input: &Input,
    text: &mut String,
) -> Result<Vec<(String, String)>, String> {
    let id = module.function_named(name).ok_or_else(|| format!("the program has no function {name}"))?;
    let function = module.function(id);
    let mut symbols = Symbols { module, declarations: String::new(), hidden: Vec::new() };
    let mut types = Types::new(module);
    let mut body = String::new();
    let callee = symbols.function(id)?;
    for (number, block) in input.memory.blocks.iter().enumerate() {
        let start = match block.global {
            Some(global) => symbols.global(GlobalId(global))?,
            None => format!("malloc({0}); memset(b{number}, 0, {0})", block.size),
        };
        let _ = writeln!(body, "  char *b{number} = {start};");
    }
    for (number, block) in input.memory.blocks.iter().enumerate() {
        contents(&mut symbols, number, block, &mut body)?;
    }
    let parameters = arguments(module, function, input, &mut symbols, &mut types, &mut body)?;
    let result = types.name(function.signature.first().copied().flatten())?;
    let named: Vec<String> = (0..parameters.len()).map(|number| format!("a{number}")).collect();
    let list = if parameters.is_empty() { "void".into() } else { parameters.join(", ") };
    text.push_str(PUT);
    text.push_str(&symbols.declarations);
    text.push_str(&types.text);
    let _ = writeln!(text, "int main(void) {{\n{body}  /* {name} */");
    let _ = writeln!(text, "  (({result} (*)({list}))(void *){callee})({});", named.join(", "));
    let _ = writeln!(text, "  return 0;\n}}");
    Ok(symbols.hidden)
}

fn contents(
    symbols: &mut Symbols<'_>,
    number: usize,
    block: &Block,
    body: &mut String,
) -> Result<(), String> {
    for (offset, bits) in &block.bits {
        put(body, &format!("b{number}"), *offset, bits);
    }
    for (offset, place) in &block.pointers {
        let place = symbols.place(place)?;
        let _ = writeln!(body, "  *(void **)(b{number} + {offset}) = {place};");
    }
    Ok(())
}

/// Variables `a0`, `a1`, ... for the arguments; their types.
fn arguments(
    module: &Module,
    function: &Function,
    input: &Input,
    symbols: &mut Symbols<'_>,
    types: &mut Types<'_>,
    body: &mut String,
) -> Result<Vec<String>, String> {
    let pieces = parameter_pieces(module, function)
        .ok_or_else(|| format!("debug information does not say what {} takes", function.name))?;
    let mut parameters = Vec::new();
    for (number, range) in pieces.iter().enumerate() {
        let declared = function.signature[number + 1];
        let ty = types.name(declared)?;
        let size = size_of(module, declared);
        let _ = writeln!(body, "  {ty} a{number}; memset(&a{number}, 0, sizeof a{number});");
        for (piece, index) in range.clone().enumerate() {
            let at = 8 * piece as u64;
            let Some(argument) = input.memory.arguments.get(index) else {
                return Err(format!("{} is not given all its arguments", function.name));
            };
            match argument {
                Argument::Pointer(Place::Block(block, _))
                    if function.parameters[index].by_value.is_some() =>
                {
                    let _ = writeln!(body, "  memcpy(&a{number}, b{block}, {size});");
                }
                Argument::Pointer(place) => {
                    let place = symbols.place(place)?;
                    let _ = writeln!(body, "  *(void **)((char *)&a{number} + {at}) = {place};");
                }
                Argument::Bits(bits) => put_within(body, number, at, size, bits),
                Argument::Many(parts) => {
                    let mut at = at;
                    for bits in parts {
                        put_within(body, number, at, size, bits);
                        at += u64::from(bits.width().div_ceil(8));
                    }
                }
            }
        }
        parameters.push(ty);
    }
    Ok(parameters)
}

/// The bits of an argument, as far as there is room: a register may be wider than the end of a structure.
fn put_within(body: &mut String, number: usize, at: u64, size: u64, bits: &Bits) {
    let room = (size.saturating_sub(at) * 8).min(u64::from(bits.width())) as u16;
    if room > 0 {
        put(body, &format!("&a{number}"), at, &bits.extract(0, room));
    }
}

/// Writes a value in pieces of at most eight bytes.
fn put(body: &mut String, to: &str, offset: u64, bits: &Bits) {
    let bytes = bits.width().div_ceil(8);
    for at in (0..bytes).step_by(8) {
        let len = (bytes - at).min(8);
        let part = bits.extract(at * 8, (len * 8).min(bits.width() - at * 8));
        let value = part.to_u64().unwrap_or(0);
        let _ = writeln!(body, "  put_({to}, {}, {value:#x}ULL, {len});", offset + u64::from(at));
    }
}
