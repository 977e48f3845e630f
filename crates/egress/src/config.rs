//! The `[egress]` section of `forecourt.toml`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;

/// What the host may fetch and post on behalf of callers. Private networks are closed unless they
/// are opened here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EgressConfig {
    /// Networks opened on purpose, such as `["10.1.2.0/24"]`. Names that resolve only into them are
    /// reachable too, on any port.
    #[schemars(with = "Vec<String>")]
    pub allow: Vec<IpNet>,
    /// Whether plain `http://` is fine for attachments, webhooks, callbacks and the services behind
    /// endpoints, within `allow`.
    pub allow_http: bool,
    /// Ports of public targets beside the one that a protocol has everywhere, which is 443 for https and
    /// open for that protocol alone.
    pub ports: Vec<u16>,
    /// PEM files of certificate authorities that are trusted beside those of the system, relative to
    /// the deployment folder.
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured too.
    pub ca_files: Vec<PathBuf>,
    /// Seconds to connect, TLS included.
    pub connect_seconds: NonZeroU32,
    /// Seconds until the head of an answer.
    pub first_byte_seconds: NonZeroU32,
    /// Seconds for a whole exchange.
    pub total_seconds: NonZeroU32,
    /// Bytes of an attachment.
    pub attachment_bytes: NonZeroUsize,
    /// Requests at once, in all.
    pub max_concurrent: NonZeroUsize,
    /// Requests at once to one host.
    pub max_concurrent_per_host: NonZeroUsize,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            allow_http: false,
            ports: Vec::new(),
            ca_files: Vec::new(),
            connect_seconds: seconds(limits::CONNECT_TIME_MAX),
            first_byte_seconds: seconds(limits::FIRST_BYTE_TIME_MAX),
            total_seconds: seconds(limits::TOTAL_TIME_MAX),
            attachment_bytes: count(limits::ATTACHMENT_BYTES_MAX),
            max_concurrent: count(limits::AT_ONCE_MAX),
            max_concurrent_per_host: count(limits::AT_ONCE_PER_HOST_MAX),
        }
    }
}

fn seconds(time: Duration) -> NonZeroU32 {
    u32::try_from(time.as_secs()).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

fn count(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN)
}
