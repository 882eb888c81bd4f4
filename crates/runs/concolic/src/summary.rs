//! Functions of the C library by what they do, in one step: `--summaries`.
//!
//! By its instructions a function that goes through a string has a way for every length that the string can have; by its summary it
//! has one, and what it gives is a choice. The emulator runs the function all the same: what it comes to on this run, and
//! everything it leaves in registers, is its own. Only the terms are from here. `tests/summaries.rs` holds each against the code.

use crate::constraint::{Constraint, Decision};
use crate::shadow::Shadow;
use parallax_op::{BinOp, RelOp};
use parallax_process::memory::Memory;
use parallax_term::{Formula, Store, Term};

/// Strings and pieces of memory that are longer are followed.
const LONGEST: u64 = 1024;

/// A number to which a digit can be appended whatever its sign.
const LARGEST: u128 = 922_337_203_685_477_579;

/// What is known of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summary {
    Length,
    BoundedLength,
    /// Of strings, and of strings up to a number of bytes.
    Compare,
    BoundedCompare,
    Find,
    FindLast,
    FindMemory,
    /// How many bytes are in a set, or are not.
    Span,
    UnlikeSpan,
    CopyString,
    CopyStringToEnd,
    Append,
    Copy,
    CopyToEnd,
    Fill,
    /// A decimal number.
    Number,
    /// A request for memory: only the size that it is rounded up to counts.
    Allocate,
    AllocateMany,
}

impl Summary {
    /// Whether calls of the function are not part of the way of a run: two runs of one way may differ inside it.
    pub fn leaves_no_trace(self) -> bool {
        !matches!(self, Summary::Allocate | Summary::AllocateMany)
    }
}

/// The functions, by name.
pub(crate) const FUNCTIONS: &[(&str, Summary)] = &[
    ("strlen", Summary::Length),
    ("strnlen", Summary::BoundedLength),
    ("strcmp", Summary::Compare),
    ("strncmp", Summary::BoundedCompare),
    ("strchr", Summary::Find),
    ("index", Summary::Find),
    ("strrchr", Summary::FindLast),
    ("rindex", Summary::FindLast),
    ("memchr", Summary::FindMemory),
    ("strspn", Summary::Span),
    ("strcspn", Summary::UnlikeSpan),
    ("strcpy", Summary::CopyString),
    ("stpcpy", Summary::CopyStringToEnd),
    ("strcat", Summary::Append),
    ("memcpy", Summary::Copy),
    ("memmove", Summary::Copy),
    ("mempcpy", Summary::CopyToEnd),
    ("memset", Summary::Fill),
    ("atoi", Summary::Number),
    ("atol", Summary::Number),
    ("atoll", Summary::Number),
    ("malloc", Summary::Allocate),
    ("calloc", Summary::AllocateMany),
];

/// An argument: its value on this run, and its term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub value: u64,
    pub term: Option<Term>,
}

/// What a function comes to.
pub(crate) enum Effect {
    /// It returns this, and leaves these bytes behind.
    Returns { result: Term, written: Vec<(u64, Term)> },
    /// It does the same for every input that comes this way: its arguments may be taken for constants.
    Constant,
}

/// The state in which a function is called.
pub(crate) struct Call<'a, 's> {
    pub memory: &'a mut Memory,
    pub shadow: &'a Shadow,
    pub constraint: &'a mut Constraint<'s>,
}

