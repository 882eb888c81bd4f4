//! Machine code on the command line.

use super::{Cell, CellPlace, Subject, assignment, rejected_argument};
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::input;
use parallax_code::{Program, Selection, SharedLifter, language_of, load};
use parallax_ir::meaning::MEMORY;
use parallax_ir::{Processor, RegisterKind};
use parallax_op::Bits;
use parallax_sem::logic::{self, Struct};
use parallax_sem::{Concrete, Language as _};
use parallax_sleigh::{Language, LiftError, Lifter, Specification};
use parallax_term::{Expr, Formula, Scalar, Store, StructUpdate, Symbol, parse_formula};
use std::ops::Range;
use std::path::PathBuf;

/// Which machine code.
#[derive(Args, Clone, Debug, Default)]
pub struct CodeArguments {
    /// Machine code as bytes in hexadecimal: `31 d8`.
    #[arg(long, value_name = "BYTES", conflicts_with = "elf")]
    pub hex: Vec<String>,
    /// Where those bytes lie.
    #[arg(long, value_name = "ADDRESS", default_value = "0x1000", requires = "hex")]
    pub base: String,
    /// Machine code from an ELF file; the file tells the language.
    #[arg(long, value_name = "FILE")]
    pub elf: Option<PathBuf>,
    /// A function of the ELF file, by name.
    #[arg(long, value_name = "NAME", requires = "elf", conflicts_with = "range")]
    pub function: Vec<String>,
    /// A range of addresses of the ELF file: FIRST..END.
    #[arg(long, value_name = "A..B", requires = "elf")]
    pub range: Vec<String>,
    /// A processor of your own: a SLEIGH specification, compiled (.sla) or not (.slaspec).
    #[arg(long, value_name = "FILE", conflicts_with = "lang")]
    pub sla: Option<PathBuf>,
    /// The processor specification (context defaults, program counter) that goes with `--sla`.
    #[arg(long, value_name = "FILE", requires = "sla")]
    pub pspec: Option<PathBuf>,
}

/// Files larger than this are not read.
const MAX_FILE: usize = 1 << 30;

impl CodeArguments {
    /// Whether any of them is there: then the subject is machine code.
    pub fn given(&self) -> bool {
        !self.hex.is_empty() || self.elf.is_some() || self.sla.is_some()
    }

    /// The only program; `lang` is what `--lang` said.
    pub fn program(&self, lang: Option<&str>) -> Result<Program> {
        let mut programs = self.programs(lang)?;
        ensure!(programs.len() == 1, "only one --hex, --function or --range is wanted here");
        Ok(programs.remove(0))
    }

    /// Every program, in the order of the options.
    pub fn programs(&self, lang: Option<&str>) -> Result<Vec<Program>> {
        if let Some(path) = &self.elf {
            let file = bounded(path)?;
            let own = language_of(&file).with_context(|| format!("cannot read {}", path.display()));
            let lang = match lang {
                Some(lang) => lang,
                None if self.sla.is_some() => "",
                None => own?,
            };
            let functions = self.function.iter().map(|name| Ok(Selection::Function(name.clone())));
            let ranges = self.range.iter().map(|text| Ok(Selection::Range(range(text)?)));
            let selections = functions.chain(ranges).collect::<Result<Vec<_>>>()?;
            ensure!(!selections.is_empty(), "--elf needs --function NAME or --range A..B");
            let lifter = self.lifter(lang)?;
            return selections
                .iter()
                .map(|selection| {
                    load(&file, selection, &lifter).map_err(|error| anyhow!("{}: {error}", path.display()))
                })
                .collect();
        }
        let Some(lang) = lang.or(self.sla.is_some().then_some("")) else {
            bail!("--hex needs --lang: one of {}", names())
        };
        ensure!(!self.hex.is_empty(), "machine code comes from --hex BYTES or --elf FILE");
        let mut base = number(&self.base).with_context(|| format!("--base {}", self.base))?;
        let lifter = self.lifter(lang)?;
        let mut programs = Vec::new();
        for text in &self.hex {
            let bytes = hex(text).with_context(|| format!("--hex {text:?}"))?;
            let length = bytes.len() as u64;
            let program =
                Program::from_bytes(&lifter, base, bytes).with_context(|| format!("--hex {text:?}"))?;
            programs.push(program);
            // A second piece lies right behind the first.
            base = base.wrapping_add(length);
        }
        Ok(programs)
    }

