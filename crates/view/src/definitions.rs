//! From a name used in a shown line to the place that defines it, in any file below the roots.

use crate::page;
use crate::sources::{Sources, Text};
use crate::syntax::{Class, Definition, Kind, Lines, Token};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

/// How much source is searched for definitions beyond the files that paths go through.
const MOST_FILES: usize = 4_000;
const MOST_BYTES: usize = 12 << 20;
/// Longer definitions are cut.
const MOST_LINES: u32 = 80;

/// Everything that is defined below the roots.
pub struct Index {
    texts: Vec<(String, Rc<Text>)>,
    by_name: HashMap<String, Vec<(usize, Definition)>>,
    /// Whether a bound cut the search short.
    pub cut: bool,
    /// Definitions that were asked for, in the order the page numbers them.
    pub chosen: Vec<page::Definition>,
    numbers: HashMap<(usize, u32, u32), usize>,
}

impl Index {
    /// Reads and outlines what is below the roots of `sources`, within bounds.
    pub fn new(sources: &Sources, progress: &mut dyn FnMut(usize, usize)) -> Index {
        let mut index = Index {
            texts: Vec::new(),
            by_name: HashMap::new(),
            cut: false,
            chosen: Vec::new(),
            numbers: HashMap::new(),
        };
        let roots = sources.roots();
        let found = roots.files(MOST_FILES + 1);
        index.cut = found.len() > MOST_FILES;
        // The files on the paths come first: a bound must not cost them their own definitions.
        let read: HashMap<PathBuf, Rc<Text>> = sources
            .all
            .iter()
            .filter_map(|source| Some((source.path.clone()?, Rc::clone(source.text.as_ref().ok()?))))
            .collect();
        let on_paths = sources.all.iter().filter_map(|source| source.path.clone());
        let mut seen = HashSet::new();
        let mut bytes = 0;
        let all = found.len();
        for path in on_paths.chain(found) {
            progress(seen.len().min(all), all);
            if !seen.insert(path.clone()) {
                continue;
            }
            let Ok(found) = roots.admit(&path) else { continue };
            if crate::syntax::Language::of(&found.name).is_none() {
                continue;
            }
            // What the paths have parsed already is not parsed again.
            let text = match read.get(&path) {
                Some(text) => Rc::clone(text),
                None => match roots.read(&found) {
                    Ok(text) if bytes + text.len() <= MOST_BYTES => Rc::new(Text::new(&found.name, text)),
                    Ok(_) => {
                        index.cut = true;
                        break;
                    }
                    Err(_) => continue,
                },
            };
            bytes += text.whole.len();
            if bytes > MOST_BYTES {
                index.cut = true;
                break;
            }
            let number = index.texts.len();
            for definition in &text.outline.definitions {
                index.by_name.entry(definition.name.clone()).or_default().push((number, definition.clone()));
            }
            index.texts.push((found.name, text));
        }
        index
    }

    /// The page's number for what `token`, a word of `file`, stands for.
    pub fn resolve(&mut self, file: &str, text: &Text, token: &Token) -> Option<usize> {
        let word = text.whole.get(token.bytes.0 as usize..token.bytes.1 as usize)?;
        let candidates = self.by_name.get(word)?;
        let member = token.class == Class::Member;
        let (number, definition) = candidates
            .iter()
            .filter(|(_, definition)| !member || definition.kind == Kind::Function)
            .filter_map(|(number, definition)| {
                let here = self.texts[*number].0 == file;
                let rank = rank(definition, here, token.line)?;
                Some((rank, *number, definition))
            })
            .min_by_key(|(rank, number, _)| (*rank, *number))
            .map(|(_, number, definition)| (number, definition.clone()))?;
        let here = self.texts[number].0 == file;
        if here && definition.lines.count() == 1 && definition.lines.first == token.line {
            return None; // It stands right here.
        }
        if here && definition.kind == Kind::Function && definition.lines.first == token.line {
            return None;
        }
        Some(self.number(number, &definition))
    }

    fn number(&mut self, file: usize, definition: &Definition) -> usize {
        let (name, text) = &self.texts[file];
        let lines = text.clip(text.outline.with_comment(&text.whole, definition.lines));
        let key = (file, lines.first, lines.last);
        if let Some(&number) = self.numbers.get(&key).filter(|&&at| self.chosen[at].name == definition.name) {
            return number;
        }
        self.chosen.push(definition_of(name, text, lines, &definition.name, definition.kind.label()));
        self.numbers.insert(key, self.chosen.len() - 1);
        self.chosen.len() - 1
    }

    /// A number for lines that a report points at off its paths.
    pub fn place(&mut self, name: &str, text: &Text, line: u32) -> usize {
        let lines = text.clip(Lines { first: line.saturating_sub(2), last: line.saturating_add(2) });
        self.chosen.push(definition_of(name, text, lines, &format!("line {line}"), "related place"));
        self.chosen.len() - 1
    }
}

fn definition_of(file: &str, text: &Text, lines: Lines, name: &str, kind: &'static str) -> page::Definition {
    let shown = Lines { last: lines.last.min(lines.first + MOST_LINES - 1), ..lines };
    let tokens = &text.outline.tokens;
    page::Definition {
        name: name.to_owned(),
        kind,
        file: file.to_owned(),
        chunk: chunk(text, shown, |line| encode(tokens, line, |_| None)),
        more: lines.last - shown.last,
    }
}

/// How well a definition fits a use: smaller is better, `None` not at all.
fn rank(definition: &Definition, same_file: bool, line: u32) -> Option<(u8, u32)> {
    if let Some(scope) = definition.scope {
        // A local is seen in its own function only; the nearest one above wins.
        if !same_file || !scope.contains(line) {
            return None;
        }
        return Some((0, line.checked_sub(definition.lines.first).unwrap_or(1 << 20)));
    }
    let prototype = definition.kind == Kind::Declaration;
    Some((if prototype { 3 } else { 2 - u8::from(same_file) }, 0))
}

/// The lines of a text with their encoded tokens.
pub fn chunk(text: &Text, lines: Lines, mut tokens: impl FnMut(u32) -> String) -> page::Chunk {
    page::Chunk {
        first: lines.first,
        lines: (lines.first..=lines.last).map(|line| text.line(line).to_owned()).collect(),
        tokens: (lines.first..=lines.last).map(&mut tokens).collect(),
    }
}

/// The tokens of one line in the form the page reads.
pub fn encode(tokens: &[Token], line: u32, mut resolve: impl FnMut(&Token) -> Option<usize>) -> String {
    let from = tokens.partition_point(|token| token.line < line);
    let mut out = String::new();
    for token in tokens[from..].iter().take_while(|token| token.line == line) {
        let letter = match token.class {
            Class::Keyword => 'k',
            Class::String => 's',
            Class::Number => 'n',
            Class::Comment => 'c',
            Class::Preprocessor => 'p',
            Class::Name | Class::Member => match resolve(token) {
                Some(number) => {
                    separate(&mut out);
                    out.push_str(&format!("d{},{},{number}", token.start, token.length));
                    continue;
                }
                None => continue,
            },
        };
        separate(&mut out);
        out.push_str(&format!("{letter}{},{}", token.start, token.length));
    }
    out
}

fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push(' ');
    }
}
