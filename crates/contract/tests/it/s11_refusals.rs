//! Section 11: each refusal comes in its turn and holds what its caller needs.

use forecourt_contract::call::{Identity, LifecycleState};
use forecourt_contract::limits::ECHO_CHARS_MAX;
use forecourt_contract::refusal::{BrokenContract, IdentityRefusal, NotAllowed};
use forecourt_contract::{Call, Dispatcher, Method, Refusal, Rules};
use serde_json::json;

use crate::support::{call, caller, definition, dispatcher, object, pair, policy, run, scopes};

fn host() -> Dispatcher {
    let mut book = definition("BOOK", "/rooms/{room_id}");
    book.required_scopes = vec!["booking:room".into(), "calendar:write".into()];
    dispatcher([book, definition("FETCH", "/rooms/{room_id}")])
}

fn refusal(host: &Dispatcher, call: Call) -> Refusal {
    run(host, call).answer.expect_err("refused")
}

fn names(methods: impl IntoIterator<Item = Method>) -> Vec<String> {
    methods.into_iter().map(|method| method.to_string()).collect()
}

#[test]
fn s11_an_unknown_method_comes_with_suggestions_and_the_catalog() {
    let found = refusal(&host(), call("BUK", "/no/such/order/"));
    let Refusal::Method { method, suggestions, catalog_version } = found else { panic!("{found:?}") };
    assert_eq!((method.as_str(), catalog_version.as_str()), ("BUK", "1.0.0"));
    assert_eq!(suggestions, ["BUY", "BID", "BOOK"].map(str::to_owned));
}

#[test]
fn s11_a_bad_path_comes_with_its_segment() {
    for (path, segment) in [("/rooms/", ""), ("/order/7", "order"), ("rooms", "rooms"), ("/a b", "a b")] {
        let Refusal::Path { segment: found, path: whole, .. } = refusal(&host(), call("BOOK", path)) else {
            panic!("{path}")
        };
        assert_eq!((found.as_str(), whole.as_str()), (segment, path));
    }
}

#[test]
fn s5_3_values_are_not_verbs() {
    for path in ["/rooms/order", "/rooms/index", "/rooms/%6Frder", "/rooms/check-in"] {
        assert!(run(&host(), call("FETCH", path)).answer.is_ok(), "{path}");
        let other = refusal(&host(), call("LIST", path));
        assert!(matches!(other, Refusal::Path { .. }), "no endpoint of LIST takes it: {other:?}");
    }
    for path in ["/order/7", "/rooms/7/order", "/rooms/order/order"] {
        assert!(matches!(refusal(&host(), call("FETCH", path)), Refusal::Path { .. }), "no endpoint takes {path}");
    }
}

#[test]
fn s11_an_unknown_path_is_not_found() {
    assert_eq!(refusal(&host(), call("BOOK", "/hotels")), Refusal::NotFound(pair("BOOK", "/hotels")));
}

#[test]
fn s11_another_method_of_a_known_path_comes_with_those_it_has() {
    let mut host = host();
    host.policy = policy(json!({
        "disallow": ["FETCH"],
        "redirects": [
            {"from_method": "BUY", "to_method": "BOOK"},
            {"from_method": "RENT", "from_path": "/x", "to_method": "BOOK"},
        ],
    }));
    let found = refusal(&host, call("LIST", "/rooms/7"));
    let Refusal::NotAllowed { pair: at, why, allowed_methods, redirects } = found else { panic!("{found:?}") };
    assert_eq!((at, why), (pair("LIST", "/rooms/7"), NotAllowed::OtherMethods));
    assert_eq!(names(allowed_methods), ["BOOK"], "what the policy refuses is not offered");
    assert_eq!(names(redirects.keys().cloned()), ["BUY"]);
}

#[test]
fn s11_what_the_policy_refuses_is_not_allowed() {
    let mut host = host();
    host.policy = policy(json!({"disallow": ["BOOK"]}));
    let found = refusal(&host, call("BOOK", "/rooms/7"));
    assert!(matches!(found, Refusal::NotAllowed { why: NotAllowed::Policy, .. }), "{found:?}");
}

#[test]
fn s9_2_a_word_that_is_refused_is_named_and_not_what_it_stands_for() {
    let mut host = host();
    host.policy = policy(json!({"disallow": ["POST"]}));
    for (word, refused) in [("POST", "POST"), ("CREATE", "CREATE")] {
        let found = refusal(&host, call(word, "/rooms/7"));
        let Refusal::NotAllowed { pair, why, .. } = &found else { panic!("{found:?}") };
        assert_eq!(pair.method.as_str(), refused, "{found}");
        assert_eq!(*why == NotAllowed::Policy, word == "POST", "CREATE itself is let in");
    }
}

