//! A world outside that answers with well-typed values: chosen ones by name, and pseudo-random ones from a seed.

use crate::interp::{Value, World, fits};
use crate::syntax::Sign;
use crate::ty::Type;
use rustc_hash::FxHashMap;

/// Answers from a table, then from a seed.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// What `extern` names are.
    pub named: FxHashMap<String, Value>,
    /// Where other answers come from; without a seed there are none.
    pub seed: Option<u64>,
}

impl World for Answers {
    fn named(&mut self, name: &str, ty: &Type, memory: &mut Vec<Value>) -> Option<Value> {
        match self.named.get(name) {
            Some(value) if fits(value, ty) => Some(value.clone()),
            Some(_) => None,
            None => self.any(ty, memory),
        }
    }

    fn answer(&mut self, ty: &Type, memory: &mut Vec<Value>) -> Option<Value> {
        self.any(ty, memory)
    }
}

impl Answers {
    /// Some value of the type.
    fn any(&mut self, ty: &Type, memory: &mut Vec<Value>) -> Option<Value> {
        Some(match ty {
            // A function can be handed out before anyone knows what it answers.
            Type::Fun(from, to) => Value::Outside(from.clone(), to.clone()),
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
            Type::Ref(content) => {
                let content = self.any(content, memory)?;
                memory.push(content);
                Value::Loc(memory.len() - 1)
            }
            Type::Known(_) | Type::Var(_) | Type::Broken => return None,
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
