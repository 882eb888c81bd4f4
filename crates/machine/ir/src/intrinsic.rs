//! Functions that plain operations would spell too long: vector lanes, checksums, what the outside world answers.
//!
//! All but the last group are pure functions of their arguments. A vector is cut into lanes of `lane` bytes, lane 0 the
//! least significant, whatever the size of the vector.

use parallax_op::Rounding;

/// What happens to each pair of lanes of two vectors of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LaneOp {
    /// Sum, wrapping.
    Add,
    /// Difference, wrapping.
    Sub,
    /// Sum, signed, held at the ends of the range.
    AddSatSigned,
    /// Sum, unsigned, held at the ends of the range.
    AddSatUnsigned,
    /// Difference, signed, held at the ends of the range.
    SubSatSigned,
    /// Difference, unsigned, held at the ends of the range.
    SubSatUnsigned,
    /// Low half of the product.
    MulLow,
    /// High half of the signed product.
    MulHighSigned,
    /// High half of the unsigned product.
    MulHighUnsigned,
    /// Signed product, scaled by its width less one and rounded (`pmulhrsw`).
    MulHighRounded,
    /// Unsigned product of the low halves of the lanes (`pmuludq`).
    MulHalvesUnsigned,
    /// Signed product of the low halves of the lanes (`pmuldq`).
    MulHalvesSigned,
    /// Unsigned average, rounded up.
    Average,
    /// Signed minimum.
    MinSigned,
    /// Unsigned minimum.
    MinUnsigned,
    /// Signed maximum.
    MaxSigned,
    /// Unsigned maximum.
    MaxUnsigned,
    /// All ones where equal, zero elsewhere.
    CmpEq,
    /// All ones where signed greater, zero elsewhere.
    CmpGtSigned,
    /// The first, negated where the second is negative, zero where it is zero (`psign`).
    Sign,
    /// The absolute value of the second; the first is ignored.
    Abs,
    /// The second where the mask in the third argument has its sign set, else the first.
    Blend,
    /// The first shifted left by the second; a distance of the lane's width or more shifts everything out.
    ShiftLeft,
    /// The same to the right, zeros come in.
    ShiftRight,
    /// The same to the right, copies of the sign come in.
    ShiftRightSigned,
}

/// The direction of a shift of all lanes by one distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LaneShift {
    /// Left.
    Left,
    /// Right, zeros come in.
    Right,
    /// Right, copies of the sign come in.
    RightSigned,
}

/// Float arithmetic. As SSE does it, the first operand that is not a number wins, made quiet; an invalid operation
/// gives the negative quiet default; minimum and maximum give the second operand unless the comparison says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ScalarOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Square root of the second argument; the first is ignored.
    Sqrt,
}

/// A float function of PowerPC on 64-bit registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PowerOp {
    /// Two operands; a root is that of the second.
    Arithmetic {
        /// The operation on each element.
        op: ScalarOp,
        /// Rounded to a single.
        single: bool,
    },
    /// The first operand times the second, plus the third, rounded once.
    Fused {
        /// Minus the third.
        subtract: bool,
        /// With the other sign afterwards.
        negate: bool,
        /// Rounded to a single.
        single: bool,
    },
    /// How two floats are ordered: less, greater, equal, unordered from bit 3 down. It has no target register.
    Compare {
        /// Whether every operand that is not a number is invalid, and not just those that signal.
        ordered: bool,
    },
    /// Rounded to a single.
    ToSingle,
    /// To an integer.
    ToInt {
        /// Of 32 bits, else of 64.
        word: bool,
        /// Whether it is signed.
        signed: bool,
        /// Toward zero, else as FPSCR says.
        truncate: bool,
    },
    /// From an integer of 64 bits.
    FromInt {
        /// Whether it is signed.
        signed: bool,
        /// Rounded to a single.
        single: bool,
    },
    /// To an integral float.
    Integral(parallax_op::Rounding),
    /// An estimate of one over the operand.
    Reciprocal,
    /// An estimate of one over the root of the operand.
    ReciprocalRoot,
}

