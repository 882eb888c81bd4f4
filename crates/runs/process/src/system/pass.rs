//! Carrying a system call to the host's kernel: buffers are copied in and out, structures are turned field by field
//! where the machine's byte order is not the host's.

use super::table::Shape;
use super::{Answer, Arguments, Errno, Reply, Row};
use crate::outside::live::Live;
use crate::process::Process;

/// Linux reads and writes no more than this at a time.
pub(crate) const LARGEST_BUFFER: u64 = 0x7fff_f000;

/// Arguments for the host, and the buffers that they point into.
pub(crate) type Prepared = ([usize; 6], Vec<Option<Vec<u8>>>);

impl Process {
    pub(crate) fn pass(&mut self, live: &Live, row: &Row, shape: &[Shape], arguments: &Arguments) -> Reply {
        match self.try_pass(live, row, shape, arguments) {
            Err(Errno(libc::EINTR)) if row.restarts => Reply::Interrupted,
            Err(Errno(libc::EPIPE)) if row.name.contains("write") || row.name.contains("send") => {
                // The kernel has sent SIGPIPE as well: the host's disposition is the program's.
                Reply::Error(Errno(libc::EPIPE))
            }
            answer => answer.into(),
        }
    }

    fn try_pass(&mut self, live: &Live, row: &Row, shape: &[Shape], arguments: &Arguments) -> Answer {
        let (values, mut buffers) = self.prepare(shape, arguments)?;
        match live.host(row.host, values) {
            // Nothing was waited for, so there is nothing to tell.
            Ok(0) if matches!(row.name, "wait4" | "waitpid") => {
                self.put_changes(shape, arguments, &mut buffers)?;
                Ok(0)
            }
            Ok(result) => self.finish(shape, arguments, &mut buffers, result),
            Err(errno) => {
                // What was left of a time, or the version that a structure should have had.
                self.put_changes(shape, arguments, &mut buffers)?;
                Err(errno)
            }
        }
    }

    /// Puts into memory what the kernel has changed of structures, though it brought no result.
    fn put_changes(
        &mut self,
        shape: &[Shape],
        arguments: &Arguments,
        buffers: &mut [Option<Vec<u8>>],
    ) -> Result<(), Errno> {
        for ((shape, buffer), address) in shape.iter().zip(buffers).zip(arguments) {
            let (Some(buffer), true) = (buffer, shape.is_structure()) else { continue };
            if *address == 0 {
                continue;
            }
            let bytes = self.structure_bytes(shape, buffer);
            if self.take(*address, bytes.len() as u64)? != bytes {
                self.put(*address, &bytes)?;
            }
        }
        Ok(())
    }

    /// A structure that the kernel has written, as the program wants it.
    fn structure_bytes(&self, shape: &Shape, buffer: &mut [u8]) -> Vec<u8> {
        match shape {
            Shape::Fill(fields) | Shape::Learn(fields) | Shape::Exchange(fields) => self.turn(buffer, fields),
            Shape::FillWords(_) => {
                let words = buffer
                    .chunks_exact(8)
                    .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
                return words.flat_map(|word| self.machine.abi().word_bytes(word)).collect();
            }
            Shape::Array { fields, .. } => {
                for element in buffer.chunks_exact_mut(size_of(fields) as usize) {
                    self.turn(element, fields);
                }
            }
            _ => {}
        }
        buffer.to_vec()
    }

