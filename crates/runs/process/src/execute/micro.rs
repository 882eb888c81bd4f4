//! The operations that blocks are made of when they run: small functions that end by calling the next one.
//!
//! Each function is an instance of a generic one, by operator, width and kind of operand. The meaning of an operator is
//! the one in the table of `parallax_op`, inlined and specialised by the compiler; nothing here says again what an
//! operator does, except where a test compares the two (see `tests`).
//!
//! A function ends in a call of the next operation's function with the same arguments, which the compiler turns into a
//! jump. Should it not, a block of operations uses a bounded piece of stack, since every block returns to its caller.

use super::probe::{Watcher, step};
use crate::interrupt::Interrupt;
use crate::memory::{Fault, Memory};
use crate::registers::Registers;
use parallax_ir::Trap;
use parallax_op::{BinOp, RelOp, UnOp};

/// One operation, ready to run.
#[derive(Clone, Copy)]
pub struct Micro {
    /// What to do.
    pub run: Run,
    /// Place of the result, or of the value to store.
    pub out: u16,
    /// Place of the first operand, or of an address' base.
    pub a: u16,
    /// Place of the second operand, or of an address' index.
    pub b: u16,
    /// Place of a third operand, a shift, or the number of a way out. In accesses and probes the bits above
    /// [`SHIFT_BITS`] say which instruction of the block it belongs to.
    pub c: u16,
    /// A constant operand or displacement.
    pub constant: u64,
}

/// So many bits hold a shift.
pub const SHIFT_BITS: u32 = 6;

/// What runs an operation: `(operation, register file, world)`; the result is the number of a way out of the block.
///
/// # Safety
///
/// The operation lies in the code of a block, whose last one leaves it, so that there is always a next one. Every slot it
/// names lies within the register file (checked in translation). Nothing else refers to the file or the world meanwhile.
pub type Run = unsafe fn(*const Micro, *mut u8, *mut World) -> usize;

/// Way out: to the address in [`World::target`].
pub const INDIRECT: usize = usize::MAX;
/// Way out: the operation in [`World::at`] stopped for the reason in [`World::stop`].
pub const STOPPED: usize = usize::MAX - 1;

/// Way out: go on with the operation in [`World::at`].
pub const RESUMED: usize = usize::MAX - 2;

/// Why a block stopped in its middle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An access failed.
    Fault(Fault),
    /// The program trapped.
    Trap(Trap),
    /// An operation has no meaning here.
    Meaningless(String),
}

/// What operations see besides registers.
pub struct World {
    /// Memory.
    pub memory: Memory,
    /// The register file, for operations that are not in a hurry.
    pub registers: Registers,
    /// Where an indirect jump goes.
    pub(super) target: u64,
    /// Which operation stopped.
    pub(super) at: *const Micro,
    /// The reason it stopped.
    pub(super) stop: Option<Stop>,
    /// Who wants to know what the program does.
    pub watcher: Option<Box<dyn Watcher>>,
    /// Steps made before the current block.
    pub time: u64,
    /// Asks the loop to come back.
    pub interrupt: Interrupt,
}

impl World {
    /// At time zero, unwatched, with a bit of its own to interrupt it.
    pub fn new(memory: Memory, registers: Registers) -> Self {
        let (target, at, stop) = (0, std::ptr::null(), None);
        let interrupt = Interrupt::default();
        World { memory, registers, target, at, stop, watcher: None, time: 0, interrupt }
    }
}

/// A machine word that operations work on.
pub trait Word: Copy + 'static {
    /// Its width.
    const BITS: u16;
    /// Its bytes.
    type Bytes: Copy;
    /// As a wide number.
    fn wide(self) -> u128;
    /// The low bits of a wide number.
    fn narrow(value: u128) -> Self;
    /// From memory, in a byte order, if its page is one that was just accessed.
    fn find<const BIG: bool>(memory: &Memory, address: u64) -> Option<Self>;
    /// To memory, in a byte order, if its page is one that was just written: whether it is.
    fn replace<const BIG: bool>(self, memory: &Memory, address: u64) -> bool;
    /// From memory, in a byte order.
    fn load<const BIG: bool>(memory: &mut Memory, address: u64) -> Result<Self, Fault>;
    /// To memory, in a byte order.
    fn store<const BIG: bool>(self, memory: &mut Memory, address: u64) -> Result<(), Fault>;
}

