//! Calling clang: C files to bitcode.

use crate::{Error, tool};
use parallax_jail::{Command, Ended, Stdin, Wanted};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The compiler that is called unless another is named.
pub const COMPILER: &str = "clang-19";
/// The tool that changes symbols of objects.
const OBJCOPY: &str = "llvm-objcopy-19";

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// The compiler.
    pub compiler: String,
    /// `-O` level, 0 to 3.
    pub optimise: u8,
    /// `-I` folders.
    pub include: Vec<PathBuf>,
    /// `-D` definitions.
    pub define: Vec<String>,
    /// Anything else, as it is.
    pub flags: Vec<String>,
    /// Checks of clang's sanitizers that the IR is to call a runtime for; native programs have their own.
    pub instrument: Vec<&'static str>,
    /// A folder with the headers that programs for other tools include; without one, each call makes its own.
    pub headers: Option<PathBuf>,
    /// What holds the compiler, and the program when it is run.
    pub jail: Wanted,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            compiler: COMPILER.into(),
            optimise: 0,
            include: Vec::new(),
            define: Vec::new(),
            flags: Vec::new(),
            instrument: Vec::new(),
            headers: None,
            jail: Wanted::Best,
        }
    }
}

impl Options {
    /// Flags that any compilation of the program needs, native ones too.
    pub fn language_flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        for folder in &self.include {
            flags.push(format!("-I{}", folder.display()));
        }
        for definition in &self.define {
            flags.push(format!("-D{definition}"));
        }
        flags.extend(self.flags.iter().cloned());
        // Old C is still C: these became errors by default only lately.
        for relaxed in
            ["int-conversion", "implicit-function-declaration", "implicit-int", "incompatible-pointer-types"]
        {
            flags.push(format!("-Wno-error={relaxed}"));
        }
        flags
    }
}

/// What clang made of one file.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Compiled {
    /// LLVM bitcode.
    pub bitcode: Vec<u8>,
    /// What clang said (warnings).
    pub messages: String,
}

/// Headers that programs for other tools include, in a folder that lives as long as the compiler runs.
struct Headers(PathBuf);

impl Headers {
    fn new() -> std::io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-headers-{}-{number}", std::process::id());
        let headers = Headers(std::env::temp_dir().join(name));
        write_headers(&headers.0)?;
        Ok(headers)
    }
}

/// Writes these headers to a folder, which is made if it is not there; what is there already is left alone.
pub(crate) fn write_headers(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("klee"))?;
    let all = [
        ("klee/klee.h", include_str!("../headers/klee/klee.h")),
        ("parallax.h", include_str!("../headers/parallax.h")),
    ];
    for (name, text) in all {
        let file = folder.join(name);
        if std::fs::read_to_string(&file).is_ok_and(|known| known == text) {
            continue;
        }
        std::fs::write(file, text)?;
    }
    Ok(())
}

