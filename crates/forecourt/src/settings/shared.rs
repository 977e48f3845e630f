//! `[store] url` and `[bus]`: what several nodes share.

use std::path::PathBuf;

use forecourt_bus::{NatsOptions, ServerName};
use forecourt_host::LeaseSettings;
use forecourt_settings::{Problem, Problems, Section, files};
use forecourt_store::StoreKey;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{StoreKind, StoreSettings};

/// Bytes that the database may have at least: fewer hold no deployment's work.
const STORE_BYTES_MIN: u64 = 16 * 1024 * 1024;
/// Seconds of a lease, at least and at most: a shorter one is lost to a slow disk, with a longer one tasks of a node
/// that died wait for long.
const LEASE_SECONDS: std::ops::RangeInclusive<u64> = 5..=300;
/// How a key is made.
const KEY_HINT: &str = "make one with `openssl rand -base64 32`, keep it as you keep the database's password, and \
                        write key = \"${FORECOURT_STORE_KEY}\"";

/// A database that several nodes share.
#[derive(Clone)]
pub struct SharedStore {
    /// `postgres://…`, which may hold a password.
    pub url: String,
    /// What seals ids, requests and answers in it.
    pub key: StoreKey,
}

impl SharedStore {
    /// Where it is, without a name and a password.
    pub(crate) fn location(&self) -> String {
        // What can't be taken apart is not shown at all: the password would be somewhere in it.
        let Ok(url) = url::Url::parse(&self.url) else { return "an unknown place".to_owned() };
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("postgres://{}{port}{}", url.host_str().unwrap_or_default(), url.path())
    }
}

/// Never prints the URL, which may hold a password, nor the key.
impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedStore")
    }
}

/// `[bus]`: what nodes tell each other by. Without it they look into the store every few seconds.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BusSettings {
    /// One or several servers of NATS, with commas in between: `nats://bus:4222`, or `tls://…`. A name and a password,
    /// or a token, may stand before the host, best from the environment: `nats://forecourt:${NATS_PASSWORD}@bus:4222`.
    pub url: Option<String>,
    /// A file of credentials (`.creds`) in place of a name and a password.
    pub credentials_file: Option<PathBuf>,
    /// Authorities in PEM whose certificates are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// The certificate chain by which this node is known to the servers, PEM. Needs `key_file` beside it.
    pub cert_file: Option<PathBuf>,
    /// Its private key, PEM.
    pub key_file: Option<PathBuf>,
}

impl std::fmt::Debug for BusSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BusSettings").field("is_set", &self.url.is_some()).finish_non_exhaustive()
    }
}

impl BusSettings {
    /// What a bus is opened from, where there is one.
    pub(crate) fn options(&self, deployment: String) -> Option<NatsOptions> {
        Some(NatsOptions {
            url: self.url.clone()?,
            deployment,
            credentials: self.credentials_file.clone(),
            ca: self.ca_file.clone(),
            certificate: self.cert_file.clone().zip(self.key_file.clone()),
        })
    }

    /// The servers, without names and passwords.
    pub(crate) fn servers(&self) -> Vec<String> {
        let options = self.options(String::new());
        let servers = options.and_then(|options| options.servers().ok()).unwrap_or_default();
        servers.iter().map(ServerName::to_string).collect()
    }
}

impl StoreSettings {
    /// Which store it is: `url` alone says so too.
    pub fn kind(&self) -> StoreKind {
        match (self.kind, &self.shared) {
            (_, Some(_)) => StoreKind::Postgres,
            (kind, None) => kind.unwrap_or_default(),
        }
    }

    /// Whether other nodes have it too.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// How nodes hold their tasks in it.
    pub(crate) fn lease(&self) -> LeaseSettings {
        LeaseSettings::of(std::time::Duration::from_secs(self.lease_seconds))
    }
}

/// Reads `[store]`.
pub(crate) fn read_store(section: &Section) -> Result<StoreSettings, Problems> {
    let mut store: StoreSettings = section.read()?;
    let mut problems = Problems::new();
    if store.size_max.is_some_and(|bytes| bytes < STORE_BYTES_MIN) {
        problems.push(section.problem(Some("size_max"), format!("must be {STORE_BYTES_MIN} at least")));
    }
    if !LEASE_SECONDS.contains(&store.lease_seconds) {
        let text = format!("must be between {} and {}", LEASE_SECONDS.start(), LEASE_SECONDS.end());
        problems.push(section.problem(Some("lease_seconds"), text));
    }
    // Taken out of the settings: from here on both lie in `SharedStore`, which never prints them.
    let (url, key) = (store.url.take(), store.key.take());
    let key_file = store.key_file.take().map(|file| section.resolve_path(&file));
    match (url, store.kind) {
        (Some(_), Some(kind @ (StoreKind::Sqlite | StoreKind::Memory))) => {
            let text = format!("a store has a `url` or is of kind `{}`, not both", kind.name());
            problems.push(section.problem(Some("kind"), text).hint("leave out `kind`: the URL says what it is"));
        }
        (Some(url), _) => {
            problems.absorb(check_url(section, &url).map_err(Problems::from));
            let key = problems.absorb(read_key(section, key, key_file).map_err(Problems::from));
            store.shared = key.map(|key| SharedStore { url, key });
        }
        (None, Some(StoreKind::Postgres)) => {
            let problem = section.problem(Some("kind"), "a store of kind `postgres` needs `url` beside it");
            problems.push(problem.hint("write url = \"postgres://forecourt:${PGPASSWORD}@HOST/forecourt\""));
        }
        (None, _) if store.snapshots.is_some() => {
            let problem = section.problem(Some("snapshots"), "`snapshots` needs `url` beside it");
            problems.push(problem.hint("one node has nobody to share its indexes with"));
        }
        (None, _) if key.is_some() || key_file.is_some() => {
            let name = if key.is_some() { "key" } else { "key_file" };
            let problem = section.problem(Some(name), format!("`{name}` needs `url` beside it"));
            problems.push(problem.hint("a store in the data folder has a key of its own there"));
        }
        (None, _) => {}
    }
    problems.into_result(store)
}

