//! The conditions of conditional branches, as a reader finds them: every condition of every processor behind a comparison
//! of two registers, of a register with a constant, and where a processor tests a register by itself.
//!
//! One row a branch in `tests/snapshots/branches.txt`; `BLESS=1` writes it anew, and the difference is to be read.

use crate::composition::lifter;
use parallax_code::Program;
use parallax_op::Bits;
use parallax_primitives::{Bounds, Explorer};
use parallax_sem::{Language as _, Symbolic};
use parallax_term::{Store, StructUpdate};
use std::fmt::Write;
use std::path::Path;

/// How a processor's words lie in memory.
enum Order {
    Little,
    Big,
}

fn words(order: &Order, words: &[u32]) -> Vec<u8> {
    let bytes = |word: &u32| match order {
        Order::Little => word.to_le_bytes(),
        Order::Big => word.to_be_bytes(),
    };
    words.iter().flat_map(bytes).collect()
}

/// Code of each processor that ends in a conditional branch.
fn branches() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = Vec::new();
    for language in ["x86-64", "x86", "x86-16"] {
        // cmp eax, ebx; cmp eax, 5; test eax, eax; cmp al, bl; sub eax, ebx; and, where there is one, cmp rax, rbx
        let mut before: Vec<&[u8]> =
            vec![&[0x39, 0xd8], &[0x83, 0xf8, 5], &[0x85, 0xc0], &[0x38, 0xd8], &[0x29, 0xd8]];
        if language == "x86-64" {
            before.push(&[0x48, 0x39, 0xd8]);
        }
        for compare in before {
            for condition in 0x70..=0x7f {
                all.push((language, [compare, &[condition, 0x10]].concat()));
            }
        }
        all.push((language, vec![0xe2, 0x10]));
        all.push((language, vec![0xe3, 0x10]));
    }
    for (language, order) in
        [("powerpc", Order::Big), ("powerpc64", Order::Big), ("powerpc64le", Order::Little)]
    {
        // cmpw r3, r4; cmpwi r3, 5; cmplw r3, r4; cmplwi r3, 5
        for compare in [0x7c03_2000, 0x2c03_0005, 0x7c03_2040, 0x2803_0005] {
            // blt, bgt, beq, bge, ble, bne
            for branch in [0x4180_0010, 0x4181_0010, 0x4182_0010, 0x4080_0010, 0x4081_0010, 0x4082_0010] {
                all.push((language, words(&order, &[compare, branch])));
            }
        }
        // cmpw cr7, r3, r4; blt cr7. bdnz. bdz.
        all.push((language, words(&order, &[0x7f83_2000, 0x419c_0010])));
        all.push((language, words(&order, &[0x4200_0010])));
        all.push((language, words(&order, &[0x4240_0010])));
        // crand of two comparisons: cmpw r3, r4; cmpw cr1, r5, r6; crand eq, eq, cr1.eq; beq
        all.push((language, words(&order, &[0x7c03_2000, 0x7c85_3000, 0x4c42_3202, 0x4182_0010])));
    }
    // cmp w0, w1; cmp w0, #5; cmp x0, x1; tst w0, w1
    for compare in [0x6b01_001f, 0x7100_141f, 0xeb01_001f, 0x6a01_001f] {
        for condition in 0..14 {
            all.push(("aarch64", words(&Order::Little, &[compare, 0x5400_0080 | condition])));
        }
    }
    // cbz, cbnz, tbz, tbnz
    for branch in [0x3400_0080, 0x3500_0080, 0x3618_0080, 0x3718_0080] {
        all.push(("aarch64", words(&Order::Little, &[branch])));
    }
    // cmp r0, r1; cmp r0, #5; tst r0, r1
    for compare in [0xe150_0001, 0xe350_0005, 0xe110_0001] {
        for condition in 0..14u32 {
            all.push(("arm", words(&Order::Little, &[compare, condition << 28 | 0x0a00_0002])));
        }
    }
    // cmp r0, r1; cmp r0, #5
    for compare in [[0x88, 0x42], [5, 0x28]] {
        for condition in 0..14u8 {
            all.push(("thumb", [&compare[..], &[2, 0xd0 | condition]].concat()));
        }
    }
    all.push(("thumb", vec![0x10, 0xb1]));
    all.push(("thumb", vec![0x10, 0xb9]));
    // beq, bne, blt, bge, bltu, bgeu
    for kind in [0u32, 1, 4, 5, 6, 7] {
        all.push(("riscv64", words(&Order::Little, &[0x00b5_0863 | kind << 12])));
    }
    // c.beqz, c.bnez
    all.push(("riscv64", vec![0x11, 0xc5]));
    all.push(("riscv64", vec![0x11, 0xe5]));
    for (language, order) in [("mips", Order::Big), ("mipsel", Order::Little)] {
        // beq, bne, blez, bgtz, bltz, bgez
        for branch in [0x1085_0004, 0x1485_0004, 0x1880_0004, 0x1c80_0004, 0x0480_0004, 0x0481_0004] {
            all.push((language, words(&order, &[branch, 0])));
        }
        // slt, sltu, slti, and bne or beq
        for compare in [0x0085_102a, 0x0085_102b, 0x2882_0005] {
            all.push((language, words(&order, &[compare, 0x1440_0004, 0])));
            all.push((language, words(&order, &[compare, 0x1040_0004, 0])));
        }
    }
    all
}

fn rows() -> String {
    let mut rows = String::new();
    let mut known = ("", None);
    for (language, bytes) in branches() {
        if known.0 != language {
            known = (language, Some(lifter(language)));
        }
        let program =
            Program::from_bytes(known.1.as_ref().expect("just made"), 0x1000, bytes.clone()).unwrap();
        let store = Store::new();
        program.declare(&store);
        let listing = program.listing();
        let branch = listing.iter().flatten().last().expect("a branch");
        let evaluation =
            Explorer::new(&program, &store, Bounds::default()).evaluate(&StructUpdate::identity());
        assert!(evaluation.gave_up.is_empty(), "{language} {bytes:02x?}: {:?}", evaluation.gave_up);
        let next = Bits::new(program.pc_width(), branch.next().into());
        let core = Symbolic::new(&store);
        let stays = parallax_sem::Core::relop(
            &core,
            parallax_op::RelOp::Eq,
            program.pc_width(),
            &evaluation.pc,
            &store.constant(&next),
        );
        let taken = store.display(store.not(stays));
        let text: Vec<&str> = listing.iter().flatten().map(|instruction| instruction.text.as_str()).collect();
        writeln!(rows, "{language:12}{:44}{taken}", text.join("; ")).unwrap();
    }
    rows
}

#[test]
fn conditions_of_branches_are_comparisons() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/branches.txt");
    let found = rows();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "rows in {}", path.display());
}
