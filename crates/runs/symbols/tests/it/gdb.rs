//! Held against GDB: programs of C and C++, compiled by gcc and clang, without and with optimisation, stopped at marked
//! lines. Frames, lines, variables, types and printed values are compared.

use crate::common;

use common::Core;
use parallax_symbols::{Frame, Kind, Scalar, State, Symbols};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Case {
    source: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    functions: &'static [&'static str],
}

/// Where the marked lines are, and the expressions of each.
fn stops(source: &Path) -> Vec<(usize, Vec<String>)> {
    let text = std::fs::read_to_string(source).unwrap();
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate().skip(2) {
        if let Some((_, rest)) = line.split_once("stop:") {
            let list = rest.trim_end_matches("*/");
            found.push((index + 1, list.split(',').map(|one| one.trim().to_owned()).collect()));
        }
    }
    found
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// GDB's word: the cores it wrote, with what it says of them.
fn truth(case: &Case, folder: &Path) -> (PathBuf, Json) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let source = here.join("programs").join(case.source);
    let program = folder.join("program");
    run(Command::new(case.compiler)
        .args(case.flags)
        .arg("-g")
        .arg("-w")
        .arg("-o")
        .arg(&program)
        .arg(&source));
    let script = format!(
        "PROGRAM = {:?}\nSOURCE = {:?}\nFOLDER = {:?}\nSTOPS = {}\nFUNCTIONS = {:?}\nexec(open({:?}).read())\n",
        program,
        source,
        folder,
        serde_json::to_string(&stops(&source)).unwrap(),
        case.functions,
        here.join("gdb-truth.py"),
    );
    let script_path = folder.join("script.py");
    std::fs::write(&script_path, script).unwrap();
    let output =
        Command::new("gdb").args(["-nx", "-q", "-batch", "-x"]).arg(&script_path).output().expect("gdb");
    let truth = std::fs::read_to_string(folder.join("truth.json"));
    let truth = truth.unwrap_or_else(|_| panic!("gdb: {}", String::from_utf8_lossy(&output.stderr)));
    (program, serde_json::from_str(&truth).unwrap())
}

/// The frames up to and including `main`, where GDB stops as well. Behind it the stack ends at the program's start.
fn frames(symbols: &Symbols, core: &Core) -> Vec<Frame> {
    let mut frames = symbols.frames(core, 100);
    assert_eq!(frames.last().and_then(|frame| frame.function.as_deref()), Some("_start"));
    if let Some(at) = frames.iter().position(|frame| frame.function.as_deref() == Some("main")) {
        frames.truncate(at + 1);
    }
    frames
}

/// Whether a printed structure holds names of fields and no value of any.
fn is_wholly_lost(text: &str) -> bool {
    let (mut left, mut depth) = (String::new(), 0);
    for c in text.replace(LOST, "").replace(NOTHING, "").chars() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '{' | '}' | ',' if depth == 0 => left.push(' '),
            c if depth == 0 => left.push(c),
            _ => {}
        }
    }
    let words: Vec<&str> = left.split_whitespace().collect();
    let is_name = |at: usize| words[at] == "=" || words.get(at + 1) == Some(&"=");
    text.contains(LOST) && (0..words.len()).all(is_name)
}

/// The variables of a frame as GDB's script lists them.
fn variables(symbols: &Symbols, frame: &Frame, state: &dyn State) -> Vec<(String, String, String)> {
    let mut all: Vec<_> = symbols
        .variables(frame)
        .unwrap()
        .into_iter()
        .map(|variable| {
            let text = match symbols.value(&variable, Some(frame), state) {
                Ok(value) => symbols.print(&value, state),
                Err(error) => format!("<error: {error}>"),
            };
            (variable.name, text, symbols.type_name(&variable.ty))
        })
        .collect();
    all.sort();
    all
}

const LOST: &str = "<optimized out>";
const NOTHING: &str = "<No data fields>";

