//! Markdown as the HTML that Telegram takes.

use forecourt_connectors::CodeMarks;
use forecourt_pages::markdown::Marks;

/// What stands around a block of code.
pub(crate) const CODE_MARKS: CodeMarks = ("<pre>", "</pre>");

/// The marks of Telegram.
pub(crate) struct TelegramHtml;

impl Marks for TelegramHtml {
    /// An `@` is followed by a joiner that nobody sees: nobody is mentioned by what an agent says.
    fn text(&self, text: &str) -> String {
        escaped(text).replace('@', "@\u{2060}")
    }

    fn strong(&self, inner: &str) -> String {
        format!("<b>{inner}</b>")
    }

    fn emphasis(&self, inner: &str) -> String {
        format!("<i>{inner}</i>")
    }

    fn struck(&self, inner: &str) -> String {
        format!("<s>{inner}</s>")
    }

    fn code(&self, literal: &str) -> String {
        format!("<code>{}</code>", escaped(literal))
    }

    fn code_block(&self, literal: &str) -> String {
        format!("{}{}{}", CODE_MARKS.0, escaped(literal), CODE_MARKS.1)
    }

    fn link(&self, inner: &str, url: &str) -> String {
        format!("<a href=\"{}\">{inner}</a>", escaped(url).replace('"', "%22"))
    }

    fn quote(&self, inner: &str) -> String {
        format!("<blockquote>{inner}</blockquote>")
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
