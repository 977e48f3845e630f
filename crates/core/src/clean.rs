//! This module tells which characters are stripped from what is shown, logged or handed on. Security sheet, sections 3
//! and 14.

/// Whether `c` is a control character other than tab and line ends, a bidirectional control, or a byte order mark.
pub fn is_hidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    // Bidirectional controls let a name be read as another one: `exe.txt` for `txt.exe`.
    control || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tabs_are_seen_and_overrides_are_not() {
        assert!("a é\t\r\n😀".chars().all(|c| !is_hidden(c)));
        assert!("\0\u{7}\u{9b}\u{202e}\u{2066}\u{feff}".chars().all(is_hidden));
    }
}
