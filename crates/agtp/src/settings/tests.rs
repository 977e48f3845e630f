use std::path::Path;

use super::*;

fn section(text: &str) -> Section {
    Section::parse(Path::new("forecourt.toml"), text, &|_: &str| None).unwrap()
}

fn wrong(text: &str) -> String {
    let section = section(text);
    let settings = AgtpSettings::read(&section).map(drop);
    settings.and_then(|()| endpoint_settings(&section).map(drop)).expect_err(text).to_string()
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
        ("[policies.builtins]\noverrides = [\"/rooms\"]", "reserved paths /methods"),
        ("[policies.oauth]\nenabled = false\nrequired_on_methods = [\"BOOK\"]", "oauth.enabled"),
        ("[policies.oauth]\nrequired_on_methods = [\"BOOK\", \"pay\"]", "3 to 32 capital letters, not `pay`"),
        ("[policies.methods.aliases]\nGET = \"LIST\"\nLIST = \"FETCH\"", "alias"),
        ("[policies]\nwildcards = true", "wildcards"),
        ("catalog = \"no-such-file.json\"", "no-such-file.json"),
    ] {
        let found = wrong(text);
        assert!(found.contains(words), "{text}: {found}");
    }
}

#[test]
fn what_has_no_effect_yet_is_said_and_not_refused() {
    let text = "[audit]\npath = \"x\"\n[signing]\n[synthesis]\n[policies]\nsynthesis_enabled = true\n[policies.rcns]\nenabled = true";
    let notices = AgtpSettings::read(&section(text)).unwrap().notices();
    assert_eq!(notices.len(), 5, "{notices:?}");
    assert!(notices.iter().all(|notice| notice.contains("no effect")));
    assert_eq!(endpoint_settings(&section(text)).unwrap().notices, notices, "`check` hears of it too");
}

#[test]
fn s9_4_the_policy_on_methods_is_read() {
    let text = "on_refused_endpoint = \"fail\"\n[policies]\nscope_required_for_invocation = false\n\
        [policies.methods]\ndisallow = [\"PURCHASE\", \"NONESUCH\", \"QUERY\"]\ncustom = [\"FROBNICATE\"]";
    let settings = endpoint_settings(&section(text)).unwrap();
    assert!(settings.must_be_whole && !settings.terms.rules.scope_required);
    assert_eq!(settings.terms.skipped.len(), 2);
    assert_eq!(settings.terms.policy.custom().count(), 1);
}

#[test]
fn base_7_4_methods_that_need_a_token_are_read() {
    let text = "[policies.oauth]\nrequired_on_methods = [\"BOOK\", \"POST\", \"NONESUCH\"]";
    let terms = endpoint_settings(&section(text)).unwrap().terms;
    let needed: Vec<_> = terms.rules.token_required.iter().map(|method| method.as_str()).collect();
    assert_eq!(needed, ["BOOK", "POST"]);
    assert_eq!(terms.skipped.iter().map(|one| one.method.as_str()).collect::<Vec<_>>(), ["NONESUCH"]);
}

#[test]
fn base_1_agents_have_an_address_where_others_reach_the_server() {
    let place = |domain: &str, lines: &str| {
        let domain = forecourt_core::Domain::parse(domain).unwrap();
        let site = Site { origin: format!("https://{domain}"), name: String::new(), domain };
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
