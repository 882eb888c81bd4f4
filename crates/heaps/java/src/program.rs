//! The classes of a program: loaded when they are first named, laid out, resolved.
//!
//! A class has two numbers in the [`Universe`]: an even one for its instances and the next for the object that holds
//! its static fields. Numbers never change, so memories that know fewer classes stay right.

use crate::classpath::ClassPath;
use crate::code::{Code, Instr, Member};
use crate::library::{self, Model};
use crate::read::{Bootstrap, ClassFile, FieldDeclaration, MethodDeclaration, ReadError, flags, read};
use crate::state::Place;
use crate::types::{Signature, Type, dotted};
use parallax_heap::{self as heap, ClassId, Field, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// Why a class, a field or a method cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum LinkError {
    /// The class is neither on the class path nor in the JDK.
    #[error("class {0} was not found{hint}", hint = if *.1 { "" } else { ", and it is not modelled: no JDK is used" })]
    Missing(String, bool),
    /// Its file cannot be used.
    #[error("class {0}: {1}")]
    Unreadable(String, String),
    /// It is its own superclass, or has too many.
    #[error("class {0} has a superclass chain that does not end")]
    Circular(String),
    /// There is no such field or method.
    #[error("{0} was not found")]
    NoMember(String),
    /// No object of an input would run the method.
    #[error("{0}: the class is abstract, and {1} overrides the method: name it there")]
    Overridden(String, String),
}

/// An instance field, with the class that declares it.
#[derive(Clone, Debug)]
pub struct InstanceField {
    /// Its name.
    pub name: Rc<str>,
    /// Its type.
    pub ty: Type,
    /// Where it is declared.
    pub class: ClassId,
    /// Access flags.
    pub flags: u16,
}

/// A method of a loaded class.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its class.
    pub class: ClassId,
    /// The class that it was looked for in, which may have inherited it.
    pub receiver: ClassId,
    /// Its place among the methods of its class.
    pub index: u32,
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
    /// What stands for its body.
    pub model: Option<Model>,
}

impl Method {
    /// Whether it has no `this`.
    pub fn is_static(&self) -> bool {
        self.flags & flags::STATIC != 0
    }

    /// Whether it is declared only.
    pub fn is_abstract(&self) -> bool {
        self.flags & flags::ABSTRACT != 0
    }

    /// Whether an instruction reads a parameter; without instructions, anybody may.
    pub fn reads_parameter(&self, index: usize) -> bool {
        let before = &self.signature.parameters[..index];
        let slots: u16 = before.iter().map(|ty| 1 + u16::from(ty.is_wide())).sum();
        let variable = slots + u16::from(!self.is_static());
        let reads = |instruction: &Instr| matches!(instruction, Instr::Load(_, n) if *n == variable);
        self.code.as_ref().is_none_or(|code| code.instructions.iter().any(reads))
    }
}

/// A loaded class.
#[derive(Debug)]
pub struct Class {
    /// Its number.
    pub id: ClassId,
    /// Internal name.
    pub name: Rc<str>,
    /// Its superclass.
    pub superclass: Option<ClassId>,
    /// Its interfaces.
    pub interfaces: Vec<ClassId>,
    /// Itself, its superclasses and all their interfaces.
    pub supers: FxHashSet<ClassId>,
    /// Access flags.
    pub flags: u16,
    /// Instance fields, inherited ones first.
    pub layout: Vec<InstanceField>,
    /// Static fields of its own.
    pub statics: Vec<FieldDeclaration>,
    /// Methods of its own.
    pub methods: Vec<Rc<Method>>,
    /// The element type, of an array.
    pub element: Option<Type>,
    /// How to link its dynamic calls.
    pub bootstraps: Vec<Bootstrap>,
    /// The file it was compiled from.
    pub source: Option<Rc<str>>,
    /// Whether it comes from the class path, not from the JDK.
    pub own: bool,
    /// Its name without the class it stands in.
    pub simple_name: Rc<str>,
}

