//! A line of code with the lines around it, each as a short hash, and how well two of them fit.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many lines that say something are kept on each side.
const REACH: usize = 12;

/// A line of code without its blanks, as 30 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineHash(u32);

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl LineHash {
    /// The hash of a line; blanks do not count.
    pub fn of(line: &str) -> LineHash {
        // FNV-1a: stable from version to version, and nobody gains by a collision.
        let bytes = line.bytes().filter(|byte| !byte.is_ascii_whitespace());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        LineHash(((hash ^ (hash >> 30)) & 0x3fff_ffff) as u32)
    }

    fn write(self, out: &mut String) {
        out.extend((0..5).map(|at| char::from(DIGITS[(self.0 >> (6 * at)) as usize & 63])));
    }

    fn read(digits: &[u8]) -> Option<LineHash> {
        let value = |digit: &u8| DIGITS.iter().position(|known| known == digit).map(|value| value as u32);
        digits.iter().rev().try_fold(0, |sum, digit| Some(sum << 6 | value(digit)?)).map(LineHash)
    }
}

/// A line and the lines around it that say something, nearest last before it and nearest first after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Neighbours {
    /// The lines before.
    pub before: Vec<LineHash>,
    /// The line itself.
    pub line: LineHash,
    /// Where in the line: characters before the column that are no blanks; absent where no column is known.
    pub column: Option<u32>,
    /// The lines after.
    pub after: Vec<LineHash>,
}

/// How two sets of neighbours fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// How many neighbours they share, the two lines being one.
    pub shared: usize,
    /// How many the one with fewer has.
    pub of: usize,
    /// Whether no other way to lay the two texts over each other explains nearly as much.
    pub only: bool,
    /// Whether the next lines on both sides are the same, and no other line has come between their like. Otherwise the line itself
    /// may be a copy whose original has changed.
    pub close: bool,
}

impl Neighbours {
    /// The line `number` of a text whose lines `first..=last` belong together.
    pub fn of<'t>(
        line: &dyn Fn(u32) -> &'t str,
        number: u32,
        column: Option<u32>,
        first: u32,
        last: u32,
    ) -> Neighbours {
        let says = |number: &u32| line(*number).chars().any(char::is_alphanumeric);
        let far = 4 * REACH as u32;
        let before = (first.max(number.saturating_sub(far))..number).rev().filter(says).take(REACH);
        let mut before: Vec<LineHash> = before.map(|number| LineHash::of(line(number))).collect();
        before.reverse();
        let after = (number + 1..=last.min(number.saturating_add(far))).filter(says).take(REACH);
        let after = after.map(|number| LineHash::of(line(number))).collect();
        let column = column.map(|column| {
            let until = line(number).chars().take(column.saturating_sub(1) as usize);
            until.filter(|letter| !letter.is_whitespace()).count() as u32
        });
        Neighbours { before, line: LineHash::of(line(number)), column, after }
    }

    /// Whether both are about the same words of equal lines.
    pub fn same_line(&self, other: &Neighbours) -> bool {
        self.line == other.line
            && (self.column == other.column || self.column.is_none() || other.column.is_none())
    }

    /// How many neighbours there are.
    pub fn size(&self) -> usize {
        self.before.len() + self.after.len()
    }

    fn whole(&self) -> Vec<LineHash> {
        self.before.iter().chain([&self.line]).chain(&self.after).copied().collect()
    }

    /// How well the two fit when their lines are taken for one.
    pub fn fit(&self, other: &Neighbours) -> Fit {
        let (one, two) = (self.whole(), other.whole());
        let (at, on) = (self.before.len(), other.before.len());
        // Common lines of all beginnings, and of all ends.
        let heads = common(&one, &two);
        let ends = {
            let reversed = |lines: &[LineHash]| lines.iter().rev().copied().collect::<Vec<_>>();
            common(&reversed(&one), &reversed(&two))
        };
        // What is shared if line `i` of one is line `j` of the other.
        let shared = |i: usize, j: usize| heads[i][j] + ends[one.len() - 1 - i][two.len() - 1 - j];
        let ours = shared(at, on);
        let else_here = (0..two.len()).filter(|&j| j != on && two[j] == one[at]).map(|j| shared(at, j));
        let else_there = (0..one.len()).filter(|&i| i != at && one[i] == two[on]).map(|i| shared(i, on));
        let rival = else_here.chain(else_there).max();
        let best = heads[one.len()][two.len()];
        // Lines between the same two neighbours: where one has come, it may be the line itself, changed, behind a copy of it.
        let between = |lines: &[LineHash]| match (self.before.last(), self.after.first()) {
            (Some(before), Some(after)) => {
                lines.windows(3).filter(|three| three[0] == *before && three[2] == *after).count()
            }
            _ => 0,
        };
        Fit {
            shared: ours,
            of: (one.len() - 1).min(two.len() - 1),
            // Two lines more than any rival, and no more could be shared by giving the pair up.
            only: rival.is_none_or(|rival| rival + 2 <= ours) && best <= ours + 1,
            close: self.before.last() == other.before.last()
                && self.after.first() == other.after.first()
                && between(&two) <= between(&one),
        }
    }
}

