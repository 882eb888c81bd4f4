//! Cycles of the copy graph: what lies on one points to the same, and becomes one node.

use super::Solver;
use rustc_hash::FxHashMap;

impl Solver<'_> {
    /// Collapses cycles of the copy graph; gives its nodes in topological order.
    pub(super) fn collapse(&mut self) -> Vec<u32> {
        let count = self.parents.len();
        let mut index = vec![0u32; count];
        let mut low = vec![0u32; count];
        let mut on = vec![false; count];
        let mut stack: Vec<u32> = Vec::new();
        let mut order: Vec<u32> = Vec::new();
        let mut next = 1u32;
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut walk: Vec<(u32, usize)> = Vec::new();
        for root in 0..count as u32 {
            if self.parents[root as usize] != root
                || index[root as usize] != 0
                || self.successors[root as usize].is_empty()
            {
                continue;
            }
            walk.push((root, 0));
            while let Some(&mut (node, ref mut at)) = walk.last_mut() {
                let n = node as usize;
                if *at == 0 && index[n] == 0 {
                    index[n] = next;
                    low[n] = next;
                    next += 1;
                    stack.push(node);
                    on[n] = true;
                }
                if let Some(&to) = self.successors[n].get(*at) {
                    *at += 1;
                    let to = self.find(to) as usize;
                    if index[to] == 0 {
                        walk.push((to as u32, 0));
                    } else if on[to] {
                        low[n] = low[n].min(index[to]);
                    }
                    continue;
                }
                walk.pop();
                if let Some(&(above, _)) = walk.last() {
                    low[above as usize] = low[above as usize].min(low[n]);
                }
                if low[n] == index[n] {
                    let mut group = Vec::new();
                    while let Some(member) = stack.pop() {
                        on[member as usize] = false;
                        group.push(member);
                        if member == node {
                            break;
                        }
                    }
                    order.push(node);
                    if group.len() > 1 {
                        groups.push(group);
                    }
                }
            }
        }
        let mut kept = FxHashMap::default();
        for group in groups {
            let first = group[group.len() - 1];
            let mut into = first;
            for &member in &group {
                into = self.merge(into, member);
            }
            let successors = std::mem::take(&mut self.successors[into as usize]);
            let mut unique: Vec<u32> =
                successors.into_iter().map(|s| self.find(s)).filter(|&s| s != into).collect();
            unique.sort_unstable();
            unique.dedup();
            self.successors[into as usize] = unique;
            kept.insert(first, into);
        }
        // Tarjan's algorithm finishes nodes after everything they lead to.
        order.reverse();
        order.into_iter().map(|node| kept.get(&node).copied().unwrap_or(node)).collect()
    }
}
