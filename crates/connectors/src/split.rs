//! Long answers in several messages.

use crate::limits::MESSAGES_PER_ANSWER_MAX;

/// What stands before the code of a block, and behind it.
pub type CodeMarks = (&'static str, &'static str);

/// Characters of the longest entity that marks have, `&amp;`: none is parted.
const ENTITY_CHARS_MAX: usize = 5;

/// Blocks joined into as few messages of at most `chars_max` characters as can be: parted between blocks, a block that
/// is too long between its lines, a line between words, and a word anywhere. At most [`MESSAGES_PER_ANSWER_MAX`]; the
/// last one ends in an ellipsis where something was left out. A block of code, which stands between the two marks of
/// `code`, is one in each message.
pub fn split(blocks: &[String], chars_max: usize, code: CodeMarks) -> Vec<String> {
    split_before(blocks, &[], chars_max, code)
}

/// As [`split`], with other blocks at the end, for which there is room however much is left out before them.
pub(crate) fn split_before(blocks: &[String], end: &[String], chars_max: usize, code: CodeMarks) -> Vec<String> {
    let all = joined(blocks.iter().chain(end), chars_max, code);
    if all.len() <= MESSAGES_PER_ANSWER_MAX || blocks.is_empty() || end.is_empty() {
        return cut(all, MESSAGES_PER_ANSWER_MAX, chars_max, code);
    }
    let end = cut(joined(end.iter(), chars_max, code), MESSAGES_PER_ANSWER_MAX - 1, chars_max, code);
    let words = joined(blocks.iter(), chars_max, code);
    let mut messages = cut(words, MESSAGES_PER_ANSWER_MAX - end.len(), chars_max, code);
    messages.extend(end);
    messages
}

/// Blocks in as few messages as can be.
fn joined<'a>(blocks: impl Iterator<Item = &'a String>, chars_max: usize, code: CodeMarks) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for block in blocks {
        for (first, piece) in pieces(block, chars_max, code).into_iter().enumerate() {
            let joint = if first == 0 { "\n\n" } else { "\n" };
            match messages.last_mut().filter(|last| count(last) + count(joint) + count(&piece) <= chars_max) {
                Some(last) => {
                    last.push_str(joint);
                    last.push_str(&piece);
                }
                None => messages.push(piece),
            }
        }
    }
    messages
}

/// The first messages, so many at most.
fn cut(mut messages: Vec<String>, count_max: usize, chars_max: usize, code: CodeMarks) -> Vec<String> {
    if messages.len() > count_max {
        messages.truncate(count_max);
        if let Some(last) = messages.last_mut() {
            *last = with_ellipsis(last, chars_max, code);
        }
    }
    messages
}

