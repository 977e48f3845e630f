//! What a path means: the host, or one agent.

use forecourt_core::Handle;
use forecourt_surface::protected_resource::ProtectedResource;

/// The host's endpoint; an agent's is below it.
pub const PATH: &str = "/mcp";

/// The agent of an endpoint's path; `Some(None)` for the host, `None` when it is no endpoint's. A slash
/// at the end changes nothing.
pub(crate) fn read(path: &str) -> Option<Option<Handle>> {
    let rest = path.strip_prefix(PATH)?;
    match rest.strip_suffix('/').unwrap_or(rest) {
        "" => Some(None),
        rest => Handle::parse(rest.strip_prefix('/')?).ok().map(Some),
    }
}

/// What a token is for that is sent to a path.
pub(crate) fn resource(path: &str) -> Option<ProtectedResource> {
    let agent = read(path)?;
    Some(ProtectedResource { path: path_of(agent.as_ref()), agent })
}

/// The path of an endpoint.
pub(crate) fn path_of(agent: Option<&Handle>) -> String {
    match agent {
        Some(agent) => format!("{PATH}/{agent}"),
        None => PATH.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_the_host_or_an_agent() {
        let agent = |path: &str| read(path).map(|agent| agent.map(|agent| agent.to_string()));
        assert_eq!(agent("/mcp"), Some(None));
        assert_eq!(agent("/mcp/"), Some(None));
        assert_eq!(agent("/mcp/chef"), Some(Some("chef".to_owned())));
        assert_eq!(agent("/mcp/chef/"), Some(Some("chef".to_owned())));
        for none in ["/", "/mcpx", "/mcp//", "/mcp/a/b", "/mcp/%2e"] {
            assert_eq!(agent(none), None, "{none}");
        }
    }
}
