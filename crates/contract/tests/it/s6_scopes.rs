//! Section 6.4 and the base protocol's authority: what a caller may do.

use forecourt_contract::limits::{SCOPE_CHARS_MAX, SCOPES_MAX};
use forecourt_contract::scope::ScopeError;
use forecourt_contract::{Scope, ScopeSet};
use proptest::prelude::*;

fn scope(text: &str) -> Scope {
    Scope::parse(text).expect(text)
}

fn set(text: &str) -> ScopeSet {
    ScopeSet::parse_list(text).expect(text)
}

#[test]
fn a_token_is_two_lower_case_words_or_more() {
    for wrong in
        ["", "booking", ":", "booking:", ":room", "a::b", "Booking:room", "booking:r\u{f6}om", "a b:c", "a:b*", "a:b "]
    {
        assert!(matches!(Scope::parse(wrong), Err(ScopeError::Token(_))), "{wrong:?}");
    }
    for fine in ["booking:room", "a-b_1:c:d", "booking:*", "*:query", "*:*", "a:*:c"] {
        assert_eq!(scope(fine).as_str(), fine);
    }
}

#[test]
fn what_is_required_has_no_wildcard() {
    assert_eq!(Scope::parse_required("booking:*"), Err(ScopeError::Wildcard("booking:*".into())));
    assert!(Scope::parse_required("booking:room").is_ok());
}

#[test]
fn a_list_has_blanks_around_commas_and_nothing_empty() {
    assert_eq!(set("a:b ,\tc:d").iter().map(Scope::as_str).collect::<Vec<_>>(), ["a:b", "c:d"]);
    for wrong in ["", " ", "a:b,", ",a:b", "a:b,,c:d", "a:b;c:d", "a:b c:d", "a:b,\u{a0}c:d"] {
        assert!(ScopeSet::parse_list(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn scopes_have_bounds() {
    let long = |chars: usize| Scope::parse(&format!("a:{}", "b".repeat(chars - 2)));
    assert!(long(SCOPE_CHARS_MAX).is_ok());
    assert!(long(SCOPE_CHARS_MAX + 1).is_err());
    let many = |count: usize| ScopeSet::parse_list(&vec!["a:b"; count].join(","));
    assert!(many(SCOPES_MAX).is_ok());
    assert_eq!(many(SCOPES_MAX + 1), Err(ScopeError::TooMany));
    let json = |count: usize| serde_json::from_value::<ScopeSet>(serde_json::json!(vec!["a:b"; count]));
    assert!(json(SCOPES_MAX).is_ok() && json(SCOPES_MAX + 1).is_err());
}

#[test]
fn a_wildcard_stands_for_one_segment_and_at_the_end_for_more() {
    for (held, wanted) in [
        ("booking:room", "booking:room"),
        ("booking:*", "booking:room"),
        ("booking:*", "booking:room:read"),
        ("*:query", "knowledge:query"),
        ("*:*", "booking:room"),
        ("*:*", "booking:room:read"),
        ("a:*:c", "a:b:c"),
        ("a:*", "a:*"),
        ("*:*", "a:*"),
        ("a:*", "a:*:c"),
    ] {
        assert!(scope(held).covers(&scope(wanted)), "{held} should cover {wanted}");
    }
    for (held, wanted) in [
        ("booking:room", "booking:table"),
        ("booking:room", "booking:room:read"),
        ("booking:room:read", "booking:room"),
        ("booking:room", "booking:*"),
        ("*:query", "knowledge:query:deep"),
        ("a:*:c", "a:b:d"),
        ("a:*:c", "a:c"),
        ("a:*:*", "a:b"),
        ("a:*:*", "a:*"),
        ("booking:*", "book:room"),
    ] {
        assert!(!scope(held).covers(&scope(wanted)), "{held} must not cover {wanted}");
    }
}

#[test]
fn capabilities_of_the_host_need_their_own_domain() {
    for held in ["inspect:all", "inspect:*"] {
        assert!(scope(held).covers(&scope("inspect:all")), "{held}");
    }
    for held in ["*:*", "*:all", "*:negotiate"] {
        assert!(!scope(held).covers(&scope("inspect:all")) && !scope(held).covers(&scope("rcns:negotiate")), "{held}");
    }
    assert!(!scope("*:*").covers(&scope("inspect:*")), "a claim can't widen what is held");
    assert!(!scope("*:*").covers(&scope("rcns:*")));
    assert!(scope("*:*").covers(&scope("inspect:other")));
}

#[test]
fn missing_scopes_are_listed_in_order() {
    let required = [scope("booking:room"), scope("calendar:write"), scope("payments:charge")];
    let missing = set("booking:*").missing(&required);
    assert_eq!(missing, [scope("calendar:write"), scope("payments:charge")]);
    assert!(set("*:*").missing(&required).is_empty());
    assert_eq!(ScopeSet::default().missing(&required).len(), 3);
}

#[test]
fn what_two_sets_share_is_what_both_cover() {
    let shared =
        |one: &str, other: &str| set(one).shared(&set(other)).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shared("booking:*", "booking:room"), ["booking:room"]);
    assert_eq!(shared("booking:room", "booking:*"), ["booking:room"]);
    assert_eq!(shared("booking:*,a:b", "a:b,booking:*,c:d"), ["booking:*", "a:b"]);
    assert!(shared("booking:room", "payments:send").is_empty());
    assert!(shared("*:*", "rcns:negotiate").is_empty(), "a wildcard over all holds none of the host's own");
    assert!(set("a:b").shared(&ScopeSet::default()).is_empty());
}

fn token() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof![Just("a"), Just("b"), Just("*"), Just("inspect"), Just("all")], 2..5)
        .prop_map(|words| words.join(":"))
}

proptest! {
    #[test]
    fn reading_never_panics(text in "\\PC{0,60}") {
        let _ = ScopeSet::parse_list(&text);
    }

    #[test]
    fn covering_is_transitive(a in token(), b in token(), c in token()) {
        let (a, b, c) = (scope(&a), scope(&b), scope(&c));
        if a.covers(&b) && b.covers(&c) {
            prop_assert!(a.covers(&c), "{} {} {}", a, b, c);
        }
    }
}

#[test]
fn what_two_patterns_have_in_common_is_held() {
    let shared = |one: &str, two: &str| {
        let set = |list: &str| ScopeSet::parse_list(list).unwrap();
        let both = |a: &str, b: &str| set(a).shared(&set(b));
        assert_eq!(both(one, two), both(two, one), "{one} {two}");
        both(one, two).iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    };
    for (one, two, common) in [
        ("*:x", "a:*", "a:x"),
        ("a:*:z", "a:b:*", "a:b:z"),
        ("*:x", "a:b:*", ""),
        ("a:*", "*:x:y", "a:x:y"),
        ("a:*", "b:*", ""),
        ("a:x", "a:x:y", ""),
        ("*:*", "inspect:*", ""),
    ] {
        assert_eq!(shared(one, two), common, "{one} {two}");
    }
}
