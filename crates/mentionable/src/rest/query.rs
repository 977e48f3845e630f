//! The GET form: a query string into one turn. REST 3.1.
//!
//! Beside the parameters of the spec there are those that the forms and links of our own pages send, which agents that
//! know nothing of them ignore: `filter.{property}`, `sort`, `results` and `ask=no` narrow a search down, `prev` (it may occur
//! again) says what was asked before, `complete=yes` with `Accept: application/json` asks what a half-typed question may
//! become, `answer.{question}` answers one of several questions (see `answers.rs`), and
//! `state` goes on after a refusal (see `resumption.rs`), with the question that was kept where there is no `user`.

use std::collections::BTreeSet;

use forecourt_core::findings::ItemOrder;
use forecourt_core::{Language, Role, SearchRefinement};
use forecourt_pages::EARLIER_MAX;
use forecourt_pages::query::{ANSWER_PREFIX, COMPLETES, DECIDED, EARLIER, FILTER_PREFIX, ORDER, RESULTS};
use url::form_urlencoded;

use super::answers::Answers;
use super::limits::{ENTRIES_MAX, FILTERS_MAX, QUERY_BYTES_MAX};
use super::wire::{Ask, DecodeError, Entry, Run};

/// Reads a raw query string, the part after `?`. Unknown parameters are ignored. Broken UTF-8 is
/// replaced, as URLs do it everywhere. Fails when there is no `user`, when the caller tries to tell
/// more than one turn, and on what is too long.
pub(crate) fn decode(query: &str) -> Result<Ask, DecodeError> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(DecodeError::QueryTooLong);
    }
    let mut ask = Ask::default();
    let mut entries = Vec::with_capacity(1);
    let mut answers = Answers::default();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*key {
            "user" => entries.push(Entry::text(value)),
            "assistant" => return Err(DecodeError::MultiTurnQuery),
            "session" if ask.session.is_some() => return Err(DecodeError::TwoSessions),
            "session" => ask.session = Some(value.into_owned()),
            key if (key, &*value) == COMPLETES => ask.completes = true,
            EARLIER => earlier(&mut ask.earlier, &value),
            "state" if ask.state.is_none() => ask.state = Some(value.into_owned()),
            _ if key.starts_with(ANSWER_PREFIX) => answers.take(&key[ANSWER_PREFIX.len()..], &value),
            _ => narrow(&mut ask.narrowing, &key, &value),
        }
    }
    entries.extend(answers.into_entries());
    match entries.len() {
        // The question was kept with the state.
        0 if ask.state.is_some() => Ok(ask),
        0 => Err(DecodeError::NoUser),
        count if count > ENTRIES_MAX => Err(DecodeError::TooManyEntries),
        _ => {
            ask.earlier.retain(|earlier| !entries.iter().any(|entry| is_restated(earlier, entry)));
            ask.runs.push(Run { role: Role::User, entries });
            Ok(ask)
        }
    }
}

/// The questions of a raw query string, as a page shows them.
pub(crate) fn questions(query: &str) -> Vec<String> {
    if query.len() > QUERY_BYTES_MAX {
        return Vec::new();
    }
    let pairs = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == "user");
    pairs.map(|(_, text)| text.into_owned()).filter(|text| !text.starts_with("data:")).collect()
}

/// The language that a raw query string hints at by `lang`; of several, the first. REST 3.1.
pub(crate) fn language(query: &str) -> Option<Language> {
    // Of the pairs that can't be it nothing is decoded: the question is among them.
    let may_be = |pair: &&str| pair.split('=').next().is_some_and(|key| key == "lang" || key.contains('%'));
    let mut pairs = query.split('&').filter(may_be).flat_map(|pair| form_urlencoded::parse(pair.as_bytes()));
    pairs.find(|(key, _)| key == "lang").and_then(|(_, tag)| Language::parse(&tag))
}

