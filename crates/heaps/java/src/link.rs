//! Dynamic calls: lambdas, string concatenation, the methods of records. Each is linked to a method made here, in the
//! instructions that everything else is made of.

use crate::code::{Call, Code, Constant, Instr, Kind, Member};
use crate::program::{LinkError, Method, Program};
use crate::read::{Argument, Bootstrap, ClassFile, FieldDeclaration, Handle, MethodDeclaration, flags};
use crate::types::{Signature, Type, dotted};
use cafebabe::constant_pool::ReferenceKind;
use parallax_op::{BinOp, RelOp};
use std::rc::Rc;

impl Program {
    /// The static method that a dynamic call comes to.
    pub(crate) fn link(
        &self,
        caller: &Method,
        at: usize,
        bootstrap: u16,
        name: &str,
        signature: &Rc<Signature>,
    ) -> Result<Rc<Method>, LinkError> {
        self.site(caller, at, || {
            let class = self.class(caller.class);
            let unknown = |what: &str| LinkError::NoMember(format!("the dynamic call by {what}"));
            let Some(bootstrap) = class.bootstraps.get(usize::from(bootstrap)) else {
                return Err(unknown("a bootstrap method that is not there"));
            };
            let by = &bootstrap.method.member;
            let site = Site {
                program: self,
                class: format!("{}$$Dynamic${}x{at}", class.name, caller.index),
                bootstrap,
                name,
                signature,
            };
            let made = match (&*by.class, &*by.name) {
                ("java/lang/invoke/LambdaMetafactory", "metafactory" | "altMetafactory") => site.lambda(),
                ("java/lang/invoke/StringConcatFactory", "makeConcatWithConstants") => {
                    site.concatenation(true)
                }
                ("java/lang/invoke/StringConcatFactory", "makeConcat") => site.concatenation(false),
                ("java/lang/runtime/ObjectMethods", "bootstrap") => site.record(),
                _ => None,
            };
            let file = made.ok_or_else(|| unknown(&format!("{}.{}", dotted(&by.class), by.name)))?;
            let id = self.define_named(file, class.own)?;
            Ok(self.class(id).methods[0].clone())
        })
    }
}

struct Site<'a> {
    program: &'a Program,
    class: String,
    bootstrap: &'a Bootstrap,
    name: &'a str,
    signature: &'a Rc<Signature>,
}

/// An argument: its type, and what pushes it.
type Given = (Type, Box<dyn Fn(&mut Body)>);

/// A body under construction.
#[derive(Default)]
struct Body {
    code: Vec<Instr>,
    locals: u16,
}

fn kind(ty: &Type) -> Kind {
    match ty {
        Type::Long => Kind::Long,
        Type::Float => Kind::Float,
        Type::Double => Kind::Double,
        Type::Ref(_) => Kind::Ref,
        _ => Kind::Int,
    }
}

/// The class that a primitive is boxed in.
fn boxed(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Boolean => "java/lang/Boolean",
        Type::Byte => "java/lang/Byte",
        Type::Char => "java/lang/Character",
        Type::Short => "java/lang/Short",
        Type::Int => "java/lang/Integer",
        Type::Long => "java/lang/Long",
        Type::Float => "java/lang/Float",
        Type::Double => "java/lang/Double",
        Type::Ref(_) => return None,
    })
}

const PRIMITIVES: [Type; 8] =
    [Type::Boolean, Type::Byte, Type::Char, Type::Short, Type::Int, Type::Long, Type::Float, Type::Double];

impl Body {
    /// Reserves variables for parameters and gives the first of each.
    fn parameters(&mut self, types: &[Type]) -> Vec<u16> {
        let mut at = Vec::new();
        for ty in types {
            at.push(self.locals);
            self.locals += 1 + u16::from(ty.is_wide());
        }
        at
    }

    fn load(&mut self, ty: &Type, at: u16) {
        self.code.push(Instr::Load(kind(ty), at));
    }

    fn call(&mut self, call: Call, class: &str, name: &str, descriptor: &str) {
        let signature = Signature::parse(descriptor).map(Rc::new);
        if let Some(signature) = signature {
            self.code.push(Instr::Invoke(call, Member::new(class, name, descriptor), signature));
        }
    }

    fn give(&mut self, ty: Option<&Type>) {
        self.code.push(Instr::Return(ty.map(kind)));
    }

    fn finish(self) -> Option<Rc<Code>> {
        let stack = self.code.len() + 8;
        Some(Rc::new(Code { instructions: self.code, locals: self.locals.into(), stack, ..Code::default() }))
    }

