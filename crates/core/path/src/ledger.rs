//! The ledger of a run: what was left out, and what was assumed.
//!
//! An engine appends to the ledger at the moment it leaves something out; nothing is taken out again. So what was left
//! out does not depend on what becomes of the path, state or thread that left it out: a path may be discarded, merged or
//! killed, and its entries stay. An answer carries a [`Completeness`], which only [`Ledger::close`] makes.
//!
//! Two things are assumed, and they differ by type. A [`Premise`] narrows the question ("standard input has 2 bytes"):
//! the answer is about inputs that keep it, and lists it. What stands in for behaviour of the program (a function without
//! a body that returns anything) is a [`Bound`], since the answer is then about another program.

use crate::{Bound, Frontier};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An assumption that narrows the question: the answer is about inputs that keep it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Premise(String);

impl Premise {
    /// A premise in words.
    pub fn new(words: impl Into<String>) -> Premise {
        Premise(words.into())
    }

    /// In words.
    pub fn words(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Premise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something that was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    /// The bound that was hit.
    pub bound: Bound,
    /// Where in the program, as `file:line` or the name of a function.
    pub place: Option<String>,
    /// How often.
    pub count: u64,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.bound)?;
        let place = self.place.as_deref().map(|place| format!("at {place}"));
        let raise = self.bound.option().map(|option| format!("raise {option}"));
        let more: Vec<String> = place.into_iter().chain(raise).collect();
        if more.is_empty() { Ok(()) } else { write!(f, " ({})", more.join("; ")) }
    }
}

/// Entries with places of their own; a program has more lines than a reader wants to see.
const MOST_ENTRIES: usize = 4096;

/// What a ledger holds.
#[derive(Debug, Default)]
struct Book {
    left_out: BTreeMap<(Bound, Option<String>), u64>,
    premises: BTreeSet<Premise>,
    /// A premise that some input did not keep; the input was left out.
    excluded: Option<Premise>,
    /// Whether the path of some input that keeps all premises came to its end.
    kept: bool,
}

impl Book {
    fn add(&mut self, bound: Bound, place: Option<String>, count: u64) {
        let mut key = (bound, place);
        if self.left_out.len() >= MOST_ENTRIES && !self.left_out.contains_key(&key) {
            key.1 = None;
            if !self.left_out.contains_key(&key) && self.left_out.len() >= 2 * MOST_ENTRIES {
                key.0 = Bound::Missing("more was left out than is listed here".into());
            }
        }
        let known = self.left_out.entry(key).or_insert(0);
        *known = known.saturating_add(count);
    }
}

/// The ledger of a run. Clones are handles of one ledger, also on other threads.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    book: Arc<Mutex<Book>>,
}

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        // A thread that panicked has appended whole entries or none.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a bound.
    pub fn note(&self, bound: Bound) {
        self.book().add(bound, None, 1);
    }

    /// Notes a bound, and where in the program it was hit.
    pub fn note_at(&self, bound: Bound, place: Option<String>) {
        self.book().add(bound, place, 1);
    }

    /// Notes a premise of the answer.
    pub fn assume(&self, premise: Premise) {
        self.book().premises.insert(premise);
    }

    /// Notes that inputs were left out because they do not keep a premise.
    pub fn exclude(&self, premise: Premise) {
        self.book().excluded.get_or_insert(premise);
    }

    /// Notes that the path of an input that keeps all premises came to its end.
    pub fn reach_end(&self) {
        self.book().kept = true;
    }

    /// Takes in entries of another run: of a child process, or of the run that this one resumes.
    pub fn absorb(&self, entries: impl IntoIterator<Item = Entry>) {
        let mut book = self.book();
        for Entry { bound, place, count } in entries {
            book.add(bound, place, count);
        }
    }

    /// Everything that was left out so far.
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |((bound, place), count): (&(Bound, Option<String>), &u64)| Entry {
            bound: bound.clone(),
            place: place.clone(),
            count: *count,
        };
        self.book().left_out.iter().map(entry).collect()
    }

    /// Closes the ledger over what is left of a search. States that nobody accounts for are a bound of their own; so are
    /// premises that no input of the run keeps, where no other bound says why none came to its end.
    pub fn close<S>(self, left: &Frontier<S>) -> Completeness {
        if !left.is_empty() && self.book().left_out.is_empty() {
            self.note(Bound::Unvisited(left.len()));
        }
        let vacuous = {
            let book = self.book();
            book.excluded.clone().filter(|_| !book.kept && book.left_out.is_empty())
        };
        if let Some(premise) = vacuous {
            self.note(Bound::Vacuous(premise.0));
        }
        let entries = self.entries();
        let bounds = entries.iter().map(|entry| entry.bound.clone()).collect();
        Completeness { entries, bounds, premises: self.book().premises.clone() }
    }
}

