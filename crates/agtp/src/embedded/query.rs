//! QUERY: a question to the agent that is addressed. Base 3.1.

use forecourt_core::{Findings, FindingsDetail, Question, Timestamp};
use serde::Serialize;
use serde_json::Value;

use super::agents::HostAgents;
use super::ambient::Ambient;
use super::call::MethodCall;
use super::messenger::{Messenger, parts};
use super::results::{Format, Provenance, SearchResult, results};
use crate::reply::{Problem, Reply};

/// What is answered.
#[derive(Serialize)]
struct Answer<'a> {
    method: &'a str,
    agent_id: &'a str,
    intent: &'a str,
    scope: Option<&'a Value>,
    format: &'static str,
    confidence_threshold: f64,
    confidence_basis: &'static str,
    result_count: usize,
    results: Vec<SearchResult<'a>>,
    issued_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a Question>,
}

/// A question to the agent that is addressed.
pub(super) struct QueryMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub messenger: Messenger<'a>,
    pub ambient: Ambient<'a>,
}

impl QueryMethod<'_> {
    /// Asks the agent, and gives what it found or said as results.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let intent = self.call.given.required_text(&["intent"])?;
        let format = Format::of(self.call.given.one_of(&["format"], &Format::WORDS)?);
        let threshold = self.call.given.number(&["confidence_threshold"], 0.0..=1.0)?.unwrap_or_default();
        let (scope, context) = (self.call.given.get(&["scope"]), self.call.given.get(&["context"]));
        let (agent, handle) = self.agents.addressed()?;
        // Properties that results shall have are filters by name; anything else is for the agent to read.
        let name = if scope.is_some_and(Value::is_object) { "filters" } else { "scope" };
        let mut message = self.messenger.message(handle, parts(intent, [(name, scope), ("context", context)]));
        message.search.findings = FindingsDetail::Summary;
        let answer = self.messenger.ask(message).await?;
        let address = self.agents.site.address(handle).to_string();
        let by = Provenance { agent_id: agent.agent_id.as_str(), agent: &address, source: None };
        let found = results(&answer, format, threshold, by);
        let findings = found.findings.as_ref();
        Ok(Reply::written(&Answer {
            method: self.call.method,
            agent_id: by.agent_id,
            intent,
            scope,
            format: format.word(),
            confidence_threshold: threshold,
            confidence_basis: found.basis,
            result_count: found.results.len(),
            results: found.results,
            issued_at: self.ambient.now(),
            summary: findings.map(Findings::whole_summary).as_deref(),
            more: findings.map(|findings| findings.more),
            question: answer.ending.question(),
        }))
    }
}
