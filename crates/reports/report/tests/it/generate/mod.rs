//! Documents made by chance: every shape the model allows, with texts that formats find hard.

use parallax_report::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// Texts with brackets, markup, quotes, blanks at the ends, line ends and letters beyond ASCII.
pub fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}",
        2 => r#"[ \[\](){}<>&"'`\\%#:;a-zä😀\n\t]{0,12}"#,
        1 => Just(String::new()),
        1 => Just("[x](1) </path> ]]> {0} <!ENTITY".to_owned()),
    ]
}

fn file() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("main.c".to_owned()),
        Just("/usr/src/a b/ü.c".to_owned()),
        Just("C:/src/x.cpp".to_owned()),
        "[a-z%#?:&<\"]{1,6}",
    ]
}

fn location() -> impl Strategy<Value = Location> {
    let numbers = of((1..=u32::MAX, of((1..9u32, of((0..3u32, 1..9u32))))));
    (file(), numbers).prop_map(|(file, numbers)| {
        let mut place = Location { file, ..Location::default() };
        if let Some((line, columns)) = numbers {
            place.line = Some(line);
            if let Some((column, end)) = columns {
                place.column = Some(column);
                if let Some((lines, columns)) = end {
                    place.end_line =
                        (lines > 0).then(|| line.saturating_add(lines)).filter(|&end| end > line);
                    place.end_column = Some(column + columns);
                }
            }
        }
        place
    })
}

fn binding() -> impl Strategy<Value = Binding> {
    (words(), words()).prop_map(|(name, value)| Binding { name, value })
}

fn step() -> impl Strategy<Value = Step> {
    let role = prop_oneof![
        Just(Role::Entry),
        Just(Role::Call),
        Just(Role::Return),
        Just(Role::Branch),
        Just(Role::Access),
        Just(Role::Note)
    ];
    let access = prop_oneof![Just(AccessMode::Read), Just(AccessMode::Write), Just(AccessMode::ReadWrite)];
    let bindings = || prop_oneof![3 => Just(vec![]), 1 => vec(binding(), 0..3)];
    (
        (of(location()), role, of(any::<bool>()), of(access), any::<bool>()),
        (words(), bindings(), bindings(), of(0..1u64 << 53)),
        (time(), importance()),
    )
        .prop_map(
            |(
                (location, role, taken, access, failing),
                (message, values, state, order),
                (time, importance),
            )| Step {
                frame: 0,
                location,
                role,
                taken,
                access,
                failing,
                message,
                values,
                state,
                order,
                time,
                importance,
            },
        )
}

fn time() -> impl Strategy<Value = String> {
    prop_oneof![8 => Just(String::new()), 1 => Just("2026-11-15T18:00:00Z".to_owned()), 1 => Just("12.5".to_owned())]
}

fn importance() -> impl Strategy<Value = Importance> {
    prop_oneof![8 => Just(Importance::Important), 1 => Just(Importance::Unimportant), 1 => Just(Importance::Essential)]
}

fn fix() -> impl Strategy<Value = Fix> {
    let change = (location(), any::<bool>(), words()).prop_map(|(mut location, insert, text)| {
        // Nothing is taken away: there is no end.
        if insert {
            (location.end_line, location.end_column) = (None, None);
        }
        Change { location, insert, text }
    });
    (words(), vec(change, 0..3)).prop_map(|(description, changes)| Fix { description, changes })
}

/// What to do next while building a path.
#[derive(Clone, Debug)]
enum Move {
    Step(Box<Step>),
    Enter(Frame),
    Leave,
    LeaveAll,
}

fn frame() -> impl Strategy<Value = Frame> {
    (words(), prop_oneof![3 => file(), 1 => Just(String::new())], of(words()))
        .prop_map(|(function, file, thread)| Frame { function, file, call: None, thread })
}

