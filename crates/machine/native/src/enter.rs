//! Into translated code and out of it again, and what happens when the guest's instruction faults there.
//!
//! [`Cells`] is the one page that translated code writes besides the guest's memory, so the guest can write it too. It holds
//! nothing that the host relies on but the counters, whose sum is checked. Everything else is in [`Context`], which
//! protection keys close while the guest runs. All registers are the guest's then, FS included; GS is the base of the
//! table of computed jumps. A fault in translated code becomes a way out like any other: the handler notes it and lets the
//! thread go on in the code that leaves.

use crate::cache::Cache;
use crate::layout::cell;
use std::arch::global_asm;
use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The page that translated code addresses.
#[repr(C, align(4096))]
pub struct Cells {
    /// What is left of each counter.
    pub counters: [i64; 4],
    /// The guest's RCX, where [`crate::Place`] says so.
    pub rcx: u64,
    /// The guest's register, where [`crate::Place`] says so.
    pub scratch: u64,
    /// The goal of a computed jump.
    pub target: u64,
    /// The number of the way out; [`FAULT`] if it was none.
    pub exit: u32,
    filling: u32,
    /// The translated code to enter.
    pub entry: u64,
    /// RAX, RCX and RDX of the guest while `wrpkru` needs those registers.
    kept: [u64; 3],
    rest: [u8; 0x1000 - 0x60],
}

/// State of guest and host while the other one runs.
#[repr(C, align(64))]
pub struct Context {
    /// General registers, by number.
    pub general: [u64; 16],
    /// The flags register.
    pub flags: u64,
    /// The guest's base of FS.
    pub fs: u64,
    cells: *mut Cells,
    /// [`crate::Cache::enter_routine`].
    enter: u64,
    /// [`crate::Cache::leave_routine`].
    leave_routine: u64,
    /// Translated code, from its first byte to behind its last.
    code: [u64; 2],
    /// The base of GS while the guest runs.
    table: u64,
    /// PKRU while the guest runs. While the host does, every key is open.
    rights: u32,
    /// Whether [`interrupt`] was here.
    interrupted: u32,
    host_fs: u64,
    host_stack: u64,
    host_mxcsr: u32,
    host_control: u32,
    /// The fault that translated code had.
    pub fault: Fault,
    /// Float and vector registers, as `xsave` has them.
    pub extended: Extended,
}

/// What `xsave` writes.
#[repr(C, align(64))]
pub struct Extended(pub [u8; 0xc00]);

/// A fault in translated code, as the kernel tells it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Fault {
    /// Where in translated code.
    pub at: u64,
    /// The address that could not be accessed, if that is what it was.
    pub address: u64,
    /// The signal.
    pub signal: i32,
    /// Its code.
    pub code: i32,
    /// The processor's number of the exception.
    pub trap: u32,
    /// The error code that the processor gave with it.
    pub error: u32,
}

impl Fault {
    /// Whether a page was not there for the access: the kernel knows its address.
    pub fn is_page_fault(&self) -> bool {
        const PAGE_FAULT: u32 = 14;
        self.trap == PAGE_FAULT
    }

    /// Whether the access of such a fault was a write.
    pub fn is_write(&self) -> bool {
        const WRITE: u32 = 2;
        self.error & WRITE != 0
    }
}

/// [`Cells::exit`] after a fault.
pub const FAULT: u32 = u32::MAX;

const _: () = {
    assert!(size_of::<Cells>() == 4096);
    assert!(offset_of!(Cells, counters) == cell::COUNTERS as usize);
    assert!(offset_of!(Cells, rcx) == cell::RCX as usize);
    assert!(offset_of!(Cells, scratch) == cell::SCRATCH as usize);
    assert!(offset_of!(Cells, target) == cell::TARGET as usize);
    assert!(offset_of!(Cells, exit) == cell::EXIT as usize);
    assert!(offset_of!(Cells, entry) == cell::ENTRY as usize);
    assert!(offset_of!(Cells, kept) == cell::KEPT as usize);
};

/// The parts of the state that `xsave` keeps: x87, SSE, and the upper halves of YMM, which are clean while the guest runs.
const PARTS: u32 = 7;

