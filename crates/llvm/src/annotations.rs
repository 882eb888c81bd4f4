//! Qualifiers that do not survive into the IR, from clang's syntax tree.
