//! Asking back: when very many items fit and one property splits them well, which of its values is meant.

use forecourt_content::{Error, Facet, Library, Query};
use forecourt_core::findings::URL_HOST;
use forecourt_core::reply::Question;
use forecourt_sentences::Sentences;
use serde_json::{Value, json};

use super::facets;
use super::request::SearchRequest;
use crate::limits::ELICIT_OPTIONS_MAX;

/// The part of the items that has to have the property.
const COVERAGE_MIN: f64 = 0.5;
/// The part of those that the most frequent value may have: above, naming it says little.
const SHARE_MAX: f64 = 0.7;
/// The part that a value needs to be offered.
const SHARE_MIN: f64 = 0.04;

/// What to ask back about, in words and with what the items are called. `None` when at most `over` items fit, or nothing splits them well.
pub(super) fn question(
    library: &Library,
    asked: &SearchRequest,
    words: (Sentences, &str),
    over: usize,
) -> Result<Option<Question>, Error> {
    let has_chosen = asked.named.iter().any(|named| named.name != URL_HOST);
    if asked.offset > 0 || has_chosen || asked.was_asked_back {
        return Ok(None);
    }
    // Where items are from is no choice among them, and says which of them there are to choose from.
    let filters = asked.filters.iter().chain(asked.named.iter().map(|named| &named.filter)).cloned().collect();
    let query = Query { text: asked.text.clone(), filters, limit: 1, ..Query::default() };
    let found = library.facets(&query, &facets::fields(), over)?;
    let best = found.facets.iter().map(|facet| (facet, worth(facet, found.counted)));
    let best = best.filter(|(_, worth)| *worth > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
    Ok(best.map(|(facet, _)| worded(facet, words, found.total)))
}

/// Bits that naming a value tells, for the part of the items that have one. 0 when it is no good question.
fn worth(facet: &Facet, counted: usize) -> f64 {
    let (items, counted) = (facet.items as f64, counted as f64);
    let shares: Vec<f64> = offered(facet).map(|(_, count)| *count as f64 / items).collect();
    let splits = shares.len() >= 2 && shares.iter().all(|share| *share <= SHARE_MAX);
    if !splits || items < COVERAGE_MIN * counted {
        return 0.0;
    }
    items / counted * shares.iter().map(|share| -share * share.log2()).sum::<f64>()
}

/// The values that are worth offering.
fn offered(facet: &Facet) -> impl Iterator<Item = &(String, usize)> {
    let least = SHARE_MIN * facet.items as f64;
    facet.values.iter().filter(move |(_, count)| *count as f64 >= least).take(ELICIT_OPTIONS_MAX)
}

/// The question, in words and in NLWeb's shape (4.1.3).
fn worded(facet: &Facet, (say, items): (Sentences, &str), total: usize) -> Question {
    let options: Vec<&str> = offered(facet).map(|(value, _)| value.as_str()).collect();
    let which = say.which(facets::question(&facet.field)).unwrap_or_default();
    let text = say.ask_which(total, items, &which, &options.join(", "));
    let structured = json!({"id": facet.field, "text": which, "type": "single_select", "options": options});
    Question { text, questions: vec![structured] }
}

/// The property that an earlier question of ours asked about. `None` when it is not one of ours.
pub(super) fn asked_about(question: &Question) -> Option<&'static str> {
    facets::known(question.questions.first()?.get("id")?.as_str()?)
}

/// What an answer in words chooses: one value, or any of several.
pub(super) fn chosen(answer: &str) -> Value {
    let answer = answer.trim().trim_end_matches(['.', '!']).to_lowercase();
    let values: Vec<&str> = answer.split([',', '/']).flat_map(|part| part.split(" and ")).collect();
    let values = values.into_iter().flat_map(|part| part.split(" or ")).map(str::trim);
    let mut values: Vec<Value> = values.filter(|value| !value.is_empty()).map(Value::from).collect();
    if values.len() == 1 { values.remove(0) } else { values.into() }
}

/// Whether an answer leaves it open.
pub(super) fn is_any(answer: &str) -> bool {
    let answer = answer.trim().trim_end_matches(['.', '!']).to_lowercase();
    ["all", "any", "all of them", "any of them", "everything", "none", "no preference", "doesn't matter", "whatever"]
        .contains(&answer.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english() -> Sentences {
        Sentences::in_language(forecourt_sentences::SpokenLanguage::English)
    }

    fn facet(items: usize, counts: &[usize]) -> Facet {
        let values = counts.iter().enumerate().map(|(at, count)| (format!("v{at}"), *count)).collect();
        Facet { field: "genre".to_owned(), items, values }
    }

    #[test]
    fn a_good_question_splits_what_it_covers() {
        assert!(worth(&facet(100, &[50, 30, 20]), 100) > worth(&facet(100, &[70, 30]), 100));
        assert_eq!(worth(&facet(100, &[71, 29]), 100), 0.0);
        assert_eq!(worth(&facet(49, &[25, 24]), 100), 0.0);
        assert!(worth(&facet(50, &[25, 25]), 100) > 0.0);
        assert_eq!(worth(&facet(100, &[60, 3, 3, 3]), 100), 0.0);
        assert_eq!(worth(&facet(0, &[]), 0), 0.0);
    }

    #[test]
    fn what_was_asked_is_read_again() {
        let question = worded(&facet(40, &[20, 15, 5]), (english(), "movies"), 400);
        assert_eq!(asked_about(&question), Some("genre"));
        assert_eq!(question.questions[0]["options"], json!(["v0", "v1", "v2"]));
        for field in facets::fields() {
            let about = Facet { field: field.to_owned(), ..facet(40, &[20, 20]) };
            assert_eq!(asked_about(&worded(&about, (english(), "things"), 400)), Some(field));
        }
        assert_eq!(asked_about(&Question { questions: Vec::new(), ..question }), None, "words alone say nothing");
        assert!(is_any("All of them!") && !is_any("Comedy"));
    }

    #[test]
    fn an_answer_may_choose_several() {
        assert_eq!(chosen("Soup!"), json!("soup"));
        assert_eq!(chosen("soup, stew or pie and bread"), json!(["soup", "stew", "pie", "bread"]));
        assert_eq!(chosen(" "), json!([]));
    }

    #[test]
    fn options_end_at_the_bound() {
        let many = facet(100, &[10; ELICIT_OPTIONS_MAX + 1]);
        assert_eq!(offered(&many).count(), ELICIT_OPTIONS_MAX);
    }
}
