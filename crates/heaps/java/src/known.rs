//! What the machine itself must know of an object: the text of a string, the class that a class object stands for.

use crate::machine::{Task, Trouble, gap};
use crate::state::{Split, State};
use parallax_engines::{Memory, Value, ValueOf};
use std::rc::Rc;

impl Task {
    /// Whether a stream is `System.out`; none if nobody can tell.
    pub(crate) fn is_output<M: Memory>(
        &self,
        state: &mut State<M>,
        stream: &M::Ref,
    ) -> Result<Option<bool>, Trouble> {
        if self.symbolic {
            return Ok(None);
        }
        let system = self.program.load("java/lang/System")?;
        let class = self.program.class(system);
        let Some((_, statics)) = state.globals.statics.get(&system).cloned() else { return Ok(Some(false)) };
        let Some(place) = class.statics.iter().position(|field| &*field.name == "out") else {
            return Ok(None);
        };
        let Value::Ref(out) = self.read_known(state, &statics, place)? else { return Ok(None) };
        match state.split(|memory| memory.equal(&out, stream))? {
            Split::One(same) => Ok(Some(same)),
            Split::Many(_) => gap("a stream that is not known"),
        }
    }

    /// A field of an object that is known.
    pub(crate) fn read_known<M: Memory>(
        &self,
        state: &mut State<M>,
        base: &M::Ref,
        place: usize,
    ) -> Result<ValueOf<M>, Trouble> {
        match state.split(|memory| memory.read(base, place))? {
            Split::One(value) => Ok(value),
            Split::Many(_) => gap("a field of an object that is not known"),
        }
    }

    /// A field of an object that is known, by its name.
    pub(crate) fn field_known<M: Memory>(
        &self,
        state: &mut State<M>,
        base: &M::Ref,
        name: &str,
    ) -> Result<Option<ValueOf<M>>, Trouble> {
        let classes = state.memory()?.classes(base);
        let [class] = classes.as_slice() else { return Ok(None) };
        let place = self.program.class(*class).layout.iter().position(|field| &*field.name == name);
        place.map(|place| self.read_known(state, base, place)).transpose()
    }

    /// The internal name of the class that an object of `java.lang.Class` stands for.
    pub(crate) fn named<M: Memory>(&self, state: &mut State<M>, mirror: &M::Ref) -> Result<Rc<str>, Trouble> {
        let class = self.program.class(self.program.load("java/lang/Class")?);
        let place = class.layout.iter().position(|field| &*field.name == crate::program::NUMBER);
        let unknown = "a class object that is not known";
        if state.memory()?.classes(mirror).as_slice() != [class.id] {
            return gap(unknown);
        }
        let Some(Value::Int(number)) =
            place.map(|place| self.read_known(state, mirror, place)).transpose()?
        else {
            return gap(unknown);
        };
        let number = state.known_int(&number)?.and_then(|number| self.program.mirrored(number as usize));
        number.map_or_else(|| gap(unknown), Ok)
    }

    /// Why a string has no text.
    pub(crate) fn unknown_text(&self) -> &'static str {
        match self.symbolic {
            true => "the content of a string that depends on unknown values",
            false => "not modelled: what the JVM says in the message of an exception of its own",
        }
    }

    /// The text of a string that is known.
    pub(crate) fn text<M: Memory>(&self, state: &mut State<M>, string: &M::Ref) -> Result<String, Trouble> {
        Ok(String::from_utf16_lossy(&self.units(state, string)?))
    }

    pub(crate) fn units<M: Memory>(
        &self,
        state: &mut State<M>,
        string: &M::Ref,
    ) -> Result<Rc<[u16]>, Trouble> {
        let unknown = self.unknown_text();
        let class = self.program.class(self.program.load("java/lang/String")?);
        if state.memory()?.classes(string).as_slice() != [class.id] {
            return gap(unknown);
        }
        let place = |name: &str| class.layout.iter().position(|field| &*field.name == name);
        let (Some(value), Some(coder)) = (place("value"), place("coder")) else { return gap(unknown) };
        let (Value::Ref(array), Value::Int(coder)) =
            (self.read_known(state, string, value)?, self.read_known(state, string, coder)?)
        else {
            return gap(unknown);
        };
        if state.memory()?.classes(&array).is_empty() {
            return gap(unknown);
        }
        let length = state.memory()?.length(&array)?;
        let (Some(length), Some(coder)) = (state.known_int(&length)?, state.known_bits(8, &coder)?) else {
            return gap(unknown);
        };
        let mut bytes = Vec::new();
        for at in 0..length {
            let index = state.memory()?.int(at);
            let element = match state.split(|memory| memory.element(&array, &index))? {
                Split::One(Value::Int(byte)) => state.known_bits(8, &byte)?,
                _ => None,
            };
            let Some(byte) = element.and_then(|bits| bits.to_u64()) else { return gap(unknown) };
            bytes.push(byte as u16);
        }
        Ok(match coder.is_zero() {
            true => bytes.into(),
            false => bytes.chunks_exact(2).map(|pair| pair[0] | pair[1] << 8).collect(),
        })
    }
}
