//! A hundred thousand contracts that were made while serving: what they take when they are read, and how long it
//! takes to find the one that serves a call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use forecourt_contract::call::{Identity, Thread};
use forecourt_contract::endpoint::{Binding, COMPOSITION_ERROR, Definition, RegistrationContext};
use forecourt_contract::negotiation::{ContractRequest, RecipeLineage};
use forecourt_contract::recipe::Step;
use forecourt_contract::registry::CallerNeeds;
use forecourt_contract::{
    Call, Caller, Catalog, Dispatcher, Endpoint, HostHandle, Method, MethodPolicy, Negotiation, Recipe, RecipeBook,
    RequestPath, Template,
};
use forecourt_core::store::Span;
use forecourt_core::{Clock, Entropy, SystemClock};
use forecourt_host::Ledger;
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_synthesis::Synthesis;
use forecourt_synthesis::contracts::{ContractHolder, Contracts};
use forecourt_synthesis::negotiator::{
    ContractEvent, ContractEvents, Negotiator, NegotiatorParts, ProposeOutcome, SynthesisContext, SynthesisSource,
};
use forecourt_synthesis::proposal::{Proposal, ProposalRefusal};
use forecourt_synthesis::settings::{RcnsSettings, SynthesisSettings};
use forecourt_testkit::CountedEntropy;
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use serde_json::{Map, Value, json};

use crate::report::median;
use crate::run::Run;

const CONTRACTS: usize = 100_000;
const CONTRACTS_SMOKE: usize = 500;
/// Of each agent.
const OWN: usize = 100;
/// Entries that are written together.
const WRITTEN_AT_ONCE: usize = 2_000;
const ROUNDS: usize = 20;
const LOOKUPS: usize = 20_000;
const CALLS: usize = 2_000;

/// Prints the room and the times.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(run))
}

async fn measure(run: &Run) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Sqlite::open(&folder.path().join("store.db"), SqliteOptions::default())?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ledger = Ledger::new(store, clock.clone(), forecourt_synthesis::contracts::LEDGER_OWNER);
    let count = run.of(CONTRACTS, CONTRACTS_SMOKE);
    fill(&ledger, count).await?;

    let before = resident()?;
    let begin = Instant::now();
    let (negotiator, contracts, _host) = negotiator(&ledger);
    let known = negotiator.persistent(1).await.map_err(|error| anyhow!("{error}"))?;
    ensure!(known.contracts.len() == 1, "the contracts were read");
    let (read, grown) = (begin.elapsed().as_secs_f64(), (resident()? - before) / 1024.0 / 1024.0);
    println!("read      {read:8.2} s for {count} contracts");
    println!("memory    {grown:8.1} MiB more");
    run.keep("seconds to read them", &[read], &[])?;
    run.keep("MiB that they take", &[grown], &[])?;

    let lookups = (0..run.of(LOOKUPS, CONTRACTS_SMOKE)).map(|n| lookup(n * 7_919 % count));
    let lookups: Vec<_> = lookups.collect::<anyhow::Result<_>>()?;
    let (mut times, mut again, thread) = (Vec::new(), Vec::new(), Thread::default());
    for round in 0..2 * run.rounds(ROUNDS) {
        let begin = Instant::now();
        for (holder, method, path) in &lookups {
            ensure!(contracts.resolve(holder, &thread, method, path).is_some(), "a contract is found");
        }
        let micros = begin.elapsed().as_secs_f64() * 1e6 / lookups.len() as f64;
        if round.is_multiple_of(2) { times.push(micros) } else { again.push(micros / times[round / 2]) }
    }
    println!("lookup    {:8.2} µs", median(&times));
    run.keep("µs a lookup", &times, &again)?;

    let (begin, mut calls) = (Instant::now(), 0_u32);
    for (holder, method, path) in lookups.iter().take(CALLS) {
        let call = Call { caller: caller(&holder.agent_id), ..Call::default() };
        let served = negotiator.contract_for(ContractRequest { call: &call, method, path, may_be_new: true }).await;
        ensure!(matches!(served, Ok(Some(_))), "the call is served");
        calls += 1;
    }
    let micros = begin.elapsed().as_secs_f64() * 1e6 / f64::from(calls);
    println!("call      {micros:8.2} µs, with a look at the end of the stream");
    run.keep("µs a call, with a look at the end of the stream", &[micros], &[])
}

/// Who calls what: half of the contracts are for a template.
fn lookup(n: usize) -> anyhow::Result<(ContractHolder, Method, RequestPath)> {
    let holder = ContractHolder { agent_id: agent_of(n).into(), is_proven: true };
    let path = if n.is_multiple_of(2) { format!("/halls/hall-{n}") } else { format!("/suites/{n}/beds/7") };
    let path = RequestPath::parse(&path, &Catalog::shipped()).map_err(|fault| anyhow!("{fault}"))?;
    Ok((holder, Method::parse("QUERY")?, path))
}

fn agent_of(n: usize) -> String {
    format!("{:064x}", n / OWN)
}

fn caller(name: &str) -> Caller {
    Caller { agent_id: Some(name.to_owned()), identity: Identity::Recognised, is_proven: true, ..Caller::default() }
}

