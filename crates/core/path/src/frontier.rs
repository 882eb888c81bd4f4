//! The frontier of a search: states that wait for their turn, and which of them is next.

use crate::tree::{Node, Tree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Which state runs next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The newest.
    #[default]
    Depth,
    /// The oldest.
    Breadth,
    /// A random one, from a fixed seed.
    Random,
    /// One that is about to enter code not yet covered, else a random one.
    Coverage,
    /// One that is about to enter code not yet covered. Without one, the nearest to such code or, one time in three, any.
    /// When that has found nothing new for a while: the newest, so that paths come to their ends, each time for a while,
    /// from the end of a random path, from a random state, from the newest, in turns.
    Interleaved,
}

/// Forks and picks in a row without new code, after which an interleaved search that goes deep starts anew elsewhere. Paths
/// that are interesting only at their end need some; too many, and one loop takes all the time.
const PATIENCE: u32 = 32;

/// Forks and picks in a row without new code, after which an interleaved search no longer looks for it but goes deep.
const HOPE: u32 = 256;

/// Of how many states that wait the nearest to new code is taken.
const SAMPLE: usize = 32;

/// States that wait, each with whether it is about to run code that no other has run.
#[derive(Debug)]
pub struct Frontier<S> {
    strategy: Strategy,
    waiting: Waiting<S>,
}

/// How states wait.
#[derive(Debug)]
enum Waiting<S> {
    /// The oldest first, where only age decides: nothing more has to be kept of each.
    Line(VecDeque<S>),
    /// Where any of them may be next.
    Crowd(Crowd<S>),
}

impl<S> Frontier<S> {
    /// An empty frontier. The seed is that of random choices.
    pub fn new(strategy: Strategy, seed: u64) -> Self {
        let waiting = match strategy {
            Strategy::Depth | Strategy::Breadth => Waiting::Line(VecDeque::new()),
            Strategy::Random | Strategy::Coverage | Strategy::Interleaved => Waiting::Crowd(Crowd::new(seed)),
        };
        Frontier { strategy, waiting }
    }

    /// How many states wait.
    pub fn len(&self) -> usize {
        match &self.waiting {
            Waiting::Line(line) => line.len(),
            Waiting::Crowd(crowd) => crowd.members.len(),
        }
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets a state wait; `fresh` if it is about to run code that no other has run. It is taken to be forked from the
    /// state that was picked last.
    pub fn push(&mut self, state: S, fresh: bool) {
        match &mut self.waiting {
            Waiting::Line(line) => line.push_back(state),
            Waiting::Crowd(crowd) => crowd.push(state, fresh),
        }
    }

    /// The state that came last is about to run code that no other has run.
    pub fn newest_is_fresh(&mut self) {
        if let Waiting::Crowd(crowd) = &mut self.waiting
            && let Some((&number, _)) = crowd.members.last_key_value()
        {
            crowd.is_fresh(number);
        }
    }

    /// Whether a state that has forked runs on before those it forked into.
    pub fn goes_deep(&self) -> bool {
        match (self.strategy, &self.waiting) {
            (Strategy::Depth, _) => true,
            (Strategy::Interleaved, Waiting::Crowd(crowd)) => {
                crowd.hope == 0 && crowd.patience > 0 && crowd.fresh.is_empty()
            }
            _ => false,
        }
    }

    /// The state whose turn it is, where nothing tells how far new code is.
    pub fn pick(&mut self) -> Option<S> {
        self.pick_near(|_| 0)
    }

    /// The state whose turn it is. `far` tells how far a state is from code that no other has run; it is asked where that
    /// decides.
    pub fn pick_near(&mut self, far: impl FnMut(&S) -> u32) -> Option<S> {
        match &mut self.waiting {
            Waiting::Line(line) if self.strategy == Strategy::Breadth => line.pop_front(),
            Waiting::Line(line) => line.pop_back(),
            Waiting::Crowd(crowd) => crowd.pick(self.strategy, far),
        }
    }

    /// The state with the least key, the newest of several, whatever the strategy.
    pub fn pick_least<K: Ord>(&mut self, key: impl Fn(&S) -> K) -> Option<S> {
        match &mut self.waiting {
            Waiting::Line(line) => {
                let least = (0..line.len()).rev().min_by_key(|&place| key(&line[place]))?;
                line.remove(least)
            }
            Waiting::Crowd(crowd) => crowd.pick_least(key),
        }
    }

    /// Gives up the state that has waited longest. Whoever does so owes the answer a [`Bound`](crate::Bound).
    pub fn give_up_oldest(&mut self) -> Option<S> {
        match &mut self.waiting {
            Waiting::Line(line) => line.pop_front(),
            Waiting::Crowd(crowd) => crowd.give_up_oldest(),
        }
    }
}

/// States of which any may be next.
#[derive(Debug)]
struct Crowd<S> {
    /// By age.
    members: BTreeMap<u64, Member<S>>,
    fresh: BTreeSet<u64>,
    /// The numbers of all that wait, in no order: what a random choice is made from.
    bag: Vec<u64>,
    /// Where the states that wait came from, and the one that runs.
    tree: Tree,
    runs: Option<Node>,
    next: u64,
    random: u64,
    /// How many more forks and picks without new code there are before an interleaved search goes deep.
    hope: u32,
    patience: u32,
    turn: u32,
}

#[derive(Debug)]
struct Member<S> {
    /// Boxed: a state is large, and the map of them moves its members often.
    state: Box<S>,
    leaf: Node,
    /// Where in the bag.
    place: usize,
}

impl<S> Crowd<S> {
    fn new(seed: u64) -> Self {
        Crowd {
            members: BTreeMap::new(),
            fresh: BTreeSet::new(),
            bag: Vec::new(),
            tree: Tree::default(),
            runs: None,
            next: 0,
            // Odd, so never 0, and another for every seed.
            random: (seed << 1).wrapping_sub(1),
            hope: HOPE,
            patience: PATIENCE,
            turn: 0,
        }
    }

