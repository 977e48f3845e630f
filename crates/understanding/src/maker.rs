//! "From Kronos", "a Kronos lamp": whose thing it is, where items state their brand or who made them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::paths::SHARE_MIN;
use crate::pattern::pattern;
use crate::scope::QuestionScope;

/// Properties that say whose things they are.
const MAKERS: &[&str] = &["brand.name", "brand", "manufacturer.name", "manufacturer"];
/// Words of the longest name.
const NAME_WORDS_MAX: usize = 4;
/// Letters of a name that nothing leads to: shorter ones are words.
const LETTERS_MIN: usize = 3;

/// What leads to a name, at the end of what stands before it.
static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:(?:from|by|of|von|vom|aus|de|d['’]|du|par|por|del|in)\s+)?(?:(?:the|der|die|la|le|chez|casa)\s+)?(?:(?:brands?|makers?|manufacturers?|marken?|herstellers?|marques?|fabricants?|marcas?|fabricantes?)\s*:?\s+)?$",
    )
});
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{L}\p{N}&+'’.-]*[\p{L}\p{N}&+]"));
/// What stands between two names of which either will do.
static OR: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*(?:,|/|\b(?:or|oder|ou|o|u)\b)\s*(?:(?:from|by|von|de)\s+)?$"));

/// Takes the names of makers, of which any will do.
pub(crate) fn read(draft: &mut Draft<'_>) {
    let makers: Vec<&str> = MAKERS.iter().copied().filter(|path| draft.known.share(path) >= SHARE_MIN).collect();
    if makers.is_empty() {
        return;
    }
    let text = draft.out.text.as_str();
    let words: Vec<Range<usize>> = WORD.find_iter(text).map(|word| word.range()).collect();
    let mut named: Vec<(Range<usize>, Filter)> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match name(draft.known, &makers, text, &words[at..]) {
            Some((count, filter)) => {
                named.push((words[at].start..words[at + count - 1].end, filter));
                at += count;
            }
            None => at += 1,
        }
    }
    let Some((first, _)) = named.first() else { return };
    // "Kronos or Vega": either. A second name that nothing ties to the first is of something else.
    let tied = named.windows(2).take_while(|two| OR.is_match(&text[two[0].0.end..two[1].0.start])).count() + 1;
    let lead = LEAD.find(&text[..first.start]).map_or(first.start, |lead| lead.start());
    let end = named[tied - 1].0.end;
    let names: Vec<&str> = named[..tied].iter().map(|(range, _)| &text[range.clone()]).collect();
    let said = names.iter().skip(1).fold(names[0].to_owned(), |all, name| draft.say("or", &[&all, name]));
    let filters = named[..tied].iter().map(|(_, filter)| filter.clone()).collect();
    let filter = Filter::any_of(filters, draft.say("by", &[&said]));
    if draft.has_room(1) {
        draft.take(lead..end, vec![filter]);
    }
}

/// The longest name that these words begin with, of those at the paths `makers`: how many of them it takes, and the
/// limit. A name that is in things of others, too, says by itself nothing of who made them.
fn name(known: &dyn QuestionScope, makers: &[&str], text: &str, words: &[Range<usize>]) -> Option<(usize, Filter)> {
    let start = words.first()?.start;
    (1..=words.len().min(NAME_WORDS_MAX)).rev().find_map(|count| {
        let name = &text[start..words[count - 1].end];
        let has = |path: &&&str| known.has_value(path, name);
        let fields: Vec<String> = makers.iter().filter(has).map(|path| (*path).to_owned()).collect();
        if fields.is_empty() {
            return None;
        }
        let is_led = || LEAD.find(&text[..start]).is_some_and(|lead| !lead.is_empty());
        let others =
            Filter { fields: fields.clone(), test: Test::NoneOf(vec![name.to_lowercase()]), words: String::new() };
        let says_it = || name.chars().count() >= LETTERS_MIN && !known.finds(name, &[others]);
        let of = Filter { fields, test: Test::Is(name.to_owned()), words: String::new() };
        (is_led() || says_it()).then_some((count, of))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::understood;

    /// Things of three makers. Those of others speak of pear.
    struct Things;

    impl QuestionScope for Things {
        fn has_number(&self, path: &str) -> bool {
            path == "offers.price"
        }
        fn has_word(&self, _: &str, _: &str) -> bool {
            false
        }
        fn has_value(&self, path: &str, value: &str) -> bool {
            path == "brand.name" && ["kronos", "vega labs", "pear"].contains(&value.to_lowercase().as_str())
        }
        fn share(&self, path: &str) -> f64 {
            f64::from(u8::from(path == "brand.name"))
        }
        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
        }
        fn finds(&self, text: &str, filters: &[Filter]) -> bool {
            text.eq_ignore_ascii_case("pear") && filters.iter().any(|filter| matches!(filter.test, Test::NoneOf(_)))
        }
        fn is_name(&self, _: &str) -> bool {
            false
        }
        fn states(&self, _: &str) -> bool {
            false
        }
    }

    #[test]
    fn a_thing_is_of_the_maker_that_is_named() {
        for (text, left, limit) in [
            ("lamp from Kronos", "lamp", "by Kronos"),
            ("a kronos lamp", "a lamp", "by kronos"),
            ("lamp of the brand Vega Labs under 20 euros", "lamp", "by Vega Labs"),
            ("Lampe von Kronos", "Lampe", "by Kronos"),
            ("Lampe der Marke Kronos", "Lampe", "by Kronos"),
            ("lampe de la marque Kronos", "lampe", "by Kronos"),
            ("lámpara de Kronos", "lámpara", "by Kronos"),
            ("lamp from Kronos or Vega Labs", "lamp", "by Kronos or Vega Labs"),
            ("lamp by pear", "lamp", "by pear"),
        ] {
            let found = understood(text, &Things);
            assert_eq!(found.text, left, "{text}");
            assert!(found.filters.iter().any(|filter| filter.words == limit), "{text}: {found:?}");
        }
        for text in ["a pear lamp", "lamp", "", "from"] {
            assert!(understood(text, &Things).filters.is_empty(), "{text}");
        }
    }
}
