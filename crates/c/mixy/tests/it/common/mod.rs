//! Programs as text, checked.

use parallax_cexplore::{Program, Sources, program};
use parallax_mixy::{Report, Settings, check, names::site_location};

/// A program from the text of one C file.
pub fn load(text: &str) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.c");
    std::fs::write(&file, text).expect("a file");
    let mut loaded = program::load(&Sources { files: vec![file], ..Sources::default() })
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    loaded.annotate().expect("its declarations are read");
    loaded
}

/// Findings as `line kind where`, sorted.
pub fn found(program: &Program, report: &Report) -> Vec<String> {
    let module = &program.module;
    let mut lines: Vec<String> = report
        .findings
        .iter()
        .map(|finding| {
            let line = module.location(site_location(module, finding.site)).line;
            format!("{line} {} {}", finding.kind.name(), finding.found_by.name())
        })
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

/// Checks the text; findings as `line kind where`.
#[allow(dead_code, reason = "not every test file starts from text alone")]
pub fn checked(text: &str, settings: &Settings) -> Vec<String> {
    let program = load(text);
    let report = check(&program.module, settings).unwrap_or_else(|e| panic!("{e}\n{text}"));
    found(&program, &report)
}

/// A generator of random numbers that is the same everywhere.
pub struct Dice(u64);

impl Dice {
    /// From a seed, which is not 0.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// One of these.
    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}
