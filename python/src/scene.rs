//! What is asked about a program that stands somewhere: at a moment, or where a replay passes.

use parallax_moment::Passed;
use parallax_symbols::{Compiled, Error, Frame, Kind, Result, Role, State, Symbols, Value};
use std::cell::OnceCell;
use std::sync::Arc;

/// A program that stands somewhere, seen by one thread.
pub trait Scene {
    fn symbols(&self) -> &Symbols;
    /// The innermost frame.
    fn frame(&self) -> &Frame;
    fn state(&self) -> &dyn State;
    /// The number of the thread; none if it is not known.
    fn thread(&self) -> Option<u32>;
    /// A register as SLEIGH names it; none if there is none, or if it is not known exactly.
    fn register(&self, name: &str) -> Option<u128>;
}

impl dyn Scene + '_ {
    /// The value of an expression. Frames are unwound only if that needs it.
    pub fn evaluate(&self, text: &str) -> Result<Value> {
        let (symbols, state) = (self.symbols(), self.state());
        let compiled = symbols.compiled(text, state.pc());
        match compiled.and_then(|compiled| compiled.value(symbols, state)) {
            Some(value) => Ok(value),
            None => symbols.evaluate(text, self.frame(), state),
        }
    }

    /// The `n`-th argument of the function that the thread is in or about to call, from 0.
    pub fn argument(&self, n: usize) -> Result<Value> {
        let (symbols, state) = (self.symbols(), self.state());
        let compiled = self.argument_place(n)?.compiled(symbols, state.pc());
        match compiled.and_then(|compiled| compiled.value(symbols, state)) {
            Some(value) => Ok(value),
            None => self.argument_place(n)?.value(symbols, self.frame(), state),
        }
    }

    /// Where that argument is.
    ///
    /// Behind the prologue the debug information says it. At a function's first instruction, at a call, and without debug
    /// information it is where the calling convention puts it.
    pub fn argument_place(&self, n: usize) -> Result<Argument> {
        let (symbols, state) = (self.symbols(), self.state());
        let pc = state.pc();
        let frame = symbols.frame_at(pc);
        let is_parameter = |variable: &parallax_symbols::Variable| variable.role == Role::Parameter;
        let parameters: Vec<_> = symbols.variables(&frame)?.into_iter().filter(is_parameter).collect();
        let is_entry = symbols.function_at(pc).is_some_and(|(_, range)| range.start == pc);
        if !is_entry && !parameters.is_empty() && !is_call(state) {
            let missing = Error::NoVariable { name: format!("argument {n}"), function: frame.function };
            return parameters.into_iter().nth(n).map(Argument::Parameter).ok_or(missing);
        }
        let types = if is_entry { &parameters[..] } else { &[] };
        let (mut whole, mut real) = (0, 0);
        let is_real = |index: usize| -> Result<bool> {
            let Some(parameter) = types.get(index) else { return Ok(false) };
            Ok(matches!(&*symbols.kind(&parameter.ty)?, Kind::Float { size: 4 | 8 }))
        };
        for index in 0..n {
            *(if is_real(index)? { &mut real } else { &mut whole }) += 1;
        }
        const WHOLE: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
        let text = match (is_real(n)?, WHOLE.get(whole)) {
            (true, _) => format!("$xmm{}", real.min(15)),
            (false, Some(register)) => format!("${register}"),
            (false, None) => {
                let above = if is_entry { 8 } else { 0 };
                format!("*(long *)($rsp + {})", 8 * (whole - WHOLE.len()) + above)
            }
        };
        Ok(Argument::Passed { text, ty: types.get(n).map(|parameter| parameter.ty.clone()) })
    }
}

/// Where an argument is.
pub enum Argument {
    /// Where the debug information says.
    Parameter(parallax_symbols::Variable),
    /// Where the calling convention puts it, and its type if that is known.
    Passed { text: String, ty: Option<parallax_symbols::Type> },
}

impl Argument {
    fn value(&self, symbols: &Symbols, frame: &Frame, state: &dyn State) -> Result<Value> {
        match self {
            Argument::Parameter(variable) => symbols.value(variable, Some(frame), state),
            Argument::Passed { text, ty } => {
                let value = symbols.evaluate(text, frame, state)?;
                Ok(Value { ty: ty.clone().unwrap_or(value.ty), ..value })
            }
        }
    }

    /// The same, ready to be asked often at one place in the code; none if it has no simple form.
    pub fn compiled(&self, symbols: &Symbols, pc: u64) -> Option<Arc<Compiled>> {
        match self {
            Argument::Parameter(variable) => symbols.compile_variable(variable, pc).map(Arc::new),
            Argument::Passed { text, ty: None } => symbols.compiled(text, pc),
            Argument::Passed { text, ty: Some(ty) } => {
                let register = symbols.register_named(text.strip_prefix('$')?)?;
                symbols.compile_register(register, ty, pc).map(Arc::new)
            }
        }
    }
}

/// Whether the next instruction is a call.
fn is_call(state: &dyn State) -> bool {
    const LONGEST: usize = 15;
    let mut bytes = [0; LONGEST];
    // The code may end behind it.
    let readable = (1..=LONGEST).rev().find(|length| state.read(state.pc(), &mut bytes[..*length]));
    readable.is_some_and(|length| {
        decoded(&bytes[..length]).is_some_and(|instruction| is_call_instruction(&instruction))
    })
}

pub fn decoded(bytes: &[u8]) -> Option<iced_x86::Instruction> {
    let mut decoder = iced_x86::Decoder::new(64, bytes, iced_x86::DecoderOptions::NONE);
    let instruction = decoder.can_decode().then(|| decoder.decode())?;
    (!instruction.is_invalid()).then_some(instruction)
}

pub fn is_call_instruction(instruction: &iced_x86::Instruction) -> bool {
    matches!(instruction.flow_control(), iced_x86::FlowControl::Call | iced_x86::FlowControl::IndirectCall)
}

/// A program where a replay passes.
pub struct Passage<'p, 'a> {
    pub passed: Passed<'p, 'a>,
    pub symbols: Arc<Symbols>,
    innermost: OnceCell<Frame>,
}

impl<'p, 'a> Passage<'p, 'a> {
    pub fn new(passed: Passed<'p, 'a>, symbols: Arc<Symbols>) -> Self {
        Passage { passed, symbols, innermost: OnceCell::new() }
    }
}

impl Scene for Passage<'_, '_> {
    fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn frame(&self) -> &Frame {
        self.innermost.get_or_init(|| self.symbols.innermost(&self.passed))
    }

    fn state(&self) -> &dyn State {
        &self.passed
    }

    fn thread(&self) -> Option<u32> {
        self.passed.0.thread()
    }

    fn register(&self, name: &str) -> Option<u128> {
        if name == "RIP" {
            return Some(self.passed.0.pc().into());
        }
        self.passed.0.register(name).filter(|bytes| bytes.len() <= 16).map(parallax_moment::word)
    }
}
