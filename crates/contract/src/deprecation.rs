//! This module writes the deprecation notice of verbs (section 4.4) and of endpoints (section 6.5).

use crate::limits::VERSION_CHARS_MAX;

/// The text of a notice: the keyword, then what is known of the successor and of the end. It is
/// plain printable ASCII when its pieces passed [`is_plain`].
pub fn notice(successor: Option<&str>, removed_in: Option<&str>) -> String {
    let mut text = "deprecated".to_owned();
    for (name, value) in [("successor", successor), ("removed_in", removed_in)] {
        if let Some(value) = value {
            text.extend(["; ", name, "=", value]);
        }
    }
    text
}

/// Whether a version or a name may stand in a notice: 1 to [`VERSION_CHARS_MAX`] printable ASCII
/// characters without spaces, and none that separates the notice's pieces.
pub fn is_plain(text: &str) -> bool {
    let fits = (1..=VERSION_CHARS_MAX).contains(&text.len());
    fits && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b';' | b',' | b'"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_4_what_is_not_declared_is_left_out() {
        assert_eq!(notice(Some("AUDIT"), Some("2.0.0")), "deprecated; successor=AUDIT; removed_in=2.0.0");
        assert_eq!(notice(None, Some("2.0.0")), "deprecated; removed_in=2.0.0");
        assert_eq!(notice(Some("AUDIT"), None), "deprecated; successor=AUDIT");
        assert_eq!(notice(None, None), "deprecated");
    }

    #[test]
    fn what_would_forge_another_piece_is_not_plain() {
        for wrong in ["", "2.0; successor=X", "a,b", "a b", "2\r\nX: y", "2\u{e9}", "\""] {
            assert!(!is_plain(wrong), "{wrong:?}");
        }
        assert!(is_plain(&"1".repeat(VERSION_CHARS_MAX)));
        assert!(!is_plain(&"1".repeat(VERSION_CHARS_MAX + 1)));
    }
}
