//! What was said in a note: paragraphs, lists and links as text.

use forecourt_core::clean::is_hidden;
use html5ever::tokenizer::Tag;

use super::{Piece, attribute, pieces_of_others};
use crate::limits::TEXT_BYTES_MAX;

/// Elements that stand on lines of their own.
const BLOCKS: [&str; 14] =
    ["p", "div", "blockquote", "pre", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "table", "tr"];
/// Elements whose text nobody reads.
const UNREAD: [&str; 5] = ["script", "style", "template", "noscript", "iframe"];

/// The words of HTML, at most [`TEXT_BYTES_MAX`] bytes. The mentions with which it begins say whom it is for, and are
/// no words of it.
pub(crate) fn to_text(html: &str) -> String {
    let mut words = Words::default();
    for piece in pieces_of_others(html) {
        match piece {
            Piece::Start(tag) => words.start(&tag),
            Piece::End(name) => words.end(&name),
            Piece::Text(text) => words.text(&text),
        }
    }
    words.finish()
}

/// The words so far.
#[derive(Default)]
struct Words {
    said: String,
    /// Line ends that are owed before the next words.
    owed: usize,
    /// Elements open whose text nobody reads.
    unread: usize,
    link: Option<OpenLink>,
    is_preformatted: bool,
}

struct OpenLink {
    target: String,
    is_mention: bool,
    words: String,
}

