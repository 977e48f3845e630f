//! Names that people read: of files, and of groups of endpoints.

use super::lexicon::is_verb;
use super::scopes::is_version;
use super::words::{singular, snake, words};
use crate::limits::{FILE_NAME_CHARS_MAX, SENTENCE_CHARS_MAX};

/// Words of an `operationId` that reads like a name, and of a path's name that still does.
const ID_WORDS_MAX: usize = 5;

/// Verbs by which one thing comes to be in a collection.
const MAKING: [&str; 9] = ["CREATE", "BOOK", "BUY", "ORDER", "PAY", "PURCHASE", "REGISTER", "RESERVE", "SUBSCRIBE"];

/// Whether a name has so many words that another one may read better.
pub(super) fn is_long(name: &str) -> bool {
    name.split('_').count() > ID_WORDS_MAX
}

/// Names for the file of an endpoint, without an ending, the best first: `list_customer_bikes`, and with
/// the names of its parameters when that one is taken.
pub(super) fn file(verb: &str, path: &str) -> Vec<String> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let named = segments.iter().enumerate().filter(|(_, segment)| !segment.starts_with('{') && !is_version(segment));
    let thing = |(at, segment): (usize, &&str)| {
        let is_last = at + 1 == segments.len();
        let mut all = if is_last { words(&without_verb(segment, verb)) } else { words(segment) };
        // What is made is one.
        let is_one =
            is_last && MAKING.contains(&verb) || segments.get(at + 1).is_some_and(|next| next.starts_with('{'));
        if let Some(last) = all.last_mut().filter(|_| is_one) {
            *last = singular(last);
        }
        all.join(" ")
    };
    let short = named.map(thing).collect::<Vec<_>>().join(" ");
    let whole = snake(&format!("{verb} {path}"));
    [snake(&format!("{verb} {short}")), whole].into_iter().map(|name| cut(&name)).collect()
}

/// A segment such as `users.list`, which ends in what is done, without the word that is the verb already.
fn without_verb(segment: &str, verb: &str) -> String {
    let Some((thing, deed)) = segment.rsplit_once('.') else { return segment.to_owned() };
    let deed = words(deed);
    match deed.split_first() {
        Some((first, rest)) if first.eq_ignore_ascii_case(verb) => format!("{thing} {}", rest.join(" ")),
        _ => segment.to_owned(),
    }
}

/// The name that an `operationId` makes, where it is one that people would give: a verb and a few words.
pub(super) fn of_id(id: &str) -> Option<String> {
    let all = words(id);
    let is_plain = |word: &String| word.bytes().all(|b| b.is_ascii_lowercase());
    let is_telling = (2..=ID_WORDS_MAX).contains(&all.len())
        && all.iter().all(is_plain)
        && !all.iter().any(|word| word == "by")
        && all.first().is_some_and(|first| is_verb(first) && !matches!(first.as_str(), "post" | "put" | "patch"));
    is_telling.then(|| cut(&all.join("_")))
}

/// A name of bounded length, cut between words.
fn cut(name: &str) -> String {
    match name.char_indices().nth(FILE_NAME_CHARS_MAX) {
        Some((end, _)) => name[..name[..=end].rfind('_').filter(|at| *at > 0).unwrap_or(end)].to_owned(),
        None => name.to_owned(),
    }
}

/// The words that all tags begin with and none ends with: `Api`, `V2010`. Nothing of fewer than three tags.
pub(super) fn shared<'a>(tags: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<Vec<String>> = tags.map(words).collect();
    all.sort();
    all.dedup();
    // Two tags with a word in common may just be about one thing; of three it is a prefix.
    let Some(first) = all.first().filter(|_| all.len() > 2) else { return Vec::new() };
    let same = |at: &usize| all.iter().all(|tag| tag.len() > at + 1 && tag[*at] == first[*at]);
    first.iter().enumerate().take_while(|(at, _)| same(at)).map(|(_, word)| word.clone()).collect()
}

/// A tag as the name of a group: without the words that all of them begin with.
pub(super) fn namespace(tag: &str, shared: &[String]) -> String {
    let plain = super::words::line(tag, SENTENCE_CHARS_MAX);
    if shared.is_empty() || !words(&plain).starts_with(shared) {
        return plain;
    }
    words(&plain)[shared.len()..].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_like_what_it_does() {
        let best = |verb: &str, path: &str| file(verb, path).remove(0);
        assert_eq!(best("LIST", "/customers/{id}/bikes"), "list_customer_bikes");
        assert_eq!(best("FETCH", "/2010-04-01/Accounts/{AccountSid}/Calls/{Sid}"), "fetch_account_call");
        assert_eq!(best("FETCH", "/v1/parts/low-stock"), "fetch_parts_low_stock");
        assert_eq!(file("FETCH", "/a/{b}"), ["fetch_a", "fetch_a_b"]);
        assert_eq!(best("FETCH", "/"), "fetch");
        assert_eq!(best("BOOK", "/v1/bookings"), "book_booking", "what is made is one");
        assert_eq!(best("ENABLE", "/usergroups.enable"), "enable_usergroups", "the verb stands there once");
        assert_eq!(best("SET", "/teams.settings.setDescription"), "set_teams_settings_description");
        assert_eq!(best("LIST", "/list.events"), "list_list_events");
    }

    #[test]
    fn an_id_is_a_name_where_people_would_give_it() {
        assert_eq!(of_id("convertCardToList").as_deref(), Some("convert_card_to_list"));
        for id in [
            "",
            "list",
            "getRoomById",
            "PostCharges",
            "CardController_convert_v2",
            "addCardsChecklistsCheckItemConvertToCard",
        ] {
            assert_eq!(of_id(id), None, "{id}");
        }
        assert!(is_long("convert_card_list_item_to_card") && !is_long("list_room_keys"));
    }

    #[test]
    fn a_name_is_cut_between_words() {
        let long = format!("/{}", "abc/".repeat(FILE_NAME_CHARS_MAX));
        let name = file("LIST", &long).remove(0);
        assert!(name.len() <= FILE_NAME_CHARS_MAX && name.ends_with("_abc"), "{name}");
        let exact = format!("/{}", "a".repeat(FILE_NAME_CHARS_MAX - 5));
        assert_eq!(file("LIST", &exact)[0].len(), FILE_NAME_CHARS_MAX);
    }

    #[test]
    fn what_all_tags_say_none_says() {
        let tags = ["VerifyV2Factor", "VerifyV2NewFactor", "VerifyV2Bucket"];
        let common = shared(tags.into_iter());
        assert_eq!(namespace("VerifyV2NewFactor", &common), "new-factor");
        assert_eq!(namespace("Pets", &shared(["Pets", "Rooms", "Keys"].into_iter())), "Pets");
        assert_eq!(namespace("A pet", &shared(["A pet"].into_iter())), "A pet");
    }
}
