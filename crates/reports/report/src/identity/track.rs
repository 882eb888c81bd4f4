//! Which report of a run is which of an earlier one.
//!
//! A verdict on the wrong report is worse than one that is asked for again. So two reports are taken for one only where
//! no other report, of then or of now, fits as well, and where the code around them says so or is the same to the letter:
//!
//! 1. Everything is equal: place, code, neighbours, calls. Where several are, only the unchanged text tells them apart.
//! 2. The same line of the same function, and its neighbours fit in one way only.
//! 3. The same line in a function that was moved or renamed: the neighbours fit well, and the old function is gone.
//! 4. Without code: nothing at all has changed among the reports that look alike; else the tool's own identity; else their
//!    lines have not changed.
//!
//! What fits in part is named as a possibility, best first.

use super::place::base_name;
use super::{Code, Identity, Neighbours};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

/// At most so many possibilities are named.
const NAMED: usize = 3;

/// What a report was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// This one.
    Same(usize),
    /// Perhaps one of these, the likeliest first.
    Perhaps(Vec<usize>),
    /// None of them.
    New,
}

/// Reports that share something: those of then, and those of now.
type Sides = (Vec<usize>, Vec<usize>);

/// For each of the reports of now what it was then. `code` is the code of now.
pub fn track(then: &[Identity], now: &[Identity], code: &mut dyn Code) -> Vec<Match> {
    let mut buckets: BTreeMap<(&str, &str), Sides> = BTreeMap::new();
    for (index, identity) in then.iter().enumerate() {
        buckets.entry((&identity.tool, &identity.rule)).or_default().0.push(index);
    }
    for (index, identity) in now.iter().enumerate() {
        buckets.entry((&identity.tool, &identity.rule)).or_default().1.push(index);
    }
    let mut state = State {
        then,
        now,
        same: vec![None; now.len()],
        taken: HashSet::new(),
        unclear_then: HashSet::new(),
        unclear_now: HashSet::new(),
    };
    let mut possible: Vec<Vec<usize>> = vec![Vec::new(); now.len()];
    for (olds, news) in buckets.into_values().filter(|(olds, news)| !olds.is_empty() && !news.is_empty()) {
        state.equal(&olds, &news);
        state.by_relation(&olds, &news, &|old, new| here(old, new));
        let mut gone = Gone { code: &mut *code, known: HashMap::new() };
        let moved: HashSet<usize> =
            olds.iter().copied().filter(|&old| !state.taken.contains(&old) && gone.is(&then[old])).collect();
        state.by_place(&olds, &news, &moved);
        state.without_code(&olds, &news);
        for &new in news.iter().filter(|&&new| state.same[new].is_none()) {
            possible[new] = state.likely(&olds, new);
        }
    }
    let matches = state.same.iter().zip(possible);
    matches
        .map(|(same, possible)| match same {
            Some(old) => Match::Same(*old),
            None if possible.is_empty() => Match::New,
            None => Match::Perhaps(possible),
        })
        .collect()
}

struct State<'i> {
    then: &'i [Identity],
    now: &'i [Identity],
    same: Vec<Option<usize>>,
    taken: HashSet<usize>,
    /// Reports that several fit equally well: weaker evidence does not decide what stronger did not.
    unclear_then: HashSet<usize>,
    unclear_now: HashSet<usize>,
}

impl<'i> State<'i> {
    fn set(&mut self, old: usize, new: usize) {
        self.same[new] = Some(old);
        self.taken.insert(old);
    }

    /// Reports that are equal in everything the code says. Several that are equal are told apart by the text itself,
    /// if that has not changed; reports on the same spot of the same text are one.
    fn equal(&mut self, olds: &[usize], news: &[usize]) {
        let mut groups: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for &old in olds.iter().filter(|&&old| self.then[old].place.code.is_some()) {
            groups.entry(self.then[old].key()).or_default().0.push(old);
        }
        for &new in news.iter().filter(|&&new| self.now[new].place.code.is_some()) {
            groups.entry(self.now[new].key()).or_default().1.push(new);
        }
        for (olds, news) in groups.into_values().filter(|(olds, news)| !olds.is_empty() && !news.is_empty()) {
            let alone = on_one_spot(self.then, &olds) && on_one_spot(self.now, &news);
            for &new in &news {
                let spot = self.now[new].place.spot();
                match olds.iter().find(|&&old| alone || self.then[old].place.spot() == spot) {
                    Some(&old) => self.set(old, new),
                    None => drop(self.unclear_now.insert(new)),
                }
            }
            let unclear = olds.iter().filter(|old| !self.taken.contains(old));
            self.unclear_then.extend(unclear);
        }
    }

