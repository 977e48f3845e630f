//! Markdown in the marks of another language, such as that of a chat.

use comrak::Arena;
use comrak::nodes::{AstNode, ListType, NodeValue};

use super::words::names_another_host;
use super::{options, tame};
use crate::clean;
use crate::limits::{MARKDOWN_BYTES_MAX, PARSE_STEPS_256_MAX};

/// The marks of a language. What it is given as `inner` is marked up already.
pub trait Marks {
    /// Words as they are: nothing in them may mean anything, least of all mention somebody.
    fn text(&self, text: &str) -> String;
    /// Important words.
    fn strong(&self, inner: &str) -> String;
    /// Stressed words.
    fn emphasis(&self, inner: &str) -> String;
    /// Words that are struck out.
    fn struck(&self, inner: &str) -> String;
    /// A piece of code within a line.
    fn code(&self, literal: &str) -> String;
    /// Lines of code.
    fn code_block(&self, literal: &str) -> String;
    /// A link, whose address is http, https or mailto. Its words name no other host: [`to_blocks`] sees to that.
    fn link(&self, inner: &str, url: &str) -> String;
    /// Words of somebody else.
    fn quote(&self, inner: &str) -> String {
        inner.split('\n').map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
    }
    /// A heading.
    fn heading(&self, inner: &str) -> String {
        self.strong(inner)
    }
}

/// Markdown as blocks with these marks, to be joined by blank lines: paragraphs, headings, lists, quotes, code.
///
/// Never fails: text that is too long or too rich to parse is shown as it was written.
pub fn to_blocks(markdown: &str, marks: &dyn Marks) -> Vec<String> {
    let text = clean::text(markdown);
    let blocks = parsed(&text, marks).unwrap_or_else(|| text.split("\n\n").map(|block| marks.text(block)).collect());
    blocks.into_iter().filter(|block| !block.trim().is_empty()).collect()
}

fn parsed(markdown: &str, marks: &dyn Marks) -> Option<Vec<String>> {
    if markdown.len() > MARKDOWN_BYTES_MAX {
        return None;
    }
    let (arena, options) = (Arena::new(), options());
    let steps = std::cell::Cell::new(0);
    let too_long = || {
        steps.set(steps.get() + 1);
        steps.get() > PARSE_STEPS_256_MAX
    };
    let root = comrak::try_parse_document(&arena, markdown, &options, &too_long).ok()?;
    // What is nested too deep is cut, so that recursion is bounded.
    tame(root, &arena)?;
    Some(root.children().map(|node| block(node, marks)).collect())
}

fn block<'a>(node: &'a AstNode<'a>, marks: &dyn Marks) -> String {
    match &node.data().value {
        NodeValue::Heading(_) => marks.heading(&inline(node, marks)),
        NodeValue::CodeBlock(code) => marks.code_block(code.literal.trim_end_matches('\n')),
        NodeValue::HtmlBlock(html) => marks.text(html.literal.trim_end()),
        NodeValue::BlockQuote => marks.quote(&blocks(node, marks).join("\n\n")),
        NodeValue::List(list) => {
            let number = |at: usize| match list.list_type {
                ListType::Bullet => "• ".to_owned(),
                ListType::Ordered => format!("{}. ", list.start + at),
            };
            let items = node.children().enumerate().map(|(at, item)| list_item(&number(at), item, marks));
            items.collect::<Vec<_>>().join("\n")
        }
        NodeValue::Table(_) => {
            let rows: Vec<String> = node.children().map(|row| cells(row, marks)).collect();
            rows.join("\n")
        }
        NodeValue::ThematicBreak => "———".to_owned(),
        _ if node.children().any(|child| child.data().value.block()) => blocks(node, marks).join("\n"),
        _ => inline(node, marks),
    }
}

fn blocks<'a>(node: &'a AstNode<'a>, marks: &dyn Marks) -> Vec<String> {
    node.children().map(|child| block(child, marks)).collect()
}

/// An item, whose further lines stand below its words.
fn list_item<'a>(mark: &str, item: &'a AstNode<'a>, marks: &dyn Marks) -> String {
    let done = match &item.data().value {
        NodeValue::TaskItem(task) if task.symbol.is_some() => "☑ ",
        NodeValue::TaskItem(_) => "☐ ",
        _ => "",
    };
    let words = blocks(item, marks).join("\n");
    format!("{mark}{done}{}", words.replace('\n', "\n    "))
}

fn cells<'a>(row: &'a AstNode<'a>, marks: &dyn Marks) -> String {
    let cells: Vec<String> = row.children().map(|cell| inline(cell, marks)).collect();
    let words = cells.join(" | ");
    match &row.data().value {
        NodeValue::TableRow(true) => marks.strong(&words),
        _ => words,
    }
}

fn inline<'a>(node: &'a AstNode<'a>, marks: &dyn Marks) -> String {
    node.children().map(|child| piece(child, marks)).collect()
}

