//! Deployments in a folder, and calls of their endpoints.

use std::path::Path;
use std::sync::Arc;

use forecourt_contract::call::{Identity, LifecycleState};
use forecourt_contract::policy::MethodPolicySettings;
use forecourt_contract::{Call, Caller, Catalog, Failure, HostHandle, Refusal, Rules, ScopeSet};
use forecourt_core::{Authority, Sender};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_endpoints::{Functions, Kinds, LoadReport, RegistrationTerms, load};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A deployment of these files.
pub(crate) fn deployment(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

/// An endpoint's file without its handler: it takes `id`, `n`, `on`, `list`, `deep`, any of them and gives an
/// object.
pub(crate) fn endpoint(method: &str, path: &str, more: &str) -> String {
    format!(
        r#"
[endpoint]
method = "{method}"
path = "{path}"
description = "Does what it says."
semantic = {{ intent = "Do it.", actor = "agent", outcome = "Done.", capability = "retrieval", confidence = 1, impact = "informational", is_idempotent = true }}
input_schema = {{ type = "object", additionalProperties = false, properties = {{ id = {{ type = "string" }}, n = {{}}, on = {{}}, list = {{}}, deep = {{}} }} }}
output_schema = {{ type = "object" }}
{more}
"#
    )
}

/// A function's endpoint.
pub(crate) fn function(method: &str, path: &str, name: &str) -> String {
    let handler = format!(
        "errors = [\"room_unavailable\"]\n[endpoint.handler]\ntype = \"registered_function\"\nfunction = \"{name}\""
    );
    endpoint(method, path, &handler)
}

/// The functions of the tests.
pub(crate) fn functions() -> Functions {
    Functions::new()
        .with("echo", |call| async move {
            let scopes: Vec<String> = call.caller.authority().in_use().iter().map(ToString::to_string).collect();
            let (agent, task, depth) = (call.caller.agent_id, call.thread.task_id, call.depth);
            Ok(json!({ "input": call.input, "scopes": scopes, "agent": agent, "task": task, "depth": depth }))
        })
        .with("same", |call| async move { Ok(Value::Object(call.input)) })
        .with("full", |_| async { Err(Failure::named("room_unavailable", "Try tomorrow.")) })
        .with("large", |call| async move {
            let bytes = call.input["n"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
            Ok(json!({ "n": "x".repeat(bytes.unwrap_or_default()) }))
        })
        .with("word", |_| async { Ok(json!("full")) })
        .with("hang", |_| std::future::pending())
}

/// An egress that may talk to this machine without TLS.
pub(crate) fn opened() -> Egress {
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    Egress::builder(EgressConfig { allow, allow_http: true, ..EgressConfig::default() }).build().unwrap()
}

pub(crate) fn terms(policy: Value) -> RegistrationTerms {
    let settings: MethodPolicySettings = serde_json::from_value(policy).unwrap();
    let rules = Rules { scope_required: false, wildcards_accepted: false, ..Rules::default() };
    RegistrationTerms { rules, ..RegistrationTerms::new(&settings, Catalog::shipped()).unwrap() }
}

pub(crate) fn environment(name: &str) -> Option<String> {
    (name == "TOKEN").then(|| "s3cret".to_owned())
}

pub(crate) fn loaded(folder: &Path) -> LoadReport {
    loaded_with(folder, terms(json!({})), opened())
}

pub(crate) fn loaded_with(folder: &Path, terms: RegistrationTerms, egress: Egress) -> LoadReport {
    alone(load(folder, terms, &environment, &Kinds { egress, functions: functions(), host: HostHandle::default() }))
}

/// The same with its dispatcher in the place of a host, so that compositions can be called.
pub(crate) fn alone(loaded: LoadReport) -> LoadReport {
    loaded.dispatcher.host.bind(&loaded.dispatcher);
    loaded
}

/// What is wrong, as `file:line: message`.
pub(crate) fn problems(loaded: &LoadReport) -> Vec<String> {
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    let shown = |problem: &forecourt_settings::Problem| {
        format!("{}:{}: {}", name(problem.file()), problem.line().unwrap_or(0), problem.message())
    };
    loaded.refused.iter().map(shown).collect()
}

pub(crate) fn caller(declared: &str) -> Caller {
    let declared = if declared.is_empty() { ScopeSet::default() } else { ScopeSet::parse_list(declared).unwrap() };
    Caller {
        agent_id: Some("agent-one".into()),
        identity: Identity::Recognised,
        standing: LifecycleState::Active,
        sender: Arc::new(Sender { authority: Authority::granted(declared), ..Sender::anonymous() }),
        wildcards: false,
        ..Caller::default()
    }
}

pub(crate) fn call(method: &str, path: &str, input: Value) -> Call {
    let body: Map<String, Value> = input.as_object().unwrap().clone();
    Call { method: method.into(), path: path.into(), body, caller: caller(""), ..Call::default() }
}

pub(crate) async fn answer(loaded: &LoadReport, call: Call) -> Result<Value, Refusal> {
    loaded.dispatcher.dispatch(call).await.answer
}
