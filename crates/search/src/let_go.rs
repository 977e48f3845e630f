//! A turn that lets go of a limit: "the colour doesn't matter", "any price, but with a terrace".

use super::held_limits;
use super::phrases::{content_words, phrases};
use super::request::{ItemLookup, SearchRequest};

/// Clauses of a turn of which one may let go of a limit.
const CLAUSES_MAX: usize = 4;
/// Words of such a clause beside those that let go.
const DROPPED_WORDS_MAX: usize = 4;
/// Words between two clauses, as a comma is.
const BUT: &[&str] = &["but", "aber", "sondern", "mais", "pero", "sino"];

/// The question without the limits that a turn lets go of, and asks for nothing else. `None`: it lets go of none.
pub(super) fn of_all(before: &SearchRequest, text: &str, reads: &dyn ItemLookup) -> Option<SearchRequest> {
    let what = phrases().dropped(text)?;
    let same = || SearchRequest { offset: 0, ..before.clone() }.unsaid();
    // "Pets are fine" may ask for places where they are.
    let is_named = || names_limits(what, reads) && reads.understand(text).filters.is_empty();
    held_limits::without(before, what, reads).or_else(|| is_named().then(same))
}

/// The question without the limit that one clause of a turn lets go of, and the other clauses.
pub(super) fn of_a_clause(
    before: &SearchRequest,
    text: &str,
    reads: &dyn ItemLookup,
) -> Option<(SearchRequest, String)> {
    let clauses = clauses(text);
    let dropped = |clause: &str| {
        let what = phrases().dropped(clause).filter(|what| what.split_whitespace().count() <= DROPPED_WORDS_MAX)?;
        // "Any colour is fine but not over 25" sets a limit, too.
        held_limits::sets_none(before, what, reads).then(|| held_limits::without(before, what, reads)).flatten()
    };
    if clauses.len() < 2 || clauses.len() > CLAUSES_MAX {
        return None;
    }
    let (at, eased) =
        clauses.iter().enumerate().find_map(|(at, clause)| Some((at, dropped(clause)?))).or_else(|| {
            // "Whichever flower": what no limit is of is let go of all the same. At the beginning it may be what is asked for.
            let lets_go = |(at, clause): (usize, &String)| {
                phrases().dropped(clause).is_some_and(|what| {
                    let is_short = what.split_whitespace().count() <= DROPPED_WORDS_MAX;
                    let begins =
                        || !chooses(clause) && clauses[1..].iter().all(|other| phrases().begins_with_limit(other));
                    is_short
                        && (at > 0 || names_limits(what, reads) || begins())
                        && reads.understand(what).filters.is_empty()
                })
            };
            clauses.iter().enumerate().position(lets_go).map(|at| (at, before.clone()))
        })?;
    let rest: Vec<&str> = clauses.iter().enumerate().filter(|(of, _)| *of != at).map(|(_, one)| one.as_str()).collect();
    Some((eased, rest.join(", ")))
}

/// How a clause begins that may ask for whatever there is of a thing: "any red wine".
const ANY: &[&str] =
    &["any", "in", "at", "for", "jede", "jeder", "jedes", "jeden", "beliebige", "cualquier", "de", "en", "a"];

fn chooses(clause: &str) -> bool {
    clause.split_whitespace().next().is_some_and(|first| ANY.contains(&first.to_lowercase().as_str()))
}

/// Whether words name nothing but limits: the price, the colour, a property that items state.
fn names_limits(what: &str, reads: &dyn ItemLookup) -> bool {
    let mut words = content_words(what).peekable();
    words.peek().is_some() && words.all(|word| held_limits::is_limit_name(word) || reads.names_property(word))
}

/// The parts of a text between commas, and at words that turn it round.
fn clauses(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let mut clause: Vec<&str> = Vec::new();
        for word in part.split_whitespace() {
            let turns = BUT.contains(&word.to_lowercase().as_str());
            if turns && !clause.is_empty() {
                all.push(std::mem::take(&mut clause).join(" "));
            } else if !turns {
                clause.push(word);
            }
        }
        all.push(clause.join(" "));
    }
    all.retain(|clause| !clause.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_end_at_commas_and_at_words_that_turn_round() {
        for (text, wanted) in [
            ("any price, but with a terrace", &["any price", "with a terrace"][..]),
            ("diesel is fine after all but max 10k", &["diesel is fine after all", "max 10k"]),
            ("egal welche Farbe aber unter 20 €", &["egal welche Farbe", "unter 20 €"]),
            ("tant pis pour le wifi mais avec parking", &["tant pis pour le wifi", "avec parking"]),
            ("but cheaper", &["cheaper"]),
            (" , ", &[]),
        ] {
            assert_eq!(clauses(text), wanted, "{text}");
        }
    }
}
