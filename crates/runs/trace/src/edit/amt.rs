//! LazyAMT: which version holds the edits of a hash.
//!
//! A hash is read in words, high first. For every path of words a version has an *element*: the version to go on with,
//! or nothing. It is filled when it is first used:
//!
//! - of an edit: itself, if the path is a prefix of its hash; else the prior's element;
//! - of a concatenation: itself, if the right side has an element there; else the left side's.
//!
//! Elements of paths that a version does not share with its prior lie in arrays of 2^w, each with two bitmaps: which
//! elements are filled, and which of those are there. Only the latter take room.

use super::{Domain, EditHamt, Kind, Version};
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An array of elements.
struct Sparse<D: Domain> {
    filled: u64,
    present: u64,
    /// The elements that are there, in order. None stands for the version that the array belongs to.
    versions: Vec<Option<Arc<Version<D>>>>,
}

impl<D: Domain> Default for Sparse<D> {
    fn default() -> Self {
        Sparse { filled: 0, present: 0, versions: Vec::new() }
    }
}

/// What is known of an element.
enum Element<D: Domain> {
    Unfilled,
    Nothing,
    Itself,
    Other(Arc<Version<D>>),
}

impl<D: Domain> Sparse<D> {
    fn get(&self, index: u32) -> Element<D> {
        let bit = 1u64 << index;
        if self.filled & bit == 0 {
            Element::Unfilled
        } else if self.present & bit == 0 {
            Element::Nothing
        } else {
            match &self.versions[(self.present & (bit - 1)).count_ones() as usize] {
                None => Element::Itself,
                Some(version) => Element::Other(version.clone()),
            }
        }
    }

    fn fill(&mut self, index: u32, element: Element<D>) {
        let bit = 1u64 << index;
        if self.filled & bit != 0 {
            return;
        }
        D::filled();
        self.filled |= bit;
        let version = match element {
            Element::Itself => None,
            Element::Other(version) => Some(version),
            Element::Nothing | Element::Unfilled => return,
        };
        let position = (self.present & (bit - 1)).count_ones() as usize;
        self.present |= bit;
        self.versions.reserve_exact(1);
        self.versions.insert(position, version);
    }
}

type ByPrefix<D> = FxHashMap<(u32, u64), Sparse<D>>;

/// The arrays of a version, made as they are used.
pub(crate) struct Elements<D: Domain> {
    /// Of an edit, by level: it has one array per level, under the prefixes of its hash.
    by_level: Vec<Sparse<D>>,
    /// Of a concatenation, by level and prefix.
    by_prefix: Option<Box<ByPrefix<D>>>,
}

impl<D: Domain> Default for Elements<D> {
    fn default() -> Self {
        Elements { by_level: Vec::new(), by_prefix: None }
    }
}

impl<D: Domain> Elements<D> {
    pub fn unlink(&mut self, rest: &mut Vec<Arc<Version<D>>>) {
        let arrays = self.by_prefix.iter_mut().flat_map(|map| map.values_mut());
        for array in self.by_level.iter_mut().chain(arrays) {
            rest.extend(array.versions.drain(..).flatten());
        }
    }
}

/// The first `level` words of a hash.
fn prefix<D: Domain>(hash: u64, level: u32) -> u64 {
    let rest = D::BITS - level * D::WORD;
    if rest >= 64 { 0 } else { hash >> rest }
}

/// The word by which a path of `level` words ends.
fn word<D: Domain>(hash: u64, level: u32) -> u32 {
    (prefix::<D>(hash, level) & ((1 << D::WORD) - 1)) as u32
}

impl<D: Domain> Version<D> {
    fn array<T>(&self, hash: u64, level: u32, f: impl FnOnce(&mut Sparse<D>) -> T) -> T {
        let mut elements = self.elements.lock().unwrap();
        match &self.kind {
            Kind::Edit(_) => {
                let needed = level as usize;
                if elements.by_level.len() < needed {
                    elements.by_level.reserve_exact(needed);
                    elements.by_level.resize_with(needed, Sparse::default);
                }
                f(&mut elements.by_level[needed - 1])
            }
            Kind::Concat { .. } => {
                let map = elements.by_prefix.get_or_insert_default();
                f(map.entry((level, prefix::<D>(hash, level - 1))).or_default())
            }
        }
    }
}

/// A walk from a version along the first `to` words of a hash.
struct Walk<D: Domain> {
    at: Arc<Version<D>>,
    /// The level of the element that is needed next, counted from 1.
    level: u32,
    to: u32,
    awaits: Awaits,
}

/// Whose element a walk waits for in order to fill its own.
#[derive(Clone, Copy)]
enum Awaits {
    Nothing,
    Prior,
    Right,
    Left,
}

/// The version that holds the edits of a hash, filling elements on the way. One walk waits for another on a stack of
/// their own, since a history may be long.
pub(crate) fn owner<D: Domain>(of: &EditHamt<D>, hash: u64) -> Result<Option<Arc<Version<D>>>> {
    let Some(version) = &of.0 else { return Ok(None) };
    let walk = |at: Arc<Version<D>>, to| Walk { at, level: 1, to, awaits: Awaits::Nothing };
    let mut walks = vec![walk(version.clone(), D::BITS / D::WORD)];
    // What the walk that ended last arrived at.
    let mut arrived: Option<Option<Arc<Version<D>>>> = None;
    loop {
        let Some(top) = walks.last_mut() else { return Ok(arrived.flatten()) };
        if top.level > top.to {
            arrived = Some(Some(top.at.clone()));
            walks.pop();
            continue;
        }
        let (at, level) = (top.at.clone(), top.level);
        let index = word::<D>(hash, level);
        if let Some(found) = arrived.take() {
            let awaits = std::mem::replace(&mut top.awaits, Awaits::Nothing);
            let element = match (awaits, found) {
                (Awaits::Right, Some(_)) => Element::Itself,
                (Awaits::Right, None) => {
                    let Kind::Concat { left, .. } = &at.kind else {
                        unreachable!("only they have a right side")
                    };
                    top.awaits = Awaits::Left;
                    match left.force()?.0 {
                        Some(left) => walks.push(walk(left, level)),
                        None => arrived = Some(None),
                    }
                    continue;
                }
                (_, Some(version)) => Element::Other(version),
                (_, None) => Element::Nothing,
            };
            at.array(hash, level, |array| array.fill(index, element));
        }
        match at.array(hash, level, |array| array.get(index)) {
            Element::Itself => top.level += 1,
            Element::Other(version) => {
                top.at = version;
                top.level += 1;
            }
            Element::Nothing => {
                arrived = Some(None);
                walks.pop();
            }
            Element::Unfilled => {
                let needed = match &at.kind {
                    Kind::Edit(edit) if prefix::<D>(edit.hash, level) == prefix::<D>(hash, level) => {
                        at.array(hash, level, |array| array.fill(index, Element::Itself));
                        continue;
                    }
                    Kind::Edit(edit) => {
                        top.awaits = Awaits::Prior;
                        &edit.prior
                    }
                    Kind::Concat { right, .. } => {
                        top.awaits = Awaits::Right;
                        right
                    }
                };
                match needed.force()?.0 {
                    Some(version) => walks.push(walk(version, level)),
                    None => arrived = Some(None),
                }
            }
        }
    }
}
