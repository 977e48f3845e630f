//! Endpoints as tools and skills: the same checks as for every call, in words that models read.

use std::sync::Arc;

use forecourt_contract::endpoint::{Binding, Definition, EndpointOffer, RegistrationContext};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::{
    Dispatcher, Endpoint, Failure, Handler, Invocation, Method, MethodPolicy, RecipeBook, Registry, Rules,
};
use forecourt_core::identity::BEARER_TOKEN;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Authority, Sender};
use forecourt_surface::endpoint::{self, NAME_CHARS_MAX};
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent, ToolOutput};
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{ScriptedAgent, card, proven};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

struct Room;

impl Handler for Room {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        Box::pin(async move {
            match invocation.input.get("nights") {
                Some(nights) if nights == 0 => Err(Failure::named("no_nights", "Stay for a night at least.")),
                Some(nights) if nights == 9 => Err(Failure::Crashed("secret cause".to_owned())),
                _ => Ok(json!({ "room": invocation.input["room"], "by": invocation.caller.agent_id })),
            }
        })
    }
}

fn definition(path: &str, offers: &[EndpointOffer]) -> Definition {
    Definition {
        method: Some("BOOK".to_owned()),
        path: Some(path.to_owned()),
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
        errors: Some(vec!["no_nights".to_owned()]),
        required_scopes: vec!["booking:room".to_owned()],
        offers: offers.to_vec(),
        binding: Some(Binding::RegisteredFunction { function: "f".to_owned(), timeout: HANDLER_TIME_DEFAULT }),
        ..Definition::default()
    }
}

async fn host(paths: &[(&str, &[EndpointOffer])]) -> MountedHost {
    host_under(Rules { scope_required: true, ..Rules::default() }, paths).await
}

async fn host_under(rules: Rules, paths: &[(&str, &[EndpointOffer])]) -> MountedHost {
    let mut contract = Dispatcher { rules, ..Dispatcher::default() };
    let (policy, recipes) = (MethodPolicy::default(), RecipeBook::default());
    let around = RegistrationContext::new(&contract.catalog, &policy, &recipes);
    let mut registry = Registry::default();
    for (path, offers) in paths {
        let endpoint = Endpoint::register(definition(path, offers), &around).unwrap();
        registry.insert(Arc::new(endpoint), Arc::new(Room)).unwrap();
    }
    contract.registry = registry;
    let bot = resident(card("bot"), ScriptedAgent::saying(["x"]), Vec::new());
    Blueprint { residents: vec![bot], contract: Arc::new(contract), ..Blueprint::default() }.start(None).await
}

fn guest(scope: Value) -> Sender {
    let mut guest = proven("guest", BEARER_TOKEN);
    guest.identities[0].claims.insert("scope".to_owned(), scope);
    guest.authority = Authority::of_evidence(&guest.identities);
    guest
}

async fn call(tool: &Tool, sender: Sender, arguments: Value) -> ToolOutput {
    let call = ToolCall {
        arguments,
        sender,
        hop: 0,
        language: None,
        via: "test",
        gives_tasks: false,
        answered: None,
        visited: None,
        payment: None,
    };
    let events: Vec<ToolEvent> = (tool.call)(call).collect().await;
    let [ToolEvent::Done(called)] = events.as_slice() else { panic!("{events:?}") };
    ToolOutput::clone(called)
}

fn code(called: &ToolOutput) -> &str {
    assert!(called.is_error && !called.text[0].contains("secret"), "{called:?}");
    called.structured["error"]["code"].as_str().unwrap()
}

#[tokio::test]
async fn an_endpoint_is_what_its_file_offers_it_as() {
    let long = format!("/{}", "x".repeat(100));
    let paths: &[(&str, &[EndpointOffer])] = &[
        ("/rooms/{room}", &EndpointOffer::ALL),
        ("/rooms/room", &[EndpointOffer::Tool]),
        ("/suites", &[EndpointOffer::Skill]),
        ("/hidden", &[]),
        (&long, &[EndpointOffer::Tool]),
    ];
    let mounted = host(paths).await;
    let mut tools: Vec<_> =
        endpoint::tools(&mounted.mount.host).into_iter().map(|t| (t.name, t.as_tool, t.as_skill)).collect();
    tools.sort();
    let cut = format!("book_{}", "x".repeat(NAME_CHARS_MAX - 5));
    let named = |name: &str, tool, skill| (name.to_owned(), tool, skill);
    let wanted = [
        named("book_rooms_room", true, false),
        named("book_rooms_room_2", true, true),
        named("book_suites", false, true),
        (cut, true, false),
    ];
    assert_eq!(tools, wanted);
}

