//! A persistent list: the stack of frames and the trace, shared between the states that fork from one another.

use std::rc::Rc;

/// A list that shares its tail with the lists it was made from.
pub struct List<T>(Option<Rc<Node<T>>>);

struct Node<T> {
    head: T,
    tail: List<T>,
    length: usize,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        List(self.0.clone())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List(None)
    }
}

/// Iterative, because a list may be longer than our own stack is deep.
impl<T> Drop for List<T> {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut node) = next.and_then(Rc::into_inner) {
            next = node.tail.0.take();
        }
    }
}

impl<T> List<T> {
    /// This list with one more item in front.
    pub fn push(&self, head: T) -> Self {
        List(Some(Rc::new(Node { head, tail: self.clone(), length: self.len() + 1 })))
    }

    /// The first item and the rest.
    pub fn split(&self) -> Option<(&T, &List<T>)> {
        self.0.as_ref().map(|node| (&node.head, &node.tail))
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |node| node.length)
    }

    /// Whether both are one list, not merely equal ones.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// From the first item on.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::successors(self.split(), |(_, tail)| tail.split()).map(|(head, _)| head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_shared_and_long_lists_drop_without_recursion() {
        let mut list = List::default();
        for n in 0..1_000_000 {
            list = list.push(n);
        }
        let other = list.push(7);
        assert_eq!((other.len(), list.len()), (1_000_001, 1_000_000));
        drop(list);
        assert_eq!(other.iter().take(3).copied().collect::<Vec<_>>(), [7, 999_999, 999_998]);
    }
}
