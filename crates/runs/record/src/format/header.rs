//! The head of a stream: what a process was started with.

use super::OpenError;
use crate::record::SavedFacts;
use parallax_process::Program;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

const MAGIC: &[u8; 6] = b"PLXREC";

/// Of the format. Others are refused. Since 2 contents are named by their BLAKE3; since 3 it
/// says which file a mapping shows, which files a call changed, and for which thread a signal is. Since 4 it may say how much the
/// processor itself ran.
pub const VERSION: u32 = 4;

/// The oldest version that is read.
const OLDEST: u32 = 3;

/// Of the engine and the system layer: it changes when the same records would lead another way. Recordings of others are
/// refused. Since 2 an interrupted call and the delivery of the signal are two moves; since 3 the strings of the first stack are in
/// Linux's order; since 4 a mapping may
/// reach behind the end of its file; since 5 a program starts with its segments and with interrupts enabled.
pub const REVISION: u32 = 5;

/// What a process was started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The revision of engine and system layer that recorded.
    pub revision: u32,
    /// The path of the program.
    pub path: ByteBuf,
    /// Its arguments.
    pub arguments: Vec<ByteBuf>,
    /// Its environment.
    pub environment: Vec<ByteBuf>,
    /// How many bytes of memory it may touch.
    pub byte_bound: u64,
    /// How many instructions it may execute.
    pub instruction_bound: u64,
    /// What the turns of its threads are drawn from.
    pub schedule: Option<u64>,
    /// Facts about the process and its host.
    pub facts: SavedFacts,
    /// The stream and time it was forked at.
    pub parent: Option<(String, u64)>,
    /// Seconds since 1970 when it was started.
    pub started: u64,
}

impl Header {
    /// Of a program that is about to start.
    pub fn new(program: &Program, facts: SavedFacts) -> Header {
        let bytes = |texts: &[Vec<u8>]| texts.iter().map(|text| ByteBuf::from(text.clone())).collect();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Header {
            revision: REVISION,
            path: ByteBuf::from(program.path.as_os_str().as_bytes().to_vec()),
            arguments: bytes(&program.arguments),
            environment: bytes(&program.environment),
            byte_bound: program.byte_bound,
            instruction_bound: program.instruction_bound,
            schedule: program.schedule,
            facts,
            parent: None,
            started: since.map_or(0, |since| since.as_secs()),
        }
    }

    /// The program.
    pub fn program(&self) -> Program {
        let texts = |texts: &[ByteBuf]| texts.iter().map(|text| text.to_vec()).collect();
        Program {
            path: PathBuf::from(std::ffi::OsString::from_vec(self.path.to_vec())),
            arguments: texts(&self.arguments),
            environment: texts(&self.environment),
            byte_bound: self.byte_bound,
            instruction_bound: self.instruction_bound,
            schedule: self.schedule,
        }
    }

    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let payload = postcard::to_stdvec(self).expect("it can be written");
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(&payload).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    /// From bytes at the start of a file; also how many they were.
    pub fn decode(name: &str, bytes: &[u8]) -> Result<(Header, usize), OpenError> {
        const FIXED: usize = 6 + 4 + 4 + 4;
        let bad = |why| OpenError::BadHeader { name: name.to_owned(), why };
        if !bytes.starts_with(MAGIC) {
            let why = if bytes.is_empty() { "it is empty" } else { "it does not start with PLXREC" };
            return Err(OpenError::NotARecording { name: name.to_owned(), why });
        }
        if bytes.len() < FIXED {
            return Err(bad("the file ends in it"));
        }
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let version = number(6);
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(OpenError::OtherVersion { name: name.to_owned(), found: version });
        }
        let length = number(10) as usize;
        let payload = bytes.get(FIXED..FIXED + length).ok_or(bad("the file ends in it"))?;
        if crc32fast::hash(payload) != number(14) {
            return Err(bad("its checksum is wrong"));
        }
        let header: Header = postcard::from_bytes(payload).map_err(|_| bad("it cannot be read"))?;
        if header.revision != REVISION {
            return Err(OpenError::OtherRevision { name: name.to_owned(), found: header.revision });
        }
        Ok((header, FIXED + length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let program = Program {
            path: PathBuf::from("/bin/true"),
            arguments: vec![b"true".to_vec()],
            environment: Vec::new(),
            byte_bound: 1 << 20,
            instruction_bound: 1 << 20,
            schedule: None,
        };
        let facts = parallax_process::outside::Facts { process: 7, memory: 1 << 30, ..Default::default() };
        Header::new(&program, SavedFacts::new(&facts))
    }

    #[test]
    fn a_recording_of_another_revision_is_refused_by_name() {
        let own = header();
        let bytes = own.encode();
        assert_eq!(Header::decode("one", &bytes).expect("its own").0, own);
        let old = Header { revision: REVISION - 1, ..own };
        let error = Header::decode("old.stream", &old.encode()).expect_err("another revision");
        let text = error.to_string();
        assert!(
            text.contains("old.stream") && text.contains(&format!("revision {}", REVISION - 1)),
            "{text}"
        );
    }
}
