//! What address symbols promise, looked at one interpretation at a time.
//!
//! `n` address symbols promise about `n * n / 2` disequalities ([`Store::axioms`]). A query seldom needs many of them,
//! so solvers get the promises of each symbol alone from the start, and those of a pair only once an interpretation
//! breaks them.

use crate::Model;
use num_bigint::BigUint;
use parallax_op::{Bits, Width};
use parallax_term::{Formula, Sort, Store, Symbol, SymbolKind};

/// Among overlapping objects, how far apart in order two may stand to be told apart at once.
const NEIGHBOURS: usize = 64;

/// The extent of an address symbol and the width of its addresses.
pub(crate) fn extent(store: &Store, symbol: Symbol) -> Option<(u64, Width)> {
    let info = store.info(symbol);
    match (info.kind, info.sort) {
        (SymbolKind::Address { extent }, Sort::Bits(width)) => Some((extent.max(1), width)),
        _ => None,
    }
}

/// Objects with their first address, grouped by width and in order of address.
fn placed(store: &Store, symbols: &[Symbol], value: impl Fn(Symbol) -> Option<Bits>) -> Vec<Object> {
    let mut objects: Vec<Object> = symbols
        .iter()
        .filter_map(|&symbol| {
            let (extent, width) = extent(store, symbol)?;
            let first = value(symbol)?.to_big();
            let end = &first + extent;
            Some(Object { width, first, end, symbol })
        })
        .collect();
    objects.sort_by(|a, b| (a.width, &a.first).cmp(&(b.width, &b.first)));
    objects
}

struct Object {
    width: Width,
    first: BigUint,
    end: BigUint,
    symbol: Symbol,
}

/// Promises of pairs that an interpretation breaks.
pub(crate) fn broken(
    store: &Store,
    symbols: &[Symbol],
    value: impl Fn(Symbol) -> Option<Bits>,
) -> Vec<Formula> {
    let objects = placed(store, symbols, value);
    let mut axioms = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        for later in objects[index + 1..].iter().take(NEIGHBOURS) {
            if later.width != object.width || later.first >= object.end {
                break;
            }
            axioms.extend(store.axioms([object.symbol, later.symbol]));
        }
    }
    axioms
}

/// Whether the objects among `symbols` stand where they promise to: not at zero, not around the end, not overlapping.
pub(crate) fn apart(store: &Store, model: &Model, symbols: &[Symbol]) -> bool {
    let value = |symbol: Symbol| {
        let (_, width) = extent(store, symbol)?;
        Some(model.bits(symbol).cloned().unwrap_or_else(|| Bits::zero(width)))
    };
    let objects = placed(store, symbols, value);
    let zero = BigUint::default();
    let inside = |o: &Object| o.first != zero && o.end <= (BigUint::from(1u8) << o.width);
    objects.iter().all(inside)
        && objects.windows(2).all(|pair| pair[0].width != pair[1].width || pair[0].end <= pair[1].first)
}

/// Gives those address symbols among `symbols` that a model leaves out places of their own, so that it keeps every
/// promise that there is room for.
pub(crate) fn complete(store: &Store, model: &mut Model, symbols: impl IntoIterator<Item = Symbol>) {
    let symbols: Vec<Symbol> =
        symbols.into_iter().filter(|&symbol| extent(store, symbol).is_some()).collect();
    let missing: Vec<Symbol> =
        symbols.iter().copied().filter(|&symbol| model.bits(symbol).is_none()).collect();
    if missing.is_empty() {
        return;
    }
    let mut objects = placed(store, &symbols, |symbol| model.bits(symbol).cloned());
    for symbol in missing {
        let Some((extent, width)) = extent(store, symbol) else { continue };
        let room = BigUint::from(1u8) << width;
        let mut first = if width > 16 { BigUint::from(0x1000u32) } else { BigUint::from(1u8) };
        let mut at = objects.partition_point(|o| o.width < width);
        while at < objects.len() && objects[at].width == width && objects[at].first < &first + extent {
            first = first.max(objects[at].end.clone());
            at += 1;
        }
        let end = &first + extent;
        if end <= room {
            model.set_bits(symbol, Bits::from_big(width, first.clone()));
            objects.insert(at, Object { width, first, end, symbol });
        }
    }
}
