//! Orders at a real authority: both ways to prove a name, renewal, refusals, an authority that is away, restarts and
//! several nodes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::routing::get;
use axum::{Json, Router};
use forecourt_acme::limits::{ORDERS_PER_NAME_AND_HOUR_MAX, RETRY_FIRST};
use forecourt_acme::{
    Acme, AcmeMetrics, AcmeParts, AcmeSettings, AcmeStorage, ChallengeChoice, Challenges, Folder, Ledger,
};
use forecourt_core::{Clock as _, Store, SystemClock, Timestamp};
use forecourt_egress::{Egress, EgressConfig, Purpose};
use forecourt_server::{
    AllowedHosts, Certificates, FrontSettings, HttpLimits, Listener, ListenerContext, RouteClasses, TrustedProxies,
    local_ca,
};
use forecourt_store::Memory;
use forecourt_testkit::{CountedEntropy, Pebble, PebbleOptions, free_port};
use tempfile::TempDir;
use tokio_util::sync::{CancellationToken, DropGuard};

const ONE: &str = "one.shop.example";
const TWO: &str = "two.shop.example";
const REFUSED: &str = "refused.example";
const LIFE: Duration = Duration::from_secs(3000);

/// Two listeners that answer authorities, and where everything is kept.
struct Node {
    folder: TempDir,
    challenges: Arc<Challenges>,
    storage: Arc<dyn AcmeStorage>,
    http: u16,
    tls: u16,
    _stop: DropGuard,
}

impl Node {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let storage = Arc::new(Folder::open(folder.path().join("acme")).unwrap());
        Self::with(folder, storage).await
    }

    async fn with(folder: TempDir, storage: Arc<dyn AcmeStorage>) -> Self {
        let certificates = Certificates::empty();
        let challenges = Challenges::new(storage.clone(), certificates.clone(), Arc::new(SystemClock));
        let address = "127.0.0.1:0".parse().unwrap();
        let http = Listener::redirecting(address, 443).await.unwrap().answering(challenges.clone());
        let tls = Listener::tls(address, certificates.http_config().unwrap()).await.unwrap();
        let stop = CancellationToken::new();
        let ports = (http.address().port(), tls.address().port());
        for listener in [http, tls] {
            let context = context(AllowedHosts::new(["nobody.example"], false));
            tokio::spawn(listener.serve(context, Router::new(), stop.clone()));
        }
        Self { folder, challenges, storage, http: ports.0, tls: ports.1, _stop: stop.drop_guard() }
    }

    fn pebble(&self, port: Option<u16>) -> Option<Pebble> {
        let (http_port, tls_port) = (self.http, self.tls);
        let options = PebbleOptions { http_port, tls_port, life: LIFE, refused: REFUSED.to_owned(), port };
        let files = local_ca::ensure(self.folder.path(), "demo.localhost", Timestamp::now()).unwrap();
        Pebble::start(&self.folder.path().join("pebble"), &files.certificate, &files.key, &options)
    }

    fn acme(&self, directory: &str, names: &[&str], challenge: ChallengeChoice) -> Arc<Acme> {
        self.acme_trusting(self.folder.path(), directory, names, challenge)
    }

    fn acme_trusting(&self, ca: &Path, directory: &str, names: &[&str], challenge: ChallengeChoice) -> Arc<Acme> {
        let ca = std::fs::read(local_ca::ca_certificate(ca)).unwrap();
        let egress = Egress::builder(EgressConfig::default()).trust_pem(ca).build().unwrap();
        Acme::new(AcmeParts {
            settings: AcmeSettings { directory: Some(directory.to_owned()), challenge, ..AcmeSettings::default() },
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            has_port_80: true,
            egress,
            storage: self.storage.clone(),
            challenges: self.challenges.clone(),
            metrics: AcmeMetrics::default(),
        })
    }
}

fn context(hosts: AllowedHosts) -> Arc<ListenerContext> {
    ListenerContext::new(FrontSettings {
        hosts,
        proxies: TrustedProxies::default(),
        limits: HttpLimits::default(),
        metrics: Arc::default(),
        classes: RouteClasses::new([("test", "/")]),
        entropy: Arc::new(CountedEntropy::default()),
        hsts: None,
        leaving: Default::default(),
    })
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    now.saturating_add(by).unwrap()
}

