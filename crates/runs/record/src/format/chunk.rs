//! A piece of a stream: many records, compressed, with a checksum.

use crate::record::Record;
use std::io::{Read, Write};

const MAGIC: &[u8; 4] = b"PLXC";
const HEAD: usize = 4 + 1 + 8 + 8 + 8 + 4 + 4 + 4;
/// No chunk of ours is larger; a damaged length must not cost memory.
const LARGEST: u32 = 1 << 31;

/// What a chunk holds. Kinds that are not known are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Records.
    Events = 1,
    /// The last records: the process has ended.
    End = 2,
}

/// A chunk that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Its number.
    pub sequence: u64,
    /// The first and the last time in it.
    pub times: (u64, u64),
    /// Its kind, as a number.
    pub kind: u8,
    /// Its records.
    pub records: Vec<Record>,
    /// Bytes it takes in the file.
    pub size: usize,
}

/// Records as the bytes of a chunk.
pub fn encode(kind: Kind, sequence: u64, times: (u64, u64), raw: &[u8]) -> Vec<u8> {
    let payload = compress(raw);
    let mut bytes = Vec::with_capacity(HEAD + payload.len());
    bytes.extend(MAGIC);
    bytes.push(kind as u8);
    bytes.extend(sequence.to_le_bytes());
    bytes.extend(times.0.to_le_bytes());
    bytes.extend(times.1.to_le_bytes());
    bytes.extend((raw.len() as u32).to_le_bytes());
    bytes.extend((payload.len() as u32).to_le_bytes());
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&bytes[4..]);
    checksum.update(&payload);
    bytes.extend(checksum.finalize().to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Chunks up to the first bad one; whether there was a bad one.
pub fn read_chunks(bytes: &[u8]) -> (Vec<Chunk>, bool) {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let after = chunks.last().map_or(0, |chunk| chunk.sequence + 1);
        match decode(rest) {
            // A chunk that was left out, or comes twice, is as bad as a damaged one.
            Some(chunk) if chunk.sequence == after => {
                rest = &rest[chunk.size..];
                chunks.push(chunk);
            }
            _ => return (chunks, true),
        }
    }
    (chunks, false)
}

fn decode(bytes: &[u8]) -> Option<Chunk> {
    let head = bytes.get(..HEAD)?;
    if !head.starts_with(MAGIC) {
        return None;
    }
    let long = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let short = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let (raw, length) = (short(29), short(33) as usize);
    let payload = bytes.get(HEAD..HEAD.checked_add(length)?)?;
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&head[4..37]);
    checksum.update(payload);
    if checksum.finalize() != short(37) || raw > LARGEST {
        return None;
    }
    let kind = head[4];
    let mut records = Vec::new();
    if kind == Kind::Events as u8 || kind == Kind::End as u8 {
        let raw = decompress(payload, u64::from(raw))?;
        let mut rest = &raw[..];
        while !rest.is_empty() {
            let (record, after) = postcard::take_from_bytes(rest).ok()?;
            records.push(record);
            rest = after;
        }
    }
    Some(Chunk { sequence: long(5), times: (long(13), long(21)), kind, records, size: HEAD + length })
}

/// Bytes, made shorter quickly.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    // Writing into memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// What [`compress`] was given, if it was at most so many bytes.
pub fn decompress(bytes: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    flate2::read::DeflateDecoder::new(bytes).take(most.checked_add(1)?).read_to_end(&mut found).ok()?;
    (found.len() as u64 <= most).then_some(found)
}
