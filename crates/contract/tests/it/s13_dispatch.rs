//! Sections 4.4, 6.1, 6.5, 9.2 and 13.2: what a call meets on its way to the handler and back.

use std::sync::Arc;

use forecourt_contract::call::{Identity, LifecycleState};
use forecourt_contract::endpoint::{Binding, DeprecatedSettings};
use forecourt_contract::limits::HANDLER_TIME_DEFAULT;
use forecourt_contract::negotiation::{
    ContractRefusal, ContractRequest, ContractStamp, Negotiation, NegotiationOrigin, ServingContract,
};
use forecourt_contract::recipe::Run;
use forecourt_contract::refusal::FailedStep;
use forecourt_contract::refusal::{BrokenContract, IdentityRefusal};
use forecourt_contract::registry::{MatchedEndpoint, RegisteredEndpoint};
use forecourt_contract::{
    Call, CallTarget, Caller, Catalog, Dispatcher, Endpoint, Failure, HostApi, HostHandle, HostServices, Method,
    Native, Refusal, Tier, Violation, recipe,
};
use forecourt_core::Sender;
use forecourt_core::identity::BEARER_TOKEN;
use forecourt_testkit::proven;
use futures::FutureExt;
use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{
    Ends, call, caller, definition, dispatcher, handler, object, pair, policy, register, register_with, run, scopes,
    section,
};

fn ends(end: fn(forecourt_contract::Invocation) -> Result<Value, Failure>) -> Dispatcher {
    let mut host = dispatcher([]);
    let mut book = definition("BOOK", "/room");
    book.output_schema = Some(json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}));
    host.registry.insert(Arc::new(register(book).unwrap()), Arc::new(Ends(end))).unwrap();
    host
}

/// Says which pair it was asked for.
struct Says;

impl Native for Says {
    fn answer(&self, _: Call, target: CallTarget) -> BoxFuture<'_, Result<Value, Refusal>> {
        async move { Ok(json!(format!("{} {}", target.method, target.path.as_str()))) }.boxed()
    }
}

impl HostApi for Says {
    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        let services = Arc::new(HostServices::default());
        services.publish_native(self);
        Some(services)
    }
}

#[test]
fn s6_1_native_pairs_are_answered_by_what_is_bound_to_them_and_by_nothing_else() {
    let host = dispatcher([]);
    assert!(matches!(run(&host, call("QUERY", "/")).answer, Err(Refusal::NotAllowed { .. })));
    let says = Arc::new(Says);
    host.host.bind(&says);
    assert_eq!(run(&host, call("QUERY", "/")).answer, Ok(json!("QUERY /")));
    assert!(matches!(run(&host, call("QUERY", "/x")).answer, Err(Refusal::NotFound(_))));
    let unknown = Call { caller: Caller { identity: Identity::Unrecognised, ..caller("") }, ..call("QUERY", "/") };
    assert!(matches!(run(&host, unknown).answer, Err(Refusal::Identity(_))));
    drop(says);
    assert!(matches!(run(&host, call("QUERY", "/")).answer, Err(Refusal::NotAllowed { .. })));
}

