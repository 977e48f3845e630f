//! A question in words, with what earlier turns said: `decontextualized_query`.

use forecourt_understanding::Filter;

use super::phrase::{Phrase, PhrasePlace};
use super::request::SearchRequest;

/// Languages in which what describes a thing comes behind it.
const BEHIND: [&str; 2] = ["fr", "es"];

/// The words to search for: the subject, then what was added.
pub(super) fn text(phrases: &[Phrase]) -> String {
    let words = phrases.iter().map(|phrase| phrase.words.as_str()).filter(|words| !words.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The whole question in words. `told`: constraints that earlier turns said of the caller.
pub(super) fn whole(asked: &SearchRequest, told: &[Filter], language: &str) -> String {
    let kept: Vec<&str> = asked.filters.iter().map(|filter| filter.words.as_str()).collect();
    let is_whole = |phrase: &Phrase| phrase.limits.iter().all(|limit| kept.contains(&limit.as_str()));
    let mut said = Vec::new();
    let (mut limits, mut fronts, mut subject, mut behind) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for phrase in &asked.phrases {
        // A later turn replaced a limit of this phrase, so that only its words are still meant.
        let wording = if is_whole(phrase) { phrase.wording.clone() } else { phrase.words.clone() };
        if is_whole(phrase) {
            said.extend(phrase.limits.iter().map(String::as_str));
        }
        match phrase.place {
            _ if wording.is_empty() => {}
            PhrasePlace::Subject => subject.push(wording),
            PhrasePlace::Before if phrase.words.is_empty() => limits.push(wording),
            PhrasePlace::Before => fronts.insert(0, wording),
            PhrasePlace::After => behind.push(wording),
        }
    }
    let rest: Vec<&Filter> =
        asked.filters.iter().chain(told).filter(|filter| !said.contains(&filter.words.as_str())).collect();
    for filter in &rest {
        let name = short(&filter.words);
        match name.contains(' ') {
            // One word stands in front (`vegan soup`), a phrase or a number behind (`soup, at most 30 minutes`).
            false if !name.contains(char::is_numeric) => limits.insert(0, name.to_owned()),
            _ => behind.push(format!(", {name}")),
        }
    }
    limits.extend(fronts);
    let parts = match BEHIND.iter().any(|code| language.starts_with(code)) {
        true => [subject, limits, behind],
        false => [limits, subject, behind],
    };
    let text = parts.concat().join(" ").replace(" , ", ", ");
    text.trim_start_matches(", ").to_owned()
}

/// The wording of a constraint without what it comes to: "vegan: no meat, …".
fn short(words: &str) -> &str {
    words.split_once(": no ").map_or(words, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(words: &str) -> Filter {
        Filter { words: words.to_owned(), ..Filter::mentions("x", words) }
    }

    fn asked(phrases: Vec<Phrase>, filters: &[&str]) -> SearchRequest {
        let filters = filters.iter().map(|words| filter(words)).collect();
        SearchRequest { text: text(&phrases), phrases, filters, ..SearchRequest::default() }
    }

    #[test]
    fn what_earlier_turns_said_stands_in_its_place() {
        let free = Phrase::added("", "gluten free", &[filter("no gluten")], false);
        let muffins =
            vec![Phrase::subject("muffins", "muffins", &[]), free, Phrase::added("blueberry", "blueberry", &[], false)];
        let muffins = asked(muffins, &["no gluten"]);
        assert_eq!(muffins.text, "muffins blueberry");
        assert_eq!(whole(&muffins, &[], "en"), "gluten-free blueberry muffins");
        let soup =
            vec![Phrase::subject("chicken soup", "chicken soup", &[]), Phrase::added("rice", "with rice", &[], true)];
        assert_eq!(
            whole(&asked(soup, &[]), &[filter("vegan: no meat, no eggs"), filter("no nuts")], "en"),
            "vegan chicken soup with rice, no nuts"
        );
    }

    #[test]
    fn what_was_replaced_is_not_said_any_more() {
        let first = [filter("30 minutes or less")];
        let soup = vec![
            Phrase::subject("soup", "soup under 30 minutes", &first),
            Phrase::added("", "under 20 minutes", &[filter("20 minutes or less")], true),
        ];
        assert_eq!(whole(&asked(soup, &["20 minutes or less"]), &[], "en"), "soup under 20 minutes");
    }

    #[test]
    fn what_describes_a_thing_comes_behind_it_in_french() {
        let soup =
            vec![Phrase::subject("soupe", "soupe", &[]), Phrase::added("", "végane", &[filter("végane")], false)];
        assert_eq!(whole(&asked(soup, &["végane"]), &[], "fr"), "soupe végane");
    }
}
