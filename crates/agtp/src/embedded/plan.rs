//! PLAN: how to reach a goal with what there is here. Base 3.1.
//!
//! Every step names a pair that a caller can call: an endpoint that is registered, or a method of the
//! agent that is addressed. An agent that writes is asked which of them, in which order; else those whose
//! meaning shares the most words with the goal.

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::{Dispatcher, Endpoint, Scope};
use forecourt_core::Handle;
use serde_json::{Value, json};

use super::agents::HostAgents;
use super::ambient::Ambient;
use super::call::MethodCall;
use super::messenger::{Messenger, parts};
use crate::limits::{PLAN_ENDPOINTS_SHOWN, PLAN_STEPS_DEFAULT, PLAN_STEPS_MAX, PLAN_WORDS_MAX};
use crate::reply::{Problem, Reply};
use crate::words::{is_akin, words};

/// Effects in the order in which one leads to the next. AGTP-API 7.1.
const ORDER: [&str; 9] = [
    "discovery",
    "retrieval",
    "analysis",
    "mechanics",
    "domain_spanning",
    "creation",
    "modification",
    "transaction",
    "notification",
];
/// Words that say nothing about a goal are shorter than this.
const WORD_CHARS_MIN: usize = 3;
/// Longer ones that say nothing either.
const EMPTY_WORDS: [&str; 6] = ["and", "for", "that", "the", "this", "with"];

/// An endpoint that helps, and how much.
struct Helpful {
    endpoint: Arc<Endpoint>,
    score: f64,
}

/// How to reach a goal with what there is here.
pub(super) struct PlanMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub messenger: Messenger<'a>,
    pub ambient: Ambient<'a>,
    pub contract: &'a Dispatcher,
}

impl PlanMethod<'_> {
    /// The steps that lead to the goal.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let goal = self.call.given.required_text(&["goal"])?;
        let most = self.call.given.count(&["max_steps"], 1..=PLAN_STEPS_MAX)?.unwrap_or(PLAN_STEPS_DEFAULT);
        let (agent, handle) = self.agents.addressed()?;
        let constraints = self.call.given.words(&["constraints"]);
        let composes = self.agents.card(handle).is_some_and(|card| card.composes);
        if !composes {
            // No agent is asked, so that nobody else counts the call.
            self.messenger.meter()?;
        }
        let wanted = wanted(goal, constraints.as_deref());
        let available = self.available()?;
        let mut helpful: Vec<Helpful> = available
            .iter()
            .map(|endpoint| Helpful { endpoint: Arc::clone(endpoint), score: score(&wanted, endpoint) })
            .filter(|one| one.score > 0.0)
            .collect();
        // Cut by how much they help, and only then put into the order of their effects.
        helpful.sort_by(|a, b| b.score.total_cmp(&a.score));
        helpful.truncate(most);
        helpful.sort_by_key(|one| ORDER.iter().position(|name| *name == one.endpoint.semantic.capability));
        let mut rationale = None;
        if composes {
            let text = self.ask_agent(handle, goal, constraints.as_deref(), &available).await?;
            let chosen = chosen(&text, &available, most);
            // An agent that named no pair of here leaves the choice to the words of the goal.
            helpful = if chosen.is_empty() { helpful } else { chosen };
            rationale = Some(text);
        }
        let confidence = helpful.iter().map(|one| one.score * one.endpoint.semantic.confidence).fold(0.0, f64::max);
        let mut steps: Vec<Value> = (1..).zip(&helpful).map(|(at, one)| self.step(at, one)).collect();
        if steps.is_empty() {
            steps.push(json!({"step": 1, "method": "QUERY", "path": "/", "agent_id": agent.agent_id,
                "action": format!("Ask @{handle}"), "parameters": {"intent": goal}}));
        }
        let assumptions = match helpful.is_empty() {
            true => vec!["No endpoint of this server matches the goal; its agent may know more."],
            false => vec!["Each step's input follows its schema, as DISCOVER /methods shows it."],
        };
        Ok(Reply::ok(json!({
            "method": self.call.method,
            "plan_id": self.ambient.mint("plan"),
            "agent_id": agent.agent_id,
            "goal": goal,
            "constraints": self.call.given.get(&["constraints"]),
            "ordered_steps": steps.clone(),
            "steps": steps,
            "estimated_cost": {"calls": steps_count(&helpful)},
            "confidence": (confidence * 100.0).round() / 100.0,
            "assumptions": assumptions,
            "rationale": rationale,
        })))
    }

    /// The endpoints that may be used, by what the caller says of methods.
    fn available(&self) -> Result<Vec<Arc<Endpoint>>, Problem> {
        let named = match self.call.given.get(&["available_methods"]) {
            None => None,
            Some(Value::String(list)) => {
                Some(list.split(',').map(|name| name.trim().to_owned()).collect::<BTreeSet<_>>())
            }
            Some(Value::Array(list)) => Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            Some(_) => return Err(self.call.given.wrong(&["available_methods"], "must be a list of methods")),
        };
        let (registry, policy) = (&self.contract.registry, &self.contract.policy);
        let all = registry.iter().map(|registered| &registered.endpoint);
        let all = all.filter(|endpoint| policy.admits(&endpoint.method, &endpoint.method));
        let is_named =
            |endpoint: &&Arc<Endpoint>| named.as_ref().is_none_or(|named| named.contains(endpoint.method.as_str()));
        Ok(all.filter(|endpoint| endpoint.deprecated.is_none()).filter(is_named).cloned().collect())
    }

    fn step(&self, at: usize, one: &Helpful) -> Value {
        let endpoint = &one.endpoint;
        let caller = self.call.caller;
        // What the caller holds, not what this call claims: the plan is for calls that come later.
        let missing = caller.authority().held().missing(endpoint.required_scopes.iter());
        let mut step = json!({
            "step": at,
            "method": endpoint.method,
            "path": endpoint.path.as_str(),
            "action": endpoint.semantic.intent,
            "outcome": endpoint.semantic.outcome,
            "impact": endpoint.semantic.impact,
            "relevance": one.score,
        });
        if !missing.is_empty() {
            step["missing_scopes"] = missing.iter().map(|scope| Value::from(Scope::as_str(scope))).collect();
        }
        step
    }

    /// What an agent that writes says about the goal, shown what there is.
    async fn ask_agent(
        &self,
        handle: &Handle,
        goal: &str,
        constraints: Option<&str>,
        available: &[Arc<Endpoint>],
    ) -> Result<String, Problem> {
        let mut text = format!("Plan how to reach this goal: {goal}\n");
        if let Some(constraints) = constraints {
            text.push_str(&format!("Constraints: {constraints}\n"));
        }
        text.push_str("Write one line for each step, beginning with one of these pairs as it stands here:\n");
        for endpoint in available.iter().take(PLAN_ENDPOINTS_SHOWN) {
            text.push_str(&format!("{} {}: {}\n", endpoint.method, endpoint.path, endpoint.semantic.intent));
        }
        let context = self.call.given.get(&["context"]);
        let answer = self.messenger.ask(self.messenger.message(handle, parts(text, [("context", context)]))).await?;
        Ok(answer.text())
    }
}

