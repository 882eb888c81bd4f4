//! How a process died whose recorder had no time to say so: SIGKILL ends both at once, and the parent is told.
//!
//! Nothing that was recorded is lost then, since each record is committed when it is made.

use crate::record::{Puts, Record, SavedEnding, SavedReply};

/// What the parent's records say of the end of the process with that stream, if a signal killed it.
pub fn of_child(parent: &[Record], stream: &str) -> Option<SavedEnding> {
    let born = parent.iter().position(
        |record| matches!(record, Record::Fork { child: Ok((_, name, _)), .. } if name == stream),
    )?;
    let Record::Fork { child: Ok((number, ..)), .. } = &parent[born] else { return None };
    let signal = parent[born..].iter().find_map(|record| killed_by(record, *number))?;
    Some(SavedEnding::Killed(signal, None, None))
}

/// The signal that killed a child, if a record tells of that.
fn killed_by(record: &Record, child: u32) -> Option<i32> {
    match record {
        Record::Signal { signal, information, .. } if *signal == libc::SIGCHLD => {
            in_information(information, child)
        }
        Record::Answer { reply: SavedReply::Value(value), puts, .. }
        | Record::Woken { reply: SavedReply::Value(value), puts, .. } => in_wait(*value, puts, child),
        _ => None,
    }
}

/// `wait4` returns the number of the child and writes its status, `waitid` writes what a signal would tell.
fn in_wait(value: u64, puts: &Puts, child: u32) -> Option<i32> {
    if value == u64::from(child) {
        let (_, status) = puts.iter().find(|(_, bytes)| bytes.len() == 4)?;
        let status = i32::from_le_bytes(status[..].try_into().ok()?);
        return libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    }
    puts.iter().find_map(|(_, bytes)| in_information(bytes, child))
}

fn in_information(bytes: &[u8], child: u32) -> Option<i32> {
    let number = |at: usize| Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let is_whole = bytes.len() == 128 && number(0)? == libc::SIGCHLD && number(16)? == child as i32;
    let killed = is_whole && matches!(number(8)?, libc::CLD_KILLED | libc::CLD_DUMPED);
    killed.then(|| number(24)).flatten()
}
