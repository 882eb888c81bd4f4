//! Confirming what was found natively: the program is built with AddressSanitizer and given the input, in a jail.

use crate::Program;
use crate::driver::{Driver, RENAMED_MAIN, driver};
use crate::explore::{Entry, Finding, Input, Settings};
use crate::place::user_place;
use crate::program::{is_module, side_by_side};
use parallax_cmachine::Problem;
use parallax_cmodule::Module;
use parallax_cread::{Error, clang};
use parallax_jail::{Command, End, Jail, Limits, NotRun, Stdin, Wanted};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::Duration;

/// What the native program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Native {
    /// The same mistake.
    Confirmed,
    /// Something else, in words, although the mistake would show.
    Differs(String),
    /// No mistake, in words; but no sanitizer sees every mistake of this kind.
    Unseen(String),
    /// It was not run, and why.
    NotRun(String),
}

/// How long a native run may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Builds the program in `folder` and runs a finding's input.
pub fn confirm(program: &Program, finding: &Finding, settings: &Settings, folder: &Path) -> Native {
    if program.units.iter().any(|(file, _)| is_module(file)) {
        return Native::NotRun("the program was not given as C".into());
    }
    if finding.problem == Problem::NotANumber {
        return Native::NotRun("no sanitizer looks for results that are not numbers".into());
    }
    let driver = match driver(&program.module, &finding.input, settings) {
        Ok(driver) => driver,
        Err(why) => return Native::NotRun(why),
    };
    let binary = folder.join("native");
    let (name, sanitizer) = sanitizer(finding.problem);
    // Findings that want the same sanitizer share the program's objects.
    let objects = folder.join(name);
    let flags = ["-O0", "-fno-omit-frame-pointer", sanitizer, "-fno-sanitize-recover=all"];
    if let Err(error) = build(program, &driver, &flags, settings, &objects, &binary) {
        return Native::NotRun(format!("it does not build natively: {error}"));
    }
    let own_error = program
        .module
        .functions
        .iter()
        .any(|f| f.is_defined() && matches!(f.name.as_str(), "reach_error" | "__VERIFIER_error"));
    let mut ended = run(&binary, folder, &finding.input, "", program.jail);
    if let (Problem::Leak, Ok(first)) = (finding.problem, &ended)
        && !first.text.contains("detected memory leaks")
    {
        // An old copy of the pointer, in a register or a frame that is gone, hides a leak. Without looking there the
        // place has to be the one.
        let again = run(&binary, folder, &finding.input, "use_stacks=0:use_registers=0", program.jail);
        let (_, location) = user_place(&program.module, &finding.stack);
        let name = Path::new(program.module.file_of(location)).file_name().unwrap_or_default();
        let place = format!("{}:{}:", name.to_string_lossy(), program.module.location(location).line);
        if again.as_ref().is_ok_and(|again| again.text.contains(&place)) {
            ended = again;
        }
    }
    match ended {
        // What the program's own function does is up to it; mostly it aborts.
        Ok(ended) if finding.problem == Problem::ReachedError && own_error => match ended.signal {
            Some(6) => Native::Confirmed,
            _ => Native::NotRun("the program defines reach_error itself, and it does not abort".into()),
        },
        Ok(ended) if ended.text.contains(CALLED) => {
            let name =
                ended.text.split(CALLED).nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
            Native::NotRun(format!("it calls {name}, which nothing defines"))
        }
        Ok(ended) => judge(finding.problem, &ended),
        Err(why) => Native::NotRun(why),
    }
}

/// What the program is built with so that it notices the mistake itself.
fn sanitizer(problem: Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::Uninitialised => ("memory", "-fsanitize=memory"),
        Problem::Overflow => ("overflow", "-fsanitize=signed-integer-overflow"),
        Problem::BadShift => ("shift", "-fsanitize=shift"),
        Problem::UnsignedOverflow => ("unsigned", "-fsanitize=unsigned-integer-overflow"),
        Problem::LossyConversion => ("conversion", "-fsanitize=implicit-conversion"),
        Problem::FloatDivision => ("float-division", "-fsanitize=float-divide-by-zero"),
        Problem::FloatConversion => ("float-conversion", "-fsanitize=float-cast-overflow"),
        Problem::Unreachable => ("unreachable", "-fsanitize=unreachable"),
        Problem::NullArgument => ("nonnull", "-fsanitize=nonnull-attribute,nullability-arg"),
        _ => ("address", "-fsanitize=address"),
    }
}

