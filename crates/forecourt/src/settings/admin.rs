//! `[admin]`: the operator's listener.

use forecourt_admin::OidcLoginSettings;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::alerts::AlertSettings;

/// `[admin]`: calls on the operator's listener that change something, and what the operator is told.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdminSettings {
    /// What opens the console, its API and the calls that push content, as `Authorization: Bearer` or at the login: at
    /// least 16 characters, best from the environment, as `"${FORECOURT_ADMIN_TOKEN}"`. Without it programs are
    /// refused, and people too unless there is `oidc`.
    pub token: Option<String>,
    /// Where people log in to the console with their own accounts, beside the token or without one.
    pub oidc: Option<OidcLoginSettings>,
    /// Where browsers find the console, `https://host[:port]`, when that is not the address of the listener: behind a
    /// proxy, for one. On this machine it may be `http://`, such as `http://localhost:9080`. The provider of `oidc`
    /// sends people back there.
    pub public_url: Option<String>,
    /// Whether operators change the files of this deployment from the console and by the API. Off by default: what agents
    /// run is in those files, so that whoever is an operator can then have this machine run programs. `true` has what was
    /// served kept in the data folder too, so that it can be put back.
    pub editor: bool,
    /// Where you are told that a question waits for you, `https://…`: a post as soon as it is kept, and
    /// again for about an hour and a half while nobody takes it. Held to `[egress]`, as all webhooks are.
    pub webhook: Option<String>,
    /// What signs those posts, in `X-Hub-Signature-256`: 16 to 256 bytes, best from the environment, as
    /// `"${FORECOURT_WEBHOOK_SECRET}"`. Needed beside `webhook` and `alert_webhook`.
    pub webhook_secret: Option<String>,
    /// Where you are told that an alert begins and ends, `https://…`: a post for each, at most 20 a minute from each node,
    /// signed and made again as those to `webhook`.
    pub alert_webhook: Option<String>,
    /// Names of shipped alerts that nobody wants.
    pub alerts_off: Vec<String>,
    /// Alerts of your own, beside those that are shipped: at most 50.
    pub alert: Vec<AlertSettings>,
}
