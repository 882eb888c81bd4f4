//! From forms to a checked program: the class table first, then every method body.
//!
//! A text is a sequence of `(class C ([T f] ...) (M ...))`, optionally `(class C extends D ...)`, and at the end the
//! method to start with, `(C m)`; the paper's outer parentheses around all of it, or around the classes, are accepted.

use crate::elaborate::Body;
use crate::sexpr::{self, Form};
use crate::syntax::*;
use parallax_source::{Diagnostic, Span};
use std::collections::HashMap;

pub(crate) const RESERVED: &[&str] = &[
    "this", "null", "true", "false", "error", "new", "if", "else", "var", "in", "begin", "while", "break",
    "return", "assert", "assume", "not", "and", "or", "array", "length", "class", "extends", "bool", "int",
];

/// Arrays of arrays have names that grow with each dimension.
const MAX_DIMENSIONS: usize = 255;

/// Reads and checks a program.
pub fn parse(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let forms = sexpr::read(text).map_err(|diagnostic| vec![diagnostic])?;
    let mut reader = Reader {
        program: Program::default(),
        names: HashMap::new(),
        diagnostics: Vec::new(),
        decided: Vec::new(),
    };
    reader.intern("this");
    reader.program(&flatten(&forms), text.len());
    if reader.diagnostics.is_empty() { Ok(reader.program) } else { Err(reader.diagnostics) }
}

/// The classes and the entry, whatever parentheses stand around them.
fn flatten(forms: &[Form]) -> Vec<&Form> {
    let is_group =
        |form: &Form| form.list().is_some_and(|items| items.iter().any(|item| item.list().is_some()));
    let mut flat = Vec::new();
    let mut open: Vec<&Form> = forms.iter().rev().collect();
    while let Some(form) = open.pop() {
        if !starts_class(form) && is_group(form) {
            open.extend(form.list().unwrap_or(&[]).iter().rev());
        } else {
            flat.push(form);
        }
    }
    flat
}

fn starts_class(form: &Form) -> bool {
    form.list().is_some_and(|items| items.first().is_some_and(|first| first.is("class")))
}

pub(crate) struct Reader {
    pub program: Program,
    names: HashMap<String, Name>,
    pub diagnostics: Vec<Diagnostic>,
    /// For each expression, whether every engine already knows its value when it gets there, because computing it was an
    /// outcome.
    pub decided: Vec<bool>,
}

/// A method whose signature is known and whose body waits for every other signature.
struct Pending<'f> {
    id: MethodId,
    body: &'f Form,
}

impl Reader {
    pub fn intern(&mut self, word: &str) -> Name {
        if let Some(&name) = self.names.get(word) {
            return name;
        }
        let name = Name(self.program.names.len() as u32);
        self.program.names.push(word.to_owned());
        self.names.insert(word.to_owned(), name);
        name
    }