/// Builds the program with a driver. Each file is compiled with its own flags and these; its object stays in the folder
/// for the next driver.
pub fn build(
    program: &Program,
    driver: &Driver,
    flags: &[&str],
    settings: &Settings,
    folder: &Path,
    binary: &Path,
) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|e| Error::Io(folder.display().to_string(), e))?;
    let renamed = match settings.entry {
        Entry::Main { .. } => None,
        // The driver has its own.
        Entry::Function(_) => Some(RENAMED_MAIN),
    };
    let named = |number: usize| folder.join(format!("{number}.o"));
    let missing = (0..program.units.len()).filter(|number| !named(*number).exists()).collect::<Vec<_>>();
    let of_files: Vec<&str> = flags.iter().copied().chain(renamed).collect();
    let compiled = side_by_side(&missing, |number| {
        let ((file, options), object) = (&program.units[*number], named(*number));
        match &program.kept {
            Some(kept) => kept.object(file, &of_files, options, &object),
            None => clang::object(file, &of_files, options, &object),
        }
    });
    compiled.into_iter().collect::<Result<(), Error>>()?;
    let mut objects = Vec::new();
    let mut opened: Vec<&str> = Vec::new();
    for (number, (file, _)) in program.units.iter().enumerate() {
        let object = named(number);
        let mut wanted: Vec<&str> = Vec::new();
        for (symbol, home) in &driver.hidden {
            let is_home = |file: &Path| same_file(Path::new(home), &program.name_of(file));
            let of_a_file = program.units.iter().any(|(file, _)| is_home(file));
            // Of a header: any copy will do, and one is enough.
            let here = match of_a_file {
                true => is_home(file),
                false => !opened.contains(&symbol.as_str()) && has_symbol(&object, symbol),
            };
            if here {
                wanted.push(symbol);
                opened.push(symbol);
            }
        }
        objects.push(match wanted.is_empty() {
            true => object,
            false => {
                let open = folder.join(format!("open-{number}.o"));
                clang::globalise(&wanted, &object, &open, program.jail)?;
                open
            }
        });
    }
    let (source, object) = (folder.join("driver.c"), folder.join("driver.o"));
    std::fs::write(&source, &driver.text).map_err(|e| Error::Io(source.display().to_string(), e))?;
    let options = clang::Options { jail: program.jail, ..clang::Options::default() };
    clang::object(&source, flags, &options, &object)?;
    objects.push(object);
    let mut flags = flags.to_vec();
    if settings.failing_allocation {
        flags.push(crate::driver::WRAPPED);
    }
    match clang::link(&objects, &flags, &options, binary) {
        Err(Error::Compile(said)) if said.contains(UNDEFINED) => {
            let Some(stubs) = stubs(&program.module, &said) else { return Err(Error::Compile(said)) };
            let (source, object) = (folder.join("stubs.c"), folder.join("stubs.o"));
            std::fs::write(&source, stubs).map_err(|e| Error::Io(source.display().to_string(), e))?;
            clang::object(&source, &["-fno-builtin", "-w"], &options, &object)?;
            objects.push(object);
            clang::link(&objects, &flags, &options, binary)
        }
        linked => linked,
    }
}

/// What linkers say of a name that nothing defines, before the name.
const UNDEFINED: &str = "undefined reference to `";
/// What a program says before it ends because it calls such a function.
const CALLED: &str = "PARALLAX undefined ";

