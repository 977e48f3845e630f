//! Words of a document as plain sentences: no HTML, no Markdown, no remarks about HTTP. Texts come from
//! strangers, so that nothing here takes longer than their length.

use super::lexicon::{is_verb, of_gerund, to_base};
use super::words::line;
use crate::limits::{PROSE_BYTES_MAX, SENTENCES_MAX};

/// HTML elements of which each begins a new paragraph.
const BLOCKS: [&str; 17] =
    ["p", "br", "li", "ul", "ol", "div", "h1", "h2", "h3", "h4", "h5", "h6", "table", "tr", "pre", "hr", "blockquote"];

/// HTML elements within a sentence. What else stands in angle brackets is text, such as `<sid>`.
const SPANS: [&str; 19] = [
    "a", "b", "i", "u", "em", "strong", "code", "span", "sup", "sub", "small", "font", "td", "th", "tbody", "thead",
    "img", "kbd", "mark",
];

/// Characters that HTML writes as words.
const ENTITIES: [(&str, &str); 9] = [
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    ("&rsquo;", "’"),
    ("&mdash;", "—"),
    ("&amp;", "&"),
];

/// Beginnings that say no more than that an endpoint is an endpoint, in lower case; what follows is the
/// sentence. Longer ones first.
const PREAMBLES: [&str; 24] = [
    "this can be used to ",
    "this is used to ",
    "can be used to ",
    "could be used to ",
    "is used to ",
    "used to ",
    "use this to ",
    "call this to ",
    "allows you to ",
    "allows users to ",
    "allows clients to ",
    "allows callers to ",
    "allows to ",
    "allow you to ",
    "enables you to ",
    "enables users to ",
    "lets you ",
    "lets users ",
    "permits you to ",
    "you can use this to ",
    "you can ",
    "you may ",
    "will ",
    "to ",
];

/// What an operation is called in sentences about it.
const SELVES: [&str; 10] =
    ["api endpoint", "api method", "api call", "api", "endpoint", "method", "operation", "call", "request", "route"];

/// Beginnings of sentences that tell nothing about the operation, in lower case.
const ASIDES: [&str; 16] = [
    "see ",
    "for more ",
    "for details",
    "for further",
    "learn more",
    "read more",
    "refer to ",
    "more information",
    "more details",
    "scoped oauth",
    "requires scope",
    "note:",
    "warning:",
    "documentation:",
    "example:",
    "please see ",
];

/// What sentences about the bytes of requests and responses have in them, in lower case.
const ABOUT_BYTES: [&str; 9] = [
    "json",
    "response body",
    "request body",
    "query param",
    "status code",
    "curl",
    "array containing",
    "response will",
    "http header",
];

/// Words after which a full stop ends no sentence.
const ABBREVIATIONS: [&str; 10] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "no", "resp", "fig"];

/// The sentences of a text that say something about what an operation does, in order and plain.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut end = text.len().min(PROSE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let plain = without_html(&text[..end]);
    let paragraphs = paragraphs(&plain);
    let all = paragraphs.iter().flat_map(|paragraph| split(paragraph));
    all.filter_map(|sentence| spoken(&sentence)).take(SENTENCES_MAX).collect()
}

/// Every sentence of a text, also those that say nothing to readers. `None`: the text is longer than is read.
pub(super) fn every_sentence(text: &str) -> Option<Vec<String>> {
    let is_read = text.len() <= PROSE_BYTES_MAX;
    is_read.then(|| paragraphs(&without_html(text)).iter().flat_map(|paragraph| split(paragraph)).collect())
}

/// A sentence that tells somebody to do it: `Lists all rooms.` is `List all rooms.`
pub(super) fn imperative(sentence: &str) -> String {
    let mut is_verb_next = true;
    let words: Vec<String> = sentence
        .split(' ')
        .enumerate()
        .map(|(at, word)| {
            let was_next = is_verb_next;
            // A second verb comes right behind the first, or behind it and its object.
            is_verb_next = at < 6 && matches!(word, "and" | "or" | "then") || (at == 0 && is_manner(word));
            let is_told = || [" will ", " is ", " are ", " can "].iter().any(|verb| sentence.contains(verb));
            let gerund =
                || of_gerund(&word.to_lowercase()).filter(|_| at == 0 && !is_told()).map(|base| capital(&base));
            match was_next.then(|| commanded(word).or_else(gerund)).flatten() {
                Some(base) => base,
                None => word.to_owned(),
            }
        })
        .collect();
    words.join(" ")
}

