//! The text of a message as Slack writes it, into plain text.

use crate::limits::NAME_CHARS_MAX;

/// What is read of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadText {
    /// As a person reads it, without mentions of the connector.
    pub(crate) words: String,
    /// Whether the connector is mentioned.
    pub(crate) mentions_us: bool,
    /// Whether it begins with a mention of somebody else.
    pub(crate) is_for_others: bool,
}

/// Reads a text; `us` is the user that the connector is.
pub(crate) fn read(text: &str, us: &str) -> ReadText {
    let mut read = ReadText { words: String::with_capacity(text.len()), mentions_us: false, is_for_others: false };
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        // Left for the end where it closes nowhere.
        let Some(end) = rest[at..].find('>') else { break };
        read.words.push_str(&unescaped(&rest[..at]));
        let token = &rest[at + 1..at + end];
        let (target, label) = token.split_once('|').map_or((token, None), |(target, label)| (target, Some(label)));
        match target.strip_prefix('@') {
            Some(user) if !us.is_empty() && user == us => read.mentions_us = true,
            Some(user) => {
                read.is_for_others |= read.words.trim().is_empty() && !read.mentions_us;
                // Without its `@`: a person is no agent of the same name.
                read.words.push_str(&label.map_or_else(|| user.to_owned(), name));
            }
            None => read.words.push_str(&shown(target, label)),
        }
        rest = &rest[at + end + 1..];
    }
    read.words.push_str(&unescaped(rest));
    read.words = read.words.trim().to_owned();
    read
}

/// A channel, a word for several people, or a link, as a person reads it.
fn shown(target: &str, label: Option<&str>) -> String {
    if let Some(channel) = target.strip_prefix('#') {
        return format!("#{}", label.map_or_else(|| channel.to_owned(), name));
    }
    if let Some(special) = target.strip_prefix('!') {
        let word = special.split('^').next().unwrap_or_default();
        return label.map_or_else(|| word.to_owned(), name);
    }
    let url = unescaped(target);
    match label.map(unescaped) {
        Some(label) if !url.ends_with(&label) => format!("{label} ({url})"),
        _ => url.strip_prefix("mailto:").map_or(url.clone(), str::to_owned),
    }
}

fn name(label: &str) -> String {
    unescaped(label).trim_start_matches('@').chars().take(NAME_CHARS_MAX).collect()
}

fn unescaped(text: &str) -> String {
    // `&amp;` last: `&amp;lt;` is the text `&lt;`.
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mentions_links_and_entities_are_read_as_a_person_does() {
        for (text, words, mentions_us, is_for_others) in [
            ("<@UBOT> @chef how long?", "@chef how long?", true, false),
            ("<@UBOT|cook>, hi", ", hi", true, false),
            ("<@U1> look", "U1 look", false, true),
            ("<@UBOT> ask <@U1|ann>", "ask ann", true, false),
            ("hey <@U1|@chef>", "hey chef", false, false),
            ("1 &lt; 2 &amp;amp; 3", "1 < 2 &amp; 3", false, false),
            (
                "<https://a.example/x?y=1&amp;z|the page> <https://b.example>",
                "the page (https://a.example/x?y=1&z) https://b.example",
                false,
                false,
            ),
            (
                "<mailto:a@b.example|a@b.example> in <#C1|food> <!here> <!date^1^{date}|today>",
                "a@b.example in #food here today",
                false,
                false,
            ),
            ("a < b", "a < b", false, false),
        ] {
            let read = read(text, "UBOT");
            assert_eq!(
                (read.words.as_str(), read.mentions_us, read.is_for_others),
                (words, mentions_us, is_for_others),
                "{text}"
            );
        }
        assert!(!read("<@>", "").mentions_us);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".{0,200}") {
            let read = read(&text, "U1");
            prop_assert!(read.words.len() <= text.len() + 8);
        }
    }
}
