//! From the bytes of a class file to what the machine runs.

use crate::code::{Call, Code, Constant, Handler, Instr, Kind, Member, Shuffle, Variable};
use crate::types::{Signature, Type};
use cafebabe::attributes::{AttributeData, AttributeInfo, CodeData};
use cafebabe::bytecode::{Opcode, PrimitiveArrayType};
use cafebabe::constant_pool::{
    BootstrapArgument, LiteralConstant, Loadable, MemberRef, MethodHandle, ObjectArrayType, ReferenceKind,
};
use parallax_op::{BinOp, FloatBinOp, RelOp};
use std::rc::Rc;

/// The newest version of class files whose instructions are known: Java 25.
const NEWEST: u16 = 69;

/// Why a class file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is not a class file, or one that breaks the format.
    #[error("not a valid class file: {0}")]
    Corrupt(String),
    /// It needs a newer Java.
    #[error("class file version {0} is newer than Java 25 ({NEWEST}), the newest that is known")]
    Future(u16),
}

fn corrupt<T>(what: &str) -> Result<T, ReadError> {
    Err(ReadError::Corrupt(what.to_owned()))
}

/// A field as it is declared.
#[derive(Clone, Debug)]
pub struct FieldDeclaration {
    /// Its name.
    pub name: Rc<str>,
    /// Its type.
    pub ty: Type,
    /// Access flags.
    pub flags: u16,
    /// What a static field starts with.
    pub constant: Option<Constant>,
}

/// A method as it is declared.
#[derive(Clone, Debug)]
pub struct MethodDeclaration {
    /// Its name.
    pub name: Rc<str>,
    /// Its descriptor.
    pub descriptor: Rc<str>,
    /// The same, taken apart.
    pub signature: Rc<Signature>,
    /// Access flags.
    pub flags: u16,
    /// Its body.
    pub code: Option<Rc<Code>>,
}

/// A method handle of the constant pool.
#[derive(Clone, Debug)]
pub struct Handle {
    /// What it does.
    pub kind: ReferenceKind,
    /// With what.
    pub member: Member,
}

/// An argument of a bootstrap method.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A constant.
    Constant(Constant),
    /// A method handle.
    Handle(Handle),
    /// A method type.
    Type(Signature),
}

/// How to link an `invokedynamic`.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// The method that links.
    pub method: Handle,
    /// What it is given.
    pub arguments: Vec<Argument>,
}

/// A class file.
#[derive(Clone, Debug)]
pub struct ClassFile {
    /// Internal name.
    pub name: Rc<str>,
    /// Superclass.
    pub superclass: Option<Rc<str>>,
    /// Interfaces.
    pub interfaces: Vec<Rc<str>>,
    /// Access flags.
    pub flags: u16,
    /// Fields, static ones too.
    pub fields: Vec<FieldDeclaration>,
    /// Methods.
    pub methods: Vec<MethodDeclaration>,
    /// How to link its dynamic calls.
    pub bootstraps: Vec<Bootstrap>,
    /// The file it was compiled from.
    pub source: Option<Rc<str>>,
    /// The simple name, if the class stands inside another; empty for an anonymous class.
    pub inner_name: Option<Rc<str>>,
}

/// Access flags that the machine looks at.
#[expect(missing_docs, reason = "the names of Java")]
pub mod flags {
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const BRIDGE: u16 = 0x0040;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ENUM: u16 = 0x4000;
}

thread_local! {
    static PARSING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Reads a class file. Whatever the bytes are, the answer is a class or an error.
pub fn read(bytes: &[u8]) -> Result<ClassFile, ReadError> {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !PARSING.get() {
                usual(panic);
            }
        }));
    });
    if let [0xCA, 0xFE, 0xBA, 0xBE, _, _, high, low, ..] = bytes {
        let version = u16::from_be_bytes([*high, *low]);
        if version > NEWEST {
            return Err(ReadError::Future(version));
        }
    }
    // The parser has places that panic on malformed files; those are files like any other.
    PARSING.set(true);
    let answer = std::panic::catch_unwind(|| {
        let file = cafebabe::parse_class(bytes).map_err(|error| ReadError::Corrupt(error.to_string()))?;
        translate(&file)
    });
    PARSING.set(false);
    answer.unwrap_or_else(|_| corrupt("the parser gave up"))
}