#[tokio::test]
async fn base_7_4_a_tool_whose_method_needs_a_token_asks_for_one() {
    let token_required = [Method::parse("BOOK").unwrap()].into();
    let rules = Rules { scope_required: false, token_required, ..Rules::default() };
    let mounted = host_under(rules, &[("/rooms/{room}", &EndpointOffer::ALL)]).await;
    let tools = endpoint::tools(&mounted.mount.host);
    assert!(!tools[0].reads_only && !tools[0].is_idempotent, "as its semantic block says");
    let arguments = json!({"room": "12"});
    let mut signed = guest(json!("booking:room"));
    signed.identities[0].proof.kind = "transport".to_owned();
    for sender in [Sender::anonymous(), signed] {
        let called = call(&tools[0], sender, arguments.clone()).await;
        assert_eq!(code(&called), "oauth-required");
        assert!(
            matches!(called.refusal.unwrap().kind, RefusalKind::Unauthorized { auth_challenges } if auth_challenges.len() == 1)
        );
    }
    let called = call(&tools[0], guest(json!("booking:room")), arguments).await;
    assert_eq!(called.structured, json!({"room": "12", "by": "guest"}));
}

#[tokio::test]
async fn s6_4_a_tool_is_held_to_the_scopes_of_its_endpoint() {
    let mounted = host(&[("/rooms/{room}", &EndpointOffer::ALL)]).await;
    let tools = endpoint::tools(&mounted.mount.host);
    let arguments = json!({"room": "12", "nights": 1});
    let nobody = call(&tools[0], Sender::anonymous(), arguments.clone()).await;
    assert_eq!(code(&nobody), "agent-unauthenticated");
    assert_eq!(nobody.refusal.unwrap().kind(), "unauthorized");
    assert_eq!(code(&call(&tools[0], guest(json!("other:scope")), arguments.clone()).await), "scope-violation");
    for scope in [json!("profile booking:room"), json!(["booking:*"])] {
        let called = call(&tools[0], guest(scope), arguments.clone()).await;
        assert_eq!(called.structured, json!({"room": "12", "by": "guest"}));
    }
}

#[tokio::test]
async fn a_tool_leads_to_its_own_endpoint_alone() {
    let mounted = host(&[("/rooms/{room}", &EndpointOffer::ALL), ("/rooms/attic", &[])]).await;
    let tools = endpoint::tools(&mounted.mount.host);
    let guest = || guest(json!("booking:room"));
    assert_eq!(code(&call(&tools[0], guest(), json!({"room": "attic"})).await), "input-validation-failed");
    assert!(!call(&tools[0], guest(), json!({"room": "cellar"})).await.is_error);
}

#[tokio::test]
async fn what_is_no_object_is_not_taken_for_an_empty_one() {
    let mounted = host(&[("/rooms", &EndpointOffer::ALL)]).await;
    let tools = endpoint::tools(&mounted.mount.host);
    for arguments in [json!([1]), json!("attic"), json!(null)] {
        assert_eq!(code(&call(&tools[0], guest(json!("booking:room")), arguments).await), "input-validation-failed");
    }
}

#[tokio::test]
async fn s13_3_a_tool_is_held_to_the_input_of_its_endpoint_and_fails_in_its_words() {
    let mounted = host(&[("/rooms/{room}", &EndpointOffer::ALL)]).await;
    let tools = endpoint::tools(&mounted.mount.host);
    let guest = || guest(json!("booking:room"));
    for arguments in [
        json!({}),
        json!({"room": ["a"]}),
        json!({"room": "1", "nights": "x"}),
        json!({"room": "1", "more": 1}),
        json!([]),
    ] {
        assert_eq!(code(&call(&tools[0], guest(), arguments).await), "input-validation-failed");
    }
    assert_eq!(code(&call(&tools[0], guest(), json!({"room": "1", "nights": 0})).await), "no_nights");
    assert_eq!(code(&call(&tools[0], guest(), json!({"room": "1", "nights": 9})).await), "handler-exception");
}
