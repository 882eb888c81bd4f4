//! In which order places are evaluated, so that what comes together again is evaluated once.
//!
//! Two states are joined when they wait at one place at one time. So whatever can still get to a place should have
//! arrived there before it is left: places go in a weak topological order of the control flow (Bourdoncle, "Efficient
//! chaotic iteration strategies with widenings", 1993), in which a loop lies together, behind what leads to it and before
//! what follows it, wherever the compiler has put its blocks. A procedure is evaluated between its call and what
//! follows the call: places are compared as call stacks are, the outermost call first.
//!
//! The graph is what instructions tell by themselves; a jump through a table adds to it when it is met. A graph that
//! lacks an edge makes evaluation longer, never wrong.

use parallax_op::Bits;
use parallax_sem::{Language, Ways};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::rc::Rc;

/// Procedures with more instructions than this are ordered in part.
const MOST_PLACES: usize = 1 << 16;

/// Loops nested deeper than this are taken as they lie.
const DEEPEST: usize = 64;

/// Calls nested deeper than this are taken for jumps.
const MOST_CALLS: usize = 4096;

/// Marks ranks of places that are not in the graph; they go by address, behind all others.
const UNKNOWN: u64 = 1 << 63;

/// A call that has not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    /// The procedure that called, by its first place.
    caller: u64,
    site: u64,
    /// Where it comes back to.
    back: u64,
}

/// Which procedure is being executed, and who called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frames {
    procedure: u64,
    calls: Vec<Call>,
    /// The ranks of the calls.
    ranks: Vec<u64>,
}

/// How control got from one place to the next.
pub(crate) struct Move {
    /// The frames behind it.
    pub frames: Rc<Frames>,
    /// Whether it goes to a place, or into a procedure, that is evaluated already on this path.
    pub again: bool,
}

/// When a place is evaluated: the smallest first.
#[derive(Clone, Debug)]
pub(crate) struct When {
    frames: Rc<Frames>,
    rank: u64,
}

impl Ord for When {
    fn cmp(&self, other: &Self) -> Ordering {
        if Rc::ptr_eq(&self.frames, &other.frames) {
            return self.rank.cmp(&other.rank);
        }
        let ranks = |when: &'_ Self| [when.rank];
        self.frames.ranks.iter().chain(&ranks(self)).cmp(other.frames.ranks.iter().chain(&ranks(other)))
    }
}

impl PartialOrd for When {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for When {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for When {}

/// The order of the places of each procedure that was entered.
#[derive(Default)]
pub(crate) struct Order {
    procedures: FxHashMap<u64, Procedure>,
}

#[derive(Default)]
struct Procedure {
    ranks: FxHashMap<u64, u64>,
    /// Ways that no instruction tells.
    found: FxHashMap<u64, Vec<u64>>,
}

impl Order {
    /// The frames of a path that starts at a place.
    pub fn start<L: Language>(&mut self, language: &L, at: u64) -> Rc<Frames> {
        let entry = language.entry().to_u64().unwrap_or(u64::MAX);
        let procedure = if self.procedure(language, entry).ranks.contains_key(&at) { entry } else { at };
        Rc::new(Frames { procedure, calls: Vec::new(), ranks: Vec::new() })
    }

    /// When a place is evaluated.
    pub fn when(&self, frames: &Rc<Frames>, at: u64) -> When {
        When { frames: frames.clone(), rank: self.rank(frames.procedure, at) }
    }

    /// The frames with the ranks that hold now.
    pub fn anew(&self, frames: &Frames) -> Rc<Frames> {
        let ranks = frames.calls.iter().map(|call| self.rank(call.caller, call.site)).collect();
        Rc::new(Frames { ranks, ..frames.clone() })
    }

    /// Takes note of where a place was found to lead, `ways` being what it tells by itself; whether that changes the
    /// order.
    pub fn learn<L: Language>(
        &mut self,
        language: &L,
        frames: &Frames,
        (from, ways): (u64, &Ways),
        to: impl Iterator<Item = u64>,
    ) -> bool {
        if ways.calls || ways.returns {
            return false;
        }
        let procedure = self.procedure(language, frames.procedure);
        let known = procedure.found.get(&from).map_or(&[][..], Vec::as_slice);
        let new: Vec<u64> = to.filter(|to| !ways.on.contains(to) && !known.contains(to)).collect();
        if new.is_empty() {
            return false;
        }
        procedure.found.entry(from).or_default().extend(new);
        procedure.order(language, frames.procedure);
        true
    }