fn translate(file: &cafebabe::ClassFile<'_>) -> Result<ClassFile, ReadError> {
    let name: Rc<str> = (*file.this_class).into();
    let mut class = ClassFile {
        superclass: file.super_class.as_ref().map(|name| (**name).into()),
        interfaces: file.interfaces.iter().map(|name| (**name).into()).collect(),
        flags: file.access_flags.bits(),
        fields: Vec::new(),
        methods: Vec::new(),
        bootstraps: Vec::new(),
        source: None,
        inner_name: None,
        name,
    };
    for field in &file.fields {
        let Some(ty) = Type::parse(&field.descriptor.to_string()) else { return corrupt("a descriptor") };
        let constant = field.attributes.iter().find_map(|attribute| match &attribute.data {
            AttributeData::ConstantValue(value) => Some(literal(value)),
            _ => None,
        });
        let flags = field.access_flags.bits();
        class.fields.push(FieldDeclaration { name: (*field.name).into(), ty, flags, constant });
    }
    for method in &file.methods {
        let descriptor: Rc<str> = method.descriptor.to_string().into();
        let Some(signature) = Signature::parse(&descriptor) else { return corrupt("a descriptor") };
        let code = method.attributes.iter().find_map(|attribute| match &attribute.data {
            AttributeData::Code(code) => Some(code),
            _ => None,
        });
        let code = code.map(body).transpose()?.map(Rc::new);
        class.methods.push(MethodDeclaration {
            name: (*method.name).into(),
            descriptor,
            signature: Rc::new(signature),
            flags: method.access_flags.bits(),
            code,
        });
    }
    for AttributeInfo { data, .. } in &file.attributes {
        match data {
            AttributeData::SourceFile(source) => class.source = Some((**source).into()),
            AttributeData::BootstrapMethods(methods) => {
                for method in methods {
                    let arguments = method.arguments.iter().map(argument).collect::<Result<_, _>>()?;
                    class.bootstraps.push(Bootstrap { method: handle(&method.method), arguments });
                }
            }
            AttributeData::InnerClasses(classes) => {
                if let Some(entry) = classes.iter().find(|entry| *entry.inner_class_info == *class.name) {
                    class.inner_name = Some(entry.inner_name.as_deref().unwrap_or_default().into());
                }
            }
            _ => {}
        }
    }
    Ok(class)
}

fn literal(value: &LiteralConstant<'_>) -> Constant {
    match value {
        LiteralConstant::Integer(value) => Constant::Int(*value),
        LiteralConstant::Long(value) => Constant::Long(*value),
        LiteralConstant::Float(value) => Constant::Float(value.to_bits()),
        LiteralConstant::Double(value) => Constant::Double(value.to_bits()),
        LiteralConstant::String(text) => Constant::String(text.encode_utf16().collect()),
        LiteralConstant::StringBytes(bytes) => Constant::String(units(bytes)),
    }
}

/// The UTF-16 units of modified UTF-8 that is no text: it has half a surrogate pair.
fn units(bytes: &[u8]) -> Rc<[u16]> {
    let mut units = Vec::new();
    let mut at = 0;
    let byte = |at: usize| bytes.get(at).copied().map_or(0, u16::from) & 0x3F;
    while let Some(&first) = bytes.get(at) {
        let first16 = u16::from(first);
        let (unit, length) = match first {
            0..0x80 => (first16, 1),
            0x80..0xE0 => ((first16 & 0x1F) << 6 | byte(at + 1), 2),
            _ => ((first16 & 0x0F) << 12 | byte(at + 1) << 6 | byte(at + 2), 3),
        };
        units.push(unit);
        at += length;
    }
    units.into()
}

fn handle(handle: &MethodHandle<'_>) -> Handle {
    let member = &handle.member_ref;
    Handle { kind: handle.kind, member: Member::new(&handle.class_name, &member.name, &member.descriptor) }
}

