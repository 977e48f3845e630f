//! A host with endpoints, a recipe and contracts, in processes that share a store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_contract::call::{ConnectionId, ContractTerms, Identity, Thread};
use forecourt_contract::endpoint::{Binding, COMPOSITION_ERROR, Definition, RegistrationContext};
use forecourt_contract::negotiation::{NoContractReason, RecipeLineage};
use forecourt_contract::{
    Call, CallOutcome, Caller, Catalog, ContractRefusal, Dispatcher, Endpoint, Failure, Handler, HostApi, HostHandle,
    HostServices, Invocation, Method, MethodPolicy, Recipe, RecipeBook, Refusal, Registry, RequestPath, Rules, Scope,
    ScopeSet, recipe,
};
use forecourt_core::{Authority, Clock, Entropy, Sender, Store};
use forecourt_host::Ledger;
use forecourt_settings::Section;
use forecourt_store::Memory;
use forecourt_synthesis::Synthesis;
use forecourt_synthesis::contracts::{ContractEndKind, Contracts};
use forecourt_synthesis::explanation::Explanation;
use forecourt_synthesis::negotiator::{
    ContractEvent, ContractEvents, Negotiator, NegotiatorParts, ProposeOutcome, SynthesisContext, SynthesisSource,
};
use forecourt_synthesis::proposal::{Proposal, ProposalRefusal, RejectionReason};
use forecourt_synthesis::settings::{RcnsMode, RcnsSettings, SynthesisSettings};
use forecourt_testkit::{CountedEntropy, HandClock};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// What processes share.
#[derive(Clone)]
pub(crate) struct World {
    pub store: Arc<dyn Store>,
    pub clock: Arc<HandClock>,
    pub entropy: Arc<CountedEntropy>,
}

impl World {
    pub(crate) fn new() -> World {
        World::on(Arc::new(Memory::new()))
    }

