//! What is beyond the emulator ends a recording with its name and its place; what was recorded up to there is whole.

use crate::recorder::{CANNOT, Test, recorder};
use crate::{compile, folder, replay_all};

pub fn tests() -> Vec<Test> {
    vec![(String::from("beyond: an instruction without a model"), Box::new(instruction))]
}

fn instruction() -> Result<(), String> {
    let place = folder("beyond");
    let binary = compile("beyond", &[], &place)?;
    let recording = place.join("beyond.rec");
    let recorded = recorder(&recording, None, &[binary.display().to_string()])
        .spawn()
        .and_then(|child| child.wait_with_output())
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
    let names_it = said.contains("encls") && said.contains("at 0x") && said.contains("<beyond>");
    if recorded.status.code() != Some(CANNOT) || !names_it || recorded.stdout != b"before\n" {
        return Err(format!("recorded {recorded:?}"));
    }
    let replayed = replay_all(&recording);
    let _ = std::fs::remove_dir_all(&place);
    replayed
}
