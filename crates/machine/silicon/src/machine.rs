//! The processor under us: a traced child that executes one instruction at a time.
//!
//! Code and data live in memory shared with the child, so that only registers pass through `ptrace`.

use std::io;

/// Where the code page is mapped, in both processes' view of the child.
pub const CODE: u64 = 0x2000_0000;
/// Where the data pages are mapped.
pub const DATA: u64 = 0x3000_0000;
/// How many bytes of data there are.
pub const DATA_BYTES: usize = 4096;
/// The part of the data that is filled, compared, and pointed to.
pub const ARENA: usize = 1024;
/// Where the same pages are in 16-bit code, which reaches no further than a megabyte.
pub const LOW_CODE: u64 = 0x4_0000;
/// Likewise of the data.
pub const LOW_DATA: u64 = 0x3_0000;
/// The segment of 16-bit code. A selector of the local table ends in three ones; all of ours begin at sixteen times themselves,
/// so that they are what they are in real mode.
pub const SHORT_CODE: u16 = 0x4007;
/// Segments from which the data is in reach.
pub const SHORT_DATA: std::ops::Range<u16> = 0x2107..0x3007;
/// Guard pages lie around the data: a wild access faults.
const PAGE: usize = 4096;

/// The registers that instructions read and write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Of 16-bit, 32-bit or 64-bit code.
    pub bits: u32,
    /// RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15.
    pub general: [u64; 16],
    /// Where the segments FS and GS begin, in 64-bit code.
    pub bases: [u64; 2],
    /// ES, CS, SS, DS, FS and GS, in 16-bit code.
    pub segments: [u16; 6],
    /// The instruction pointer.
    pub rip: u64,
    /// The flags register.
    pub flags: u64,
    /// XMM0 to XMM15.
    pub vector: [u128; 16],
    /// What YMM0 to YMM15 have above those.
    pub upper: [u128; 16],
    /// ST0 to ST7, 80 bits each.
    pub stack: [u128; 8],
    /// x87 control word.
    pub control: u16,
    /// x87 status word.
    pub status: u16,
    /// SSE control and status.
    pub mxcsr: u32,
    /// Which x87 registers hold something, by their own numbers, register 0 the lowest bit.
    pub valid: u8,
}

/// What single-stepping gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The state after the instruction.
    Done(Box<Registers>),
    /// The signal it raised instead, and the state it left.
    Signal(i32, Box<Registers>),
}

/// The traced child.
pub struct Machine {
    child: i32,
    /// Float and vector registers as the kernel last gave them.
    extended: Extended,
    code: *mut u8,
    data: *mut u8,
    /// Where this thread was allowed to run before.
    cores: libc::cpu_set_t,
}

/// Keeps this thread, and the child it is about to make, on one core: switching between the two is then several times
/// faster than waking another core. Gives back where the thread was allowed to run.
fn pin() -> libc::cpu_set_t {
    // SAFETY: plain system calls on values of their own; failure leaves things as they are.
    unsafe {
        let mut before: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut before);
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut one);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &one);
        before
    }
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn shared(bytes: usize, name: &std::ffi::CStr) -> io::Result<i32> {
    // SAFETY: plain system calls; the descriptor is ours.
    unsafe {
        let file = check(libc::memfd_create(name.as_ptr(), 0).into())? as i32;
        check(libc::ftruncate(file, bytes as i64).into())?;
        Ok(file)
    }
}

fn map(file: i32, at: u64, bytes: usize, protection: i32) -> io::Result<*mut u8> {
    let fixed = if at == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    // SAFETY: a fresh mapping; MAP_FIXED_NOREPLACE never covers an existing one.
    let address =
        unsafe { libc::mmap(at as *mut libc::c_void, bytes, protection, libc::MAP_SHARED | fixed, file, 0) };
    if address == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(address.cast()) }
}

