//! Where a person comes back to: a path of this host, and nothing that a browser could take for another one.

use percent_encoding::percent_decode_str;
use url::{Position, Url};

use crate::limits::RETURN_TO_BYTES_MAX;

/// A path of this host, with its query and its fragment. RFC 9700 4.11.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReturnTo(String);

/// An origin that is nobody's, to see what a browser would make of a path.
const NOBODY: &str = "https://nobody.invalid";

impl ReturnTo {
    /// Reads one. `None` for everything that is not plainly a path of this host, or leads into signing in or out
    /// again.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Browsers read `\` as `/` and drop tabs and line ends, so `/\evil.example` would lead to another host.
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if text.len() > RETURN_TO_BYTES_MAX || !is_plain || !is_path(text) {
            return None;
        }
        let (origin, url) = (Url::parse(NOBODY).ok()?, Url::parse(&format!("{NOBODY}{text}")).ok()?);
        // Dots are gone now: what they leave must be a path, too, also for whoever decodes it once more.
        let decoded = percent_decode_str(url.path()).decode_utf8().ok()?;
        let leads_on = is_path(url.path()) && is_path(&decoded) && !decoded.contains(['\\', '\0', '\r', '\n']);
        // The callback would use up a state, and the way out would sign the person out who has just come in.
        let is_ours = matches!(decoded.trim_end_matches('/'), "/sign-in/callback" | "/sign-out");
        let kept = url.origin() == origin.origin() && leads_on && !is_ours;
        kept.then(|| Self(url[Position::BeforePath..].to_owned()))
    }

    /// The page that says who is signed in.
    pub(crate) fn account() -> Self {
        Self(forecourt_pages::SIGN_IN.to_owned())
    }

    /// The path, with its query and its fragment.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether it begins with one slash and no more.
fn is_path(text: &str) -> bool {
    text.starts_with('/') && !text.starts_with("//")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_of_this_host_are_kept() {
        for path in [
            "/",
            "/~chef",
            "/~chef?user=soup%20%26%20salad&lang=de",
            "/~chef?user=http://evil.example//x",
            "/~chef#q=long",
            "/consent/abc",
            "/sign-in",
        ] {
            assert_eq!(ReturnTo::parse(path).as_ref().map(ReturnTo::as_str), Some(path));
        }
        assert_eq!(ReturnTo::parse("/a/../~chef").unwrap().as_str(), "/~chef");
    }

    #[test]
    fn open_redirects_are_refused() {
        for evil in [
            "",
            "evil.example",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\/evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "\t//evil.example",
            " //evil.example",
            "/ /evil.example",
            "/%2Fevil.example",
            "/%2f%2fevil.example",
            "/%5Cevil.example",
            "/%5cevil.example",
            "%2F%2Fevil.example",
            "/..//evil.example",
            "/.//evil.example",
            "/a/..//evil.example",
            "/%2e%2e//evil.example",
            "/a%0d%0aset-cookie:x",
            "https://evil.example",
            "HTTPS:evil.example",
            "http:///evil.example",
            "javascript:alert(1)",
            "data:text/html,x",
            "/sign-out",
            "/sign-in/callback?code=1",
            "/~ch\u{e9}f",
            "/\u{ff0f}evil.example",
        ] {
            assert_eq!(ReturnTo::parse(evil), None, "{evil:?}");
        }
    }

    #[test]
    fn it_has_a_bound() {
        let long = |bytes: usize| format!("/{}", "a".repeat(bytes - 1));
        assert!(ReturnTo::parse(&long(RETURN_TO_BYTES_MAX)).is_some());
        assert_eq!(ReturnTo::parse(&long(RETURN_TO_BYTES_MAX + 1)), None);
    }

    proptest! {
        #[test]
        fn whatever_is_kept_stays_on_this_host(text in "[/\\\\%.#?@:a-f0-9 \t]{0,12}|/\\PC{0,12}") {
            let own = Url::parse("https://demo.example:8443/sign-in/callback").unwrap();
            if let Some(kept) = ReturnTo::parse(&text) {
                let led = own.join(kept.as_str()).unwrap();
                prop_assert_eq!(led.origin(), own.origin());
                prop_assert_eq!(ReturnTo::parse(kept.as_str()), Some(kept));
            }
        }
    }
}