#[tokio::test]
async fn both_challenges_prove_several_names() {
    let node = Node::new().await;
    let Some(pebble) = node.pebble(None) else { return };
    for challenge in [ChallengeChoice::Http01, ChallengeChoice::TlsAlpn01] {
        let acme = node.acme(&pebble.directory(), &[ONE, TWO], challenge);
        assert_eq!(acme.notes().len(), 2, "both are being ordered");
        let outlook = acme.tick(SystemClock.now()).await;
        assert!(outlook.has_changed, "{:?}", acme.notes());
        assert_eq!(acme.notes(), Vec::<String>::new());
        let (one, two) = (acme.held(ONE).unwrap(), acme.held(TWO).unwrap());
        assert_ne!(one.chain, two.chain);
        for (name, issued) in [(ONE, one), (TWO, two)] {
            let entry = forecourt_server::tls::CertificateEntry::from_pem(
                &issued.chain,
                &issued.key,
                name,
                AllowedHosts::new([name], false),
            );
            assert!(entry.unwrap().expires_at() > Timestamp::now());
        }
    }
}

#[tokio::test]
async fn a_certificate_is_renewed_when_a_third_of_its_life_is_left_and_survives_a_restart() {
    let node = Node::new().await;
    let Some(pebble) = node.pebble(None) else { return };
    let now = SystemClock.now();
    let acme = node.acme(&pebble.directory(), &[ONE], ChallengeChoice::Auto);
    assert!(acme.tick(now).await.has_changed, "{:?}", acme.notes());
    let first = acme.held(ONE).unwrap();
    assert!(!acme.tick(later(now, LIFE / 2)).await.has_changed, "it is not due");

    let again = node.acme(&pebble.directory(), &[ONE], ChallengeChoice::Auto);
    assert!(again.load(now).await.unwrap());
    assert_eq!(again.held(ONE).unwrap(), first, "a restart keeps it");
    assert!(!again.tick(later(now, LIFE / 2)).await.has_changed);

    assert!(again.tick(later(now, LIFE * 7 / 10)).await.has_changed, "{:?}", again.notes());
    let second = again.held(ONE).unwrap();
    assert_ne!(first, second);

    let elsewhere = node.acme("https://127.0.0.1:1/dir", &[ONE], ChallengeChoice::Auto);
    assert!(!elsewhere.load(now).await.unwrap(), "one of another authority is not what was asked for");
}

/// The authority's directory, which says as well where it is asked when a certificate is to be renewed; the answer is
/// a window of two minutes around this moment.
async fn advising(node: &Node, pebble: &Pebble, at: Timestamp) -> (String, DropGuard) {
    let ca = std::fs::read(local_ca::ca_certificate(node.folder.path())).unwrap();
    let egress = Egress::builder(EgressConfig::default()).trust_pem(ca).build().unwrap();
    let directory = egress.get(Purpose::CertificateAuthority, &pebble.directory()).await.unwrap();
    let mut directory: serde_json::Value = serde_json::from_slice(&directory.bytes).unwrap();
    let files = local_ca::ensure(node.folder.path(), "demo.localhost", Timestamp::now()).unwrap();
    let hosts = AllowedHosts::new(["demo.localhost"], true);
    let certificates = Certificates::load(files, hosts.clone()).unwrap();
    let tls = Listener::tls("127.0.0.1:0".parse().unwrap(), certificates.http_config().unwrap()).await.unwrap();
    let base = format!("https://127.0.0.1:{}", tls.address().port());
    directory["renewalInfo"] = format!("{base}/ari").into();
    let minute = Duration::from_secs(60);
    let (start, end) = (at.saturating_sub(minute).unwrap(), at.saturating_add(minute).unwrap());
    let info = serde_json::json!({ "suggestedWindow": { "start": start, "end": end } });
    let router = Router::new()
        .route("/dir", get(async move || Json(directory)))
        .route("/ari/{certificate}", get(async move || Json(info)));
    let stop = CancellationToken::new();
    tokio::spawn(tls.serve(context(hosts), router, stop.clone()));
    (format!("{base}/dir"), stop.drop_guard())
}

#[tokio::test]
async fn an_authority_that_wants_a_certificate_renewed_early_gets_its_will() {
    let node = Node::new().await;
    let Some(pebble) = node.pebble(None) else { return };
    let now = SystemClock.now();
    let (directory, _stop) = advising(&node, &pebble, later(now, LIFE / 4)).await;
    let acme = node.acme(&directory, &[ONE], ChallengeChoice::Auto);
    assert!(acme.tick(now).await.has_changed, "{:?}", acme.notes());
    let first = acme.held(ONE).unwrap();
    assert!(!acme.tick(later(now, LIFE / 5)).await.has_changed, "the authority was asked, and it is not time");
    assert!(acme.tick(later(now, LIFE * 3 / 10)).await.has_changed, "{:?}", acme.notes());
    assert_ne!(acme.held(ONE).unwrap(), first);
}

