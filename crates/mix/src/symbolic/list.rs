//! A shared list that grows at its end: forked executions share what they have in common.

use std::rc::Rc;

/// A list; cloning and pushing take constant time.
pub(crate) struct List<T> {
    last: Option<Rc<Cell<T>>>,
}

struct Cell<T> {
    value: T,
    length: usize,
    before: List<T>,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        List { last: self.last.clone() }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { last: None }
    }
}

impl<T> Drop for List<T> {
    /// One cell after the other, because a long list would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.last.take();
        while let Some(cell) = next {
            match Rc::try_unwrap(cell) {
                Ok(mut cell) => next = cell.before.last.take(),
                Err(_) => return,
            }
        }
    }
}

impl<T> List<T> {
    pub(crate) fn push(&mut self, value: T) {
        let before = std::mem::take(self);
        self.last = Some(Rc::new(Cell { value, length: before.len() + 1, before }));
    }

    pub(crate) fn len(&self) -> usize {
        self.last.as_ref().map_or(0, |cell| cell.length)
    }

    /// From the end to the start.
    pub(crate) fn backwards(&self) -> impl Iterator<Item = &T> {
        let mut next = self;
        std::iter::from_fn(move || {
            let cell = next.last.as_ref()?;
            next = &cell.before;
            Some(&cell.value)
        })
    }

    /// From the start to the end.
    pub(crate) fn to_vec(&self) -> Vec<T>
    where
        T: Clone,
    {
        let mut all: Vec<T> = self.backwards().cloned().collect();
        all.reverse();
        all
    }
}
