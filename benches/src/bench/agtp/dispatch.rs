//! Calls of endpoints among ten and among ten thousand, in this process: from the call to what the handler
//! gives. Of five that are called again and again, and of all in turn, whose schemas are then in no cache.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{anyhow, ensure};
use forecourt_contract::call::Identity;
use forecourt_contract::endpoint::{Binding, Definition, RegistrationContext};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::{
    Call, Caller, Dispatcher, Endpoint, Failure, Handler, Invocation, MethodPolicy, RecipeBook, Registry, ScopeSet,
};
use forecourt_core::Authority;
use futures::executor::block_on;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::report::{judge, median, shuffled};
use crate::run::Run;

const ROUNDS: usize = 20;
const CALLS: usize = 20_000;
const CALLS_SMOKE: usize = 500;
/// Endpoints of the host that has many, and how many of them are called in turn.
const MANY: usize = 10_000;
const MANY_SMOKE: usize = 200;

/// Gives what it got.
struct Echo;

impl Handler for Echo {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        Box::pin(async move { Ok(Value::Object(invocation.input)) })
    }
}

/// Prints the time of a call among few and among many, and their ratio.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let count = run.of(MANY, MANY_SMOKE);
    let (few, again, many) = (host(10)?, host(10)?, host(count)?);
    compare(run, "the same five", &[(5, &few), (5, &again), (5, &many)])?;
    compare(run, "all in turn", &[(5, &few), (5, &again), (count / 2, &many)])
}

/// Hosts with few endpoints, with few again and with many, and how many pairs of each are called.
fn compare(run: &Run, which: &str, hosts: &[(usize, &Dispatcher); 3]) -> anyhow::Result<()> {
    for kind in ["literal", "template"] {
        let mut times = vec![Vec::new(); hosts.len()];
        for round in 0..run.rounds(ROUNDS) {
            for index in shuffled(hosts.len(), round) {
                let (called, host) = hosts[index];
                times[index].push(visit(host, called, kind, run.of(CALLS, CALLS_SMOKE))?);
            }
        }
        println!("{which}, {kind}: {:.2} µs a call among few", median(&times[0]));
        judge(run, &format!("{which}, {kind}, "), "µs a call", &["few", "few again", "many"], &times)?;
    }
    Ok(())
}

fn visit(host: &Dispatcher, called: usize, kind: &str, count: usize) -> anyhow::Result<f64> {
    let calls: Vec<Call> = (0..count).map(|n| call(n * 7 % called, kind)).collect();
    let begin = Instant::now();
    for call in calls {
        ensure!(block_on(host.dispatch(call)).answer.is_ok(), "a call is answered");
    }
    Ok(begin.elapsed().as_secs_f64() * 1e6 / count as f64)
}

fn call(n: usize, kind: &str) -> Call {
    let path = if kind == "literal" { format!("/houses{n}/rooms") } else { format!("/houses{n}/rooms/{n}") };
    let scopes = ScopeSet::parse_list("booking:room").unwrap_or_default();
    let authority = Authority::granted(scopes).claiming_all();
    let caller = Caller { identity: Identity::Recognised, ..Caller::default() }.with_authority(authority);
    let body = Map::from_iter([("nights".to_owned(), json!(3))]);
    Call { method: "BOOK".to_owned(), path, body, caller, ..Call::default() }
}

/// Half of the endpoints are at literal paths, half at templates.
fn host(count: usize) -> anyhow::Result<Dispatcher> {
    let mut host = Dispatcher::default();
    let (policy, recipes) = (MethodPolicy::default(), RecipeBook::default());
    let mut registry = Registry::default();
    for n in 0..count / 2 {
        for path in [format!("/houses{n}/rooms"), format!("/houses{n}/rooms/{{room}}")] {
            let around = RegistrationContext::new(&host.catalog, &policy, &recipes);
            let endpoint = Endpoint::register(definition(path), &around).map_err(|faults| anyhow!("{faults:?}"))?;
            registry.insert(Arc::new(endpoint), Arc::new(Echo))?;
        }
    }
    host.registry = registry;
    Ok(host)
}

fn definition(path: String) -> Definition {
    Definition {
        method: Some("BOOK".to_owned()),
        path: Some(path),
        description: Some("Books a room.".to_owned()),
        semantic: json!({
            "intent": "Book a room.", "actor": "agent", "outcome": "A room is booked.", "capability": "transaction",
            "confidence": 0.9, "impact": "reversible", "is_idempotent": false,
        }),
        input_schema: Some(json!({
            "type": "object",
            "properties": {"room": {"type": "string"}, "nights": {"type": "integer"}},
            "additionalProperties": false,
        })),
        output_schema: Some(json!({"type": "object"})),
        errors: Some(Vec::new()),
        required_scopes: vec!["booking:room".to_owned()],
        binding: Some(Binding::RegisteredFunction { function: "f".to_owned(), timeout: HANDLER_TIME_DEFAULT }),
        ..Definition::default()
    }
}