    fn complain(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(span, message));
    }

    fn program(&mut self, forms: &[&Form], end: usize) {
        let (classes, rest): (Vec<&Form>, Vec<&Form>) = forms.iter().partition(|form| starts_class(form));
        if classes.is_empty() {
            return self.complain(
                rest.first().map_or(Span::new(end, end), |form| form.span),
                "expected `(class C ([T f] ...) (M ...))`",
            );
        }
        let headers: Vec<_> = classes.iter().filter_map(|form| self.header(form)).collect();
        if !self.diagnostics.is_empty() || !self.inheritance(&headers) {
            return;
        }
        // A superclass comes before its subclasses here, whatever their order in the text.
        let mut order: Vec<usize> = (0..headers.len()).collect();
        order.sort_by_key(|&at| self.ancestry(ClassId(at as u32)));
        for &at in &order {
            self.fields(ClassId(at as u32), headers[at].fields);
        }
        let mut pending = Vec::new();
        for &at in &order {
            self.methods(ClassId(at as u32), headers[at].methods, &mut pending);
        }
        if self.diagnostics.is_empty() {
            for Pending { id, body } in pending {
                self.body(id, body);
            }
        }
        for form in rest {
            self.entry(form);
        }
    }

    fn header<'f>(&mut self, form: &'f Form) -> Option<Header<'f>> {
        let items = form.list()?;
        let (parent, at) =
            if items.get(2).is_some_and(|word| word.is("extends")) { (items.get(3), 4) } else { (None, 2) };
        let (Some(name), Some(fields), Some(methods), None) =
            (items.get(1), items.get(at), items.get(at + 1), items.get(at + 2))
        else {
            self.complain(form.span, "expected `(class C ([T f] ...) (M ...))`");
            return None;
        };
        let text = self.identifier(name)?;
        if self.program.class_named(&text).is_some() {
            self.complain(name.span, format!("class {text} is declared twice"));
            return None;
        }
        self.program.class_spans.push(form.span);
        self.program.classes.push(Class {
            name: text,
            parent: None,
            fields: Vec::new(),
            methods: Default::default(),
            element: None,
        });
        Some(Header { parent, fields, methods })
    }

    /// Links superclasses; false if that is impossible.
    fn inheritance(&mut self, headers: &[Header]) -> bool {
        for (at, header) in headers.iter().enumerate() {
            let Some(form) = header.parent else { continue };
            let parent = form.atom().and_then(|word| self.program.class_named(word));
            match parent {
                Some(parent) => self.program.classes[at].parent = Some(parent),
                None => self.complain(form.span, "unknown superclass"),
            }
        }
        for (at, header) in headers.iter().enumerate() {
            let (mut here, mut steps) = (self.program.classes[at].parent, 0);
            while let Some(parent) = here {
                steps += 1;
                if steps > headers.len() {
                    let span = header.parent.map_or(Span::default(), |form| form.span);
                    self.complain(
                        span,
                        format!("class {} is its own superclass", self.program.classes[at].name),
                    );
                    return false;
                }
                here = self.program.class(parent).parent;
            }
        }
        self.diagnostics.is_empty()
    }

    fn ancestry(&self, class: ClassId) -> usize {
        std::iter::successors(Some(class), |&at| self.program.class(at).parent).count()
    }

    fn fields(&mut self, class: ClassId, form: &Form) {
        let mut fields = match self.program.class(class).parent {
            Some(parent) => self.program.class(parent).fields.clone(),
            None => Vec::new(),
        };
        let Some(items) = form.list() else {
            return self.complain(form.span, "expected the fields, `([T f] ...)`");
        };
        for item in items {
            let Some((ty, name)) = self.binding(item) else { continue };
            if fields.iter().any(|field: &Field| field.name == name) {
                let text = self.program.name(name).to_owned();
                self.complain(item.span, format!("field {text} is declared twice"));
            }
            fields.push(Field { name, ty });
        }
        self.program.classes[class.0 as usize].fields = fields;
    }

    /// `[T x]`
    fn binding(&mut self, form: &Form) -> Option<(Type, Name)> {
        let Some([ty, name]) = form.list() else {
            self.complain(form.span, "expected a type and a name, `[T x]`");
            return None;
        };
        let ty = self.ty(ty)?;
        let text = self.identifier(name)?;
        Some((ty, self.intern(&text)))
    }

    /// A type as written: `bool`, `int`, a class, `(array T)`.
    pub fn ty(&mut self, form: &Form) -> Option<Type> {
        let (mut form, mut arrays) = (form, 0);
        while let Some([word, element]) = form.list()
            && word.is("array")
        {
            (form, arrays) = (element, arrays + 1);
        }
        if arrays > MAX_DIMENSIONS {
            self.complain(form.span, format!("an array has at most {MAX_DIMENSIONS} dimensions"));
            return None;
        }
        let mut ty = self.element(form)?;
        for _ in 0..arrays {
            ty = Type::Ref(self.array_of(ty));
        }
        Some(ty)
    }

    fn element(&mut self, form: &Form) -> Option<Type> {
        match form.atom() {
            Some("bool") => Some(Type::Bool),
            Some("int") => Some(Type::Int),
            Some(word) => match self.program.class_named(word) {
                Some(class) => Some(Type::Ref(class)),
                None => {
                    self.complain(form.span, format!("unknown class {word}"));
                    None
                }
            },
            None => {
                self.complain(form.span, "expected a type: bool, int, a class or `(array T)`");
                None
            }
        }
    }

    /// The array type of this element type; one for each.
    pub fn array_of(&mut self, element: Type) -> ClassId {
        let known = self.program.classes.iter().position(|class| class.element == Some(element));
        ClassId(known.unwrap_or_else(|| {
            let name = format!("(array {})", self.program.type_name(element));
            self.program.classes.push(Class {
                name,
                parent: None,
                fields: Vec::new(),
                methods: Default::default(),
                element: Some(element),
            });
            self.program.classes.len() - 1
        }) as u32)
    }

    pub fn identifier(&mut self, form: &Form) -> Option<String> {
        let valid = |word: &str| {
            word.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
                && word.chars().all(|c| c.is_alphanumeric() || "_-?'".contains(c))
                && !RESERVED.contains(&word)
        };
        match form.atom() {
            Some(word) if valid(word) => Some(word.to_owned()),
            Some(word) => {
                self.complain(form.span, format!("`{word}` is not a name"));
                None
            }
            None => {
                self.complain(form.span, "expected a name");
                None
            }
        }
    }

    fn methods<'f>(&mut self, class: ClassId, form: &'f Form, pending: &mut Vec<Pending<'f>>) {
        let inherited = match self.program.class(class).parent {
            Some(parent) => self.program.class(parent).methods.clone(),
            None => Default::default(),
        };
        self.program.classes[class.0 as usize].methods = inherited.clone();
        let Some(items) = form.list() else {
            return self.complain(form.span, "expected the methods, `((T m [T x] ... e) ...)`");
        };
        for item in items {
            let Some((method, body)) = self.signature(class, item) else { continue };
            let name = method.name;
            let text = self.program.name(name).to_owned();
            if let Some(&overridden) = inherited.get(&name) {
                let above = self.program.method(overridden);
                let types = |m: &Method| m.parameters.iter().map(|p| p.1).collect::<Vec<_>>();
                if types(above) != types(&method) || above.result != method.result {
                    self.complain(item.span, format!("method {text} overrides one with another signature"));
                }
            }
            let id = MethodId(self.program.methods.len() as u32);
            let own = &mut self.program.classes[class.0 as usize].methods;
            if own.insert(name, id).is_some() && !inherited.contains_key(&name) {
                self.complain(item.span, format!("method {text} is declared twice"));
            }
            self.program.methods.push(method);
            pending.push(Pending { id, body });
        }
    }

    /// `(T m [T x] ... e)`
    fn signature<'f>(&mut self, class: ClassId, form: &'f Form) -> Option<(Method, &'f Form)> {
        let Some([result, name, parameters @ .., body]) = form.list() else {
            self.complain(form.span, "expected a method, `(T m [T x] ... e)`");
            return None;
        };
        let result = self.ty(result)?;
        let text = self.identifier(name)?;
        let name = self.intern(&text);
        let mut bound: Vec<(Name, Type)> = Vec::new();
        for parameter in parameters {
            if parameter.bracketed().is_none() {
                self.complain(
                    parameter.span,
                    "expected a parameter, `[T x]`; a method has one body, use `(begin e ...)`",
                );
                return None;
            }
            let (ty, name) = self.binding(parameter)?;
            if bound.iter().any(|(other, _)| *other == name) {
                self.complain(parameter.span, "two parameters have this name");
            }
            bound.push((name, ty));
        }
        let method = Method { class, name, result, parameters: bound, body: ExprId(0), span: form.span };
        Some((method, body))
    }

    fn body(&mut self, id: MethodId, form: &Form) {
        let method = self.program.method(id).clone();
        let mut scope = vec![(THIS, Type::Ref(method.class))];
        scope.extend(&method.parameters);
        match Body::new(self, scope, method.result).typed(form, method.result) {
            Ok(body) => self.program.methods[id.0 as usize].body = body,
            Err(diagnostic) => self.diagnostics.push(*diagnostic),
        }
    }

    /// `(C m)`
    fn entry(&mut self, form: &Form) {
        let Some([class_form, method_form]) = form.list() else {
            return self.complain(form.span, "expected a class or the method to start with, `(C m)`");
        };
        if self.program.main.is_some() {
            return self.complain(form.span, "a program starts with one method only");
        }
        let Some(class) = class_form.atom().and_then(|word| self.program.class_named(word)) else {
            return self.complain(class_form.span, "unknown class");
        };
        match method_form.atom().and_then(|word| self.program.method_named(class, word)) {
            Some(method) => self.program.main = Some((class, method)),
            None => {
                let name = self.program.class(class).name.clone();
                self.complain(method_form.span, format!("class {name} has no such method"));
            }
        }
    }
}

struct Header<'f> {
    parent: Option<&'f Form>,
    fields: &'f Form,
    methods: &'f Form,
}
