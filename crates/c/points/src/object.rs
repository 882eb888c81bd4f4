//! Abstract objects, and which byte offsets of them are told apart.
//!
//! A *location* is an object and an offset: what pointers point to. A *cell* is where eight bytes of an object are kept:
//! the location rounded down to a multiple of eight. Elements of an array are one element, so offsets are taken modulo
//! its size. Any rounding would be sound, since it maps an offset to one class whoever asks; these keep fields apart.

use parallax_cmodule::Module;
use parallax_cmodule::{BlockId, FunctionId, GlobalId, TypeId, TypeKind};

/// An instruction; the terminator of a block has the number after its last instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The function.
    pub function: FunctionId,
    /// The block.
    pub block: BlockId,
    /// The number of the instruction in it.
    pub index: u32,
}

/// Number of an abstract object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// What an abstract object stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A global variable.
    Global(GlobalId),
    /// All constants that hold no pointers, string literals above all: nothing is read from them that matters here, so
    /// one object does for thousands.
    Constants,
    /// A local variable that has an address: the `alloca` that makes it.
    Stack(Site),
    /// Memory that a call allocates; the number tells several objects of one call apart.
    Heap(Site, u8),
    /// A function.
    Function(FunctionId),
    /// The callee's copy of an argument passed by value.
    Copy(FunctionId, u32),
    /// Arguments beyond the named ones.
    Variadic(FunctionId),
    /// Memory of the library's own that an external function returns.
    Outside(FunctionId),
}

/// The offset of a location that may be anywhere in its object.
pub const ANYWHERE: i64 = i64::MIN;
/// Locations of one object that are told apart; with more, offsets are taken modulo what divides them all.
pub(crate) const MOST_TYPED: usize = 512;
pub(crate) const MOST_UNTYPED: usize = 64;

/// An abstract object.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it stands for.
    pub kind: ObjectKind,
    /// Its type, where it has one.
    pub ty: Option<TypeId>,
    /// Offsets are taken modulo this; 0 for none.
    pub modulus: u64,
    /// Its locations: offset and number.
    pub(crate) locations: Vec<(i64, u32)>,
    /// Its cells: offset and node.
    pub(crate) cells: Vec<(i64, u32)>,
}

/// Where a cell goes that is copied with others, in bytes from the start of the copy.
pub(crate) enum Copied {
    /// There: several, where it stands for several elements.
    At(smallvec::SmallVec<[i64; 4]>),
    /// It stands for so many elements that it may go anywhere.
    Anywhere,
}

/// Bytes into an object of unknown size within which a copied cell is told from others: two objects that are copied to each
/// other a little further each time would grow without end.
const FAR: i64 = 4096;

/// Elements that a copied cell is followed to one by one.
const MOST_ELEMENTS: usize = 64;

/// Where a constant and a variable number of steps lead.
pub(crate) enum Reach {
    /// To these offsets.
    Offsets(smallvec::SmallVec<[i64; 2]>),
    /// Out of the object.
    Nowhere,
}

impl Object {
    pub(crate) fn new(kind: ObjectKind, ty: Option<TypeId>) -> Self {
        let modulus = match kind {
            ObjectKind::Variadic(_)
            | ObjectKind::Function(_)
            | ObjectKind::Outside(_)
            | ObjectKind::Constants => 1,
            _ => 0,
        };
        Object { kind, ty, modulus, locations: Vec::new(), cells: Vec::new() }
    }

    /// Size in bytes, where the type says.
    pub fn size(&self, module: &Module) -> Option<u64> {
        self.ty.map(|ty| module.ty(ty).size)
    }

    /// The class of an offset.
    pub(crate) fn class(&self, module: &Module, offset: i64) -> i64 {
        if offset == ANYWHERE {
            return ANYWHERE;
        }
        let offset = match self.ty {
            Some(ty) => within(module, ty, offset).0,
            None => offset,
        };
        if self.modulus > 0 { offset.rem_euclid(self.modulus as i64) } else { offset }
    }

    /// Where the offsets of a class lie: the first of them, and for each array around it the bytes of an element and how
    /// many there are. None where that may be anywhere.
    pub(crate) fn spread(&self, module: &Module, class: i64) -> Option<(u64, Vec<(u64, u64)>)> {
        let (first, arrays) = within(module, self.ty.filter(|_| self.modulus == 0)?, class);
        let arrays = arrays.iter().map(|&(bytes, count)| (bytes as u64, count)).collect::<Vec<_>>();
        let first = u64::try_from(first).ok().filter(|_| class != ANYWHERE)?;
        arrays.iter().all(|(_, count)| *count > 0).then_some((first, arrays))
    }

    /// Of these places, counted from `into` on, those that lie in this object.
    pub(crate) fn received(&self, module: &Module, into: i64, copied: Copied) -> Copied {
        let Copied::At(places) = copied else { return Copied::Anywhere };
        let mut places: smallvec::SmallVec<[i64; 4]> = places.into_iter().map(|at| into + at).collect();
        match self.size(module).filter(|size| *size > 0) {
            // Pointers stay within their object.
            Some(size) => places.retain(|at| *at < size as i64),
            None if self.modulus == 0 && places.iter().any(|at| *at > FAR) => return Copied::Anywhere,
            None => {}
        }
        Copied::At(places)
    }

