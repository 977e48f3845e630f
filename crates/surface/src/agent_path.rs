//! Which agent a path names, in each spelling that means the same address. RFC 3986 6.2.2.

use std::borrow::Cow;

use forecourt_core::Handle;
use percent_encoding::percent_decode_str;

/// The agent that a path such as `/~chef` names; `None` where it is no such path. Handles fold case, a last slash
/// changes nothing, and what needs no encoding may come encoded.
pub fn agent_named(path: &str) -> Option<Handle> {
    let segment = path.strip_prefix('/')?;
    let segment = segment.strip_suffix('/').unwrap_or(segment);
    let plain = percent_decode_str(segment).decode_utf8().ok()?;
    let name = plain.strip_prefix('~')?;
    // What else was encoded, or is no encoding, is in no handle. One may be written with an `@`, an address of this
    // transport not.
    Handle::parse(name).ok().filter(|_| !name.starts_with('@'))
}

/// A path in the one spelling that rules are held against: what needs no encoding is decoded, a last slash is left out,
/// and where it begins with an agent's name, that is in lower case, as handles are. Every spelling by which this host
/// serves the same has the same. A pattern of paths is written so, too.
pub fn normal_path(path: &str) -> Cow<'_, str> {
    let plain = match unreserved(path) {
        Cow::Borrowed(plain) => Cow::Borrowed(without_slash(plain)),
        Cow::Owned(plain) => Cow::Owned(without_slash(&plain).to_owned()),
    };
    let Some(rest) = plain.strip_prefix("/~") else { return plain };
    let (name, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(format!("/~{}{below}", name.to_ascii_lowercase())),
        false => plain,
    }
}

fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// The agent whose address a path is, or begins with.
pub fn agent_before(path: &str) -> Option<Handle> {
    let segment = path.strip_prefix('/')?.split('/').next()?;
    agent_named(&format!("/{segment}"))
}

/// A path in which nothing is encoded that needs not be. RFC 3986 6.2.2.2.
fn unreserved(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        plain.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        let kept = byte.filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'));
        plain.push(kept.map_or('%', char::from));
        rest = &rest[at + if kept.is_some() { 3 } else { 1 }..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_spelling_of_one_path_is_held_against_the_rules_as_one() {
        for (spelling, normal) in [
            ("/~chef/", "/~chef"),
            ("/~CHEF", "/~chef"),
            ("/%7Echef", "/~chef"),
            ("/~%63hef", "/~chef"),
            ("/%7e%43hef/ask", "/~chef/ask"),
            ("/~chef//", "/~chef/"),
            ("/~Che*/Ask/", "/~che*/Ask"),
            ("/~@chef", "/~@chef"),
            ("/m%61nual/rules", "/manual/rules"),
            ("/manual%2Frules", "/manual%2Frules"),
            ("/Manual/", "/Manual"),
            ("/", "/"),
            ("/*", "/*"),
            ("/%", "/%"),
            ("/%6", "/%6"),
            ("/%zz%61", "/%zza"),
            ("/%2561", "/%2561"),
            ("/é%é", "/é%é"),
            ("", ""),
        ] {
            assert_eq!(normal_path(spelling), normal, "{spelling}");
        }
        assert_eq!(agent_before("/~CHEF/ask").as_ref().map(Handle::as_str), Some("chef"));
        assert_eq!(agent_before("/chef/ask"), None);
    }

    proptest! {
        #[test]
        fn any_path_can_be_read_and_what_names_an_agent_is_held_as_its_address(path in "/[~%/a-cA-C0-9@é]{0,12}") {
            let normal = normal_path(&path).into_owned();
            if let Some(agent) = agent_named(&path) {
                prop_assert_eq!(normal, format!("/~{agent}"));
            }
        }
    }

    #[test]
    fn each_spelling_of_one_address_names_one_agent() {
        for path in
            ["/~echo", "/~echo/", "/%7Eecho", "/%7eecho/", "/~ECHO", "/~%65cho", "/%7e%65%63%68%6F", "/~ech%6f/"]
        {
            assert_eq!(agent_named(path).as_ref().map(Handle::as_str), Some("echo"), "{path}");
        }
    }

    #[test]
    fn what_is_another_address_names_nobody() {
        for path in
            ["/echo", "/~@echo", "/~%40echo", "/~e%2Fcho", "/~%6", "/~%", "/~%+5cho", "/~%zzcho", "/~%2565cho", "/"]
        {
            assert_eq!(agent_named(path), None, "{path}");
        }
    }
}
