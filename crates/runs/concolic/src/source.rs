//! Where runs are, in the words of the source: debug information of what is loaded, and who has called whom.

use crate::subject::Subject;
use parallax_process::Process;
use parallax_symbols::{Module, State, Symbols};
use std::cell::RefCell;
use std::path::Path;

/// How many callers are looked for.
const DEEPEST: usize = 64;
/// Larger files are not read for their debug information.
const LARGEST: u64 = 1 << 30;

/// The general registers in the order in which DWARF numbers them.
const DWARF: [&str; 16] = [
    "RAX", "RDX", "RCX", "RBX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15",
];

/// A process as debug information looks at one.
struct Here<'p>(RefCell<&'p mut Process>);

impl State for Here<'_> {
    fn pc(&self) -> u64 {
        self.0.borrow().pc()
    }

    fn register(&self, number: u16) -> Option<u128> {
        let name = DWARF.get(usize::from(number))?;
        Some(self.0.borrow_mut().world().registers.get(name).into())
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let bytes = self.0.borrow_mut().peek(address, into.len() as u64);
        let whole = bytes.len() == into.len();
        if whole {
            into.copy_from_slice(&bytes);
        }
        whole
    }
}

impl Subject {
    /// The debug information of the program and of the libraries that are loaded where runs begin.
    pub fn symbols(&mut self) -> Symbols {
        let bias = self.bias();
        let own = self.path().to_owned();
        let same = |name: &str| {
            let (a, b) = (std::fs::canonicalize(name), std::fs::canonicalize(&own));
            matches!((a, b), (Ok(a), Ok(b)) if a == b)
        };
        let read = |path: &Path, bias: u64| {
            let size = std::fs::metadata(path).ok()?.len();
            let bytes = (size <= LARGEST).then(|| std::fs::read(path).ok()).flatten()?;
            Module::read(&path.display().to_string(), &bytes, None, bias).ok()
        };
        let libraries = self.files().into_iter().filter(|(_, name)| !same(name));
        let mut modules: Vec<Module> = read(&own, bias).into_iter().collect();
        modules.extend(libraries.filter_map(|(start, name)| read(Path::new(&name), start)));
        Symbols::new(modules)
    }

    /// The addresses that the functions return to which are under way, outermost first.
    pub(crate) fn find_callers(&mut self) {
        let symbols = self.symbols();
        let state = Here(RefCell::new(&mut self.process));
        let frames = symbols.frames(&state, DEEPEST);
        let mut callers: Vec<u64> = frames.iter().filter_map(|frame| frame.return_address).collect();
        callers.dedup();
        callers.reverse();
        self.callers = callers;
    }
}