impl Class {
    /// Where its static fields are.
    pub fn statics_id(&self) -> ClassId {
        ClassId(self.id.0 + 1)
    }

    /// Whether objects of this very class can be made.
    pub fn is_concrete(&self) -> bool {
        self.flags & (flags::ABSTRACT | flags::INTERFACE) == 0
    }

    /// Whether its static fields stay as they are made: nothing runs that would set them.
    pub fn is_unset(&self) -> bool {
        self.method("<clinit>", "()V").is_some_and(|method| method.model.is_some())
    }

    /// Its own method of this name and descriptor.
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&Rc<Method>> {
        self.methods.iter().find(|method| *method.name == *name && *method.descriptor == *descriptor)
    }
}

/// A field, resolved.
#[derive(Clone, Debug)]
pub enum FieldPlace {
    /// An instance field: its place in objects.
    Instance(usize, Type),
    /// A static field: the class and the place among its statics.
    Static(ClassId, usize, Type),
}

type Linked = Result<Rc<Method>, LinkError>;
type MethodKey = (ClassId, Rc<str>, Rc<str>);

#[derive(Default)]
struct Tables {
    classes: Vec<Rc<Class>>,
    names: FxHashMap<Rc<str>, Result<ClassId, LinkError>>,
    loading: Vec<Rc<str>>,
    universe: Rc<Universe>,
    fields: FxHashMap<Member, Result<FieldPlace, LinkError>>,
    /// What a class has or inherits, by class, name and descriptor.
    methods: FxHashMap<MethodKey, Option<Rc<Method>>>,
    mirrored: Vec<Rc<str>>,
    /// What dynamic calls are linked to, by class, method and instruction.
    sites: FxHashMap<(ClassId, u32, usize), Linked>,
}

/// A program: a class path and what was loaded from it.
pub struct Program {
    path: ClassPath,
    tables: RefCell<Tables>,
}

/// A field that objects of `java.lang.Class` have besides their own: which class they stand for.
pub(crate) const NUMBER: &str = "(number)";

/// `java/lang/Object` is the first class.
pub const OBJECT: ClassId = ClassId(0);

impl Program {
    /// A program of the classes on this path.
    pub fn new(path: ClassPath) -> Result<Self, LinkError> {
        let program = Program { path, tables: RefCell::default() };
        program.load("java/lang/Object")?;
        Ok(program)
    }

    /// Where its classes come from.
    pub fn path(&self) -> &ClassPath {
        &self.path
    }

    /// The class of this number.
    pub fn class(&self, id: ClassId) -> Rc<Class> {
        self.tables.borrow().classes[id.0 as usize / 2].clone()
    }

    /// The class of this internal name, if anything has loaded it.
    pub fn loaded(&self, name: &str) -> Option<Rc<Class>> {
        let id = self.tables.borrow().names.get(name)?.clone().ok()?;
        Some(self.class(id))
    }

    /// What objects look like, as far as classes are loaded.
    pub fn universe(&self) -> Rc<Universe> {
        self.tables.borrow().universe.clone()
    }

    /// Takes over what a set-up says about inputs, such as which fields have no cycles.
    pub fn adopt(&self, universe: &Rc<Universe>) {
        self.tables.borrow_mut().universe = universe.clone();
    }

    /// How many numbers the universe has.
    pub fn known(&self) -> usize {
        self.tables.borrow().universe.classes.len()
    }

    /// The class of this internal name.
    pub fn load(&self, name: &str) -> Result<ClassId, LinkError> {
        if let Some(found) = self.tables.borrow().names.get(name) {
            return found.clone();
        }
        let text: Rc<str> = name.into();
        {
            let loading = &mut self.tables.borrow_mut().loading;
            if loading.contains(&text) || loading.len() > 200 {
                return Err(LinkError::Circular(dotted(name)));
            }
            loading.push(text.clone());
        }
        let found = match Type::element_of(name) {
            Some(element) => self.load_array(&text, element),
            None => self.load_file(name),
        };
        let mut tables = self.tables.borrow_mut();
        tables.loading.pop();
        tables.names.insert(text, found.clone());
        found
    }

