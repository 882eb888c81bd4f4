//! The symbolic heap at the end of each path, as DOT and SVG.

use anyhow::{Context, Result};
use parallax_engines::engine::{Ending, Ends, FAILED};
use parallax_engines::{Machine, Summary};
use parallax_heap::HeapError;
use std::path::Path;

/// Draws every path until it is too late. Gives the number of paths without a drawing.
pub fn all<L: Machine>(ends: &Ends<L, Summary<'_>>, folder: &Path, late: impl Fn() -> bool) -> Result<usize> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let paths = ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded);
    let mut undrawn = 0;
    for (path, (_, bucket)) in paths.enumerate() {
        if late() {
            undrawn += 1;
            continue;
        }
        let end = &bucket.finals[0];
        let mut roots = end.cells();
        // The parameters are drawn as the variables they are.
        roots.remove(1);
        let picture = match parallax_heap::draw::Picture::new(end.heap(), &roots, Some(FAILED)) {
            Err(HeapError::Late) => {
                undrawn += 1;
                continue;
            }
            picture => picture?,
        };
        for (ending, text) in [("dot", picture.dot()), ("svg", picture.svg())] {
            let name = folder.join(format!("path{:03}.{ending}", path + 1));
            std::fs::write(&name, text).with_context(|| format!("cannot write {}", name.display()))?;
        }
    }
    Ok(undrawn)
}
