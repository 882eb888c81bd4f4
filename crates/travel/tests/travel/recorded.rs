//! Recordings to travel in.

use parallax_process::outside::live::{Live, enact};
use parallax_process::{Process, Program};
use parallax_record::{Recording, Settings};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Records a program in this process, and ends as it ends: a folder, a seed or nothing, its file, its arguments.
pub fn record(arguments: &[Vec<u8>]) -> ! {
    let text = |index: usize| String::from_utf8_lossy(&arguments[index]).into_owned();
    let program = Program {
        path: PathBuf::from(text(2)),
        arguments: arguments[2..].to_vec(),
        environment: vec![b"LC_ALL=C.UTF-8".to_vec(), b"PATH=/usr/bin:/bin".to_vec(), b"TZ=UTC".to_vec()],
        byte_bound: 2 << 30,
        instruction_bound: 20_000_000_000,
        schedule: text(1).parse().ok(),
    };
    let live = Live::owner().expect("nothing else runs here").catching();
    let door = Recording::create(Path::new(&text(0)), &program, Box::new(live), Settings::default());
    let mut process = Process::start(program, Box::new(door.expect("a folder"))).expect("a program");
    let ending = process.run();
    enact(&ending, 99)
}

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
    let seed = seed.map_or(String::from("-"), |seed| seed.to_string());
    let output = Command::new(std::env::current_exe().map_err(|error| error.to_string())?)
        .arg("--record")
        .arg(recording)
        .arg(seed)
        .args(command)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(99) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        _ => Ok(()),
    }
}
