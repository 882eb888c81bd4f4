//! Locations and cells: made when they are met, merged when they can no longer be told apart.

use super::{MOST_PAIRS, Moved, Solver, Transfer, Watch};
use crate::object::{ANYWHERE, Copied, MOST_TYPED, MOST_UNTYPED, ObjectId, ObjectKind, Reach};
use crate::set::{Set, set};
use smallvec::SmallVec;

impl Solver<'_> {
    /// A location, by its number.
    pub(crate) fn location(&mut self, object: ObjectId, offset: i64) -> u32 {
        let class = self.flows.objects[object.0 as usize].class(self.module, offset);
        if let Some(&id) = self.ids.get(&(object, class)) {
            return self.current(id);
        }
        let id = self.locations.len() as u32;
        self.locations.push((object, class));
        self.moved_to.push(id);
        self.ids.insert((object, class), id);
        let held = &mut self.flows.objects[object.0 as usize];
        held.locations.push((class, id));
        if class == ANYWHERE || held.modulus == 1 {
            set(&mut self.fixed, id);
        }
        let most = if held.ty.is_some() { MOST_TYPED } else { MOST_UNTYPED };
        if held.locations.len() > most && held.modulus == 0 {
            let common = held
                .locations
                .iter()
                .filter(|(o, _)| *o != ANYWHERE)
                .fold(0, |g, (o, _)| gcd(g, o.unsigned_abs()));
            self.coarsen(object, common.max(1));
            return self.current(id);
        }
        id
    }

    pub(super) fn current(&self, mut id: u32) -> u32 {
        while self.moved_to[id as usize] != id {
            id = self.moved_to[id as usize];
        }
        id
    }

    /// Offsets of an object are taken modulo a number from here on: its locations and cells merge.
    pub(super) fn coarsen(&mut self, object: ObjectId, modulus: u64) {
        let held = &mut self.flows.objects[object.0 as usize];
        let modulus = gcd(held.modulus, modulus);
        if modulus == held.modulus {
            return;
        }
        held.modulus = modulus;
        let locations = std::mem::take(&mut held.locations);
        let cells = std::mem::take(&mut held.cells);
        for (offset, id) in locations {
            let class = self.flows.objects[object.0 as usize].class(self.module, offset);
            match self.ids.get(&(object, class)) {
                Some(&other) if self.current(other) != id => {
                    let other = self.current(other);
                    if other != id {
                        self.moved_to[id as usize] = other;
                        continue;
                    }
                }
                _ => {}
            }
            self.ids.insert((object, class), id);
            self.locations[id as usize] = (object, class);
            self.flows.objects[object.0 as usize].locations.push((class, id));
            if modulus == 1 {
                set(&mut self.fixed, id);
            }
        }
        for (offset, node) in cells {
            let class = self.flows.objects[object.0 as usize].class(self.module, offset) & !7;
            let node = self.find_mut(node);
            match self.cells.get(&(object, class)) {
                Some(&other) if other != node => {
                    let kept = self.merge(other, node);
                    self.cells.insert((object, class), kept);
                    let cells = &mut self.flows.objects[object.0 as usize].cells;
                    match cells.iter_mut().find(|(at, _)| *at == class) {
                        Some(cell) => cell.1 = kept,
                        None => cells.push((class, kept)),
                    }
                }
                _ => {
                    self.cells.insert((object, class), node);
                    let cells = &mut self.flows.objects[object.0 as usize].cells;
                    if !cells.iter().any(|(at, _)| *at == class) {
                        cells.push((class, node));
                    }
                }
            }
        }
        // A cell stands for more places now: where it is copied, it goes to more.
        let copies = self.watches.get(&object).into_iter().flatten().copied();
        let copies: Vec<Watch> = copies.filter(|watch| matches!(watch, Watch::Transfer { .. })).collect();
        for watch in copies {
            for (offset, cell) in self.flows.objects[object.0 as usize].cells.clone() {
                self.apply(object, watch, offset, cell);
            }
        }
    }

    /// The cell at an offset of an object.
    pub(super) fn cell(&mut self, object: ObjectId, offset: i64) -> u32 {
        let class = self.flows.objects[object.0 as usize].class(self.module, offset) & !7;
        if let Some(&node) = self.cells.get(&(object, class)) {
            return self.find_mut(node);
        }
        let node = self.extra();
        self.cells.insert((object, class), node);
        self.flows.objects[object.0 as usize].cells.push((class, node));
        if self.watches.contains_key(&object) {
            self.born.push((object, class, node));
        }
        node
    }

    /// Does with new cells what is done with every cell of their objects. Copies make cells of cells: one after the other, and
    /// not one within the other.
    pub(super) fn grow(&mut self) {
        while let Some((object, offset, cell)) = self.born.pop() {
            for watch in self.watches.get(&object).cloned().unwrap_or_default() {
                self.apply(object, watch, offset, cell);
            }
        }
    }

    /// Does what is done with every cell of an object with one of them.
    pub(super) fn apply(&mut self, object: ObjectId, watch: Watch, offset: i64, cell: u32) {
        match watch {
            Watch::Load(to) => self.edge(cell, to),
            Watch::Store(from) => self.edge(from, cell),
            Watch::Transfer { to, into, start, len } => {
                let objects = &self.flows.objects;
                let copied = objects[object.0 as usize].copied(self.module, offset, start, len);
                match objects[to.0 as usize].received(self.module, into, copied) {
                    Copied::At(places) => {
                        for at in places {
                            let target = self.cell(to, at);
                            self.edge(cell, target);
                        }
                    }
                    Copied::Anywhere => self.watch(to, Watch::Store(cell)),
                }
            }
        }
    }

    pub(super) fn watch(&mut self, object: ObjectId, watch: Watch) {
        if !self.watched.insert((object, watch)) {
            return;
        }
        self.watches.entry(object).or_default().push(watch);
        for (offset, cell) in self.flows.objects[object.0 as usize].cells.clone() {
            self.apply(object, watch, offset, cell);
        }
    }

    /// Where a way of moving leads from a location.
    pub(super) fn reach(&mut self, id: u32, number: u32) -> SmallVec<[u32; 2]> {
        let (object, offset) = self.locations[id as usize];
        let (constant, steps) = self.moves[number as usize].clone();
        let held = &self.flows.objects[object.0 as usize];
        let untyped = held.ty.is_none() && held.modulus != 1 && offset != ANYWHERE;
        let coarse = steps.iter().filter(|s| s.abs() >= 8).fold(0, |g, s| gcd(g, s.unsigned_abs()));
        let reached: SmallVec<[u32; 2]> = match held.moved(self.module, offset, constant, &steps) {
            Reach::Offsets(offsets) => offsets.into_iter().map(|at| self.location(object, at)).collect(),
            Reach::Nowhere => SmallVec::new(),
        };
        if untyped && coarse > 0 {
            self.coarsen(object, coarse);
        }
        let number = number as usize;
        if self.moved.len() <= number {
            self.moved.resize_with(number + 1, Vec::new);
        }
        if self.moved[number].len() <= id as usize {
            self.moved[number].resize(self.locations.len(), Moved::Unknown);
        }
        self.moved[number][id as usize] = match reached[..] {
            [one] => Moved::One(one),
            _ => Moved::Several(reached.iter().copied().collect()),
        };
        reached
    }

    /// The cell at a location.
    pub(super) fn cell_at(&mut self, id: u32) -> u32 {
        if self.cell_at.len() < self.locations.len() {
            self.cell_at.resize(self.locations.len(), 0);
        }
        match self.cell_at[id as usize] {
            0 => {
                let (object, offset) = self.locations[id as usize];
                let cell = self.cell(object, offset);
                self.cell_at[id as usize] = cell;
                cell
            }
            // It may have been merged with another since.
            cell => self.find_mut(cell),
        }
    }

    /// What is new at one end of a transfer, or at both, meets what the other end has.
    pub(super) fn transferred(&mut self, number: u32, node: u32, new: &Set) {
        let Transfer { to, from, len, through } = self.transfers[number as usize];
        let (to, from) = (self.find_mut(to), self.find_mut(from));
        let targets = if to == node { new.clone() } else { self.sets[to as usize].clone() };
        let sources = if from == node { new.clone() } else { self.sets[from as usize].clone() };
        let pairs = self.sets[to as usize].len() * self.sets[from as usize].len();
        if pairs <= MOST_PAIRS && through.is_none() {
            for target in targets.iter() {
                for source in sources.iter() {
                    self.copy(target, source, len);
                }
            }
            return;
        }
        // Everything that is read meets in one node, from which everything is written: offsets are given up.
        let (through, targets, sources) = match through {
            Some(through) => (through, targets, sources),
            None => {
                let through = self.extra();
                self.transfers[number as usize].through = Some(through);
                (through, self.sets[to as usize].clone(), self.sets[from as usize].clone())
            }
        };
        for id in sources.iter() {
            let object = self.locations[self.current(id) as usize].0;
            self.watch(object, Watch::Load(through));
        }
        for id in targets.iter() {
            let object = self.locations[self.current(id) as usize].0;
            self.watch(object, Watch::Store(through));
        }
    }

    pub(super) fn copy(&mut self, target: u32, source: u32, len: Option<u64>) {
        let (to, to_offset) = self.locations[self.current(target) as usize];
        let (from, from_offset) = self.locations[self.current(source) as usize];
        let is_code = |solver: &Self, o: ObjectId| {
            matches!(solver.flows.objects[o.0 as usize].kind, ObjectKind::Function(_))
        };
        if is_code(self, to) || is_code(self, from) {
            return;
        }
        if to_offset == ANYWHERE || from_offset == ANYWHERE {
            self.coarsen(to, 1);
            self.coarsen(from, 1);
        }
        let start = if from_offset == ANYWHERE { 0 } else { from_offset };
        let into = if to_offset == ANYWHERE { 0 } else { to_offset };
        self.watch(from, Watch::Transfer { to, into, start, len });
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
