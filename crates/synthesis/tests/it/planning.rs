//! Hosts with endpoints and recipes, callers, and proposals to make of them.

use std::path::Path;
use std::sync::Arc;

use forecourt_contract::call::{Identity, LifecycleState};
use forecourt_contract::endpoint::{Binding, Definition, RegistrationContext};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::policy::MethodPolicySettings;
use forecourt_contract::recipe;
use forecourt_contract::{
    Caller, Catalog, Dispatcher, Endpoint, Failure, Handler, Invocation, MethodPolicy, RecipeBook, Registry, Rules,
    ScopeSet,
};
use forecourt_core::{Authority, Sender};
use forecourt_settings::Section;
use forecourt_synthesis::Synthesis;
use forecourt_synthesis::proposal::{Proposal, ProposalRefusal, RejectionReason};
use forecourt_synthesis::settings::SynthesisSettings;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

/// Steps of a plan that the tests let be made.
pub(crate) const STEPS_MAX: usize = 8;

pub(crate) fn policy(settings: Value) -> MethodPolicy {
    let settings: MethodPolicySettings = serde_json::from_value(settings).unwrap();
    MethodPolicy::new(&settings, &Catalog::shipped()).unwrap().0
}

pub(crate) fn scopes(list: &str) -> ScopeSet {
    if list.is_empty() { ScopeSet::default() } else { ScopeSet::parse_list(list).unwrap() }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// A block with this impact, which is idempotent where nothing changes.
pub(crate) fn semantic(impact: &str) -> Value {
    json!({
        "intent": "Do it.", "actor": "agent", "outcome": "It is done.", "capability": "retrieval",
        "confidence": 0.9, "impact": impact, "is_idempotent": impact == "informational",
    })
}

/// A closed object of these properties, the first `required` of them always there.
pub(crate) fn closed(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

pub(crate) fn open(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// An endpoint that looks and changes nothing.
pub(crate) fn looks(method: &str, path: &str, input: Value, output: Value) -> Definition {
    Definition {
        method: Some(method.into()),
        path: Some(path.into()),
        description: Some("Does what it says.".into()),
        semantic: semantic("informational"),
        input_schema: Some(input),
        output_schema: Some(output),
        errors: Some(Vec::new()),
        binding: Some(Binding::RegisteredFunction { function: "f".into(), timeout: HANDLER_TIME_DEFAULT }),
        ..Definition::default()
    }
}

pub(crate) fn register(definition: Definition) -> Endpoint {
    let (catalog, policy, recipes) = (Catalog::shipped(), MethodPolicy::default(), RecipeBook::default());
    Endpoint::register(definition, &RegistrationContext::new(&catalog, &policy, &recipes)).unwrap()
}

struct Echo;

impl Handler for Echo {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        async move { Ok(Value::Object(invocation.input)) }.boxed()
    }
}

/// A host with endpoints, and recipes as their file has them.
pub(crate) fn host(definitions: Vec<Definition>, recipes: &str) -> Dispatcher {
    host_with(definitions, recipes, json!({}))
}

pub(crate) fn host_with(definitions: Vec<Definition>, recipes: &str, settings: Value) -> Dispatcher {
    let mut registry = Registry::default();
    for definition in definitions {
        registry.insert(Arc::new(register(definition)), Arc::new(Echo)).unwrap();
    }
    let policy = policy(settings);
    let section = Section::parse(Path::new("recipes.toml"), recipes, &|_: &str| None).unwrap();
    let (book, problems) = recipe::read(section, &Catalog::shipped(), &policy);
    assert!(
        problems.is_empty(),
        "{:?}",
        problems.iter().map(|problem| problem.message().to_owned()).collect::<Vec<_>>()
    );
    Dispatcher {
        catalog: Catalog::shipped(),
        policy,
        registry,
        recipes: Arc::new(book),
        rules: Rules { scope_required: false, ..Rules::default() },
        ..Dispatcher::default()
    }
    .sealed()
}

pub(crate) fn caller(declared: &str) -> Caller {
    Caller {
        agent_id: Some("a".repeat(64)),
        identity: Identity::Recognised,
        standing: LifecycleState::Active,
        sender: Arc::new(Sender { authority: Authority::granted(scopes(declared)), ..Sender::anonymous() }),
        ..Caller::default()
    }
}

/// A wrapped proposal for a pair that takes and gives this.
pub(crate) fn proposal(method: &str, path: &str, input: Value, output: Value) -> Value {
    json!({"endpoint": {
        "method": method,
        "path": path,
        "description": "Does what is wanted.",
        "semantic": semantic("irreversible"),
        "input_schema": input,
        "output_schema": output,
    }})
}

/// The same with another member at a place of its definition.
pub(crate) fn with(mut proposal: Value, member: &str, value: Value) -> Value {
    proposal["endpoint"][member] = value;
    proposal
}

pub(crate) fn read(parameters: Value) -> Result<Proposal, ProposalRefusal> {
    Proposal::read(&object(parameters))
}

pub(crate) fn evaluate(host: &Dispatcher, parameters: Value, caller: &Caller) -> Result<Synthesis, ProposalRefusal> {
    evaluate_with(host, parameters, caller, &SynthesisSettings::default())
}

pub(crate) fn evaluate_with(
    host: &Dispatcher,
    parameters: Value,
    caller: &Caller,
    settings: &SynthesisSettings,
) -> Result<Synthesis, ProposalRefusal> {
    read(parameters)?.evaluate(host, settings, STEPS_MAX, caller)
}

/// The word and the sentence of a rejection.
pub(crate) fn rejection<T: std::fmt::Debug>(result: Result<T, ProposalRefusal>) -> (RejectionReason, String) {
    match result.unwrap_err() {
        ProposalRefusal::Rejected { reason, explanation, .. } => (reason, explanation),
        other => panic!("not rejected: {other:?}"),
    }
}

/// The issue and the field of a malformed proposal.
pub(crate) fn malformed<T: std::fmt::Debug>(result: Result<T, ProposalRefusal>) -> (&'static str, String) {
    match result.unwrap_err() {
        ProposalRefusal::Malformed { issue, field, message } => {
            assert!(!message.is_empty());
            (issue, field)
        }
        other => panic!("not malformed: {other:?}"),
    }
}