/// A function of the x87 that no formula describes. Where there are two operands, the first is the top of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Transcendental {
    /// Sine.
    Sine,
    /// Cosine.
    Cosine,
    /// Tangent.
    Tangent,
    /// The angle of the point with the first operand as abscissa and the second as ordinate.
    ArcTangent,
    /// Two to the power of the operand, less one.
    PowerMinusOne,
    /// The second operand times the binary logarithm of the first.
    TimesLogarithm,
    /// The second operand times the binary logarithm of one more than the first.
    TimesLogarithmOfOneMore,
}

impl Transcendental {
    /// Whether it has two operands.
    pub fn has_two(self) -> bool {
        use Transcendental::*;
        matches!(self, ArcTangent | TimesLogarithm | TimesLogarithmOfOneMore)
    }
}

/// Whose rules for what is not a number, for what is tiny, and for what does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Dialect {
    /// ARM, 32-bit and 64-bit.
    Arm,
    /// RISC-V.
    RiscV,
    /// MIPS before its 2008 revision of what is not a number.
    Mips,
}

/// A float operation with its mode as a last operand and what it raises above its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IeeeOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Product, two where it would be infinity times zero (`fmulx`).
    MulExtended,
    /// Quotient.
    Div,
    /// Square root.
    Sqrt,
    /// First times second plus third, rounded once.
    Fused,
    /// Two less the product (`frecps`).
    ReciprocalStep,
    /// Half of three less the product (`frsqrts`).
    RootStep,
    /// The larger one.
    Max {
        /// A number wins against what is none.
        number: bool,
    },
    /// The smaller one.
    Min {
        /// A number wins against what is none.
        number: bool,
    },
    /// Bit 0 less, bit 1 equal, bit 2 not comparable.
    Compare {
        /// Whether every operand that is not a number is invalid, and not just those that signal.
        strict: bool,
    },
    /// To an integral float.
    Round {
        /// Whether it says what is inexact.
        exact: bool,
    },
    /// To an integer, after multiplication with a power of two.
    ToInt {
        /// Signed?
        signed: bool,
        /// The exponent of the power.
        fraction: u8,
        /// Bytes of the integer.
        to: u8,
    },
    /// From an integer, before division by a power of two.
    FromInt {
        /// Signed?
        signed: bool,
        /// The exponent of the power.
        fraction: u8,
        /// Bytes of the float.
        to: u8,
    },
    /// To another format.
    ToFloat {
        /// Bytes of the result.
        to: u8,
    },
}

/// A step of AES.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AesStep {
    /// A round of encryption.
    Encrypt,
    /// The last round of encryption.
    EncryptLast,
    /// A round of decryption.
    Decrypt,
    /// The last round of decryption.
    DecryptLast,
    /// The columns of the second argument, a key, mixed back.
    InverseMixColumns,
}

