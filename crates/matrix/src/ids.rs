//! The ids of Matrix, as far as they are told apart here. Matrix, appendix 4.

use crate::limits::ID_BYTES_MAX;

/// The user that the bot is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Us {
    /// Its whole id, such as `@kitchen:example.org`.
    pub(crate) user: String,
    /// What stands before the colon, without the `@`.
    pub(crate) localpart: String,
    /// The name of its homeserver.
    pub(crate) server: String,
}

impl Us {
    pub(crate) fn new(localpart: &str, server: &str) -> Self {
        Self { user: format!("@{localpart}:{server}"), localpart: localpart.to_owned(), server: server.to_owned() }
    }
}

/// Whether a text can be an id that begins with this sign. Rooms of version 12 and events have no server in theirs.
pub(crate) fn is_id(text: &str, sign: char) -> bool {
    let fits = (2..=ID_BYTES_MAX).contains(&text.len()) && text.starts_with(sign);
    // What could end a line, or be taken apart otherwise, is in none.
    fits && !text.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '\\' | '"' | '<' | '>'))
}

/// The name and the server of a user. `None`: it is no id of one.
pub(crate) fn user(text: &str) -> Option<(&str, &str)> {
    let (name, server) = text.strip_prefix('@')?.split_once(':')?;
    (is_id(text, '@') && !name.is_empty() && is_server(server)).then_some((name, server))
}

/// Whether a text can be the name of a homeserver: a host, with a port or without.
pub(crate) fn is_server(text: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b".:-[]".contains(&b);
    (1..ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_part) && !text.starts_with([':', '.', '-'])
}

/// Whether a text can be the name of a user of an application service.
pub(crate) fn is_localpart(text: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._=/+-".contains(&b);
    !text.is_empty() && text.len() < ID_BYTES_MAX && text.bytes().all(is_part)
}

/// Whether a pattern is for a user: each of its two halves is `*`, or the half of the id.
pub(crate) fn admits(pattern: &str, id: &str) -> bool {
    let (Some((name, server)), Some((names, servers))) = (user(id), halves(pattern)) else { return false };
    (names == "*" || names == name) && (servers == "*" || servers.eq_ignore_ascii_case(server))
}

/// Whether a text is a pattern for users, such as `@*:example.org`.
pub(crate) fn is_pattern(text: &str) -> bool {
    let is_half = |half: &str| half == "*" || !half.contains('*');
    halves(text).is_some_and(|(name, server)| {
        is_half(name) && !name.is_empty() && (server == "*" || is_server(server)) && is_half(server)
    })
}

fn halves(pattern: &str) -> Option<(&str, &str)> {
    pattern.strip_prefix('@')?.split_once(':')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_have_their_sign_and_so_many_bytes() {
        for (text, sign) in [("!abc:example.org", '!'), ("!31hneApxJ_1o-63DmFrpeqn", '!'), ("$ab", '$')] {
            assert!(is_id(text, sign), "{text}");
        }
        for (text, sign) in [("", '!'), ("!", '!'), ("#a", '!'), ("!a b", '!'), ("!a\n", '!'), ("!a\"", '!')] {
            assert!(!is_id(text, sign), "{text:?}");
        }
        let of = |length: usize| is_id(&format!("${}", "x".repeat(length - 1)), '$');
        assert!(of(ID_BYTES_MAX) && !of(ID_BYTES_MAX + 1));
    }

    #[test]
    fn users_have_a_name_and_a_server() {
        assert_eq!(user("@ann:example.org:8448"), Some(("ann", "example.org:8448")));
        for text in ["ann:example.org", "@ann", "@:example.org", "@ann:", "@a:exa mple", "@a:b/c"] {
            assert_eq!(user(text), None, "{text}");
        }
    }

    #[test]
    fn patterns_are_for_whole_names_and_whole_servers() {
        for (pattern, id, is_for) in [
            ("@*:example.org", "@ann:example.org", true),
            ("@*:example.org", "@ann:Example.org", true),
            ("@*:example.org", "@ann:evil.example.org", false),
            ("@*:example.org", "@ann:example.org.evil", false),
            ("@ann:*", "@ann:far.example", true),
            ("@ann:*", "@anna:far.example", false),
            ("@*:*", "@ann:far.example", true),
            ("@*:*", "nobody", false),
        ] {
            assert!(is_pattern(pattern) && admits(pattern, id) == is_for, "{pattern} {id}");
        }
        for pattern in ["*", "@*", "@a*:b", "@:b", "@a:", "a:b", "@a:b*"] {
            assert!(!is_pattern(pattern), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}", pattern in "[@:*a.]{0,8}") {
            let _ = (is_id(&text, '!'), user(&text), is_pattern(&pattern), admits(&pattern, &text));
        }
    }
}