fn broken(host: &Dispatcher) -> BrokenContract {
    match run(host, call("BOOK", "/room")).answer {
        Err(Refusal::Broken { kind, .. }) => kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn s13_3_a_result_that_was_not_promised_is_ours_to_answer_for() {
    assert_eq!(broken(&ends(|_| Ok(json!({"more": 1})))), BrokenContract::Output);
    assert_eq!(broken(&ends(|_| Ok(json!(null)))), BrokenContract::Output);
    assert!(run(&ends(|_| Ok(json!({"id": "1", "more": 1}))), call("BOOK", "/room")).answer.is_ok());
}

#[test]
fn s6_4_only_declared_errors_are_told() {
    let declared =
        run(&ends(|_| Err(Failure::named("room_unavailable", "All rooms are taken."))), call("BOOK", "/room"));
    let Err(Refusal::Declared { code, message, details, .. }) = declared.answer else { panic!() };
    assert_eq!((code.as_str(), message.as_str(), details), ("room_unavailable", "All rooms are taken.", Value::Null));
    assert_eq!(broken(&ends(|_| Err(Failure::named("secret_state", "x")))), BrokenContract::UndeclaredError);
}

#[test]
fn a_handler_that_fails_or_panics_ends_its_call_alone() {
    assert_eq!(broken(&ends(|_| Err(Failure::Crashed("disk".into())))), BrokenContract::Crashed);
    let host = ends(|_| panic!("no such luck"));
    assert_eq!(broken(&host), BrokenContract::Crashed);
    assert_eq!(broken(&host), BrokenContract::Crashed, "and the next call is served");
}

#[test]
fn an_endpoint_that_is_full_or_slow_breaks_no_promise() {
    let ended = |end| run(&ends(end), call("BOOK", "/room")).answer.unwrap_err();
    let (pair, cause) = (pair("BOOK", "/room"), "queue".to_owned());
    let busy = ended(|_| Err(Failure::Busy("queue".into())));
    assert_eq!((&busy, busy.was_begun()), (&Refusal::Busy { pair: pair.clone(), cause: cause.clone() }, false));
    let late = ended(|_| Err(Failure::Late("queue".into())));
    assert_eq!((&late, late.was_begun()), (&Refusal::Late { pair, cause }, true));
}

#[test]
fn s12_1_a_handler_may_find_that_a_scope_is_missing() {
    let host = ends(|_| Err(Failure::Unauthorised(scopes("a:b").iter().cloned().collect())));
    assert!(
        matches!(run(&host, call("BOOK", "/room")).answer, Err(Refusal::Scope { missing, .. }) if missing.len() == 1)
    );
}

#[test]
fn a_handler_may_find_what_no_schema_says() {
    let found = Violation::new("/id", "this can't be used");
    let host = ends(|_| Err(Failure::Input(Violation::new("/id", "this can't be used"))));
    assert!(
        matches!(run(&host, call("BOOK", "/room")).answer, Err(Refusal::Input { violation, .. }) if violation == found)
    );
}

fn failed_step() -> FailedStep {
    let text = "[[recipe]]\nname = \"both\"\nversion = 3\nsteps = [{ method = \"QUERY\", capture_as = \"facts\" }, \
                { method = \"PLAN\" }]";
    let (recipes, _) = recipe::read(section(text), &Catalog::shipped(), &policy(json!({})));
    let mut run = Run::new(Arc::clone(recipes.get("both").unwrap()), object(json!({})));
    run.record(json!({"rain": true}));
    run.fail(Method::parse("PLAN").unwrap(), Refusal::ScopeAbsent { pair: pair("PLAN", "/"), required: Vec::new() })
}

#[test]
fn s12_1_a_failed_step_is_told_with_everything_before_it() {
    assert_eq!(
        failed_step().details(499, json!({"code": "x"})),
        json!({
            "recipe": "both", "recipe_version": "3", "failed_step": 1, "method": "PLAN", "underlying_status": 499,
            "underlying": {"code": "x"}, "captured_outputs": {"facts": {"rain": true}},
        })
    );
}

#[test]
fn s12_1_a_failed_step_is_told_where_it_is_declared() {
    let fails: fn(_) -> _ = |_| Err(Failure::Step(Box::new(failed_step())));
    assert_eq!(broken(&ends(fails)), BrokenContract::UndeclaredError);
    let mut declares = definition("BOOK", "/room");
    declares.errors = Some(vec!["composition_failed".into()]);
    let mut host = dispatcher([]);
    host.registry.insert(Arc::new(register(declares).unwrap()), Arc::new(Ends(fails))).unwrap();
    let refusal = run(&host, call("BOOK", "/room")).answer.unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.to_string().as_str()),
        ("composition-failed", "step 1 of the composition failed: say which scopes the call claims")
    );
}

#[test]
fn s13_2_the_handler_sees_only_what_was_checked() {
    let host = dispatcher([definition("BOOK", "/rooms/{room_id}")]);
    let mut call = Call { query: Some("n=5".into()), ..call("BOOK", "/rooms/caf%C3%A9") };
    call.caller = caller("booking:*");
    let answer = run(&host, call.claiming(scopes("booking:room"))).answer.unwrap();
    assert_eq!(answer, json!({"input": {"n": 5, "room_id": "caf\u{e9}"}, "scopes": ["booking:room"]}));
}

#[test]
fn s9_2_an_alias_goes_on_under_its_method_and_is_remembered() {
    let outcome = run(&dispatcher([definition("FETCH", "/room")]), call("GET", "/room"));
    assert!(outcome.answer.is_ok());
    let named = |method: Option<Method>| method.unwrap().to_string();
    assert_eq!((named(outcome.trail.requested), named(outcome.trail.method)), ("GET".into(), "FETCH".into()));
}

