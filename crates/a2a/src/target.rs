//! What a path under `/a2a` means: whom it addresses, and what is asked. Hub card 4; design 19.

use forecourt_core::Handle;
use forecourt_surface::protected_resource::ProtectedResource;
use http::Method as Verb;

use crate::card::names::HUB_PATH;
use crate::codec::Method;
use crate::model::Version;

/// Words that stand where a handle would, and so can't be one. Compared without case.
pub(crate) const RESERVED: [&str; 6] = ["v1", "tasks", "message", "card", "rest", "extendedagentcard"];

/// A path that means something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The agent that is addressed; the hub when there is none.
    pub(crate) agent: Option<Handle>,
    /// What is there.
    pub(crate) place: TargetPlace,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetPlace {
    /// The JSON-RPC endpoint.
    Rpc,
    /// A card of A2A for this agent alone.
    Card,
    /// A resource of the HTTP+JSON binding.
    Rest {
        /// Whose paths these are.
        version: Version,
        /// What is asked.
        resource: Resource,
    },
}

/// A resource of the HTTP+JSON binding, with the ids in its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// `message:send`, `message:stream`.
    Message(Method),
    /// `tasks`.
    Tasks,
    /// `tasks/{id}`.
    Task(String),
    /// `tasks/{id}:cancel`, `tasks/{id}:subscribe`.
    TaskVerb(String, Method),
    /// `tasks/{id}/pushNotificationConfigs`.
    Pushes(String),
    /// `tasks/{id}/pushNotificationConfigs/{cid}`.
    Push(String, String),
    /// `extendedAgentCard`; in 0.3 `card`.
    ExtendedCard,
}

impl Target {
    /// Reads a path. `None`: there is nothing at it. A last slash changes nothing.
    pub(crate) fn read(path: &str) -> Option<Self> {
        if path == "/" {
            return Some(Self { agent: None, place: TargetPlace::Rpc });
        }
        let below = path.strip_prefix(HUB_PATH)?;
        let below = below.strip_suffix('/').unwrap_or(below);
        if below.is_empty() {
            return Some(Self { agent: None, place: TargetPlace::Rpc });
        }
        let below = below.strip_prefix('/')?;
        // Words with a meaning go before handles; `RESERVED` keeps agents from being called so.
        if let Some(place) = TargetPlace::read(below) {
            return Some(Self { agent: None, place });
        }
        let (first, rest) = match below.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (below, None),
        };
        // The local part alone: `@` belongs to addresses.
        let agent = Some(Handle::parse(first).ok().filter(|_| !first.starts_with('@'))?);
        let place = rest.map_or(Some(TargetPlace::Rpc), TargetPlace::read)?;
        Some(Self { agent, place })
    }
}

/// What a token is for that is sent to a path.
pub(crate) fn resource(path: &str) -> Option<ProtectedResource> {
    if path == "/" {
        return Some(ProtectedResource { path: String::new(), agent: None });
    }
    let agent = Target::read(path)?.agent;
    let path = agent.as_ref().map_or_else(|| HUB_PATH.to_owned(), |agent| format!("{HUB_PATH}/{agent}"));
    Some(ProtectedResource { path, agent })
}

impl TargetPlace {
    fn read(path: &str) -> Option<Self> {
        if path == ".well-known/agent-card.json" || path == ".well-known/agent.json" {
            return Some(Self::Card);
        }
        let (version, path) = match path.strip_prefix("v1/") {
            Some(path) => (Version::V0_3, path),
            None => (Version::V1_0, path),
        };
        Some(Self::Rest { version, resource: Resource::read(version, path)? })
    }
}

impl Resource {
    fn read(version: Version, path: &str) -> Option<Self> {
        match (path, version) {
            ("message:send", _) => return Some(Self::Message(Method::Send)),
            ("message:stream", _) => return Some(Self::Message(Method::Stream)),
            ("tasks", _) => return Some(Self::Tasks),
            ("extendedAgentCard", Version::V1_0) | ("card", Version::V0_3) => return Some(Self::ExtendedCard),
            _ => {}
        }
        let mut segments = path.strip_prefix("tasks/")?.split('/');
        let task = segments.next().filter(|task| !task.is_empty())?;
        let found = match (segments.next(), segments.next()) {
            (None, _) => Self::of_task(task)?,
            (Some("pushNotificationConfigs"), None) => Self::Pushes(decoded(task)?),
            (Some("pushNotificationConfigs"), Some(id)) => Self::Push(decoded(task)?, decoded(id)?),
            _ => return None,
        };
        segments.next().is_none().then_some(found)
    }

    fn of_task(task: &str) -> Option<Self> {
        // Some clients encode the colon.
        let parted = task.rsplit_once(':').or_else(|| task.rsplit_once("%3A")).or_else(|| task.rsplit_once("%3a"));
        match parted {
            None => Some(Self::Task(decoded(task)?)),
            Some((task, "cancel")) => Some(Self::TaskVerb(decoded(task)?, Method::Cancel)),
            Some((task, "subscribe")) => Some(Self::TaskVerb(decoded(task)?, Method::Subscribe)),
            Some(_) => None,
        }
    }