/// Where GDB 13 is wrong: the length of this array is a constant of the debug information, 12, and GDB takes it for 1. It stops at the
/// lowest address of an inlined copy, also where the debug information names another one as its entry (`DW_AT_entry_pc`).
fn is_known(case: &Case, what: &str, theirs: &str) -> bool {
    let is_optimised = |compiler: &str| case.compiler == compiler && case.flags == ["-O2"];
    is_optimised("clang-19") && (theirs == "\"m\"" || theirs == "char [1]")
        || is_optimised("g++") && what == "breakpoint on through"
}

/// What is said in different words, in the same: a structure of which nothing is left is lost as a whole, and so is a
/// pointer that was removed with what it points to.
fn plain(text: &str) -> String {
    if text.starts_with("<error: ") {
        return "<error>".to_owned();
    }
    // GDB leaves out one zero at the end of an array of characters, and shows those before it.
    let mut text = text.to_owned();
    while text.contains("\\000\"") {
        text = text.replace("\\000\"", "\"");
    }
    let mut text = text
        .replace("(synthetic pointer)", LOST)
        .replace("<synthetic pointer>", LOST)
        .replace("<invalid address>", LOST);
    // A reference to something that is lost; a structure without a single value.
    if text.starts_with(LOST) || is_wholly_lost(&text) {
        return LOST.to_owned();
    }
    'again: loop {
        let mut open = 0;
        for (at, c) in text.char_indices() {
            if c == '{' {
                open = at;
            } else if c == '}' && text[open..].starts_with('{') {
                let inner = &text[open + 1..at];
                let is_lost = |part: &str| part == LOST || part.ends_with(&format!(" = {LOST}"));
                let is_nothing = |part: &str| part.ends_with(NOTHING);
                if !inner.contains('{') && inner.split(", ").all(|part| is_lost(part) || is_nothing(part)) {
                    let what = if inner.contains(LOST) { LOST } else { NOTHING };
                    text.replace_range(open..=at, what);
                    continue 'again;
                }
            }
        }
        return text;
    }
}

/// What a compiled expression gives, if it could be compiled, and what evaluating it gives: the number, and the value.
fn in_two_ways(symbols: &Symbols, text: &str, frame: &Frame, core: &Core) -> (Option<String>, String) {
    let print = |value: &parallax_symbols::Value| {
        format!("{} {} {:?}", symbols.print(value, core), symbols.type_name(&value.ty), value.bits)
    };
    let number = |value: &parallax_symbols::Value| match symbols.kind(&value.ty).as_deref() {
        Ok(Kind::Float { .. }) => symbols.float(value, core).ok().map(Scalar::Real),
        Ok(Kind::Pointer { .. } | Kind::Array { .. }) => {
            symbols.integer(value, core).ok().map(|address| Scalar::Address(address as u64))
        }
        _ => symbols.integer(value, core).ok().map(Scalar::Whole),
    };
    let value = symbols.evaluate(text, frame, core).ok();
    let compiled = symbols.compiled(text, core.pc());
    let (own_value, own_number) = match &compiled {
        Some(compiled) => (compiled.value(symbols, core), compiled.number(symbols, core)),
        None => (None, None),
    };
    let told = own_value.is_some() || own_number.is_some();
    let ours = format!("{:?} {own_number:?}", own_value.as_ref().map(print));
    let value_too = own_value.and(value.as_ref());
    let number_too = own_number.and(value.as_ref().and_then(number));
    (told.then_some(ours), format!("{:?} {number_too:?}", value_too.map(print)))
}

#[derive(Default)]
struct Tally {
    compared: usize,
    /// Expressions that were compiled.
    compiled: usize,
    lost: usize,
    wrong: Vec<(String, String, String)>,
}

