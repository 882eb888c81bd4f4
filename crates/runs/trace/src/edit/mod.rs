//! The EditHAMT: sets, maps, multisets and multimaps that remember how they came about.
//!
//! A version is empty, an edit of a prior version, or the concatenation of two. Priors may be lazy, and building a
//! version computes only the hash of its key. A look-up forces as much of the history as its answer needs.
//!
//! The state of a version is a list of bindings, oldest first. `add` and `addkeyvalue` append one; `remove` drops all of
//! a key, `removeone` the newest, `removekeyvalue` the newest with that value; what is not there is removed without
//! complaint. `concat(a, b)` applies the edits of `b` to the state of `a`.
//!
//! [`amt`] finds the edits of one hash, [`list`] walks them.

mod amt;
mod list;

use crate::error::Result;
use crate::lazy::Lazy;
pub use list::FindMulti;
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// What keys and values are. Hashing and comparing may run user code, and fail.
pub trait Domain: Send + Sync + Sized + 'static {
    /// A key.
    type Key: Clone + Send + Sync + 'static;
    /// A value; `add` binds a key to itself.
    type Value: Clone + Send + Sync + 'static;
    /// Bits of a hash: a multiple of [`Domain::WORD`], at most 64.
    const BITS: u32 = 60;
    /// Bits that choose an element of an array, at most 6.
    const WORD: u32 = 5;

    /// The hash of a key, equal for equal keys.
    fn hash(key: &Self::Key) -> Result<u64>;
    /// Whether two keys are the same.
    fn same_key(one: &Self::Key, other: &Self::Key) -> Result<bool>;
    /// Whether two values are the same.
    fn same_value(one: &Self::Value, other: &Self::Value) -> Result<bool>;
    /// The value that `add` binds a key to.
    fn of_key(key: &Self::Key) -> Self::Value;
    /// Called when an element of an array is filled. For counting.
    fn filled() {}
    /// Called when a node of a list is visited. For counting.
    fn visited() {}
}

/// Spreads the bits of a hash, so that small integers do not share their leading words. Keeps the low `bits`.
pub fn mix(hash: u64, bits: u32) -> u64 {
    let mut x = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    if bits >= 64 { x } else { x >> (64 - bits) }
}

/// A version that another builds on.
pub trait Later<D: Domain>: Send + Sync {
    /// The version. Asked again, it gives the same.
    fn force(&self) -> Result<EditHamt<D>>;
}

/// What a version is built on: there already, or computed when a look-up gets that far.
pub enum Prior<D: Domain> {
    /// There already.
    Now(EditHamt<D>),
    /// Computed on demand.
    Later(Arc<dyn Later<D>>),
}

impl<D: Domain> Clone for Prior<D> {
    fn clone(&self) -> Self {
        match self {
            Prior::Now(version) => Prior::Now(version.clone()),
            Prior::Later(later) => Prior::Later(later.clone()),
        }
    }
}

impl<D: Domain> Prior<D> {
    fn force(&self) -> Result<EditHamt<D>> {
        match self {
            Prior::Now(version) => Ok(version.clone()),
            Prior::Later(later) => later.force(),
        }
    }
}

impl<D: Domain> From<EditHamt<D>> for Prior<D> {
    fn from(version: EditHamt<D>) -> Self {
        Prior::Now(version)
    }
}

/// The accumulator of a scan.
impl<D: Domain> Later<D> for Lazy<EditHamt<D>> {
    fn force(&self) -> Result<EditHamt<D>> {
        Lazy::force(self)
    }
}

/// An argument of a tree scan; none is empty.
impl<D: Domain> Later<D> for Lazy<Option<EditHamt<D>>> {
    fn force(&self) -> Result<EditHamt<D>> {
        Ok(Lazy::force(self)?.unwrap_or_default())
    }
}

impl<D: Domain, L: Later<D> + 'static> From<Arc<L>> for Prior<D> {
    fn from(later: Arc<L>) -> Self {
        Prior::Later(later)
    }
}

impl<D: Domain> From<Lazy<EditHamt<D>>> for Prior<D> {
    fn from(lazy: Lazy<EditHamt<D>>) -> Self {
        Prior::Later(Arc::new(lazy))
    }
}

impl<D: Domain> From<Lazy<Option<EditHamt<D>>>> for Prior<D> {
    fn from(lazy: Lazy<Option<EditHamt<D>>>) -> Self {
        Prior::Later(Arc::new(lazy))
    }
}

/// What an edit does to the bindings of its key.
#[derive(Clone, Debug)]
pub(crate) enum Op<V> {
    Add(V),
    Remove,
    RemoveOne,
    RemoveKeyValue(V),
}

pub(crate) struct Edit<D: Domain> {
    op: Op<D::Value>,
    key: D::Key,
    hash: u64,
    prior: Prior<D>,
}

pub(crate) enum Kind<D: Domain> {
    Edit(Edit<D>),
    Concat { left: Prior<D>, right: Prior<D> },
}

/// A version that is not empty, with what look-ups have filled in so far.
pub(crate) struct Version<D: Domain> {
    kind: Kind<D>,
    elements: Mutex<amt::Elements<D>>,
}

/// A set, map, multiset or multimap with its whole history. Immutable; a clone is the same version.
pub struct EditHamt<D: Domain>(Option<Arc<Version<D>>>);

impl<D: Domain> Clone for EditHamt<D> {
    fn clone(&self) -> Self {
        EditHamt(self.0.clone())
    }
}

impl<D: Domain> Default for EditHamt<D> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<D: Domain> EditHamt<D> {
    /// Without bindings.
    pub fn empty() -> Self {
        EditHamt(None)
    }