#[test]
fn s9_2_a_redirect_is_served_as_its_target() {
    let mut host = dispatcher([definition("RESERVE", "/rooms")]);
    let redirect = json!({"from_method": "BOOK", "from_path": "/room", "to_method": "RESERVE", "to_path": "/rooms"});
    host.policy = policy(json!({"redirects": [redirect]}));
    let outcome = run(&host, call("BOOK", "/room"));
    assert!(outcome.answer.is_ok());
    assert_eq!(outcome.trail.path.as_deref(), Some("/rooms"));
    for refused in ["BOOK", "RESERVE"] {
        host.policy = policy(json!({"disallow": [refused], "redirects": [redirect]}));
        assert!(run(&host, call("BOOK", "/room")).answer.is_err(), "neither end of a redirect gets around the policy");
    }
}

#[test]
fn s3_6_a_legacy_verb_brings_its_action_and_key() {
    let mut execute = definition("EXECUTE", "/jobs");
    execute.input_schema = Some(json!({"type": "object", "additionalProperties": false,
        "properties": {"action": {"type": "string"}, "idempotency_key": {"type": "string"}}}));
    let mut host = dispatcher([execute]);
    host.policy = policy(json!({"aliases": {}, "legacy": "*"}));
    let input = |call: Call| run(&host, call).answer.unwrap()["input"].clone();
    assert_eq!(input(call("DELETE", "/jobs")), json!({"action": "delete"}));
    let said = Call { body: object(json!({"action": "archive"})), ..call("PATCH", "/jobs") };
    assert_eq!(input(said), json!({"action": "archive"}), "what the caller says stands");
    let put = Call { idempotency_key: Some("k1".into()), ..call("PUT", "/jobs") };
    assert_eq!(input(put), json!({"idempotency_key": "k1"}));
}

#[test]
fn s6_1_every_pair_has_one_tier() {
    let host = dispatcher([definition("BOOK", "/room"), definition("QUERY", "/methods")]);
    let tier = |method: &str, path: &str| run(&host, call(method, path)).trail.tier;
    assert_eq!(tier("BOOK", "/room"), Some(Tier::Registered));
    assert_eq!(tier("QUERY", "/methods"), Some(Tier::Registered));
    assert_eq!(tier("DISCOVER", "/methods"), Some(Tier::Native));
    assert_eq!(tier("PROPOSE", "/"), Some(Tier::Native));
    assert_eq!(tier("LIST", "/room"), Some(Tier::Unregistered));
    assert_eq!(tier("LIST", "/nothing"), Some(Tier::Unregistered));
    assert_eq!(tier("NOSUCH", "/nothing"), None, "no pair yet");
    assert_eq!(serde_json::to_value(Tier::Registered).unwrap(), "B");
}

#[test]
fn s5_9_an_override_is_the_operators() {
    let mut host = dispatcher([]);
    let tools = register_with(definition("DISCOVER", "/tools"), &Default::default(), &["/tools"]).unwrap();
    host.registry.insert(Arc::new(tools), handler()).unwrap();
    let outcome = run(&host, call("DISCOVER", "/tools"));
    assert!(outcome.answer.is_ok());
    assert_eq!(outcome.trail.tier, Some(Tier::Registered));
}

/// A contract with one agent.
struct Agreement(RegisteredEndpoint);

impl Negotiation for Agreement {
    fn contract_for<'a>(
        &'a self,
        asked: ContractRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<ServingContract>, ContractRefusal>> {
        assert_eq!(asked.call.caller.identity, Identity::Recognised, "nobody else is looked up");
        let mine = asked.call.caller.agent_id.as_deref() == Some("mine")
            && ["/suite", "/suite/order"].contains(&asked.path.as_str());
        let is_leak = asked.path.as_str().ends_with("/order");
        assert_eq!(asked.may_be_new, !is_leak, "no contract is made for a path that spells a method");
        let found = (mine && *asked.method == self.0.endpoint.method).then(|| ServingContract {
            matched: MatchedEndpoint { registered: self.0.clone(), values: Vec::new() },
            stamp: Arc::new(ContractStamp {
                synthesis_id: "syn-1".into(),
                contract_hash: "0".repeat(64),
                negotiation_origin: NegotiationOrigin::Propose,
                is_new: false,
            }),
        });
        let presented = asked.call.contract.presented.clone().filter(|_| found.is_none());
        let refused = presented.map(|synthesis_id| ContractRefusal::Unknown { synthesis_id });
        async move { refused.map_or(Ok(found), Err) }.boxed()
    }
}