macro_rules! words {
    ($($type:ty)+) => {$(
        impl Word for $type {
            const BITS: u16 = <$type>::BITS as u16;
            type Bytes = [u8; size_of::<$type>()];
            #[inline(always)]
            fn wide(self) -> u128 { self as u128 }
            #[inline(always)]
            fn narrow(value: u128) -> Self { value as $type }
            #[inline(always)]
            fn find<const BIG: bool>(memory: &Memory, address: u64) -> Option<Self> {
                let bytes = memory.find::<{ size_of::<$type>() }>(address)?;
                Some(if BIG { Self::from_be_bytes(bytes) } else { Self::from_le_bytes(bytes) })
            }
            #[inline(always)]
            fn replace<const BIG: bool>(self, memory: &Memory, address: u64) -> bool {
                memory.replace(address, if BIG { self.to_be_bytes() } else { self.to_le_bytes() })
            }
            fn load<const BIG: bool>(memory: &mut Memory, address: u64) -> Result<Self, Fault> {
                let bytes = memory.load::<{ size_of::<$type>() }>(address)?;
                Ok(if BIG { Self::from_be_bytes(bytes) } else { Self::from_le_bytes(bytes) })
            }
            fn store<const BIG: bool>(self, memory: &mut Memory, address: u64) -> Result<(), Fault> {
                memory.store(address, if BIG { self.to_be_bytes() } else { self.to_le_bytes() })
            }
        }
    )+};
}
words!(u8 u16 u32 u64 u128);

/// Reads a word of the register file.
///
/// # Safety
/// `at` plus the size of the word is inside the file: translation takes places from the processor's description and
/// from the temporaries' area, and checks both.
#[inline(always)]
unsafe fn get<T: Word>(file: *mut u8, at: u16) -> T {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { file.add(usize::from(at)).cast::<T>().read_unaligned() }
}

/// Writes a word of the register file.
///
/// # Safety
/// As for [`get`].
#[inline(always)]
unsafe fn set<T: Word>(file: *mut u8, at: u16, value: T) {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { file.add(usize::from(at)).cast::<T>().write_unaligned(value) }
}

/// Writes a result, widened to eight bytes if `WIDE`.
#[inline(always)]
unsafe fn put<T: Word, const WIDE: bool>(file: *mut u8, at: u16, value: T) {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { if WIDE { set::<u64>(file, at, value.wide() as u64) } else { set::<T>(file, at, value) } }
}

/// Goes on with the next operation.
macro_rules! next {
    ($op:ident, $file:ident, $world:ident) => {{
        let next = $op.add(1);
        ((*next).run)(next, $file, $world)
    }};
}

#[inline(always)]
unsafe fn second<T: Word, const CONSTANT: bool>(op: &Micro, file: *mut u8) -> T {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { if CONSTANT { T::narrow(u128::from(op.constant)) } else { get::<T>(file, op.b) } }
}

pub unsafe fn binary<const OP: usize, T: Word, const CONSTANT: bool, const WIDE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let a = get::<T>(file, (*op).a).wide();
        let b = second::<T, CONSTANT>(&*op, file).wide();
        let result = const { BinOp::ALL[OP] }.apply_small(T::BITS, a, b);
        put::<T, WIDE>(file, (*op).out, T::narrow(result));
        next!(op, file, world)
    }
}

/// A shift by a distance of any width: the constant is a mask for the eight bytes at `b`.
pub unsafe fn shift<const OP: usize, T: Word, const WIDE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let a = get::<T>(file, (*op).a).wide();
        let distance = get::<u64>(file, (*op).b) & (*op).constant;
        let result = const { BinOp::ALL[OP] }.apply_small(T::BITS, a, u128::from(distance));
        put::<T, WIDE>(file, (*op).out, T::narrow(result));
        next!(op, file, world)
    }
}

