//! The program and its shared objects, at the addresses they are loaded at.

use crate::debug::{Debug, Die};
use crate::elf::{Elf, Machine, Symbol};
use crate::error::{Error, Result};
use crate::lines::Line;
use crate::scope::{Block, Role, Variable};
use crate::types::{Kind, Type, constant};
use crate::unwind::CallFrames;
use crate::value::{State, Value};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A program or shared object.
pub struct Module {
    /// Its name, for messages.
    pub name: Arc<str>,
    /// What is added to its addresses: 0 for a program that is loaded where it was linked.
    pub bias: u64,
    elf: Arc<Elf>,
    /// The file that holds the debug information.
    details: Arc<Elf>,
    debug: OnceLock<Result<Debug>>,
    call_frames: OnceLock<CallFrames>,
    names: OnceLock<Names>,
    blocks: Mutex<HashMap<u64, Arc<Vec<Block>>>>,
}

/// A copy of a function inside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// Its first instruction.
    pub entry: u64,
    /// The code that was made of it. Instructions of its caller may stand between.
    pub code: Vec<Range<u64>>,
}

impl Inlined {
    fn moved_by(self, bias: u64) -> Inlined {
        let at = |address: u64| address.wrapping_add(bias);
        let code = self.code.into_iter().map(|range| at(range.start)..at(range.end)).collect();
        Inlined { entry: at(self.entry), code }
    }
}

/// What a module declares outside functions.
#[derive(Default)]
struct Names {
    globals: HashMap<Arc<str>, Vec<Die>>,
    /// With their enumerations.
    enumerators: HashMap<Arc<str>, Vec<(Die, Die)>>,
    types: HashMap<Arc<str>, Die>,
}

const ANONYMOUS: &str = "(anonymous namespace)::";
/// So many places whose blocks are remembered per module.
const MOST_BLOCKS: usize = 1 << 14;

impl Module {
    /// Reads a file; `details` is the file that its debug information was moved into, if it was.
    pub fn read(name: &str, bytes: &[u8], details: Option<&[u8]>, bias: u64) -> Result<Module> {
        let elf = Arc::new(Elf::parse(name, bytes)?);
        let details = match details {
            Some(bytes) => Arc::new(Elf::parse(name, bytes)?),
            None => elf.clone(),
        };
        Ok(Module {
            name: name.into(),
            bias,
            elf,
            details,
            debug: OnceLock::new(),
            call_frames: OnceLock::new(),
            names: OnceLock::new(),
            blocks: Mutex::default(),
        })
    }

    /// The addresses that it takes up.
    pub fn extent(&self) -> Range<u64> {
        let extent = &self.elf.extent;
        extent.start.wrapping_add(self.bias)..extent.end.wrapping_add(self.bias)
    }

    /// Where in the file the byte of an address of the program is.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        self.elf.offset_of(address.wrapping_sub(self.bias))
    }

    /// Its functions and data by name, at addresses of the file: without the bias.
    pub fn symbols(&self) -> &[Symbol] {
        self.elf.symbols()
    }

    fn debug(&self) -> Result<&Debug> {
        self.debug.get_or_init(|| Debug::load(&self.name, &self.details)).as_ref().map_err(Clone::clone)
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            let Ok(debug) = self.debug() else { return names };
            for unit in 0..debug.units.len() {
                // Units that are malformed have no names; who asks for a place in them gets the reason.
                let Ok(index) = debug.index(unit) else { continue };
                for (name, offset) in &index.globals {
                    let die = Die { unit, offset: *offset };
                    // What lies in a namespace without a name is found without naming it.
                    if name.contains(ANONYMOUS) {
                        names.globals.entry(name.replace(ANONYMOUS, "").into()).or_default().push(die);
                    }
                    names.globals.entry(name.clone()).or_default().push(die);
                }
                for (name, offset, whole) in &index.enumerators {
                    let dies = (Die { unit, offset: *offset }, Die { unit, offset: *whole });
                    if name.contains(ANONYMOUS) {
                        names.enumerators.entry(name.replace(ANONYMOUS, "").into()).or_default().push(dies);
                    }
                    names.enumerators.entry(name.clone()).or_default().push(dies);
                }
                for (name, offset) in &index.types {
                    names.types.entry(name.clone()).or_insert(Die { unit, offset: *offset });
                }
            }
            names
        })
    }
}