/// A host that has services and nothing else.
struct Services(Arc<HostServices>);

impl HostApi for Services {
    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        Some(self.0.clone())
    }
}

#[test]
fn s6_1_a_contract_is_with_one_caller() {
    let mut dispatcher = dispatcher([definition("BOOK", "/room")]);
    let endpoint = Arc::new(register(definition("RENT", "/suite")).unwrap());
    let services = Arc::new(HostServices::new(HostHandle::default()));
    services.publish_negotiation(Arc::new(Agreement(RegisteredEndpoint::new(endpoint, handler()))));
    let host = Arc::new(Services(services));
    dispatcher.host = HostHandle::default();
    dispatcher.host.bind(&host);
    let mut mine = call("RENT", "/suite");
    mine.caller.agent_id = Some("mine".into());
    let outcome = run(&dispatcher, mine.clone());
    assert!(outcome.answer.is_ok());
    assert_eq!(outcome.trail.tier, Some(Tier::Negotiated));
    assert_eq!(outcome.trail.contract.unwrap().synthesis_id, "syn-1");
    let bad = Call { body: object(json!({"zzz": 1})), ..mine.clone() };
    assert!(matches!(run(&dispatcher, bad).answer, Err(Refusal::Input { .. })), "and held to the same checks");
    assert!(matches!(run(&dispatcher, call("RENT", "/suite")).answer, Err(Refusal::NotFound(_))), "others see nothing");
    let mut stranger = mine.clone();
    stranger.caller.identity = Identity::Anonymous;
    assert!(matches!(run(&dispatcher, stranger.clone()).answer, Err(Refusal::NotFound(_))), "nor do strangers");
    stranger.contract.presented = Some("syn-1".into());
    assert!(matches!(run(&dispatcher, stranger).answer, Err(Refusal::Identity(_))));
    let mut presented = call("BOOK", "/room");
    presented.contract.presented = Some("syn-2".into());
    let refused = run(&dispatcher, presented).answer.unwrap_err();
    assert_eq!(refused.kind(), "contract-not-found", "what is presented is looked up, whatever is there");
}

#[test]
fn s5_1_a_value_may_spell_a_method_where_a_contract_takes_it() {
    let mut dispatcher = dispatcher([definition("BOOK", "/room")]);
    let endpoint = Arc::new(register(definition("RENT", "/suite")).unwrap());
    let services = Arc::new(HostServices::new(HostHandle::default()));
    let host = Arc::new(Services(services));
    dispatcher.host = HostHandle::default();
    dispatcher.host.bind(&host);
    let mut mine = call("RENT", "/suite/order");
    mine.caller.agent_id = Some("mine".into());
    let is_no_path = |call: &Call| {
        let answer = run(&dispatcher, call.clone()).answer;
        matches!(answer, Err(Refusal::Path { segment, .. }) if segment == "order")
    };
    assert!(is_no_path(&mine), "nobody negotiates here");
    host.0.publish_negotiation(Arc::new(Agreement(RegisteredEndpoint::new(endpoint, handler()))));
    let outcome = run(&dispatcher, mine.clone());
    assert!(outcome.answer.is_ok());
    assert_eq!((outcome.trail.tier, outcome.trail.path.as_deref()), (Some(Tier::Negotiated), Some("/suite/order")));
    assert!(is_no_path(&call("RENT", "/suite/order")), "of others it is a fault of the call");
    assert!(is_no_path(&Call { path: "/room/order".into(), ..mine.clone() }), "and where no contract takes it");
    let mut asks = Call { path: "/room/order".into(), ..mine.clone() };
    asks.contract.allows_new = true;
    asks.caller.standing = LifecycleState::Suspended;
    assert!(is_no_path(&asks), "before all that is wrong with its caller");
    let mut stranger = mine.clone();
    stranger.caller.identity = Identity::Anonymous;
    stranger.contract.presented = Some("syn-1".into());
    assert!(is_no_path(&stranger));
}

