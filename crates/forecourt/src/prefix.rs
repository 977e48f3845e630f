//! The path that a host is published below, and requests without it.

use http::Uri;

/// Takes the path away that the host is published below. A proxy may have done that already: no path of the host's own
/// begins like it (`Wires::surfaces`).
pub(crate) fn strip(prefix: &str, uri: &mut Uri) {
    if prefix.is_empty() {
        return;
    }
    let Some(whole) = uri.path_and_query() else { return };
    let Some(rest) = whole.as_str().strip_prefix(prefix) else { return };
    let rest = match rest.as_bytes().first() {
        Some(b'/') => rest.to_owned(),
        Some(b'?') | None => format!("/{rest}"),
        Some(_) => return,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = rest.parse().ok();
    if let Ok(stripped) = Uri::from_parts(parts) {
        *uri = stripped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_host_is_taken_away_once() {
        let stripped = |prefix: &str, uri: &str| {
            let mut uri: Uri = uri.parse().unwrap();
            strip(prefix, &mut uri);
            uri.to_string()
        };
        for (uri, rest) in [
            ("/agents", "/"),
            ("/agents/", "/"),
            ("/agents?page=2", "/?page=2"),
            ("/agents/~chef?user=a", "/~chef?user=a"),
            ("/agents//x", "//x"),
            ("/agents/agents", "/agents"),
            ("/agentsx", "/agentsx"),
            ("/~chef", "/~chef"),
            ("/x/agents", "/x/agents"),
            ("/Agents/x", "/Agents/x"),
            ("https://example.com/agents/mcp", "https://example.com/mcp"),
        ] {
            assert_eq!(stripped("/agents", uri), rest, "{uri}");
        }
        assert_eq!(stripped("", "/agents/x"), "/agents/x");
        assert_eq!(stripped("/a/b", "/a/b/c"), "/c");
        assert_eq!(stripped("/a/b", "/a/c"), "/a/c");
    }
}