impl Drop for Headers {
    fn drop(&mut self) {
        // What cannot be removed is small, and in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs clang with these arguments, the program's own headers first and ours last.
fn clang(
    options: &Options,
    output: Option<&Path>,
    arguments: impl FnOnce(&mut Command),
) -> Result<Ended, Error> {
    let failed = |error| Error::Io(std::env::temp_dir().display().to_string(), error);
    let own = match options.headers {
        Some(_) => None,
        None => Some(Headers::new().map_err(failed)?),
    };
    let headers = options.headers.as_deref().or(own.as_ref().map(|own| own.0.as_path()));
    let mut command = Command::new(&options.compiler);
    arguments(&mut command);
    if let Some(headers) = headers {
        command.arg("-idirafter").arg(headers);
    }
    tool::run(&mut command, options.jail, output)
}

/// What a tool printed, unless it failed: then what it said.
fn printed(ended: Ended) -> Result<Ended, Error> {
    match ended.success() {
        true => Ok(ended),
        false => Err(Error::Compile(String::from_utf8_lossy(&ended.stderr).trim_end().to_string())),
    }
}

/// Flags with which files are compiled to bitcode.
pub(crate) fn bitcode_flags(options: &Options) -> Vec<String> {
    // No `optnone`, names kept; marks where the locals of a block begin and end (which clang leaves out without
    // optimisation unless a sanitizer might ask); classification functions stay calls rather than look-ups in the library's tables,
    // and look-ups are tables of pointers rather than of distances.
    const FLAGS: [&str; 11] = [
        "-Xclang",
        "-disable-O0-optnone",
        "-Xclang",
        "-fsanitize-address-use-after-scope",
        "-fno-discard-value-names",
        "-D__NO_CTYPE=1",
        "-D__PARALLAX__=1",
        "-fno-stack-protector",
        "-fno-pic",
        "-fno-color-diagnostics",
        "-U_FORTIFY_SOURCE",
    ];
    let mut flags = vec![format!("-O{}", options.optimise)];
    flags.extend(FLAGS.map(String::from));
    if !options.instrument.is_empty() {
        flags.push(format!("-fsanitize={}", options.instrument.join(",")));
        // The program goes on after a mistake whose outcome is defined.
        flags.push("-fsanitize-recover=all".into());
    }
    // Harnesses for other tools call what nothing declares; older C does so everywhere.
    flags.push("-Wno-error=implicit-function-declaration".into());
    flags.extend(options.language_flags());
    flags
}

/// Compiles one C file to bitcode.
pub fn compile(file: &Path, options: &Options) -> Result<Compiled, Error> {
    let ended = clang(options, None, |command| {
        command.arg("-x").arg("c").arg(file).args(["-c", "-emit-llvm", "-o", "-", "-g"]);
        command.args(bitcode_flags(options));
    })?;
    let ended = printed(ended)?;
    let messages = String::from_utf8_lossy(&ended.stderr).into_owned();
    Ok(Compiled { bitcode: ended.stdout, messages })
}

/// The text of a file after preprocessing, with the files and lines that it comes from.
pub(crate) fn preprocess(file: &Path, flags: &[String], options: &Options) -> Result<Vec<u8>, Error> {
    let output = clang(options, None, |command| {
        command.arg("-x").arg("c").arg(file).args(["-E", "-w", "-o", "-"]).args(flags);
    })?;
    printed(output).map(|ended| ended.stdout)
}

/// Syntax tree of a file as clang prints it, for what does not survive into the IR.
pub fn syntax_tree(file: &Path, options: &Options) -> Result<Vec<u8>, Error> {
    let output = clang(options, None, |command| {
        command.arg("-x").arg("c").arg(file).args(["-fsyntax-only", "-w", "-Xclang", "-ast-dump"]);
        command.arg("-fno-color-diagnostics");
        command.args(options.language_flags());
    })?;
    printed(output).map(|ended| ended.stdout)
}

/// Assembles a text of the target's assembler: the bytes of an object.
pub fn assemble(text: &str, jail: Wanted) -> Result<Vec<u8>, Error> {
    let mut command = Command::new(COMPILER);
    command.args(["-x", "assembler", "-c", "-", "-o", "-"]);
    command.stdin = Stdin::Bytes(text.as_bytes().to_vec());
    printed(tool::run(&mut command, jail, None)?).map(|ended| ended.stdout)
}

/// Flags with which files are compiled natively.
pub(crate) fn native_flags(flags: &[&str], options: &Options) -> Vec<String> {
    let own = ["-g", "-w"].iter().chain(flags).map(ToString::to_string);
    own.chain(options.language_flags()).collect()
}

/// Compiles one C file natively, for replaying what was found.
pub fn object(file: &Path, flags: &[&str], options: &Options, output: &Path) -> Result<(), Error> {
    built(options, output, |command| {
        command.arg("-c").args(native_flags(flags, options));
        command.args(["-x", "c"]).arg(file).arg("-o").arg(output);
    })
}

/// Links objects to a native program.
pub fn link(objects: &[PathBuf], flags: &[&str], options: &Options, output: &Path) -> Result<(), Error> {
    built(options, output, |command| {
        command.args(flags).args(objects).arg("-o").arg(output).arg("-lm");
    })
}

fn built(options: &Options, output: &Path, arguments: impl FnOnce(&mut Command)) -> Result<(), Error> {
    printed(clang(options, Some(output), arguments)?).map(drop)
}

/// Makes symbols of an object visible to others: `static` functions and variables that a driver calls or sets.
pub fn globalise(symbols: &[&str], from: &Path, to: &Path, jail: Wanted) -> Result<(), Error> {
    let mut command = Command::new(OBJCOPY);
    command.args(symbols.iter().map(|symbol| format!("--globalize-symbol={symbol}"))).arg(from).arg(to);
    printed(tool::run(&mut command, jail, Some(to))?).map(drop)
}
