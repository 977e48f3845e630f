//! `allow` and `deny`: by country, network, subject and language.

use forecourt_core::Language;

use super::*;

fn with_table(lines: &str) -> Place {
    Place { countries: Some(Arc::new(CountryTable::parse(lines).unwrap())), ..Place::default() }
}

fn peer(address: &str) -> Message {
    from(Sender { peer: Some(address.parse().unwrap()), ..Sender::anonymous() })
}

#[test]
fn a_country_is_refused_for_legal_reasons_with_who_blocks_it() {
    let place = with_table("192.0.2.0/24,DE\n2001:db8::/32,FR\n");
    let list =
        json!([{"kind": "deny", "countries": ["de", "FR"], "message": "A law.", "url": "https://demo.localhost/why"}]);
    for address in ["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7"] {
        let part = place.refused(list.clone(), peer(address));
        assert_eq!(part.kind, RefusalKind::UnavailableForLegalReasons, "{address}");
        assert_eq!(part.url.as_deref(), Some("https://demo.localhost/why"));
    }
    // Nobody knows where it is: a deny rule does not mean it.
    place.judge(list, peer("198.51.100.1")).unwrap();
}

#[test]
fn an_unknown_country_is_what_the_rule_says_of_it() {
    let place = with_table("192.0.2.0/24,DE\n");
    let unknown = || peer("198.51.100.1");
    let rule = |kind: &str, unknown: Option<&str>| {
        let mut rule = json!({"kind": kind, "countries": ["DE"]});
        if let Some(unknown) = unknown {
            rule["unknown"] = unknown.into();
        }
        json!([rule])
    };
    assert!(place.judge(rule("deny", None), unknown()).is_ok());
    assert!(place.judge(rule("deny", Some("deny")), unknown()).is_err());
    assert!(place.judge(rule("allow", None), unknown()).is_err());
    assert!(place.judge(rule("allow", Some("allow")), unknown()).is_ok());
    assert!(place.judge(rule("allow", None), peer("192.0.2.1")).is_ok());
    // What came over no network is nowhere.
    assert!(place.judge(rule("allow", None), from(Sender::anonymous())).is_err());
}

#[test]
fn an_allow_list_lets_in_who_is_in_one_of_its_lists() {
    let place = Place::default();
    let list = json!([{"kind": "allow", "networks": ["10.0.0.0/8"], "subjects": ["x:ada"]}]);
    assert!(place.judge(list.clone(), peer("10.1.2.3")).is_ok());
    assert!(place.judge(list.clone(), from(proven("a.example", "x:ada"))).is_ok());
    assert_eq!(place.refused(list.clone(), peer("192.0.2.1")).kind, RefusalKind::Forbidden);
    assert_eq!(place.refused(list, from(proven("a.example", "x:adam"))).kind, RefusalKind::Forbidden);
}

#[test]
fn a_language_means_its_regions_too() {
    let place = Place::default();
    let spoken = |tag: &str| Message { language: Language::parse(tag), ..message("hi") };
    let list = json!([{"kind": "allow", "languages": ["de", "en-GB"]}]);
    assert!(place.judge(list.clone(), spoken("de-AT")).is_ok());
    assert!(place.judge(list.clone(), spoken("en-GB")).is_ok());
    assert!(place.judge(list.clone(), spoken("en-US")).is_err());
    assert!(place.judge(list, message("hi")).is_err());
    assert!(place.judge(json!([{"kind": "deny", "languages": ["de"]}]), message("hi")).is_ok());
}

#[test]
fn lists_that_mean_nobody_are_refused_at_load() {
    let place = Place::default();
    assert_eq!(place.problem(json!([{"kind": "deny"}])).key, None);
    assert_eq!(place.problem(json!([{"kind": "deny", "countries": ["DE"]}])).key, Some("countries"));
    assert_eq!(with_table("").problem(json!([{"kind": "deny", "countries": ["Germany"]}])).key, Some("countries"));
    assert_eq!(place.problem(json!([{"kind": "allow", "languages": ["german language"]}])).key, Some("languages"));
}
