//! Methods as people name them: with or without package, with or without descriptor.

use crate::classpath::by_simple_name;
use crate::program::{Class, LinkError, Method, Program};
use crate::read::flags;
use crate::types::dotted;
use parallax_heap::ClassId;
use std::cmp::Reverse;
use std::rc::Rc;

/// Why a name does not lead to a method.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// It is not of the form `Class.method`.
    #[error("expected Class.method, found `{0}`")]
    Form(String),
    /// Several classes end in this name.
    #[error("{0} may be {list}: give the package too", list = .1.join(" or "))]
    ManyClasses(String, Vec<String>),
    /// No such class.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The class has no such method.
    #[error("class {0} has no method {1} with a body")]
    NoMethod(String, String),
    /// Several methods have this name.
    #[error("{0} has several methods of that name: {list}", list = .1.join(", "))]
    ManyMethods(String, Vec<String>),
}

impl Program {
    /// The method that `Class.method` or `package.Class.method(descriptor)` names; its receiver is that class.
    pub fn find(&self, text: &str) -> Result<Rc<Method>, FindError> {
        let (path, descriptor) = match text.find('(') {
            Some(at) => (&text[..at], Some(&text[at..])),
            None => (text, None),
        };
        let Some((class, name)) = path.rsplit_once('.') else { return Err(FindError::Form(text.into())) };
        let internal = self.internal_name(class)?;
        let class = self.class(self.load(&internal)?);
        self.find_in(&class, name, descriptor)
    }

    /// The internal name of a class that may be named without its package, and with dots before nested classes.
    fn internal_name(&self, class: &str) -> Result<String, FindError> {
        let internal = class.replace('.', "/");
        let own = self.own_classes();
        if own.contains(&internal) {
            return Ok(internal);
        }
        let ambiguous = |many: &[&str]| {
            let many = many.iter().map(|name| dotted(name)).collect();
            Err(FindError::ManyClasses(class.into(), many))
        };
        match by_simple_name(&own).get(&*internal).map(Vec::as_slice) {
            Some([only]) => return Ok((*only).to_owned()),
            Some(many @ [_, _, ..]) => return ambiguous(many),
            _ => {}
        }
        // As in the source: `Outer.Inner`, or `Inner` alone.
        let plain = |name: &str| format!(".{}", name.replace(['/', '$'], "."));
        let wanted = plain(class);
        let nested: Vec<&str> =
            own.iter().map(String::as_str).filter(|name| plain(name).ends_with(&wanted)).collect();
        match nested.as_slice() {
            [] => {}
            [only] => return Ok((*only).to_owned()),
            many => match many.iter().find(|name| plain(name) == wanted) {
                Some(exact) => return Ok((*exact).to_owned()),
                None => return ambiguous(many),
            },
        }
        // A class of the JDK, which may be nested too.
        let mut name = internal.clone();
        while self.load(&name).is_err() {
            let Some(at) = name.rfind('/') else { return Ok(internal) };
            name.replace_range(at..=at, "$");
        }
        Ok(name)
    }

    /// The method of this name of a class or its superclasses, or else a default method of its interfaces.
    pub fn find_in(
        &self,
        class: &Rc<Class>,
        name: &str,
        descriptor: Option<&str>,
    ) -> Result<Rc<Method>, FindError> {
        let mut places = Vec::new();
        let mut at = Some(class.id);
        while let Some(id) = at {
            places.push(id);
            at = self.class(id).superclass;
        }
        let interfaces = class.supers.iter().copied().filter(|id| !places.contains(id));
        let mut interfaces: Vec<ClassId> = interfaces.collect();
        // An interface that extends another comes before it: it has more supers.
        interfaces.sort_unstable_by_key(|id| (Reverse(self.class(*id).supers.len()), *id));
        places.extend(interfaces);
        for id in places {
            let here = self.class(id);
            let inherited = id != class.id && here.flags & flags::INTERFACE != 0;
            let fits = |method: &&Rc<Method>| {
                *method.name == *name
                    && descriptor.is_none_or(|descriptor| *method.descriptor == *descriptor)
                    && method.code.is_some()
                    // What the compiler adds for generics is the same method.
                    && (descriptor.is_some() || method.flags & flags::SYNTHETIC == 0)
                    && !(inherited && method.flags & (flags::STATIC | flags::PRIVATE) != 0)
            };
            let found: Vec<&Rc<Method>> = here.methods.iter().filter(fits).collect();
            match found.as_slice() {
                [] => {}
                [only] if id == class.id => return Ok((*only).clone()),
                [only] => return Ok(Rc::new(Method { receiver: class.id, ..Method::clone(only) })),
                many => {
                    let many = many.iter().map(|method| format!("{name}{}", method.descriptor)).collect();
                    return Err(FindError::ManyMethods(dotted(&here.name), many));
                }
            }
        }
        Err(FindError::NoMethod(dotted(&class.name), name.into()))
    }
}
