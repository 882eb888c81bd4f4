//! Bit-vector operators as circuits. A vector is its bits, lowest first.

use super::gates::Gates;
use crate::{Limits, Reason};
use batsat::Lit;
use parallax_op::{BinOp, Bits, RelOp, UnOp};

pub(crate) type Vector = Vec<Lit>;

/// A circuit or the limit that stopped it: products and quotients of wide vectors are large.
pub(crate) type Built<T> = Result<T, Reason>;

/// Builds circuits within limits.
pub(crate) struct Circuit<'g> {
    pub gates: &'g mut Gates,
    pub limits: Limits,
}

impl Circuit<'_> {
    pub fn within_limits(&mut self) -> Built<()> {
        if self.gates.size() > self.limits.size {
            return Err(Reason::Size);
        }
        match self.gates.watch().reason() {
            // Building makes no conflicts: only the search is held to that limit.
            None | Some(Reason::Search) => Ok(()),
            Some(reason) => Err(reason),
        }
    }

    pub fn constant(&self, value: &Bits) -> Vector {
        (0..value.width()).map(|index| self.gates.constant(value.bit(index))).collect()
    }

    fn number(&self, width: usize, value: usize) -> Vector {
        let bit = |index: usize| index < usize::BITS as usize && value >> index & 1 == 1;
        (0..width).map(|index| self.gates.constant(bit(index))).collect()
    }

    pub fn unop(&mut self, op: UnOp, a: &[Lit]) -> Built<Vector> {
        Ok(match op {
            UnOp::Not => not(a),
            UnOp::Neg => self.negate(a),
            UnOp::Popcount => self.count(a),
            UnOp::Clz => self.leading(a.iter().rev()),
            UnOp::Ctz => self.leading(a.iter()),
        })
    }

    pub fn binop(&mut self, op: BinOp, a: &[Lit], b: &[Lit]) -> Built<Vector> {
        let off = self.gates.constant(false);
        let on = !off;
        Ok(match op {
            BinOp::Add => self.add(a, b, off),
            BinOp::Sub => self.add(a, &not(b), on),
            BinOp::Mul => self.multiply(a, b)?,
            BinOp::Udiv => self.divide(a, b)?.0,
            BinOp::Urem => self.divide(a, b)?.1,
            BinOp::Sdiv | BinOp::Srem => self.divide_signed(op, a, b)?,
            BinOp::And => self.bitwise(a, b, Gates::and),
            BinOp::Or => self.bitwise(a, b, Gates::or),
            BinOp::Xor => self.bitwise(a, b, Gates::xor),
            BinOp::Shl => {
                let reversed: Vector = a.iter().rev().copied().collect();
                let mut shifted = self.shift_right(&reversed, b, off);
                shifted.reverse();
                shifted
            }
            BinOp::Lshr => self.shift_right(a, b, off),
            BinOp::Ashr => self.shift_right(a, b, sign(a)),
        })
    }

    pub fn relop(&mut self, op: RelOp, a: &[Lit], b: &[Lit]) -> Lit {
        match op {
            RelOp::Eq => self.equal(a, b),
            RelOp::Ne => !self.equal(a, b),
            RelOp::Ult => self.below(a, b, false),
            RelOp::Ule => !self.below(b, a, false),
            RelOp::Ugt => self.below(b, a, false),
            RelOp::Uge => !self.below(a, b, false),
            RelOp::Slt => self.below(a, b, true),
            RelOp::Sle => !self.below(b, a, true),
            RelOp::Sgt => self.below(b, a, true),
            RelOp::Sge => !self.below(a, b, true),
        }
    }

    pub fn mux(&mut self, c: Lit, t: &[Lit], e: &[Lit]) -> Vector {
        t.iter().zip(e).map(|(&t, &e)| self.gates.mux(c, t, e)).collect()
    }

    fn bitwise(&mut self, a: &[Lit], b: &[Lit], gate: fn(&mut Gates, Lit, Lit) -> Lit) -> Vector {
        a.iter().zip(b).map(|(&a, &b)| gate(self.gates, a, b)).collect()
    }

    fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let same: Vector = a.iter().zip(b).map(|(&a, &b)| !self.gates.xor(a, b)).collect();
        self.gates.all(same)
    }

    /// The borrow of `a - b`; for signed order the highest bits count the other way.
    fn below(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
        let mut borrow = self.gates.constant(false);
        for (index, (&a_bit, &b_bit)) in a.iter().zip(b).enumerate() {
            let (x, y) = if signed && index + 1 == a.len() { (b_bit, a_bit) } else { (a_bit, b_bit) };
            borrow = self.gates.majority(!x, y, borrow);
        }
        borrow
    }

    fn add(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> Vector {
        let mut carry = carry;
        let mut sum = Vec::with_capacity(a.len());
        for (index, (&a_bit, &b_bit)) in a.iter().zip(b).enumerate() {
            let half = self.gates.xor(a_bit, b_bit);
            sum.push(self.gates.xor(half, carry));
            if index + 1 < a.len() {
                carry = self.gates.majority(a_bit, b_bit, carry);
            }
        }
        sum
    }

    fn negate(&mut self, a: &[Lit]) -> Vector {
        let zero = self.number(a.len(), 0);
        let on = self.gates.constant(true);
        self.add(&zero, &not(a), on)
    }

    fn negate_if(&mut self, condition: Lit, a: &[Lit]) -> Vector {
        let negated = self.negate(a);
        self.mux(condition, &negated, a)
    }

    /// Shift and add, over the bits of the operand with more constant bits. Numbers that are short for their width give
    /// a short product.
    fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Built<Vector> {
        let (width, short) = (a.len(), signed_length(a) + signed_length(b));
        if short < width {
            return Ok(widened(self.multiply(&a[..short], &b[..short])?, width));
        }
        let known = |v: &[Lit]| v.iter().filter(|&&lit| self.gates.as_constant(lit).is_some()).count();
        let (a, b) = if known(a) > known(b) { (b, a) } else { (a, b) };
        let off = self.gates.constant(false);
        let mut product = self.number(width, 0);
        for (shift, &bit) in b.iter().enumerate() {
            if bit == off {
                continue;
            }
            self.within_limits()?;
            let row: Vector = a[..width - shift].iter().map(|&lit| self.gates.and(lit, bit)).collect();
            let high = self.add(&product[shift..], &row, off);
            product.truncate(shift);
            product.extend(high);
        }
        Ok(product)
    }

    /// Quotient and remainder by long division; for a zero divisor all ones and the dividend, as it should be. A
    /// remainder is held in as many bits as it can need: no more than were taken from the dividend, nor than the divisor
    /// has.
    fn divide(&mut self, a: &[Lit], b: &[Lit]) -> Built<(Vector, Vector)> {
        let width = a.len();
        let (off, on) = (self.gates.constant(false), self.gates.constant(true));
        let length = |v: &[Lit]| v.iter().rposition(|&lit| lit != off).map_or(0, |last| last + 1);
        let (taken, divisor) = (length(a), &b[..length(b)]);
        // Whether all bits of the divisor from each place on are zero.
        let mut none_from = vec![on; divisor.len() + 1];
        for index in (0..divisor.len()).rev() {
            none_from[index] = self.gates.and(none_from[index + 1], !divisor[index]);
        }
        let is_zero = none_from[0];
        let mut remainder: Vector = Vec::with_capacity(divisor.len() + 1);
        let mut quotient = vec![is_zero; width];
        for index in (0..taken).rev() {
            self.within_limits()?;
            remainder.insert(0, a[index]);
            let room = remainder.len();
            let low: Vector = (0..room).map(|index| divisor.get(index).copied().unwrap_or(off)).collect();
            let is_below = self.below(&remainder, &low, false);
            let fits = self.gates.and(!is_below, none_from[room.min(divisor.len())]);
            let difference = self.add(&remainder, &not(&low), on);
            remainder = self.mux(fits, &difference, &remainder);
            // Below the divisor, unless that is zero.
            remainder.truncate(divisor.len());
            quotient[index] = fits;
        }
        remainder.resize(width, off);
        if taken > divisor.len() {
            remainder = self.mux(is_zero, a, &remainder);
        }
        Ok((quotient, remainder))
    }

    /// How far a signed number is from zero: no longer than the number without the copies of its sign.
    fn magnitude(&mut self, a: &[Lit]) -> Vector {
        let mut magnitude = self.negate_if(sign(a), &a[..signed_length(a)]);
        magnitude.resize(a.len(), self.gates.constant(false));
        magnitude
    }

    /// A signed quotient or remainder, at the width that the operands need: one more, for the quotient of the least
    /// number by minus one.
    fn divide_signed(&mut self, op: BinOp, a: &[Lit], b: &[Lit]) -> Built<Vector> {
        let width = a.len();
        let short = (signed_length(a).max(signed_length(b)) + 1).min(width);
        let (a, b) = (&a[..short], &b[..short]);
        let magnitudes = [a, b].map(|v| self.magnitude(v));
        let (quotient, remainder) = self.divide(&magnitudes[0], &magnitudes[1])?;
        let result = match op {
            BinOp::Sdiv => {
                let differ = self.gates.xor(sign(a), sign(b));
                self.negate_if(differ, &quotient)
            }
            _ => self.negate_if(sign(a), &remainder),
        };
        Ok(widened(result, width))
    }

    /// One stage for each bit of the distance that matters; the others shift everything out.
    fn shift_right(&mut self, a: &[Lit], distance: &[Lit], fill: Lit) -> Vector {
        let width = a.len();
        let mut shifted = a.to_vec();
        let mut beyond = self.gates.constant(false);
        for (stage, &bit) in distance.iter().enumerate() {
            let by = if stage < 16 { 1usize << stage } else { usize::MAX };
            if by >= width {
                beyond = self.gates.or(beyond, bit);
                continue;
            }
            let moved: Vector =
                (0..width).map(|index| shifted.get(index + by).copied().unwrap_or(fill)).collect();
            shifted = self.mux(bit, &moved, &shifted);
        }
        let empty = vec![fill; width];
        self.mux(beyond, &empty, &shifted)
    }

    /// How many bits are set: halves counted apart, then added.
    fn count(&mut self, a: &[Lit]) -> Vector {
        let off = self.gates.constant(false);
        let mut counts: Vec<Vector> = a.iter().map(|&bit| vec![bit]).collect();
        while counts.len() > 1 {
            let mut next = Vec::with_capacity(counts.len().div_ceil(2));
            for pair in counts.chunks(2) {
                let width = pair.iter().map(Vec::len).max().unwrap_or(0) + 1;
                let padded = |v: Option<&Vector>| {
                    let mut v = v.cloned().unwrap_or_default();
                    v.resize(width, off);
                    v
                };
                next.push(self.add(&padded(pair.first()), &padded(pair.get(1)), off));
            }
            counts = next;
        }
        let mut total = counts.pop().unwrap_or_default();
        total.resize(a.len(), off);
        total
    }

    /// How many bits come before the first that is set.
    fn leading<'b>(&mut self, bits: impl DoubleEndedIterator<Item = &'b Lit> + ExactSizeIterator) -> Vector {
        let width = bits.len();
        let mut count = self.number(width, width);
        for (index, &bit) in bits.enumerate().rev() {
            let here = self.number(width, index);
            count = self.mux(bit, &here, &count);
        }
        count
    }
}

fn not(a: &[Lit]) -> Vector {
    a.iter().map(|&lit| !lit).collect()
}

fn sign(a: &[Lit]) -> Lit {
    a[a.len() - 1]
}

/// How many bits a signed number needs: all but the copies of its sign.
fn signed_length(a: &[Lit]) -> usize {
    let copies = a.iter().rev().take_while(|&&lit| lit == sign(a)).count();
    a.len() - copies + 1
}

/// A signed number at a larger width.
fn widened(mut a: Vector, width: usize) -> Vector {
    let sign = sign(&a);
    a.resize(width, sign);
    a
}
