//! The DWARF of one file: its units, the entries in them by name and by address.
//!
//! Units are read when a question needs them. Addresses here are those of the file; where it is loaded is known above.

use crate::elf::Elf;
use crate::error::{Error, Result};
use crate::lines::LineTable;
use gimli::{AttributeValue, DwAt, Reader};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub(crate) type Bytes = gimli::EndianArcSlice<gimli::RunTimeEndian>;
pub(crate) type Unit = gimli::Unit<Bytes>;
pub(crate) type Entry<'a> = gimli::DebuggingInformationEntry<'a, 'a, Bytes>;
pub(crate) type Offset = gimli::UnitOffset<usize>;
pub(crate) type Attribute = AttributeValue<Bytes>;

/// An entry: the number of its unit, and where it lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Die {
    pub unit: usize,
    pub offset: Offset,
}

/// What a unit is written in, as far as names and printing depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
    Other,
}

/// A function that has code.
#[derive(Debug)]
pub(crate) struct Function {
    pub offset: Offset,
    pub ranges: Vec<Range<u64>>,
}

/// What one pass over a unit finds.
#[derive(Default)]
pub(crate) struct Index {
    pub functions: Vec<Function>,
    /// Copies of functions inside others.
    pub inlined: Vec<Offset>,
    /// Variables outside functions, and statics of classes, by their qualified names.
    pub globals: Vec<(Arc<str>, Offset)>,
    /// Names of enumerations, each with its own entry and its enumeration's.
    pub enumerators: Vec<(Arc<str>, Offset, Offset)>,
    /// Complete types with names.
    pub types: Vec<(Arc<str>, Offset)>,
    /// Whether any variable moves from place to place: then their places are right from the first instruction on.
    pub has_location_lists: bool,
    /// Names of the namespaces and classes around entries that lie in any.
    prefixes: HashMap<Offset, Arc<str>>,
}

/// A unit and what was worked out about it.
pub(crate) struct UnitData {
    pub unit: Unit,
    pub language: Language,
    /// Whether LLVM made it, which marks where prologues end.
    pub is_llvm: bool,
    index: OnceLock<Result<Index>>,
    lines: OnceLock<Result<LineTable>>,
}

/// The DWARF of a file.
pub(crate) struct Debug {
    module: Arc<str>,
    pub dwarf: gimli::Dwarf<Bytes>,
    pub units: Vec<UnitData>,
    ranges: Vec<(Range<u64>, usize)>,
    signatures: HashMap<u64, Die>,
}

/// Stands for a class without a name.
const UNNAMED: &str = "{unnamed type}";
/// References that are followed from one entry to the one that describes it, before that counts as a circle.
const MOST_HOPS: usize = 16;
/// Entries that lie inside each other, before that counts as malformed.
const MOST_NESTED: usize = 1024;

impl Debug {
    pub fn load(module: &Arc<str>, elf: &Elf) -> Result<Debug> {
        let malformed =
            |why: gimli::Error| Error::Malformed { module: module.to_string(), why: why.to_string() };
        let load = |id: gimli::SectionId| -> std::result::Result<Bytes, gimli::Error> {
            Ok(Bytes::new(elf.section(id.name()), elf.endian))
        };
        let dwarf = gimli::Dwarf::load(load).map_err(malformed)?;
        let (mut units, mut ranges, mut signatures) = (Vec::new(), Vec::new(), HashMap::new());
        let mut headers = dwarf.units();
        let mut type_headers = dwarf.type_units();
        loop {
            let header = match headers.next().map_err(malformed)? {
                Some(header) => header,
                None => match type_headers.next().map_err(malformed)? {
                    Some(header) => header,
                    None => break,
                },
            };
            let number = units.len();
            if let gimli::UnitType::Type { type_signature, type_offset } = header.type_() {
                signatures.insert(type_signature.0, Die { unit: number, offset: type_offset });
            }
            let unit = dwarf.unit(header).map_err(malformed)?;
            let mut its_ranges = dwarf.unit_ranges(&unit).map_err(malformed)?;
            while let Some(range) = its_ranges.next().map_err(malformed)? {
                if range.begin < range.end {
                    ranges.push((range.begin..range.end, number));
                }
            }
            let language = language(&unit).map_err(malformed)?;
            let is_llvm = producer(&dwarf, &unit).map_err(malformed)?.contains("clang");
            units.push(UnitData { unit, language, is_llvm, index: OnceLock::new(), lines: OnceLock::new() });
        }
        ranges.sort_by_key(|(range, _)| (range.start, range.end));
        Ok(Debug { module: module.clone(), dwarf, units, ranges, signatures })
    }

