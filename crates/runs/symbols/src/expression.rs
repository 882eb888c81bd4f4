//! Expressions of C over variables: `p->next->value`, `a[3].x`, `&head`, `n * 2 == limit`.

use crate::error::{Error, Result};
use crate::literal::{self, Integer};

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Name(String),
    /// `$rax`, `$pc`.
    Register(String),
    /// An integer literal, with the type that C gives it.
    Integer(Integer),
    /// A floating-point literal, and how many bytes its type has.
    Float(f64, u64),
    Character(u8),
    /// `a.x` and `a->x`, which mean the same.
    Member(Box<Expression>, String),
    Index(Box<Expression>, Box<Expression>),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `(struct node *) p`: the name of the type, and the number of stars.
    Cast {
        name: String,
        stars: usize,
        of: Box<Expression>,
    },
    SizeOf(Box<Expression>),
    /// `sizeof(struct node *)`.
    SizeOfType {
        name: String,
        stars: usize,
    },
    /// `*p@3`: so many behind each other.
    Span(Box<Expression>, Box<Expression>),
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Deref,
    AddressOf,
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
}

impl Binary {
    /// Whether it compares.
    pub fn compares(self) -> bool {
        matches!(
            self,
            Binary::Equal
                | Binary::Unequal
                | Binary::Less
                | Binary::LessEqual
                | Binary::Greater
                | Binary::GreaterEqual
        )
    }
}

/// Binary operators with how tightly they bind; longer ones before their beginnings.
const BINARY: &[(&str, Binary, u8)] = &[
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("==", Binary::Equal, 6),
    ("!=", Binary::Unequal, 6),
    ("<<", Binary::ShiftLeft, 8),
    (">>", Binary::ShiftRight, 8),
    ("<=", Binary::LessEqual, 7),
    (">=", Binary::GreaterEqual, 7),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("<", Binary::Less, 7),
    (">", Binary::Greater, 7),
    ("+", Binary::Plus, 10),
    ("-", Binary::Minus, 10),
    ("*", Binary::Times, 11),
    ("/", Binary::Divide, 11),
    ("%", Binary::Remainder, 11),
];

/// How tightly `@` binds: as in GDB, looser than sums and tighter than shifts.
const SPAN: u8 = 9;

/// Expressions inside each other.
const MOST_NESTED: usize = 64;
/// Characters of an expression; bounds how deep its tree can be.
const MOST_TEXT: usize = 4096;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    is_type: &'a dyn Fn(&str) -> bool,
}

