//! The meaning of intrinsics: which function each one is.

use crate::meaning::{MeaningError, bits, float, galois, vector};
use crate::{Intrinsic, Processor};
use parallax_op::Width;
use parallax_sem::Core;

/// The result, of `out` bits, of an intrinsic on arguments with their widths.
pub fn intrinsic<C: Core>(
    core: &C,
    processor: &Processor,
    call: Intrinsic,
    out: Width,
    args: &[(Width, C::Val)],
) -> Result<C::Val, MeaningError> {
    use Intrinsic::*;
    let arg = |index: usize| {
        args.get(index)
            .map(|(_, value)| value)
            .ok_or_else(|| MeaningError::IllFormed(format!("{call:?} lacks arguments")))
    };
    let width = |index: usize| args.get(index).map_or(0, |(width, _)| *width);
    let w = width(0);
    let bits_of = |lane: u8| u16::from(lane) * 8;
    // The control registers come after the operands.
    let sse = |at: usize| Ok::<_, MeaningError>(float::sse::Environment::new(core, arg(at)?));
    let x87 =
        |at: usize| Ok::<_, MeaningError>(float::x87::Unit::new(core, arg(at)?, arg(at + 1)?, arg(at + 2)?));
    Ok(match call {
        Lanes { op: crate::LaneOp::Blend, lane } => {
            vector::blend(core, w, bits_of(lane), arg(0)?, arg(1)?, arg(2)?)
        }
        Lanes { op, lane } => vector::lanes(core, op, w, bits_of(lane), arg(0)?, arg(1)?),
        LanesShifted { op, lane } => vector::shifted(core, op, w, bits_of(lane), arg(0)?, width(1), arg(1)?),
        Horizontal { op, lane } => vector::horizontal(core, op, w, bits_of(lane), arg(0)?, arg(1)?),
        MultiplyAdd => vector::multiply_add(core, w, arg(0)?, arg(1)?),
        MultiplyAddBytes => vector::multiply_add_bytes(core, w, arg(0)?, arg(1)?),
        SumAbsoluteDifferences => vector::sum_absolute_differences(core, w, arg(0)?, arg(1)?),
        SlidingDifferences { control } => vector::sliding_differences(core, control, arg(0)?, arg(1)?),
        Pack { lane, signed } => vector::pack(core, signed, w, bits_of(lane), arg(0)?, arg(1)?),
        Pick { lane, picks } => vector::pick(core, &picks, w, out, bits_of(lane), arg(0)?, arg(1)?),
        Shuffle => vector::shuffle(core, w, arg(0)?, arg(1)?),
        Permute { lane, low } => vector::permute(core, w, bits_of(lane), low.into(), arg(0)?, arg(1)?),
        MoveMask { lane } => vector::move_mask(core, w, out, bits_of(lane), arg(0)?),
        Widen { from, to, signed } => {
            vector::widen(core, signed, w, out, bits_of(from), bits_of(to), arg(0)?)
        }
        MinimumPosition => vector::minimum_position(core, arg(0)?),
        FloatLanes { op, lane } => sse(2)?.lanes(op, w, bits_of(lane), arg(0)?, arg(1)?)?,
        FloatAddSub { lane } => sse(2)?.add_sub(w, bits_of(lane), arg(0)?, arg(1)?)?,
        FloatHorizontal { op, lane } => sse(2)?.horizontal(op, w, bits_of(lane), arg(0)?, arg(1)?)?,
        FloatCompare { code, lane } => sse(2)?.compare(code, w, bits_of(lane), arg(0)?, arg(1)?)?,
        FloatOrder { strict } => sse(2)?.order(strict, w, arg(0)?, arg(1)?)?,
        FloatRound { mode, lane } => sse(1)?.round(mode, w, bits_of(lane), arg(0)?)?,
        FloatToInt { truncate, from, to } => {
            sse(1)?.to_int(truncate, w, bits_of(from), bits_of(to), arg(0)?)?
        }
        FloatFromInt { from, to } => sse(1)?.int_to_float(w, bits_of(from), bits_of(to), arg(0)?)?,
        FloatToFloat { from, to } => sse(1)?.to_float(w, bits_of(from), bits_of(to), arg(0)?)?,
        FloatDot { control, lane } => sse(2)?.dot(control, w, bits_of(lane), arg(0)?, arg(1)?)?,
        Ieee { op, dialect, rounding } => {
            let last = args.len().saturating_sub(1);
            float::ieee::Unit::new(core, dialect, rounding, arg(last)?).apply(op, &args[..last])?
        }
        FloatFused { negated, subtracts_even, subtracts_odd, lane } => {
            let signs = [subtracts_even, subtracts_odd];
            sse(3)?.fused(negated, signs, w, bits_of(lane), [arg(0)?, arg(1)?, arg(2)?])?
        }
        FloatEstimate { root } => float::estimate::estimates(core, root, w, arg(0)?)?,
        FloatToHalf { mode } => sse(1)?.to_half(mode, w, arg(0)?),
        Extended(op) => x87(2)?.arithmetic(op, (w, arg(0)?), (width(1), arg(1)?))?,
        ExtendedRound => x87(1)?.round(arg(0)?),
        ExtendedToInt { truncate } => x87(1)?.to_int(truncate, out - float::x87::ABOVE, arg(0)?),
        ExtendedToFloat => x87(1)?.to_float(out - float::x87::ABOVE, arg(0)?)?,
        ExtendedFromFloat => x87(1)?.widened(w, arg(0)?)?,
        ExtendedCompare { strict } => x87(2)?.compare(strict, (w, arg(0)?), (width(1), arg(1)?))?,
        ExtendedMove { on_top } => x87(1)?.moved(on_top, arg(0)?),
        ExtendedScale => x87(2)?.scale(arg(0)?, arg(1)?),
        ExtendedPart { exponent } => x87(1)?.part(exponent, arg(0)?),
        ExtendedRemainder { nearest } => x87(2)?.remainder(nearest, arg(0)?, arg(1)?),
        ExtendedFromDecimal => x87(1)?.decimal(arg(0)?),
        ExtendedToDecimal => x87(1)?.to_decimal(arg(0)?),
        ExtendedTranscendental(function) => x87(2)?.transcendental(function, arg(0)?, arg(1)?)?,
        Power(op) => {
            // The operands, FPSCR, MSR, and the old value of the target.
            let has_target = !matches!(op, crate::PowerOp::Compare { .. });
            let at = args.len().wrapping_sub(2 + usize::from(has_target));
            let status = float::power::Status::new(core, arg(at)?, width(at + 1), arg(at + 1)?);
            let operands: Vec<&C::Val> =
                args[..at].iter().chain(&args[at + 2..]).map(|(_, value)| value).collect();
            let result = status.apply(op, &operands);
            result.ok_or_else(|| MeaningError::IllFormed(format!("{call:?} lacks arguments")))?
        }
        PowerStatus => float::power::settle(core, arg(0)?),
        PowerExpand => float::power::expand(core, arg(0)?),
        PowerNarrow => float::power::narrow(core, arg(0)?),
        Crc32 => bits::crc32(core, arg(0)?, width(1), arg(1)?),
        CarrylessMultiply => bits::carryless_multiply(core, w, arg(0)?, arg(1)?),
        GaloisMultiply => galois::multiply(core, w, arg(0)?, arg(1)?),
        GaloisAffine { inverse, constant } => galois::transform(core, inverse, constant, w, arg(0)?, arg(1)?),
        Aes(step) => galois::aes(core, step, arg(0)?, arg(1)?),
        AesKeyAssist { constant } => galois::key_assist(core, constant, arg(1)?),
        DepositBits => bits::deposit(core, w, arg(0)?, arg(1)?),
        ExtractBits => bits::extract(core, w, arg(0)?, arg(1)?),
        StringCompare { control } => bits::string_compare(core, control, arg(0)?, arg(1)?, arg(2)?, arg(3)?),
        Cpuid => bits::cpuid(core, arg(0)?, arg(1)?),
        // XCR0: the x87 and SSE states are enabled, nothing else.
        ControlRegister => crate::meaning::value::constant(core, out, 3),
        TimeStamp => return Err(MeaningError::Outside("rdtsc")),
        Other(index) => {
            let name = processor.user_ops.get(usize::from(index)).filter(|name| !name.is_empty());
            // ARM tells the decoder which encoding comes next, which changes no register.
            if name.is_some_and(|name| name == "setISAMode") {
                return Ok(crate::meaning::value::constant(core, 8, 0));
            }
            return Err(MeaningError::Unknown(
                name.cloned().unwrap_or_else(|| format!("user operation {index}")),
            ));
        }
    })
}
