//! Security sheet, section 6, steps 1 to 3: what is refused before a socket is opened.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use forecourt_egress::limits::{ADDRESSES_MAX, URL_BYTES_MAX};
use forecourt_egress::{AddressVerdict, CheckedUrl, Egress, EgressConfig, EgressError, Purpose, Refusal, classify};
use forecourt_testkit::vectors;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Answer, OPENED, Prepared, opened};

fn cases(path: &str) -> Vec<Value> {
    let Some(bytes) = vectors(path) else { return Vec::new() };
    serde_json::from_slice(&bytes).unwrap()
}

fn everything_is(address: &str) -> Arc<Prepared> {
    Arc::new(Prepared::default().with("*", [Answer::Addresses(vec![address.parse().unwrap()])]))
}

fn client(config: EgressConfig, resolver: Arc<Prepared>) -> Egress {
    Egress::builder(config).resolver(resolver).build().unwrap()
}

async fn judge(config: EgressConfig, purpose: Purpose, url: &str) -> Result<(), EgressError> {
    client(config, everything_is("8.8.8.8")).permits(purpose, url).await
}

fn is(found: &Result<(), EgressError>, refusal: Refusal) -> bool {
    matches!(found, Err(EgressError::Refused(why)) if *why == refusal)
}

#[test]
fn every_address_of_the_vectors_is_judged_right() {
    for case in cases("ssrf/addresses.json") {
        let Ok(address) = case["ip"].as_str().unwrap().parse::<IpAddr>() else { continue };
        let expected = match case["expect"].as_str().unwrap() {
            "allow" => AddressVerdict::Public,
            "block" => AddressVerdict::Closed,
            _ => continue,
        };
        assert_eq!(classify(address), expected, "{case}");
    }
}

#[tokio::test]
async fn every_hostile_url_is_refused_even_when_its_name_resolves_to_a_public_address() {
    for config in [EgressConfig::default(), opened()] {
        let client = client(config, everything_is("8.8.8.8"));
        for case in cases("ssrf/urls.json") {
            let found = client.permits(Purpose::Attachment, case["url"].as_str().unwrap()).await;
            assert!(matches!(found, Err(EgressError::Refused(_))), "{case}: {found:?}");
        }
    }
}

#[test]
fn what_a_url_parser_must_refuse_is_no_target() {
    for case in cases("url/urltestdata.json") {
        let (Some(input), Some(true)) = (case["input"].as_str(), case["failure"].as_bool()) else { continue };
        assert!(CheckedUrl::parse(input).is_err(), "{case}");
    }
}

#[test]
fn what_is_a_target_has_the_host_that_a_url_parser_finds() {
    for case in cases("url/urltestdata.json") {
        let (Some(input), Some(host)) = (case["input"].as_str(), case["hostname"].as_str()) else { continue };
        let Ok(target) = CheckedUrl::parse(input) else { continue };
        let bare = host.trim_start_matches('[').trim_end_matches([']', '.']);
        assert_eq!(target.host(), bare, "{case}");
    }
}

#[tokio::test]
async fn names_are_judged_by_all_their_addresses() {
    for case in cases("ssrf/dns.json") {
        let own: IpAddr = "93.184.215.14".parse().unwrap();
        let answers: Vec<Answer> = case["answers"].as_array().unwrap().iter().map(|a| answer(a, own)).collect();
        let resolver = Arc::new(Prepared::default().with("public.example", answers));
        let client = Egress::builder(EgressConfig::default())
            .resolver(resolver.clone())
            .own_address(SocketAddr::new(own, 0))
            .build()
            .unwrap();
        if case["answers"][0] == "TIMEOUT" {
            tokio::time::pause();
        }
        let found = client.permits(Purpose::Webhook, "https://public.example/hook").await;
        if case["answers"][0] == "TIMEOUT" {
            tokio::time::resume();
        }
        match case["expect"].as_str().unwrap() {
            "block" => assert!(matches!(found, Err(EgressError::Refused(_))), "{case}: {found:?}"),
            "connect" => assert!(found.is_ok() && resolver.count() == 1, "{case}: {found:?}"),
            "block_at_deliver" => {
                assert!(found.is_ok(), "{case}: {found:?}");
                let sent = client.post(Purpose::Webhook, "https://public.example/hook", Default::default(), "x".into());
                let sent = sent.await;
                assert!(matches!(sent, Err(EgressError::Refused(Refusal::PrivateAddress))), "{case}: {sent:?}");
            }
            other => panic!("unknown expectation {other}"),
        }
    }
}