/// Whether a sentence begins with a verb, maybe behind a word that says how.
pub(super) fn begins_with_verb(sentence: &str) -> bool {
    verb_of(sentence).is_some()
}

/// The verb that an imperative sentence begins with, in lower case, and where its object begins.
pub(super) fn verb_of(sentence: &str) -> Option<(String, usize)> {
    let mut at = 0;
    for word in sentence.split(' ').take(2) {
        // `Re-run` is one word.
        let plain = word.trim_end_matches([',', ':', '.']).to_lowercase().replace('-', "");
        let end = at + word.len();
        if let Some(base) = to_base(&plain).or_else(|| is_verb(&plain).then_some(plain)) {
            return Some((base, (end + 1).min(sentence.len())));
        }
        if !is_manner(word) {
            return None;
        }
        at = end + 1;
    }
    None
}

/// Whether a word says how something is done, so that the verb follows.
fn is_manner(word: &str) -> bool {
    let word = word.to_lowercase();
    (word.ends_with("ly") && word.len() > 4) || matches!(word.as_str(), "bulk" | "batch" | "mass" | "soft" | "hard")
}

/// The imperative of a verb in the third person, with the capital that it had.
fn commanded(word: &str) -> Option<String> {
    let plain = word.trim_end_matches([',', ':']);
    let base = to_base(&plain.to_lowercase())?;
    let rest = &word[plain.len()..];
    let is_capital = plain.starts_with(|c: char| c.is_uppercase());
    Some(if is_capital { capital(&base) + rest } else { base + rest })
}

/// A text with a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().to_string() + rest.as_str()).unwrap_or_default()
}

/// A text with a small first letter, unless its first word is a name or an abbreviation.
pub(super) fn uncapital(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_plain = first.chars().skip(1).all(|c| c.is_lowercase() || !c.is_alphabetic());
    let mut rest = text.chars();
    match rest.next() {
        Some(c) if is_plain => c.to_lowercase().to_string() + rest.as_str(),
        _ => text.to_owned(),
    }
}

/// What a sentence says of the operation: without `This endpoint …` before it. `None`: nothing.
fn spoken(sentence: &str) -> Option<String> {
    let sentence = line(without_remark(sentence), sentence.len());
    let lower = sentence.to_ascii_lowercase();
    let is_aside = ASIDES.iter().any(|aside| lower.starts_with(aside))
        || lower.contains("](")
        || lower.contains("http://")
        || lower.contains("https://")
        || ABOUT_BYTES.iter().any(|words| lower.contains(words))
        || !lower.contains(char::is_alphabetic);
    if is_aside {
        return None;
    }
    let said = about_http(&sentence, &lower)?;
    let said = without_preamble(said.trim_end_matches([' ', ',']));
    let said = usual_case(&said);
    Some(capital(said.trim_end_matches([':', ';', ','])))
}

/// A sentence without a remark before it: `(Deprecated) Lists rooms` and `Closing down - List rooms` list rooms.
fn without_remark(sentence: &str) -> &str {
    let bracketed = sentence.trim_start().strip_prefix(['(', '[']).and_then(|rest| rest.split_once([')', ']']));
    let dashed =
        sentence.split_once(" - ").filter(|(before, rest)| before.split(' ').count() < 4 && begins_with_verb(rest));
    let rest = bracketed.or(dashed).map(|(_, rest)| rest.trim_start());
    rest.filter(|rest| !rest.is_empty()).unwrap_or(sentence)
}

/// `To list rooms, send a GET request to /rooms` says how HTTP does it: what goes before is the sentence.
fn about_http<'a>(sentence: &'a str, lower: &str) -> Option<std::borrow::Cow<'a, str>> {
    let asks = ["send a", "sending a", "make a", "making a", "issue a", "perform a", "submit a"];
    let methods = ["get", "post", "put", "patch", "delete", "head"];
    let is_request = |at: usize, ask: &str| {
        let rest = lower[at + ask.len()..].trim_start_matches('n').trim_start();
        methods.iter().any(|method| rest.starts_with(method)) && rest.contains("request")
    };
    let found = asks.iter().find_map(|ask| lower.find(ask).filter(|at| is_request(*at, ask)));
    let found = found.or_else(|| lower.strip_prefix("to ").and_then(|_| instruction(lower)));
    let Some(at) = found else { return Some(sentence.into()) };
    let before = sentence.get(..at)?.trim_end_matches([',', ' ']).trim_end_matches(" by");
    let says = ["you", "first", "then", "please"].iter().all(|word| !before.to_lowercase().ends_with(word));
    (before.split(' ').count() > 2 && says).then(|| before.to_owned().into())
}

