//! Lengths of time in words.

/// Seconds in the largest unit that fits, rounded up: `59 minutes`, `30 days`.
pub(crate) fn span(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..=119 => (seconds, "second"),
        120..=7_199 => (seconds.div_ceil(60), "minute"),
        7_200..=172_799 => (seconds.div_ceil(3_600), "hour"),
        _ => (seconds.div_ceil(86_400), "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_said_in_its_largest_unit() {
        let said: Vec<_> = [0, 1, 119, 120, 121, 7_200, 172_800, u64::MAX].map(span).into();
        let days = format!("{} days", u64::MAX.div_ceil(86_400));
        assert_eq!(
            said,
            ["0 seconds", "1 second", "119 seconds", "2 minutes", "3 minutes", "2 hours", "2 days", &days]
        );
    }
}
