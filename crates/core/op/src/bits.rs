//! Constant bit-vectors.

use crate::{MAX_WIDTH, Width};
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use std::fmt;

/// A bit-vector constant. Bits above the width are always zero, so equal vectors are equal values.
///
/// Up to 128 bits live inline: no operation on them allocates.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bits(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small { width: Width, value: u128 },
    Wide { width: Width, value: BigUint },
}

/// Why a text is not a bit-vector constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseBitsError {
    /// No digits, or something that is not a digit of the base.
    NotANumber,
    /// More bits than the width has.
    TooLarge,
}

impl fmt::Display for ParseBitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParseBitsError::NotANumber => "not a number",
            ParseBitsError::TooLarge => "the number does not fit",
        })
    }
}

impl std::error::Error for ParseBitsError {}

/// The lowest `width` bits set, for widths up to 128.
#[inline]
pub(crate) const fn mask(width: Width) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

impl Bits {
    /// The low `width` bits of `value`.
    ///
    /// # Panics
    /// On a width of zero or above [`MAX_WIDTH`]: widths are checked where programs are read.
    #[inline]
    pub fn new(width: Width, value: u128) -> Self {
        assert!((1..=MAX_WIDTH).contains(&width), "a bit-vector has 1 to {MAX_WIDTH} bits, not {width}");
        if width <= 128 {
            Bits(Repr::Small { width, value: value & mask(width) })
        } else {
            Bits(Repr::Wide { width, value: BigUint::from(value) })
        }
    }

    /// The low `width` bits of a signed number.
    #[inline]
    pub fn from_i128(width: Width, value: i128) -> Self {
        if width <= 128 || value >= 0 {
            return Bits::new(width, value as u128);
        }
        let magnitude = BigUint::from(value.unsigned_abs());
        Bits::from_big(width, (BigUint::one() << width) - magnitude)
    }

    /// The low `width` bits of `value`.
    pub fn from_big(width: Width, value: BigUint) -> Self {
        if width <= 128 {
            let low =
                value.iter_u64_digits().take(2).enumerate().map(|(i, d)| u128::from(d) << (64 * i)).sum();
            return Bits::new(width, low);
        }
        assert!(width <= MAX_WIDTH, "a bit-vector has 1 to {MAX_WIDTH} bits, not {width}");
        let value = if value.bits() > u64::from(width) { value % (BigUint::one() << width) } else { value };
        Bits(Repr::Wide { width, value })
    }

    /// The number with these bytes, the lowest first.
    ///
    /// # Panics
    /// If there are none, or more than the widest vector has.
    #[inline]
    pub fn from_le_bytes(bytes: &[u8]) -> Self {
        let width = 8 * bytes.len() as u16;
        if bytes.len() <= 16 {
            let mut low = [0; 16];
            low[..bytes.len()].copy_from_slice(bytes);
            return Bits::new(width, u128::from_le_bytes(low));
        }
        Bits::from_big(width, BigUint::from_bytes_le(bytes))
    }

    /// Writes its bytes, the lowest first, as far as there is room, and zeros behind them.
    #[inline]
    pub fn write_le_bytes(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        match self.small() {
            Some(value) => {
                let kept = bytes.len().min(16);
                bytes[..kept].copy_from_slice(&value.to_le_bytes()[..kept]);
            }
            None => {
                let digits = self.to_big().to_bytes_le();
                let kept = bytes.len().min(digits.len());
                bytes[..kept].copy_from_slice(&digits[..kept]);
            }
        }
    }

    /// Zero.
    pub fn zero(width: Width) -> Self {
        Bits::new(width, 0)
    }

    /// One.
    pub fn one(width: Width) -> Self {
        Bits::new(width, 1)
    }

    /// Every bit set.
    pub fn ones(width: Width) -> Self {
        Bits::from_i128(width, -1)
    }

    /// How many bits.
    #[inline]
    pub fn width(&self) -> Width {
        match &self.0 {
            Repr::Small { width, .. } | Repr::Wide { width, .. } => *width,
        }
    }

