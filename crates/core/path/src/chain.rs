//! A persistent list: what states that forked from one another have in common they share.

use std::rc::Rc;

/// A list that grows at its end. Cloning and pushing take constant time; what is pushed later points to what came before.
pub struct Chain<T> {
    last: Option<Rc<Link<T>>>,
}

struct Link<T> {
    item: T,
    length: u32,
    before: Chain<T>,
}

impl<T> Clone for Chain<T> {
    fn clone(&self) -> Self {
        Chain { last: self.last.clone() }
    }
}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Chain { last: None }
    }
}

impl<T> Drop for Chain<T> {
    /// Link by link, because a chain may be longer than our own stack is deep.
    fn drop(&mut self) {
        let mut next = self.last.take();
        while let Some(mut link) = next.and_then(Rc::into_inner) {
            next = link.before.last.take();
        }
    }
}

impl<T> Chain<T> {
    /// Adds an item.
    pub fn push(&mut self, item: T) {
        let before = std::mem::take(self);
        self.last = Some(Rc::new(Link {
            item,
            length: before.last.as_ref().map_or(1, |link| link.length + 1),
            before,
        }));
    }

    /// This chain with one more item; the chain itself stays as it is.
    pub fn with(&self, item: T) -> Self {
        let mut longer = self.clone();
        longer.push(item);
        longer
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.last.as_ref().map_or(0, |link| link.length as usize)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Takes the newest item away.
    pub fn pop(&mut self) {
        *self = self.without(1);
    }

    /// The newest item.
    pub fn last(&self) -> Option<&T> {
        self.split_last().map(|(item, _)| item)
    }

    /// The newest item, and the chain before it.
    pub fn split_last(&self) -> Option<(&T, &Chain<T>)> {
        self.last.as_ref().map(|link| (&link.item, &link.before))
    }

    /// Whether two chains are one, not merely equal.
    pub fn same(&self, other: &Chain<T>) -> bool {
        match (&self.last, &other.last) {
            (None, None) => true,
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Items, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &T> {
        std::iter::successors(self.split_last(), |(_, before)| before.split_last()).map(|(item, _)| item)
    }

    /// Items, oldest first.
    pub fn to_vec(&self) -> Vec<&T> {
        let mut items: Vec<&T> = Vec::with_capacity(self.len());
        items.extend(self.newest_first());
        items.reverse();
        items
    }

    /// Items that this chain does not share with another, oldest first.
    pub fn since(&self, other: &Chain<T>) -> Vec<&T> {
        let (mut mine, mut theirs) = (self, other);
        let mut items = Vec::new();
        while !mine.same(theirs) {
            if theirs.len() >= mine.len() {
                let Some((_, before)) = theirs.split_last() else { break };
                if theirs.len() > mine.len() {
                    theirs = before;
                    continue;
                }
                theirs = before;
            }
            let Some((item, before)) = mine.split_last() else { break };
            items.push(item);
            mine = before;
        }
        items.reverse();
        items
    }

    /// The chain without its newest items.
    pub fn without(&self, count: usize) -> Chain<T> {
        let mut at = self;
        for _ in 0..count {
            let Some((_, before)) = at.split_last() else { break };
            at = before;
        }
        at.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chain(items: &[u8]) -> Chain<u8> {
        let mut chain = Chain::default();
        items.iter().for_each(|&item| chain.push(item));
        chain
    }

    fn values(items: Vec<&u8>) -> Vec<u8> {
        items.into_iter().copied().collect()
    }

    proptest! {
        #[test]
        fn a_chain_is_a_vector_that_is_shared(
            common in prop::collection::vec(any::<u8>(), 0..9),
            a in prop::collection::vec(any::<u8>(), 0..9),
            b in prop::collection::vec(any::<u8>(), 0..9),
            cut in 0..20usize,
        ) {
            let root = chain(&common);
            let grown = |items: &[u8]| items.iter().fold(root.clone(), |chain, &item| chain.with(item));
            let (x, y) = (grown(&a), grown(&b));
            let whole = [&common[..], &a[..]].concat();
            prop_assert_eq!(values(x.to_vec()), whole.clone());
            prop_assert_eq!(x.len(), whole.len());
            prop_assert_eq!(values(x.since(&y)), a.clone());
            prop_assert_eq!(values(y.since(&x)), b);
            prop_assert!(x.since(&x).is_empty());
            let left = whole.len().saturating_sub(cut);
            prop_assert_eq!(values(x.without(cut).to_vec()), whole[..left].to_vec());
            prop_assert_eq!(x.without(a.len()).same(&root), true);
            // Equal, and yet not one: everything is new.
            prop_assert_eq!(values(chain(&whole).since(&x)), whole);
        }
    }

    #[test]
    fn long_chains_are_released_without_recursion() {
        let mut long = Chain::default();
        (0..1_000_000).for_each(|n| long.push(n));
        let other = long.with(7);
        drop(long);
        assert_eq!(other.newest_first().take(3).copied().collect::<Vec<_>>(), [7, 999_999, 999_998]);
        drop(other);
    }
}
