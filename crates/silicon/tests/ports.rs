//! Random instructions of the other processors against QEMU, in both readings: a quick slice. `make fuzz-isa` goes on.

use parallax_silicon::ports::{self, Port};
use parallax_sleigh::{Language, Lifter};

fn agrees(port: &dyn Port, words: usize, forms: usize) {
    let mut lifter = Lifter::new(Language::find(port.language()).unwrap()).unwrap();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let harness = ports::build(port, folder).expect("clang-19 builds the harness");
    let findings = ports::run(port, &mut lifter, &harness, words, 1).expect("QEMU runs the harness");
    let messages: Vec<String> = findings
        .mismatches
        .iter()
        .map(|mismatch| format!("{}: {}", mismatch.form, mismatch.message))
        .collect();
    assert!(messages.is_empty(), "{} mismatches:\n{}", messages.len(), messages.join("\n"));
    assert!(findings.accepted.is_empty(), "no instructions, but executed: {:?}", findings.accepted);
    assert!(findings.forms.len() >= forms, "only {} forms", findings.forms.len());
    assert!(
        findings.symbolic * 5 > findings.states(),
        "the symbolic reading ran {} times",
        findings.symbolic
    );
}

#[test]
fn aarch64_agrees_with_qemu() {
    agrees(&ports::aarch64::Aarch64, 12_000, 700);
}

#[test]
fn riscv_agrees_with_qemu() {
    agrees(&ports::riscv::Riscv, 12_000, 330);
}
