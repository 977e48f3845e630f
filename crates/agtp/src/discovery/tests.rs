//! What DISCOVER answers, against a host in memory.

mod builtins;
mod deprecated;
mod manifest;
mod projection;
mod root;
mod search;
mod signature;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use forecourt_contract::call::{Caller, Identity};
use forecourt_contract::endpoint::{Binding, Definition, RegistrationContext};
use forecourt_contract::policy::MethodPolicySettings;
use forecourt_contract::{
    Call, Catalog, Dispatcher, Endpoint, Failure, Handler, Invocation, MethodPolicy, RecipeBook, Registry, recipe,
};
use forecourt_core::identity::BEARER_TOKEN;
use forecourt_core::{AgentCard, Authority, Sender, agent::Skill};
use forecourt_identity::agents::AgentIdentity;
use forecourt_settings::Section;
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{ScriptedAgent, card};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::Discovery;
use crate::ask::Ask;
use crate::inventory::Inventory;
use crate::records::Records;
use crate::reply::{Body, Problem, Reply};
use crate::service::negotiator;
use crate::settings::AgtpSettings;

/// A host and what answers DISCOVER on it.
struct Place {
    mounted: MountedHost,
    discovery: Discovery,
}

/// Answers nothing; no call gets there.
struct Silent;

impl Handler for Silent {
    fn call(&self, _: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        async { Err(Failure::Crashed("nothing is called here".to_owned())) }.boxed()
    }
}

/// The agents of most tests: a cook, who is the default one, and a clerk.
fn cards() -> Vec<AgentCard> {
    let skill = |id: &str, name: &str, description: &str, tags: &[&str]| Skill {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        examples: Vec::new(),
    };
    let mut chef = card("chef");
    chef.skills = vec![skill("recipes", "Recipes", "Finds dishes for what is in the fridge.", &["cooking"])];
    let mut clerk = card("clerk");
    clerk.skills = vec![
        skill("rooms", "Rooms", "Books rooms and tables.", &["booking"]),
        skill("bills", "Bills", "Writes bills.", &[]),
    ];
    vec![chef, clerk]
}

fn blueprint() -> Blueprint {
    let agents = cards().into_iter().map(|card| resident(card, ScriptedAgent::saying(["hi"]), Vec::new()));
    Blueprint { residents: agents.collect(), ..Blueprint::default() }
}

impl Place {
    async fn of(blueprint: Blueprint) -> Self {
        let mounted = blueprint.start(None).await;
        let discovery = again(&mounted, &mounted.section);
        Self { mounted, discovery }
    }

    /// A host with these settings, and otherwise like most.
    async fn with(section: &str) -> Self {
        Self::of(Blueprint { section: section.to_owned(), ..blueprint() }).await
    }

    /// A host with these endpoints.
    async fn of_contract(contract: Dispatcher) -> Self {
        Self::of(Blueprint { contract: Arc::new(contract), ..blueprint() }).await
    }

    /// The agent of a name.
    fn agent(&self, name: &str) -> Arc<AgentIdentity> {
        Arc::clone(self.mounted.mount.agents.of_name(name).unwrap())
    }

    /// A request in the name of an agent here.
    fn by(&self, name: &str, path: &str) -> Ask {
        let agent = self.agent(name);
        let caller = Caller {
            agent_id: Some(agent.agent_id.to_string()),
            identity: Identity::Recognised,
            sender: Arc::new(Sender { authority: Authority::granted(agent.declared.clone()), ..Sender::anonymous() }),
            ..Caller::default()
        };
        let stranger = stranger(path);
        Ask { call: Call { caller, ..stranger.call.clone() }, known: Some(agent), ..stranger }
    }

    async fn reply(&self, ask: &Ask) -> Reply {
        self.discovery.discover(ask).await.unwrap()
    }

    async fn json(&self, ask: &Ask) -> Value {
        body(&self.reply(ask).await)
    }

    async fn refused(&self, ask: &Ask) -> Problem {
        self.discovery.discover(ask).await.unwrap_err()
    }

    /// The manifest that strangers get.
    async fn manifest(&self) -> Value {
        self.json(&targetless()).await
    }
}

