//! A file of `hubs/`, but for its rules and for what the backend of its agents owns.

use forecourt_core::Glob;
use schemars::JsonSchema;
use serde::Deserialize;

/// A hub elsewhere whose agents answer here as well, as they come and go. The file's name is its name. `[backend]` has
/// what an `a2a` agent may have there, but for `kind` and `url`: `headers`, `on_behalf_of`, `require_signature`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HubSettings {
    /// Where the hub is: a domain such as `example.com`, or the URL of its card. A port may follow a domain; names under
    /// `.localhost` are asked over plain http, at 8080 unless it does.
    pub address: String,
    /// What goes before the handles of its agents here, such as `far-`. Default: nothing.
    #[serde(default)]
    pub prefix: String,
    /// The agents that are fronted, by their handles at the hub: patterns in which `*` stands for any characters. At
    /// most 100. Default: all, 1,000 at most.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub only: Vec<Glob>,
    /// Agents that are not fronted, though `only` names them. At most 100.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub except: Vec<Glob>,
    /// Whether agents are fronted that the hub itself fronts for others. What leads back to this host never is.
    #[serde(default)]
    pub fronted: bool,
    /// Seconds from one look at the hub to the next, between 30 and 86400.
    #[serde(default = "refresh_seconds")]
    pub refresh_seconds: u64,
}

fn refresh_seconds() -> u64 {
    300
}