#[test]
fn s11_the_hosts_own_paths_are_known_to_other_methods() {
    let host = host();
    let found = refusal(&host, call("BOOK", "/methods"));
    let Refusal::NotAllowed { allowed_methods, .. } = found else { panic!("{found:?}") };
    assert_eq!(names(allowed_methods), ["DISCOVER"]);
    let root = refusal(&host, call("BOOK", "/"));
    assert!(matches!(&root, Refusal::NotAllowed { allowed_methods, .. } if allowed_methods.len() == 18), "{root:?}");
    let native = refusal(&host, call("QUERY", "/"));
    assert!(matches!(native, Refusal::NotAllowed { why: NotAllowed::NotImplemented, .. }), "{native:?}");
}

#[test]
fn an_unknown_name_is_refused_after_the_route() {
    let unknown = |path: &str| {
        let mut stranger = call("BOOK", path);
        stranger.caller.identity = Identity::Unrecognised;
        refusal(&host(), stranger)
    };
    assert_eq!(unknown("/rooms/7"), Refusal::Identity(IdentityRefusal::Unknown));
    assert!(matches!(unknown("/hotels"), Refusal::NotFound(_)));
}

#[test]
fn s8_7_nobody_calls_namelessly_where_scopes_are_required() {
    let nameless = Call { caller: Default::default(), ..call("FETCH", "/rooms/7") };
    let mut host = host();
    assert!(run(&host, nameless.clone()).answer.is_ok());
    host.rules.scope_required = true;
    assert_eq!(refusal(&host, nameless), Refusal::Identity(IdentityRefusal::Missing));
}

#[test]
fn agents_out_of_service_are_refused_and_deprecated_ones_served() {
    let with = |standing| {
        let mut call = call("FETCH", "/rooms/7");
        call.caller.standing = standing;
        run(&host(), call).answer
    };
    assert!(matches!(with(LifecycleState::Suspended), Err(Refusal::Standing { is_final: false, .. })));
    assert!(matches!(with(LifecycleState::Retired), Err(Refusal::Standing { is_final: true, .. })));
    assert!(with(LifecycleState::Deprecated).is_ok());
}

#[test]
fn s13_2_bad_input_comes_with_its_field() {
    let bad = Call { body: object(json!({"n": "x"})), ..call("BOOK", "/rooms/7") };
    let found = refusal(&host(), bad);
    let Refusal::Input { violation, pair: at } = found else { panic!("{found:?}") };
    assert_eq!((violation.field.as_str(), violation.schema_path.as_str()), ("/n", "/properties/n/type"));
    assert_eq!(at, pair("BOOK", "/rooms/7"));
    let query = Call { query: Some("zzz=1".into()), ..call("BOOK", "/rooms/7") };
    assert!(matches!(refusal(&host(), query), Refusal::Input { violation, .. } if violation.field == "/zzz"));
}

#[test]
fn s6_4_missing_scopes_are_listed() {
    let held = Call { caller: caller("booking:*"), ..call("BOOK", "/rooms/7") };
    let found = refusal(&host(), held);
    let Refusal::Scope { missing, .. } = found else { panic!("{found:?}") };
    assert_eq!(missing, scopes("calendar:write").iter().cloned().collect::<Vec<_>>());
}

#[test]
fn a_claim_narrows_what_is_held_and_never_widens_it() {
    let with = |declared: &str, claimed: &str| {
        let call = Call { caller: caller(declared), ..call("BOOK", "/rooms/7") };
        run(&host(), call.claiming(scopes(claimed))).answer
    };
    assert!(with("booking:*,calendar:*", "booking:room,calendar:write").is_ok());
    let narrowed = with("booking:*,calendar:*", "booking:room");
    assert!(matches!(&narrowed, Err(Refusal::Scope { missing, .. }) if missing.len() == 1), "{narrowed:?}");
    let widened = with("booking:room", "booking:room,calendar:write");
    assert!(matches!(&widened, Err(Refusal::ScopeClaim { excess, .. }) if excess.len() == 1), "{widened:?}");
    assert!(matches!(with("", "booking:*"), Err(Refusal::ScopeClaim { .. })));
}

#[test]
fn s8_7_a_claim_is_needed_where_scopes_are_required() {
    let mut host = host();
    host.rules = Rules { scope_required: true, ..host.rules.clone() };
    let silent = Call { caller: caller("booking:room,calendar:write"), ..call("BOOK", "/rooms/7") };
    let required: Vec<_> = scopes("booking:room,calendar:write").iter().cloned().collect();
    let found = refusal(&host, silent.clone());
    assert_eq!(found, Refusal::ScopeAbsent { pair: pair("BOOK", "/rooms/7"), required });
    assert_eq!(found.recovery().unwrap().to_string(), "claim booking:room, calendar:write");
    assert!(run(&host, silent.claiming(scopes("booking:room,calendar:write"))).answer.is_ok());
}

