//! What an exploration of a compiled program says in the words of its source: coverage by lines, and crashes as paths.

use parallax_cli_base::coverage::Covered;
use parallax_concolic::{Exploration, Test, call_site};
use parallax_report::{Document, Frame, Location, PathBuilder, Report, Role, Segment, Severity, Step, Tool};

/// The lines, functions and branches of the program's own code, and how many runs came to each.
pub fn covered(found: &Exploration) -> Covered {
    let mut covered = Covered::new();
    let Some(program) = found.symbols.modules().first() else { return covered };
    let place = |address: u64| {
        let line = found.symbols.line_at(address.wrapping_add(found.bias))?;
        Some((line.file.to_string(), u32::try_from(line.line).ok().filter(|line| *line > 0)?))
    };
    for symbol in program.symbols().iter().filter(|symbol| symbol.is_function) {
        let Some((file, first)) = place(symbol.range.start) else { continue };
        let runs = found.coverage.instructions.get(&symbol.range.start).copied().unwrap_or(0);
        covered.entry(file).or_default().functions.insert(first, (symbol.name.clone(), runs));
        for address in symbol.range.clone() {
            if let Some((file, line)) = place(address) {
                covered.entry(file).or_default().lines.entry(line).or_insert(0);
            }
        }
    }
    for (&address, &runs) in &found.coverage.instructions {
        if let Some((file, line)) = place(address) {
            let known = covered.entry(file).or_default().lines.entry(line).or_insert(0);
            *known = runs.max(*known);
        }
    }
    for (&address, &(taken, otherwise)) in &found.coverage.branches {
        let Some((file, line)) = place(address) else { continue };
        let branches = &mut covered.entry(file).or_default().branches;
        let number = branches.range((line, 0)..=(line, u32::MAX)).count() as u32;
        branches.insert((line, number), vec![taken, otherwise]);
    }
    covered
}

/// The line that an address was compiled from, as `file:line`.
pub fn line(found: &Exploration, address: u64) -> Option<String> {
    let line = found.symbols.line_at(address)?;
    Some(format!("{}:{}", line.file, line.line))
}

/// The crashes as reports, with the decisions of the run that lead there.
pub fn crashes(found: &Exploration) -> Document {
    let reports = found.distinct_crashes().into_iter().map(|test| crash(found, test)).collect();
    Document { reports, ..Document::default() }
}

fn crash(found: &Exploration, test: &Test) -> Report {
    let function = |address: u64| {
        found.symbols.function_at(address).map_or_else(|| format!("{address:#x}"), |(name, _)| name)
    };
    let place = |address: u64| {
        let line = found.symbols.line_at(address)?;
        Some((line.file.to_string(), u32::try_from(line.line).ok().filter(|line| *line > 0)?))
    };
    let mut path = PathBuilder::new("");
    // The frames that are open, by how deep their calls nest.
    let mut open: Vec<usize> = Vec::new();
    let mut reach = |path: &mut PathBuilder, depth: usize, address: u64, file: &str| {
        let kept = open.iter().take_while(|known| **known <= depth).count();
        open.truncate(kept);
        path.leave_to(kept);
        if open.last() != Some(&depth) {
            path.enter(Frame::new(function(address), file));
            open.push(depth);
        }
    };
    for crossing in &test.way {
        let Some((file, line)) = place(crossing.site) else { continue };
        reach(&mut path, crossing.depth, crossing.site, &file);
        path.step(match crossing.taken {
            Some(taken) => Step::new(Role::Branch, file, line).with_taken(taken),
            None => Step::call(file, line),
        });
    }
    // Where it happened: the innermost place that has a line.
    let sites: Vec<(usize, u64)> = test
        .stack
        .iter()
        .enumerate()
        .map(|(level, address)| (test.stack.len() - level, call_site(level, *address)))
        .collect();
    let mut location = None;
    if let Some((depth, (file, line), address)) =
        sites.iter().find_map(|(depth, address)| Some((*depth, place(*address)?, *address)))
    {
        location = Some(Location::line(&file, line));
        reach(&mut path, depth - 1, address, &file);
        path.step(Step::new(Role::Note, file, line).with_message(test.outcome.to_string()).failing());
    }
    let signal =
        test.outcome.signal().map_or_else(|| String::from("crash"), |signal| format!("signal-{signal}"));
    let input = test.files.first().map_or_else(String::new, |file| file.display().to_string());
    let stack: Vec<String> = test.backtrace.iter().map(|frame| format!("\n    {frame}")).collect();
    Report {
        rule: signal,
        title: test.outcome.to_string(),
        text: vec![Segment::plain(format!("{}; input {input}{}", test.outcome, stack.concat()))],
        severity: Severity::Error,
        tool: Tool { name: "parallax explore".into(), version: Some(env!("CARGO_PKG_VERSION").into()) },
        location,
        paths: vec![path.finish()],
        ..Report::default()
    }
}
