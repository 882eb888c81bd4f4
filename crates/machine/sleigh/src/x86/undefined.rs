//! Flags that the processor manual leaves undefined after an instruction, and which comparisons therefore leave out.

use iced_x86::{Instruction as Decoded, Mnemonic, OpKind};

const CF: u32 = 1;
const PF: u32 = 1 << 2;
const AF: u32 = 1 << 4;
const ZF: u32 = 1 << 6;
const SF: u32 = 1 << 7;
const OF: u32 = 1 << 11;

/// The undefined flags, as bits of the flags register, when the count register CL holds `cl` beforehand.
pub fn undefined_flags(d: &Decoded, cl: u8) -> u32 {
    use Mnemonic::*;
    match d.mnemonic() {
        And | Or | Xor | Test => AF,
        Aaa | Aas => OF | SF | ZF | PF,
        Aam | Aad => OF | AF | CF,
        Daa | Das => OF,
        Andn | Bzhi => AF | PF,
        Bextr => AF | PF | SF,
        Blsi | Blsr | Blsmsk => AF | PF,
        Mul | Imul => SF | ZF | AF | PF,
        Div | Idiv => CF | OF | SF | ZF | AF | PF,
        Bt | Bts | Btr | Btc => OF | SF | AF | PF,
        Bsf | Bsr => CF | OF | SF | AF | PF,
        Tzcnt | Lzcnt => OF | SF | AF | PF,
        Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr => {
            let (count, width) = count(d, 1, cl);
            let rotates = matches!(d.mnemonic(), Rol | Ror | Rcl | Rcr);
            let mut undefined = match count {
                0 => return 0,
                1 => 0,
                _ => OF,
            };
            if !rotates {
                undefined |= AF;
                // Nothing of the operand is left to carry.
                if count > width && !matches!(d.mnemonic(), Sar) {
                    undefined |= CF;
                }
            }
            undefined
        }
        Shld | Shrd => {
            let (count, width) = count(d, 2, cl);
            match count {
                0 => 0,
                1 => AF,
                _ if count > width => CF | OF | SF | ZF | AF | PF,
                _ => AF | OF,
            }
        }
        _ => 0,
    }
}

/// Whether the result itself is undefined: a double shift of 16 bits by more than 16.
pub fn undefined_result(d: &Decoded, cl: u8) -> bool {
    matches!(d.mnemonic(), Mnemonic::Shld | Mnemonic::Shrd) && {
        let (count, width) = count(d, 2, cl);
        count > width
    }
}

fn count(d: &Decoded, index: u32, cl: u8) -> (u32, u32) {
    let width = match d.op0_kind() {
        OpKind::Register => d.op0_register().size(),
        _ => d.memory_size().size(),
    } as u32
        * 8;
    let raw = match d.op_kind(index) {
        OpKind::Register => u64::from(cl),
        _ => d.immediate(index),
    };
    ((raw as u32) & if width == 64 { 63 } else { 31 }, width)
}

/// The x87 condition codes that are undefined after an instruction, as bits of the status word.
pub fn undefined_codes(d: &Decoded) -> u16 {
    use Mnemonic::*;
    const C0: u16 = 1 << 8;
    const C1: u16 = 1 << 9;
    const C2: u16 = 1 << 10;
    const C3: u16 = 1 << 14;
    match d.mnemonic() {
        Fcom | Fcomp | Fcompp | Fucom | Fucomp | Fucompp | Ficom | Ficomp | Ftst | Fxam => 0,
        // The quotient's bits are there if it is complete.
        Fprem | Fprem1 => 0,
        // Whether they were rounded up is as open as where to; out of range is C2.
        Fsin | Fcos | Fsincos | Fptan => C0 | C1 | C3,
        Fpatan | F2xm1 | Fyl2x | Fyl2xp1 => C0 | C1 | C2 | C3,
        Fninit | Fnsave | Fldenv | Frstor | Fxrstor | Fxrstor64 => 0,
        Fnclex | Ffree | Fnop | Fldcw | Fnstcw | Fnstsw | Fnstenv | Wait => C0 | C1 | C2 | C3,
        _ => C0 | C2 | C3,
    }
}

/// Whether the manual promises the result within one unit in the last place only.
pub fn is_approximate(d: &Decoded) -> bool {
    use Mnemonic::*;
    matches!(d.mnemonic(), Fsin | Fcos | Fsincos | Fptan | Fpatan | F2xm1 | Fyl2x | Fyl2xp1)
}

/// Whether the manual promises each single of the result within 1.5 * 2^-12 of the truth only.
pub fn is_estimate(d: &Decoded) -> bool {
    use Mnemonic::*;
    matches!(d.mnemonic(), Rcpss | Rcpps | Rsqrtss | Rsqrtps | Vrcpss | Vrcpps | Vrsqrtss | Vrsqrtps)
}

/// Whether the manual leaves the result open because the top of the x87 stack is outside the function's domain.
pub fn is_out_of_domain(d: &Decoded, top: u128) -> bool {
    let magnitude = top & ((1 << 79) - 1);
    match d.mnemonic() {
        Mnemonic::F2xm1 => magnitude > 0x3fff << 64 | 1 << 63,
        // One less half the root of two.
        Mnemonic::Fyl2xp1 => magnitude > 0x3ffd_95f6_1998_0c43_36f7,
        _ => false,
    }
}