    /// The step from one place to another.
    pub fn step<L: Language>(
        &mut self,
        language: &L,
        frames: &Rc<Frames>,
        (from, ways): (u64, &Ways),
        to: u64,
    ) -> Move {
        if ways.returns
            && let Some(index) = frames.calls.iter().rposition(|call| call.back == to)
        {
            let Call { caller, .. } = frames.calls[index];
            let (calls, ranks) = (frames.calls[..index].to_vec(), frames.ranks[..index].to_vec());
            return Move { frames: Rc::new(Frames { procedure: caller, calls, ranks }), again: false };
        }
        // A call of the next instruction only asks where it is.
        let back = ways.on.first().copied().filter(|&back| ways.calls && back != to);
        if let Some(back) = back.filter(|_| frames.calls.len() < MOST_CALLS) {
            let again = frames.procedure == to || frames.calls.iter().any(|call| call.caller == to);
            self.procedure(language, to);
            let mut entered = (**frames).clone();
            entered.calls.push(Call { caller: frames.procedure, site: from, back });
            entered.ranks.push(self.rank(frames.procedure, from));
            entered.procedure = to;
            return Move { frames: Rc::new(entered), again };
        }
        let again = self.rank(frames.procedure, to) <= self.rank(frames.procedure, from);
        Move { frames: frames.clone(), again }
    }

    fn rank(&self, procedure: u64, at: u64) -> u64 {
        let known = self.procedures.get(&procedure).and_then(|procedure| procedure.ranks.get(&at));
        known.copied().unwrap_or(UNKNOWN | at)
    }

    fn procedure<L: Language>(&mut self, language: &L, entry: u64) -> &mut Procedure {
        self.procedures.entry(entry).or_insert_with(|| {
            let mut procedure = Procedure::default();
            procedure.order(language, entry);
            procedure
        })
    }
}

impl Procedure {
    fn order<L: Language>(&mut self, language: &L, entry: u64) {
        let (places, graph) = self.graph(language, entry);
        self.ranks = ordered(&graph).into_iter().zip(0..).map(|(node, rank)| (places[node], rank)).collect();
    }

