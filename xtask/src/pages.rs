//! The pages that people read: links lead to files and headings that are there, and the book has every page of docs/.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The table of contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

/// What is wrong with the links of these pages, each with its name from the top of the repository. `is_there` says whether
/// a file that is no page exists.
pub fn complaints(pages: &[(String, String)], is_there: impl Fn(&Path) -> bool) -> Vec<String> {
    let texts: BTreeMap<PathBuf, &str> =
        pages.iter().map(|(name, text)| (PathBuf::from(name), text.as_str())).collect();
    let mut complaints = Vec::new();
    let mut in_book = BTreeSet::new();
    for (name, text) in pages {
        for target in links(text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => PathBuf::from(name),
                _ => resolved(Path::new(name).parent().unwrap_or(Path::new("")), file),
            };
            let heading_is_there = || texts.get(&path).is_none_or(|text| headings(text).contains(anchor));
            if !texts.contains_key(&path) && !is_there(&path) {
                complaints.push(format!("{name}: the link to {target} leads nowhere"));
            } else if !anchor.is_empty() && !heading_is_there() {
                complaints.push(format!("{name}: {} has no heading #{anchor}", path.display()));
            }
            if name == SUMMARY {
                in_book.insert(path);
            }
        }
    }
    for path in texts.keys().filter(|path| path.starts_with("docs") && **path != Path::new(SUMMARY)) {
        if texts.contains_key(Path::new(SUMMARY)) && !in_book.contains(path) {
            complaints.push(format!("{}: {SUMMARY} does not name this page", path.display()));
        }
    }
    complaints
}

/// The lines of a page that are not in a block of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Where a page links to, pages of the web left out. What stands in backquotes is no link.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in prose(text) {
        // A piece of code ends with its paragraph at the latest.
        is_code &= !line.trim().is_empty();
        for (index, words) in line.split('`').enumerate() {
            is_code ^= index > 0;
            if !is_code {
                found.extend(words.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()));
            }
        }
    }
    // A link whose text is code, as in [`view`](viewer.md), is parted by the backquotes: its end begins the next piece.
    found.retain(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"));
    found
}

/// The anchors of a page: its headings as GitHub and mdBook both write them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for heading in prose(text).filter(|line| line.starts_with('#')) {
        let heading = heading.trim_start_matches('#').trim();
        let anchor: String = heading
            .chars()
            .filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
            })
            .collect();
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let fresh = std::iter::once(anchor.clone()).chain(numbered).find(|name| !anchors.contains(name));
        anchors.extend(fresh);
    }
    anchors
}

/// A path beside a page, without `..`.
fn resolved(folder: &Path, file: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::complaints;
    use std::path::Path;

    fn told(pages: &[(&str, &str)]) -> Vec<String> {
        let pages: Vec<(String, String)> =
            pages.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        complaints(&pages, |path| path == Path::new("bench/run.csv"))
    }

    #[test]
    fn links_to_pages_headings_and_files_that_are_there_are_fine() {
        let page = "# One `word`\n## Two, three\n## Two, three\n[a](#one-word) [b](sub/b.md#b-side) [c](../bench/run.csv)\n\
                    [`d`](#two-three-1) ![p](../bench/run.csv) [w](https://example.org/x) `[x](nowhere)\n[z](nowhere)`\n```\n[y](nowhere)\n# No\n```\n";
        let told = told(&[("docs/a.md", page), ("docs/sub/b.md", "# B side\n[a](../a.md#two-three)\n")]);
        assert_eq!(told, Vec::<String>::new());
    }

    #[test]
    fn dead_links_are_told() {
        let page = "# One\n```\n# No\n```\n[a](b.md) [`b`](#two) [c](a.md#no) ![p](p.png)\n";
        assert_eq!(
            told(&[("docs/a.md", page)]),
            [
                "docs/a.md: the link to b.md leads nowhere",
                "docs/a.md: docs/a.md has no heading #two",
                "docs/a.md: docs/a.md has no heading #no",
                "docs/a.md: the link to p.png leads nowhere",
            ]
        );
    }

    #[test]
    fn a_page_that_the_book_does_not_have_is_told() {
        let summary = "- [A](a.md)\n- [Top](../README.md)\n";
        let pages =
            [("docs/SUMMARY.md", summary), ("docs/a.md", ""), ("docs/sub/b.md", ""), ("README.md", "")];
        assert_eq!(told(&pages), ["docs/sub/b.md: docs/SUMMARY.md does not name this page"]);
    }
}
