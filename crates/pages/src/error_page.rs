//! A fault as a page. Design 7, item 13: errors are negotiated too.

use askama::Template;
use forecourt_core::{Address, Language, Part};

use crate::asked::{AskOnView, AskedView};
use crate::branding::Branding;
use crate::template::{self, Head, words_in};
use crate::{clean, escape};

/// What went wrong, and what would be right. Send with [`Branding::asking_policy`].
pub struct ErrorPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// The agent that was addressed, or the default one; `None` where the host has none.
    pub address: Option<&'a Address>,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The language of the words below.
    pub language: &'a Language,
    /// A few words, such as `No such agent`.
    pub title: &'a str,
    /// A sentence about what was wrong; words in backticks are shown as code.
    pub message: &'a str,
    /// Whether the message is in English whatever the language of the page is.
    pub is_english: bool,
    /// What would be right; lines are kept, so a request may be shown as it should look.
    pub hint: Option<&'a str>,
    /// What was asked, where something was.
    pub asked: &'a str,
    /// The path of the agent that can be asked again. `None` where none can.
    pub path: Option<&'a str>,
    /// Whether the same may work when it is tried again.
    pub may_work_again: bool,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorTemplate {
    head: Head,
    title: String,
    /// HTML.
    message: String,
    /// The language of the message.
    worded: String,
    hint: Option<String>,
    asked: AskedView,
    ask_on: Option<AskOnView>,
    again: Option<String>,
}

impl ErrorPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        template::finish(&ErrorTemplate {
            head: Head::new(self.address, self.url, self.language, self.brand, self.title, self.message),
            asked: AskedView::of(&[Part::text(self.asked)]),
            ask_on: self
                .path
                .and_then(|path| AskOnView::new(path, None, &words_in(self.language).page_ask_again(), self.asked)),
            again: self.may_work_again.then(|| clean::href(self.url)).flatten(),
            title: clean::line(self.title),
            worded: if self.is_english { "en" } else { self.language.as_str() }.to_owned(),
            message: spoken(&sentence(&clean::text(self.message))),
            hint: self.hint.map(|hint| clean::text(hint).into_owned()),
        })
    }
}

/// The same words as a sentence: a capital letter in front, a full stop behind.
fn sentence(text: &str) -> String {
    let mut chars = text.trim().chars();
    let Some(first) = chars.next() else { return String::new() };
    let rest = chars.as_str();
    let stop = if rest.ends_with(['.', '!', '?', '`', ':']) { "" } else { "." };
    format!("{}{rest}{stop}", first.to_uppercase())
}

/// Text as HTML in which every second piece between backticks is code. An odd backtick stays.
fn spoken(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let last = pieces.len() - 1;
    let piece = |(index, piece): (usize, &&str)| match index % 2 == 1 {
        true if index == last => format!("`{}", escape::text(piece)),
        true => format!("<code>{}</code>", escape::text(piece)),
        false => escape::text(piece),
    };
    pieces.iter().enumerate().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_sentence() {
        let said = ["no such thing", "It is.", "éclair", "set `x`", "ß", ""].map(sentence);
        assert_eq!(said, ["No such thing.", "It is.", "Éclair.", "Set `x`", "SS.", ""]);
    }

    #[test]
    fn words_in_backticks_are_code() {
        assert_eq!(spoken("no `<user>` here"), "no <code>&lt;user&gt;</code> here");
        assert_eq!(spoken("a `b` c`<"), "a <code>b</code> c`&lt;");
        assert_eq!(spoken(""), "");
    }
}
