//! Where instructions begin: at every address that a run comes to, and nowhere else in code without branches.

use crate::composition::{KINDS, code, lifter, state};
use crate::random::Random;
use parallax_code::Program;
use parallax_primitives::run;
use parallax_sem::{Concrete, Language as _};
use parallax_term::Store;

#[test]
fn runs_come_to_places_alone() {
    for kind in KINDS {
        let mut random = Random(0x1234_5678_9abc_def1);
        let lifter = lifter(kind.language);
        let (mut visited, mut middles) = (0, 0);
        for _ in 0..60 {
            let (bytes, ends) = code(kind, &mut random, 6);
            let program = Program::from_bytes(&lifter, 0x1000, bytes.clone()).unwrap();
            for at in ends.into_iter().chain([0x1000]) {
                assert_eq!(program.misplaced(at), None, "{} {bytes:02x?} {at:#x}", kind.language);
            }
            middles += (0x1000..program.range.end).filter(|at| program.misplaced(*at).is_some()).count();
            for outside in [0xfff, program.range.end + 1] {
                assert!(program.misplaced(outside).is_some(), "{} {bytes:02x?}", kind.language);
            }
            let store = Store::new();
            program.declare(&store);
            for _ in 0..4 {
                let start = program.interpreted(&store, &state(kind, &program, &mut random)).unwrap();
                let ran = run(&program, &Concrete, &store, &start, 100, true);
                let places = ran.trace.iter().filter_map(|(_, pc)| pc.to_u64());
                // A jump may lead to bytes that are none.
                let is_one = |at: &u64| program.range.contains(at) && program.instruction(*at).is_ok();
                for at in places.filter(is_one) {
                    assert_eq!(program.misplaced(at), None, "{} {bytes:02x?} {at:#x}", kind.language);
                    visited += 1;
                }
            }
        }
        assert!(visited > 300 && middles > 200, "{}: {visited} {middles}", kind.language);
    }
}
