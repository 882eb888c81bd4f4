//! A world outside that answers with well-typed values: chosen ones by name, and pseudo-random ones from a seed.

use crate::interp::{self, Finished, Limits, Outside, Value, World, fits};
use crate::syntax::{Extern, Program, Sign, Writes};
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
    /// The locations that named references point to.
    pub memory: Vec<Value>,
    /// The declared types of what these locations hold.
    pub types: FxHashMap<usize, Type>,
}

impl World for Answers {
    fn memory(&mut self) -> Vec<Value> {
        self.memory.clone()
    }

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
    /// Gives an `extern` name the value of an expression, in which names that have a value may stand: `ref 5`, `p`.
    pub fn set(&mut self, program: &Program, name: &str, text: &str) -> Result<(), String> {
        let declared = |name: &str| program.externs.iter().find(|of| program.var(of.name.var).name == name);
        let wanted = declared(name).ok_or("the program declares no extern of that name")?;
        let mut source = String::new();
        for (name, declared) in self.named.keys().filter_map(|name| Some((name, declared(name)?))) {
            source.push_str(&format!("extern {name} : {};\n", declared.ty));
        }
        source.push_str(text);
        let expression = crate::reader::read(&source).map_err(|diagnostic| diagnostic.message)?;
        let seed = self.seed.take();
        let run = interp::run(&expression, self, &mut (), Limits::default());
        self.seed = seed;
        let Finished { value, memory } = run.map_err(|stop| stop.to_string())?;
        if matches!(value, Value::Closure(_) | Value::Outside(_)) {
            return Err(format!("{text} is a function"));
        }
        self.memory = memory;
        self.give(&value, &wanted.ty)?;
        self.named.insert(name.to_string(), value);
        Ok(())
    }

    /// Notes the types of the locations of a value, if it has the type all the way down.
    fn give(&mut self, value: &Value, ty: &Type) -> Result<(), String> {
        if !fits(value, ty) {
            return Err(format!("{} is no {ty}", interp::show(value, &self.memory)));
        }
        let (Value::Loc(location), Type::Ref(_, content)) = (value, ty) else { return Ok(()) };
        match self.types.insert(*location, (**content).clone()) {
            Some(before) if before == **content => Ok(()),
            Some(before) => Err(format!("a location of type {before} cannot be one of type {content} too")),
            None => self.give(&self.memory[*location].clone(), content),
        }
    }

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