/// Reads an expression; `is_type` tells whether a name is that of a type, and of no variable.
pub(crate) fn parse(text: &str, is_type: &dyn Fn(&str) -> bool) -> Result<Expression> {
    let mut parser = Parser { text, at: 0, depth: 0, is_type };
    if text.len() > MOST_TEXT {
        let text = format!("{}...", text.chars().take(40).collect::<String>());
        return Err(Error::Expression { text, column: 1, why: "the expression is too long".to_owned() });
    }
    let expression = parser.conditional()?;
    parser.space();
    match parser.rest().is_empty() {
        true => Ok(expression),
        false => Err(parser.wrong("an operator or the end is expected here")),
    }
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn wrong(&self, why: &str) -> Error {
        let column = self.text[..self.at].chars().count() + 1;
        Error::Expression { text: self.text.to_owned(), column, why: why.to_owned() }
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn conditional(&mut self) -> Result<Expression> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        self.depth += 1;
        if self.depth > MOST_NESTED {
            return Err(self.wrong("the expression is nested too deeply"));
        }
        let then = self.conditional()?;
        if !self.take(":") {
            return Err(self.wrong("`:` is expected here"));
        }
        let otherwise = self.conditional()?;
        self.depth -= 1;
        Ok(Expression::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn binary(&mut self, least: u8) -> Result<Expression> {
        let mut left = self.unary()?;
        loop {
            self.space();
            if SPAN > least && self.take("@") {
                let right = self.binary(SPAN)?;
                left = Expression::Span(Box::new(left), Box::new(right));
                continue;
            }
            let rest = self.rest();
            let found = BINARY.iter().find(|(token, ..)| rest.starts_with(token));
            let Some((token, operator, tightness)) = found.filter(|(_, _, tightness)| *tightness > least)
            else {
                return Ok(left);
            };
            self.at += token.len();
            let right = self.binary(*tightness)?;
            left = Expression::Binary(*operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Result<Expression> {
        self.depth += 1;
        if self.depth > MOST_NESTED {
            return Err(self.wrong("the expression is nested too deeply"));
        }
        let operators = [
            ("*", Unary::Deref),
            ("&", Unary::AddressOf),
            ("+", Unary::Plus),
            ("-", Unary::Minus),
            ("!", Unary::Not),
            ("~", Unary::Complement),
        ];
        for (token, operator) in operators {
            if self.take(token) {
                let of = self.unary()?;
                self.depth -= 1;
                return Ok(Expression::Unary(operator, Box::new(of)));
            }
        }
        let found = if self.is_sizeof() {
            self.size_of()?
        } else if let Some((name, stars)) = self.type_in_parentheses() {
            Expression::Cast { name, stars, of: Box::new(self.unary()?) }
        } else {
            self.postfix()?
        };
        self.depth -= 1;
        Ok(found)
    }

    /// Takes `sizeof`, unless it is the beginning of a name.
    fn is_sizeof(&mut self) -> bool {
        let start = self.at;
        let found = self.word().is_some_and(|word| word == "sizeof");
        if !found {
            self.at = start;
        }
        found
    }

    fn size_of(&mut self) -> Result<Expression> {
        Ok(match self.type_in_parentheses() {
            Some((name, stars)) => Expression::SizeOfType { name, stars },
            None => Expression::SizeOf(Box::new(self.unary()?)),
        })
    }

    /// `(name *)`: in parentheses a type, told by its keyword or by its star before the end; its name and its stars.
    fn type_in_parentheses(&mut self) -> Option<(String, usize)> {
        let start = self.at;
        if !self.take("(") {
            return None;
        }
        let mut words = Vec::new();
        while let Some(word) = self.word() {
            words.push(word);
        }
        let mut stars = 0;
        while self.take("*") {
            stars += 1;
        }
        const TYPES: &[&str] = &[
            "struct", "union", "enum", "class", "char", "short", "int", "long", "unsigned", "signed",
            "float", "double", "void", "bool", "_Bool",
        ];
        let is_type = !words.is_empty() && (stars > 0 || TYPES.contains(&words[0].as_str()));
        // `(size_t) * p` is a cast or a product: that depends on what the name is.
        let is_type = is_type || words.len() == 1 && (self.is_type)(&words[0]);
        if !is_type || !self.take(")") {
            self.at = start;
            return None;
        }
        words.retain(|word| {
            !matches!(word.as_str(), "struct" | "union" | "enum" | "class" | "const" | "volatile")
        });
        Some((words.join(" "), stars))
    }

    fn word(&mut self) -> Option<String> {
        self.space();
        let rest = self.rest();
        let mut end = 0;
        for (at, c) in rest.char_indices() {
            let is_colons = c == ':' && (rest[at..].starts_with("::") || rest[..at].ends_with(':'));
            if !(c.is_alphanumeric()
                || c == '_'
                || is_colons
                || c == '~' && at > 0 && rest[..at].ends_with("::"))
            {
                break;
            }
            end = at + c.len_utf8();
        }
        let word = &rest[..end];
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == ':');
        if !is_name {
            return None;
        }
        let word = word.to_owned();
        self.at += end;
        Some(word)
    }

    fn postfix(&mut self) -> Result<Expression> {
        let mut found = self.primary()?;
        loop {
            if self.take("->") || self.is_dot() && self.take(".") {
                let name = self.word().ok_or_else(|| self.wrong("the name of a member is expected here"))?;
                found = Expression::Member(Box::new(found), name);
            } else if self.take("[") {
                let index = self.conditional()?;
                if !self.take("]") {
                    return Err(self.wrong("`]` is expected here"));
                }
                found = Expression::Index(Box::new(found), Box::new(index));
            } else {
                return Ok(found);
            }
        }
    }

    fn is_dot(&mut self) -> bool {
        self.space();
        self.rest().starts_with('.')
    }

    fn primary(&mut self) -> Result<Expression> {
        if self.take("(") {
            let inner = self.conditional()?;
            return match self.take(")") {
                true => Ok(inner),
                false => Err(self.wrong("`)` is expected here")),
            };
        }
        if self.take("$") {
            let name = self.word().ok_or_else(|| self.wrong("the name of a register is expected here"))?;
            return Ok(Expression::Register(name));
        }
        if self.take("'") {
            return self.character();
        }
        let rest = self.rest().as_bytes();
        let is_digit = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
        if is_digit(0) || rest.first() == Some(&b'.') && is_digit(1) {
            return self.number();
        }
        match self.word() {
            Some(name) => Ok(Expression::Name(name)),
            None => Err(self.wrong("a variable, a number or `(` is expected here")),
        }
    }

    fn character(&mut self) -> Result<Expression> {
        match literal::character(self.rest().as_bytes()) {
            Some((code, length)) => {
                self.at += length;
                Ok(Expression::Character(code))
            }
            None => Err(self.wrong("this is no character")),
        }
    }

    fn number(&mut self) -> Result<Expression> {
        let length = literal::length(self.rest());
        match literal::number(&self.rest()[..length]) {
            Ok(number) => {
                self.at += length;
                Ok(number)
            }
            Err(why) => Err(self.wrong(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Expression> {
        super::parse(text, &|name| name == "size_t")
    }

    #[test]
    fn operators_bind_as_in_c() {
        let shape = |text: &str| format!("{:?}", parse(text).unwrap());
        assert_eq!(shape("a + b * c == d && e"), shape("((a + (b * c)) == d) && e"));
        assert_eq!(shape("*p->next[3].x"), shape("*(((p->next)[3]).x)"));
        assert_eq!(shape("a - b - c"), shape("(a - b) - c"));
        assert_eq!(shape("&a[1]"), shape("&(a[1])"));
        assert_eq!(parse("ns::x").unwrap(), Expression::Name("ns::x".into()));
        assert!(matches!(parse("(struct node *) p").unwrap(), Expression::Cast { stars: 1, .. }));
        assert!(matches!(parse("(size_t) n").unwrap(), Expression::Cast { stars: 0, .. }));
        assert!(matches!(parse("(size_t) * n").unwrap(), Expression::Cast { stars: 0, .. }));
        assert!(matches!(parse("(a) * b").unwrap(), Expression::Binary(..)));
        assert!(matches!(parse("(p)->x").unwrap(), Expression::Member(..)));
        assert_eq!(shape("a || b ? c : d ? e : f"), shape("(a || b) ? c : (d ? e : f)"));
        assert_eq!(shape("*p@n + 1"), shape("(*p)@(n + 1)"));
        assert_eq!(shape("sizeof a + 1"), shape("(sizeof a) + 1"));
        assert_eq!(parse("sizeofs").unwrap(), Expression::Name("sizeofs".into()));
    }

    #[test]
    fn literals_have_the_types_of_c() {
        let integer = |value: u64, size: u64, signed: bool| (value, size, signed);
        let ty = |text: &str| match parse(text) {
            Ok(Expression::Integer(literal)) => {
                let (size, signed) = literal.ty(8);
                (literal.value, size, signed)
            }
            other => panic!("{text}: {other:?}"),
        };
        for (text, expected) in [
            ("1", integer(1, 4, true)),
            ("2147483648", integer(1 << 31, 8, true)),
            ("0x80000000", integer(1 << 31, 4, false)),
            ("0xffffffffffffffff", integer(u64::MAX, 8, false)),
            ("020000000000", integer(1 << 31, 4, false)),
            ("5u", integer(5, 4, false)),
            ("4294967296U", integer(1 << 32, 8, false)),
            ("1l", integer(1, 8, true)),
            ("1ULL", integer(1, 8, false)),
            ("1lu", integer(1, 8, false)),
            ("0b101", integer(5, 4, true)),
        ] {
            assert_eq!(ty(text), expected, "{text}");
        }
        for (text, expected) in [
            ("1e3", Expression::Float(1000.0, 8)),
            ("1.", Expression::Float(1.0, 8)),
            (".5", Expression::Float(0.5, 8)),
            ("2.5e-1f", Expression::Float(0.25, 4)),
            ("0x1.8p1", Expression::Float(3.0, 8)),
            ("'\\x41'", Expression::Character(0x41)),
            ("'\\377'", Expression::Character(255)),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_says_where() {
        for (text, column) in [
            ("", 1),
            ("a +", 4),
            ("a[1", 4),
            ("p->", 4),
            ("a b", 3),
            ("'ab'", 2),
            ("0x", 1),
            ("1 )", 3),
            ("a ? b", 6),
            ("1e", 1),
            ("0b2", 1),
            ("09", 1),
            ("1uu", 1),
            ("1lul", 1),
            ("1.5u", 1),
            ("a + 99999999999999999999", 5),
        ] {
            match parse(text) {
                Err(Error::Expression { column: found, .. }) => assert_eq!(found, column, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&"*".repeat(100_000)).is_err());
        assert!(parse(&format!("{}a", "a?a:".repeat(1000))).is_err());
        assert!(parse(&format!("a{}", "+a".repeat(100_000))).is_err());
    }
}