fn steps_count(helpful: &[Helpful]) -> usize {
    helpful.len().max(1)
}

/// The pairs that a text names, in its order, each once.
fn chosen(text: &str, available: &[Arc<Endpoint>], most: usize) -> Vec<Helpful> {
    let mut found: Vec<(usize, &Arc<Endpoint>)> = available
        .iter()
        .filter_map(|endpoint| Some((text.find(&format!("{} {}", endpoint.method, endpoint.path))?, endpoint)))
        .collect();
    found.sort_by_key(|(at, _)| *at);
    let found = found.into_iter().take(most);
    found.map(|(_, endpoint)| Helpful { endpoint: Arc::clone(endpoint), score: 1.0 }).collect()
}

/// From 0 to 1: how many of the wanted words an endpoint's meaning has.
fn score(wanted: &BTreeSet<String>, endpoint: &Endpoint) -> f64 {
    let semantic = &endpoint.semantic;
    let meaning = format!(
        "{} {} {} {} {}",
        endpoint.method, endpoint.path, endpoint.description, semantic.intent, semantic.outcome
    );
    let meaning: BTreeSet<String> = telling(&meaning).collect();
    let has = |word: &&String| meaning.iter().any(|other| *word == other || is_akin(word, other));
    let shared = wanted.iter().filter(has).count();
    (shared as f64 / wanted.len().max(1) as f64 * 100.0).round() / 100.0
}

/// The first [`PLAN_WORDS_MAX`] words that say what is to be reached.
fn wanted(goal: &str, constraints: Option<&str>) -> BTreeSet<String> {
    telling(goal).chain(telling(constraints.unwrap_or_default())).take(PLAN_WORDS_MAX).collect()
}

/// The words of a text that say something.
fn telling(text: &str) -> impl Iterator<Item = String> + '_ {
    words(text).filter(|word| word.chars().count() >= WORD_CHARS_MIN && !EMPTY_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_words_of_a_goal_are_looked_for() {
        let goal = |count: usize| (0..count).map(|n| format!("word{n} ")).collect::<String>();
        for (count, kept) in [(PLAN_WORDS_MAX, PLAN_WORDS_MAX), (PLAN_WORDS_MAX + 1, PLAN_WORDS_MAX)] {
            assert_eq!(wanted(&goal(count), None).len(), kept);
        }
        let both: Vec<_> = wanted("book a room", Some("for the night")).into_iter().collect();
        assert_eq!(both, ["book", "night", "room"]);
    }
}