/// What can be told of a URL without connecting. Never shows what stands before the host.
fn check_url(section: &Section, url: &str) -> Result<(), Problem> {
    let wrong = |text: &str| section.problem(Some("url"), text.to_owned());
    let hint = "write url = \"postgres://USER:${PGPASSWORD}@HOST/DATABASE\"";
    let Ok(parsed) = url::Url::parse(url) else {
        return Err(
            wrong("is no URL of a database; a password with `@`, `/` or `:` in it needs percent signs").hint(hint)
        );
    };
    if !matches!(parsed.scheme(), "postgres" | "postgresql") {
        let text = format!("a store's URL begins with postgres://, and this one with {}://", parsed.scheme());
        return Err(wrong(&text).hint(hint));
    }
    if parsed.path().trim_matches('/').is_empty() {
        return Err(wrong("names no database").hint(hint));
    }
    Ok(())
}

fn read_key(section: &Section, key: Option<String>, file: Option<PathBuf>) -> Result<StoreKey, Problem> {
    let (name, text) = match (key, file) {
        (Some(_), Some(_)) => {
            return Err(section.problem(Some("key_file"), "there is a `key` already: leave out one of them"));
        }
        (Some(key), None) => ("key", key),
        (None, Some(file)) => ("key_file", files::text_of(&file)?),
        (None, None) => {
            let text = "a store that nodes share needs `key` or `key_file`: what seals ids, requests and answers in it";
            return Err(section.problem(Some("url"), text).hint(KEY_HINT));
        }
    };
    let wrong = || section.problem(Some(name), "a key is 32 bytes in base64 or hex").hint(KEY_HINT);
    StoreKey::parse(text.trim()).ok_or_else(wrong)
}

/// Reads `[bus]`.
pub(crate) fn read_bus(section: &Section) -> Result<BusSettings, Problems> {
    let mut bus: BusSettings = section.read()?;
    let files = [&mut bus.credentials_file, &mut bus.ca_file, &mut bus.cert_file, &mut bus.key_file];
    for file in files.into_iter().flatten() {
        let whole = section.resolve_path(&*file);
        *file = whole;
    }
    let mut problems = Problems::new();
    match (&bus.cert_file, &bus.key_file) {
        (Some(_), None) => problems.push(section.problem(Some("cert_file"), "`cert_file` needs `key_file` beside it")),
        (None, Some(_)) => problems.push(section.problem(Some("key_file"), "`key_file` needs `cert_file` beside it")),
        _ => {}
    }
    let named = [
        ("credentials_file", &bus.credentials_file),
        ("ca_file", &bus.ca_file),
        ("cert_file", &bus.cert_file),
        ("key_file", &bus.key_file),
    ];
    for (name, file) in named.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?))) {
        if bus.url.is_none() {
            problems.push(section.problem(Some(name), format!("`{name}` needs `url` beside it")));
        } else if let Err(error) = std::fs::File::open(file) {
            problems.push(section.problem(Some(name), format!("{} cannot be read: {error}", file.display())));
        }
    }
    if let Some(options) = bus.options(String::new())
        && let Err(error) = options.servers()
    {
        problems.push(section.problem(Some("url"), error.to_string()).hint("write url = \"nats://HOST:4222\""));
    }
    problems.into_result(bus)
}

/// What `[store]` and `[bus]` only together decide.
pub(crate) fn check_together(section: &Section, store: &StoreSettings, bus: &BusSettings) -> Result<(), Problem> {
    if bus.url.is_none() || store.is_shared() {
        return Ok(());
    }
    let text = "there is a [bus] for several nodes, and the store of this one is its own";
    Err(section
        .problem(Some("url"), text)
        .hint("give all nodes one store, [store] url = \"postgres://…\", or remove [bus]"))
}

/// What is worth knowing of a store without a bus.
pub(crate) fn notice(store: &StoreSettings, bus: &BusSettings) -> Option<String> {
    let is_missing = store.is_shared() && bus.url.is_none();
    is_missing.then(|| {
        "several nodes may share the store, and there is no [bus]: what one does the others see a few seconds later, and \
         each gives out its share of the limits"
            .to_owned()
    })
}
