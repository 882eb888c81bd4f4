//! The line table of a unit, both ways.

use crate::debug::{Bytes, Unit};
use gimli::Reader;
use std::ops::Range;
use std::sync::Arc;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file, with the folder it was compiled in.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1; 0 if it is not known.
    pub column: u64,
}

/// A row of the table: from this address on the code is of this line.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub address: u64,
    file: u32,
    pub line: u64,
    column: u64,
    pub is_statement: bool,
    pub ends_prologue: bool,
}

/// Rows of rising addresses without a gap.
struct Sequence {
    end: u64,
    rows: Vec<Row>,
}

/// The line table of a unit.
#[derive(Default)]
pub(crate) struct LineTable {
    files: Vec<Arc<str>>,
    sequences: Vec<Sequence>,
}

impl LineTable {
    pub fn read(dwarf: &gimli::Dwarf<Bytes>, unit: &Unit) -> gimli::Result<LineTable> {
        let mut table = LineTable::default();
        let Some(program) = unit.line_program.clone() else { return Ok(table) };
        let mut rows = program.rows();
        let mut numbers: std::collections::HashMap<u64, u32> = std::collections::HashMap::new();
        let mut current: Vec<Row> = Vec::new();
        while let Some((header, row)) = rows.next_row()? {
            if row.end_sequence() {
                let rows = std::mem::take(&mut current);
                if let Some(first) = rows.first()
                    && first.address != 0
                    && first.address < row.address()
                {
                    table.sequences.push(Sequence { end: row.address(), rows });
                }
                continue;
            }
            let file = match numbers.get(&row.file_index()) {
                Some(&number) => number,
                None => {
                    let name = file_name(dwarf, unit, header, row.file_index())?;
                    let number = table.files.len() as u32;
                    table.files.push(name.into());
                    numbers.insert(row.file_index(), number);
                    number
                }
            };
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => column.get(),
            };
            // Addresses of a sequence never fall; a table that says otherwise is read as far as it makes sense.
            if current.last().is_some_and(|last| last.address > row.address()) {
                continue;
            }
            current.push(Row {
                address: row.address(),
                file,
                line: row.line().map_or(0, |line| line.get()),
                column,
                is_statement: row.is_stmt(),
                ends_prologue: row.prologue_end(),
            });
        }
        table.sequences.sort_by_key(|sequence| sequence.rows[0].address);
        Ok(table)
    }

    /// Whether a statement that starts at an address starts again in some code around it.
    pub fn starts_again(&self, address: u64, code: &[Range<u64>]) -> bool {
        let is_inside = |row: &&Row| code.iter().any(|range| range.contains(&row.address));
        let place = |row: &Row| (row.file, row.line, row.column);
        let statements =
            self.sequences.iter().flat_map(|sequence| &sequence.rows).filter(|row| row.is_statement);
        let (here, elsewhere): (Vec<&Row>, Vec<&Row>) =
            statements.filter(is_inside).partition(|row| row.address == address);
        elsewhere.iter().any(|row| here.iter().any(|first| place(first) == place(row)))
    }

    fn line(&self, row: &Row) -> Line {
        Line { file: self.files[row.file as usize].clone(), line: row.line, column: row.column }
    }

    /// The name of a file of the table.
    pub fn file(dwarf: &gimli::Dwarf<Bytes>, unit: &Unit, number: u64) -> gimli::Result<Option<String>> {
        let Some(program) = &unit.line_program else { return Ok(None) };
        file_name(dwarf, unit, program.header(), number).map(Some)
    }

    /// The line that the code at an address was compiled from.
    pub fn at(&self, address: u64) -> Option<Line> {
        self.sequences.iter().find_map(|sequence| {
            if address >= sequence.end {
                return None;
            }
            let after = sequence.rows.partition_point(|row| row.address <= address);
            let mut best = after.checked_sub(1)?;
            // Of rows at one address the one that starts a statement is meant, as GDB has it.
            let start = sequence.rows[best].address;
            let mut candidate = best;
            while !sequence.rows[candidate].is_statement
                && candidate > 0
                && sequence.rows[candidate - 1].address == start
                && sequence.rows[candidate - 1].line != 0
            {
                candidate -= 1;
            }
            if sequence.rows[candidate].is_statement {
                best = candidate;
            }
            let row = &sequence.rows[best];
            (row.line != 0).then(|| self.line(row))
        })
    }

    /// The rows of the sequence that contains an address, from the one of that address on.
    pub fn rows_from(&self, address: u64) -> &[Row] {
        for sequence in &self.sequences {
            if address >= sequence.rows[0].address && address < sequence.end {
                let first = sequence.rows.partition_point(|row| row.address < address);
                return &sequence.rows[first..];
            }
        }
        &[]
    }

    /// The lines that have code, of files whose names end like this.
    pub fn lines_of<'a>(&'a self, file: &'a str) -> impl Iterator<Item = u64> + 'a {
        let rows = self.sequences.iter().flat_map(|sequence| &sequence.rows);
        rows.filter(move |row| row.is_statement && ends_with(&self.files[row.file as usize], file))
            .map(|row| row.line)
    }

    /// Where the code of a line starts: every address at which it follows code of another line.
    pub fn addresses(&self, file: &str, line: u64) -> Vec<u64> {
        let mut found = Vec::new();
        for sequence in &self.sequences {
            let mut inside = false;
            for row in &sequence.rows {
                let here = row.line == line && ends_with(&self.files[row.file as usize], file);
                if here && !inside && row.is_statement {
                    found.push(row.address);
                }
                inside = here && (inside || row.is_statement);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether a path ends with the parts of another.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || end.starts_with('/'))
}

fn file_name(
    dwarf: &gimli::Dwarf<Bytes>,
    unit: &Unit,
    header: &gimli::LineProgramHeader<Bytes>,
    number: u64,
) -> gimli::Result<String> {
    let text = |value| -> gimli::Result<String> {
        Ok(dwarf.attr_string(unit, value)?.to_string_lossy()?.into_owned())
    };
    let Some(file) = header.file(number) else { return Ok(String::from("??")) };
    let name = text(file.path_name())?;
    let mut path = std::path::PathBuf::new();
    if let Some(folder) = &unit.comp_dir {
        path.push(&*folder.to_string_lossy()?);
    }
    if (file.directory_index() != 0 || header.version() >= 5)
        && let Some(directory) = file.directory(header)
    {
        path.push(text(directory)?);
    }
    path.push(name);
    Ok(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::ends_with;

    #[test]
    fn files_are_told_by_the_ends_of_their_paths() {
        assert!(
            ends_with("/a/b/c.c", "c.c") && ends_with("/a/b/c.c", "b/c.c") && ends_with("/a/c.c", "/a/c.c")
        );
        assert!(!ends_with("/a/bc.c", "c.c"));
    }
}
