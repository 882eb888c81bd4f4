//! Functions that only allocate: what each call of one returns is an object of its own.
//!
//! Programs allocate through functions of their own that test the result and count bytes. If these were functions like
//! any other, all memory of such a program would be one object, and every pointer in it could be every other. So a function
//! whose result is nothing but what an allocation returned, and that neither keeps this nor puts pointers into it, is
//! treated like the allocation itself: at each call it makes new memory.

use crate::external::{Effect, RESULT, effects};
use crate::flow::{Call, Called, Flow, Flows, Node, Value, has_body};
use crate::object::Site;
use parallax_cmodule::{FunctionId, Module, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// An allocation whose memory a wrapper returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// The call of the library's function.
    pub(crate) site: Site,
    /// What is copied into the new memory, as `realloc` does.
    pub(crate) copied: Vec<Copied>,
}

/// Where something comes from that an allocation copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    /// What this argument of the wrapper points to.
    Argument(u32),
    /// What this node of it points to.
    Node(Node),
}

/// The wrappers of a module, each with the allocations behind it.
pub(crate) fn wrappers(module: &Module, flows: &Flows) -> FxHashMap<FunctionId, Vec<Root>> {
    let mut known: FxHashMap<FunctionId, Vec<Root>> = FxHashMap::default();
    let pointers = |id: &FunctionId| {
        matches!(module.ty(module.function(*id).result).kind, TypeKind::Pointer) && has_body(module, *id)
    };
    let mut rest: Vec<FunctionId> =
        (0..module.functions.len() as u32).map(FunctionId).filter(pointers).collect();
    // A wrapper of a wrapper is found once that one is.
    loop {
        let before = known.len();
        rest.retain(|&id| match Body::of(module, flows, id).roots(&known) {
            Some(roots) => known.insert(id, roots).is_some(),
            None => true,
        });
        if known.len() == before {
            return known;
        }
    }
}

/// Nodes that one is a copy of, and calls that it is the result of.
type Behind<'f> = (FxHashSet<Node>, Vec<(Site, &'f Call)>);

/// The flows of one function.
struct Body<'f> {
    module: &'f Module,
    flows: &'f Flows,
    id: FunctionId,
}

impl<'f> Body<'f> {
    fn of(module: &'f Module, flows: &'f Flows, id: FunctionId) -> Self {
        Body { module, flows, id }
    }

