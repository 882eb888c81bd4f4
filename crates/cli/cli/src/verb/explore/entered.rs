//! Functions entered by themselves in a time that they share: the callers of one, those that changed, or those that take what
//! others wrote.

use super::super::changed::{Functions, Lines};
use super::{Explore, failure};
use anyhow::{Context, Result};
use parallax_cexplore::explore::{Entry, Exploration, Finding, Settings, explore};
use parallax_cexplore::names::no_function;
use parallax_cexplore::place::written;
use parallax_cexplore::proposals::proposals;
use parallax_cexplore::{Program, callers};
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::words::counted;
use parallax_cmodule::FunctionId;
use parallax_path::{Bound, Premise};
use parallax_term::Store;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Explores a function from its callers.
pub fn from_callers(
    arguments: &Explore,
    program: &Program,
    settings: &Settings,
    levels: u32,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<Exploration> {
    let module = &program.module;
    let name = arguments.entry.as_deref().unwrap_or_default();
    let function = module.function_named(name).with_context(|| no_function(module, name))?;
    let starts = callers::starts(module, function, levels);
    if starts.is_empty() {
        anyhow::bail!("nothing in the program calls {name} by its name: explore it without --callers");
    }
    let concerns = |finding: &Finding| callers::concerns(finding, function);
    let mut whole = from_each(arguments, program, settings, &starts, concerns, progress)?;
    for id in callers::called_through_pointers(module, function, levels) {
        let function = module.function(id);
        let bound = Bound::Missing(format!("calls of {} through pointers are not followed", function.name));
        whole.completeness = whole.completeness.but(bound, written(module, function.location));
    }
    for call in callers::calls(module, function) {
        let place = module.location(call.at);
        let caller = &module.function(call.caller).name;
        let words =
            format!("{name} is entered as {caller} calls it ({}:{})", module.file_of(call.at), place.line);
        whole.completeness = whole.completeness.given(Premise::new(words));
    }
    Ok(whole)
}

/// Explores each function whose code is another one than in a revision, and each that calls one of these by its name or a pointer.
/// Nothing if there is none.
pub fn from_changed(
    arguments: &Explore,
    program: &Program,
    settings: &Settings,
    revision: &str,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<Option<Exploration>> {
    let module = &program.module;
    let changed = Functions::of(module, Lines::since(revision, program)?);
    let near = changed.nearest().into_iter().filter(|(_, calls)| *calls <= 1);
    let starts: Vec<FunctionId> = near.map(|(function, _)| function).collect();
    if starts.is_empty() {
        return Ok(None);
    }
    let mut whole = from_each(arguments, program, settings, &starts, |_| true, progress)?;
    let names: Vec<&str> = starts.iter().map(|id| module.function(*id).name.as_str()).collect();
    let words = format!("entered, for they or what they call changed since {revision}: {}", names.join(", "));
    whole.completeness = whole.completeness.given(Premise::new(words));
    if let Some(assumption) = changed.assumption {
        whole.completeness = whole.completeness.given(Premise::new(assumption));
    }
    Ok(Some(whole))
}

/// Explores from each of some functions; of what is found, what is asked for.
fn from_each(
    arguments: &Explore,
    program: &Program,
    settings: &Settings,
    starts: &[FunctionId],
    is_asked_for: impl Fn(&Finding) -> bool,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<Exploration> {
    let module = &program.module;
    let begun = Instant::now();
    let left = || settings.time.saturating_sub(begun.elapsed());
    let cut = |part: &Exploration| part.completeness.is_out_of_time();
    let parts = shared(starts.len(), left, cut, |number, time| {
        let name = &module.function(starts[number]).name;
        let entry = match name.as_str() {
            "main" => arguments.main_entry()?,
            _ => Entry::Function(name.clone()),
        };
        let settings = Settings { entry, time, ..settings.clone() };
        let store = Store::new();
        let part = explore(&store, module, &settings, parallax_smt::solver(&store), progress);
        let mut part = part.map_err(failure)?;
        part.findings.retain(&is_asked_for);
        Ok(part)
    })?;
    let joined = parts.into_iter().reduce(|whole, part| callers::joined(module, whole, part));
    let mut whole = joined.context("nothing was explored")?;
    if starts.len() > 1 && whole.completeness.is_out_of_time() {
        let (seconds, starts) = (settings.time.as_secs_f64(), starts.len());
        let words = format!("the {seconds} s of --time are shared by {starts} starts");
        whole.completeness = whole.completeness.given(Premise::new(words));
    }
    Ok(whole)
}

/// The function that a fuzzer calls with bytes and their number.
pub const FUZZ_TARGET: &str = "LLVMFuzzerTestOneInput";

/// The bytes that a fuzz target is given at most, where `--stdin` does not say.
const FUZZED: u64 = 16;

/// A file that is removed when it is no longer needed, with its folder.
pub struct Harness {
    folder: PathBuf,
    file: PathBuf,
}

impl Harness {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.file
    }
}

/// Whether a file is the harness of a fuzz target.
pub fn is_harness(file: &str) -> bool {
    file.ends_with(HARNESS)
}

impl Drop for Harness {
    fn drop(&mut self) {
        // What cannot be removed is only in the way.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const HARNESS: &str = "fuzz_harness_of_parallax.c";

/// A `main` that calls the fuzz target with any bytes, of any number up to `most`, in memory of just that size.
pub fn fuzz_harness(most: u64) -> Result<Harness> {
    let most = if most == 0 { FUZZED } else { most };
    let text = format!(
        "void *malloc(unsigned long);\nvoid *memcpy(void *, const void *, unsigned long);\nvoid free(void *);\n\
         int klee_range(int, int, const char *);\nvoid klee_make_symbolic(void *, unsigned long, const char *);\n\
         int {FUZZ_TARGET}(const unsigned char *, unsigned long);\n\
         __attribute__((weak)) int LLVMFuzzerInitialize(int *, char ***);\n\
         int main(int count, char **words) {{\n  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&count, &words);\n\
         int size = klee_range(0, {}, \"size\");\n  unsigned char bytes[{most}];\n\
         klee_make_symbolic(bytes, sizeof bytes, \"data\");\n  unsigned char *data = malloc(size);\n  if (!data) return 0;\n\
         memcpy(data, bytes, size);\n  {FUZZ_TARGET}(data, size);\n  free(data);\n  return 0;\n}}\n",
        most + 1
    );
    let folder = std::env::temp_dir().join(format!("parallax-harness-{}", std::process::id()));
    let harness = Harness { file: folder.join(HARNESS), folder };
    let written = std::fs::create_dir_all(&harness.folder).and_then(|()| std::fs::write(&harness.file, text));
    written.with_context(|| format!("cannot write {}", harness.file.display()))?;
    Ok(harness)
}

/// Functions that are entered where none is named.
const MOST_PROPOSED: usize = 8;

/// Explores the functions that take what others wrote, each by itself, in the time that is given for all.
pub fn proposed(
    program: &Program,
    settings: &Settings,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<Exploration> {
    let module = &program.module;
    let all = proposals(module);
    if all.is_empty() {
        return Err(Failure {
            status: Status::BadInput,
            message: "the program has no function main, and none that others can call takes bytes or a text: name one with --entry"
                .into(),
        }
        .into());
    }
    let chosen = &all[..all.len().min(MOST_PROPOSED)];
    let begun = Instant::now();
    let left = || settings.time.saturating_sub(begun.elapsed());
    let cut = |part: &Exploration| part.completeness.is_out_of_time();
    let parts = shared(chosen.len(), left, cut, |number, time| {
        let entry = Entry::Function(module.function(chosen[number].function).name.clone());
        let settings = Settings { entry, time, ..settings.clone() };
        let store = Store::new();
        Ok(explore(&store, module, &settings, parallax_smt::solver(&store), progress).map_err(failure)?)
    })?;
    let mut told = Vec::new();
    for (proposal, part) in chosen.iter().zip(&parts) {
        let function = module.function(proposal.function);
        let end = match (part.completeness.is_complete(), part.completeness.is_out_of_time()) {
            (true, _) => "every path",
            (false, true) => "out of time",
            (false, false) => "something left out",
        };
        told.push(format!(
            "{} is entered by itself, with {}: {}, {}, {end}",
            function.name,
            proposal.given,
            counted(part.paths, "path"),
            counted(part.findings.len() as u64, "finding"),
        ));
    }
    let joined = parts.into_iter().reduce(|whole, part| callers::joined(module, whole, part));
    let mut whole = joined.context("nothing was explored")?;
    for words in told {
        whole.completeness = whole.completeness.given(Premise::new(words));
    }
    let others: Vec<&str> =
        all[chosen.len()..].iter().map(|proposal| module.function(proposal.function).name.as_str()).collect();
    if !others.is_empty() {
        let words =
            format!("{} more that take bytes or a text are not entered: {}", others.len(), others.join(", "));
        whole.completeness = whole.completeness.but(Bound::Missing(words), None);
    }
    Ok(whole)
}

/// The first round gives each function its share divided by this number, to see which end early.
const LOOK: u32 = 8;

/// What comes of each of some explorations in the time that is left for all. What those that are done soon leave over is
/// for the others, which begin again: a short look at each comes first, and nothing is looked at once more for less than
/// twice the time.
fn shared<T>(
    count: usize,
    left: impl Fn() -> Duration,
    cut: impl Fn(&T) -> bool,
    mut explore: impl FnMut(usize, Duration) -> Result<T>,
) -> Result<Vec<T>> {
    let mut parts: Vec<Option<(Duration, T)>> = (0..count).map(|_| None).collect();
    let mut look = if count > 1 { LOOK } else { 1 };
    loop {
        let share = |of: usize| left() / (of as u32 * look).max(1);
        let mut open: Vec<usize> =
            (0..count).filter(|&number| parts[number].as_ref().is_none_or(|(_, part)| cut(part))).collect();
        let next = share(open.len());
        open.retain(|&number| parts[number].as_ref().is_none_or(|(had, _)| next > 2 * *had));
        if open.is_empty() {
            return Ok(parts.into_iter().flatten().map(|(_, part)| part).collect());
        }
        for (done, &number) in open.iter().enumerate() {
            let time = share(open.len() - done);
            parts[number] = Some((time, explore(number, time)?));
        }
        look = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// What each was given last, on a clock of its own: an exploration takes what it needs, or all that it is given.
    fn given(time: Duration, needs: &[Duration]) -> Vec<Duration> {
        let now = Cell::new(Duration::ZERO);
        let explore = |number: usize, given: Duration| {
            now.set(now.get() + given.min(needs[number]));
            Ok((number, given))
        };
        let cut = |&(number, given): &(usize, Duration)| given < needs[number];
        let parts = shared(needs.len(), || time.saturating_sub(now.get()), cut, explore).unwrap();
        assert!(now.get() <= time);
        parts.into_iter().map(|(_, given)| given).collect()
    }

    #[test]
    fn what_the_last_leave_over_is_for_the_first() {
        let second = Duration::from_secs(1);
        let given = given(8 * second, &[100 * second, second / 100, second / 100, second / 100]);
        assert!(given[0] > 7 * second, "{given:?}");
    }

    #[test]
    fn each_is_done_or_has_had_half_of_its_share() {
        let milliseconds = [0, 10, 90, 200, 500, 1_000, 2_500, 9_000].map(Duration::from_millis);
        for time in milliseconds {
            for needs in milliseconds.iter().flat_map(|one| {
                milliseconds.iter().flat_map(move |two| milliseconds.map(|three| [*one, *two, three]))
            }) {
                let fair = time * (LOOK - 1) / LOOK / 3;
                for (given, need) in given(time, &needs).iter().zip(&needs) {
                    // For less than twice the time it does not begin again.
                    assert!(given >= need || *given >= fair / 2, "{given:?} of {needs:?} in {time:?}");
                }
            }
        }
    }
}
