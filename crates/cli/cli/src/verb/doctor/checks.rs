//! What is tried, row by row.

use parallax_cread::{Error, Kept, clang};
use parallax_jail::{Command as Jailed, End, Jail, Limits, NotRun, Wanted, available};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Something that verbs use.
pub struct Check {
    /// What it is called on the command line and in JSON.
    pub name: &'static str,
    /// For which verbs.
    pub verbs: &'static str,
    /// What for.
    pub purpose: &'static str,
    /// Whether the verbs do something useful without it.
    pub is_optional: bool,
    /// Tries it.
    pub tries: fn() -> Result<Works, Broken>,
}

/// What was found to work.
pub struct Works {
    /// Where it is.
    pub found: String,
    /// What it calls itself.
    pub version: Option<String>,
}

/// What does not work.
pub struct Broken {
    /// Why.
    pub reason: String,
    /// What mends it; nothing where that depends on the machine.
    pub mend: Option<Mend>,
}

/// A command that mends something.
pub enum Mend {
    /// These packages of Debian are installed.
    Packages(String),
    /// This is typed.
    Command(String),
}

impl Mend {
    /// The package to install.
    pub fn package(&self) -> Option<&str> {
        match self {
            Mend::Packages(names) => Some(names),
            Mend::Command(_) => None,
        }
    }
}

impl fmt::Display for Mend {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: asks for a number, and cannot fail.
        let sudo = if unsafe { libc::geteuid() } == 0 { "" } else { "sudo " };
        match self {
            Mend::Packages(names) => write!(out, "{sudo}apt-get install {names}"),
            Mend::Command(command) => out.write_str(command),
        }
    }
}

impl Broken {
    fn with_package(reason: impl Into<String>, package: &str) -> Broken {
        Broken { reason: reason.into(), mend: Some(Mend::Packages(package.into())) }
    }

    fn with_command(reason: impl Into<String>, command: impl Into<String>) -> Broken {
        Broken { reason: reason.into(), mend: Some(Mend::Command(command.into())) }
    }
}

/// All of them, in the order in which they are told.
pub const CHECKS: &[Check] = &[
    Check {
        name: "jail",
        verbs: "explore, check, run (C sources)",
        purpose: "the jail for the compiler and for native runs",
        is_optional: false,
        tries: jail,
    },
    Check {
        name: "temporary",
        verbs: "explore, check, run (C sources)",
        purpose: "a folder for temporary files, in which programs can be run",
        is_optional: false,
        tries: temporary,
    },
    Check {
        name: "clang",
        verbs: "explore, check, run (C sources)",
        purpose: "compiling to LLVM's intermediate form",
        is_optional: false,
        tries: compiler,
    },
    Check {
        name: "sanitizers",
        verbs: "explore (C sources)",
        purpose: "findings repeated natively under the sanitizers",
        is_optional: true,
        tries: sanitizers,
    },
    Check {
        name: "objcopy",
        verbs: "explore (C sources)",
        purpose: "naming a program's own functions apart in native runs",
        is_optional: true,
        tries: objcopy,
    },
    Check {
        name: "cache",
        verbs: "explore, check, run (C sources)",
        purpose: "keeping what clang made from run to run",
        is_optional: true,
        tries: cache,
    },
    Check {
        name: "run",
        verbs: "run, record, replay, explore (programs)",
        purpose: "Linux programs in the emulator",
        is_optional: false,
        tries: emulator,
    },
    Check {
        name: "native",
        verbs: "record; run, replay (--engine native)",
        purpose: "programs on the processor itself",
        is_optional: true,
        tries: native,
    },
    Check {
        name: "python",
        verbs: "script, timeline, debug",
        purpose: "Python with the module parallax",
        is_optional: true,
        tries: python,
    },
    Check { name: "gdb", verbs: "gdbserver", purpose: "GDB in a recording", is_optional: true, tries: gdb },
    Check {
        name: "java",
        verbs: "java, heap (Java)",
        purpose: "the classes of the JDK, where programs use more than the models have",
        is_optional: true,
        tries: java,
    },
    Check {
        name: "browser",
        verbs: "view, timeline, --report x.html",
        purpose: "showing pages",
        is_optional: true,
        tries: browser,
    },
    Check {
        name: "powerpc",
        verbs: "run, record (PowerPC programs)",
        purpose: "the libraries of the emulated programs",
        is_optional: true,
        tries: powerpc,
    },
];

fn works(found: impl fmt::Display) -> Works {
    Works { found: found.to_string(), version: None }
}

/// The first line that a person can read of what a program said.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing");
    line.chars().take(200).collect()
}

