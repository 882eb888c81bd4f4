//! Methods as people name them: with or without package, with or without descriptor.

use crate::classpath::by_simple_name;
use crate::program::{LinkError, Method, Program};
use crate::types::dotted;
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
    /// The method that `Class.method` or `package.Class.method(descriptor)` names.
    pub fn find(&self, text: &str) -> Result<Rc<Method>, FindError> {
        let (path, descriptor) = match text.find('(') {
            Some(at) => (&text[..at], Some(&text[at..])),
            None => (text, None),
        };
        let Some((class, name)) = path.rsplit_once('.') else { return Err(FindError::Form(text.into())) };
        let internal = class.replace('.', "/");
        let own = self.own_classes();
        let internal = match own.contains(&internal) || internal.contains('/') {
            true => internal,
            false => match by_simple_name(&own).get(&*internal).map(Vec::as_slice) {
                Some([only]) => (*only).to_owned(),
                Some(many @ [_, _, ..]) => {
                    let many = many.iter().map(|name| dotted(name)).collect();
                    return Err(FindError::ManyClasses(class.into(), many));
                }
                _ => internal,
            },
        };
        let class = self.class(self.load(&internal)?);
        self.find_in(&class, name, descriptor)
    }

    /// The method of this name of a class or its superclasses.
    pub fn find_in(
        &self,
        class: &Rc<crate::program::Class>,
        name: &str,
        descriptor: Option<&str>,
    ) -> Result<Rc<Method>, FindError> {
        let mut at = Some(class.id);
        while let Some(id) = at {
            let here = self.class(id);
            let fits = |method: &&Rc<Method>| {
                *method.name == *name
                    && descriptor.is_none_or(|descriptor| *method.descriptor == *descriptor)
                    && method.code.is_some()
                    // What the compiler adds for generics is the same method.
                    && (descriptor.is_some() || method.flags & crate::read::flags::SYNTHETIC == 0)
            };
            let found: Vec<&Rc<Method>> = here.methods.iter().filter(fits).collect();
            match found.as_slice() {
                [] => at = here.superclass,
                [only] => return Ok((*only).clone()),
                many => {
                    let many = many.iter().map(|method| format!("{name}{}", method.descriptor)).collect();
                    return Err(FindError::ManyMethods(dotted(&here.name), many));
                }
            }
        }
        Err(FindError::NoMethod(dotted(&class.name), name.into()))
    }
}