fn path() -> impl Strategy<Value = Path> {
    let moves = prop_oneof![
        5 => step().prop_map(|step| Move::Step(Box::new(step))),
        3 => frame().prop_map(Move::Enter),
        2 => Just(Move::Leave),
        1 => Just(Move::LeaveAll),
    ];
    (words(), words(), any::<bool>(), 0..3u32, vec(moves, 0..16)).prop_map(
        |(label, thread, stack, flow, moves)| {
            let mut path = PathBuilder::new(label);
            path.in_thread(&thread);
            path.describe(if stack { PathKind::Stack } else { PathKind::Flow }, flow);
            for next in moves {
                match next {
                    Move::Step(step) => {
                        path.step(*step);
                    }
                    Move::Enter(frame) => path.enter(frame),
                    Move::Leave => path.leave(),
                    Move::LeaveAll => path.leave_to(0),
                }
            }
            path.finish()
        },
    )
}

fn report() -> impl Strategy<Value = Report> {
    let link = prop_oneof![
        (0..3usize, 0..6usize).prop_map(|(path, step)| Link::Step { path, step }),
        (0..3usize).prop_map(Link::Related),
        Just(Link::Url("https://cwe.mitre.org/data/definitions/476.html".to_owned())),
    ];
    let segment = (words(), of(link)).prop_map(|(text, link)| Segment { text, link });
    let severity = prop_oneof![Just(Severity::Note), Just(Severity::Warning), Just(Severity::Error)];
    let status = prop_oneof![
        Just(SuppressionStatus::Accepted),
        Just(SuppressionStatus::UnderReview),
        Just(SuppressionStatus::Rejected)
    ];
    let suppression = (any::<bool>(), status, words())
        .prop_map(|(in_source, status, justification)| Suppression { in_source, status, justification });
    let related = (location(), words()).prop_map(|(location, message)| Related { location, message });
    let tool = prop_oneof![
        Just(Tool { name: "clang".into(), version: Some("19.1.7".into()) }),
        (words(), of(words()))
            .prop_map(|(name, version)| Tool { name, version: version.filter(|text| !text.is_empty()) }),
    ];
    (
        (words(), words(), vec(segment, 0..5), severity, vec(0..2000u32, 0..3)),
        (tool, of(location()), vec(path(), 0..3), vec(related, 0..3), vec(suppression, 0..2)),
        proptest::collection::btree_map(words(), words(), 0..3),
        (any::<bool>(), vec(fix(), 0..2), of(0..100u32), of(1..9u32), of(baseline()), words()),
    )
        .prop_map(
            |(
                (rule, title, text, severity, cwe),
                (tool, location, paths, related, suppressions),
                fingerprints,
                (passed, fixes, rank, occurrences, baseline, markdown),
            )| {
                Report {
                    rule,
                    title,
                    text,
                    severity,
                    cwe,
                    tool,
                    location,
                    paths,
                    related,
                    suppressions,
                    fingerprints,
                    passed,
                    fixes,
                    rank: rank.map(Into::into),
                    occurrences,
                    baseline,
                    markdown,
                    ..Report::default()
                }
            },
        )
}

fn baseline() -> impl Strategy<Value = Baseline> {
    prop_oneof![
        Just(Baseline::New),
        Just(Baseline::Unchanged),
        Just(Baseline::Updated),
        Just(Baseline::Absent)
    ]
}

/// Tidy documents, as every reader returns them.
pub fn document() -> impl Strategy<Value = Document> {
    let excerpt = (words(), 0..9u32, words()).prop_map(|(file, line, text)| Excerpt { file, line, text });
    let texts = (words(), words(), words(), words());
    (vec(report(), 0..4), vec(words(), 0..2), vec(excerpt, 0..3), texts).prop_map(
        |(reports, notes, excerpts, texts)| {
            let rules = reports.iter().map(|report| Rule {
                id: report.rule.clone(),
                tool: report.tool.clone(),
                name: texts.0.clone(),
                summary: texts.1.clone(),
                description: texts.2.clone(),
                help: texts.3.clone(),
                url: "https://cwe.mitre.org/".to_owned(),
                score: String::new(),
            });
            let rules = rules.collect();
            let mut document = Document { reports, notes, excerpts, rules, ..Document::default() };
            document.tidy();
            document
        },
    )
}
