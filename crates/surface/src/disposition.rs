//! This module writes `Content-Disposition` for downloads (RFC 6266), so that no name can inject anything.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::answer::HttpAnswer;

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
/// What a browser may do with a download: nothing.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");

/// Bytes of a file name that are kept, in UTF-8.
pub const NAME_BYTES_MAX: usize = 150;
/// The name of a file that has none worth keeping.
const NAMELESS: &str = "download";

/// Adds what bytes of this type and name are sent with: the type as it was stored, and never a page of ours, but always a
/// download. Security sheet, section 8.
pub fn add_download_fields(head: &mut HeaderMap, mime: &str, name: Option<&str>) {
    let plain = HeaderValue::from_static("application/octet-stream");
    head.insert(CONTENT_TYPE, HeaderValue::from_str(mime).unwrap_or(plain));
    head.insert(CONTENT_DISPOSITION, attachment(name));
    head.insert(CONTENT_SECURITY_POLICY, POLICY);
}

/// A file behind a link that is for whoever has it: nobody keeps it, and no search engine lists it.
pub fn download(mime: &str, name: Option<&str>, bytes: Bytes) -> HttpAnswer {
    let mut head = HeaderMap::new();
    add_download_fields(&mut head, mime, name);
    head.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    head.insert(ROBOTS, HeaderValue::from_static("noindex"));
    HttpAnswer::whole(StatusCode::OK, head, bytes)
}

/// `attachment`, with a name when there is one: a cleaned ASCII form, and the real one as `filename*`
/// (RFC 8187) when that says more. Names are callers' text: folders, controls, quotes, direction
/// marks and the device names of Windows are taken out of both.
pub fn attachment(name: Option<&str>) -> HeaderValue {
    let plain = HeaderValue::from_static("attachment");
    let Some(name) = name.map(clean) else { return plain };
    let ascii: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut value = format!("attachment; filename=\"{ascii}\"");
    if ascii != name {
        value.push_str("; filename*=UTF-8''");
        push_encoded(&mut value, &name);
    }
    // Always ASCII by now; if not, the download still is an attachment and never shown inline.
    HeaderValue::from_str(&value).unwrap_or(plain)
}

/// A file name that means the same on every system: never empty, no path, no hidden file.
fn clean(name: &str) -> String {
    // Both separators, whatever our own system has: the file is saved on the reader's.
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let visible = last.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let visible: String = visible.map(|c| if "\"<>:|?*".contains(c) { '_' } else { c }).collect();
    let bare = visible.trim_matches([' ', '.']);
    // Cut before the last trimming: the cut may end in a dot or blank, which Windows drops, so that another file would
    // be meant.
    let short = &bare[..bare.floor_char_boundary(NAME_BYTES_MAX)];
    match short.trim_end_matches([' ', '.']) {
        "" => NAMELESS.to_owned(),
        name if is_device(name) => format!("_{name}"),
        name => name.to_owned(),
    }
}

/// Controls, and marks that turn the direction of text or take no room.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether Windows takes this for a device, with or without an extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let numbered = ["COM", "LPT"].iter().any(|d| stem.strip_prefix(d).is_some_and(|n| n.len() == 1 && n != "0"));
    numbered || ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str())
}

/// What stands in the quoted form: readers disagree about `%`, so it goes into the other one.
fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~') && !matches!(c, '"' | '\\' | '%')
}

/// Percent-encodes everything but the `attr-char` of RFC 8187 3.2.1.
fn push_encoded(into: &mut String, text: &str) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            true => into.push(char::from(byte)),
            false => into.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(name: &str) -> String {
        attachment(Some(name)).to_str().expect("the header is ASCII").to_owned()
    }

    /// Checks the grammar by hand: one quoted name without escapes, at most one encoded one.
    fn check(name: &str) {
        let header = written(name);
        let rest = header.strip_prefix("attachment; filename=\"").unwrap_or_else(|| panic!("{header}"));
        let (plain, rest) = rest.split_once('"').unwrap_or_else(|| panic!("{header}"));
        let unsafe_in = |text: &str| text.contains(['/', '\\', '"', '%']) || text.starts_with('.');
        assert!(!plain.is_empty() && plain.is_ascii() && !unsafe_in(plain), "{name:?}: {header}");
        if let Some(encoded) = rest.strip_prefix("; filename*=UTF-8''") {
            assert!(encoded.bytes().all(|b| b.is_ascii_graphic() && !b";,\"'/\\".contains(&b)), "{name:?}: {header}");
            for hidden in ["%0D", "%0A", "%00", "%2F", "%5C", "%22"] {
                assert!(!encoded.contains(hidden), "{name:?}: {header}");
            }
        } else {
            assert!(rest.is_empty(), "{name:?}: {header}");
        }
    }

    #[test]
    fn the_cases_of_hostile_names() {
        let Some(bytes) = forecourt_testkit::vectors("headers/content-disposition.json") else { return };
        let cases: Vec<serde_json::Value> = serde_json::from_slice(&bytes).expect("the vectors are JSON");
        for case in cases {
            check(case["filename"].as_str().expect("a case has a name"));
        }
    }

    #[test]
    fn honest_names_stay() {
        assert_eq!(written("report.pdf"), r#"attachment; filename="report.pdf""#);
        assert_eq!(written("naïve.txt"), r#"attachment; filename="na_ve.txt"; filename*=UTF-8''na%C3%AFve.txt"#);
        assert_eq!(written("100%.txt"), r#"attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt"#);
        assert_eq!(attachment(None), "attachment");
    }

    #[test]
    fn names_that_mean_something_to_a_system_lose_it() {
        assert_eq!(written("../../etc/passwd"), r#"attachment; filename="passwd""#);
        assert_eq!(written(".htaccess"), r#"attachment; filename="htaccess""#);
        assert_eq!(written("con.txt"), r#"attachment; filename="_con.txt""#);
        assert_eq!(written(".. "), r#"attachment; filename="download""#);
    }

    #[test]
    fn a_name_has_at_most_its_bytes() {
        assert_eq!(clean(&"a".repeat(NAME_BYTES_MAX)).len(), NAME_BYTES_MAX);
        assert_eq!(clean(&"a".repeat(NAME_BYTES_MAX + 1)).len(), NAME_BYTES_MAX);
        assert!(clean(&"é".repeat(NAME_BYTES_MAX)).len() <= NAME_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn any_name_is_safe(name in "\\PC{0,40}|[\\x00-\\x7f]{0,40}") {
            check(&name);
        }
    }
}
