//! The text of a message, whose mentions Telegram marks by their places in UTF-16.

use serde::Deserialize;

/// A marked place of a text.
#[derive(Debug, Deserialize)]
pub(crate) struct Entity {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

/// What is read of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadText {
    /// As a person reads it, without mentions of the bot.
    pub(crate) words: String,
    /// Whether the bot is mentioned.
    pub(crate) mentions_us: bool,
    /// Whether it begins with a mention of somebody else.
    pub(crate) is_for_others: bool,
}

/// Reads a text; `us` is the name of the bot. A command `/chef` is a mention of `@chef`: groups tell bots of commands
/// also where they tell them of nothing else.
pub(crate) fn read(text: &str, entities: &[Entity], us: &str) -> ReadText {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut read = ReadText { words: String::new(), mentions_us: false, is_for_others: false };
    let mut at = 0;
    for entity in entities {
        let end = entity.offset.saturating_add(entity.length);
        // Entities stand in order; one that does not, or lies outside, is none.
        if entity.offset < at || end > units.len() || entity.length == 0 {
            continue;
        }
        let marked = String::from_utf16_lossy(&units[entity.offset..end]);
        let replaced = match entity.kind.as_str() {
            "mention" if marked.strip_prefix('@').is_some_and(|name| name.eq_ignore_ascii_case(us)) => {
                read.mentions_us = true;
                String::new()
            }
            "mention" | "text_mention" => {
                read.is_for_others |= entity.offset == 0;
                marked
            }
            "bot_command" if entity.offset == 0 => match command(&marked, us) {
                Some(name) => {
                    read.mentions_us = true;
                    format!("@{name}")
                }
                None => {
                    read.is_for_others = true;
                    marked
                }
            },
            _ => continue,
        };
        read.words.push_str(&String::from_utf16_lossy(&units[at..entity.offset]));
        read.words.push_str(&replaced);
        at = end;
    }
    read.words.push_str(&String::from_utf16_lossy(&units[at..]));
    read.words = read.words.trim().to_owned();
    read
}

/// The name of a command for us. `None`: it is for another bot.
fn command<'a>(marked: &'a str, us: &str) -> Option<&'a str> {
    let name = marked.strip_prefix('/')?;
    match name.split_once('@') {
        Some((name, bot)) => bot.eq_ignore_ascii_case(us).then_some(name),
        None => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entity(kind: &str, offset: usize, length: usize) -> Entity {
        Entity { kind: kind.to_owned(), offset, length }
    }

    #[test]
    fn mentions_and_commands_are_found_by_their_places_in_utf_16() {
        let of = |text: &str, entities: &[Entity]| {
            let read = read(text, entities, "cook_bot");
            (read.words, read.mentions_us, read.is_for_others)
        };
        assert_eq!(of("🍲 @Cook_Bot hi", &[entity("mention", 3, 9)]), ("🍲  hi".to_owned(), true, false));
        assert_eq!(of("@ann look", &[entity("mention", 0, 4)]), ("@ann look".to_owned(), false, true));
        assert_eq!(of("/chef soup", &[entity("bot_command", 0, 5)]), ("@chef soup".to_owned(), true, false));
        assert_eq!(of("/chef@cook_bot x", &[entity("bot_command", 0, 14)]), ("@chef x".to_owned(), true, false));
        assert_eq!(of("/x@other_bot", &[entity("bot_command", 0, 12)]), ("/x@other_bot".to_owned(), false, true));
        // Places that are none.
        for entity in [entity("mention", 1, 99), entity("mention", 99, 1), entity("mention", 0, 0)] {
            assert_eq!(of("hi", &[entity]), ("hi".to_owned(), false, false));
        }
    }

    proptest! {
        #[test]
        fn no_places_panic(text in ".{0,40}", places in proptest::collection::vec((0usize..60, 0usize..60), 0..5)) {
            let entities: Vec<Entity> = places.into_iter().map(|(at, length)| entity("mention", at, length)).collect();
            let _ = read(&text, &entities, "b");
        }
    }
}
