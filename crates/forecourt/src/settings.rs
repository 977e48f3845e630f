//! The sections of a deployment that no protocol or backend owns.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

use forecourt_core::{ContentMode, Domain, Handle, Language, Skill};
use forecourt_host::rules::RuleSettings;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Error;

/// The top of `forecourt.toml`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopSettings {
    /// The domain of every address here, such as `example.com`. Names under `.localhost` mean this
    /// machine and need no DNS.
    #[schemars(with = "String")]
    pub domain: Domain,
    /// A name for people.
    pub name: Option<String>,
    /// The handle of the agent that takes what nobody else is named for; the first one by file name
    /// when absent.
    #[schemars(with = "Option<String>")]
    pub default_agent: Option<Handle>,
    /// The base of every published URL, `https://host[:port]`, when it is not the domain with the
    /// port of the HTTPS listener: behind a proxy, for one.
    pub public_url: Option<String>,
    /// Networks of proxies in front of this daemon, such as `10.0.0.0/8`: what they say of a client's
    /// address in `Forwarded` or `X-Forwarded-For` is believed.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub trusted_proxies: Vec<ipnet::IpNet>,
}

impl Tls {
    /// The files, when there are both.
    pub fn files(&self) -> Option<forecourt_server::tls::CertificateFiles> {
        let (certificate, key) = (self.cert.clone()?, self.key.clone()?);
        Some(forecourt_server::tls::CertificateFiles { certificate, key })
    }

    /// Fails when strangers could reach what is within TLS at this address, and there is no certificate
    /// that they can trust.
    pub fn suits(&self, name: &str, address: SocketAddr) -> Result<(), Error> {
        if self.files().is_some() || address.ip().is_loopback() {
            return Ok(());
        }
        Err(Error::new(format!("{name} on {address} needs a certificate of your own"))
            .hint("set `cert` and `key` in [tls], or listen on 127.0.0.1"))
    }
}

/// `[listen]`: where the daemon listens. The command line's flags go before these.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Listen {
    /// Plain HTTP, for development and for proxies on this machine. Loopback only.
    #[schemars(with = "String")]
    pub http: SocketAddr,
    /// HTTPS. Off loopback it needs `[tls]` with a certificate of your own.
    #[schemars(with = "String")]
    pub https: SocketAddr,
    /// Health, readiness and metrics, for which nobody is asked who they are, and what `[admin]` opens.
    /// Loopback only.
    #[schemars(with = "String")]
    pub admin: SocketAddr,
}

impl Default for Listen {
    fn default() -> Self {
        let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        Self { http: loopback(8080), https: loopback(8443), admin: loopback(9080) }
    }
}

/// `[tls]`: a certificate of your own. Without it a local authority in the data folder makes one,
/// for loopback only.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// The certificate chain, PEM. Read again when it changes.
    pub cert: Option<PathBuf>,
    /// Its private key, PEM.
    pub key: Option<PathBuf>,
}

/// `[admin]`: calls on the operator's listener that change something, and what the operator is told.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdminSettings {
    /// What programs that push content prove themselves with, as `Authorization: Bearer`: at least 16
    /// characters, best from the environment, as `"${FORECOURT_ADMIN_TOKEN}"`. Without it such calls are
    /// refused.
    pub token: Option<String>,
    /// Where you are told that a question waits for you, `https://…`: a post as soon as it is kept, and
    /// again for about an hour and a half while nobody takes it. Held to `[egress]`, as all webhooks are.
    pub webhook: Option<String>,
    /// What signs those posts, in `X-Hub-Signature-256`: 16 to 256 bytes, best from the environment, as
    /// `"${FORECOURT_WEBHOOK_SECRET}"`. Needed beside `webhook`.
    pub webhook_secret: Option<String>,
}

/// `[questions]`: a log of what people ask, for you to read. It is off unless you turn it on, and holds no personal
/// data: no address, no session, no identity and no time but the day; what looks like a number of somebody's or an
/// address of mail or of the web is taken out of the text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuestionSettings {
    /// Whether questions are counted, with what became of them and with thumbs. `forecourt eval --log` shows them,
    /// and `/questions` on the operator's listener.
    pub log: bool,
    /// Days for which they are kept, 1 to 366.
    pub keep_days: u32,
}

impl Default for QuestionSettings {
    fn default() -> Self {
        Self { log: false, keep_days: 30 }
    }
}

/// `[store]`: where tasks and conversations are kept.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StoreSettings {
    /// Which store.
    pub kind: StoreKind,
    /// Bytes of the database file, from 16777216 on. Over it, what would keep more is refused; the last
    /// sixteenth is for what ends or removes something.
    pub size_max: u64,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { kind: StoreKind::default(), size_max: forecourt_store::limits::DATABASE_BYTES_MAX }
    }
}

/// The stores there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// A file in the data folder. Survives a power cut.
    #[default]
    Sqlite,
    /// Nothing survives a restart. For tests and demonstrations.
    Memory,
}

