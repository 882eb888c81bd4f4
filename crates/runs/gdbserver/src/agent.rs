//! Conditions of breakpoints as GDB compiles them for a stub: agent expressions, programs of a small stack machine (appendix F of
//! GDB's manual).
//!
//! GDB asks the condition again wherever it stops, so one that has no answer here holds.

/// What an expression looks at.
pub(crate) trait Scene {
    /// A register by GDB's number.
    fn register(&self, number: u16) -> Option<u64>;
    /// Fills the buffer from memory; false if that cannot be read.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;
}

/// An expression in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expression(pub Vec<u8>);

/// Loops are cut short: GDB makes none.
const MOST_STEPS: usize = 10_000;
const MOST_VALUES: usize = 256;

impl Expression {
    /// Its value; none if it asks for something that is not there, or makes no sense.
    pub fn value(&self, scene: &dyn Scene) -> Option<u64> {
        let mut machine = Machine { code: &self.0, at: 0, stack: Vec::new(), scene };
        for _ in 0..MOST_STEPS {
            if machine.step()? {
                return machine.stack.pop();
            }
        }
        None
    }
}

struct Machine<'a> {
    code: &'a [u8],
    at: usize,
    stack: Vec<u64>,
    scene: &'a dyn Scene,
}

impl Machine<'_> {
    /// A number inside the code: big-endian.
    fn operand(&mut self, bytes: usize) -> Option<u64> {
        let part = self.code.get(self.at..self.at + bytes)?;
        self.at += bytes;
        Some(part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn push(&mut self, value: u64) -> Option<()> {
        (self.stack.len() < MOST_VALUES).then(|| self.stack.push(value))
    }

    /// Replaces the two values on top by one, the lower given first.
    fn two(&mut self, of: impl Fn(u64, u64) -> Option<u64>) -> Option<()> {
        let (above, below) = (self.stack.pop()?, self.stack.pop()?);
        self.push(of(below, above)?)
    }

    fn one(&mut self, of: impl Fn(u64) -> u64) -> Option<()> {
        let value = self.stack.pop()?;
        self.push(of(value))
    }

    fn reference(&mut self, bytes: usize) -> Option<()> {
        let address = self.stack.pop()?;
        let mut word = [0; 8];
        self.scene.read(address, &mut word[..bytes]).then_some(())?;
        self.push(u64::from_le_bytes(word))
    }

    /// Executes one operation; true at the end of the program.
    fn step(&mut self) -> Option<bool> {
        let signed = |value: u64| value as i64;
        let shift = |value: u64| u32::try_from(value).ok().filter(|count| *count < 64);
        match self.operand(1)? {
            0x02 => self.two(|a, b| Some(a.wrapping_add(b)))?,
            0x03 => self.two(|a, b| Some(a.wrapping_sub(b)))?,
            0x04 => self.two(|a, b| Some(a.wrapping_mul(b)))?,
            0x05 => self.two(|a, b| (b != 0).then(|| signed(a).wrapping_div(signed(b)) as u64))?,
            0x06 => self.two(u64::checked_div)?,
            0x07 => self.two(|a, b| (b != 0).then(|| signed(a).wrapping_rem(signed(b)) as u64))?,
            0x08 => self.two(u64::checked_rem)?,
            0x09 => self.two(|a, b| Some(shift(b).map_or(0, |count| a << count)))?,
            0x0a => self.two(|a, b| Some((signed(a) >> shift(b).unwrap_or(63)) as u64))?,
            0x0b => self.two(|a, b| Some(shift(b).map_or(0, |count| a >> count)))?,
            0x0e => self.one(|value| u64::from(value == 0))?,
            0x0f => self.two(|a, b| Some(a & b))?,
            0x10 => self.two(|a, b| Some(a | b))?,
            0x11 => self.two(|a, b| Some(a ^ b))?,
            0x12 => self.one(|value| !value)?,
            0x13 => self.two(|a, b| Some(u64::from(a == b)))?,
            0x14 => self.two(|a, b| Some(u64::from(signed(a) < signed(b))))?,
            0x15 => self.two(|a, b| Some(u64::from(a < b)))?,
            0x16 => {
                let gone = self.gone_bits()?;
                self.one(|value| ((value << gone) as i64 >> gone) as u64)?;
            }
            0x17 => self.reference(1)?,
            0x18 => self.reference(2)?,
            0x19 => self.reference(4)?,
            0x1a => self.reference(8)?,
            0x20 => {
                let target = self.operand(2)?;
                if self.stack.pop()? != 0 {
                    self.at = target as usize;
                }
            }
            0x21 => self.at = self.operand(2)? as usize,
            0x22 => self.constant(1)?,
            0x23 => self.constant(2)?,
            0x24 => self.constant(4)?,
            0x25 => self.constant(8)?,
            0x26 => {
                let number = self.operand(2)? as u16;
                let value = self.scene.register(number)?;
                self.push(value)?;
            }
            0x27 => return Some(true),
            0x28 => {
                let top = *self.stack.last()?;
                self.push(top)?;
            }
            0x29 => drop(self.stack.pop()?),
            0x2a => {
                let gone = self.gone_bits()?;
                self.one(|value| value << gone >> gone)?;
            }
            0x2b => {
                let (above, below) = (self.stack.pop()?, self.stack.pop()?);
                self.stack.extend([above, below]);
            }
            0x32 => {
                let depth = self.operand(1)? as usize;
                let value = *self.stack.get(self.stack.len().checked_sub(depth + 1)?)?;
                self.push(value)?;
            }
            0x33 => {
                let from = self.stack.len().checked_sub(3)?;
                self.stack[from..].rotate_right(1);
            }
            _ => return None,
        }
        Some(false)
    }

    fn constant(&mut self, bytes: usize) -> Option<()> {
        let value = self.operand(bytes)?;
        self.push(value)
    }

    /// How many bits of a value do not count, by the number of those that do.
    fn gone_bits(&mut self) -> Option<u32> {
        let kept = self.operand(1)? as u32;
        (1..=64).contains(&kept).then(|| 64 - kept)
    }
}

/// The conditions behind the kind of a breakpoint: `X LENGTH,BYTES` each, in hexadecimal digits. None if they cannot be read.
pub(crate) fn conditions(text: &str) -> Option<Vec<Expression>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(list) = rest.strip_prefix('X') {
        let (length, digits) = list.split_once(',')?;
        let digits_wanted = usize::from_str_radix(length, 16).ok()?.checked_mul(2)?;
        let bytes = digits.get(..digits_wanted)?.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        found.push(Expression(bytes.collect::<Option<_>>()?));
        rest = &digits[digits_wanted..];
        rest = rest.strip_prefix(';').unwrap_or(rest);
    }
    // Commands for the stub itself are not asked for.
    rest.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nine;

    impl Scene for Nine {
        fn register(&self, number: u16) -> Option<u64> {
            (number < 17).then(|| u64::from(number) * 9)
        }

        fn read(&self, address: u64, into: &mut [u8]) -> bool {
            into.fill(0x99);
            address < 0x1000
        }
    }

    #[track_caller]
    fn check(code: &[u8], expected: Option<u64>) {
        assert_eq!(Expression(code.to_vec()).value(&Nine), expected, "{code:x?}");
    }

    #[test]
    fn operations() {
        check(&[0x26, 0, 2, 0x22, 18, 0x13, 0x27], Some(1));
        // Division and remainder, by nothing too.
        check(&[0x22, 0xf9, 0x16, 8, 0x22, 2, 0x05, 0x27], Some(-3i64 as u64));
        check(&[0x22, 0xf9, 0x16, 8, 0x22, 2, 0x07, 0x27], Some(-1i64 as u64));
        check(&[0x22, 1, 0x22, 0, 0x05, 0x27], None);
        // The smallest number divided by -1.
        check(&[0x25, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x22, 0xff, 0x16, 8, 0x05, 0x27], Some(1 << 63));
        check(&[0x22, 8, 0x19, 0x16, 32, 0x27], Some(0xffff_ffff_9999_9999));
        check(&[0x23, 0x20, 0, 0x19, 0x27], None);
        check(&[0x22, 1, 0x22, 2, 0x22, 3, 0x33, 0x29, 0x27], Some(1));
        check(&[0x22, 1, 0x22, 2, 0x32, 1, 0x27], Some(1));
        // Over a branch.
        check(&[0x22, 1, 0x20, 0, 8, 0x22, 5, 0x27, 0x22, 7, 0x27], Some(7));
    }

    #[test]
    fn what_makes_no_sense_has_no_value() {
        check(&[], None);
        check(&[0x27], None);
        check(&[0x02], None);
        check(&[0xff], None);
        check(&[0x21, 0, 0], None);
        check(&[0x22, 1, 0x16, 0, 0x27], None);
        check(&[0x22, 1, 0x28, 0x21, 0, 2], None);
    }

    #[test]
    fn lists() {
        let one = |bytes: &[u8]| Expression(bytes.to_vec());
        assert_eq!(conditions("X3,220127X1,27"), Some(vec![one(&[0x22, 1, 0x27]), one(&[0x27])]));
        for damaged in ["X4,220127", "Xff", "X3,2201zz", "cmds:0,X1,27", "Xffffffffffffffff,27"] {
            assert_eq!(conditions(damaged), None, "{damaged}");
        }
    }
}