    /// Turns the value on top of the stack from one type into another, as method handles do.
    fn adapt(&mut self, from: &Type, to: &Type) {
        match (from, to) {
            (Type::Ref(from), Type::Ref(to)) => {
                if from != to && **to != *"java/lang/Object" {
                    self.code.push(Instr::CheckCast(to.clone()));
                }
            }
            (Type::Ref(name), to) => {
                let own = PRIMITIVES.iter().find(|ty| boxed(ty) == Some(&**name)).unwrap_or(to);
                let class = boxed(own).unwrap_or("java/lang/Object");
                self.code.push(Instr::CheckCast(class.into()));
                let name = format!("{}Value", own.source());
                self.call(Call::Virtual, class, &name, &format!("(){}", own.descriptor()));
                self.widen(own, to);
            }
            (from, Type::Ref(_)) => {
                let class = boxed(from).unwrap_or("java/lang/Object");
                let descriptor = format!("({})L{class};", from.descriptor());
                self.call(Call::Static, class, "valueOf", &descriptor);
            }
            (from, to) => self.widen(from, to),
        }
    }

    fn widen(&mut self, from: &Type, to: &Type) {
        if kind(from) != kind(to) {
            self.code.push(Instr::Convert(kind(from), kind(to)));
        }
    }

    /// Appends the value on top of the stack to the `StringBuilder` below it.
    fn append(&mut self, ty: &Type) {
        let descriptor = match ty {
            Type::Byte | Type::Short | Type::Int => "I".to_owned(),
            Type::Ref(name) if **name == *"java/lang/String" => ty.descriptor(),
            Type::Ref(_) => "Ljava/lang/Object;".to_owned(),
            other => other.descriptor(),
        };
        self.call(
            Call::Virtual,
            "java/lang/StringBuilder",
            "append",
            &format!("({descriptor})Ljava/lang/StringBuilder;"),
        );
    }

    fn append_text(&mut self, text: &[u16]) {
        if !text.is_empty() {
            self.code.push(Instr::Push(Constant::String(text.into())));
            self.append(&Type::Ref("java/lang/String".into()));
        }
    }

    fn builder(&mut self) {
        self.code.push(Instr::Opaque);
        self.code.push(Instr::New("java/lang/StringBuilder".into()));
        self.code.push(Instr::Shuffle(crate::code::Shuffle::Dup));
        self.call(Call::Special, "java/lang/StringBuilder", "<init>", "()V");
    }

    fn built(&mut self) {
        self.call(Call::Virtual, "java/lang/StringBuilder", "toString", "()Ljava/lang/String;");
        self.code.push(Instr::Return(Some(Kind::Ref)));
    }
}

fn method(name: &str, signature: &Signature, access: u16, code: Option<Rc<Code>>) -> MethodDeclaration {
    MethodDeclaration {
        name: name.into(),
        descriptor: signature.descriptor().into(),
        signature: Rc::new(signature.clone()),
        flags: access | flags::PUBLIC | flags::SYNTHETIC,
        code,
    }
}

