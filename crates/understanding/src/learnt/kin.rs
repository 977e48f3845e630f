//! Words of one family: an adjective, what it is made of and who does it. "Klassisch" and "Klassik", "psicólogo" and
//! "psicología", "historical" and "historic".

use forecourt_vocabulary::folded;

/// Letters that the words of a family share at least.
const SHARED_LETTERS_MIN: usize = 5;
/// How such words end, folded, a longer ending before those that it ends with.
const ENDINGS: &[&str] = &[
    "isches", "ischer", "ischen", "ischem", "ische", "isch", "ical", "iques", "ique", "icos", "icas", "ico", "ica",
    "ics", "ic", "ik", "ies", "ias", "ia", "ie", "ues", "ue", "os", "as", "es", "o", "a", "e", "y",
];

/// What a word shares with others of its family. `None`: it does not end as such words do, or is too short.
pub(super) fn shared(word: &str) -> Option<String> {
    let word = folded(word);
    let stem = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending))?;
    let is_word = word.chars().all(char::is_alphabetic);
    (is_word && stem.chars().count() >= SHARED_LETTERS_MIN).then(|| stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_family_share_how_they_begin() {
        for (one, other) in [
            ("klassisches", "Klassik"),
            ("elektronische", "Elektronik"),
            ("psicólogo", "Psicología"),
            ("dermatóloga", "dermatología"),
            ("classical", "classic"),
            ("électronique", "electronics"),
        ] {
            assert!(shared(one).is_some() && shared(one) == shared(other), "{one} {other}");
        }
        for (one, other) in [("organic", "organ"), ("musical", "music"), ("portable", "portal"), ("comic", "comedy")] {
            assert!(shared(one).is_none() || shared(one) != shared(other), "{one} {other}");
        }
        for at in 1..ENDINGS.len() {
            assert!(!ENDINGS[..at].iter().any(|before| ENDINGS[at].ends_with(before)), "{}", ENDINGS[at]);
        }
    }
}
