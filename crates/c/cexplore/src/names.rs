//! Names of functions that were mistyped.

use parallax_cmodule::Module;

/// Names that are proposed at most.
const MOST: usize = 3;

/// That a program has no function of a name, with those of its own that are spelled nearly so.
pub fn no_function(module: &Module, name: &str) -> String {
    let own = module.functions.iter().filter(|function| function.is_defined() && !function.library);
    let most = (name.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = own
        .filter_map(|function| {
            let other = function.name.as_str();
            let apart = distance(&name.to_lowercase(), &other.to_lowercase());
            let is_part = name.len() >= 3 && other.contains(name);
            (apart <= most || is_part).then_some((apart, other))
        })
        .collect();
    near.sort_unstable();
    let names: Vec<&str> = near.into_iter().take(MOST).map(|(_, name)| name).collect();
    match names.is_empty() {
        true => format!("the program has no function {name}"),
        false => format!("the program has no function {name}; did you mean {}?", names.join(" or ")),
    }
}

/// How many letters have to be put in, taken out or exchanged to make one text of another (Levenshtein); neighbours that changed places
/// count once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let exchanged = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = exchanged.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        for (a, b, apart) in [
            ("parse", "parse", 0),
            ("parse", "prase", 1),
            ("parse", "pars", 1),
            ("", "abc", 3),
            ("abc", "xyz", 3),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (apart, apart), "{a} {b}");
        }
    }
}