fn answer(value: &Value, own: IpAddr) -> Answer {
    match value {
        Value::String(text) if text == "TIMEOUT" => Answer::Hangs,
        Value::Array(addresses) => {
            let read = |a: &Value| match a.as_str().unwrap() {
                "SELF_PUBLIC_IP" => own,
                text => text.parse().unwrap(),
            };
            Answer::Addresses(addresses.iter().map(read).collect())
        }
        _ => Answer::Fails,
    }
}

#[tokio::test]
async fn a_name_has_at_most_thirty_two_addresses() {
    for (count, fits) in [(ADDRESSES_MAX, true), (ADDRESSES_MAX + 1, false)] {
        let addresses = vec!["8.8.8.8".parse().unwrap(); count];
        let resolver = Arc::new(Prepared::default().with("*", [Answer::Addresses(addresses)]));
        let found = client(EgressConfig::default(), resolver).permits(Purpose::Document, "https://a.example/").await;
        assert_eq!(found.is_ok(), fits, "{count}: {found:?}");
    }
}

#[test]
fn a_url_has_at_most_two_thousand_and_forty_eight_bytes() {
    let of = |length: usize| format!("{:a<length$}", "https://a.example/");
    assert!(CheckedUrl::parse(&of(URL_BYTES_MAX)).is_ok());
    assert!(CheckedUrl::parse(&of(URL_BYTES_MAX + 1)).is_err());
}

#[tokio::test]
async fn private_names_are_not_even_looked_up() {
    for url in ["https://printer.local/", "https://intranet/", "https://a.localhost/", "https://db.svc/"] {
        let resolver = everything_is("8.8.8.8");
        let found = client(EgressConfig::default(), resolver.clone()).permits(Purpose::Attachment, url).await;
        assert!(is(&found, Refusal::PrivateName), "{url}: {found:?}");
        assert_eq!(resolver.count(), 0, "{url}");
    }
}

#[tokio::test]
async fn names_that_resolve_only_into_opened_networks_are_reachable() {
    let mixed = vec![OPENED, "8.8.8.8".parse().unwrap()];
    let resolver = Prepared::default().with_opened("intranet").with("mixed.local", [Answer::Addresses(mixed)]);
    let client = client(opened(), Arc::new(resolver));
    assert!(client.permits(Purpose::Webhook, "http://intranet:8080/hook").await.is_ok());
    let found = client.permits(Purpose::Webhook, "https://mixed.local/hook").await;
    assert!(is(&found, Refusal::PrivateName), "{found:?}");
}

#[tokio::test]
async fn plain_http_needs_the_switch_and_an_opened_network() {
    let public = "http://public.example/";
    let inside = format!("http://{OPENED}:8080/");
    for purpose in [Purpose::Attachment, Purpose::Webhook, Purpose::Callback, Purpose::Crawl] {
        let closed = EgressConfig { allow_http: false, ..opened() };
        assert!(is(&judge(closed, purpose, &inside).await, Refusal::Scheme), "{purpose:?}");
        assert!(is(&judge(opened(), purpose, public).await, Refusal::Scheme), "{purpose:?}");
        assert!(judge(opened(), purpose, &inside).await.is_ok(), "{purpose:?}");
    }
    for purpose in [Purpose::Document, Purpose::WebFinger] {
        assert!(is(&judge(opened(), purpose, &inside).await, Refusal::Scheme), "{purpose:?}");
    }
}

