//! `run --states`: machine code from many states, one JSON object a line in and out.

use crate::subject::Limits;
use crate::subject::code::{hex, number};
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::ValueEnum;
use parallax_cli_base::exit::Status;
use parallax_cli_base::input;
use parallax_code::{Halt, MachineState, Program, StateError};
use parallax_op::Bits;
use parallax_primitives::{Evaluation, assumptions};
use parallax_sem::Language as _;
use parallax_term::{Store, StructUpdate};
use serde_json::{Map, Value, json};
use std::io::{BufWriter, Write};
use std::path::Path;

/// How the code is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reading {
    /// On numbers.
    Concrete,
    /// On terms, which are then evaluated at each state.
    Symbolic,
}

/// How the states afterwards are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One a line, each as soon as it is there.
    Lines,
    /// All in one document.
    Document,
}

/// Runs the program from every state of the file.
pub fn run(program: &Program, file: &Path, reading: Reading, limits: &Limits, form: Form) -> Result<Status> {
    let source = input::source(file)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let store = Store::new();
    let evaluation = match reading {
        Reading::Concrete => None,
        Reading::Symbolic => {
            program.open_controls();
            program.declare(&store);
            let evaluation = limits.explorer(program, &store).evaluate(&StructUpdate::identity());
            for why in &evaluation.gave_up {
                eprintln!("gave up: {why}");
            }
            Some(evaluation)
        }
    };
    let mut status = Status::Clean;
    let mut states = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("{}:{}", file.display(), index + 1);
        let (before, keys) = read(program, line).with_context(place)?;
        let after = match &evaluation {
            None => program.run_state(&before, limits.steps),
            Some(evaluation) => evaluated(program, &store, evaluation, &before),
        };
        let after = after.with_context(place)?;
        match after.stopped {
            None => {}
            // As `run` says it of one state; what stopped for good outweighs what more patience would finish.
            Some(Halt::Stuck(_)) => status = Status::Unsupported,
            Some(Halt::Steps(_) | Halt::Unfollowed(_)) if status == Status::Clean => status = Status::GaveUp,
            Some(Halt::Steps(_) | Halt::Unfollowed(_)) => {}
        }
        let state = write(program, &after, &keys);
        match form {
            Form::Lines => writeln!(out, "{state}")?,
            Form::Document => states.push(state),
        }
    }
    if form == Form::Document {
        writeln!(out, "{:#}", json!({ "states": states, "status": status as u8 }))?;
    }
    out.flush()?;
    Ok(status)
}

/// The state after the code, as its terms say, where they say something of this state.
fn evaluated(
    program: &Program,
    store: &Store,
    evaluation: &Evaluation,
    before: &MachineState,
) -> Result<MachineState, StateError> {
    let void = |why: String| Ok(MachineState { stopped: Some(Halt::Unfollowed(why)), ..before.clone() });
    if !program.holds(store, evaluation.complete, before)? {
        return void("the code was not followed to its end from this state".to_owned());
    }
    for assumption in assumptions(store) {
        if program.holds(store, assumption.breaks, before)? {
            return void(format!("{} does not hold in this state", assumption.name));
        }
    }
    program.evaluate_state(store, &evaluation.update, before)
}

/// The state, and how the line spells the addresses of its memory.
fn read(program: &Program, line: &str) -> Result<(MachineState, Vec<String>)> {
    let value: Value = serde_json::from_str(line).context("not a JSON object")?;
    let object = value.as_object().ok_or_else(|| anyhow!("not a JSON object"))?;
    let mut state = MachineState::default();
    let mut keys = Vec::new();
    for (key, value) in object {
        let entries = value.as_object().ok_or_else(|| anyhow!("`{key}` is not an object"))?;
        match key.as_str() {
            "regs" => {
                for (name, value) in entries {
                    let width = program.register_width(name)?;
                    state.registers.push((
                        name.clone(),
                        bits(value, width).with_context(|| format!("register {name}"))?,
                    ));
                }
            }
            "mem" => {
                for (address, value) in entries {
                    let text = value
                        .as_str()
                        .ok_or_else(|| anyhow!("memory at {address} is not a string of bytes"))?;
                    let at = number(address)?;
                    keys.push(address.clone());
                    state.memory.push((at, hex(text).with_context(|| format!("memory at {address}"))?));
                }
            }
            // What a run that stopped says is not an input.
            "stopped" => {}
            _ => bail!("unknown key `{key}`: there are regs and mem"),
        }
    }
    Ok((state, keys))
}

fn bits(value: &Value, width: u16) -> Result<Bits> {
    match value {
        Value::String(text) => Bits::parse(text, width).map_err(|error| anyhow!("`{text}`: {error}")),
        Value::Bool(flag) => Ok(Bits::new(width, u128::from(*flag))),
        Value::Number(number) => {
            let number = number
                .as_u64()
                .ok_or_else(|| anyhow!("{number} is no natural number; write larger ones as strings"))?;
            ensure!(width >= 64 || number >> width == 0, "{number} does not fit into {width} bits");
            Ok(Bits::new(width, u128::from(number)))
        }
        _ => bail!("neither a number nor a string"),
    }
}

fn write(program: &Program, state: &MachineState, keys: &[String]) -> Value {
    let registers: Map<String, Value> = state
        .registers
        .iter()
        .map(|(name, value)| {
            let flag = program.register_width(name) == Ok(1);
            let value = if flag {
                json!(u8::from(!value.is_zero()))
            } else {
                json!(format!("{:#x}", value.to_big()))
            };
            (name.clone(), value)
        })
        .collect();
    let memory: Map<String, Value> = state
        .memory
        .iter()
        .zip(keys)
        .map(|((_, bytes), key)| {
            let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (key.clone(), json!(text))
        })
        .collect();
    let mut object = Map::new();
    object.insert("regs".to_owned(), Value::Object(registers));
    object.insert("mem".to_owned(), Value::Object(memory));
    if let Some(why) = &state.stopped {
        object.insert("stopped".to_owned(), json!(why.to_string()));
    }
    Value::Object(object)
}
