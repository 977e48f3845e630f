//! What a model wrote, made safe to show: its words, and numbers of items. Nothing else gets through: no link
//! but to an item, no image, no HTML, no markup of its own.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use url::Url;

use super::prompt::is_unseen;

/// A piece of a model's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextPiece {
    /// Plain words, with the space around them.
    Words(String),
    /// The number of an item that there is.
    Cites(usize),
}

/// An item that may be cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CitedItem {
    /// Its number in the answer.
    pub(super) number: usize,
    /// Where it is, if that is a place of the web.
    pub(super) url: Option<String>,
}

/// Everything in a text that is more than words.
static MARKED: LazyLock<Regex> = LazyLock::new(|| {
    let alternatives = [
        r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?",
        r"\[\[(?P<inner>\d{1,3})\]\](?:\([^)]*\))?",
        r"\[(?P<label>[^\[\]]*)\]\(\s*<?(?P<href>[^\s()<>]*)[^)]*\)",
        r"\[(?P<cites>\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*)\]",
        r"<(?P<tag>/?[A-Za-z!?][^<>]*)>",
        r"(?P<url>(?i:[a-z][a-z0-9+.-]*://|www\.|(?:mailto|javascript|vbscript|data|tel|file|blob):)[^\s<>()\[\]]+)",
        r"(?P<mail>[^\s@\[\]()<>]+@[^\s@\[\]()<>]+\.[^\s@\[\]()<>]+)",
        r"(?P<host>(?:[\p{L}\p{N}_-]+\.)+[\p{L}][\p{L}\p{N}-]+(?:[/:?#][^\s<>()\[\]]*)?)",
        r"(?P<mark>\*+|`+|__+|~~+)",
    ];
    Regex::new(&alternatives.join("|")).expect("a pattern of our own")
});
/// What is left around something that was taken out.
static HOLLOW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\(\s*\)|\[\s*\]| +(?<end>[.,](?:\s|$))").expect("a pattern of our own"));
/// Spaces in a row.
static GAP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" {2,}").expect("a pattern of our own"));
/// Ends of names of files, which look like ends of hosts.
const FILES: [&str; 14] =
    ["css", "csv", "html", "js", "json", "jsonl", "md", "pdf", "py", "rs", "toml", "ts", "txt", "yaml"];

/// How often what was taken out may have left something new behind.
const PASSES_MAX: usize = 4;

/// The pieces of a text that may cite `sources`, and may name hosts only when `known` does.
pub(super) fn pieces(text: &str, sources: &[CitedItem], known: &str) -> Vec<TextPiece> {
    // Unseen characters go first: they could part a link that only a browser puts together again.
    let text: String = text.chars().filter(|c| !is_unseen(*c)).collect();
    let mut all = pass(&text.replace('【', "[").replace('】', "]"), sources, known);
    for _ in 0..PASSES_MAX {
        if all.iter().all(|piece| is_clean(piece, sources, known)) {
            return all;
        }
        let again = all.into_iter().flat_map(|piece| match piece {
            TextPiece::Words(words) => pass(&words, sources, known),
            cites @ TextPiece::Cites(_) => vec![cites],
        });
        all = again.collect();
    }
    // What is still marked after so many passes was made to be, and goes as a whole.
    all.retain(|piece| is_clean(piece, sources, known));
    all
}

/// Whether a text cites numbers, and no item has any of them: then what it says is from nowhere.
pub(super) fn cites_nothing_there(text: &str, sources: &[CitedItem]) -> bool {
    let text = text.replace('【', "[").replace('】', "]");
    let numbers = MARKED.captures_iter(&text).filter_map(|captures| {
        let label = captures.name("label").filter(|label| label.as_str().trim().parse::<usize>().is_ok());
        Some(captures.name("cites").or_else(|| captures.name("inner")).or(label)?.as_str().to_owned())
    });
    let numbers: Vec<String> =
        numbers.flat_map(|all| all.split([',', ';']).map(str::to_owned).collect::<Vec<_>>()).collect();
    let is_there = |number: &String| {
        number.trim().parse().is_ok_and(|number: usize| sources.iter().any(|source| source.number == number))
    };
    !numbers.is_empty() && !numbers.iter().any(is_there)
}

