//! From a name used in a shown line to the place that defines it, in any file below the roots.

use crate::page;
use crate::sources::{Sources, Text};
use crate::syntax::{Class, Definition, Kind, Language, Lines, Sought, Token, may_define};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// How many files are searched for definitions beyond those that paths go through, how much of them is read, and how much
/// source is parsed in all.
const MOST_FILES: usize = 4_000;
const MOST_READ: usize = 64 << 20;
const MOST_BYTES: usize = 12 << 20;
/// Longer definitions are cut.
const MOST_LINES: u32 = 80;

/// What is defined below the roots.
pub struct Index {
    texts: Vec<(String, Rc<Text>)>,
    by_name: HashMap<String, Named>,
    /// Whether a bound cut the search short.
    pub cut: bool,
    /// Definitions that were asked for, in the order the page numbers them.
    pub chosen: Vec<page::Definition>,
    numbers: HashMap<(usize, u32, u32), usize>,
}

/// Everything that goes by one name.
#[derive(Default)]
struct Named {
    /// What is seen from everywhere, with the number of its text.
    open: Vec<(usize, Definition)>,
    /// What is seen in one function only, by text. A name like `i` is in most of them.
    local: HashMap<usize, Locals>,
}

/// Definitions of one name in the functions of one text, in the order in which the functions begin.
#[derive(Default)]
struct Locals {
    all: Vec<(Lines, Definition)>,
    /// The last line of any function up to here: no later one lies in a function before.
    reach: Vec<u32>,
}

impl Locals {
    fn add(&mut self, scope: Lines, definition: &Definition) {
        let at = self.all.partition_point(|(other, _)| other.first <= scope.first);
        self.all.insert(at, (scope, definition.clone()));
    }

    fn finish(&mut self) {
        let mut far = 0;
        self.reach = (self.all.iter())
            .map(|(scope, _)| {
                far = scope.last.max(far);
                far
            })
            .collect();
    }

    /// Those whose function has the line.
    fn around(&self, line: u32) -> impl Iterator<Item = &Definition> {
        let from = self.reach.partition_point(|&last| last < line);
        let to = self.all.partition_point(|(scope, _)| scope.first <= line).max(from);
        self.all[from..to]
            .iter()
            .filter(move |(scope, _)| scope.contains(line))
            .map(|(_, definition)| definition)
    }
}

