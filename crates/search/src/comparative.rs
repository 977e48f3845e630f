//! The one of the shown items that a comparative means: "the bigger one", "das schwerere", "la más larga". What it compares
//! is looked for among the properties of the items, as for a question: "how big is it?".

use forecourt_index::Hit;
use forecourt_sentences::Sentences;
use forecourt_vocabulary::{Vocabulary, folded};

use crate::asked_words::{AskedWords, MEANT_MIN};
use crate::fact_words::is_definite;
use crate::limits::COMPARED_VALUES_MAX;
use crate::phrases::phrases;
use crate::stated_fact::StatedFact;
use crate::stated_values::{self, StatedValue};

/// Words of such a turn: an article, a degree, the adjective and what it is of.
const WORDS_MAX: usize = 4;
/// How a question for one begins, folded.
const WHICH_IS: &[&str] = &[
    "which is ",
    "which one is ",
    "what is ",
    "welche ist ",
    "welcher ist ",
    "welches ist ",
    "was ist ",
    "lequel est ",
    "laquelle est ",
    "quel est ",
    "quelle est ",
    "cual es ",
];
/// Words in front of an adjective, and whether they turn it round, folded.
const DEGREES: &[(&str, bool)] = &[
    ("more", false),
    ("most", false),
    ("less", true),
    ("least", true),
    ("plus", false),
    ("moins", true),
    ("mas", false),
    ("menos", true),
    ("weniger", true),
];
/// Ends of comparatives and superlatives of one word, the longest first, folded.
const ENDS: &[&str] = &["esten", "eren", "erer", "eres", "sten", "ster", "stes", "este", "est", "ere", "ste", "er"];
/// Letters of an adjective without such an end.
const STEM_MIN: usize = 3;
/// Adjectives of little, and those of the same property of much, folded.
const OPPOSITES: &[(&str, &str)] = &[
    ("small", "big"),
    ("little", "big"),
    ("light", "heavy"),
    ("short", "long"),
    ("narrow", "wide"),
    ("thin", "thick"),
    ("quiet", "loud"),
    ("slow", "fast"),
    ("low", "high"),
    ("weak", "strong"),
    ("klein", "big"),
    ("leicht", "heavy"),
    ("kurz", "long"),
    ("schmal", "wide"),
    ("dunn", "thick"),
    ("leis", "loud"),
    ("langsam", "fast"),
    ("niedrig", "high"),
    ("schwach", "strong"),
    ("petit", "big"),
    ("petite", "big"),
    ("leger", "heavy"),
    ("legere", "heavy"),
    ("court", "long"),
    ("courte", "long"),
    ("etroit", "wide"),
    ("silencieux", "loud"),
    ("lent", "fast"),
    ("pequeno", "big"),
    ("pequena", "big"),
    ("ligero", "heavy"),
    ("ligera", "heavy"),
    ("corto", "long"),
    ("corta", "long"),
    ("estrecho", "wide"),
    ("silencioso", "loud"),
    ("lento", "fast"),
];

/// What a turn compares the shown items by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparative {
    /// Words of a question for it.
    asked: String,
    /// Whether the least of it comes first.
    is_least: bool,
}

impl Comparative {
    /// Reads a turn. `None`: it says more than a comparative behind an article, or none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = folded(phrases().behind_addition(text));
        let text = text.trim().trim_start_matches('¿').trim_end_matches(['?', '!', '.', ' ']);
        let text = WHICH_IS.iter().find_map(|which| text.strip_prefix(which)).unwrap_or(text);
        let mut words = text.split_whitespace();
        let is_known = words.next().is_some_and(is_definite);
        if !is_known || text.split_whitespace().count() > WORDS_MAX {
            return None;
        }
        let first = words.next()?;
        let (adjectives, turns) = match DEGREES.iter().find(|(degree, _)| *degree == first) {
            Some((_, turns)) => (vec![words.next()?.to_owned()], *turns),
            None => (without_end(first)?, false),
        };
        let opposite = OPPOSITES.iter().find(|(little, _)| adjectives.iter().any(|one| one == little));
        let asked = opposite.map_or_else(|| adjectives.join(" "), |(_, much)| (*much).to_owned());
        Some(Self { asked, is_least: opposite.is_some() != turns })
    }

    /// The place of the one of these items that has the most of it, or the least. `None`: they don't state it in one unit,
    /// or none has more than the others.
    pub(crate) fn first_of(&self, hits: &[Hit], say: Sentences, vocabulary: &Vocabulary) -> Option<usize> {
        let words = AskedWords::read(&self.asked, vocabulary);
        let stated: Vec<Vec<StatedValue>> =
            hits.iter().map(|hit| stated_values::all(&hit.item, say, vocabulary)).collect();
        let mut meant: Vec<(usize, &StatedValue)> =
            stated.first()?.iter().map(|one| (words.fit(one), one)).filter(|(fit, _)| *fit >= MEANT_MIN).collect();
        meant.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
        meant.into_iter().take(COMPARED_VALUES_MAX).find_map(|(_, one)| self.first_by(&one.path, &stated))
    }

    fn first_by(&self, path: &str, stated: &[Vec<StatedValue>]) -> Option<usize> {
        let of = |all: &Vec<StatedValue>| all.iter().find(|one| one.path == path).and_then(amount);
        let amounts: Vec<(usize, (f64, String))> =
            stated.iter().enumerate().filter_map(|(at, all)| Some((at, of(all)?))).collect();
        let (_, (_, unit)) = amounts.first()?;
        if amounts.len() < 2 || amounts.iter().any(|(_, (_, other))| other != unit) {
            return None;
        }
        let sign = if self.is_least { -1.0 } else { 1.0 };
        let best = amounts.iter().map(|(_, (amount, _))| amount * sign).max_by(f64::total_cmp)?;
        let mut first = amounts.iter().filter(|(_, (amount, _))| amount * sign == best).map(|(at, _)| *at);
        first.next().filter(|_| first.next().is_none())
    }
}

