//! What holds what is run to find something out, in words and for programs.

use parallax_jail::{Wanted, available};
use serde_json::{Value, json};

/// What holds the runs of a verb, for its JSON document.
pub fn document(wanted: Wanted) -> Value {
    match (wanted, available()) {
        (Wanted::Unjailed, _) => json!({ "walls": null, "reason": "--run-unjailed" }),
        (_, Ok(walls)) => {
            let rows = walls.rows().into_iter().map(|(what, how)| (what.replace(' ', "_"), json!(how)));
            let rows: serde_json::Map<String, Value> = rows.collect();
            let mut document = json!({ "walls": walls.name(), "landlock": walls.landlock });
            document.as_object_mut().into_iter().for_each(|fields| fields.extend(rows.clone()));
            document
        }
        (_, Err(none)) => json!({ "walls": null, "reason": none.to_string() }),
    }
}