fn on_the_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn jail() -> Result<Works, Broken> {
    match available() {
        Ok(walls) => Ok(works(walls)),
        // Which of the many switches of kernels and containers it is cannot be seen from here.
        Err(none) => Err(Broken {
            reason: format!("{none}; nothing is run natively without --run-unjailed (docs/safety.md)"),
            mend: None,
        }),
    }
}

/// A folder of its own below the one for temporary files, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Broken> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let all = std::env::temp_dir();
        let folder = all.join(format!("parallax-doctor-{}-{number}", std::process::id()));
        let made = std::fs::create_dir(&folder);
        made.map_err(|error| {
            let reason = format!("nothing can be written in {}: {error}", all.display());
            Broken::with_command(reason, "export TMPDIR=FOLDER, one that can be written")
        })?;
        Ok(Folder(folder))
    }

    fn file(&self, name: &str, text: &str) -> Result<PathBuf, Broken> {
        let file = self.0.join(name);
        std::fs::write(&file, text).map_err(|error| {
            let reason = format!("{} cannot be written: {error}", file.display());
            Broken::with_command(reason, "export TMPDIR=FOLDER, one with room in it")
        })?;
        Ok(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is small, and in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn temporary() -> Result<Works, Broken> {
    let folder = Folder::new()?;
    let script = folder.file("run", "#!/bin/sh\nexit 0\n")?;
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    let ran = std::fs::set_permissions(&script, executable).and_then(|()| Command::new(&script).output());
    let shown = std::env::temp_dir().display().to_string();
    match ran {
        Ok(output) if output.status.success() => Ok(works(shown)),
        Ok(output) => Err(Broken::with_command(
            format!("a program in {shown} ended with {}", output.status),
            "export TMPDIR=FOLDER, another one",
        )),
        Err(error) => Err(Broken::with_command(
            format!("programs in {shown} cannot be run (mounted noexec?): {error}"),
            "export TMPDIR=FOLDER, one that is not mounted noexec",
        )),
    }
}

/// What uses headers, the library, and memory from `malloc`.
const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\nstatic int twice(int n) { return 2 * n; }\n\
    int main(void) { char *p = malloc(8); if (!p) return 1; snprintf(p, 8, \"%d\", twice(21)); int c = p[0]; free(p); \
    return c != '4'; }\n";

fn compiler() -> Result<Works, Broken> {
    let folder = Folder::new()?;
    let file = folder.file("try.c", PROGRAM)?;
    clang::compile(&file, &clang::Options::default()).map_err(|error| refused(error, "clang-19"))?;
    let path = on_the_path(clang::COMPILER);
    let asked = path.as_ref().and_then(|path| said(Command::new(path).arg("--version")).ok());
    let version = asked.as_deref().map(first_line);
    if let Some(version) = &version
        && !version.contains("version 19.")
    {
        let reason = format!("{} is another version: {version}", clang::COMPILER);
        return Err(Broken::with_package(reason, "--reinstall clang-19"));
    }
    Ok(Works { found: path.map_or(clang::COMPILER.into(), |path| path.display().to_string()), version })
}

/// Why a tool of LLVM's did not do its work.
fn refused(error: Error, package: &str) -> Broken {
    match error {
        Error::NoCompiler(name, error) if error.kind() == std::io::ErrorKind::NotFound => {
            Broken::with_package(format!("{name} is not on the PATH"), package)
        }
        Error::NoCompiler(name, error) => Broken::with_package(
            format!("{name} cannot be started: {error}"),
            &format!("--reinstall {package}"),
        ),
        Error::NotRun(name, _) => {
            Broken { reason: format!("{name} was not tried: there is no jail"), mend: None }
        }
        Error::Compile(said) if said.contains("stdio.h") || said.contains("stdlib.h") => {
            Broken::with_package("clang does not find the headers of the C library", "libc6-dev")
        }
        // Where the library for it is missing, the linker says that it cannot find a file of this name.
        Error::Compile(said) if said.contains("libclang_rt") => {
            Broken::with_package("clang has no libraries for its sanitizers", "libclang-rt-19-dev")
        }
        other => Broken::with_package(first_line(&other.to_string()), &format!("--reinstall {package}")),
    }
}

fn sanitizers() -> Result<Works, Broken> {
    let folder = Folder::new()?;
    let file = folder.file("try.c", PROGRAM)?;
    let (object, program) = (folder.0.join("try.o"), folder.0.join("try"));
    let options = clang::Options::default();
    let flags = ["-fsanitize=address"];
    clang::object(&file, &flags, &options, &object).map_err(|error| refused(error, "clang-19"))?;
    clang::link(&[object], &flags, &options, &program)
        .map_err(|error| refused(error, "libclang-rt-19-dev"))?;
    run_in_jail(&program)?;
    Ok(works("a program with AddressSanitizer was built and run"))
}

/// Runs a program as findings are confirmed.
fn run_in_jail(program: &Path) -> Result<(), Broken> {
    let jail = Jail {
        wanted: Wanted::Best,
        traces_itself: true,
        limits: Limits { time: Duration::from_secs(60), memory: u64::MAX, ..Limits::default() },
        ..Jail::default()
    };
    let ended = jail.run(&Jailed::new(program)).map_err(|error| match error {
        NotRun::NoJail(_) => Broken { reason: "nothing was run: there is no jail".into(), mend: None },
        other => Broken { reason: other.to_string(), mend: None },
    })?;
    match ended.end {
        End::Exited(0) => Ok(()),
        end => {
            let said = first_line(&String::from_utf8_lossy(&ended.stderr));
            Err(Broken {
                reason: format!("a sound program ended with {end:?} under AddressSanitizer: {said}"),
                mend: None,
            })
        }
    }
}

fn objcopy() -> Result<Works, Broken> {
    let folder = Folder::new()?;
    let file = folder.file("try.c", PROGRAM)?;
    let (object, out) = (folder.0.join("try.o"), folder.0.join("out.o"));
    clang::object(&file, &[], &clang::Options::default(), &object)
        .map_err(|error| refused(error, "clang-19"))?;
    clang::globalise(&["twice"], &object, &out, Wanted::Best).map_err(|error| refused(error, "llvm-19"))?;
    Ok(works("a function of an object was made visible"))
}

fn cache() -> Result<Works, Broken> {
    let Some(folder) = super::super::c_cache::usual_folder() else {
        return Err(Broken::with_command("there is no folder for it: HOME is not set", "export HOME=FOLDER"));
    };
    match Kept::at(&folder) {
        Ok(_) => Ok(works(folder.display())),
        Err(Error::NoCompiler(..)) => {
            Err(Broken::with_package("nothing is kept without clang-19", "clang-19"))
        }
        Err(error) => Err(Broken::with_command(
            error.to_string(),
            "export XDG_CACHE_HOME=FOLDER, one that can be written",
        )),
    }
}

/// A program that every Linux has, and that is dynamically linked.
fn small_program() -> Option<PathBuf> {
    on_the_path("true").or_else(|| Some(PathBuf::from("/bin/true")).filter(|path| path.is_file()))
}

fn emulated(engine: &str) -> Result<Works, Broken> {
    let here = std::env::current_exe();
    let (Ok(this), Some(program)) = (here, small_program()) else {
        return Err(Broken { reason: "there is no program `true` to run".into(), mend: None });
    };
    let output = Command::new(this)
        .args(["run", "--layer", "--engine", engine, "--"])
        .arg(&program)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Broken { reason: error.to_string(), mend: None })?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.success() && said.trim().is_empty() {
        true => Ok(works(format!("{} was run", program.display()))),
        false => Err(Broken { reason: format!("{}: {}", program.display(), first_line(&said)), mend: None }),
    }
}

fn emulator() -> Result<Works, Broken> {
    emulated("exact")
}

fn native() -> Result<Works, Broken> {
    emulated("native")
}

/// What a program prints on success; otherwise why not.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let words = [output.stderr, output.stdout].concat();
            Err(format!("{}: {}", output.status, first_line(&String::from_utf8_lossy(&words))))
        }
    }
}