    fn lifter(&self, lang: &str) -> Result<SharedLifter> {
        Ok(SharedLifter::new(self.own_lifter(lang)?.into()))
    }

    fn own_lifter(&self, lang: &str) -> Result<Lifter> {
        if let Some(path) = &self.sla {
            let name =
                path.file_stem().map_or("custom".to_owned(), |stem| stem.to_string_lossy().into_owned());
            let sla = match path.extension().and_then(|ending| ending.to_str()) {
                Some("slaspec") => parallax_sleigh::compile(path)
                    .with_context(|| format!("cannot compile {}", path.display()))?,
                _ => bounded(path)?,
            };
            let pspec = match &self.pspec {
                Some(path) => Some(String::from_utf8_lossy(&bounded(path)?).into_owned()),
                None => None,
            };
            return Ok(Lifter::custom(Specification::custom(name, sla, pspec))?);
        }
        let language =
            Language::find(lang).ok_or_else(|| anyhow!("no processor `{lang}`: one of {}", names()))?;
        Ok(Lifter::new(language)?)
    }
}

/// The names of the processors.
pub fn names() -> String {
    parallax_sleigh::LANGUAGES.iter().map(|language| language.name).collect::<Vec<_>>().join(", ")
}

fn bounded(path: &std::path::Path) -> Result<Vec<u8>> {
    let bytes = input::bytes(path, MAX_FILE)?;
    ensure!(bytes.len() <= MAX_FILE, "{} is larger than {MAX_FILE} bytes", path.display());
    Ok(bytes)
}

/// Bytes in hexadecimal, with or without spaces.
pub fn hex(text: &str) -> Result<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    ensure!(digits.len().is_multiple_of(2), "an odd number of hexadecimal digits");
    digits
        .chunks(2)
        .map(|pair| {
            let digit = |c: char| c.to_digit(16).ok_or_else(|| anyhow!("`{c}` is no hexadecimal digit"));
            Ok((digit(pair[0])? * 16 + digit(pair[1])?) as u8)
        })
        .collect()
}

/// A number, decimal or `0x`.
pub fn number(text: &str) -> Result<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .map_err(|_| anyhow!("`{text}` is no address"))
}

fn range(text: &str) -> Result<Range<u64>> {
    let (first, end) = text.split_once("..").ok_or_else(|| anyhow!("--range {text}: write FIRST..END"))?;
    let range = number(first)?..number(end)?;
    ensure!(!range.is_empty(), "--range {text}: the end is not behind the first address");
    Ok(range)
}

/// An instruction that cannot be lifted is unsupported when the specification is at fault, bad input when the bytes are.
pub fn lift_failure(error: &LiftError) -> anyhow::Error {
    let status = match error {
        LiftError::Unsupported { .. } | LiftError::Worker(_) => Status::Unsupported,
        _ => Status::BadInput,
    };
    Failure { status, message: error.to_string() }.into()
}

/// Whether a register says nothing to people: one that only the specification has, for the length of an instruction, or
/// one that says how to compute and still has the value that every program starts with.
fn is_noise(processor: &Processor, name: &str, value: Option<&Bits>) -> bool {
    let starts_with = |value: &Bits| {
        processor.initial.iter().any(|(known, initial)| *known == name && value.to_u64() == Some(*initial))
    };
    name.starts_with("TMP") || name == "SHIFT_CARRY" || value.is_some_and(starts_with)
}

impl Subject for Program {
    /// Conditions are formulas of L over registers, flags and `F_mem`; `==` is `=`, names may be written in any case,
    /// and a part of a register (`EAX`) is that part.
    fn condition(&self, store: &Store, text: &str) -> Result<Formula> {
        let logical = in_logic(self, store, text);
        parse_formula(store, &logical).map_err(|error| rejected_argument("--post", &logical, &error))
    }

