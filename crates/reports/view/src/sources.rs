//! The sources a page needs, each read and outlined once.

use crate::roots::{Missing, Roots};
use crate::syntax::{Lines, Outline};
use parallax_report::Excerpt;
use parallax_report::identity::Code;
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

/// All sources of a page together may not be larger than this; what comes later is left out and says so.
pub const LARGEST_PAGE: usize = 64 << 20;

/// One file that reports speak of.
#[derive(Debug)]
pub struct Source {
    /// What to call it: relative to its root, or as the report does when it was not found.
    pub name: String,
    /// Its text and shape, or why there is none.
    pub text: Result<Rc<Text>, Missing>,
    /// Where it was found.
    pub path: Option<PathBuf>,
}

/// A text, its lines and its shape.
#[derive(Debug)]
pub struct Text {
    /// The whole text.
    pub whole: String,
    starts: Vec<u32>,
    /// Functions, blocks, names, tokens.
    pub outline: Outline,
    digest: OnceCell<String>,
}

impl Text {
    /// Outlines a text of a file called `name`.
    pub fn new(name: &str, whole: String) -> Text {
        let mut starts = vec![0];
        starts.extend(
            whole.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1),
        );
        // A line break at the very end does not begin another line.
        if starts.len() > 1 && starts.last() == Some(&(whole.len() as u32)) {
            starts.pop();
        }
        let outline = Outline::of(name, &whole);
        Text { whole, starts, outline, digest: OnceCell::new() }
    }

    /// How many lines there are.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// A line without its end, counted from one; empty beyond the last.
    pub fn line(&self, number: u32) -> &str {
        let Some(&start) = number.checked_sub(1).and_then(|index| self.starts.get(index as usize)) else {
            return "";
        };
        let end = self.starts.get(number as usize).map_or(self.whole.len(), |&next| next as usize);
        self.whole[start as usize..end].trim_end_matches('\n')
    }

    /// `lines` cut to what exists.
    pub fn clip(&self, lines: Lines) -> Lines {
        let last = lines.last.clamp(1, self.line_count());
        Lines { first: lines.first.clamp(1, last), last }
    }
}

/// Reads sources on demand.
#[derive(Debug)]
pub struct Sources {
    roots: Roots,
    /// What came along with the reports, by the name the report uses.
    excerpts: HashMap<String, Vec<Excerpt>>,
    /// In the order they were first asked for.
    pub all: Vec<Source>,
    by_reported: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
    bytes: usize,
    /// The functions of files that were looked at by name only.
    looked_at: HashMap<String, Option<HashSet<String>>>,
}

impl Sources {
    /// Sources below these roots; where a file is not there, what the report itself holds of it.
    pub fn new(roots: Roots, excerpts: Vec<Excerpt>) -> Sources {
        let mut by_file: HashMap<String, Vec<Excerpt>> = HashMap::new();
        for excerpt in excerpts {
            by_file.entry(excerpt.file.clone()).or_default().push(excerpt);
        }
        Sources {
            roots,
            excerpts: by_file,
            all: Vec::new(),
            by_reported: HashMap::new(),
            by_name: HashMap::new(),
            bytes: 0,
            looked_at: HashMap::new(),
        }
    }

    /// The roots.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The source that a report means by `reported`: an index into [`Sources::all`].
    pub fn get(&mut self, reported: &str) -> usize {
        if let Some(&index) = self.by_reported.get(reported) {
            return index;
        }
        let index = match self.roots.find(reported) {
            Ok(found) => match self.by_name.get(&found.name) {
                // Two names for one file.
                Some(&index) => index,
                None => {
                    let text = self.roots.read(&found).or_else(|why| self.quoted(reported).ok_or(why));
                    let text = text.and_then(|text| self.admit(text));
                    let text = text.map(|text| Rc::new(Text::new(&found.name, text)));
                    self.by_name.insert(found.name.clone(), self.all.len());
                    self.add(Source { name: found.name, text, path: Some(found.path) })
                }
            },
            Err(why) => {
                let text = self.quoted(reported).ok_or(why).and_then(|text| self.admit(text));
                let text = text.map(|text| Rc::new(Text::new(reported, text)));
                self.add(Source { name: short_name(reported), text, path: None })
            }
        };
        self.by_reported.insert(reported.to_owned(), index);
        index
    }