#[test]
fn s16_4_one_sided_consent_to_wildcards_is_said() {
    let answer = |agent: bool, server: bool, path: &str| {
        let mut host = host();
        host.rules.wildcards_accepted = server;
        let mut call = call("LIST", path);
        call.caller.wildcards = agent;
        refusal(&host, call)
    };
    for (agent, server) in [(true, false), (false, true)] {
        assert!(matches!(answer(agent, server, "/hotels"), Refusal::Wildcards(_)));
        let other = answer(agent, server, "/rooms/7");
        assert!(
            matches!(other, Refusal::NotAllowed { why: NotAllowed::OtherMethods, .. }),
            "the path says more: {other:?}"
        );
        let root = answer(agent, server, "/");
        assert!(matches!(root, Refusal::NotAllowed { why: NotAllowed::NotImplemented, .. }), "{root:?}");
        let mut host = host();
        host.rules.wildcards_accepted = server;
        let mut suspended = call("LIST", "/hotels");
        (suspended.caller.wildcards, suspended.caller.standing) = (agent, LifecycleState::Suspended);
        assert!(matches!(refusal(&host, suspended), Refusal::Standing { .. }));
        host.policy = policy(json!({"disallow": ["LIST"]}));
        let mut refused = call("LIST", "/hotels");
        refused.caller.wildcards = agent;
        assert!(matches!(refusal(&host, refused), Refusal::NotAllowed { why: NotAllowed::Policy, .. }));
    }
    for both in [true, false] {
        assert!(matches!(answer(both, both, "/hotels"), Refusal::NotFound(_)));
        assert!(matches!(answer(both, both, "/rooms/7"), Refusal::NotAllowed { .. }));
    }
}

#[test]
fn s13_2_checks_come_in_one_order() {
    // Everything is wrong with this call; each step puts one thing right.
    let mut host = host();
    host.policy = policy(json!({"disallow": ["BOOK"]}));
    let mut wrong = call("BUK", "/order/");
    wrong.caller.identity = Identity::Unrecognised;
    wrong.caller.standing = LifecycleState::Suspended;
    wrong.body = object(json!({"n": "x"}));
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::Method { .. }));
    wrong.method = "BOOK".into();
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::Path { .. }));
    wrong.path = "/hotels".into();
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::NotFound(_)));
    wrong.path = "/rooms/7".into();
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::Identity(_)));
    wrong.caller.identity = Identity::Recognised;
    host.rules.token_required = [Method::parse("BOOK").unwrap()].into();
    assert_eq!(refusal(&host, wrong.clone()), Refusal::Identity(IdentityRefusal::NoToken));
    host.rules.token_required.clear();
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::Standing { .. }));
    wrong.caller.standing = LifecycleState::Active;
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::NotAllowed { .. }));
    host.policy = policy(json!({}));
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::Input { .. }));
    wrong.body.clear();
    assert!(matches!(refusal(&host, wrong.clone()), Refusal::Scope { .. }));
    wrong.caller = caller("*:*");
    assert!(run(&host, wrong).answer.is_ok());
}

#[test]
fn s11_each_refusal_says_what_to_change_and_nothing_of_the_inside() {
    let said = |call: Call| refusal(&host(), call).to_string();
    assert_eq!(said(call("BUK", "/rooms/7")), "`BUK` is not a method of catalog 1.0.0; did you mean BUY, BID, BOOK?");
    assert_eq!(said(call("FROBNICATE", "/")), "`FROBNICATE` is not a method of catalog 1.0.0");
    let leaking = "a segment spells the method `ORDER`: the method goes before the path (at `order`)";
    assert_eq!(said(call("BOOK", "/order/7")), leaking);
    assert_eq!(said(call("BOOK", "/hotels")), "nothing is at /hotels");
    assert_eq!(said(call("LIST", "/rooms/7")), "/rooms/7 is not there for LIST; /rooms/7 takes BOOK, FETCH");
    assert_eq!(said(call("BOOK", "/rooms/7")), "the call needs more scopes: booking:room, calendar:write");
    let bad = Call { body: object(json!({"n": "x"})), ..call("FETCH", "/rooms/7") };
    assert_eq!(said(bad), "the value is not of type \"integer\" (at /n)");
    let (pair, cause) = (pair("BOOK", "/x"), "disk at dawn".to_owned());
    let broken = [BrokenContract::Output, BrokenContract::UndeclaredError, BrokenContract::Crashed]
        .map(|kind| Refusal::Broken { pair: pair.clone(), kind, cause: cause.clone() });
    let late = Refusal::Late { pair: pair.clone(), cause: cause.clone() };
    for refusal in broken.into_iter().chain([late, Refusal::Busy { pair, cause }]) {
        assert_eq!(refusal.cause(), Some("disk at dawn"));
        assert!(!refusal.to_string().contains("disk"));
    }
}

#[test]
fn what_a_caller_sent_is_repeated_in_part_only() {
    let long = |chars: usize| refusal(&host(), call(&"Q".repeat(chars), "/")).to_string();
    assert!(long(ECHO_CHARS_MAX).contains(&"Q".repeat(ECHO_CHARS_MAX)));
    assert!(!long(ECHO_CHARS_MAX + 1).contains(&"Q".repeat(ECHO_CHARS_MAX + 1)));
}
