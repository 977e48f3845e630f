//! Which surface a request is for: by its path, by its deprecated `target`, or, at the root, by who asks
//! for what. AGTP-API 5.8, 5.10, 8.10; base 2.6.

use forecourt_agtp_wire::media_types::{JSON, MANIFEST};
use forecourt_agtp_wire::status::Status;
use forecourt_contract::call::Identity;
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::inventory::Inventory;
use crate::reply::Problem;

/// The media types of which each names a directory that stands alone. Base 2.6.
const DIRECTORY_TYPES: [&str; 2] = ["application/json", JSON];

/// The documents and lists that DISCOVER answers with. AGTP-API 5.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surface {
    /// What the server is; with what can be discovered, when the root was named.
    Manifest { with_directory: bool },
    /// What can be discovered.
    Directory,
    /// Agents by criteria.
    Search,
    /// `/methods`
    Methods,
    /// `/agents`
    Agents,
    /// `/genesis`
    Genesis,
    /// `/tools`
    Tools,
    /// `/apis`
    Apis,
    /// `/patterns`
    Patterns,
    /// `/contracts`
    Contracts,
}

/// A DISCOVER request: the surface that it is for, and its parameters.
#[derive(Debug)]
pub(super) struct BuiltinRequest {
    /// The surface that answers.
    pub surface: Surface,
    /// The parameters, which keep the schema of the surface.
    pub input: Map<String, Value>,
    /// Whether the surface was named in the body.
    pub is_deprecated: bool,
}

/// Finds out what a request is for.
///
/// # Errors
/// 400 when body and path name different surfaces, 422 when the parameters are not what it takes.
pub(super) fn asked(ask: &Ask, inventory: &Inventory) -> Result<BuiltinRequest, Problem> {
    let target = ask.call.body.get("target").filter(|target| !target.is_null());
    let (path, named) = (below_root(&ask.call.path), target.and_then(named));
    let surface = match (path, named) {
        (Some(path), named) if target.is_some() && named != Some(path) => return Err(conflict(path, named)),
        (None, None) if target.is_some() => return Err(unknown()),
        (Some(surface), _) | (None, Some(surface)) => surface,
        (None, None) => at_root(ask),
    };
    let input = checked(&ask.call.body, surface, inventory)?;
    Ok(BuiltinRequest { surface, input, is_deprecated: target.is_some() })
}

impl Surface {
    const BELOW_ROOT: [Self; 7] =
        [Self::Methods, Self::Agents, Self::Genesis, Self::Tools, Self::Apis, Self::Patterns, Self::Contracts];

    /// The path of the surface.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Manifest { .. } | Self::Directory | Self::Search => "/",
            Self::Methods => "/methods",
            Self::Agents => "/agents",
            Self::Genesis => "/genesis",
            Self::Tools => "/tools",
            Self::Apis => "/apis",
            Self::Patterns => "/patterns",
            Self::Contracts => "/contracts",
        }
    }
}

fn below_root(path: &str) -> Option<Surface> {
    Surface::BELOW_ROOT.into_iter().find(|surface| surface.path() == path)
}

/// What a stranger gets at the root is the manifest, and what an agent gets is the directory, or who fits
/// its criteria. Who names the manifest's type gets that.
fn at_root(ask: &Ask) -> Surface {
    let is_anonymous = ask.call.caller.identity == Identity::Anonymous && ask.addressed.is_none();
    let manifest = Surface::Manifest { with_directory: !ask.is_targetless };
    let takes = |media_type: &str| ask.accept.as_deref().is_some_and(|accept| names(accept, media_type));
    match is_anonymous {
        true if ask.is_targetless || takes(MANIFEST) => manifest,
        true if DIRECTORY_TYPES.into_iter().any(takes) => Surface::Directory,
        true => manifest,
        false if is_there(ask.call.body.get("criteria")) => Surface::Search,
        false if takes(MANIFEST) => manifest,
        false => Surface::Directory,
    }
}

/// Whether a parameter says something. Base 3.1: nothing and an empty text don't, an empty list does.
fn is_there(value: Option<&Value>) -> bool {
    value.is_some_and(|value| !value.is_null() && value.as_str() != Some(""))
}

/// Whether `Accept` names a media type, whatever it says of its quality.
fn names(accept: &str, media_type: &str) -> bool {
    let named = |range: &str| range.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case(media_type));
    accept.split(',').any(named)
}

/// The surface that the body names, if it names one. AGTP-API 5.10.
fn named(target: &Value) -> Option<Surface> {
    below_root(&format!("/{}", target.as_str()?.trim_start_matches('/')))
}

/// A surface that there is not.
fn unknown() -> Problem {
    let names = Surface::BELOW_ROOT.map(|surface| surface.path().trim_start_matches('/'));
    let message = format!("`target` is none of {}; better, call DISCOVER with the path", names.join(", "));
    Problem::new(Status::UNPROCESSABLE, "unknown-discover-target", message).with("field", "/target")
}

/// Two surfaces at once, of which the body's may be none that there is. AGTP-API 5.10: neither is preferred.
fn conflict(path: Surface, target: Option<Surface>) -> Problem {
    let (path, target) = (path.path(), target.map(Surface::path));
    let other = target.unwrap_or("another surface");
    let message = format!("the path asks for {path} and the body's `target` for {other}: leave `target` out");
    Problem::new(Status::BAD_REQUEST, "discover-target-conflict", message)
        .with("path", path)
        .with("target", target)
        .with("field", "/target")
}

/// The parameters, held to the schema that the manifest shows.
fn checked(body: &Map<String, Value>, surface: Surface, inventory: &Inventory) -> Result<Map<String, Value>, Problem> {
    let mut input = body.clone();
    input.retain(|_, value| !value.is_null());
    // What came in the query is text.
    let number = input.get("max_results").and_then(Value::as_str).and_then(|text| text.parse::<u64>().ok());
    if let Some(number) = number {
        input.insert("max_results".to_owned(), number.into());
    }
    let truth = input.get("full").and_then(Value::as_str).and_then(|text| text.parse::<bool>().ok());
    if let Some(truth) = truth {
        input.insert("full".to_owned(), truth.into());
    }
    let input = Value::Object(input);
    if let Some(native) = inventory.native(surface.path()) {
        let wrong = |violation| Problem::from(violation).with("method", "DISCOVER").with("path", surface.path());
        native.input.check(&input).map_err(wrong)?;
    }
    match input {
        Value::Object(input) => Ok(input),
        _ => Ok(Map::new()),
    }
}