    pub(crate) fn on(store: Arc<dyn Store>) -> World {
        World { store, clock: Arc::default(), entropy: Arc::default() }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

/// The operator's settings, as a test turns them.
#[derive(Clone)]
pub(crate) struct Settings {
    pub rcns: RcnsSettings,
    pub synthesis: SynthesisSettings,
    pub is_synthesis_enabled: bool,
    pub requires_proof: bool,
}

/// Everything is open, and calls lead to offers.
impl Default for Settings {
    fn default() -> Self {
        let many = 1_000_u32.try_into().unwrap();
        let rcns = RcnsSettings {
            enabled: true,
            min_trust_tier: 2,
            rate_limit_per_minute: many,
            contract_ttl_seconds: 600_u64.try_into().unwrap(),
            ..RcnsSettings::default()
        };
        Settings { rcns, synthesis: SynthesisSettings::default(), is_synthesis_enabled: true, requires_proof: false }
    }
}

impl Settings {
    pub(crate) fn optimistic() -> Settings {
        let settings = Settings::default();
        Settings { rcns: RcnsSettings { mode: RcnsMode::Optimistic, ..settings.rcns }, ..settings }
    }
}

/// One process with its host.
pub(crate) struct Process {
    pub world: World,
    pub host: Arc<TestHost>,
    pub negotiator: Arc<Negotiator>,
    pub events: Arc<Noted>,
    pub source: Arc<ScriptedSource>,
}

impl Process {
    pub(crate) fn start(world: &World) -> Process {
        Process::with(world, Settings::default())
    }

    pub(crate) fn with(world: &World, settings: Settings) -> Process {
        let clock: Arc<dyn Clock> = world.clock.clone();
        let entropy: Arc<dyn Entropy> = world.entropy.clone();
        let ledger = Ledger::new(world.store.clone(), clock.clone(), "synthesis");
        let contracts = Arc::new(Contracts::new(ledger, clock.clone(), entropy.clone()));
        let handle = HostHandle::default();
        let services = Arc::new(HostServices::new(handle.clone()));
        let host = Arc::new(TestHost { dispatcher: Mutex::new(Arc::new(house(&handle, "1"))), services, handle });
        host.handle.bind(&host);
        let (events, source) = (Arc::<Noted>::default(), Arc::<ScriptedSource>::default());
        let parts = NegotiatorParts {
            contracts,
            memory: Arc::default(),
            host: host.handle.clone(),
            synthesis: settings.synthesis,
            rcns: settings.rcns,
            is_synthesis_enabled: settings.is_synthesis_enabled,
            steps_max: 64,
            requires_proof: settings.requires_proof,
            clock,
            entropy,
            events: events.clone(),
        };
        let negotiator = Negotiator::with_source(parts, source.clone());
        host.services.publish_negotiation(negotiator.clone());
        Process { world: world.clone(), host, negotiator, events, source }
    }

    pub(crate) async fn dispatch(&self, call: Call) -> CallOutcome {
        let dispatcher = self.host.dispatcher.lock().clone();
        dispatcher.dispatch(call).await
    }

    /// What a call came to: its result, or in a word why there is none.
    pub(crate) async fn word(&self, call: Call) -> String {
        match self.dispatch(call).await.answer {
            Ok(value) => format!("edition {}", value["input"]["edition"].as_str().unwrap_or_default()),
            Err(refusal) => word(&refusal),
        }
    }

    pub(crate) async fn refusal(&self, call: Call) -> ContractRefusal {
        match self.dispatch(call).await.answer {
            Err(Refusal::Contract { refusal, .. }) => *refusal,
            other => panic!("{other:?}"),
        }
    }

    /// The name of the offer that a call leads to.
    pub(crate) async fn offered(&self, call: Call) -> String {
        match self.refusal(call).await {
            ContractRefusal::Available(preview) => preview.synthesis_id,
            other => panic!("{other:?}"),
        }
    }

    /// The name of the contract that is made from the recipe for `QUERY path`.
    pub(crate) async fn proposed(&self, caller: &Caller, thread: &Thread, path: &str, more: Value) -> String {
        match self.propose(caller, thread, path, more).await {
            ProposeOutcome::Approved { contract, .. } => contract.record.synthesis_id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn propose(&self, caller: &Caller, thread: &Thread, path: &str, more: Value) -> ProposeOutcome {
        let mut parameters = Map::from_iter([("path".to_owned(), json!(path)), ("recipe".to_owned(), json!("suite"))]);
        parameters.extend(more.as_object().unwrap().clone());
        self.negotiator.propose(&parameters, caller, thread).await.unwrap()
    }

    pub(crate) async fn ended(&self, name: &str) -> Option<ContractEndKind> {
        let contract = self.negotiator.contract(name).await.unwrap()?;
        contract.record.end().map(|end| end.kind)
    }

    /// Has the deployment replaced by one whose recipe is of another edition.
    pub(crate) fn edit_recipe(&self, edition: &str) {
        *self.host.dispatcher.lock() = Arc::new(house(&self.host.handle, edition));
    }

    pub(crate) fn replace(&self, change: impl FnOnce(&mut Dispatcher)) {
        let mut dispatcher = house(&self.host.handle, "1");
        change(&mut dispatcher);
        *self.host.dispatcher.lock() = Arc::new(dispatcher);
    }
}

/// A refusal in a word.
pub(crate) fn word(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotFound(_) => "404".to_owned(),
        Refusal::NotAllowed { .. } => "405".to_owned(),
        Refusal::Scope { .. } => "455".to_owned(),
        Refusal::Identity(_) => "401".to_owned(),
        Refusal::Contract { refusal, .. } => match &**refusal {
            ContractRefusal::NoContract { reason, attempt_id, .. } => {
                assert!(attempt_id.is_some(), "every 464 can be asked about");
                format!("464 {}", reason.word())
            }
            refusal => refusal.kind().to_owned(),
        },
        other => format!("{other:?}"),
    }
}

pub(crate) fn no_contract(reason: NoContractReason) -> String {
    format!("464 {}", reason.word())
}

/// A host whose deployment is replaced.
pub(crate) struct TestHost {
    pub dispatcher: Mutex<Arc<Dispatcher>>,
    services: Arc<HostServices>,
    handle: HostHandle,
}

impl HostApi for TestHost {
    fn dispatcher(self: Arc<Self>) -> Option<Arc<Dispatcher>> {
        Some(self.dispatcher.lock().clone())
    }

    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        Some(self.services.clone())
    }
}

/// `QUERY /facts`, which gives its input back, `QUERY /secrets`, which needs a scope, and the recipe `suite`, whose
/// only step asks for the facts and says which edition of it that was.
fn house(host: &HostHandle, edition: &str) -> Dispatcher {
    let mut registry = Registry::default();
    for (path, scopes) in [("/facts", &[][..]), ("/secrets", &["facts:secret"][..])] {
        let endpoint = define("QUERY", path, scopes, &RecipeBook::default(), None);
        registry.insert(Arc::new(endpoint), Arc::new(Echo)).unwrap();
    }
    let rules = Rules { scope_required: false, ..Rules::default() };
    let recipes = Arc::new(book(edition));
    Dispatcher { registry, recipes, rules, host: host.clone(), ..Dispatcher::default() }.sealed()
}

pub(crate) fn book(edition: &str) -> RecipeBook {
    edited_book(edition, edition)
}

/// The recipes of an edition under the name of a version; none without a name.
pub(crate) fn edited_book(version: &str, edition: &str) -> RecipeBook {
    let step = |path: &str| {
        format!(
            "[[recipe.steps]]\nmethod = \"QUERY\"\npath = \"{path}\"\n[recipe.steps.parameters.edition]\nkind = \"constant\"\nvalue = \"{edition}\"\n"
        )
    };
    let recipe =
        |name: &str, path: &str| format!("[[recipe]]\nname = \"{name}\"\nversion = \"{version}\"\n{}", step(path));
    let text = match version {
        "" => String::new(),
        _ => recipe("suite", "/facts") + &recipe("secret", "/secrets"),
    };
    let section = Section::parse(std::path::Path::new("recipes.toml"), &text, &|_: &str| None).unwrap();
    let (book, problems) = recipe::read(section, &Catalog::shipped(), &MethodPolicy::default());
    assert!(problems.is_empty(), "{problems:?}");
    book
}

pub(crate) fn define(
    method: &str,
    path: &str,
    scopes: &[&str],
    recipes: &RecipeBook,
    recipe: Option<&str>,
) -> Endpoint {
    let parameters = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let mut properties: Map<String, Value> =
        parameters.map(|name| (name.to_owned(), json!({"type": "string"}))).collect();
    properties.insert("edition".into(), json!({}));
    let timeout = Duration::from_secs(30);
    let binding = match recipe {
        Some(recipe) => Binding::Composition { recipe: recipe.to_owned(), timeout },
        None => Binding::RegisteredFunction { function: "f".into(), timeout },
    };
    let definition = Definition {
        method: Some(method.into()),
        path: Some(path.into()),
        description: Some("Does what it says.".into()),
        semantic: json!({
            "intent": "Ask.", "actor": "agent", "outcome": "It is known.", "capability": "retrieval",
            "confidence": 0.9, "impact": "informational", "is_idempotent": true,
        }),
        input_schema: Some(json!({"type": "object", "properties": properties, "additionalProperties": false})),
        output_schema: Some(json!({"type": "object"})),
        errors: Some(vec![COMPOSITION_ERROR.into()]),
        required_scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        binding: Some(binding),
        ..Definition::default()
    };
    let (catalog, policy) = (Catalog::shipped(), MethodPolicy::default());
    Endpoint::register(definition, &RegistrationContext::new(&catalog, &policy, recipes)).unwrap()
}

/// Gives its input back.
struct Echo;

impl Handler for Echo {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        async move { Ok(json!({"input": invocation.input})) }.boxed()
    }
}

/// Makes everything from the recipe that the proposal names; calls below `/suites` from `suite`.
#[derive(Default)]
pub(crate) struct ScriptedSource {
    /// How often it was asked.
    pub asked: AtomicUsize,
    /// What the last call that it was asked about said.
    pub input: Mutex<Map<String, Value>>,
    /// What has it wait before it answers a proposal.
    pub waits: Mutex<Option<std::sync::mpsc::Receiver<()>>>,
}

impl SynthesisSource for ScriptedSource {
    fn read(&self, parameters: &Map<String, Value>) -> Result<Proposal, ProposalRefusal> {
        let text = |name: &str| parameters.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        if parameters.contains_key("malformed") {
            let (issue, field) = ("ambiguous-body", "/endpoint".to_owned());
            return Err(ProposalRefusal::Malformed { issue, field, message: String::new() });
        }
        Ok(Proposal {
            method: "QUERY".to_owned(),
            path: text("path"),
            definition: parameters.clone(),
            is_legacy: false,
            persistent: parameters.get("persistent") == Some(&json!(true)),
            duration_seconds: parameters.get("duration").and_then(Value::as_u64),
            scopes: Vec::new(),
        })
    }