    fn load_array(&self, name: &Rc<str>, element: Type) -> Result<ClassId, LinkError> {
        if let Type::Ref(element) = &element {
            self.load(element)?;
        }
        let interfaces = ["java/lang/Cloneable", "java/io/Serializable"];
        let file = ClassFile {
            name: name.clone(),
            superclass: Some("java/lang/Object".into()),
            interfaces: interfaces.map(Into::into).to_vec(),
            flags: flags::PUBLIC | flags::FINAL,
            fields: Vec::new(),
            methods: Vec::new(),
            bootstraps: Vec::new(),
            source: None,
            inner_name: None,
        };
        self.define(file, Some(element), false)
    }

    fn load_file(&self, name: &str) -> Result<ClassId, LinkError> {
        let unreadable = |why: String| LinkError::Unreadable(dotted(name), why);
        let own = self.path.own(name).map_err(|error| unreadable(error.to_string()))?;
        let (bytes, own) = match own {
            Some(bytes) => (bytes, true),
            None => match self.path.library(name).map_err(|error| unreadable(error.to_string()))? {
                Some(bytes) => (bytes, false),
                None => return Err(LinkError::Missing(dotted(name), self.path.has_jdk())),
            },
        };
        let file = read(&bytes).map_err(|error: ReadError| unreadable(error.to_string()))?;
        if *file.name != *name {
            return Err(unreadable(format!("the file is that of {}", dotted(&file.name))));
        }
        self.define(file, None, own)
    }

    /// Adds a class.
    pub(crate) fn define(
        &self,
        file: ClassFile,
        element: Option<Type>,
        own: bool,
    ) -> Result<ClassId, LinkError> {
        let superclass = file.superclass.as_deref().map(|name| self.load(name)).transpose()?;
        let interfaces: Vec<ClassId> =
            file.interfaces.iter().map(|name| self.load(name)).collect::<Result<_, _>>()?;
        let mut layout = Vec::new();
        let mut supers = FxHashSet::default();
        for parent in superclass.iter().chain(&interfaces) {
            supers.extend(self.class(*parent).supers.iter().copied());
        }
        if let Some(parent) = superclass {
            layout.clone_from(&self.class(parent).layout);
        }
        let mut tables = self.tables.borrow_mut();
        let id = ClassId(tables.classes.len() as u32 * 2);
        supers.insert(id);
        let mut statics = Vec::new();
        for field in file.fields {
            match field.flags & flags::STATIC {
                0 => layout.push(InstanceField {
                    name: field.name,
                    ty: field.ty,
                    class: id,
                    flags: field.flags,
                }),
                _ => statics.push(field),
            }
        }
        if &*file.name == "java/lang/Class" {
            layout.push(InstanceField { name: NUMBER.into(), ty: Type::Int, class: id, flags: 0 });
        }
        let method = |(index, method): (usize, MethodDeclaration)| {
            let model = match own {
                true => None,
                false => library::model(&file.name, &method.name, &method.descriptor),
            };
            Rc::new(Method {
                class: id,
                receiver: id,
                index: index as u32,
                name: method.name,
                descriptor: method.descriptor,
                signature: method.signature,
                flags: method.flags,
                code: method.code,
                model,
            })
        };
        let simple = file.name.rsplit('/').next().unwrap_or(&file.name);
        let class = Class {
            id,
            superclass,
            interfaces,
            supers,
            flags: file.flags,
            methods: file.methods.into_iter().enumerate().map(method).collect(),
            layout,
            statics,
            element,
            bootstraps: file.bootstraps,
            source: file.source,
            own,
            simple_name: file.inner_name.unwrap_or_else(|| simple.into()),
            name: file.name,
        };
        let field = |name: &str, ty: &Type| Field { name: name.to_owned(), kind: ty.kind(), acyclic: false };
        let fields = distinct_names(&class.layout).zip(&class.layout);
        let fields = fields.map(|(name, own)| field(&name, &own.ty)).collect();
        let universe = Rc::make_mut(&mut tables.universe);
        universe.classes.push(heap::Class {
            name: Type::Ref(class.name.clone()).source(),
            fields,
            element: class.element.as_ref().map(Type::kind),
            instances: Vec::new(),
            left_out: None,
        });
        universe.classes.push(heap::Class {
            name: format!("{} (static)", dotted(&class.name)),
            fields: class.statics.iter().map(|own| field(&own.name, &own.ty)).collect(),
            element: None,
            instances: Vec::new(),
            left_out: None,
        });
        tables.classes.push(Rc::new(class));
        Ok(id)
    }

