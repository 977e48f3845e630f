//! A call under a contract that was made while serving, against a call of a composition of the same steps. Each step is
//! a message to `echo`; no call leaves a record.

use anyhow::ensure;
use serde_json::{Value, json};

use super::query::WORDS;
use super::{WITHOUT_RECORDS, agent_id, daemon};
use crate::arm::{Arm, echo_with};
use crate::load::{Asked, sample_within};
use crate::report::{Side, compare};
use crate::run::Run;

/// Agents may have endpoints made, whoever vouches for them.
const NEGOTIATION: &str = "[agtp.policies]\nsynthesis_enabled = true\n\
    [agtp.policies.rcns]\nenabled = true\nmin_trust_tier = 2\n";
const SCOPES: &str = "[agtp]\nscopes = [\"rcns:negotiate\"]\n";

/// The steps of both: what is composed of them, and what is made of them for who proposes it.
const RECIPES: &str = r#"
[[recipe]]
name = "repeat"
version = "1"
description = "Asks, and asks again."
[recipe.pattern]
name_exact = "FETCH"
path_exact = "/proposed"
[[recipe.steps]]
method = "QUERY"
capture_as = "first"
[recipe.steps.parameters]
intent = { kind = "proposal", value = "wish" }
[[recipe.steps]]
method = "QUERY"
[recipe.steps.parameters]
intent = { kind = "proposal", value = "wish" }
"#;

/// Runs the comparison.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let [(settings, limits), (agent, echo)] = echo_with(&format!("{NEGOTIATION}{WITHOUT_RECORDS}"));
    let (endpoint, echo) = (composition()?, format!("{echo}{SCOPES}"));
    let files = [
        (settings, limits.as_str()),
        (agent, echo.as_str()),
        ("recipes.toml", RECIPES),
        ("endpoints/composed.toml", endpoint.as_str()),
    ];
    let (arm, tls) = daemon(Arm::forecourt("forecourt", &files)?)?;
    let caller = agent_id(arm.port, &tls)?;
    let proposal = json!({"endpoint": described("/proposed"), "persistent": true});
    let made = sample_within(arm.port, Some(&tls), &request("PROPOSE /", &caller, &proposal))?;
    ensure!(made.starts_with("AGTP/1.0 263"), "no contract was made: {made}");
    let wish = json!({"wish": WORDS});
    let asked = |path: &str| Asked::of(request(&format!("FETCH {path}"), &caller, &wish), WORDS).within(&tls);
    let side = |name, path| Side { name, arm: &arm, asked: asked(path) };
    let sides =
        [side("composition", "/composed"), side("composition again", "/composed"), side("contract", "/proposed")];
    compare(run, "", &sides)
}

fn request(line: &str, caller: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "AGTP/1.0 {line}\r\nAgent-ID: {caller}\r\nAuthority-Scope: rcns:negotiate\r\nTask-ID: task-1\r\n\
         Content-Type: application/vnd.agtp+json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// What is wanted, as an endpoint.
fn described(path: &str) -> Value {
    json!({
        "method": "FETCH", "path": path, "description": "Asks, and asks again.",
        "semantic": {
            "intent": "Ask twice.", "actor": "agent", "outcome": "It is known.", "capability": "retrieval",
            "confidence": 0.9, "impact": "informational", "is_idempotent": true,
        },
        "input_schema": {
            "type": "object", "additionalProperties": false, "required": ["wish"],
            "properties": {"wish": {"type": "string"}},
        },
        "output_schema": {"type": "object"},
    })
}

/// The same as a file, answered by the composition.
fn composition() -> anyhow::Result<String> {
    let mut endpoint = described("/composed");
    endpoint["errors"] = json!(["composition_failed"]);
    endpoint["handler"] = json!({"type": "composition", "recipe": "repeat"});
    Ok(toml::to_string(&json!({"endpoint": endpoint}))?)
}
