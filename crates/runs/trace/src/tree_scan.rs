//! `tscan` and `rev_tscan`: prefixes combined in the shape of a tree.
//!
//! Nodes are dyadic intervals `[lo, lo + 2^k)`. The shape depends on the times alone, so it is balanced and shared
//! between outputs whatever was asked first. For `tscan`, with `t` the last time in a node:
//!
//! - `fold(node)`: none without a `t`; the value for k = 0; `fold(lower)` if `t` lies in the lower half; `fold(upper)` if
//!   the lower half is *known* to be empty; else `f(fold(lower), fold(upper))`, both lazy.
//! - `out(t) = prefix(root, t)`: the same with `prefix(upper, t)` in the place of `fold(upper)`.
//!
//! So the upper side never turns out to be none. `rev_tscan` is the mirror image: *first* for *last*, *lower* for
//! *upper*; `f` always gets the lower side on its left.

use crate::error::Result;
use crate::lazy::{Deferred, Lazy};
use crate::memo::{Key, Memo, Rule, demand};
use crate::scan::Home;
use crate::target::{Direction, Time};
use crate::trace::{Trace, Value, Values};
use std::ops::Range;
use std::sync::Arc;

type Join<V> = Box<dyn Fn(Lazy<Option<V>>, Lazy<Option<V>>) -> Result<V> + Send + Sync>;

/// The definition of a tree scan.
pub(crate) struct TreeScan<V> {
    of: Trace<V>,
    f: Join<V>,
    /// Where folded values lie as seen from an output: backward for `tscan`.
    direction: Direction,
}

/// The node [0, 2^64).
const ROOT: u8 = 64;

/// What is added to the level in the key of a prefix, to tell it from a fold.
const PREFIX: u8 = 128;

/// A node, folded whole or up to an output.
#[derive(Clone, Copy)]
struct Node {
    lo: Time,
    level: u8,
    /// The output's time, for a prefix.
    upto: Option<Time>,
}

impl Node {
    fn key(self) -> Key {
        match self.upto {
            None => Key { at: self.lo, level: self.level },
            Some(time) => Key { at: time, level: PREFIX + self.level },
        }
    }

    fn from_key(key: Key) -> Self {
        match key.level.checked_sub(PREFIX) {
            None => Node { lo: key.at, level: key.level, upto: None },
            Some(level) => {
                let lo = if level >= ROOT { 0 } else { key.at >> level << level };
                Node { lo, level, upto: Some(key.at) }
            }
        }
    }

    /// Its instants. The very last instant, [`crate::INF`], is never an item.
    fn range(self) -> Range<Time> {
        if self.level >= ROOT { 0..Time::MAX } else { self.lo..self.lo.saturating_add(1 << self.level) }
    }

    fn middle(self) -> Time {
        self.lo + (1 << (self.level - 1))
    }

    fn lower(self) -> Node {
        Node { lo: self.lo, level: self.level - 1, upto: None }
    }

    fn upper(self) -> Node {
        Node { lo: self.middle(), level: self.level - 1, upto: None }
    }
}

/// What a node comes down to.
enum Form {
    Nothing,
    Value(Time),
    /// `f` of the lower and the upper half.
    Join(Node, Node),
}

impl<V: Value> TreeScan<V> {
    pub fn trace(of: &Trace<V>, f: Join<V>, direction: Direction) -> Trace<V> {
        let memo = Memo::new(of.times.budget());
        let rule = Arc::new(TreeScan { of: of.clone(), f, direction });
        Trace::on(of.nesting(), of.times.clone(), Arc::new(Outputs { rule, memo }))
    }

    /// Goes down through nodes of which only one half counts. `find` gives the time in a node that is nearest to the
    /// output, or fails.
    fn form<E>(
        &self,
        mut node: Node,
        mut find: impl FnMut(Range<Time>) -> std::result::Result<Option<Time>, E>,
    ) -> std::result::Result<Form, E> {
        let time = match node.upto {
            Some(time) => time,
            None => match find(node.range())? {
                Some(time) => time,
                None => return Ok(Form::Nothing),
            },
        };
        while node.level > 0 {
            let (mut lower, mut upper) = (node.lower(), node.upper());
            // The half with the output, and the one farther from it that may be empty.
            let (own, optional) = match self.direction {
                Direction::Backward => (&mut upper, &mut lower),
                Direction::Forward => (&mut lower, &mut upper),
            };
            if optional.range().contains(&time) {
                optional.upto = node.upto;
                node = *optional;
            } else {
                own.upto = node.upto;
                if self.of.times.known(optional.range(), self.direction) == Some(None) {
                    node = *own;
                } else {
                    return Ok(Form::Join(lower, upper));
                }
            }
        }
        Ok(Form::Value(time))
    }

    /// The same if nothing needs to be searched.
    fn known_form(&self, node: Node) -> Option<Form> {
        self.form(node, |range| self.of.times.known(range, self.direction).ok_or(())).ok()
    }
}

impl<V: Value> Rule for TreeScan<V> {
    type Value = Option<V>;
    fn compute(this: &Arc<Self>, memo: &Arc<Memo<Option<V>>>, key: Key) -> Result<Option<V>> {
        let node = Node::from_key(key);
        Ok(match this.form(node, |range| this.of.times.find(range, this.direction))? {
            Form::Nothing => None,
            Form::Value(time) => Some(this.of.values.value(time)?),
            Form::Join(lower, upper) => {
                let lazy = |node| Lazy::new(Part { scan: this.clone(), memo: Home::new(memo), node });
                Some((this.f)(lazy(lower), lazy(upper))?)
            }
        })
    }
}

/// The outputs of a tree scan.
struct Outputs<V: Value> {
    rule: Arc<TreeScan<V>>,
    memo: Arc<Memo<Option<V>>>,
}

fn output(time: Time) -> Node {
    Node { lo: 0, level: ROOT, upto: Some(time) }
}

impl<V: Value> Values<V> for Outputs<V> {
    fn value(&self, time: Time) -> Result<V> {
        let value = demand(&self.rule, &self.memo, output(time).key())?;
        Ok(value.expect("the time of an output has a value"))
    }

    fn is_known(&self, time: Time) -> bool {
        is_known(&self.rule, &self.memo, output(time))
    }
}

fn is_known<V: Value>(scan: &TreeScan<V>, memo: &Memo<Option<V>>, node: Node) -> bool {
    memo.get(node.key()).is_some()
        || match scan.known_form(node) {
            Some(Form::Nothing) => true,
            Some(Form::Value(time)) => scan.of.values.is_known(time),
            _ => false,
        }
}

/// A node of the tree, when it is asked for.
struct Part<V: Value> {
    scan: Arc<TreeScan<V>>,
    memo: Home<Option<V>>,
    node: Node,
}

impl<V: Value> Deferred<Option<V>> for Part<V> {
    fn force(&self) -> Result<Option<V>> {
        demand(&self.scan, &self.memo.get(), self.node.key())
    }

    fn is_forced(&self) -> bool {
        is_known(&self.scan, &self.memo.get(), self.node)
    }

    fn time(&self) -> Result<Option<Time>> {
        match self.node.upto {
            Some(time) => Ok(Some(time)),
            None => self.scan.of.times.find(self.node.range(), self.scan.direction),
        }
    }
}