impl Site<'_> {
    fn file(&self, interfaces: Vec<Rc<str>>, methods: Vec<MethodDeclaration>) -> ClassFile {
        ClassFile {
            name: self.class.as_str().into(),
            superclass: Some("java/lang/Object".into()),
            interfaces,
            flags: flags::FINAL | flags::SYNTHETIC,
            fields: Vec::new(),
            methods,
            bootstraps: Vec::new(),
            source: None,
            inner_name: None,
        }
    }

    /// A class with a field for each captured value, a method that makes an instance, and the interface's method.
    fn lambda(&self) -> Option<ClassFile> {
        let arguments = &self.bootstrap.arguments;
        let [Argument::Type(erased), Argument::Handle(target), Argument::Type(exact), more @ ..] =
            arguments.as_slice()
        else {
            return None;
        };
        let Some(Type::Ref(interface)) = &self.signature.result else { return None };
        let captured = &self.signature.parameters;
        let mut interfaces = vec![interface.clone()];
        let mut bridges = vec![erased.clone()];
        if let [Argument::Constant(Constant::Int(flags)), more @ ..] = more {
            let mut more = more.iter();
            let mut count = |wanted: bool| match wanted.then(|| more.next()) {
                Some(Some(Argument::Constant(Constant::Int(count)))) => *count,
                _ => 0,
            };
            if flags & 1 != 0 {
                interfaces.push("java/io/Serializable".into());
            }
            let markers = count(flags & 2 != 0);
            let mut rest = arguments[4 + usize::from(flags & 2 != 0)..].iter();
            for _ in 0..markers {
                let Some(Argument::Constant(Constant::Class(name))) = rest.next() else { return None };
                interfaces.push(name.clone());
            }
            if flags & 4 != 0 {
                rest.next();
                for bridge in rest {
                    let Argument::Type(bridge) = bridge else { return None };
                    bridges.push(bridge.clone());
                }
            }
        }
        let field = |at: usize| format!("captured{at}");
        let mut make = Body::default();
        let at = make.parameters(captured);
        make.code.push(Instr::New(self.class.as_str().into()));
        for (number, (ty, at)) in captured.iter().zip(at).enumerate() {
            make.code.push(Instr::Shuffle(crate::code::Shuffle::Dup));
            make.load(ty, at);
            make.code.push(Instr::PutField(Member::new(&self.class, &field(number), &ty.descriptor())));
        }
        make.code.push(Instr::Return(Some(Kind::Ref)));
        let mut methods = vec![method("make", self.signature, flags::STATIC, make.finish())];
        for bridge in bridges {
            let mut body = Body::default();
            body.parameters(&[Type::Ref("".into())]);
            let at = body.parameters(&bridge.parameters);
            let own = self.class.clone();
            let mut given: Vec<Given> = Vec::new();
            for (number, ty) in captured.iter().enumerate() {
                let member = Member::new(&own, &field(number), &ty.descriptor());
                let this = Type::Ref("".into());
                given.push((
                    ty.clone(),
                    Box::new(move |body: &mut Body| {
                        body.load(&this, 0);
                        body.code.push(Instr::GetField(member.clone()));
                    }),
                ));
            }
            for ((from, exact), at) in bridge.parameters.iter().zip(&exact.parameters).zip(at) {
                let (from, exact2) = (from.clone(), exact.clone());
                given.push((
                    exact.clone(),
                    Box::new(move |body: &mut Body| {
                        body.load(&from, at);
                        body.adapt(&from, &exact2);
                    }),
                ));
            }
            self.call_handle(&mut body, target, &given, bridge.result.as_ref())?;
            methods.push(method(self.name, &bridge, 0, body.finish()));
        }
        let mut file = self.file(interfaces, methods);
        file.fields.extend(captured.iter().enumerate().map(|(number, ty)| FieldDeclaration {
            name: field(number).into(),
            ty: ty.clone(),
            flags: flags::PRIVATE | flags::FINAL,
            constant: None,
        }));
        Some(file)
    }

    /// Calls what a handle names, and returns what it gives as `result`.
    fn call_handle(
        &self,
        body: &mut Body,
        target: &Handle,
        given: &[Given],
        result: Option<&Type>,
    ) -> Option<()> {
        let Member { class, name, descriptor } = &target.member;
        let signature = Signature::parse(descriptor)?;
        let receiver = Type::Ref(class.clone());
        let (call, made) = match target.kind {
            ReferenceKind::InvokeStatic => (Call::Static, false),
            ReferenceKind::InvokeVirtual => (Call::Virtual, false),
            ReferenceKind::InvokeInterface => (Call::Interface, false),
            ReferenceKind::InvokeSpecial => (Call::Special, false),
            ReferenceKind::NewInvokeSpecial => (Call::Special, true),
            _ => return None,
        };
        let mut wanted = signature.parameters.clone();
        if made {
            body.code.push(Instr::New(class.clone()));
            body.code.push(Instr::Shuffle(crate::code::Shuffle::Dup));
        } else if call != Call::Static {
            wanted.insert(0, receiver.clone());
        }
        if wanted.len() != given.len() {
            return None;
        }
        for ((from, push), to) in given.iter().zip(&wanted) {
            push(body);
            body.adapt(from, to);
        }
        body.call(call, class, name, descriptor);
        let gives = if made { Some(receiver) } else { signature.result };
        match (&gives, result) {
            (Some(gives), Some(result)) => body.adapt(gives, result),
            (Some(_), None) => {}
            (None, None) => {}
            (None, Some(_)) => return None,
        }
        body.give(result);
        Some(())
    }

    /// The recipe: `\u{1}` is an argument, `\u{2}` a constant, everything else itself.
    fn concatenation(&self, recipe: bool) -> Option<ClassFile> {
        let types = &self.signature.parameters;
        let mut body = Body::default();
        let at = body.parameters(types);
        let mut arguments = types.iter().zip(at);
        let mut constants = self.bootstrap.arguments.iter();
        let recipe: Rc<[u16]> = match (recipe, if recipe { constants.next() } else { None }) {
            (true, Some(Argument::Constant(Constant::String(text)))) => text.clone(),
            (true, _) => return None,
            (false, _) => vec![1; types.len()].into(),
        };
        body.builder();
        let mut text = Vec::new();
        for &unit in recipe.iter() {
            match unit {
                1 => {
                    body.append_text(&std::mem::take(&mut text));
                    let (ty, at) = arguments.next()?;
                    body.load(ty, at);
                    body.append(ty);
                }
                2 => match constants.next()? {
                    Argument::Constant(Constant::String(constant)) => text.extend_from_slice(constant),
                    Argument::Constant(Constant::Int(value)) => text.extend(value.to_string().encode_utf16()),
                    Argument::Constant(Constant::Long(value)) => {
                        text.extend(value.to_string().encode_utf16())
                    }
                    _ => return None,
                },
                other => text.push(other),
            }
        }
        body.append_text(&text);
        body.built();
        let made = method("concatenation", self.signature, flags::STATIC, body.finish());
        Some(self.file(Vec::new(), vec![made]))
    }

    /// `equals`, `hashCode` or `toString` of a record.
    fn record(&self) -> Option<ClassFile> {
        let mut arguments = self.bootstrap.arguments.iter();
        let Some(Argument::Constant(Constant::Class(record))) = arguments.next() else { return None };
        arguments.next();
        let mut fields = Vec::new();
        for argument in arguments {
            let Argument::Handle(Handle { kind: ReferenceKind::GetField, member }) = argument else {
                return None;
            };
            fields.push((member.clone(), Type::parse(&member.descriptor)?));
        }
        let mut body = Body::default();
        body.parameters(&self.signature.parameters);
        let this = Type::Ref(record.clone());
        let get = |body: &mut Body, of: u16, member: &Member| {
            body.load(&this, of);
            body.code.push(Instr::GetField(member.clone()));
        };
        match self.name {
            "equals" => {
                let mut exits = Vec::new();
                body.load(&this, 1);
                body.code.push(Instr::InstanceOf(record.clone()));
                exits.push(body.code.len());
                body.code.push(Instr::IfZero(RelOp::Eq, 0));
                body.load(&this, 1);
                body.code.push(Instr::CheckCast(record.clone()));
                body.code.push(Instr::Store(Kind::Ref, 1));
                for (member, ty) in &fields {
                    get(&mut body, 0, member);
                    get(&mut body, 1, member);
                    let differ = match kind(ty) {
                        Kind::Int => Instr::IfInt(RelOp::Ne, 0),
                        Kind::Long => {
                            body.code.push(Instr::CompareLong);
                            Instr::IfZero(RelOp::Ne, 0)
                        }
                        Kind::Float => {
                            body.call(Call::Static, "java/lang/Float", "compare", "(FF)I");
                            Instr::IfZero(RelOp::Ne, 0)
                        }
                        Kind::Double => {
                            body.call(Call::Static, "java/lang/Double", "compare", "(DD)I");
                            Instr::IfZero(RelOp::Ne, 0)
                        }
                        Kind::Ref => {
                            let objects = "(Ljava/lang/Object;Ljava/lang/Object;)Z";
                            body.call(Call::Static, "java/util/Objects", "equals", objects);
                            Instr::IfZero(RelOp::Eq, 0)
                        }
                    };
                    exits.push(body.code.len());
                    body.code.push(differ);
                }
                body.code.push(Instr::Push(Constant::Int(1)));
                body.code.push(Instr::Return(Some(Kind::Int)));
                let end = body.code.len();
                body.code.push(Instr::Push(Constant::Int(0)));
                body.code.push(Instr::Return(Some(Kind::Int)));
                for exit in exits {
                    if let Instr::IfZero(_, target) | Instr::IfInt(_, target) = &mut body.code[exit] {
                        *target = end;
                    }
                }
            }
            "hashCode" => {
                body.code.push(Instr::Push(Constant::Int(0)));
                for (member, ty) in &fields {
                    body.code.push(Instr::Push(Constant::Int(31)));
                    body.code.push(Instr::Binary(BinOp::Mul, false));
                    get(&mut body, 0, member);
                    match boxed(ty) {
                        Some(class) => {
                            let descriptor = format!("({})I", ty.descriptor());
                            body.call(Call::Static, class, "hashCode", &descriptor);
                        }
                        None => {
                            body.call(Call::Static, "java/util/Objects", "hashCode", "(Ljava/lang/Object;)I");
                        }
                    }
                    body.code.push(Instr::Binary(BinOp::Add, false));
                }
                body.code.push(Instr::Return(Some(Kind::Int)));
            }
            "toString" => {
                let name = self.program.class(self.program.load(record).ok()?).simple_name.clone();
                let mut text: Vec<u16> = format!("{name}[").encode_utf16().collect();
                body.builder();
                for (number, (member, ty)) in fields.iter().enumerate() {
                    let comma = if number > 0 { ", " } else { "" };
                    text.extend(format!("{comma}{}=", member.name).encode_utf16());
                    body.append_text(&std::mem::take(&mut text));
                    get(&mut body, 0, member);
                    body.append(ty);
                }
                text.push(u16::from(b']'));
                body.append_text(&text);
                body.built();
            }
            _ => return None,
        }
        let made = method(self.name, self.signature, flags::STATIC, body.finish());
        Some(self.file(Vec::new(), vec![made]))
    }
}