    /// The value as an unsigned number, if the width is 128 or less.
    #[inline]
    pub fn small(&self) -> Option<u128> {
        match &self.0 {
            Repr::Small { value, .. } => Some(*value),
            Repr::Wide { .. } => None,
        }
    }

    /// The value as an unsigned number, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small { value, .. } => u64::try_from(*value).ok(),
            Repr::Wide { value, .. } => value.to_u64(),
        }
    }

    /// The value as an unsigned number, if it fits.
    pub fn to_u128(&self) -> Option<u128> {
        match &self.0 {
            Repr::Small { value, .. } => Some(*value),
            Repr::Wide { value, .. } => value.to_u128(),
        }
    }

    /// The value read as two's complement, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        match &self.0 {
            Repr::Small { width, value } => {
                let shift = 128 - u32::from(*width);
                Some(((value << shift) as i128) >> shift)
            }
            Repr::Wide { value, .. } if !self.sign() => value.to_i128(),
            Repr::Wide { width, value } => {
                let magnitude = (BigUint::one() << *width) - value;
                magnitude.to_i128().map(|m| -m)
            }
        }
    }

    /// The value as an unsigned number of any size.
    pub fn to_big(&self) -> BigUint {
        match &self.0 {
            Repr::Small { value, .. } => BigUint::from(*value),
            Repr::Wide { value, .. } => value.clone(),
        }
    }

    /// The highest bit.
    #[inline]
    pub fn sign(&self) -> bool {
        self.bit(self.width() - 1)
    }

    /// Bit number `index`, counted from the lowest.
    #[inline]
    pub fn bit(&self, index: Width) -> bool {
        match &self.0 {
            Repr::Small { value, .. } => index < 128 && value >> index & 1 == 1,
            Repr::Wide { value, .. } => value.bit(u64::from(index)),
        }
    }

    /// No bit set.
    #[inline]
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Repr::Small { value, .. } => *value == 0,
            Repr::Wide { value, .. } => value.is_zero(),
        }
    }

    /// Exactly the number one.
    pub fn is_one(&self) -> bool {
        self.to_u64() == Some(1)
    }

    /// Every bit set.
    pub fn is_ones(&self) -> bool {
        match &self.0 {
            Repr::Small { width, value } => *value == mask(*width),
            Repr::Wide { width, value } => value.count_ones() == u64::from(*width),
        }
    }

    /// Bits `low` to `low + width - 1`.
    #[inline]
    pub fn extract(&self, low: Width, width: Width) -> Bits {
        debug_assert!(low + width <= self.width());
        match &self.0 {
            Repr::Small { value, .. } => Bits::new(width, value >> low),
            Repr::Wide { value, .. } => Bits::from_big(width, value >> low),
        }
    }

    /// `self` above `low`.
    #[inline]
    pub fn concat(&self, low: &Bits) -> Bits {
        let width = self.width() + low.width();
        match (&self.0, &low.0) {
            (Repr::Small { value: high, .. }, Repr::Small { value: below, width: shift }) if width <= 128 => {
                Bits::new(width, high << shift | below)
            }
            _ => Bits::from_big(width, (self.to_big() << low.width()) | low.to_big()),
        }
    }

    /// The same number in more bits.
    #[inline]
    pub fn zext(&self, width: Width) -> Bits {
        match &self.0 {
            Repr::Small { value, .. } => Bits::new(width, *value),
            Repr::Wide { value, .. } => Bits::from_big(width, value.clone()),
        }
    }

    /// The same two's-complement number in more bits.
    #[inline]
    pub fn sext(&self, width: Width) -> Bits {
        if !self.sign() {
            return self.zext(width);
        }
        if width <= 128 {
            return Bits::from_i128(width, self.to_i128().expect("small"));
        }
        let high = Bits::ones(width).to_big() ^ Bits::ones(self.width()).to_big();
        Bits::from_big(width, high | self.to_big())
    }

    /// Reads digits: decimal (also negative), `0x` hexadecimal or `0b` binary. A negative number must fit as two's
    /// complement.
    pub fn parse(text: &str, width: Width) -> Result<Bits, ParseBitsError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (radix, digits) =
            if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                (16, hex)
            } else if let Some(binary) = digits.strip_prefix("0b") {
                (2, binary)
            } else {
                (10, digits)
            };
        let clean: String = digits.chars().filter(|&c| c != '_').collect();
        if clean.is_empty() || !clean.chars().all(|c| c.is_digit(radix)) {
            return Err(ParseBitsError::NotANumber);
        }
        // Longer than any 512-bit number can be: refuse before converting, which is quadratic.
        if clean.trim_start_matches('0').len() > usize::from(MAX_WIDTH) {
            return Err(ParseBitsError::TooLarge);
        }
        let value = BigUint::parse_bytes(clean.as_bytes(), radix).ok_or(ParseBitsError::NotANumber)?;
        let limit = BigUint::one() << width;
        if negative {
            if value > (&limit >> 1u32) {
                return Err(ParseBitsError::TooLarge);
            }
            return Ok(Bits::from_big(width, (&limit - value) % limit));
        }
        if value >= limit { Err(ParseBitsError::TooLarge) } else { Ok(Bits::from_big(width, value)) }
    }

    /// As SMT-LIB writes it: `#x…` where the width allows, `#b…` elsewhere.
    pub fn smt2(&self) -> String {
        let width = usize::from(self.width());
        if width.is_multiple_of(4) {
            format!("#x{:0>1$}", self.to_big().to_str_radix(16), width / 4)
        } else {
            format!("#b{:0>1$}", self.to_big().to_str_radix(2), width)
        }
    }
}

