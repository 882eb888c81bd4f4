//! What inputs look like: the class of `this`, the parameters as fields of an object, and for each type that an
//! input may have, the classes that may stand there.

use crate::code::Instr;
use crate::program::{Class, LinkError, Method, Program, distinct_names};
use crate::read::{ClassFile, FieldDeclaration, flags};
use crate::types::{Type, dotted};
use parallax_heap::{ClassId, FieldKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
}

/// The classes whose instances stand for a type in an input.
struct Standing {
    classes: Vec<ClassId>,
    /// What else an input of the type could be, in words.
    left_out: Option<String>,
}

impl Standing {
    fn all(classes: Vec<ClassId>) -> Self {
        Standing { classes, left_out: None }
    }
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
            false => self.receiver(method, instances, &mut assumptions)?,
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
        let mut found = InputClasses { this, parameters, assumptions };
        self.open(&mut found, instances, k.unwrap_or(usize::MAX))?;
        Ok(found)
    }

    /// The class of `this`: one that stands for the class asked of, where that is abstract. A call of the method on its
    /// objects comes to the method, and not to one that overrides it.
    fn receiver(
        &self,
        method: &Method,
        instances: &Instances,
        assumptions: &mut Vec<String>,
    ) -> Result<ClassId, LinkError> {
        let asked = method.receiver;
        if self.class(asked).is_concrete() {
            return Ok(asked);
        }
        let mut said = InputClasses { this: asked, parameters: asked, assumptions: Vec::new() };
        let name = |class: &ClassId| dotted(&self.class(*class).name);
        let all = self.standing(asked, instances, &mut said)?.classes;
        let runs_it = |class: &ClassId| {
            let found = self.method(*class, &method.name, &method.descriptor);
            found.is_none_or(|found| (found.class, found.index) == (method.class, method.index))
        };
        let (standing, overriding): (Vec<ClassId>, Vec<ClassId>) = all.into_iter().partition(runs_it);
        if let ([], [first, ..]) = (&standing[..], &overriding[..]) {
            return Err(LinkError::Overridden(self.method_name(method), name(first)));
        }
        let Some((first, others)) = standing.split_first() else { return Ok(asked) };
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
                        let mut unsaid = InputClasses { assumptions: Vec::new(), ..*inputs };
                        let told = if depth < k { &mut *inputs } else { &mut unsaid };
                        let standing = self.standing(wanted, instances, told)?;
                        self.describe(wanted, |class| {
                            class.instances.clone_from(&standing.classes);
                            class.left_out = standing.left_out.map(Into::into);
                        });
                        todo.extend(standing.classes.into_iter().map(|class| (class, depth + 1)));
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
        self.tell_widths_apart(&opened);
        Ok(())
    }

    /// Numbers of inputs are known by the names of fields. Where classes have numbers of one name and of different widths,
    /// each has the name of its class besides.
    fn tell_widths_apart(&self, opened: &[ClassId]) {
        let numbers = |class: &Class| -> Vec<(Rc<str>, u16)> {
            let fields = class.layout.iter().filter(|field| matches!(field.ty.kind(), FieldKind::Bits(_)));
            fields.map(|field| (field.name.clone(), field.ty.width())).collect()
        };
        let mut widths: BTreeMap<Rc<str>, u16> = BTreeMap::new();
        let mut several: BTreeSet<Rc<str>> = BTreeSet::new();
        for (name, width) in opened.iter().flat_map(|id| numbers(&self.class(*id))) {
            if *widths.entry(name.clone()).or_insert(width) != width {
                several.insert(name);
            }
        }
        for id in opened {
            let class = self.class(*id);
            if numbers(&class).iter().all(|(name, _)| !several.contains(name)) {
                continue;
            }
            self.describe(*id, |described| {
                for ((name, field), known) in
                    distinct_names(&class.layout).zip(&class.layout).zip(&mut described.fields)
                {
                    if several.contains(&field.name) {
                        known.name = format!("{name} of {}", class.simple_name);
                    }
                }
            });
        }
    }

    /// The classes whose instances may stand for a type in an input.
    fn standing(
        &self,
        wanted: ClassId,
        instances: &Instances,
        inputs: &mut InputClasses,
    ) -> Result<Standing, LinkError> {
        let class = self.class(wanted);
        let mut say = |text: String| {
            if !inputs.assumptions.contains(&text) {
                inputs.assumptions.push(text);
            }
        };
        if let Some(named) = instances.get(&class.name) {
            let named = named.iter().map(|name| self.load(name)).collect::<Result<_, _>>()?;
            return Ok(Standing::all(named));
        }
        if let Some(element) = &class.element {
            return self.standing_arrays(wanted, element);
        }
        let name = dotted(&class.name);
        let other_than = |classes, what: &str| Standing {
            classes,
            left_out: Some(format!("inputs of type {name} other than {what}")),
        };
        let made_elsewhere = class.flags & flags::ENUM != 0
            || matches!(&*class.name, "java/lang/String" | "java/lang/Class" | "java/lang/Thread");
        if made_elsewhere {
            return Ok(other_than(Vec::new(), "null"));
        }
        if &*class.name == "java/lang/Object" {
            say("inputs of type java.lang.Object are plain objects".into());
            return Ok(other_than(vec![wanted], "plain objects"));
        }
        let mut standing = Vec::new();
        let mut checked = None;
        for id in self.own_subclasses(wanted) {
            let known = self.class(id);
            if !known.is_concrete() || known.flags & flags::ENUM != 0 {
                continue;
            }
            // What its constructor refuses or changes is no input, and none of its objects can be made otherwise.
            match self.is_checked_record(&known) {
                true => checked = Some(dotted(&known.name)),
                false => standing.push(id),
            }
        }
        if let Some(record) = checked {
            let left_out = format!("inputs of record {record}, whose constructor does more than assign");
            return Ok(Standing { classes: standing, left_out: Some(left_out) });
        }
        if class.is_concrete() && !standing.contains(&wanted) {
            standing.insert(0, wanted);
        }
        if standing.is_empty() && matches!(&*class.name, "java/lang/Comparable" | "java/lang/Number") {
            say(format!("inputs of type {name} are of class java.lang.Integer"));
            return Ok(other_than(vec![self.load("java/lang/Integer")?], "java.lang.Integer"));
        }
        if standing.is_empty() {
            return Ok(other_than(standing, "null: no class implements it"));
        }
        // The library may have subclasses of what it shows.
        let subclassed = class.flags & (flags::PUBLIC | flags::FINAL) == flags::PUBLIC;
        match class.own || !subclassed {
            true => Ok(Standing::all(standing)),
            false => Ok(other_than(standing, "those of its own class")),
        }
    }

    /// The classes of arrays that may stand for an array type: those of its elements' own subclasses too.
    fn standing_arrays(&self, wanted: ClassId, element: &Type) -> Result<Standing, LinkError> {
        let Type::Ref(element) = element else { return Ok(Standing::all(vec![wanted])) };
        let id = self.load(element)?;
        let class = self.class(id);
        let mut standing = vec![wanted];
        if class.own {
            for sub in self.own_subclasses(id).into_iter().filter(|sub| *sub != id) {
                standing
                    .push(self.load(&format!("[{}", Type::Ref(self.class(sub).name.clone()).descriptor()))?);
            }
        }
        let left_out = format!(
            "inputs of type {}[] other than those of this very type",
            Type::Ref(element.clone()).source()
        );
        let closed = class.own || class.element.is_none() && class.flags & flags::FINAL != 0;
        Ok(Standing { classes: standing, left_out: (!closed).then_some(left_out) })
    }

    /// The classes of the class path that are a class or one of its subclasses.
    fn own_subclasses(&self, wanted: ClassId) -> Vec<ClassId> {
        // A class that cannot be read is nobody's subclass.
        let own = self.own_classes().into_iter().filter_map(|own| self.load(&own).ok());
        own.filter(|id| self.is_subclass(*id, wanted)).collect()
    }

    /// Whether the constructor of a record does more than to assign its parameters.
    fn is_checked_record(&self, class: &Class) -> bool {
        if class.superclass.is_none_or(|parent| &*self.class(parent).name != "java/lang/Record") {
            return false;
        }
        let types: String = class.layout.iter().map(|field| field.ty.descriptor()).collect();
        let constructor = class.method("<init>", &format!("({types})V"));
        let Some(code) = constructor.and_then(|constructor| constructor.code.as_ref()) else { return true };
        // What javac writes for a record that says nothing: the superclass's constructor, and each field from its parameter.
        let mut variable = 1;
        let mut wanted = Vec::new();
        for field in &class.layout {
            wanted.push((variable, field.name.clone()));
            variable += 1 + u16::from(field.ty.is_wide());
        }
        let [Instr::Load(_, 0), Instr::Invoke(..), fields @ .., Instr::Return(None)] = &code.instructions[..]
        else {
            return true;
        };
        let assigned = fields.chunks(3).map(|chunk| match chunk {
            [Instr::Load(_, 0), Instr::Load(_, from), Instr::PutField(to)] => Some((*from, to.name.clone())),
            _ => None,
        });
        assigned.collect::<Option<Vec<_>>>() != Some(wanted)
    }

    /// The internal names of the classes on the class path.
    pub fn own_classes(&self) -> Vec<String> {
        self.path().names().unwrap_or_default()
    }
}