fn piece<'a>(node: &'a AstNode<'a>, marks: &dyn Marks) -> String {
    match &node.data().value {
        NodeValue::Text(text) => marks.text(text),
        NodeValue::Code(code) => marks.code(&code.literal),
        NodeValue::HtmlInline(html) => marks.text(html),
        NodeValue::SoftBreak | NodeValue::LineBreak => "\n".to_owned(),
        NodeValue::Strong => marks.strong(&inline(node, marks)),
        NodeValue::Emph => marks.emphasis(&inline(node, marks)),
        NodeValue::Strikethrough => marks.struck(&inline(node, marks)),
        // Relative to nothing, and in some languages a mark of its own: `<!channel>` calls everybody in Slack.
        NodeValue::Link(link) if is_absolute(&link.url) => link_that_shows(node, &link.url, marks),
        _ => inline(node, marks),
    }
}

/// A link. Who reads the name of one host must see that it leads to another: there the address is the link, behind the
/// words.
fn link_that_shows<'a>(node: &'a AstNode<'a>, url: &str, marks: &dyn Marks) -> String {
    let inner = inline(node, marks);
    match names_another_host(&bare_words(node), url) {
        true => format!("{} ({})", inner.trim_end(), marks.link(&marks.text(url), url)),
        false => marks.link(&inner, url),
    }
}

/// What is read of a node, without marks.
fn bare_words<'a>(node: &'a AstNode<'a>) -> String {
    let of = |node: &'a AstNode<'a>| match &node.data().value {
        NodeValue::Text(text) => text.to_string(),
        NodeValue::Code(code) => code.literal.clone(),
        NodeValue::HtmlInline(html) => html.clone(),
        NodeValue::SoftBreak | NodeValue::LineBreak => " ".to_owned(),
        _ => String::new(),
    };
    node.descendants().map(of).collect()
}

fn is_absolute(url: &str) -> bool {
    let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    ["http://", "https://", "mailto:"].into_iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Marks for Plain {
        fn text(&self, text: &str) -> String {
            text.replace('<', "&lt;")
        }
        fn strong(&self, inner: &str) -> String {
            format!("*{inner}*")
        }
        fn emphasis(&self, inner: &str) -> String {
            format!("_{inner}_")
        }
        fn struck(&self, inner: &str) -> String {
            format!("~{inner}~")
        }
        fn code(&self, literal: &str) -> String {
            format!("`{literal}`")
        }
        fn code_block(&self, literal: &str) -> String {
            format!("```\n{literal}\n```")
        }
        fn link(&self, inner: &str, url: &str) -> String {
            format!("[{inner}|{url}]")
        }
    }

    #[test]
    fn every_kind_of_block_has_its_marks() {
        let text = "# Soup\n\nA **bold** _word_ and `code` ~~gone~~ <!channel>.\n\n- one\n  - two\n- three\n\n\
                    3. x\n4. y\n\n> said\n> twice\n\n```\nlet x;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n\
                    [here](https://a.example) [bad](javascript:x)";
        let blocks = to_blocks(text, &Plain);
        assert_eq!(
            blocks,
            [
                "*Soup*",
                "A *bold* _word_ and `code` ~gone~ &lt;!channel>.",
                "• one\n    • two\n• three",
                "3. x\n4. y",
                "> said\n> twice",
                "```\nlet x;\n```",
                "*a | b*\n1 | 2",
                "———",
                "[here|https://a.example] bad",
            ]
        );
        assert!(to_blocks("\n \n", &Plain).is_empty());
    }

    #[test]
    fn a_label_that_names_another_host_does_not_hide_where_a_link_leads() {
        let evil = "https://evil.example/x";
        for label in ["https://bank.example/login", "see **bank.example**, now", "bank.**example**", "`bank.example`"] {
            let marked = to_blocks(&format!("[{label}]({evil})"), &Plain).join("\n");
            assert!(marked.ends_with(&format!(" ([{evil}|{evil}])")), "{marked}");
        }
        for url in ["https://bank.example@evil.example", "https://bank.example:x@evil.example"] {
            assert!(to_blocks(&format!("[bank.example]({url})"), &Plain).join("").ends_with(&format!("|{url}])")));
        }
        for (label, url) in [("A.Example", "https://a.example/x"), ("a@b.example", "mailto:a@b.example")] {
            assert_eq!(to_blocks(&format!("[{label}]({url})"), &Plain), [format!("[{label}|{url}]")]);
        }
    }

    #[test]
    fn only_absolute_addresses_are_links() {
        for address in ["!channel", "@U1", "#C1", "/a", "a", "//a.example", "?x", "ht tp://a.example"] {
            assert_eq!(to_blocks(&format!("[here](<{address}>)"), &Plain), ["here"], "{address}");
        }
        for address in ["https://a.example", "HTTP://a.example", "mailto:a@b.example"] {
            assert_eq!(to_blocks(&format!("[here]({address})"), &Plain), [format!("[here|{address}]")]);
        }
    }
}