global_asm!(
    ".globl parallax_native_enter",
    "parallax_native_enter:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov rcx, rdi",
    "mov [rcx + {host_stack}], rsp",
    "stmxcsr [rcx + {host_mxcsr}]",
    "fnstcw [rcx + {host_control}]",
    "rdfsbase rax",
    "mov [rcx + {host_fs}], rax",
    // From here on until the host's FS is back, FS may be the guest's.
    ".globl parallax_native_switched",
    "parallax_native_switched:",
    "mov eax, {parts}",
    "xor edx, edx",
    "xrstor64 [rcx + {extended}]",
    "mov rax, [rcx + {fs}]",
    "wrfsbase rax",
    "mov rax, [rcx + {table}]",
    "wrgsbase rax",
    // The routine in the cache takes these when the host's pages are closed.
    "mov rdx, [rcx + {cells}]",
    "mov rax, [rcx + {general}]",
    "mov [rdx + {kept}], rax",
    "mov rax, [rcx + {general} + 8]",
    "mov [rdx + {kept} + 8], rax",
    "mov rax, [rcx + {general} + 16]",
    "mov [rdx + {kept} + 16], rax",
    "push qword ptr [rcx + {flags}]",
    "popfq",
    // The flags are the guest's.
    "mov rbx, [rcx + {general} + 24]",
    "mov rsp, [rcx + {general} + 32]",
    "mov rbp, [rcx + {general} + 40]",
    "mov rsi, [rcx + {general} + 48]",
    "mov rdi, [rcx + {general} + 56]",
    "mov r8, [rcx + {general} + 64]",
    "mov r9, [rcx + {general} + 72]",
    "mov r10, [rcx + {general} + 80]",
    "mov r11, [rcx + {general} + 88]",
    "mov r12, [rcx + {general} + 96]",
    "mov r13, [rcx + {general} + 104]",
    "mov r14, [rcx + {general} + 112]",
    "mov r15, [rcx + {general} + 120]",
    "mov eax, [rcx + {rights}]",
    "jmp [rcx + {enter}]",
    // RAX, RCX and RDX are kept in their cells. Without keys the second entry is the one.
    ".globl parallax_native_leave",
    "parallax_native_leave:",
    "mov eax, 0",
    "mov ecx, 0",
    "mov edx, 0",
    "wrpkru",
    ".globl parallax_native_leave_open",
    "parallax_native_leave_open:",
    "mov rcx, [rip + {current}]",
    "mov [rcx + {general} + 24], rbx",
    "mov [rcx + {general} + 32], rsp",
    "mov [rcx + {general} + 40], rbp",
    "mov [rcx + {general} + 48], rsi",
    "mov [rcx + {general} + 56], rdi",
    "mov [rcx + {general} + 64], r8",
    "mov [rcx + {general} + 72], r9",
    "mov [rcx + {general} + 80], r10",
    "mov [rcx + {general} + 88], r11",
    "mov [rcx + {general} + 96], r12",
    "mov [rcx + {general} + 104], r13",
    "mov [rcx + {general} + 112], r14",
    "mov [rcx + {general} + 120], r15",
    "mov rsp, [rcx + {host_stack}]",
    "pushfq",
    "pop qword ptr [rcx + {flags}]",
    // The host wants its flags without direction and alignment checks.
    "push 2",
    "popfq",
    "mov rdx, [rcx + {cells}]",
    "mov rax, [rdx + {kept}]",
    "mov [rcx + {general}], rax",
    "mov rax, [rdx + {kept} + 8]",
    "mov [rcx + {general} + 8], rax",
    "mov rax, [rdx + {kept} + 16]",
    "mov [rcx + {general} + 16], rax",
    "rdfsbase rax",
    "mov [rcx + {fs}], rax",
    "mov rax, [rcx + {host_fs}]",
    "wrfsbase rax",
    ".globl parallax_native_back",
    "parallax_native_back:",
    "mov eax, {parts}",
    "xor edx, edx",
    "xsave64 [rcx + {extended}]",
    "fninit",
    "fldcw [rcx + {host_control}]",
    "ldmxcsr [rcx + {host_mxcsr}]",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    host_stack = const offset_of!(Context, host_stack),
    host_mxcsr = const offset_of!(Context, host_mxcsr),
    host_control = const offset_of!(Context, host_control),
    host_fs = const offset_of!(Context, host_fs),
    fs = const offset_of!(Context, fs),
    table = const offset_of!(Context, table),
    flags = const offset_of!(Context, flags),
    general = const offset_of!(Context, general),
    extended = const offset_of!(Context, extended),
    cells = const offset_of!(Context, cells),
    enter = const offset_of!(Context, enter),
    rights = const offset_of!(Context, rights),
    kept = const offset_of!(Cells, kept),
    current = sym CURRENT,
    parts = const PARTS,
);

unsafe extern "C" {
    fn parallax_native_enter(context: *mut Context);
    fn parallax_native_leave();
    fn parallax_native_leave_open();
}

/// The context of the guest that this process runs, for the code that leaves and for handlers of signals.
pub(crate) static CURRENT: AtomicPtr<Context> = AtomicPtr::new(std::ptr::null_mut());

/// Where [`Context`] says which code is translated.
pub(crate) const CODE_OFFSET: usize = offset_of!(Context, code);
/// Where [`Context`] keeps the host's base of FS.
pub(crate) const HOST_FS_OFFSET: usize = offset_of!(Context, host_fs);

/// What an interrupt takes from each counter: more than any of them holds.
const INTERRUPT: i64 = 1 << 60;
/// No counter holds more: the highest byte must be zero.
const MOST: u64 = 1 << 55;

