//! A place in code that control is to come to, or is not to.

/// A place in code.
#[derive(Clone, Debug)]
pub struct CodePlace {
    /// Where it begins: of a line, there may be several addresses.
    pub addresses: Vec<u64>,
    /// Whether an instruction is known to begin there. In code without a symbol only a run that comes there tells.
    pub is_known: bool,
    /// Whether the program came there before it met unknown input: then every run does.
    pub is_passed: bool,
}
