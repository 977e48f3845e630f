//! This module prints a plan in words: of a contract that was made or is offered, and of the readings of a proposal that
//! is open to more than one.

use std::io::{self, Write};

use forecourt_agtp_wire::message::Response;
use forecourt_client::output::Outcome;
use forecourt_client::printable::Words;
use serde_json::Value;

use super::answer::parsed;

/// Prints what an answer says of its plan; the answer itself where it says nothing of one.
pub(super) fn print(response: &Response) -> Outcome {
    let body = parsed(response).unwrap_or_default();
    let text = lines(&body).join("\n") + "\n";
    let mut words = Words::new();
    match words.say(&text).and_then(|()| words.end()) {
        // A reader that went away, such as `head`, has what it wanted.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(io::stdout().flush()?),
    }
}

fn lines(body: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let plan = &body["plan_explanation"];
    if plan.is_object() {
        let call = format!("{} {}", text(&body["method"]), text(&body["path"]));
        let mut told = vec![format!("{call} as contract {}", text(&body["synthesis_id"]))];
        told.extend(plan_lines(plan));
        told.extend(list(&body["synthesis_log"]).iter().filter(|line| line.starts_with("It ")).cloned());
        return told;
    }
    let error = &body["error"];
    let counters = error.get("counter_proposal").or_else(|| error["details"].get("counter_proposal"));
    let mut told = vec![text(error.get("explanation").unwrap_or(&error["message"]))];
    for counter in counters.and_then(Value::as_array).into_iter().flatten() {
        let call = format!("{} {}", text(&counter["method"]), text(&counter["path"]));
        match counter.get("plan") {
            Some(plan) => {
                told.push(format!("One reading of {call}:"));
                told.extend(plan_lines(plan));
            }
            None => told.push(format!("Near it: {call}: {}", text(&counter["description"]))),
        }
    }
    told
}

/// A plan, a line for each thing that is said of it.
fn plan_lines(plan: &Value) -> Vec<String> {
    let mut told = Vec::new();
    for (at, step) in plan["steps"].as_array().into_iter().flatten().enumerate() {
        let (call, why) = (step["call"].as_str().unwrap_or_default(), step["why"].as_str().unwrap_or_default());
        told.push(format!("{}. {call}: {why}", at + 1));
        told.extend(list(&step["takes"]).into_iter().map(|taken| format!("   takes {taken}")));
    }
    told.extend(list(&plan["gives"]).into_iter().map(|given| format!("The result: {given}")));
    told.extend(list(&plan["rejected"]).into_iter().map(|rejected| format!("Not called: {rejected}")));
    told
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_is_told_step_by_step() {
        let body = json!({
            "method": "FETCH", "path": "/a", "synthesis_id": "s",
            "plan_explanation": {
                "steps": [{"call": "FETCH /b", "why": "it only looks", "takes": ["`b_id` from the caller"]}],
                "gives": ["`c` is b.c"],
                "rejected": ["CANCEL /b, since it changes something"],
            },
        });
        assert_eq!(
            lines(&body),
            [
                "FETCH /a as contract s",
                "1. FETCH /b: it only looks",
                "   takes `b_id` from the caller",
                "The result: `c` is b.c",
                "Not called: CANCEL /b, since it changes something",
            ]
        );
    }

    #[test]
    fn a_refusal_is_told_with_its_readings_and_with_what_is_near() {
        let plan = json!({"steps": [{"call": "FETCH /b", "why": "w", "takes": []}], "gives": []});
        let body = json!({"error": {"explanation": "two fit", "counter_proposal": [
            {"method": "FETCH", "path": "/a", "plan": plan},
            {"method": "QUERY", "path": "/near", "description": "Is near."},
        ]}});
        assert_eq!(
            lines(&body),
            ["two fit", "One reading of FETCH /a:", "1. FETCH /b: w", "Near it: QUERY /near: Is near."]
        );
    }
}
