//! Why a question about a stopped program has no answer.

/// What can be wrong with a file's debug information, or with a question about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes are no ELF file.
    #[error("{module} cannot be read as an ELF file: {why}")]
    NotElf {
        /// The file.
        module: String,
        /// What its reader says.
        why: String,
    },
    /// The debug information contradicts itself or ends too early.
    #[error("the debug information of {module} is malformed: {why}")]
    Malformed {
        /// The file.
        module: String,
        /// What is wrong.
        why: String,
    },
    /// The debug information uses something that is not read.
    #[error("the debug information uses {what}, which is not supported")]
    Unsupported {
        /// The construct.
        what: String,
    },
    /// No variable of this name is in scope.
    #[error("no variable {name} in scope{}", in_function(.function))]
    NoVariable {
        /// The name.
        name: String,
        /// The function that was asked.
        function: Option<String>,
    },
    /// A value that the compiler did not keep.
    #[error("{what} is optimised out here")]
    OptimizedOut {
        /// The variable or expression.
        what: String,
    },
    /// Memory that the program cannot read.
    #[error("cannot read {size} bytes at address {address:#x}")]
    Unreadable {
        /// Where.
        address: u64,
        /// How many.
        size: u64,
    },
    /// A register that is not known in this frame.
    #[error("register {register} is not known in this frame")]
    NoRegister {
        /// Its DWARF number.
        register: u16,
    },
    /// A type that does not have what was asked of it.
    #[error("a value of type {ty} {complaint}")]
    Type {
        /// The name of the type.
        ty: String,
        /// What is wrong with it, such as "has no member next".
        complaint: String,
    },
    /// The text is no expression.
    #[error("in the expression `{text}`, at column {column}: {why}")]
    Expression {
        /// The whole text.
        text: String,
        /// Where, from 1.
        column: usize,
        /// What is wrong there.
        why: String,
    },
    /// A value larger than anybody would read at once.
    #[error("a value of {size} bytes is too large to be read at once")]
    TooLarge {
        /// Its size.
        size: u64,
    },
}

fn in_function(function: &Option<String>) -> String {
    function.as_ref().map_or_else(String::new, |name| format!(" in {name}"))
}

/// What questions return.
pub type Result<T> = std::result::Result<T, Error>;
