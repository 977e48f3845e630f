//! Sections 3.3, 3.6 and 9: which methods are let in, and under which name.

use forecourt_contract::policy::{MethodPolicyError, MethodPolicySettings};
use forecourt_contract::{Catalog, Method, MethodPolicy, endpoint, recipe};
use serde_json::{Value, json};

use crate::support::policy;

fn faults(settings: Value) -> Vec<MethodPolicyError> {
    let settings: MethodPolicySettings = serde_json::from_value(settings).unwrap();
    MethodPolicy::new(&settings, &Catalog::shipped()).expect_err("refused")
}

fn skipped(settings: Value) -> Vec<(String, String)> {
    let settings: MethodPolicySettings = serde_json::from_value(settings).unwrap();
    let (_, skipped) = MethodPolicy::new(&settings, &Catalog::shipped()).unwrap();
    skipped.into_iter().map(|skip| (skip.directive.to_owned(), skip.method)).collect()
}

fn method(name: &str) -> Method {
    Method::parse(name).unwrap()
}

/// What a word stands for, if it is let in.
fn goes_on_as(policy: &MethodPolicy, sent: &str) -> Option<String> {
    let resolved = policy.resolve(sent, &Catalog::shipped())?;
    policy.admits(&resolved.requested, &resolved.method).then(|| resolved.method.to_string())
}

#[test]
fn s3_2_what_is_no_method_resolves_to_nothing() {
    let policy = policy(json!({}));
    for sent in ["query", "QUER", "", "HEAD", "FROBNICATE", "QUERY ", "LEARN", "Q"] {
        assert_eq!(policy.resolve(sent, &Catalog::shipped()), None, "{sent:?}");
    }
}

#[test]
fn s9_2_aliases_do_not_chain_and_lead_to_methods() {
    let chain = faults(json!({"aliases": {"AAA": "BBB", "BBB": "BOOK"}}));
    assert_eq!(chain, [MethodPolicyError::Chain(method("AAA"), method("BBB"))]);
    let circle = faults(json!({"aliases": {"AAA": "BBB", "BBB": "AAA"}}));
    assert_eq!(circle.len(), 2);
    assert!(matches!(faults(json!({"aliases": {"AAA": "AAA"}}))[..], [MethodPolicyError::Chain(..)]));
    assert!(matches!(faults(json!({"aliases": {"AAA": "LEARN"}}))[..], [MethodPolicyError::Nowhere(..)]));
    assert!(matches!(faults(json!({"aliases": {"get": "FETCH"}}))[..], [MethodPolicyError::Name(_)]));
}

#[test]
fn s6_1_what_every_host_answers_itself_is_led_nowhere_else() {
    assert_eq!(faults(json!({"aliases": {"DISCOVER": "FETCH"}})), [MethodPolicyError::Floor(method("DISCOVER"))]);
    let there = json!({"redirects": [
        {"from_method": "QUERY", "from_path": "/", "to_method": "FETCH"},
        {"from_method": "DISCOVER", "from_path": "/methods", "to_method": "LIST"},
    ]});
    assert_eq!(skipped(there), [("redirects".into(), "QUERY".into()), ("redirects".into(), "DISCOVER".into())]);
    let policy = policy(json!({"redirects": [{"from_method": "DISCOVER", "to_method": "LIST"}]}));
    for path in ["/", "/methods", "/contracts"] {
        assert_eq!(policy.redirect(&method("DISCOVER"), path), None, "{path}");
        assert!(policy.redirects_for(path).is_empty(), "{path}");
    }
    assert_eq!(policy.redirect(&method("DISCOVER"), "/rooms"), Some((method("LIST"), "/rooms".into())));
}

#[test]
fn s9_4_legacy_takes_the_five_of_http_only() {
    assert_eq!(faults(json!({"legacy": ["GET", "HEAD"]})), [MethodPolicyError::NotLegacy("HEAD".into())]);
    assert_eq!(faults(json!({"legacy": ["get"]})), [MethodPolicyError::NotLegacy("get".into())]);
    assert!(matches!(faults(json!({"legacy": "ALL"}))[..], [MethodPolicyError::Word { key: "legacy", .. }]));
    assert!(matches!(faults(json!({"allow": "all"}))[..], [MethodPolicyError::Word { key: "allow", .. }]));
}

