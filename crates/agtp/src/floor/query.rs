//! QUERY: a question to the agent that is addressed. Base 3.1.

use forecourt_core::{Ending, findings};
use serde_json::json;

use super::Floor;
use super::carry::parts;
use super::results::{Format, results};
use crate::reply::{Problem, Reply};

impl Floor<'_> {
    /// Asks the agent, and gives what it found or said as results.
    pub(super) async fn query(&self) -> Result<Reply, Problem> {
        let intent = self.given.required_text(&["intent"])?;
        let format = Format::of(self.given.one_of(&["format"], &Format::WORDS)?);
        let threshold = self.given.number(&["confidence_threshold"], 0.0..=1.0)?.unwrap_or_default();
        let (scope, context) = (self.given.get(&["scope"]), self.given.get(&["context"]));
        let (agent, handle) = self.addressed()?;
        // Properties that results shall have are filters by name; anything else is for the agent to read.
        let name = if scope.is_some_and(serde_json::Value::is_object) { "filters" } else { "scope" };
        let mut message = self.message(handle, parts(intent, [(name, scope), ("context", context)]));
        message.extensions.push(findings::WISH.to_owned());
        let answer = self.heard(message).await?;
        let address = self.service.host.site().address(handle).to_string();
        let source = json!({"agent_id": agent.agent_id, "agent": address});
        let found = results(&answer, format, threshold, &source);
        let mut body = json!({
            "method": self.method,
            "agent_id": agent.agent_id,
            "intent": intent,
            "scope": scope,
            "format": format.word(),
            "confidence_threshold": threshold,
            "confidence_basis": found.basis,
            "result_count": found.results.len(),
            "results": found.results,
            "issued_at": self.now(),
        });
        if let Some(findings) = found.findings {
            body["summary"] = findings.summary.into();
            body["more"] = findings.more.into();
        }
        if let Ending::Question(question) = answer.ending {
            body["question"] = json!(question);
        }
        Ok(Reply::ok(body))
    }
}