    /// Pairs that stand in a relation to each other and to nothing else.
    fn by_relation(
        &mut self,
        olds: &[usize],
        news: &[usize],
        related: &dyn Fn(&Identity, &Identity) -> bool,
    ) {
        let olds: Vec<usize> = olds.iter().copied().filter(|old| !self.taken.contains(old)).collect();
        let news: Vec<usize> = news.iter().copied().filter(|&new| self.same[new].is_none()).collect();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let mut by_line: HashMap<_, Vec<usize>> = HashMap::new();
        for &old in &olds {
            by_line.entry(self.then[old].place.code.as_ref().map(|code| code.line)).or_default().push(old);
        }
        for &new in &news {
            let line = self.now[new].place.code.as_ref().map(|code| code.line);
            for &old in by_line.get(&line).map_or(&[][..], Vec::as_slice) {
                if related(&self.then[old], &self.now[new]) {
                    pairs.push((old, new));
                }
            }
        }
        let contested = self.contested(&pairs, &news);
        for (old, new) in contested {
            self.unclear_then.insert(old);
            self.unclear_now.insert(new);
        }
        self.decide(&pairs);
    }

    /// Pairs whose report of now has a rival: one that says the same of an equal line of the same function, and is related to
    /// nothing of then. What fits better may be the copy, and what fits worse the original.
    fn contested(&self, pairs: &[(usize, usize)], news: &[usize]) -> Vec<(usize, usize)> {
        let related: HashSet<usize> = pairs.iter().map(|(_, new)| *new).collect();
        let home = |new: usize| (&self.now[new].place.file, &self.now[new].place.function);
        let is_contested = |&&(old, new): &&(usize, usize)| {
            let mut others = news.iter().filter(|other| !related.contains(other));
            others
                .any(|&other| home(other) == home(new) && lines(&self.then[old], &self.now[other]).is_some())
        };
        pairs.iter().filter(is_contested).copied().collect()
    }

    /// Takes pairs whose sides occur in no other pair, or whose paths alone are equal; the others are unclear.
    fn decide(&mut self, pairs: &[(usize, usize)]) {
        let equal = |&(old, new): &(usize, usize)| self.then[old].place.trail == self.now[new].place.trail;
        let count = |pairs: &mut dyn Iterator<Item = &(usize, usize)>| {
            let mut counts: (HashMap<usize, usize>, HashMap<usize, usize>) = Default::default();
            for (old, new) in pairs {
                *counts.0.entry(*old).or_default() += 1;
                *counts.1.entry(*new).or_default() += 1;
            }
            counts
        };
        let all = count(&mut pairs.iter());
        let close = count(&mut pairs.iter().filter(|pair| equal(pair)));
        let decided: Vec<(usize, usize)> = pairs
            .iter()
            .copied()
            .filter(|pair| {
                let (old, new) = *pair;
                let alone = all.0[&old] == 1 && all.1[&new] == 1;
                alone || (equal(pair) && close.0[&old] == 1 && close.1[&new] == 1)
            })
            .filter(|(old, new)| !self.unclear_then.contains(old) && !self.unclear_now.contains(new))
            .collect();
        for (old, new) in decided {
            self.set(old, new);
        }
        for (old, new) in pairs {
            if !self.taken.contains(old) {
                self.unclear_then.insert(*old);
            }
            if self.same[*new].is_none() {
                self.unclear_now.insert(*new);
            }
        }
    }