/// Another thing that answers DISCOVER on the same host, as after a restart with these settings.
fn again(mounted: &MountedHost, section: &Section) -> Discovery {
    let settings = AgtpSettings::read(section).unwrap();
    let records = Records::new(&mounted.mount, &settings, "demo.localhost");
    let negotiator = negotiator(&mounted.mount, &settings, Arc::new(records));
    Discovery::new(Inventory::new(&mounted.mount, settings, negotiator), Arc::clone(&mounted.mount.keys))
}

fn section(text: &str) -> Section {
    Section::parse(Path::new("forecourt.toml"), text, &|_: &str| None).unwrap()
}

/// A request without a name.
fn stranger(path: &str) -> Ask {
    Ask {
        call: Call { method: "DISCOVER".to_owned(), path: path.to_owned(), ..Call::default() },
        is_targetless: false,
        addressed: None,
        known: None,
        key_fingerprint: None,
        doubt: None,
        is_step: false,
        served_under: Arc::default(),
        is_local: true,
        accept: None,
        if_none_match: None,
        state: None,
    }
}

/// A request without a name and without a target.
fn targetless() -> Ask {
    Ask { is_targetless: true, ..stranger("/") }
}

/// The same from somebody without a name here, who proved who it is.
fn proven(mut ask: Ask) -> Ask {
    ask.call.caller.sender = Arc::new(forecourt_testkit::proven("somebody", BEARER_TOKEN));
    ask
}

/// The same with these parameters.
fn asking(mut ask: Ask, parameters: Value) -> Ask {
    ask.call.body = parameters.as_object().unwrap().clone();
    ask
}

fn bytes(reply: &Reply) -> Vec<u8> {
    match &reply.body {
        Body::Empty => Vec::new(),
        Body::Json(value) => serde_json::to_vec(value).unwrap(),
        Body::Written(bytes) | Body::Made { bytes, .. } => bytes.to_vec(),
    }
}

fn body(reply: &Reply) -> Value {
    serde_json::from_slice(&bytes(reply)).unwrap()
}

fn field<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.fields.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str())
}

/// What every endpoint of these tests promises.
fn definition(method: &str, path: &str) -> Definition {
    Definition {
        method: Some(method.to_owned()),
        path: Some(path.to_owned()),
        description: Some(format!("Does {method} at {path}.")),
        semantic: json!({
            "intent": "Do something.", "actor": "agent", "outcome": "It is done.", "capability": "transaction",
            "confidence": 0.85, "impact": "irreversible", "is_idempotent": false,
        }),
        input_schema: Some(json!({
            "type": "object", "properties": {"guest_id": {"type": "string"}}, "additionalProperties": false,
        })),
        output_schema: Some(json!({"type": "object"})),
        errors: Some(vec!["room_unavailable".to_owned()]),
        required_scopes: vec!["booking:room".to_owned()],
        binding: Some(Binding::RegisteredFunction {
            function: "rooms.handlers.secret".to_owned(),
            timeout: std::time::Duration::from_secs(1),
        }),
        ..Definition::default()
    }
}

/// Endpoints under a policy, with recipes; those at reserved paths override the host's own.
fn contract(definitions: Vec<Definition>, policy: Value, recipes: RecipeBook) -> Dispatcher {
    let catalog = Catalog::shipped();
    let settings: MethodPolicySettings = serde_json::from_value(policy).unwrap();
    let policy = MethodPolicy::new(&settings, &catalog).unwrap().0;
    let overrides: BTreeSet<String> = definitions.iter().filter_map(|definition| definition.path.clone()).collect();
    let around = RegistrationContext { overrides: &overrides, ..RegistrationContext::new(&catalog, &policy, &recipes) };
    let mut registry = Registry::default();
    for definition in definitions {
        let endpoint = Endpoint::register(definition, &around).unwrap();
        registry.insert(Arc::new(endpoint), Arc::new(Silent)).unwrap();
    }
    Dispatcher { policy, registry, recipes: Arc::new(recipes), ..Dispatcher::default() }
}

fn endpoints(definitions: Vec<Definition>) -> Dispatcher {
    contract(definitions, json!({}), RecipeBook::default())
}

fn recipes(text: &str) -> RecipeBook {
    let (book, problems) = recipe::read(section(text), &Catalog::shipped(), &MethodPolicy::default());
    assert!(problems.is_empty(), "{problems}");
    book
}
