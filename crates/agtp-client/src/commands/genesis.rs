//! `forecourt genesis`: origins of agents, made and looked at.

mod certificate;

use std::io::{Read, Write};
use std::path::Path;

use forecourt_client::output::{Failure, Outcome, print_json, stderrln, stdout, stdoutln};
use forecourt_client::printable::line;
use forecourt_contract::scope::ScopeSet;
use forecourt_core::{AgentId, Timestamp};
use forecourt_host::SystemEntropy;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_identity::genesis::{Genesis, GenesisDraft, fingerprint_of_key, name_of};
use forecourt_identity::limits::IDENTITY_FILE_BYTES_MAX;
use forecourt_identity::{HostKeys, SigningKey};
use serde_json::{Map, Value};

use crate::commands::args::{GenesisArguments, GenesisCreate, GenesisHash, GenesisShow, GenesisVerify, GenesisWhat};

/// Characters of a field that are shown on one line.
const SHOWN_CHARS_MAX: usize = 200;

/// Does what was asked for.
pub(crate) fn run(genesis: &GenesisArguments) -> Outcome {
    match &genesis.what {
        GenesisWhat::Create(create) => run_create(create),
        GenesisWhat::Show(show) => run_show(show),
        GenesisWhat::Verify(verify) => run_verify(verify),
        GenesisWhat::Hash(hash) => run_hash(hash),
        GenesisWhat::Authority(authority) => certificate::run_authority(authority),
        GenesisWhat::Certificate(wanted) => certificate::run_certificate(wanted),
    }
}

fn run_create(create: &GenesisCreate) -> Outcome {
    let key = signing_key(create)?;
    let genesis = draft(create)?.sign(&key).map_err(|error| Failure::yours(error.to_string()))?;
    match &create.out {
        None => print_json(genesis.document()),
        Some(file) => {
            write_new(file, &genesis)?;
            stdoutln!("{}", genesis.id());
            Ok(())
        }
    }
}

/// What was asked for, held to the same rules as the settings of an agent.
fn draft(create: &GenesisCreate) -> Result<GenesisDraft, Failure> {
    let scopes = ScopeSet::try_from(create.scope.clone()).map_err(|error| Failure::yours(error.to_string()))?;
    let settings = AgentIdentitySettings {
        scopes: Some(scopes),
        trust_tier: Some(create.tier),
        verification_path: Some(create.verification_path.clone()),
        archetype: Some(create.archetype),
        governance_zone: Some(create.zone.clone()),
        owner: Some(create.owner.clone()),
        wildcards: false,
    };
    if let Some((key, reason)) = settings.problem() {
        return Err(Failure::yours(format!("{key}: {reason}")));
    }
    let issued_at = create.issued_at.unwrap_or_else(Timestamp::now);
    Ok(GenesisDraft { name: create.name.clone(), ..settings.draft("", &create.owner, issued_at) })
}

fn signing_key(create: &GenesisCreate) -> Result<SigningKey, Failure> {
    let file = create.key.clone().unwrap_or_else(|| create.data.join(HostKeys::FILE));
    let pem = match std::fs::read_to_string(&file) {
        Ok(pem) => pem,
        // Only where there is none: a key that can't be read must not be replaced, since agents were issued by it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => made(&file)?,
        Err(error) => return Err(Failure::yours(format!("{}: {error}", file.display()))),
    };
    SigningKey::from_pem(&pem).map_err(|error| {
        let failure = Failure::yours(format!("{}: {error}", file.display()));
        failure.hint("an Ed25519 key as PKCS #8 is needed; `openssl genpkey -algorithm ed25519` makes one")
    })
}

/// A new key, kept in `file` for its owner alone.
fn made(file: &Path) -> Result<String, Failure> {
    let key = SigningKey::generate(&SystemEntropy);
    let pem = key.to_private_pem().map_err(|error| Failure::ours(error.to_string()))?;
    write_private(file, &pem)?;
    stderrln!("made a new key: {}. Keep it: who has it can change the state of the agent", file.display());
    Ok(pem)
}

