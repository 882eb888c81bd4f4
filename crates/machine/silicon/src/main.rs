//! `fuzz-isa [--seconds N] [--seed N] [--form TEXT] [--words N] [--only x86|powerpc|others]`: holds the semantics of x86
//! against this processor for as long as told, PowerPC against QEMU for a quarter of that, and the other processors
//! against QEMU for so many words. What is wanted alone gets all of the time.

use parallax_silicon::machine::{Machine, has_segments};
use parallax_silicon::{Comparison, Report, forms, ports, powerpc, run};
use parallax_sleigh::{Language, Lifter, x86::Overrides};
use std::error::Error;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut seconds = 60;
    let mut seed = 1;
    let mut wanted = String::new();
    let mut words = 100_000;
    let mut only = String::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--seconds" => seconds = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--form" => wanted = value()?,
            "--words" => words = value()?.parse()?,
            "--only" => only = value()?,
            _ => return Err(format!("unknown argument {argument}; see the head of the source").into()),
        }
    }
    let limit = Duration::from_secs(seconds);
    let mut mismatches = 0;
    match only.as_str() {
        "" => {
            mismatches += x86(limit, seed, &wanted)?;
            mismatches += power(limit / 4, seed, &wanted)?;
            mismatches += others(seed, words)?;
        }
        "x86" => mismatches += x86(limit, seed, &wanted)?,
        "powerpc" => mismatches += power(limit, seed, &wanted)?,
        "others" => mismatches += others(seed, words)?,
        _ => return Err(format!("--only {only}: x86, powerpc or others").into()),
    }
    std::process::exit(i32::from(mismatches > 0))
}

/// x86 against the processor under us; how many mismatches.
fn x86(limit: Duration, mut seed: u64, wanted: &str) -> Result<usize, Box<dyn Error>> {
    let modes = [("x86-64", 64), ("x86", 32), ("x86-16", 16)].into_iter();
    let modes = modes.filter(|(_, bits)| *bits != 16 || has_segments());
    let modes = modes.map(|(name, bits)| -> Result<_, Box<dyn Error>> {
        let lifter = Lifter::new(Language::find(name).ok_or("no such processor")?)?;
        let processor = lifter.processor().clone();
        let overrides = Overrides::new(&processor, bits);
        let forms: Vec<_> = forms::all(&overrides, bits)
            .into_iter()
            .filter(|form| form.to_string().contains(wanted))
            .collect();
        Ok((processor, overrides, forms))
    });
    let modes: Vec<_> = modes.collect::<Result<_, _>>()?;
    let mut machine = Machine::new()?;
    let start = Instant::now();
    let mut total = Report::default();
    for (processor, overrides, forms) in modes.iter().cycle() {
        if start.elapsed() >= limit {
            break;
        }
        let comparison = Comparison { encodings: 4, states: 4, newer_states: 4, symbolic: 1, seed };
        let report = run(&mut machine, processor, overrides, forms, &comparison)?;
        seed += 1;
        for mismatch in &report.mismatches {
            println!("MISMATCH {}: {}", mismatch.form, mismatch.message);
        }
        if !add(&mut total, report) {
            break;
        }
    }
    let states: u64 = total.states.values().sum();
    println!(
        "{} forms ({} opcodes), {states} states on the processor and in the concrete reading, {} of them in the symbolic \
         reading too, {} mismatches, {} forms this processor does not have, {:.0} s, next seed {seed}",
        total.states.len(),
        total.opcodes.len(),
        total.symbolic,
        total.mismatches.len(),
        total.absent.len(),
        start.elapsed().as_secs_f64(),
    );
    Ok(total.mismatches.len())
}

/// The other processors against QEMU; how many mismatches.
fn others(seed: u64, words: usize) -> Result<usize, Box<dyn Error>> {
    let mut mismatches = 0;
    for port in ports::all() {
        let mut lifter = Lifter::new(Language::find(port.language()).ok_or("no such processor")?)?;
        let harness = ports::build(&*port, &std::env::temp_dir())?;
        let findings = ports::run(&*port, &mut lifter, &harness, words, seed)?;
        for mismatch in &findings.mismatches {
            println!("MISMATCH {} {}: {}", port.language(), mismatch.form, mismatch.message);
        }
        for (form, times) in &findings.accepted {
            println!("NO INSTRUCTION {} {form}, {times} times", port.language());
        }
        println!(
            "{}: {words} words, {} forms, {} states under QEMU and in the concrete reading, {} of them in the symbolic \
             reading too, {} mismatches; {} words are no instruction to either, {} only to us, {} are refused by name",
            port.language(),
            findings.forms.len(),
            findings.states(),
            findings.symbolic,
            findings.mismatches.len(),
            findings.undefined,
            findings.accepted.values().sum::<u64>(),
            findings.refused.values().sum::<u64>(),
        );
        mismatches += findings.mismatches.len() + findings.accepted.len();
    }
    Ok(mismatches)
}

/// Adds what a round found; whether to go on.
fn add(total: &mut Report, report: Report) -> bool {
    for (form, states) in report.states {
        *total.states.entry(form).or_default() += states;
    }
    total.symbolic += report.symbolic;
    total.opcodes.extend(report.opcodes);
    total.absent.extend(report.absent);
    total.mismatches.extend(report.mismatches);
    if total.mismatches.len() > 200 {
        println!("too many mismatches, stopping early");
    }
    total.mismatches.len() <= 200
}

/// PowerPC against QEMU; how many mismatches.
fn power(limit: Duration, mut seed: u64, wanted: &str) -> Result<usize, Box<dyn Error>> {
    let mut lifter = Lifter::new(Language::find("powerpc").ok_or("no powerpc")?)?;
    let harness = powerpc::build(&std::env::temp_dir())?;
    let start = Instant::now();
    let mut total = Report::default();
    loop {
        let report = powerpc::run(&mut lifter, &harness, wanted, 8, seed)?;
        seed += 1;
        for mismatch in &report.mismatches {
            println!("MISMATCH powerpc {}: {}", mismatch.form, mismatch.message);
        }
        if !add(&mut total, report) || start.elapsed() >= limit {
            break;
        }
    }
    let states: u64 = total.states.values().sum();
    println!(
        "powerpc: {} forms, {states} states under QEMU and in both readings, {} mismatches, {:.0} s, next seed {seed}",
        total.states.len(),
        total.mismatches.len(),
        start.elapsed().as_secs_f64(),
    );
    Ok(total.mismatches.len())
}