pub unsafe fn unary<const OP: usize, T: Word, const WIDE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let result = const { UnOp::ALL[OP] }.apply_small(T::BITS, get::<T>(file, (*op).a).wide());
        put::<T, WIDE>(file, (*op).out, T::narrow(result));
        next!(op, file, world)
    }
}

pub unsafe fn relation<const OP: usize, T: Word, const CONSTANT: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let a = get::<T>(file, (*op).a).wide();
        let b = second::<T, CONSTANT>(&*op, file).wide();
        let result = const { RelOp::ALL[OP] }.apply_small(T::BITS, a, b);
        set::<u8>(file, (*op).out, u8::from(result));
        next!(op, file, world)
    }
}

/// Leaves by way `c` if two values are so related.
pub unsafe fn leave_related<const OP: usize, T: Word, const CONSTANT: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let a = get::<T>(file, (*op).a).wide();
        let b = second::<T, CONSTANT>(&*op, file).wide();
        if const { RelOp::ALL[OP] }.apply_small(T::BITS, a, b) {
            return usize::from((*op).c);
        }
        next!(op, file, world)
    }
}

/// Carry, signed carry and signed borrow, by the formulas of the instruction language's meaning.
pub unsafe fn overflow<const KIND: usize, T: Word, const CONSTANT: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let a = get::<T>(file, (*op).a).wide();
        let b = second::<T, CONSTANT>(&*op, file).wide();
        let w = T::BITS;
        let bits = |op: BinOp, a: u128, b: u128| op.apply_small(w, a, b);
        let result = match KIND {
            0 => RelOp::Ult.apply_small(w, bits(BinOp::Add, a, b), a),
            1 => {
                let sum = bits(BinOp::Add, a, b);
                let both = bits(BinOp::And, bits(BinOp::Xor, sum, a), bits(BinOp::Xor, sum, b));
                RelOp::Slt.apply_small(w, both, 0)
            }
            _ => {
                let difference = bits(BinOp::Sub, a, b);
                let both = bits(BinOp::And, bits(BinOp::Xor, a, b), bits(BinOp::Xor, difference, a));
                RelOp::Slt.apply_small(w, both, 0)
            }
        };
        set::<u8>(file, (*op).out, u8::from(result));
        next!(op, file, world)
    }
}

pub unsafe fn copy<T: Word, const WIDE: bool>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        put::<T, WIDE>(file, (*op).out, get::<T>(file, (*op).a));
        next!(op, file, world)
    }
}

pub unsafe fn constant<T: Word, const WIDE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        put::<T, WIDE>(file, (*op).out, T::narrow(u128::from((*op).constant)));
        next!(op, file, world)
    }
}

pub unsafe fn zero_extend<F: Word, T: Word>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        set::<T>(file, (*op).out, T::narrow(get::<F>(file, (*op).a).wide()));
        next!(op, file, world)
    }
}

pub unsafe fn sign_extend<F: Word, T: Word>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let shift = 128 - F::BITS;
        let value = (get::<F>(file, (*op).a).wide() << shift) as i128 >> shift;
        set::<T>(file, (*op).out, T::narrow(value as u128));
        next!(op, file, world)
    }
}

/// Bits from bit `constant` on; zeros beyond the end.
pub unsafe fn extract<F: Word, T: Word>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let value = get::<F>(file, (*op).a).wide().checked_shr((*op).constant as u32).unwrap_or(0);
        set::<T>(file, (*op).out, T::narrow(value));
        next!(op, file, world)
    }
}

/// `a` above `b`, both of one size.
pub unsafe fn concatenate<T: Word, D: Word>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (high, low) = (get::<T>(file, (*op).a).wide(), get::<T>(file, (*op).b).wide());
        set::<D>(file, (*op).out, D::narrow(high << T::BITS | low));
        next!(op, file, world)
    }
}

/// Conjunction, disjunction and exclusive-or of truth values.
pub unsafe fn boolean<const KIND: usize>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (a, b) = (get::<u8>(file, (*op).a) != 0, get::<u8>(file, (*op).b) != 0);
        let result = match KIND {
            0 => a & b,
            1 => a | b,
            _ => a ^ b,
        };
        set::<u8>(file, (*op).out, u8::from(result));
        next!(op, file, world)
    }
}

