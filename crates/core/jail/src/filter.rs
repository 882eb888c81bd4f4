//! The rules of calls as a program of the kernel's packet filter, which seccomp runs at each call.

use crate::calls::Rule;
use libc::sock_filter;

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER: u16 = 0x25;
const JUMP_AT_LEAST: u16 = 0x35;
const JUMP_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

const KILL: u32 = 0x8000_0000;
const ASK: u32 = 0x7fc0_0000;
const PASS: u32 = 0x7fff_0000;

/// Where things are in `seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const OURS: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OURS: u32 = 0xc000_00b7;

/// Numbers from here on are of a second calling convention of x86-64, under which every number means another call.
const SECOND_CONVENTION: u32 = 0x4000_0000;

fn step(code: u16, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code, jt: yes, jf: no, k }
}

/// The program.
pub fn program(rules: &[(libc::c_long, Rule)]) -> Vec<sock_filter> {
    let mut steps = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        step(JUMP_EQUAL, OURS, 1, 0),
        step(RETURN, KILL, 0, 0),
        step(LOAD, NUMBER, 0, 0),
        step(JUMP_AT_LEAST, SECOND_CONVENTION, 0, 1),
        step(RETURN, KILL, 0, 0),
    ];
    for (number, rule) in rules {
        let low = |argument: u8| step(LOAD, ARGUMENTS + 8 * u32::from(argument), 0, 0);
        let body = match rule {
            Rule::Pass | Rule::Ask => continue,
            Rule::PassIf(argument, values) => {
                let mut body = vec![low(*argument)];
                for value in *values {
                    body.extend([step(JUMP_EQUAL, *value, 0, 1), step(RETURN, PASS, 0, 0)]);
                }
                body.push(step(RETURN, ASK, 0, 0));
                body
            }
            Rule::PassUnless(argument, bits) => vec![
                low(*argument),
                step(JUMP_BITS, *bits, 0, 1),
                step(RETURN, ASK, 0, 0),
                step(RETURN, PASS, 0, 0),
            ],
        };
        // Lists are short: a jump of the filter goes at most 255 steps.
        steps.push(step(JUMP_EQUAL, *number as u32, 0, body.len() as u8));
        steps.extend(body);
    }
    for (first, last) in ranges(rules) {
        steps.extend([
            step(JUMP_AT_LEAST, first, 0, 2),
            step(JUMP_GREATER, last, 1, 0),
            step(RETURN, PASS, 0, 0),
        ]);
    }
    steps.push(step(RETURN, ASK, 0, 0));
    steps
}

/// The calls that pass whatever their arguments, as ranges of numbers.
fn ranges(rules: &[(libc::c_long, Rule)]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for (number, _) in rules.iter().filter(|(_, rule)| *rule == Rule::Pass) {
        let number = *number as u32;
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{Held, rules};
    use crate::walls::Kind;

    /// What the program answers, by a reading of its steps.
    fn answer(steps: &[sock_filter], architecture: u32, number: u32, arguments: [u32; 6]) -> u32 {
        let (mut at, mut value) = (0usize, 0u32);
        loop {
            let now = &steps[at];
            at += 1;
            let jump = |condition: bool| usize::from(if condition { now.jt } else { now.jf });
            match now.code {
                LOAD if now.k == NUMBER => value = number,
                LOAD if now.k == ARCHITECTURE => value = architecture,
                LOAD => value = arguments[((now.k - ARGUMENTS) / 8) as usize],
                JUMP_EQUAL => at += jump(value == now.k),
                JUMP_GREATER => at += jump(value > now.k),
                JUMP_AT_LEAST => at += jump(value >= now.k),
                JUMP_BITS => at += jump(value & now.k != 0),
                _ => return now.k,
            }
        }
    }

    #[test]
    fn the_program_says_what_the_rules_say() {
        for kind in [Kind::NameSpaces, Kind::Landlock] {
            for bits in 0..8 {
                let held =
                    Held { kind, scoped: bits & 1 != 0, copies_all: bits & 2 != 0, traces: bits & 4 != 0 };
                let rules = rules(held);
                let steps = program(&rules);
                assert!(steps.len() < 4096, "the kernel takes no longer program");
                for number in 0..600u32 {
                    let rule = rules.iter().find(|(known, _)| *known as u32 == number).map(|(_, rule)| *rule);
                    for value in [0, 1, 2, 3, 8, 64, 512, 0x5401, 0x5412, 1024, u32::MAX] {
                        let expected = match rule {
                            None | Some(Rule::Ask) => ASK,
                            Some(Rule::Pass) => PASS,
                            Some(Rule::PassIf(_, values)) => {
                                if values.contains(&value) {
                                    PASS
                                } else {
                                    ASK
                                }
                            }
                            Some(Rule::PassUnless(_, bits)) => {
                                if value & bits == 0 {
                                    PASS
                                } else {
                                    ASK
                                }
                            }
                        };
                        assert_eq!(
                            answer(&steps, OURS, number, [value; 6]),
                            expected,
                            "call {number} with {value}"
                        );
                        assert_eq!(answer(&steps, OURS, number | SECOND_CONVENTION, [value; 6]), KILL);
                        assert_eq!(answer(&steps, OURS ^ 1, number, [value; 6]), KILL);
                    }
                }
            }
        }
    }
}