impl Call<'_, '_> {
    /// What a function does, if this can be said: pointers are certain, strings have a certain end.
    pub fn effect(&mut self, summary: Summary, [a, b, c]: [Argument; 3]) -> Option<Effect> {
        use Summary::*;
        let store = self.constraint.store;
        let returns = |result: Term| Some(Effect::Returns { result, written: Vec::new() });
        match summary {
            Length => {
                let text = self.string(certain(a)?)?;
                returns(length(store, &text))
            }
            BoundedLength => {
                let most = certain(b)?;
                let mut text = self.prefix(certain(a)?, most)?;
                text.push(store.number(8, 0));
                returns(length(store, &text))
            }
            Compare => {
                let (x, y) = self.both(certain(a)?, certain(b)?, LONGEST)?;
                returns(difference(store, &x, &y))
            }
            BoundedCompare => {
                let (x, y) = self.both(certain(a)?, certain(b)?, certain(c)?)?;
                returns(difference(store, &x, &y))
            }
            Find | FindLast => {
                let start = certain(a)?;
                let text = self.string(start)?;
                let wanted = byte_of(store, b);
                returns(if summary == Find {
                    find(store, start, &text, wanted, true)
                } else {
                    find_last(store, start, &text, wanted)
                })
            }
            FindMemory => {
                let start = certain(a)?;
                let bytes = self.bytes(start, certain(c)?)?;
                returns(find(store, start, &bytes, byte_of(store, b), false))
            }
            Span | UnlikeSpan => {
                let text = self.string(certain(a)?)?;
                let set = self.string(certain(b)?)?;
                returns(span(store, &text, &set, summary == Span))
            }
            CopyString | CopyStringToEnd | Append => {
                let to = certain(a)?;
                let text = self.string(certain(b)?)?;
                let from = certain(b)?;
                // What they do to strings that overlap is undefined.
                if to.abs_diff(from) < 2 * text.len() as u64 {
                    return None;
                }
                if summary == Append {
                    return self.append(to, &text);
                }
                let written = self.copied(to, &text)?;
                let end = store.add(store.number(64, to.into()), length(store, &text));
                let result = if summary == CopyString { store.number(64, to.into()) } else { end };
                Some(Effect::Returns { result, written })
            }
            Copy | CopyToEnd | Fill => {
                let to = certain(a)?;
                let most = self.most(c)?;
                let value = byte_of(store, b);
                let bytes = match summary {
                    Fill => vec![value; most as usize],
                    _ => self.bytes(certain(b)?, most)?,
                };
                let written = self.put(to, &bytes, c)?;
                let count = c.term.unwrap_or_else(|| store.number(64, c.value.into()));
                let start = store.number(64, to.into());
                let result = if summary == CopyToEnd { store.add(start, count) } else { start };
                Some(Effect::Returns { result, written })
            }
            Number => {
                let text = self.string(certain(a)?)?;
                let value = self.number(certain(a)?, &text)?;
                returns(value)
            }
            Allocate => self.allocate(a),
            AllocateMany => {
                let number = |argument: Argument| {
                    argument.term.unwrap_or_else(|| store.number(64, argument.value.into()))
                };
                let term = store.binop(BinOp::Mul, number(a), number(b));
                let value = a.value.checked_mul(b.value)?;
                // A product that wraps is another matter.
                let fits = |argument: Argument| {
                    let Some(term) = argument.term else { return argument.value >> 32 == 0 };
                    let small = store.relop(RelOp::Ult, term, store.number(64, 1 << 32));
                    if argument.value >> 32 == 0 {
                        self.constraint.push(small, Decision::Branch(None));
                    }
                    argument.value >> 32 == 0
                };
                if ![a, b].map(fits).into_iter().all(|fits| fits) {
                    return None;
                }
                self.allocate(Argument { value, term: Some(term) })
            }
        }
    }

    /// The term of a byte of memory.
    fn byte(&mut self, at: u64) -> Option<Term> {
        let store = self.constraint.store;
        if let Some(part) = self.shadow.byte(at) {
            return Some(store.extract(part.of, 8 * u16::from(part.byte), 8));
        }
        let mut byte = [0];
        self.memory.read(at, &mut byte).ok()?;
        Some(store.number(8, byte[0].into()))
    }

    fn bytes(&mut self, from: u64, count: u64) -> Option<Vec<Term>> {
        if count > LONGEST {
            return None;
        }
        (0..count).map(|index| self.byte(from.wrapping_add(index))).collect()
    }

    /// The bytes of a string up to where it certainly ends, that zero included.
    fn string(&mut self, from: u64) -> Option<Vec<Term>> {
        let text = self.prefix(from, LONGEST)?;
        is_zero(self.constraint.store, *text.last()?).then_some(text)
    }

    /// The bytes of a string up to where it certainly ends, or so many.
    fn prefix(&mut self, from: u64, most: u64) -> Option<Vec<Term>> {
        let mut text = Vec::new();
        while (text.len() as u64) < most {
            let byte = self.byte(from.wrapping_add(text.len() as u64))?;
            text.push(byte);
            if is_zero(self.constraint.store, byte) {
                break;
            }
            if text.len() as u64 == LONGEST {
                return None;
            }
        }
        Some(text)
    }

