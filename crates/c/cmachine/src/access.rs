//! ACCESS, READ and WRITE: memory through pointers.
//!
//! An access first separates what goes wrong (null, dead, outside) from what does not, each excluding the one before;
//! what is left are hits: object, offset and the condition under which it is that one. A read is the choice over the
//! hits, a write changes every hit under its condition. Neither splits the state.

use super::content::{Content, Fill, Raw};
use super::host::{Host, Problem};
use super::inputs::InputCell;
use super::log::{Write, Written};
use super::memory::{Kind, Object};
use super::mistake::Mistake;
use super::place::Place;
use super::pointers::word;
use super::value::{Entry, ObjectId, Pointer, Target, Value};
use super::{DIRECT, LARGEST, Machine, Result, State, Stop};
use parallax_cmodule::{FunctionId, TypeId, TypeKind, VariableId};
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_path::Split;
use parallax_sem::Core;
use smallvec::SmallVec;

/// A place an access goes to.
pub(super) struct Hit<C: Core> {
    pub(super) guard: C::Bool,
    pub(super) object: ObjectId,
    pub(super) offset: C::Val,
}

pub(super) type Hits<C> = SmallVec<[Hit<C>; 1]>;

/// How many bytes an access is of.
enum Span<'v, C: Core> {
    Bytes(u64),
    Range(&'v C::Val),
}