/// Takes a question that was asked before; of too many, the last ones.
fn earlier(all: &mut Vec<String>, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    all.push(text.to_owned());
    if all.len() > EARLIER_MAX {
        all.remove(0);
    }
}

/// Whether a question has all words of an earlier one, or that all of its own: then it was written anew in the same
/// box, and does not go on with it.
fn is_restated(earlier: &str, question: &Entry) -> bool {
    let Entry::Text { text: question, .. } = question else { return false };
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (earlier, question) = (words(earlier), words(question));
    earlier.is_subset(&question) || question.is_subset(&earlier)
}

/// Takes what narrows a search down; whatever else there is means nothing to us.
fn narrow(narrowing: &mut SearchRefinement, key: &str, value: &str) {
    let field = key.strip_prefix(FILTER_PREFIX).filter(|field| !field.is_empty() && !value.trim().is_empty());
    match (field, key) {
        (Some(field), _) if narrowing.exactly.len() < FILTERS_MAX => {
            narrowing.exactly.push((field.to_owned(), value.trim().to_owned()));
        }
        (_, RESULTS) => narrowing.results = value.parse().ok().or(narrowing.results),
        (_, ORDER) => narrowing.order = ItemOrder::of_name(value).or(narrowing.order),
        (_, key) if (key, value) == DECIDED => narrowing.decided = true,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(query: &str) -> Vec<String> {
        let ask = decode(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let entries = ask.runs.into_iter().flat_map(|run| run.entries);
        let text = |entry| match entry {
            Entry::Text { text, .. } => text,
            Entry::File { .. } => panic!("a query holds no files"),
        };
        entries.map(text).collect()
    }

    #[test]
    fn s3_1_assistant_is_refused_however_it_is_spelled() {
        for query in ["assistant=x", "user=a&assistant=b", "%61ssistant=x&user=a", "user=a&assistant"] {
            assert_eq!(decode(query).err(), Some(DecodeError::MultiTurnQuery), "{query}");
        }
    }

    #[test]
    fn earlier_questions_are_the_last_ones() {
        let earlier = |count: usize| {
            let query: String = (0..count).map(|n| format!("&prev=q{n}")).collect();
            decode(&format!("user=zzz{query}&prev=+")).unwrap().earlier
        };
        assert_eq!(earlier(2), ["q0", "q1"]);
        assert_eq!(earlier(EARLIER_MAX).len(), EARLIER_MAX);
        assert_eq!((earlier(EARLIER_MAX + 1).len(), earlier(EARLIER_MAX + 1)[0].as_str()), (EARLIER_MAX, "q1"));
    }

    #[test]
    fn s3_1_a_language_is_hinted_at_however_its_key_is_spelled() {
        for (query, hint) in [
            ("user=lang&lang=de&lang=fr", Some("de")),
            ("user=a&l%61ng=pt-br", Some("pt-BR")),
            ("user=lang=de&language=de", None),
            ("lang", None),
            ("lang=<b>&lang=de", None),
        ] {
            assert_eq!(language(query).as_ref().map(Language::as_str), hint, "{query}");
        }
    }

    #[test]
    fn a_question_that_was_written_anew_does_not_go_on() {
        let is_restated = |earlier: &str, question: &str| is_restated(earlier, &Entry::text(question));
        for (earlier, question) in [("soup", "chicken soup"), ("chicken soup", "Soup!"), ("a b", "b a"), ("", "x")] {
            assert!(is_restated(earlier, question), "{earlier} / {question}");
        }
        for (earlier, question) in [("soup", "with rice"), ("I am vegan", "soup"), ("muffins", "gluten free")] {
            assert!(!is_restated(earlier, question), "{earlier} / {question}");
        }
        assert_eq!(decode("user=pea+soup&prev=soup&prev=I+am+vegan").unwrap().earlier, ["I am vegan"]);
    }

    #[test]
    fn s3_1_user_is_required() {
        for query in ["x=1", "session=a", "User=a", "=user", "&&"] {
            assert_eq!(decode(query).err(), Some(DecodeError::NoUser), "{query}");
        }
    }

    #[test]
    fn s3_1_a_query_has_at_most_8_kib() {
        let query = |bytes: usize| format!("user={}", "a".repeat(bytes - 5));
        assert!(decode(&query(QUERY_BYTES_MAX)).is_ok());
        assert_eq!(decode(&query(QUERY_BYTES_MAX + 1)).err(), Some(DecodeError::QueryTooLong));
    }

    #[test]
    fn s3_1_entries_are_bounded() {
        assert_eq!(texts(&"user&".repeat(ENTRIES_MAX)).len(), ENTRIES_MAX);
        assert_eq!(decode(&"user&".repeat(ENTRIES_MAX + 1)).err(), Some(DecodeError::TooManyEntries));
    }

    #[test]
    fn s3_1_entries_keep_their_order_and_unknown_parameters_are_ignored() {
        assert_eq!(texts("user=hello&utm=1&user=4%25+rule&user="), ["hello", "4% rule", ""]);
    }

    #[test]
    fn s3_1_parameters_of_our_own_narrow_a_search_down() {
        let ask = decode(
            "user=a&filter.genre=Comedy&filter.genre=+Drama+&filter.=x&filter.x=&results=20&ask=no&sort=cheapest&sort=x",
        );
        let SearchRefinement { exactly, results, decided, order } = ask.expect("the query is fine").narrowing;
        assert_eq!(order, Some(ItemOrder::Cheapest));
        let exactly: Vec<(&str, &str)> = exactly.iter().map(|(field, value)| (&**field, &**value)).collect();
        assert_eq!((exactly, results, decided), (vec![("genre", "Comedy"), ("genre", "Drama")], Some(20), true));
        let ask = decode("user=a&results=-1&ask=yes&filterx=1").expect("the query is fine");
        assert_eq!(ask.narrowing, SearchRefinement::default());
    }

    #[test]
    fn s3_1_a_question_may_be_half_typed() {
        let completes = |query: &str| decode(query).expect("the query is fine").completes;
        assert!(completes("user=rain+ja&complete=yes"));
        assert!(!completes("user=a") && !completes("user=a&complete=no"));
    }

    #[test]
    fn s3_1_filters_are_bounded() {
        let ask = decode(&format!("user=a{}", "&filter.a=b".repeat(FILTERS_MAX + 1))).expect("the query is fine");
        assert_eq!(ask.narrowing.exactly.len(), FILTERS_MAX);
    }

    #[test]
    fn s3_1_answers_to_several_questions_are_one_turn() {
        assert_eq!(
            texts("answer.Which+diet%3F=vegan&answer.Spicy%3F=yes&answer.Else%3F=+"),
            ["Which diet? vegan", "Spicy? yes"]
        );
        assert_eq!(decode("answer.Else=").err(), Some(DecodeError::NoUser));
    }

    #[test]
    fn policy3_3_4_a_state_stands_for_the_question_that_was_kept() {
        let ask = decode("state=x&state=y&session=s").expect("the query is fine");
        assert_eq!((ask.state.as_deref(), ask.runs.len()), (Some("x"), 0));
        assert_eq!(decode("state=x&user=a").ok().map(|ask| ask.runs.len()), Some(1));
    }

    #[test]
    fn s6_session_occurs_once() {
        assert_eq!(decode("user=a&session=x&session=x").err(), Some(DecodeError::TwoSessions));
        assert_eq!(decode("user=a&session=x").ok().and_then(|ask| ask.session).as_deref(), Some("x"));
    }

    proptest! {
        #[test]
        fn what_is_encoded_comes_back(entries in proptest::collection::vec("\\PC{0,20}", 1..5)) {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(entries.iter().map(|entry| ("user", entry)));
            prop_assert_eq!(texts(&query.finish()), entries);
        }

        #[test]
        fn no_query_panics(query in "[\\x00-\\x7f]{0,200}") {
            let _ = decode(&query);
        }
    }
}