    fn for_proposal(&self, proposal: &Proposal, around: SynthesisContext<'_>) -> Result<Synthesis, ProposalRefusal> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(waits) = self.waits.lock().take() {
            let _ = waits.recv();
        }
        let recipe = proposal.definition.get("recipe").and_then(Value::as_str).unwrap_or_default();
        let mut synthesis = synthesis(&proposal.path, recipe, around)?;
        let padding = proposal.definition.get("padding").and_then(Value::as_u64).unwrap_or_default();
        let padding = "x".repeat(usize::try_from(padding).unwrap());
        Arc::make_mut(&mut synthesis.endpoint).description.push_str(&padding);
        Ok(synthesis)
    }

    fn for_request(
        &self,
        (_, path): (&Method, &RequestPath),
        input: &Map<String, Value>,
        around: SynthesisContext<'_>,
    ) -> Result<Synthesis, ProposalRefusal> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        *self.input.lock() = input.clone();
        let recipe = if path.as_str().starts_with("/suites") { "suite" } else { "none" };
        synthesis(path.as_str(), recipe, around)
    }
}

fn synthesis(path: &str, recipe: &str, around: SynthesisContext<'_>) -> Result<Synthesis, ProposalRefusal> {
    let recipes = &around.dispatcher.recipes;
    let Some(found) = recipes.get(recipe) else {
        let reason = RejectionReason::CompositionImpossible;
        return Err(ProposalRefusal::Rejected {
            reason,
            explanation: "nothing fits".to_owned(),
            counter_proposal: None,
        });
    };
    let needs = around.dispatcher.needs_of_plan(found);
    let scopes: Vec<&str> = needs.scopes.iter().map(Scope::as_str).collect();
    Ok(Synthesis {
        endpoint: Arc::new(define("QUERY", path, &scopes, recipes, Some(recipe))),
        plan: Arc::new(Recipe { pattern: None, ..Recipe::clone(found) }),
        lineage: Some(RecipeLineage { recipe_name: found.name.clone(), recipe_version: found.version.clone() }),
        needs,
        log: vec!["it is the recipe".to_owned()],
        explanation: Explanation::default(),
    })
}

