//! Conditional branches of PowerPC: the specification forgets a negation where both the count and a condition are asked,
//! and does not clear the two lowest bits of an address in a register.

use super::table::Overrides;
use parallax_ir::{Builder, Flow, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Where a branch goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Address(u64),
    Link,
    Count,
}

impl Overrides {
    /// `bc`, `bclr` and `bcctr`.
    pub(super) fn branch(&self, b: &mut Builder, address: u64, word: u32) -> Option<String> {
        let bytes = self.link.bytes;
        let target = match (word >> 26, word >> 1 & 0x3ff) {
            (16, _) => {
                let distance = i64::from(word as u16 as i16 & !3) as u64;
                let from = if word & 2 == 0 { address } else { 0 };
                let to = from.wrapping_add(distance);
                Target::Address(if bytes == 4 { u64::from(to as u32) } else { to })
            }
            (19, 16) if word & 0xf800 == 0 => Target::Link,
            // The count cannot be both asked and gone to.
            (19, 528) if word & 0xf800 == 0 && word >> 23 & 1 == 1 => Target::Count,
            _ => return None,
        };
        let (options, bit) = (word >> 21 & 31, (word >> 16 & 31) as usize);
        let links = word & 1 == 1;
        let to = match target {
            Target::Address(to) => Varnode::constant(to, bytes),
            Target::Link => b.bin_constant(BinOp::And, self.link, !3),
            Target::Count => b.bin_constant(BinOp::And, self.counter, !3),
        };
        let mut when: Option<Varnode> = None;
        if options & 4 == 0 {
            let less = b.bin_constant(BinOp::Sub, self.counter, 1);
            b.copy(self.counter, less);
            let relation = if options & 2 == 0 { RelOp::Ne } else { RelOp::Eq };
            when = Some(b.rel_constant(relation, less, 0));
        }
        if options & 16 == 0 {
            let set = b.bit(self.floats.status.fields[bit / 4], 3 - (bit % 4) as u16);
            let holds = if options & 8 == 0 { b.not(set) } else { set };
            when = Some(match when {
                None => holds,
                Some(counted) => b.bool(BoolOp::And, counted, holds),
            });
        }
        let next = address.wrapping_add(4);
        let flow = match (links, target) {
            // Going on with the next instruction, some load the link register.
            (true, Target::Address(to)) if to == next => Flow::Jump,
            (true, _) => Flow::Call,
            (false, Target::Link) => Flow::Return,
            _ => Flow::Jump,
        };
        if links {
            b.copy(self.link, Varnode::constant(next, bytes));
        }
        b.jump(when, to, flow);
        Some(text(word, options, bit, target))
    }
}

fn text(word: u32, options: u32, bit: usize, target: Target) -> String {
    let counts = ["dnz", "dz"][(options >> 1 & 1) as usize];
    let asked = (options >> 3 & 1) as usize;
    let condition = [["ge", "le", "ne", "ns"], ["lt", "gt", "eq", "so"]][asked][bit % 4];
    let field = if bit < 4 { String::new() } else { format!("cr{}", bit / 4) };
    let (name, operand) = match (options & 16 == 0, options & 4 == 0) {
        (false, false) => (String::new(), String::new()),
        (false, true) => (counts.to_owned(), String::new()),
        (true, false) => (condition.to_owned(), field),
        (true, true) => {
            let flag = ["lt", "gt", "eq", "so"][bit % 4];
            let flag = if bit < 4 { flag.to_owned() } else { format!("4*{field}+{flag}") };
            (format!("{counts}{}", ["f", "t"][asked]), flag)
        }
    };
    let links = if word & 1 == 1 { "l" } else { "" };
    let (place, absolute, goal) = match target {
        Target::Address(to) => ("", if word & 2 == 0 { "" } else { "a" }, format!("{to:#x}")),
        Target::Link => ("lr", "", String::new()),
        Target::Count => ("ctr", "", String::new()),
    };
    let operands: Vec<String> = [operand, goal].into_iter().filter(|text| !text.is_empty()).collect();
    format!("b{name}{place}{links}{absolute} {}", operands.join(",")).trim_end().to_owned()
}
