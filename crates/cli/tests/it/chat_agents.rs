//! Agents that are asked over several chats.

/// Takes its time, and begins anew when its daemon is lost.
pub(crate) const SLOW: &str = r#"
handle = "slow"
name = "Slow"
on_lost = "restart"

[backend]
kind = "script"

[[backend.rule]]
text = ".*"
events = [{ text = "Well. " }, { wait_ms = 4000 }, { text = "Done." }]
"#;

/// Answers who agreed.
pub(crate) const CLUB: &str = r#"
handle = "club"
name = "Club"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_consent"
text = "I will not tell anybody."
message = "Please agree."
translations = { de = { message = "Bitte stimmen Sie zu." } }
"#;