/// What was told of contracts.
#[derive(Default)]
pub(crate) struct Noted(Mutex<Vec<String>>);

impl Noted {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

impl ContractEvents for Noted {
    fn happened<'a>(&'a self, event: ContractEvent<'a>) -> BoxFuture<'a, ()> {
        let agent = &event.contract().holder.agent_id;
        let text = match event {
            ContractEvent::Accepted { .. } => String::new(),
            ContractEvent::Released { reason, actor, .. } => format!(" {} by {actor}", reason.text()),
            ContractEvent::Revoked { reason, actor, .. } => {
                format!(" {} by {}", reason.unwrap_or("-"), actor.unwrap_or("nobody"))
            }
        };
        self.0.lock().push(format!("{} of {agent}{text}", event.word()));
        async {}.boxed()
    }
}

/// A caller whose name is proven, with the scope for negotiating and at the best tier.
pub(crate) fn agent(name: &str) -> Caller {
    agent_with(name, "rcns:negotiate")
}

pub(crate) fn agent_with(name: &str, scopes: &str) -> Caller {
    let scopes = if scopes.is_empty() { ScopeSet::default() } else { ScopeSet::parse_list(scopes).unwrap() };
    let authority = Authority::granted(scopes).claiming_all();
    Caller {
        agent_id: Some(name.to_owned()),
        identity: Identity::Recognised,
        is_proven: true,
        trust_tier: Some(1),
        sender: Arc::new(Sender { authority, ..Sender::anonymous() }),
        ..Caller::default()
    }
}

pub(crate) fn claimed(name: &str) -> Caller {
    Caller { is_proven: false, ..agent(name) }
}

pub(crate) fn call(caller: Caller, path: &str) -> Call {
    Call { method: "QUERY".into(), path: path.into(), caller, ..Call::default() }
}

/// A call that may lead to a contract.
pub(crate) fn opted(caller: Caller, path: &str) -> Call {
    Call { contract: ContractTerms { presented: None, allows_new: true }, ..call(caller, path) }
}

/// A call that presents one.
pub(crate) fn presenting(caller: Caller, path: &str, name: &str) -> Call {
    Call { contract: ContractTerms { presented: Some(name.to_owned()), allows_new: true }, ..call(caller, path) }
}

pub(crate) fn session(name: &str) -> Thread {
    Thread { session_id: Some(name.to_owned()), ..Thread::default() }
}

pub(crate) fn connection(name: &str) -> Thread {
    Thread { connection: Some(ConnectionId(name.into())), ..Thread::default() }
}
