//! An answer within the elements that Mastodon keeps: paragraphs, links, lists, quotes, code, emphasis. Headings and
//! the rows of tables become paragraphs.

use forecourt_pages::markdown::names_another_host;
use html5ever::tokenizer::Tag;

use super::{Piece, attribute, pieces};
use crate::limits::OPEN_ELEMENTS_MAX;

/// Elements that stay what they are.
const KEPT: [&str; 11] = ["p", "blockquote", "pre", "code", "em", "strong", "del", "ul", "ol", "li", "a"];

/// HTML of a bounded length.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NarrowHtml {
    pub(crate) html: String,
    /// Whether something was left out at the end.
    pub(crate) is_cut: bool,
}

/// HTML of our own pages as a note has it, with at most so many characters of text.
pub(crate) fn narrow(html: &str, chars_max: usize) -> NarrowHtml {
    let mut writer =
        Writer { html: String::new(), open: Vec::new(), left: chars_max, is_cut: false, cells: 0, link: None };
    for piece in pieces(html) {
        match piece {
            _ if writer.is_cut => break,
            Piece::Start(tag) => writer.start(&tag),
            Piece::End(name) => writer.end(&name),
            Piece::Text(text) => writer.text(&text),
        }
    }
    writer.finish()
}

struct Writer {
    html: String,
    /// What is open: the element that was read, and what is to be written at its end.
    open: Vec<(String, &'static str)>,
    /// Characters that may still be written.
    left: usize,
    is_cut: bool,
    /// Cells of the row that is open.
    cells: usize,
    /// The link that is open: where it leads, and its words.
    link: Option<(String, String)>,
}

impl Writer {
    fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        if self.open.len() >= OPEN_ELEMENTS_MAX {
            return;
        }
        let (begin, end) = match name {
            "br" => return self.html.push_str("<br>"),
            "input" => return self.checkbox(tag),
            "hr" => return,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => ("<p><strong>".to_owned(), "</strong></p>"),
            "tr" => {
                self.cells = 0;
                ("<p>".to_owned(), "</p>")
            }
            "td" | "th" => {
                self.cells += 1;
                (if self.cells > 1 { " · " } else { "" }.to_owned(), "")
            }
            "dt" | "dd" => ("<p>".to_owned(), "</p>"),
            "a" => match attribute(tag, "href").filter(|target| target.starts_with("http")) {
                Some(target) => {
                    self.link = Some((target.to_owned(), String::new()));
                    let target = escape(target);
                    (format!("<a href=\"{target}\" rel=\"nofollow noopener\" target=\"_blank\">"), "</a>")
                }
                None => (String::new(), ""),
            },
            _ => match KEPT.iter().position(|kept| *kept == name) {
                Some(at) => (format!("<{name}>"), ENDS[at]),
                None => (String::new(), ""),
            },
        };
        self.html.push_str(&begin);
        self.open.push((name.to_owned(), end));
    }

    fn end(&mut self, name: &str) {
        // What closes nothing that is open is passed over; what was left open within it ends with it.
        let Some(at) = self.open.iter().rposition(|(open, _)| open == name) else { return };
        while self.open.len() > at {
            let Some((open, end)) = self.open.pop() else { return };
            self.html.push_str(end);
            self.ended(&open);
        }
    }

    /// An element was ended: who reads the name of one host in a link must see that it leads to another. All of its
    /// address, also where the rest of the answer is cut.
    fn ended(&mut self, open: &str) {
        if let Some((target, words)) = self.link.take_if(|_| open == "a")
            && names_another_host(&words, &target)
        {
            let address = format!(" ({target})");
            self.left = self.left.saturating_sub(address.chars().count());
            self.html.push_str(&escape(&address));
        }
    }

    fn checkbox(&mut self, tag: &Tag) {
        let mark = if attribute(tag, "checked").is_some() { "☑ " } else { "☐ " };
        self.text(mark);
    }

    fn text(&mut self, text: &str) {
        // White space between elements is nothing that anybody reads.
        let count = if text.trim().is_empty() { 0 } else { text.chars().count() };
        if count <= self.left {
            self.left -= count;
            return self.write(text);
        }
        let end = text.char_indices().nth(self.left).map_or(text.len(), |(at, _)| at);
        let whole = &text[..end];
        // At the last space, unless that would leave out a long word's better part.
        let kept = whole.rfind(char::is_whitespace).filter(|at| whole.len() - at < 80).map_or(whole, |at| &whole[..at]);
        self.write(kept);
        self.write("…");
        (self.left, self.is_cut) = (0, true);
    }