/// `[geo]`: where network addresses are.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GeoSettings {
    /// A file with a line for each network, `203.0.113.0/24,DE`: what the `countries` of rules go by. At most a
    /// million lines and 64 MiB; of networks within one another the smallest counts. Read at the start and when
    /// the deployment is read again.
    pub countries_file: Option<PathBuf>,
}

/// `[log]`: what is written to standard error.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// How much: `error`, `warn`, `info`, `debug`, or filters such as `info,forecourt_host=debug`. Libraries are
    /// heard no further than their warnings, whatever this says.
    pub level: String,
    /// One line for people, or one JSON object for machines.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::Text }
    }
}

/// The top of a file in `agents/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// The local part of its address: 1 to 30 of `a-z`, `0-9`, `_` and `-`.
    #[schemars(with = "String")]
    pub handle: Handle,
    /// A name for people.
    pub name: String,
    /// What it is for, in a sentence or two.
    #[serde(default)]
    pub description: String,
    /// Semantic version of the agent, published in its card.
    #[serde(default = "first_version")]
    pub version: String,
    /// The language it answers in, a BCP 47 tag.
    #[serde(default = "Language::english")]
    #[schemars(with = "String")]
    pub language: Language,
    /// A page about it, https.
    pub homepage: Option<String>,
    /// A picture of it, https.
    pub icon: Option<String>,
    /// Questions to suggest on its page.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Whether it keeps conversations. The default is its backend's.
    pub sessions: Option<bool>,
    /// Whether web pages of other origins may talk to it.
    #[serde(default)]
    pub cors: bool,
    /// `Cache-Control` of its answers. Long caching is for answers that are the same for everybody.
    pub cache_control: Option<String>,
    /// How long it may take for one answer.
    #[serde(default = "agent_time")]
    pub timeout_seconds: NonZeroU32,
    /// What it can do.
    #[serde(default)]
    pub skills: Vec<SkillSettings>,
    /// What it takes. The default is its backend's.
    #[schemars(with = "Option<Vec<ModeSettings>>")]
    pub input_modes: Option<Vec<ContentMode>>,
    /// What it gives. The default is its backend's.
    #[schemars(with = "Option<Vec<ModeSettings>>")]
    pub output_modes: Option<Vec<ContentMode>>,
    /// The rules before it.
    #[serde(default)]
    pub policy: PolicySettings,
}

/// One thing an agent can do.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillSettings {
    /// Names it among the agent's skills.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// A sentence about it.
    #[serde(default)]
    pub description: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What one might ask.
    #[serde(default)]
    pub examples: Vec<String>,
}

/// A form of content, for the generated reference.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct ModeSettings {
    /// `text`, `link`, `file` or `artifact`.
    kind: String,
    /// The media type, for all but links.
    mime: Option<String>,
}

/// `[policy]` of an agent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Rules in the order in which they are asked; the first refusal stands.
    pub rules: Vec<RuleSettings>,
}

impl From<SkillSettings> for Skill {
    fn from(s: SkillSettings) -> Self {
        Self { id: s.id, name: s.name, description: s.description, tags: s.tags, examples: s.examples }
    }
}

fn first_version() -> String {
    "1.0.0".to_owned()
}

fn agent_time() -> NonZeroU32 {
    let seconds = forecourt_core::limits::AGENT_TIME_MAX.as_secs();
    u32::try_from(seconds).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

impl AgentSettings {
    /// An agent of this handle and name, with everything else as it comes when a file leaves it out.
    pub fn new(handle: Handle, name: impl Into<String>) -> Self {
        Self {
            handle,
            name: name.into(),
            description: String::new(),
            version: first_version(),
            language: Language::english(),
            homepage: None,
            icon: None,
            examples: Vec::new(),
            sessions: None,
            cors: false,
            cache_control: None,
            timeout_seconds: agent_time(),
            skills: Vec::new(),
            input_modes: None,
            output_modes: None,
            policy: PolicySettings::default(),
        }
    }
}

/// Addresses that go before those of the files: the flags of a command line, or what an embedding program
/// wants.
#[derive(Debug, Clone, Default)]
pub struct ListenOverrides {
    /// Plain HTTP.
    pub http: Option<SocketAddr>,
    /// HTTPS.
    pub https: Option<SocketAddr>,
    /// The operator's listener.
    pub admin: Option<SocketAddr>,
    /// The sockets that protocols have for themselves, by their names.
    pub own: HashMap<String, SocketAddr>,
}

impl ListenOverrides {
    /// Ports of this machine that are free, for every listener that is always there: for tests and for
    /// programs that ask for the address afterwards.
    pub fn free_ports() -> Self {
        let free = Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
        Self { http: free, https: free, admin: free, own: HashMap::new() }
    }

    /// The shared sockets, where the files say `listen`.
    pub(crate) fn or(&self, listen: Listen) -> Listen {
        Listen {
            http: self.http.unwrap_or(listen.http),
            https: self.https.unwrap_or(listen.https),
            admin: self.admin.unwrap_or(listen.admin),
        }
    }

    /// The address of a protocol's own socket.
    pub(crate) fn named(&self, name: &str) -> Option<SocketAddr> {
        self.own.get(name).copied()
    }
}
