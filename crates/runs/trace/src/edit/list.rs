//! EditLists: the edits of one hash, newest first, and how a look-up walks them.
//!
//! The first edit of a key does not decide: a `removeone` takes away a binding that lies further back, and may do so
//! across the end of a concatenated part. So every look-up is this walk.

use super::amt::owner;
use super::{Domain, EditHamt, Kind, Op, Prior};
use crate::error::Result;

/// A removal that has not met its binding yet.
enum Pending<V> {
    Any,
    Value(V),
}

/// The values of a key, newest first.
pub struct FindMulti<D: Domain> {
    key: D::Key,
    hash: u64,
    /// Versions whose lists are still to be walked, the next last.
    rest: Vec<Prior<D>>,
    pending: Vec<Pending<D::Value>>,
}

impl<D: Domain> FindMulti<D> {
    pub(super) fn new(version: EditHamt<D>, key: D::Key) -> Result<Self> {
        let hash = D::hash(&key)?;
        Ok(FindMulti { key, hash, rest: vec![Prior::Now(version)], pending: Vec::new() })
    }

    fn step(&mut self) -> Result<Option<D::Value>> {
        while let Some(list) = self.rest.last() {
            // A failure leaves the walk where it is: asked again, it tries again.
            let Some(version) = owner(&list.force()?, self.hash)? else {
                self.rest.pop();
                continue;
            };
            D::visited();
            let edit = match &version.kind {
                Kind::Concat { left, right } => {
                    self.rest.pop();
                    self.rest.extend([left.clone(), right.clone()]);
                    continue;
                }
                Kind::Edit(edit) => edit,
            };
            if !D::same_key(&edit.key, &self.key)? {
                self.go_on(edit.prior.clone());
                continue;
            }
            match &edit.op {
                Op::Remove => self.rest.clear(),
                Op::RemoveOne => {
                    self.pending.push(Pending::Any);
                    self.go_on(edit.prior.clone());
                }
                Op::RemoveKeyValue(value) => {
                    self.pending.push(Pending::Value(value.clone()));
                    self.go_on(edit.prior.clone());
                }
                Op::Add(value) => {
                    let consumer = self.consumer(value)?;
                    self.go_on(edit.prior.clone());
                    match consumer {
                        Some(index) => drop(self.pending.remove(index)),
                        None => return Ok(Some(value.clone())),
                    }
                }
            }
        }
        Ok(None)
    }

    /// Replaces the list being walked by its tail.
    fn go_on(&mut self, tail: Prior<D>) {
        self.rest.pop();
        self.rest.push(tail);
    }

    /// The removal that takes a binding away: of those that match, the one met last, which is the oldest edit.
    fn consumer(&self, value: &D::Value) -> Result<Option<usize>> {
        for (index, pending) in self.pending.iter().enumerate().rev() {
            let takes = match pending {
                Pending::Any => true,
                Pending::Value(removed) => D::same_value(removed, value)?,
            };
            if takes {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

impl<D: Domain> Iterator for FindMulti<D> {
    type Item = Result<D::Value>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