pub unsafe fn boolean_not(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        set::<u8>(file, (*op).out, u8::from(get::<u8>(file, (*op).a) == 0));
        next!(op, file, world)
    }
}

/// `c ? a : b`
pub unsafe fn select<T: Word, const WIDE: bool>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let from = if get::<u8>(file, (*op).c) != 0 { (*op).a } else { (*op).b };
        put::<T, WIDE>(file, (*op).out, get::<T>(file, from));
        next!(op, file, world)
    }
}

/// `constant`, `a + constant`, or `a + (b << c) + constant`, in address arithmetic of width `A`.
#[inline(always)]
unsafe fn address<A: Word, const TERMS: usize>(op: &Micro, file: *mut u8) -> u64 {
    let mut sum = op.constant;
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        if TERMS > 0 {
            sum = sum.wrapping_add(get::<A>(file, op.a).wide() as u64);
        }
        if TERMS > 1 {
            sum = sum.wrapping_add((get::<A>(file, op.b).wide() as u64) << (op.c & ((1 << SHIFT_BITS) - 1)));
        }
    }
    A::narrow(u128::from(sum)).wide() as u64
}

/// What distinguishes memory of one machine from another's.
pub trait Layout: 'static {
    /// The width of addresses.
    type Address: Word;
    /// Whether the highest byte comes first.
    const BIG: bool;
}

/// x86-64.
pub struct Little64;
/// 32-bit PowerPC.
pub struct Big32;

impl Layout for Little64 {
    type Address = u64;
    const BIG: bool = false;
}

impl Layout for Big32 {
    type Address = u32;
    const BIG: bool = true;
}

/// The rest of a load whose page was not at hand. That it is a function of its own, with the same arguments and one more,
/// lets the ordinary load keep everything in registers.
#[cold]
#[inline(never)]
unsafe fn load_missed<L: Layout, T: Word, const WIDE: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
    address: u64,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let memory = &mut (*world).memory;
        match if L::BIG { T::load::<true>(memory, address) } else { T::load::<false>(memory, address) } {
            Ok(value) => put::<T, WIDE>(file, (*op).out, value),
            Err(fault) => return stopped(op, world, Stop::Fault(fault)),
        }
        next!(op, file, world)
    }
}

/// The same for a store.
#[cold]
#[inline(never)]
unsafe fn store_missed<L: Layout, T: Word>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
    address: u64,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let (memory, value) = (&mut (*world).memory, get::<T>(file, (*op).out));
        let stored =
            if L::BIG { value.store::<true>(memory, address) } else { value.store::<false>(memory, address) };
        if let Err(fault) = stored {
            return stopped(op, world, Stop::Fault(fault));
        }
        next!(op, file, world)
    }
}

#[cold]
#[inline(never)]
unsafe fn stopped(op: *const Micro, world: *mut World, stop: Stop) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        (*world).at = op;
        (*world).stop = Some(stop);
    }
    STOPPED
}

#[cold]
#[inline(never)]
unsafe fn watch(op: *const Micro, world: *mut World, address: u64, size: usize, writes: bool) {
    // The watcher is only there while a block runs that was translated for it.
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let step = step(op, world);
        (*world).memory.set_step(step);
        if let Some(watcher) = &mut (*world).watcher {
            if writes { watcher.write(step, address, size) } else { watcher.read(step, address, size) }
        }
    }
}

pub unsafe fn load<L: Layout, T: Word, const TERMS: usize, const WIDE: bool, const WATCHED: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let address = address::<L::Address, TERMS>(&*op, file);
        if WATCHED {
            watch(op, world, address, size_of::<T>(), false);
        }
        let memory = &(*world).memory;
        match if L::BIG { T::find::<true>(memory, address) } else { T::find::<false>(memory, address) } {
            Some(value) => put::<T, WIDE>(file, (*op).out, value),
            None => return load_missed::<L, T, WIDE>(op, file, world, address),
        }
        next!(op, file, world)
    }
}

