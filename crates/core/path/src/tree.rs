//! The tree of forks, of which the waiting states are the leaves: a random walk from its root picks one.
//!
//! Where a loop forks at every turn, most of the states that wait come from that loop, and a state picked blindly is one
//! of them. A walk that takes either side of each fork with the same chance is not drawn to where many states are (random
//! path search: Cadar, Dunbar and Engler, OSDI 2008).

/// A node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(u32);

#[derive(Clone, Copy, Debug)]
struct Place {
    parent: Option<Node>,
    /// What lies below a fork, or the number that the leaf carries.
    below: Result<[Node; 2], u64>,
}

/// A tree in which every node is a leaf or has two children.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    places: Vec<Place>,
    unused: Vec<Node>,
    root: Option<Node>,
}

impl Tree {
    /// A new leaf, as the sibling of this node if there is one, else of the whole tree.
    pub(crate) fn add(&mut self, beside: Option<Node>, number: u64) -> Node {
        let leaf = self.place(None, Err(number));
        let Some(sibling) = beside.or(self.root) else {
            self.root = Some(leaf);
            return leaf;
        };
        let above = self.at(sibling).parent;
        let fork = self.place(above, Ok([sibling, leaf]));
        self.at_mut(sibling).parent = Some(fork);
        self.at_mut(leaf).parent = Some(fork);
        self.replace(above, sibling, fork);
        leaf
    }

    /// Takes a leaf out; its sibling takes the place of their fork.
    pub(crate) fn remove(&mut self, leaf: Node) {
        self.unused.push(leaf);
        let Some(fork) = self.at(leaf).parent else {
            self.root = None;
            return;
        };
        let Ok([one, other]) = self.at(fork).below else { unreachable!("a parent is a fork") };
        let sibling = if one == leaf { other } else { one };
        let above = self.at(fork).parent;
        self.at_mut(sibling).parent = above;
        self.replace(above, fork, sibling);
        self.unused.push(fork);
    }

    /// The number of the leaf that a walk from the root comes to; `side` says which way it goes at each fork.
    pub(crate) fn walk(&self, mut side: impl FnMut() -> bool) -> Option<u64> {
        let mut node = self.root?;
        loop {
            match self.at(node).below {
                Ok([one, other]) => node = if side() { one } else { other },
                Err(number) => return Some(number),
            }
        }
    }

    /// Puts another child where one was, below a fork or at the root.
    fn replace(&mut self, above: Option<Node>, child: Node, by: Node) {
        let Some(above) = above else {
            self.root = Some(by);
            return;
        };
        let Ok(children) = &mut self.at_mut(above).below else { unreachable!("a parent is a fork") };
        children.iter_mut().filter(|known| **known == child).for_each(|known| *known = by);
    }

    fn place(&mut self, parent: Option<Node>, below: Result<[Node; 2], u64>) -> Node {
        let place = Place { parent, below };
        match self.unused.pop() {
            Some(node) => {
                *self.at_mut(node) = place;
                node
            }
            None => {
                self.places.push(place);
                Node(self.places.len() as u32 - 1)
            }
        }
    }

    fn at(&self, node: Node) -> &Place {
        &self.places[node.0 as usize]
    }

    fn at_mut(&mut self, node: Node) -> &mut Place {
        &mut self.places[node.0 as usize]
    }
}
