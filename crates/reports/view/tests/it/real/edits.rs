//! Random edits of C programs that still compile.

use super::tools::Tools;
use crate::tree::{Dice, Line, Tree, replaced};
use std::path::Path;

/// A program in a folder, with what was done to it.
pub struct Edited<'e> {
    pub tree: Tree,
    /// New names of functions, with those of before.
    pub renamed: Vec<(String, String)>,
    tools: &'e Tools,
    folder: &'e Path,
    /// Lines that reports are about.
    homes: Vec<u64>,
}

impl<'e> Edited<'e> {
    pub fn new(tree: Tree, tools: &'e Tools, folder: &'e Path, homes: Vec<u64>) -> Edited<'e> {
        tree.write(folder);
        Edited { tree, renamed: Vec::new(), tools, folder, homes }
    }

    /// One edit after which the program compiles; says which. None where twenty in turn do not compile.
    pub fn edit(&mut self, dice: &mut Dice) -> Option<&'static str> {
        (0..20).find_map(|_| {
            let (before, renamed) = (self.tree.clone(), self.renamed.len());
            let what = self.attempt(dice);
            let changed = write_changed(&before, &self.tree, self.folder);
            let all = changed.iter().any(|name| name.ends_with(".h"));
            let mut compiled =
                self.tree.files.keys().filter(|name| name.ends_with(".c") && (all || changed.contains(name)));
            if what.is_some()
                && !changed.is_empty()
                && compiled.all(|name| self.tools.compiles(self.folder, name))
            {
                return what;
            }
            write_changed(&self.tree, &before, self.folder);
            self.tree = before;
            self.renamed.truncate(renamed);
            None
        })
    }

    fn attempt(&mut self, dice: &mut Dice) -> Option<&'static str> {
        match dice.below(20) {
            0..=3 => self.insert(dice),
            4 => self.delete(dice),
            5..=6 => self.rename_function(dice),
            7..=8 => self.move_function(dice),
            9 => self.move_file(dice),
            10..=12 => self.mend(dice),
            13..=15 => self.copy_line(dice),
            16 => self.copy_block(dice),
            17 => self.copy_function(dice),
            18 => self.touch(dice),
            _ => self.indent(dice),
        }
    }

    fn some_file(&self, dice: &mut Dice) -> String {
        let names: Vec<&String> = self.tree.files.keys().filter(|name| name.ends_with(".c")).collect();
        (*dice.pick(&names).expect("a project has files")).clone()
    }

    /// The place of a report that is still there.
    fn home(&self, dice: &mut Dice) -> Option<(String, usize)> {
        let &id = dice.pick(&self.homes)?;
        self.tree.find(id).filter(|(file, _)| file.ends_with(".c"))
    }

    /// A place within a function: near a report half of the time.
    fn spot(&self, dice: &mut Dice) -> Option<(String, usize)> {
        if dice.one_in(2) {
            let (file, at) = self.home(dice)?;
            let near = (at + dice.below(7)).saturating_sub(3).clamp(1, self.tree.files[&file].len());
            return Some((file, near));
        }
        let file = self.some_file(dice);
        let functions = self.tree.functions(&file);
        let &(_, first, last) = dice.pick(&functions)?;
        Some((file, first + 1 + dice.below((last - first).max(1))))
    }

    /// Whether a statement may begin at an index: one ends before it.
    fn between(&self, file: &str, at: usize) -> bool {
        let lines = &self.tree.files[file];
        let before = lines[..at].iter().rev().map(|line| line.text.trim()).find(|text| !text.is_empty());
        before.is_some_and(|text| text.ends_with([';', '{', '}']))
    }

    fn insert(&mut self, dice: &mut Dice) -> Option<&'static str> {
        const LINES: [&str; 5] =
            ["", "/* seen again */", "(void)0;", "{ int probe = 0; (void)probe; }", "if (0) { }"];
        let (file, at) = self.spot(dice)?;
        for _ in 0..=dice.below(4) {
            let text = LINES[dice.below(if self.between(&file, at) { LINES.len() } else { 2 })];
            let line = self.tree.fresh(format!("    {text}").trim_end());
            self.tree.lines(&file).insert(at, line);
        }
        Some("lines inserted")
    }

    fn delete(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let (file, at) = self.spot(dice)?;
        let lines = self.tree.lines(&file);
        let text = lines.get(at)?.text.trim();
        (text.is_empty() || text.ends_with(';')).then(|| lines.remove(at))?;
        Some("a line deleted")
    }

    fn rename_function(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let functions = self.tree.functions(&self.some_file(dice));
        let (name, ..) = dice.pick(&functions).filter(|(name, ..)| !name.ends_with("main"))?;
        let new = format!("{name}_{}", self.tree.number());
        for line in self.tree.files.values_mut().flatten() {
            line.text = replaced(&line.text, name, &new);
        }
        self.renamed.push((new, name.clone()));
        Some("a function renamed")
    }

    fn move_function(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let from = self.some_file(dice);
        let to = if dice.one_in(2) { from.clone() } else { self.some_file(dice) };
        let functions = self.tree.functions(&from);
        let &(_, first, last) = dice.pick(&functions)?;
        let moved: Vec<Line> = self.tree.lines(&from).drain(first..=last).collect();
        let borders: Vec<usize> = self.tree.functions(&to).into_iter().map(|(_, first, _)| first).collect();
        let at = dice.pick(&borders).copied().unwrap_or(self.tree.files[&to].len());
        self.tree.lines(&to).splice(at..at, moved);
        Some("a function moved")
    }

    fn move_file(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let from = self.some_file(dice);
        let to = self.tree.other_name(&from, dice);
        self.tree.rename_file(&from, to);
        Some("a file moved")
    }

    /// The line of a report goes, or another stands in its place.
    fn mend(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let (file, at) = self.home(dice)?;
        match dice.below(3) {
            0 => drop(self.tree.lines(&file).remove(at)),
            1 => {
                let line = self.tree.fresh("    ;");
                self.tree.lines(&file)[at] = line;
            }
            _ => {
                let line = self.tree.fresh("    __attribute__((fallthrough));");
                self.tree.lines(&file).insert(at, line);
            }
        }
        Some("a finding mended")
    }

    /// Another line with the same words: the tool finds in it what it found in the first.
    fn copy_line(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let (file, at) = self.home(dice)?;
        let (_, first, last) = self.tree.function_at(&file, at)?;
        let to = if dice.one_in(3) { at + 1 } else { first + 1 + dice.below((last - first).max(1)) };
        let text = self.tree.files[&file][at].text.clone();
        let line = self.tree.fresh(text);
        self.tree.lines(&file).insert(to, line);
        Some("an equal finding added")
    }

    fn copy_block(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let (file, at) = self.home(dice)?;
        let reach = dice.below(4);
        let (first, last) = (at.saturating_sub(reach), (at + reach).min(self.tree.files[&file].len() - 1));
        let block: Vec<String> =
            self.tree.files[&file][first..=last].iter().map(|line| line.text.clone()).collect();
        let block: Vec<Line> = block.into_iter().map(|text| self.tree.fresh(text)).collect();
        let to = if dice.one_in(2) { last + 1 } else { first };
        self.tree.lines(&file).splice(to..to, block);
        Some("a block copied")
    }

    fn copy_function(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let file = self.some_file(dice);
        let functions = self.tree.functions(&file);
        let (name, first, last) = dice.pick(&functions)?.clone();
        let new = format!("{name}_copy{}", self.tree.number());
        let body: Vec<String> = self.tree.files[&file][first..=last]
            .iter()
            .map(|line| replaced(&line.text, &name, &new))
            .collect();
        let body: Vec<Line> = body.into_iter().map(|text| self.tree.fresh(text)).collect();
        self.tree.lines(&file).extend(body);
        Some("a function copied")
    }

    /// A line that a report is about, or a neighbour, changes without changing its meaning.
    fn touch(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let (file, at) = if dice.one_in(2) { self.home(dice)? } else { self.spot(dice)? };
        self.tree.lines(&file).get_mut(at)?.text.push_str(" /* looked at */");
        Some("a line touched")
    }

    fn indent(&mut self, dice: &mut Dice) -> Option<&'static str> {
        let file = self.some_file(dice);
        self.tree.lines(&file).iter_mut().for_each(|line| line.text.insert_str(0, "  "));
        Some("a file indented")
    }
}

/// Makes the folder hold the second tree, where it held the first; says which files are not as they were.
fn write_changed(before: &Tree, after: &Tree, folder: &Path) -> Vec<String> {
    for name in before.files.keys().filter(|name| !after.files.contains_key(*name)) {
        std::fs::remove_file(folder.join(name)).expect("a file of before");
    }
    let is_changed = |name: &str, lines: &Vec<Line>| before.files.get(name) != Some(lines);
    let changed = after.files.iter().filter(|(name, lines)| is_changed(name, lines));
    let names: Vec<String> = changed.map(|(name, _)| name.clone()).collect();
    for name in &names {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder is made");
        std::fs::write(file, crate::tree::text(&after.files[name])).expect("a file is written");
    }
    names
}
