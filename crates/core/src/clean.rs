//! Characters that nobody should see: what is shown, logged or handed on loses them. Security sheet, sections
//! 3 and 14.

/// Whether a character is a control other than tab and line ends, or turns the direction of text.
pub fn is_hidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\t' | '\n' | '\r');
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
