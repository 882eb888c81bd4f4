//! Whether a text may define one of some names, told without a grammar.
//!
//! Parsing every file below a source folder costs seconds; most of them only use the names that a page shows. A text passes
//! where one of the names stands as it would in a definition that is seen from everywhere. To let a text pass in vain costs
//! time, to hold one back loses a definition, so in doubt it passes. For languages other than C and C++ it passes wherever it
//! has the name.

use super::Language;

/// What is looked for under a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sought {
    /// A definition of any kind.
    pub any: bool,
    /// A function.
    pub function: bool,
}

/// Whether `text` may define a name for which `sought` says what of it is looked for.
pub fn may_define(language: Language, text: &str, sought: &dyn Fn(&str) -> Option<Sought>) -> bool {
    match language {
        Language::C | Language::Cpp => {
            let mut reader = Reader { text: text.as_bytes(), ..Reader::default() };
            reader.read(&|word| sought(std::str::from_utf8(word).ok()?))
        }
        _ => words(text.as_bytes())
            .any(|word| std::str::from_utf8(word).is_ok_and(|word| sought(word).is_some())),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| !is_word(byte)).filter(|word| !word.is_empty())
}

/// What braces enclose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    /// Declarations that are seen from everywhere: a namespace, or what could be one.
    Open,
    /// Members.
    Class,
    Enumerators,
    /// Statements.
    Body,
    Initialiser,
}

/// The token before.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before<'t> {
    #[default]
    Nothing,
    Word(&'t [u8]),
    Sign(u8),
}

/// What has been read of a statement or declaration.
#[derive(Clone, Copy, Default)]
struct Statement<'t> {
    first: &'t [u8],
    /// A word that may belong to a type.
    typed: bool,
    /// Anything but words and what makes pointers of types.
    mixed: bool,
    parenthesis: bool,
    enumeration: bool,
    class: bool,
    namespace: bool,
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t [u8],
    braces: Vec<Brace>,
    parentheses: usize,
    statement: Statement<'t>,
    before: Before<'t>,
    /// How it was at the conditionals around: each branch begins there.
    conditionals: Vec<(Vec<Brace>, usize)>,
}

