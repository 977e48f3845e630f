//! This module converts moments to nanoseconds since 1970. A moment outside the years 1677 to 2262 becomes the nearest
//! one inside: a claim until the year 9999 is kept until 2262.

use forecourt_core::Timestamp;

pub(crate) fn nanos(at: Timestamp) -> i64 {
    let nanos = at.as_nanosecond();
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

pub(crate) fn moment(nanos: i64) -> Timestamp {
    // Every i64 lies within what a timestamp can hold.
    Timestamp::from_nanosecond(nanos.into()).unwrap_or_default()
}

/// A count as the signed number of a database.
pub(crate) fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_comes_back_to_the_nanosecond() {
        let at: Timestamp = "2026-01-02T03:04:05.123456789Z".parse().unwrap();
        assert_eq!(moment(nanos(at)), at);
    }

    #[test]
    fn moments_out_of_range_become_the_nearest() {
        assert_eq!(nanos(Timestamp::MAX), i64::MAX);
        assert_eq!(nanos(Timestamp::MIN), i64::MIN);
        assert!(moment(i64::MAX) > moment(0) && moment(i64::MIN) < moment(0));
    }
}