/// Bodies for the functions that a linker misses; none if it misses something else. Most findings have nothing to do with
/// them.
fn stubs(module: &Module, said: &str) -> Option<String> {
    let mut text = String::from("long write(int, const void *, unsigned long); void _exit(int);\n");
    let missing = said.split(UNDEFINED).skip(1).filter_map(|rest| rest.split('\'').next());
    for name in missing.collect::<BTreeSet<_>>() {
        module.function_named(name)?;
        let words = format!("{CALLED}{name}");
        text +=
            &format!("void {name}(void) {{ write(2, \"{words}\\n\", {}); _exit(99); }}\n", words.len() + 1);
    }
    Some(text)
}

/// Whether an object has a symbol, by its table of names.
fn has_symbol(object: &Path, symbol: &str) -> bool {
    let name = [b"\0", symbol.as_bytes(), b"\0"].concat();
    std::fs::read(object).is_ok_and(|bytes| bytes.windows(name.len()).any(|window| window == name))
}

/// Whether two names are one file; debug information writes them in its own way.
fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

struct Ended {
    signal: Option<i32>,
    text: String,
    /// Calls that the jail did not answer as the world outside does.
    hindered: Vec<String>,
}

/// The bounds of a native run. The memory is that of a sanitizer's program, which keeps a shadow of what it uses.
const LIMITS: Limits = Limits {
    time: PATIENCE,
    memory: 4 << 30,
    file: 256 << 20,
    space: 512 << 20,
    files: 20_000,
    processes: 64,
    // What comes after this of an endless flood is forgotten; the program then ends by itself or by the clock.
    output: 1 << 20,
};

fn run(binary: &Path, folder: &Path, input: &Input, leaks: &str, jail: Wanted) -> Result<Ended, String> {
    // Files are made where the program runs, anew for each run. From a file, too, it reads its standard input: a program that
    // does not look at it is fine then.
    let world = folder.join("world");
    let fresh = match std::fs::remove_dir_all(&world) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => std::fs::create_dir_all(&world),
    };
    let made = fresh.and_then(|()| {
        for (name, bytes) in &input.files {
            let inside = Path::new(name).components().all(|c| matches!(c, std::path::Component::Normal(_)));
            if !inside {
                return Err(std::io::Error::other(format!("the file {name} is not in the program's folder")));
            }
            let file = world.join(name);
            file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(file, bytes)?;
        }
        Ok(())
    });
    made.map_err(|error| error.to_string())?;
    let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    let mut environment: Vec<_> = input
        .environment
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from_vec(value.clone())))
        .collect();
    environment.extend([
        variable(
            "ASAN_OPTIONS",
            "detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0:allocator_may_return_null=1",
        ),
        variable("LSAN_OPTIONS", leaks),
        variable("ASAN_SYMBOLIZER_PATH", "/usr/lib/llvm-19/bin/llvm-symbolizer"),
    ]);
    let mut command = Command::new(binary);
    command.args(input.arguments.iter().skip(1).map(|argument| OsString::from_vec(argument.clone())));
    command.environment = Some(environment);
    command.folder = Some(world.clone());
    command.stdin = Stdin::Bytes(input.stdin.clone());
    // LeakSanitizer stops the program's threads as a debugger does.
    let jail =
        Jail { wanted: jail, own: vec![world], traces_itself: true, limits: LIMITS, ..Jail::default() };
    let ended = jail.run(&command).map_err(|error| match error {
        NotRun::NoJail(_) => format!("{error} (--run-unjailed runs it all the same)"),
        error => error.to_string(),
    })?;
    let signal = match ended.end {
        // With this signal the filter ends what calls the kernel by another convention.
        End::Signal(libc::SIGSYS) if ended.walls.is_some() => {
            return Err("the jail ended it for a system call of another architecture".into());
        }
        End::Signal(signal) => Some(signal),
        End::Exited(_) => None,
        End::Time => return Err("the native program does not end".into()),
        End::Memory => return Err("the native program uses more than 4 gigabytes of memory".into()),
        End::Space => return Err("the native program writes more than 512 megabytes".into()),
        End::Processes => return Err("the native program starts more than 64 processes".into()),
    };
    let text = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes)).join("\n");
    Ok(Ended { signal, text, hindered: ended.hindered.into_iter().collect() })
}

