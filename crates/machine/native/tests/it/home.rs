//! A small home for a guest: a page of code, a page of data, a cache, and the handler of its faults.

use parallax_native::enter::{self, Context, FAULT, enter};
use parallax_native::{Arena, Cache, Options, Places, Source};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once};

/// Where the guest's code is.
pub const CODE: u64 = 0x2000_0000;
/// How many bytes of it there are.
pub const CODE_BYTES: usize = 3 * 4096;
/// Where its data is.
pub const DATA: u64 = 0x3000_0000;
/// How many bytes of it there are.
pub const DATA_BYTES: usize = 4096;

/// Where the cache is: in reach of the guest's data, or not.
const NEAR: u64 = 0x1000_0000;
const FAR: u64 = 0x10_0000_0000;
const PART: u64 = 1 << 20;
const TABLE_BYTES: usize = 1 << 35;

/// One guest at a time.
static ONE: Mutex<()> = Mutex::new(());

/// The home. Everything is unmapped when it is dropped.
pub struct Home {
    pub cache: Cache,
    memory: HostMemory,
    context: Box<Context>,
    mapped: Vec<(u64, usize)>,
    _one: MutexGuard<'static, ()>,
}

/// Writes where it is told: the cache names only places of its own.
struct HostMemory;

impl Arena for HostMemory {
    fn write(&mut self, at: u64, bytes: &[u8]) {
        // SAFETY: the cache writes into the parts and slots that were mapped for it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
    }
}

/// The guest's code, read where it is.
struct GuestCode;

impl Source for GuestCode {
    fn fetch(&mut self, at: u64, into: &mut [u8]) -> usize {
        let Some(left) = (CODE + CODE_BYTES as u64).checked_sub(at).filter(|_| at >= CODE) else { return 0 };
        let count = into.len().min(left as usize);
        // SAFETY: within the pages of code, which are mapped.
        unsafe { std::ptr::copy_nonoverlapping(at as *const u8, into.as_mut_ptr(), count) };
        count
    }
}

fn map(at: u64, bytes: usize, protection: i32) -> u64 {
    let fixed = if at == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    // SAFETY: a new mapping that covers no other.
    let place = unsafe { libc::mmap(at as *mut _, bytes, protection, flags, -1, 0) };
    assert!(place != libc::MAP_FAILED, "no room at {at:#x}");
    place as u64
}

fn protect(at: u64, bytes: usize, protection: i32) {
    // SAFETY: a mapping of ours.
    assert_eq!(unsafe { libc::mprotect(at as *mut _, bytes, protection) }, 0);
}

const DATA_PROTECTION: i32 = libc::PROT_READ | libc::PROT_WRITE;

impl Home {
    /// A home for a program; its cache is in reach of its data, or far away.
    pub fn new(code: &[u8], options: Options, far: bool) -> Home {
        let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        catch_faults();
        let base = if far { FAR } else { NEAR };
        let places = Places {
            hot: base..base + PART,
            cold: base + PART..base + 2 * PART,
            cells: base + 2 * PART,
            table: map(0, TABLE_BYTES, libc::PROT_NONE),
            leave: enter::leave_address(false),
        };
        let room = (2 * PART + 4096) as usize;
        map(base, room, DATA_PROTECTION | libc::PROT_EXEC);
        map(CODE, CODE_BYTES, DATA_PROTECTION);
        map(DATA, DATA_BYTES, DATA_PROTECTION);
        let mapped = vec![(base, room), (CODE, CODE_BYTES), (DATA, DATA_BYTES), (places.table, TABLE_BYTES)];
        HostMemory.write(CODE, code);
        protect(CODE, CODE_BYTES, libc::PROT_READ);
        let slots = places.slot(CODE);
        protect(slots, 8 * CODE_BYTES, DATA_PROTECTION);
        let cache = Cache::new(places, options, &mut HostMemory);
        for slot in 0..CODE_BYTES as u64 {
            HostMemory.write(slots + 8 * slot, &cache.miss_routine().to_le_bytes());
        }
        let context = Context::new(&cache, None);
        Home { cache, memory: HostMemory, context, mapped, _one: one }
    }

    pub fn context(&mut self) -> &mut Context {
        &mut self.context
    }

