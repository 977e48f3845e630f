//! The GET form: a query string into one turn. REST 3.1.

use forecourt_core::Role;
use url::form_urlencoded;

use super::limits::{ENTRIES_MAX, QUERY_BYTES_MAX};
use super::wire::{Ask, Entry, Fault, Run};

/// Reads a raw query string, the part after `?`. Unknown parameters are ignored. Broken UTF-8 is
/// replaced, as URLs do it everywhere. Fails when there is no `user`, when the caller tries to tell
/// more than one turn, and on what is too long.
pub(crate) fn decode(query: &str) -> Result<Ask, Fault> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(Fault::QueryTooLong);
    }
    let mut ask = Ask::default();
    let mut entries = Vec::with_capacity(1);
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*key {
            "user" => entries.push(Entry::text(value)),
            "assistant" => return Err(Fault::MultiTurnQuery),
            "session" if ask.session.is_some() => return Err(Fault::TwoSessions),
            "session" => ask.session = Some(value.into_owned()),
            "lang" if ask.lang.is_none() => ask.lang = Some(value.into_owned()),
            _ => {}
        }
    }
    match entries.len() {
        0 => Err(Fault::NoUser),
        count if count > ENTRIES_MAX => Err(Fault::TooManyEntries),
        _ => {
            ask.runs.push(Run { role: Role::User, entries });
            Ok(ask)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(query: &str) -> Vec<String> {
        let ask = decode(query).unwrap_or_else(|fault| panic!("{query}: {fault}"));
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
            assert_eq!(decode(query).err(), Some(Fault::MultiTurnQuery), "{query}");
        }
    }

    #[test]
    fn s3_1_user_is_required() {
        for query in ["x=1", "session=a", "User=a", "=user", "&&"] {
            assert_eq!(decode(query).err(), Some(Fault::NoUser), "{query}");
        }
    }

    #[test]
    fn s3_1_a_query_has_at_most_8_kib() {
        let query = |bytes: usize| format!("user={}", "a".repeat(bytes - 5));
        assert!(decode(&query(QUERY_BYTES_MAX)).is_ok());
        assert_eq!(decode(&query(QUERY_BYTES_MAX + 1)).err(), Some(Fault::QueryTooLong));
    }

    #[test]
    fn s3_1_entries_are_bounded() {
        assert_eq!(texts(&"user&".repeat(ENTRIES_MAX)).len(), ENTRIES_MAX);
        assert_eq!(decode(&"user&".repeat(ENTRIES_MAX + 1)).err(), Some(Fault::TooManyEntries));
    }

    #[test]
    fn s3_1_entries_keep_their_order_and_unknown_parameters_are_ignored() {
        assert_eq!(texts("user=hello&utm=1&user=4%25+rule&user="), ["hello", "4% rule", ""]);
    }

    #[test]
    fn s6_session_occurs_once() {
        assert_eq!(decode("user=a&session=x&session=x").err(), Some(Fault::TwoSessions));
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
