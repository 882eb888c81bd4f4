//! Recordings to travel in.

#[path = "../../../record/tests/corpus/recorder.rs"]
pub mod recorder;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder that goes when the test is over.
pub struct Folder(pub PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A new folder.
pub fn folder(name: &str) -> Folder {
    let letters: String =
        name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    let path = std::env::temp_dir().join(format!("parallax-travel-{}-{letters}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a temporary folder");
    Folder(path)
}

/// Compiles a source of the corpus of recordings, or of ours.
pub fn compile(name: &str, flags: &[&str], folder: &Path) -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [here.join("tests/travel/sources"), here.join("../record/tests/corpus/sources")];
    let sources = places.iter().map(|place| place.join(format!("{name}.c")));
    let source = sources.into_iter().find(|source| source.exists()).ok_or(format!("no source {name}.c"))?;
    let binary = folder.join(name);
    let built = Command::new("gcc")
        .args(["-O1", "-g", "-pthread"])
        .args(flags)
        .arg("-o")
        .args([&binary, &source])
        .arg("-lm")
        .output();
    match built {
        Ok(output) if output.status.success() => Ok(binary),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("gcc: {error} (scripts/setup names what the tests need)")),
    }
}

/// Records a command into a folder.
pub fn record_command(recording: &Path, seed: Option<u64>, command: &[String]) -> Result<(), String> {
    let output = recorder::recorder(recording, seed, command).stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(recorder::CANNOT) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        _ => Ok(()),
    }
}
