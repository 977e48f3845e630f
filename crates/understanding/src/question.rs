//! A question read rule by rule.

use forecourt_vocabulary::WordClass;

use crate::draft::{Draft, cut_out};
use crate::found::UnderstoodPart;
use crate::limits::QUERY_BYTES_MAX;
use crate::parsed_question::ParsedQuestion;
use crate::reader::Reader;
use crate::scope::ReadingAids;
use crate::{
    date, distance, elsewhere, event_status, graded, hours, kind, left_over, level, maker, near, offered, order, pay,
    people, place, quantity, stated, stated_end, stated_value, stock, value, wanted, weekly, without,
};

/// A rule: what it finds at a token. The third argument is the token before which nothing may be taken.
type Rule = fn(&Reader<'_>, usize, usize) -> Option<UnderstoodPart>;

/// The first one that finds something counts.
const RULES: &[Rule] = &[
    event_status::read,
    weekly::read_open,
    weekly::read_not,
    weekly::read,
    hours::read,
    pay::read,
    distance::read,
    stated::read_number,
    stated_end::read,
    order::read_count,
    order::read,
    date::read,
    quantity::read,
    stock::read,
    offered::read,
    elsewhere::read,
    stated_value::read_not,
    stated_value::read_value,
    graded::read,
    level::read_level,
    without::read_behind,
    without::read,
    without::read_word,
    wanted::read,
    left_over::read_filler,
    left_over::read_not,
];

/// Takes a question apart. Reads none that is longer than [`QUERY_BYTES_MAX`] bytes.
pub fn understand(text: &str, aids: ReadingAids<'_>) -> ParsedQuestion {
    if text.len() > QUERY_BYTES_MAX {
        return ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
    }
    // Before all other rules: "within 5 km" is how far away something is, and no length of it.
    let distance = near::read(text, aids);
    let rest = distance.as_ref().map(|(_, bytes)| cut_out(text, std::slice::from_ref(bytes)));
    let reader = Reader::new(rest.as_deref().unwrap_or(text), aids);
    let mut found = read(&reader);
    found.extend(left_over::clause_verbs(&reader, &found));
    let mut draft = Draft::new(aids, found, &reader);
    // These compare words with values of the data, and come last: they read what the grammar left.
    for rule in [people::read, maker::read, place::read, value::read, kind::read] {
        rule(&mut draft);
    }
    if let Some((filter, bytes)) = distance {
        draft.limit_distance(filter, bytes, text);
    }
    draft.finish(&reader)
}

/// What the rules find, in the order of the question.
fn read(reader: &Reader<'_>) -> Vec<UnderstoodPart> {
    let (mut all, mut at, mut floor) = (Vec::new(), 0, 0);
    while at < reader.tokens.len() {
        // A phrase that looks like a limit and is none, whole: no rule reads a part of it.
        if let Some(end) = reader.class(at, WordClass::Exception) {
            at = end;
            continue;
        }
        match RULES.iter().find_map(|rule| rule(reader, at, floor)) {
            Some(found) => {
                // At least one token on, so that a rule that takes nothing can't hold the loop.
                at = found.tokens.end.max(at + 1);
                floor = at;
                all.push(found);
            }
            None => at += 1,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::filter::Test;
    use crate::limits::FILTERS_MAX;
    use crate::tests::{Bare, Everything, parts, understood};

    /// An index of bare texts.
    const NOTHING: Bare = Bare("");

    #[test]
    fn a_question_can_hold_several_constraints() {
        let (text, words) = parts("something quick with chickpeas, no nuts");
        assert_eq!(text, "something with chickpeas");
        assert_eq!(words, ["30 minutes or less", "no nuts"]);
        let (text, words) = parts("Movies from 1999 about ships under $20");
        assert_eq!(text, "about ships");
        assert_eq!(words, ["at most 20", "from 1999", "Movie"]);
    }

    #[test]
    fn what_the_index_does_not_know_stays_text() {
        for text in ["quick soup under 30 minutes", "films from the 90s under $5", "heat flow without shear"] {
            let found = understood(text, &NOTHING);
            let found = ParsedQuestion { reading: Vec::new(), ..found };
            assert_eq!(found, ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() });
        }
        // What somebody may be allergic to is told wherever it is.
        let found = understood("soup, no nuts", &NOTHING);
        assert_eq!((found.text.as_str(), found.not_understood), ("soup", vec!["no nuts".to_owned()]));
    }

    #[test]
    fn a_long_text_is_left_alone() {
        let text = |bytes: usize| format!("quick {}", "x".repeat(bytes - 6));
        assert_eq!(understood(&text(QUERY_BYTES_MAX), &Everything).filters.len(), 1);
        assert_eq!(understood(&text(QUERY_BYTES_MAX + 1), &Everything).filters.len(), 0);
    }

    #[test]
    fn what_is_more_than_a_query_can_have_stays_text() {
        for (constraint, is_whole) in
            [("comedies, ", true), ("from 1999, ", true), ("no nuts; ", false), ("with Bill Murray; ", false)]
        {
            let count = |times: usize| understood(&constraint.repeat(times), &Everything).filters.len();
            let most = count(FILTERS_MAX + 1);
            assert!(most <= FILTERS_MAX && (most == FILTERS_MAX || !is_whole), "{constraint}: {most}");
            assert_eq!(count(FILTERS_MAX / 2), FILTERS_MAX / 2, "{constraint}");
            let and_more = format!("movies in Berlin, {}", constraint.repeat(FILTERS_MAX));
            assert!(understood(&and_more, &Everything).filters.len() <= FILTERS_MAX, "{constraint}");
        }
    }

    #[test]
    fn what_only_ties_limits_together_is_not_looked_for() {
        for text in ["höchstens 30 Minuten und höchstens 20 Euro", "under 30 minutes and with no nuts"] {
            let found = understood(text, &Everything);
            assert_eq!((found.filters.len(), found.text.as_str()), (2, ""), "{text}");
        }
        assert_eq!(understood("and", &Everything).text, "and");
    }

    #[test]
    fn a_distance_that_is_one_limit_too_many_is_told() {
        let asked = |comedies: usize| {
            let found = understood(&format!("{}near Porto", "from 1999, ".repeat(comedies)), &Everything);
            let is_kept = found.filters.iter().any(|filter| matches!(filter.test, Test::Near { .. }));
            (found.filters.len(), is_kept, found.not_understood)
        };
        assert_eq!(asked(FILTERS_MAX - 1), (FILTERS_MAX, true, Vec::new()));
        assert_eq!(asked(FILTERS_MAX), (FILTERS_MAX, false, vec!["near Porto".to_owned()]));
    }

    #[test]
    fn contradictions_are_told_with_both_readings() {
        let found = understood("vegan beef stew", &Everything).contradictions;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].limit.text.as_str(), found[0].demand.text.as_str()), ("stew", "beef stew"));
        assert_eq!((found[0].limit.filters.len(), found[0].demand.filters.len()), (1, 0));
        assert_eq!(understood("wine under $5 but over $20", &Everything).contradictions.len(), 1);
        assert!(understood("vegan stew under $5", &Everything).contradictions.is_empty());
    }

    #[test]
    fn orders_and_counts_are_understood() {
        let order =
            |text: &str| understood(text, &Everything).order.map(|order| (order.fields[0].clone(), order.descending));
        assert_eq!(order("the cheapest wine"), Some(("offers.price".to_owned(), false)));
        assert_eq!(order("most recent films"), Some(("datePublished".to_owned(), true)));
        assert_eq!(order("la película más reciente"), Some(("datePublished".to_owned(), true)));
        assert_eq!(order("schnellste Suppe"), Some(("totalTime".to_owned(), false)));
        assert_eq!(understood("the longest soup by minutes", &Everything).text, "soup");
        assert_eq!(understood("the easiest soup", &Everything).not_understood, ["the easiest"]);
        let count = |text: &str| understood(text, &Everything).count;
        assert_eq!(
            (count("top 5 soups"), count("give me three ideas"), count("3 movies")),
            (Some(5), Some(3), Some(3))
        );
        for text in
            ["three cheese pizza", "12 angry men", "seven samurai", "give me a soup", "7 up", "0 movies", "101 movies"]
        {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn long_lists_are_read_in_time_that_grows_with_them() {
        let text = |bytes: usize| "no nuts or ".chars().cycle().take(bytes).collect::<String>();
        let found = understood(&text(QUERY_BYTES_MAX), &Everything);
        assert!(found.filters.len() <= FILTERS_MAX);
    }

    proptest! {
        #[test]
        fn any_text_is_understood_somehow(text in any::<String>()) {
            understood(&text, &Everything);
        }

        #[test]
        fn almost_constraints_are_understood_somehow(
            text in "(under|no|without|in|from|the|between|and|or|quick|nuts|-free|minutes|\\$|[0-9]{1,9}|s|'|,|é| ){0,30}"
        ) {
            let found = understood(&text, &Everything);
            prop_assert!(found.text.len() <= text.len() + 1);
        }
    }
}