    /// Pairs in functions that were moved or renamed. `moved` are the reports of then whose function is gone.
    fn by_place(&mut self, olds: &[usize], news: &[usize], moved: &HashSet<usize>) {
        let olds: Vec<usize> = olds.iter().copied().filter(|old| moved.contains(old)).collect();
        self.by_relation(&olds, news, &|old, new| elsewhere(old, new));
    }

    /// Without code on one side: reports of one sort that are all the same to the letter, else what the tool computed, else
    /// reports of one sort whose lines are all the same. An identity of the tool that several reports share decides nothing, and
    /// must not keep a run from being the same as itself: so the first rule comes before it.
    fn without_code(&mut self, olds: &[usize], news: &[usize]) {
        self.unchanged(olds, news, |identity| identity);
        let olds: Vec<usize> = olds.iter().copied().filter(|old| !self.taken.contains(old)).collect();
        let news: Vec<usize> = news.iter().copied().filter(|&new| self.same[new].is_none()).collect();
        let mut own: HashMap<(&String, &String), Sides> = HashMap::new();
        let (then, now) = (self.then, self.now);
        for &old in &olds {
            then[old].own.iter().for_each(|print| own.entry(print).or_default().0.push(old));
        }
        for &new in &news {
            now[new].own.iter().for_each(|print| own.entry(print).or_default().1.push(new));
        }
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (olds, news) in own.values() {
            for (&old, &new) in olds.iter().flat_map(|old| news.iter().map(move |new| (old, new))) {
                if blind(&then[old], &now[new]) && then[old].title == now[new].title {
                    pairs.push((old, new));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.decide(&pairs);
        // The text of the file is not known on both sides; its lines are.
        self.unchanged(&olds, &news, |identity| &identity.place.lines);
    }

    /// Reports of one sort that have the same marks as before, all of them: each is the one with its mark.
    fn unchanged<M: Eq + Hash>(&mut self, olds: &[usize], news: &[usize], mark: impl Fn(&'i Identity) -> M) {
        let (then, now) = (self.then, self.now);
        let mut sorts: BTreeMap<Sort<'_>, Sides> = BTreeMap::new();
        for &old in olds {
            sorts.entry(sort(&then[old])).or_default().0.push(old);
        }
        for &new in news {
            sorts.entry(sort(&now[new])).or_default().1.push(new);
        }
        for (olds, news) in sorts.into_values() {
            let marks = |all: &'i [Identity], some: &[usize]| -> HashSet<M> {
                some.iter().map(|&index| mark(&all[index])).collect()
            };
            if marks(then, &olds) != marks(now, &news) {
                continue;
            }
            for new in news {
                if self.same[new].is_some() || self.unclear_now.contains(&new) {
                    continue;
                }
                let fits =
                    |old: &&usize| mark(&then[**old]) == mark(&now[new]) && blind(&then[**old], &now[new]);
                if let Some(&old) = olds.iter().find(fits) {
                    self.set(old, new);
                }
            }
        }
    }

    /// What a report may have been, of what is left.
    fn likely(&self, olds: &[usize], new: usize) -> Vec<usize> {
        let identity = &self.now[new];
        let mut scored: Vec<(usize, usize)> = olds
            .iter()
            .filter(|old| !self.taken.contains(old))
            .map(|&old| (likeness(&self.then[old], identity), old))
            .filter(|(score, _)| *score >= 5)
            .collect();
        scored.sort_by_key(|&(score, old)| (usize::MAX - score, old));
        scored.into_iter().take(NAMED).map(|(_, old)| old).collect()
    }
}

/// Without the code of one of them.
fn blind(old: &Identity, new: &Identity) -> bool {
    old.place.code.is_none() || new.place.code.is_none()
}

/// What reports without code look alike by: title, file, function, calls.
type Sort<'i> = (&'i str, &'i str, &'i str, Vec<&'i str>);

fn sort(identity: &Identity) -> Sort<'_> {
    let place = &identity.place;
    let calls = place.calls.iter().map(|(function, _)| function.as_str()).collect();
    (&identity.title, base_name(&place.file), &place.function, calls)
}

/// Whether reports that the code does not tell apart are one: on the same lines of the same text.
fn on_one_spot(all: &[Identity], some: &[usize]) -> bool {
    some.windows(2).all(|pair| all[pair[0]].place.spot() == all[pair[1]].place.spot())
}

/// The same line of the same function.
fn here(old: &Identity, new: &Identity) -> bool {
    let Some((one, two)) = lines(old, new) else { return false };
    if old.place.file != new.place.file || old.place.function != new.place.function {
        return false;
    }
    let fit = one.fit(two);
    // Of a short function all must fit, of a long one a part; where the tool agrees, less will do.
    let enough = if same_own(old, new) { fit.of.min(1) } else { fit.of.min(2).max(fit.of.div_ceil(3)) };
    fit.only && fit.close && fit.shared >= enough
}

/// The same line in a function that has another name or stands in another file.
fn elsewhere(old: &Identity, new: &Identity) -> bool {
    let Some((one, two)) = lines(old, new) else { return false };
    if old.place.file == new.place.file && old.place.function == new.place.function {
        return false;
    }
    let fit = one.fit(two);
    let renamed = old.place.function != new.place.function;
    let least = if renamed { 4 } else { 3 };
    fit.only && fit.close && fit.shared >= least && 3 * fit.shared >= 2 * one.size().max(two.size())
}

/// The code of both, where the reports say the same of the same line and the calls there may be the same.
fn lines<'i>(old: &'i Identity, new: &'i Identity) -> Option<(&'i Neighbours, &'i Neighbours)> {
    let (one, two) = (old.place.code.as_ref()?, new.place.code.as_ref()?);
    let calls = old.place.calls.len() == new.place.calls.len()
        && old
            .place
            .calls
            .iter()
            .zip(&new.place.calls)
            .all(|(one, two)| one.0 == two.0 || (one.1.is_some() && one.1 == two.1));
    (old.title == new.title && calls && one.same_line(two) && ends(old, new)).then_some((one, two))
}

/// Whether the other stacks and threads end at the same lines, as far as is known: what was noted before they were kept has none.
fn ends(old: &Identity, new: &Identity) -> bool {
    let (one, two) = (&old.place.ends, &new.place.ends);
    one.is_empty()
        || two.is_empty()
        || (one.len() == two.len()
            && one.iter().zip(two).all(|((_, one), (_, two))| {
                let fit = one.fit(two);
                one.same_line(two) && fit.only && fit.close
            }))
}

fn same_own(old: &Identity, new: &Identity) -> bool {
    old.own.iter().any(|(name, value)| new.own.get(name) == Some(value))
}

/// How much speaks for one being the other; from five on it is worth asking.
fn likeness(old: &Identity, new: &Identity) -> usize {
    let (one, two) = (&old.place, &new.place);
    let title = old.title == new.title;
    let line = one.code.as_ref().zip(two.code.as_ref()).is_some_and(|(one, two)| one.same_line(two));
    let function = !one.function.is_empty() && one.function == two.function;
    let file = base_name(&one.file) == base_name(&two.file);
    let around = one.code.as_ref().zip(two.code.as_ref()).is_some_and(|(one, two)| {
        let fit = one.fit(two);
        fit.shared >= 3 && 2 * fit.shared >= fit.of
    });
    let calls = one.calls == two.calls;
    let trail = !one.trail.is_empty() && one.trail == two.trail;
    // Without the code of both, less can speak for it.
    2 * usize::from(title)
        + 3 * usize::from(line)
        + 2 * usize::from(function)
        + usize::from(file)
        + 3 * usize::from(around)
        + usize::from(calls)
        + usize::from(blind(old, new))
        + 2 * usize::from(trail)
        + 4 * usize::from(same_own(old, new))
}

/// Functions that are no longer where they were.
struct Gone<'c> {
    code: &'c mut dyn Code,
    known: HashMap<(String, String), bool>,
}

impl Gone<'_> {
    fn is(&mut self, identity: &Identity) -> bool {
        let place = &identity.place;
        let key = (place.file.clone(), place.function.clone());
        if let Some(&gone) = self.known.get(&key) {
            return gone;
        }
        let gone = !self.code.defines(&place.file, &place.function);
        self.known.insert(key, gone);
        gone
    }
}