/// The modules of a program, and what was worked out about them.
#[derive(Default)]
pub struct Symbols {
    modules: Vec<Module>,
    kinds: Mutex<HashMap<(usize, Die), Arc<Kind>>>,
    pub(crate) compiled: crate::compile::Cache,
    identity: u64,
}

impl Symbols {
    /// Symbols of modules, the program first.
    pub fn new(modules: Vec<Module>) -> Symbols {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let identity = NEXT.fetch_add(1, Ordering::Relaxed);
        Symbols { modules, identity, ..Symbols::default() }
    }

    /// A number of its own, for those who remember something about it.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The modules.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The instruction set of the program.
    pub fn machine(&self) -> Machine {
        self.modules.first().map_or(Machine::Other, |module| module.elf.machine)
    }

    /// Whether the program's numbers have their most significant byte first.
    pub fn is_big_endian(&self) -> bool {
        self.modules.first().is_some_and(|module| module.elf.endian == gimli::RunTimeEndian::Big)
    }

    /// The size of a pointer.
    pub fn address_size(&self) -> u64 {
        if self.modules.first().is_none_or(|module| module.elf.is_64) { 8 } else { 4 }
    }

    /// The number of the module that an address lies in.
    pub fn module_at(&self, address: u64) -> Option<usize> {
        self.modules.iter().position(|module| module.extent().contains(&address))
    }

    pub(crate) fn bias(&self, module: usize) -> u64 {
        self.modules[module].bias
    }

    pub(crate) fn debug(&self, module: usize) -> Result<&Debug> {
        self.modules[module].debug()
    }

    pub(crate) fn malformed(&self, module: usize, why: gimli::Error) -> Error {
        Error::Malformed { module: self.modules[module].name.to_string(), why: why.to_string() }
    }

    pub(crate) fn call_frames(&self, module: usize) -> &CallFrames {
        let module = &self.modules[module];
        module.call_frames.get_or_init(|| CallFrames::load(&module.elf))
    }

    /// The DWARF number of the stack pointer.
    pub(crate) fn stack_register(&self, module: usize) -> Option<u16> {
        (self.modules[module].elf.machine == Machine::X86_64).then_some(7)
    }