    fn all(&self) -> impl Iterator<Item = &'f (Site, Flow)> {
        self.flows.flows[self.flows.ranges[self.id.0 as usize].clone()].iter()
    }

    /// The number of the parameter that a node is.
    fn parameter(&self, node: Node) -> Option<u32> {
        let first = self.flows.register(self.id, parallax_cmodule::Register(0));
        let number = node.0.checked_sub(first.0)?;
        ((number as usize) < self.module.function(self.id).parameters.len()).then_some(number)
    }

    /// Everything that a node is a copy of, itself included, and the calls that it is the result of; none where it is
    /// also something else.
    fn behind(&self, node: Node) -> Option<Behind<'f>> {
        let mut seen = FxHashSet::from_iter([node]);
        let mut calls = Vec::new();
        let mut grown = true;
        while grown {
            grown = false;
            for (site, flow) in self.all() {
                match flow {
                    Flow::Copy { from, to } | Flow::Move { from, to, .. } if seen.contains(to) => {
                        if let Value::Node(from) = from {
                            grown |= seen.insert(*from);
                        }
                    }
                    Flow::Anywhere { to, .. } | Flow::New { to, .. } if seen.contains(to) => return None,
                    Flow::Load { to: Some(to), .. } if seen.contains(to) => return None,
                    Flow::Call(call)
                        if call.result.is_some_and(|result| seen.contains(&result))
                            && !calls.iter().any(|(at, _)| at == site) =>
                    {
                        calls.push((*site, call));
                    }
                    _ => {}
                }
            }
        }
        // Constant addresses lie beyond the nodes of functions.
        let own = |node: &Node| self.flows.owner(*node).is_some_and(|(owner, _)| owner == self.id);
        seen.iter().all(own).then_some((seen, calls))
    }

    /// The allocations whose memory the function returns, if it does nothing else with it.
    fn roots(&self, known: &FxHashMap<FunctionId, Vec<Root>>) -> Option<Vec<Root>> {
        let allocates = |call: &Call| match call.callee {
            Called::Function(id) if has_body(self.module, id) => known.contains_key(&id),
            Called::Function(id) => allocation(&self.module.function(id).name).is_some(),
            _ => false,
        };
        if !self.all().any(|(_, flow)| matches!(flow, Flow::Call(call) if allocates(call))) {
            return None;
        }
        let (seen, calls) = self.behind(self.flows.result(self.id))?;
        if calls.is_empty() || seen.iter().any(|node| self.parameter(*node).is_some()) {
            return None;
        }
        let mut roots = Vec::new();
        for (site, call) in &calls {
            let Called::Function(id) = call.callee else { return None };
            if !allocates(call) {
                return None;
            }
            match known.get(&id) {
                Some(inner) => roots.extend(inner.iter().map(|root| {
                    let copied = root.copied.iter().flat_map(|from| match from {
                        Copied::Argument(index) => self.passed(call, *index),
                        Copied::Node(node) => vec![Copied::Node(*node)],
                    });
                    Root { site: root.site, copied: copied.collect() }
                })),
                None => {
                    let listed = allocation(&self.module.function(id).name)?;
                    let copied = listed.iter().filter_map(|effect| match effect {
                        Effect::Copies(RESULT, from) => Some(u32::from(*from)),
                        _ => None,
                    });
                    let copied = copied.flat_map(|from| self.passed(call, from)).collect();
                    roots.push(Root { site: *site, copied });
                }
            }
        }
        let made = calls.iter().filter_map(|(_, call)| call.result);
        self.keeps_to_itself(made.collect()).then_some(roots)
    }

    /// What an argument of a call is: a parameter of this function, where it is that and nothing else.
    fn passed(&self, call: &Call, index: u32) -> Vec<Copied> {
        let values = call.arguments.get(index as usize).map(|a| a.values.as_slice()).unwrap_or_default();
        let nodes = values.iter().filter_map(|value| match value {
            Value::Node(node) => Some(*node),
            Value::Null => None,
        });
        nodes
            .map(|node| {
                let behind = self.behind(node).filter(|(_, calls)| calls.is_empty());
                let parameters: Vec<u32> = behind
                    .map(|(seen, _)| seen.iter().filter_map(|node| self.parameter(*node)).collect())
                    .unwrap_or_default();
                match parameters[..] {
                    [only] => Copied::Argument(only),
                    _ => Copied::Node(node),
                }
            })
            .collect()
    }

    /// Whether new memory is only looked at, given numbers, and returned.
    fn keeps_to_itself(&self, mut made: FxHashSet<Node>) -> bool {
        let mut grown = true;
        while grown {
            grown = false;
            for (_, flow) in self.all() {
                if let Flow::Copy { from: Value::Node(from), to }
                | Flow::Move { from: Value::Node(from), to, .. } = flow
                    && made.contains(from)
                {
                    grown |= made.insert(*to);
                }
            }
        }
        let is_made = |value: &Value| matches!(value, Value::Node(node) if made.contains(node));
        self.all().all(|(_, flow)| match flow {
            Flow::Anywhere { from, .. } => !is_made(from),
            Flow::Store { pointer, values } => {
                !values.iter().any(is_made) && (values.is_empty() || !is_made(pointer))
            }
            Flow::Transfer { to, from, .. } => !is_made(to) && !is_made(from),
            Flow::Clear { pointer, .. } => !is_made(pointer),
            Flow::Call(call) => {
                let given = call.arguments.iter().any(|argument| argument.values.iter().any(is_made));
                !given || matches!(call.callee, Called::Function(id) if self.only_looks(id))
            }
            _ => true,
        })
    }

    /// Whether a function of the library neither keeps what it is given nor changes pointers in it.
    fn only_looks(&self, id: FunctionId) -> bool {
        let harmless =
            |effect: &Effect| matches!(effect, Effect::Dereferences(_) | Effect::Nullable | Effect::Never);
        !has_body(self.module, id)
            && effects(&self.module.function(id).name).is_none_or(|listed| listed.iter().all(harmless))
    }
}

/// What a function of the library does, if it only returns new memory, perhaps with a copy of something.
fn allocation(name: &str) -> Option<&'static [Effect]> {
    let listed = effects(name)?;
    let fits = |effect: &Effect| {
        matches!(
            effect,
            Effect::Allocates | Effect::AllocatesZeroed | Effect::Copies(RESULT, _) | Effect::Dereferences(_)
        )
    };
    let new = |effect: &Effect| matches!(effect, Effect::Allocates | Effect::AllocatesZeroed);
    (listed.iter().all(fits) && listed.iter().any(new)).then_some(listed)
}
