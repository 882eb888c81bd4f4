//! Sets of small numbers: a sorted list while there are few, a bitmap from then on.
//!
//! Programs with one allocator have thousands of nodes that point to nearly the same thousands of places: as lists they
//! would take gigabytes, as bitmaps they take a bit each and are joined a word at a time.

use smallvec::SmallVec;

/// Numbers that are kept as a list.
const FEW: usize = 32;

/// A set of numbers.
#[derive(Clone, Debug)]
pub(crate) enum Set {
    Few(SmallVec<[u32; 4]>),
    Many(Vec<u64>),
}

impl Default for Set {
    fn default() -> Self {
        Set::Few(SmallVec::new())
    }
}

impl Set {
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Set::Few(list) => list.is_empty(),
            Set::Many(_) => false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Set::Few(list) => list.len(),
            Set::Many(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Set::Few(list) => Box::new(list.iter().copied()),
            Set::Many(words) => Box::new(words.iter().enumerate().flat_map(|(at, &word)| {
                let mut rest = word;
                std::iter::from_fn(move || {
                    let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                    rest &= rest - 1;
                    Some(at as u32 * 64 + bit)
                })
            })),
        }
    }

    /// Adds a number; whether it is new.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        match self {
            Set::Few(list) => match list.binary_search(&number) {
                Ok(_) => false,
                Err(at) if list.len() < FEW => {
                    list.insert(at, number);
                    true
                }
                Err(_) => {
                    let mut words = Vec::new();
                    for &held in list.iter() {
                        set(&mut words, held);
                    }
                    set(&mut words, number);
                    *self = Set::Many(words);
                    true
                }
            },
            Set::Many(words) => set(words, number),
        }
    }

    /// Adds a set; gives what was new.
    pub(crate) fn add(&mut self, other: &Set) -> Set {
        if let (Set::Many(mine), Set::Many(theirs)) = (&mut *self, other) {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), 0);
            }
            let mut new: Option<Vec<u64>> = None;
            for (at, (mine, theirs)) in mine.iter_mut().zip(theirs).enumerate() {
                let fresh = theirs & !*mine;
                if fresh != 0 {
                    *mine |= fresh;
                    let new = new.get_or_insert_with(Vec::new);
                    new.resize(at + 1, 0);
                    new[at] = fresh;
                }
            }
            return match new {
                None => Set::default(),
                Some(words) => Set::Many(words).tidy(),
            };
        }
        let mut new = Set::default();
        for number in other.iter() {
            if self.insert(number) {
                new.insert(number);
            }
        }
        new
    }

    /// The part that lies in a bitmap, and the rest.
    pub(crate) fn split(&self, bitmap: &[u64]) -> (Set, Set) {
        let inside =
            |number: u32| bitmap.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
        match self {
            Set::Few(list) => {
                let (within, rest): (SmallVec<_>, SmallVec<_>) =
                    list.iter().copied().partition(|number| inside(*number));
                (Set::Few(within), Set::Few(rest))
            }
            Set::Many(words) => {
                let mask = bitmap.iter().copied().chain(std::iter::repeat(0));
                let within = words.iter().zip(mask.clone()).map(|(word, mask)| word & mask).collect();
                let rest = words.iter().zip(mask).map(|(word, mask)| word & !mask).collect();
                (Set::Many(within).tidy(), Set::Many(rest).tidy())
            }
        }
    }

    /// Takes a set away.
    pub(crate) fn remove(&mut self, other: &Set) {
        match (&mut *self, other) {
            (Set::Many(mine), Set::Many(theirs)) => {
                for (mine, theirs) in mine.iter_mut().zip(theirs) {
                    *mine &= !theirs;
                }
                *self = std::mem::take(self).tidy();
            }
            (Set::Many(mine), Set::Few(theirs)) => {
                for number in theirs {
                    if let Some(word) = mine.get_mut(*number as usize / 64) {
                        *word &= !(1 << (number % 64));
                    }
                }
                *self = std::mem::take(self).tidy();
            }
            (Set::Few(mine), other) => mine.retain(|number| !other.contains(*number)),
        }
    }

    fn contains(&self, number: u32) -> bool {
        match self {
            Set::Few(list) => list.binary_search(&number).is_ok(),
            Set::Many(words) => {
                words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
            }
        }
    }

    /// A bitmap of few bits becomes a list again.
    fn tidy(self) -> Set {
        if self.len() > FEW {
            return self;
        }
        Set::Few(self.iter().collect())
    }
}

/// Sets a bit; whether it is new.
pub(crate) fn set(words: &mut Vec<u64>, number: u32) -> bool {
    let (at, bit) = (number as usize / 64, 1u64 << (number % 64));
    if words.len() <= at {
        words.resize(at + 1, 0);
    }
    let new = words[at] & bit == 0;
    words[at] |= bit;
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sets_agree_with_the_library_on_random_numbers() {
        let mut random = 12345u64;
        let mut next = |bound: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % bound) as u32
        };
        for _ in 0..300 {
            let (mut a, mut b) = (Set::default(), Set::default());
            let (mut x, mut y) = (BTreeSet::new(), BTreeSet::new());
            let bound = [10, 100, 5000][next(3) as usize];
            for _ in 0..next(100) {
                let (m, n) = (next(bound), next(bound));
                assert_eq!(a.insert(m), x.insert(m));
                assert_eq!(b.insert(n), y.insert(n));
            }
            let new = a.add(&b);
            let expected: Vec<u32> = y.difference(&x).copied().collect();
            assert_eq!(new.iter().collect::<Vec<_>>(), expected);
            assert_eq!(new.len(), expected.len());
            let mut rest = b.clone();
            rest.remove(&new);
            assert_eq!(rest.iter().collect::<Vec<_>>(), y.intersection(&x).copied().collect::<Vec<_>>());
            let bitmap = match &rest {
                Set::Many(words) => words.clone(),
                Set::Few(list) => {
                    let mut words = Vec::new();
                    assert!(list.iter().all(|&number| set(&mut words, number)));
                    words
                }
            };
            let (within, without) = b.split(&bitmap);
            assert_eq!(within.iter().collect::<Vec<_>>(), rest.iter().collect::<Vec<_>>());
            assert_eq!(without.iter().collect::<Vec<_>>(), expected);
            x.extend(&y);
            assert_eq!(a.iter().collect::<Vec<_>>(), x.iter().copied().collect::<Vec<_>>());
            assert_eq!(a.is_empty(), x.is_empty());
        }
    }
}
