//! `[metrics]`: a socket for what watches the daemon from elsewhere.

use std::net::SocketAddr;

use forecourt_server::AdminToken;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;

/// `[metrics]`: a socket of its own for what watches the daemon from elsewhere, beside the operator's listener.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MetricsSettings {
    /// Where `/metrics`, `/healthz` and `/readyz` answer over plain HTTP, and nothing else does, such as `0.0.0.0:9464`:
    /// for a Prometheus and for probes that are not on this machine. Without it they are on the operator's listener
    /// alone.
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// What opens `/metrics` there, as `Authorization: Bearer`: at least 16 characters, best from the environment, as
    /// `"${FORECOURT_METRICS_TOKEN}"`. Needed where `listen` is off loopback. Health needs none, and is yes or no there.
    pub token: Option<String>,
}

/// A socket for what watches the daemon from elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct MonitoringSettings {
    /// Where.
    pub(crate) address: SocketAddr,
    /// What opens its metrics.
    pub(crate) token: Option<AdminToken>,
}

/// Reads `[metrics]`.
///
/// # Errors
/// A key that means nothing, a token that could be guessed, or none where strangers may come.
pub(crate) fn read_metrics(section: &Section) -> Result<Option<MonitoringSettings>, Problems> {
    let MetricsSettings { listen, token } = section.read()?;
    let token = match token {
        None => None,
        Some(text) => Some(AdminToken::new(&text).ok_or_else(|| {
            let least = AdminToken::BYTES_MIN;
            section.problem(Some("token"), format!("a token has at least {least} characters, and no spaces"))
        })?),
    };
    match listen {
        None if token.is_some() => {
            Err(section.problem(Some("token"), "`token` needs `listen` beside it: it opens nothing else").into())
        }
        None => Ok(None),
        Some(address) if token.is_none() && !address.ip().to_canonical().is_loopback() => {
            let problem = section.problem(Some("listen"), "`listen` off loopback needs `token` beside it");
            Err(problem.hint("write token = \"${FORECOURT_METRICS_TOKEN}\"").into())
        }
        Some(address) => Ok(Some(MonitoringSettings { address, token })),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<Option<MonitoringSettings>, String> {
        let environment = |_: &str| None;
        let section = Section::parse(Path::new("forecourt.toml"), text, &environment).unwrap();
        read_metrics(&section).map_err(|problems| problems.to_string())
    }

    #[test]
    fn strangers_may_come_only_where_there_is_a_token() {
        let token = "token = \"0123456789abcdef\"";
        assert!(read("").unwrap().is_none());
        for loopback in ["127.0.0.1:9464", "[::1]:9464", "[::ffff:127.0.0.1]:9464"] {
            let settings = read(&format!("listen = \"{loopback}\"")).unwrap().unwrap();
            assert!(settings.token.is_none(), "{loopback}");
        }
        for open in ["0.0.0.0:9464", "[::]:9464", "192.0.2.1:9464"] {
            let wrong = read(&format!("listen = \"{open}\"")).unwrap_err();
            assert!(wrong.contains("off loopback needs `token`"), "{wrong}");
            assert!(read(&format!("listen = \"{open}\"\n{token}")).unwrap().unwrap().token.is_some(), "{open}");
        }
    }

    #[test]
    fn a_token_is_long_and_has_something_to_open() {
        let wrong = read("listen = \"0.0.0.0:9464\"\ntoken = \"short\"").unwrap_err();
        assert!(wrong.contains("at least 16 characters"), "{wrong}");
        let wrong = read("token = \"0123456789abcdef\"").unwrap_err();
        assert!(wrong.contains("needs `listen`"), "{wrong}");
    }
}