/// An adjective without the end of a comparative or superlative, in the forms that it may have. `None`: it has no such end.
fn without_end(word: &str) -> Option<Vec<String>> {
    let stem = ENDS.iter().find_map(|end| word.strip_suffix(end)).filter(|stem| stem.len() >= STEM_MIN)?;
    let mut forms = vec![stem.to_owned(), format!("{stem}e")];
    if let Some(stem) = stem.strip_suffix('i') {
        forms.push(format!("{stem}y"));
    }
    // "Größte" has lost an s.
    if stem.ends_with('s') {
        forms.push(format!("{stem}s"));
    }
    let mut ends = stem.chars().rev();
    if let (Some(last), Some(before)) = (ends.next(), ends.next())
        && last == before
    {
        forms.push(stem[..stem.len() - last.len_utf8()].to_owned());
    }
    Some(forms)
}

/// An amount with its unit: 8 and "ah" of "8.0 Ah".
fn amount(stated: &StatedValue) -> Option<(f64, String)> {
    let StatedFact::Text(text) = &stated.value else { return None };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let amount = text[..end].parse().ok()?;
    Some((amount, text[end..].trim().to_lowercase())).filter(|_| !stated.is_date())
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::SpokenLanguage;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Option<(String, bool)> {
        Comparative::read(text)
            .map(|read| (read.asked.split(' ').next_back().unwrap_or_default().to_owned(), read.is_least))
    }

    #[test]
    fn a_comparative_is_read_in_each_language() {
        for (text, asked, is_least) in [
            ("the bigger one", "big", false),
            ("and the heavier one?", "heavy", false),
            ("which is the smallest bag", "big", true),
            ("das schwerere", "schwere", false),
            ("und die leichtere?", "heavy", true),
            ("la plus grande", "grande", false),
            ("el menos pesado", "pesado", true),
            ("¿cuál es el más ligero?", "heavy", true),
        ] {
            assert_eq!(read(text), Some((asked.to_owned(), is_least)), "{text}");
        }
        for text in
            ["bigger", "the red one", "the one", "bigger than the lamp", "the bigger lamp in the hall", "the", ""]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    fn first(text: &str, items: &[Value]) -> Option<usize> {
        let hit = |item: &Value| Hit {
            score: 1.0,
            id: String::new(),
            item: item.clone().into(),
            name: String::new(),
            url: None,
            snippet: String::new(),
            matched: Vec::new(),
            is_pinned: false,
        };
        let hits: Vec<Hit> = items.iter().map(hit).collect();
        let say = Sentences::in_language(SpokenLanguage::English);
        Comparative::read(text)?.first_of(&hits, say, &Vocabulary::shipped())
    }

    #[test]
    fn the_item_with_the_most_or_the_least_of_it_is_meant() {
        let item = |capacity: &str, weight: f64, born: &str| {
            json!({"weight": {"value": weight, "unitCode": "KGM"}, "birthDate": born,
                "additionalProperty": [{"name": "Tank capacity", "value": capacity}]})
        };
        let items = [item("8.5 l", 2.0, "2020-01-02"), item("12 l", 1.5, "2021-01-02"), item("9 l", 3.0, "2022-01-02")];
        for (text, at) in [
            ("the bigger one", Some(1)),
            ("the lightest one", Some(1)),
            ("das schwerste", Some(2)),
            ("die größte", Some(1)),
            ("la moins grande", Some(0)),
            ("the older one", None),
            ("the louder one", None),
        ] {
            assert_eq!(first(text, &items), at, "{text}");
        }
        assert_eq!(first("the bigger one", &[item("8 l", 1.0, ""), item("9 gal", 1.0, "")]), None);
        assert_eq!(first("the heavier one", &[item("8 l", 1.0, ""), item("9 l", 1.0, "")]), None);
        assert_eq!(first("the heavier one", &[]), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_comparative_or_none(text in "(the|der|la|más|plus|er|est|[a-zß]{0,5}|é| ){0,12}") {
            if let Some(read) = Comparative::read(&text) {
                prop_assert!(!read.asked.is_empty());
            }
        }
    }
}