#[test]
fn s4_4_a_deprecated_method_is_served_and_said_to_be_so() {
    let mut host = dispatcher([definition("BOOK", "/room")]);
    let book = json!({"deprecated_in": "1.1.0", "removed_in": "2.0.0", "successor": "RESERVE"});
    let text = json!({"version": "1.1.0", "verbs": {"BOOK": book, "RESERVE": {}}}).to_string();
    host.catalog = Arc::new(Catalog::read(text.as_bytes()).unwrap().with_floor());
    let outcome = run(&host, call("BOOK", "/room"));
    assert!(outcome.answer.is_ok());
    assert_eq!(outcome.trail.method_notice.as_deref(), Some("deprecated; successor=RESERVE; removed_in=2.0.0"));
    assert!(run(&host, call("BOOK", "/none")).trail.method_notice.is_some(), "failures say so too");
    host.policy = policy(json!({"redirects": [{"from_method": "BOOK", "to_method": "RESERVE"}]}));
    assert!(run(&host, call("BOOK", "/room")).trail.method_notice.is_some(), "the one that was called");
    assert_eq!(run(&host, call("RESERVE", "/room")).trail.method_notice, None);
}

#[test]
fn s6_5_a_deprecated_endpoint_says_so_on_failure_too() {
    let mut old = definition("BOOK", "/room");
    old.deprecated =
        Some(DeprecatedSettings { deprecated_in: "2".into(), removed_in: Some("3".into()), successor: None });
    let host = dispatcher([old]);
    let notice = |call: Call| run(&host, call).trail.endpoint_notice;
    assert_eq!(notice(call("BOOK", "/room")).as_deref(), Some("deprecated; removed_in=3"));
    assert!(notice(Call { body: object(json!({"zzz": 1})), ..call("BOOK", "/room") }).is_some());
    assert_eq!(notice(call("LIST", "/room")), None, "another method is another endpoint");
}

/// A host with `BOOK /room`, and compositions of it: `PURCHASE /stay`, and `PLAN /journey` of that.
fn journeys() -> Dispatcher {
    let mut host = dispatcher([]);
    let steps = r#"[{ method = "BOOK", path = "/room" }, { method = "QUERY" }, { method = "BUY", path = "/none" }]"#;
    let text = format!("[[recipe]]\nname = \"both\"\nsteps = {steps}");
    // It leads back to itself besides, which loading refuses.
    let all = r#"[{ method = "PURCHASE", path = "/stay" }, { method = "PLAN", path = "/journey" }]"#;
    let text = format!("{text}\n[[recipe]]\nname = \"all\"\nsteps = {all}");
    let (recipes, _) = recipe::read(section(&text), &host.catalog, &host.policy);
    let mut step = definition("BOOK", "/room");
    step.required_scopes = vec!["booking:room".into()];
    let mut whole = definition("PURCHASE", "/stay");
    whole.required_scopes = vec!["payments:charge".into()];
    let mut outermost = definition("PLAN", "/journey");
    for (endpoint, recipe) in [(&mut whole, "both"), (&mut outermost, "all")] {
        endpoint.errors = Some(vec!["composition_failed".into()]);
        endpoint.binding = Some(Binding::Composition { recipe: recipe.into(), timeout: HANDLER_TIME_DEFAULT });
    }
    let made = |definition| register_with(definition, &recipes, &[]).unwrap();
    for endpoint in [register(step).unwrap(), made(whole), made(outermost)] {
        host.registry.insert(Arc::new(endpoint), handler()).unwrap();
    }
    host.recipes = Arc::new(recipes);
    host
}

#[test]
fn s12_1_what_is_published_of_a_composition_covers_all_of_its_steps_even_when_a_handler_keeps_it() {
    let host = journeys();
    // As handlers do that keep the endpoint that they were made for.
    let kept: Vec<Arc<Endpoint>> = host.registry.iter().map(|registered| Arc::clone(&registered.endpoint)).collect();
    let host = host.sealed();
    for (path, own, all) in [
        ("PLAN /journey", "", "booking:room,payments:charge"),
        ("PURCHASE /stay", "payments:charge", "booking:room,payments:charge"),
        ("BOOK /room", "booking:room", "booking:room"),
    ] {
        let is_it = |endpoint: &Endpoint| format!("{} {}", endpoint.method, endpoint.path) == path;
        let named = |scopes: &[forecourt_contract::Scope]| {
            let mut names: Vec<String> = scopes.iter().map(ToString::to_string).collect();
            names.sort();
            names.join(",")
        };
        let sealed = host.registry.iter().find(|registered| is_it(&registered.endpoint)).unwrap();
        assert_eq!(named(&sealed.endpoint.required_scopes), all, "{path}");
        assert_eq!(named(&sealed.needs.scopes), all, "{path}");
        let before = kept.iter().find(|endpoint| is_it(endpoint)).unwrap();
        assert_eq!(named(&before.required_scopes), own, "{path}: what is kept stays as it was");
    }
}