    /// Two strings up to where one of them certainly ends, or so many bytes.
    fn both(&mut self, a: u64, b: u64, most: u64) -> Option<(Vec<Term>, Vec<Term>)> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        while (x.len() as u64) < most {
            let store = self.constraint.store;
            let at = x.len() as u64;
            let (p, q) = (self.byte(a.wrapping_add(at))?, self.byte(b.wrapping_add(at))?);
            x.push(p);
            y.push(q);
            let differ = store.as_constant(p).is_some() && store.as_constant(q).is_some() && p != q;
            if is_zero(store, p) || is_zero(store, q) || differ {
                break;
            }
            if at + 1 == LONGEST {
                return None;
            }
        }
        Some((x, y))
    }

    /// What the bytes from `to` on are when a string was copied there.
    fn copied(&mut self, to: u64, text: &[Term]) -> Option<Vec<(u64, Term)>> {
        self.writable(to, text.len() as u64)?;
        let store = self.constraint.store;
        let mut written = Vec::new();
        let mut ended = store.false_();
        for (index, byte) in text.iter().enumerate() {
            let at = to.wrapping_add(index as u64);
            written.push((at, store.ite(ended, self.byte(at)?, *byte)));
            ended = store.or(ended, zero(store, *byte));
        }
        Some(written)
    }

    /// A string put behind another.
    fn append(&mut self, to: u64, text: &[Term]) -> Option<Effect> {
        let store = self.constraint.store;
        let before = self.string(to)?;
        let room = before.len() + text.len();
        if room as u64 > LONGEST / 8 {
            return None;
        }
        self.writable(to, room as u64)?;
        let old = self.bytes(to, room as u64)?;
        // For each length of what is there, what is behind it.
        let mut new = old.clone();
        let mut ended = store.false_();
        for (start, byte) in before.iter().enumerate() {
            let here = store.and(store.not(ended), zero(store, *byte));
            let mut over = store.false_();
            for (index, other) in text.iter().enumerate() {
                let at = start + index;
                new[at] = store.ite(store.and(here, store.not(over)), *other, new[at]);
                over = store.or(over, zero(store, *other));
            }
            ended = store.or(ended, zero(store, *byte));
        }
        let written = (to..).zip(new).collect();
        Some(Effect::Returns { result: store.number(64, to.into()), written })
    }

    /// How many bytes a count can be at most; that it is not more is part of the path from now on.
    fn most(&mut self, count: Argument) -> Option<u64> {
        let Some(term) = count.term else { return (count.value <= LONGEST).then_some(count.value) };
        if count.value > LONGEST {
            return None;
        }
        let (reach, all) = self.constraint.reach(term, count.value, LONGEST, LONGEST / 8);
        if !all {
            let formula = self.constraint.between(term, reach.first, reach.last());
            self.constraint.push(formula, Decision::Window(term, reach.first, reach.last()));
        }
        (reach.last() <= LONGEST).then_some(reach.last())
    }

    /// What the bytes from `to` on are when as many of these as `count` says were put there.
    fn put(&mut self, to: u64, bytes: &[Term], count: Argument) -> Option<Vec<(u64, Term)>> {
        self.writable(to, bytes.len() as u64)?;
        let store = self.constraint.store;
        (to..)
            .zip(bytes)
            .enumerate()
            .map(|(index, (at, byte))| {
                let Some(term) = count.term else { return Some((at, *byte)) };
                let reaches = store.relop(RelOp::Ugt, term, store.number(64, index as u128));
                Some((at, store.ite(reaches, *byte, self.byte(at)?)))
            })
            .collect()
    }

    /// Whether so many bytes can be written: otherwise some inputs crash here, and following tells which.
    fn writable(&mut self, at: u64, bytes: u64) -> Option<()> {
        let (mut from, end) = (at, at.checked_add(bytes)?);
        while from < end {
            let (_, region) = self.memory.region_at(from)?;
            if !region.permissions.write {
                return None;
            }
            from = region.end;
        }
        Some(())
    }

    /// The number that a string begins with, as `strtol` reads it. That it fits is part of the path from now on; if it does not on this
    /// run, following tells more.
    fn number(&mut self, at: u64, text: &[Term]) -> Option<Term> {
        let store = self.constraint.store;
        let is = |byte: Term, value: u8| store.eq(byte, store.number(8, value.into()));
        let from = |byte: Term, low: u8, span: u128| {
            let above = store.sub(byte, store.number(8, low.into()));
            store.relop(RelOp::Ule, above, store.number(8, span))
        };
        // Whether only blanks came so far, whether a sign came just before, whether all since was digits.
        let (mut blank, mut signed, mut digits) = (store.true_(), store.false_(), store.false_());
        let mut negative = store.false_();
        let mut value = store.number(64, 0);
        let mut fits = store.true_();
        for byte in text {
            let space = store.or(is(*byte, b' '), from(*byte, 9, 4));
            let sign = store.or(is(*byte, b'+'), is(*byte, b'-'));
            let digit = from(*byte, b'0', 9);
            let counts = store.and(digit, store.or(blank, store.or(signed, digits)));
            let next = store.binop(BinOp::Mul, value, store.number(64, 10));
            let next = store.add(next, store.zext(store.sub(*byte, store.number(8, b'0'.into())), 64));
            let large = store.relop(RelOp::Ugt, value, store.number(64, LARGEST));
            fits = store.and(fits, store.not(store.and(counts, large)));
            value = store.ite(counts, next, value);
            negative = store.or(negative, store.and(blank, is(*byte, b'-')));
            (blank, signed, digits) = (store.and(blank, space), store.and(blank, sign), counts);
        }
        let mut bytes = vec![0; text.len()];
        self.memory.read(at, &mut bytes).ok()?;
        let text: Vec<u8> = bytes.into_iter().skip_while(|byte| matches!(byte, b' ' | 9..=13)).collect();
        let text = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(&text);
        let mut read: u128 = 0;
        for byte in text.iter().take_while(|byte| byte.is_ascii_digit()) {
            if read > LARGEST {
                return None;
            }
            read = 10 * read + u128::from(byte - b'0');
        }
        self.constraint.push(fits, Decision::Branch(None));
        Some(store.ite(negative, store.sub(store.number(64, 0), value), value))
    }

    /// A request for so many bytes. Behaviour depends on what it is rounded up to, which becomes part of the path.
    fn allocate(&mut self, size: Argument) -> Option<Effect> {
        let term = size.term?;
        // The space that a request takes: room for a word before it, in steps of sixteen, thirty-two at least.
        const STEP: u64 = 16;
        let space = (size.value.checked_add(8 + STEP - 1)? & !(STEP - 1)).max(32);
        let last = space - 8;
        let first = if space == 32 { 0 } else { last - (STEP - 1) };
        let formula = self.constraint.between(term, first, last);
        debug_assert!((first..=last).contains(&size.value));
        self.constraint.push(formula, Decision::Window(term, first, last));
        Some(Effect::Constant)
    }
}

