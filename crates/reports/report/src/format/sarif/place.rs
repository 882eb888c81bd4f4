//! Locations: files by URI and index, regions by line or by offset, functions by name, and the source that comes along.

use super::read::Run;
use super::uri;
use crate::value::{items, number, some_text, text};
use crate::{Excerpt, Location};
use serde_json::Value;

/// How far one `uriBaseId` may lead to the next.
const BASE_CHAIN: usize = 16;

impl<'a> Run<'a> {
    /// The texts of whole files that the log holds.
    pub(super) fn collect_contents(&mut self) {
        for artifact in items(self.run, "/artifacts") {
            if let Some(file) = self.file(&artifact["location"])
                && let Some(contents) = artifact.pointer("/contents/text").and_then(Value::as_str)
            {
                self.contents.insert(file, contents);
            }
        }
    }

    pub(super) fn place(&self, location: &Value) -> Option<Location> {
        let physical = location.get("physicalLocation")?;
        let region = &physical["region"];
        let file = self.file(physical.get("artifactLocation")?)?;
        let place = self.region(&file, region);
        if !self.contents.contains_key(&place.file) {
            for region in [region, &physical["contextRegion"]] {
                if let Some(excerpt) = snippet(&place.file, region) {
                    self.snippets.borrow_mut().insert(excerpt);
                }
            }
        }
        Some(place)
    }

    /// A region of a file.
    pub(super) fn region(&self, file: &str, region: &Value) -> Location {
        let position = |name: &str| {
            let written = region.get(name).filter(|written| !written.is_null())?;
            let number = number(region, &format!("/{name}"));
            // Lines and columns count from one.
            if number.is_none_or(|number| number == 0) {
                let told = || format!("`{name}` {written}");
                self.misplaced.borrow_mut().entry(file.to_owned()).or_insert_with(told);
            }
            number
        };
        let mut place = Location {
            line: position("startLine"),
            column: position("startColumn"),
            end_line: position("endLine"),
            end_column: position("endColumn"),
            file: file.to_owned(),
        };
        if place.line.is_none() {
            self.resolve_offset(region, &mut place);
        }
        if self.spread {
            self.gather_tabs(&mut place);
        }
        place
    }

    /// gcc counts a tab as up to eight columns, against the standard; where the log holds the file, that is undone.
    fn gather_tabs(&self, place: &mut Location) {
        let Some(contents) = self.contents.get(&place.file).filter(|text| text.contains('\t')) else {
            return;
        };
        let mut known = self.lines.borrow_mut();
        let lines = known.entry(place.file.clone()).or_insert_with(|| contents.lines().collect());
        let text = |line: u32| lines.get(line.checked_sub(1)? as usize);
        let gathered = |line: Option<u32>, column: Option<u32>| match line.and_then(text) {
            Some(text) => column.map(|column| character_at(text, column)),
            None => column,
        };
        place.end_column = gathered(place.end_line.or(place.line), place.end_column);
        place.column = gathered(place.line, place.column);
    }

    /// Regions may be given by offsets alone; their lines are known where the log holds the text.
    fn resolve_offset(&self, region: &Value, place: &mut Location) {
        let (start, length, bytes) = match (number(region, "/charOffset"), number(region, "/byteOffset")) {
            (Some(start), _) => (start, number(region, "/charLength"), false),
            (None, Some(start)) => (start, number(region, "/byteLength"), true),
            (None, None) => return,
        };
        let Some(contents) = self.contents.get(&place.file) else {
            self.unresolved.set(self.unresolved.get() + 1);
            return;
        };
        let position = |offset: usize| {
            let end = if bytes {
                (0..=offset.min(contents.len())).rev().find(|&at| contents.is_char_boundary(at))
            } else {
                Some(contents.char_indices().nth(offset).map_or(contents.len(), |(at, _)| at))
            };
            let before = &contents[..end.unwrap_or(0)];
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let line = before.matches('\n').count() as u32 + 1;
            (line, before[line_start..].chars().count() as u32 + 1)
        };
        let (line, column) = position(start as usize);
        (place.line, place.column) = (Some(line), Some(column));
        if let Some(length) = length {
            let (end_line, end_column) = position(start as usize + length as usize);
            (place.end_line, place.end_column) = (Some(end_line), Some(end_column));
        }
    }