/// Where `To delete rooms, include their tag` turns to how it is done.
fn instruction(lower: &str) -> Option<usize> {
    const HOW: [&str; 13] = [
        ", include ",
        ", use ",
        ", provide ",
        ", specify ",
        ", pass ",
        ", call ",
        ", set ",
        ", supply ",
        ", you ",
        ", simply ",
        ", first ",
        ", please ",
        ", submit ",
    ];
    HOW.iter().filter_map(|how| lower.find(how)).min()
}

fn without_preamble(sentence: &str) -> String {
    let mut rest = sentence;
    // A preamble may stand before another: `This endpoint can be used to …`
    for _ in 0..3 {
        let lower = rest.to_ascii_lowercase();
        let own = SELVES.iter().find_map(|own| {
            ["this ", "the ", "use this ", "use the ", "call this ", "an ", "a ", ""].iter().find_map(|article| {
                let behind = lower.strip_prefix(article)?.strip_prefix(own)?;
                let behind = behind.strip_prefix(' ')?;
                // `Call the contact` is about a contact; only sentences about themselves are shortened.
                let is_own = !article.is_empty() && article.contains("this") || is_told_next(behind);
                is_own.then(|| lower.len() - behind.len())
            })
        });
        let preamble = PREAMBLES.iter().find(|preamble| lower.starts_with(**preamble)).map(|preamble| preamble.len());
        match own.or(preamble).and_then(|at| rest.get(at..)).filter(|rest| rest.split(' ').count() > 1) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    capital(rest)
}

/// Whether what follows says what an operation is for.
fn is_told_next(behind: &str) -> bool {
    let told = ["to ", "that ", "which ", "for ", "is used ", "can be used ", "allows ", "returns ", "will "];
    told.iter().any(|word| behind.starts_with(word))
}

/// `List All Droplets` is `List all Droplets`: words that are no names have no capitals.
fn usual_case(sentence: &str) -> String {
    const SMALL: [&str; 26] = [
        "All", "A", "An", "The", "New", "Existing", "For", "Of", "By", "To", "From", "In", "On", "And", "Or", "With",
        "Within", "Multiple", "Single", "Specific", "One", "Many", "List", "Using", "Into", "Details",
    ];
    let small = |(at, word): (usize, &str)| match at > 0 && SMALL.contains(&word) {
        true => word.to_ascii_lowercase(),
        false => word.to_owned(),
    };
    sentence.split(' ').enumerate().map(small).collect::<Vec<_>>().join(" ")
}

/// A text without HTML: elements that are blocks end a paragraph.
fn without_html(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        let inner = after.split_once('>').filter(|(inner, _)| !inner.contains('<'));
        let name = inner.map(|(inner, _)| {
            let inner = inner.trim_start_matches('/');
            inner.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase()
        });
        rest = match (inner, name.as_deref()) {
            (Some((_, more)), Some(name)) if BLOCKS.contains(&name) => {
                plain.push_str("\n\n");
                more
            }
            (Some((_, more)), Some(name)) if SPANS.contains(&name) => more,
            (Some((inner, more)), _) if inner.starts_with("!--") => more,
            _ => {
                plain.push('<');
                after
            }
        };
    }
    plain.push_str(rest);
    ENTITIES.iter().fold(plain, |text, (entity, c)| text.replace(entity, c))
}

/// The paragraphs of a Markdown text that are prose: no headings, tables, code and callouts' marks.
fn paragraphs(text: &str) -> Vec<String> {
    let (mut all, mut open, mut is_code) = (Vec::new(), String::new(), false);
    for line in text.lines() {
        let line = line.trim().trim_start_matches('>').trim();
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_code ^= is_fence;
        let is_item = ["- ", "* ", "+ ", "1. "].iter().any(|mark| line.starts_with(mark));
        let is_other = is_fence || is_code || line.starts_with(['#', '|']) || line.starts_with("[!");
        if line.is_empty() || is_other || is_item {
            all.extend((!open.is_empty()).then(|| std::mem::take(&mut open)));
        }
        if !line.is_empty() && !is_other {
            open.push_str(if open.is_empty() { "" } else { " " });
            open.push_str(line.trim_start_matches(['-', '*', '+']).trim_start());
        }
    }
    all.extend((!open.is_empty()).then_some(open));
    all.iter().map(|paragraph| without_marks(paragraph)).collect()
}

