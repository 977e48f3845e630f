//! Names of actors, keys and objects: URLs that are compared as they were written.

use serde::{Deserialize, Serialize};
use url::Url;

use crate::limits::IRI_BYTES_MAX;

/// An http or https URL with a host, without userinfo and spaces, at most [`IRI_BYTES_MAX`] bytes. Plain http is none of
/// the guard's usual targets: it is read here, so that tests on one machine can speak it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Iri {
    text: String,
    /// Scheme, host and port, as URLs are normalized.
    origin: String,
    /// Where host and port begin in the origin.
    authority_at: usize,
}

impl Iri {
    /// Reads a URL. `None` when it is none of that form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_plain = text.len() <= IRI_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
        let url = is_plain.then(|| Url::parse(text).ok()).flatten()?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if !matches!(url.scheme(), "http" | "https") || has_user || !url.has_host() {
            return None;
        }
        let origin = url.origin().ascii_serialization();
        let authority_at = url.scheme().len() + "://".len();
        Some(Self { text: text.to_owned(), origin, authority_at })
    }

    /// The URL as it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Host and port, in lower case, without the port that the scheme implies.
    pub(crate) fn authority(&self) -> &str {
        &self.origin[self.authority_at..]
    }

    /// Whether both are of one scheme, host and port: what a server says of its own names, it may say.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.origin == other.origin
    }

    /// The same without what stands behind a `#`: the document that holds it.
    pub(crate) fn document(&self) -> Self {
        let end = self.text.find('#').unwrap_or(self.text.len());
        Self { text: self.text[..end].to_owned(), ..self.clone() }
    }
}

impl std::fmt::Display for Iri {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Iri {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a URL")
    }
}

impl From<Iri> for String {
    fn from(iri: Iri) -> Self {
        iri.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_web_addresses_are_names() {
        let iri = Iri::parse("https://Social.example:443/users/Ann#main-key").unwrap();
        assert_eq!(
            (iri.authority(), iri.document().as_str()),
            ("social.example", "https://Social.example:443/users/Ann")
        );
        assert!(iri.is_beside(&Iri::parse("https://social.example/x").unwrap()));
        assert!(!iri.is_beside(&Iri::parse("http://social.example/x").unwrap()));
        for text in [
            "",
            "acct:a@b.example",
            "https://",
            "https://a@b.example/",
            "ftp://a.example/",
            "https://a.example/ x",
            "https://é.example/",
        ] {
            assert_eq!(Iri::parse(text), None, "{text}");
        }
        let long = |bytes: usize| format!("https://a.example/{}", "x".repeat(bytes - "https://a.example/".len()));
        assert!(Iri::parse(&long(IRI_BYTES_MAX)).is_some() && Iri::parse(&long(IRI_BYTES_MAX + 1)).is_none());
    }
}