impl<'t> Reader<'t> {
    fn read(&mut self, sought: &dyn Fn(&[u8]) -> Option<Sought>) -> bool {
        let text = self.text;
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if byte.is_ascii_whitespace() {
                at += 1;
                continue;
            }
            let end = past(text, at);
            if end > at {
                if matches!(byte, b'"' | b'\'') {
                    self.statement.namespace |= self.statement.first == b"extern" && byte == b'"';
                    self.statement.mixed = true;
                    self.before = Before::Sign(byte);
                }
                at = end;
            } else if byte == b'#' {
                let end = line_end(text, at);
                if self.directive(&text[at + 1..end], sought) {
                    return true;
                }
                at = end;
            } else if is_word(byte) {
                let end = at + text[at..].iter().take_while(|byte| is_word(**byte)).count();
                let word = &text[at..end];
                if sought(word).is_some_and(|sought| self.defines(sought, end)) {
                    return true;
                }
                self.word(word);
                at = end;
            } else {
                self.sign(byte, at == 0 || text[at - 1] == b'\n');
                at += 1;
            }
        }
        false
    }

    fn directive(&mut self, line: &[u8], sought: &dyn Fn(&[u8]) -> Option<Sought>) -> bool {
        let mut words = words(line);
        match words.next().unwrap_or_default() {
            b"define" => return words.next().and_then(sought).is_some_and(|sought| sought.any),
            b"if" | b"ifdef" | b"ifndef" => {
                self.conditionals.push((self.braces.clone(), self.parentheses));
            }
            b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                if let Some((braces, parentheses)) = self.conditionals.last() {
                    (self.braces, self.parentheses) = (braces.clone(), *parentheses);
                    self.statement = Statement::default();
                    self.before = Before::Nothing;
                }
            }
            b"endif" => drop(self.conditionals.pop()),
            _ => {}
        }
        false
    }

    fn word(&mut self, word: &'t [u8]) {
        let statement = &mut self.statement;
        if statement.first.is_empty() {
            statement.first = word;
        }
        match word {
            b"enum" => statement.enumeration = true,
            b"struct" | b"union" | b"class" => statement.class = true,
            b"namespace" => statement.namespace = true,
            b"return" | b"else" | b"do" | b"case" | b"goto" | b"throw" | b"new" | b"delete" | b"sizeof" => {
                statement.mixed = true;
            }
            _ => {}
        }
        statement.typed = true;
        self.before = Before::Word(word);
    }

    fn sign(&mut self, sign: u8, first: bool) {
        match sign {
            b'(' => {
                self.parentheses += 1;
                self.statement.parenthesis = true;
                self.statement.mixed = true;
            }
            b')' => self.parentheses = self.parentheses.saturating_sub(1),
            b'{' => {
                // What begins a line at its very start begins a body, whatever was lost before it.
                if first && matches!(self.before, Before::Sign(b')' | b';')) {
                    self.braces.clear();
                }
                let brace = self.opened();
                self.braces.push(brace);
                self.begin();
            }
            b'}' => {
                let ended = self.braces.pop();
                if first {
                    self.braces.clear();
                }
                // What stands behind a type is declared with it.
                match ended {
                    Some(Brace::Class | Brace::Enumerators | Brace::Initialiser) => {
                        self.parentheses = 0;
                        self.statement = Statement { typed: true, ..Statement::default() };
                    }
                    _ => self.begin(),
                }
            }
            b';' if self.parentheses == 0 => self.begin(),
            b':' if self.parentheses == 0 && !self.statement.class && !self.statement.enumeration => {
                self.statement = Statement::default();
            }
            b'*' | b'&' | b'~' | b':' | b'<' | b'>' | b',' => {}
            _ => self.statement.mixed = true,
        }
        self.before = Before::Sign(sign);
    }

    fn begin(&mut self) {
        self.parentheses = 0;
        self.statement = Statement::default();
    }

    fn opened(&self) -> Brace {
        let statement = &self.statement;
        let inside = self.inside();
        match self.before {
            Before::Sign(b'=' | b',' | b'(' | b'[') if inside != Brace::Enumerators => Brace::Initialiser,
            Before::Sign(b'{') if inside == Brace::Initialiser => Brace::Initialiser,
            Before::Sign(b')') => Brace::Body,
            _ if statement.enumeration => Brace::Enumerators,
            _ if statement.class => Brace::Class,
            _ if statement.namespace => Brace::Open,
            _ if statement.parenthesis || inside == Brace::Body => Brace::Body,
            // The parameters of a function in the old style.
            Before::Sign(b';') => Brace::Body,
            _ => Brace::Open,
        }
    }

    fn inside(&self) -> Brace {
        self.braces.last().copied().unwrap_or(Brace::Open)
    }

    /// Whether the word that ends at `end` may be what is defined.
    fn defines(&self, sought: Sought, end: usize) -> bool {
        let (next, at) = next_sign(self.text, end);
        let rest = &self.text[at.min(self.text.len())..];
        let inside = self.inside();
        let statement = &self.statement;
        if self.before == Before::Word(b"using") {
            return sought.any;
        }
        if next == b'(' && sought != Sought::default() {
            // Calls are everywhere in bodies; declarations there have a type before the name and nothing else.
            let declared = statement.typed && !statement.mixed;
            return match inside {
                Brace::Open | Brace::Class => self.parentheses == 0 || self.before == Before::Sign(b'('),
                Brace::Body => self.parentheses == 0 && (declared || body_follows(self.text, at)),
                Brace::Enumerators | Brace::Initialiser => false,
            };
        }
        if !sought.any {
            return false;
        }
        // A type with its body.
        if (statement.class || statement.enumeration)
            && (matches!(next, b'{' | b':' | b'<') || rest.starts_with(b"final"))
        {
            return true;
        }
        if inside == Brace::Enumerators {
            return self.parentheses == 0
                && matches!(
                    self.before,
                    Before::Sign(b'{' | b',' | b')' | b']') | Before::Word(_) | Before::Nothing
                );
        }
        let lasting = matches!(statement.first, b"typedef" | b"extern");
        if !(inside == Brace::Open || lasting) {
            return false;
        }
        if self.parentheses > 0 {
            // A pointer to a function or to an array.
            return next == b')'
                && (self.before == Before::Sign(b'(')
                    || matches!(next_sign(self.text, at + 1).0, b'(' | b'['))
                || self.before == Before::Sign(b'*') && matches!(next, b'[' | b'(');
        }
        let named = matches!(
            self.before,
            Before::Word(_) | Before::Sign(b'*' | b'&' | b'>' | b',' | b')' | b']' | b'}' | b'^')
        );
        named && (matches!(next, b';' | b'=' | b'[' | b',' | b':' | b'{' | b'#') || attributed(rest))
    }
}

