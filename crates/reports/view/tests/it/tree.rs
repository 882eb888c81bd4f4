//! Sources whose lines keep a number of their own through edits.

use parallax_view::syntax::Outline;
use std::collections::BTreeMap;
use std::path::Path;

/// A small generator of numbers: the same seed makes the same edits.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }
}

/// A line, known by a number that stays its own wherever it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub id: u64,
    pub text: String,
}

/// Files below a folder.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub files: BTreeMap<String, Vec<Line>>,
    next: u64,
}

impl Tree {
    /// A number that nothing else has.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub fn fresh(&mut self, text: impl Into<String>) -> Line {
        Line { id: self.number(), text: text.into() }
    }

    /// Takes in a file of a folder; whether it is there and is text.
    pub fn load(&mut self, folder: &Path, name: &str) -> bool {
        if self.files.contains_key(name) {
            return true;
        }
        let Ok(bytes) = std::fs::read(folder.join(name)) else { return false };
        let Ok(text) = String::from_utf8(bytes) else { return false };
        let lines = text.lines().map(|text| self.fresh(text)).collect();
        self.files.insert(name.to_owned(), lines);
        true
    }

    pub fn write(&self, folder: &Path) {
        for (name, lines) in &self.files {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder is made");
            std::fs::write(file, text(lines)).expect("a file is written");
        }
    }

    /// The file and the index of a line.
    pub fn find(&self, id: u64) -> Option<(String, usize)> {
        self.files
            .iter()
            .find_map(|(name, lines)| Some((name.clone(), lines.iter().position(|line| line.id == id)?)))
    }

    pub fn lines(&mut self, file: &str) -> &mut Vec<Line> {
        self.files.get_mut(file).expect("a file of the tree")
    }

    /// Name, first and last index of each function.
    pub fn functions(&self, file: &str) -> Vec<(String, usize, usize)> {
        let outline = Outline::of(file, &text(&self.files[file]));
        let count = self.files[file].len();
        let found = outline.functions.into_iter().filter(|function| (function.lines.last as usize) <= count);
        found
            .map(|function| {
                (function.name, function.lines.first as usize - 1, function.lines.last as usize - 1)
            })
            .collect()
    }

    /// The lines of a function's body around an index.
    pub fn function_at(&self, file: &str, at: usize) -> Option<(String, usize, usize)> {
        self.functions(file).into_iter().find(|(_, first, last)| (first..=last).contains(&&at))
    }

    pub fn rename_file(&mut self, from: &str, to: String) {
        let lines = self.files.remove(from).expect("a file of the tree");
        self.files.insert(to, lines);
    }

    /// Another name for a file: in a folder of its own, beside it, or deeper.
    pub fn other_name(&mut self, from: &str, dice: &mut Dice) -> String {
        let number = self.number();
        match dice.below(3) {
            0 => format!("part{number}/{}", base_name(from)),
            1 => format!("{}_{number}.c", from.trim_end_matches(".c")),
            _ => format!("deep/er{number}/{}", base_name(from)),
        }
    }
}

pub fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

pub fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The text with one word in the place of another.
pub fn replaced(text: &str, word: &str, other: &str) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut out = String::new();
    let mut rest = text;
    let mut before = b' ';
    while let Some(at) = rest.find(word) {
        let end = at + word.len();
        let left = if at == 0 { before } else { rest.as_bytes()[at - 1] };
        let right = rest.as_bytes().get(end).copied().unwrap_or(b' ');
        out.push_str(&rest[..at]);
        out.push_str(if is_word(left) || is_word(right) { word } else { other });
        before = rest.as_bytes()[end - 1];
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
