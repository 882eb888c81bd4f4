//! Which way conditions went, where the tool does not say but its next step shows it: inside the body the condition held,
//! anywhere else it did not. Tools that list executed lines (clang's control edges, CBMC's locations) say no more than that.

use crate::sources::Sources;
use parallax_report::{Path, Role};

/// For each step whether the condition on its line held, as far as the path shows.
pub fn outcomes(path: &Path, sources: &mut Sources) -> Vec<Option<bool>> {
    let line = |step: usize| path.steps[step].location.as_ref().and_then(|place| place.line);
    // The next step of the same activation at another line.
    let mut next: Vec<Option<u32>> = vec![None; path.steps.len()];
    let mut later: Vec<Vec<u32>> = vec![Vec::new(); path.frames.len()];
    for step in (0..path.steps.len()).rev() {
        let Some(known) = later.get_mut(path.steps[step].frame) else { continue };
        let Some(here) = line(step) else { continue };
        next[step] = if known.last() == Some(&here) {
            known.iter().rev().nth(1).copied()
        } else {
            known.last().copied()
        };
        if known.last() != Some(&here) {
            known.push(here);
        }
    }
    let mut judge = |step: usize| {
        let told = &path.steps[step];
        if told.taken.is_some() || told.failing || !matches!(told.role, Role::Note | Role::Branch) {
            return told.taken;
        }
        let (here, there) = (line(step)?, next[step]?);
        let source = sources.get(&told.location.as_ref()?.file);
        let guards = &sources.text(source)?.outline.guards;
        let from = guards.partition_point(|guard| guard.head.first < here.saturating_sub(16));
        let nearby = guards[from..].iter().take_while(|guard| guard.head.first <= here);
        let guard = nearby.filter(|guard| guard.head.contains(here)).last()?;
        (!guard.head.contains(there)).then(|| guard.body.contains(there))
    };
    let judged: Vec<Option<bool>> = (0..path.steps.len()).map(&mut judge).collect();
    // Of several steps on one line, the last is where it is decided.
    let same = |a: usize, b: usize| line(a) == line(b) && path.steps[a].frame == path.steps[b].frame;
    (0..path.steps.len())
        .map(|step| {
            let inferred = path.steps[step].taken.is_none();
            let goes_on = step + 1 < path.steps.len() && same(step, step + 1);
            if inferred && goes_on { None } else { judged[step] }
        })
        .collect()
}