    pub fn data(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(DATA as *mut u8, DATA_BYTES) }
    }

    /// Replaces code of the guest.
    pub fn change_code(&mut self, at: u64, bytes: &[u8]) {
        protect(CODE, CODE_BYTES, DATA_PROTECTION);
        self.memory.write(at, bytes);
        protect(CODE, CODE_BYTES, libc::PROT_READ);
        self.cache.forget_pages(&mut self.memory, &[at / 4096]);
    }

    /// Drops all translated code.
    pub fn forget(&mut self) {
        self.cache.forget(&mut self.memory);
    }

    /// Runs from an address until translated code leaves by something that is not just a way out not linked yet.
    pub fn run(&mut self, pc: u64) -> Came {
        let mut pc = pc;
        loop {
            let Ok(body) = self.cache.translate(&mut GuestCode, &mut self.memory, pc) else {
                return Came { pc, unmade: 0, flags_are_void: false, fault: None, is_left: true };
            };
            self.context.cells().entry = body;
            // SAFETY: the context is that of this cache, the state is a test's, and `ONE` is held.
            unsafe { enter(&mut *self.context) };
            let number = self.context.cells().exit;
            if number == FAULT {
                let came = self.faulted();
                match came.fault {
                    // A goal without a slot.
                    None => pc = came.pc,
                    Some(_) => return came,
                }
                continue;
            }
            let leaving = self.cache.leaving(number);
            let target = self.context.cells().target;
            let Some(at) = leaving.pc else {
                pc = target;
                if self.cache.find(pc).is_some() {
                    self.cache.claim(&mut self.memory, pc);
                }
                continue;
            };
            if leaving.is_left || leaving.is_spent {
                let (unmade, flags_are_void) = (leaving.unmade, leaving.flags_are_void);
                return Came {
                    pc: at,
                    unmade: unmade.into(),
                    flags_are_void,
                    fault: None,
                    is_left: leaving.is_left,
                };
            }
            pc = at;
            if self.cache.translate(&mut GuestCode, &mut self.memory, pc).is_ok() {
                self.cache.link(&mut self.memory, number);
            }
        }
    }

    /// Puts registers where the guest has them at a fault.
    fn faulted(&mut self) -> Came {
        use parallax_native::Place;
        let fault = self.context.fault;
        let located = self.cache.locate(fault.at);
        let Some(located) = located else {
            panic!("a fault outside of the guest's instructions: {fault:x?}")
        };
        let (rcx, scratch, target) = {
            let cells = self.context.cells();
            (cells.rcx, cells.scratch, cells.target)
        };
        let blank = Came {
            pc: located.pc,
            unmade: located.unmade,
            flags_are_void: false,
            fault: Some(fault),
            is_left: false,
        };
        match located.place {
            Place::Guest => blank,
            Place::RcxSaved => {
                self.context.general[1] = rcx;
                blank
            }
            Place::ScratchSaved(register) => {
                self.context.general[usize::from(register)] = scratch;
                blank
            }
            Place::Lookup => {
                self.context.general[1] = rcx;
                Came { pc: target, fault: None, ..blank }
            }
            Place::Quiet | Place::Counting(_) => panic!("a fault where none can be: {fault:x?}"),
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for (at, bytes) in &self.mapped {
            // SAFETY: mapped by this home; nothing refers to it any more.
            unsafe { libc::munmap(*at as *mut _, *bytes) };
        }
    }
}

/// How the guest came back.
#[derive(Clone, Copy, Debug)]
pub struct Came {
    pub pc: u64,
    /// How many instructions were paid for that are not made.
    pub unmade: i32,
    pub flags_are_void: bool,
    pub fault: Option<enter::Fault>,
    pub is_left: bool,
}

/// After how many instructions of the host a guest that is single-stepped is interrupted.
pub static INTERRUPT_AFTER: AtomicU64 = AtomicU64::new(0);
/// How many instructions of translated code were stepped.
pub static STEPPED: AtomicU64 = AtomicU64::new(0);
/// The cache that is asked where an interrupted guest goes on.
pub static STEPPED_CACHE: AtomicPtr<Cache> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn on_fault(signal: i32, information: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel calls this as a handler.
    unsafe {
        if !enter::note_fault(signal, information, context) {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

extern "C" fn on_step(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let cache = STEPPED_CACHE.load(Ordering::Relaxed);
    // SAFETY: the kernel calls this as a handler; whoever single-steps keeps the cache where it is.
    unsafe {
        let rip = (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
        if cache.is_null() || !(*cache).places().holds(rip) {
            return;
        }
        if STEPPED.fetch_add(1, Ordering::Relaxed) + 1 == INTERRUPT_AFTER.load(Ordering::Relaxed) {
            enter::interrupt(context, |host| (*cache).settled(host));
        }
    }
}

struct SignalStack(UnsafeCell<[u8; 64 * 1024]>);

thread_local! {
    static SIGNAL_STACK: Box<SignalStack> = {
        let stack = Box::new(SignalStack(UnsafeCell::new([0; 64 * 1024])));
        let described = libc::stack_t { ss_sp: stack.0.get().cast(), ss_flags: 0, ss_size: 64 * 1024 };
        // SAFETY: the stack lives as long as the thread.
        assert_eq!(unsafe { libc::sigaltstack(&described, std::ptr::null_mut()) }, 0);
        stack
    };
}

fn catch_faults() {
    static HANDLERS: Once = Once::new();
    SIGNAL_STACK.with(|_| ());
    HANDLERS.call_once(|| {
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
            let handler = if signal == libc::SIGTRAP { on_step } else { on_fault };
            // SAFETY: handlers that need no thread-local variables, on a stack of their own.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
            }
        }
    });
}
