//! The endpoints that fit a filter: a line of each, or all of each, so that nobody has to take the whole
//! manifest for one of them. Without a filter the list is the one of AGTP-API 5.8, whole.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Endpoint;
use forecourt_contract::call::Tier;
use forecourt_contract::semantic::Impact;
use forecourt_ranking::Description;
use serde_json::{Map, Value, json};

use crate::inventory::Inventory;
use crate::limits::{FULL_METHODS_BYTES_MAX, FULL_METHODS_MAX, METHODS_LISTED_MAX};
use crate::reply::{Problem, Reply};

/// Says where the next page begins: the last endpoint of this one. Base 2.5.
const NEXT_PAGE: &str = "Continuation-Token";

/// The parameters that make a list another than the whole one.
const FILTERS: [&str; 7] = ["after", "full", "max_results", "method", "namespace", "path", "q"];

/// What must hold of every endpoint on a page, and how much of each is said.
struct Filter<'a> {
    method: Option<&'a str>,
    path: Option<&'a str>,
    namespace: Option<&'a str>,
    /// What is to be done, in plain words.
    question: Option<&'a str>,
    is_full: bool,
    limit: usize,
}

/// Whether a request asks for some endpoints and not for the list of all.
pub(super) fn is_filtered(input: &Map<String, Value>) -> bool {
    FILTERS.iter().any(|name| input.contains_key(*name))
}

/// An endpoint that may be on a page. What it promises is written only when it is.
struct Candidate<'a> {
    /// What it is called on pages: its method and its path.
    name: String,
    tier: Tier,
    method: &'a str,
    path: &'a str,
    description: &'a str,
    namespace: &'a str,
    intent: &'a str,
    source: Source<'a>,
}

/// Where all of an endpoint is.
enum Source<'a> {
    Own(&'a Endpoint),
    Negotiated(&'a Value),
}

/// A page of endpoints: in the order of the whole list, or the best first where a question is asked.
///
/// # Errors
/// 422 when `after` names no endpoint.
pub(super) async fn reply(inventory: &Inventory, input: &Map<String, Value>) -> Result<Reply, Problem> {
    let filter = Filter::of(input);
    let persistent = inventory.persistent().await;
    let negotiated = persistent.iter().flat_map(|persistent| inventory.negotiated(persistent));
    let negotiated = negotiated.map(|contract| Candidate::negotiated(&contract.endpoint));
    let own = inventory.endpoints().map(|(tier, endpoint)| Candidate::own(tier, endpoint));
    let all: Vec<Candidate<'_>> = own.chain(negotiated).collect();
    let order = match filter.question {
        Some(question) => inventory.ranking.search(all.iter().map(Candidate::description), question),
        None => (0..all.len()).collect(),
    };
    let mut rest = order.into_iter().map(|at| &all[at]);
    // `any` leaves `rest` behind the endpoint that it found, where the page begins.
    if let Some(after) = input.get("after").and_then(Value::as_str)
        && !rest.any(|candidate| candidate.name == after)
    {
        let message = "`after` names no endpoint: begin with the first page";
        return Err(Problem::new(Status::UNPROCESSABLE, "input-validation-failed", message).with("field", "/after"));
    }
    let mut fitting = rest.filter(|candidate| filter.admits(candidate)).peekable();
    let (mut page, mut last, mut bytes) = (Vec::new(), None, 0);
    while page.len() < filter.limit && bytes < FULL_METHODS_BYTES_MAX {
        let Some(candidate) = fitting.next() else { break };
        last = Some(candidate.name.clone());
        let entry = candidate.entry(filter.is_full, inventory);
        bytes += if filter.is_full { entry.to_string().len() } else { 0 };
        page.push(entry);
    }
    let next = last.filter(|_| fitting.peek().is_some());
    let reply = Reply::ok(Value::Array(page));
    Ok(next.into_iter().fold(reply, |reply, last| reply.with(NEXT_PAGE, last)))
}

impl<'a> Candidate<'a> {
    fn own(tier: Tier, endpoint: &'a Endpoint) -> Self {
        Self {
            name: format!("{} {}", endpoint.method, endpoint.path.as_str()),
            tier,
            method: endpoint.method.as_str(),
            path: endpoint.path.as_str(),
            description: &endpoint.description,
            namespace: endpoint.namespace.as_deref().unwrap_or_default(),
            intent: &endpoint.semantic.intent,
            source: Source::Own(endpoint),
        }
    }

    fn negotiated(endpoint: &'a Value) -> Self {
        let text = |value: &'a Value| value.as_str().unwrap_or_default();
        Self {
            name: format!("{} {}", text(&endpoint["method"]), text(&endpoint["path"])),
            tier: Tier::Negotiated,
            method: text(&endpoint["method"]),
            path: text(&endpoint["path"]),
            description: text(&endpoint["description"]),
            namespace: text(&endpoint["namespace"]),
            intent: text(&endpoint["semantic"]["intent"]),
            source: Source::Negotiated(endpoint),
        }
    }

    /// It in the words by which it is found.
    fn description(&self) -> Description<'_> {
        let (input, reads_only) = match &self.source {
            Source::Own(endpoint) => (Some(endpoint.input.source()), endpoint.semantic.impact == Impact::Informational),
            Source::Negotiated(endpoint) => {
                (endpoint.get("input_schema"), endpoint["semantic"]["impact"] == "informational")
            }
        };
        Description { name: &self.name, title: self.intent, text: self.description, input, reads_only }
    }

    /// All of it as the manifest has it, or its line of the list.
    fn entry(&self, is_full: bool, inventory: &Inventory) -> Value {
        let Self { tier, method, path, description, .. } = self;
        if !is_full {
            return json!({ "method": method, "path": path, "description": description, "tier": tier });
        }
        let mut whole = match self.source {
            Source::Own(endpoint) => endpoint.projection(),
            Source::Negotiated(endpoint) => endpoint.clone(),
        };
        if let Value::Object(fields) = &mut whole {
            fields.insert("tier".to_owned(), json!(tier));
            let meanings = match self.source {
                Source::Own(endpoint) => inventory.meanings(endpoint),
                Source::Negotiated(_) => None,
            };
            if let Some(meanings) = meanings {
                fields.insert("semantic_types".to_owned(), json!(meanings));
            }
        }
        whole
    }
}

impl<'a> Filter<'a> {
    /// What the parameters ask for, which keep the schema of the surface.
    fn of(input: &'a Map<String, Value>) -> Self {
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let is_full = input.get("full") == Some(&Value::Bool(true));
        let most = if is_full { FULL_METHODS_MAX } else { METHODS_LISTED_MAX };
        let limit = input.get("max_results").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        Self {
            method: text("method"),
            path: text("path"),
            namespace: text("namespace"),
            question: text("q").filter(|question| !question.trim().is_empty()),
            is_full,
            limit: limit.map_or(most, |limit| limit.min(most)),
        }
    }

    fn admits(&self, candidate: &Candidate<'_>) -> bool {
        let Candidate { method, path, namespace, .. } = *candidate;
        self.method.is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.path.is_none_or(|wanted| wanted == path)
            && self.namespace.is_none_or(|wanted| wanted == namespace)
    }
}
