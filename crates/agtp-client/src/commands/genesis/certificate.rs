//! `forecourt genesis authority` and `forecourt genesis certificate`: what proves an agent's id over TLS. Base 6.7.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_client::output::{Failure, Outcome, stderrln, stdoutln};
use forecourt_contract::scope::Scope;
use forecourt_core::Timestamp;
use forecourt_host::SystemEntropy;
use forecourt_identity::SigningKey;
use forecourt_identity::certificate::{CertificateAuthority, CertificateDraft, IssueError};
use forecourt_identity::genesis::{Genesis, TrustTier};
use forecourt_identity::limits::{CERTIFICATE_BYTES_MAX, CERTIFICATE_SCT_BYTES_MAX};
use serde_json::Value;

use crate::commands::args::{GenesisAuthority, GenesisCertificate};
use crate::commands::genesis::{read_checked, write_private};

/// How long before now a certificate begins to hold, for clocks that are behind.
const BEFORE: Duration = Duration::from_secs(5 * 60);

/// Makes an authority.
pub(super) fn run_authority(wanted: &GenesisAuthority) -> Outcome {
    let (certificate, key_file) = files(&wanted.out);
    // Looked at before the key is written, so that no key is left without its certificate.
    if certificate.exists() {
        return Err(Failure::yours(format!("{}: is there already", certificate.display())));
    }
    let key = SigningKey::generate(&SystemEntropy);
    let private = key.to_private_pem().map_err(|error| Failure::ours(error.to_string()))?;
    let authority =
        CertificateAuthority::create(&wanted.name, key, validity(wanted.days)?, &SystemEntropy).map_err(unfit)?;
    write_private(&key_file, &private)?;
    let wrong = |error| Failure::yours(format!("{}: {error}", certificate.display()));
    fs::write(&certificate, authority.to_pem()).map_err(wrong)?;
    stderrln!(
        "made {} for `ca_bundle_path` in [agtp.mtls], and {}, which signs: keep it away from servers",
        certificate.display(),
        key_file.display()
    );
    Ok(())
}

/// Makes a certificate for an agent, and prints whose it is.
pub(super) fn run_certificate(wanted: &GenesisCertificate) -> Outcome {
    let genesis = read_checked(&wanted.file)?;
    let authority = authority(&wanted.authority)?;
    let key = match &wanted.key {
        Some(file) => signing_key(file)?,
        None => SigningKey::generate(&SystemEntropy),
    };
    let private = key.to_private_pem().map_err(|error| Failure::ours(error.to_string()))?;
    let certificate = authority.issue(&draft(wanted, &genesis)?, &key, &SystemEntropy).map_err(unfit)?;
    write_private(&wanted.out, &format!("{certificate}{private}"))?;
    stdoutln!("{}", genesis.id());
    Ok(())
}

/// What the certificate says: what was asked for, else what the origin says.
fn draft(wanted: &GenesisCertificate, genesis: &Genesis) -> Result<CertificateDraft, Failure> {
    let text = |name: &str| genesis.document().get(name).and_then(Value::as_str).map(str::to_owned);
    let scopes = match wanted.scope.is_empty() {
        true => genesis.scope().map(str::to_owned).collect(),
        false => wanted.scope.iter().map(|scope| Scope::as_str(scope).to_owned()).collect(),
    };
    let number = genesis.document().get("trust_tier").and_then(Value::as_u64);
    let own_tier = number.and_then(|number| TrustTier::try_from(u8::try_from(number).ok()?).ok());
    let (not_before, not_after) = validity(wanted.days)?;
    Ok(CertificateDraft {
        agent_id: genesis.id().clone(),
        principal_id: wanted.principal.clone().or_else(|| genesis.owner().map(str::to_owned)),
        scopes: Some(scopes),
        governance_zone: wanted.zone.clone().or_else(|| text("governance_zone")),
        trust_tier: wanted.tier.or(own_tier),
        archetype: text("archetype"),
        activation_id: wanted.activation.clone(),
        ctl_sct: wanted.receipt.as_deref().map(|file| read(file, CERTIFICATE_SCT_BYTES_MAX)).transpose()?,
        not_before,
        not_after,
    })
}

/// The authority whose files begin so.
fn authority(name: &Path) -> Result<CertificateAuthority, Failure> {
    let (certificate, key) = files(name);
    let hint = "`forecourt genesis authority --name NAME --out agent-ca` makes an authority";
    let bytes = read(&certificate, CERTIFICATE_BYTES_MAX).map_err(|failure| failure.hint(hint))?;
    let pem = String::from_utf8_lossy(&bytes).into_owned();
    CertificateAuthority::read(&pem, signing_key(&key)?)
        .map_err(|error| Failure::yours(format!("{}: {error}", certificate.display())))
}

/// The certificate and the key of an authority.
fn files(name: &Path) -> (PathBuf, PathBuf) {
    let with = |ending: &str| {
        let mut whole = name.as_os_str().to_owned();
        whole.push(ending);
        PathBuf::from(whole)
    };
    (with(".pem"), with(".key"))
}

fn signing_key(file: &Path) -> Result<SigningKey, Failure> {
    let pem = String::from_utf8_lossy(&read(file, CERTIFICATE_BYTES_MAX)?).into_owned();
    SigningKey::from_pem(&pem).map_err(|error| {
        let failure = Failure::yours(format!("{}: {error}", file.display()));
        failure.hint("an Ed25519 key as PKCS #8 is needed; `openssl genpkey -algorithm ed25519` makes one")
    })
}

fn read(file: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let wrong = |reason: String| Failure::yours(format!("{}: {reason}", file.display()));
    let bytes = fs::read(file).map_err(|error| wrong(error.to_string()))?;
    if bytes.len() <= bytes_max { Ok(bytes) } else { Err(wrong(format!("is larger than {bytes_max} bytes"))) }
}

/// From a little before now, for so many days.
fn validity(days: u16) -> Result<(Timestamp, Timestamp), Failure> {
    let now = Timestamp::now();
    let until = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
    let ends = now.checked_sub(BEFORE).and_then(|from| Ok((from, now.checked_add(until)?)));
    ends.map_err(|error| Failure::yours(error.to_string()))
}

fn unfit(error: IssueError) -> Failure {
    Failure::yours(error.to_string())
}