impl Machine {
    /// Starts the child. Fails where tracing is not allowed.
    pub fn new() -> io::Result<Self> {
        let code_file = shared(PAGE, c"code")?;
        let data_file = shared(DATA_BYTES, c"data")?;
        let code = map(code_file, 0, PAGE, libc::PROT_READ | libc::PROT_WRITE)?;
        let data = map(data_file, 0, DATA_BYTES, libc::PROT_READ | libc::PROT_WRITE)?;
        let cores = pin();
        // SAFETY: the child makes system calls only.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let ready = map(code_file, CODE, PAGE, libc::PROT_READ | libc::PROT_EXEC)
                .and_then(|_| map(data_file, DATA, DATA_BYTES, libc::PROT_READ | libc::PROT_WRITE));
            // Where these cannot be, 16-bit code cannot run, and all other code can.
            let _ = map(code_file, LOW_CODE, PAGE, libc::PROT_READ | libc::PROT_EXEC)
                .and_then(|_| map(data_file, LOW_DATA, DATA_BYTES, libc::PROT_READ | libc::PROT_WRITE))
                .and_then(|_| define_segments());
            // SAFETY: as above; the child never returns to Rust.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if ready.is_ok() && libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0 {
                    libc::raise(libc::SIGSTOP);
                }
                libc::_exit(1);
            }
        }
        check(child.into())?;
        let mut machine = Machine { child, extended: Extended::new(), code, data, cores };
        machine.wait()?;
        machine.read_extended()?;
        Ok(machine)
    }

    fn wait(&self) -> io::Result<i32> {
        let mut status = 0;
        // SAFETY: the child is ours.
        check(unsafe { libc::waitpid(self.child, &mut status, 0) }.into())?;
        if libc::WIFSTOPPED(status) {
            Ok(libc::WSTOPSIG(status))
        } else {
            Err(io::Error::other(format!("the traced child ended with status {status:#x}")))
        }
    }

    fn trace<T>(&self, request: u32, data: *mut T) -> io::Result<()> {
        // SAFETY: the child is ours and stopped; `data` has the type the request asks for.
        check(unsafe { libc::ptrace(request, self.child, std::ptr::null_mut::<u8>(), data) }).map(|_| ())
    }

    fn regset(&mut self, request: u32) -> io::Result<()> {
        let mut vector = libc::iovec {
            iov_base: self.extended.bytes.as_mut_ptr().cast(),
            iov_len: self.extended.bytes.len(),
        };
        // SAFETY: the child is ours and stopped; the kernel stays inside the buffer.
        check(unsafe { libc::ptrace(request, self.child, NT_X86_XSTATE, &mut vector) })?;
        self.extended.bytes.truncate(vector.iov_len);
        Ok(())
    }

    fn read_extended(&mut self) -> io::Result<()> {
        self.regset(libc::PTRACE_GETREGSET)
    }

    fn write_extended(&mut self) -> io::Result<()> {
        self.regset(libc::PTRACE_SETREGSET)
    }

    /// The data arena.
    pub fn data(&mut self) -> &mut [u8] {
        // SAFETY: our own mapping, and the child is stopped whenever we are here.
        unsafe { std::slice::from_raw_parts_mut(self.data, DATA_BYTES) }
    }

    /// Executes one instruction from the given registers; memory is what [`Machine::data`] holds.
    pub fn step(&mut self, instruction: &[u8], before: &Registers) -> io::Result<Outcome> {
        let start = if before.bits == 16 { LOW_CODE.wrapping_sub(16 * u64::from(SHORT_CODE)) } else { CODE };
        let at = before.rip.wrapping_sub(start) as usize;
        assert!(at + instruction.len() <= PAGE);
        // SAFETY: within our own mapping.
        unsafe { std::ptr::copy_nonoverlapping(instruction.as_ptr(), self.code.add(at), instruction.len()) };
        // SAFETY: a plain data structure of the kernel's interface, for which zero is a value.
        let mut user: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        self.trace(libc::PTRACE_GETREGS, &mut user)?;
        write_general(&mut user, before);
        self.extended.write(before);
        self.trace(libc::PTRACE_SETREGS, &mut user)?;
        self.write_extended()?;
        self.trace(libc::PTRACE_SINGLESTEP, std::ptr::null_mut::<u8>())?;
        let signal = self.wait()?;
        self.trace(libc::PTRACE_GETREGS, &mut user)?;
        self.read_extended()?;
        let after = Box::new(self.extended.read(&user));
        Ok(if signal == libc::SIGTRAP { Outcome::Done(after) } else { Outcome::Signal(signal, after) })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: the child is ours.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, std::ptr::null_mut(), 0);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &self.cores);
            libc::munmap(self.code.cast(), PAGE);
            libc::munmap(self.data.cast(), DATA_BYTES);
        }
    }
}

/// Linux's segments of user programs.
const CODE_32: u64 = 0x23;
const CODE_64: u64 = 0x33;
const FLAT: u64 = 0x2b;

/// Whether the processor is of the maker whose manual we follow where processors differ.
pub fn follows_the_manual() -> bool {
    let maker = std::arch::x86_64::__cpuid(0);
    [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes).concat() == b"GenuineIntel"
}

/// Whether this kernel lets programs have segments of their own, which 16-bit code needs.
pub fn has_segments() -> bool {
    let mut table = [0u8; 8];
    // SAFETY: the kernel writes no more than it is told.
    unsafe { libc::syscall(libc::SYS_modify_ldt, 0, table.as_mut_ptr(), table.len()) >= 0 }
}

/// Writes the segments of 16-bit code into the table of this process.
fn define_segments() -> io::Result<()> {
    const CODE: u32 = 2 << 1;
    const USABLE: u32 = 1 << 6;
    let data = SHORT_DATA.step_by(8).map(|selector| (selector, USABLE));
    for (selector, kind) in data.chain([(SHORT_CODE, USABLE | CODE)]) {
        // Number, base, limit, kind: the kernel's `user_desc`.
        let entry: [u32; 4] = [u32::from(selector) >> 3, u32::from(selector) << 4, 0xffff, kind];
        // SAFETY: the kernel reads sixteen bytes.
        check(unsafe { libc::syscall(libc::SYS_modify_ldt, 1, entry.as_ptr(), size_of_val(&entry)) })?;
    }
    Ok(())
}

