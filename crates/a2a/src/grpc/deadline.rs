//! How long a client is going to wait: `grpc-timeout`.

use std::time::Duration;

use http::HeaderMap;

/// Digits of a time; the protocol has no more.
const DIGITS_MAX: usize = 8;

/// The time that the client gives the whole call. `None` when it says nothing, or nothing that can
/// be understood: the field is a courtesy, and the client keeps its own clock.
pub(crate) fn timeout(head: &HeaderMap) -> Option<Duration> {
    let text = head.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > DIGITS_MAX || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 3600)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Option<Duration> {
        timeout(&HeaderMap::from_iter([(http::HeaderName::from_static("grpc-timeout"), value.parse().ok()?)]))
    }

    #[test]
    fn a_time_is_up_to_eight_digits_and_a_unit() {
        for (value, expected) in [
            ("1H", Duration::from_secs(3600)),
            ("2M", Duration::from_secs(120)),
            ("3S", Duration::from_secs(3)),
            ("4m", Duration::from_millis(4)),
            ("5u", Duration::from_micros(5)),
            ("6n", Duration::from_nanos(6)),
            ("99999999H", Duration::from_secs(99_999_999 * 3600)),
            ("0S", Duration::ZERO),
        ] {
            assert_eq!(read(value), Some(expected), "{value}");
        }
        for value in ["", "1", "S", "100000000S", "-1S", "1s", "1 S", "+1S", "é", "1é"] {
            assert_eq!(read(value), None, "{value}");
        }
    }

    #[test]
    fn none_is_none() {
        assert_eq!(timeout(&HeaderMap::new()), None);
    }
}