fn pass(text: &str, sources: &[CitedItem], known: &str) -> Vec<TextPiece> {
    let (mut pieces, mut at) = (TextPieces::default(), 0);
    for captures in MARKED.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        pieces.words(&text[at..whole.start()]);
        marked(&captures, sources, known, &mut pieces);
        at = whole.end();
    }
    pieces.words(&text[at..]);
    pieces.0
}

/// Whether nothing is left to take out. What stood on both sides of something may have become one.
fn is_clean(piece: &TextPiece, sources: &[CitedItem], known: &str) -> bool {
    let is_fine =
        |captures: Captures<'_>| captures.name("host").is_some_and(|host| is_fine(host.as_str(), sources, known));
    match piece {
        TextPiece::Words(words) => MARKED.captures_iter(words).all(is_fine),
        TextPiece::Cites(_) => true,
    }
}

/// The same as one line of plain words, at most `chars_max` of its characters.
pub(super) fn line(text: &str, known: &str, chars_max: usize) -> String {
    let words = pieces(text, &[], known).into_iter().filter_map(|piece| match piece {
        TextPiece::Words(words) => Some(words),
        TextPiece::Cites(_) => None,
    });
    let line = words.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// What something marked comes to.
fn marked(captures: &Captures<'_>, sources: &[CitedItem], known: &str, pieces: &mut TextPieces) {
    let named = |name: &str| captures.name(name).map(|found| found.as_str());
    if let Some(numbers) = named("cites").or_else(|| named("inner")) {
        numbers.split([',', ';']).for_each(|number| pieces.cite(number, sources));
    } else if let (Some(label), Some(href)) = (named("label"), named("href")) {
        match label.trim().bytes().all(|b| b.is_ascii_digit()) {
            true => pieces.cite(label, sources),
            false => {
                pieces.words(label);
                pieces.cite_url(href, sources);
            }
        }
    } else if let Some(tag) = named("tag") {
        pieces.cite_url(tag, sources);
    } else if let Some(url) = named("url") {
        pieces.cite_url(url, sources);
    } else if let Some(host) = named("host").filter(|host| is_fine(host, sources, known)) {
        pieces.words(host);
    }
}

/// Whether a word with dots is no invitation to go elsewhere.
fn is_fine(word: &str, sources: &[CitedItem], known: &str) -> bool {
    let host = word.split(['/', ':', '?', '#']).next().unwrap_or_default();
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_source = || sources.iter().filter_map(|source| Url::parse(source.url.as_deref()?).ok());
    // `config.toml` looks like a host, and a summary of documentation may name it.
    FILES.contains(&last)
        || known.contains(word)
        || is_source().any(|url| url.host_str().is_some_and(|own| own.eq_ignore_ascii_case(word)))
}

#[derive(Default)]
struct TextPieces(Vec<TextPiece>);

impl TextPieces {
    fn words(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(TextPiece::Words(before)) => before.push_str(words),
            _ => self.0.push(TextPiece::Words(words.to_owned())),
        }
        if let Some(TextPiece::Words(joined)) = self.0.last_mut() {
            *joined = GAP.replace_all(&HOLLOW.replace_all(joined, "$end"), " ").into_owned();
        }
    }

    /// Cites an item by its number. A number that no item has is nothing.
    fn cite(&mut self, number: &str, sources: &[CitedItem]) {
        let number = number.trim().parse::<usize>().ok();
        let number = number.filter(|number| sources.iter().any(|source| source.number == *number));
        if let Some(number) = number.filter(|number| self.0.last() != Some(&TextPiece::Cites(*number))) {
            self.0.push(TextPiece::Cites(number));
        }
    }

    /// Cites an item by its address. An address of none is nothing.
    fn cite_url(&mut self, text: &str, sources: &[CitedItem]) {
        // Punctuation behind an address belongs to the sentence around it.
        let bare = text.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '"', '*', '_', '`']);
        let Ok(url) = Url::parse(bare) else { return };
        let is_it = |source: &&CitedItem| source.url.as_deref().is_some_and(|own| Url::parse(own).as_ref() == Ok(&url));
        if let Some(source) = sources.iter().find(is_it) {
            self.cite(&source.number.to_string(), sources);
            self.words(&text[bare.len()..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sources() -> Vec<CitedItem> {
        let source = |number: usize, url: Option<&str>| CitedItem { number, url: url.map(str::to_owned) };
        vec![source(1, Some("https://r.example/soup")), source(2, None)]
    }

    /// Words as they are, and citations in braces.
    fn shown(text: &str) -> String {
        let pieces = pieces(text, &sources(), "what is node.js");
        pieces
            .into_iter()
            .map(|piece| match piece {
                TextPiece::Words(words) => words,
                TextPiece::Cites(number) => format!("{{{number}}}"),
            })
            .collect()
    }

    #[test]
    fn citations_of_items_stay_and_others_go() {
        for (text, wanted) in [
            ("Soup [1] and bread [2].", "Soup {1} and bread {2}."),
            ("Soup [1, 2; 9].", "Soup {1}{2}."),
            ("Soup [3].", "Soup."),
            ("Soup 【1】.", "Soup {1}."),
            ("Soup [[1]](https://r.example/soup)!", "Soup {1}!"),
            ("[1](https://evil.example/)", "{1}"),
            ("[Soup](https://r.example/soup) is hot", "Soup{1} is hot"),
            ("Soup (https://r.example/soup).", "Soup ({1})."),
            ("See https://r.example/soup.", "See {1}."),
            ("See <https://r.example/soup>.", "See {1}."),
        ] {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_was_apart_and_becomes_one_is_looked_at_again() {
        for text in
            ["http:**//evil**.example", "evil[9].example", "[evil](x).example", "ht<b>tps:</b>//evil<i>.example"]
        {
            assert!(!shown(text).contains("evil.example"), "{text}: {}", shown(text));
        }
        let deep = (0..40).fold("[9]".to_owned(), |inner, _| format!("[{inner}9]"));
        assert!(!shown(&format!("evil{deep}.example")).contains("evil.example"));
    }

    #[test]
    fn nothing_leads_elsewhere() {
        for text in [
            "https://evil.example/x",
            "HTTPS://EVIL.EXAMPLE",
            "www.evil.example",
            "evil.example",
            "evil.example/win?a=1",
            "me@evil.example",
            "javascript:alert(1)",
            "<a href='https://evil.example/'>",
            "<img src=x onerror=alert(1)>",
            "<script src=//evil.example>",
            "![now](https://evil.example/?q=secret)",
            "[](https://evil.example/)",
            "[ ](//evil.example)",
            "https://r.example@evil.example/soup",
            "https://r.example/soup/../../evil",
            "htt\u{200b}ps://evil.example",
            "e\u{ad}vil.example",
        ] {
            let shown = shown(&format!("a {text} b"));
            assert!(!shown.to_lowercase().contains("evil"), "{text}: {shown}");
            assert!(
                !shown.contains(['<', '!', '{']) && shown.starts_with("a ") && shown.ends_with(" b"),
                "{text}: {shown}"
            );
        }
        assert_eq!(shown("[click evil.example here](https://evil.example)"), "click here");
    }

    #[test]
    fn words_with_dots_are_words_where_they_are_meant_so() {
        for text in ["node.js", "forecourt.toml", "r.example", "e.g. 3.5", "a < b > c", "5 p.m. on 1.1.2026"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("**Soup** is `hot` and __good__"), "Soup is hot and good");
    }

    #[test]
    fn a_line_is_one_line_and_has_a_bound() {
        assert_eq!(line("a\n\n[1] b\u{202e}", "", 10), "a b");
        assert_eq!(line("éé", "", 2), "éé");
        assert_eq!(line("ééé", "", 2), "éé…");
    }

    proptest! {
        #[test]
        fn no_text_brings_an_address(text in "[a-z:/.<>()\\[\\]! 1@]{0,40}") {
            let opens = Regex::new(r"[a-z][a-z0-9+.-]*://[^\s<>()\[\]]|www\.[^\s<>()\[\]]").unwrap();
            for piece in pieces(&text, &sources(), "") {
                if let TextPiece::Words(words) = piece {
                    prop_assert!(!opens.is_match(&words), "{text:?} {words:?}");
                }
            }
        }
    }
}