fn write_general(user: &mut libc::user_regs_struct, r: &Registers) {
    let short = r.bits == 16;
    let [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15] = r.general;
    *user = libc::user_regs_struct {
        rax,
        rcx,
        rdx,
        rbx,
        rsp,
        rbp,
        rsi,
        rdi,
        r8,
        r9,
        r10,
        r11,
        r12,
        r13,
        r14,
        r15,
        rip: r.rip,
        eflags: r.flags,
        fs_base: if short { u64::from(r.segments[4]) << 4 } else { r.bases[0] },
        gs_base: if short { u64::from(r.segments[5]) << 4 } else { r.bases[1] },
        // Not in a system call: the kernel must not try to restart one.
        orig_rax: u64::MAX,
        // The two kinds of code differ in their segment; 32-bit code looks at those of data too.
        cs: match r.bits {
            16 => SHORT_CODE.into(),
            32 => CODE_32,
            _ => CODE_64,
        },
        ss: if short { r.segments[2].into() } else { FLAT },
        ds: if short { r.segments[3].into() } else { FLAT },
        es: if short { r.segments[0].into() } else { FLAT },
        fs: if short { r.segments[4].into() } else { 0 },
        gs: if short { r.segments[5].into() } else { 0 },
    };
}

/// The kernel's name for all float and vector registers.
const NT_X86_XSTATE: usize = 0x202;

/// The image of `xsave`: that of `fxsave`, then which parts follow, then those.
struct Extended {
    bytes: Vec<u8>,
    /// Where the upper halves of the YMM registers are, if the processor has them.
    upper: Option<usize>,
}

impl Extended {
    const CONTROL: usize = 0;
    const STATUS: usize = 2;
    const VALID: usize = 4;
    const MXCSR: usize = 24;
    const STACK: usize = 32;
    const VECTOR: usize = 160;
    const PARTS: usize = 512;

    fn new() -> Self {
        // Leaf 13 tells where each part is, part 2 being the upper halves.
        let upper = std::is_x86_feature_detected!("avx")
            .then(|| std::arch::x86_64::__cpuid_count(13, 2).ebx as usize);
        Extended { bytes: vec![0; 16 * 1024], upper }
    }

    fn put(&mut self, at: usize, value: &[u8]) {
        self.bytes[at..at + value.len()].copy_from_slice(value);
    }

    fn get(&self, at: usize, bytes: usize) -> u128 {
        let mut value = [0; 16];
        value[..bytes].copy_from_slice(&self.bytes[at..at + bytes]);
        u128::from_le_bytes(value)
    }

    fn write(&mut self, r: &Registers) {
        self.put(Self::CONTROL, &r.control.to_le_bytes());
        self.put(Self::STATUS, &r.status.to_le_bytes());
        self.put(Self::VALID, &[r.valid, 0]);
        self.put(Self::MXCSR, &r.mxcsr.to_le_bytes());
        for (index, value) in r.stack.iter().enumerate() {
            self.put(Self::STACK + 16 * index, &value.to_le_bytes());
        }
        for (index, value) in r.vector.iter().enumerate() {
            self.put(Self::VECTOR + 16 * index, &value.to_le_bytes());
        }
        for (index, value) in r.upper.iter().enumerate() {
            if let Some(upper) = self.upper {
                self.put(upper + 16 * index, &value.to_le_bytes());
            }
        }
        // All of these parts are there, even if some held what they start with.
        self.bytes[Self::PARTS] |= if self.upper.is_some() { 7 } else { 3 };
    }

    fn read(&self, u: &libc::user_regs_struct) -> Registers {
        let array = |at: usize| std::array::from_fn(|index| self.get(at + 16 * index, 16));
        Registers {
            bits: match u.cs {
                CODE_32 => 32,
                CODE_64 => 64,
                _ => 16,
            },
            segments: [u.es, u.cs, u.ss, u.ds, u.fs, u.gs].map(|selector| selector as u16),
            general: [
                u.rax, u.rcx, u.rdx, u.rbx, u.rsp, u.rbp, u.rsi, u.rdi, u.r8, u.r9, u.r10, u.r11, u.r12,
                u.r13, u.r14, u.r15,
            ],
            bases: [u.fs_base, u.gs_base],
            rip: u.rip,
            flags: u.eflags,
            vector: array(Self::VECTOR),
            upper: self.upper.map_or([0; 16], array),
            stack: std::array::from_fn(|index| self.get(Self::STACK + 16 * index, 10)),
            control: self.get(Self::CONTROL, 2) as u16,
            status: self.get(Self::STATUS, 2) as u16,
            mxcsr: self.get(Self::MXCSR, 4) as u32,
            valid: self.get(Self::VALID, 1) as u8,
        }
    }
}
