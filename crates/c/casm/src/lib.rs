//! Inline assembly of x86-64 as functions of the module.
//!
//! A call of assembly becomes a call of a function that is made here: its operands are given registers by their
//! constraints, the text is assembled, the bytes are lifted to [`parallax_ir`], and each operation is written as
//! instructions of the module. The register file is a local array of bytes, so that `al` is the first byte of `rax`
//! here, too. The machine that runs C knows nothing of this: what it runs is a function like any other.
//!
//! What goes beyond that stays a call of assembly, which the machine refuses by name: control flow, floating point and
//! vectors, references to symbols, constraints for other registers.

mod body;
mod operands;
mod translate;

use operands::Operands;
use parallax_cmodule::{Block, Callee, Function, FunctionId, Module, Operation, Parameter};
use parallax_sleigh::{Language, Lifter};

/// Assembles a text of AT&T syntax: an ELF object.
pub type Assemble<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// Makes functions of the assembly that can be made functions of; the text of what cannot says why not.
pub fn lower(module: &mut Module, assemble: &mut Assemble<'_>) {
    let mut lifter = None;
    for function in 0..module.functions.len() {
        for block in 0..module.functions[function].blocks.len() {
            let count = module.functions[function].blocks[block].instructions.len();
            for index in 0..count {
                lower_at(module, (function, block, index), &mut lifter, assemble);
            }
        }
    }
}

fn lower_at(
    module: &mut Module,
    (function, block, index): (usize, usize, usize),
    lifter: &mut Option<Lifter>,
    assemble: &mut Assemble<'_>,
) {
    let instruction = &module.functions[function].blocks[block].instructions[index];
    let Operation::Call { callee: Callee::Assembly(assembly), arguments } = &instruction.operation else {
        return;
    };
    let (assembly, arguments) = (assembly.clone(), arguments.clone());
    let (result, location) = (instruction.ty, instruction.location);
    let clobbers = |part: &str| part.starts_with('~') || part.is_empty();
    if assembly.text.trim().is_empty() && assembly.constraints.split(',').all(clobbers) {
        // A barrier for the compiler, which does nothing.
        return;
    }
    let made = make(module, &assembly, &arguments, result, location, lifter, assemble);
    let next = FunctionId(module.functions.len() as u32);
    let Operation::Call { callee, .. } =
        &mut module.functions[function].blocks[block].instructions[index].operation
    else {
        return;
    };
    match made {
        Ok(made) => {
            *callee = Callee::Function(next);
            module.functions.push(made);
        }
        Err(why) => {
            if let Callee::Assembly(assembly) = callee {
                assembly.text = format!("{} ({why})", assembly.text);
            }
        }
    }
}

fn make(
    module: &mut Module,
    assembly: &parallax_cmodule::Assembly,
    arguments: &[parallax_cmodule::Argument],
    result: parallax_cmodule::TypeId,
    location: parallax_cmodule::LocationId,
    lifter: &mut Option<Lifter>,
    assemble: &mut Assemble<'_>,
) -> Result<Function, String> {
    if assembly.intel {
        return Err("Intel syntax".into());
    }
    let operands = Operands::of(module, &assembly.constraints, arguments, result)?;
    let text = operands.substitute(&assembly.text)?;
    let object = assemble(&text)?;
    let code = code_of(&object)?;
    let lifter = match lifter {
        Some(lifter) => lifter,
        None => {
            let language = Language::find("x86-64").ok_or("no x86-64")?;
            lifter.insert(Lifter::new(language).map_err(|error| error.to_string())?)
        }
    };
    let mut body = body::Body::new(module, lifter.processor().clone(), arguments.len(), location);
    body.inputs(&operands, arguments)?;
    let mut at = 0;
    while at < code.len() {
        let lifted = lifter.lift(BASE + at as u64, &code[at..]).map_err(|error| error.to_string())?;
        translate::instruction(&mut body, &lifted)?;
        at += usize::from(lifted.length);
    }
    let terminator = body.outputs(&operands, result)?;
    let (instructions, registers) = body.finish();
    let parameters = arguments.iter().map(|argument| Parameter {
        name: String::new(),
        ty: argument.ty,
        by_value: None,
        struct_return: false,
        nonnull: false,
        room: None,
        variable: None,
    });
    let block = Block { name: "assembly".into(), instructions, terminator, location };
    Ok(Function {
        name: format!("asm {}", assembly.text.trim()),
        parameters: parameters.collect(),
        variadic: false,
        result,
        blocks: vec![block],
        registers,
        slots: Vec::new(),
        register_names: Vec::new(),
        location,
        exported: false,
        // Part of the line it stands on: not code of its own that could be covered.
        library: true,
        signature: Vec::new(),
        annotations: Vec::new(),
        alloc_size: Vec::new(),
    })
}

/// Where assembled code is taken to lie: nothing may depend on it.
const BASE: u64 = 0x1000;

/// The code of an object, which must not need a linker.
fn code_of(object: &[u8]) -> Result<Vec<u8>, String> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(object).map_err(|error| error.to_string())?;
    let Some(section) = file.section_by_name(".text") else { return Ok(Vec::new()) };
    if section.relocations().next().is_some() {
        return Err("it refers to a symbol".into());
    }
    section.data().map(<[u8]>::to_vec).map_err(|error| error.to_string())
}