    /// An error of the reader of debug information.
    pub fn malformed(&self, why: gimli::Error) -> Error {
        Error::Malformed { module: self.module.to_string(), why: why.to_string() }
    }

    /// An error in what debug information says.
    pub fn nonsense(&self, why: &str) -> Error {
        Error::Malformed { module: self.module.to_string(), why: why.to_owned() }
    }

    /// The units whose code may contain an address.
    pub fn units_at(&self, address: u64) -> impl Iterator<Item = usize> + '_ {
        let end = self.ranges.partition_point(|(range, _)| range.start <= address);
        self.ranges[..end]
            .iter()
            .rev()
            .filter(move |(range, _)| range.contains(&address))
            .map(|(_, unit)| *unit)
    }

    pub fn index(&self, unit: usize) -> Result<&Index> {
        let data = &self.units[unit];
        data.index.get_or_init(|| self.scan(data)).as_ref().map_err(Clone::clone)
    }

    pub fn lines(&self, unit: usize) -> Result<&LineTable> {
        let data = &self.units[unit];
        let read = || LineTable::read(&self.dwarf, &data.unit).map_err(|why| self.malformed(why));
        data.lines.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The function that an address of the file belongs to.
    pub fn function_at(&self, address: u64) -> Result<Option<(Die, &Function)>> {
        for unit in self.units_at(address) {
            let functions = &self.index(unit)?.functions;
            let found = functions
                .iter()
                .find(|function| function.ranges.iter().any(|range| range.contains(&address)));
            if let Some(function) = found {
                return Ok(Some((Die { unit, offset: function.offset }, function)));
            }
        }
        Ok(None)
    }

    pub fn entry(&self, die: Die) -> Result<Entry<'_>> {
        self.units[die.unit].unit.entry(die.offset).map_err(|why| self.malformed(why))
    }

    /// An attribute of an entry itself.
    pub fn own(&self, die: Die, name: DwAt) -> Result<Option<Attribute>> {
        self.entry(die)?.attr_value(name).map_err(|why| self.malformed(why))
    }

    /// An attribute of an entry, or of the entries that it is an instance or the definition of, with the unit it was found in.
    pub fn attribute(&self, mut die: Die, name: DwAt) -> Result<Option<(usize, Attribute)>> {
        for _ in 0..MOST_HOPS {
            if let Some(value) = self.own(die, name)? {
                return Ok(Some((die.unit, value)));
            }
            match self.origin(die)? {
                Some(origin) => die = origin,
                None => return Ok(None),
            }
        }
        Err(self.nonsense("entries describe each other in a circle"))
    }

    /// The entry that this one is an instance or the definition of.
    pub fn origin(&self, die: Die) -> Result<Option<Die>> {
        for name in [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification] {
            if let Some(value) = self.own(die, name)? {
                return self.reference(die.unit, &value);
            }
        }
        Ok(None)
    }

    /// The entry that a reference points at.
    pub fn reference(&self, unit: usize, value: &Attribute) -> Result<Option<Die>> {
        match value {
            AttributeValue::UnitRef(offset) => Ok(Some(Die { unit, offset: *offset })),
            AttributeValue::DebugInfoRef(offset) => {
                for (number, data) in self.units.iter().enumerate() {
                    if let Some(offset) = offset.to_unit_offset(&data.unit.header) {
                        return Ok(Some(Die { unit: number, offset }));
                    }
                }
                Err(self.nonsense("a reference leaves the units"))
            }
            AttributeValue::DebugTypesRef(signature) => Ok(self.signatures.get(&signature.0).copied()),
            _ => Ok(None),
        }
    }

    /// A string attribute.
    pub fn string(&self, unit: usize, value: Attribute) -> Result<Option<String>> {
        let is_string = matches!(
            value,
            AttributeValue::String(_)
                | AttributeValue::DebugStrRef(_)
                | AttributeValue::DebugLineStrRef(_)
                | AttributeValue::DebugStrOffsetsIndex(_)
        );
        if !is_string {
            return Ok(None);
        }
        let bytes =
            self.dwarf.attr_string(&self.units[unit].unit, value).map_err(|why| self.malformed(why))?;
        Ok(Some(bytes.to_string_lossy().map_err(|why| self.malformed(why))?.into_owned()))
    }

    /// The name of an entry, as it is declared.
    pub fn name(&self, die: Die) -> Result<Option<String>> {
        match self.attribute(die, gimli::DW_AT_name)? {
            Some((unit, value)) => self.string(unit, value),
            None => Ok(None),
        }
    }

    /// The name of an entry with the namespaces and classes that it is declared in.
    pub fn qualified_name(&self, die: Die) -> Result<Option<String>> {
        let Some(name) = self.name(die)? else { return Ok(None) };
        let mut at = die;
        for _ in 0..MOST_HOPS {
            if let Some(prefix) = self.index(at.unit)?.prefixes.get(&at.offset) {
                // What the class of a lambda is called stands in the name for the linker alone.
                if prefix.contains(UNNAMED)
                    && let Some((unit, linkage)) = self.attribute(die, gimli::DW_AT_linkage_name)?
                    && let Some(linkage) = self.string(unit, linkage)?
                {
                    return Ok(Some(parallax_names::demangled(&linkage).1));
                }
                return Ok(Some(format!("{prefix}::{name}")));
            }
            match self.origin(at)? {
                Some(origin) => at = origin,
                None => break,
            }
        }
        Ok(Some(name))
    }

    /// The namespaces and classes that an entry is declared in.
    pub fn prefix(&self, die: Die) -> Result<Option<String>> {
        Ok(self.index(die.unit)?.prefixes.get(&die.offset).map(|prefix| prefix.to_string()))
    }

    /// The entry of a thing's type; none is `void`.
    pub fn type_die(&self, die: Die) -> Result<Option<Die>> {
        match self.attribute(die, gimli::DW_AT_type)? {
            Some((unit, value)) => self.reference(unit, &value),
            None => Ok(None),
        }
    }

    pub fn unsigned(&self, die: Die, name: DwAt) -> Result<Option<u64>> {
        Ok(self.attribute(die, name)?.and_then(|(_, value)| value.udata_value()))
    }

    pub fn flag(&self, die: Die, name: DwAt) -> Result<bool> {
        Ok(matches!(self.own(die, name)?, Some(AttributeValue::Flag(true))))
    }

    /// The entries directly below one, with their tags.
    pub fn children(&self, die: Die) -> Result<Vec<(Die, gimli::DwTag)>> {
        let malformed = |why| self.malformed(why);
        let mut entries = self.units[die.unit].unit.entries_at_offset(die.offset).map_err(malformed)?;
        let mut found = Vec::new();
        if entries.next_entry().map_err(malformed)?.is_none()
            || !entries.current().is_some_and(|e| e.has_children())
        {
            return Ok(found);
        }
        let mut depth = 0isize;
        while let Some((delta, entry)) = entries.next_dfs().map_err(malformed)? {
            depth += delta;
            if depth <= 0 {
                break;
            }
            if depth == 1 {
                found.push((Die { unit: die.unit, offset: entry.offset() }, entry.tag()));
            }
        }
        Ok(found)
    }

    /// One pass over a unit.
    fn scan(&self, data: &UnitData) -> Result<Index> {
        let malformed = |why| self.malformed(why);
        let unit = &data.unit;
        let mut index = Index::default();
        let mut unnamed = Vec::new();
        let mut entries = unit.entries();
        let mut depth = 0isize;
        // What lies around the entry: its depth, its name, whether it is a function.
        let mut around: Vec<(isize, Option<Arc<str>>, bool)> = Vec::new();
        // The enumeration whose names follow, and the name of what lies around it if they can be used there.
        let mut enumeration = (gimli::UnitOffset(0), None);
        while let Some((delta, entry)) = entries.next_dfs().map_err(malformed)? {
            depth += delta;
            while around.last().is_some_and(|(outer, ..)| *outer >= depth) {
                around.pop();
            }
            if around.len() > MOST_NESTED {
                return Err(self.nonsense("entries are nested too deeply"));
            }
            let text = |name| -> Result<Option<String>> {
                match entry.attr_value(name).map_err(malformed)? {
                    Some(value) => {
                        let bytes = self.dwarf.attr_string(unit, value).map_err(malformed)?;
                        Ok(Some(bytes.to_string_lossy().map_err(malformed)?.into_owned()))
                    }
                    None => Ok(None),
                }
            };
            let prefix = around.last().and_then(|(_, prefix, _)| prefix.clone());
            let in_function = around.last().is_some_and(|(_, _, function)| *function);
            let qualified = |name: &str| -> Arc<str> {
                prefix.as_ref().map_or_else(|| name.into(), |prefix| format!("{prefix}::{name}").into())
            };
            let tag = entry.tag();
            let is_type = is_named_type(tag);
            let is_variable = tag == gimli::DW_TAG_variable || tag == gimli::DW_TAG_member && !in_function;
            let is_local = in_function && tag == gimli::DW_TAG_variable;
            if !is_local
                && (tag == gimli::DW_TAG_subprogram || is_variable || is_type)
                && let Some(prefix) = &prefix
            {
                index.prefixes.insert(entry.offset(), prefix.clone());
            }
            if matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter)
                && !index.has_location_lists
            {
                let location = entry.attr_value(gimli::DW_AT_location).map_err(malformed)?;
                index.has_location_lists =
                    location.is_some_and(|value| !matches!(value, AttributeValue::Exprloc(_)));
            }
            if tag == gimli::DW_TAG_enumeration_type {
                let is_closed = entry.attr(gimli::DW_AT_enum_class).map_err(malformed)?.is_some();
                enumeration = (entry.offset(), (!is_closed).then(|| prefix.clone()));
            } else if tag == gimli::DW_TAG_enumerator
                && let Some(name) = text(gimli::DW_AT_name)?
            {
                let (whole, outer) = &enumeration;
                let own = qualified(&name);
                if let Some(outer) = outer {
                    let open: Arc<str> = outer
                        .as_ref()
                        .map_or_else(|| name.as_str().into(), |outer| format!("{outer}::{name}").into());
                    if open != own {
                        index.enumerators.push((open, entry.offset(), *whole));
                    }
                }
                index.enumerators.push((own, entry.offset(), *whole));
            }
            if tag == gimli::DW_TAG_subprogram {
                let ranges = self.ranges_of(unit, entry)?;
                if !ranges.is_empty() {
                    index.functions.push(Function { offset: entry.offset(), ranges });
                }
                // Classes inside a function are named after it.
                let name = if data.language == Language::Cpp { text(gimli::DW_AT_name)? } else { None };
                let inner = name.map(|name| qualified(&name)).or_else(|| prefix.clone());
                around.push((depth, inner, true));
            } else if tag == gimli::DW_TAG_namespace || is_type {
                let name = text(gimli::DW_AT_name)?;
                let is_declared = entry.attr(gimli::DW_AT_declaration).map_err(malformed)?.is_some();
                if let (true, false, Some(name)) = (is_type, is_declared, &name) {
                    index.types.push((qualified(name), entry.offset()));
                }
                let inner = match (&name, tag) {
                    _ if data.language == Language::C => None,
                    (Some(name), _) => Some(qualified(name)),
                    (None, gimli::DW_TAG_namespace) => Some(qualified("(anonymous namespace)")),
                    (None, _) => Some(qualified(UNNAMED)),
                };
                around.push((depth, inner, in_function));
            } else if tag == gimli::DW_TAG_variable && !in_function {
                let is_declared = entry.attr(gimli::DW_AT_declaration).map_err(malformed)?.is_some();
                match text(gimli::DW_AT_name)? {
                    _ if is_declared => {}
                    Some(name) => index.globals.push((qualified(&name), entry.offset())),
                    None => unnamed.push(entry.offset()),
                }
            } else if tag == gimli::DW_TAG_inlined_subroutine {
                index.inlined.push(entry.offset());
                around.push((depth, prefix, true));
            } else if depth > 0 && in_function {
                around.push((depth, prefix, true));
            }
        }
        // A definition may take its name and its place among namespaces from a declaration, before or behind it.
        let number = self.number(unit);
        for offset in unnamed {
            if let Some(origin) = self.origin(Die { unit: number, offset })?
                && let Some(name) = self.name(origin)?
            {
                let prefix = index.prefixes.get(&origin.offset).filter(|_| origin.unit == number);
                let name =
                    prefix.map_or_else(|| name.as_str().into(), |prefix| format!("{prefix}::{name}").into());
                index.globals.push((name, offset));
            }
        }
        Ok(index)
    }

    fn number(&self, unit: &Unit) -> usize {
        self.units.iter().position(|data| std::ptr::eq(&data.unit, unit)).unwrap_or_default()
    }

    /// The address that an entry's code is entered at, where that is said.
    pub fn entry_of(&self, die: Die) -> Result<Option<u64>> {
        let unit = &self.units[die.unit].unit;
        let address = |value| self.dwarf.attr_address(unit, value).map_err(|why| self.malformed(why));
        let Some(entry) = self.own(die, gimli::DW_AT_entry_pc)? else { return Ok(None) };
        if let Some(found) = address(entry.clone())? {
            return Ok(Some(found).filter(|found| *found != 0));
        }
        // From the start of its code on (DWARF 5).
        let low = match self.own(die, gimli::DW_AT_low_pc)? {
            Some(low) => address(low)?,
            None => self.ranges_of(unit, &self.entry(die)?)?.first().map(|range| range.start),
        };
        Ok(low.zip(entry.udata_value()).map(|(low, offset)| low.wrapping_add(offset)))
    }

    /// The addresses that an entry's code takes up.
    pub fn ranges_of(&self, unit: &Unit, entry: &Entry<'_>) -> Result<Vec<Range<u64>>> {
        let malformed = |why| self.malformed(why);
        let mut ranges = self.dwarf.die_ranges(unit, entry).map_err(malformed)?;
        let mut found = Vec::new();
        while let Some(range) = ranges.next().map_err(malformed)? {
            // Functions that the linker dropped lie at 0.
            if range.begin < range.end && range.begin != 0 {
                found.push(range.begin..range.end);
            }
        }
        Ok(found)
    }
}

