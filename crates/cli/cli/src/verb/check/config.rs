//! `parallax.toml`: what a project wants of `parallax check`, kept beside its sources.

use anyhow::{Context, Result};
use parallax_mixy::Finding;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file. Other parts of Parallax may have tables of their own in it.
#[derive(Debug, Default, Deserialize)]
pub struct Config {
    /// The table of `parallax check`.
    #[serde(default)]
    pub check: Table,
    /// The table of `parallax lsp`.
    #[serde(default)]
    pub lsp: Lsp,
}

/// What `parallax lsp` shows besides null errors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Lsp {
    /// Explores the program as well.
    pub explore: Option<Explored>,
}

/// How the program is explored for an editor. A project that is only looked at decides on nothing but these: no files are
/// written, and nothing runs natively.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Explored {
    /// Seconds [default: 10].
    pub time: Option<u32>,
    /// The function to start at, with unknown arguments, globals and memory [default: main].
    pub entry: Option<String>,
    /// Bytes of unknown standard input.
    pub stdin: Option<u32>,
    /// The bytes that each unknown argument of the program has at most.
    #[serde(default)]
    pub arguments: Vec<u32>,
}

impl Explored {
    /// As `parallax explore` takes it.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![format!("--time={}", self.time.unwrap_or(10))];
        words.extend(self.entry.as_ref().map(|entry| format!("--entry={entry}")));
        words.extend(self.stdin.map(|bytes| format!("--stdin={bytes}")));
        words.extend(self.arguments.iter().map(|bytes| format!("--sym-arg={bytes}")));
        words
    }
}

/// What `parallax check` takes from the file; flags on the command line come first.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Table {
    /// Where the program starts.
    pub entry: Option<String>,
    /// What must not be null: `annotated` or `deref`.
    pub sinks: Option<super::Which>,
    /// Functions to execute symbolically.
    #[serde(default)]
    pub symbolic: Vec<String>,
    /// Functions to analyse by inference.
    #[serde(default)]
    pub typed: Vec<String>,
    /// C files with bodies for functions that have none, relative to the file.
    #[serde(default)]
    pub models: Vec<PathBuf>,
    /// Seconds to look for blocks that refute warnings.
    pub refine_time: Option<u64>,
    /// Findings that are known and accepted.
    #[serde(default)]
    pub suppress: Vec<Suppression>,
}

/// Findings that are not reported, and why. What is left out holds for everything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// Why: a suppression without a reason is an error.
    pub reason: String,
    /// The end of the file's path.
    pub file: Option<PathBuf>,
    /// The function.
    pub function: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The kind of finding.
    pub kind: Option<String>,
}

impl Config {
    /// Reads a file; without one, `parallax.toml` of the current folder, if there is one.
    pub fn read(given: Option<&Path>) -> Result<Config> {
        let usual = Path::new("parallax.toml");
        let file = match given {
            Some(file) => file,
            None if usual.is_file() => usual,
            None => return Ok(Config::default()),
        };
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut config: Config = toml::from_str(&text).with_context(|| file.display().to_string())?;
        for (number, suppression) in config.check.suppress.iter().enumerate() {
            if suppression.reason.trim().is_empty() {
                anyhow::bail!("{}: suppression {} has no reason", file.display(), number + 1);
            }
            let narrowed = suppression.file.is_some() || suppression.function.is_some();
            if !narrowed {
                anyhow::bail!(
                    "{}: suppression {} names neither a file nor a function: it would hide everything",
                    file.display(),
                    number + 1
                );
            }
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        for model in &mut config.check.models {
            *model = folder.join(&model);
        }
        Ok(config)
    }
}

impl Suppression {
    /// Whether it is about a finding.
    pub fn covers(&self, module: &parallax_cmodule::Module, finding: &Finding) -> bool {
        let location = parallax_mixy::names::site_location(module, finding.site);
        let place = module.location(location);
        let function = &module.function(finding.site.function).name;
        self.file.as_ref().is_none_or(|file| Path::new(module.file_of(location)).ends_with(file))
            && self.function.as_ref().is_none_or(|name| name == function)
            && self.line.is_none_or(|line| line == place.line)
            && self.kind.as_ref().is_none_or(|kind| kind == finding.kind.name())
    }
}