    fn interpret(&self, store: &Store, s: &mut Struct<Concrete>, text: &str) -> Result<()> {
        let (name, value) = assignment(text)?;
        if let Some(address) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let address = number(address).with_context(|| format!("--set {text}"))?;
            let digits = value.strip_prefix("0x").unwrap_or(value);
            let bytes = hex(digits).with_context(|| format!("--set {text}: bytes in hexadecimal"))?;
            let memory = store.lookup(MEMORY).expect("declared");
            let mut table = s.lookup_function(&Concrete, store, memory);
            let key = self.processor().address_bytes * 8;
            for (index, byte) in bytes.iter().enumerate() {
                let at = address.wrapping_add(index as u64);
                table.set(Bits::new(key, u128::from(at)), Bits::new(8, u128::from(*byte)));
            }
            s.set_map(memory, table);
            return Ok(());
        }
        let processor = self.processor().clone();
        let register = processor.register(name).ok_or_else(|| {
            anyhow!("--set {text}: {} has no register `{name}`; memory is [ADDRESS]", processor.name)
        })?;
        let wanted = |value: &str, width: u16| {
            Bits::parse(value, width).map_err(|error| anyhow!("--set {text}: `{value}`: {error}"))
        };
        let value = match register.kind {
            RegisterKind::Flag => wanted(value, 1)?.zext(8),
            RegisterKind::Word => wanted(value, register.place.width())?,
        };
        // A part of a register changes that part: through a state, which knows how registers overlap.
        let mut state = self.state(&Concrete, store, s);
        let value = match register.kind {
            RegisterKind::Flag => parallax_ir::meaning::Value::Truth(!value.is_zero()),
            RegisterKind::Word => parallax_ir::meaning::Value::Word(value),
        };
        ensure!(register.place != processor.pc, "--set {text}: the code starts where it lies; see --base");
        state.write(&Concrete, register.place, value).map_err(|error| anyhow!("--set {text}: {error}"))?;
        self.note_full(&mut state, name);
        let memory = s.functions.clone();
        *s = self.structure(&Concrete, store, &state);
        s.functions.extend(memory);
        Ok(())
    }

    /// Memory holds the file's data.
    fn prepare(&self, store: &Store, s: &mut Struct<Concrete>) {
        if let Some(memory) = store.lookup(MEMORY) {
            s.set_map(memory, self.initial_memory().clone());
        }
    }

    fn point(&self, name: &str) -> Option<Bits> {
        let named = self.names().iter().find(|(_, known)| known == name).map(|(address, _)| *address);
        // A function ends where it returns to: no address of its own.
        let end = (name == "end" && !self.is_whole_image()).then_some(self.range.end);
        let address = named.or(end).or_else(|| number(name).ok())?;
        Some(Bits::new(self.pc_width(), u128::from(address)))
    }

    fn misplaced(&self, point: &Bits) -> Option<String> {
        Program::misplaced(self, point.to_u64()?).map(|misplaced| misplaced.to_string())
    }

    fn presented(&self, store: &Store, update: &StructUpdate) -> StructUpdate {
        let mut presented = StructUpdate::identity();
        for (symbol, value) in update.constants() {
            let constant = match value {
                Scalar::Term(term) => store.as_constant(term),
                Scalar::Formula(_) => None,
            };
            if !is_noise(self.processor(), &store.info(symbol).name, constant.as_ref()) {
                presented.set_constant(store, symbol, value);
            }
        }
        for (symbol, value) in update.functions() {
            presented.set_function(store, symbol, value);
        }
        presented
    }

    fn shown(&self, store: &Store, s: &Struct<Concrete>) -> Vec<(String, String)> {
        let mut shown = Vec::new();
        for cell in &self.processor().cells {
            match store.lookup(&cell.name).and_then(|symbol| s.constants.get(&symbol)) {
                Some(logic::Scalar::Val(value)) if !is_noise(self.processor(), &cell.name, Some(value)) => {
                    shown.push((cell.name.clone(), format!("{:#x}", value.to_big())));
                }
                Some(logic::Scalar::Bool(flag)) if !is_noise(self.processor(), &cell.name, None) => {
                    shown.push((cell.name.clone(), u8::from(*flag).to_string()));
                }
                _ => {}
            }
        }
        let Some(table) = store.lookup(MEMORY).and_then(|symbol| s.functions.get(&symbol)) else {
            return shown;
        };
        // Initial data that nobody changed is in the file for everybody to see.
        let initial = self.initial_memory();
        let mut bytes: Vec<(u64, u64)> = table
            .entries()
            .filter(|(address, byte)| initial.get(address) != *byte || byte.is_zero())
            .filter_map(|(address, byte)| Some((address.to_u64()?, byte.to_u64()?)))
            .collect();
        bytes.sort_unstable();
        let mut rest = bytes.as_slice();
        while let Some((first, _)) = rest.first() {
            let length = rest.iter().zip(*first..).take_while(|((at, _), wanted)| at == wanted).count();
            let text: Vec<String> = rest[..length].iter().map(|(_, byte)| format!("{byte:02x}")).collect();
            shown.push((format!("[{first:#x}]"), text.join(" ")));
            rest = &rest[length..];
        }
        shown
    }

    fn cells(&self, store: &Store) -> Vec<Cell> {
        let words = self.processor().cells.iter().filter(|cell| cell.kind == RegisterKind::Word);
        words
            .filter(|cell| cell.place != self.processor().pc)
            .filter_map(|cell| {
                Some(Cell { name: cell.name.clone(), place: CellPlace::Constant(store.lookup(&cell.name)?) })
            })
            .collect()
    }

    fn outputs(&self, store: &Store) -> Vec<Symbol> {
        let cells = self.processor().cells.iter().map(|cell| cell.name.as_str());
        cells.chain([MEMORY, "TRAP"]).filter_map(|name| store.lookup(name)).collect()
    }

    /// The code starts where it lies.
    fn premises(&self, store: &Store) -> Vec<Formula> {
        let pc = self
            .processor()
            .register_at(self.processor().pc)
            .and_then(|register| store.lookup(&register.name));
        match pc.map(|symbol| store.expr_of(symbol)) {
            Some(Expr::Term(pc)) => vec![store.eq(pc, store.constant(&self.entry()))],
            _ => Vec::new(),
        }
    }

    fn vocabulary(&self, store: &Store) -> Vec<Symbol> {
        store.symbols().collect()
    }
}

