//! Integer operations on the lanes of 16-byte vectors, as the host's compiler makes them: C libraries search and copy
//! strings with these.
//!
//! Their meaning is the one in `parallax_ir`, which takes a vector apart lane by lane and asks the semantic core about
//! each; here the same functions are written on Rust's own integers, for which the compiler has vector instructions.
//! The random blocks of the tests hold the two against each other.

use super::general::General;
use super::micro::{Micro, Run, World};
use parallax_ir::{Intrinsic, LaneOp, LaneShift};
use std::arch::x86_64::{__m128i, _mm_castsi128_pd, _mm_castsi128_ps, _mm_loadu_si128};
use std::arch::x86_64::{_mm_movemask_epi8, _mm_movemask_pd, _mm_movemask_ps};

/// Bytes of the vectors that are treated here.
const BYTES: usize = 16;

/// The value at a place of the file.
#[inline(always)]
unsafe fn get<T: Copy>(file: *mut u8, at: u16) -> T {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { file.add(usize::from(at)).cast::<T>().read_unaligned() }
}

#[inline(always)]
unsafe fn set<T: Copy>(file: *mut u8, at: u16, value: T) {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { file.add(usize::from(at)).cast::<T>().write_unaligned(value) }
}

#[inline(always)]
unsafe fn next(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let next = op.add(1);
        ((*next).run)(next, file, world)
    }
}

/// `out[i] = value(a[i], b[i])`
macro_rules! pairs {
    ($($name:ident $lane:ty: |$a:ident, $b:ident| $value:expr;)+) => {$(
        unsafe fn $name(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
            type Lanes = [$lane; BYTES / size_of::<$lane>()];
            // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
            unsafe {
                let (a, b) = (get::<Lanes>(file, (*op).a), get::<Lanes>(file, (*op).b));
                let out: Lanes = std::array::from_fn(|index| {
                    let ($a, $b) = (a[index], b[index]);
                    $value
                });
                set(file, (*op).out, out);
                next(op, file, world)
            }
        }
    )+};
}

pairs! {
    add1 u8: |a, b| a.wrapping_add(b); add2 u16: |a, b| a.wrapping_add(b);
    add4 u32: |a, b| a.wrapping_add(b); add8 u64: |a, b| a.wrapping_add(b);
    sub1 u8: |a, b| a.wrapping_sub(b); sub2 u16: |a, b| a.wrapping_sub(b);
    sub4 u32: |a, b| a.wrapping_sub(b); sub8 u64: |a, b| a.wrapping_sub(b);
    add_held_signed1 i8: |a, b| a.saturating_add(b); add_held_signed2 i16: |a, b| a.saturating_add(b);
    add_held1 u8: |a, b| a.saturating_add(b); add_held2 u16: |a, b| a.saturating_add(b);
    sub_held_signed1 i8: |a, b| a.saturating_sub(b); sub_held_signed2 i16: |a, b| a.saturating_sub(b);
    sub_held1 u8: |a, b| a.saturating_sub(b); sub_held2 u16: |a, b| a.saturating_sub(b);
    low2 u16: |a, b| a.wrapping_mul(b); low4 u32: |a, b| a.wrapping_mul(b);
    high_signed2 i16: |a, b| ((i32::from(a) * i32::from(b)) >> 16) as i16;
    high2 u16: |a, b| ((u32::from(a) * u32::from(b)) >> 16) as u16;
    halves8 u64: |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff);
    average1 u8: |a, b| ((u16::from(a) + u16::from(b) + 1) >> 1) as u8;
    average2 u16: |a, b| ((u32::from(a) + u32::from(b) + 1) >> 1) as u16;
    least_signed1 i8: |a, b| a.min(b); least_signed2 i16: |a, b| a.min(b); least_signed4 i32: |a, b| a.min(b);
    least1 u8: |a, b| a.min(b); least2 u16: |a, b| a.min(b); least4 u32: |a, b| a.min(b);
    most_signed1 i8: |a, b| a.max(b); most_signed2 i16: |a, b| a.max(b); most_signed4 i32: |a, b| a.max(b);
    most1 u8: |a, b| a.max(b); most2 u16: |a, b| a.max(b); most4 u32: |a, b| a.max(b);
    equal1 u8: |a, b| if a == b { u8::MAX } else { 0 }; equal2 u16: |a, b| if a == b { u16::MAX } else { 0 };
    equal4 u32: |a, b| if a == b { u32::MAX } else { 0 }; equal8 u64: |a, b| if a == b { u64::MAX } else { 0 };
    greater1 i8: |a, b| if a > b { -1 } else { 0 }; greater2 i16: |a, b| if a > b { -1 } else { 0 };
    greater4 i32: |a, b| if a > b { -1 } else { 0 }; greater8 i64: |a, b| if a > b { -1 } else { 0 };
}

