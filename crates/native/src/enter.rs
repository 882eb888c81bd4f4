//! Into translated code and out of it again, and what happens when the guest's instruction faults there.
//!
//! [`Cells`] is the one page through which both sides speak: translated code addresses its first part, entering and leaving
//! keep registers in the rest. While the guest runs, all registers are its own, FS included; GS is the base of the table
//! of computed jumps. A fault in translated code becomes a way out like any other: the handler notes it and lets the thread
//! go on in the code that leaves.

use crate::layout::cell;
use std::arch::global_asm;
use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The page of cells.
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
    /// Whether [`interrupt`] was here.
    interrupted: u32,
    /// [`leave_address`].
    pub leave: u64,
    /// The translated code to enter.
    pub entry: u64,
    /// [`crate::Cache::enter_routine`].
    pub enter: u64,
    /// [`crate::Cache::leave_routine`].
    pub leave_routine: u64,
    /// Translated code, from its first byte to behind its last.
    pub code: [u64; 2],
    /// The base of GS while the guest runs.
    pub table: u64,
    /// The guest's base of FS.
    pub fs: u64,
    pub(crate) host_fs: u64,
    host_stack: u64,
    host_mxcsr: u32,
    host_control: u32,
    /// The fault that translated code had.
    pub fault: Fault,
    /// Whether the host's pages have protection keys, so that [`Cells::rights`] count.
    pub has_keys: u32,
    /// PKRU while the guest runs. While the host does, every key is open.
    pub rights: u32,
    padding: [u8; 0x100 - 0xc0],
    /// General registers, by number.
    pub general: [u64; 16],
    /// The flags register.
    pub flags: u64,
    filling: [u8; 0x400 - 0x188],
    /// Float and vector registers, as `xsave` has them.
    pub extended: [u8; 0xc00],
}

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
    assert!(offset_of!(Cells, leave) == cell::LEAVE as usize);
    assert!(offset_of!(Cells, entry) == cell::ENTRY as usize);
    assert!(offset_of!(Cells, general) + 8 == cell::KEPT_RCX as usize);
    assert!(offset_of!(Cells, extended) % 64 == 0);
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
    "push qword ptr [rcx + {flags}]",
    "popfq",
    // The flags are the guest's. Behind `wrpkru` the host's pages are closed but for the cells.
    "mov rdi, rcx",
    "mov ecx, [rdi + {has_keys}]",
    "jrcxz 2f",
    "mov eax, [rdi + {rights}]",
    "mov ecx, 0",
    "mov edx, 0",
    "wrpkru",
    "2:",
    "mov rcx, rdi",
    "mov rax, [rcx + {general}]",
    "mov rdx, [rcx + {general} + 16]",
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
    "jmp [rcx + {enter}]",
    // RCX is kept already, and holds the address of the cells.
    ".globl parallax_native_leave",
    "parallax_native_leave:",
    "mov [rcx + {general}], rax",
    "mov [rcx + {general} + 16], rdx",
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
    "mov r8, rcx",
    "mov ecx, [r8 + {has_keys}]",
    "jrcxz 2f",
    "mov eax, 0",
    "mov ecx, 0",
    "mov edx, 0",
    "wrpkru",
    "2:",
    "mov rcx, r8",
    "mov rsp, [rcx + {host_stack}]",
    "pushfq",
    "pop qword ptr [rcx + {flags}]",
    // The host wants its flags without direction and alignment checks.
    "push 2",
    "popfq",
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
    host_stack = const offset_of!(Cells, host_stack),
    host_mxcsr = const offset_of!(Cells, host_mxcsr),
    host_control = const offset_of!(Cells, host_control),
    host_fs = const offset_of!(Cells, host_fs),
    fs = const offset_of!(Cells, fs),
    table = const offset_of!(Cells, table),
    flags = const offset_of!(Cells, flags),
    general = const offset_of!(Cells, general),
    extended = const offset_of!(Cells, extended),
    enter = const offset_of!(Cells, enter),
    has_keys = const offset_of!(Cells, has_keys),
    rights = const offset_of!(Cells, rights),
    parts = const PARTS,
);

unsafe extern "C" {
    fn parallax_native_enter(cells: *mut Cells);
    fn parallax_native_leave();
}

/// The cells of the guest that this process runs, for handlers of signals.
pub(crate) static CURRENT: AtomicPtr<Cells> = AtomicPtr::new(std::ptr::null_mut());

/// What an interrupt takes from each counter: more than any of them holds.
const INTERRUPT: i64 = 1 << 60;
/// No counter holds more: the highest byte must be zero.
const MOST: u64 = 1 << 55;

impl Cells {
    /// Allows about so many instructions, split among the first `counters` counters.
    pub fn allow(&mut self, steps: u64, counters: usize) {
        let counters = counters.clamp(1, 4) as u64;
        let steps = steps.min(MOST);
        self.interrupted = 0;
        self.counters = [0; 4];
        for counter in &mut self.counters[..counters as usize] {
            *counter = (steps / counters) as i64;
        }
        self.counters[0] += (steps % counters) as i64;
    }

    /// What is left of what was allowed: negative if more was used.
    pub fn left(&self) -> i64 {
        let taken = if self.interrupted != 0 { INTERRUPT } else { 0 };
        self.counters.iter().map(|counter| counter + taken).sum()
    }
}

/// What translated code jumps to when it leaves: for [`Cells::leave`].
pub fn leave_address() -> u64 {
    parallax_native_leave as *const () as usize as u64
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
/// The cells are those of a cache whose code is mapped, and hold a state to start from. No other thread runs translated code.
/// Signals that arrive meanwhile have a stack of their own, and handlers that do without thread-local variables.
pub unsafe fn enter(cells: *mut Cells) {
    CURRENT.store(cells, Ordering::Relaxed);
    // SAFETY: as promised by the caller; the code saves and restores what the calling convention asks for.
    unsafe { parallax_native_enter(cells) }
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
    let cells = CURRENT.load(Ordering::Relaxed);
    if cells.is_null() {
        return false;
    }
    // SAFETY: set by `enter`, which has not come back; the kernel gave the rest.
    unsafe {
        let context = context.cast::<libc::ucontext_t>();
        let at = (*context).uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
        if at < (*cells).code[0] || at >= (*cells).code[1] {
            return false;
        }
        let address = (*information).si_addr() as u64;
        let registers = &(*context).uc_mcontext.gregs;
        let (trap, error) = (registers[libc::REG_TRAPNO as usize], registers[libc::REG_ERR as usize]);
        (*cells).fault = Fault {
            at,
            address,
            signal,
            code: (*information).si_code,
            trap: trap as u32,
            error: error as u32,
        };
        (*cells).exit = FAULT;
        (*context).uc_mcontext.gregs[libc::REG_RIP as usize] = (*cells).leave_routine as i64;
        true
    }
}

/// For a handler of signals: lets translated code leave at its next check. `settled` is [`crate::Cache::settled`].
///
/// # Safety
///
/// The context is that of a handler.
pub unsafe fn interrupt(context: *mut libc::c_void, settled: impl Fn(u64) -> u64) {
    let cells = CURRENT.load(Ordering::Relaxed);
    if cells.is_null() {
        return;
    }
    // SAFETY: set by `enter`, which has not come back; the kernel gave the rest.
    unsafe {
        let rip = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize];
        *rip = settled(*rip as u64) as i64;
        if (*cells).interrupted == 0 {
            (*cells).interrupted = 1;
            (*cells).counters.iter_mut().for_each(|counter| *counter -= INTERRUPT);
        }
    }
}
