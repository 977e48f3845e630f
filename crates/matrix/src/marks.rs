//! Markdown as the HTML that Matrix takes. Client-Server API, `m.room.message`: the tags that clients keep.

use forecourt_connectors::{CodeMarks, names_another_host};
use forecourt_pages::markdown::Marks;

use crate::html::plain;

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
        match names_another_host(&plain(inner), url) {
            // Who reads the name of one host must see that the link leads to another.
            true => format!("{inner} (<a href=\"{}\">{}</a>)", address(url), escaped(url)),
            false => format!("<a href=\"{}\">{inner}</a>", address(url)),
        }
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

#[cfg(test)]
mod tests {
    use forecourt_pages::markdown::to_blocks;

    use super::*;

    #[test]
    fn a_label_that_names_another_host_does_not_hide_where_a_link_leads() {
        let marked = |text: &str| to_blocks(text, &MatrixHtml).join("\n\n");
        for label in ["https://bank.example/login", "see **bank.example**, now", "bank.**example**"] {
            let marked = marked(&format!("[{label}](https://evil.example/x)"));
            assert!(marked.ends_with("(<a href=\"https://evil.example/x\">https://evil.example/x</a>)"), "{marked}");
        }
        for label in ["A.Example", "the page"] {
            let marked = marked(&format!("[{label}](https://a.example/x)"));
            assert_eq!(marked, format!("<a href=\"https://a.example/x\">{label}</a>"));
        }
    }
}