/// Whether mistakes of a kind can happen without a word of the sanitizer: an access beyond the zones between objects lands in
/// another one, freed memory is in use again, and old copies of a pointer hide a leak.
fn may_be_unseen(problem: Problem) -> bool {
    matches!(problem, Problem::OutOfBounds | Problem::UseAfterFree | Problem::Uninitialised | Problem::Leak)
}

/// The signals that a mistake of a kind ends a program with where nothing notices it before, each by the name that a sanitizer
/// which catches the signal gives it.
fn fitting(problem: Problem) -> &'static [(&'static str, i32)] {
    const ACCESS: &[(&str, i32)] = &[("SEGV", libc::SIGSEGV), ("BUS", libc::SIGBUS)];
    const TRAP: &[(&str, i32)] = &[("ILL", libc::SIGILL), ("TRAP", libc::SIGTRAP)];
    match problem {
        // The head of a block that is none may lie where nothing is.
        Problem::NullDereference | Problem::OutOfBounds | Problem::UseAfterFree | Problem::InvalidFree => {
            ACCESS
        }
        // A quotient that does not fit traps as a division by zero does.
        Problem::DivisionByZero | Problem::Overflow => &[("FPE", libc::SIGFPE)],
        Problem::Assertion => &[("ABRT", libc::SIGABRT), ("ILL", libc::SIGILL), ("TRAP", libc::SIGTRAP)],
        Problem::Unreachable => TRAP,
        _ => &[],
    }
}

fn judge(problem: Problem, ended: &Ended) -> Native {
    let says = |words: &str| ended.text.contains(words);
    let struck = fitting(problem)
        .iter()
        .any(|(name, number)| ended.signal == Some(*number) || says(&format!(": {name} on unknown address")));
    let same = match problem {
        // Where the sanitizer catches the signal it says the address.
        Problem::NullDereference => says("SEGV on unknown address 0x00000000") || struck && !says("SEGV on"),
        Problem::NullArgument => says("null pointer passed as argument"),
        Problem::OutOfBounds => {
            says("-buffer-overflow") || says("-buffer-underflow") || says("memcpy-param-overlap") || struck
        }
        Problem::Overlap => says("memcpy-param-overlap"),
        Problem::UseAfterFree => says("use-after") || struck,
        Problem::DoubleFree => says("attempting double-free"),
        Problem::InvalidFree => says("attempting free on address") || says("bad-free") || struck,
        Problem::DivisionByZero => struck,
        Problem::Assertion => says("Assertion") || says("PARALLAX assertion") || struck,
        Problem::ReachedError => says("PARALLAX reached-error"),
        Problem::Unreachable => says("reached an unreachable program point") || struck,
        Problem::Uninitialised => says("use-of-uninitialized-value"),
        Problem::Leak => says("detected memory leaks"),
        Problem::Overflow => says("runtime error:") && says("cannot be represented in type") || struck,
        Problem::BadShift => says("shift exponent") || says("shift of"),
        Problem::UnsignedOverflow => says("unsigned integer overflow"),
        Problem::LossyConversion => says("implicit conversion"),
        Problem::FloatDivision => says("runtime error: division by zero"),
        Problem::FloatConversion => says("is outside the range of representable values"),
        // Nothing native looks for these.
        Problem::NotANumber => false,
    };
    if same {
        return Native::Confirmed;
    }
    if !ended.hindered.is_empty() {
        // Outside it might have gone another way.
        let calls = ended.hindered.join(", ");
        return Native::Unseen(format!(
            "the native program ends otherwise in the jail, which hindered {calls}"
        ));
    }
    let line = ended.text.lines().find(|l| l.contains("ERROR") || l.contains("runtime error"));
    Native::Differs(match (line, ended.signal) {
        (Some(line), _) => line.trim().to_string(),
        (None, Some(signal)) => format!("the native program ends by signal {signal}"),
        (None, None) if may_be_unseen(problem) => {
            return Native::Unseen("the native program ends normally".into());
        }
        (None, None) => "the native program ends normally".into(),
    })
}
