//! Questions whether one place is open at a time: "is the cafe open on Sunday?". The place is the answer, also where it is not.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_understanding::{Filter, OPENING_TIMES};
use forecourt_vocabulary::folded;

use super::beside_limits::{ANYTHING, QUESTIONS};
use super::kind_named;
use super::mentioned;
use super::request::SearchRequest;
use crate::limits::NAMED_ITEMS_MAX;

/// Verbs that begin such a question, without accents.
const VERBS: &[&str] = &[
    "is", "are", "does", "do", "will", "can", "ist", "sind", "hat", "haben", "est", "sont", "esta", "estan", "abre",
    "abren",
];
/// Properties in which a place says when it is open.
const HOURS: [&str; 2] = ["openingHours", "openingHoursSpecification"];

/// The place that a question names, which is not open then, and what was asked of it. `None`: nothing of the kind is asked, or
/// of several places. `is_found`: others are open then.
pub(super) fn closed(
    library: &Library,
    asked: &SearchRequest,
    query: &Query,
    is_found: bool,
) -> Result<Option<(Hit, String)>, Error> {
    let is_opening = |filter: &&Filter| {
        !filter.fields.is_empty() && filter.fields.iter().all(|field| field.starts_with(OPENING_TIMES))
    };
    let (opening, others): (Vec<&Filter>, Vec<&Filter>) = query.filters.iter().partition(is_opening);
    if opening.is_empty() || !asks_whether(asked.reading.text()) {
        return Ok(None);
    }
    let said = opening.first().map(|filter| filter.words.clone()).unwrap_or_default();
    let states = |hit: &Hit| HOURS.iter().any(|key| hit.item.get(*key).is_some());
    if let Some(named) = mentioned::item(library, asked.reading.text())?.filter(states) {
        let by_name = Query { text: named.name.clone(), limit: NAMED_ITEMS_MAX, ..query.clone() };
        let is_open = library.search(&by_name)?.iter().any(|hit| hit.id == named.id);
        return Ok((!is_open).then_some((named, said)));
    }
    if is_found {
        return Ok(None);
    }
    let filters = others.into_iter().cloned().collect();
    let mut hits = library.search(&Query { filters, limit: 2, ..query.clone() })?;
    let is_one =
        hits.len() == 1 || hits.first().is_some_and(|first| kind_named::is_called(library, &query.text, first));
    Ok((is_one && !hits.is_empty()).then(|| hits.remove(0)).filter(states).map(|hit| (hit, said)))
}

/// Whether a text asks whether something is so, and not which things are.
pub(super) fn asks_whether(text: &str) -> bool {
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(folded).collect();
    let asks_which = |word: &String| QUESTIONS.iter().chain(ANYTHING).any(|asks| folded(asks) == *word);
    let begins = words.first().is_some_and(|first| VERBS.contains(&first.as_str()));
    (begins || text.trim_end().ends_with('?')) && !words.iter().any(asks_which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_and_which_are_told_apart() {
        for text in ["is the pool open on friday", "Hat das Museum montags offen?", "la piscine est ouverte lundi ?"] {
            assert!(asks_whether(text), "{text}");
        }
        for text in ["which pool is open on friday?", "is anything open now?", "¿qué museo abre hoy?", "pools open now"]
        {
            assert!(!asks_whether(text), "{text}");
        }
    }
}