/// Whether entries with this tag are types that can have a name.
fn is_named_type(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_typedef
            | gimli::DW_TAG_base_type
    )
}

fn producer(dwarf: &gimli::Dwarf<Bytes>, unit: &Unit) -> gimli::Result<String> {
    let mut entries = unit.entries();
    let Some((_, root)) = entries.next_dfs()? else { return Ok(String::new()) };
    match root.attr_value(gimli::DW_AT_producer)? {
        Some(value) => Ok(dwarf.attr_string(unit, value)?.to_string_lossy()?.into_owned()),
        None => Ok(String::new()),
    }
}

fn language(unit: &Unit) -> gimli::Result<Language> {
    let mut entries = unit.entries();
    let Some((_, root)) = entries.next_dfs()? else { return Ok(Language::Other) };
    let Some(AttributeValue::Language(language)) = root.attr_value(gimli::DW_AT_language)? else {
        return Ok(Language::Other);
    };
    Ok(match language {
        gimli::DW_LANG_C
        | gimli::DW_LANG_C89
        | gimli::DW_LANG_C99
        | gimli::DW_LANG_C11
        | gimli::DW_LANG_C17
        | gimli::DW_LANG_Mips_Assembler => Language::C,
        gimli::DW_LANG_C_plus_plus
        | gimli::DW_LANG_C_plus_plus_03
        | gimli::DW_LANG_C_plus_plus_11
        | gimli::DW_LANG_C_plus_plus_14
        | gimli::DW_LANG_C_plus_plus_17
        | gimli::DW_LANG_C_plus_plus_20 => Language::Cpp,
        _ => Language::Other,
    })
}
