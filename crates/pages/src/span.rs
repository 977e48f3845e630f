//! Lengths of time in words.

use forecourt_sentences::Sentences;

/// Seconds in the largest unit that fits, rounded up: `59 minutes`, `30 days`.
pub(crate) fn span(seconds: u64, say: Sentences) -> String {
    match seconds {
        0..=119 => say.span_seconds(seconds),
        120..=7_199 => say.span_minutes(seconds.div_ceil(60)),
        7_200..=172_799 => say.span_hours(seconds.div_ceil(3_600)),
        _ => say.span_days(seconds.div_ceil(86_400)),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;

    use super::*;

    #[test]
    fn a_length_of_time_is_said_in_its_largest_unit() {
        let said = |language: SpokenLanguage, seconds: &[u64]| -> Vec<String> {
            let say = Sentences::in_language(language);
            seconds.iter().map(|seconds| span(*seconds, say)).collect()
        };
        assert_eq!(
            said(SpokenLanguage::English, &[0, 1, 119, 120, 121, 7_200, 172_800]),
            ["0 seconds", "1 second", "119 seconds", "2 minutes", "3 minutes", "2 hours", "2 days"]
        );
        assert_eq!(said(SpokenLanguage::German, &[1, 86_400 * 30]), ["1 Sekunde", "30 Tage"]);
        assert_eq!(said(SpokenLanguage::French, &[0, 7_200]), ["0 seconde", "2 heures"]);
    }
}
