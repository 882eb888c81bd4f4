//! What the translator takes for undefined is what comparisons with processors leave out, but for the auxiliary carry of `and`,
//! `or`, `xor` and `test`.

use crate::programs::as_bits;
use iced_x86::Mnemonic;
use parallax_native::forms::is_copied;
use parallax_native::undefined::leaves;
use parallax_silicon::forms::{Case, all};
use parallax_silicon::random::Random;
use parallax_sleigh::x86::{Overrides, undefined_flags};
use parallax_sleigh::{Language, Lifter};

#[test]
fn nothing_undefined_is_missed() {
    const AF: u32 = 1 << 4;
    let lifter = Lifter::new(Language::find("x86-64").expect("x86-64")).expect("its specification");
    let overrides = Overrides::new(lifter.processor(), 64);
    let mut random = Random::new(5);
    let (mut some, mut all_counts) = (0, 0);
    for form in all(&overrides, 64) {
        for _ in 0..12 {
            let Some(case) = Case::new(form, &mut random) else { continue };
            if !is_copied(&case.instruction) {
                continue;
            }
            let clears = matches!(
                case.instruction.mnemonic(),
                Mnemonic::And | Mnemonic::Or | Mnemonic::Xor | Mnemonic::Test
            );
            let ours = as_bits(leaves(&case.instruction));
            let by_count =
                |count: u8| undefined_flags(&case.instruction, count) & if clears { !AF } else { !0 };
            let theirs = (0..=255).map(by_count).fold(0, |all, flags| all | flags);
            assert!(theirs & !ours == 0, "{:?}: {theirs:#x}, not {ours:#x}", case.instruction.code());
            some += u32::from(theirs != 0);
            all_counts += u32::from(theirs == ours && theirs != 0);
        }
    }
    // Little is left to the exact engine that need not be.
    assert!(some > 500 && all_counts * 10 > some * 9, "{all_counts} of {some} are the same");
}
