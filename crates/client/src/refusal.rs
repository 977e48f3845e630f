//! This module shows refusals: what an agent declined with, and what to do next. A refusal is an answer.

use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use serde_json::Value;

use crate::output::{Failure, stderrln};
use crate::printable::{line, printable};

/// Characters of somebody else's title.
const WORDS_CHARS_MAX: usize = 300;

/// Shows a refusal as it came, a PolicyPart in JSON; see [`show`].
pub fn declined(policy: &Value, label: &str, canonical_host: &str) -> Failure {
    let part = policy.as_object().cloned().map(PolicyPart::from_json);
    match part {
        Some(Ok(part)) => show(&part, label, canonical_host),
        _ => Failure::yours(format!("{label} declined, in a form that can't be read")),
    }
}

/// Shows a refusal on standard error. `label` is what the agent is called, `canonical_host` where its links must lead.
pub fn show(part: &PolicyPart, label: &str, canonical_host: &str) -> Failure {
    let title = part.title.as_deref().unwrap_or_else(|| part.kind.title());
    stderrln!("{label} declined: {} ({})", line(title, WORDS_CHARS_MAX), line(part.kind(), 60));
    stderrln!("{}", printable(part.message.trim()));
    match &part.url {
        // PolicyPart 3.2: a link to anywhere else may be somebody's trap.
        Some(_) if part.validate(canonical_host).is_err() => {
            stderrln!("Its link is not shown: it leads somewhere else than to the agent.");
        }
        Some(url) => {
            let action = part.action_label.as_deref().unwrap_or_else(|| part.kind.action_label());
            stderrln!("{}: {}", line(action, 80), printable(url));
        }
        None => {}
    }
    if let Some(seconds) = retry_after(&part.kind) {
        stderrln!("Try again in {seconds} seconds.");
    }
    Failure::yours("")
}

/// Seconds to wait, if the refusal says so.
fn retry_after(kind: &RefusalKind) -> Option<u64> {
    match kind {
        RefusalKind::TooManyRequests { retry_after_seconds }
        | RefusalKind::ServiceUnavailable { retry_after_seconds } => *retry_after_seconds,
        _ => None,
    }
}
