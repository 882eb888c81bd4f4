//! Which walls this kernel allows: found by trying, once.

use crate::start::{self, Task};
use crate::walls::{Kind, NoJail, NotRun, Walls};
use crate::{Jail, Wanted, landlock};
use std::sync::OnceLock;

/// The best walls that this kernel allows, or why there are none.
pub fn available() -> Result<Walls, NoJail> {
    first([Kind::NameSpaces, Kind::Landlock])
}

/// The first of these walls that this kernel allows, or why it allows none.
pub(crate) fn first<const N: usize>(kinds: [Kind; N]) -> Result<Walls, NoJail> {
    let mut reasons = Vec::new();
    for kind in kinds {
        match tried(kind) {
            Ok(walls) => return Ok(walls),
            Err(why) => reasons.push((kind, why)),
        }
    }
    Err(NoJail(reasons))
}

/// Whether a kind of walls can be had: one is set up with nothing in it.
pub(crate) fn tried(kind: Kind) -> Result<Walls, String> {
    static SPACES: OnceLock<Result<Walls, String>> = OnceLock::new();
    static LANDLOCK: OnceLock<Result<Walls, String>> = OnceLock::new();
    let cell = match kind {
        Kind::NameSpaces => &SPACES,
        Kind::Landlock => &LANDLOCK,
    };
    cell.get_or_init(|| {
        if kind == Kind::Landlock && landlock::version() < landlock::LEAST {
            return Err(match landlock::version() {
                0 => "this kernel has none".into(),
                version => format!("version {version} is too old, {} is needed", landlock::LEAST),
            });
        }
        let jail = Jail { wanted: Wanted::Only(kind), ..Jail::default() };
        match start::run(&jail, Some(kind), &Task::Nothing) {
            Ok(ended) if ended.success() => ended.walls.ok_or_else(|| "it came up without walls".into()),
            Ok(ended) => Err(format!("a trial run ended with {:?}", ended.end)),
            Err(NotRun::SetUp { step, error }) => Err(format!("{step}: {error}")),
            Err(error) => Err(error.to_string()),
        }
    })
    .clone()
}
