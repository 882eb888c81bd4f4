//! `StringBuilder` over unknown values: what is appended to a text of unknown content is as unknown.
//!
//! The digits of an unknown number are a loop of divisions that no solver likes, and most texts are messages that nobody
//! reads. Whoever does read one finds a gap.

use crate::machine::{Answer, Done, Task, Trouble, gap};
use crate::program::Method;
use crate::state::{Slot, State, Then};
use parallax_engines::{Memory, Value};
use parallax_sem::Core;
use std::rc::Rc;

/// Whether this is the field of texts, or of what builds them, in which their characters are; null where nobody knows them.
/// The builder of our own library calls it `units`.
pub(crate) fn is_content(class: &str, field: &str) -> bool {
    match class {
        "java/lang/String" => field == "value",
        "java/lang/AbstractStringBuilder" | "java/lang/StringBuilder" | "java/lang/StringBuffer" => {
            matches!(field, "value" | "units")
        }
        _ => false,
    }
}

const BUILDER: &str = "java/lang/StringBuilder";

/// What a method of a builder adds to it.
enum Appends {
    /// A text or a number, which is what it is: nothing can go wrong, and none of the program's own code runs.
    Plain,
    /// The text of an object, by one of those: first the object is asked for it.
    Text,
}

impl Appends {
    fn of(method: &Method) -> Option<Appends> {
        let plain = [
            "(Ljava/lang/String;)",
            "(Ljava/lang/StringBuffer;)",
            "(Ljava/lang/AbstractStringBuilder;)",
            "(I)",
            "(J)",
            "(C)",
            "(Z)",
            "(F)",
            "(D)",
        ];
        let text = ["(Ljava/lang/Object;)", "(Ljava/lang/CharSequence;)"];
        match &*method.name {
            "appendNull" => Some(Appends::Plain),
            "append" if plain.iter().any(|plain| method.descriptor.starts_with(plain)) => {
                Some(Appends::Plain)
            }
            "append" if text.iter().any(|text| method.descriptor.starts_with(text)) => Some(Appends::Text),
            _ => None,
        }
    }
}

impl Task {
    /// A method of a builder: its own, unless the content is unknown, or becomes so.
    ///
    /// Whether it is known differs between a path and a run of one of its inputs. So no outcome inside of what may be left
    /// out is part of a trace.
    pub(crate) fn builder<M: Memory>(
        &self,
        state: &mut State<M>,
        method: &Rc<Method>,
        arguments: Vec<Slot<M>>,
    ) -> Answer<M> {
        let (true, false, Some(Slot::Ref(this))) = (self.symbolic, method.is_static(), arguments.first())
        else {
            self.push_frame(state, method.clone(), arguments, Then::Give)?;
            return Ok(Done::Next);
        };
        let (this, known) = (this.clone(), !state.is_unknown(this)?);
        let then = match Appends::of(method) {
            Some(Appends::Plain) => {
                if (!known || self.is_unknown_text(state, method, &arguments)?) && self.blank(state, &this)? {
                    if known {
                        state.unknown.push(this.clone());
                    }
                    state.push(Slot::Ref(this));
                    return Ok(Done::Next);
                }
                Then::Quiet
            }
            Some(Appends::Text) => Then::Give,
            _ if &*method.name == "toString" => {
                if !known {
                    let text = self.opaque_string(state)?;
                    state.push(Slot::Ref(text));
                    return Ok(Done::Next);
                }
                Then::Quiet
            }
            _ if !known => return gap(self.unknown_text()),
            _ => Then::Give,
        };
        self.push_frame(state, method.clone(), arguments, then)?;
        Ok(Done::Next)
    }

    /// Whether what is appended is a number, a character, a truth value or a text that is not known.
    fn is_unknown_text<M: Memory>(
        &self,
        state: &State<M>,
        method: &Method,
        arguments: &[Slot<M>],
    ) -> Result<bool, Trouble> {
        Ok(match arguments {
            [_, Slot::Int(number) | Slot::Float(number)] => state.known_bits(32, number)?.is_none(),
            [_, Slot::Long(number) | Slot::Double(number)] => state.known_bits(64, number)?.is_none(),
            [_, Slot::Bool(truth)] => state.memory()?.core().decided(truth).is_none(),
            [_, Slot::Ref(text)] if method.descriptor.starts_with("(Ljava/lang/String;)") => {
                let memory = state.memory()?;
                state.is_unknown(text)? || !memory.classes(text).is_empty() && !memory.identical(text, text)
            }
            _ => false,
        })
    }

    /// Takes the content from a builder, if it is kept where that can be done.
    fn blank<M: Memory>(&self, state: &mut State<M>, builder: &M::Ref) -> Result<bool, Trouble> {
        let memory = state.memory()?;
        let classes = memory.classes(builder);
        let [class] = classes.as_slice() else { return Ok(false) };
        let layout = &self.program.class(*class).layout;
        let Some(place) = layout.iter().position(|field| is_content(BUILDER, &field.name)) else {
            return Ok(false);
        };
        if !memory.identical(builder, builder) {
            return Ok(false);
        }
        let nothing = Value::Ref(memory.null());
        state.memory_mut()?.write(builder, place, &nothing)?;
        Ok(true)
    }
}

impl<M: Memory> State<M> {
    /// Whether a text or a builder is known to be one of unknown content.
    fn is_unknown(&self, text: &M::Ref) -> Result<bool, Trouble> {
        let memory = self.memory()?;
        Ok(self.unknown.newest_first().any(|unknown| memory.identical(unknown, text)))
    }
}
