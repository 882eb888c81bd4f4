//! Memory: objects with bounds and lifetime, shared between states until one of them writes. States stay on one thread,
//! so that what they share is counted without locks.

use super::content::{Content, Fill};
use super::value::ObjectId;
use parallax_cmodule::{FunctionId, LocationId, VariableId};
use parallax_sem::Core;
use std::rc::Rc;

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A global variable.
    Global,
    /// The heap: freed by the program.
    Heap,
    /// A stack frame of this function: dies with it.
    Stack(FunctionId),
    /// Exists at entry: unknown memory that the caller set up.
    Input,
}

/// An object.
#[derive(Clone)]
pub struct Object<C: Core> {
    /// Where it comes from.
    pub kind: Kind,
    /// Its size in bytes, 64 bits.
    pub size: C::Val,
    /// The most that `size` can be: how far contents may reach.
    pub capacity: u64,
    /// Whether it still exists.
    pub alive: C::Bool,
    /// Its address, unless the next field has it.
    pub base: u64,
    /// The address of memory that existed before the program: not ours to choose.
    pub address: Option<C::Val>,
    /// What it holds.
    pub content: Content<C>,
    /// Whether writing it is a mistake.
    pub read_only: bool,
    /// The variable it is, where it is one.
    pub variable: Option<VariableId>,
    /// Where it was made: the function.
    pub made_in: FunctionId,
    /// Where it was made: the place.
    pub made_at: LocationId,
}

/// Address of the first object.
pub(super) const FIRST_BASE: u64 = 0x1_0000_0000;

/// Where an object goes that is placed at `next` or after it, and where the next one may.
pub(super) fn place(next: u64, capacity: u64, align: u64) -> (u64, u64) {
    let align = align.max(16);
    let base = next.div_ceil(align) * align;
    (base, base.saturating_add(capacity).saturating_add(16))
}

/// How many objects share one copy-on-write block.
const CHUNK: usize = 32;

/// A block of objects that states share until one of them writes.
type Chunk<C> = Rc<Vec<Rc<Object<C>>>>;

/// All objects of a state. A clone shares everything; a write copies one object and the small table it is in.
#[derive(Clone)]
pub struct Memory<C: Core> {
    chunks: Rc<Vec<Chunk<C>>>,
    len: u32,
    next_base: u64,
    /// Objects whose address was not chosen here.
    placed: Rc<Vec<ObjectId>>,
}

impl<C: Core> Default for Memory<C> {
    fn default() -> Self {
        Memory { chunks: Rc::new(Vec::new()), len: 0, next_base: FIRST_BASE, placed: Rc::default() }
    }
}

impl<C: Core> Memory<C> {
    /// How many objects there have been.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An object.
    pub fn object(&self, id: ObjectId) -> &Object<C> {
        &self.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    /// An object, as it is now.
    pub fn shared(&self, id: ObjectId) -> Rc<Object<C>> {
        self.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK].clone()
    }

    /// An object, to change it.
    pub fn object_mut(&mut self, id: ObjectId) -> &mut Object<C> {
        let chunk = &mut Rc::make_mut(&mut self.chunks)[id.0 as usize / CHUNK];
        Rc::make_mut(&mut Rc::make_mut(chunk)[id.0 as usize % CHUNK])
    }

    /// Adds an object; its base is chosen here, with a gap to its neighbours, so that one past the end of an object is
    /// never the start of another.
    pub fn add(&mut self, mut object: Object<C>, align: u64) -> ObjectId {
        (object.base, self.next_base) = place(self.next_base, object.capacity, align);
        let id = ObjectId(self.len);
        let chunks = Rc::make_mut(&mut self.chunks);
        if (self.len as usize).is_multiple_of(CHUNK) {
            chunks.push(Rc::new(Vec::with_capacity(CHUNK)));
        }
        Rc::make_mut(chunks.last_mut().expect("a chunk was just made sure of")).push(Rc::new(object));
        self.len += 1;
        id
    }

    /// Whether an object is unchanged since two memories were one.
    pub fn same(&self, other: &Memory<C>, id: ObjectId) -> bool {
        let find = |memory: &Memory<C>| memory.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK].clone();
        Rc::ptr_eq(&self.chunks[id.0 as usize / CHUNK], &other.chunks[id.0 as usize / CHUNK])
            || Rc::ptr_eq(&find(self), &find(other))
    }

    /// Adds an object of another memory, where it is.
    pub fn append(&mut self, object: Object<C>) {
        let (base, address) = (object.base, object.address.clone());
        let id = self.add(object, 1);
        self.object_mut(id).base = base;
        if let Some(address) = address {
            self.place(id, address);
        }
    }

    /// New objects go where they would go in either memory.
    pub fn follow(&mut self, other: &Memory<C>) {
        self.next_base = self.next_base.max(other.next_base);
    }

    /// Forgets the content of an object that can no longer be reached correctly.
    pub fn drop_content(&mut self, id: ObjectId) {
        self.object_mut(id).content = Content::new(Fill::Undefined);
    }

    /// Gives an object an address that was not chosen here.
    pub fn place(&mut self, id: ObjectId, address: C::Val) {
        self.object_mut(id).address = Some(address);
        Rc::make_mut(&mut self.placed).push(id);
    }

    /// Objects whose address was not chosen here.
    pub fn placed(&self) -> &[ObjectId] {
        &self.placed
    }

    /// The object, among those placed here, whose addresses include this one, or whose end it is.
    pub fn at_address(&self, address: u64) -> Option<(ObjectId, u64)> {
        // Bases grow with ids.
        let (mut low, mut high) = (0u32, self.len);
        while low < high {
            let middle = (low + high) / 2;
            if self.object(ObjectId(middle)).base <= address { low = middle + 1 } else { high = middle }
        }
        let id = ObjectId(low.checked_sub(1)?);
        let object = self.object(id);
        let offset = address - object.base;
        (object.address.is_none() && offset <= object.capacity).then_some((id, offset))
    }

    /// Every object with its number.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object<C>)> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).enumerate().map(|(i, o)| (ObjectId(i as u32), &**o))
    }
}
