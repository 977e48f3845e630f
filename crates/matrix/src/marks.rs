//! Markdown as the HTML that Matrix takes. Client-Server API, `m.room.message`: the tags that clients keep.

use forecourt_connectors::CodeMarks;
use forecourt_pages::markdown::Marks;

/// What stands around a block of code.
pub(crate) const CODE_MARKS: CodeMarks = ("<pre><code>", "</code></pre>");

/// The marks of Matrix.
pub(crate) struct MatrixHtml;

impl Marks for MatrixHtml {
    fn text(&self, text: &str) -> String {
        escaped(text)
    }

    fn strong(&self, inner: &str) -> String {
        format!("<strong>{inner}</strong>")
    }

    fn emphasis(&self, inner: &str) -> String {
        format!("<em>{inner}</em>")
    }

    fn struck(&self, inner: &str) -> String {
        format!("<del>{inner}</del>")
    }

    fn code(&self, literal: &str) -> String {
        format!("<code>{}</code>", escaped(literal))
    }

    fn code_block(&self, literal: &str) -> String {
        format!("{}{}{}", CODE_MARKS.0, escaped(literal), CODE_MARKS.1)
    }

    fn link(&self, inner: &str, url: &str) -> String {
        format!("<a href=\"{}\">{inner}</a>", address(url))
    }

    fn quote(&self, inner: &str) -> String {
        format!("<blockquote>{inner}</blockquote>")
    }
}

/// An address as the value of an attribute.
pub(crate) fn address(url: &str) -> String {
    url.replace('&', "&amp;").replace('<', "%3C").replace('>', "%3E").replace('"', "%22")
}

/// Words as HTML. Behind the `@` of the word that calls a whole room is a joiner that nobody sees: older clients look
/// for the word, whatever a message says that it mentions.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace("@room", "@\u{2060}room")
}