    /// Where the cell of this class goes, when `len` bytes from the class `start` on are copied. Elements of arrays are one
    /// element, so a cell stands for several places, and so may the start.
    pub(crate) fn copied(&self, module: &Module, cell: i64, start: i64, len: Option<u64>) -> Copied {
        let len = len.map_or(i64::MAX, |len| i64::try_from(len).unwrap_or(i64::MAX));
        let mut found = smallvec::SmallVec::new();
        if self.modulus > 0 {
            // With a period that is no number of whole cells, a cell may be any.
            let period = if self.modulus.is_multiple_of(8) { self.modulus as i64 } else { 8 };
            let first =
                if self.modulus.is_multiple_of(8) { (cell - (start & !7)).rem_euclid(period) } else { 0 };
            if first < len && (len - first) / period >= MOST_ELEMENTS as i64 {
                return Copied::Anywhere;
            }
            found.extend((0..).map(|number| first + number * period).take_while(|at| *at < len));
            return Copied::At(found);
        }
        let arrays = |offset: i64| self.ty.map(|ty| within(module, ty, offset).1).unwrap_or_default();
        let (Some(cells), Some(starts)) = (places(cell, &arrays(cell)), places(start, &arrays(start))) else {
            return Copied::Anywhere;
        };
        for at in starts.iter().flat_map(|start| cells.iter().map(move |cell| cell - start)) {
            if at + 7 >= 0 && at < len && !found.contains(&at) {
                found.push(at);
            }
        }
        Copied::At(found)
    }

    /// Where `offset + constant`, moved by any number of steps of these lengths, leads.
    pub(crate) fn moved(&self, module: &Module, offset: i64, constant: i64, steps: &[i64]) -> Reach {
        if offset == ANYWHERE || self.modulus == 1 {
            return Reach::Offsets(smallvec::smallvec![self.class(module, offset)]);
        }
        let Some(target) = offset.checked_add(constant) else { return Reach::Nowhere };
        let class = self.class(module, target);
        let mut offsets = smallvec::SmallVec::new();
        match self.ty {
            Some(ty) => {
                let size = module.ty(ty).size as i64;
                // One past the end is still a pointer into the object; an object without a size may be any size.
                if class < 0 || (class > size && size > 0) {
                    return Reach::Nowhere;
                }
                let (_, elements) = within(module, ty, class);
                let stays = |step: i64| step >= size || elements.iter().any(|&(e, _)| e > 0 && step % e == 0);
                if !steps.iter().all(|&step| step == 0 || stays(step.abs())) {
                    offsets.push(ANYWHERE);
                    return Reach::Offsets(offsets);
                }
                offsets.push(class);
                // Back or on by whole elements: the first element stands for all of them, so it may still be this one.
                let (from, elements) = within(module, ty, offset);
                if constant != 0 && elements.iter().any(|&(e, _)| e > 0 && constant % e == 0) && from != class
                {
                    offsets.push(from);
                }
            }
            None => {
                if steps.iter().any(|&step| step != 0 && step.abs() < 8) {
                    offsets.push(ANYWHERE);
                    return Reach::Offsets(offsets);
                }
                if class < 0 && self.modulus == 0 {
                    // Before the start of what was allocated: only its beginning can be meant, or nothing.
                    return Reach::Nowhere;
                }
                offsets.push(class);
            }
        }
        Reach::Offsets(offsets)
    }
}

/// All the places that an offset in the first elements of these arrays stands for; none where there are too many.
fn places(offset: i64, arrays: &[(i64, u64)]) -> Option<Vec<i64>> {
    let mut found = vec![offset];
    for &(bytes, count) in arrays {
        if count == 0 || found.len().saturating_mul(count as usize) > MOST_ELEMENTS {
            return None;
        }
        found = (0..count as i64).flat_map(|n| found.iter().map(move |at| at + n * bytes)).collect();
    }
    Some(found)
}

/// An offset with array elements taken as one, and the arrays it lies in, outermost first: the size of an element, and how
/// many there are.
fn within(module: &Module, ty: TypeId, offset: i64) -> (i64, smallvec::SmallVec<[(i64, u64); 4]>) {
    let mut elements = smallvec::SmallVec::new();
    let (mut base, mut rest, mut at) = (0i64, offset, ty);
    // Types of a module do not nest without end, but a corrupt one might.
    for _ in 0..64 {
        match &module.ty(at).kind {
            TypeKind::Array { element, len } | TypeKind::Vector { element, len } => {
                let step = module.ty(*element).size as i64;
                let inside = rest >= 0 && (*len == 0 || rest < step.saturating_mul(*len as i64));
                if step == 0 || !inside {
                    break;
                }
                elements.push((step, *len));
                rest %= step;
                at = *element;
            }
            TypeKind::Struct(fields) => {
                let found = fields.iter().rev().find(|(field, start)| {
                    let (start, field) = (*start as i64, module.ty(*field));
                    let open = matches!(field.kind, TypeKind::Array { len: 0, .. });
                    rest >= start && (rest < start + field.size as i64 || open)
                });
                let Some((field, start)) = found else { break };
                base += *start as i64;
                rest -= *start as i64;
                at = *field;
            }
            _ => break,
        }
    }
    (base + rest, elements)
}