impl Tally {
    fn check(&mut self, what: impl Fn() -> String, ours: &str, theirs: &str) {
        self.compared += 1;
        self.lost += usize::from(theirs == "<optimized out>");
        let (ours, theirs) = (plain(ours), plain(theirs));
        if ours != theirs {
            self.wrong.push((what(), ours, theirs));
        }
    }
}

fn compare(case: &Case) -> Tally {
    let folder = tempfile::tempdir().unwrap();
    let (program, truth) = truth(case, folder.path());
    let mut tally = Tally::default();
    let stops = truth["stops"].as_array().unwrap();
    assert!(stops.len() >= 5, "only {} stops", stops.len());
    for stop in stops {
        let core = Core::open(Path::new(stop["core"].as_str().unwrap()));
        let symbols = core.symbols();
        let ours = frames(&symbols, &core);
        let theirs = stop["frames"].as_array().unwrap();
        let place = || {
            format!(
                "{} line {}",
                stop["core"].as_str().unwrap().rsplit('/').next().unwrap(),
                theirs[0]["line"]
            )
        };
        let name = |frame: &Json| frame["function"].as_str().unwrap_or("?").to_owned();
        let their_names: Vec<_> = theirs.iter().map(name).collect();
        // Of names for one address, such as raise and gsignal, either may be told.
        let told = |(index, frame): (usize, &Frame)| match (&frame.function, their_names.get(index)) {
            (Some(ours), Some(theirs))
                if symbols
                    .functions_named(ours)
                    .iter()
                    .any(|at| symbols.functions_named(theirs).contains(at)) =>
            {
                theirs.clone()
            }
            (ours, _) => ours.clone().unwrap_or("?".into()),
        };
        let our_names: Vec<_> = ours.iter().enumerate().map(told).collect();
        tally.check(|| format!("{}: frames", place()), &our_names.join(" "), &their_names.join(" "));
        for (ours, theirs) in ours.iter().zip(theirs) {
            let place = || format!("{} frame {} {}", place(), ours.level, name(theirs));
            let line = ours.line.as_ref();
            let (file, number) = line.map_or((None, 0), |line| (line.file.rsplit('/').next(), line.line));
            tally.check(|| format!("{}: pc", place()), &ours.pc.to_string(), &theirs["pc"].to_string());
            tally.check(|| format!("{}: line", place()), &number.to_string(), &theirs["line"].to_string());
            tally.check(
                || format!("{}: file", place()),
                file.unwrap_or("-"),
                theirs["file"].as_str().unwrap_or("-"),
            );
            let inline = theirs["inline"].as_bool().unwrap();
            tally.check(
                || format!("{}: inlined", place()),
                &ours.is_inlined.to_string(),
                &inline.to_string(),
            );
            let Some(list) = theirs["variables"].as_array() else { continue };
            let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
            let mut list: Vec<_> =
                list.iter().map(|one| (text(&one[0]), text(&one[1]), text(&one[2]))).collect();
            list.sort();
            let mut mine = variables(&symbols, ours, &core);
            // GDB leaves out some variables that are nowhere, and lists others once more without a value.
            mine.retain(|(name, text, _)| text != LOST || list.iter().any(|theirs| theirs.0 == *name));
            let has_value = |name: &str| mine.iter().any(|mine| mine.0 == name && mine.1 != LOST);
            list.retain(|(name, text, _)| text != LOST || !has_value(name));
            list.dedup();
            let names = |list: &[(String, String, String)]| {
                list.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>().join(" ")
            };
            tally.check(|| format!("{}: variables", place()), &names(&mine), &names(&list));
            for (mine, theirs) in mine.iter().zip(&list).filter(|(mine, theirs)| mine.0 == theirs.0) {
                tally.check(|| format!("{}: {}", place(), mine.0), &mine.1, &theirs.1);
                tally.check(|| format!("{}: type of {}", place(), mine.0), &mine.2, &theirs.2);
            }
        }
        let texts = stop["expressions"].as_object().unwrap().keys().cloned();
        let names = symbols.variables(&ours[0]).unwrap().into_iter().map(|variable| variable.name);
        for text in texts.chain(names) {
            let (compiled, evaluated) = in_two_ways(&symbols, &text, &ours[0], &core);
            if let Some(compiled) = compiled {
                tally.compiled += 1;
                tally.check(|| format!("{}: {text}, compiled", place()), &compiled, &evaluated);
            }
        }
        for (text, theirs) in stop["expressions"].as_object().unwrap() {
            let mine = match symbols.evaluate(text, &ours[0], &core) {
                Ok(value) => symbols.print(&value, &core),
                Err(parallax_symbols::Error::OptimizedOut { .. }) => "<optimized out>".to_owned(),
                Err(error) => format!("<error: {error}>"),
            };
            // GDB says that what it needs is optimised out by an error.
            let theirs = theirs.as_str().unwrap();
            let theirs = if theirs.contains("optimized out") { "<optimized out>" } else { theirs };
            let mine =
                if mine.contains("optimized out") && theirs == "<optimized out>" { theirs } else { &mine };
            tally.check(|| format!("{}: {text}", place()), mine, theirs);
        }
    }
    let bytes = std::fs::read(program).unwrap();
    let symbols = Symbols::new(vec![parallax_symbols::Module::read("program", &bytes, None, 0).unwrap()]);
    for (name, theirs) in truth["functions"].as_object().unwrap() {
        let ours = symbols.breakpoints_on(name);
        let theirs: Vec<u64> = theirs.as_array().unwrap().iter().map(|pc| pc.as_u64().unwrap()).collect();
        tally.check(|| format!("breakpoint on {name}"), &format!("{ours:x?}"), &format!("{theirs:x?}"));
    }
    tally
}

