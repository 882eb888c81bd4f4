//! Words of the vector extensions. The specification gives some of them a meaning, which nobody has held against a processor: they are
//! refused by name instead.

/// Why a word is refused, if it is one of theirs.
pub fn refusal(word: u32) -> Option<&'static str> {
    const ALTIVEC: Option<&str> = Some("AltiVec is not modelled");
    const VSX: Option<&str> = Some("VSX is not modelled");
    let extended = word >> 1 & 0x3ff;
    match word >> 26 {
        // Multiplications of general registers that share the opcode.
        4 if matches!(word & 0x3f, 48 | 49 | 51) => None,
        4 => ALTIVEC,
        6 | 60 => VSX,
        // Those that end in zeros are pairs of floats; and in 62, doublewords.
        57 if word & 3 >= 2 => VSX,
        61 if word & 3 >= 1 => VSX,
        31 => match extended {
            // Elements and whole vectors, permutations for unaligned ones, streams.
            6 | 38 | 7 | 39 | 71 | 103 | 359 | 135 | 167 | 199 | 231 | 487 | 342 | 374 | 822 => ALTIVEC,
            // Loads, stores, and moves from and to general registers.
            12 | 76 | 268 | 269 | 300 | 301 | 332 | 333 | 364 | 524 | 588 | 780 | 781 | 812 | 813 | 844
            | 876 => VSX,
            140 | 396 | 397 | 429 | 461 | 652 | 716 | 908 | 909 | 940 | 941 | 972 | 1004 => VSX,
            51 | 115 | 179 | 211 | 243 | 307 | 403 | 435 => VSX,
            _ => None,
        },
        _ => None,
    }
}
