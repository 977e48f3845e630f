//! Which agent a path names, in each spelling that means the same address. RFC 3986 6.2.2.

use forecourt_core::Handle;
use percent_encoding::percent_decode_str;

/// The agent that a path such as `/~chef` names; `None` where it is no such path. Handles fold case, a last slash
/// changes nothing, and what needs no encoding may come encoded.
pub(crate) fn agent_named(path: &str) -> Option<Handle> {
    let segment = path.strip_prefix('/')?;
    let segment = segment.strip_suffix('/').unwrap_or(segment);
    let plain = percent_decode_str(segment).decode_utf8().ok()?;
    let name = plain.strip_prefix('~')?;
    // What else was encoded, or is no encoding, is in no handle. One may be written with an `@`, an address of this
    // transport not.
    Handle::parse(name).ok().filter(|_| !name.starts_with('@'))
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
