use proptest::prelude::*;
use serde_json::json;

use super::*;

fn set(list: &str) -> ScopeSet {
    if list.is_empty() { ScopeSet::default() } else { ScopeSet::parse_list(list).unwrap() }
}

fn evidence(scope: Value) -> IdentityEvidence {
    serde_json::from_value(json!({
        "subject": "ann", "issuer": "login.example", "method": "urn:m", "assurance": "user", "audience": "demo",
        "issued_at": "2026-01-01T00:00:00Z", "proof": {"type": "bearer-token"}, "claims": {"scope": scope},
    }))
    .unwrap()
}

#[test]
fn base_7_nothing_is_held_by_default() {
    let nothing = Authority::default();
    assert!(nothing.held().is_empty() && nothing.in_use().is_empty() && nothing.claimed().is_none());
}

#[test]
fn base_7_what_was_handed_on_never_widens_what_was_proven() {
    let both = json!("booking:room documents:query");
    for (scope, ceiling, expected) in [
        (both.clone(), None, "booking:room,documents:query"),
        (both.clone(), Some("documents:query"), "documents:query"),
        (both.clone(), Some(""), ""),
        (both.clone(), Some("*:*"), "booking:room,documents:query"),
        (json!(["booking:*"]), Some("booking:room,payments:pay"), "booking:room"),
        (json!("no scope, at all"), None, ""),
        (json!(null), Some("booking:room"), ""),
    ] {
        let granted = Authority::of_evidence(&[evidence(scope.clone())]);
        let authority = ceiling.map_or(granted.clone(), |ceiling| granted.within(&set(ceiling)));
        assert_eq!(authority.held(), set(expected), "{scope} held to {ceiling:?}");
    }
}

#[test]
fn base_5_a_claim_beyond_what_is_held_is_told_and_never_used() {
    let authority = Authority::granted(set("booking:*")).claiming(Some(set("booking:room,payments:pay")));
    assert_eq!(authority.excess(), set("payments:pay").iter().cloned().collect::<Vec<_>>());
    assert_eq!(authority.in_use(), set("booking:room"));
    let fits = Authority::granted(set("booking:*")).claiming(Some(set("booking:room")));
    assert!(fits.excess().is_empty());
    assert_eq!(fits.handed_on().ceiling(), Some(&set("booking:room")));
}

#[test]
fn what_is_kept_is_the_ceiling_and_grants_nothing() {
    let authority = Authority::granted(set("booking:*")).within(&set("booking:room"));
    let kept: Authority = serde_json::from_value(json!(authority)).unwrap();
    assert!(kept.held().is_empty());
    let went_on = Authority::granted(set("booking:*,payments:pay")).continuing(&kept);
    assert_eq!(went_on.held(), set("booking:room"));
    let odd: Authority = serde_json::from_value(json!(["no scope", "*"])).unwrap();
    assert_eq!(odd.ceiling(), Some(&ScopeSet::default()), "what is no scope opens nothing");
}

fn sets() -> impl Strategy<Value = ScopeSet> {
    let token = prop::sample::select(vec!["a:x", "a:y", "a:*", "b:x", "*:x", "*:*", "c:x:y", "c:*"]);
    prop::collection::vec(token, 0..4).prop_map(|tokens| set(&tokens.join(",")))
}

#[derive(Debug, Clone)]
enum Step {
    Claim(Option<ScopeSet>),
    ClaimAll,
    Within(ScopeSet),
    HandOn,
    Continue(ScopeSet),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        prop::option::of(sets()).prop_map(Step::Claim),
        Just(Step::ClaimAll),
        sets().prop_map(Step::Within),
        Just(Step::HandOn),
        sets().prop_map(Step::Continue),
    ]
}

proptest! {
    #[test]
    fn base_7_authority_only_ever_narrows(granted in sets(), steps in prop::collection::vec(steps(), 0..6)) {
        let mut authority = Authority::granted(granted.clone());
        let mut ceiling = granted;
        for step in steps {
            authority = match step {
                Step::Claim(claimed) => authority.claiming(claimed),
                Step::ClaimAll => authority.claiming_all(),
                Step::Within(bound) => authority.within(&bound),
                Step::HandOn => authority.handed_on(),
                Step::Continue(bound) => authority.continuing(&Authority::default().within(&bound)),
            };
            let held = authority.held();
            prop_assert!(ceiling.missing(held.iter()).is_empty(), "{held:?} beyond {ceiling:?}");
            prop_assert!(held.missing(authority.in_use().iter()).is_empty());
            ceiling = held;
        }
    }
}