    pub(crate) fn known_kind(&self, module: usize, die: Die) -> Option<Arc<Kind>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&(module, die)).cloned()
    }

    pub(crate) fn remember_kind(&self, module: usize, die: Die, kind: Arc<Kind>) {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert((module, die), kind);
    }

    pub(crate) fn known_blocks(&self, module: usize, address: u64) -> Option<Arc<Vec<Block>>> {
        let blocks = self.modules[module].blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.get(&address).cloned()
    }

    pub(crate) fn remember_blocks(&self, module: usize, address: u64, found: Arc<Vec<Block>>) {
        let mut blocks = self.modules[module].blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.len() >= MOST_BLOCKS {
            blocks.clear();
        }
        blocks.insert(address, found);
    }

    /// The symbol that an address belongs to, and where it lies in the program.
    pub fn symbol_at(&self, address: u64) -> Option<(&Symbol, Range<u64>)> {
        let module = &self.modules[self.module_at(address)?];
        let symbol = module.elf.symbol_at(address.wrapping_sub(module.bias))?;
        let at = |address: u64| address.wrapping_add(module.bias);
        Some((symbol, at(symbol.range.start)..at(symbol.range.end)))
    }

    /// Whether the function that starts at an address chooses the one of its name among several (an IFUNC).
    pub fn is_chooser(&self, start: u64) -> bool {
        let Some(module) = self.module_at(start).map(|module| &self.modules[module]) else { return false };
        let address = start.wrapping_sub(module.bias);
        let symbols = module.elf.symbols();
        let from = symbols.partition_point(|symbol| symbol.range.start < address);
        let here = symbols[from..].iter().take_while(|symbol| symbol.range.start == address);
        here.into_iter().any(|symbol| symbol.is_chooser)
    }

    /// Whether an address lies in code of a module.
    pub fn is_code(&self, address: u64) -> bool {
        self.module_at(address).is_some_and(|module| {
            let module = &self.modules[module];
            module.elf.code.iter().any(|range| range.contains(&address.wrapping_sub(module.bias)))
        })
    }

    /// The addresses at which functions of a name start, those of the program first. The name is as the linker
    /// writes it, as people do with or without parameters and template arguments, or the end of a qualified name. Copies that a
    /// compiler made of a function for some of its callers (`.constprop`, `.isra`) have its name.
    pub fn functions_named(&self, name: &str) -> Vec<u64> {
        let mut found = Vec::new();
        for module in &self.modules {
            let mut here = module.elf.functions_named(name);
            if let Ok(debug) = module.debug() {
                // What a stripped file does not name.
                let more = by_debug(debug, name).unwrap_or_default();
                let is_new = |start: &u64| !here.contains(start) && !module.elf.is_part(*start);
                let more: Vec<u64> = more.into_iter().filter(is_new).collect();
                here.extend(more);
            }
            found.extend(here.into_iter().map(|address| address.wrapping_add(module.bias)));
        }
        found
    }

    /// The copies of functions of a name that were inlined into others.
    pub fn inlined_named(&self, name: &str) -> Vec<Inlined> {
        let mut found = Vec::new();
        for module in &self.modules {
            if let Ok(debug) = module.debug() {
                let copies = inlined_copies(debug, name).unwrap_or_default();
                found.extend(copies.into_iter().map(|copy| copy.moved_by(module.bias)));
            }
        }
        found.sort_by_key(|copy| copy.entry);
        found
    }

    /// Whether the code of an inlined copy was made several times, as where a loop around it was unrolled: then its first statement
    /// starts in several places.
    pub fn is_repeated(&self, copy: &Inlined) -> bool {
        let Some((module, die)) = self.function_die(copy.entry) else { return false };
        let bias = self.bias(module);
        let inside = |address: u64| address.wrapping_sub(bias);
        let code: Vec<Range<u64>> =
            copy.code.iter().map(|range| inside(range.start)..inside(range.end)).collect();
        let lines = self.debug(module).ok().and_then(|debug| debug.lines(die.unit).ok());
        lines.is_some_and(|lines| lines.starts_again(inside(copy.entry), &code))
    }

    /// Where a breakpoint on a function stops: behind the prologue of each function of that name, and at the start of each
    /// copy of it inside another.
    pub fn breakpoints_on(&self, name: &str) -> Vec<u64> {
        let mut found: Vec<u64> =
            self.functions_named(name).into_iter().map(|start| self.after_prologue(start)).collect();
        found.extend(self.inlined_named(name).into_iter().map(|copy| copy.entry));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// All code of the function that an address belongs to, with the parts that compilers moved away from it.
    pub fn code_of(&self, address: u64) -> Vec<Range<u64>> {
        let Some(module) = self.module_at(address).map(|module| &self.modules[module]) else {
            return Vec::new();
        };
        let inside = address.wrapping_sub(module.bias);
        let by_debug = || {
            let (_, function) = module.debug().ok()?.function_at(inside).ok()??;
            Some(function.ranges.clone())
        };
        let by_symbol = || {
            let symbol = module.elf.symbol_at(inside).filter(|symbol| symbol.is_function)?;
            let parts = module.elf.parts_of(&symbol.linkage);
            Some(std::iter::once(symbol.range.clone()).chain(parts).collect())
        };
        let ranges: Vec<Range<u64>> = by_debug().or_else(by_symbol).unwrap_or_default();
        let at = |address: u64| address.wrapping_add(module.bias);
        ranges.into_iter().map(|range| at(range.start)..at(range.end)).collect()
    }

    /// The name and the extent of the function that an address belongs to.
    pub fn function_at(&self, address: u64) -> Option<(String, Range<u64>)> {
        let symbol = self.symbol_at(address);
        if let Some((module, die)) = self.function_die(address)
            && let Some(name) = self.name_of(module, die)
        {
            let bias = self.bias(module);
            let ranges =
                self.debug(module).ok()?.function_at(address.wrapping_sub(bias)).ok()??.1.ranges.clone();
            let range = ranges.into_iter().find(|range| range.contains(&address.wrapping_sub(bias)))?;
            return Some((name, range.start.wrapping_add(bias)..range.end.wrapping_add(bias)));
        }
        symbol.filter(|(symbol, _)| symbol.is_function).map(|(symbol, range)| (symbol.name.clone(), range))
    }

    pub(crate) fn function_die(&self, address: u64) -> Option<(usize, Die)> {
        let module = self.module_at(address)?;
        let (die, _) =
            self.debug(module).ok()?.function_at(address.wrapping_sub(self.bias(module))).ok()??;
        Some((module, die))
    }

    pub(crate) fn name_of(&self, module: usize, die: Die) -> Option<String> {
        self.debug(module).ok()?.qualified_name(die).ok()?
    }

    /// The line that the code at an address was compiled from.
    pub fn line_at(&self, address: u64) -> Option<Line> {
        let module = self.module_at(address)?;
        let address = address.wrapping_sub(self.bias(module));
        let debug = self.debug(module).ok()?;
        debug.units_at(address).find_map(|unit| debug.lines(unit).ok()?.at(address))
    }

    /// The line that a line means: itself, or the next one that has code. The file is told by the end of its path.
    pub fn line_with_code(&self, file: &str, line: u64) -> Option<u64> {
        let lines = self.line_tables().flat_map(|(_, table)| table.lines_of(file));
        lines.filter(|&other| other >= line).min()
    }

    /// Where the code of a line starts. A line without code means the next one that has some. The file is told by the end
    /// of its path.
    pub fn addresses_of_line(&self, file: &str, line: u64) -> Vec<u64> {
        self.line_with_code(file, line).map_or_else(Vec::new, |line| self.starts_of_line(file, line))
    }

    /// Where the code of just that line starts.
    pub fn starts_of_line(&self, file: &str, line: u64) -> Vec<u64> {
        let tables = self.line_tables();
        let mut found: Vec<u64> = tables
            .flat_map(|(bias, table)| {
                table.addresses(file, line).into_iter().map(move |address| address.wrapping_add(bias))
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn line_tables(&self) -> impl Iterator<Item = (u64, &crate::lines::LineTable)> {
        self.modules.iter().flat_map(|module| {
            let debug = module.debug().ok();
            let units = debug.map_or(0, |debug| debug.units.len());
            (0..units).filter_map(move |unit| Some((module.bias, debug?.lines(unit).ok()?)))
        })
    }

    /// The address behind the prologue of the function that starts at an address: from there on its parameters are where
    /// the debug information says. Without debug information, and where it is right from the start, that is the start.
    pub fn after_prologue(&self, start: u64) -> u64 {
        self.prologue_end(start).unwrap_or(start)
    }

    fn prologue_end(&self, start: u64) -> Option<u64> {
        let (module, die) = self.function_die(start)?;
        let (debug, bias) = (self.debug(module).ok()?, self.bias(module));
        let address = start.wrapping_sub(bias);
        let (_, function) = debug.function_at(address).ok()??;
        let range = function.ranges.iter().find(|range| range.start == address)?;
        let rows = debug.lines(die.unit).ok()?.rows_from(address);
        let mut inside = rows.iter().take_while(|row| range.contains(&row.address));
        if debug.units[die.unit].is_llvm {
            let marked = inside.clone().find(|row| row.ends_prologue);
            return marked.map(|row| row.address.wrapping_add(bias));
        }
        if debug.index(die.unit).ok()?.has_location_lists {
            return None;
        }
        let next = inside.find(|row| row.address > address && row.is_statement)?;
        Some(next.address.wrapping_add(bias))
    }

    /// A type by its qualified name.
    pub(crate) fn type_named(&self, name: &str, near: usize) -> Option<(usize, Die)> {
        let order = std::iter::once(near).chain((0..self.modules.len()).filter(|module| *module != near));
        order.into_iter().find_map(|module| Some((module, *self.modules[module].names().types.get(name)?)))
    }

    /// The names that can be used in a frame: its variables, and what is outside functions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().flat_map(|module| module.names().globals.keys().map(|name| &**name))
    }

    /// A variable outside functions. Of several, one of the frame's unit is meant; a method's class and namespaces are
    /// looked through first.
    pub(crate) fn global(
        &self,
        name: &str,
        near: Option<(usize, usize)>,
        function: Option<&str>,
    ) -> Result<Option<Variable>> {
        for name in &wanted(name, function) {
            for module in self.order(near) {
                let Some(dies) = self.modules[module].names().globals.get(&**name) else { continue };
                let mine = dies.iter().find(|die| near == Some((module, die.unit)));
                let Some(&die) = mine.or(dies.first()) else { continue };
                let debug = self.debug(module)?;
                let ty = Type::declared(module, debug.type_die(die)?);
                return Ok(Some(Variable {
                    name: name.clone(),
                    role: Role::Global,
                    ty,
                    declared: (module, die),
                }));
            }
        }
        Ok(None)
    }

    /// A name of an enumeration, looked for in the same way.
    pub(crate) fn enumerator(
        &self,
        name: &str,
        near: Option<(usize, usize)>,
        function: Option<&str>,
    ) -> Result<Option<Value>> {
        for name in &wanted(name, function) {
            for module in self.order(near) {
                let Some(dies) = self.modules[module].names().enumerators.get(&**name) else { continue };
                let mine = dies.iter().find(|(die, _)| near == Some((module, die.unit)));
                let Some(&(die, whole)) = mine.or(dies.first()) else { continue };
                let Some(number) = self.debug(module)?.own(die, gimli::DW_AT_const_value)? else { continue };
                let ty = Type::declared(module, Some(whole));
                let bytes = self.number(constant(&number), self.size(&ty)?);
                return Ok(Some(Value::computed(ty, bytes)));
            }
        }
        Ok(None)
    }

    /// The modules, that of a frame first.
    fn order(&self, near: Option<(usize, usize)>) -> impl Iterator<Item = usize> {
        let count = self.modules.len();
        let first = near.map_or(0, |(module, _)| module);
        std::iter::once(first)
            .chain((0..count).filter(move |module| *module != first))
            .filter(move |one| *one < count)
    }

    /// The address of a thread-local variable of the program.
    pub(crate) fn thread_local(&self, module: usize, offset: u64, state: &dyn State) -> Result<u64> {
        const FS_BASE: u16 = 58;
        if module != 0 || self.machine() != Machine::X86_64 {
            return Err(Error::Unsupported { what: "thread-local variables of shared objects".to_owned() });
        }
        let base = state.register(FS_BASE).ok_or(Error::NoRegister { register: FS_BASE })? as u64;
        Ok(base.wrapping_sub(self.modules[module].elf.tls_size).wrapping_add(offset))
    }
}

/// The copies of a function inside others, at addresses of the file.
fn inlined_copies(debug: &Debug, name: &str) -> Result<Vec<Inlined>> {
    let mut found = Vec::new();
    for unit in 0..debug.units.len() {
        for &offset in &debug.index(unit)?.inlined {
            let die = Die { unit, offset };
            if is_called(debug, die, name)? {
                let code = debug.ranges_of(&debug.units[unit].unit, &debug.entry(die)?)?;
                let entry = match debug.entry_of(die)? {
                    Some(entry) => Some(entry),
                    None => code.iter().map(|range| range.start).min(),
                };
                found.extend(entry.map(|entry| Inlined { entry, code }));
            }
        }
    }
    Ok(found)
}

/// Whether people may mean an entry by a name.
fn is_called(debug: &Debug, die: Die, name: &str) -> Result<bool> {
    let Some(full) = debug.qualified_name(die)? else { return Ok(false) };
    let is_linkage = name.starts_with("_Z") || name.starts_with("_R");
    if !is_linkage && !full.contains(parallax_names::core(name)) {
        return Ok(false);
    }
    if full == name || parallax_names::spellings(&full).iter().any(|spelling| spelling == name) {
        return Ok(true);
    }
    // With parameters, or as the linker writes it.
    let may_be = is_linkage || name.contains('(');
    let Some((unit, linkage)) = debug.attribute(die, gimli::DW_AT_linkage_name)?.filter(|_| may_be) else {
        return Ok(false);
    };
    let linkage = debug.string(unit, linkage)?;
    Ok(linkage.is_some_and(|linkage| linkage == name || parallax_names::demangled(&linkage).0 == name))
}

/// The full names that a name may stand for inside a function: a method's class and namespaces are looked through first.
fn wanted(name: &str, function: Option<&str>) -> Vec<String> {
    let mut wanted = Vec::new();
    let mut prefix = function.unwrap_or_default();
    while let Some((outer, _)) = prefix.rsplit_once("::") {
        wanted.push(format!("{outer}::{name}"));
        prefix = outer;
    }
    wanted.push(name.strip_prefix("::").unwrap_or(name).to_owned());
    wanted
}

/// Where functions of a name start by the debug information.
fn by_debug(debug: &Debug, name: &str) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    for unit in 0..debug.units.len() {
        for function in &debug.index(unit)?.functions {
            let die = Die { unit, offset: function.offset };
            if is_called(debug, die, name)? {
                // Its first range is not always the one that it is entered by.
                let first = function.ranges.first().map(|range| range.start);
                found.extend(debug.entry_of(die)?.or(first));
            }
        }
    }
    Ok(found)
}
