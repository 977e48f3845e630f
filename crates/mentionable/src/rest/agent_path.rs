//! Which agent a path names, in each spelling that means the same address. RFC 3986 6.2.2.

use std::borrow::Cow;

use forecourt_core::Handle;

/// The agent that a path such as `/~chef` names; `None` where it is no such path. Handles fold case, a last slash
/// changes nothing, and what needs no encoding may come encoded.
pub(crate) fn agent_named(path: &str) -> Option<Handle> {
    let plain = decoded(path.strip_prefix('/')?)?;
    let name = plain.strip_prefix('~')?;
    let name = name.strip_suffix('/').unwrap_or(name);
    // A handle may be written with an `@`, an address of this transport not.
    Handle::parse(name).ok().filter(|_| !name.starts_with('@'))
}

/// A segment without the encoding that changes nothing: of letters, digits, `-`, `.`, `_` and `~`. `None` where
/// anything else is encoded, which no handle has.
fn decoded(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('%') {
        return Some(segment.into());
    }
    let mut parts = segment.split('%');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        // `from_str_radix` takes a sign, too.
        let byte = digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u8::from_str_radix(digits, 16).ok());
        let byte = byte.flatten()?;
        if !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'.' | b'_' | b'~') {
            return None;
        }
        plain.push(byte.into());
        plain.push_str(rest);
    }
    Some(plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;

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
