//! How servers encrypt: versions and certificates, of a server that is right and of those that are not.

use std::sync::Arc;

use forecourt_conform::report::{Finding, Outcome};
use forecourt_conform::tls::{SUITES, TlsTarget};
use forecourt_egress::{Egress, EgressConfig};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::SupportedProtocolVersion;
use tokio::net::TcpListener;

use crate::{PATIENCE, broken, findings, ids, judged, offered, run};

/// A server in the making.
struct Script {
    name: &'static str,
    /// Days from now until its certificate ends; `None`: for long.
    days: Option<i64>,
    /// The same of a certificate between it and its authority; `None`: there is none between.
    between_days: Option<i64>,
    versions: &'static [&'static SupportedProtocolVersion],
    protocol: &'static str,
    is_trusted: bool,
    /// Connections that it takes before it is gone.
    connections: usize,
}

impl Default for Script {
    fn default() -> Self {
        let versions = rustls::DEFAULT_VERSIONS;
        Self {
            name: "localhost",
            days: None,
            between_days: None,
            versions,
            protocol: "http/1.1",
            is_trusted: true,
            connections: usize::MAX,
        }
    }
}

/// Listens, and gives the port with the authority that signed the certificate.
async fn listen(script: &Script) -> (u16, String) {
    let key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = authority.self_signed(&key).unwrap().pem();
    let mut issuer = Issuer::new(authority, key);
    let mut others = Vec::new();
    if let Some(days) = script.between_days {
        let key = KeyPair::generate().unwrap();
        let mut between = CertificateParams::new(Vec::<String>::new()).unwrap();
        between.distinguished_name.push(DnType::CommonName, "between");
        between.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        end_in(&mut between, days);
        others.push(between.signed_by(&key, &issuer).unwrap().der().clone());
        issuer = Issuer::new(between, key);
    }
    let key = KeyPair::generate().unwrap();
    let mut own = CertificateParams::new(vec![script.name.to_owned()]).unwrap();
    script.days.into_iter().for_each(|days| end_in(&mut own, days));
    let own = own.signed_by(&key, &issuer).unwrap();
    let shown = std::iter::once(own.der().clone()).chain(others).collect();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_protocol_versions(script.versions).unwrap();
    let config = config.with_no_client_auth().with_single_cert(shown, key.into()).unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut left = script.connections;
    tokio::spawn(async move {
        let mut listener = Some(listener);
        while let Some(open) = listener.take() {
            let Ok((stream, _)) = open.accept().await else { return };
            left -= 1;
            // Gone before it answers: the next connection is refused for sure.
            listener = (left > 0).then_some(open);
            let acceptor = acceptor.clone();
            tokio::spawn(async move { drop(acceptor.accept(stream).await) });
        }
    });
    (port, pem)
}

/// Lets a certificate end at the beginning of a day so many days from now.
fn end_in(certificate: &mut CertificateParams, days: i64) {
    let now = forecourt_core::Timestamp::now().as_second();
    let then = forecourt_core::Timestamp::from_second(now + days * 24 * 3600).unwrap().to_string();
    let (year, month, day) = (&then[..4], &then[5..7], &then[8..10]);
    certificate.not_after = date_time_ymd(year.parse().unwrap(), month.parse().unwrap(), day.parse().unwrap());
}

async fn endpoint(script: &Script) -> TlsTarget {
    let (port, pem) = listen(script).await;
    let builder = Egress::builder(EgressConfig::default());
    let builder = if script.is_trusted { builder.trust_pem(pem) } else { builder };
    TlsTarget {
        egress: builder.build().unwrap(),
        host: "localhost".to_owned(),
        port,
        usual_port: port,
        protocol: script.protocol,
        is_encrypted: true,
        is_insecure: false,
        patience: PATIENCE,
    }
}

fn tested(script: Script) -> Vec<Finding> {
    run(async { findings(endpoint(&script).await, SUITES, PATIENCE).await })
}

fn found(script: Script) -> Vec<&'static str> {
    broken(&tested(script))
}

const V1_2: &[&SupportedProtocolVersion] = &[&rustls::version::TLS12];
const V1_3: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];

#[test]
fn a_server_that_encrypts_well_passes() {
    let all = tested(Script::default());
    assert_eq!(broken(&all), Vec::<&str>::new(), "{all:#?}");
    assert_eq!(ids(&all, Outcome::Skip), Vec::<&str>::new(), "{all:#?}");
    assert_eq!(found(Script { versions: V1_3, ..Script::default() }), Vec::<&str>::new());
}

#[test]
fn certificates_of_others_old_ones_and_strangers_are_found() {
    assert_eq!(found(Script { name: "other.example", ..Script::default() }), ["tls-name"]);
    assert_eq!(found(Script { days: Some(-1), ..Script::default() }), ["tls-valid"]);
    assert_eq!(found(Script { days: Some(1), ..Script::default() }), ["tls-expiry"]);
    assert_eq!(found(Script { days: Some(3), ..Script::default() }), Vec::<&str>::new());
    let strange = tested(Script { is_trusted: false, ..Script::default() });
    assert_eq!(broken(&strange), ["tls-chain"]);
    let shown = strange.iter().find(|finding| finding.id == "tls-chain").unwrap();
    assert!(shown.sent.as_deref().unwrap().contains("ClientHello of TLS 1.3 to localhost"), "{shown:?}");
    assert!(shown.came.as_deref().unwrap().contains("for localhost"), "{shown:?}");
}

#[test]
fn the_end_of_a_certificate_between_breaks_the_chain_and_that_of_the_own_does_not() {
    let between = |days| Script { between_days: Some(days), ..Script::default() };
    assert_eq!(found(between(3)), Vec::<&str>::new());
    assert_eq!(found(between(-1)), ["tls-chain"]);
    assert_eq!(found(Script { days: Some(-1), ..between(3) }), ["tls-valid"]);
    assert_eq!(found(Script { days: Some(-3), ..between(-1) }), ["tls-valid"], "it led there as long as it was valid");
    let both = Script { days: Some(-1), is_trusted: false, ..Script::default() };
    assert_eq!(found(both), ["tls-valid", "tls-chain"]);
}

#[test]
fn tls_1_2_alone_is_warned_of_and_is_wrong_over_agtp() {
    assert_eq!(found(Script { versions: V1_2, ..Script::default() }), ["tls-1.3"]);
    assert_eq!(found(Script { protocol: "agtp", ..Script::default() }), ["tls-1.2"]);
    assert_eq!(found(Script { protocol: "agtp", versions: V1_3, ..Script::default() }), Vec::<&str>::new());
}

#[test]
fn a_server_without_tls_is_not_judged() {
    let (protocols, all) = run(async {
        let endpoint = endpoint(&Script::default()).await;
        judged(TlsTarget { is_encrypted: false, ..endpoint }, SUITES, PATIENCE).await
    });
    assert!(offered(&protocols).is_empty() && broken(&all).is_empty());
}

#[test]
fn a_connection_that_is_refused_says_nothing_of_a_version() {
    for protocol in ["agtp", "http/1.1"] {
        let all = tested(Script { protocol, connections: 1, ..Script::default() });
        assert_eq!(broken(&all), Vec::<&str>::new(), "{all:#?}");
        assert_eq!(ids(&all, Outcome::Skip), ["tls-1.2", "tls-1.1"], "{all:#?}");
    }
}