fn argument(argument: &BootstrapArgument<'_>) -> Result<Argument, ReadError> {
    Ok(match argument {
        BootstrapArgument::LiteralConstant(value) => Argument::Constant(literal(value)),
        BootstrapArgument::ClassInfo(name) => Argument::Constant(Constant::Class((**name).into())),
        BootstrapArgument::MethodHandle(method) => Argument::Handle(handle(method)),
        BootstrapArgument::MethodType(descriptor) => match Signature::parse(descriptor) {
            Some(signature) => Argument::Type(signature),
            None => return corrupt("a method type"),
        },
    })
}

fn member(member: &MemberRef<'_>) -> Member {
    Member::new(&member.class_name, &member.name_and_type.name, &member.name_and_type.descriptor)
}

fn class_or_array(ty: &ObjectArrayType<'_>) -> Rc<str> {
    match ty {
        ObjectArrayType::ArrayType(array) => array.to_string().into(),
        ObjectArrayType::BinaryName(name) => (**name).into(),
    }
}

fn body(data: &CodeData<'_>) -> Result<Code, ReadError> {
    let Some(bytecode) = &data.bytecode else { return corrupt("a method without instructions") };
    let end = data.code.len();
    let at = |offset: usize| match bytecode.get_opcode_index(offset) {
        Some(index) => Ok(index),
        None if offset == end => Ok(bytecode.opcodes.len()),
        None => corrupt("a jump into the middle of an instruction"),
    };
    let mut code = Code { locals: data.max_locals.into(), stack: data.max_stack.into(), ..Code::default() };
    for (offset, opcode) in &bytecode.opcodes {
        let jump = |by: i32| match usize::try_from(*offset as i64 + i64::from(by)) {
            Ok(target) => at(target),
            Err(_) => corrupt("a jump to before the method"),
        };
        code.instructions.push(instruction(opcode, &jump)?);
    }
    for entry in &data.exception_table {
        code.handlers.push(Handler {
            start: at(entry.start_pc.into())?,
            end: at(entry.end_pc.into())?,
            target: at(entry.handler_pc.into())?,
            catches: entry.catch_type.as_deref().map(Into::into),
        });
    }
    for attribute in &data.attributes {
        match &attribute.data {
            AttributeData::LineNumberTable(lines) => {
                for line in lines {
                    code.lines.push((at(line.start_pc.into())?, line.line_number.into()));
                }
            }
            AttributeData::LocalVariableTable(entries) => {
                for entry in entries {
                    let (start, end) = (usize::from(entry.start_pc), usize::from(entry.length));
                    // What debug information says wrongly is as good as nothing.
                    if let (Ok(start), Ok(end)) = (at(start), at(start + end)) {
                        let name = (*entry.name).into();
                        code.variables.push(Variable { slot: entry.index, start, end, name });
                    }
                }
            }
            _ => {}
        }
    }
    code.lines.sort_unstable();
    Ok(code)
}

