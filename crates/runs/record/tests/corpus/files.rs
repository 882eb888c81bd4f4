//! Contents that are kept: once for all processes of a recording, and again when a file has changed.

use crate::recorder::{Test, recorder};
use crate::{compile, folder, replay_all};
use parallax_record::{Archive, Record};
use std::collections::BTreeSet;

pub fn tests() -> Vec<Test> {
    vec![
        (String::from("files: a library of two processes"), Box::new(library)),
        (String::from("files: changed between two mappings"), Box::new(changed)),
    ]
}

/// What a process itself maps: a path, and the name under which the contents are kept.
fn kept(archive: &Archive, stream: &str) -> Result<Vec<(String, String)>, String> {
    let log = archive.log(stream).map_err(|error| error.to_string())?;
    // What comes before is its parent's.
    let own = log.records.iter().rposition(|record| matches!(record, Record::Child(_))).unwrap_or(0);
    let maps = log.records[own..].iter().flat_map(|record| match record {
        Record::Map(Ok(map)) => vec![map],
        Record::Exec(Ok(exec)) => {
            std::iter::once(&exec.program).chain(&exec.interpreter).map(|(_, map)| map).collect()
        }
        _ => Vec::new(),
    });
    Ok(maps.filter_map(|map| Some((map.name.clone(), map.file.clone()?))).collect())
}

/// The names of contents of a file whose path has that in it.
fn of(maps: &[(String, String)], part: &str) -> Vec<String> {
    maps.iter().filter(|(path, _)| path.contains(part)).map(|(_, name)| name.clone()).collect()
}

fn library() -> Result<(), String> {
    let place = folder("library");
    let recording = place.join("one.rec");
    let command = ["/bin/sh", "-c", "/bin/true; /bin/true; exit 0"].map(String::from);
    recorder(&recording, None, &command).output().map_err(|error| error.to_string())?;
    let archive = Archive::open(&recording).map_err(|error| error.to_string())?;
    let (mut library, mut all) = (BTreeSet::new(), BTreeSet::new());
    for stream in ["0", "0.1", "0.2"] {
        let maps = kept(&archive, stream)?;
        let own = of(&maps, "/libc.so");
        if own.is_empty() {
            return Err(format!("stream {stream} maps no library"));
        }
        library.extend(own);
        all.extend(maps.into_iter().map(|(_, name)| name));
    }
    let files = std::fs::read_dir(recording.join("files")).map_err(|error| error.to_string())?.count();
    let _ = std::fs::remove_dir_all(&place);
    if library.len() == 1 && files == all.len() {
        return Ok(());
    }
    Err(format!("the library is kept as {library:?}; {files} files for {} contents", all.len()))
}

fn changed() -> Result<(), String> {
    let place = folder("changed");
    let binary = compile("remapped", &[], &place)?;
    let recording = place.join("one.rec");
    let command = [binary.display().to_string()];
    let recorded = recorder(&recording, None, &command).output().map_err(|error| error.to_string())?;
    if recorded.stdout != b"o n\n" {
        return Err(format!("{recorded:?}"));
    }
    let archive = Archive::open(&recording).map_err(|error| error.to_string())?;
    let names = of(&kept(&archive, "0")?, "parallax-remapped");
    if !matches!(&names[..], [first, second] if first != second) {
        return Err(format!("kept as {names:?}"));
    }
    replay_all(&recording)?;
    let _ = std::fs::remove_dir_all(&place);
    Ok(())
}
