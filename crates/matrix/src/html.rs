//! The HTML of our own marks: whole in each message, and as plain text for clients that show no other.

/// The tags that the marks of this crate have, with those that are blocks.
const TAGS: [(&str, bool); 7] = [
    ("strong", false),
    ("em", false),
    ("del", false),
    ("code", false),
    ("pre", true),
    ("a", false),
    ("blockquote", true),
];

/// A piece of HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// What stands between the angles, and its name.
    Open(&'a str, &'static str),
    Close(&'static str),
}

/// Marked text as the HTML of a message: line ends as such, and every tag closed, also where an answer was parted
/// between two messages within one.
pub(crate) fn formatted(text: &str) -> String {
    let (mut html, mut open) = (String::with_capacity(text.len() + 64), Vec::new());
    let mut is_behind_block = true;
    for piece in pieces(text) {
        match piece {
            Piece::Text(words) => {
                let is_code = open.contains(&"pre");
                let words = if is_behind_block && !is_code { words.trim_start_matches('\n') } else { words };
                match is_code {
                    true => html.push_str(words),
                    false => html.push_str(&words.replace('\n', "<br>")),
                }
                is_behind_block &= words.is_empty();
            }
            Piece::Open(tag, name) => {
                if is_block(name) {
                    without_breaks(&mut html);
                }
                html.push_str(&format!("<{tag}>"));
                open.push(name);
                is_behind_block = is_block(name);
            }
            Piece::Close(name) => {
                let Some(at) = open.iter().rposition(|open| *open == name) else { continue };
                open.drain(at..).rev().for_each(|name| html.push_str(&format!("</{name}>")));
                is_behind_block = is_block(name);
            }
        }
    }
    open.iter().rev().for_each(|name| html.push_str(&format!("</{name}>")));
    html
}

/// Marked text as plain text, with the addresses of its links.
pub(crate) fn plain(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut links: Vec<(usize, String)> = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => words.push_str(&unescaped(text)),
            Piece::Open(tag, "a") => {
                let url = tag.split('"').nth(1).unwrap_or_default();
                links.push((words.len(), unescaped(url)));
            }
            Piece::Close("a") => {
                let Some((at, url)) = links.pop() else { continue };
                match &words[at..] {
                    "" => words.push_str(&url),
                    label if label == url || url.strip_prefix("mailto:") == Some(label) => {}
                    _ => words.push_str(&format!(" ({url})")),
                }
            }
            Piece::Open(_, "blockquote") => words.push_str("> "),
            Piece::Open(..) | Piece::Close(_) => {}
        }
    }
    words
}

fn is_block(name: &str) -> bool {
    TAGS.iter().any(|(tag, is_block)| *tag == name && *is_block)
}

fn without_breaks(html: &mut String) {
    while html.ends_with("<br>") {
        html.truncate(html.len() - "<br>".len());
    }
}

/// The pieces of a text. In words of ours each angle is that of a tag; what is left of one that was cut is left out.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let head = text.find('<').unwrap_or(text.len());
    let mut rest = text[..head].rfind('>').map_or(text, |end| &text[end + 1..]);
    while let Some(at) = rest.find('<') {
        all.push(Piece::Text(&rest[..at]));
        let Some(end) = rest[at..].find('>') else { return without_empty(all) };
        let tag = &rest[at + 1..at + end];
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        if let Some((name, _)) = TAGS.iter().find(|(known, _)| *known == name) {
            all.push(if tag.starts_with('/') { Piece::Close(name) } else { Piece::Open(tag, name) });
        }
        rest = &rest[at + end + 1..];
    }
    all.push(Piece::Text(rest));
    without_empty(all)
}

fn without_empty(all: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    all.into_iter().filter(|piece| *piece != Piece::Text("")).collect()
}

fn unescaped(text: &str) -> String {
    // `&amp;` last: `&amp;lt;` is the text `&lt;`.
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use forecourt_connectors::split;
    use forecourt_pages::markdown::to_blocks;
    use proptest::prelude::*;

    use super::*;
    use crate::marks::{CODE_MARKS, MatrixHtml};

    fn marked(text: &str) -> String {
        to_blocks(text, &MatrixHtml).join("\n\n")
    }

    #[test]
    fn answers_have_the_tags_of_matrix_and_plain_words_beside_them() {
        let text = marked(
            "# Soup\n\n**a** *b* ~~c~~ `d<e` [x](https://a.example/?q=\"1\"&r) <b>\n\n> said\n\n```\nf\n\ng\n```\n\n- h\n- i",
        );
        assert_eq!(
            formatted(&text),
            "<strong>Soup</strong><br><br><strong>a</strong> <em>b</em> <del>c</del> <code>d&lt;e</code> \
             <a href=\"https://a.example/?q=%221%22&amp;r\">x</a> &lt;b&gt;<blockquote>said</blockquote>\
             <pre><code>f\n\ng</code></pre>• h<br>• i"
        );
        assert_eq!(
            plain(&text),
            "Soup\n\na b c d<e x (https://a.example/?q=%221%22&r) <b>\n\n> said\n\nf\n\ng\n\n• h\n• i"
        );
        assert_eq!(
            plain(&marked("<https://a.example/x> and <ann@b.example>")),
            "https://a.example/x and ann@b.example"
        );
    }

    #[test]
    fn nobody_calls_a_whole_room() {
        for text in ["@room now", "`@room`", "[@room](https://a.example)", "```\n@room\n```"] {
            let text = marked(text);
            assert!(!formatted(&text).contains("@room") && !plain(&text).contains("@room"), "{text}");
        }
    }

    #[test]
    fn what_was_parted_within_a_tag_is_whole_in_both_messages() {
        assert_eq!(formatted("<strong>a <a href=\"https://a.ex"), "<strong>a </strong>");
        assert_eq!(formatted("ample/\">x</a> b</strong> c"), "x b c");
        assert_eq!(formatted("<strong><em>a</strong> b</em>"), "<strong><em>a</em></strong> b");
    }

    proptest! {
        #[test]
        fn every_message_of_an_answer_is_whole(text in "[a-z@<>&\"\\[\\]()*_`~:/. \n#>-]{0,200}", chars_max in 20_usize..60) {
            for message in split(&to_blocks(&text, &MatrixHtml), chars_max, CODE_MARKS) {
                let html = formatted(&message);
                let mut open = Vec::new();
                for piece in pieces(&html) {
                    match piece {
                        Piece::Open(_, name) => open.push(name),
                        Piece::Close(name) => prop_assert_eq!(open.pop(), Some(name)),
                        Piece::Text(text) => prop_assert!(!text.contains(['<', '>'])),
                    }
                }
                prop_assert!(open.is_empty());
                let _ = plain(&message);
            }
        }

        #[test]
        fn no_bytes_panic(text in "[<>/a=\" &;strongpre\n]{0,80}") {
            let _ = (formatted(&text), plain(&text));
        }
    }
}
