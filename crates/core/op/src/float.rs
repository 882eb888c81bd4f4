//! Floating-point operators with exact IEEE 754 meaning, on bit-vectors.
//!
//! A float is the bit-vector that represents it, and the width tells the format: 16, 32, 64 and 128 bits are the IEEE
//! interchange formats, 80 bits is the extended format of the x87 with its explicit integer bit. Results that are not
//! a number are always *the* canonical quiet NaN of the format (sign clear, payload zero); processors that hand
//! payloads on say so in their own semantics. Negation and absolute value are bit operations and not listed here.

use crate::{Bits, Width};
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

/// A floating-point format. The width of a vector determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FloatFormat {
    /// binary16.
    F16,
    /// binary32, C's `float`.
    F32,
    /// binary64, C's `double`.
    F64,
    /// The 80-bit extended format of the x87.
    X87,
    /// binary128.
    F128,
}

impl FloatFormat {
    /// Every format.
    pub const ALL: &[FloatFormat] =
        &[FloatFormat::F16, FloatFormat::F32, FloatFormat::F64, FloatFormat::X87, FloatFormat::F128];

    /// The format whose values have this many bits.
    pub const fn of_width(width: Width) -> Option<FloatFormat> {
        Some(match width {
            16 => FloatFormat::F16,
            32 => FloatFormat::F32,
            64 => FloatFormat::F64,
            80 => FloatFormat::X87,
            128 => FloatFormat::F128,
            _ => return None,
        })
    }

    /// How many bits a value has.
    pub const fn width(self) -> Width {
        match self {
            FloatFormat::F16 => 16,
            FloatFormat::F32 => 32,
            FloatFormat::F64 => 64,
            FloatFormat::X87 => 80,
            FloatFormat::F128 => 128,
        }
    }

    /// Exponent and significand bits as SMT-LIB counts them (the hidden bit included).
    pub const fn smt2(self) -> (u16, u16) {
        match self {
            FloatFormat::F16 => (5, 11),
            FloatFormat::F32 => (8, 24),
            FloatFormat::F64 => (11, 53),
            FloatFormat::X87 => (15, 64),
            FloatFormat::F128 => (15, 113),
        }
    }

    /// The canonical quiet NaN.
    pub fn nan(self) -> Bits {
        let bits = match self {
            FloatFormat::F16 => 0x7e00,
            FloatFormat::F32 => 0x7fc0_0000,
            FloatFormat::F64 => 0x7ff8_0000_0000_0000,
            FloatFormat::X87 => 0x7fff_c000_0000_0000_0000,
            FloatFormat::F128 => 0x7fff_8000_0000_0000_0000_0000_0000_0000,
        };
        Bits::new(self.width(), bits)
    }
}

/// Rounding modes of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    NearestEven,
    /// To nearest, ties away from zero.
    NearestAway,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Rounding {
    /// Every mode.
    pub const ALL: &[Rounding] =
        &[Rounding::NearestEven, Rounding::NearestAway, Rounding::Up, Rounding::Down, Rounding::Zero];

    /// Its SMT-LIB name, which the readable notation uses in lower case.
    pub const fn smt2(self) -> &'static str {
        match self {
            Rounding::NearestEven => "RNE",
            Rounding::NearestAway => "RNA",
            Rounding::Up => "RTP",
            Rounding::Down => "RTN",
            Rounding::Zero => "RTZ",
        }
    }

    const fn apfloat(self) -> Round {
        match self {
            Rounding::NearestEven => Round::NearestTiesToEven,
            Rounding::NearestAway => Round::NearestTiesToAway,
            Rounding::Up => Round::TowardPositive,
            Rounding::Down => Round::TowardNegative,
            Rounding::Zero => Round::TowardZero,
        }
    }
}

