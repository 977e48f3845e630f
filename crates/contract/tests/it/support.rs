//! What the tests register and call.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use forecourt_contract::call::{Identity, LifecycleState};
use forecourt_contract::endpoint::{Binding, Definition, DefinitionProblem, RegistrationContext};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::policy::MethodPolicySettings;
use forecourt_contract::refusal::Pair;
use forecourt_contract::{
    Call, CallOutcome, Caller, Catalog, Dispatcher, Endpoint, Failure, Handler, Invocation, Method, MethodPolicy,
    RecipeBook, Registry, RequestPath, Rules, ScopeSet,
};
use forecourt_core::{Authority, Sender};
use forecourt_settings::Section;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

pub(crate) fn policy(settings: Value) -> MethodPolicy {
    let settings: MethodPolicySettings = serde_json::from_value(settings).unwrap();
    MethodPolicy::new(&settings, &Catalog::shipped()).unwrap().0
}

pub(crate) fn path(raw: &str) -> RequestPath {
    RequestPath::parse(raw, &Catalog::shipped()).expect(raw)
}

pub(crate) fn scopes(list: &str) -> ScopeSet {
    if list.is_empty() { ScopeSet::default() } else { ScopeSet::parse_list(list).unwrap() }
}

pub(crate) fn semantic() -> Value {
    json!({
        "intent": "Book a room.", "actor": "agent", "outcome": "A room is booked.", "capability": "transaction",
        "confidence": 0.9, "impact": "reversible", "is_idempotent": false,
    })
}

pub(crate) fn definition(method: &str, path: &str) -> Definition {
    let parameters = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let mut properties: serde_json::Map<_, _> =
        parameters.map(|name| (name.to_owned(), json!({"type": "string"}))).collect();
    properties.insert("n".into(), json!({"type": "integer"}));
    Definition {
        method: Some(method.into()),
        path: Some(path.into()),
        description: Some("Does what it says.".into()),
        semantic: semantic(),
        input_schema: Some(json!({"type": "object", "properties": properties, "additionalProperties": false})),
        output_schema: Some(json!({"type": "object"})),
        errors: Some(vec!["room_unavailable".into()]),
        binding: Some(Binding::RegisteredFunction { function: "f".into(), timeout: HANDLER_TIME_DEFAULT }),
        ..Definition::default()
    }
}

pub(crate) fn register(definition: Definition) -> Result<Endpoint, Vec<DefinitionProblem>> {
    register_with(definition, &RecipeBook::default(), &[])
}

pub(crate) fn register_with(
    definition: Definition,
    recipes: &RecipeBook,
    overrides: &[&str],
) -> Result<Endpoint, Vec<DefinitionProblem>> {
    let policy = policy(json!({"custom": ["FROBNICATE"]}));
    let overrides: BTreeSet<String> = overrides.iter().map(|path| (*path).to_owned()).collect();
    let catalog = Catalog::shipped();
    let around = RegistrationContext {
        catalog: &catalog,
        policy: &policy,
        recipes,
        overrides: &overrides,
        is_output_strict: false,
        is_http_open: false,
    };
    Endpoint::register(definition, &around)
}

pub(crate) fn section(text: &str) -> Section {
    let environment = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    Section::parse(Path::new("endpoints/x.toml"), text, &environment).unwrap()
}

/// A handler that ends as a function says.
pub(crate) struct Ends(pub(crate) fn(Invocation) -> Result<Value, Failure>);

impl Handler for Ends {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        async move { (self.0)(invocation) }.boxed()
    }
}

/// Gives its input back, with the scopes of the call.
pub(crate) fn echo(invocation: Invocation) -> Result<Value, Failure> {
    let scopes: Vec<_> = invocation.caller.authority().in_use().iter().map(ToString::to_string).collect();
    Ok(json!({"input": invocation.input, "scopes": scopes}))
}

pub(crate) fn handler() -> Arc<dyn Handler> {
    Arc::new(Ends(echo))
}

/// A host with endpoints, and everything else as it comes.
pub(crate) fn dispatcher(definitions: impl IntoIterator<Item = Definition>) -> Dispatcher {
    let mut registry = Registry::default();
    for definition in definitions {
        registry.insert(Arc::new(register(definition).unwrap()), handler()).unwrap();
    }
    Dispatcher {
        catalog: Catalog::shipped(),
        policy: policy(json!({})),
        registry,
        recipes: Arc::default(),
        rules: Rules { scope_required: false, wildcards_accepted: false, ..Rules::default() },
        ..Dispatcher::default()
    }
}

pub(crate) fn caller(declared: &str) -> Caller {
    Caller {
        agent_id: Some("a".repeat(64)),
        identity: Identity::Recognised,
        standing: LifecycleState::Active,
        sender: Arc::new(Sender { authority: Authority::granted(scopes(declared)), ..Sender::anonymous() }),
        wildcards: false,
        ..Caller::default()
    }
}

pub(crate) fn call(method: &str, path: &str) -> Call {
    Call { method: method.into(), path: path.into(), caller: caller(""), ..Call::default() }
}

pub(crate) fn pair(method: &str, path: &str) -> Pair {
    Pair { method: Method::parse(method).unwrap(), path: path.into() }
}

pub(crate) fn run(dispatcher: &Dispatcher, call: Call) -> CallOutcome {
    futures::executor::block_on(dispatcher.dispatch(call))
}

pub(crate) fn object(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}