    fn push(&mut self, state: S, fresh: bool) {
        let number = self.next;
        self.next += 1;
        let leaf = self.tree.add(self.runs, number);
        self.members.insert(number, Member { state: Box::new(state), leaf, place: self.bag.len() });
        self.bag.push(number);
        self.grow_tired();
        if fresh {
            self.is_fresh(number);
        }
    }

    fn is_fresh(&mut self, number: u64) {
        self.fresh.insert(number);
        self.hope = HOPE;
        self.patience = PATIENCE;
    }

    fn grow_tired(&mut self) {
        match self.hope {
            0 => self.patience = self.patience.saturating_sub(1),
            _ => self.hope -= 1,
        }
    }

    fn pick(&mut self, strategy: Strategy, far: impl FnMut(&S) -> u32) -> Option<S> {
        self.leave_tree();
        let newest = *self.members.last_key_value()?.0;
        let number = match strategy {
            Strategy::Coverage => self.fresh.last().copied().unwrap_or_else(|| self.any()),
            Strategy::Interleaved => self.interleave(newest, far),
            Strategy::Random | Strategy::Depth | Strategy::Breadth => self.any(),
        };
        self.take(number)
    }

    fn pick_least<K: Ord>(&mut self, key: impl Fn(&S) -> K) -> Option<S> {
        self.leave_tree();
        let newest_first = self.members.iter().rev();
        let least = newest_first.min_by_key(|(_, member)| key(&member.state)).map(|(number, _)| *number)?;
        self.take(least)
    }

    /// What ran has ended.
    fn leave_tree(&mut self) {
        if let Some(gone) = self.runs.take() {
            self.tree.remove(gone);
        }
    }

    fn take(&mut self, number: u64) -> Option<S> {
        let Member { state, leaf, place } = self.forget(number)?;
        self.bag_without(place);
        // In its place in the tree there is now the one that runs.
        self.runs = Some(leaf);
        Some(*state)
    }

    fn interleave(&mut self, newest: u64, far: impl FnMut(&S) -> u32) -> u64 {
        if let Some(&fresh) = self.fresh.last() {
            self.patience = PATIENCE;
            return fresh;
        }
        if self.hope > 0 {
            self.grow_tired();
            self.turn = (self.turn + 1) % 3;
            return if self.turn == 1 { self.any() } else { self.nearest(newest, far) };
        }
        if self.patience > 0 {
            self.grow_tired();
            return newest;
        }
        self.patience = PATIENCE;
        self.turn = (self.turn + 1) % 3;
        match self.turn {
            0 => newest,
            1 => self.walk(newest),
            _ => self.any(),
        }
    }

    /// The nearest to new code of the newest and of some that are drawn.
    fn nearest(&mut self, newest: u64, mut far: impl FnMut(&S) -> u32) -> u64 {
        let mut best = (far(&self.members[&newest].state), newest);
        for _ in 0..SAMPLE {
            let number = self.any();
            let distance = far(&self.members[&number].state);
            if distance < best.0 {
                best = (distance, number);
            }
        }
        best.1
    }

    /// The end of a random path.
    fn walk(&mut self, newest: u64) -> u64 {
        let mut random = self.random;
        let found = self.tree.walk(|| shuffle(&mut random) & (1 << 32) != 0);
        self.random = random;
        found.unwrap_or(newest)
    }

    fn give_up_oldest(&mut self) -> Option<S> {
        let oldest = *self.members.first_key_value()?.0;
        let Member { state, leaf, place } = self.forget(oldest)?;
        self.bag_without(place);
        self.tree.remove(leaf);
        Some(*state)
    }

    fn forget(&mut self, number: u64) -> Option<Member<S>> {
        self.fresh.remove(&number);
        self.members.remove(&number)
    }

    /// Takes a number out of the bag; the last one in it takes its place.
    fn bag_without(&mut self, place: usize) {
        self.bag.swap_remove(place);
        if let Some(moved) = self.bag.get(place).and_then(|number| self.members.get_mut(number)) {
            moved.place = place;
        }
    }

