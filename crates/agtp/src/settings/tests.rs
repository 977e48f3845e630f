use std::path::Path;

use forecourt_contract::Method;

use super::*;

fn section(text: &str) -> Section {
    Section::parse(Path::new("forecourt.toml"), text, &|_: &str| None).unwrap()
}

fn wrong(text: &str) -> String {
    AgtpSettings::read(&section(text)).expect_err(text).to_string()
}

#[test]
fn nothing_needs_to_be_said() {
    let settings = AgtpSettings::read(&section("")).unwrap();
    assert_eq!(settings, AgtpSettings::default());
    assert!(settings.notices().is_empty());
    let listens = settings.listens(&section(""));
    let shown: Vec<_> = listens.iter().map(|l| (l.name, l.address.map(|a| a.to_string()), l.may_move)).collect();
    let tls = ("agtp", Some("127.0.0.1:4480".to_owned()), true);
    assert_eq!(shown, [tls, ("agtp-plaintext", None, false), ("gateway", None, false)]);
    assert!(matches!(listens[0].carries, Carries::Tls { clients: ClientCertificates::Ignored, .. }));
}

#[test]
fn a_port_that_was_chosen_does_not_move() {
    let section = section("listen = \"127.0.0.1:4480\"\ngateway = \"[::1]:8088\"");
    let listens = AgtpSettings::read(&section).unwrap().listens(&section);
    assert!(!listens[0].may_move && listens[2].address.is_some());
}

#[test]
fn each_mistake_is_named() {
    for (text, words) in [
        ("plaintext = \"0.0.0.0:4481\"", "`plaintext` must be a loopback address"),
        ("gateway = \"192.0.2.1:80\"", "`gateway` must be a loopback address"),
        ("listen = \"0.0.0.0:4480\"\nlifecycle_auth = \"open\"", "lets anybody retire agents"),
        ("[mtls]\nmode = \"required\"", "ca_bundle_path"),
        ("[mtls]\nmode = \"off\"", "off"),
        ("[server]\nserver_id = \"a b\"", "`server_id` must be printable"),
        ("[limits]\nbody_bytes_max = 10000000", "at most 9999999"),
        ("[limits]\nfields_bytes_max = 2000000", "at most 1048576"),
        ("[limits]\nidle_seconds = 0", "idle_seconds"),
        ("[agents]\ndisclosure = \"limited\"", "limited"),
        ("[policies]\nwildcards = true", "wildcards"),
        ("[audit]\nsegment_bytes = 65535", "`segment_bytes` must be 65536 to 1073741824"),
        ("[audit]\nsegment_bytes = 1073741825", "`segment_bytes` must be 65536 to 1073741824"),
        ("[audit]\nsize_max = 134217727", "`size_max` must be at least twice `segment_bytes`"),
        ("[signing]\nkey_id = \"a b\"", "`key_id` must be 1 to 128 printable ASCII characters"),
        ("[policies.oauth]\nvalidator = \"noop\"", "allow_noop_validator"),
        (
            "listen = \"0.0.0.0:4480\"\n[policies.oauth]\nvalidator = \"noop\"\nallow_noop_validator = true",
            "for loopback only",
        ),
        ("[policies.oauth]\nvalidator = \"introspection\"", "introspection"),
        ("[policies.oauth]\nprincipal_id_claim = \"\"", "must name a principal"),
        ("[policies.oauth]\nprincipal_id_claim = \"iss\"", "must name a principal"),
    ] {
        let found = wrong(text);
        assert!(found.contains(words), "{text}: {found}");
    }
}

#[test]
fn what_held_for_all_endpoints_is_taken_where_it_stands_now() {
    let text = "[agtp]\ncatalog = \"c.json\"\non_refused_endpoint = \"fail\"\nstrict_outputs = true\n[agtp.policies]\n\
        scope_required_for_invocation = false\nwildcards_accepted = true\n[agtp.policies.oauth]\n\
        required_on_methods = [\"BOOK\"]\n[agtp.policies.builtins]\noverrides = [\"/tools\"]\n\
        [agtp.policies.methods]\ndisallow = [\"LEARN\"]\n";
    let mut root = section(text);
    root.accept_moved(MOVED);
    assert_eq!(root.moved_keys().len(), MOVED.len());
    let endpoints: forecourt_endpoints::policy::EndpointPolicySettings =
        root.take("endpoints").unwrap().read().unwrap();
    assert!(endpoints.strict_outputs && endpoints.wildcards_accepted && !endpoints.scope_required);
    assert_eq!((endpoints.token_required, endpoints.builtin_overrides), (vec!["BOOK".into()], vec!["/tools".into()]));
}

#[test]
fn base_7_4_calls_that_could_never_be_answered_are_told() {
    let rules = |needed: &[&str]| Rules {
        token_required: needed.iter().map(|name| Method::parse(name).unwrap()).collect(),
        ..Rules::default()
    };
    let fits = |text: &str, needed: &[&str]| {
        let section = section(text);
        AgtpSettings::read(&section).unwrap().fits(&rules(needed), &section)
    };
    let off = "[policies.oauth]\nenabled = false";
    let told = fits(off, &["BOOK"]).unwrap_err();
    assert!(told.message().contains("oauth.enabled") && told.line() == Some(1), "{told}");
    assert!(fits(off, &[]).is_ok() && fits("", &["BOOK"]).is_ok());
}

#[test]
fn base_1_agents_have_an_address_where_others_reach_the_server() {
    let place = |domain: &str, lines: &str| {
        let domain = forecourt_core::Domain::parse(domain).unwrap();
        let site = Site { base: format!("https://{domain}"), name: String::new(), domain };
        AgtpSettings::read(&section(lines)).unwrap().place(&site)
    };
    let (local, public) = ("demo.localhost", "example.com");
    for (domain, lines, expected) in [
        (public, "", None),
        (public, "listen = \"[::1]:4480\"", None),
        (public, "[server]\ndomain = \"not a host\"", None),
        (local, "", Some("demo.localhost")),
        (local, "listen = \"127.0.0.1:0\"", Some("demo.localhost")),
        (local, "listen = \"127.0.0.1:4490\"", Some("demo.localhost:4490")),
        (public, "listen = \"0.0.0.0:4480\"", Some("example.com")),
        (public, "listen = \"[::]:4490\"", Some("example.com:4490")),
        (public, "[server]\ndomain = \"agtp.example.com\"", Some("agtp.example.com")),
    ] {
        assert_eq!(place(domain, lines).as_deref(), expected, "{domain} {lines}");
    }
}
