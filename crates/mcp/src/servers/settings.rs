//! The keys of a file of `servers/`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::on_behalf_of::TokenExchange;
use forecourt_agents::settings::seconds;
use forecourt_core::{Glob, Handle};
use forecourt_host::ServerGate;
use forecourt_settings::{Problems, Section, files};
use forecourt_surface::ServerDefinition;
use schemars::JsonSchema;
use serde::Deserialize;

use super::catalog::Catalog;
use super::sign_in::{CheckedSignIn, SignInSettings};
use crate::limits::{LISTS_BYTES_MAX, NAME_CHARS_MAX, PATTERNS_MAX, TOOL_CHANGES_MAX};
use crate::upstream::target::{CheckedTarget, Target, TargetSettings};

/// An MCP server behind this host, as it is: its tools, resources and prompts are offered at `/mcp` and, without a
/// prefix, at `/mcp/NAME`. The file's name is its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerSettings {
    /// Asks the server in the name of the caller, with a token that the person got by signing in there once, on a page
    /// of this host. Each caller then has a session of its own.
    sign_in: Option<SignInSettings>,
    /// What its tools and prompts are called at `/mcp`: `PREFIX_TOOL`. 0 to 64 letters, digits, `_` and `-`; `""` for
    /// their own names alone. Default: the name of the file, with `_` for `-`.
    prefix: Option<String>,
    /// The tools and prompts that are offered, by the server's own names: patterns in which `*` stands for any
    /// characters. At most 100. Default: all.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    only: Vec<Glob>,
    /// Tools and prompts that are not offered, though `only` names them. At most 100.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    except: Vec<Glob>,
    /// Tools that are always listed, by the server's own names. At most 100.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pinned: Vec<Glob>,
    /// Who shares a session there: all callers (`shared`), nobody but one caller's own calls (`caller`), or no two calls
    /// at all (`call`). Default: `caller` for a server that gives out sessions, and with `on_behalf_of`; else `shared`.
    sessions: Option<SessionMode>,
    /// The revision of MCP that is spoken with it, `2025-11-25` or `2026-07-28`: for a server that does less in the one
    /// that it would choose. Default: the newest that both know.
    revision: Option<Revision>,
    /// Seconds for one answer, without the time that a person takes for a question in between. Default: 60.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
    /// Changes to single tools, by the server's own names. At most 1000.
    #[serde(default)]
    tools: BTreeMap<String, ToolChange>,
}

fn total_seconds() -> u64 {
    60
}

/// Who shares a session with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionMode {
    /// All callers.
    Shared,
    /// The calls of one caller: an identity, else a session of its client. Who has neither has one for each call.
    Caller,
    /// Nobody: each call has its own.
    Call,
}

/// The revision of MCP that is spoken with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) enum Revision {
    /// With a handshake; the server asks in the middle of a call.
    #[serde(rename = "2025-11-25")]
    Handshake,
    /// Each request stands by itself.
    #[serde(rename = "2026-07-28")]
    Newest,
}

/// What is changed of one tool.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolChange {
    /// What it is called here, at `/mcp` and at `/mcp/NAME`, without a prefix: 1 to 64 letters, digits, `_` and `-`.
    pub(super) name: Option<String>,
    /// A name for people.
    pub(super) title: Option<String>,
    /// What it does and when to use it, for models.
    pub(super) description: Option<String>,
}

/// A server behind this host, as its file defines it: checked, and reached by nobody yet.
#[derive(Clone)]
pub(crate) struct CheckedServer {
    pub(super) name: Handle,
    pub(super) gate: Arc<ServerGate>,
    pub(super) rules: Arc<OfferRules>,
    pub(super) target: Target,
    pub(super) exchange: Option<Arc<TokenExchange>>,
    pub(super) sign_in: Option<CheckedSignIn>,
    pub(super) sessions: Option<SessionMode>,
    pub(super) revision: Option<Revision>,
    pub(super) time_max: Duration,
    /// Its lists as they were taken up, if they were.
    pub(super) imported: Option<Arc<Catalog>>,
    /// All of its file but the rules, as text, with hashes of secrets that stand in files of their own: who has the same
    /// one has the same connections.
    pub(super) fingerprint: String,
}

impl CheckedServer {
    /// Whether each person signs in there.
    pub(crate) fn signs_people_in(&self) -> bool {
        self.sign_in.is_some()
    }
}

/// What of a server is offered, and under which names.
#[derive(Debug, Clone)]
pub(super) struct OfferRules {
    pub(super) prefix: String,
    pub(super) only: Vec<Glob>,
    pub(super) except: Vec<Glob>,
    pub(super) pinned: Vec<Glob>,
    pub(super) changes: BTreeMap<String, ToolChange>,
}

impl OfferRules {
    /// Whether something of this name is offered.
    pub(super) fn offers(&self, name: &str) -> bool {
        let named = |list: &[Glob]| list.iter().any(|glob| glob.matches(name));
        (self.only.is_empty() || named(&self.only)) && !named(&self.except)
    }

    /// What something of the server is called at the host's endpoint.
    pub(super) fn prefixed(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}_{name}", self.prefix) }
    }
}

