//! The sources a page needs, each read and outlined once.

use crate::roots::{Missing, Roots};
use crate::syntax::{Lines, Outline};
use parallax_report::Excerpt;
use std::collections::HashMap;
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
        Text { whole, starts, outline }
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

/// The last few folders of a name: enough to recognise it by.
fn short_name(reported: &str) -> String {
    let parts: Vec<&str> = reported.split('/').filter(|part| !part.is_empty()).collect();
    let kept = parts[parts.len().saturating_sub(3)..].join("/");
    if parts.len() > 3 { format!("…/{kept}") } else { reported.to_owned() }
}
