//! Certificates that clients show: who is let in, and who is not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_server::{
    AllowedHosts, Authorities, Certificates, ClientCertificates, StreamListener, TlsError, local_ca,
};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, date_time_ymd,
};
use rustls::client::ResolvesClientCert;
use rustls::crypto::aws_lc_rs;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::streams::{Echo, start};
use crate::tls::days_from_now;

/// A critical extension that only the protocol knows: 1.3.6.1.4.1.32473.1.
const KNOWN: [u64; 8] = [1, 3, 6, 1, 4, 1, 32473, 1];
const KNOWN_OCTETS: &[u8] = &[0x2b, 6, 1, 4, 1, 0x81, 0xfd, 0x59, 1];

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn authority(name: &str) -> Authority {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    CertifiedIssuer::self_signed(authority_params(name), key).unwrap()
}

/// A client's certificate, changed before it is signed.
fn client(issuer: &Authority, change: impl FnOnce(&mut CertificateParams)) -> Client {
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    change(&mut params);
    let certificate = params.signed_by(&key, issuer).unwrap();
    Client::new(certificate.der().clone(), &key)
}

/// Shows a certificate whatever it holds, as clients of other makes do.
#[derive(Debug, Clone)]
struct Client(Arc<CertifiedKey>);

impl Client {
    fn new(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Self(Arc::new(CertifiedKey::new(vec![certificate], aws_lc_rs::sign::any_supported_type(&key).unwrap())))
    }
}

impl ResolvesClientCert for Client {
    fn resolve(&self, _hints: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

struct Place {
    folder: TempDir,
    echo: Echo,
}

impl Place {
    async fn new(authorities: &[&Authority], wanted: fn(Authorities) -> ClientCertificates) -> Self {
        let folder = TempDir::new().unwrap();
        let bundle = bundle(folder.path(), authorities);
        let clients = wanted(Authorities { bundle, understood: &[KNOWN_OCTETS] });
        let config = Arc::new(certificates(folder.path()).stream_config(b"lines", &clients).unwrap());
        let listener = StreamListener::tls("127.0.0.1:0".parse().unwrap(), config).await.unwrap();
        Self { folder, echo: start(listener, |_| {}) }
    }

    /// What the server says to a client: how many certificates it saw. `None`: it lets nobody in.
    async fn hello(&self, client: Option<&Client>) -> Option<String> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(local_ca::ca_certificate(self.folder.path())).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match client {
            None => builder.with_no_client_auth(),
            Some(client) => builder.with_client_cert_resolver(Arc::new(client.clone())),
        };
        let stream = TcpStream::connect(self.echo.address).await.unwrap();
        let name = ServerName::try_from("demo.localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.ok()?;
        let mut hello = String::new();
        // A client learns that it is refused when it reads.
        BufReader::new(stream).read_line(&mut hello).await.ok().filter(|read| *read > 0)?;
        Some(hello)
    }

    async fn admits(&self, client: &Client) -> bool {
        self.hello(Some(client)).await.as_deref() == Some("127.0.0.1 true 1\n")
    }
}

fn bundle(folder: &Path, authorities: &[&Authority]) -> PathBuf {
    let path = folder.join("agents.pem");
    std::fs::write(&path, authorities.iter().map(|authority| authority.pem()).collect::<String>()).unwrap();
    path
}

fn certificates(folder: &Path) -> Arc<Certificates> {
    let files = local_ca::ensure(folder, "demo.localhost", days_from_now(-1)).unwrap();
    Certificates::load(files, AllowedHosts::new(["demo.localhost"], true)).unwrap()
}

fn known(params: &mut CertificateParams) {
    let mut extension = CustomExtension::from_oid_content(&KNOWN, b"agent".to_vec());
    extension.set_criticality(true);
    params.custom_extensions.push(extension);
}

#[tokio::test]
async fn base_6_7_a_certificate_of_a_trusted_authority_reaches_the_protocol() {
    let (one, two) = (authority("one"), authority("two"));
    let place = Place::new(&[&one, &two], ClientCertificates::Optional).await;
    assert!(place.admits(&client(&one, |_| {})).await);
    assert!(place.admits(&client(&two, known)).await, "with what only the protocol knows");
    assert_eq!(place.hello(None).await.as_deref(), Some("127.0.0.1 true 0\n"), "none need be shown");
}

#[tokio::test]
async fn base_6_7_where_one_is_required_nobody_comes_without() {
    let one = authority("one");
    let place = Place::new(&[&one], ClientCertificates::Required).await;
    assert_eq!(place.hello(None).await, None);
    assert!(place.admits(&client(&one, |_| {})).await);
}

#[tokio::test]
async fn a_certificate_that_does_not_hold_lets_nobody_in() {
    let one = authority("one");
    let place = Place::new(&[&one], ClientCertificates::Optional).await;
    assert!(!place.admits(&client(&authority("one"), |_| {})).await, "another of the same name");
    assert!(!place.admits(&client(&one, |params| params.not_after = date_time_ymd(2020, 1, 1))).await);
}

#[tokio::test]
async fn a_certificate_needs_its_key() {
    let one = authority("one");
    let place = Place::new(&[&one], ClientCertificates::Optional).await;
    let stolen = client(&one, |_| {}).0.cert[0].clone();
    assert!(!place.admits(&Client::new(stolen, &KeyPair::generate_for(&PKCS_ED25519).unwrap())).await);
}

#[test]
fn a_bundle_holds_authorities_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let config = |bundle: PathBuf| {
        let clients = ClientCertificates::Optional(Authorities { bundle, understood: &[] });
        certificates(folder.path()).stream_config(b"lines", &clients).map(|_| ())
    };
    assert!(matches!(config(folder.path().join("missing.pem")), Err(TlsError::File { .. })));
    let write = |text: &str| {
        let path = folder.path().join("agents.pem");
        std::fs::write(&path, text).unwrap();
        path
    };
    assert!(matches!(config(write("")), Err(TlsError::Content { .. })));
    let leaf = rcgen::generate_simple_self_signed(["a.example".to_owned()]).unwrap().cert.pem();
    let fault = config(write(&(authority("one").pem() + &leaf))).unwrap_err().to_string();
    assert!(fault.contains("its certificate 2 is none of an authority"), "{fault}");
    let mut limited = authority_params("limited");
    limited.name_constraints = Some(rcgen::NameConstraints {
        permitted_subtrees: vec![rcgen::GeneralSubtree::DnsName("example".to_owned())],
        excluded_subtrees: Vec::new(),
    });
    let limited = CertifiedIssuer::self_signed(limited, KeyPair::generate_for(&PKCS_ED25519).unwrap()).unwrap();
    assert!(config(write(&limited.pem())).unwrap_err().to_string().contains("limited to some names"));
}

#[test]
fn as_many_authorities_as_there_is_room_for_and_no_more() {
    let folder = TempDir::new().unwrap();
    let one = authority("one");
    let config = |count: usize| {
        let bundle = bundle(folder.path(), &vec![&one; count]);
        let clients = ClientCertificates::Required(Authorities { bundle, understood: &[] });
        certificates(folder.path()).stream_config(b"lines", &clients).map(|_| ())
    };
    assert!(config(forecourt_server::limits::AUTHORITIES_MAX).is_ok());
    assert!(config(forecourt_server::limits::AUTHORITIES_MAX + 1).is_err());
}
