//! From the files a user names to a program.

use parallax_llvm::clang::{self, Options};
use parallax_llvm::module::{Callee, FunctionId, Operand, Operation};
use parallax_llvm::{Error, Input, MODELS, Module, read};
use std::path::{Path, PathBuf};

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// C files, LLVM bitcode (`.bc`) or assembly (`.ll`); or one `compile_commands.json`.
    pub files: Vec<PathBuf>,
    /// How to compile.
    pub options: Options,
}

/// A loaded program.
pub struct Program {
    /// The linked module, library models included.
    pub module: Module,
    /// What it was loaded from, for native builds.
    pub sources: Sources,
    /// Warnings of the compiler.
    pub warnings: String,
}

impl Program {
    /// Whether the program seeds its random numbers with something that is not constant: then they can be any.
    pub fn seeds_unknown(&self) -> bool {
        let seeds = |id: &FunctionId| matches!(self.module.function(*id).name.as_str(), "srand" | "srandom");
        self.module
            .functions
            .iter()
            .filter(|f| !f.library)
            .flat_map(|f| &f.blocks)
            .flat_map(|b| &b.instructions)
            .any(|instruction| match &instruction.operation {
                Operation::Call { callee: Callee::Function(id), arguments } => {
                    seeds(id) && arguments.iter().any(|a| matches!(a.value, Operand::Register(_)))
                }
                _ => false,
            })
    }
}

/// Loads a program.
pub fn load(sources: &Sources) -> Result<Program, Error> {
    let mut warnings = String::new();
    let mut parts = Vec::new();
    let mut expanded = Sources { files: Vec::new(), options: sources.options.clone() };
    for file in &sources.files {
        if file.file_name().is_some_and(|name| name == "compile_commands.json") {
            for (source, options) in database(file, &sources.options)? {
                let compiled = clang::compile(&source, &options)?;
                warnings.push_str(&compiled.messages);
                parts.push((source.display().to_string(), compiled.bitcode));
                expanded.files.push(source);
            }
            continue;
        }
        expanded.files.push(file.clone());
        let bytes = match file.extension().and_then(|e| e.to_str()) {
            Some("bc" | "ll") => std::fs::read(file).map_err(|e| Error::Io(file.display().to_string(), e))?,
            _ => {
                // Asked for here, so that a missing file is our message and not clang's.
                std::fs::metadata(file).map_err(|e| Error::Io(file.display().to_string(), e))?;
                let compiled = clang::compile(file, &sources.options)?;
                warnings.push_str(&compiled.messages);
                compiled.bitcode
            }
        };
        parts.push((file.display().to_string(), bytes));
    }
    let inputs: Vec<Input<'_>> =
        parts.iter().map(|(name, bytes)| Input { name: name.clone(), bytes }).collect();
    let module = read(&inputs, MODELS)?;
    Ok(Program { module, sources: expanded, warnings })
}

/// Sources of a compilation database, each with its own flags.
fn database(file: &Path, options: &Options) -> Result<Vec<(PathBuf, Options)>, Error> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|e| Error::Io(name.clone(), e))?;
    let entries: Vec<serde_json::Value> =
        serde_json::from_slice(&bytes).map_err(|e| Error::Usage(format!("{name}: {e}")))?;
    let mut result = Vec::new();
    for entry in entries {
        let text = |key: &str| entry.get(key).and_then(|v| v.as_str());
        let Some(source) = text("file") else {
            return Err(Error::Usage(format!("{name}: an entry without a file")));
        };
        let directory = PathBuf::from(text("directory").unwrap_or("."));
        let words: Vec<String> = match entry.get("arguments").and_then(|v| v.as_array()) {
            Some(list) => list.iter().filter_map(|v| v.as_str()).map(str::to_string).collect(),
            None => split_words(text("command").unwrap_or("")),
        };
        let mut options = options.clone();
        let mut words = words.into_iter().skip(1);
        while let Some(word) = words.next() {
            // Only what changes the meaning of the source: paths, definitions, dialect.
            match word.as_str() {
                "-I" | "-D" | "-U" | "-include" | "-isystem" | "-iquote" => {
                    if let Some(next) = words.next() {
                        let next = if matches!(word.as_str(), "-D" | "-U") {
                            next
                        } else {
                            under(&directory, &next)
                        };
                        options.flags.push(word);
                        options.flags.push(next);
                    }
                }
                _ if word.starts_with("-I") => {
                    options.flags.push(format!("-I{}", under(&directory, &word[2..])))
                }
                _ if ["-D", "-U", "-std=", "-f", "-m"].iter().any(|p| word.starts_with(p)) => {
                    options.flags.push(word)
                }
                _ => {}
            }
        }
        result.push((directory.join(source), options));
    }
    Ok(result)
}

fn under(directory: &Path, path: &str) -> String {
    directory.join(path).display().to_string()
}

/// Words of a command as a shell would split them: blanks, quotes and backslashes.
fn split_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut open = false;
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('\''), c) => word.push(c),
            (_, '\\') => {
                open = true;
                word.extend(characters.next());
            }
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => {
                open = true;
                quote = Some(c);
            }
            (None, c) if c.is_whitespace() => {
                if open {
                    words.push(std::mem::take(&mut word));
                    open = false;
                }
            }
            (None, c) => {
                open = true;
                word.push(c);
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        assert_eq!(split_words(r#"cc -DX="a b" -c 'f g.c'  \"q"#), ["cc", "-DX=a b", "-c", "f g.c", "\"q"]);
        assert_eq!(split_words("a '' b"), ["a", "", "b"]);
    }
}