/// Linux lets no program have memory below, unless it is told to (`vm.mmap_min_addr`): what goes wrong there is a field of null,
/// however large the structure is.
const NEVER_MAPPED: u64 = 1 << 16;

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// Reports a use of something uninitialised where it makes a difference, and goes on where it makes none.
    pub(super) fn check_defined(
        &mut self,
        state: &mut State<C>,
        condition: &C::Bool,
        words: &str,
    ) -> Result<(), C> {
        let Some((matters, not)) = self.host.undefined_matters(&state.path, condition) else { return Ok(()) };
        self.host.problem(state, Problem::Uninitialised, &matters, words.into());
        self.assume(state, &not)
    }

    /// Reports a value that leaves the program although something uninitialised is in it, and goes on.
    pub(super) fn leaves_defined(&mut self, state: &State<C>, width: u16, value: &C::Val, words: &str) {
        if self.host.value(width, value).is_none()
            && let Some(matters) = self.host.undefined_reaches(&state.path, width, value)
        {
            self.host.problem(state, Problem::Uninitialised, &matters, words.into());
        }
    }

    /// Where an access of `len` bytes goes, after reporting where it must not go.
    pub(super) fn access(
        &mut self,
        state: &mut State<C>,
        value: &Value<C>,
        len: u64,
        write: bool,
    ) -> Result<Hits<C>, C> {
        let pointer = self.pointer(state, value)?;
        self.access_entries(state, &pointer, write, &Span::Bytes(len))
    }

    /// The same for a number of bytes that is not constant. Nothing is accessed where it is zero.
    pub(super) fn access_range(
        &mut self,
        state: &mut State<C>,
        value: &Value<C>,
        len: &C::Val,
        write: bool,
    ) -> Result<Hits<C>, C> {
        let mut pointer = self.pointer(state, value)?;
        let some = self.host.core().relop(RelOp::Ne, 64, len, &word(&self.host, 0));
        for entry in &mut pointer.entries {
            let core = self.host.core();
            entry.guard = core.boolop(BoolOp::And, &entry.guard, &some);
            if let Target::Object(id) = entry.target {
                let room = core.binop(BinOp::Sub, 64, &state.memory.object(id).size, &entry.offset);
                let more = core.binop(BinOp::Sub, 64, len, &room);
                let near = core.relop(RelOp::Ule, 64, &more, &word(&self.host, 16));
                self.host.prefer(vec![near]);
            }
        }
        self.access_entries(state, &pointer, write, &Span::Range(len))
    }

    /// Where an access goes.
    fn access_entries(
        &mut self,
        state: &mut State<C>,
        pointer: &Pointer<C>,
        write: bool,
        span: &Span<'_, C>,
    ) -> Result<Hits<C>, C> {
        let mut hits = Hits::new();
        let several = pointer.entries.len() > 1;
        for entry in &pointer.entries {
            if several && self.host.split(&state.path, &entry.guard) == Split::False {
                continue;
            }
            match entry.target {
                Target::Null | Target::Number | Target::Function(_) | Target::Token(_) => {
                    self.wild(state, entry, write)?
                }
                Target::Object(id) => {
                    self.within(state, entry, id, span, write)?;
                    // From here on the path is one on which the access lies within: it does not take an alternative that
                    // certainly lies outside.
                    if several && self.is_outside(state.memory.object(id), &entry.offset, span) {
                        continue;
                    }
                    hits.push(Hit { guard: entry.guard.clone(), object: id, offset: entry.offset.clone() });
                }
            }
        }
        if hits.is_empty() { Err(Stop::Dead) } else { Ok(hits) }
    }

    /// Whether an access lies within an object.
    fn fits(&self, object: &Object<C>, offset: &C::Val, span: &Span<'_, C>) -> C::Bool {
        let core = self.host.core();
        let len = match span {
            Span::Bytes(len) => *len,
            Span::Range(len) => {
                let room = core.binop(BinOp::Sub, 64, &object.size, offset);
                let starts = core.relop(RelOp::Ule, 64, offset, &object.size);
                return core.boolop(BoolOp::And, &starts, &core.relop(RelOp::Ule, 64, len, &room));
            }
        };
        match self.host.value(64, &object.size).and_then(|s| s.to_u64()) {
            Some(size) if size >= len => core.relop(RelOp::Ule, 64, offset, &word(&self.host, size - len)),
            Some(_) => core.boolean(false),
            None => {
                let end = core.binop(BinOp::Add, 64, offset, &word(&self.host, len));
                let fits = core.relop(RelOp::Ule, 64, &end, &object.size);
                let no_wrap = core.relop(RelOp::Ule, 64, offset, &end);
                core.boolop(BoolOp::And, &fits, &no_wrap)
            }
        }
    }

    /// Whether an access certainly does not.
    fn is_outside(&self, object: &Object<C>, offset: &C::Val, span: &Span<'_, C>) -> bool {
        self.host.truth(&self.fits(object, offset, span)) == Some(false)
    }

    /// An access that goes to no object.
    fn wild(&mut self, state: &mut State<C>, entry: &Entry<C>, write: bool) -> Result<(), C> {
        let verb = if write { "written" } else { "read" };
        let core = self.host.core();
        let never = core.not(&entry.guard);
        if matches!(entry.target, Target::Function(_)) {
            return self.require(state, &never, Problem::OutOfBounds, || format!("code is {verb} as data"));
        }
        let page = core.relop(RelOp::Ult, 64, &entry.offset, &word(&self.host, NEVER_MAPPED));
        let null = core.boolop(BoolOp::And, &entry.guard, &page);
        let not_null = core.not(&null);
        self.require(state, &not_null, Problem::NullDereference, || format!("a null pointer is {verb}"))?;
        let detail = || format!("a number that is no address of any object is {verb} as a pointer");
        self.require(state, &never, Problem::OutOfBounds, detail)
    }

    /// Lifetime and bounds of one alternative.
    fn within(
        &mut self,
        state: &mut State<C>,
        entry: &Entry<C>,
        id: ObjectId,
        span: &Span<'_, C>,
        write: bool,
    ) -> Result<(), C> {
        let verb = if write { "written" } else { "read" };
        let object = state.memory.object(id);
        let core = self.host.core();
        let implied = |ok: &C::Bool| core.boolop(BoolOp::Implies, &entry.guard, ok);
        let (kind, read_only) = (object.kind, object.read_only);
        let alive = implied(&object.alive);
        let size = object.size.clone();
        let offset = entry.offset.clone();
        let constant = self.host.value(64, &size).and_then(|s| s.to_u64());
        // Dead stack objects of the C model are the classic dangling pointer.
        let gone = || match kind {
            Kind::Stack(_) => format!("a local of a function that returned or a block that ended is {verb}"),
            _ => format!("freed memory is {verb}"),
        };
        let bounds = implied(&self.fits(object, &offset, span));
        if !self.planted(Mistake::BoundsBeforeLifetime) {
            self.require(state, &alive, Problem::UseAfterFree, gone)?;
        }
        let shown = self.host.value(64, &offset).and_then(|o| o.to_i128());
        if shown.is_none() && self.host.truth(&bounds) != Some(true) {
            // Close to the object is where a sanitizer would see it, too; rather behind it, since the first variable of
            // a section has nothing before it.
            let core = self.host.core();
            let past = core.binop(BinOp::Sub, 64, &offset, &size);
            let after = core.relop(RelOp::Ult, 64, &past, &word(&self.host, 16));
            let before = core.relop(RelOp::Sge, 64, &offset, &core.constant(&Bits::from_i128(64, -16)));
            let negative = core.relop(RelOp::Slt, 64, &offset, &word(&self.host, 0));
            let near = core.boolop(BoolOp::Or, &after, &core.boolop(BoolOp::And, &before, &negative));
            let wishes = [after, near].map(|place| core.boolop(BoolOp::And, &entry.guard, &place));
            self.host.prefer(wishes.into());
        }
        if state.unknown_memory {
            let len = match span {
                Span::Bytes(len) => word(&self.host, *len),
                Span::Range(len) => (*len).clone(),
            };
            self.host.accesses(id, &offset, &len);
        }
        self.require(state, &bounds, Problem::OutOfBounds, || {
            let bytes =
                |count: u64| if count == 1 { String::from("1 byte") } else { format!("{count} bytes") };
            let (many, are) = match span {
                Span::Bytes(len) => (bytes(*len), if *len == 1 { "is" } else { "are" }),
                Span::Range(_) => ("more bytes than there are".into(), "are"),
            };
            let size = constant.map_or("a size that is not constant".into(), bytes);
            match shown {
                Some(at) => format!("{many} at offset {at} of an object of {size} {are} {verb}"),
                None => format!("{many} outside an object of {size} {are} {verb}"),
            }
        })?;
        if write && read_only {
            let never = self.host.core().not(&entry.guard);
            self.require(state, &never, Problem::OutOfBounds, || "a constant is written".into())?;
        }
        Ok(())
    }

    /// Makes sure that every byte of a range is written: what was not becomes an unknown of its own.
    pub(super) fn define_range(
        &mut self,
        state: &mut State<C>,
        id: ObjectId,
        at: u64,
        len: u64,
    ) -> Result<(), C> {
        let (mut from, end) = (at, at + len);
        while let Some(byte) = state.memory.object(id).content.first_missing(from, end - from) {
            // What lies before it is written.
            from = byte;
            let content = &state.memory.object(id).content;
            let described = content.log.is_some() || content.hidden.is_some();
            if let Fill::Input(ty) = content.fill
                && !described
            {
                self.define_input(state, id, ty, byte)?;
                continue;
            }
            // The longest run of missing bytes becomes one unknown, so that words stay words.
            let mut run = 1;
            while run < 8 && byte + run < end && content.first_missing(byte + run, 1).is_some() {
                run += 1;
            }
            if described {
                let object = state.memory.shared(id);
                let place = self.place(&word(&self.host, byte));
                let value = self.read_place(state, &object.content, &place, run, object.capacity)?;
                if let (Fill::Input(_), None, Value::Bits(bits)) =
                    (object.content.fill, &object.content.log, &value)
                {
                    state.input_cells.push(InputCell::Bits(id, byte, run, bits.clone()));
                }
                drop(object);
                state.memory.object_mut(id).content.write(&self.host, byte, run, value);
                continue;
            }
            let unknown = self.host.undefined((run * 8) as u16);
            state.memory.object_mut(id).content.write(&self.host, byte, run, Value::Bits(unknown));
        }
        Ok(())
    }

    /// Bytes of one object at a known place, all of which are defined.
    pub(super) fn read_content(
        &mut self,
        state: &mut State<C>,
        id: ObjectId,
        at: u64,
        len: u64,
    ) -> Result<Value<C>, C> {
        let raw = state.memory.object(id).content.read(&self.host, at, len);
        self.assembled(state, raw)
    }

    /// What a read has found, as one value.
    pub(super) fn assembled(&mut self, state: &mut State<C>, raw: Raw<C>) -> Result<Value<C>, C> {
        let parts = match raw {
            Raw::Value(value) => return Ok(value),
            Raw::Parts(parts) => parts,
        };
        let mut result: Option<(C::Val, u16)> = None;
        for part in parts {
            let bits = self.exposed(state, &part.value)?;
            let core = self.host.core();
            let bits = core.extract(part.whole, part.low, part.width, &bits);
            result = Some(match result {
                None => (bits, part.width),
                Some((low, width)) => (core.concat(part.width, width, &bits, &low), part.width + width),
            });
        }
        result.map(|(bits, _)| Value::Bits(bits)).ok_or(Stop::Dead)
    }

    /// Bytes of one object at an offset, as bits or a pointer.
    pub(super) fn read_object(
        &mut self,
        state: &mut State<C>,
        id: ObjectId,
        offset: &C::Val,
        len: u64,
    ) -> Result<Value<C>, C> {
        if let Some(at) = self.host.value(64, offset).and_then(|o| o.to_u64()) {
            // What a log says stays there: brought up, it would look like a later write.
            if state.memory.object(id).content.log.is_some() {
                let (object, place) = (state.memory.shared(id), self.place(offset));
                return self.read_place(state, &object.content, &place, len, object.capacity);
            }
            self.define_range(state, id, at, len)?;
            return self.read_content(state, id, at, len);
        }
        let place = self.place(offset);
        let capacity = state.memory.object(id).capacity;
        if !self.define_places(state, id, &place, len)? && !self.readable(state, id)? {
            let at = self.fix(state, 64, offset)?.to_u64().unwrap_or(0);
            self.define_range(state, id, at, len)?;
            return self.read_content(state, id, at, len);
        }
        let object = state.memory.shared(id);
        self.read_place(state, &object.content, &place, len, capacity)
    }

    /// Gives unwritten bytes contents of their own wherever an access may go, if these are few; whether they were.
    fn define_places(
        &mut self,
        state: &mut State<C>,
        id: ObjectId,
        place: &Place<C>,
        len: u64,
    ) -> Result<bool, C> {
        let object = state.memory.object(id);
        if object.content.log.is_some() || object.content.hidden.is_some() {
            return Ok(false);
        }
        for at in match self.few_places(place, len, object.capacity) {
            Some(places) => places.into_iter().map(|(_, at)| at),
            None => return Ok(false),
        } {
            self.define_range(state, id, at, len)?;
        }
        Ok(true)
    }

    /// The places that an offset can be so that `len` bytes lie within the object, each with its condition; `None` when
    /// they are many.
    fn few_places(&self, place: &Place<C>, len: u64, capacity: u64) -> Option<Vec<(C::Bool, u64)>> {
        let last = capacity.checked_sub(len)?;
        if let Some(constants) = self.host.core().targets(64, &place.offset) {
            let inside = |(guard, at): (C::Bool, Bits)| Some((guard, at.to_u64().filter(|&at| at <= last)?));
            return Some(constants.into_iter().filter_map(inside).collect());
        }
        let grid = self.grid(place, len, capacity);
        (grid.count <= DIRECT).then(|| {
            (0..grid.count)
                .map(|number| {
                    let same = self.host.core().relop(RelOp::Eq, 64, &grid.index, &word(&self.host, number));
                    (same, grid.first + number * grid.step)
                })
                .collect()
        })
    }

    pub(super) fn write_object(
        &mut self,
        state: &mut State<C>,
        id: ObjectId,
        offset: &C::Val,
        len: u64,
        guard: &C::Bool,
        value: &Value<C>,
    ) -> Result<(), C> {
        let width = (len * 8) as u16;
        if let Some(at) = self.host.value(64, offset).and_then(|o| o.to_u64()) {
            let new = if self.host.truth(guard) == Some(true) {
                value.clone()
            } else {
                self.define_range(state, id, at, len)?;
                let old = self.read_content(state, id, at, len)?;
                self.joined(state, guard, value, &old, width)?
            };
            let whole = at / 8 * 8;
            let content = &mut state.memory.object_mut(id).content;
            if len == 1
                && self.plant == Some(Mistake::TagsKept)
                && content
                    .cells()
                    .any(|(start, cell)| start == whole && matches!(cell.value, Value::Pointer(_)))
            {
                return Ok(());
            }
            content.write(&self.host, at, len, new);
            return Ok(());
        }
        let capacity = state.memory.object(id).capacity;
        let place = self.place(offset);
        let Some(places) = self.few_places(&place, len, capacity) else {
            if self.readable(state, id)? {
                let what = Written::Value(len, value.clone());
                self.log(state, id, Write { guard: guard.clone(), place, what });
                return Ok(());
            }
            let at = self.fix(state, 64, offset)?.to_u64().unwrap_or(0);
            let at = word(&self.host, at);
            return self.write_object(state, id, &at, len, guard, value);
        };
        for (same, at) in places {
            let here = self.host.core().boolop(BoolOp::And, guard, &same);
            if self.host.truth(&here) == Some(false) {
                continue;
            }
            self.define_range(state, id, at, len)?;
            let old = self.read_content(state, id, at, len)?;
            let new = self.joined(state, &here, value, &old, width)?;
            state.memory.object_mut(id).content.write(&self.host, at, len, new);
        }
        Ok(())
    }

    /// Scalar bytes at a distance from every hit.
    pub(super) fn read_hits(
        &mut self,
        state: &mut State<C>,
        hits: &Hits<C>,
        distance: u64,
        len: u64,
    ) -> Result<Value<C>, C> {
        let mut result: Option<Value<C>> = None;
        for hit in hits.iter().rev() {
            let offset = self.moved(&hit.offset, distance);
            let here = self.read_object(state, hit.object, &offset, len)?;
            result = Some(match result {
                None => here,
                Some(rest) => self.joined(state, &hit.guard, &here, &rest, (len * 8) as u16)?,
            });
        }
        result.ok_or(Stop::Dead)
    }

    /// Changes scalar bytes at a distance from every hit.
    pub(super) fn write_hits(
        &mut self,
        state: &mut State<C>,
        hits: &Hits<C>,
        distance: u64,
        len: u64,
        value: &Value<C>,
    ) -> Result<(), C> {
        let always = self.host.core().boolean(true);
        for hit in hits {
            let offset = self.moved(&hit.offset, distance);
            let certain = hits.len() == 1 || self.planted(Mistake::StrongUpdate);
            let guard = if certain { &always } else { &hit.guard };
            self.write_object(state, hit.object, &offset, len, guard, value)?;
        }
        Ok(())
    }

    pub(super) fn moved(&self, offset: &C::Val, by: u64) -> C::Val {
        if by == 0 {
            return offset.clone();
        }
        self.host.core().binop(BinOp::Add, 64, offset, &word(&self.host, by))
    }

    /// A value of a type, from memory.
    pub fn load(&mut self, state: &mut State<C>, pointer: &Value<C>, ty: TypeId) -> Result<Value<C>, C> {
        let size = self.module.ty(ty).store_size;
        if size == 0 {
            return Ok(Value::many(Vec::new()));
        }
        let hits = self.access(state, pointer, size, false)?;
        self.load_at(state, &hits, 0, ty)
    }

    fn load_at(&mut self, state: &mut State<C>, hits: &Hits<C>, at: u64, ty: TypeId) -> Result<Value<C>, C> {
        let layout = self.module.ty(ty);
        match &layout.kind {
            TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Pointer => {
                // Arguments are passed as what their bits are called, before any frame is there: that is no reading.
                if state.unknown_memory && !state.frames.is_empty() {
                    let number = (!matches!(layout.kind, TypeKind::Pointer)).then_some(layout.store_size);
                    self.expect_scalar(state, hits, at, number);
                }
                let raw = self.read_hits(state, hits, at, layout.store_size)?;
                self.typed(state, raw, ty)
            }
            TypeKind::Struct(fields) => {
                let values =
                    fields.iter().map(|&(field, offset)| self.load_at(state, hits, at + offset, field));
                Ok(Value::many(values.collect::<Result<_, C>>()?))
            }
            TypeKind::Array { element, len } => {
                let step = self.module.ty(*element).size;
                let values = (0..*len).map(|index| self.load_at(state, hits, at + index * step, *element));
                Ok(Value::many(values.collect::<Result<_, C>>()?))
            }
            TypeKind::Vector { element, len } => {
                let width = self.module.ty(*element).bits().unwrap_or(8);
                if width.is_multiple_of(8) {
                    let step = u64::from(width / 8);
                    let values =
                        (0..*len).map(|index| self.load_at(state, hits, at + index * step, *element));
                    return Ok(Value::many(values.collect::<Result<_, C>>()?));
                }
                let raw = self.read_hits(state, hits, at, layout.store_size)?;
                let bits = self.exposed(state, &raw)?;
                let whole = (layout.store_size * 8) as u16;
                let values = (0..*len)
                    .map(|index| {
                        Value::Bits(self.host.core().extract(whole, index as u16 * width, width, &bits))
                    })
                    .collect();
                Ok(Value::many(values))
            }
            TypeKind::Void | TypeKind::Other(_) => Err(Stop::Unsupported("a load of this type".into())),
        }
    }

    /// Bytes as a value of a scalar type: the low bits of them, or the pointer itself.
    fn typed(&mut self, state: &mut State<C>, raw: Value<C>, ty: TypeId) -> Result<Value<C>, C> {
        let layout = self.module.ty(ty);
        let width = layout.bits().unwrap_or(64);
        let stored = (layout.store_size * 8) as u16;
        if matches!(layout.kind, TypeKind::Int(64) | TypeKind::Int(8) | TypeKind::Pointer) {
            return Ok(raw);
        }
        let bits = self.exposed(state, &raw)?;
        Ok(Value::Bits(if width < stored { self.host.core().extract(stored, 0, width, &bits) } else { bits }))
    }

    /// Puts a value of a type into memory.
    pub fn store(
        &mut self,
        state: &mut State<C>,
        pointer: &Value<C>,
        ty: TypeId,
        value: &Value<C>,
    ) -> Result<(), C> {
        let size = self.module.ty(ty).store_size;
        if size == 0 {
            return Ok(());
        }
        let hits = self.access(state, pointer, size, true)?;
        self.store_at(state, &hits, 0, ty, value)
    }

    pub(super) fn store_at(
        &mut self,
        state: &mut State<C>,
        hits: &Hits<C>,
        at: u64,
        ty: TypeId,
        value: &Value<C>,
    ) -> Result<(), C> {
        let module = self.module;
        let layout = module.ty(ty);
        match (&layout.kind, value) {
            (TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Pointer, value) => {
                let stored = (layout.store_size * 8) as u16;
                let width = layout.bits().unwrap_or(stored);
                let value = match value {
                    Value::Bits(bits) if width < stored => {
                        Value::Bits(self.host.core().zext(width, stored, bits))
                    }
                    other => other.clone(),
                };
                self.write_hits(state, hits, at, layout.store_size, &value)
            }
            (TypeKind::Struct(fields), Value::Many(values)) => {
                for (&(field, offset), value) in fields.iter().zip(values.iter()) {
                    self.store_at(state, hits, at + offset, field, value)?;
                }
                Ok(())
            }
            (TypeKind::Array { element, .. }, Value::Many(values)) => {
                let step = module.ty(*element).size;
                for (index, value) in values.iter().enumerate() {
                    self.store_at(state, hits, at + index as u64 * step, *element, value)?;
                }
                Ok(())
            }
            (TypeKind::Vector { element, .. }, Value::Many(values)) => {
                let width = module.ty(*element).bits().unwrap_or(8);
                if width.is_multiple_of(8) {
                    let step = u64::from(width / 8);
                    for (index, value) in values.iter().enumerate() {
                        self.store_at(state, hits, at + index as u64 * step, *element, value)?;
                    }
                    return Ok(());
                }
                let (bits, used) = self.packed(state, values, width)?;
                let stored = (layout.store_size * 8) as u16;
                let bits = if used < stored { self.host.core().zext(used, stored, &bits) } else { bits };
                self.write_hits(state, hits, at, layout.store_size, &Value::Bits(bits))
            }
            _ => Err(Stop::Unsupported("a store of this type".into())),
        }
    }

    /// Elements of one width as one number, the first lowest.
    pub(super) fn packed(
        &mut self,
        state: &mut State<C>,
        values: &[Value<C>],
        width: u16,
    ) -> Result<(C::Val, u16), C> {
        let mut bits = self.exposed(state, &values[0])?;
        let mut used = width;
        for value in &values[1..] {
            let next = self.exposed(state, value)?;
            bits = self.host.core().concat(width, used, &next, &bits);
            used += width;
        }
        Ok((bits, used))
    }

    /// A new object, and the pointer to its start.
    #[allow(clippy::too_many_arguments, reason = "an object has this many properties")]
    pub fn allocate(
        &mut self,
        state: &mut State<C>,
        kind: Kind,
        size: C::Val,
        capacity: u64,
        align: u64,
        fill: Fill,
        variable: Option<VariableId>,
    ) -> (ObjectId, Pointer<C>) {
        let always = self.host.core().boolean(true);
        let (made_in, made_at) = match state.frames.is_empty() {
            true => (FunctionId(0), Default::default()),
            false => {
                let (depth, location) = state.user_location(self.module);
                (state.frames[depth].function, location)
            }
        };
        let object = Object {
            kind,
            size,
            capacity: capacity.min(LARGEST),
            alive: always.clone(),
            base: 0,
            address: None,
            content: Content::new(fill),
            read_only: false,
            variable,
            made_in,
            made_at,
        };
        let id = state.memory.add(object, align);
        (id, Pointer::to(always, Target::Object(id), word(&self.host, 0)))
    }
}