/// A message that says that more is left out, with its last block of code closed.
fn with_ellipsis(message: &str, chars_max: usize, (before, behind): CodeMarks) -> String {
    const MORE: &str = "\n…";
    let cut = |text: &str, room: usize| -> String {
        let all: Vec<char> = text.chars().collect();
        if all.len() <= room {
            return text.trim_end().to_owned();
        }
        all[..before_entity(&all[..room])].iter().collect::<String>().trim_end().to_owned()
    };
    let room = chars_max.saturating_sub(count(MORE));
    let code = message.strip_suffix(behind).map(|code| cut(code, room.saturating_sub(count(behind))));
    match code.filter(|code| code.contains(before)) {
        Some(code) => format!("{code}{behind}{MORE}"),
        None => format!("{}{MORE}", cut(message, room)),
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// A block in pieces that fit. A block of code stays one in every piece.
fn pieces(block: &str, chars_max: usize, (before, behind): CodeMarks) -> Vec<String> {
    if count(block) <= chars_max {
        return vec![block.to_owned()];
    }
    let inner = block.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
    let room = chars_max.saturating_sub(count(before) + count(behind));
    match inner.filter(|_| room > ENTITY_CHARS_MAX) {
        Some(code) => {
            let code = lines(code.trim_matches('\n'), room);
            code.into_iter().map(|piece| format!("{before}{piece}{behind}")).collect()
        }
        None => lines(block, chars_max),
    }
}

/// Lines gathered into pieces that fit.
fn lines(text: &str, chars_max: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for line in text.split('\n').flat_map(|line| words(line, chars_max)) {
        match pieces.last_mut().filter(|last| count(last) + 1 + count(&line) <= chars_max) {
            Some(last) => {
                last.push('\n');
                last.push_str(&line);
            }
            None => pieces.push(line),
        }
    }
    pieces
}

/// One line in pieces that fit, parted at spaces where it has any.
fn words(line: &str, chars_max: usize) -> Vec<String> {
    let (all, limit) = (line.chars().collect::<Vec<char>>(), chars_max.max(1));
    let (mut pieces, mut begin) = (Vec::new(), 0);
    while all.len() - begin > limit {
        let rest = &all[begin..];
        let at = rest[..=limit].iter().rposition(|c| *c == ' ').filter(|at| *at > 0);
        let end = at.unwrap_or_else(|| before_entity(&rest[..limit]));
        pieces.push(rest[..end].iter().collect());
        begin += end + usize::from(at.is_some());
    }
    pieces.push(all[begin..].iter().collect());
    pieces
}

/// Where a word that is too long is parted: at its end, or before an entity that would be parted there.
fn before_entity(word: &[char]) -> usize {
    let begin = word.len().saturating_sub(ENTITY_CHARS_MAX - 1);
    match word[begin..].iter().rposition(|c| matches!(c, '&' | ';')) {
        Some(at) if word[begin + at] == '&' && begin + at > 0 => begin + at,
        _ => word.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FENCES: CodeMarks = ("```\n", "\n```");

    fn split(blocks: &[String], chars_max: usize) -> Vec<String> {
        super::split(blocks, chars_max, FENCES)
    }

    fn blocks(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn messages_are_parted_between_paragraphs_at_the_bound_and_not_before() {
        let two = blocks(&["aaaa", "bbbb"]);
        assert_eq!(split(&two, 10), ["aaaa\n\nbbbb"]);
        assert_eq!(split(&two, 9), ["aaaa", "bbbb"]);
        assert_eq!(split(&blocks(&["one two three"]), 8), ["one two", "three"]);
        assert_eq!(split(&blocks(&["abcdefgh"]), 3), ["abc", "def", "gh"]);
    }

    #[test]
    fn the_longest_answer_of_one_word_is_parted_like_any_other() {
        let word = "x".repeat(forecourt_core::limits::REPLY_TEXT_BYTES_MAX);
        let messages = split(&[word], 3_900);
        assert!(messages.len() == MESSAGES_PER_ANSWER_MAX && messages.iter().all(|message| count(message) <= 3_900));
    }

    #[test]
    fn code_stays_code_in_every_message() {
        let code = format!("```\n{}\n```", ["let x = 1;"; 8].join("\n"));
        for message in split(&[code], 40) {
            assert!(message.starts_with("```\n") && message.ends_with("\n```") && count(&message) <= 40, "{message}");
        }
    }

    #[test]
    fn code_stays_code_between_the_tags_of_a_platform_and_no_entity_is_parted() {
        let tags = ("<pre><code>", "</code></pre>");
        for code in ["let x = 1;\n".repeat(40), "&lt;".repeat(90), "x&amp;y".repeat(60)] {
            let messages = super::split(&[format!("{}{code}{}", tags.0, tags.1)], 60, tags);
            assert!(messages.len() > 1);
            let code: String = messages
                .iter()
                .map(|message| {
                    assert!(count(message) <= 60, "{message}");
                    let message = message.strip_suffix("\n…").unwrap_or(message);
                    let inner = message.strip_prefix(tags.0).and_then(|rest| rest.strip_suffix(tags.1));
                    let inner = inner.unwrap_or_else(|| panic!("{message}"));
                    assert!(inner.rfind('&').is_none_or(|at| inner[at..].contains(';')), "{inner}");
                    inner.to_owned()
                })
                .collect();
            assert!(code.len() > 200);
        }
    }

    #[test]
    fn an_answer_has_so_many_messages_and_says_when_there_were_more() {
        let many = |n: usize| split(&vec!["x".repeat(10); n], 10);
        let all = many(MESSAGES_PER_ANSWER_MAX);
        assert!(all.len() == MESSAGES_PER_ANSWER_MAX && !all.last().unwrap().ends_with('…'));
        let cut = many(MESSAGES_PER_ANSWER_MAX + 1);
        assert!(cut.len() == MESSAGES_PER_ANSWER_MAX && cut.last().unwrap().ends_with('…'));
    }

    #[test]
    fn what_stands_at_the_end_is_told_however_long_the_words_before_it_are() {
        let of =
            |words: usize, end: &[&str]| super::split_before(&vec!["x".repeat(10); words], &blocks(end), 10, FENCES);
        let whole = of(MESSAGES_PER_ANSWER_MAX - 1, &["end"]);
        assert!(whole.len() == MESSAGES_PER_ANSWER_MAX && !whole.iter().any(|text| text.contains('…')));
        for words in [MESSAGES_PER_ANSWER_MAX, 99] {
            let cut = of(words, &["end", "of it all"]);
            assert_eq!(cut.len(), MESSAGES_PER_ANSWER_MAX);
            assert_eq!(cut[MESSAGES_PER_ANSWER_MAX - 2..], ["end", "of it all"]);
            assert!(cut[MESSAGES_PER_ANSWER_MAX - 3].ends_with('…'), "{cut:?}");
        }
        assert_eq!(of(99, &["y"; 99]).iter().filter(|text| text.starts_with('x')).count(), 1);
        assert_eq!(of(0, &["y"; 2]), ["y\n\ny"]);
    }

    proptest! {
        #[test]
        fn no_message_is_too_long_and_no_word_is_lost(
            texts in proptest::collection::vec("[a-z äß`\n]{0,90}", 0..4), chars_max in 60_usize..100
        ) {
            let messages = split(&texts, chars_max);
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            prop_assert!(messages.iter().all(|message| count(message) <= chars_max));
            let whole: String = texts.iter().map(|text| letters(text)).collect();
            prop_assert_eq!(messages.iter().map(|text| letters(text)).collect::<String>(), whole);
        }
    }
}
