//! In which order places are evaluated, so that what comes together again is evaluated once.
//!
//! Two states are joined when they wait at one place at one time. So whatever can still get to a place should have
//! arrived there before it is left: places go in a weak topological order of the control flow (Bourdoncle, "Efficient
//! chaotic iteration strategies with widenings", 1993), in which a loop lies together, behind what leads to it and before
//! what follows it, wherever the compiler has put its blocks. A loop goes round by round, also when several ways lead
//! back to its head: a counter that is the same in all of them stays a number. A procedure is evaluated between its call
//! and what follows the call: places are compared as call stacks are, the outermost call first.
//!
//! The graph is what instructions tell by themselves; a jump through a table adds to it when it is met. A graph that
//! lacks an edge makes evaluation longer, never wrong.

use parallax_op::Bits;
use parallax_sem::{Language, Successors};
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

/// The loops around a place, the outermost first: the head of each, and the round.
type Rounds = Vec<(u64, u64)>;

/// A place on the way through a procedure.
#[derive(Clone, Debug)]
struct Position {
    procedure: u64,
    at: u64,
    rounds: Rounds,
}

/// A call that has not come back.
#[derive(Clone, Debug)]
struct Call {
    site: Position,
    /// Where it comes back to.
    back: u64,
    /// How many numbers of the key were there before it.
    key: usize,
}

/// Who called, the outermost first.
#[derive(Debug, Default)]
struct Calls {
    calls: Vec<Call>,
    key: Vec<u64>,
}

/// A place on the way, and when it is evaluated: the smallest first.
#[derive(Clone, Debug)]
pub(crate) struct When {
    calls: Rc<Calls>,
    position: Position,
    /// For each loop the rank of its head and the round, then the rank of the place.
    key: Vec<u64>,
}

impl When {
    /// Where the innermost call that has not come back comes back to.
    pub fn comes_back(&self) -> Option<u64> {
        self.calls.calls.last().map(|call| call.back)
    }
}

impl Ord for When {
    fn cmp(&self, other: &Self) -> Ordering {
        if Rc::ptr_eq(&self.calls, &other.calls) {
            return self.key.cmp(&other.key);
        }
        self.calls.key.iter().chain(&self.key).cmp(other.calls.key.iter().chain(&other.key))
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
    /// The rank of each place, and the innermost loop it is in.
    places: FxHashMap<u64, (u64, Option<usize>)>,
    /// The head of each loop, and the loop around it.
    loops: Vec<(u64, Option<usize>)>,
    /// Ways that no instruction tells.
    found: FxHashMap<u64, Vec<u64>>,
}

impl Order {
    /// The start of a path.
    pub fn start<L: Language>(&mut self, language: &L, at: u64) -> When {
        let entry = language.entry().to_u64().unwrap_or(u64::MAX);
        let procedure = if self.procedure(language, entry).places.contains_key(&at) { entry } else { at };
        self.procedure(language, procedure);
        self.when(Rc::default(), Position { procedure, at, rounds: Rounds::new() })
    }

    /// The same place in the order that holds now.
    pub fn anew(&self, when: &When) -> When {
        let mut calls = Calls::default();
        for call in &when.calls.calls {
            let (site, ranks) = self.placed(call.site.clone());
            calls.calls.push(Call { site, back: call.back, key: calls.key.len() });
            calls.key.extend(ranks);
        }
        self.when(Rc::new(calls), when.position.clone())
    }

    /// Takes note of where a place was found to lead, `successors` being what it tells by itself; whether that changes the
    /// order.
    pub fn learn<L: Language>(
        &mut self,
        language: &L,
        from: &When,
        successors: &Successors,
        to: impl Iterator<Item = u64>,
    ) -> bool {
        if successors.calls || successors.returns {
            return false;
        }
        let Position { procedure: entry, at, .. } = from.position;
        let procedure = self.procedure(language, entry);
        let known = procedure.found.get(&at).map_or(&[][..], Vec::as_slice);
        let new: Vec<u64> = to.filter(|to| !successors.within.contains(to) && !known.contains(to)).collect();
        if new.is_empty() {
            return false;
        }
        procedure.found.entry(at).or_default().extend(new);
        procedure.order(language, entry);
        true
    }

    /// The step from one place to another, and whether it goes to a place, or into a procedure, that this path is in or
    /// has been in before.
    pub fn step<L: Language>(
        &mut self,
        language: &L,
        from: &When,
        successors: &Successors,
        to: u64,
    ) -> (When, bool) {
        let calls = &from.calls;
        if successors.returns
            && let Some(index) = calls.calls.iter().rposition(|call| call.back == to)
        {
            let Call { site, key, .. } = &calls.calls[index];
            let outer = Calls { calls: calls.calls[..index].to_vec(), key: calls.key[..*key].to_vec() };
            return (self.onward(Rc::new(outer), site, to).0, false);
        }
        // A call of the next instruction only asks where it is.
        let back = successors.within.first().copied().filter(|&back| successors.calls && back != to);
        if let Some(back) = back.filter(|_| calls.calls.len() < MOST_CALLS) {
            let again =
                from.position.procedure == to || calls.calls.iter().any(|call| call.site.procedure == to);
            self.procedure(language, to);
            let mut inner = Calls { calls: calls.calls.clone(), key: calls.key.clone() };
            inner.calls.push(Call { site: from.position.clone(), back, key: inner.key.len() });
            inner.key.extend(&from.key);
            let entered = Position { procedure: to, at: to, rounds: Rounds::new() };
            return (self.when(Rc::new(inner), entered), again);
        }
        self.onward(calls.clone(), &from.position, to)
    }

