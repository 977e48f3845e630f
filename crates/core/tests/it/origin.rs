//! Comparing hosts. PolicyPart 3.2.

use forecourt_core::limits::URL_BYTES_MAX;
use forecourt_core::origin::{is_bound_to, normalize};
use proptest::prelude::*;

use crate::{cases, text};

#[test]
fn s3_2_host_comparison_follows_the_vectors() {
    for case in cases("hosts/origin-binding.json") {
        let bound = is_bound_to(text(&case, "url"), text(&case, "canonical"));
        if let Some(ok) = case["ok"].as_bool() {
            assert_eq!(bound, ok, "{case}");
        }
    }
}

#[test]
fn s3_2_ipv6_literals_have_one_form() {
    for case in cases("hosts/rfc5952.json") {
        let normal = normalize(&format!("[{}]", text(&case, "in")));
        assert_eq!(normal, case["out"].as_str().map(|out| format!("[{out}]")), "{case}");
    }
}

#[test]
fn s3_2_what_parsers_repair_is_refused() {
    for url in [
        "https:///agent.example/",
        "https:\\\\agent.example/",
        "https:agent.example/",
        "https://agent.example\u{a0}/",
        "https://agent.example/\u{202e}\u{85}",
        "https://agent.example/a b",
        "https://@agent.example",
        "https://agent.example%2f/",
        "https:/agent.example/",
        "//agent.example/",
        "https://",
        "https",
        "é",
    ] {
        assert!(!is_bound_to(url, "agent.example"), "{url:?}");
    }
}

#[test]
fn an_at_sign_after_the_authority_is_no_userinfo() {
    assert!(is_bound_to("https://agent.example/~chef?to=@you@example.com", "agent.example"));
    assert!(is_bound_to("https://agent.example?a@b", "agent.example"));
}

#[test]
fn a_url_has_at_most_2048_bytes() {
    let start = "https://agent.example/";
    let fits = format!("{start}{}", "a".repeat(URL_BYTES_MAX - start.len()));
    assert!(is_bound_to(&fits, "agent.example"));
    assert!(!is_bound_to(&format!("{fits}a"), "agent.example"));
}

#[test]
fn labels_and_names_have_the_lengths_of_the_dns() {
    let label = "a".repeat(63);
    assert!(normalize(&format!("{label}.example")).is_some());
    assert!(normalize(&format!("a{label}.example")).is_none());
    let name = format!("{label}.{label}.{label}.{}", "b".repeat(61));
    assert_eq!(normalize(&name).map(|n| n.len()), Some(253));
    assert!(normalize(&format!("{name}b")).is_none());
}

#[test]
fn a_broken_canonical_host_binds_nothing() {
    for host in ["", "agent.example/", "user@agent.example", "https://agent.example", "a..b", "[::1", "%61.example"] {
        assert!(!is_bound_to("https://agent.example/", host), "{host}");
    }
}

proptest! {
    #[test]
    fn normal_forms_are_stable(host in "[a-zA-Z0-9.\\-:\\[\\]éßς。]{0,40}") {
        if let Some(once) = normalize(&host) {
            prop_assert_eq!(normalize(&once), Some(once.clone()));
        }
    }

    #[test]
    fn nothing_makes_it_panic(url in any::<String>(), host in any::<String>()) {
        let _ = is_bound_to(&url, &host);
        let _ = is_bound_to(&format!("https://{url}"), &host);
    }

    #[test]
    fn only_the_own_host_is_bound(name in "[a-z]{1,10}\\.(example|test)", other in "[a-z.@:/\\\\#?%]{1,12}") {
        let own = format!("https://{name}/");
        prop_assert!(is_bound_to(&own, &name));
        let put_before = format!("https://{other}{name}/");
        if is_bound_to(&put_before, &name) {
            prop_assert!(false, "{}", put_before);
        }
    }
}
