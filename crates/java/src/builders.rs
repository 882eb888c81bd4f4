//! `StringBuilder` over unknown values: what is appended to a text of unknown content is as unknown.
//!
//! The digits of an unknown number are a loop of divisions that no solver likes, and most texts are messages that nobody
//! reads. Whoever does read one finds a gap.

use crate::machine::{Answer, Done, Task, Trouble, gap};
use crate::program::Method;
use crate::state::{Slot, State, Then};
use parallax_engines::{Memory, Value};
use std::rc::Rc;

/// The field of texts and of what builds them in which their characters are; null where nobody knows them.
pub(crate) const CONTENT: &str = "value";

/// Whether a class keeps characters in a field of that name.
pub(crate) fn has_content(class: &str) -> bool {
    matches!(
        class,
        "java/lang/String"
            | "java/lang/AbstractStringBuilder"
            | "java/lang/StringBuilder"
            | "java/lang/StringBuffer"
    )
}

impl Task {
    /// A method of a builder: its own, unless the content is unknown, or becomes so.
    pub(crate) fn builder<M: Memory>(
        &self,
        state: &mut State<M>,
        method: &Rc<Method>,
        arguments: Vec<Slot<M>>,
    ) -> Answer<M> {
        if let (true, false, Some(Slot::Ref(this))) = (self.symbolic, method.is_static(), arguments.first()) {
            let (this, known) = (this.clone(), !state.is_unknown(this)?);
            let appends = &*method.name == "append";
            if appends
                && (!known || self.is_unknown_text(state, method, &arguments)?)
                && self.blank(state, &this)?
            {
                if known {
                    state.unknown.push(this.clone());
                }
                state.push(Slot::Ref(this));
                return Ok(Done::Next);
            }
            if !known && &*method.name == "toString" {
                let text = self.opaque_string(state)?;
                state.push(Slot::Ref(text));
                return Ok(Done::Next);
            }
            if !known {
                return gap(self.unknown_text());
            }
        }
        self.push_frame(state, method.clone(), arguments, Then::Give)?;
        Ok(Done::Next)
    }

    /// Whether what is appended is a number or a text that is not known.
    fn is_unknown_text<M: Memory>(
        &self,
        state: &State<M>,
        method: &Method,
        arguments: &[Slot<M>],
    ) -> Result<bool, Trouble> {
        Ok(match arguments {
            [_, Slot::Int(number)] if method.descriptor.starts_with("(I)") => {
                state.known_int(number)?.is_none()
            }
            [_, Slot::Long(number)] => state.known_bits(64, number)?.is_none(),
            [_, Slot::Ref(text)] if method.descriptor.starts_with("(Ljava/lang/String;)") => {
                state.is_unknown(text)?
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
        let Some(place) = layout.iter().position(|field| &*field.name == CONTENT) else { return Ok(false) };
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