macro_rules! float_operators {
    ($(#[doc = $head:literal])+ $Enum:ident { $($(#[doc = $doc:literal])+ $name:ident $text:literal $smt:literal;)+ }) => {
        $(#[doc = $head])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $Enum { $($(#[doc = $doc])+ $name,)+ }

        impl $Enum {
            /// Every operator, in table order.
            pub const ALL: &[$Enum] = &[$($Enum::$name),+];

            /// How the readable notation writes it.
            pub const fn symbol(self) -> &'static str {
                match self { $($Enum::$name => $text),+ }
            }

            /// Its SMT-LIB name.
            pub const fn smt2(self) -> &'static str {
                match self { $($Enum::$name => $smt),+ }
            }
        }
    };
}

float_operators! {
    /// Operators on one float, with a rounding mode.
    FloatUnOp {
        /// Square root.
        Sqrt "fsqrt" "fp.sqrt";
        /// The integral float chosen by the rounding mode.
        Round "fround" "fp.roundToIntegral";
    }
}

float_operators! {
    /// Operators on two floats of one format, with a rounding mode (which the remainder ignores).
    FloatBinOp {
        /// Sum.
        Add "fadd" "fp.add";
        /// Difference.
        Sub "fsub" "fp.sub";
        /// Product.
        Mul "fmul" "fp.mul";
        /// Quotient.
        Div "fdiv" "fp.div";
        /// IEEE remainder: the dividend less the divisor times the nearest integer to the quotient.
        Rem "frem" "fp.rem";
    }
}

float_operators! {
    /// Relations between two floats; false when either is not a number.
    FloatRelOp {
        /// Equal; the two zeros are.
        Eq "feq" "fp.eq";
        /// Below.
        Lt "flt" "fp.lt";
        /// Below or equal.
        Le "fle" "fp.leq";
    }
}

/// Runs `$body` with the type of the format bound to `$F`.
macro_rules! with_format {
    ($format:expr, $F:ident => $body:expr) => {
        match $format {
            FloatFormat::F16 => {
                type $F = Half;
                $body
            }
            FloatFormat::F32 => {
                type $F = Single;
                $body
            }
            FloatFormat::F64 => {
                type $F = Double;
                $body
            }
            FloatFormat::X87 => {
                type $F = X87DoubleExtended;
                $body
            }
            FloatFormat::F128 => {
                type $F = Quad;
                $body
            }
        }
    };
}

fn format_of(a: &Bits) -> FloatFormat {
    FloatFormat::of_width(a.width()).expect("float operators take widths of a float format")
}

fn read<F: Float>(a: &Bits) -> F {
    F::from_bits(a.small().expect("floats have 128 bits at most"))
}

fn write<F: Float>(format: FloatFormat, value: F) -> Bits {
    if value.is_nan() { format.nan() } else { Bits::new(format.width(), value.to_bits()) }
}

impl FloatUnOp {
    /// Its meaning.
    pub fn apply(self, rounding: Rounding, a: &Bits) -> Bits {
        let format = format_of(a);
        with_format!(format, F => {
            let a: F = read(a);
            write(format, match self {
                FloatUnOp::Sqrt => square_root(a, rounding),
                FloatUnOp::Round => a.round_to_integral(rounding.apfloat()).value,
            })
        })
    }
}

impl FloatBinOp {
    /// Its meaning.
    pub fn apply(self, rounding: Rounding, a: &Bits, b: &Bits) -> Bits {
        let format = format_of(a);
        let round = rounding.apfloat();
        with_format!(format, F => {
            let (a, b): (F, F) = (read(a), read(b));
            write(format, match self {
                FloatBinOp::Add => a.add_r(b, round).value,
                FloatBinOp::Sub => a.sub_r(b, round).value,
                FloatBinOp::Mul => a.mul_r(b, round).value,
                FloatBinOp::Div => a.div_r(b, round).value,
                FloatBinOp::Rem => remainder(a, b),
            })
        })
    }
}

impl FloatRelOp {
    /// Its meaning.
    pub fn apply(self, a: &Bits, b: &Bits) -> bool {
        with_format!(format_of(a), F => {
            let (a, b): (F, F) = (read(a), read(b));
            match self {
                FloatRelOp::Eq => a == b,
                FloatRelOp::Lt => a < b,
                FloatRelOp::Le => a <= b,
            }
        })
    }
}

