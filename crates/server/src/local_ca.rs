//! A certificate authority for one development machine, kept in the data folder.
//!
//! `ca.pem` is what a browser or client is told to trust; `cert.pem` and `key.pem` are what the
//! listeners use. All are PEM and readable by their owner only; keys are P-256.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::{ServerName, UnixTime};

use crate::error::TlsError;
use crate::tls::{CertificateFiles, chain, read};

/// The authority's key.
const CA_KEY: &str = "ca.key";
/// The folder of certificates for domains beside the first.
const LOCAL: &str = "local";
/// How long a server certificate is good for.
const CERTIFICATE_DAYS: i64 = 90;
/// How long before its end it is renewed.
const RENEW_DAYS: u64 = 7;
/// How long the authority is good for; trusting another one is work for people.
const CA_DAYS: i64 = 3650;

/// The path of the authority's certificate in `folder`, to be trusted by clients.
pub fn ca_certificate(folder: &Path) -> PathBuf {
    folder.join("ca.pem")
}

/// Makes what is missing: the authority, and a certificate by it for `domain`, `*.domain`,
/// `localhost`, `127.0.0.1` and `::1`. Renewed when less than a week is left, when the domain has
/// changed, and when the files do not belong together.
///
/// # Errors
/// When the folder can't be written or the domain is no name for a certificate.
pub fn ensure(folder: &Path, domain: &str, now: Timestamp) -> Result<CertificateFiles, TlsError> {
    ensure_in(folder, folder, domain, now)
}

/// [`ensure`] for one domain of many: the authority is the same, and the certificate has a folder of its own within
/// `folder`.
///
/// # Errors
/// As there.
pub fn ensure_beside(folder: &Path, domain: &str, now: Timestamp) -> Result<CertificateFiles, TlsError> {
    ensure_in(folder, &folder.join(LOCAL).join(domain), domain, now)
}

fn ensure_in(authority: &Path, place: &Path, domain: &str, now: Timestamp) -> Result<CertificateFiles, TlsError> {
    let files = CertificateFiles { certificate: place.join("cert.pem"), key: place.join("key.pem") };
    for folder in [authority, place] {
        fs::create_dir_all(folder).map_err(|source| TlsError::File { path: folder.to_owned(), source })?;
    }
    let authority = Authority::ensure(authority, now)?;
    if !authority.vouches_for(&files, domain, now) {
        let key = new_key()?;
        let names =
            vec![domain.to_owned(), format!("*.{domain}"), "localhost".into(), "127.0.0.1".into(), "::1".into()];
        let certificate = authority.sign(names, &key, now)?;
        // The key first: after a crash in between, the old certificate does not fit it, and both are made again.
        write(&files.key, &key.serialize_pem())?;
        write(&files.certificate, &certificate)?;
    }
    Ok(files)
}

/// Whether what [`ensure`] would build on can be used: an authority that is there has a key that can be
/// read. Changes nothing.
///
/// # Errors
/// When it can't.
pub fn inspect(folder: &Path) -> Result<(), TlsError> {
    match ca_certificate(folder).exists() && folder.join(CA_KEY).exists() {
        true => Authority::read(folder).map(drop),
        false => Ok(()),
    }
}

struct Authority {
    pem: Vec<u8>,
    path: PathBuf,
    key: KeyPair,
}

impl Authority {
    fn ensure(folder: &Path, now: Timestamp) -> Result<Authority, TlsError> {
        let (path, key_path) = (ca_certificate(folder), folder.join(CA_KEY));
        if !path.exists() || !key_path.exists() {
            let key = new_key()?;
            let certificate = ca_params(&key, now)?.self_signed(&key).map_err(making)?;
            write(&key_path, &key.serialize_pem())?;
            write(&path, &certificate.pem())?;
        }
        Self::read(folder)
    }

    fn read(folder: &Path) -> Result<Authority, TlsError> {
        let (path, key_path) = (ca_certificate(folder), folder.join(CA_KEY));
        let key_pem = String::from_utf8(read(&key_path)?).unwrap_or_default();
        let key = KeyPair::from_pem(&key_pem)
            .map_err(|_| TlsError::Content { path: key_path, reason: "holds no private key in PEM form".into() })?;
        let pem = read(&path)?;
        chain(&path, &pem)?;
        Ok(Authority { pem, path, key })
    }

