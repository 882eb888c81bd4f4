//! Modules that somebody else made, made safe to read.
//!
//! LLVM's reader trusts its input: of bitcode with a flipped bit or two, one file in twenty crashes it. So a module that
//! did not come from the compiler here goes through `opt` first, a process of its own that reads it, verifies it and
//! writes it anew; only what it wrote is read.

use crate::{Error, tool};
use parallax_jail::{Command, End, Wanted};
use std::path::Path;
use std::time::Duration;

/// The tool that reads and verifies modules.
const VERIFIER: &str = "opt-19";
/// How long it may take; a module of a million instructions needs a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// The module in a file, as bitcode that LLVM wrote itself.
pub fn module(file: &Path, jail: Wanted) -> Result<Vec<u8>, Error> {
    let name = file.display().to_string();
    let bytes = std::fs::metadata(file).map_err(|error| Error::Io(name.clone(), error))?;
    let bad = |message: String| Error::BadModule { file: name.clone(), message };
    if bytes.is_dir() {
        return Err(bad("it is a folder".into()));
    }
    let mut command = Command::new(VERIFIER);
    command.args(["-passes=verify", "-o", "-", "--"]).arg(file);
    let ended = match tool::run_for(&mut command, jail, None, PATIENCE) {
        Err(Error::Bound(_, why)) => return Err(bad(format!("LLVM did not finish: {why}"))),
        other => other?,
    };
    let said = String::from_utf8_lossy(&ended.stderr);
    match ended.end {
        End::Exited(0) if said.contains("ignoring invalid debug info") => {
            Err(bad(format!("its debug information is corrupt\n{}", words(&said, &name))))
        }
        End::Exited(0) => Ok(ended.stdout),
        End::Exited(1) => Err(bad(words(&said, &name))),
        _ => Err(bad(match said.lines().find(|line| line.starts_with("LLVM ERROR")) {
            Some(line) => line.to_string(),
            None => "it is corrupt: LLVM crashes while it reads it".into(),
        })),
    }
}

/// What the tool said, without its own name and the file's, and no more than a screenful.
fn words(said: &str, file: &str) -> String {
    let prefixes = [format!("{VERIFIER}: {file}: error: "), format!("{VERIFIER}: ")];
    let plain = |line| prefixes.iter().find_map(|prefix| str::strip_prefix(line, prefix)).unwrap_or(line);
    let lines = said.lines().map(plain);
    let kept: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).take(20).collect();
    kept.join("\n")
}