    /// The arguments of a call as the host wants them, and the buffers that they point into.
    pub(crate) fn prepare(&mut self, shape: &[Shape], arguments: &Arguments) -> Result<Prepared, Errno> {
        let abi = self.machine.abi();
        let mut buffers: Vec<Option<Vec<u8>>> = Vec::with_capacity(shape.len());
        let mut values = [0usize; 6];
        for (index, (shape, value)) in shape.iter().zip(arguments).enumerate() {
            values[index] = abi.argument(*value);
            let count = |position: usize| arguments[position].min(LARGEST_BUFFER);
            buffers.push(match *shape {
                Shape::Number => None,
                Shape::Size => {
                    values[index] = *value as usize;
                    None
                }
                Shape::Path if *value == 0 => None,
                Shape::Path => Some(self.take_path(*value)?),
                Shape::In(length) if *value == 0 && arguments[length] == 0 => None,
                Shape::In(length) => Some(self.take(*value, count(length))?),
                Shape::Out(length) if *value == 0 && arguments[length] == 0 => None,
                Shape::Out(length) => {
                    self.world.memory.check_writable(*value, count(length))?;
                    Some(vec![0; count(length) as usize])
                }
                Shape::List { count: position, most: (most, errno), .. } if arguments[position] > most => {
                    return Err(Errno(errno));
                }
                Shape::Array { count: position, fields } | Shape::List { count: position, fields, .. } => {
                    let size: usize = fields.iter().map(|size| usize::from(*size)).sum();
                    // More than any limit on descriptors or groups allows.
                    const MOST: u64 = 1 << 20;
                    if arguments[position] > MOST {
                        return Err(Errno(libc::EINVAL));
                    }
                    let total = arguments[position] * size as u64;
                    let mut bytes = self.take(*value, total)?;
                    for element in bytes.chunks_exact_mut(size) {
                        self.turn(element, fields);
                    }
                    Some(bytes)
                }
                Shape::Give(_) | Shape::Fill(_) | Shape::Exchange(_) if *value == 0 => None,
                Shape::GiveWords(_) | Shape::FillWords(_) if *value == 0 => None,
                Shape::GiveWords(count) => {
                    let word = abi.word as u64;
                    let words = (0..count as u64).map(|index| self.take_word(value + index * word));
                    let words = words.collect::<Result<Vec<u64>, Errno>>()?;
                    Some(words.iter().flat_map(|word| abi.argument(*word).to_le_bytes()).collect())
                }
                Shape::FillWords(count) => {
                    let word = abi.word as u64;
                    self.world.memory.check_writable(*value, count as u64 * word)?;
                    let words = (0..count as u64).map(|index| self.take_word(value + index * word));
                    let words = words.collect::<Result<Vec<u64>, Errno>>()?;
                    Some(words.iter().flat_map(|word| word.to_le_bytes()).collect())
                }
                Shape::Give(fields) | Shape::Exchange(fields) => {
                    let mut bytes = self.take(*value, size_of(fields))?;
                    self.turn(&mut bytes, fields);
                    Some(bytes)
                }
                Shape::Learn(fields) if *value == 0 => Some(vec![0; size_of(fields) as usize]),
                Shape::Fill(fields) | Shape::Learn(fields) => {
                    // The kernel may leave parts as they are.
                    self.world.memory.check_writable(*value, size_of(fields))?;
                    let mut bytes = self.take(*value, size_of(fields))?;
                    self.turn(&mut bytes, fields);
                    Some(bytes)
                }
            });
        }
        // Lengths that were cut must be cut in the call as well.
        for shape in shape {
            if let Shape::In(length) | Shape::Out(length) = shape {
                values[*length] = values[*length].min(LARGEST_BUFFER as usize);
            }
        }
        for (value, buffer) in values.iter_mut().zip(&mut buffers) {
            if let Some(buffer) = buffer {
                *value = buffer.as_mut_ptr() as usize;
            }
        }
        Ok((values, buffers))
    }

    /// Puts what a call has brought into memory.
    pub(crate) fn finish(
        &mut self,
        shape: &[Shape],
        arguments: &Arguments,
        buffers: &mut [Option<Vec<u8>>],
        result: u64,
    ) -> Answer {
        for ((shape, buffer), address) in shape.iter().zip(buffers).zip(arguments) {
            let Some(buffer) = buffer else { continue };
            if matches!(shape, Shape::Out(_)) {
                let filled = (result as usize).min(buffer.len());
                self.put(*address, &buffer[..filled])?;
            } else if shape.is_structure() {
                let bytes = self.structure_bytes(shape, buffer);
                match (shape, *address) {
                    (Shape::Learn(_), 0) => self.note_unwanted(bytes),
                    (_, address) => self.put(address, &bytes)?,
                }
            }
        }
        Ok(result)
    }

    /// Reverses each field if the program's byte order is not the host's.
    pub(super) fn turn(&self, bytes: &mut [u8], fields: &[u8]) {
        if !self.machine.abi().big_endian {
            return;
        }
        let mut rest = bytes;
        for size in fields {
            let (field, tail) = rest.split_at_mut(usize::from(*size));
            field.reverse();
            rest = tail;
        }
    }
}

fn size_of(fields: &[u8]) -> u64 {
    fields.iter().map(|size| u64::from(*size)).sum()
}
