//! The flags of `forecourt keys`.

use clap::{Args, Subcommand};
use forecourt_identity::api_keys::ApiKeyLimit;

use super::Place;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub what: Option<KeysWhat>,
    #[command(flatten)]
    pub place: Place,
    /// Make a new key. The old one stays published for 24 hours.
    #[arg(long)]
    pub rotate: bool,
    /// Print the keys as JSON (JWKS).
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysWhat {
    /// Make, list and revoke API keys: what programs send to say who they are.
    Api(ApiKeysArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ApiKeysArguments {
    #[command(subcommand)]
    pub what: ApiKeysWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApiKeysWhat {
    /// Make a key and print it. It is shown this once; what is kept is its hash.
    ///
    /// Send it as `Authorization: Bearer fck_…` over any protocol. To policies its bearer is `key:NAME`. It works
    /// from now on, also with a server that is running.
    #[command(
        after_help = "Examples:\n  forecourt keys api create nightly --scope booking:room --limit 60/min --expires 90d\n  export FORECOURT_TOKEN=$(forecourt keys api create ci)\n  forecourt ask @desk@demo.localhost \"is a room free?\""
    )]
    Create(CreateApiKey),
    /// List the keys: what they may do, and when they were used last.
    List(ListApiKeys),
    /// End a key. It is refused from now on, also by a server that is running.
    Revoke(RevokeApiKey),
}

#[derive(Debug, Args)]
pub(crate) struct CreateApiKey {
    /// Names it among the keys in force: a-z, 0-9, `-`, `_` and `.`.
    pub name: String,
    #[command(flatten)]
    pub place: Place,
    /// What may be done with it, such as `booking:room`; may be repeated. Without one, what needs no scope.
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// How often it may be used, such as 10/s, 60/min, 1000/h or 5000/day.
    #[arg(long, value_name = "N/SPAN")]
    pub limit: Option<ApiKeyLimit>,
    /// When it ends: after 12h, 90d or 8w, on a day such as 2027-01-31, or at a time.
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// Print the key and what is kept of it as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListApiKeys {
    #[command(flatten)]
    pub place: Place,
    /// Print the keys as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeApiKey {
    /// The name or the id of a key in force.
    pub key: String,
    #[command(flatten)]
    pub place: Place,
}
