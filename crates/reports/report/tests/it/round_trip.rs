//! Whatever the model can say, every format that is written brings back: out, in, equal.

use crate::generate;

use generate::document;
use parallax_report::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn documents_are_well_formed_and_tidy(document in document()) {
        prop_assert_eq!(document.check(), Ok(()));
        let mut again = document.clone();
        again.tidy();
        prop_assert_eq!(again, document);
    }

    #[test]
    fn json_brings_back_what_was_written(document in document()) {
        let text = to_json(&document);
        prop_assert_eq!(Format::sniff(&text), Some(Format::Json));
        prop_assert_eq!(read(text.as_bytes(), "json"), Ok(document));
    }

    #[test]
    fn pathreport_brings_back_what_was_written(document in document()) {
        let text = to_pathreport(&document);
        prop_assert_eq!(Format::sniff(&text), Some(Format::Pathreport));
        prop_assert_eq!(read(text.as_bytes(), "xml"), Ok(document));
    }

    #[test]
    fn sarif_brings_back_what_was_written(document in document()) {
        let text = to_sarif(&document);
        prop_assert_eq!(Format::sniff(&text), Some(Format::Sarif));
        prop_assert_eq!(read(text.as_bytes(), "sarif"), Ok(document));
    }

    #[test]
    fn outlines_hold_every_frame_and_step_once(document in document()) {
        for path in document.reports.iter().flat_map(|report| &report.paths) {
            let mut open = Vec::new();
            let (mut frames, mut steps) = (0, 0);
            for event in path.outline() {
                match event {
                    Outline::Open(frame) => {
                        prop_assert_eq!(frame, frames);
                        prop_assert_eq!(path.parent(frame), open.last().copied());
                        frames += 1;
                        open.push(frame);
                    }
                    Outline::Step(step) => {
                        prop_assert_eq!(step, steps);
                        prop_assert_eq!(Some(&path.steps[step].frame), open.last());
                        steps += 1;
                    }
                    Outline::Close(frame) => prop_assert_eq!(open.pop(), Some(frame)),
                }
            }
            prop_assert!(open.is_empty());
            prop_assert_eq!((frames, steps), (path.frames.len(), path.steps.len()));
        }
    }
}
