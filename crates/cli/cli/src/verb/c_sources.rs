//! Flags that every verb on C programs takes: what to compile, and how.

use super::c_cache::CCache;
use anyhow::Result;
use clap::Args;
use parallax_cexplore::{Member, Program, Project, Sources, program};
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::words::counted;
use parallax_cread::{Error, clang};
use parallax_jail::Wanted;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::PathBuf;

/// What to compile, and how.
#[derive(Args, Clone)]
pub struct CSources {
    /// C files, LLVM modules (.bc, .ll), or a compilation database (.json).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub flags: CFlags,
}

/// How to compile.
#[derive(Args, Clone)]
pub struct CFlags {
    /// Look for headers here.
    #[arg(short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Define a macro.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Further flags for clang, split at blanks.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Option<String>,
    /// Optimise the IR (0 to 3) before looking at it.
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    optimise: u8,
    /// Run what is run to find something out (the compiler, a program that confirms a finding) without a jail: it can then
    /// change and reach all that you can.
    #[arg(long)]
    run_unjailed: bool,
    /// Of several programs in one compilation database, the one whose `main` is in the file of this name.
    #[arg(long = "program", value_name = "NAME")]
    one_program: Option<String>,
    /// Print all warnings of the compiler; without it, more than three are counted.
    #[arg(long)]
    warnings: bool,
    #[command(flatten)]
    cache: CCache,
}

impl CFlags {
    /// The same flags for another verb on C programs.
    pub fn words(&self) -> Vec<OsString> {
        let flag = |name: &str, value: &OsStr| {
            let mut word = OsString::from(name);
            word.push(value);
            word
        };
        let mut words: Vec<OsString> =
            self.include.iter().map(|folder| flag("-I", folder.as_os_str())).collect();
        words.extend(self.define.iter().map(|define| flag("-D", define.as_ref())));
        words.extend(self.cflags.iter().map(|flags| flag("--cflags=", flags.as_ref())));
        words.push(format!("-O{}", self.optimise).into());
        words.extend(self.run_unjailed.then(|| "--run-unjailed".into()));
        words.extend(self.one_program.iter().map(|name| flag("--program=", name.as_ref())));
        words.extend(self.warnings.then(|| "--warnings".into()));
        words.extend(self.cache.words());
        words
    }

    /// What holds what is run.
    pub fn jail(&self) -> Wanted {
        if self.run_unjailed { Wanted::Unjailed } else { Wanted::Best }
    }
}

/// A compiled program handed over as source: clang would print its bytes, line by line.
fn refuse_compiled(file: &std::path::Path) -> Result<()> {
    let mut start = [0; 4];
    let is_elf = std::fs::File::open(file).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == *b"\x7fELF";
    let name = file.display();
    anyhow::ensure!(
        !is_elf,
        "{name} is a compiled program, not C source\n  = to explore its inputs: parallax explore --stdin 16 -- {name}\n  \
         = to run it: parallax run -- {name}"
    );
    Ok(())
}

impl CSources {
    /// Whether a file is one of ours by its name.
    pub fn is_c(path: &std::path::Path) -> bool {
        path.extension().is_some_and(|e| e == "c" || e == "bc" || e == "ll" || e == "i")
            || program::is_database(path)
    }

    /// Compiles and reads the program, or what was kept of it; clang's warnings go to stderr.
    pub fn load(&self) -> Result<Program> {
        self.load_instrumented(Vec::new())
    }

    /// The same, with checks of clang's sanitizers compiled in.
    pub fn load_instrumented(&self, instrument: Vec<&'static str>) -> Result<Program> {
        told(self.compiled(instrument)?.only())
    }

    /// The programs that the files are.
    pub fn project(&self) -> Result<Project> {
        self.compiled(Vec::new())
    }

    /// One of them.
    pub fn member(&self, project: &Project, member: &Member) -> Result<Program> {
        told(project.load(member))
    }

    fn compiled(&self, instrument: Vec<&'static str>) -> Result<Project> {
        for file in &self.files {
            refuse_compiled(file)?;
        }
        let flags = &self.flags;
        let words = flags.cflags.as_deref().unwrap_or("").split_whitespace();
        let options = clang::Options {
            include: flags.include.clone(),
            define: flags.define.clone(),
            optimise: flags.optimise,
            flags: words.map(str::to_string).collect(),
            instrument,
            jail: flags.jail(),
            ..clang::Options::default()
        };
        let kept = flags.cache.kept()?;
        let sources =
            Sources { files: self.files.clone(), options, kept, program: flags.one_program.clone() };
        let project = failed(Project::compile(&sources))?;
        let count = project.warnings.matches(": warning: ").count();
        if count > MOST_WARNINGS && !flags.warnings {
            eprintln!("{} of the compiler (--warnings prints them)", counted(count, "warning"));
        } else {
            eprint!("{}", project.warnings);
        }
        Ok(project)
    }
}

/// Warnings of the compiler that are printed without being asked for.
const MOST_WARNINGS: usize = 3;

/// What was read, with what LLVM says of it on stderr.
fn told(program: Result<Program, Error>) -> Result<Program> {
    let program = failed(program)?;
    for warning in &program.module.warnings {
        eprintln!("{warning}");
    }
    Ok(program)
}

/// Errors with the status that they end with.
fn failed<T>(result: Result<T, Error>) -> Result<T> {
    Ok(result.map_err(|error| match error {
        Error::Unsupported(_) | Error::NotRun(..) | Error::Bound(..) => {
            Failure { status: Status::Unsupported, message: error.to_string() }
        }
        _ => Failure { status: Status::BadInput, message: error.to_string() },
    })?)
}
