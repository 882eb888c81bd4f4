//! One method body, from form to typed expression.
//!
//! `and`, `or`, `!=`, `>`, `>=` and a field write whose base is not a variable are written out in terms of the
//! forms the machine has rules for.

use crate::declare::Reader;
use crate::sexpr::{Form, Kind};
use crate::syntax::*;
use parallax_source::{Diagnostic, Span};

type Checked<T> = Result<T, Box<Diagnostic>>;

/// What is in scope while a body is read.
pub(crate) struct Body<'r> {
    reader: &'r mut Reader,
    scope: Vec<(Name, Type)>,
    result: Type,
    loops: usize,
}

fn wrong<T>(span: Span, message: impl Into<String>) -> Checked<T> {
    Err(Box::new(Diagnostic::new(span, message)))
}

impl<'r> Body<'r> {
    pub fn new(reader: &'r mut Reader, scope: Vec<(Name, Type)>, result: Type) -> Self {
        Body { reader, scope, result, loops: 0 }
    }

    fn program(&self) -> &Program {
        &self.reader.program
    }

    fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        // What stands inside is there already, so that nothing has to look twice.
        let decided = match expr {
            Expr::Equal(..) | Expr::Bool(_) => true,
            Expr::Not(inner) => self.decided(inner),
            Expr::If(_, then, other, _) => self.decided(then) && self.decided(other),
            _ => false,
        };
        self.reader.decided.push(decided);
        let exprs = &mut self.reader.program.exprs;
        exprs.push((expr, span));
        ExprId(exprs.len() as u32 - 1)
    }

    fn fits(&self, from: Type, to: Type) -> bool {
        match (from, to) {
            (Type::Never, _) | (Type::Null, Type::Ref(_)) => true,
            (Type::Ref(sub), Type::Ref(class)) => self.program().is_subclass(sub, class),
            _ => from == to,
        }
    }

    /// Reads a form whose value must be of type `ty`.
    pub fn typed(&mut self, form: &Form, ty: Type) -> Checked<ExprId> {
        let (expr, found) = self.value(form)?;
        if self.fits(found, ty) {
            return Ok(expr);
        }
        let (wanted, found) = (self.program().type_name(ty), self.program().type_name(found));
        wrong(form.span, format!("expected {wanted}, found {found}"))
    }

    /// Reads a form whose value is used, so that it must have a type.
    fn value(&mut self, form: &Form) -> Checked<(ExprId, Type)> {
        match self.expr(form)? {
            (expr, Some(ty)) => Ok((expr, ty)),
            (_, None) => wrong(form.span, "the branches of this choice have no type in common"),
        }
    }

    fn reference(&mut self, form: &Form) -> Checked<(ExprId, ClassId)> {
        match self.value(form)? {
            (expr, Type::Ref(class)) => Ok((expr, class)),
            (_, Type::Null) => wrong(form.span, "null has no fields, methods or elements"),
            (_, found) => {
                let found = self.program().type_name(found);
                wrong(form.span, format!("expected an object, found {found}"))
            }
        }
    }

    fn field(&self, class: ClassId, form: &Form) -> Checked<(usize, Type)> {
        let fields = &self.program().class(class).fields;
        match fields.iter().position(|field| form.is(self.program().name(field.name))) {
            Some(at) => Ok((at, fields[at].ty)),
            None => wrong(form.span, format!("class {} has no such field", self.program().class(class).name)),
        }
    }

    fn variable(&mut self, form: &Form) -> Checked<(Name, Type)> {
        let Some(word) = form.atom() else { return wrong(form.span, "expected a variable") };
        let name = self.reader.intern(word);
        match self.scope.iter().rev().find(|(known, _)| *known == name) {
            Some(&(_, ty)) => Ok((name, ty)),
            None => wrong(form.span, format!("unknown variable {word}")),
        }
    }

    /// The expression and its type; no type if it is a choice between unrelated ones.
    fn expr(&mut self, form: &Form) -> Checked<(ExprId, Option<Type>)> {
        let (expr, ty) = match &form.kind {
            Kind::Atom(word) => self.atom(word, form)?,
            Kind::List(items, _) => {
                return stacker::maybe_grow(128 << 10, 4 << 20, || self.compound(items, form.span));
            }
        };
        Ok((self.push(expr, form.span), Some(ty)))
    }

    fn atom(&mut self, word: &str, form: &Form) -> Checked<(Expr, Type)> {
        Ok(match word {
            "null" => (Expr::Null, Type::Null),
            "true" => (Expr::Bool(true), Type::Bool),
            "false" => (Expr::Bool(false), Type::Bool),
            "error" => (Expr::Error, Type::Never),
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => match word.parse() {
                Ok(value) => (Expr::Int(value), Type::Int),
                Err(_) => return wrong(form.span, format!("`{word}` is not a 32-bit integer")),
            },
            _ => {
                let (name, ty) = self.variable(form)?;
                (Expr::Var(name), ty)
            }
        })
    }

    fn compound(&mut self, items: &[Form], span: Span) -> Checked<(ExprId, Option<Type>)> {
        let word = |at: usize| items.get(at).and_then(Form::atom).unwrap_or("");
        let (expr, ty) = match (word(0), word(1), items) {
            ("new", _, [_, class]) => match class.atom().and_then(|word| self.program().class_named(word)) {
                Some(class) => (Expr::New(class), Type::Ref(class)),
                None => return wrong(class.span, "unknown class"),
            },
            ("array", _, [_, element, length]) => {
                let Some(element) = self.reader.ty(element) else {
                    let complaint = self.reader.diagnostics.pop();
                    return Err(Box::new(
                        complaint.unwrap_or_else(|| Diagnostic::new(span, "expected a type")),
                    ));
                };
                let class = self.reader.array_of(element);
                (Expr::NewArray(class, self.typed(length, Type::Int)?), Type::Ref(class))
            }
            ("begin", _, _) => return self.begin(&items[1..], span),
            ("if", _, [_, condition, then, word, other]) if word.is("else") => {
                return self.choice(condition, then, other, span);
            }
            ("if", _, _) => return wrong(span, "expected `(if e e else e)`"),
            ("var", _, [_, ty, name, becomes, value, word, body]) if becomes.is(":=") && word.is("in") => {
                return self.var(ty, name, value, body, span);
            }
            ("var", _, _) => return wrong(span, "expected `(var T x := e in e)`"),
            ("while", _, [_, condition, body]) => {
                let condition = self.typed(condition, Type::Bool)?;
                self.loops += 1;
                let body = self.expr(body)?.0;
                self.loops -= 1;
                (Expr::While(condition, body, !self.decided(condition)), Type::Bool)
            }
            ("break", _, [_]) if self.loops > 0 => (Expr::Break, Type::Never),
            ("break", ..) => return wrong(span, "`(break)` stands inside a while"),
            ("return", _, [_, value]) => {
                let result = self.result;
                (Expr::Return(self.typed(value, result)?), Type::Never)
            }
            ("assert", _, [_, e]) => (Expr::Assert(self.typed(e, Type::Bool)?), Type::Bool),
            ("assume", _, [_, e]) => (Expr::Assume(self.typed(e, Type::Bool)?), Type::Bool),
            ("not", _, [_, e]) => (Expr::Not(self.typed(e, Type::Bool)?), Type::Bool),
            ("length", _, [_, e]) => {
                let (array, class) = self.reference(e)?;
                if self.program().class(class).element.is_none() {
                    return wrong(e.span, "expected an array");
                }
                (Expr::Length(array), Type::Int)
            }
            (_, "$", [base, _, field]) => {
                let (base, class) = self.reference(base)?;
                let (at, ty) = self.field(class, field)?;
                (Expr::Get(base, at), ty)
            }
            (_, "$", [base, _, field, becomes, value]) if becomes.is(":=") => {
                return self.set(base, field, value, span);
            }
            (_, "#", [array, _, index]) => {
                let (array, element) = self.array(array)?;
                (Expr::At(array, self.typed(index, Type::Int)?), element)
            }
            (_, "#", [array, _, index, becomes, value]) if becomes.is(":=") => {
                let (array, element) = self.array(array)?;
                let index = self.typed(index, Type::Int)?;
                (Expr::Put(array, index, self.typed(value, element)?), element)
            }
            (_, ":=", [name, _, value]) => {
                let (name, ty) = self.variable(name)?;
                if name == THIS {
                    return wrong(span, "`this` cannot be assigned");
                }
                (Expr::Assign(name, self.typed(value, ty)?), ty)
            }
            (_, "@", [receiver, _, method, arguments @ ..]) => self.call(receiver, method, arguments)?,
            (_, "=" | "!=", [left, _, right]) => {
                let equal = self.equality(left, right, span)?;
                if word(1) == "=" {
                    (equal, Type::Bool)
                } else {
                    (Expr::Not(self.push(equal, span)), Type::Bool)
                }
            }
            (_, "and" | "or", [left, _, right]) => {
                let left = self.typed(left, Type::Bool)?;
                let right = self.typed(right, Type::Bool)?;
                let fixed = self.push(Expr::Bool(word(1) == "or"), span);
                let new = !self.decided(left);
                let choice = if word(1) == "and" {
                    Expr::If(left, right, fixed, new)
                } else {
                    Expr::If(left, fixed, right, new)
                };
                (choice, Type::Bool)
            }
            (_, "+" | "-" | "*", [left, op, right]) => {
                let (left, right) = (self.typed(left, Type::Int)?, self.typed(right, Type::Int)?);
                let op = match op.atom() {
                    Some("+") => Arith::Add,
                    Some("-") => Arith::Sub,
                    _ => Arith::Mul,
                };
                (Expr::Arith(op, left, right), Type::Int)
            }
            (_, "<" | "<=" | ">" | ">=", [left, _, right]) => {
                let (left, right) = (self.typed(left, Type::Int)?, self.typed(right, Type::Int)?);
                // a > b is not (a <= b): the operands keep their order of evaluation.
                let compare = |body: &mut Self, op, negated| {
                    let expr = Expr::Compare(op, left, right);
                    if negated { Expr::Not(body.push(expr, span)) } else { expr }
                };
                let expr = match word(1) {
                    "<" => compare(self, Compare::Lt, false),
                    "<=" => compare(self, Compare::Le, false),
                    ">" => compare(self, Compare::Le, true),
                    _ => compare(self, Compare::Lt, true),
                };
                (expr, Type::Bool)
            }
            _ => return wrong(span, "this is no Javalite expression"),
        };
        Ok((self.push(expr, span), Some(ty)))
    }

    fn array(&mut self, form: &Form) -> Checked<(ExprId, Type)> {
        let (array, class) = self.reference(form)?;
        match self.program().class(class).element {
            Some(element) => Ok((array, element)),
            None => wrong(form.span, format!("{} is not an array", self.program().class(class).name)),
        }
    }

    fn begin(&mut self, items: &[Form], span: Span) -> Checked<(ExprId, Option<Type>)> {
        let mut ty = Some(Type::Bool);
        let mut parts = Vec::new();
        for item in items {
            let (part, found) = self.expr(item)?;
            parts.push(part);
            ty = found;
        }
        Ok((self.push(Expr::Begin(parts), span), ty))
    }

    fn choice(
        &mut self,
        condition: &Form,
        then: &Form,
        other: &Form,
        span: Span,
    ) -> Checked<(ExprId, Option<Type>)> {
        let condition = self.typed(condition, Type::Bool)?;
        let (then, a) = self.expr(then)?;
        let (other, b) = self.expr(other)?;
        let new = !self.decided(condition);
        let ty = a.zip(b).and_then(|(a, b)| self.join(a, b));
        Ok((self.push(Expr::If(condition, then, other, new), span), ty))
    }

    fn join(&self, a: Type, b: Type) -> Option<Type> {
        if self.fits(a, b) {
            return Some(b);
        }
        if self.fits(b, a) {
            return Some(a);
        }
        let (Type::Ref(mut class), Type::Ref(_)) = (a, b) else { return None };
        while let Some(parent) = self.program().class(class).parent {
            class = parent;
            if self.fits(b, Type::Ref(class)) {
                return Some(Type::Ref(class));
            }
        }
        None
    }

    /// Whether every engine already knows the value when it gets there, because computing it was an outcome.
    fn decided(&self, condition: ExprId) -> bool {
        self.reader.decided[condition.0 as usize]
    }

    fn var(
        &mut self,
        ty: &Form,
        name: &Form,
        value: &Form,
        body: &Form,
        span: Span,
    ) -> Checked<(ExprId, Option<Type>)> {
        let (Some(ty), Some(text)) = (self.reader.ty(ty), self.reader.identifier(name)) else {
            let complaint = self.reader.diagnostics.pop();
            return Err(Box::new(
                complaint.unwrap_or_else(|| Diagnostic::new(span, "expected a declaration")),
            ));
        };
        let value = self.typed(value, ty)?;
        let name = self.reader.intern(&text);
        self.scope.push((name, ty));
        let body = self.expr(body);
        self.scope.pop();
        let (body, ty) = body?;
        Ok((self.push(Expr::Let(name, value, body), span), ty))
    }

    /// `(x $ f := e)`; any other base is evaluated first, into a variable that no text can name.
    fn set(
        &mut self,
        base: &Form,
        field: &Form,
        value: &Form,
        span: Span,
    ) -> Checked<(ExprId, Option<Type>)> {
        if base.atom().is_some() {
            let (name, ty) = self.variable(base)?;
            let Type::Ref(class) = ty else { return wrong(base.span, "expected an object") };
            let (at, ty) = self.field(class, field)?;
            let value = self.typed(value, ty)?;
            return Ok((self.push(Expr::Set(name, at, value), span), Some(ty)));
        }
        let (base, class) = self.reference(base)?;
        let (at, ty) = self.field(class, field)?;
        let name = self.reader.intern(&format!("base of {}", span.start));
        let value = self.typed(value, ty)?;
        let set = self.push(Expr::Set(name, at, value), span);
        Ok((self.push(Expr::Let(name, base, set), span), Some(ty)))
    }

    fn call(&mut self, receiver: &Form, method: &Form, arguments: &[Form]) -> Checked<(Expr, Type)> {
        let (receiver, class) = self.reference(receiver)?;
        let Some(id) = method.atom().and_then(|word| self.program().method_named(class, word)) else {
            return wrong(
                method.span,
                format!("class {} has no such method", self.program().class(class).name),
            );
        };
        let Method { name, result, parameters, .. } = self.program().method(id).clone();
        if arguments.len() != parameters.len() {
            return wrong(
                method.span,
                format!("this method takes {} arguments, not {}", parameters.len(), arguments.len()),
            );
        }
        let mut parts = Vec::new();
        for (argument, (_, ty)) in arguments.iter().zip(parameters) {
            parts.push(self.typed(argument, ty)?);
        }
        Ok((Expr::Call(receiver, name, parts), result))
    }

    fn equality(&mut self, left: &Form, right: &Form, span: Span) -> Checked<Expr> {
        let (a, left_type) = self.value(left)?;
        let (b, right_type) = self.value(right)?;
        match (left_type, right_type) {
            (Type::Bool, Type::Bool) => Ok(Expr::Iff(a, b)),
            (Type::Int, Type::Int) => Ok(Expr::Compare(Compare::Eq, a, b)),
            _ if self.fits(left_type, right_type) || self.fits(right_type, left_type) => {
                Ok(Expr::Equal(a, b))
            }
            _ => {
                let (a, b) = (self.program().type_name(left_type), self.program().type_name(right_type));
                wrong(span, format!("{a} and {b} are never equal"))
            }
        }
    }
}
