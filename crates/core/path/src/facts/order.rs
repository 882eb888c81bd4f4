//! How far apart numbers are at most: difference bounds, closed under transitivity as they come, and taken back in order.
//!
//! Constraints `i - j <= w` over the integers hold together exactly if no cycle of them has a negative sum, and the
//! closure tells at once what follows for any two numbers. Vectors are taken for the signed numbers they are; that they
//! have a range is left out, so what is refuted here is refuted, and a solution is held against the range.

/// No bound. Sums of two stay far from overflow.
const FREE: i64 = i64::MAX / 4;

/// A number of the order and a constant beside it; number 0 is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub number: u32,
    pub plus: i64,
}

/// The bounds.
#[derive(Default)]
pub(super) struct Order {
    /// `bounds[i][j]`: the most that number i is above number j.
    bounds: Vec<Vec<i64>>,
    /// `i - j` is not this.
    apart: Vec<(u32, u32, i64)>,
    undo: Vec<(u32, u32, i64)>,
    /// Whether a bound has changed since this was last false.
    pub changed: bool,
}

/// How much there was.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    numbers: usize,
    apart: usize,
    undo: usize,
}

/// Two constraints that cannot both be.
pub(super) struct Contradiction;

type Kept = Result<(), Contradiction>;

impl Order {
    pub fn numbers(&self) -> usize {
        self.bounds.len()
    }

    /// Whether anything can be known of a number.
    pub fn knows(&self, sum: Sum) -> bool {
        (sum.number as usize) < self.bounds.len()
    }

    /// One more number, of which nothing is known.
    pub fn add(&mut self) -> u32 {
        let number = self.bounds.len();
        self.bounds.iter_mut().for_each(|row| row.push(FREE));
        let mut row = vec![FREE; number + 1];
        row[number] = 0;
        self.bounds.push(row);
        number as u32
    }

    pub fn mark(&self) -> Mark {
        Mark { numbers: self.bounds.len(), apart: self.apart.len(), undo: self.undo.len() }
    }

    pub fn back_to(&mut self, mark: Mark) {
        for (i, j, old) in self.undo.drain(mark.undo..).rev() {
            self.bounds[i as usize][j as usize] = old;
        }
        self.apart.truncate(mark.apart);
        self.bounds.truncate(mark.numbers);
        self.bounds.iter_mut().for_each(|row| row.truncate(mark.numbers));
        self.changed = false;
    }

    /// The most that `a - b` can be.
    fn most(&self, a: Sum, b: Sum) -> Option<i64> {
        let bound = self.bounds[a.number as usize][b.number as usize];
        (bound < FREE).then(|| bound + a.plus - b.plus)
    }

    /// Whether `a < b` (strict) or `a <= b`, if that is known.
    pub fn below(&self, a: Sum, b: Sum, strict: bool) -> Option<bool> {
        if self.most(a, b).is_some_and(|most| most <= -i64::from(strict)) {
            return Some(true);
        }
        // b - a <= 0 says that a < b is false; b - a <= -1, that a <= b is.
        self.most(b, a).is_some_and(|most| most <= -i64::from(!strict)).then_some(false)
    }

    /// Whether `a = b`, if that is known.
    pub fn equal(&self, a: Sum, b: Sum) -> Option<bool> {
        let (up, down) = (self.most(a, b), self.most(b, a));
        if up.is_some_and(|most| most < 0) || down.is_some_and(|most| most < 0) {
            return Some(false);
        }
        if up == Some(0) && down == Some(0) {
            return Some(true);
        }
        let told = |(i, j, w): &(u32, u32, i64)| {
            (*i, *j, *w) == (a.number, b.number, b.plus - a.plus)
                || (*i, *j, *w) == (b.number, a.number, a.plus - b.plus)
        };
        self.apart.iter().any(told).then_some(false)
    }

    /// `a < b` (strict) or `a <= b`.
    pub fn assume_below(&mut self, a: Sum, b: Sum, strict: bool) -> Kept {
        self.bound(a.number, b.number, b.plus - a.plus - i64::from(strict))?;
        self.keep_apart()
    }

    /// `a = b`.
    pub fn assume_equal(&mut self, a: Sum, b: Sum) -> Kept {
        self.bound(a.number, b.number, b.plus - a.plus)?;
        self.bound(b.number, a.number, a.plus - b.plus)?;
        self.keep_apart()
    }

    /// `a != b`.
    pub fn assume_apart(&mut self, a: Sum, b: Sum) -> Kept {
        if self.equal(a, b) != Some(false) {
            self.apart.push((a.number, b.number, b.plus - a.plus));
        }
        self.keep_apart()
    }

    /// `i - j <= w`.
    fn bound(&mut self, i: u32, j: u32, w: i64) -> Kept {
        let (a, b) = (i as usize, j as usize);
        if self.bounds[a][b] <= w {
            return Ok(());
        }
        let back = self.bounds[b][a];
        if back < FREE && back + w < 0 {
            return Err(Contradiction);
        }
        let numbers = self.bounds.len();
        for x in 0..numbers {
            let to = self.bounds[x][a];
            if to >= FREE || to + w >= self.bounds[x][b] {
                continue;
            }
            for y in 0..numbers {
                let from = self.bounds[b][y];
                if from < FREE && to + w + from < self.bounds[x][y] {
                    self.undo.push((x as u32, y as u32, self.bounds[x][y]));
                    self.bounds[x][y] = to + w + from;
                }
            }
        }
        self.changed = true;
        Ok(())
    }

    /// Where numbers that differ can be no further apart on one side, they are closer on it.
    fn keep_apart(&mut self) -> Kept {
        let mut again = true;
        while again {
            again = false;
            for at in 0..self.apart.len() {
                let (i, j, w) = self.apart[at];
                for (i, j, w) in [(i, j, w), (j, i, -w)] {
                    if self.bounds[i as usize][j as usize] == w {
                        self.bound(i, j, w - 1)?;
                        again = true;
                    }
                }
            }
        }
        Ok(())
    }

    /// Numbers that satisfy everything assumed; those that differ are put in some order if they must. Nothing if that
    /// does not succeed at once.
    pub fn solution(&mut self) -> Option<Vec<i64>> {
        for _ in 0..=self.apart.len() {
            let values = self.furthest()?;
            let met = |&&(i, j, w): &&(u32, u32, i64)| values[i as usize] - values[j as usize] == w;
            let Some(&(i, j, w)) = self.apart.iter().find(met) else { return Some(values) };
            let below = self.bound(i, j, w - 1).and_then(|()| self.keep_apart());
            below.or_else(|_| self.bound(j, i, -w - 1).and_then(|()| self.keep_apart())).ok()?;
        }
        None
    }

    /// Numbers that keep all bounds.
    fn furthest(&self) -> Option<Vec<i64>> {
        // The numbers furthest up from zero and from a place above all that lower bounds ask for.
        let least = |i: usize| self.bounds[0][i];
        let floors = (0..self.bounds.len()).map(least).filter(|bound| *bound < FREE);
        let high = floors.map(|bound| -bound).max().unwrap_or(0).max(0) + self.bounds.len() as i64;
        let value = |row: &Vec<i64>| {
            let by = |(j, bound): (usize, &i64)| bound.saturating_add(if j == 0 { 0 } else { high });
            row.iter().enumerate().map(by).min().unwrap_or(0)
        };
        let values: Vec<i64> = self.bounds.iter().map(value).collect();
        (values.first() == Some(&0)).then_some(values)
    }
}
