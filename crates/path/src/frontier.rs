//! The frontier of a search: states that wait for their turn, and which of them is next.

use std::collections::VecDeque;

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
}

/// States that wait, each with whether it is about to run code that no other has run.
#[derive(Debug)]
pub struct Frontier<S> {
    strategy: Strategy,
    waiting: VecDeque<(S, bool)>,
    random: u64,
}

impl<S> Frontier<S> {
    /// An empty frontier. The seed is that of random choices.
    pub fn new(strategy: Strategy, seed: u64) -> Self {
        Frontier { strategy, waiting: VecDeque::new(), random: seed | 1 }
    }

    /// How many states wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Lets a state wait; `fresh` if it is about to run code that no other has run.
    pub fn push(&mut self, state: S, fresh: bool) {
        self.waiting.push_back((state, fresh));
    }

    /// The state that came last is about to run code that no other has run.
    pub fn newest_is_fresh(&mut self) {
        if let Some((_, fresh)) = self.waiting.back_mut() {
            *fresh = true;
        }
    }

    /// Whether a state that has forked runs on before those it forked into.
    pub fn goes_deep(&self) -> bool {
        self.strategy == Strategy::Depth
    }

    /// The state whose turn it is.
    pub fn pick(&mut self) -> Option<S> {
        let index = match self.strategy {
            Strategy::Depth => self.waiting.len().checked_sub(1)?,
            // In order: the others may be shuffled, these must not.
            Strategy::Breadth => return self.waiting.pop_front().map(|(state, _)| state),
            Strategy::Random => self.dice()?,
            Strategy::Coverage => match self.waiting.iter().rposition(|(_, fresh)| *fresh) {
                Some(index) => index,
                None => self.dice()?,
            },
        };
        self.waiting.swap_remove_back(index).map(|(state, _)| state)
    }

    /// Gives up the state that has waited longest. Whoever does so owes the answer a [`Bound`](crate::Bound).
    pub fn give_up_oldest(&mut self) -> Option<S> {
        self.waiting.pop_front().map(|(state, _)| state)
    }

    /// xorshift: good enough to pick, and the same on every machine.
    fn dice(&mut self) -> Option<usize> {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (!self.waiting.is_empty()).then(|| (self.random % self.waiting.len() as u64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn order(strategy: Strategy) -> Vec<u32> {
        let mut frontier = Frontier::new(strategy, 7);
        (0..6).for_each(|state| frontier.push(state, state == 2));
        std::iter::from_fn(|| frontier.pick()).collect()
    }

    #[test]
    fn every_strategy_visits_every_state_once() {
        for strategy in [Strategy::Depth, Strategy::Breadth, Strategy::Random, Strategy::Coverage] {
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
}
