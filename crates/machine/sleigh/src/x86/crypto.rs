//! Instructions made for ciphers and checksums: AES, SHA, and arithmetic in the field of 256 elements.

use crate::x86::operand::Lift;
use crate::x86::packed::{control, first, halves, second};
use iced_x86::{Instruction as Decoded, Mnemonic, Register};
use parallax_ir::{AesStep, Intrinsic, Varnode};
use parallax_op::{BinOp, UnOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let call = match mnemonic {
        Aesenc => Intrinsic::Aes(AesStep::Encrypt),
        Aesenclast => Intrinsic::Aes(AesStep::EncryptLast),
        Aesdec => Intrinsic::Aes(AesStep::Decrypt),
        Aesdeclast => Intrinsic::Aes(AesStep::DecryptLast),
        Aesimc => Intrinsic::Aes(AesStep::InverseMixColumns),
        Aeskeygenassist => Intrinsic::AesKeyAssist { constant: control(d) },
        Gf2p8mulb => Intrinsic::GaloisMultiply,
        Gf2p8affineqb => Intrinsic::GaloisAffine { inverse: false, constant: control(d) },
        Gf2p8affineinvqb => Intrinsic::GaloisAffine { inverse: true, constant: control(d) },
        _ => return sha(l, d, mnemonic),
    };
    let bytes = l.size(d, 0);
    let (a, b) = (first(l, d), second(l, d, bytes));
    let result = halves(l, &[a, b], |l, _, both| l.b.call(call, 16, both));
    l.write(d, 0, result);
    true
}

/// The four words of a vector, the highest first, as the manual counts them.
fn words(vector: Varnode) -> [Varnode; 4] {
    [12, 8, 4, 0].map(|at| vector.slice(at, 4))
}

fn vector(l: &mut Lift, words: [Varnode; 4]) -> Varnode {
    let high = l.b.concat(words[0], words[1]);
    let low = l.b.concat(words[2], words[3]);
    l.b.concat(high, low)
}

fn left(l: &mut Lift, a: Varnode, distance: u64) -> Varnode {
    let up = l.b.bin_constant(BinOp::Shl, a, distance);
    let down = l.b.bin_constant(BinOp::Lshr, a, 32 - distance);
    l.b.bin(BinOp::Or, up, down)
}

fn sum(l: &mut Lift, all: &[Varnode]) -> Varnode {
    all[1..].iter().fold(all[0], |sum, next| l.b.bin(BinOp::Add, sum, *next))
}

fn xor(l: &mut Lift, all: &[Varnode]) -> Varnode {
    all[1..].iter().fold(all[0], |sum, next| l.b.bin(BinOp::Xor, sum, *next))
}

/// `a` turned right by two distances and, by the third, turned or shifted.
fn sigma(l: &mut Lift, a: Varnode, distances: [u64; 3], turns: bool) -> Varnode {
    let one = left(l, a, 32 - distances[0]);
    let two = left(l, a, 32 - distances[1]);
    let three =
        if turns { left(l, a, 32 - distances[2]) } else { l.b.bin_constant(BinOp::Lshr, a, distances[2]) };
    xor(l, &[one, two, three])
}

/// Bits of the second where the first has ones, of the third where it has zeros.
fn choose(l: &mut Lift, [b, c, d]: [Varnode; 3]) -> Varnode {
    let yes = l.b.bin(BinOp::And, b, c);
    let inverse = l.b.un(UnOp::Not, b);
    let no = l.b.bin(BinOp::And, inverse, d);
    l.b.bin(BinOp::Xor, yes, no)
}

/// What at least two of three have.
fn majority(l: &mut Lift, [b, c, d]: [Varnode; 3]) -> Varnode {
    let pairs = [(b, c), (b, d), (c, d)].map(|(x, y)| l.b.bin(BinOp::And, x, y));
    xor(l, &pairs)
}

fn sha(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    if !matches!(
        mnemonic,
        Sha1nexte | Sha1msg1 | Sha1msg2 | Sha1rnds4 | Sha256rnds2 | Sha256msg1 | Sha256msg2
    ) {
        return false;
    }
    let b = second(l, d, 16);
    let a = first(l, d);
    let (s, t) = (words(a), words(b));
    let result = match mnemonic {
        Sha1nexte => {
            let turned = left(l, s[0], 30);
            let next = sum(l, &[t[0], turned]);
            [next, t[1], t[2], t[3]]
        }
        Sha1msg1 => {
            let w = [s[0], s[1], s[2], s[3], t[0], t[1]];
            [0, 1, 2, 3].map(|i| xor(l, &[w[i + 2], w[i]]))
        }
        Sha1msg2 => {
            let mut before = [t[1], t[2], t[3], t[3]];
            [0, 1, 2, 3].map(|i| {
                let mixed = xor(l, &[s[i], before[i]]);
                let word = left(l, mixed, 1);
                if i == 0 {
                    before[3] = word;
                }
                word
            })
        }
        Sha1rnds4 => sha1_rounds(l, control(d) & 3, s, t),
        Sha256rnds2 => sha256_rounds(l, s, t),
        Sha256msg1 => {
            let w = [t[3], s[0], s[1], s[2], s[3]];
            [0, 1, 2, 3].map(|i| {
                let small = sigma(l, w[i], [7, 18, 3], false);
                sum(l, &[w[i + 1], small])
            })
        }
        _ => {
            let mut before = vec![t[1], t[0]];
            for i in 0..4 {
                let small = sigma(l, before[i], [17, 19, 10], false);
                let word = sum(l, &[s[3 - i], small]);
                before.push(word);
            }
            [before[5], before[4], before[3], before[2]]
        }
    };
    let whole = vector(l, result);
    l.write(d, 0, whole);
    true
}

fn sha1_rounds(l: &mut Lift, which: u8, state: [Varnode; 4], words: [Varnode; 4]) -> [Varnode; 4] {
    let [mut a, mut b, mut c, mut d] = state;
    let constants = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];
    let constant = l.constant(constants[usize::from(which)], 4);
    let mut e = l.constant(0, 4);
    for word in words {
        let f = match which {
            0 => choose(l, [b, c, d]),
            2 => majority(l, [b, c, d]),
            _ => xor(l, &[b, c, d]),
        };
        let turned = left(l, a, 5);
        let next = sum(l, &[f, turned, word, e, constant]);
        let turned = left(l, b, 30);
        (a, b, c, d, e) = (next, a, turned, c, d);
    }
    [a, b, c, d]
}

fn sha256_rounds(l: &mut Lift, s: [Varnode; 4], t: [Varnode; 4]) -> [Varnode; 4] {
    let [mut a, mut b, mut e, mut f] = t;
    let [mut c, mut d, mut g, mut h] = s;
    let keys = l.r.place(Register::XMM0);
    for key in [keys.slice(0, 4), keys.slice(4, 4)] {
        let chosen = choose(l, [e, f, g]);
        let large = sigma(l, e, [6, 11, 25], true);
        let first = sum(l, &[chosen, large, key, h]);
        let most = majority(l, [a, b, c]);
        let large = sigma(l, a, [2, 13, 22], true);
        let next_a = sum(l, &[first, most, large]);
        let next_e = sum(l, &[first, d]);
        (b, c, d, a) = (a, b, c, next_a);
        (f, g, h, e) = (e, f, g, next_e);
    }
    [a, b, e, f]
}
