//! An emulated Linux process: programs of x86-64 and 32-bit PowerPC, run instruction by instruction.
//!
//! [`Process`] is the entry point. [`elf`] reads and loads programs, [`memory`] is their address space, [`execute`] runs
//! their instructions, [`system`] makes their system calls, `signal` delivers their signals. Time is the number of steps
//! made, and the only contact with the world outside is through the door a process is given, see [`outside`].
//!
//! [`Process::use_native`] lets the processor itself run the program's instructions where nobody looks at each.
//!
//! Threads take turns in the one thread of the host that runs all this. Absent on purpose: any knowledge of what an
//! instruction means (`parallax_ir`) or how its bytes are read (`parallax_sleigh`), and any global state: processes can be
//! run side by side.
//!
//! ```
//! use parallax_process::outside::live::Live;
//! use parallax_process::{Ending, Process, Program};
//! let program = Program {
//!     path: "/bin/true".into(),
//!     arguments: vec![b"true".to_vec()],
//!     environment: Vec::new(),
//!     byte_bound: 1 << 30,
//!     instruction_bound: u64::MAX,
//!     schedule: None,
//! };
//! let mut process = Process::start(program, Box::new(Live::embedded()))?;
//! assert_eq!(process.run(), Ending::Exited(0));
//! # Ok::<(), parallax_process::StartError>(())
//! ```

mod abi;
mod arrays;
mod digest;
pub mod elf;
pub mod execute;
mod faults;
mod interrupt;
pub mod memory;
#[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), path = "native/absent.rs")]
mod native;
pub mod outside;
mod process;
pub mod registers;
mod signal;
mod snapshot;
pub mod system;
mod threads;

pub use abi::Abi;
pub use interrupt::Interrupt;
pub use native::prepare_alone;
pub use parallax_native::host::sealed;
pub use process::{CallTrace, Ending, Process, Program, StartError};
pub use signal::x86_64::HandlerFrame;
pub use snapshot::{SavedSnapshot, Snapshot};
