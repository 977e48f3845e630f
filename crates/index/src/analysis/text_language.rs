//! The language that an item's own words are in. Some items say in which language they are held, sung or shot, and not in
//! which they are described: a course in German on an English site.

use forecourt_loaders::item::Item;

use super::stop::is_stop_word;
use super::{LanguageAnalyzer, bare_word};

/// Words of an item's name and prose that are looked at.
const WORDS_MAX: usize = 60;
/// How many words that only tie others together have to speak against what an item says.
const AGAINST_MIN: usize = 2;

/// The language of an item's name and prose; `usual` is that of most items.
pub(crate) fn item_language(item: &Item<'_>, usual: LanguageAnalyzer) -> LanguageAnalyzer {
    let says = item.language.map_or(usual, LanguageAnalyzer::of);
    text_language([item.name].into_iter().chain(item.prose()), says, usual)
}

/// The language of `texts`: the one that their item `says`, unless their words speak for the `usual` one.
fn text_language<'t>(
    texts: impl Iterator<Item = &'t str>,
    says: LanguageAnalyzer,
    usual: LanguageAnalyzer,
) -> LanguageAnalyzer {
    if says == usual {
        return says;
    }
    let (mut of_what_it_says, mut of_usual) = (0, 0);
    for word in texts.flat_map(str::split_whitespace).map(bare_word).filter(|word| !word.is_empty()).take(WORDS_MAX) {
        match (is_stop_word(&word, says), is_stop_word(&word, usual)) {
            (true, false) => of_what_it_says += 1,
            (false, true) => of_usual += 1,
            _ => {}
        }
    }
    if of_what_it_says == 0 && of_usual >= AGAINST_MIN { usual } else { says }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_in_a_language_may_be_described_in_another_one() {
        let (german, english) = (LanguageAnalyzer::of("de"), LanguageAnalyzer::ENGLISH);
        let of = |text: &str, says, usual| text_language([text].into_iter(), says, usual).code();
        for (text, says, usual, is) in [
            ("Pottery on the wheel, beginners. Six evenings; clay and firing are included.", german, english, "en"),
            ("Töpfern an der Scheibe für Anfänger, der Ton ist dabei", german, english, "de"),
            ("Die Maus und der Rest of the World and more", german, english, "de"),
            ("Gitarre", german, english, "de"),
            ("Gitarre", english, english, "en"),
            ("Töpfern an der Scheibe für Anfänger", english, german, "de"),
        ] {
            assert_eq!(of(text, says, usual), is, "{text}");
        }
    }
}
