//! Ids of Discord: numbers of 64 bits, written in digits. They are names of paths, so nothing else passes.

use forecourt_connectors::EventError;

use crate::limits::ID_DIGITS_MAX;

/// Whether a text is an id.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=ID_DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Holds ids of an event to that.
pub(crate) fn check<'a>(ids: impl IntoIterator<Item = &'a str>) -> Result<(), EventError> {
    match ids.into_iter().all(is_id) {
        true => Ok(()),
        false => Err(EventError::Malformed("an id of the event is none of Discord's")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_digits_and_no_way_out_of_a_path() {
        for (text, fits) in [
            ("1", true),
            ("80351110224678912", true),
            (&"9".repeat(ID_DIGITS_MAX), true),
            (&"9".repeat(ID_DIGITS_MAX + 1), false),
            ("", false),
            ("..", false),
            ("1/2", false),
            ("@original", false),
            ("１", false),
        ] {
            assert_eq!(is_id(text), fits, "{text}");
        }
        assert!(check(["1", "2"]).is_ok() && check(["1", "x"]).is_err());
    }
}