    /// Adds a class that dynamic calls name.
    pub(crate) fn define_named(&self, file: ClassFile, own: bool) -> Result<ClassId, LinkError> {
        let name = file.name.clone();
        let id = self.define(file, None, own)?;
        self.tables.borrow_mut().names.insert(name, Ok(id));
        Ok(id)
    }

    /// Changes what the universe says about a class.
    pub(crate) fn describe(&self, id: ClassId, change: impl FnOnce(&mut heap::Class)) {
        let mut tables = self.tables.borrow_mut();
        change(&mut Rc::make_mut(&mut tables.universe).classes[id.0 as usize]);
    }

    /// Whether an instance of `sub` is one of `class`.
    pub fn is_subclass(&self, sub: ClassId, class: ClassId) -> bool {
        let known = self.class(sub);
        if known.supers.contains(&class) {
            return true;
        }
        let wanted = self.class(class);
        match (&known.element, &wanted.element) {
            (Some(Type::Ref(sub)), Some(Type::Ref(class))) => match (self.load(sub), self.load(class)) {
                (Ok(sub), Ok(class)) => self.is_subclass(sub, class),
                _ => false,
            },
            _ => false,
        }
    }

    /// The field that an instruction names.
    pub fn field(&self, member: &Member) -> Result<FieldPlace, LinkError> {
        if let Some(found) = self.tables.borrow().fields.get(member) {
            return found.clone();
        }
        let found = self.load(&member.class).and_then(|class| self.find_field(class, member));
        self.tables.borrow_mut().fields.insert(member.clone(), found.clone());
        found
    }

    fn find_field(&self, class: ClassId, member: &Member) -> Result<FieldPlace, LinkError> {
        let missing = || LinkError::NoMember(format!("field {}.{}", dotted(&member.class), member.name));
        let Some(ty) = Type::parse(&member.descriptor) else { return Err(missing()) };
        let mut todo = vec![class];
        while let Some(at) = todo.pop() {
            let class = self.class(at);
            let own =
                |field: &InstanceField| field.class == at && field.name == member.name && field.ty == ty;
            if let Some(place) = class.layout.iter().position(own) {
                return Ok(FieldPlace::Instance(place, ty));
            }
            let own = |field: &FieldDeclaration| field.name == member.name && field.ty == ty;
            if let Some(place) = class.statics.iter().position(own) {
                return Ok(FieldPlace::Static(at, place, ty));
            }
            todo.extend(class.superclass);
            todo.extend(class.interfaces.iter().copied());
        }
        Err(missing())
    }

    /// The method of this name and descriptor that a class has or inherits; one with a body before one without.
    pub fn method(&self, class: ClassId, name: &Rc<str>, descriptor: &Rc<str>) -> Option<Rc<Method>> {
        let key = (class, name.clone(), descriptor.clone());
        if let Some(found) = self.tables.borrow().methods.get(&key) {
            return found.clone();
        }
        let found = self.find_method(class, name, descriptor);
        self.tables.borrow_mut().methods.insert(key, found.clone());
        found
    }