/// The length of the longest common subsequence of each pair of beginnings.
fn common(one: &[LineHash], two: &[LineHash]) -> Vec<Vec<usize>> {
    let mut table = vec![vec![0; two.len() + 1]; one.len() + 1];
    for (i, a) in one.iter().enumerate() {
        for (j, b) in two.iter().enumerate() {
            table[i + 1][j + 1] = if a == b { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
        }
    }
    table
}

/// As text: the lines before, a dot, the line and its column, a dot, the lines after.
impl Serialize for Neighbours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        self.before.iter().for_each(|line| line.write(&mut text));
        text.push('.');
        self.line.write(&mut text);
        if let Some(column) = self.column {
            text.push_str(&column.to_string());
        }
        text.push('.');
        self.after.iter().for_each(|line| line.write(&mut text));
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Neighbours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = || -> Option<Neighbours> {
            let mut parts = text.split('.').map(str::as_bytes);
            let (before, line, after) = (parts.next()?, parts.next()?, parts.next()?);
            let lines = |digits: &[u8]| -> Option<Vec<LineHash>> {
                let whole = digits.len().is_multiple_of(5) && digits.len() <= 5 * REACH;
                digits.chunks(5).map(LineHash::read).collect::<Option<_>>().filter(|_| whole)
            };
            let column = std::str::from_utf8(line.get(5..)?).ok()?;
            let column = if column.is_empty() { None } else { Some(column.parse().ok()?) };
            let line = LineHash::read(line.get(..5)?)?;
            Some(Neighbours { before: lines(before)?, line, column, after: lines(after)? })
        };
        read().ok_or_else(|| serde::de::Error::custom("not a line with its neighbours"))
    }
}

impl Serialize for LineHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        self.write(&mut text);
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for LineHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = if text.len() == 5 { LineHash::read(text.as_bytes()) } else { None };
        hash.ok_or_else(|| serde::de::Error::custom("not the hash of a line"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, number: u32) -> Neighbours {
        let lines: Vec<&str> = text.lines().collect();
        let line = |number: u32| lines.get(number as usize - 1).copied().unwrap_or("");
        Neighbours::of(&line, number, None, 1, lines.len() as u32)
    }

    #[test]
    fn a_line_fits_itself_after_lines_came_between() {
        let before = at("int f()\n{\n  a();\n  use(p);\n  b();\n  c();\n}\n", 4);
        let after = at("int f()\n{\n  a();\n  more();\n    use( p );\n  b();\n  d();\n  c();\n}\n", 5);
        let fit = before.fit(&after);
        assert!(before.same_line(&after) && fit.only, "{fit:?}");
        assert_eq!((fit.shared, fit.of), (4, 4));
    }

    #[test]
    fn another_line_with_the_same_words_does_not_fit() {
        let text = "f()\n a();\n use(p);\n b();\n c();\n use(p);\n d();\n";
        let (first, second) = (at(text, 3), at(text, 6));
        assert!(!first.fit(&second).only);
        assert!(first.fit(&first).only && second.fit(&second).only);
    }

    #[test]
    fn of_a_copy_and_its_original_neither_is_certain() {
        let original = at("p();\nq();\nx();\nuse(p);\ny();\nr();\n", 4);
        let copied = "p();\nq();\nx();\nuse(p);\ny();\nx();\nuse(p);\ny();\nr();\n";
        assert!(!original.fit(&at(copied, 4)).only);
        assert!(!original.fit(&at(copied, 7)).only);
    }

    #[test]
    fn a_copy_of_a_block_whose_original_line_has_changed_is_not_certain() {
        let original = at("p();\nq();\nuse(p);\nr();\ns();\n", 3);
        let copied = "p();\nq();\nuse(p);\nr();\nq();\nuse(p); /* seen */\nr();\ns();\n";
        assert!(!original.fit(&at(copied, 3)).close);
        assert!(original.fit(&at("p();\nq();\nuse(p);\nr();\nmore();\ns();\n", 3)).close);
    }

    #[test]
    fn text_is_read_back_and_nonsense_is_not() {
        for neighbours in [at("a\nb\nc", 2), Neighbours { column: Some(7), ..at("a", 1) }] {
            let text = serde_json::to_string(&neighbours).unwrap();
            assert_eq!(serde_json::from_str::<Neighbours>(&text).unwrap(), neighbours);
        }
        for nonsense in ["", ".", "..", "AAAAA..", ".AAAA.", "AAAA.AAAAA.", ".AAAAAx.", ".AAAAA99999999999."]
        {
            let text = format!("\"{nonsense}\"");
            let whole = nonsense == "AAAAA..";
            assert!(serde_json::from_str::<Neighbours>(&text).is_err(), "{nonsense} {whole}");
        }
    }
}