/// Whether an answer speaks of everything there is. There is no way to make one but [`Ledger::close`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completeness {
    entries: Vec<Entry>,
    bounds: BTreeSet<Bound>,
    premises: BTreeSet<Premise>,
}

/// Entries of one kind that [`Completeness::lines`] shows.
const SHOWN: usize = 4;

impl Completeness {
    /// Whether everything was looked at.
    pub fn is_complete(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Whether there would have been more to look at with more time.
    pub fn is_out_of_time(&self) -> bool {
        self.bounds.iter().any(|bound| bound.time().is_some())
    }

    /// What two answers together speak of. Where each ran out of time, both together ran out of the sum.
    pub fn and(self, other: Completeness) -> Completeness {
        let mut book = Book { premises: self.premises, ..Book::default() };
        book.premises.extend(other.premises);
        let mut spent: Vec<Duration> = Vec::new();
        let times = |bounds: &BTreeSet<Bound>| bounds.iter().filter_map(Bound::time).collect::<Vec<_>>();
        spent.extend(times(&self.bounds).into_iter().chain(times(&other.bounds)));
        for Entry { bound, place, count } in self.entries.into_iter().chain(other.entries) {
            if bound.time().is_none() {
                book.add(bound, place, count);
            }
        }
        if !spent.is_empty() {
            book.add(Bound::Time(spent.iter().sum()), None, 1);
        }
        let ledger = Ledger { book: Arc::new(Mutex::new(book)) };
        ledger.close(&Frontier::<()>::new(crate::Strategy::Depth, 1))
    }

    /// The same answer with a further bound.
    pub fn but(self, bound: Bound, place: Option<String>) -> Completeness {
        let ledger = Ledger::default();
        ledger.note_at(bound, place);
        self.and(ledger.close(&Frontier::<()>::new(crate::Strategy::Depth, 1)))
    }

    /// The same answer with a further premise.
    pub fn given(mut self, premise: Premise) -> Completeness {
        self.premises.insert(premise);
        self
    }

    /// The bounds that were hit, in order.
    pub fn bounds(&self) -> impl ExactSizeIterator<Item = &Bound> {
        self.bounds.iter()
    }

    /// What was left out, in order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The premises that narrow the question, in order.
    pub fn premises(&self) -> impl ExactSizeIterator<Item = &Premise> {
        self.premises.iter()
    }

    /// The answer's completeness in words, a line each: premises, then `all` if nothing was left out, or what was. Every
    /// report says it in these words.
    pub fn lines(&self, all: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            self.premises.iter().map(|premise| format!("assumed: {premise}")).collect();
        if self.is_complete() {
            lines.push(all.to_string());
        }
        let mut of_a_kind: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.entries {
            of_a_kind.entry(entry.bound.name()).or_default().push(entry);
        }
        for (name, entries) in of_a_kind {
            lines.extend(entries.iter().take(SHOWN).map(|entry| format!("INCOMPLETE: {entry}")));
            if entries.len() > SHOWN {
                lines.push(format!("INCOMPLETE: {name}: {} more, which --json lists", entries.len() - SHOWN));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Strategy;

    fn nothing_left() -> Frontier<()> {
        Frontier::new(Strategy::Depth, 1)
    }

    #[test]
    fn what_waits_is_never_called_complete() {
        let mut frontier = Frontier::new(Strategy::Depth, 1);
        assert!(Ledger::default().close(&frontier).is_complete());
        frontier.push("a state", false);
        let left = Ledger::default().close(&frontier);
        assert_eq!(left.bounds().map(Bound::name).collect::<Vec<_>>(), ["unvisited"]);
        let ledger = Ledger::default();
        ledger.note(Bound::Paths(3));
        assert_eq!(ledger.close(&frontier).bounds().map(Bound::to_string).collect::<Vec<_>>(), ["paths: 3"]);
    }

    #[test]
    fn two_answers_out_of_time_are_out_of_both_times() {
        let cut = |seconds| {
            let ledger = Ledger::default();
            ledger.note(Bound::Time(Duration::from_secs(seconds)));
            ledger.close(&nothing_left())
        };
        for (one, another) in [(2, 2), (2, 3)] {
            let both = cut(one).and(cut(another));
            assert_eq!(both.bounds().collect::<Vec<_>>(), [&Bound::Time(Duration::from_secs(one + another))]);
        }
    }

    #[test]
    fn every_handle_appends_to_one_ledger() {
        let ledger = Ledger::default();
        let noted = |ledger: Ledger| ledger.note_at(Bound::Loops(4), Some("a.c:3".into()));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let handle = ledger.clone();
                std::thread::spawn(move || noted(handle))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        // A handle that is dropped takes nothing with it.
        drop(ledger.clone());
        let closed = ledger.close(&nothing_left());
        let entries: Vec<String> = closed.entries().map(|entry| format!("{} {entry}", entry.count)).collect();
        assert_eq!(entries, ["3 loops: 4 times through one branch (at a.c:3; raise --loops)"]);
    }

    #[test]
    fn entries_are_the_same_when_they_are_read_back() {
        let all = [
            Bound::Undecided("leak".into()),
            Bound::Candidates(3, "things".into()),
            Bound::Solver(parallax_smt::Reason::Time),
            Bound::Solver(parallax_smt::Reason::Incomplete("a float".into())),
            Bound::StandsIn("f has no body".into()),
            Bound::Time(Duration::from_millis(1500)),
            Bound::Diverged,
        ];
        let ledger = Ledger::default();
        all.iter().for_each(|bound| ledger.note_at(bound.clone(), Some("main".into())));
        let text = serde_json::to_string(&ledger.entries()).expect("it is written");
        let resumed = Ledger::default();
        resumed.absorb(serde_json::from_str::<Vec<Entry>>(&text).expect("it is read"));
        assert_eq!(resumed.entries(), ledger.entries());
        assert!(!resumed.close(&nothing_left()).is_complete());
    }

    #[test]
    fn premises_that_no_input_keeps_are_a_bound() {
        let premise = || Premise::new("n is 3");
        let ledger = Ledger::default();
        ledger.assume(premise());
        assert!(ledger.clone().close(&nothing_left()).is_complete());
        ledger.exclude(premise());
        let vacuous = ledger.clone().close(&nothing_left());
        assert_eq!(vacuous.bounds().map(Bound::name).collect::<Vec<_>>(), ["vacuous"]);
        let kept = Ledger::default();
        kept.exclude(premise());
        kept.reach_end();
        assert!(kept.close(&nothing_left()).is_complete());
    }

    #[test]
    fn an_answer_says_what_it_assumes_and_what_it_left_out() {
        let ledger = Ledger::default();
        ledger.assume(Premise::new("standard input is empty"));
        let all = ledger.clone().close(&nothing_left()).lines("every path was explored");
        assert_eq!(all, ["assumed: standard input is empty", "every path was explored"]);
        (1..=6).for_each(|line| ledger.note_at(Bound::Loops(4), Some(format!("a.c:{line}"))));
        let some = ledger.close(&nothing_left()).lines("every path was explored");
        assert_eq!(some[1], "INCOMPLETE: loops: 4 times through one branch (at a.c:1; raise --loops)");
        assert_eq!(some.last().expect("a line"), "INCOMPLETE: loops: 2 more, which --json lists");
    }
}