impl Words {
    fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        match name {
            "br" => self.owed += 1,
            "li" => {
                self.owed = self.owed.max(1);
                self.text("- ");
            }
            "a" => {
                self.close_link();
                let class = attribute(tag, "class").unwrap_or_default();
                let has = |word: &str| class.split_ascii_whitespace().any(|it| it == word);
                let target = attribute(tag, "href").unwrap_or_default().trim().to_owned();
                // Hashtags of Mastodon are of both classes.
                let is_mention = has("mention") && !has("hashtag");
                self.link = Some(OpenLink { target, is_mention, words: String::new() });
            }
            "pre" => {
                self.block();
                self.is_preformatted = true;
            }
            "td" | "th" => self.text(" "),
            _ if UNREAD.contains(&name) && !tag.self_closing => self.unread += 1,
            _ if BLOCKS.contains(&name) => self.block(),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "a" => self.close_link(),
            "pre" => {
                self.is_preformatted = false;
                self.block();
            }
            _ if UNREAD.contains(&name) => self.unread = self.unread.saturating_sub(1),
            _ if BLOCKS.contains(&name) => self.block(),
            _ => {}
        }
    }

    fn block(&mut self) {
        self.owed = self.owed.max(2);
    }

    fn text(&mut self, text: &str) {
        if self.unread > 0 {
            return;
        }
        match &mut self.link {
            Some(link) if link.words.len() + text.len() <= TEXT_BYTES_MAX => link.words.push_str(text),
            Some(_) => {}
            None => self.say(text),
        }
    }

    fn say(&mut self, text: &str) {
        for c in text.chars().filter(|c| !is_hidden(*c)) {
            if self.said.len() >= TEXT_BYTES_MAX {
                return;
            }
            // None at the beginning, whatever it stands in: so whether something was said is known without looking.
            if c.is_whitespace() && (!self.is_preformatted || self.said.is_empty()) {
                let ends = self.said.ends_with(char::is_whitespace);
                if !self.said.is_empty() && self.owed == 0 && !ends {
                    self.said.push(' ');
                }
                continue;
            }
            if !self.said.is_empty() {
                let owed = self.owed.min(2);
                if owed > 0 {
                    self.said.truncate(self.said.trim_end().len());
                }
                self.said.extend(std::iter::repeat_n('\n', owed));
            }
            self.owed = 0;
            self.said.push(c);
        }
    }

    /// A link is its address, unless its words say something else; a mention is its words.
    fn close_link(&mut self) {
        let Some(OpenLink { target, is_mention, words }) = self.link.take() else { return };
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        if is_mention {
            if !self.said.is_empty() {
                self.say(&words);
            }
            return;
        }
        let bare = |text: &str| {
            text.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/').to_owned()
        };
        let is_web = target.starts_with("https://") || target.starts_with("http://");
        let is_tag = words.starts_with(['#', '@']);
        match () {
            () if !is_web || is_tag => self.say(&words),
            // Long addresses are shown in part, with an ellipsis.
            () if words.is_empty() || bare(&target).starts_with(bare(&words).trim_end_matches('…')) => {
                self.say(&target)
            }
            () => self.say(&format!("{words} ({target})")),
        }
    }

    fn finish(mut self) -> String {
        self.close_link();
        let end = self.said.trim_end().len();
        self.said.truncate(end);
        self.said
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::TAG_BYTES_MAX;

    #[test]
    fn the_forms_of_servers_become_what_people_wrote() {
        for (html, text) in [
            // Mastodon 4.5, `POST /api/v1/statuses` with a mention, as it federates.
            (
                r#"<p><span class="h-card" translate="no"><a href="https://demo.localhost/activitypub/users/chef" class="u-url mention">@<span>chef</span></a></span> something with chickpeas?</p><p>Not spicy.<br />Thanks</p>"#,
                "something with chickpeas?\n\nNot spicy.\nThanks",
            ),
            // Mastodon shows long links in part.
            (
                r#"<p>See <a href="https://example.com/a/very/long/path" rel="nofollow noopener"><span class="invisible">https://</span><span class="ellipsis">example.com/a/very</span><span class="invisible">/long/path</span></a> <a href="https://social.example/tags/food" class="mention hashtag" rel="tag">#<span>food</span></a></p>"#,
                "See https://example.com/a/very/long/path #food",
            ),
            // Misskey 2025, MFM as HTML.
            (
                r#"<p><a href="https://demo.localhost/activitypub/users/chef" class="u-url mention">@chef@demo.localhost</a><span> hi<br>there</span></p>"#,
                "hi\nthere",
            ),
            // GoToSocial 0.20, markdown.
            (
                "<p>Two:</p><ul><li>soup</li><li><em>bread</em></li></ul><pre><code>a\n  b\n</code></pre>",
                "Two:\n\n- soup\n- bread\n\na\n  b",
            ),
            (
                r#"<p>ask <a class="mention" href="https://a.example/@bob">@bob</a> or <a href="https://a.example/x">him</a></p>"#,
                "ask @bob or him (https://a.example/x)",
            ),
            ("a<script>alert(1)</script><style>p{}</style>b &lt;c&gt; &amp; &nbsp;d", "ab <c> & d"),
            ("", ""),
            ("<p> </p><br><br>", ""),
        ] {
            assert_eq!(to_text(html), text, "{html}");
        }
    }

    #[test]
    fn text_is_cut_at_its_bound() {
        assert_eq!(to_text(&"x".repeat(TEXT_BYTES_MAX)).len(), TEXT_BYTES_MAX);
        assert_eq!(to_text(&"x".repeat(TEXT_BYTES_MAX + 1)).len(), TEXT_BYTES_MAX);
    }

    #[test]
    fn a_tag_has_a_bound_and_what_stands_behind_a_longer_one_is_not_read() {
        // Attributes that each are a fault of their own must not make it look short.
        let tag = |bytes: usize, fill: &str| {
            let end = "x>";
            let filled: String = fill.chars().cycle().take(bytes - "<a ".len() - end.len()).collect();
            format!("<a {filled}{end}hi</a>")
        };
        for fill in ["a ", "\"' "] {
            assert_eq!(to_text(&tag(TAG_BYTES_MAX, fill)), "hi", "{fill}");
            assert_eq!(to_text(&tag(TAG_BYTES_MAX + 1, fill)), "", "{fill}");
        }
        let long = "word ".repeat(TAG_BYTES_MAX);
        assert_eq!(to_text(&long), long.trim());
        assert_eq!(to_text(&format!("<p>{}&amp;</p>", "é".repeat(TAG_BYTES_MAX))).len(), 2 * TAG_BYTES_MAX + 1);
    }

    #[test]
    fn text_does_not_begin_with_white_space() {
        let html = "<pre>   <a class=\"mention\">@chef</a>  a\n  b</pre>";
        assert_eq!(to_text(html), "a\n  b");
    }

    proptest! {
        #[test]
        fn no_html_breaks_it(html in "(<[a-z]{1,6}( [a-z]{1,5}=\"[^\"]{0,9}\")?>|</[a-z]{1,6}>|<|&|&[a-z]{2};|\\PC){0,60}") {
            let text = to_text(&html);
            prop_assert!(text.len() <= TEXT_BYTES_MAX + 4 && !text.chars().any(is_hidden));
        }
    }
}