fn instruction(
    opcode: &Opcode<'_>,
    jump: &dyn Fn(i32) -> Result<usize, ReadError>,
) -> Result<Instr, ReadError> {
    use Instr as I;
    use Kind::{Double, Float, Int, Long, Ref};
    let int = |value: i32| I::Push(Constant::Int(value));
    let signature = |descriptor: &str| match Signature::parse(descriptor) {
        Some(signature) => Ok(Rc::new(signature)),
        None => corrupt("a method descriptor"),
    };
    let call = |call: Call, to: &MemberRef<'_>| {
        Ok::<_, ReadError>(I::Invoke(call, member(to), signature(&to.name_and_type.descriptor)?))
    };
    Ok(match opcode {
        Opcode::Nop => I::Nop,
        Opcode::AconstNull => I::Push(Constant::Null),
        Opcode::IconstM1 => int(-1),
        Opcode::Iconst0 => int(0),
        Opcode::Iconst1 => int(1),
        Opcode::Iconst2 => int(2),
        Opcode::Iconst3 => int(3),
        Opcode::Iconst4 => int(4),
        Opcode::Iconst5 => int(5),
        Opcode::Bipush(value) => int((*value).into()),
        Opcode::Sipush(value) => int((*value).into()),
        Opcode::Lconst0 => I::Push(Constant::Long(0)),
        Opcode::Lconst1 => I::Push(Constant::Long(1)),
        Opcode::Fconst0 => I::Push(Constant::Float(0f32.to_bits())),
        Opcode::Fconst1 => I::Push(Constant::Float(1f32.to_bits())),
        Opcode::Fconst2 => I::Push(Constant::Float(2f32.to_bits())),
        Opcode::Dconst0 => I::Push(Constant::Double(0f64.to_bits())),
        Opcode::Dconst1 => I::Push(Constant::Double(1f64.to_bits())),
        Opcode::Ldc(value) | Opcode::LdcW(value) | Opcode::Ldc2W(value) => match value {
            Loadable::LiteralConstant(value) => I::Push(literal(value)),
            Loadable::ClassInfo(name) => I::Push(Constant::Class((**name).into())),
            Loadable::MethodHandle(_) => I::Unsupported("constant method handles"),
            Loadable::MethodType(_) => I::Unsupported("constant method types"),
            Loadable::Dynamic(_) => I::Unsupported("dynamic constants"),
        },
        Opcode::Iload(n) => I::Load(Int, *n),
        Opcode::Lload(n) => I::Load(Long, *n),
        Opcode::Fload(n) => I::Load(Float, *n),
        Opcode::Dload(n) => I::Load(Double, *n),
        Opcode::Aload(n) => I::Load(Ref, *n),
        Opcode::Istore(n) => I::Store(Int, *n),
        Opcode::Lstore(n) => I::Store(Long, *n),
        Opcode::Fstore(n) => I::Store(Float, *n),
        Opcode::Dstore(n) => I::Store(Double, *n),
        Opcode::Astore(n) => I::Store(Ref, *n),
        Opcode::Iinc(n, by) => I::Increment(*n, *by),
        Opcode::Pop => I::Shuffle(Shuffle::Pop),
        Opcode::Pop2 => I::Shuffle(Shuffle::Pop2),
        Opcode::Dup => I::Shuffle(Shuffle::Dup),
        Opcode::DupX1 => I::Shuffle(Shuffle::DupX1),
        Opcode::DupX2 => I::Shuffle(Shuffle::DupX2),
        Opcode::Dup2 => I::Shuffle(Shuffle::Dup2),
        Opcode::Dup2X1 => I::Shuffle(Shuffle::Dup2X1),
        Opcode::Dup2X2 => I::Shuffle(Shuffle::Dup2X2),
        Opcode::Swap => I::Shuffle(Shuffle::Swap),
        Opcode::Iadd => I::Binary(BinOp::Add, false),
        Opcode::Isub => I::Binary(BinOp::Sub, false),
        Opcode::Imul => I::Binary(BinOp::Mul, false),
        Opcode::Iand => I::Binary(BinOp::And, false),
        Opcode::Ior => I::Binary(BinOp::Or, false),
        Opcode::Ixor => I::Binary(BinOp::Xor, false),
        Opcode::Ladd => I::Binary(BinOp::Add, true),
        Opcode::Lsub => I::Binary(BinOp::Sub, true),
        Opcode::Lmul => I::Binary(BinOp::Mul, true),
        Opcode::Land => I::Binary(BinOp::And, true),
        Opcode::Lor => I::Binary(BinOp::Or, true),
        Opcode::Lxor => I::Binary(BinOp::Xor, true),
        Opcode::Ishl => I::Shift(BinOp::Shl, false),
        Opcode::Ishr => I::Shift(BinOp::Ashr, false),
        Opcode::Iushr => I::Shift(BinOp::Lshr, false),
        Opcode::Lshl => I::Shift(BinOp::Shl, true),
        Opcode::Lshr => I::Shift(BinOp::Ashr, true),
        Opcode::Lushr => I::Shift(BinOp::Lshr, true),
        Opcode::Idiv => I::Divide(BinOp::Sdiv, false),
        Opcode::Irem => I::Divide(BinOp::Srem, false),
        Opcode::Ldiv => I::Divide(BinOp::Sdiv, true),
        Opcode::Lrem => I::Divide(BinOp::Srem, true),
        Opcode::Ineg => I::Negate(Int),
        Opcode::Lneg => I::Negate(Long),
        Opcode::Fneg => I::Negate(Float),
        Opcode::Dneg => I::Negate(Double),
        Opcode::Fadd => I::FloatBinary(FloatBinOp::Add, false),
        Opcode::Fsub => I::FloatBinary(FloatBinOp::Sub, false),
        Opcode::Fmul => I::FloatBinary(FloatBinOp::Mul, false),
        Opcode::Fdiv => I::FloatBinary(FloatBinOp::Div, false),
        Opcode::Dadd => I::FloatBinary(FloatBinOp::Add, true),
        Opcode::Dsub => I::FloatBinary(FloatBinOp::Sub, true),
        Opcode::Dmul => I::FloatBinary(FloatBinOp::Mul, true),
        Opcode::Ddiv => I::FloatBinary(FloatBinOp::Div, true),
        Opcode::Frem => I::FloatRemainder(false),
        Opcode::Drem => I::FloatRemainder(true),
        Opcode::I2l => I::Convert(Int, Long),
        Opcode::I2f => I::Convert(Int, Float),
        Opcode::I2d => I::Convert(Int, Double),
        Opcode::L2i => I::Convert(Long, Int),
        Opcode::L2f => I::Convert(Long, Float),
        Opcode::L2d => I::Convert(Long, Double),
        Opcode::F2i => I::Convert(Float, Int),
        Opcode::F2l => I::Convert(Float, Long),
        Opcode::F2d => I::Convert(Float, Double),
        Opcode::D2i => I::Convert(Double, Int),
        Opcode::D2l => I::Convert(Double, Long),
        Opcode::D2f => I::Convert(Double, Float),
        Opcode::I2b => I::Narrow(Type::Byte),
        Opcode::I2c => I::Narrow(Type::Char),
        Opcode::I2s => I::Narrow(Type::Short),
        Opcode::Lcmp => I::CompareLong,
        Opcode::Fcmpl => I::CompareFloat(false, -1),
        Opcode::Fcmpg => I::CompareFloat(false, 1),
        Opcode::Dcmpl => I::CompareFloat(true, -1),
        Opcode::Dcmpg => I::CompareFloat(true, 1),
        Opcode::Ifeq(to) => I::IfZero(RelOp::Eq, jump(*to)?),
        Opcode::Ifne(to) => I::IfZero(RelOp::Ne, jump(*to)?),
        Opcode::Iflt(to) => I::IfZero(RelOp::Slt, jump(*to)?),
        Opcode::Ifge(to) => I::IfZero(RelOp::Sge, jump(*to)?),
        Opcode::Ifgt(to) => I::IfZero(RelOp::Sgt, jump(*to)?),
        Opcode::Ifle(to) => I::IfZero(RelOp::Sle, jump(*to)?),
        Opcode::IfIcmpeq(to) => I::IfInt(RelOp::Eq, jump(*to)?),
        Opcode::IfIcmpne(to) => I::IfInt(RelOp::Ne, jump(*to)?),
        Opcode::IfIcmplt(to) => I::IfInt(RelOp::Slt, jump(*to)?),
        Opcode::IfIcmpge(to) => I::IfInt(RelOp::Sge, jump(*to)?),
        Opcode::IfIcmpgt(to) => I::IfInt(RelOp::Sgt, jump(*to)?),
        Opcode::IfIcmple(to) => I::IfInt(RelOp::Sle, jump(*to)?),
        Opcode::IfAcmpeq(to) => I::IfSame(true, jump(*to)?),
        Opcode::IfAcmpne(to) => I::IfSame(false, jump(*to)?),
        Opcode::Ifnull(to) => I::IfNull(true, jump(*to)?),
        Opcode::Ifnonnull(to) => I::IfNull(false, jump(*to)?),
        Opcode::Goto(to) => I::Goto(jump(*to)?),
        Opcode::Jsr(to) => I::Subroutine(jump(*to)?),
        Opcode::Ret(n) => I::SubroutineReturn(*n),
        Opcode::Tableswitch(table) => {
            let keys = (table.low..=table.high).zip(&table.jumps);
            let cases: Vec<_> = keys.map(|(key, to)| Ok((key, jump(*to)?))).collect::<Result<_, _>>()?;
            I::Switch(cases.into(), jump(table.default)?)
        }
        Opcode::Lookupswitch(table) => {
            let pairs = table.match_offsets.iter();
            let cases: Vec<_> = pairs.map(|(key, to)| Ok((*key, jump(*to)?))).collect::<Result<_, _>>()?;
            I::Switch(cases.into(), jump(table.default)?)
        }
        Opcode::Return => I::Return(None),
        Opcode::Ireturn => I::Return(Some(Int)),
        Opcode::Lreturn => I::Return(Some(Long)),
        Opcode::Freturn => I::Return(Some(Float)),
        Opcode::Dreturn => I::Return(Some(Double)),
        Opcode::Areturn => I::Return(Some(Ref)),
        Opcode::Athrow => I::Throw,
        Opcode::Getfield(field) => I::GetField(member(field)),
        Opcode::Putfield(field) => I::PutField(member(field)),
        Opcode::Getstatic(field) => I::GetStatic(member(field)),
        Opcode::Putstatic(field) => I::PutStatic(member(field)),
        Opcode::Invokestatic(to) => call(Call::Static, to)?,
        Opcode::Invokespecial(to) => call(Call::Special, to)?,
        Opcode::Invokevirtual(to) => call(Call::Virtual, to)?,
        Opcode::Invokeinterface(to, _) => call(Call::Interface, to)?,
        Opcode::Invokedynamic(site) => {
            let named = &site.name_and_type;
            I::InvokeDynamic(site.attr_index, (*named.name).into(), signature(&named.descriptor)?)
        }
        Opcode::New(class) => I::New((**class).into()),
        Opcode::Newarray(element) => {
            let name = match element {
                PrimitiveArrayType::Boolean => "[Z",
                PrimitiveArrayType::Char => "[C",
                PrimitiveArrayType::Float => "[F",
                PrimitiveArrayType::Double => "[D",
                PrimitiveArrayType::Byte => "[B",
                PrimitiveArrayType::Short => "[S",
                PrimitiveArrayType::Int => "[I",
                PrimitiveArrayType::Long => "[J",
            };
            I::NewArray(name.into(), 1)
        }
        Opcode::Anewarray(element) => {
            let element = Type::Ref(class_or_array(element));
            I::NewArray(format!("[{}", element.descriptor()).into(), 1)
        }
        Opcode::Multianewarray(array, dimensions) => I::NewArray(class_or_array(array), *dimensions),
        Opcode::Arraylength => I::ArrayLength,
        Opcode::Iaload => I::ArrayLoad(Type::Int),
        Opcode::Laload => I::ArrayLoad(Type::Long),
        Opcode::Faload => I::ArrayLoad(Type::Float),
        Opcode::Daload => I::ArrayLoad(Type::Double),
        Opcode::Aaload => I::ArrayLoad(Type::Ref("".into())),
        Opcode::Baload => I::ArrayLoad(Type::Byte),
        Opcode::Caload => I::ArrayLoad(Type::Char),
        Opcode::Saload => I::ArrayLoad(Type::Short),
        Opcode::Iastore => I::ArrayStore(Type::Int),
        Opcode::Lastore => I::ArrayStore(Type::Long),
        Opcode::Fastore => I::ArrayStore(Type::Float),
        Opcode::Dastore => I::ArrayStore(Type::Double),
        Opcode::Aastore => I::ArrayStore(Type::Ref("".into())),
        Opcode::Bastore => I::ArrayStore(Type::Byte),
        Opcode::Castore => I::ArrayStore(Type::Char),
        Opcode::Sastore => I::ArrayStore(Type::Short),
        Opcode::Checkcast(class) => I::CheckCast(class_or_array(class)),
        Opcode::Instanceof(class) => I::InstanceOf(class_or_array(class)),
        Opcode::Monitorenter => I::Monitor(true),
        Opcode::Monitorexit => I::Monitor(false),
        Opcode::Breakpoint | Opcode::Impdep1 | Opcode::Impdep2 => I::Unsupported("reserved instructions"),
    })
}