#[tokio::test]
async fn public_targets_have_port_443_or_a_listed_one() {
    let listed = EgressConfig { ports: vec![8443], ..EgressConfig::default() };
    assert!(judge(listed.clone(), Purpose::Webhook, "https://public.example:8443/").await.is_ok());
    for url in ["https://public.example:8444/", "https://public.example:22/", "https://8.8.8.8:25/"] {
        assert!(is(&judge(listed.clone(), Purpose::Webhook, url).await, Refusal::Port), "{url}");
    }
}

#[tokio::test]
async fn rest_5_5_a_webhook_is_never_on_our_host_and_a_callback_never_on_our_origin() {
    let resolver = Arc::new(Prepared::default().with_opened("demo.localhost"));
    for origin in ["Demo.localhost:8443", "https://demo.localhost:8443"] {
        let builder = Egress::builder(opened()).resolver(resolver.clone()).own_host(origin).unwrap();
        own_host_is_closed(&builder.build().unwrap()).await;
    }
}

async fn own_host_is_closed(client: &Egress) {
    for url in ["https://demo.localhost:8443/", "https://demo.localhost/", "https://demo.localhost.:9000/"] {
        for purpose in [Purpose::Webhook, Purpose::Attachment] {
            assert!(is(&client.permits(purpose, url).await, Refusal::OwnHost), "{purpose:?} {url}");
        }
    }
    let own = client.permits(Purpose::Callback, "https://demo.localhost:8443/").await;
    assert!(is(&own, Refusal::OwnHost), "{own:?}");
    assert!(client.permits(Purpose::Callback, "http://demo.localhost:9000/").await.is_ok());
}

#[tokio::test]
async fn a_site_is_public_or_opened_and_may_be_our_own() {
    let closed = EgressConfig::default;
    for (url, refusal) in [
        ("https://10.0.0.1/", Refusal::PrivateAddress),
        ("https://169.254.169.254/", Refusal::PrivateAddress),
        ("https://[::1]/", Refusal::PrivateAddress),
        ("https://printer.local/", Refusal::PrivateName),
        ("https://public.example:8443/", Refusal::Port),
        ("http://public.example/", Refusal::Scheme),
    ] {
        let found = judge(closed(), Purpose::Crawl, url).await;
        assert!(is(&found, refusal), "{url}: {found:?}");
    }
    assert!(judge(closed(), Purpose::Crawl, "https://public.example/").await.is_ok());
    let resolver = Arc::new(Prepared::default().with_opened("demo.localhost"));
    let own = Egress::builder(opened()).resolver(resolver).own_host("demo.localhost:8443").unwrap().build().unwrap();
    assert!(own.permits(Purpose::Crawl, "https://demo.localhost:8443/").await.is_ok());
}

#[tokio::test]
async fn a_backend_of_the_operator_may_be_anywhere() {
    for url in ["http://127.0.0.1:11434/v1", "http://localhost:1/", "https://model_server:8000/"] {
        let client = client(EgressConfig::default(), everything_is("127.0.0.1"));
        assert!(client.permits(Purpose::Upstream, url).await.is_ok(), "{url}");
    }
}

