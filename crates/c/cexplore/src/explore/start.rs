//! The states that an exploration starts with.

use super::host::{Explorer, Input};
use super::settings::{Argument, Entry, Settings};
use crate::run::{self, main_arguments};
use parallax_cmachine::{Files, Machine, Oracle, State, Stop};
use parallax_cmodule::FunctionId;
use parallax_sem::Symbolic;
use parallax_term::{Store, Term};

type Sym<'s> = Symbolic<'s>;

/// Why a program does not start.
pub(super) enum Failed<'s> {
    /// There is no such entry.
    Entry(String),
    /// The machine stopped on the way.
    Machine(Stop<Sym<'s>>),
}

/// The states that the program can start in: one, or one for each number of arguments.
pub(super) fn start<'s>(
    machine: &mut Machine<'s, Sym<'s>, Explorer<'s>>,
    store: &'s Store,
    settings: &Settings,
) -> Result<Vec<State<Sym<'s>>>, Failed<'s>> {
    let module = machine.module;
    let find = |name: &str| -> Result<FunctionId, Failed<'s>> {
        match module.function_named(name) {
            Some(id) if module.function(id).is_defined() => Ok(id),
            Some(_) => Err(Failed::Entry(format!("the function {name} is declared but has no body"))),
            None => Err(Failed::Entry(crate::names::no_function(module, name))),
        }
    };
    match &settings.entry {
        Entry::Main { arguments, stdin, files, environment } => {
            let main = find("main")?;
            let mut state = machine.start().map_err(Failed::Machine)?;
            run::forget_undefined_globals(machine, &mut state).map_err(Failed::Machine)?;
            let constant = |byte: u8| store.number(8, byte.into());
            let mut vectors: Vec<Vec<Term>> = vec![b"program".iter().map(|&b| constant(b)).collect()];
            for (number, argument) in (1..).zip(arguments) {
                vectors.push(match argument {
                    Argument::Known(bytes) => bytes.iter().map(|&b| constant(b)).collect(),
                    Argument::Unknown(len) | Argument::Optional(len) => {
                        let given = |input: &'s Input| input.arguments.get(number).map(Vec::as_slice);
                        machine.host.bytes(&format!("arg{number}"), *len, given)
                    }
                });
            }
            machine.host.arguments = vectors.clone();
            machine.host.stdin = machine.host.bytes("stdin", *stdin, |input| Some(&input.stdin));
            for (name, content) in files {
                let given = |input: &'s Input| {
                    input.files.iter().find(|(other, _)| other == name).map(|(_, bytes)| bytes.as_slice())
                };
                let bytes = match content {
                    Argument::Known(bytes) => bytes.iter().map(|&b| constant(b)).collect(),
                    Argument::Unknown(len) | Argument::Optional(len) => machine.host.bytes(name, *len, given),
                };
                machine.host.files.push((name.clone(), bytes));
            }
            for (name, value) in environment {
                let bytes = match value {
                    Argument::Known(bytes) => bytes.iter().map(|&b| constant(b)).collect(),
                    Argument::Unknown(len) | Argument::Optional(len) => {
                        let given = |input: &'s Input| {
                            let found = input.environment.iter().find(|(other, _)| other == name);
                            found.map(|(_, bytes)| bytes.as_slice())
                        };
                        machine.host.bytes(name, *len, given)
                    }
                };
                machine.host.environment.push((name.clone(), bytes));
            }
            let variables = machine.host.environment.iter().map(|(name, bytes)| {
                let named = name.bytes().chain([b'=']).map(constant);
                named.chain(bytes.iter().copied()).collect()
            });
            let variables: Vec<Vec<Term>> = variables.collect();
            let named =
                machine.host.files.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone()));
            state.files = Files::new(machine.host.stdin.clone(), named);
            // Arguments from the first optional one on may be missing. A given input says how many there are.
            let all = vectors.len();
            let fewest = match machine.host.fixed {
                Some(input) => input.arguments.len().clamp(1, all),
                None => 1 + arguments.iter().take_while(|a| !matches!(a, Argument::Optional(_))).count(),
            };
            let most = machine.host.fixed.map_or(all, |_| fewest);
            let mut states = Vec::new();
            for count in fewest..=most {
                let mut state = state.clone();
                let values = main_arguments(machine, &mut state, main, &vectors[..count], &variables)
                    .map_err(Failed::Machine)?;
                machine.begin_program(&mut state, main, values).map_err(Failed::Machine)?;
                if fewest < most {
                    // How many there are is part of the input.
                    let number = store.number(32, count as u128);
                    let given = store.eq(store.symbol("argc", 32), number);
                    machine.host.take(&mut state.path, given);
                }
                states.push(state);
            }
            Ok(states)
        }
        Entry::Function(name) => {
            let function = find(name)?;
            if module.function(function).variadic {
                return Err(Failed::Entry(format!(
                    "{name} takes any number of arguments: start at a function that calls it"
                )));
            }
            let mut state = machine.start().map_err(Failed::Machine)?;
            let starts = super::globals::starts(module, function, settings);
            machine.unknown_memory(&mut state, &mut |id| starts[id.0 as usize]);
            let values = machine.unknown_arguments(&mut state, function).map_err(Failed::Machine)?;
            machine.begin(&mut state, function, values.clone()).map_err(Failed::Machine)?;
            machine.assume_rooms(&mut state, function, &values).map_err(Failed::Machine)?;
            Ok(vec![state])
        }
    }
}