/// A line without the marks of Markdown: links are their text, images nothing.
fn without_marks(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('[') {
        let linked = after.split_once(']').filter(|(label, _)| !label.contains('['));
        let target = linked.and_then(|(label, more)| Some((label, more.strip_prefix('(')?.split_once(')')?.1)));
        let named = linked.and_then(|(label, more)| Some((label, more.strip_prefix('[')?.split_once(']')?.1)));
        match target.or(named) {
            Some((_, more)) if before.ends_with('!') => {
                plain.push_str(before.trim_end_matches('!'));
                rest = more;
            }
            Some((label, more)) => {
                plain.push_str(before);
                plain.push_str(label);
                rest = more;
            }
            None => {
                plain.push_str(before);
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain.replace(['`', '*'], "").replace("__", "").replace("\\_", "_")
}

/// The sentences of a paragraph.
fn split(paragraph: &str) -> Vec<String> {
    let (mut all, mut from) = (Vec::new(), 0);
    let ends = paragraph.match_indices(['.', '!', '?']);
    for (at, mark) in ends {
        let end = at + mark.len();
        let mut behind = paragraph[end..].chars();
        // `v1.2` and `example.com` have a full stop inside; `e.g. rooms` goes on in lower case.
        let is_end = behind.next() == Some(' ') && !behind.next().is_some_and(char::is_lowercase);
        let word = paragraph[from..at].rsplit([' ', '(']).next().unwrap_or_default().to_ascii_lowercase();
        if is_end && !(mark == "." && ABBREVIATIONS.contains(&word.as_str())) {
            all.push(paragraph[from..end].trim().to_owned());
            from = end;
        }
    }
    all.push(paragraph[from..].trim().to_owned());
    all.retain(|sentence| !sentence.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> String {
        sentences(text).first().map(|sentence| imperative(sentence)).unwrap_or_default()
    }

    #[test]
    fn no_html_and_no_markdown_is_left() {
        assert_eq!(
            first("<p>Returns a <a href=\"/x\">list</a> of <code>keys</code>.</p><p>More.</p>"),
            "Return a list of keys."
        );
        assert_eq!(first("## Rooms\n\nLists **all** [rooms](../rooms.md#x) with `id`."), "List all rooms with id.");
        assert_eq!(first("> [!NOTE]\n> Deletes the <sid> &amp; its log."), "Delete the <sid> & its log.");
        assert_eq!(first("```\ncurl x\n```\nPings it."), "Ping it.");
    }

    #[test]
    fn an_endpoint_is_not_told_that_it_is_one() {
        for text in [
            "This endpoint allows you to list rooms.",
            "Use this endpoint to list rooms.",
            "This API method returns rooms.",
            "You can list rooms.",
            "To list rooms, send a GET request to `/v2/rooms`.",
            "Endpoint to list rooms.",
        ] {
            assert!(
                matches!(first(text).as_str(), "List rooms." | "List rooms" | "Return rooms."),
                "{text}: {}",
                first(text)
            );
        }
        assert_eq!(first("Call the contact."), "Call the contact.");
    }

    #[test]
    fn a_sentence_ends_where_it_ends() {
        let all =
            sentences("Lists rooms, e.g. of a hotel. Needs v1.2 of it! See [the docs](x). Scoped OAuth requires: `a`");
        assert_eq!(all, ["Lists rooms, e.g. of a hotel.", "Needs v1.2 of it!"]);
    }

    #[test]
    fn commands_are_given_in_the_imperative() {
        assert_eq!(imperative("Creates or updates a key."), "Create or update a key.");
        assert_eq!(imperative("Permanently deletes a customer."), "Permanently delete a customer.");
        assert_eq!(imperative("Fetches and returns it."), "Fetch and return it.");
        assert_eq!(imperative("Status of the news."), "Status of the news.");
    }

    #[test]
    fn titles_lose_their_capitals() {
        assert_eq!(first("List All Droplets for an Account"), "List all Droplets for an Account");
    }

    #[test]
    fn what_is_no_prose_says_nothing() {
        for text in ["", "```", "# x", "<p></p>", "https://example.com/docs", "[a](b", "<", "&", "---"] {
            drop(sentences(text));
        }
        assert!(sentences("https://example.com/docs").is_empty());
    }
}
