//! How often a property is tried.

use proptest::test_runner::Config;

/// What proptest tries without being told otherwise.
const COMMON: u32 = 256;

/// A property of which one case is dear: tried `usual` times where others are tried 256 times, at least
/// once. `PROPTEST_CASES` makes it more or fewer in the same measure, so that one number is enough to try
/// all properties harder.
pub fn dear(usual: u32) -> Config {
    let told = Config::default();
    Config { cases: scaled(usual, told.cases), ..told }
}

fn scaled(usual: u32, cases: u32) -> u32 {
    let scaled = u64::from(usual) * u64::from(cases) / u64::from(COMMON);
    u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_holds_for_all_properties() {
        assert_eq!(scaled(64, 256), 64);
        assert_eq!(scaled(64, 256 * 20), 64 * 20);
        assert_eq!(scaled(12, 8), 1, "no property is left out");
        assert_eq!(scaled(u32::MAX, u32::MAX), u32::MAX);
    }
}
