//! Markdown as plain sentences, for places that show text as it is.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::options;
use crate::clean;
use crate::limits::{MARKDOWN_BYTES_MAX, NODES_MAX, PARSE_STEPS_256_MAX};

/// The words of markdown on one line: without marks, addresses and line ends, and a full stop behind what stood on a
/// line of its own.
///
/// Never fails: text that is too long or too rich to parse stays as it is.
pub fn to_plain(markdown: &str) -> String {
    let text = clean::text(markdown);
    words(&text).unwrap_or_else(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn words(markdown: &str) -> Option<String> {
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
    let mut said = String::with_capacity(markdown.len());
    let mut open: Vec<Step<'_>> = vec![Step::Into(root)];
    let mut nodes = 0;
    while let Some(step) = open.pop() {
        nodes += 1;
        // Each node is visited twice, on the way in and behind its children.
        if nodes > 2 * NODES_MAX {
            return None;
        }
        match step {
            Step::Into(node) => {
                say(node, &mut said);
                open.push(Step::Behind(node));
                open.extend(node.reverse_children().map(Step::Into));
            }
            Step::Behind(node) => end(node, &mut said),
        }
    }
    Some(said.split_whitespace().collect::<Vec<_>>().join(" "))
}

enum Step<'a> {
    Into(&'a AstNode<'a>),
    Behind(&'a AstNode<'a>),
}

fn say<'a>(node: &'a AstNode<'a>, said: &mut String) {
    match &node.data().value {
        NodeValue::Text(text) => said.push_str(text),
        NodeValue::Code(code) => said.push_str(&code.literal),
        NodeValue::CodeBlock(code) => said.push_str(&code.literal),
        NodeValue::SoftBreak | NodeValue::LineBreak => said.push(' '),
        _ => {}
    }
}

/// What stood alone ends as a sentence does, so that the next one does not run into it.
fn end<'a>(node: &'a AstNode<'a>, said: &mut String) {
    let stop = match &node.data().value {
        NodeValue::Paragraph | NodeValue::Heading(_) | NodeValue::CodeBlock(_) | NodeValue::TableRow(_) => '.',
        NodeValue::TableCell => ',',
        _ => return,
    };
    let bare = said.trim_end();
    let kept = if stop == '.' { bare.trim_end_matches(',') } else { bare };
    said.truncate(kept.len());
    let is_open = said.chars().next_back().is_some_and(|last| !matches!(last, '.' | '!' | '?' | ':' | ';' | '…' | ','));
    if is_open {
        said.push(stop);
    }
    said.push(' ');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_are_gone_and_sentences_stay() {
        for (markdown, plain) in [
            ("**12** recipes fit. Best match: [Soup](https://a.example/(x)).", "12 recipes fit. Best match: Soup."),
            ("# Title\n\nWords\nhere\n\n- one\n- *two*!\n", "Title. Words here. one. two!"),
            ("Use `cargo test`.\n\n```sh\nls -l\n```", "Use cargo test. ls -l."),
            ("| a | b |\n|---|---|\n| 1 | 2 |", "a, b. 1, 2."),
            ("snake_case and 2 * 3 and a < b & c", "snake_case and 2 * 3 and a < b & c."),
            ("", ""),
        ] {
            assert_eq!(to_plain(markdown), plain, "{markdown}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "\\PC{0,200}|[*_`\\[\\]()#|>\n -]{0,80}") {
            prop_assert!(!to_plain(&text).contains('\n'));
        }
    }
}