#[tokio::test]
async fn a_refusal_rests_and_is_not_asked_more_often_than_may_be() {
    let node = Node::new().await;
    let Some(pebble) = node.pebble(None) else { return };
    let mut now = SystemClock.now();
    let acme = node.acme(&pebble.directory(), &[REFUSED], ChallengeChoice::Auto);
    for n in 0..ORDERS_PER_NAME_AND_HOUR_MAX {
        assert!(!acme.tick(now).await.has_changed);
        let notes = acme.notes();
        assert!(notes[0].contains("the authority refuses") && notes[0].contains("policy"), "{notes:?}");
        assert!(!acme.tick(later(now, Duration::from_secs(1))).await.has_changed, "it rests");
        now = later(now, RETRY_FIRST * 2_u32.pow(n as u32));
    }
    acme.tick(now).await;
    assert!(acme.notes()[0].contains("as many orders were made within an hour"), "{:?}", acme.notes());
    let again = node.acme(&pebble.directory(), &[REFUSED], ChallengeChoice::Auto);
    again.tick(now).await;
    assert!(again.notes()[0].contains("as many orders"), "a restart does not forget: {:?}", again.notes());
    again.tick(later(now, Duration::from_secs(3600))).await;
    assert!(again.notes()[0].contains("the authority refuses"), "{:?}", again.notes());
}

#[tokio::test]
async fn a_name_that_is_not_ours_is_refused_with_what_the_authority_met() {
    // Nobody answers where this authority asks.
    let node = Node { http: free_port(), tls: free_port(), ..Node::new().await };
    let Some(pebble) = node.pebble(None) else { return };
    for (challenge, met) in
        [(ChallengeChoice::Http01, "connection refused"), (ChallengeChoice::TlsAlpn01, "Failed to connect")]
    {
        let acme = node.acme(&pebble.directory(), &[ONE], challenge);
        acme.tick(SystemClock.now()).await;
        let notes = acme.notes();
        assert!(notes[0].contains("the authority refuses") && notes[0].contains(met), "{notes:?}");
    }
}

#[tokio::test]
async fn an_authority_that_is_away_is_waited_for_and_one_that_forgot_us_is_told_anew() {
    let node = Node::new().await;
    let port = free_port();
    let directory = format!("https://127.0.0.1:{port}/dir");
    local_ca::ensure(node.folder.path(), "demo.localhost", Timestamp::now()).unwrap();
    let acme = node.acme(&directory, &[ONE], ChallengeChoice::Auto);
    let mut now = SystemClock.now();
    acme.tick(now).await;
    assert!(acme.notes()[0].contains("can't be reached"), "{:?}", acme.notes());
    let Some(pebble) = node.pebble(Some(port)) else { return };
    now = later(now, RETRY_FIRST);
    assert!(acme.tick(now).await.has_changed, "{:?}", acme.notes());
    let first = acme.held(ONE).unwrap();
    drop(pebble);

    now = later(now, LIFE * 7 / 10);
    assert!(!acme.tick(now).await.has_changed);
    assert!(acme.notes()[0].contains("can't be renewed"), "{:?}", acme.notes());
    assert_eq!(acme.held(ONE).unwrap(), first, "the old one stays");
    let Some(_pebble) = node.pebble(Some(port)) else { return };
    assert!(acme.tick(later(now, RETRY_FIRST)).await.has_changed, "{:?}", acme.notes());
    assert_eq!(acme.notes(), Vec::<String>::new());
}

#[tokio::test]
async fn of_nodes_that_share_a_store_one_orders_and_any_answers() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let node = async || Node::with(TempDir::new().unwrap(), Arc::new(Ledger::new(store.clone()))).await;
    let (first, second) = (node().await, node().await);
    // The authority asks the second node.
    let Some(pebble) = second.pebble(None) else { return };
    let acme =
        |node: &Node| node.acme_trusting(second.folder.path(), &pebble.directory(), &[ONE], ChallengeChoice::Auto);
    let (at_first, at_second) = (acme(&first), acme(&second));
    let now = SystemClock.now();
    let (one, two) = tokio::join!(at_first.tick(now), at_second.tick(now));
    assert!(one.has_changed != two.has_changed, "one of them ordered: {:?} {:?}", at_first.notes(), at_second.notes());
    let soon = later(now, Duration::from_secs(1));
    at_first.tick(soon).await;
    at_second.tick(soon).await;
    assert!(at_first.held(ONE).is_some());
    assert_eq!(at_first.held(ONE), at_second.held(ONE), "both serve it");
}

#[tokio::test]
async fn keys_are_readable_by_their_owner_and_printed_nowhere() {
    use std::os::unix::fs::PermissionsExt as _;
    let node = Node::new().await;
    let Some(pebble) = node.pebble(None) else { return };
    let acme = node.acme(&pebble.directory(), &[ONE], ChallengeChoice::Auto);
    acme.tick(SystemClock.now()).await;
    let issued = acme.held(ONE).unwrap();
    assert!(!format!("{issued:?} {acme:?}").contains("PRIVATE KEY"));
    let folder: PathBuf = node.folder.path().join("acme");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    files.iter().for_each(|file| assert_eq!(mode(file), 0o600, "{file:?}"));
}