    /// The places that can be reached, and for each of them those it leads to, by number.
    fn graph<L: Language>(&self, language: &L, entry: u64) -> (Vec<u64>, Vec<Vec<usize>>) {
        let exists = |at: u64| language.has_instruction(&Bits::new(language.pc_width(), at.into()));
        let (mut places, mut graph) = (Vec::new(), Vec::new());
        if !exists(entry) || language.ways(entry).is_none() {
            return (places, graph);
        }
        let mut numbers = FxHashMap::from_iter([(entry, 0)]);
        places.push(entry);
        while graph.len() < places.len() {
            let at = places[graph.len()];
            let on = language.ways(at).unwrap_or_default().on.into_iter();
            let mut leads = Vec::new();
            for to in on.chain(self.found.get(&at).into_iter().flatten().copied()) {
                let number = match numbers.get(&to) {
                    Some(&number) => number,
                    None if places.len() == MOST_PLACES || !exists(to) => continue,
                    None => {
                        numbers.insert(to, places.len());
                        places.push(to);
                        places.len() - 1
                    }
                };
                leads.push(number);
            }
            graph.push(leads);
        }
        (places, graph)
    }
}

/// The nodes of a graph that starts at node 0, in weak topological order.
fn ordered(graph: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(graph.len());
    let mut placed = vec![false; graph.len()];
    // Parts in the order of their nodes' discovery, the first of them on top; how deep in loops; whether it is one loop.
    let mut parts = vec![((0..graph.len()).collect::<Vec<_>>(), 0, false)];
    while let Some((part, depth, is_loop)) = parts.pop() {
        let rest = if is_loop || part.len() == 1 {
            placed[part[0]] = true;
            order.push(part[0]);
            &part[1..]
        } else {
            &part[..]
        };
        if rest.is_empty() {
            continue;
        }
        if depth > DEEPEST {
            order.extend(rest);
            rest.iter().for_each(|&node| placed[node] = true);
            continue;
        }
        // Components come with the last first, as the stack wants them.
        parts.extend(components(graph, rest, &placed).into_iter().map(|component| {
            let is_loop = component.len() > 1;
            (component, depth + usize::from(is_loop), is_loop)
        }));
    }
    order
}

/// The strongly connected components of a part of a graph, each behind those it leads to (Tarjan); the nodes of each in
/// the order of their discovery, for which the part gives the order of roots.
fn components(graph: &[Vec<usize>], part: &[usize], placed: &[bool]) -> Vec<Vec<usize>> {
    let inside: FxHashSet<usize> = part.iter().copied().collect();
    let mut discovered: FxHashMap<usize, usize> = FxHashMap::default();
    let mut lowest: FxHashMap<usize, usize> = FxHashMap::default();
    let mut open = Vec::new();
    let mut is_open = FxHashSet::default();
    let mut found = Vec::new();
    for &root in part {
        if discovered.contains_key(&root) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if *next == 0 {
                let number = discovered.len();
                discovered.insert(node, number);
                lowest.insert(node, number);
                open.push(node);
                is_open.insert(node);
            }
            let lead = graph[node].get(*next).copied();
            *next += 1;
            match lead {
                Some(to) if placed[to] || !inside.contains(&to) => {}
                Some(to) => match discovered.get(&to) {
                    None => path.push((to, 0)),
                    Some(&number) if is_open.contains(&to) => {
                        let low = lowest.entry(node).or_insert(number);
                        *low = number.min(*low);
                    }
                    Some(_) => {}
                },
                None => {
                    path.pop();
                    let low = lowest[&node];
                    if let Some((parent, _)) = path.last() {
                        let above = lowest.entry(*parent).or_insert(low);
                        *above = low.min(*above);
                    }
                    if low == discovered[&node] {
                        let from = open.iter().rposition(|&other| other == node).unwrap_or(0);
                        let component = open.split_off(from);
                        component.iter().for_each(|node| {
                            is_open.remove(node);
                        });
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(order: &[usize], node: usize) -> usize {
        order.iter().position(|&other| other == node).expect("every node has a place")
    }

    #[test]
    fn a_block_behind_the_end_comes_before_where_it_leads() {
        // 0 -> 1 -> 2 (end); 1 -> 3 -> 2, with 3 laid out behind the end.
        let order = ordered(&[vec![1], vec![2, 3], vec![], vec![2]]);
        assert!(position(&order, 3) < position(&order, 2), "{order:?}");
    }

    #[test]
    fn a_loop_lies_together() {
        // 1..3 is a loop whose exit 4 leads from its head; the loop 2 <-> 5 inside it.
        let order = ordered(&[vec![1], vec![4, 2], vec![5, 3], vec![1], vec![], vec![2]]);
        assert_eq!(position(&order, 4), 5, "{order:?}");
        assert!(
            position(&order, 5) < position(&order, 3),
            "the inner loop before what follows it: {order:?}"
        );
    }

    /// Every edge leads forward, or back to the head of a loop that the edge lies in.
    #[test]
    fn random_graphs() {
        let mut seed = 12345u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        for _ in 0..500 {
            let nodes = 2 + random(20);
            let mut graph: Vec<Vec<usize>> =
                (0..nodes).map(|_| (0..random(3)).map(|_| random(nodes)).collect()).collect();
            (1..nodes).for_each(|node| graph[random(node)].push(node));
            let order = ordered(&graph);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..nodes).collect::<Vec<_>>(), "each once");
            assert_eq!(order[0], 0, "the entry first");
            for (from, leads) in graph.iter().enumerate() {
                for &to in leads {
                    let (start, end) = (position(&order, to), position(&order, from));
                    if start > end {
                        continue;
                    }
                    // Backward: `to` gets to everything between without leaving the stretch behind it.
                    let mut reached = FxHashSet::from_iter([to]);
                    let mut waiting = vec![to];
                    while let Some(node) = waiting.pop() {
                        for &next in &graph[node] {
                            if position(&order, next) >= start && reached.insert(next) {
                                waiting.push(next);
                            }
                        }
                    }
                    assert!(
                        (start..=end).all(|place| reached.contains(&order[place])),
                        "{graph:?} {order:?}: {from} -> {to}"
                    );
                }
            }
        }
    }

    #[test]
    fn deep_nests_end() {
        // Every node leads to the next and back to all before it.
        let nodes = 3000;
        let graph: Vec<Vec<usize>> =
            (0..nodes).map(|node| vec![(node + 1) % nodes, nodes - 1 - node]).collect();
        assert_eq!(ordered(&graph).len(), nodes);
    }
}