impl Context {
    /// A context for a cache, which was made with [`leave_address`] and the same `rights`; none of its registers is set.
    pub fn new(cache: &Cache, rights: Option<u32>) -> Box<Context> {
        let places = cache.places();
        Box::new(Context {
            general: [0; 16],
            flags: 2,
            fs: 0,
            cells: places.cells as *mut Cells,
            enter: cache.enter_routine(rights.is_some()),
            leave_routine: cache.leave_routine(),
            code: [places.hot.start.min(places.cold.start), places.hot.end.max(places.cold.end)],
            table: places.table,
            rights: rights.unwrap_or(0),
            interrupted: 0,
            host_fs: 0,
            host_stack: 0,
            host_mxcsr: 0,
            host_control: 0,
            fault: Fault::default(),
            extended: Extended([0; 0xc00]),
        })
    }

    /// The page of cells.
    pub fn cells(&mut self) -> &mut Cells {
        // SAFETY: mapped as long as the cache; translated code does not run now.
        unsafe { &mut *self.cells }
    }

    /// Allows about so many instructions, split among the first `counters` counters.
    pub fn allow(&mut self, steps: u64, counters: usize) {
        let counters = counters.clamp(1, 4) as u64;
        let steps = steps.min(MOST);
        self.interrupted = 0;
        let mut allowed = [0; 4];
        for counter in &mut allowed[..counters as usize] {
            *counter = (steps / counters) as i64;
        }
        allowed[0] += (steps % counters) as i64;
        self.cells().counters = allowed;
    }

    /// What is left of what was allowed: negative if more was used. A guest that writes the cells can make it anything.
    pub fn left(&mut self) -> i64 {
        let taken = if self.interrupted != 0 { INTERRUPT } else { 0 };
        let counters = self.cells().counters;
        counters.iter().fold(0, |sum: i64, counter| sum.wrapping_add(counter.wrapping_add(taken)))
    }
}

/// What translated code jumps to when it leaves; `closed` if protection keys are closed meanwhile.
pub fn leave_address(closed: bool) -> u64 {
    let address = if closed { parallax_native_leave } else { parallax_native_leave_open };
    address as *const () as usize as u64
}

/// Whether this machine can run translated code: the kernel lets programs write the bases of FS and GS.
pub fn is_supported() -> bool {
    const FSGSBASE: u64 = 1 << 1;
    // SAFETY: a plain call.
    let bits = unsafe { libc::getauxval(libc::AT_HWCAP2) };
    bits & FSGSBASE != 0 && std::is_x86_feature_detected!("xsave")
}

/// Runs translated code from [`Cells::entry`] until it leaves.
///
/// # Safety
///
/// The context is that of a cache whose code is mapped, and holds a state to start from. No other thread runs translated code.
/// Signals that arrive meanwhile have a stack of their own, and handlers that do without thread-local variables.
pub unsafe fn enter(context: *mut Context) {
    CURRENT.store(context, Ordering::Relaxed);
    // SAFETY: as promised by the caller; the code saves and restores what the calling convention asks for.
    unsafe { parallax_native_enter(context) }
    CURRENT.store(std::ptr::null_mut(), Ordering::Relaxed);
}

/// For a handler of signals: if translated code was interrupted by a fault of its own, it leaves when the handler returns, and
/// this is true.
///
/// # Safety
///
/// The arguments are those of a handler.
pub unsafe fn note_fault(
    signal: i32,
    information: *const libc::siginfo_t,
    context: *mut libc::c_void,
) -> bool {
    let current = CURRENT.load(Ordering::Relaxed);
    if current.is_null() {
        return false;
    }
    // SAFETY: set by `enter`, which has not come back; the kernel gave the rest.
    unsafe {
        let context = context.cast::<libc::ucontext_t>();
        let at = (*context).uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
        if at < (*current).code[0] || at >= (*current).code[1] {
            return false;
        }
        let address = (*information).si_addr() as u64;
        let registers = &(*context).uc_mcontext.gregs;
        let (trap, error) = (registers[libc::REG_TRAPNO as usize], registers[libc::REG_ERR as usize]);
        (*current).fault = Fault {
            at,
            address,
            signal,
            code: (*information).si_code,
            trap: trap as u32,
            error: error as u32,
        };
        (*(*current).cells).exit = FAULT;
        (*context).uc_mcontext.gregs[libc::REG_RIP as usize] = (*current).leave_routine as i64;
        true
    }
}

/// For a handler of signals: lets translated code leave at its next check. `settled` is [`crate::Cache::settled`].
///
/// # Safety
///
/// The context is that of a handler.
pub unsafe fn interrupt(context: *mut libc::c_void, settled: impl Fn(u64) -> u64) {
    let current = CURRENT.load(Ordering::Relaxed);
    if current.is_null() {
        return;
    }
    // SAFETY: set by `enter`, which has not come back; the kernel gave the rest.
    unsafe {
        let rip = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize];
        *rip = settled(*rip as u64) as i64;
        if (*current).interrupted == 0 {
            (*current).interrupted = 1;
            (*(*current).cells).counters.iter_mut().for_each(|counter| *counter -= INTERRUPT);
        }
    }
}
