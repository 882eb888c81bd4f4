//! What declarations promise and IR forgets: `_Nonnull` and `_Nullable`, `nonnull` on a prototype that the definition's
//! file does not see, `annotate` on anything, `counted_by` on a field, `[static n]` and GCC's `access` on a parameter.
//!
//! clang drops these on the way to IR; the reader finds them in its syntax tree and names them by what they stand on.

use serde::{Deserialize, Serialize};

/// What a declaration says of the thing it declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Promise {
    /// Never null.
    Nonnull,
    /// May be null.
    Nullable,
    /// The text of an `annotate` attribute.
    Annotate(String),
    /// An array of as many elements as this field of the same structure says.
    CountedBy(String),
    /// Points to at least so many elements.
    Room(Count),
    /// A variable that lives as long as the program has an initialiser: if it starts as null, somebody wrote that.
    Initialised,
}

/// How many elements a parameter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Count {
    /// This many.
    Number(u64),
    /// As many as another parameter says, by number counted from 0.
    Parameter(usize),
}

/// What a qualifier stands on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    /// A function as a whole.
    Function {
        /// The function.
        function: String,
    },
    /// A parameter of a function, by number.
    Parameter {
        /// The function.
        function: String,
        /// Counted from 0.
        index: usize,
    },
    /// The result of a function.
    Result {
        /// The function.
        function: String,
    },
    /// A field of a structure or union.
    Field {
        /// The tag; the typedef's name where there is no tag.
        record: String,
        /// The field.
        field: String,
    },
    /// A variable at file scope.
    Variable {
        /// Its name.
        name: String,
    },
    /// A variable in a function.
    Local {
        /// The function.
        function: String,
        /// The variable.
        name: String,
        /// The line of its declaration.
        line: u32,
    },
    /// The type a cast names.
    Cast {
        /// The function around it.
        function: String,
        /// The line it starts on.
        line: u32,
        /// The column it starts at.
        column: u32,
    },
}

/// A qualifier on a declaration or cast.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Qualifier {
    /// What it stands on.
    pub subject: Subject,
    /// Which pointer of the type: 0 is the declared thing itself, 1 what it points to, and so on.
    pub depth: usize,
    /// What it says.
    pub promise: Promise,
    /// Who says so: the file that was compiled, and for `static` things the file that declares them.
    pub unit: String,
}