    pub(super) fn file(&self, artifact: &Value) -> Option<String> {
        let cached = || {
            let index = number(artifact, "/index")? as usize;
            items(self.run, "/artifacts").get(index)?.get("location")
        };
        let artifact = if artifact["uri"].is_string() { artifact } else { cached()? };
        let mut uri = artifact["uri"].as_str()?.to_owned();
        let mut base = text(artifact, "/uriBaseId");
        let mut seen = Vec::new();
        while let Some(definition) = self.run.pointer("/originalUriBaseIds").and_then(|bases| bases.get(base))
        {
            if seen.contains(&base) || seen.len() == BASE_CHAIN {
                self.endless.borrow_mut().insert(text(artifact, "/uriBaseId").to_owned());
                break;
            }
            seen.push(base);
            let prefix = text(definition, "/uri");
            if !prefix.is_empty() {
                let slash = if prefix.ends_with('/') { "" } else { "/" };
                uri = format!("{prefix}{slash}{uri}");
            }
            base = text(definition, "/uriBaseId");
        }
        Some(uri::decode(&uri))
    }

    /// The function around a location: the first of its logical locations that is one.
    pub(super) fn function(&self, location: &Value) -> Option<String> {
        const KINDS: [&str; 9] = [
            "",
            "function",
            "member",
            "method",
            "constructor",
            "destructor",
            "lambda",
            "procedure",
            "resource",
        ];
        let named = |value: &Value| {
            let fits = KINDS.contains(&text(value, "/kind"));
            let name = || some_text(value, "/fullyQualifiedName").or_else(|| some_text(value, "/name"));
            if fits { name() } else { None }
        };
        items(location, "/logicalLocations").iter().find_map(|logical| {
            let cached = || items(self.run, "/logicalLocations").get(number(logical, "/index")? as usize);
            // What the cache says of its kind counts for the reference too.
            match cached() {
                Some(cached) if text(logical, "/kind").is_empty() => named(cached),
                cached => named(logical).or_else(|| named(cached?)),
            }
        })
    }
}

/// Which character of a line stands at a column on screen, both counted from one.
fn character_at(line: &str, column: u32) -> u32 {
    const TAB: u32 = 8;
    let (mut character, mut screen) = (1, 1);
    for c in line.chars() {
        if screen >= column {
            return character;
        }
        screen = if c == '\t' { (screen - 1) / TAB * TAB + TAB + 1 } else { screen + 1 };
        character += 1;
    }
    character + column.saturating_sub(screen)
}

/// The text of a region as lines whose columns are right.
fn snippet(file: &str, region: &Value) -> Option<Excerpt> {
    /// Beyond this column a line is not worth padding.
    const WIDEST: u32 = 2_000;
    let line = number(region, "/startLine")?;
    let mut words = some_text(region, "/snippet/text")?;
    let start = number(region, "/startColumn").unwrap_or(1);
    let first = words.lines().next().unwrap_or("").chars().count() as u32;
    let exact = match number(region, "/endColumn") {
        Some(end) if number(region, "/endLine").is_none_or(|last| last == line) => {
            first <= end.saturating_sub(start)
        }
        _ => !words.starts_with([' ', '\t']),
    };
    // The standard says that a snippet is the region alone; some tools give whole lines.
    if exact && (2..WIDEST).contains(&start) {
        words.insert_str(0, &" ".repeat(start as usize - 1));
    }
    Some(Excerpt { file: file.to_owned(), line, text: words })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_on_screen_are_characters_of_the_line() {
        let at = |column| character_at("\tif (x)\ty;", column);
        assert_eq!([at(1), at(8), at(9), at(15), at(17), at(18), at(25)], [1, 2, 2, 8, 9, 10, 17]);
        assert_eq!(character_at("", 3), 3);
    }

    #[test]
    fn snippets_stand_in_their_columns() {
        let text = |region: Value| snippet("a.c", &region).map(|excerpt| excerpt.text);
        let region = |start: u32, end: u32, words: &str| json!({"startLine": 3, "startColumn": start, "endColumn": end, "snippet": {"text": words}});
        assert_eq!(text(region(5, 9, "free")).as_deref(), Some("    free"));
        assert_eq!(text(region(5, 9, "    free(p);\n")).as_deref(), Some("    free(p);\n"));
        assert_eq!(
            text(json!({"startLine": 3, "snippet": {"text": "free(p);"}})).as_deref(),
            Some("free(p);")
        );
        assert_eq!(text(json!({"snippet": {"text": "free(p);"}})), None);
    }
}
