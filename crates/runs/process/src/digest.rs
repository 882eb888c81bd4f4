//! A fast checksum: not against malice, but against a run that goes another way.

/// Mixes words into a number.
#[derive(Clone, Copy)]
pub struct Digest(u64);

impl Digest {
    /// Of nothing.
    pub fn new() -> Self {
        Digest(0x9e37_79b9_7f4a_7c15)
    }

    /// With a word more.
    #[must_use]
    pub fn word(self, word: u64) -> Self {
        let mixed = (self.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        Digest(mixed ^ mixed >> 32)
    }

    /// With bytes more.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self = self.word(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        self.word(u64::from_le_bytes(last)).word(bytes.len() as u64)
    }

    /// The number.
    pub fn finish(self) -> u64 {
        self.0
    }
}