/// A function by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// `out[i] = op(a[i], b[i])`
    Lanes {
        /// The operation on each lane.
        op: LaneOp,
        /// Bytes per lane.
        lane: u8,
    },
    /// `out[i] = a[i] shifted by n`; a distance of the lane's width or more shifts everything out.
    LanesShifted {
        /// The direction of the shift, and what fills it.
        op: LaneShift,
        /// Bytes per lane.
        lane: u8,
    },
    /// `out[i] = a[2i] op a[2i+1]`, then the same of `b`, for `Add`, `Sub` and their signed saturating forms.
    Horizontal {
        /// The operation on each lane.
        op: LaneOp,
        /// Bytes per lane.
        lane: u8,
    },
    /// Sums of products of neighbours: of signed lanes with signed (`pmaddwd`).
    MultiplyAdd,
    /// Sums of products of neighbours: unsigned bytes with signed bytes, saturating (`pmaddubsw`).
    MultiplyAddBytes,
    /// Sums of absolute differences of groups of eight bytes (`psadbw`).
    SumAbsoluteDifferences,
    /// Sums of absolute differences at sliding offsets (`mpsadbw`).
    SlidingDifferences {
        /// The immediate.
        control: u8,
    },
    /// Lanes of `a`, then of `b`, cut to half their size: signed in, saturating.
    Pack {
        /// Bytes per lane before.
        lane: u8,
        /// Whether the result is signed.
        signed: bool,
    },
    /// `out[i]` is lane `picks[i]` of `a` followed by `b`; 0xff picks zero.
    Pick {
        /// Bytes per lane.
        lane: u8,
        /// The byte that each place takes.
        picks: [u8; 16],
    },
    /// Bytes of `a` chosen by the bytes of `b`; a set top bit gives zero (`pshufb`).
    Shuffle,
    /// `out[i]` is the lane of `a` whose number stands in lane `i` of `b` from bit `low` on (`vpermd`).
    Permute {
        /// Bytes per lane.
        lane: u8,
        /// The lowest bit of a number.
        low: u8,
    },
    /// The sign of each lane, lane 0 in bit 0.
    MoveMask {
        /// Bytes per lane.
        lane: u8,
    },
    /// Each lane of the low part of `a` made twice, four or eight times as wide.
    Widen {
        /// Bytes before.
        from: u8,
        /// Bytes after.
        to: u8,
        /// Copies of the sign above?
        signed: bool,
    },
    /// The least unsigned 16-bit lane and, above it, its index (`phminposuw`).
    MinimumPosition,
    /// `out[i] = op(a[i], b[i])` on floats, as SSE does it.
    ///
    /// This and the other `Float` functions that SSE has take MXCSR after their operands, and give more than a value:
    /// above it, in four bytes, MXCSR afterwards; above that, in one byte, whether an exception that is not masked
    /// stops the instruction.
    FloatLanes {
        /// The operation on each element.
        op: ScalarOp,
        /// Bytes per lane.
        lane: u8,
    },
    /// `out[2i] = a[2i] - b[2i]`, `out[2i+1] = a[2i+1] + b[2i+1]` on floats.
    FloatAddSub {
        /// Bytes per lane.
        lane: u8,
    },
    /// In each 16 bytes `out[i] = a[2i] op a[2i+1]`, then the same of `b`, on floats.
    FloatHorizontal {
        /// `Add` or `Sub`.
        op: ScalarOp,
        /// Bytes per lane.
        lane: u8,
    },
    /// All ones where AVX's predicate `code` (0 to 31; SSE has the first eight) holds between floats, zero elsewhere.
    FloatCompare {
        /// Predicate.
        code: u8,
        /// Bytes per lane.
        lane: u8,
    },
    /// How two floats are ordered: bit 0 less or unordered, bit 1 equal or unordered, bit 2 unordered.
    FloatOrder {
        /// Whether every operand that is not a number is invalid, and not just those that signal.
        strict: bool,
    },
    /// Floats to integral floats; `mode` is the immediate of `roundss`: 0 nearest, 1 down, 2 up, 3 toward zero, 4 as
    /// MXCSR says; 8 more to be silent about what is inexact.
    FloatRound {
        /// Rounding.
        mode: u8,
        /// Bytes per lane.
        lane: u8,
    },
    /// Floats to signed integers as SSE does it: the most negative integer when it does not fit.
    FloatToInt {
        /// Toward zero, else as MXCSR says.
        truncate: bool,
        /// Bytes of a float.
        from: u8,
        /// Bytes of an integer.
        to: u8,
    },
    /// Signed integers to floats.
    FloatFromInt {
        /// Bytes of an integer.
        from: u8,
        /// Bytes of a float.
        to: u8,
    },
    /// Floats to another format as SSE does it: the payload of what is not a number is kept, made quiet.
    FloatToFloat {
        /// Bytes before.
        from: u8,
        /// Bytes after.
        to: u8,
    },
    /// Dot product of floats (`dpps`, `dppd`).
    FloatDot {
        /// The immediate.
        control: u8,
        /// Bytes per lane.
        lane: u8,
    },
    /// A float operation under the mode in its last argument, a byte; in the byte above the value is what it raised.
    /// Both are laid out as in the module of its meaning.
    Ieee {
        /// The operation.
        op: IeeeOp,
        /// By whose rules.
        dialect: Dialect,
        /// The rounding mode, where the instruction names it.
        rounding: Option<Rounding>,
    },
    /// `out[i] = a[i] * b[i] + c[i]` on floats, rounded once.
    FloatFused {
        /// The product with its sign changed.
        negated: bool,
        /// In even lanes the difference.
        subtracts_even: bool,
        /// In odd lanes the difference.
        subtracts_odd: bool,
        /// Bytes per lane.
        lane: u8,
    },
    /// The reciprocal of each single, or of its square root, within 1.5 * 2^-12. The symbolic reading knows it on constants
    /// only.
    FloatEstimate {
        /// Of the square root.
        root: bool,
    },
    /// Singles to halves; `mode` is the immediate of `vcvtps2ph`, as that of `roundss`.
    FloatToHalf {
        /// Rounding.
        mode: u8,
    },
    /// x87 arithmetic on 80-bit floats, one of which may be given in a narrower format.
    ///
    /// This and the other `Extended` functions take after their operands the control word, the status word, and a byte
    /// that says whether an operand is in an empty register. Above the value they give the status word afterwards
    /// (two bytes), the condition codes (one byte, C0 lowest), and whether an exception that is not masked keeps the
    /// instruction from having any other effect (one byte).
    Extended(ScalarOp),
    /// An 80-bit float to an integral one.
    ExtendedRound,
    /// An 80-bit float to a signed integer; the most negative integer when it does not fit.
    ExtendedToInt {
        /// Toward zero, else as the control word says.
        truncate: bool,
    },
    /// An 80-bit float to a narrower one.
    ExtendedToFloat,
    /// A narrower float to an 80-bit one, on top of the stack: the byte says whether the register that it is to go to
    /// is not empty.
    ExtendedFromFloat,
    /// Two 80-bit floats compared; the answer is in the condition codes, the value is nothing.
    ExtendedCompare {
        /// Whether every operand that is not a number is invalid, and not just those that signal.
        strict: bool,
    },
    /// An 80-bit float as it is, unless the register that it comes from is empty, or the one that it goes to is not.
    ExtendedMove {
        /// Whether it goes on top of the stack, and the byte says that there is something.
        on_top: bool,
    },
    /// The first 80-bit float times two to the power of the second, cut to an integer.
    ExtendedScale,
    /// The exponent of an 80-bit float as a float, or its significand.
    ExtendedPart {
        /// The exponent.
        exponent: bool,
    },
    /// The remainder of a division, or a step towards it (C2); the low bits of the quotient are in C1, C3 and C0.
    ExtendedRemainder {
        /// To the nearest quotient, else to the one cut off.
        nearest: bool,
    },
    /// Eighteen decimal digits and a sign as an 80-bit float, on top of the stack.
    ExtendedFromDecimal,
    /// An 80-bit float as eighteen decimal digits and a sign.
    ExtendedToDecimal,
    /// A function within one unit in the last place. The symbolic reading knows it on constants only.
    ExtendedTranscendental(Transcendental),
    /// A float function under FPSCR.
    ///
    /// It takes FPSCR, MSR and, but for comparisons, the target's old value after its operands, and gives more than a
    /// value: above it, in four bytes, FPSCR afterwards; above that, in one byte, whether an enabled exception stops
    /// the instruction.
    Power(PowerOp),
    /// FPSCR with its summaries of the exceptions in place.
    PowerStatus,
    /// A single in memory as a double in a register of PowerPC.
    PowerExpand,
    /// A double in a register of PowerPC as a single in memory.
    PowerNarrow,
    /// CRC-32C of the second argument on top of the first.
    Crc32,
    /// Product of two polynomials over the field of two elements.
    CarrylessMultiply,
    /// Each byte of `a` times that of `b` in the field of 256 elements that AES uses.
    GaloisMultiply,
    /// Each byte of `a` through the matrix of bits in its eight bytes of `b`.
    GaloisAffine {
        /// The inverses instead of the bytes.
        inverse: bool,
        /// Added to each.
        constant: u8,
    },
    /// A step on a block and a key.
    Aes(AesStep),
    /// What the key schedule of AES needs of the second argument (`aeskeygenassist`).
    AesKeyAssist {
        /// The constant of the round.
        constant: u8,
    },
    /// Bits of `a` placed where the mask `b` has ones.
    DepositBits,
    /// Bits of `a` where the mask `b` has ones, moved together.
    ExtractBits,
    /// String comparison of SSE4.2: `a`, `b`, their lengths in lanes; the result is the mask before an index is made.
    StringCompare {
        /// The immediate.
        control: u8,
    },
    /// What `cpuid` answers to leaf and subleaf: EAX, EBX, ECX, EDX from the lowest bits up.
    Cpuid,
    /// The time stamp counter; only the outside knows.
    TimeStamp,
    /// An extended control register; the argument is its number.
    ControlRegister,
    /// An operation that the specification names and leaves without meaning: an index into
    /// [`crate::Processor::user_ops`].
    Other(u16),
}