/// What users write, in the notation of L.
fn in_logic(program: &Program, store: &Store, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_alphabetic() || first == '_' {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
            out.push_str(&name_in_logic(program, store, &rest[..end]));
            rest = &rest[end..];
        } else if first.is_ascii_digit() {
            // A number is taken whole: the x of 0x10 is no name.
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if let Some(after) = rest.strip_prefix("==") {
            out.push('=');
            rest = after;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

fn name_in_logic(program: &Program, store: &Store, word: &str) -> String {
    let upper = word.to_uppercase();
    if store.lookup(word).is_some() {
        return word.to_owned();
    }
    let processor = program.processor();
    let Some(register) = processor.register(&upper) else { return word.to_owned() };
    let Some(cell) = processor.cell_at(register.place.offset).map(|index| &processor.cells[index]) else {
        return word.to_owned();
    };
    if register.place.end() > cell.place.end() {
        return word.to_owned();
    }
    // A register that the code does not touch is a symbol like any other.
    match cell.kind {
        RegisterKind::Flag => drop(store.bool_symbol(&cell.name)),
        RegisterKind::Word => drop(store.symbol(&cell.name, cell.place.width())),
    }
    if register.place == cell.place {
        return cell.name.clone();
    }
    let before = (register.place.offset - cell.place.offset) as u16;
    let low = match processor.order {
        parallax_sem::ByteOrder::Little => before * 8,
        parallax_sem::ByteOrder::Big => (cell.place.bytes - before - register.place.bytes) * 8,
    };
    format!("extract({}, {}, {low})", cell.name, low + register.place.width() - 1)
}
