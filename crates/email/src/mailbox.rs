//! `local@domain`: where a person gets mail.

use forecourt_core::Domain;
use serde::{Deserialize, Serialize};

/// Bytes of a local part. RFC 5321 4.5.3.1.1.
const LOCAL_BYTES_MAX: usize = 64;

/// A mailbox in plain form: a dot-string of ASCII, in lower case, and a domain in A-labels. Quoted local parts are
/// none: nobody has them, and they can hold anything. RFC 5321 4.1.2.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Mailbox {
    local: String,
    domain: Domain,
}

impl Mailbox {
    /// Reads a mailbox. `None` when it is none of that form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (local, domain) = text.rsplit_once('@')?;
        let fits = (1..=LOCAL_BYTES_MAX).contains(&local.len());
        let dots = !local.starts_with('.') && !local.ends_with('.') && !local.contains("..");
        (fits && dots && local.bytes().all(is_local)).then_some(())?;
        Some(Self { local: local.to_ascii_lowercase(), domain: Domain::parse(domain).ok()? })
    }

    /// The part behind the `@`, in A-labels.
    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    /// What stands before the domain.
    pub(crate) fn local(&self) -> &str {
        &self.local
    }

    /// Whose mailbox it is, at this domain: what stands before the first `+`. Behind it people write what they sort
    /// their mail by. RFC 5233 1.
    pub(crate) fn user(&self) -> &str {
        self.local.split('+').next().unwrap_or_default()
    }

    /// Whether mail to it is for the same user as mail to `other`.
    pub(crate) fn is_read_by(&self, other: &Self) -> bool {
        self.domain == other.domain && self.user() == other.user()
    }

    /// The subject of evidence about it: of a kind of its own, so that what a mail server vouches for is never
    /// taken for what an agent's own key proves.
    pub(crate) fn subject(&self) -> String {
        format!("mailto:{self}")
    }
}

/// `atext` and the dot. RFC 5322 3.2.3.
fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte)
}

impl std::fmt::Display for Mailbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.local, self.domain)
    }
}

impl TryFrom<String> for Mailbox {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a mailbox")
    }
}

impl From<Mailbox> for String {
    fn from(mailbox: Mailbox) -> Self {
        mailbox.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Mailbox;

    #[test]
    fn what_stands_behind_a_plus_sorts_mail_and_names_nobody() {
        let mailbox = |text| Mailbox::parse(text).unwrap();
        for (text, user) in [("shop@a.example", "shop"), ("Shop+x+y@a.example", "shop"), ("+x@a.example", "")] {
            assert_eq!(mailbox(text).user(), user);
        }
        let shop = mailbox("shop@a.example");
        assert!(mailbox("shop+orders@a.example").is_read_by(&shop));
        for other in ["shops+x@a.example", "shop+x@b.example", "x+shop@a.example", "+shop@a.example"] {
            assert!(!mailbox(other).is_read_by(&shop), "{other}");
        }
    }

    #[test]
    fn only_plain_mailboxes_are_read_and_case_is_folded() {
        assert_eq!(Mailbox::parse("Ann.Lee+x@Mail.EXAMPLE").unwrap().to_string(), "ann.lee+x@mail.example");
        for text in
            ["", "ann", "@a.example", "a@b", "a..b@c.example", ".a@c.example", "\"a b\"@c.example", "a b@c.example"]
        {
            assert_eq!(Mailbox::parse(text), None, "{text}");
        }
        for text in ["a\r\nBcc: x@y.example@c.example", "a>@c.example", "a@c.example>", "a@[127.0.0.1]"] {
            assert_eq!(Mailbox::parse(text), None, "{text}");
        }
    }
}
