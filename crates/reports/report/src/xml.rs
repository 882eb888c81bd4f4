//! XML as an arena of elements, read without recursion and without entities: a report is untrusted.
//!
//! Only the five predefined entities and character references exist. A document type may be named (property lists
//! do), but one that declares anything is refused, so nothing is fetched and nothing expands.

use crate::Location;
use crate::read::Fault;
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

/// A document. Element zero stands for the whole and has no name.
pub(crate) struct Xml {
    elements: Vec<Element>,
}

/// One element.
pub(crate) struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub content: Vec<Content>,
}

/// What an element holds.
pub(crate) enum Content {
    Element(usize),
    Text(String),
}

/// An element together with the document it is in.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    xml: &'a Xml,
    pub index: usize,
}

impl Xml {
    pub(crate) fn parse(text: &str) -> Result<Xml, Fault> {
        let mut reader = Reader::from_str(text);
        let mut xml = Xml { elements: vec![Element::named(String::new())] };
        let mut open = vec![0];
        loop {
            let before = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| {
                Fault::at(reader.error_position() as usize, format!("not well-formed XML: {error}"))
            })?;
            let at = |error: quick_xml::Error| Fault::at(before, format!("not well-formed XML: {error}"));
            match event {
                Event::Start(start) => {
                    let index = xml.add(open[open.len() - 1], &start).map_err(at)?;
                    open.push(index);
                }
                Event::Empty(start) => {
                    xml.add(open[open.len() - 1], &start).map_err(at)?;
                }
                // The reader has checked that the names agree.
                Event::End(_) => {
                    open.pop();
                }
                Event::Text(text) => xml.text(open[open.len() - 1], &text.xml10_content()),
                Event::CData(text) => xml.text(open[open.len() - 1], &text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let name = reference.xml10_content();
                    let resolved = match reference.resolve_char_ref().map_err(at)? {
                        Some(character) => character.to_string(),
                        None => resolve_predefined_entity(&name)
                            .ok_or_else(|| Fault::at(before, format!("there is no entity `&{name};`")))?
                            .to_owned(),
                    };
                    xml.text(open[open.len() - 1], &resolved);
                }
                Event::DocType(declaration) if declaration.contains('[') => {
                    return Err(Fault::at(before, "a document type that declares entities is refused"));
                }
                Event::Eof if open.len() > 1 => {
                    let name = &xml.elements[open[open.len() - 1]].name;
                    return Err(Fault::at(text.len(), format!("the file ends inside <{name}>")));
                }
                Event::Eof => return Ok(xml),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    fn add(&mut self, parent: usize, start: &BytesStart) -> Result<usize, quick_xml::Error> {
        let mut element = Element::named(start.local_name().as_ref().to_owned());
        // Its check for duplicates compares all pairs; looking up takes the first, so none is needed.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            element.attributes.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
        }
        let index = self.elements.len();
        self.elements.push(element);
        self.elements[parent].content.push(Content::Element(index));
        Ok(index)
    }

    fn text(&mut self, parent: usize, text: &str) {
        match self.elements[parent].content.last_mut() {
            Some(Content::Text(last)) => last.push_str(text),
            _ => self.elements[parent].content.push(Content::Text(text.to_owned())),
        }
    }

    /// The element that stands for the whole document.
    pub(crate) fn root(&self) -> Node<'_> {
        Node { xml: self, index: 0 }
    }
}

impl Element {
    fn named(name: String) -> Self {
        Element { name, attributes: Vec::new(), content: Vec::new() }
    }
}

impl<'a> Node<'a> {
    fn element(self) -> &'a Element {
        &self.xml.elements[self.index]
    }

    pub(crate) fn name(self) -> &'a str {
        &self.element().name
    }

    pub(crate) fn content(self) -> impl Iterator<Item = Result<Node<'a>, &'a str>> {
        self.element().content.iter().map(move |content| match content {
            Content::Element(index) => Ok(Node { xml: self.xml, index: *index }),
            Content::Text(text) => Err(text.as_str()),
        })
    }

    pub(crate) fn children(self) -> impl Iterator<Item = Node<'a>> {
        self.content().filter_map(Result::ok)
    }

    pub(crate) fn children_named(self, name: &str) -> impl Iterator<Item = Node<'a>> {
        self.children().filter(move |child| child.name() == name)
    }

    pub(crate) fn child(self, name: &str) -> Option<Node<'a>> {
        self.children().find(|child| child.name() == name)
    }

    /// The text directly inside, without that of elements inside.
    pub(crate) fn text(self) -> String {
        self.content().filter_map(Result::err).collect()
    }

    /// The trimmed text of a child, empty where there is none.
    pub(crate) fn child_text(self, name: &str) -> String {
        self.child(name).map_or(String::new(), |child| child.text().trim().to_owned())
    }

    pub(crate) fn attribute(self, name: &str) -> Option<&'a str> {
        self.element().attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A number; what is not one, or does not fit, counts as absent.
    pub(crate) fn number(self, name: &str) -> Option<u32> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// A place from `line`, `column`, `end-line` and `end-column`.
    pub(crate) fn location(self, file: &str) -> Location {
        Location {
            file: file.to_owned(),
            line: self.number("line"),
            column: self.number("column"),
            end_line: self.number("end-line"),
            end_column: self.number("end-column"),
        }
    }
}

/// Text for between tags or, with its line ends kept, for inside quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(c),
        }
    }
    out
}

/// The same for between tags only: line ends stay line ends.
pub(crate) fn escape_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        Xml::parse(text).err().map_or(String::new(), |fault| fault.message)
    }

    #[test]
    fn entities_beyond_the_predefined_are_refused() {
        let xml = Xml::parse("<a b='1 &lt; 2'>x&amp;&#65;<![CDATA[<y>]]></a>").ok().unwrap();
        let a = xml.root().child("a").unwrap();
        assert_eq!((a.attribute("b"), &*a.text()), (Some("1 < 2"), "x&A<y>"));
        assert!(fault("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>").contains("refused"));
        assert!(fault("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a/>").contains("refused"));
        assert!(fault("<a>&x;</a>").contains("no entity"));
        assert!(fault("<a b='&x;'/>").contains("not well-formed"));
        assert_eq!(fault("<!DOCTYPE plist PUBLIC 'x' 'http://y'><a/>"), "");
    }

    #[test]
    fn depth_costs_no_stack_and_truncation_is_seen() {
        let deep = "<a>".repeat(1_000_000) + &"</a>".repeat(1_000_000);
        assert!(Xml::parse(&deep).is_ok());
        assert!(fault("<a><b>").contains("ends inside <b>"));
        assert!(fault("<a></b>").contains("not well-formed"));
    }
}