    /// Any of those that wait.
    fn any(&mut self) -> u64 {
        self.bag[(shuffle(&mut self.random) % self.bag.len() as u64) as usize]
    }
}

/// xorshift: good enough to pick, and the same on every machine.
fn shuffle(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ALL: [Strategy; 5] =
        [Strategy::Depth, Strategy::Breadth, Strategy::Random, Strategy::Coverage, Strategy::Interleaved];

    fn order(strategy: Strategy) -> Vec<u32> {
        let mut frontier = Frontier::new(strategy, 7);
        (0..6).for_each(|state| frontier.push(state, state == 2));
        std::iter::from_fn(|| frontier.pick()).collect()
    }

    #[test]
    fn every_strategy_visits_every_state_once() {
        for strategy in ALL {
            assert_eq!(
                order(strategy).into_iter().collect::<BTreeSet<_>>(),
                (0..6).collect(),
                "{strategy:?}"
            );
        }
    }

    #[test]
    fn strategies_differ_in_order() {
        assert_eq!(order(Strategy::Depth), [5, 4, 3, 2, 1, 0]);
        assert_eq!(order(Strategy::Breadth), [0, 1, 2, 3, 4, 5]);
        assert_eq!(order(Strategy::Coverage)[0], 2);
        assert_eq!(order(Strategy::Random), order(Strategy::Random));
    }

    #[test]
    fn every_seed_has_an_order_of_its_own() {
        let order = |seed| {
            let mut frontier = Frontier::new(Strategy::Random, seed);
            (0..64u32).for_each(|state| frontier.push(state, false));
            std::iter::from_fn(|| frontier.pick()).collect::<Vec<_>>()
        };
        let orders: BTreeSet<_> = (0..32).map(order).collect();
        assert_eq!(orders.len(), 32);
    }

    /// A search of states that are numbers: each forks into more, some are given up. Nothing is lost, nothing comes twice.
    #[test]
    fn forks_are_neither_lost_nor_seen_twice() {
        for (strategy, seed) in ALL.into_iter().flat_map(|strategy| (1..40).map(move |seed| (strategy, seed)))
        {
            let mut frontier = Frontier::new(strategy, seed);
            let mut random = seed | 1;
            let (mut made, mut seen) = (1u32, BTreeSet::new());
            frontier.push(0, true);
            while let Some(state) = frontier.pick() {
                assert!(seen.insert(state), "{strategy:?}, {seed}: {state} twice");
                for _ in 0..shuffle(&mut random) % 5 {
                    if made == 500 {
                        break;
                    }
                    frontier.push(made, shuffle(&mut random).is_multiple_of(7));
                    made += 1;
                }
                if shuffle(&mut random).is_multiple_of(11)
                    && let Some(state) = frontier.give_up_oldest()
                {
                    assert!(seen.insert(state), "{strategy:?}, {seed}: {state} given up twice");
                }
            }
            assert_eq!(seen.len() as u32, made, "{strategy:?}, {seed}");
            if let Waiting::Crowd(crowd) = &frontier.waiting {
                assert!(
                    crowd.tree.walk(|| true).is_none(),
                    "{strategy:?}, {seed}: the tree is empty as well"
                );
            }
        }
    }

    /// A loop that forks at each turn, beside one other state: a walk from the root finds the other one half of the time.
    #[test]
    fn a_random_path_is_not_drawn_to_where_many_states_are() {
        let mut tree = Tree::default();
        let running = tree.add(None, 0);
        tree.add(Some(running), 1);
        for number in 2..1000 {
            tree.add(Some(running), number);
        }
        let mut random = 5;
        let walks = (0..1000).filter(|_| tree.walk(|| shuffle(&mut random) & (1 << 32) != 0) == Some(1));
        assert!((400..600).contains(&walks.count()));
    }

    /// Among many, an interleaved search takes the near ones before the far ones, but not only these.
    #[test]
    fn the_nearest_come_first() {
        let mut frontier = Frontier::new(Strategy::Interleaved, 9);
        (0..100u32).for_each(|state| frontier.push(state, false));
        let picked: Vec<u32> = (0..30).filter_map(|_| frontier.pick_near(|&state| state)).collect();
        let near = picked.iter().filter(|&&state| state < 30).count();
        assert!((20..30).contains(&near), "{picked:?}");
        assert!(!frontier.goes_deep(), "there is hope");
    }

    /// What finds nothing new for long goes deep, and something new gives hope again.
    #[test]
    fn hope_ends_and_comes_back() {
        let mut frontier = Frontier::new(Strategy::Interleaved, 9);
        (0..=HOPE).for_each(|state| frontier.push(state, false));
        assert!(frontier.goes_deep());
        frontier.push(1000, true);
        assert_eq!(frontier.pick(), Some(1000));
        assert!(!frontier.goes_deep());
    }

    /// An interleaved search leaves a loop that finds nothing new.
    #[test]
    fn patience_ends() {
        let mut frontier = Frontier::new(Strategy::Interleaved, 3);
        frontier.push(0u32, false);
        frontier.push(1, false);
        let mut turns = 0;
        while let Some(state) = frontier.pick() {
            if state == 0 {
                break;
            }
            turns += 1;
            assert!(turns < HOPE + 10 * PATIENCE, "the loop took everything");
            frontier.push(state + 1, false);
            frontier.push(state + 2, false);
        }
    }
}
