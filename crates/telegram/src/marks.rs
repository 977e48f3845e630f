//! Markdown as the HTML that Telegram takes.

use forecourt_connectors::{CodeMarks, names_another_host};
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
        let address = escaped(url).replace('"', "%22");
        match names_another_host(&shown(inner), url) {
            // Who reads the name of one host must see that the link leads to another.
            true => format!("{inner} (<a href=\"{address}\">{}</a>)", escaped(url)),
            false => format!("<a href=\"{address}\">{inner}</a>"),
        }
    }

    fn quote(&self, inner: &str) -> String {
        format!("<blockquote>{inner}</blockquote>")
    }
}

/// Marked words as they are seen.
fn shown(inner: &str) -> String {
    let mut words = String::with_capacity(inner.len());
    for (at, piece) in inner.split('<').enumerate() {
        // What stands before the first angle is in no tag.
        words.push_str(if at == 0 { piece } else { piece.split_once('>').map_or("", |(_, rest)| rest) });
    }
    words.replace('\u{2060}', "")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use forecourt_pages::markdown::to_blocks;

    use super::*;

    #[test]
    fn a_label_that_names_another_host_does_not_hide_where_a_link_leads() {
        let marked = |text: &str| to_blocks(text, &TelegramHtml).join("\n\n");
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
