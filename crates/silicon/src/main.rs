//! `fuzz-isa [--seconds N] [--seed N] [--form TEXT] [--words N]`: holds the semantics against this processor, for as long
//! as told, and against QEMU those of PowerPC once and of the other processors for so many words.

use parallax_silicon::machine::Machine;
use parallax_silicon::{Comparison, Report, forms, ports, powerpc, run};
use parallax_sleigh::{Language, Lifter, x86::Overrides};
use std::error::Error;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut seconds = 60;
    let mut seed = 1;
    let mut wanted = String::new();
    let mut words = 100_000;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--seconds" => seconds = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--form" => wanted = value()?,
            "--words" => words = value()?.parse()?,
            _ => return Err(format!("unknown argument {argument}; see the head of the source").into()),
        }
    }
    let modes = [("x86-64", 64), ("x86", 32)].map(|(name, bits)| -> Result<_, Box<dyn Error>> {
        let lifter = Lifter::new(Language::find(name).ok_or("no such processor")?)?;
        let processor = lifter.processor().clone();
        let overrides = Overrides::new(&processor, bits);
        let forms: Vec<_> = forms::all(&overrides, bits)
            .into_iter()
            .filter(|form| form.to_string().contains(&wanted))
            .collect();
        Ok((processor, overrides, forms))
    });
    let modes: Vec<_> = modes.into_iter().collect::<Result<_, _>>()?;
    let mut machine = Machine::new()?;
    let start = Instant::now();
    let mut total = Report::default();
    for (processor, overrides, forms) in modes.iter().cycle() {
        if start.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        let comparison = Comparison { encodings: 4, states: 4, symbolic: 1, seed };
        let report = run(&mut machine, processor, overrides, forms, &comparison)?;
        seed += 1;
        for mismatch in &report.mismatches {
            println!("MISMATCH {}: {}", mismatch.form, mismatch.message);
        }
        for (form, states) in report.states {
            *total.states.entry(form).or_default() += states;
        }
        total.symbolic += report.symbolic;
        total.opcodes.extend(report.opcodes);
        total.absent.extend(report.absent);
        total.mismatches.extend(report.mismatches);
        if total.mismatches.len() > 200 {
            println!("too many mismatches, stopping early");
            break;
        }
    }
    let power = power(seed)? + others(seed, words)?;
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
    std::process::exit(i32::from(!total.mismatches.is_empty() || power > 0))
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

/// PowerPC against QEMU, one round; how many mismatches.
fn power(seed: u64) -> Result<usize, Box<dyn Error>> {
    let mut lifter = Lifter::new(Language::find("powerpc").ok_or("no powerpc")?)?;
    let folder = std::env::temp_dir();
    let report = powerpc::run(&mut lifter, &powerpc::build(&folder)?, 40, seed)?;
    for mismatch in &report.mismatches {
        println!("MISMATCH powerpc {}: {}", mismatch.form, mismatch.message);
    }
    let states: u64 = report.states.values().sum();
    println!(
        "powerpc: {} forms, {states} states under QEMU and in both readings, {} mismatches",
        report.states.len(),
        report.mismatches.len()
    );
    Ok(report.mismatches.len())
}