/// A value that is the same on every input that comes this way.
fn certain(argument: Argument) -> Option<u64> {
    argument.term.is_none().then_some(argument.value)
}

/// The lowest byte of an argument.
fn byte_of(store: &Store, argument: Argument) -> Term {
    match argument.term {
        Some(term) => store.extract(term, 0, 8),
        None => store.number(8, (argument.value & 0xff).into()),
    }
}

fn zero(store: &Store, byte: Term) -> Formula {
    store.eq(byte, store.number(8, 0))
}

fn is_zero(store: &Store, byte: Term) -> bool {
    store.as_boolean(zero(store, byte)) == Some(true)
}

/// The place of the first zero; there is one.
fn length(store: &Store, text: &[Term]) -> Term {
    let count = text.len() as u128;
    let last = store.number(64, count - 1);
    (0..count - 1)
        .rev()
        .fold(last, |rest, index| store.ite(zero(store, text[index as usize]), store.number(64, index), rest))
}

/// The difference of the first two bytes that differ before both strings end, as the library gives it, or zero.
fn difference(store: &Store, a: &[Term], b: &[Term]) -> Term {
    let nothing = store.number(32, 0);
    let found = a.iter().zip(b).rev().fold(nothing, |rest, (x, y)| {
        let apart = store.sub(store.zext(*x, 32), store.zext(*y, 32));
        let rest = store.ite(zero(store, *x), nothing, rest);
        store.ite(store.eq(*x, *y), rest, apart)
    });
    store.zext(found, 64)
}

/// The address of the first byte that is wanted, or zero.
fn find(store: &Store, start: u64, bytes: &[Term], wanted: Term, ends: bool) -> Term {
    let nothing = store.number(64, 0);
    bytes.iter().enumerate().rev().fold(nothing, |rest, (index, byte)| {
        let here = store.number(64, start.wrapping_add(index as u64).into());
        let rest = if ends { store.ite(zero(store, *byte), nothing, rest) } else { rest };
        store.ite(store.eq(*byte, wanted), here, rest)
    })
}

/// The address of the last byte of a string that is wanted, or zero.
fn find_last(store: &Store, start: u64, text: &[Term], wanted: Term) -> Term {
    let nothing = store.number(64, 0);
    text.iter().enumerate().rev().fold(nothing, |rest, (index, byte)| {
        let here = store.number(64, start.wrapping_add(index as u64).into());
        let behind = store.ite(zero(store, *byte), nothing, rest);
        let own = store.ite(store.eq(*byte, wanted), here, nothing);
        store.ite(store.eq(behind, nothing), own, behind)
    })
}

/// How many bytes at the start of a string are of a set, or are not.
fn span(store: &Store, text: &[Term], set: &[Term], of: bool) -> Term {
    let last = store.number(64, text.len() as u128 - 1);
    text.iter().enumerate().rev().skip(1).fold(last, |rest, (index, byte)| {
        let mut ended = store.false_();
        let mut inside = store.false_();
        for other in set {
            ended = store.or(ended, zero(store, *other));
            let equal = store.and(store.not(ended), store.eq(*byte, *other));
            inside = store.or(inside, equal);
        }
        let stops = if of { store.not(inside) } else { store.or(inside, zero(store, *byte)) };
        store.ite(stops, store.number(64, index as u128), rest)
    })
}
