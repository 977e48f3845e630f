//! Asking back: when very many items fit and one property splits them well, which of its values is meant.

use forecourt_core::findings::URL_HOST;
use forecourt_core::reply::Question;
use forecourt_index::{Error, Facet, Library, Query};
use forecourt_sentences::Sentences;
use serde_json::json;

use super::facets;
use super::name_role::{is_same, tokens};
use super::phrases::phrases;
use super::request::SearchRequest;
use crate::limits::ELICIT_OPTIONS_MAX;

/// The part of the items that has to have the property.
const COVERAGE_MIN: f64 = 0.5;
/// The part of those that the most frequent value may have: above, naming it says little.
const SHARE_MAX: f64 = 0.7;
/// The part that a value needs to be offered.
const SHARE_MIN: f64 = 0.04;

/// When something is asked back, and how.
#[derive(Clone, Copy)]
pub(super) struct Elicitation<'a> {
    /// How many items have to fit. `None`: nothing is ever asked back.
    pub(super) over: Option<usize>,
    /// What several items are called.
    pub(super) items: &'a str,
    /// The words of the question.
    pub(super) say: Sentences,
}

/// Values of a property that can be chosen, each with how many items have it.
type Options = Vec<(String, usize)>;

impl Elicitation<'_> {
    /// What to ask back about. `None` when few items fit, or nothing splits them well.
    pub(super) fn question(&self, library: &Library, asked: &SearchRequest) -> Result<Option<Question>, Error> {
        let Some(over) = self.over else { return Ok(None) };
        let has_chosen = asked.named.iter().any(|named| named.name != URL_HOST);
        // Never twice in a row: somebody who has chosen, or pages on, wants items.
        if asked.offset > 0 || has_chosen || asked.was_asked_back {
            return Ok(None);
        }
        // Where items are from is no choice among them, and says which of them there are to choose from.
        let filters = asked.filters.iter().chain(asked.named.iter().map(|named| &named.filter)).cloned().collect();
        let query = Query { text: asked.text.clone(), filters, limit: 1, ..Query::default() };
        let found = library.facets(&query, &facets::fields(), over)?;
        let facets = facets::joined(found.facets, |_| false);
        let open = facets.iter().filter(|facet| !is_named(facet, &asked.text));
        let offered = open.map(|facet| (facet, offered(facet)));
        let best = offered.map(|(facet, options)| (worth(facet, &options, found.counted), facet, options));
        let best = best.filter(|(worth, ..)| *worth > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
        Ok(best.map(|(_, facet, options)| self.worded(&facet.field, &options, found.total)))
    }

    /// The question, in words and in NLWeb's shape (4.1.3). Its last option leaves it open (B.2).
    fn worded(&self, field: &str, options: &Options, total: usize) -> Question {
        let open = phrases().sentence("no_preference", self.say.language().code());
        let options: Vec<&str> = options.iter().map(|(value, _)| value.as_str()).chain([open]).collect();
        let which = self.say.which(facets::name(field)).unwrap_or_default();
        let text = self.say.ask_which(total, self.items, &which, &options.join(", "));
        let structured = json!({"id": field, "text": which, "type": "single_select", "options": options});
        Question { text, questions: vec![structured] }
    }
}

/// Whether a question names a value of the property already: who asks for soup is not asked which kind of dish.
fn is_named(facet: &Facet, text: &str) -> bool {
    let asked = tokens(text);
    facet.values.iter().any(|(value, _)| {
        let words = tokens(value);
        !words.is_empty() && words.iter().all(|word| asked.iter().any(|other| is_same(word, other)))
    })
}

/// How many bits of information naming a value gives, weighted by the part of the items that have the property. 0: not
/// worth asking.
fn worth(facet: &Facet, options: &Options, counted: usize) -> f64 {
    let (items, counted) = (facet.items as f64, counted as f64);
    let shares: Vec<f64> = options.iter().map(|(_, count)| *count as f64 / items).collect();
    let splits = shares.len() >= 2 && shares.iter().all(|share| *share <= SHARE_MAX);
    if !splits || items < COVERAGE_MIN * counted {
        return 0.0;
    }
    // The entropy of the answer: how much the choice is expected to narrow down.
    items / counted * shares.iter().map(|share| -share * share.log2()).sum::<f64>()
}

/// The values that are worth offering, none of which is another one in other words.
fn offered(facet: &Facet) -> Options {
    let least = SHARE_MIN * facet.items as f64;
    let values = merged(&facet.values).into_iter();
    values.filter(|(_, count)| *count as f64 >= least).take(ELICIT_OPTIONS_MAX).collect()
}