    /// On in the same procedure; whether that is back.
    fn onward(&self, calls: Rc<Calls>, from: &Position, to: u64) -> (When, bool) {
        let again = self.rank(from.procedure, to) <= self.rank(from.procedure, from.at);
        let mut rounds = from.rounds.clone();
        if again {
            // The next round of the innermost loop that both are in.
            let heads = self.heads(from.procedure, to);
            let common = rounds.iter().zip(&heads).take_while(|((head, _), other)| head == *other).count();
            rounds.truncate(common);
            if let Some((_, round)) = rounds.last_mut() {
                *round += 1;
            }
        }
        (self.when(calls, Position { procedure: from.procedure, at: to, rounds }), again)
    }

    fn when(&self, calls: Rc<Calls>, position: Position) -> When {
        let (position, key) = self.placed(position);
        When { calls, position, key }
    }

    /// The position with the loops that are around it now, and its key.
    fn placed(&self, mut position: Position) -> (Position, Vec<u64>) {
        let Position { procedure, at, rounds } = &mut position;
        let heads = self.heads(*procedure, *at);
        let round =
            |head: u64| rounds.iter().find(|(known, _)| *known == head).map_or(0, |(_, round)| *round);
        *rounds = heads.iter().map(|&head| (head, round(head))).collect();
        let loops = rounds.iter().flat_map(|&(head, round)| [self.rank(*procedure, head), round]);
        let key = loops.chain([self.rank(*procedure, *at)]).collect();
        (position, key)
    }

    fn rank(&self, procedure: u64, at: u64) -> u64 {
        let known = self.procedures.get(&procedure).and_then(|procedure| procedure.places.get(&at));
        known.map_or(UNKNOWN | at, |(rank, _)| *rank)
    }

    /// The heads of the loops around a place, the outermost first.
    fn heads(&self, procedure: u64, at: u64) -> Vec<u64> {
        let Some(procedure) = self.procedures.get(&procedure) else { return Vec::new() };
        let innermost = procedure.places.get(&at).and_then(|(_, innermost)| *innermost);
        let around = std::iter::successors(innermost, |&index| procedure.loops[index].1);
        let mut heads: Vec<u64> = around.map(|index| procedure.loops[index].0).collect();
        heads.reverse();
        heads
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
        let (order, loops) = ordered(&graph);
        self.places = order
            .into_iter()
            .zip(0..)
            .map(|((node, innermost), rank)| (places[node], (rank, innermost)))
            .collect();
        self.loops = loops.into_iter().map(|(head, around)| (places[head], around)).collect();
    }

    /// The places that can be reached, and for each of them those it leads to, by number.
    fn graph<L: Language>(&self, language: &L, entry: u64) -> (Vec<u64>, Vec<Vec<usize>>) {
        let exists = |at: u64| language.has_instruction(&Bits::new(language.pc_width(), at.into()));
        let (mut places, mut graph) = (Vec::new(), Vec::new());
        if !exists(entry) || language.successors(entry).is_none() {
            return (places, graph);
        }
        let mut numbers = FxHashMap::from_iter([(entry, 0)]);
        places.push(entry);
        while graph.len() < places.len() {
            let at = places[graph.len()];
            let on = language.successors(at).unwrap_or_default().within.into_iter();
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

/// Nodes with the innermost loop each is in; for each loop its head and the loop around it.
type Ordered = (Vec<(usize, Option<usize>)>, Vec<(usize, Option<usize>)>);

/// The nodes of a graph that starts at node 0, in weak topological order.
fn ordered(graph: &[Vec<usize>]) -> Ordered {
    struct Part {
        /// In the order of discovery.
        nodes: Vec<usize>,
        /// The loop around it, and how many there are around that.
        around: Option<usize>,
        depth: usize,
        is_loop: bool,
    }
    let mut order = Vec::with_capacity(graph.len());
    let mut loops = Vec::new();
    let mut placed = vec![false; graph.len()];
    let mut parts = vec![Part { nodes: (0..graph.len()).collect(), around: None, depth: 0, is_loop: false }];
    while let Some(Part { nodes, mut around, mut depth, is_loop }) = parts.pop() {
        if is_loop {
            loops.push((nodes[0], around));
            around = Some(loops.len() - 1);
            depth += 1;
        }
        let first = usize::from(is_loop || nodes.len() == 1);
        let rest = if depth > DEEPEST { nodes.len() } else { first };
        for &node in &nodes[..rest] {
            placed[node] = true;
            order.push((node, around));
        }
        // Components come with the last first, as the stack wants them.
        parts.extend(components(graph, &nodes[rest..], &placed).into_iter().map(|nodes| {
            let is_loop = nodes.len() > 1;
            Part { nodes, around, depth, is_loop }
        }));
    }
    (order, loops)
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

    fn ordered(graph: &[Vec<usize>]) -> Vec<usize> {
        super::ordered(graph).0.into_iter().map(|(node, _)| node).collect()
    }

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