    /// What a request with this verb asks for. `Err` with the verbs that are understood.
    pub(crate) fn method(&self, verb: &Verb) -> Result<Method, &'static str> {
        match (self, verb.as_str()) {
            (Self::Message(method), "POST") => Ok(*method),
            (Self::Tasks, "GET") => Ok(Method::List),
            (Self::Task(_), "GET") => Ok(Method::Get),
            (Self::TaskVerb(_, Method::Cancel), "POST") => Ok(Method::Cancel),
            // The proto says one, the text the other, and clients differ.
            (Self::TaskVerb(_, Method::Subscribe), "GET" | "POST") => Ok(Method::Subscribe),
            (Self::Pushes(_), "GET") => Ok(Method::PushList),
            (Self::Pushes(_), "POST") => Ok(Method::PushCreate),
            (Self::Push(..), "GET") => Ok(Method::PushGet),
            (Self::Push(..), "DELETE") => Ok(Method::PushDelete),
            (Self::ExtendedCard, "GET") => Ok(Method::ExtendedCard),
            _ => Err(self.verbs()),
        }
    }

    /// The verbs that are understood, for `Allow`.
    pub(crate) fn verbs(&self) -> &'static str {
        match self {
            Self::Message(_) | Self::TaskVerb(_, Method::Cancel) => "POST, OPTIONS",
            Self::Tasks | Self::Task(_) | Self::ExtendedCard => "GET, OPTIONS",
            Self::TaskVerb(..) | Self::Pushes(_) => "GET, POST, OPTIONS",
            Self::Push(..) => "GET, DELETE, OPTIONS",
        }
    }
}

/// A segment without its percent-encoding. `None` when it is no text.
fn decoded(segment: &str) -> Option<String> {
    if !segment.contains('%') {
        return Some(segment.to_owned());
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let hex = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(path: &str) -> (Option<String>, TargetPlace) {
        let target = Target::read(path).unwrap_or_else(|| panic!("{path} means nothing"));
        (target.agent.map(|agent| agent.to_string()), target.place)
    }

    fn rest(version: Version, resource: Resource) -> TargetPlace {
        TargetPlace::Rest { version, resource }
    }

    #[test]
    fn s4_the_hub_and_each_agent_have_an_endpoint() {
        for path in ["/", "/a2a", "/a2a/"] {
            assert_eq!(read(path), (None, TargetPlace::Rpc));
        }
        for path in ["/a2a/chef", "/a2a/chef/", "/a2a/Chef"] {
            assert_eq!(read(path), (Some("chef".to_owned()), TargetPlace::Rpc));
        }
        assert_eq!(read("/a2a/chef/.well-known/agent-card.json").1, TargetPlace::Card);
    }

    #[test]
    fn both_dialects_of_rest_live_below_the_endpoints() {
        use Version::{V0_3, V1_0};
        let id = || "t1".to_owned();
        let cases = [
            ("message:send", V1_0, Resource::Message(Method::Send)),
            ("v1/message:stream", V0_3, Resource::Message(Method::Stream)),
            ("tasks", V1_0, Resource::Tasks),
            ("v1/tasks/t1", V0_3, Resource::Task(id())),
            ("tasks/t1:cancel", V1_0, Resource::TaskVerb(id(), Method::Cancel)),
            ("tasks/t1%3Asubscribe", V1_0, Resource::TaskVerb(id(), Method::Subscribe)),
            ("tasks/t1/pushNotificationConfigs", V1_0, Resource::Pushes(id())),
            ("v1/tasks/t1/pushNotificationConfigs/a%20b", V0_3, Resource::Push(id(), "a b".to_owned())),
            ("extendedAgentCard", V1_0, Resource::ExtendedCard),
            ("v1/card", V0_3, Resource::ExtendedCard),
        ];
        for (path, version, resource) in cases {
            assert_eq!(read(&format!("/a2a/{path}")), (None, rest(version, resource.clone())));
            assert_eq!(read(&format!("/a2a/chef/{path}")), (Some("chef".to_owned()), rest(version, resource)));
        }
    }

    #[test]
    fn what_means_nothing_is_nothing() {
        for path in [
            "/a2",
            "/a2ab",
            "/a2a//",
            "/a2a/@chef",
            "/a2a/chef/x",
            "/a2a/v1/x",
            "/a2a/tasks//",
            "/a2a/chef//",
            "/a2a/tasks/a/b",
            "/a2a/tasks/a:b",
            "/a2a/tasks/%zz",
            "/a2a/tasks/a/pushNotificationConfigs/b/c",
        ] {
            assert_eq!(Target::read(path), None, "{path}");
        }
    }

    #[test]
    fn verbs_that_are_not_understood_say_which_are() {
        let task = Resource::Task("t".to_owned());
        assert_eq!(task.method(&Verb::GET), Ok(Method::Get));
        assert_eq!(task.method(&Verb::DELETE), Err("GET, OPTIONS"));
        let subscribe = Resource::TaskVerb("t".to_owned(), Method::Subscribe);
        assert!(subscribe.method(&Verb::GET).is_ok() && subscribe.method(&Verb::POST).is_ok());
    }

    proptest! {
        #[test]
        fn no_path_panics(path in "/a2a/[a-z%:/0-9A-F.é]{0,40}") {
            let _ = Target::read(&path);
        }
    }
}
