//! The sites on which the search box may stand, by their origins.

/// A list of origins, as browsers send them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbedOrigins(Vec<String>);

impl EmbedOrigins {
    /// A list of origins that [`origin`] has read.
    pub(crate) fn new(origins: Vec<String>) -> Self {
        Self(origins)
    }

    /// Whether a page of this origin, the value of an `Origin` field, may embed the search box. Compared as it
    /// is: browsers write origins in one way only.
    pub fn lists(&self, origin: &str) -> bool {
        self.0.iter().any(|listed| listed == origin)
    }

    /// Whether no site may.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An origin as browsers send it: scheme, host in lower case, and the port unless it is the usual one. `None` for
/// what is none, and for plain http from elsewhere than this machine.
pub(crate) fn origin(text: &str) -> Option<String> {
    let url = url::Url::parse(text.trim()).ok()?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let is_local =
        matches!(url.host_str()?, "localhost" | "127.0.0.1" | "[::1]") || url.host_str()?.ends_with(".localhost");
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_local);
    // A wildcard would be taken literally and match nothing, which nobody would notice.
    let is_plain = url.username().is_empty() && url.password().is_none() && !text.contains(['*', '?', '#', '@']);
    (is_bare && is_safe && is_plain).then(|| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_as_browsers_send_it() {
        for (text, sent) in [
            ("https://shop.example", "https://shop.example"),
            ("https://Shop.Example/", "https://shop.example"),
            ("https://shop.example:443", "https://shop.example"),
            ("https://shop.example:8443", "https://shop.example:8443"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://shop.localhost:3000", "http://shop.localhost:3000"),
        ] {
            assert_eq!(origin(text).as_deref(), Some(sent), "{text}");
        }
    }

    #[test]
    fn what_is_no_origin_lists_nobody() {
        for text in [
            "",
            "*",
            "null",
            "shop.example",
            "https://",
            "https://*.shop.example",
            "https://shop.example/page",
            "https://shop.example/?a",
            "https://shop.example/#a",
            "https://me@shop.example",
            "http://shop.example",
            "ftp://shop.example",
            "javascript:alert(1)",
            "https://shop.example?",
            "file:///",
        ] {
            assert_eq!(origin(text), None, "{text}");
        }
        let listed = EmbedOrigins::new(vec!["https://shop.example".to_owned()]);
        for other in
            ["null", "", "https://shop.example.evil.example", "http://shop.example", "https://shop.example:444"]
        {
            assert!(!listed.lists(other), "{other}");
        }
        assert!(listed.lists("https://shop.example"));
    }
}