fn check(case: &Case) {
    let mut tally = compare(case);
    tally.wrong.retain(|(what, _, theirs)| !is_known(case, what, theirs));
    let wrong: Vec<String> = tally
        .wrong
        .iter()
        .map(|(what, ours, theirs)| format!("{what}\n     ours: {ours}\n   theirs: {theirs}"))
        .collect();
    eprintln!(
        "{} {} {:?}: {} comparisons, {} of values that were optimised out, {} of compiled expressions",
        case.source, case.compiler, case.flags, tally.compared, tally.lost, tally.compiled
    );
    assert!(tally.wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), tally.compared, wrong.join("\n"));
    assert!(tally.compared > 200, "only {} comparisons", tally.compared);
    assert!(tally.compiled > 5, "only {} expressions were compiled", tally.compiled);
}

const C: &[&str] = &["main", "depth", "by_value", "on_signal", "measured"];
const CPP: &[&str] = &["main", "zoo::dog::noise", "through"];

macro_rules! cases {
    ($($name:ident: $source:literal $compiler:literal $flags:expr, $functions:expr;)*) => {
        $(#[test]
        fn $name() {
            check(&Case { source: $source, compiler: $compiler, flags: &$flags, functions: $functions });
        })*
    };
}

cases! {
    c_by_gcc: "shapes.c" "gcc" ["-O0"], C;
    c_by_gcc_optimised: "shapes.c" "gcc" ["-O2"], C;
    c_by_clang: "shapes.c" "clang-19" ["-O0"], C;
    c_by_clang_optimised: "shapes.c" "clang-19" ["-O2"], C;
    c_as_an_old_compiler_writes_it: "shapes.c" "gcc" ["-O0", "-gdwarf-3", "-gstrict-dwarf", "-no-pie", "-fno-asynchronous-unwind-tables"], C;
    cpp_by_gcc: "classes.cc" "g++" ["-O0"], CPP;
    cpp_by_gcc_optimised: "classes.cc" "g++" ["-O2"], CPP;
    cpp_by_clang: "classes.cc" "clang++-19" ["-O0"], CPP;
    cpp_by_clang_optimised: "classes.cc" "clang++-19" ["-O2"], CPP;
}