/// Reads a definition. Fails with everything that is wrong with it.
pub(super) fn read(definition: &ServerDefinition) -> Result<CheckedServer, Problems> {
    let section = &definition.section;
    let (settings, place): (ServerSettings, TargetSettings) = section.read_both()?;
    let mut problems = Problems::new();
    let time_max = seconds(section, "total_seconds", settings.total_seconds, &mut problems);
    let place = place.check("a server", section, &definition.context, &mut problems);
    let is_exchanged = place.as_ref().is_some_and(|place| place.exchange.is_some());
    let signs_in = settings.sign_in.is_some();
    if is_exchanged && signs_in {
        let words = "`on_behalf_of` and `sign_in` exclude each other: both give a token of the caller's";
        problems.push(section.problem(Some("sign_in"), words));
    }
    let target = place.as_ref().map(|place| &place.target);
    let check = |sign_in: SignInSettings| sign_in.check(target, section, &definition.context, &mut problems);
    let sign_in = settings.sign_in.and_then(check);
    if (is_exchanged || signs_in) && settings.sessions == Some(SessionMode::Shared) {
        let words = "`on_behalf_of` and `sign_in` ask in the name of one caller, whose session nobody shares";
        problems.push(section.problem(Some("sessions"), words).hint("leave `sessions` out"));
    }
    let default = || definition.name.as_str().replace('-', "_");
    let rules = OfferRules {
        prefix: settings.prefix.unwrap_or_else(default),
        only: settings.only,
        except: settings.except,
        pinned: settings.pinned,
        changes: settings.tools,
    };
    check_names(section, &rules, &mut problems);
    let imported = problems.absorb(imported(definition)).flatten();
    let Some(CheckedTarget { target, exchange }) = place else { return Err(problems) };
    let secret = sign_in.as_ref().and_then(|sign_in| sign_in.client.as_ref()?.secret_hash());
    let secrets = (secret, exchange.as_ref().map(|exchange| exchange.secret_hash()));
    let fingerprint = format!("{}\n{section:?}\n{secrets:?}", definition.context.folder.display());
    problems.into_result(CheckedServer {
        name: definition.name.clone(),
        gate: Arc::new(definition.gate.clone().lasting(time_max)),
        rules: Arc::new(rules),
        target,
        exchange,
        sign_in,
        sessions: settings.sessions,
        revision: settings.revision,
        time_max,
        imported: imported.map(Arc::new),
        fingerprint,
    })
}

fn check_names(section: &Section, rules: &OfferRules, problems: &mut Problems) {
    if !is_name(&rules.prefix, 0) {
        let words = format!("`prefix` has 0 to {NAME_CHARS_MAX} letters, digits, `_` and `-`");
        problems.push(section.problem(Some("prefix"), words));
    }
    for (key, list) in [("only", &rules.only), ("except", &rules.except), ("pinned", &rules.pinned)] {
        if list.len() > PATTERNS_MAX {
            problems.push(section.problem(Some(key), format!("`{key}` has at most {PATTERNS_MAX} patterns")));
        }
    }
    if rules.changes.len() > TOOL_CHANGES_MAX {
        let words = format!("changes are made to at most {TOOL_CHANGES_MAX} tools");
        problems.push(section.problem(Some("tools"), words));
    }
    let mut named = BTreeMap::new();
    for (tool, change) in &rules.changes {
        let Some(name) = &change.name else { continue };
        if !is_name(name, 1) {
            let words = format!("the `name` of `{tool}` is none: 1 to {NAME_CHARS_MAX} letters, digits, `_` and `-`");
            problems.push(section.problem(Some("tools"), words));
        }
        if let Some(other) = named.insert(name, tool) {
            let words = format!("`{other}` and `{tool}` are both called `{name}`");
            problems.push(section.problem(Some("tools"), words));
        }
    }
}

fn is_name(text: &str, chars_min: usize) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (chars_min..=NAME_CHARS_MAX).contains(&text.len()) && text.chars().all(fits)
}

/// The lists that lie beside the definition.
fn imported(definition: &ServerDefinition) -> Result<Option<Catalog>, Problems> {
    let file = definition.lists_file();
    if !file.exists() {
        return Ok(None);
    }
    let wrong = |why: String| Problems::from(forecourt_settings::Problem::of_file(&file, why));
    let bytes = files::bytes_of(&file, LISTS_BYTES_MAX).map_err(wrong)?;
    let read: Catalog = serde_json::from_slice(&bytes).map_err(|error| {
        wrong(format!("is no list of tools: {error}; take it up again, or delete it and the server is asked"))
    })?;
    Ok(Some(read.bounded().0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(only: &[&str], except: &[&str]) -> OfferRules {
        let globs = |list: &[&str]| list.iter().map(|glob| glob.parse().expect("a pattern")).collect();
        let (only, except) = (globs(only), globs(except));
        OfferRules { prefix: "far".to_owned(), only, except, pinned: Vec::new(), changes: BTreeMap::new() }
    }

    #[test]
    fn what_is_excepted_is_not_offered_whatever_else_is_said() {
        assert!(rules(&[], &[]).offers("drop_all"));
        assert!(!rules(&[], &["drop_*"]).offers("drop_all"));
        assert!(rules(&["get_*"], &[]).offers("get_one") && !rules(&["get_*"], &[]).offers("set_one"));
        assert!(!rules(&["*"], &["*_one"]).offers("get_one"));
    }

    #[test]
    fn names_are_bounded() {
        assert!(is_name("", 0) && !is_name("", 1));
        assert!(is_name(&"a".repeat(NAME_CHARS_MAX), 1) && !is_name(&"a".repeat(NAME_CHARS_MAX + 1), 1));
        assert!(!is_name("a.b", 1) && !is_name("ä", 1));
    }
}