/// `out[i] = value(a[i], distance)`, the distance being eight bytes.
macro_rules! shifts {
    ($($name:ident $lane:ty: |$a:ident, $by:ident| $value:expr;)+) => {$(
        unsafe fn $name(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
            type Lanes = [$lane; BYTES / size_of::<$lane>()];
            // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
            unsafe {
                let (a, distance) = (get::<Lanes>(file, (*op).a), get::<u64>(file, (*op).b));
                let $by = distance.min(8 * size_of::<$lane>() as u64) as u32;
                let out: Lanes = a.map(|$a| $value);
                set(file, (*op).out, out);
                next(op, file, world)
            }
        }
    )+};
}

shifts! {
    left2 u16: |a, by| a.checked_shl(by).unwrap_or(0); left4 u32: |a, by| a.checked_shl(by).unwrap_or(0);
    left8 u64: |a, by| a.checked_shl(by).unwrap_or(0); right2 u16: |a, by| a.checked_shr(by).unwrap_or(0);
    right4 u32: |a, by| a.checked_shr(by).unwrap_or(0); right8 u64: |a, by| a.checked_shr(by).unwrap_or(0);
    right_signed2 i16: |a, by| a >> by.min(15); right_signed4 i32: |a, by| a >> by.min(31);
}

/// The signs of lanes of `LANE` bytes, as a number of type `T`.
unsafe fn signs<const LANE: usize, const WIDE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let a: __m128i = _mm_loadu_si128(file.add(usize::from((*op).a)).cast());
        let mask = match LANE {
            1 => _mm_movemask_epi8(a),
            4 => _mm_movemask_ps(_mm_castsi128_ps(a)),
            _ => _mm_movemask_pd(_mm_castsi128_pd(a)),
        };
        if WIDE {
            set(file, (*op).out, mask as u64);
        } else {
            set(file, (*op).out, mask as u32);
        }
        next(op, file, world)
    }
}

/// Lanes of both vectors by their numbers, which the operation's own description holds.
unsafe fn pick<T: Copy + Default, const LANES: usize>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        // The block that owns the operation owns what it points to.
        let general = &*((*op).constant as usize as *const General);
        let (a, b) = (get::<[T; LANES]>(file, (*op).a), get::<[T; LANES]>(file, (*op).b));
        if let Some(Intrinsic::Pick { picks, .. }) = general.intrinsic() {
            let out: [T; LANES] = std::array::from_fn(|index| match usize::from(picks[index]) {
                number if number < LANES => a[number],
                number if number < 2 * LANES => b[number - LANES],
                _ => T::default(),
            });
            set(file, (*op).out, out);
        }
        next(op, file, world)
    }
}

/// Bytes of the first vector by the bytes of the second.
unsafe fn shuffle(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (a, b) = (get::<[u8; BYTES]>(file, (*op).a), get::<[u8; BYTES]>(file, (*op).b));
        let out = b.map(|control| if control & 0x80 != 0 { 0 } else { a[usize::from(control) % BYTES] });
        set(file, (*op).out, out);
        next(op, file, world)
    }
}

