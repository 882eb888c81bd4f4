//! Calling clang: C files to bitcode.

use crate::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler that is called unless another is named.
pub const COMPILER: &str = "clang-19";

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
}

impl Default for Options {
    fn default() -> Self {
        Options {
            compiler: COMPILER.into(),
            optimise: 0,
            include: Vec::new(),
            define: Vec::new(),
            flags: Vec::new(),
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
pub struct Compiled {
    /// LLVM bitcode.
    pub bitcode: Vec<u8>,
    /// What clang said (warnings).
    pub messages: String,
}

/// Compiles one C file to bitcode.
pub fn compile(file: &Path, options: &Options) -> Result<Compiled, Error> {
    let mut command = Command::new(&options.compiler);
    command.arg("-x").arg("c").arg(file).args(["-c", "-emit-llvm", "-o", "-", "-g"]);
    command.arg(format!("-O{}", options.optimise));
    // No `optnone`, names kept; classification functions stay calls rather than look-ups in the library's tables.
    command.args([
        "-Xclang",
        "-disable-O0-optnone",
        "-fno-discard-value-names",
        "-D__NO_CTYPE=1",
        "-fno-stack-protector",
    ]);
    command.args(["-fno-color-diagnostics", "-U_FORTIFY_SOURCE"]);
    command.args(options.language_flags());
    let output = command.output().map_err(|error| Error::NoCompiler(options.compiler.clone(), error))?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(Error::Compile(messages.trim_end().to_string()));
    }
    Ok(Compiled { bitcode: output.stdout, messages })
}

/// Syntax tree of a file as clang's JSON dump, for what does not survive into the IR.
pub fn syntax_tree(file: &Path, options: &Options) -> Result<Vec<u8>, Error> {
    let mut command = Command::new(&options.compiler);
    command.arg("-x").arg("c").arg(file).args(["-fsyntax-only", "-w", "-Xclang", "-ast-dump=json"]);
    command.args(options.language_flags());
    let output = command.output().map_err(|error| Error::NoCompiler(options.compiler.clone(), error))?;
    if !output.status.success() {
        return Err(Error::Compile(String::from_utf8_lossy(&output.stderr).trim_end().to_string()));
    }
    Ok(output.stdout)
}

/// Builds a native program, for replaying what was found.
pub fn native(files: &[PathBuf], flags: &[&str], options: &Options, output: &Path) -> Result<(), Error> {
    let mut command = Command::new(&options.compiler);
    command
        .args(["-g", "-w"])
        .args(flags)
        .args(options.language_flags())
        .args(files)
        .arg("-o")
        .arg(output)
        .arg("-lm");
    let done = command.output().map_err(|error| Error::NoCompiler(options.compiler.clone(), error))?;
    if !done.status.success() {
        return Err(Error::Compile(String::from_utf8_lossy(&done.stderr).trim_end().to_string()));
    }
    Ok(())
}