/// Has one contract made as any is, and writes it down again under other names, holders and paths.
async fn fill(ledger: &Ledger, count: usize) -> anyhow::Result<()> {
    let (negotiator, _contracts, _host) = negotiator(ledger);
    let made = negotiator.propose(&Map::new(), &caller("a"), &Thread::default()).await;
    ensure!(matches!(made, Ok(ProposeOutcome::Approved { .. })), "a contract is made: {made:?}");
    let entries = ledger.entries("contracts", Span::After(0), 10).await?;
    let (_, made) = entries.into_iter().next_back().ok_or_else(|| anyhow!("it is in the ledger"))?;
    for first in (0..count).step_by(WRITTEN_AT_ONCE) {
        let write = |n: usize| ledger.append("contracts", copied(&made.body, n), made.expires_at, None);
        for written in join_all((first..count.min(first + WRITTEN_AT_ONCE)).map(write)).await {
            written?;
        }
    }
    Ok(())
}

fn copied(made: &Value, n: usize) -> Value {
    let mut body = made.clone();
    let path = if n.is_multiple_of(2) { format!("/halls/hall-{n}") } else { format!("/suites/{n}/beds/{{bed}}") };
    let path = Template::parse(&path, &Catalog::shipped()).ok();
    body["record"]["synthesis_id"] = json!(format!("{n:043}"));
    body["record"]["holder"] = json!({"agent_id": agent_of(n), "is_proven": true});
    body["record"]["path"] = json!(path);
    body
}

fn negotiator(ledger: &Ledger) -> (Arc<Negotiator>, Arc<Contracts>, Arc<Dispatcher>) {
    let (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>) =
        (Arc::new(SystemClock), Arc::<CountedEntropy>::default());
    let contracts = Arc::new(Contracts::new(ledger.clone(), clock.clone(), entropy.clone()));
    let host = HostHandle::default();
    let dispatcher = Arc::new(Dispatcher { host: host.clone(), ..Dispatcher::default() });
    host.bind(&dispatcher);
    let parts = NegotiatorParts {
        memory: Arc::default(),
        contracts: contracts.clone(),
        host,
        synthesis: SynthesisSettings::default(),
        rcns: RcnsSettings::default(),
        is_synthesis_enabled: true,
        steps_max: 64,
        requires_proof: false,
        clock,
        entropy,
        events: Arc::new(Unheard),
    };
    (Negotiator::with_source(parts, Arc::new(OnePlan)), contracts, dispatcher)
}

/// Nobody is told.
struct Unheard;

impl ContractEvents for Unheard {
    fn happened<'a>(&'a self, _: ContractEvent<'a>) -> BoxFuture<'a, ()> {
        async {}.boxed()
    }
}

/// Whatever is proposed, it is a question to the host about its methods.
struct OnePlan;

impl SynthesisSource for OnePlan {
    fn read(&self, _: &Map<String, Value>) -> Result<Proposal, ProposalRefusal> {
        Ok(Proposal {
            method: "QUERY".to_owned(),
            path: "/halls".to_owned(),
            definition: Map::new(),
            is_legacy: false,
            persistent: true,
            duration_seconds: None,
            scopes: Vec::new(),
        })
    }

    fn for_proposal(&self, _: &Proposal, _: SynthesisContext<'_>) -> Result<Synthesis, ProposalRefusal> {
        plan().map_err(|error| ProposalRefusal::Malformed {
            issue: "bench",
            field: String::new(),
            message: error.to_string(),
        })
    }

    fn for_request(
        &self,
        _: (&Method, &RequestPath),
        _: &Map<String, Value>,
        around: SynthesisContext<'_>,
    ) -> Result<Synthesis, ProposalRefusal> {
        self.for_proposal(&self.read(&Map::new())?, around)
    }
}

fn plan() -> anyhow::Result<Synthesis> {
    let (catalog, recipes) = (Catalog::shipped(), RecipeBook::default());
    let path = Template::parse("/methods", &catalog).map_err(|fault| anyhow!("{fault}"))?;
    let step = Step {
        method: Method::parse("DISCOVER")?,
        path: Some(path),
        capture_as: None,
        parameters: Default::default(),
        for_each: None,
    };
    let plan = Recipe {
        name: "methods".to_owned(),
        version: "1".to_owned(),
        description: "Asks for the methods.".to_owned(),
        pattern: None,
        steps: vec![step],
        aggregation: Default::default(),
    };
    let definition = Definition {
        method: Some("QUERY".into()),
        path: Some("/halls".into()),
        description: Some("Tells of a hall.".into()),
        semantic: json!({
            "intent": "Ask.", "actor": "agent", "outcome": "It is known.", "capability": "retrieval",
            "confidence": 0.9, "impact": "informational", "is_idempotent": true,
        }),
        input_schema: Some(json!({
            "type": "object", "properties": {"bed": {"type": "string"}}, "additionalProperties": false,
        })),
        output_schema: Some(json!({"type": "object"})),
        errors: Some(vec![COMPOSITION_ERROR.into()]),
        binding: Some(Binding::RegisteredFunction { function: "f".into(), timeout: Duration::from_secs(30) }),
        ..Definition::default()
    };
    let policy = MethodPolicy::default();
    let endpoint = Endpoint::register(definition, &RegistrationContext::new(&catalog, &policy, &recipes));
    Ok(Synthesis {
        endpoint: Arc::new(endpoint.map_err(|problems| anyhow!("{problems:?}"))?),
        plan: Arc::new(plan),
        lineage: Some(RecipeLineage { recipe_name: "methods".to_owned(), recipe_version: "1".to_owned() }),
        needs: CallerNeeds { scopes: Arc::default(), token: false },
        log: Vec::new(),
        explanation: Default::default(),
    })
}

/// Bytes of this process in memory.
fn resident() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or_else(|| anyhow!("no VmRSS"))?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024.0)
}
