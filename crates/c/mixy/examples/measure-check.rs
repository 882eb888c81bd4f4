//! Measures a check: `measure-check FILE... [--annotated] [--refine] [--symbolic FUNCTION]`, files as `parallax check` takes them.

use parallax_cexplore::{Sources, program};
use parallax_mixy::{Settings, Sinks, check};
use std::time::{Duration, Instant};

fn main() {
    let mut settings = Settings::default();
    let mut files = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--annotated" => settings.sinks = Sinks::Annotated,
            "--refine" => settings.refine = Some(Duration::from_secs(20)),
            "--symbolic" => settings.symbolic.extend(words.next()),
            "--typed" => settings.typed.extend(words.next()),
            _ => files.push(word.into()),
        }
    }
    let started = Instant::now();
    let mut program =
        program::load(&Sources { files, ..Sources::default() }).expect("a program that is read");
    program.annotate().expect("declarations that are read");
    let loaded = started.elapsed().as_secs_f64();
    let report = check(&program.module, &settings).expect("a program that is checked");
    let flows: usize = report.findings.iter().map(|finding| finding.paths.len()).sum();
    println!(
        "loaded {loaded:.2} s, checked {:.2} s: {} warnings of inference, {} findings, {flows} flows, {} refuted, {} gaps",
        report.seconds,
        report.typed,
        report.findings.len(),
        report.refuted.len(),
        report.gaps.len()
    );
    for block in &report.blocks {
        let name = &program.module.function(block.function).name;
        println!(
            "  {name} {:?}: {} contexts, {} hits, {} iterations, {} paths, {:.2} s",
            block.mode, block.contexts, block.cache_hits, block.iterations, block.paths, block.seconds
        );
    }
    for gap in &report.gaps {
        println!("  left out: {gap}");
    }
}