/// Whether what follows a name says more of it: an attribute, or a macro that may be one.
fn attributed(rest: &[u8]) -> bool {
    let word = &rest[..rest.iter().take_while(|byte| is_word(**byte)).count()];
    word.starts_with(b"_")
        || word == b"asm"
        || !word.is_empty() && word.iter().all(|byte| !byte.is_ascii_lowercase())
}

/// Whether a body stands behind the parentheses that open at `at`.
fn body_follows(text: &[u8], at: usize) -> bool {
    let (mut depth, mut at) = (0_usize, at);
    while at < text.len() {
        let end = past(text, at);
        if end > at {
            at = end;
            continue;
        }
        match text[at] {
            b'(' => depth += 1,
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let (next, _) = next_sign(text, at + 1);
                    return next == b'{' || is_word(next);
                }
            }
            b'{' | b'}' | b';' => return false,
            _ => {}
        }
        at += 1;
    }
    false
}

/// The next byte that is neither blank nor comment, and where it is.
fn next_sign(text: &[u8], mut at: usize) -> (u8, usize) {
    while at < text.len() {
        if text[at].is_ascii_whitespace() {
            at += 1;
        } else if text[at..].starts_with(b"/*") || text[at..].starts_with(b"//") {
            at = past(text, at);
        } else {
            return (text[at], at);
        }
    }
    (0, at)
}

/// Where a comment or a text in quotes that begins at `at` ends; `at` where there is none.
fn past(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    match rest {
        [b'/', b'*', ..] => {
            rest[2..].windows(2).position(|pair| pair == b"*/").map_or(text.len(), |found| at + found + 4)
        }
        [b'/', b'/', ..] => {
            rest.iter().position(|&byte| byte == b'\n').map_or(text.len(), |found| at + found)
        }
        [quote @ (b'"' | b'\''), ..] => {
            let mut next = at + 1;
            while next < text.len() && text[next] != *quote && text[next] != b'\n' {
                next += if text[next] == b'\\' { 2 } else { 1 };
            }
            (next + 1).min(text.len())
        }
        _ => at,
    }
}

/// Where a line for the preprocessor ends, continued lines included; a comment that begins on it may go on.
fn line_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' {
        at = match &text[at..] {
            [b'\\', b'\r', b'\n', ..] => at + 3,
            [b'\\', _, ..] => at + 2,
            [b'/', b'*', ..] => past(text, at),
            _ => at + 1,
        };
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_pass_and_uses_do_not() {
        let both = Sought { any: true, function: true };
        let passes =
            |text: &str, what: Sought| may_define(Language::Cpp, text, &|word| (word == "w").then_some(what));
        for text in [
            "int w(int x) { return x; }",
            "int w(int x);",
            "static char *\nw (x)\n     int x;\n{\n}",
            "w(x) { }",
            "PUBLIC(int) w(void);",
            "int w;",
            "int a = f(1), *w[3];",
            "struct s { int x; } w = { 1 };",
            "int (*w)(int);",
            "typedef unsigned long w;",
            "void f(void) { typedef int w; }",
            "void f(void) { extern int w; }",
            "void f(void) { char *w(); }",
            "struct w { int x; };",
            "class EXPORT w : public base { };",
            "enum e { A, B = 3, w };",
            "enum class w { A };",
            "#define w 3",
            "  #  define w(x) (x)",
            "using w = int;",
            "namespace n { class c { int w() const { return 1; } }; }",
            "#if A\nint f(int x) {\n#else\nint f(void) {\n#endif\n  g();\n}\nint w;",
            "int w __attribute__((unused));",
            "extern \"C\" { int w(void); }",
        ] {
            assert!(passes(text, both), "{text}");
        }
        for text in [
            "void f(void) { w(1); }",
            "void f(void) { if (x) w(1); else w(2); return w(3); }",
            "void f(int w) { int w = 3; g(w, w); }",
            "int x = w;",
            "int x[] = { w, w };",
            "struct s { int w; struct s *next; };",
            "struct w *p;",
            "w x;",
            "/* int w; */ // int w;\nchar *s = \"int w;\";",
            "#if w\n#endif",
            "int f(int w, char *w);",
            "void f(void) { switch (x) { case w: break; } }",
        ] {
            assert!(!passes(text, both), "{text}");
        }
        // A member is looked for among functions.
        let function = Sought { any: false, function: true };
        assert!(!passes("int w;", function) && passes("int c::w() { }", function));
        // The other languages are not read so closely.
        assert!(may_define(Language::Python, "w = 3", &|word| (word == "w").then_some(both)));
        assert!(!may_define(Language::Python, "ww = 3", &|word| (word == "w").then_some(both)));
    }
}
