//! The sections of a deployment that no protocol or backend owns.

mod admin;
mod agent;
mod domains;
mod drain;
mod hub;
mod listen;
mod log;
mod metrics;
mod reload;
mod shared;
mod store;
pub mod telemetry;
mod tls;

use std::path::PathBuf;

use forecourt_core::{Domain, Handle};
use schemars::JsonSchema;
use serde::Deserialize;

pub use admin::AdminSettings;
pub use agent::{AgentSettings, ModeSettings, PolicySettings, SkillSettings};
pub use domains::DomainEntry;
pub use drain::DrainSettings;
pub(crate) use drain::read_drain;
pub use hub::HubSettings;
pub use listen::{Listen, ListenOverrides};
pub use log::{Log, LogFormat};
pub use metrics::MetricsSettings;
pub(crate) use metrics::{MonitoringSettings, read_metrics};
pub use reload::ReloadSettings;
pub use shared::{BusSettings, SharedStore};
pub(crate) use shared::{check_together, notice, read_bus, read_store};
pub use store::{StoreKind, StoreSettings};
pub use tls::Tls;

/// The file that makes a folder a deployment.
pub const FILE: &str = "forecourt.toml";

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
    /// The base of every published URL, `https://host[:port]` with a path where a proxy serves this deployment below
    /// one, when it is not the domain with the port of the HTTPS listener. Requests come with that path or without it.
    pub public_url: Option<String>,
    /// Networks of proxies in front of this daemon, such as `10.0.0.0/8`: what they say of a client's
    /// address in `Forwarded` or `X-Forwarded-For` is believed.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub trusted_proxies: Vec<ipnet::IpNet>,
}

impl TopSettings {
    /// What the site is called: as its operator says, else its domain.
    pub(crate) fn site_name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.domain.as_str())
    }

    /// The path of `public_url`, without a slash at its end: what the paths of this host are published below.
    pub(crate) fn public_path(&self) -> &str {
        let rest = self.public_url.as_deref().and_then(|url| url.split_once("://")).map_or("", |(_, rest)| rest);
        rest.find('/').map_or("", |at| rest[at..].trim_end_matches('/'))
    }
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
    /// Whether a question that several people have asked, and that was answered, is suggested to others who type its
    /// beginning. Its text is shown to them as it is kept.
    pub suggest: bool,
}

impl Default for QuestionSettings {
    fn default() -> Self {
        Self { log: false, keep_days: 30, suggest: true }
    }
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
