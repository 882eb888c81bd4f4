//! Where something happened, as users see it: in their own code, whatever the library or the compiler made of it.

use parallax_cmodule::{FunctionId, LocationId, Module, Spot};

/// The place in the user's own code where something happened.
pub fn user_place(module: &Module, stack: &[(FunctionId, LocationId)]) -> (FunctionId, LocationId) {
    stack
        .iter()
        .find(|(function, _)| !module.function(*function).library)
        .or(stack.first())
        .copied()
        .unwrap_or((FunctionId(0), LocationId::default()))
}

/// The same as the source has it.
pub fn user_spot(module: &Module, stack: &[(FunctionId, LocationId)]) -> Spot {
    let (function, location) = user_place(module, stack);
    module.spot(function, location)
}

/// The calls of the user's own code that lead to where something happened, the innermost first, inlined ones too.
pub fn user_stack<'m>(
    module: &'m Module,
    stack: &[(FunctionId, LocationId)],
) -> impl Iterator<Item = (&'m str, LocationId)> {
    let (function, location) = user_place(module, stack);
    let around = stack.iter().skip_while(move |frame| **frame != (function, location)).skip(1);
    let around = around.filter(|(function, _)| !module.function(*function).library);
    let all: Vec<_> = std::iter::once((function, location)).chain(around.copied()).collect();
    all.into_iter().flat_map(|(function, at)| module.inlined(function, at))
}

/// A place as `file:line`; nothing where the source has no line for it.
pub fn written(module: &Module, location: LocationId) -> Option<String> {
    let line = module.location(location).line;
    (line > 0).then(|| format!("{}:{line}", module.file_of(location)))
}
