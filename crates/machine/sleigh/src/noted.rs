//! What the specifications that come with Parallax hold, noted beside this file, one text for each processor: unpacking a
//! specification to read its registers takes a hundred million instructions, more than many a program that is then run.
//! A test holds the notes to the specifications.

use crate::library::Facts;
use crate::sla::Contents;

/// What is noted of a processor.
pub(crate) fn contents(text: &str) -> Option<Contents> {
    let mut facts = Facts { big_endian: false, address_bytes: 0, word_bytes: 0, registers: Vec::new() };
    let mut user_operations = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        match words.next()? {
            "order" => facts.big_endian = words.next()? == "big",
            "address" => facts.address_bytes = words.next()?.parse().ok()?,
            "unit" => facts.word_bytes = words.next()?.parse().ok()?,
            "operation" => user_operations.push(words.next()?.to_owned()),
            _ => {
                let (name, offset, bytes) = (words.next()?, words.next()?, words.next()?);
                facts.registers.push((name.to_owned(), offset.parse().ok()?, bytes.parse().ok()?));
            }
        }
    }
    Some(Contents { user_operations, facts: Some(facts) })
}

#[cfg(test)]
mod tests {
    use crate::sla::{self, Contents};
    use crate::{LANGUAGES, noted};
    use std::fmt::Write;

    fn text(contents: &Contents) -> String {
        let facts = contents.facts.as_ref().expect("understood");
        let order = if facts.big_endian { "big" } else { "little" };
        let mut text = format!("order {order}\naddress {}\nunit {}\n", facts.address_bytes, facts.word_bytes);
        for name in &contents.user_operations {
            let _ = writeln!(text, "operation {name}");
        }
        for (name, offset, bytes) in &facts.registers {
            let _ = writeln!(text, "register {name} {offset} {bytes}");
        }
        text
    }

    /// `BLESS=1` writes the notes anew.
    #[test]
    fn notes_are_those_of_the_specifications() {
        for language in LANGUAGES {
            let read = sla::read(&language.specification().sla);
            if std::env::var_os("BLESS").is_some() {
                // Two processors have the specification of another.
                let name = match language.name {
                    "x86-16" => "x86",
                    "thumb" => "arm",
                    name => name,
                };
                let path = format!("{}/src/noted/{name}.txt", env!("CARGO_MANIFEST_DIR"));
                std::fs::write(path, text(&read)).expect("written");
                continue;
            }
            let noted = noted::contents(language.notes).expect("notes are read");
            assert_eq!(noted, read, "{} (BLESS=1 to write the notes anew)", language.name);
        }
    }
}
