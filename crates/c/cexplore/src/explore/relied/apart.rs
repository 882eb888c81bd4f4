//! Pointers that lead into one object: what is written through one changes what the others see, or ends its life.

use super::super::host::Explorer;
use super::{Relied, needed, pointer_name};
use parallax_cmachine::{ObjectId, State, Target, Token};
use parallax_path::Model;
use parallax_sem::Symbolic;
use parallax_term::Formula;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Examples of a mistake that are looked at for pointers into one object.
const MOST_EXAMPLES: usize = 8;
/// Pairs of pointers that are looked at for one mistake.
const MOST_PAIRS: usize = 64;

/// What examples of a mistake say.
pub(super) enum Examples {
    /// Without pointers into one object there is none.
    Apart(Vec<Relied>),
    /// One of them, with as few pointers into one object as were found.
    One(Rc<Model>),
    /// None were found.
    Unknown,
}

impl<'s> Explorer<'s> {
    /// Pairs of input pointers of which a mistake needs one to lead into one object; where it needs none, an example of it.
    pub(super) fn relies_on_apart(&self, state: &State<Symbolic<'s>>, guard: Formula) -> Examples {
        let store = self.store;
        let mut pairs: Vec<(Relied, Formula)> = Vec::new();
        let all_apart = |pairs: &[(Relied, Formula)]| {
            pairs.iter().fold(store.true_(), |all, pair| store.and(all, pair.1))
        };
        let mut last = Examples::Unknown;
        for _ in 0..MOST_EXAMPLES {
            match state.path.sat_all(&self.oracle, &[guard, all_apart(&pairs)]) {
                Ok(None) => {
                    let needed = needed(pairs, |pairs| self.excludes(state, guard, all_apart(pairs)));
                    return Examples::Apart(needed.into_iter().map(|(relied, _)| relied).collect());
                }
                Ok(Some(example)) => {
                    let found = self.meeting(state, &example);
                    last = Examples::One(example);
                    if found.is_empty() || pairs.len() + found.len() > MOST_PAIRS {
                        break;
                    }
                    pairs.extend(found);
                }
                Err(_) => break,
            }
        }
        last
    }

    /// Pairs of pointers that lead into one object in an example, and when they do not. Those that walk one array have to.
    fn meeting(&self, state: &State<Symbolic<'s>>, example: &Model) -> Vec<(Relied, Formula)> {
        let (store, module) = (self.store, self.module());
        let mut at: FxHashMap<ObjectId, Vec<&Token<Symbolic<'s>>>> = FxHashMap::default();
        let mut found = Vec::new();
        for token in state.tokens.iter() {
            let chosen = token.entries.iter().find(|entry| example.holds(store, entry.guard));
            let Some(Target::Object(object)) = chosen.map(|entry| entry.target) else { continue };
            let others = at.entry(object).or_default();
            for other in others.iter().filter(|other| !self.walks.together(&other.name, &token.name)) {
                let [one, two] = [other, token].map(|token| pointer_name(module, state, token));
                found.push((Relied::Apart(one, two), store.not(self.together(other, token))));
            }
            others.push(token);
        }
        found
    }
}
