//! `parallax doctor`: what each verb needs of the machine, and whether it is there.

use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_jail::{Wanted, available};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Say what is missing on this machine, and for which verb.
///
/// Verbs that need nothing but the command itself are not listed. Exit status 0 if everything is there, 1 if not.
#[derive(Args)]
#[command(after_help = "Example:\n  parallax doctor --json")]
pub struct Doctor {
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

/// Something that a verb uses.
struct Need {
    /// For which verbs.
    verbs: &'static str,
    /// What for.
    purpose: &'static str,
    /// One of these commands or files has to be there.
    any: &'static [&'static str],
    /// The Debian package that has it.
    package: &'static str,
    /// Whether the verbs do something useful without it.
    is_optional: bool,
}

const NEEDS: &[Need] = &[
    Need {
        verbs: "explore, run, check (C sources)",
        purpose: "compiling to LLVM's intermediate form",
        any: &["clang-19"],
        package: "clang-19",
        is_optional: false,
    },
    Need {
        verbs: "explore (C sources)",
        purpose: "findings repeated natively under the sanitizers",
        any: &["/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.asan-x86_64.a"],
        package: "libclang-rt-19-dev",
        is_optional: true,
    },
    Need {
        verbs: "explore (C sources)",
        purpose: "naming a program's own functions apart in native runs",
        any: &["llvm-objcopy-19", "/usr/lib/llvm-19/bin/llvm-objcopy"],
        package: "llvm-19",
        is_optional: true,
    },
    Need {
        verbs: "heap (Java)",
        purpose: "the classes of the JDK, where programs use more than the models have",
        any: &["java"],
        package: "default-jdk-headless",
        is_optional: true,
    },
    Need {
        verbs: "view, --report x.html",
        purpose: "showing pages",
        any: &["xdg-open", "chromium", "firefox", "google-chrome"],
        package: "chromium",
        is_optional: true,
    },
    Need {
        verbs: "script, timeline, debug",
        purpose: "Python with the module parallax",
        any: &[PYTHON_MODULE],
        package: "python3",
        is_optional: true,
    },
    Need {
        verbs: "run, record (PowerPC programs)",
        purpose: "the libraries of the emulated programs",
        any: &["/usr/powerpc-linux-gnu/lib/libc.so.6", "/usr/powerpc-linux-gnu/lib/libc.a"],
        package: "libc6-dev-powerpc-cross",
        is_optional: true,
    },
];

/// Not a file: whether an interpreter can import the module is found out by trying.
const PYTHON_MODULE: &str = "import parallax";

/// What was found of a need: where it is, and what it calls itself.
struct Found {
    path: PathBuf,
    version: Option<String>,
}

/// Looks, and says what it saw.
pub fn run(arguments: &Doctor) -> Result<Status> {
    let looked: Vec<(&Need, Option<Found>)> = NEEDS.iter().map(|need| (need, find(need))).collect();
    let missing = looked.iter().any(|(need, found)| found.is_none() && !need.is_optional);
    if arguments.json {
        let rows: Vec<_> = looked
            .iter()
            .map(|(need, found)| {
                json!({
                    "verbs": need.verbs,
                    "purpose": need.purpose,
                    "any": need.any,
                    "package": need.package,
                    "optional": need.is_optional,
                    "found": found.as_ref().map(|found| found.path.display().to_string()),
                    "version": found.as_ref().and_then(|found| found.version.clone()),
                })
            })
            .collect();
        let jail = super::walls::document(Wanted::Best);
        let document =
            json!({ "version": env!("CARGO_PKG_VERSION"), "solver": solver(), "jail": jail, "needs": rows });
        println!("{document:#}");
    } else {
        println!("parallax {}, {}", env!("CARGO_PKG_VERSION"), solver());
        println!("explore, check, run (C sources): the jail for the compiler and for native runs");
        match available() {
            Ok(walls) => {
                println!("  ok {walls}");
                for (what, how) in walls.rows() {
                    println!("     {what}: {how}");
                }
            }
            Err(none) => println!("  -- {none}; nothing is run natively without --run-unjailed"),
        }
        for (need, found) in &looked {
            let state = match found {
                Some(Found { path, version: Some(version) }) => format!("{} ({version})", path.display()),
                Some(Found { path, version: None }) => path.display().to_string(),
                None if need.any == [PYTHON_MODULE] => {
                    super::script::interpreter().err().unwrap_or_default() + "; `make install` brings it"
                }
                None if need.is_optional => {
                    format!("not there, which is fine; Debian package {}", need.package)
                }
                None => format!("MISSING: install Debian package {}", need.package),
            };
            println!(
                "{}: {}\n  {} {state}",
                need.verbs,
                need.purpose,
                if found.is_some() { "ok" } else { "--" }
            );
        }
    }
    Ok(if missing { Status::Findings } else { Status::Clean })
}

/// The solver that is linked in: that we run shows that its library was found.
fn solver() -> String {
    parallax_smt::Z3::version().trim().to_owned()
}

fn find(need: &Need) -> Option<Found> {
    need.any.iter().find_map(|name| {
        if *name == PYTHON_MODULE {
            let (interpreter, _) = super::script::interpreter().ok()?;
            return Some(Found { path: interpreter.into(), version: None });
        }
        if name.starts_with('/') {
            return Path::new(name).exists().then(|| Found { path: name.into(), version: None });
        }
        let path = on_the_path(name)?;
        let version = version(&path);
        Some(Found { path, version })
    })
}

fn on_the_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The first line of what `--version` prints. Browsers are not asked: they start.
fn version(path: &Path) -> Option<String> {
    if !path.file_name()?.to_str()?.starts_with("clang") {
        return None;
    }
    let output = Command::new(path).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|line| line.trim().to_owned())
}
