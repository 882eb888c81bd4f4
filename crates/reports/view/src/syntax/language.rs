//! Which language a file is written in, and the few tables folding needs to know about its grammar.

/// A language whose syntax trees we fold by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Language {
    C,
    Cpp,
    Java,
    Rust,
    Python,
    JavaScript,
    Go,
}

impl Language {
    /// The language of a file, by the ending of its name; `None` folds by indentation.
    ///
    /// A `.h` counts as C++: its grammar reads C as well, with very few exceptions.
    pub fn of(name: &str) -> Option<Language> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let (_, ending) = file.rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "c" | "i" => Language::C,
            "h" | "hh" | "hpp" | "hxx" | "cc" | "cpp" | "cxx" | "c++" | "ii" | "ino" => Language::Cpp,
            "java" => Language::Java,
            "rs" => Language::Rust,
            "py" | "pyi" => Language::Python,
            "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
            "go" => Language::Go,
            _ => return None,
        })
    }

    /// The grammar.
    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Language::Java => tree_sitter_java::LANGUAGE.into(),
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
        }
    }
}

/// What part a node plays in folding. Kinds are told apart by name alone: the grammars share most of them, and where
/// they differ the names do not clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A function or method with a name.
    Function,
    /// A guarded or otherwise delimited construct: its heads, `else` lines and ends frame what is inside.
    Construct,
    /// A case of a switch: only its head frames what is inside.
    Case,
    /// A preprocessor conditional.
    Conditional,
    /// A body: its delimiters belong to the construct around it, its contents do not.
    Block,
    /// Anything else.
    Other,
}

pub(super) fn part(kind: &str) -> Part {
    match kind {
        "function_definition"
        | "function_item"
        | "function_declaration"
        | "generator_function_declaration"
        | "method_declaration"
        | "method_definition"
        | "constructor_declaration"
        | "compact_constructor_declaration" => Part::Function,

        "if_statement"
        | "if_expression"
        | "for_statement"
        | "for_expression"
        | "for_range_loop"
        | "for_in_statement"
        | "enhanced_for_statement"
        | "while_statement"
        | "while_expression"
        | "loop_expression"
        | "do_statement"
        | "switch_statement"
        | "switch_expression"
        | "match_expression"
        | "match_statement"
        | "expression_switch_statement"
        | "type_switch_statement"
        | "select_statement"
        | "try_statement"
        | "try_with_resources_statement"
        | "seh_try_statement"
        | "synchronized_statement"
        | "with_statement"
        | "unsafe_block"
        | "async_block"
        | "let_declaration"
        | "lambda_expression"
        | "closure_expression"
        | "arrow_function"
        | "function_expression"
        | "func_literal"
        | "static_initializer"
        | "class_specifier"
        | "struct_specifier"
        | "namespace_definition"
        | "class_declaration"
        | "class_definition"
        | "impl_item"
        | "trait_item"
        | "mod_item" => Part::Construct,

        "case_statement"
        | "switch_block_statement_group"
        | "switch_rule"
        | "switch_case"
        | "switch_default"
        | "match_arm"
        | "case_clause"
        | "expression_case"
        | "type_case"
        | "communication_case"
        | "default_case" => Part::Case,

        "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" | "preproc_elifdef" => {
            Part::Conditional
        }

        "compound_statement"
        | "block"
        | "statement_block"
        | "match_block"
        | "switch_block"
        | "switch_body"
        | "declaration_list"
        | "field_declaration_list"
        | "class_body"
        | "constructor_body"
        | "enum_body"
        | "interface_body"
        | "statement_list" => Part::Block,

        _ => Part::Other,
    }
}
