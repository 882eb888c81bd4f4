//! Random instructions of the other processors against QEMU, in both readings: a quick slice. `make fuzz WHAT=isa` goes on.

use parallax_sem::ByteOrder;
use parallax_silicon::ports::{self, Findings, Port};
use parallax_sleigh::{Language, Lifter};

fn agrees(port: &dyn Port, words: usize, forms: usize) {
    let findings = findings(port, words, forms);
    assert!(findings.accepted.is_empty(), "no instructions, but executed: {:?}", findings.accepted);
}

fn findings(port: &dyn Port, words: usize, forms: usize) -> Findings {
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
    assert!(findings.forms.len() >= forms, "only {} forms", findings.forms.len());
    assert!(
        findings.symbolic * 5 > findings.states(),
        "the symbolic reading ran {} times",
        findings.symbolic
    );
    findings
}

#[test]
fn aarch64_agrees_with_qemu() {
    agrees(&ports::aarch64::Aarch64, 12_000, 700);
}

#[test]
fn riscv_agrees_with_qemu() {
    agrees(&ports::riscv::Riscv, 12_000, 330);
}

/// Some words that are no instructions, because registers or fields of theirs are reserved, are executed nevertheless.
#[test]
fn arm_agrees_with_qemu() {
    findings(&ports::arm::Arm { thumb: false }, 8_000, 500);
}

#[test]
fn thumb_agrees_with_qemu() {
    findings(&ports::arm::Arm { thumb: true }, 8_000, 250);
}

#[test]
fn mips_agrees_with_qemu() {
    agrees(&ports::mips::Mips { order: ByteOrder::Big }, 10_000, 120);
    agrees(&ports::mips::Mips { order: ByteOrder::Little }, 4_000, 100);
}