/// Values without those that are others in another case, in the plural, or with a word more, each with the items of all
/// that it stands for: the shortest one, which the others have in them, else the most frequent spelling.
fn merged(values: &[(String, usize)]) -> Options {
    let mut all: Vec<(String, usize, Vec<String>)> = Vec::new();
    for (value, count) in values {
        let words = tokens(value);
        match all.iter_mut().find(|(_, _, known)| is_within(known, &words) || is_within(&words, known)) {
            Some(known) => {
                known.1 += count;
                if words.len() < known.2.len() {
                    (known.0, known.2) = (value.clone(), words);
                }
            }
            None => all.push((value.clone(), *count, words)),
        }
    }
    let mut options: Options = all.into_iter().map(|(value, count, _)| (value, count)).collect();
    options.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    options
}

fn is_within(few: &[String], many: &[String]) -> bool {
    !few.is_empty() && few.iter().all(|word| many.iter().any(|other| is_same(word, other)))
}

/// The property that an earlier question of ours asked about. `None` when it is not one of ours.
pub(super) fn asked_about(question: &Question) -> Option<&'static str> {
    facets::known(question.questions.first()?.get("id")?.as_str()?)
}

/// Whether an answer leaves it open.
pub(super) fn is_any(answer: &str) -> bool {
    let open = ["en", "de", "fr", "es"].map(|code| phrases().sentence("no_preference", code));
    let answer = answer.trim().trim_end_matches(['.', '!']);
    phrases().leaves_open(answer) || open.iter().any(|words| words.eq_ignore_ascii_case(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english() -> Sentences {
        Sentences::in_language(forecourt_sentences::SpokenLanguage::English)
    }

    fn facet(items: usize, counts: &[usize]) -> Facet {
        let values = counts.iter().enumerate().map(|(at, count)| (format!("v{at}"), *count)).collect();
        Facet { field: "genre".to_owned(), items, values, ..Facet::default() }
    }

    fn worth_of(items: usize, counts: &[usize], counted: usize) -> f64 {
        let facet = facet(items, counts);
        worth(&facet, &offered(&facet), counted)
    }

    fn elicitation() -> Elicitation<'static> {
        Elicitation { over: Some(10), items: "things", say: english() }
    }

    #[test]
    fn a_good_question_splits_what_it_covers() {
        assert!(worth_of(100, &[50, 30, 20], 100) > worth_of(100, &[70, 30], 100));
        assert_eq!(worth_of(100, &[71, 29], 100), 0.0);
        assert_eq!(worth_of(49, &[25, 24], 100), 0.0);
        assert!(worth_of(50, &[25, 25], 100) > 0.0);
        assert_eq!(worth_of(100, &[60, 3, 3, 3], 100), 0.0);
        assert_eq!(worth_of(0, &[], 0), 0.0);
    }

    #[test]
    fn what_was_asked_is_read_again() {
        let question = elicitation().worded("genre", &vec![("Comedy".to_owned(), 20), ("Drama".to_owned(), 15)], 400);
        assert_eq!(
            question.text,
            "400 things could fit. Which genre? For example Comedy, Drama, no preference. Name one, or say *all of them*."
        );
        assert_eq!(question.questions[0]["options"], json!(["Comedy", "Drama", "no preference"]));
        assert_eq!(question.in_words(), question.text, "everything is said once");
        for field in facets::fields() {
            let question = elicitation().worded(field, &vec![("a".to_owned(), 1)], 400);
            assert_eq!(asked_about(&question), Some(field));
        }
        assert_eq!(asked_about(&Question { questions: Vec::new(), ..question }), None, "words alone say nothing");
        assert!(is_any("All of them!") && is_any("Egal") && is_any("no preference") && !is_any("Comedy"));
    }

    #[test]
    fn options_do_not_overlap() {
        let values =
            [("Beverage", 9), ("Soups", 8), ("Beverages", 5), ("soup", 4), ("Main Dish", 7), ("Dish", 3), ("Side", 2)];
        let values: Options = values.into_iter().map(|(value, count)| (value.to_owned(), count)).collect();
        let options: Vec<(String, usize)> = merged(&values);
        let options: Vec<(&str, usize)> = options.iter().map(|(value, count)| (value.as_str(), *count)).collect();
        assert_eq!(options, [("Beverage", 14), ("Soups", 12), ("Dish", 10), ("Side", 2)]);
    }

    #[test]
    fn nothing_is_asked_that_was_said() {
        let soup =
            Facet { field: "genre".to_owned(), items: 10, values: vec![("Soup".to_owned(), 9)], ..Facet::default() };
        assert!(is_named(&soup, "pumpkin soups") && !is_named(&soup, "pumpkin"));
    }

    #[test]
    fn options_end_at_the_bound() {
        let many = facet(100, &[10; ELICIT_OPTIONS_MAX + 1]);
        assert_eq!(offered(&many).len(), ELICIT_OPTIONS_MAX);
    }
}
