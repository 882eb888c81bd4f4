//! A world outside that answers with well-typed values: chosen ones by name, and pseudo-random ones from a seed.

use crate::interp::{Outside, Value, World, fits};
use crate::syntax::{Extern, Sign, Writes};
use crate::ty::{Nullness, Type};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Answers from a table, then from a seed.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// What `extern` names are.
    pub named: FxHashMap<String, Value>,
    /// Where other answers come from; without a seed there are none.
    pub seed: Option<u64>,
}

impl World for Answers {
    fn named(&mut self, name: &str, declared: &Extern, memory: &mut Vec<Value>) -> Option<Value> {
        match self.named.get(name) {
            Some(value) if fits(value, &declared.ty) => Some(value.clone()),
            Some(_) => None,
            None => self.any(&declared.ty, &declared.writes, memory),
        }
    }

    fn answer(&mut self, function: &Outside, memory: &mut Vec<Value>) -> Option<Value> {
        self.write(&function.writes, memory);
        self.any(&function.to, &function.writes, memory)
    }
}

impl Answers {
    /// Writes as a function from outside may: every location keeps the kind of value it holds, and integers their sign,
    /// so that it keeps its type whatever that is.
    fn write(&mut self, writes: &Writes, memory: &mut [Value]) {
        let allowed = |wanted: fn(&Type) -> bool| match writes {
            Writes::Anything => true,
            Writes::Only(types) => types.iter().any(wanted),
        };
        let integers = allowed(|ty| *ty == Type::INT);
        let (bools, strings) = (allowed(|ty| *ty == Type::Bool), allowed(|ty| *ty == Type::Str));
        for held in memory {
            let Some(dice) = self.next() else { return };
            let new = match held {
                _ if dice & 1 == 0 => continue,
                Value::Int(n) if integers => self.integer(Sign::of(*n)).map(Value::Int),
                Value::Bool(_) if bools => Some(Value::Bool(dice & 2 == 0)),
                Value::Str(_) if strings => self.any(&Type::Str, writes, &mut Vec::new()),
                _ => continue,
            };
            if let Some(new) = new {
                *held = new;
            }
        }
    }

    /// Some value of the type.
    fn any(&mut self, ty: &Type, writes: &Writes, memory: &mut Vec<Value>) -> Option<Value> {
        Some(match ty {
            // A function can be handed out before anyone knows what it answers.
            Type::Fun(from, to) => {
                let outside = Outside { from: from.clone(), to: to.clone(), writes: writes.clone() };
                Value::Outside(Rc::new(outside))
            }
            Type::Unit => Value::Unit,
            Type::Bool => Value::Bool(self.next()? & 1 == 1),
            Type::Int(sign) => Value::Int(self.integer(*sign)?),
            Type::Float => {
                const SOME: [f64; 6] = [0.0, -0.0, 1.5, -2.25, f64::INFINITY, f64::NAN];
                Value::Float(SOME[self.next()? as usize % SOME.len()])
            }
            Type::Str => {
                const SOME: [&str; 4] = ["", "foo", "err", "another"];
                Value::Str(SOME[self.next()? as usize % SOME.len()].into())
            }
            Type::Ref(Nullness::Null, _) if self.next()? & 1 == 1 => Value::Null,
            Type::Ref(_, content) => {
                let content = self.any(content, writes, memory)?;
                memory.push(content);
                Value::Loc(memory.len() - 1)
            }
            Type::Known(_) | Type::Var(_) | Type::Forall(..) | Type::Broken => return None,
        })
    }

    /// Small numbers mostly, and the ends of the range.
    fn integer(&mut self, sign: Sign) -> Option<i64> {
        loop {
            let bits = self.next()?;
            let n = match bits % 8 {
                0 => i64::MIN,
                1 => i64::MAX,
                2 => (bits >> 8) as i64,
                _ => ((bits >> 8) % 9) as i64 - 4,
            };
            if sign.holds(n) {
                return Some(n);
            }
        }
    }

    /// SplitMix64.
    fn next(&mut self) -> Option<u64> {
        let seed = self.seed.as_mut()?;
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(z ^ (z >> 31))
    }
}