    fn find_method(&self, class: ClassId, name: &str, descriptor: &str) -> Option<Rc<Method>> {
        let mut at = Some(class);
        let mut declared: Option<Rc<Method>> = None;
        while let Some(id) = at {
            let class = self.class(id);
            if let Some(method) = class.method(name, descriptor) {
                if !method.is_abstract() {
                    return Some(method.clone());
                }
                declared.get_or_insert(method.clone());
            }
            at = class.superclass;
        }
        // Default methods: the most specific one.
        let mut best: Option<Rc<Method>> = None;
        let mut supers: Vec<ClassId> = self.class(class).supers.iter().copied().collect();
        supers.sort_unstable();
        for id in supers {
            let class = self.class(id);
            if class.flags & flags::INTERFACE == 0 {
                continue;
            }
            let Some(method) = class.method(name, descriptor) else { continue };
            if method.is_static() || method.flags & flags::PRIVATE != 0 && id != method.class {
                continue;
            }
            let better = best.as_ref().is_none_or(|best| {
                best.is_abstract() && !method.is_abstract()
                    || best.is_abstract() == method.is_abstract()
                        && self.class(id).supers.contains(&best.class)
            });
            if better {
                best = Some(method.clone());
            }
        }
        match (best, declared) {
            (Some(best), Some(declared)) if best.is_abstract() => Some(declared),
            (Some(best), _) => Some(best),
            (None, declared) => declared,
        }
    }

    /// The method that an instruction names.
    pub fn resolve(&self, member: &Member) -> Result<Rc<Method>, LinkError> {
        let class = self.load(&member.class)?;
        let found = self.method(class, &member.name, &member.descriptor);
        found.ok_or_else(|| {
            LinkError::NoMember(format!(
                "method {}.{}{}",
                dotted(&member.class),
                member.name,
                member.descriptor
            ))
        })
    }

    /// The method that stands for the dynamic call at this place.
    pub(crate) fn site(
        &self,
        method: &Method,
        at: usize,
        link: impl FnOnce() -> Result<Rc<Method>, LinkError>,
    ) -> Result<Rc<Method>, LinkError> {
        let key = (method.class, method.index, at);
        if let Some(found) = self.tables.borrow().sites.get(&key) {
            return found.clone();
        }
        let found = link();
        self.tables.borrow_mut().sites.insert(key, found.clone());
        found
    }

    /// The number of a name among those that have an object of `java.lang.Class`.
    pub(crate) fn number(&self, name: &Rc<str>) -> usize {
        let mirrored = &mut self.tables.borrow_mut().mirrored;
        match mirrored.iter().position(|known| known == name) {
            Some(at) => at,
            None => {
                mirrored.push(name.clone());
                mirrored.len() - 1
            }
        }
    }

    /// The name of that number.
    pub(crate) fn mirrored(&self, number: usize) -> Option<Rc<str>> {
        self.tables.borrow().mirrored.get(number).cloned()
    }

    /// A place as people read it: `package.Class.method (File.java:12)`.
    pub fn place(&self, place: Place) -> String {
        let class = self.class(place.class);
        let Some(method) = class.methods.get(place.method as usize) else { return dotted(&class.name) };
        let line = method.code.as_ref().map_or(0, |code| code.line(place.at as usize));
        match (&class.source, line) {
            (Some(source), 1..) => format!("{} ({source}:{line})", self.method_name(method)),
            _ => self.method_name(method),
        }
    }

    /// `package.Class.method`
    pub fn method_name(&self, method: &Method) -> String {
        format!("{}.{}", dotted(&self.class(method.class).name), method.name)
    }
}

/// A name for each field that no other field of the object has: a private field of a superclass may have the name of an own
/// one, and inputs are known by names.
pub(crate) fn distinct_names(layout: &[InstanceField]) -> impl Iterator<Item = String> {
    layout.iter().enumerate().map(|(at, field)| {
        match layout[..at].iter().filter(|other| other.name == field.name).count() {
            0 => field.name.to_string(),
            before => format!("{} ({})", field.name, before + 1),
        }
    })
}
