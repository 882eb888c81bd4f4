//! Where a variable is: expressions of DWARF, evaluated in a frame.

use crate::debug::{Attribute, Bytes, Die};
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::symbols::Symbols;
use crate::types::Field;
use crate::unwind::Registers;
use crate::value::{Place, State};
use gimli::{AttributeValue, EvaluationResult, Location, Piece, Reader};
use std::sync::Arc;

/// What an expression may refer to.
pub(crate) struct Context<'a> {
    pub symbols: &'a Symbols,
    pub state: &'a dyn State,
    pub registers: &'a Registers,
    pub module: usize,
    pub unit: Option<usize>,
    pub cfa: Option<u64>,
    pub frame: Option<&'a Frame>,
    /// How many frames up an entry value has led.
    pub climbed: usize,
}

/// Steps of one expression.
const MOST_STEPS: u32 = 10_000;
/// Frames that the value at the entry of a function may lead up.
const MOST_CLIMBED: usize = 16;
/// Bytes of a value in pieces.
const MOST_PIECED: u64 = 1 << 20;

impl<'a> Context<'a> {
    /// For the variables of a frame.
    pub fn of(
        symbols: &'a Symbols,
        frame: &'a Frame,
        state: &'a dyn State,
        module: usize,
        unit: usize,
    ) -> Context<'a> {
        Context {
            symbols,
            state,
            registers: &frame.registers,
            module,
            unit: Some(unit),
            cfa: frame.cfa,
            frame: Some(frame),
            climbed: 0,
        }
    }

    fn malformed(&self, why: gimli::Error) -> Error {
        self.symbols.malformed(self.module, why)
    }

    fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported { what: what.to_owned() }
    }

    /// A typed value out of raw bits.
    fn typed(&self, raw: u128, base: gimli::UnitOffset<usize>) -> Result<gimli::Value> {
        if base.0 == 0 {
            return Ok(gimli::Value::Generic(raw as u64));
        }
        let ty = self.value_type(base)?;
        let (bytes, endian) = if self.symbols.is_big_endian() {
            let size = usize::from(ty.bit_size(u64::MAX) as u8 / 8).min(16);
            (raw.to_be_bytes()[16 - size..].to_vec(), gimli::RunTimeEndian::Big)
        } else {
            (raw.to_le_bytes().to_vec(), gimli::RunTimeEndian::Little)
        };
        gimli::Value::parse(ty, Bytes::new(Arc::from(bytes), endian)).map_err(|why| self.malformed(why))
    }

    fn value_type(&self, base: gimli::UnitOffset<usize>) -> Result<gimli::ValueType> {
        if base.0 == 0 {
            return Ok(gimli::ValueType::Generic);
        }
        let unit = self.unit.ok_or_else(|| self.unsupported("types in unwind information"))?;
        let entry = self.symbols.debug(self.module)?.entry(Die { unit, offset: base })?;
        let ty = gimli::ValueType::from_entry(&entry).map_err(|why| self.malformed(why))?;
        ty.ok_or_else(|| self.unsupported("a location with a value of an unusual type"))
    }

    fn memory(&self, address: u64, size: u64) -> Result<u128> {
        let mut bytes = vec![0; size.min(16) as usize];
        if !self.state.read(address, &mut bytes) {
            return Err(Error::Unreadable { address, size });
        }
        let mut word = [0; 16];
        if self.symbols.is_big_endian() {
            bytes.reverse();
        }
        word[..bytes.len()].copy_from_slice(&bytes);
        Ok(u128::from_le_bytes(word))
    }

    /// Evaluates an expression; `initial` lies on its stack at the start.
    pub fn run(
        &self,
        expression: gimli::Expression<Bytes>,
        encoding: gimli::Encoding,
        initial: Option<u64>,
    ) -> Result<Vec<Piece<Bytes>>> {
        let failed = |why| self.malformed(why);
        let mut evaluation = expression.evaluation(encoding);
        evaluation.set_max_iterations(MOST_STEPS);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
            evaluation.set_object_address(initial);
        }
        let bias = self.symbols.bias(self.module);
        let mut result = evaluation.evaluate().map_err(failed)?;
        loop {
            result = match result {
                EvaluationResult::Complete => return Ok(evaluation.result()),
                EvaluationResult::RequiresMemory { address, size, base_type, .. } => {
                    let value = self.typed(self.memory(address, size.into())?, base_type)?;
                    evaluation.resume_with_memory(value)
                }
                EvaluationResult::RequiresRegister { register, base_type } => {
                    let raw = self.registers.get(self.state, register.0);
                    let raw = raw.ok_or(Error::NoRegister { register: register.0 })?;
                    evaluation.resume_with_register(self.typed(raw, base_type)?)
                }
                EvaluationResult::RequiresFrameBase => evaluation.resume_with_frame_base(self.frame_base()?),
                EvaluationResult::RequiresCallFrameCfa => {
                    let cfa = self.cfa.ok_or_else(|| self.unsupported("a frame that cannot be unwound"))?;
                    evaluation.resume_with_call_frame_cfa(cfa)
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(bias))
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let debug = self.symbols.debug(self.module)?;
                    let unit =
                        self.unit.ok_or_else(|| self.unsupported("an address in unwind information"))?;
                    let address = debug.dwarf.address(&debug.units[unit].unit, index).map_err(failed)?;
                    evaluation.resume_with_indexed_address(if relocate {
                        address.wrapping_add(bias)
                    } else {
                        address
                    })
                }
                EvaluationResult::RequiresBaseType(base) => {
                    evaluation.resume_with_base_type(self.value_type(base)?)
                }
                EvaluationResult::RequiresTls(offset) => {
                    evaluation.resume_with_tls(self.symbols.thread_local(self.module, offset, self.state)?)
                }
                EvaluationResult::RequiresEntryValue(expression) => {
                    evaluation.resume_with_entry_value(self.entry_value(expression)?)
                }
                EvaluationResult::RequiresAtLocation(_) => {
                    return Err(self.unsupported("a location that calls another"));
                }
                EvaluationResult::RequiresParameterRef(_) => {
                    return Err(Error::OptimizedOut { what: "a parameter".to_owned() });
                }
            }
            .map_err(failed)?;
        }
    }

    /// An expression's value as an address.
    pub fn address(
        &self,
        expression: gimli::Expression<Bytes>,
        encoding: gimli::Encoding,
        initial: Option<u64>,
    ) -> Result<u64> {
        let pieces = self.run(expression, encoding, initial)?;
        match pieces.first().map(|piece| &piece.location) {
            Some(Location::Address { address }) => Ok(*address),
            Some(Location::Register { register }) => {
                let raw = self.registers.get(self.state, register.0);
                raw.map(|raw| raw as u64).ok_or(Error::NoRegister { register: register.0 })
            }
            Some(Location::Value { value }) => value.to_u64(u64::MAX).map_err(|why| self.malformed(why)),
            _ => Err(Error::OptimizedOut { what: "the frame's base".to_owned() }),
        }
    }

    fn frame_base(&self) -> Result<u64> {
        let function = self.frame.and_then(|frame| frame.function_die);
        let (module, function) = function.ok_or_else(|| self.unsupported("a location without a function"))?;
        let debug = self.symbols.debug(module)?;
        let Some((unit, value)) = debug.attribute(function, gimli::DW_AT_frame_base)? else {
            return Err(debug.nonsense("a function without a frame base"));
        };
        let encoding = debug.units[unit].unit.encoding();
        match self.chosen(unit, value)? {
            Some(expression) => self.address(expression, encoding, None),
            None => Err(Error::OptimizedOut { what: "the frame's base".to_owned() }),
        }
    }

    /// The expression of a location that holds at this frame's place in the code.
    pub fn chosen(&self, unit: usize, value: Attribute) -> Result<Option<gimli::Expression<Bytes>>> {
        if let AttributeValue::Exprloc(expression) = value {
            return Ok(Some(expression));
        }
        let debug = self.symbols.debug(self.module)?;
        let failed = |why| self.malformed(why);
        let Some(frame) = self.frame else { return Ok(None) };
        let address = frame.look.wrapping_sub(self.symbols.bias(self.module));
        let Some(mut list) = debug.dwarf.attr_locations(&debug.units[unit].unit, value).map_err(failed)?
        else {
            return Ok(None);
        };
        while let Some(entry) = list.next().map_err(failed)? {
            if entry.range.begin <= address && address < entry.range.end {
                return Ok(Some(entry.data));
            }
        }
        Ok(None)
    }

    /// What an expression was when the function was entered: what the call site says of its parameters.
    fn entry_value(&self, expression: gimli::Expression<Bytes>) -> Result<gimli::Value> {
        let lost = || Error::OptimizedOut { what: "the value at the entry of the function".to_owned() };
        let frame = self.frame.filter(|_| self.climbed < MOST_CLIMBED).ok_or_else(lost)?;
        let caller = self.symbols.caller(frame, self.state)?.ok_or_else(lost)?;
        let Some((module, function)) = caller.function_die else { return Err(lost()) };
        let debug = self.symbols.debug(module)?;
        let return_address = caller.pc.wrapping_sub(self.symbols.bias(module));
        let wanted = expression.0.to_slice().map_err(|why| self.malformed(why))?.into_owned();
        for parameter in debug.call_site_parameters(function, return_address)? {
            let Some(AttributeValue::Exprloc(location)) = debug.own(parameter, gimli::DW_AT_location)? else {
                continue;
            };
            if *location.0.to_slice().map_err(|why| self.malformed(why))? != wanted[..] {
                continue;
            }
            for name in [gimli::DW_AT_call_value, gimli::DW_AT_GNU_call_site_value] {
                let Some(AttributeValue::Exprloc(value)) = debug.own(parameter, name)? else { continue };
                let mut above = Context::of(self.symbols, &caller, self.state, module, parameter.unit);
                above.climbed = self.climbed + 1;
                let encoding = debug.units[parameter.unit].unit.encoding();
                return above.address(value, encoding, None).map(gimli::Value::Generic);
            }
        }
        Err(lost())
    }

    /// The place that pieces make up, of a value of so many bytes.
    pub fn place(&self, pieces: &[Piece<Bytes>], size: u64) -> Result<Place> {
        if let [Piece { size_in_bits: None, location, .. }] = pieces
            && let Location::Address { address } = location
        {
            return Ok(Place::Memory(*address));
        }
        if let [Piece { location: Location::ImplicitPointer { .. }, .. }] = pieces {
            return Ok(Place::Synthetic);
        }
        let (mut bytes, mut known) = (Vec::new(), Vec::new());
        for piece in pieces {
            let wanted = piece.size_in_bits.map_or(size, |bits| bits.div_ceil(8));
            if bytes.len() as u64 + wanted > MOST_PIECED {
                return Err(Error::TooLarge { size: wanted });
            }
            let found = self.piece(&piece.location, wanted)?;
            known.extend(std::iter::repeat_n(found.is_some(), wanted as usize));
            let mut found = found.unwrap_or_default();
            found.resize(wanted as usize, 0);
            bytes.extend_from_slice(&found);
        }
        if known.iter().all(|known| !known) {
            return Ok(Place::OptimizedOut);
        }
        let known = known.iter().any(|known| !known).then(|| Arc::from(known));
        Ok(Place::Bytes { bytes: bytes.into(), known })
    }

    fn piece(&self, location: &Location<Bytes>, size: u64) -> Result<Option<Vec<u8>>> {
        let number = |raw: u128| self.symbols.number(raw as i128, size);
        Ok(match location {
            Location::Empty | Location::ImplicitPointer { .. } => None,
            Location::Register { register } => self.registers.get(self.state, register.0).map(number),
            Location::Address { address } => {
                let mut bytes = vec![0; size as usize];
                if !self.state.read(*address, &mut bytes) {
                    return Err(Error::Unreadable { address: *address, size });
                }
                Some(bytes)
            }
            Location::Value { value } => Some(number(match value {
                gimli::Value::F32(value) => value.to_bits().into(),
                gimli::Value::F64(value) => value.to_bits().into(),
                other => other.to_u64(u64::MAX).map_err(|why| self.malformed(why))?.into(),
            })),
            Location::Bytes { value } => {
                Some(value.to_slice().map_err(|why| self.malformed(why))?.into_owned())
            }
        })
    }
}

impl Symbols {
    /// Where a virtual base starts in the object at an address.
    pub(crate) fn virtual_offset(&self, field: &Field, object: u64, state: &dyn State) -> Result<u64> {
        let (module, die) = field.declared;
        let debug = self.debug(module)?;
        let Some(AttributeValue::Exprloc(expression)) = debug.own(die, gimli::DW_AT_data_member_location)?
        else {
            return Err(debug.nonsense("a base without a place"));
        };
        let registers = Registers::default();
        let context = Context {
            symbols: self,
            state,
            registers: &registers,
            module,
            unit: Some(die.unit),
            cfa: None,
            frame: None,
            climbed: 0,
        };
        let address = context.address(expression, debug.units[die.unit].unit.encoding(), Some(object))?;
        Ok(address.wrapping_sub(object))
    }
}
