//! Names that clients make up for what they send: which of them nobody comes upon by chance. Of `msg-1` nobody knows
//! whether it is the same thing again or somebody else's first one.

/// Hexadecimal digits in a row that make a name one that nobody comes upon by chance.
const HEX_DIGITS_MIN: usize = 16;
/// Bytes of one word of letters and digits that do so too.
const WORD_BYTES_MIN: usize = 20;

/// Whether nobody comes upon a name by chance: it holds a UUID or as many random digits as make one, or it is
/// one long word of letters and digits.
pub fn is_random(name: &str) -> bool {
    let mut run = 0;
    for byte in name.bytes() {
        run = match byte {
            b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => run + 1,
            b'-' => run,
            _ => 0,
        };
        if run >= HEX_DIGITS_MIN {
            return true;
        }
    }
    let is_one_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_one_word && name.len() >= WORD_BYTES_MIN && name.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_anybody_may_come_upon_say_nothing() {
        for id in ["", "m1", "msg-1", "tck-input-required-1a2b3c4d", "0123456789abcde", "thefirstmessageofalltimes"] {
            assert!(!is_random(id), "{id}");
        }
    }

    #[test]
    fn a_uuid_a_ulid_and_random_digits_name_one_message() {
        for id in [
            "8c7e1f1e-6f0b-4a0e-9f57-2f6c3f1b8f6a",
            "8C7E1F1E6F0B4A0E9F572F6C3F1B8F6A",
            "msg-8c7e1f1e6f0b4a0e",
            "0123456789abcdef",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        ] {
            assert!(is_random(id), "{id}");
        }
    }
}
