//! Projects: folders instead of files, and their own build (`--build`).

use super::plain::plain;
use anyhow::{Result, bail};
use parallax_cexplore::Program;
use parallax_cli_base::report_file;
use parallax_cli_base::words::counted;
use parallax_cread::Error;
use parallax_cread::build::{self, Built};
use parallax_jail::Wanted;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The name of a compile database.
pub const DATABASE: &str = "compile_commands.json";
/// Files by which a build system is known, each with the command that builds what has one. The first that is there counts.
const SYSTEMS: [(&str, &str); 9] = [
    ("GNUmakefile", "make"),
    ("Makefile", "make"),
    ("makefile", "make"),
    ("build.ninja", "ninja"),
    ("CMakeLists.txt", "cmake -S . -B build && cmake --build build"),
    ("meson.build", "meson setup build && ninja -C build"),
    ("configure", "./configure && make"),
    ("configure.ac", "autoreconf -i && ./configure && make"),
    ("autogen.sh", "./autogen.sh && ./configure && make"),
];

/// Builds the project in the first of these files, which is a folder, and says what was done.
pub fn built(command: &str, files: &[PathBuf], jail: Wanted) -> Result<std::result::Result<Built, Error>> {
    let folder = match files.first() {
        Some(folder) if folder.is_dir() => folder,
        Some(other) => bail!("{}: --build takes the project's folder instead of its files", other.display()),
        None => bail!("--build takes the project's folder"),
    };
    let built = build::run(command, folder, jail);
    if let Ok(built) = &built {
        for line in lines(command, built) {
            eprintln!("{}", plain(&line));
        }
    }
    Ok(built)
}

/// What was done, in words.
fn lines(command: &str, built: &Built) -> Vec<String> {
    let held =
        built.walls.map_or("without walls".into(), |walls| format!("in the jail ({walls}), without network"));
    let sources = counted(built.entries.len(), "compiled C file");
    let calls = counted(built.calls, "call");
    let mut lines = vec![format!(
        "built by `{command}` on a copy of the folder, {held}: {sources} in {calls} of a compiler"
    )];
    if built.other_languages > 0 {
        lines.push(format!("left out: {} of other languages", counted(built.other_languages, "file")));
    }
    for file in &built.gone {
        lines.push(format!("left out: {}, which the build removed again", file.display()));
    }
    lines
}

/// The same for programs.
pub fn document(built: &Built) -> Value {
    json!({
        "calls": built.calls,
        "files": built.entries.len(),
        "other_languages": built.other_languages,
        "gone": built.gone.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "walls": built.walls.map(|walls| walls.name()),
        "hindered": built.hindered,
    })
}

/// The folders that a program's sources lie in, by their names: reports quote what is there. Those that a build made are not.
pub fn folders(program: &Program) -> Vec<PathBuf> {
    let named = program.units.iter().filter_map(|(file, _)| report_file::folder(program.name_of(file)));
    named.filter(|folder| program.built.is_none() || folder.is_dir()).collect()
}

/// What stands for a file that was named: of a folder, its compile database. Where it has none, the answer says how to get one.
pub fn file_or_database(file: &Path) -> Result<PathBuf> {
    if !file.is_dir() {
        let is_a_build_file = |(name, _): &(&str, &str)| file.file_name().is_some_and(|known| known == *name);
        if file.is_file() && SYSTEMS.iter().any(is_a_build_file) {
            let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
            bail!("{} is no C source{}", file.display(), advice(folder));
        }
        return Ok(file.to_path_buf());
    }
    let databases = [file.join(DATABASE), file.join("build").join(DATABASE)];
    match databases.into_iter().find(|database| database.is_file()) {
        Some(database) => Ok(database),
        None => bail!("{} is a folder without a {DATABASE}{}", file.display(), advice(file)),
    }
}

/// How a project's files become known.
fn advice(folder: &Path) -> String {
    let shown = folder.display();
    let Some((name, command)) = SYSTEMS.into_iter().find(|(name, _)| folder.join(name).is_file()) else {
        return "\n  = name its C files instead, or give the command that builds it: --build COMMAND".into();
    };
    let database = match name {
        "CMakeLists.txt" => format!(
            "\n  = or make a database: cmake -S {shown} -B {shown}/build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; then name {shown}/build/{DATABASE}"
        ),
        "meson.build" => {
            format!(
                "\n  = or make a database: meson setup {shown}/build {shown}; then name {shown}/build/{DATABASE}"
            )
        }
        _ => String::new(),
    };
    format!(
        ", and has a {name}\n  = to build a copy of it in the jail: --build '{command}' {shown}{database}"
    )
}
