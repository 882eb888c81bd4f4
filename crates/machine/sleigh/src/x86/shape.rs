//! What an instruction does, apart from where it stands.
//!
//! Programs are made of few instructions that come again and again at other addresses: of a hundred thousand in a row
//! about ten thousand differ. So who lifts many of them wants to know, before lifting, whether two are the same but for
//! the addresses in them, which are two: the one behind the instruction, and the one that it names relative to that.

use crate::x86::lift::{Answer, Overrides};
use iced_x86::{Decoder, DecoderOptions, Instruction as Decoded, OpKind};
use parallax_ir::Instruction;

/// An instruction, decoded but not lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The same for instructions that differ only in their addresses: the bytes without the distance to a place, and how
    /// many they are.
    pub key: u128,
    /// How many bytes it has.
    pub length: u8,
    /// The address that it names by its distance, if it names one.
    pub target: Option<u64>,
}

/// An instruction lifted at a place of no importance.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What it is there.
    pub instruction: Instruction,
    /// The address behind it.
    pub next: u64,
    /// The address that it names by its distance, if it names one.
    pub target: Option<u64>,
}

/// Addresses behind two samples, and distances that fit into one byte and into four. What is derived from an address is
/// another number in the second sample: of the first all addresses are multiples of 64, of the second all are odd.
const BEHIND: [u64; 2] = [0x2b51_7c93_d48a_6e00, 0x6e1f_08a7_3c58_b24d];
const NEAR: [u8; 2] = [0x40, 0x5a];
const FAR: [u32; 2] = [0x0135_7900, 0x7a5c_31e6];

impl Overrides {
    /// The instruction at `address`, where `bytes` begin, decoded only; none if they are none of 64-bit code.
    pub fn shape(&self, address: u64, bytes: &[u8]) -> Option<Shape> {
        if self.bits != 64 {
            return None;
        }
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let decoded = decoder.decode();
        if decoded.is_invalid() {
            return None;
        }
        let length = decoded.len();
        let mut kept = [0; 16];
        kept[..length].copy_from_slice(&bytes[..length]);
        let distance = distance(&decoder, &decoded);
        if let Some((range, _)) = &distance {
            kept[range.clone()].fill(0);
        }
        // No instruction has sixteen bytes.
        kept[15] = length as u8;
        let target = distance.map(|(_, target)| target);
        Some(Shape { key: u128::from_le_bytes(kept), length: length as u8, target })
    }

    /// The instruction that `bytes` begin with, lifted at two places, and with two distances if it has one: where the two
    /// differ, they differ by their addresses. None if it cannot be lifted.
    pub fn samples(&self, bytes: &[u8]) -> Option<[Sample; 2]> {
        let mut decoder = Decoder::with_ip(self.bits, bytes, 0, DecoderOptions::NONE);
        let decoded = decoder.decode();
        let distance = distance(&decoder, &decoded).map(|(range, _)| range);
        let sample = |index: usize| {
            let mut bytes = bytes.get(..decoded.len())?.to_vec();
            if let Some(range) = distance.clone() {
                match bytes.get_mut(range)? {
                    [only] => *only = NEAR[index],
                    four if four.len() == 4 => four.copy_from_slice(&FAR[index].to_le_bytes()),
                    _ => return None,
                }
            }
            let address = BEHIND[index] - decoded.len() as u64;
            let target = self.shape(address, &bytes)?.target;
            let Answer::Lifted(instruction) = self.lift(address, &bytes) else { return None };
            Some(Sample { next: instruction.next(), instruction, target })
        };
        Some([sample(0)?, sample(1)?])
    }
}

/// Which bytes hold the distance from the instruction to a place, and the place.
fn distance(decoder: &Decoder, decoded: &Decoded) -> Option<(std::ops::Range<usize>, u64)> {
    let near =
        matches!(decoded.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    if !near && !decoded.is_ip_rel_memory_operand() {
        return None;
    }
    let offsets = decoder.get_constant_offsets(decoded);
    let (at, size, place) = if near {
        (offsets.immediate_offset(), offsets.immediate_size(), decoded.near_branch_target())
    } else {
        (offsets.displacement_offset(), offsets.displacement_size(), decoded.ip_rel_memory_address())
    };
    Some((at..at + size, place))
}