/// Prints the version of Python, and of the module where there is one.
const ASK_PYTHON: &str = "import sys\nprint('%d.%d' % sys.version_info[:2])\n\
    import parallax._native as n\nprint(n.__file__)\nprint(n.VERSION)";

fn python() -> Result<Works, Broken> {
    let named = std::env::var_os("PARALLAX_PYTHON");
    let interpreter = named.clone().unwrap_or_else(|| OsString::from("python3"));
    let shown = Path::new(&interpreter).display().to_string();
    let path = super::super::script::module_path().map_err(|reason| Broken { reason, mend: None })?;
    let output = Command::new(&interpreter)
        .args(["-c", ASK_PYTHON])
        .env("PYTHONPATH", path)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match (error.kind(), &named) {
            (std::io::ErrorKind::NotFound, None) => {
                Broken::with_package("python3 is not on the PATH", "python3")
            }
            (_, None) => {
                Broken::with_package(format!("{shown} cannot be started: {error}"), "--reinstall python3")
            }
            (_, Some(_)) => Broken::with_command(
                format!("PARALLAX_PYTHON names {shown}, which cannot be started: {error}"),
                "unset PARALLAX_PYTHON",
            ),
        })?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = said.lines();
    let Some(version) = lines.next() else {
        let why = first_line(&String::from_utf8_lossy(&output.stderr));
        let reason = format!("{shown} does not run: {}: {why}", output.status);
        return Err(match named {
            None => Broken::with_package(reason, "--reinstall python3"),
            Some(_) => Broken::with_command(reason, "unset PARALLAX_PYTHON"),
        });
    };
    let numbers: Vec<u32> = version.split('.').filter_map(|number| number.parse().ok()).collect();
    if numbers < vec![3, 9] {
        let reason = format!("{shown} is Python {version}; the module needs 3.9");
        return Err(match named {
            None => Broken::with_command(reason, "export PARALLAX_PYTHON=INTERPRETER, a newer one"),
            Some(_) => Broken::with_command(reason, "unset PARALLAX_PYTHON"),
        });
    }
    let (Some(file), Some(module)) = (lines.next(), lines.next()) else {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let why = errors.trim().lines().last().unwrap_or_default().to_owned();
        let reason = format!("{shown} does not have the Python module parallax ({why})");
        return Err(Broken::with_command(reason, BRING_MODULE));
    };
    if module != env!("CARGO_PKG_VERSION") {
        let reason = format!("{file} is of version {module}, this command of {}", env!("CARGO_PKG_VERSION"));
        return Err(Broken::with_command(reason, BRING_MODULE));
    }
    Ok(Works { found: file.to_owned(), version: Some(format!("{shown}, Python {version}")) })
}

