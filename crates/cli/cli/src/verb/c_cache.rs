//! Where clang's work is kept from run to run.

use anyhow::Result;
use clap::Args;
use parallax_cread::Kept;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Whether and where.
#[derive(Args, Clone)]
pub struct CCache {
    /// Where what clang makes of each file is kept from run to run [default: parallax in the user's cache folder].
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Keep nothing, and use nothing that was kept.
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl CCache {
    /// The same for another verb.
    pub fn words(&self) -> Vec<OsString> {
        let folder = self.cache.iter().flat_map(|folder| ["--cache".into(), folder.clone().into_os_string()]);
        folder.chain(self.no_cache.then(|| "--no-cache".into())).collect()
    }

    /// The folder. A usual one that cannot be used is no reason to stop; one that was asked for is.
    pub fn kept(&self) -> Result<Option<Arc<Kept>>> {
        match &self.cache {
            _ if self.no_cache => Ok(None),
            Some(folder) => Ok(Some(Arc::new(Kept::at(folder)?))),
            None => Ok(usual_folder().and_then(|folder| Kept::at(&folder).ok()).map(Arc::new)),
        }
    }
}

/// The folder for what may be kept and may be lost, as users set it.
pub fn usual_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("parallax"))
}