/// `a * b + c`, rounded once.
pub fn fused_multiply_add(rounding: Rounding, a: &Bits, b: &Bits, c: &Bits) -> Bits {
    let format = format_of(a);
    with_format!(format, F => write(format, read::<F>(a).mul_add_r(read(b), read(c), rounding.apfloat()).value))
}

/// The float in another format.
pub fn float_to_float(rounding: Rounding, a: &Bits, to: FloatFormat) -> Bits {
    with_format!(format_of(a), F => with_format!(to, G => {
        let mut loses = false;
        let converted: G = read::<F>(a).convert_r(rounding.apfloat(), &mut loses).value;
        write(to, converted)
    }))
}

/// The integer as a float. Integers have 128 bits at most.
pub fn int_to_float(signed: bool, rounding: Rounding, a: &Bits, to: FloatFormat) -> Bits {
    with_format!(to, F => write(to, if signed {
        F::from_i128_r(a.to_i128().expect("128 bits at most"), rounding.apfloat()).value
    } else {
        F::from_u128_r(a.small().expect("128 bits at most"), rounding.apfloat()).value
    }))
}

/// The float as an integer of `width` bits: zero for NaN, the nearest end of the range for what lies outside.
pub fn float_to_int(signed: bool, rounding: Rounding, a: &Bits, width: Width) -> Bits {
    with_format!(format_of(a), F => {
        let a: F = read(a);
        let mut exact = false;
        if a.is_nan() {
            Bits::zero(width)
        } else if signed {
            Bits::from_i128(width, a.to_i128_r(usize::from(width), rounding.apfloat(), &mut exact).value)
        } else {
            Bits::new(width, a.to_u128_r(usize::from(width), rounding.apfloat(), &mut exact).value)
        }
    })
}

fn remainder<F: Float>(a: F, b: F) -> F {
    let result = a.ieee_rem(b);
    if result.status.contains(Status::INVALID_OP) { F::NAN } else { result.value }
}