/// What puts the module of this version beside the command.
const BRING_MODULE: &str = "make install";

fn gdb() -> Result<Works, Broken> {
    let Some(path) = on_the_path("gdb") else {
        return Err(Broken::with_package("gdb is not on the PATH", "gdb"));
    };
    let words = ["--nx", "--batch", "-ex", "set architecture i386:x86-64", "-ex", "show version"];
    match said(Command::new(&path).args(words)) {
        Ok(text) => {
            let version = text.lines().find(|line| line.starts_with("GNU gdb")).map(str::to_owned);
            Ok(Works { found: path.display().to_string(), version })
        }
        Err(why) => Err(Broken::with_package(format!("{}: {why}", path.display()), "--reinstall gdb")),
    }
}

fn java() -> Result<Works, Broken> {
    if let Some(home) = parallax_cli_heap::heap::java::jdk() {
        return Ok(works(home.display()));
    }
    if let Some(home) = std::env::var_os("JAVA_HOME").map(PathBuf::from) {
        let reason = format!("JAVA_HOME names {}, where there is no lib/modules", home.display());
        return Err(Broken::with_command(reason, "unset JAVA_HOME"));
    }
    match on_the_path("java") {
        Some(java) => Err(Broken::with_package(
            format!("{} does not belong to a JDK of version 9 or later", java.display()),
            "default-jdk-headless",
        )),
        None => Err(Broken::with_package("java is not on the PATH", "default-jdk-headless")),
    }
}

/// Commands that show a page.
const BROWSERS: [&str; 5] = ["xdg-open", "chromium", "firefox", "firefox-esr", "google-chrome"];

fn browser() -> Result<Works, Broken> {
    let mut broken = None;
    for path in BROWSERS.iter().filter_map(|name| on_the_path(name)) {
        match said(Command::new(&path).arg("--version")) {
            Ok(text) => {
                let version = Some(first_line(&text));
                return Ok(Works { found: path.display().to_string(), version });
            }
            Err(why) => broken = broken.or(Some(format!("{}: {why}", path.display()))),
        }
    }
    let reason = broken.unwrap_or_else(|| "no browser is on the PATH; pages can be shown elsewhere".into());
    Err(Broken::with_package(reason, "chromium"))
}

/// Libraries of the C library for 32-bit PowerPC: archives, or a library that begins as ELF for a big-endian machine does.
fn powerpc() -> Result<Works, Broken> {
    let package = "libc6-dev-powerpc-cross";
    for name in ["/usr/powerpc-linux-gnu/lib/libc.so.6", "/usr/powerpc-linux-gnu/lib/libc.a"] {
        let Ok(mut file) = std::fs::File::open(name) else { continue };
        let mut start = [0; 7];
        let is_read = std::io::Read::read_exact(&mut file, &mut start).is_ok();
        return match is_read && (start.starts_with(b"\x7fELF\x01\x02") || start.starts_with(b"!<arch>")) {
            true => Ok(works(name)),
            false => Err(Broken::with_package(
                format!("{name} is no library for PowerPC"),
                &format!("--reinstall {package}"),
            )),
        };
    }
    Err(Broken::with_package("there are none", package))
}
