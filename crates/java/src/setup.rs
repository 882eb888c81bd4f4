//! What inputs look like: the class of `this`, the parameters as fields of an object, and for each type that an
//! input may have, the classes that may stand there.

use crate::program::{LinkError, Method, Program};
use crate::read::{ClassFile, FieldDeclaration, flags};
use crate::types::{Type, dotted};
use parallax_heap::{ClassId, FieldKind};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// The classes that inputs of a method have.
#[derive(Clone, Debug)]
pub struct InputClasses {
    /// The class of `this`; one without fields for a static method.
    pub this: ClassId,
    /// The class whose fields are the parameters.
    pub parameters: ClassId,
    /// What is taken for granted about inputs, in words.
    pub assumptions: Vec<String>,
    /// Types of which no input was looked at but null, though there are others.
    pub gaps: Vec<String>,
}

/// Which classes stand for a type, where the user says so.
pub type Instances = BTreeMap<Rc<str>, Vec<Rc<str>>>;

impl Program {
    /// Prepares inputs for a method: of `this`, if it is not static, and of its parameters; objects are at most `k` steps
    /// away.
    pub fn inputs(
        &self,
        method: &Method,
        instances: &Instances,
        k: Option<usize>,
    ) -> Result<InputClasses, LinkError> {
        let nothing = |name: &str, fields: Vec<FieldDeclaration>| ClassFile {
            name: name.into(),
            superclass: None,
            interfaces: Vec::new(),
            flags: flags::FINAL,
            fields,
            methods: Vec::new(),
            bootstraps: Vec::new(),
            source: None,
            inner_name: None,
        };
        let mut assumptions = Vec::new();
        let this = match method.is_static() {
            true => self.define(nothing("no this", Vec::new()), None, false)?,
            false => self.receiver(method.receiver, instances, &mut assumptions)?,
        };
        let mut variable = u16::from(!method.is_static());
        let mut fields = Vec::new();
        for (number, ty) in method.signature.parameters.iter().enumerate() {
            let named = method.code.as_ref().map_or(&[][..], |code| &code.variables);
            let named = named.iter().find(|known| known.slot == variable && known.start == 0);
            let name = named.map(|known| known.name.clone());
            fields.push(FieldDeclaration {
                name: name.unwrap_or_else(|| format!("p{number}").into()),
                ty: ty.clone(),
                flags: 0,
                constant: None,
            });
            variable += 1 + u16::from(ty.is_wide());
        }
        let parameters = self.define(nothing("parameters", fields), None, false)?;
        let mut found = InputClasses { this, parameters, assumptions, gaps: Vec::new() };
        self.open(&mut found, instances, k.unwrap_or(usize::MAX))?;
        Ok(found)
    }

    /// The class of `this`: one that stands for the class asked of, where that is abstract.
    fn receiver(
        &self,
        asked: ClassId,
        instances: &Instances,
        assumptions: &mut Vec<String>,
    ) -> Result<ClassId, LinkError> {
        if self.class(asked).is_concrete() {
            return Ok(asked);
        }
        let mut said =
            InputClasses { this: asked, parameters: asked, assumptions: Vec::new(), gaps: Vec::new() };
        let standing = self.standing(asked, instances, &mut said)?;
        let Some((first, others)) = standing.split_first() else { return Ok(asked) };
        let name = |class: &ClassId| dotted(&self.class(*class).name);
        let mut text = format!("`this` is of class {}", name(first));
        if !others.is_empty() {
            text += &format!(", not {}", others.iter().map(name).collect::<Vec<_>>().join(" or "));
        }
        assumptions.push(text);
        Ok(*first)
    }

    /// For every class that an input may have: what its references may point to.
    fn open(&self, inputs: &mut InputClasses, instances: &Instances, k: usize) -> Result<(), LinkError> {
        let mut todo = VecDeque::from([(inputs.this, 0), (inputs.parameters, 0)]);
        let mut opened: Vec<ClassId> = Vec::new();
        // Breadth first: each class with the fewest steps that lead to it.
        while let Some((id, depth)) = todo.pop_front() {
            if opened.contains(&id) {
                continue;
            }
            opened.push(id);
            let class = self.class(id);
            let mut kinds = Vec::new();
            let types = class.layout.iter().map(|field| &field.ty).chain(&class.element);
            for ty in types {
                let kind = match ty {
                    Type::Ref(name) => {
                        let wanted = self.load(name)?;
                        // What nothing may point to is nothing to tell of.
                        let mut unsaid =
                            InputClasses { gaps: Vec::new(), assumptions: Vec::new(), ..*inputs };
                        let told = if depth < k { &mut *inputs } else { &mut unsaid };
                        let standing = self.standing(wanted, instances, told)?;
                        self.describe(wanted, |class| class.instances.clone_from(&standing));
                        todo.extend(standing.into_iter().map(|class| (class, depth + 1)));
                        FieldKind::Ref(wanted)
                    }
                    other => other.kind(),
                };
                kinds.push(kind);
            }
            self.describe(id, |class| {
                let mut kinds = kinds.into_iter();
                for field in &mut class.fields {
                    field.kind = kinds.next().unwrap_or(field.kind);
                }
                class.element = class.element.map(|kind| kinds.next().unwrap_or(kind));
            });
        }
        Ok(())
    }

    /// The classes whose instances may stand for a type in an input.
    fn standing(
        &self,
        wanted: ClassId,
        instances: &Instances,
        inputs: &mut InputClasses,
    ) -> Result<Vec<ClassId>, LinkError> {
        let class = self.class(wanted);
        let say = |all: &mut Vec<String>, text: String| {
            if !all.contains(&text) {
                all.push(text);
            }
        };
        if let Some(named) = instances.get(&class.name) {
            return named.iter().map(|name| self.load(name)).collect();
        }
        if class.element.is_some() {
            return Ok(vec![wanted]);
        }
        let name = dotted(&class.name);
        let made_elsewhere = class.flags & flags::ENUM != 0
            || matches!(&*class.name, "java/lang/String" | "java/lang/Class" | "java/lang/Thread");
        if made_elsewhere {
            say(&mut inputs.gaps, format!("inputs of type {name} other than null"));
            return Ok(Vec::new());
        }
        if &*class.name == "java/lang/Object" {
            say(&mut inputs.assumptions, "inputs of type java.lang.Object are plain objects".into());
            return Ok(vec![wanted]);
        }
        let mut standing = Vec::new();
        for own in self.own_classes() {
            // A class that cannot be read is nobody's subclass.
            let Ok(id) = self.load(&own) else { continue };
            let known = self.class(id);
            if known.is_concrete() && known.flags & flags::ENUM == 0 && self.is_subclass(id, wanted) {
                standing.push(id);
            }
        }
        if class.is_concrete() && !standing.contains(&wanted) {
            standing.insert(0, wanted);
        }
        if standing.is_empty() && matches!(&*class.name, "java/lang/Comparable" | "java/lang/Number") {
            say(&mut inputs.assumptions, format!("inputs of type {name} are of class java.lang.Integer"));
            return Ok(vec![self.load("java/lang/Integer")?]);
        }
        if standing.is_empty() {
            say(&mut inputs.gaps, format!("inputs of type {name} other than null: no class implements it"));
        }
        Ok(standing)
    }

    /// The internal names of the classes on the class path.
    pub fn own_classes(&self) -> Vec<String> {
        self.path().names().unwrap_or_default()
    }
}