pub unsafe fn store<L: Layout, T: Word, const TERMS: usize, const WATCHED: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let address = address::<L::Address, TERMS>(&*op, file);
        if WATCHED {
            watch(op, world, address, size_of::<T>(), true);
        }
        let (memory, value) = (&(*world).memory, get::<T>(file, (*op).out));
        if !if L::BIG {
            value.replace::<true>(memory, address)
        } else {
            value.replace::<false>(memory, address)
        } {
            return store_missed::<L, T>(op, file, world, address);
        }
        next!(op, file, world)
    }
}

/// From here on what is loaded and stored in shared memory is one access.
pub unsafe fn lock(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        (*world).memory.lock();
        next!(op, file, world)
    }
}

/// Up to here.
pub unsafe fn unlock(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        (*world).memory.unlock();
        next!(op, file, world)
    }
}

/// Leaves by way `c`.
pub unsafe fn leave(op: *const Micro, _: *mut u8, _: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { usize::from((*op).c) }
}

/// Leaves by way `c` if the byte at `a` is not zero.
pub unsafe fn leave_when(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        if get::<u8>(file, (*op).a) != 0 {
            return usize::from((*op).c);
        }
        next!(op, file, world)
    }
}

/// Leaves for the address at `a`.
pub unsafe fn leave_for<A: Word>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        (*world).target = get::<A>(file, (*op).a).wide() as u64;
        INDIRECT
    }
}

/// Leaves for the address at `a` if the byte at `b` is not zero.
pub unsafe fn leave_for_when<A: Word>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        if get::<u8>(file, (*op).b) != 0 {
            (*world).target = get::<A>(file, (*op).a).wide() as u64;
            return INDIRECT;
        }
        next!(op, file, world)
    }
}

/// Goes on `constant` operations further (a signed number), always.
pub unsafe fn skip(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { skip_by(op, (*op).constant as i64 as isize, file, world) }
}

/// Goes on `constant` operations further if the byte at `a` is not zero.
pub unsafe fn skip_when(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let distance = if get::<u8>(file, (*op).a) != 0 { (*op).constant as i64 as isize } else { 1 };
        skip_by(op, distance, file, world)
    }
}

#[inline(always)]
unsafe fn skip_by(op: *const Micro, distance: isize, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        let next = op.offset(distance);
        if distance < 0 {
            // A loop inside an instruction goes through the caller, so that it cannot pile up calls.
            (*world).at = next;
            return RESUMED;
        }
        ((*next).run)(next, file, world)
    }
}

/// Traps with the trap of number `constant`.
pub unsafe fn trap(op: *const Micro, _: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe { stopped(op, world, Stop::Trap(TRAPS[(*op).constant as usize])) }
}

/// Traps if the byte at `a` is not zero.
pub unsafe fn trap_when(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        if get::<u8>(file, (*op).a) != 0 {
            return stopped(op, world, Stop::Trap(TRAPS[(*op).constant as usize]));
        }
        next!(op, file, world)
    }
}

/// Traps by number.
pub const TRAPS: [Trap; 8] = [
    Trap::Divide,
    Trap::Float,
    Trap::Undefined,
    Trap::Breakpoint,
    Trap::Protection,
    Trap::Alignment,
    Trap::SystemCall,
    Trap::Halt,
];

/// Anything else, by its own meaning: the constant is the address of a [`super::general::General`].
pub unsafe fn general<const WATCHED: bool>(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: `op` is of a block, `file` holds every slot that a block names.
    unsafe {
        // The block that owns the operation owns what it points to.
        let general = &*((*op).constant as usize as *const super::general::General);
        if WATCHED {
            let step = (*world).time + general.before() + 1;
            (*world).memory.set_step(step);
            if let Some(watcher) = &mut (*world).watcher {
                general.report(step, file, &mut **watcher);
            }
        }
        if let Err(stop) = general.run(file, &mut (*world).memory, (*world).time) {
            return stopped(op, world, stop);
        }
        next!(op, file, world)
    }
}