    fn version(kind: Kind<D>) -> Self {
        EditHamt(Some(Arc::new(Version { kind, elements: Mutex::default() })))
    }

    fn edit(prior: Prior<D>, key: D::Key, op: Op<D::Value>) -> Result<Self> {
        let hash = D::hash(&key)?;
        Ok(Self::version(Kind::Edit(Edit { op, key, hash, prior })))
    }

    /// Binds a key to itself.
    pub fn add(prior: Prior<D>, key: D::Key) -> Result<Self> {
        let value = D::of_key(&key);
        Self::edit(prior, key, Op::Add(value))
    }

    /// Binds a key to a value.
    pub fn addkeyvalue(prior: Prior<D>, key: D::Key, value: D::Value) -> Result<Self> {
        Self::edit(prior, key, Op::Add(value))
    }

    /// Removes all bindings of a key.
    pub fn remove(prior: Prior<D>, key: D::Key) -> Result<Self> {
        Self::edit(prior, key, Op::Remove)
    }

    /// Removes the newest binding of a key.
    pub fn removeone(prior: Prior<D>, key: D::Key) -> Result<Self> {
        Self::edit(prior, key, Op::RemoveOne)
    }

    /// Removes the newest binding of a key to a value.
    pub fn removekeyvalue(prior: Prior<D>, key: D::Key, value: D::Value) -> Result<Self> {
        Self::edit(prior, key, Op::RemoveKeyValue(value))
    }

    /// The edits of `right` applied after those of `left`.
    pub fn concat(left: Prior<D>, right: Prior<D>) -> Self {
        // One edit of nothing, as in a scan over single edits, goes on top of the left side: half the elements.
        if let Prior::Now(EditHamt(Some(version))) = &right
            && let Kind::Edit(Edit { op, key, hash, prior: Prior::Now(EditHamt(None)) }) = &version.kind
        {
            return Self::version(Kind::Edit(Edit {
                op: op.clone(),
                key: key.clone(),
                hash: *hash,
                prior: left,
            }));
        }
        match (&left, &right) {
            (Prior::Now(EditHamt(None)), Prior::Now(right)) => right.clone(),
            (Prior::Now(left), Prior::Now(EditHamt(None))) => left.clone(),
            _ => Self::concat_plainly(left, right),
        }
    }

    /// The same as its own version in every case: what [`EditHamt::concat`] falls back to.
    pub fn concat_plainly(left: Prior<D>, right: Prior<D>) -> Self {
        Self::version(Kind::Concat { left, right })
    }

    /// The values of a key, newest first, each looked up when it is asked for.
    pub fn find_multi(&self, key: D::Key) -> Result<FindMulti<D>> {
        FindMulti::new(self.clone(), key)
    }

    /// The newest value of a key.
    pub fn find(&self, key: D::Key) -> Result<Option<D::Value>> {
        self.find_multi(key)?.next().transpose()
    }

    /// Whether a key has a value.
    pub fn contains(&self, key: D::Key) -> Result<bool> {
        Ok(self.find(key)?.is_some())
    }

    /// The keys that have a value, in the order of their first edits. Forces the whole history and replays it.
    pub fn keys(&self) -> Result<Vec<D::Key>> {
        let mut newest_first = Vec::new();
        let mut rest = vec![Prior::Now(self.clone())];
        while let Some(prior) = rest.pop() {
            let EditHamt(Some(version)) = prior.force()? else { continue };
            match &version.kind {
                Kind::Edit(edit) => {
                    newest_first.push((edit.hash, edit.key.clone(), edit.op.clone()));
                    rest.push(edit.prior.clone());
                }
                Kind::Concat { left, right } => rest.extend([left.clone(), right.clone()]),
            }
        }
        let mut by_hash: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut bindings: Vec<(D::Key, Vec<D::Value>)> = Vec::new();
        for (hash, key, op) in newest_first.into_iter().rev() {
            let candidates = by_hash.entry(hash).or_default();
            let mut found = None;
            for &index in candidates.iter() {
                if D::same_key(&bindings[index].0, &key)? {
                    found = Some(index);
                }
            }
            let index = found.unwrap_or_else(|| {
                candidates.push(bindings.len());
                bindings.push((key, Vec::new()));
                bindings.len() - 1
            });
            let values = &mut bindings[index].1;
            match op {
                Op::Add(value) => values.push(value),
                Op::Remove => values.clear(),
                Op::RemoveOne => drop(values.pop()),
                Op::RemoveKeyValue(removed) => {
                    for at in (0..values.len()).rev() {
                        if D::same_value(&removed, &values[at])? {
                            values.remove(at);
                            break;
                        }
                    }
                }
            }
        }
        Ok(bindings.into_iter().filter(|(_, values)| !values.is_empty()).map(|(key, _)| key).collect())
    }
}

/// Long histories are taken apart one version at a time.
impl<D: Domain> Drop for Version<D> {
    fn drop(&mut self) {
        let mut rest = Vec::new();
        self.unlink(&mut rest);
        while let Some(version) = rest.pop() {
            if let Some(mut version) = Arc::into_inner(version) {
                version.unlink(&mut rest);
            }
        }
    }
}

impl<D: Domain> Version<D> {
    /// Moves the versions this one holds to `rest`.
    fn unlink(&mut self, rest: &mut Vec<Arc<Version<D>>>) {
        let mut take = |prior: &mut Prior<D>| {
            if let Prior::Now(EditHamt(version)) = prior {
                rest.extend(version.take());
            }
        };
        match &mut self.kind {
            Kind::Edit(edit) => take(&mut edit.prior),
            Kind::Concat { left, right } => {
                take(left);
                take(right);
            }
        }
        if let Ok(elements) = self.elements.get_mut() {
            elements.unlink(rest);
        }
    }
}
