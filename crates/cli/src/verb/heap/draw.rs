//! The symbolic heap at the end of each path, as DOT and SVG.

use anyhow::{Context, Result};
use parallax_engines::engine::{Ending, Ends, FAILED};
use parallax_engines::{Machine, Summary};
use std::path::Path;

/// Draws every path.
pub fn all<L: Machine>(ends: &Ends<L, Summary<'_>>, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let paths = ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded);
    for (path, (_, bucket)) in paths.enumerate() {
        let end = &bucket.finals[0];
        let mut roots = end.cells();
        // The parameters are drawn as the variables they are.
        roots.remove(1);
        let picture = parallax_heap::draw::Picture::new(end.heap(), &roots, Some(FAILED))?;
        for (ending, text) in [("dot", picture.dot()), ("svg", picture.svg())] {
            let name = folder.join(format!("path{:03}.{ending}", path + 1));
            std::fs::write(&name, text).with_context(|| format!("cannot write {}", name.display()))?;
        }
    }
    Ok(())
}