#[tokio::test]
async fn a_wrapped_service_may_be_anywhere_over_https_and_plain_only_where_that_was_opened() {
    let shut = client(EgressConfig::default(), everything_is("127.0.0.1"));
    for url in ["https://127.0.0.1:8443/v1", "https://model_server:8000/", "https://public.example/"] {
        assert!(shut.foresees(Purpose::Service, url).is_ok(), "{url}");
        assert!(shut.permits(Purpose::Service, url).await.is_ok(), "{url}");
    }
    let half = client(EgressConfig { allow_http: true, ..EgressConfig::default() }, everything_is("127.0.0.1"));
    for url in ["http://127.0.0.1:8000/", "http://localhost:8000/"] {
        assert!(shut.foresees(Purpose::Service, url).is_err(), "{url}");
        assert!(half.foresees(Purpose::Service, url).is_err(), "{url}");
        let open = client(opened(), everything_is("127.0.0.2"));
        let url = url.replace("127.0.0.1", "127.0.0.2");
        assert!(open.foresees(Purpose::Service, &url).is_ok(), "{url}");
        assert!(open.permits(Purpose::Service, &url).await.is_ok(), "{url}");
    }
    let open = client(opened(), everything_is("93.184.216.34"));
    assert!(open.foresees(Purpose::Service, "http://93.184.216.34/").is_err());
    assert!(
        open.foresees(Purpose::Service, "http://public.example/").is_ok(),
        "a name may lead into an opened network"
    );
    assert!(open.permits(Purpose::Service, "http://public.example/").await.is_err(), "and this one does not");
}

#[tokio::test]
async fn a_certificate_authority_may_be_anywhere_and_is_never_plain() {
    let client = client(opened(), everything_is("127.0.0.1"));
    for url in ["https://127.0.0.1:14000/dir", "https://ca_server:9000/acme/directory", "https://public.example/"] {
        assert!(client.permits(Purpose::CertificateAuthority, url).await.is_ok(), "{url}");
    }
    for url in ["http://127.0.0.1:14000/dir", "http://public.example/"] {
        assert!(client.foresees(Purpose::CertificateAuthority, url).is_err(), "{url}");
        assert!(client.permits(Purpose::CertificateAuthority, url).await.is_err(), "{url}");
    }
}

proptest! {
    #[test]
    fn s0_no_text_makes_the_reader_panic(text in ".{0,200}", tail in "[a-z0-9.:@/%\\[\\]\\\\#?-]{0,60}") {
        let _ = CheckedUrl::parse(&text);
        let _ = CheckedUrl::parse(&format!("https://{tail}"));
        let _ = CheckedUrl::parse(&format!("http://{text}"));
    }

    #[test]
    fn what_was_read_reads_the_same_again(tail in "[a-z0-9.:/%\\[\\]#?-]{1,60}") {
        if let Ok(target) = CheckedUrl::parse(&format!("https://{tail}")) {
            prop_assert_eq!(&CheckedUrl::parse(target.url().as_str()).unwrap(), &target);
        }
    }

    #[test]
    fn no_ipv4_address_is_public_in_any_embedding(bits in any::<u32>()) {
        let v4 = std::net::Ipv4Addr::from(bits);
        prop_assert_eq!(classify(v4.to_ipv6_mapped().into()), AddressVerdict::Closed);
        prop_assert_eq!(classify(v4.to_ipv6_compatible().into()), AddressVerdict::Closed);
    }
}

#[test]
fn the_section_has_defaults_and_takes_no_unknown_keys() {
    let read = |toml: &str| toml::from_str::<EgressConfig>(toml);
    assert_eq!(read("").unwrap(), EgressConfig::default());
    let fixed = read("allow = [\"127.0.0.0/8\", \"::1/128\"]\nallow_http = true").unwrap();
    assert!(fixed.allow_http && fixed.allow.len() == 2);
    for wrong in ["alow = []", "allow = [\"127.0.0.1/33\"]", "total_seconds = 0", "at_once = -1"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn added_certificates_must_be_there_and_usable() {
    let of = |ca_files: Vec<std::path::PathBuf>| EgressConfig { ca_files, ..EgressConfig::default() };
    let missing = Egress::builder(of(vec!["absent.pem".into()])).base("folder").build().unwrap_err();
    assert!(missing.to_string().starts_with("folder"), "{missing}");
    assert!(Egress::builder(EgressConfig::default()).trust_pem("junk").build().is_err());
    assert!(Egress::builder(EgressConfig::default()).own_host("a b").is_err());
}