#[test]
fn s9_4_entries_about_methods_that_are_gone_are_skipped_with_a_word() {
    let settings = json!({
        "allow": ["BOOK", "LEARN"],
        "disallow": ["COLLABORATE", "TRANSFER"],
        "redirects": [{"from_method": "LEARN", "to_method": "QUERY"}, {"from_method": "BOOK", "to_method": "SEND"}],
    });
    let expected = [("allow", "LEARN"), ("disallow", "COLLABORATE"), ("redirects", "LEARN"), ("redirects", "SEND")];
    let found = skipped(settings);
    assert_eq!(found, expected.map(|(directive, method)| (directive.to_owned(), method.to_owned())));
}

#[test]
fn s4_5_a_catalog_without_what_the_verbs_of_http_stand_for_is_served() {
    let small = Catalog::read(br#"{"version": "1.0.0", "verbs": {"FETCH": {}, "BOOK": {}}}"#).unwrap().with_floor();
    let (policy, skipped) = MethodPolicy::new(&MethodPolicySettings::default(), &small).unwrap();
    let skipped: Vec<_> = skipped.iter().map(|skip| (skip.directive, skip.method.as_str())).collect();
    assert_eq!(skipped, ["DELETE", "PATCH", "POST", "PUT"].map(|verb| ("aliases", verb)));
    assert_eq!(policy.to_json()["aliases"], json!({"GET": "FETCH"}));
    assert!(policy.resolve("GET", &small).is_some() && policy.resolve("POST", &small).is_none());
    let own: MethodPolicySettings = serde_json::from_value(json!({"aliases": {"POST": "WRITE"}})).unwrap();
    assert!(MethodPolicy::new(&own, &small).is_err(), "what the operator says has to be right");
}

#[test]
fn s9_2_a_redirect_has_paths_that_are_ones() {
    for wrong in ["room", "/room/", "/order"] {
        let settings = json!({"redirects": [{"from_method": "BOOK", "from_path": wrong, "to_method": "RESERVE"}]});
        assert!(matches!(faults(settings)[..], [MethodPolicyError::Path(..)]), "{wrong}");
    }
}

#[test]
fn embedded_methods_are_never_refused() {
    let settings = json!({"allow": ["BOOK"], "disallow": ["QUERY"]});
    assert_eq!(skipped(settings.clone()), [("disallow".to_owned(), "QUERY".to_owned())]);
    let policy = policy(settings);
    assert_eq!(goes_on_as(&policy, "QUERY").as_deref(), Some("QUERY"));
    assert_eq!(goes_on_as(&policy, "BOOK").as_deref(), Some("BOOK"));
    assert_eq!(goes_on_as(&policy, "RESERVE"), None, "not on the list");
}

#[test]
fn s9_2_disallow_is_stronger_than_allow() {
    let policy = policy(json!({"allow": ["BOOK", "TRANSFER"], "disallow": ["TRANSFER"]}));
    assert_eq!(goes_on_as(&policy, "TRANSFER"), None);
}

#[test]
fn s9_2_disallow_is_tested_on_both_the_word_and_the_method() {
    let by_word = policy(json!({"disallow": ["PATCH"]}));
    assert_eq!(goes_on_as(&by_word, "PATCH"), None);
    assert_eq!(goes_on_as(&by_word, "MODIFY").as_deref(), Some("MODIFY"));
    let by_method = policy(json!({"disallow": ["MODIFY"]}));
    assert_eq!((goes_on_as(&by_method, "PATCH"), goes_on_as(&by_method, "MODIFY")), (None, None));
    let by_alias = policy(json!({"aliases": {"HIRES": "HIRE"}, "disallow": ["HIRES"]}));
    assert_eq!((goes_on_as(&by_alias, "HIRES"), goes_on_as(&by_alias, "HIRE").is_some()), (None, true));
}

#[test]
fn s9_2_the_verbs_of_http_are_aliases_unless_the_operator_says_otherwise() {
    let seeded = policy(json!({}));
    for (sent, meant) in
        [("GET", "FETCH"), ("POST", "CREATE"), ("PUT", "REPLACE"), ("DELETE", "REMOVE"), ("PATCH", "MODIFY")]
    {
        assert_eq!(goes_on_as(&seeded, sent).as_deref(), Some(meant));
    }
    let other = policy(json!({"aliases": {"GET": "QUERY"}}));
    assert_eq!((goes_on_as(&other, "GET").as_deref(), goes_on_as(&other, "POST")), (Some("QUERY"), None));
}

#[test]
fn s3_6_legacy_verbs_are_reframed_where_no_alias_is_left() {
    let opted = policy(json!({"aliases": {}, "legacy": "*"}));
    let resolved = |sent: &str| opted.resolve(sent, &Catalog::shipped()).unwrap();
    assert_eq!(resolved("GET").method, method("QUERY"));
    assert_eq!(resolved("POST").method, method("EXECUTE"));
    assert!(resolved("PUT").is_keyed && resolved("PUT").method == method("EXECUTE"));
    assert_eq!(resolved("DELETE").added["action"], "delete");
    assert_eq!(resolved("PATCH").added["action"], "modify");
    let one = policy(json!({"aliases": {}, "legacy": ["GET"]}));
    assert_eq!(one.resolve("POST", &Catalog::shipped()), None, "not opted in");
    assert_eq!(policy(json!({"aliases": {}})).resolve("GET", &Catalog::shipped()), None);
}

#[test]
fn s3_3_custom_methods_are_methods_of_this_host() {
    let policy = policy(json!({"custom": ["FROBNICATE"], "aliases": {"FROB": "FROBNICATE"}, "allow": ["FROBNICATE"]}));
    assert_eq!(goes_on_as(&policy, "FROBNICATE").as_deref(), Some("FROBNICATE"));
    assert_eq!(goes_on_as(&policy, "FROB").as_deref(), Some("FROBNICATE"));
    assert!(matches!(faults(json!({"custom": ["frob-nicate"]}))[..], [MethodPolicyError::Name(_)]));
}

#[test]
fn s9_2_redirects_apply_at_their_path_or_everywhere() {
    let policy = policy(json!({"redirects": [
        {"from_method": "BOOK", "from_path": "/room", "to_method": "RESERVE", "to_path": "/rooms"},
        {"from_method": "BUY", "to_method": "PURCHASE"},
    ]}));
    let to =
        |name: &str, path: &str| policy.redirect(&method(name), path).map(|(method, path)| format!("{method} {path}"));
    assert_eq!(to("BOOK", "/room").as_deref(), Some("RESERVE /rooms"));
    assert_eq!(to("BOOK", "/rooms"), None);
    assert_eq!(to("BUY", "/x").as_deref(), Some("PURCHASE /x"));
    let known: Vec<_> = policy.redirects_for("/room").into_iter().map(|(from, to)| format!("{from}>{to}")).collect();
    assert_eq!(known, ["BOOK>RESERVE", "BUY>PURCHASE"]);
    assert_eq!(policy.redirects_for("/x").len(), 1);
}

#[test]
fn s9_3_the_manifest_shows_what_was_set() {
    let shown = policy(json!({
        "disallow": ["TRANSFER", "PATCH"], "legacy": ["GET"], "aliases": {},
        "redirects": [{"from_method": "BOOK", "from_path": "/room", "to_method": "RESERVE"}],
    }));
    let expected = json!({
        "allow": "*", "disallow": ["PATCH", "TRANSFER"], "legacy": ["GET"], "aliases": {},
        "redirects": [{"from_method": "BOOK", "from_path": "/room", "to_method": "RESERVE"}],
    });
    assert_eq!(shown.to_json(), expected);
    assert_eq!(policy(json!({})).to_json()["legacy"], "NONE");
    assert_eq!(policy(json!({"legacy": "*"})).to_json()["legacy"], "*");
}

#[test]
fn unknown_keys_are_refused() {
    for wrong in [json!({"deny": []}), json!({"redirects": [{"from": "BOOK"}]})] {
        assert!(serde_json::from_value::<MethodPolicySettings>(wrong).is_err());
    }
}

#[test]
fn s4_7_every_verb_that_is_named_is_found() {
    let settings: MethodPolicySettings = serde_json::from_value(json!({
        "allow": ["BOOK"], "disallow": ["TRANSFER"], "aliases": {"HIRES": "HIRE"},
        "redirects": [{"from_method": "BUY", "to_method": "PURCHASE"}],
    }))
    .unwrap();
    let uses: Vec<_> =
        settings.uses("f.toml").into_iter().map(|used| format!("{} {}", used.directive, used.verb)).collect();
    assert_eq!(uses, ["allow BOOK", "disallow TRANSFER", "aliases HIRE", "redirects BUY", "redirects PURCHASE"]);
}

#[test]
fn every_setting_is_documented() {
    let sections = [forecourt_settings::DocumentedSection {
        section: "policy",
        about: "",
        schema: || schemars::schema_for!(MethodPolicySettings),
    }];
    let all: Vec<_> = sections.into_iter().chain([endpoint::DOCUMENTED, recipe::DOCUMENTED]).collect();
    assert_eq!(forecourt_settings::document(&all).undocumented(), Vec::<String>::new());
}
