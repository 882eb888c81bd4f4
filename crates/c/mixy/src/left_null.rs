//! Where functions of the library may store null.

use parallax_cmodule::{Constant, Module, Operand, Operation};
use parallax_points::external::Effect;
use parallax_points::flow::Call;
use parallax_points::{CellId, Points, Site, Value};

/// Cells that a call of a function with these effects may set to null.
pub(crate) fn left_null(
    module: &Module,
    points: &Points,
    site: Site,
    call: &Call,
    effects: &[Effect],
) -> Vec<CellId> {
    let mut arguments: Vec<usize> = Vec::new();
    for effect in effects {
        match *effect {
            Effect::StoresNull(index) => arguments.push(index.into()),
            Effect::Scans(format, first) => {
                let all = usize::from(first)..call.arguments.len();
                match format_of(module, site, format.into()) {
                    Some(format) => {
                        let pointers = scanned_pointers(format).into_iter();
                        arguments
                            .extend(pointers.map(|at| at + usize::from(first)).filter(|at| all.contains(at)));
                    }
                    None => arguments.extend(all),
                }
            }
            _ => {}
        }
    }
    let values = arguments.into_iter().filter_map(|index| call.arguments.get(index)).flat_map(|a| &a.values);
    let pointers = values.filter_map(|value| match value {
        Value::Node(pointer) => Some(*pointer),
        Value::Null => None,
    });
    pointers.flat_map(|pointer| points.accessed(module, pointer)).collect()
}

/// The text that an argument of a call is, where that is constant.
fn format_of(module: &Module, site: Site, index: usize) -> Option<&[u8]> {
    let block = &module.function(site.function).blocks[site.block.0 as usize];
    let Operation::Call { arguments, .. } = &block.instructions.get(site.index as usize)?.operation else {
        return None;
    };
    let Operand::Constant(id) = arguments.get(index)?.value else { return None };
    let Constant::Global(global, 0) = *module.constant(id) else { return None };
    let global = module.global(global);
    match module.constant(global.initialiser.filter(|_| global.constant)?) {
        Constant::Bytes(_, bytes) => Some(bytes),
        _ => None,
    }
}

/// Which of the arguments behind the format of `scanf` get a pointer (`%p`), counted from 0.
fn scanned_pointers(format: &[u8]) -> Vec<usize> {
    let end = format.iter().position(|byte| *byte == 0).unwrap_or(format.len());
    let mut rest = format[..end].iter().copied().peekable();
    let (mut found, mut next) = (Vec::new(), 0);
    while rest.by_ref().any(|byte| byte == b'%') {
        let mut number = 0usize;
        let (mut kept, mut at) = (true, None);
        let conversion = loop {
            match rest.next() {
                Some(digit @ b'0'..=b'9') => {
                    number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
                }
                Some(b'$') => at = number.checked_sub(1),
                Some(b'*') => kept = false,
                Some(b'h' | b'l' | b'j' | b'z' | b't' | b'L' | b'q' | b'm' | b'\'' | b'I') => {}
                other => break other,
            }
        };
        if conversion == Some(b'[') {
            // A bracket that stands first is one of the characters.
            rest.next_if_eq(&b'^');
            rest.next_if_eq(&b']');
            rest.by_ref().find(|byte| *byte == b']');
        }
        if conversion == Some(b'%') || !kept {
            continue;
        }
        let index = at.unwrap_or(next);
        next += 1;
        if conversion == Some(b'p') {
            found.push(index);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::scanned_pointers;

    #[test]
    fn arguments_for_pointers_are_counted() {
        for (format, expected) in [
            ("%p", &[0][..]),
            ("%d %p", &[1]),
            ("%*p %20p %d %p\0%p", &[0, 2]),
            ("%% %[]%p] %p", &[1]),
            ("%[^]p] %ms%p", &[2]),
            ("%2$p %1$d", &[1]),
            ("%d 100%", &[]),
        ] {
            assert_eq!(scanned_pointers(format.as_bytes()), expected, "{format}");
        }
    }
}
