//! How far a finding can be trusted: what no input has shown yet is likely, or only possible.
//!
//! Inference knows no order and no conditions, so most of what is left to it is not wrong. It is likely wrong where neither matters:
//! null goes from where it arises to its use by assignments, arguments and results alone, in a few steps, and nothing on the way is
//! ever compared with null. What goes through memory that outlives functions was mostly stored there before or after; what is tested
//! somewhere is mostly tested in time.

use crate::finding::{Finding, FlowPath, Status};

/// Steps from the source to the use that are few.
const FEW: usize = 3;

/// Whether a way is short and plain.
fn is_likely(path: &FlowPath) -> bool {
    path.plain && path.steps.len() <= FEW + 1
}

/// Calls findings likely that are, and that no input decides; the shortest way comes first.
pub(crate) fn rank(findings: &mut [Finding]) {
    for finding in findings {
        let Some(at) = finding.paths.iter().position(is_likely) else { continue };
        let steps = finding.paths[at].steps.len().saturating_sub(1);
        if matches!(finding.status, Status::Possible(_)) {
            finding.paths.swap(0, at);
            let far = match steps {
                0 => "where it is used".to_string(),
                1 => "one step before".to_string(),
                more => format!("{more} steps before"),
            };
            finding.status = Status::Likely(format!("null arises {far}, and nothing on the way is tested"));
        }
    }
}
