//! Programs that nest deeper than any stack is tall are read, and dropped.

use parallax_javalite::parse;

#[test]
fn deep_nesting_is_read() {
    const DEEP: usize = 200_000;
    let inside = |body: &str, ty: &str| format!("(class C () (({ty} m {body}))) (C m)");
    let not = format!("{}true{}", "(not ".repeat(DEEP), ")".repeat(DEEP));
    let conditions = format!("{}true{}", "(if ".repeat(DEEP), " true else false)".repeat(DEEP));
    let sums = format!("{}1{}", "(1 + ".repeat(DEEP), ")".repeat(DEEP));
    for (body, ty) in [(not, "bool"), (conditions, "bool"), (sums, "int")] {
        let program = parse(&inside(&body, ty));
        assert!(program.is_ok(), "{:?}", program.err().map(|errors| errors.into_iter().next()));
    }
    // What is wrong far inside is said with its place.
    let wrong = format!("{}1{}", "(not ".repeat(DEEP), ")".repeat(DEEP));
    let errors = parse(&inside(&wrong, "bool")).expect_err("1 is no bool");
    assert_eq!(errors[0].span.start as usize, inside("", "bool").find("m ").unwrap() + 2 + 5 * DEEP);
}
