//! Reproducible random numbers with a taste for the edges, where instructions go wrong.

/// A xorshift generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator with a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4).for_each(|_| {
            random.number();
        });
        random
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.number() >> 11) % limit
    }

    /// One of the choices.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A number that is more often than not near the edge of some width.
    pub fn interesting(&mut self) -> u64 {
        match self.below(10) {
            0 => self.below(4),
            1 => self.below(4).wrapping_neg(),
            2 => 1 << self.below(64),
            3 => (1u64 << self.below(64)).wrapping_sub(1),
            4 => self.below(256) * 0x0101_0101_0101_0101,
            5 => self.number() & 0x8080_8080_8080_8080,
            6 => u64::from(self.number() as u32),
            _ => self.number(),
        }
    }

    /// Sixteen bytes that are, by turns, integers, singles or doubles worth testing.
    pub fn vector(&mut self) -> u128 {
        match self.below(4) {
            0 => u128::from(self.double()) | u128::from(self.double()) << 64,
            1 => (0..4).fold(0, |all, _| all << 32 | u128::from(self.single())),
            2 => u128::from(self.interesting()) | u128::from(self.interesting()) << 64,
            _ => u128::from(self.number()) | u128::from(self.number()) << 64,
        }
    }

    /// A double: ordinary, tiny, huge, integral, or not a number.
    pub fn double(&mut self) -> u64 {
        match self.below(11) {
            0 => self.pick(&[
                0,
                1 << 63,
                0x7ff0 << 48,
                0xfff0 << 48,
                0x7ff8 << 48,
                0xfff8 << 48,
                0x7ff0 << 48 | 1,
            ]),
            1 => self.number() & 0x800f_ffff_ffff_ffff,
            2 => ((self.number() as i32) as f64).to_bits(),
            3 => ((self.number() as i64) as f64).to_bits(),
            4 => ((self.number() as i32) as f64 / 2.0).to_bits(),
            5 => self.number(),
            // Near the largest and the smallest, where results overflow and underflow.
            6 => {
                (self.number() & 0x800f_ffff_ffff_ffff)
                    | self.pick(&[1, 2, 3, 1023 + 511, 2044, 2045, 2046]) << 52
            }
            7 => self.sparse_double(),
            // Half-way between two singles.
            8 => {
                (self.number() & 1 << 63)
                    | (1019 + self.below(10)) << 52
                    | (self.below(1 << 23) << 29)
                    | 1 << 28
            }
            _ => (self.number() & 0x800f_ffff_ffff_ffff) | (1019 + self.below(10)) << 52,
        }
    }

    /// A single, likewise.
    pub fn single(&mut self) -> u32 {
        match self.below(11) {
            0 => self.pick(&[
                0,
                1 << 31,
                0x7f80 << 16,
                0xff80 << 16,
                0x7fc0 << 16,
                0xffc0 << 16,
                0x7f80 << 16 | 1,
            ]),
            1 => self.number() as u32 & 0x807f_ffff,
            2 => ((self.number() as i16) as f32).to_bits(),
            3 => ((self.number() as i32) as f32).to_bits(),
            4 => ((self.number() as i16) as f32 / 2.0).to_bits(),
            5 => self.number() as u32,
            6 => (self.number() as u32 & 0x807f_ffff) | self.pick(&[1, 2, 3, 127 + 63, 252, 253, 254]) << 23,
            7 => self.sparse_single(),
            // Half-way between two halves.
            8 => (self.number() as u32 & 0x807f_e000) | (123 + self.below(10) as u32) << 23 | 1 << 12,
            _ => (self.number() as u32 & 0x807f_ffff) | (123 + self.below(10) as u32) << 23,
        }
    }

    /// A double with few bits, at both ends: sums and products of two lie half-way between doubles, or nearly.
    pub fn sparse_double(&mut self) -> u64 {
        (self.number() & 1 << 63)
            | self.pick(&[1023, 1022, 1023 - 52, 1023 - 53, 1023 - 54]) << 52
            | self.pick(&[0, 1, 2, 3, 1 << 51, 3 << 50, (1 << 51) + 1])
    }

    /// A single, likewise.
    pub fn sparse_single(&mut self) -> u32 {
        (self.number() as u32 & 1 << 31)
            | self.pick(&[127, 126, 127 - 23, 127 - 24, 127 - 25]) << 23
            | self.pick(&[0, 1, 2, 3, 1 << 22, 3 << 21, (1 << 22) + 1])
    }

    /// An 80-bit float in a normal form.
    pub fn extended(&mut self) -> u128 {
        let fraction = u128::from(self.number() | 1 << 63);
        let sign = u128::from(self.number() & 1) << 79;
        match self.below(9) {
            0 => sign,
            1 => sign | 0x7fff << 64 | 1 << 63,
            2 => sign | 0x7fff << 64 | 3 << 62 | fraction,
            3 => {
                sign | u128::from(self.below(1 << 20)) << 43
                    | u128::from(16383 + 20 + self.below(20)) << 64
                    | 1 << 63
            }
            4 => sign | (fraction & !(1 << 63)),
            5 => sign | u128::from(1 + self.below(32766)) << 64 | fraction,
            6 => {
                let edges = [1, 2, 60, 16383 - 1023, 16383 + 1023, 16383 + 8191, 32764, 32765, 32766];
                sign | self.pick(&edges) << 64 | fraction
            }
            _ => sign | u128::from(16383 - 4 + self.below(70)) << 64 | fraction,
        }
    }
}
