//! Locks held at a step, in one form for all tools: names apart by commas, those held for reading only marked.

use crate::Binding;

/// A lock, and whether it is held for reading only.
pub(crate) struct Lock<'n> {
    pub name: &'n str,
    pub shared: bool,
}

impl<'n> Lock<'n> {
    /// A lock as ThreadSanitizer (`write M0`, `read M1`) and LOCKSMITH (`concrete lock:7`) write it.
    pub(crate) fn read(words: &'n str) -> Lock<'n> {
        let words = words.trim();
        let mode = |mode: &str| words.strip_prefix(mode).map(str::trim_start);
        if let Some(name) = mode("read ") {
            return Lock { name, shared: true };
        }
        Lock { name: mode("write ").or_else(|| mode("concrete ")).unwrap_or(words), shared: false }
    }
}

/// What is held, as state of a step.
pub(crate) fn held<'n>(locks: impl IntoIterator<Item = Lock<'n>>) -> Binding {
    let names: Vec<String> = locks
        .into_iter()
        .filter(|lock| !lock.name.is_empty())
        .map(|lock| if lock.shared { format!("{} (read)", lock.name) } else { lock.name.to_owned() })
        .collect();
    let value = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Binding { name: "locks held".to_owned(), value }
}
