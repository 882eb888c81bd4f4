//! A handler for every signal of a host that runs a guest: signals arrive while FS is the guest's, and while the host's pages
//! are closed by protection keys.
//!
//! [`address`] is installed in place of every handler, with `SA_SIGINFO | SA_ONSTACK`; the stack is given to the thread with
//! `sigaltstack`; before Linux 6.12 from pages that are open to the guest, since the kernel writes the frame with the guest's rights. What is
//! a fault of the guest becomes a way out; all else goes to the handler that [`forward`] was given.

use crate::enter::{CODE_OFFSET, CURRENT, HOST_FS_OFFSET, note_fault};
use std::arch::global_asm;
use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A handler of signals.
pub type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

static FORWARD: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Says who hears of the signals that are no faults of the guest. It may use thread-local variables.
pub fn forward(handler: Handler) {
    FORWARD.store(handler as *mut (), Ordering::SeqCst);
}

/// The handler to install. Needs protection keys.
pub fn address() -> usize {
    parallax_native_handler as *const () as usize
}

unsafe extern "C" {
    fn parallax_native_handler();
}

/// Where the kernel keeps the interrupted instruction pointer in a context.
const RIP: usize = offset_of!(libc::ucontext_t, uc_mcontext) + 8 * libc::REG_RIP as usize;

global_asm!(
    ".globl parallax_native_handler",
    "parallax_native_handler:",
    // The kernel closes all keys but the first for handlers, the stack's too: nothing is touched before they are open.
    "mov r8, rdx",
    "xor eax, eax",
    "xor ecx, ecx",
    "xor edx, edx",
    "wrpkru",
    "mov rdx, r8",
    "push rbx",
    // FS is the guest's if translated code was interrupted, or the code that enters and leaves it.
    "mov rcx, [rdx + {rip}]",
    "mov rax, [rip + {current}]",
    "test rax, rax",
    "jz 3f",
    "cmp rcx, [rax + {code}]",
    "jb 2f",
    "cmp rcx, [rax + {code} + 8]",
    "jb 4f",
    "2:",
    "lea rbx, [rip + parallax_native_switched]",
    "cmp rcx, rbx",
    "jb 3f",
    "lea rbx, [rip + parallax_native_back]",
    "cmp rcx, rbx",
    "jb 4f",
    "3:",
    "call {dispatch}",
    "pop rbx",
    "ret",
    "4:",
    "rdfsbase rbx",
    "mov rax, [rax + {host_fs}]",
    "wrfsbase rax",
    "call {dispatch}",
    "wrfsbase rbx",
    "pop rbx",
    "ret",
    rip = const RIP,
    current = sym CURRENT,
    code = const CODE_OFFSET,
    host_fs = const HOST_FS_OFFSET,
    dispatch = sym dispatch,
);

extern "C" fn dispatch(signal: i32, information: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let fault = matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP);
    // SAFETY: the kernel called with these; the code above has made the thread the host's again.
    unsafe {
        // Sent by a process, it is no fault.
        if fault && (*information).si_code > 0 && note_fault(signal, information, context) {
            return;
        }
        let handler = FORWARD.load(Ordering::SeqCst);
        if handler.is_null() {
            libc::signal(signal, libc::SIG_DFL);
            return;
        }
        // SAFETY: only `forward` stores there, and it stores handlers.
        std::mem::transmute::<*mut (), Handler>(handler)(signal, information, context);
    }
}