#[test]
fn base_7_4_a_method_that_needs_a_token_needs_it_as_a_step_too() {
    let method = |name: &str| Method::parse(name).unwrap();
    let called = |host: &Dispatcher, method: &str, path: &str, sender: Sender| {
        let holds = caller("payments:charge,booking:room");
        let caller = Caller { sender: Arc::new(sender), ..holds.clone() }.with_authority(holds.authority().clone());
        run(host, Call { caller, ..call(method, path) }).answer
    };
    let no_token = Err(Refusal::Identity(IdentityRefusal::NoToken));
    let pairs = [("BOOK", "/room"), ("PURCHASE", "/stay"), ("PLAN", "/journey")];
    // QUERY is the host's own, and a step of both compositions.
    for (needed, refused) in [("BOOK", &pairs[..]), ("QUERY", &pairs[1..]), ("PLAN", &pairs[2..]), ("LIST", &[])] {
        let mut host = journeys();
        host.rules.token_required = [method(needed)].into();
        let host = host.sealed();
        for (method, path) in pairs {
            let with = |sender| called(&host, method, path, sender);
            let is_refused = refused.contains(&(method, path));
            assert_eq!(with(Sender::anonymous()) == no_token, is_refused, "{needed}: {method}");
            assert_eq!(with(proven("x", "transport")) == no_token, is_refused, "{needed}: {method}");
            assert!(with(proven("x", BEARER_TOKEN)).is_ok(), "{needed}: {method}");
        }
    }
}

#[test]
fn base_7_4_another_word_for_a_method_does_not_get_around_its_token() {
    let mut host = journeys();
    host.policy = policy(json!({
        "aliases": {"RESERVE": "BOOK"},
        "redirects": [{"from_method": "RENT", "from_path": "/room", "to_method": "BOOK"}],
    }));
    for needed in ["BOOK", "RESERVE", "RENT"] {
        host.rules.token_required = [Method::parse(needed).unwrap()].into();
        for (sent, words) in [("BOOK", &["BOOK"][..]), ("RESERVE", &["BOOK", "RESERVE"]), ("RENT", &["BOOK", "RENT"])] {
            let answer = run(&host, Call { caller: caller("booking:room"), ..call(sent, "/room") }).answer;
            assert_eq!(answer.is_err(), words.contains(&needed), "{sent} where {needed} needs a token: {answer:?}");
        }
    }
}

#[test]
fn s9_2_steps_are_known_by_the_words_that_stand_for_them() {
    let mut host = journeys();
    host.policy = policy(
        json!({"redirects": [{"from_method": "BUY", "from_path": "/none", "to_method": "BOOK", "to_path": "/room"}]}),
    );
    assert_eq!(host.dangling_steps("both"), Vec::<usize>::new());
    host.policy = policy(json!({"redirects": [{"from_method": "BOOK", "to_method": "RENT"}]}));
    assert_eq!(host.dangling_steps("both"), [0, 2]);
}

#[test]
fn s12_1_a_composition_needs_what_its_known_steps_need() {
    let host = journeys();
    assert_eq!(host.dangling_steps("both"), [2], "the root answers QUERY itself");
    let host = host.sealed();
    let with = |declared: &str| run(&host, Call { caller: caller(declared), ..call("PURCHASE", "/stay") }).answer;
    assert!(
        matches!(with("payments:charge"), Err(Refusal::Scope { missing, .. }) if missing[0].as_str() == "booking:room")
    );
    assert!(with("payments:charge,booking:room").is_ok());
    let deep = run(&host, call("PLAN", "/journey")).answer;
    assert!(matches!(deep, Err(Refusal::Scope { missing, .. }) if missing.len() == 2), "however deep they lie");
}

#[test]
fn a_call_may_be_answered_on_any_thread() {
    fn sendable(_: &(impl Send + Sync)) {}
    fn movable(_: &impl Send) {}
    let host = dispatcher([]);
    sendable(&host);
    movable(&host.dispatch(call("BOOK", "/room")));
}

proptest! {
    #[test]
    fn any_call_has_an_outcome(method in "[A-Z]{0,5}|BOOK|GET|query", path in "[/a-z%{}.]{0,12}|/room|/rooms/.{0,8}", query in ".{0,12}") {
        let host = dispatcher([definition("BOOK", "/room"), definition("FETCH", "/rooms/{room_id}")]);
        let outcome = run(&host, Call { query: Some(query), ..call(&method, &path) });
        prop_assert!(outcome.answer.is_ok() || outcome.trail.tier.is_some() || outcome.trail.path.is_none());
    }
}
