//! PowerPC instructions against QEMU, in both readings.

use parallax_silicon::powerpc;
use parallax_sleigh::{Language, Lifter};

#[test]
fn powerpc_agrees_with_qemu_in_both_readings() {
    let mut lifter = Lifter::new(Language::find("powerpc").unwrap()).unwrap();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let harness = powerpc::build(folder).expect("powerpc-linux-gnu-gcc builds the harness");
    let report = powerpc::run(&mut lifter, &harness, "", 16, 1).expect("qemu-ppc runs the harness");
    let messages: Vec<String> =
        report.mismatches.iter().map(|mismatch| format!("{}: {}", mismatch.form, mismatch.message)).collect();
    assert!(messages.is_empty(), "{} mismatches:\n{}", messages.len(), messages.join("\n"));
    assert!(report.opcodes.len() >= 280, "{} forms", report.opcodes.len());
}
