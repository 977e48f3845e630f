//! Where a request line points, as far as it says itself. Base 1, 2.1; AGTP-API 5.5.

use forecourt_agtp_wire::codec::HeadError;
use forecourt_agtp_wire::message::RequestLine;
use forecourt_agtp_wire::status::Status;

use crate::reply::Problem;

/// The path under which agents have names.
pub(crate) const AGENTS: &str = "/agents/";
/// The path of an agent's genesis document, at the root and below the agent's own. AGTP-API 5.8.1.
pub(crate) const GENESIS: &str = "/genesis";

/// A target, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TargetPath<'a> {
    /// The path, without the query.
    pub path: &'a str,
    /// What follows the first `?`.
    pub query: Option<&'a str>,
    /// The name under [`AGENTS`], if the path has that form.
    pub agent: Option<AgentPath<'a>>,
}

/// A path that may name an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgentPath<'a> {
    /// The agent's name, as it was sent.
    pub name: &'a str,
    /// The path below the agent's own: `/` or [`GENESIS`].
    pub below: &'static str,
}

/// Takes the target of a request line apart.
///
/// # Errors
/// 400 for a fragment, which belongs to a URI and not to a request.
pub(crate) fn target(line: &RequestLine) -> Result<TargetPath<'_>, Problem> {
    if line.method.contains('#') || line.target.as_deref().is_some_and(|target| target.contains('#')) {
        let message = "a request line has no fragment: leave `#` and what follows it out";
        return Err(Problem::new(Status::BAD_REQUEST, HeadError::Line.code(), message).with("detail", message));
    }
    let path = line.path();
    Ok(TargetPath { path, query: line.query(), agent: agent(path) })
}

fn agent(path: &str) -> Option<AgentPath<'_>> {
    let rest = path.strip_prefix(AGENTS)?;
    let (name, below) = match rest.strip_suffix(GENESIS) {
        Some(name) => (name, GENESIS),
        None => (rest, "/"),
    };
    (!name.is_empty() && !name.contains('/')).then_some(AgentPath { name, below })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_1_a_path_may_name_an_agent() {
        let line = RequestLine::new("QUERY", "/agents/chef?a=b?c");
        let agent = Some(AgentPath { name: "chef", below: "/" });
        let expected = TargetPath { path: "/agents/chef", query: Some("a=b?c"), agent };
        assert_eq!(target(&line).ok(), Some(expected));
        let line = RequestLine::new("DISCOVER", "/agents/chef/genesis");
        assert_eq!(
            target(&line).ok().and_then(|target| target.agent),
            Some(AgentPath { name: "chef", below: GENESIS })
        );
        for path in ["/", "/agents", "/agents/", "/agents//genesis", "/agents/a/b", "/rooms/chef"] {
            assert_eq!(target(&RequestLine::new("QUERY", path)).ok().map(|target| target.agent), Some(None), "{path}");
        }
    }

    #[test]
    fn base_2_1_a_fragment_is_refused() {
        for (method, path) in [("QUERY", "/a#b"), ("QU#ERY", "/a")] {
            assert_eq!(
                target(&RequestLine::new(method, path)).map_err(|problem| problem.status),
                Err(Status::BAD_REQUEST)
            );
        }
    }
}