    /// Writes words, which are those of the link that is open.
    fn write(&mut self, words: &str) {
        if let Some((_, said)) = &mut self.link {
            said.push_str(words);
        }
        self.html.push_str(&escape(words));
    }

    fn finish(mut self) -> NarrowHtml {
        while let Some((open, end)) = self.open.pop() {
            self.html.push_str(end);
            self.ended(&open);
        }
        NarrowHtml { html: self.html.replace("<p></p>", ""), is_cut: self.is_cut }
    }
}

/// The ends of [`KEPT`].
const ENDS: [&str; 11] =
    ["</p>", "</blockquote>", "</pre>", "</code>", "</em>", "</strong>", "</del>", "</ul>", "</ol>", "</li>", "</a>"];

/// Text for within an element or an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use forecourt_pages::markdown;
    use proptest::prelude::*;

    use super::*;

    fn of_markdown(text: &str, chars_max: usize) -> NarrowHtml {
        narrow(&markdown::to_html(text), chars_max)
    }

    #[test]
    fn what_servers_would_drop_becomes_what_they_keep() {
        for (text, html) in [
            (
                "# Soup\n\nGood *and* **hot**.",
                "<p><strong>Soup</strong></p>\n<p>Good <em>and</em> <strong>hot</strong>.</p>",
            ),
            ("- [x] one\n- [ ] two", "<ul>\n<li>☑  one</li>\n<li>☐  two</li>\n</ul>"),
            ("---", ""),
            ("a < b & \"c\"", "<p>a &lt; b &amp; &quot;c&quot;</p>"),
        ] {
            assert_eq!(of_markdown(text, 500).html.trim(), html, "{text}");
        }
        let table = of_markdown("| a | b |\n|---|---|\n| 1 | 2 |", 500).html;
        assert!(table.contains("<p>a · b</p>") || table.contains("a\n · b"), "{table}");
        let link = of_markdown("[x](https://a.example/?b&c) [y](/z) ![i](https://a.example/i.png)", 500).html;
        assert!(
            link.contains("<a href=\"https://a.example/?b&amp;c\" rel=\"nofollow noopener\" target=\"_blank\">x</a> y"),
            "{link}"
        );
        assert!(!link.contains("<img"), "{link}");
    }

    #[test]
    fn a_label_that_names_another_host_does_not_hide_where_a_link_leads() {
        for label in ["https://bank.example/login", "see **bank.example**, now", "bank.**example**"] {
            let html = of_markdown(&format!("[{label}](https://evil.example/x)"), 500).html;
            assert!(html.contains("</a> (https://evil.example/x)"), "{html}");
        }
        let html = of_markdown("[A.Example](https://a.example/x) [page](https://a.example/)", 500).html;
        assert!(!html.contains('('), "{html}");
        // Cut within the label, or right behind it.
        for max in [14, 20] {
            let html = of_markdown("[bank.example or not](https://evil.example/x) more", max).html;
            assert!(html.contains("</a> (https://evil.example/x)"), "{html}");
        }
    }

    #[test]
    fn a_long_answer_is_cut_at_a_word_with_everything_closed() {
        let whole = of_markdown("**one two** three four", 18);
        assert_eq!(
            whole,
            NarrowHtml { html: "<p><strong>one two</strong> three four</p>\n".to_owned(), is_cut: false }
        );
        let cut = of_markdown("**one two** three four", 14);
        assert_eq!(cut, NarrowHtml { html: "<p><strong>one two</strong> three…</p>".to_owned(), is_cut: true });
        assert_eq!(of_markdown("**one two** three four", 5).html, "<p><strong>one…</strong></p>");
    }

    proptest! {
        #[test]
        fn whatever_comes_in_elements_are_balanced_and_few(html in "(<[a-z]{1,6}( href=\"[^\"]{0,9}\")?>|</[a-z]{1,6}>|<|&|\\PC){0,60}", max in 0usize..40) {
            let NarrowHtml { html, .. } = narrow(&html, max);
            let mut open: Vec<String> = Vec::new();
            for piece in pieces(&html) {
                match piece {
                    Piece::Start(tag) if &*tag.name == "br" => {}
                    Piece::Start(tag) => {
                        prop_assert!(KEPT.contains(&&*tag.name), "{}", tag.name);
                        open.push(tag.name.to_string());
                    }
                    Piece::End(name) => prop_assert_eq!(open.pop(), Some(name)),
                    Piece::Text(_) => {}
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
