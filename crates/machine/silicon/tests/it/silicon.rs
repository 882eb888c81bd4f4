//! A quick slice of the comparison with the processor under us: every form, some states. `make fuzz WHAT=isa` goes on.

use parallax_silicon::machine::{Machine, has_segments};
use parallax_silicon::{Comparison, forms, run};
use parallax_sleigh::{Language, Lifter, x86::Overrides};

fn every_form_agrees(name: &str, bits: u32, states: u64) {
    let lifter = Lifter::new(Language::find(name).unwrap()).unwrap();
    let processor = lifter.processor().clone();
    let overrides = Overrides::new(&processor, bits);
    let forms = forms::all(&overrides, bits);
    let mut machine = Machine::new().expect("this test traces a child process; that must be allowed");
    let newer_states = states / 4;
    let comparison = Comparison { encodings: 1, states, newer_states, symbolic: 1, seed: 20 };
    let report = run(&mut machine, &processor, &overrides, &forms, &comparison).unwrap();
    let messages: Vec<String> =
        report.mismatches.iter().map(|mismatch| format!("{}: {}", mismatch.form, mismatch.message)).collect();
    assert!(messages.is_empty(), "{} mismatches:\n{}", messages.len(), messages.join("\n"));
    let expected = if bits == 16 { 900 } else { 1600 };
    assert!(report.opcodes.len() >= expected, "only {} opcodes ran", report.opcodes.len());
    // An older processor may lack a few of the extensions, not most.
    assert!(report.absent.len() < 200, "{} forms are absent here: {:?}", report.absent.len(), report.absent);
    assert!(
        report.symbolic as usize >= forms.len() / 2,
        "the symbolic reading ran {} times",
        report.symbolic
    );
}

#[test]
fn every_form_agrees_with_the_processor_in_both_readings() {
    every_form_agrees("x86-64", 64, 40);
}

/// The same processor in the segment of 32-bit code.
#[test]
fn every_form_of_32_bit_code_agrees_too() {
    every_form_agrees("x86", 32, 10);
}

/// The same processor in a segment of 16-bit code, with segments that begin where they begin in real mode.
#[test]
fn every_form_of_16_bit_code_agrees_too() {
    if !has_segments() {
        println!("skipped: this kernel has no segments of 16-bit code");
        return;
    }
    every_form_agrees("x86-16", 16, 8);
}