    /// Counts a text against the page's bound.
    fn admit(&mut self, text: String) -> Result<String, Missing> {
        self.bytes += text.len();
        if self.bytes > LARGEST_PAGE { Err(Missing::PageFull) } else { Ok(text) }
    }

    /// What the reports quote of a file, every line in its place and empty lines between.
    fn quoted(&self, reported: &str) -> Option<String> {
        /// Quotes from further down would be mostly empty lines.
        const LAST_LINE: usize = 200_000;
        let mut lines: Vec<&str> = Vec::new();
        for excerpt in self.excerpts.get(reported)? {
            for (offset, line) in excerpt.text.lines().enumerate() {
                let at = (excerpt.line as usize - 1).saturating_add(offset);
                if at >= LAST_LINE {
                    break;
                }
                if lines.len() <= at {
                    lines.resize(at + 1, "");
                }
                // Two quotes of one line: the one that has more of it.
                if line.trim_end().len() > lines[at].len() {
                    lines[at] = line;
                }
            }
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn add(&mut self, source: Source) -> usize {
        self.all.push(source);
        self.all.len() - 1
    }

    /// The text of a source, if there is one.
    pub fn text(&self, index: usize) -> Option<&Text> {
        self.all.get(index).and_then(|source| source.text.as_deref().ok())
    }
}

/// The code that tells reports apart: whole files only, for what a report quotes depends on the report.
impl Code for Sources {
    fn find(&mut self, reported: &str) -> Option<usize> {
        let index = self.get(reported);
        self.all[index].text.is_ok().then_some(index)
    }

    fn name(&self, file: usize) -> &str {
        &self.all[file].name
    }

    fn line(&self, file: usize, number: u32) -> &str {
        self.text(file).map_or("", |text| text.line(number))
    }

    fn function(&self, file: usize, number: u32) -> Option<(String, u32, u32)> {
        self.all[file].path.as_ref()?;
        let function = self.text(file)?.outline.function_at(number, None)?;
        Some((function.name.clone(), function.lines.first, function.lines.last))
    }

    fn line_count(&self, file: usize) -> u32 {
        let whole = self.all[file].path.is_some();
        self.text(file).filter(|_| whole).map_or(0, Text::line_count)
    }

    fn digest(&self, file: usize) -> String {
        self.text(file).map_or(String::new(), |text| {
            let made = || {
                let digest = Sha256::digest(text.whole.as_bytes());
                digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
            };
            text.digest.get_or_init(made).clone()
        })
    }

    fn defines(&mut self, name: &str, function: &str) -> bool {
        if !self.looked_at.contains_key(name) {
            let found = self.roots.find(name).ok().filter(|found| found.name == name);
            let functions = found.map(|found| match self.by_name.get(name) {
                Some(&known) => self.text(known).map_or(HashSet::new(), |text| names(&text.outline)),
                None => {
                    self.roots.read(&found).map_or(HashSet::new(), |text| names(&Outline::of(name, &text)))
                }
            });
            self.looked_at.insert(name.to_owned(), functions);
        }
        let functions = self.looked_at.get(name).and_then(Option::as_ref);
        functions.is_some_and(|functions| function.is_empty() || functions.contains(function))
    }
}

fn names(outline: &Outline) -> HashSet<String> {
    outline.functions.iter().map(|function| function.name.clone()).collect()
}

/// The last few folders of a name: enough to recognise it by.
fn short_name(reported: &str) -> String {
    let parts: Vec<&str> = reported.split('/').filter(|part| !part.is_empty()).collect();
    let kept = parts[parts.len().saturating_sub(3)..].join("/");
    if parts.len() > 3 { format!("…/{kept}") } else { reported.to_owned() }
}