/// The correctly rounded square root, through the exact root of a scaled integer.
///
/// With p bits of precision the significand m is scaled by an even power of two to at least 2(p+2) bits; the integer
/// root then has at least p+2 bits, and one more bit tells whether anything was left over. Rounding that integer once
/// rounds the root once, and no root is subnormal, so scaling back is exact.
fn square_root<F: Float>(a: F, rounding: Rounding) -> F {
    if a.is_nan() || a.is_zero() {
        return a;
    }
    if a.is_negative() {
        return F::NAN;
    }
    if a.is_infinite() {
        return a;
    }
    let precision = F::PRECISION as i32;
    let exponent = a.ilogb() - (precision - 1);
    let significand = a.scalbn(-exponent).to_u128(128).value;
    let mut scale = precision + 6;
    if (exponent - scale) % 2 != 0 {
        scale += 1;
    }
    let scaled = num_bigint::BigUint::from(significand) << scale;
    let root = scaled.sqrt();
    let sticky = u128::from(&root * &root != scaled);
    let root = num_traits::ToPrimitive::to_u128(&root).expect("half of 2 * 113 + 7 bits");
    F::from_u128_r(root << 1 | sticky, rounding.apfloat()).value.scalbn((exponent - scale) / 2 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn f64_bits(value: f64) -> Bits {
        if value.is_nan() { FloatFormat::F64.nan() } else { Bits::new(64, u128::from(value.to_bits())) }
    }

    fn f32_bits(value: f32) -> Bits {
        if value.is_nan() { FloatFormat::F32.nan() } else { Bits::new(32, u128::from(value.to_bits())) }
    }

    /// Any bit pattern, and patterns with nearby exponents so that sums cancel and carry.
    fn pattern64() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            (any::<u64>(), 1020u64..1028)
                .prop_map(|(m, e)| f64::from_bits(m & 0x800f_ffff_ffff_ffff | e << 52)),
            any::<u64>().prop_map(|m| f64::from_bits(m & 0x801f_ffff_ffff_ffff)),
            any::<i32>().prop_map(f64::from),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// The machine this runs on is the oracle for round-to-nearest-even.
        #[test]
        fn doubles_agree_with_the_processor(a in pattern64(), b in pattern64(), c in pattern64()) {
            let rne = Rounding::NearestEven;
            let (x, y, z) = (f64_bits(a), f64_bits(b), f64_bits(c));
            prop_assert_eq!(FloatBinOp::Add.apply(rne, &x, &y), f64_bits(a + b));
            prop_assert_eq!(FloatBinOp::Sub.apply(rne, &x, &y), f64_bits(a - b));
            prop_assert_eq!(FloatBinOp::Mul.apply(rne, &x, &y), f64_bits(a * b));
            prop_assert_eq!(FloatBinOp::Div.apply(rne, &x, &y), f64_bits(a / b));
            prop_assert_eq!(FloatUnOp::Sqrt.apply(rne, &x), f64_bits(a.sqrt()));
            prop_assert_eq!(FloatUnOp::Round.apply(rne, &x), f64_bits(a.round_ties_even()));
            prop_assert_eq!(FloatUnOp::Round.apply(Rounding::NearestAway, &x), f64_bits(a.round()));
            prop_assert_eq!(FloatUnOp::Round.apply(Rounding::Down, &x), f64_bits(a.floor()));
            prop_assert_eq!(FloatUnOp::Round.apply(Rounding::Up, &x), f64_bits(a.ceil()));
            prop_assert_eq!(FloatUnOp::Round.apply(Rounding::Zero, &x), f64_bits(a.trunc()));
            prop_assert_eq!(fused_multiply_add(rne, &x, &y, &z), f64_bits(a.mul_add(b, c)));
            prop_assert_eq!(FloatRelOp::Eq.apply(&x, &y), a == b);
            prop_assert_eq!(FloatRelOp::Lt.apply(&x, &y), a < b);
            prop_assert_eq!(FloatRelOp::Le.apply(&x, &y), a <= b);
            prop_assert_eq!(float_to_float(rne, &x, FloatFormat::F32), f32_bits(a as f32));
            prop_assert_eq!(float_to_int(true, Rounding::Zero, &x, 64), Bits::from_i128(64, i128::from(a as i64)));
            prop_assert_eq!(float_to_int(false, Rounding::Zero, &x, 32), Bits::new(32, u128::from(a as u32)));
        }

        #[test]
        fn singles_and_integers_agree_with_the_processor(a in any::<u32>(), b in any::<u32>(), n in any::<i64>()) {
            let rne = Rounding::NearestEven;
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let (x, y) = (f32_bits(a), f32_bits(b));
            prop_assert_eq!(FloatBinOp::Add.apply(rne, &x, &y), f32_bits(a + b));
            prop_assert_eq!(FloatBinOp::Div.apply(rne, &x, &y), f32_bits(a / b));
            prop_assert_eq!(FloatUnOp::Sqrt.apply(rne, &x), f32_bits(a.sqrt()));
            prop_assert_eq!(float_to_float(rne, &x, FloatFormat::F64), f64_bits(f64::from(a)));
            let integer = Bits::from_i128(64, i128::from(n));
            prop_assert_eq!(int_to_float(true, rne, &integer, FloatFormat::F64), f64_bits(n as f64));
            prop_assert_eq!(int_to_float(false, rne, &integer, FloatFormat::F32), f32_bits(n as u64 as f32));
        }

        /// A root rounded down and up brackets the number.
        #[test]
        fn directed_roots_bracket(a in any::<u64>()) {
            let a = f64::from_bits(a).abs();
            prop_assume!(a.is_finite());
            let wide = |bits: &Bits| float_to_float(Rounding::NearestEven, bits, FloatFormat::F128);
            let square = |bits: Bits| FloatBinOp::Mul.apply(Rounding::NearestEven, &wide(&bits), &wide(&bits));
            let x = f64_bits(a);
            prop_assert!(FloatRelOp::Le.apply(&square(FloatUnOp::Sqrt.apply(Rounding::Down, &x)), &wide(&x)));
            prop_assert!(FloatRelOp::Le.apply(&wide(&x), &square(FloatUnOp::Sqrt.apply(Rounding::Up, &x))));
        }
    }
}
