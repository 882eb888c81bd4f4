//! Where the files of a recording are opened: in its folder, or by a scribe for those that may not look there any more.

use super::Scribe;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What is asked of a file. Its name is that inside the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To write one that is not there yet.
    Start,
    /// To write behind its end.
    Append,
    /// To read and write it, empty.
    Map,
    /// To look whether it is there.
    Find,
    /// To give it the name that it keeps, all before its last dot.
    Finish,
}

/// Every wish.
pub(crate) const WISHES: [Wish; 5] = [Wish::Start, Wish::Append, Wish::Map, Wish::Find, Wish::Finish];

impl Wish {
    /// Fulfils it in a folder.
    pub fn fulfil(self, folder: &Path, name: &str) -> io::Result<File> {
        let path = folder.join(name);
        match self {
            Wish::Start => OpenOptions::new().write(true).create_new(true).open(path),
            Wish::Append => OpenOptions::new().append(true).open(path),
            Wish::Map => OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path),
            Wish::Find => File::open(path),
            Wish::Finish => {
                std::fs::rename(&path, path.with_extension(""))?;
                File::open(path.with_extension(""))
            }
        }
    }
}

/// The way to the files of a recording. No descriptor stays open: the program shares them, and often closes all it finds.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    /// A folder, named absolutely: the program may change its own.
    Folder(PathBuf),
    /// Somebody who kept the rights that the program gave up.
    Scribe(Scribe),
}

impl Door {
    pub fn open(&self, wish: Wish, name: &str) -> io::Result<File> {
        match self {
            Door::Folder(folder) => wish.fulfil(folder, name),
            Door::Scribe(scribe) => scribe.ask(wish, name),
        }
    }

    /// The program is about to give up rights, or its view of the files: somebody else keeps them. Where there is nobody, the
    /// folder stays the way.
    pub fn entrust(&mut self) {
        if let Door::Folder(folder) = self
            && let Ok(scribe) = Scribe::start(folder)
        {
            *self = Door::Scribe(scribe);
        }
    }
}