/// What runs a function of the instruction language on operands of these sizes, if it is here.
pub fn find(call: Intrinsic, operands: &[u16], out: u16) -> Option<Run> {
    const WHOLE: u16 = BYTES as u16;
    Some(match (call, operands, out) {
        (Intrinsic::Lanes { op, lane }, [WHOLE, WHOLE], WHOLE) => pair(op, lane)?,
        (Intrinsic::LanesShifted { op, lane }, [WHOLE, 8], WHOLE) => match (op, lane) {
            (LaneShift::Left, 2) => left2,
            (LaneShift::Left, 4) => left4,
            (LaneShift::Left, 8) => left8,
            (LaneShift::Right, 2) => right2,
            (LaneShift::Right, 4) => right4,
            (LaneShift::Right, 8) => right8,
            (LaneShift::RightSigned, 2) => right_signed2,
            (LaneShift::RightSigned, 4) => right_signed4,
            _ => return None,
        },
        (Intrinsic::MoveMask { lane }, [WHOLE], 4 | 8) => match (lane, out) {
            (1, 4) => signs::<1, false>,
            (1, 8) => signs::<1, true>,
            (4, 4) => signs::<4, false>,
            (4, 8) => signs::<4, true>,
            (8, 4) => signs::<8, false>,
            (8, 8) => signs::<8, true>,
            _ => return None,
        },
        (Intrinsic::Pick { lane, .. }, [WHOLE, WHOLE], WHOLE) => match lane {
            1 => pick::<u8, 16>,
            2 => pick::<u16, 8>,
            4 => pick::<u32, 4>,
            8 => pick::<u64, 2>,
            _ => return None,
        },
        (Intrinsic::Shuffle, [WHOLE, WHOLE], WHOLE) => shuffle,
        _ => return None,
    })
}