impl Index {
    /// What the words in the `shown` lines of `sources` may stand for: reads what is below the roots, within bounds, and
    /// outlines the files that may define such a word.
    pub fn new(
        sources: &Sources,
        shown: &BTreeMap<usize, Vec<Lines>>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Index {
        Index::made(sources, progress, |index| Some(index.sought(sources, shown)))
    }

    /// `sought` says, after the files on the paths are read, what is to be found elsewhere; without it everything is.
    fn made(
        sources: &Sources,
        progress: &mut dyn FnMut(usize, usize),
        sought: impl FnOnce(&mut Index) -> Option<HashMap<String, Sought>>,
    ) -> Index {
        let mut index = Index {
            texts: Vec::new(),
            by_name: HashMap::new(),
            cut: false,
            chosen: Vec::new(),
            numbers: HashMap::new(),
        };
        let roots = sources.roots();
        // The files on the paths come first: a bound must not cost them their own definitions, and they are parsed already.
        let mut seen = HashSet::new();
        let mut parsed = 0;
        for source in &sources.all {
            let (Some(path), Ok(text)) = (&source.path, &source.text) else { continue };
            if Language::of(&source.name).is_none() || !seen.insert(path.clone()) {
                continue;
            }
            parsed += text.whole.len();
            if parsed > MOST_BYTES {
                index.cut = true;
                break;
            }
            index.add(&source.name, text);
        }
        let mut sought = sought(&mut index);
        let found = roots.files(MOST_FILES + 1);
        index.cut |= found.len() > MOST_FILES;
        let (mut read, all) = (0, found.len());
        for (done, path) in found.into_iter().take(MOST_FILES).enumerate() {
            if index.cut && parsed > MOST_BYTES || sought.as_ref().is_some_and(HashMap::is_empty) {
                break;
            }
            progress(done, all);
            let Some(language) = path.file_name().and_then(|name| Language::of(&name.to_string_lossy()))
            else {
                continue;
            };
            if !seen.insert(path.clone()) {
                continue;
            }
            let Ok(found) = roots.admit(&path) else { continue };
            let Ok(text) = roots.read(&found) else { continue };
            read += text.len();
            if read > MOST_READ {
                index.cut = true;
                break;
            }
            if let Some(sought) = &sought
                && !may_define(language, &text, &|word| sought.get(word).copied())
            {
                continue;
            }
            parsed += text.len();
            if parsed > MOST_BYTES {
                index.cut = true;
                break;
            }
            let text = Rc::new(Text::new(&found.name, text));
            index.add(&found.name, &text);
            // The first file that defines a name has the definition, which ends the search for it.
            if let Some(sought) = &mut sought {
                for one in text.outline.definitions.iter().filter(|one| one.scope.is_none()) {
                    if let Some(left) = sought.get_mut(&one.name).filter(|_| one.kind != Kind::Declaration) {
                        left.any = false;
                        left.function &= one.kind != Kind::Function;
                        if *left == Sought::default() {
                            sought.remove(&one.name);
                        }
                    }
                }
            }
        }
        index.by_name.values_mut().flat_map(|named| named.local.values_mut()).for_each(Locals::finish);
        index
    }

    fn add(&mut self, name: &str, text: &Rc<Text>) {
        let number = self.texts.len();
        for definition in &text.outline.definitions {
            // Most names have been seen, and need no copy.
            if !self.by_name.contains_key(&definition.name) {
                self.by_name.insert(definition.name.clone(), Named::default());
            }
            let Some(named) = self.by_name.get_mut(&definition.name) else { continue };
            match definition.scope {
                Some(scope) => named.local.entry(number).or_default().add(scope, definition),
                None => named.open.push((number, definition.clone())),
            }
        }
        self.texts.push((name.to_owned(), Rc::clone(text)));
    }

    /// The words in the shown lines that nothing in the files read so far defines, except by a prototype.
    fn sought(&mut self, sources: &Sources, shown: &BTreeMap<usize, Vec<Lines>>) -> HashMap<String, Sought> {
        self.by_name.values_mut().flat_map(|named| named.local.values_mut()).for_each(Locals::finish);
        let mut sought: HashMap<String, Sought> = HashMap::new();
        for (&source, stretches) in shown {
            let Some(text) = sources.text(source) else { continue };
            let tokens = &text.outline.tokens;
            for lines in stretches {
                let from = tokens.partition_point(|token| token.line < lines.first);
                for token in tokens[from..].iter().take_while(|token| token.line <= lines.last) {
                    if !matches!(token.class, Class::Name | Class::Member) {
                        continue;
                    }
                    let Some(word) = word(text, token) else { continue };
                    let best = self.best(&sources.all[source].name, word, token);
                    if best.is_none_or(|(_, definition)| definition.kind == Kind::Declaration) {
                        let entry = sought.entry(word.to_owned()).or_default();
                        match token.class {
                            Class::Member => entry.function = true,
                            _ => entry.any = true,
                        }
                    }
                }
            }
        }
        sought
    }

    /// What `word`, a token of `file`, stands for: a definition, and the number of its text.
    fn best(&self, file: &str, word: &str, token: &Token) -> Option<(usize, &Definition)> {
        let named = self.by_name.get(word)?;
        let fits =
            |definition: &&Definition| token.class != Class::Member || definition.kind == Kind::Function;
        // A local is seen in its own function only; the nearest one above wins.
        let nearest = |(number, definition): &(usize, &Definition)| {
            (token.line.checked_sub(definition.lines.first).unwrap_or(1 << 20), *number)
        };
        let local = (named.local.iter())
            .filter(|(number, _)| self.texts[**number].0 == file)
            .flat_map(|(number, locals)| locals.around(token.line).filter(fits).map(|one| (*number, one)))
            .min_by_key(nearest);
        let open = || {
            let all = named.open.iter().map(|(number, one)| (*number, one)).filter(|(_, one)| fits(one));
            all.min_by_key(|(number, one)| (rank(one, self.texts[*number].0 == file), *number))
        };
        local.or_else(open)
    }

    /// The page's number for what `token`, a word of `file`, stands for.
    pub fn resolve(&mut self, file: &str, text: &Text, token: &Token) -> Option<usize> {
        let word = word(text, token)?;
        let (number, definition) = self.best(file, word, token).map(|(number, one)| (number, one.clone()))?;
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

fn word<'t>(text: &'t Text, token: &Token) -> Option<&'t str> {
    text.whole.get(token.bytes.0 as usize..token.bytes.1 as usize)
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

/// How well a definition that is seen from everywhere fits a use: smaller is better.
fn rank(definition: &Definition, same_file: bool) -> u8 {
    let prototype = definition.kind == Kind::Declaration;
    if prototype { 3 } else { 2 - u8::from(same_file) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Roots;

    /// Every word of a file stands for the same whether all files around it were parsed or only those that may define one of its
    /// words. `DEFINITIONS=FOLDER` tries the files of another folder.
    #[test]
    fn what_is_not_parsed_defines_nothing_that_is_shown() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../corpus");
        let folder = std::env::var("DEFINITIONS").unwrap_or_else(|_| format!("{corpus}/report"));
        let most = std::env::var("DEFINITIONS_FILES").map_or(60, |most| most.parse().unwrap());
        let files = Roots::new(&[&folder]).unwrap().files(MOST_FILES);
        let files: Vec<_> =
            files.iter().filter(|path| Language::of(&path.to_string_lossy()).is_some()).collect();
        let (mut words, mut elsewhere, mut parsed, mut all, mut wrong) = (0, 0, 0, 0, Vec::new());
        for path in files.iter().step_by(files.len().div_ceil(most).max(1)) {
            let mut sources = Sources::new(Roots::new(&[&folder]).unwrap(), Vec::new());
            let at = sources.get(&path.to_string_lossy());
            let Some(text) = sources.text(at) else { continue };
            let shown = BTreeMap::from([(at, vec![Lines { first: 1, last: text.line_count() }])]);
            let few = Index::new(&sources, &shown, &mut |_, _| {});
            let full = Index::made(&sources, &mut |_, _| {}, |_| None);
            parsed += few.texts.len();
            all += full.texts.len();
            let file = &sources.all[at].name;
            for token in &text.outline.tokens {
                let Some(word) =
                    word(text, token).filter(|_| matches!(token.class, Class::Name | Class::Member))
                else {
                    continue;
                };
                let told = |index: &Index| {
                    let (number, definition) = index.best(file, word, token)?;
                    Some((index.texts[number].0.clone(), definition.clone()))
                };
                let expected = told(&full);
                words += 1;
                elsewhere += usize::from(expected.as_ref().is_some_and(|(other, _)| other != file));
                if told(&few) != expected {
                    wrong.push(format!("{word} of {file}: {expected:?}, not {:?}", told(&few)));
                }
            }
        }
        eprintln!(
            "{words} words, {elsewhere} defined elsewhere, {parsed} of {all} files parsed, {} wrong",
            wrong.len()
        );
        wrong.sort();
        wrong.dedup();
        assert!(wrong.is_empty(), "{} words:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
        assert!(elsewhere > 0 && parsed < all, "nothing was tried");
    }

    /// Functions beside and in each other, in every order: those around a line are those that have it.
    #[test]
    fn locals_around_a_line_are_those_whose_function_has_it() {
        let mut seed = 7_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..300 {
            let mut locals = Locals::default();
            let mut all = Vec::new();
            for number in 0..1 + next(12) {
                let first = 1 + next(40);
                let scope = Lines { first, last: first + next(20) };
                let definition = Definition {
                    name: format!("n{number}"),
                    kind: Kind::Local,
                    lines: scope,
                    scope: Some(scope),
                };
                locals.add(scope, &definition);
                all.push((scope, definition.name));
            }
            locals.finish();
            for line in 0..70 {
                let mut expected: Vec<&str> =
                    all.iter().filter(|(scope, _)| scope.contains(line)).map(|(_, name)| &**name).collect();
                let mut found: Vec<&str> = locals.around(line).map(|one| &*one.name).collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "line {line} of {all:?}");
            }
        }
    }
}