/// Writes a file that is not there yet, for its owner alone.
pub(super) fn write_private(file: &Path, text: &str) -> Outcome {
    let wrong = |error: std::io::Error| Failure::yours(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // Its mode is set as it is made, so that nobody reads the key in between.
    let mut created = options.open(file).map_err(wrong)?;
    created.write_all(text.as_bytes()).and_then(|()| created.sync_all()).map_err(wrong)
}

/// An origin is for good: one that is there is not replaced.
fn write_new(file: &Path, genesis: &Genesis) -> Outcome {
    let wrong = |error: std::io::Error| {
        let failure = Failure::yours(format!("{}: {error}", file.display()));
        failure.hint("an origin is never changed: take another file, or delete this one and with it the agent")
    };
    let text = serde_json::to_string_pretty(genesis.document()).map_err(|error| Failure::ours(error.to_string()))?;
    let mut created = std::fs::File::create_new(file).map_err(wrong)?;
    writeln!(created, "{text}").and_then(|()| created.sync_all()).map_err(wrong)
}

fn run_show(show: &GenesisShow) -> Outcome {
    let genesis = read_checked(&show.file)?;
    if show.json {
        let mut document = genesis.document().clone();
        document.insert("agent_id".to_owned(), genesis.id().as_str().into());
        return print_json(&document);
    }
    stdout(format_args!("{}", describe(&genesis)));
    warn_of_spelling(&genesis);
    Ok(())
}

/// What an origin says, a line for each thing.
fn describe(genesis: &Genesis) -> String {
    let text = |name: &str| {
        genesis.document().get(name).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    };
    let scopes: Vec<_> = genesis.scope().collect();
    let lines = [
        ("agent id", Some(genesis.id().to_string())),
        ("name", text("name")),
        ("owner", genesis.owner().map(str::to_owned)),
        ("archetype", text("archetype")),
        ("zone", text("governance_zone")),
        ("scopes", Some(scopes.join(", "))),
        ("trust tier", text("trust_tier")),
        ("vouched by", text("verification_path")),
        ("issued", text("issued_at")),
        ("issuer key", genesis.issuer_fingerprint().map(|found| format!("sha256 {found}"))),
        ("signature", Some("good".to_owned())),
    ];
    let filled = lines.into_iter().filter_map(|(name, value)| Some((name, value?)));
    filled.map(|(name, value)| format!("{name:<11} {}\n", line(&value, SHOWN_CHARS_MAX))).collect()
}

fn run_verify(verify: &GenesisVerify) -> Outcome {
    let genesis = read_checked(&verify.file)?;
    if let Some(expected) = verify.agent_id.as_ref().filter(|expected| *expected != genesis.id()) {
        return Err(Failure::yours(format!("it is the origin of {}, and not of {expected}", genesis.id())));
    }
    if let Some(issuer) = &verify.issuer {
        let expected = issuer_key(issuer)?;
        if genesis.issuer_fingerprint() != Some(expected) {
            return Err(Failure::yours("it was signed, but by another key than that of the issuer"));
        }
    }
    stdoutln!("{}", genesis.id());
    warn_of_spelling(&genesis);
    if verify.issuer.is_none() {
        stderrln!("The signature is good. Whether the key is its issuer's is yours to know: --issuer KEY checks it.");
    }
    Ok(())
}

/// The fingerprint of a key in a file, or of one that was typed.
fn issuer_key(text: &str) -> Result<String, Failure> {
    let read = std::fs::read_to_string(text);
    let key = read.as_deref().unwrap_or(text).trim();
    fingerprint_of_key(key).ok_or_else(|| {
        Failure::yours("--issuer is no Ed25519 public key")
            .hint("give a PEM file (PUBLIC KEY), or 32 bytes in base64url")
    })
}

fn run_hash(hash: &GenesisHash) -> Outcome {
    let document = read(&hash.file)?;
    let (id, error) = match Genesis::check(document.clone(), None) {
        Ok(genesis) => (genesis.id().clone(), None),
        Err(error) => {
            let id: Result<AgentId, _> = name_of(&document);
            (id.map_err(|error| Failure::yours(error.to_string()))?, Some(error))
        }
    };
    stdoutln!("{id}");
    if let Some(error) = error {
        stderrln!("warning: it is not a valid genesis document yet: {error}");
    }
    Ok(())
}

fn warn_of_spelling(genesis: &Genesis) {
    if genesis.is_escaped() {
        stderrln!("warning: it was hashed with `\\u` escapes, which other readers may not accept");
    }
}

pub(super) fn read_checked(file: &Path) -> Result<Genesis, Failure> {
    let wrong = |error| Failure::yours(format!("{}: {error}", file.display()));
    Genesis::check(read(file)?, None).map_err(wrong)
}

/// The object in a file or on standard input.
fn read(file: &Path) -> Result<Map<String, Value>, Failure> {
    let wrong = |reason: String| Failure::yours(format!("{}: {reason}", file.display()));
    let mut bytes = Vec::new();
    let limit = IDENTITY_FILE_BYTES_MAX + 1;
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().take(limit).read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    read.map_err(|error| wrong(error.to_string()))?;
    if bytes.len() as u64 > IDENTITY_FILE_BYTES_MAX {
        return Err(wrong(format!("is larger than {IDENTITY_FILE_BYTES_MAX} bytes")));
    }
    match forecourt_core::json::parse(&bytes).map_err(wrong)? {
        Value::Object(document) => Ok(document),
        _ => Err(wrong("is not a JSON object".to_owned())),
    }
}