fn pair(op: LaneOp, lane: u8) -> Option<Run> {
    Some(match (op, lane) {
        (LaneOp::Add, 1) => add1,
        (LaneOp::Add, 2) => add2,
        (LaneOp::Add, 4) => add4,
        (LaneOp::Add, 8) => add8,
        (LaneOp::Sub, 1) => sub1,
        (LaneOp::Sub, 2) => sub2,
        (LaneOp::Sub, 4) => sub4,
        (LaneOp::Sub, 8) => sub8,
        (LaneOp::AddSatSigned, 1) => add_held_signed1,
        (LaneOp::AddSatSigned, 2) => add_held_signed2,
        (LaneOp::AddSatUnsigned, 1) => add_held1,
        (LaneOp::AddSatUnsigned, 2) => add_held2,
        (LaneOp::SubSatSigned, 1) => sub_held_signed1,
        (LaneOp::SubSatSigned, 2) => sub_held_signed2,
        (LaneOp::SubSatUnsigned, 1) => sub_held1,
        (LaneOp::SubSatUnsigned, 2) => sub_held2,
        (LaneOp::MulLow, 2) => low2,
        (LaneOp::MulLow, 4) => low4,
        (LaneOp::MulHighSigned, 2) => high_signed2,
        (LaneOp::MulHighUnsigned, 2) => high2,
        (LaneOp::MulHalvesUnsigned, 8) => halves8,
        (LaneOp::Average, 1) => average1,
        (LaneOp::Average, 2) => average2,
        (LaneOp::MinSigned, 1) => least_signed1,
        (LaneOp::MinSigned, 2) => least_signed2,
        (LaneOp::MinSigned, 4) => least_signed4,
        (LaneOp::MinUnsigned, 1) => least1,
        (LaneOp::MinUnsigned, 2) => least2,
        (LaneOp::MinUnsigned, 4) => least4,
        (LaneOp::MaxSigned, 1) => most_signed1,
        (LaneOp::MaxSigned, 2) => most_signed2,
        (LaneOp::MaxSigned, 4) => most_signed4,
        (LaneOp::MaxUnsigned, 1) => most1,
        (LaneOp::MaxUnsigned, 2) => most2,
        (LaneOp::MaxUnsigned, 4) => most4,
        (LaneOp::CmpEq, 1) => equal1,
        (LaneOp::CmpEq, 2) => equal2,
        (LaneOp::CmpEq, 4) => equal4,
        (LaneOp::CmpEq, 8) => equal8,
        (LaneOp::CmpGtSigned, 1) => greater1,
        (LaneOp::CmpGtSigned, 2) => greater2,
        (LaneOp::CmpGtSigned, 4) => greater4,
        (LaneOp::CmpGtSigned, 8) => greater8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::micro;
    use crate::execute::node::{Input, Slot};
    use crate::memory::Memory;
    use crate::registers::Registers;
    use parallax_ir::{Op, Varnode};
    use parallax_silicon::random::Random;
    use parallax_sleigh::{Language, Lifter};

    /// Every function that may be here, with the sizes of its operands and of its result.
    fn all(random: &mut Random) -> Vec<(Intrinsic, Vec<u16>, u16)> {
        use LaneOp::*;
        let pairs = [
            Add,
            Sub,
            AddSatSigned,
            AddSatUnsigned,
            SubSatSigned,
            SubSatUnsigned,
            MulLow,
            MulHighSigned,
            MulHighUnsigned,
            MulHighRounded,
            MulHalvesUnsigned,
            MulHalvesSigned,
            Average,
            MinSigned,
            MinUnsigned,
            MaxSigned,
            MaxUnsigned,
            CmpEq,
            CmpGtSigned,
            Sign,
            Abs,
        ];
        let mut found = vec![(Intrinsic::Shuffle, vec![16, 16], 16)];
        for lane in [1, 2, 4, 8] {
            found.extend(pairs.map(|op| (Intrinsic::Lanes { op, lane }, vec![16, 16], 16)));
            for op in [LaneShift::Left, LaneShift::Right, LaneShift::RightSigned] {
                found.push((Intrinsic::LanesShifted { op, lane }, vec![16, 8], 16));
            }
            found.extend([4, 8].map(|out| (Intrinsic::MoveMask { lane }, vec![16], out)));
            let mut picks = [0; 16];
            picks.fill_with(|| match random.below(40) as u8 {
                pick if pick < 32 / lane => pick,
                _ => 0xff,
            });
            found.push((Intrinsic::Pick { lane, picks }, vec![16, 16], 16));
        }
        found
    }

    /// Bytes that are often equal, at the ends of their range, or small.
    fn operand(random: &mut Random, bytes: u16) -> Vec<u8> {
        let small = bytes == 8 && random.below(2) == 0;
        let byte = |random: &mut Random| match random.below(4) {
            0 => [0, 1, 0x7f, 0x80, 0xff][random.below(5) as usize],
            _ => random.number() as u8,
        };
        (0..bytes)
            .map(|index| if small && index > 0 { 0 } else { byte(random) >> (2 * u8::from(small)) })
            .collect()
    }

    #[test]
    fn functions_have_their_meaning() {
        let lifter = Lifter::new(Language::find("x86-64").expect("x86-64")).expect("its specification");
        let processor = lifter.processor().clone();
        let mut world = World::new(Memory::new(0, 0), Registers::new(processor.clone()));
        let mut random = Random::new(1);
        let mut here = 0;
        for round in 0..200 {
            for (call, sizes, out) in all(&mut random) {
                let Some(run) = find(call, &sizes, out) else { continue };
                here += u32::from(round == 0);
                let args: Vec<Varnode> = sizes
                    .iter()
                    .zip(0..)
                    .map(|(bytes, index)| Varnode::temporary(16 * index, *bytes))
                    .collect();
                let op = Op::Intrinsic { call, out: Some(Varnode::temporary(64, out)), args: args.into() };
                let places: Vec<Input> = sizes
                    .iter()
                    .zip(0..)
                    .map(|(bytes, index)| Input::Slot(Slot { at: 16 * index, size: *bytes }))
                    .collect();
                let general =
                    General::new(op, processor.clone(), &places, Some(Slot { at: 64, size: out }), 0);
                let mut file = [0u8; 128];
                for (index, bytes) in sizes.iter().enumerate() {
                    file[16 * index..][..usize::from(*bytes)].copy_from_slice(&operand(&mut random, *bytes));
                }
                let mut expected = file;
                // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
                unsafe { general.run(expected.as_mut_ptr(), &mut world.memory, 0) }
                    .expect("it has a meaning");
                let own = std::ptr::from_ref(&general) as u64;
                let first = Micro { run, out: 64, a: 0, b: 16, c: 32, constant: own };
                let last = Micro { run: micro::leave, out: 0, a: 0, b: 0, c: 0, constant: 0 };
                let code = [first, last];
                // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
                unsafe { run(code.as_ptr(), file.as_mut_ptr(), &mut world) };
                assert_eq!(file, expected, "{call:?}");
            }
        }
        assert!(here > 60, "only {here} functions were compared");
    }
}