impl fmt::Display for Bits {
    /// Unsigned decimal up to 65535, hexadecimal above.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_u64() {
            Some(value) if value <= 0xffff => write!(f, "{value}"),
            _ => write!(f, "0x{}", self.to_big().to_str_radix(16)),
        }
    }
}

impl fmt::LowerHex for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "0x", &self.to_big().to_str_radix(16))
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}:{}", self.width())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for length in 1..=usize::from(MAX_WIDTH / 8) {
            let bytes: Vec<u8> = (0..length).map(|index| (index * 37 + 129) as u8).collect();
            let bits = Bits::from_le_bytes(&bytes);
            assert_eq!(usize::from(bits.width()), 8 * length);
            assert_eq!(bits.extract(0, 8), Bits::new(8, bytes[0].into()), "the lowest first");
            let (mut same, mut longer, mut shorter) =
                (vec![1; length], vec![1; length + 3], vec![1; length - 1]);
            bits.write_le_bytes(&mut same);
            bits.write_le_bytes(&mut longer);
            bits.write_le_bytes(&mut shorter);
            assert_eq!(same, bytes);
            assert_eq!(longer, [&bytes[..], &[0, 0, 0]].concat());
            assert_eq!(shorter, bytes[..length - 1]);
        }
    }

    #[test]
    fn parsing_checks_the_range() {
        assert_eq!(Bits::parse("-1", 8), Ok(Bits::new(8, 255)));
        assert_eq!(Bits::parse("-128", 8), Ok(Bits::new(8, 128)));
        assert_eq!(Bits::parse("-129", 8), Err(ParseBitsError::TooLarge));
        assert_eq!(Bits::parse("256", 8), Err(ParseBitsError::TooLarge));
        assert_eq!(Bits::parse("0xff", 8), Ok(Bits::new(8, 255)));
        assert_eq!(Bits::parse("0x", 8), Err(ParseBitsError::NotANumber));
        assert_eq!(Bits::parse(&"9".repeat(1_000_000), 8), Err(ParseBitsError::TooLarge));
    }

    #[test]
    fn wide_vectors_keep_their_bits() {
        let wide = Bits::new(100, 5).concat(&Bits::ones(200));
        assert_eq!(wide.width(), 300);
        assert_eq!(wide.extract(200, 100), Bits::new(100, 5));
        assert_eq!(wide.extract(0, 200), Bits::ones(200));
        assert_eq!(Bits::ones(130).to_i128(), Some(-1));
        assert_eq!(Bits::new(8, 0x80).sext(300).extract(7, 293), Bits::ones(293));
        assert_eq!(Bits::from_i128(300, -2).to_i128(), Some(-2));
    }
}