    fn sign(&self, names: Vec<String>, key: &KeyPair, now: Timestamp) -> Result<String, TlsError> {
        let mut params = CertificateParams::new(names).map_err(making)?;
        params.distinguished_name = named("Forecourt on this machine");
        good_for(&mut params, now, CERTIFICATE_DAYS)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let issuer_params = ca_params(&self.key, now)?;
        let issuer = Issuer::from_params(&issuer_params, &self.key);
        params.signed_by(key, &issuer).map(|certificate| certificate.pem()).map_err(making)
    }

    /// Whether a client that trusts this authority would take the certificate for all names until
    /// it is due for renewal.
    fn vouches_for(&self, files: &CertificateFiles, domain: &str, now: Timestamp) -> bool {
        let names = [domain, &format!("any.{domain}"), "localhost", "127.0.0.1", "::1"];
        self.verify(files, &names, now).is_some()
    }

    fn verify(&self, files: &CertificateFiles, names: &[&str], now: Timestamp) -> Option<()> {
        let certificate = chain(&files.certificate, &read(&files.certificate).ok()?).ok()?;
        let key = String::from_utf8(read(&files.key).ok()?).ok()?;
        let mut roots = RootCertStore::empty();
        roots.add(chain(&self.path, &self.pem).ok()?.pop()?).ok()?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().ok()?;
        let (leaf, intermediates) = certificate.split_first()?;
        let key = KeyPair::from_pem(&key).ok()?;
        let renewal = Duration::from_secs(RENEW_DAYS * 24 * 3600);
        // Verified as of the day of renewal: whatever would have expired by then is made anew now.
        let then = UnixTime::since_unix_epoch(Duration::try_from(now.as_duration()).ok()? + renewal);
        // The verifier sees the certificate alone; a key of another one (a copy that was half done) would fail every
        // handshake.
        let public_key_fits = memchr::memmem::find(leaf, key.public_key_raw()).is_some();
        for name in names {
            let name = ServerName::try_from(*name).ok()?;
            verifier.verify_server_cert(leaf, intermediates, &name, &[], then).ok()?;
        }
        public_key_fits.then_some(())
    }
}

/// The authority's own certificate. Its name carries the key's digest, so that two machines'
/// authorities are told apart; the same key always has the same name.
fn ca_params(key: &KeyPair, now: Timestamp) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::default();
    let digest: String = params.key_identifier(key).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    params.distinguished_name = named(&format!("Forecourt local CA {digest}"));
    good_for(&mut params, now, CA_DAYS)?;
    // People trust this authority in their browsers: it may sign servers, and no further authority.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut named = DistinguishedName::new();
    named.push(DnType::CommonName, name);
    named
}

fn new_key() -> Result<KeyPair, TlsError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(making)
}

fn making(error: rcgen::Error) -> TlsError {
    TlsError::Making(error.to_string())
}

/// From yesterday, for clients whose clock is behind, to the start of the day in `days`.
fn good_for(params: &mut CertificateParams, now: Timestamp, days: i64) -> Result<(), TlsError> {
    let [start, end] = [day(now, -1)?, day(now, days)?];
    params.not_before = date_time_ymd(start.0, start.1, start.2);
    params.not_after = date_time_ymd(end.0, end.1, end.2);
    Ok(())
}

fn day(now: Timestamp, days: i64) -> Result<(i32, u8, u8), TlsError> {
    let then = now.checked_add(SignedDuration::from_hours(24 * days));
    let date = then.map_err(|error| TlsError::Making(error.to_string()))?.to_zoned(TimeZone::UTC).date();
    Ok((i32::from(date.year()), date.month().unsigned_abs(), date.day().unsigned_abs()))
}

/// Replaces a file in one step, readable by its owner only when it is private.
fn write(path: &Path, text: &str) -> Result<(), TlsError> {
    let unfinished = path.with_extension("unfinished");
    let written = replace(&unfinished, path, text);
    written.map_err(|source| TlsError::File { path: path.to_owned(), source })
}

fn replace(unfinished: &Path, path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    // Made anew with its mode: an old file would keep the mode that it has, readable by others perhaps.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(unfinished)?;
    file.write_all(text.as_bytes())?;
    // Before the rename, or a crash could leave an empty file under the right name.
    file.sync_all()?;
    fs::rename(unfinished, path)
}
