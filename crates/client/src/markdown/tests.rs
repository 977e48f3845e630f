//! What a terminal shows of markdown.

use proptest::prelude::*;

use super::*;

/// The text of whole lines.
fn plain(text: &str) -> String {
    let ended = if text.ends_with('\n') { "" } else { "\n" };
    Rendering::new(false).push(&format!("{text}{ended}"))
}

fn styled(text: &str) -> String {
    Rendering::new(true).push(text)
}

#[test]
fn marks_are_taken_away() {
    for (written, shown) in [
        ("# Soups\n", "Soups\n"),
        ("Two **fine** *soups*, `now`.\n", "Two fine soups, now.\n"),
        ("- one\n  - two\n", "• one\n  • two\n"),
        ("1. **[Leek](https://a.example/x)**: 3 EUR\n", "1. Leek (https://a.example/x): 3 EUR\n"),
        ("> so it is\n", "│ so it is\n"),
        ("---\n", "────────────────────────────────────────\n"),
        ("```rust\nlet a = *b;\n```\nend\n", "  let a = *b;\nend\n"),
        ("![a cat](cat.png)\n", "a cat (cat.png)\n"),
        ("<https://a.example> [https://a.example](https://a.example)\n", "<https://a.example> https://a.example\n"),
        ("**Leek**\n", "Leek\n"),
        ("- *x*\n", "• x\n"),
        ("_a_\n*b*\n", "a\nb\n"),
        ("## **A** b\n", "A b\n"),
        ("```x``` and\nb\n", "x and\nb\n"),
        ("```\na\n```b\n```  \nc\n", "  a\n  ```b\nc\n"),
        ("~~~a`b\nc\n~~~\nd\n", "  c\nd\n"),
        (r"\*no\* and \[x\]", "*no* and [x]"),
        ("[wiki](https://a.example/b_(c)_d)\n", "wiki (https://a.example/b_(c)_d)\n"),
    ] {
        assert_eq!(plain(written).trim_end(), shown.trim_end(), "{written:?}");
    }
}

#[test]
fn what_is_no_mark_stays() {
    for text in [
        "2 * 3 * 4\n",
        "snake_case_name\n",
        "a [b] c\n",
        "#hash\n",
        "-5 degrees\n",
        "| a | b |\n",
        "wow!\n",
        "a*b\n",
        "2 *\n3 **\n",
        "**\nb\n",
    ] {
        assert_eq!(plain(text), text);
    }
}

#[test]
fn styles_end_with_their_line() {
    assert_eq!(styled("# A\nb\n"), "\u{1b}[1mA\u{1b}[22m\nb\n");
    assert_eq!(styled("**a\nb\n"), "\u{1b}[1ma\u{1b}[22m\nb\n");
    assert_eq!(styled("**a**\n"), "\u{1b}[1ma\u{1b}[22m\n");
    // Bold words end within a heading, and the heading goes on.
    assert_eq!(styled("# **A** b\n"), "\u{1b}[1m\u{1b}[1mA\u{1b}[22m\u{1b}[1m b\u{1b}[22m\n");
    assert_eq!(styled("`a\n"), "\u{1b}[36ma\u{1b}[39m\n");
    // An address ends faint, and bold goes on.
    let link = styled("**[a](b) c**.\n");
    assert_eq!(link, "\u{1b}[1m\u{1b}[4ma\u{1b}[24m \u{1b}[2m(b)\u{1b}[22m\u{1b}[1m c\u{1b}[22m.\n");
}

#[test]
fn words_are_shown_before_their_line_ends() {
    let mut rendering = Rendering::new(false);
    assert_eq!(rendering.push("Thinking"), "Thinking");
    assert_eq!(rendering.push(" of [soup"), " of ");
    assert!(!rendering.held.is_empty());
    assert_eq!(rendering.push("](https://a.example)"), "soup (https://a.example)");
}

#[test]
fn a_link_that_does_not_end_is_held_to_a_bound() {
    let mut rendering = Rendering::new(false);
    assert_eq!(rendering.push(&format!("[{}", "a".repeat(HELD_CHARS_MAX - 1))), "");
    assert_eq!(rendering.push("b").len(), HELD_CHARS_MAX + 1);
    let mut fence = Rendering::new(false);
    assert_eq!(fence.push(&format!("```{}", "a".repeat(HELD_CHARS_MAX - 3))), "");
    assert_eq!(fence.push("b").len(), HELD_CHARS_MAX - 2);
}

proptest! {
    #[test]
    fn pieces_make_no_difference(text in "[a-c *_`#>\\-\\[\\]()!\\\\\n~]{0,60}", at in 0_usize..60) {
        let cut = text.char_indices().map(|(i, _)| i).nth(at).unwrap_or(text.len());
        let mut rendering = Rendering::new(true);
        let shown = format!("{}{}", rendering.push(&text[..cut]), rendering.push(&text[cut..]));
        prop_assert_eq!(shown, styled(&text));
    }

    #[test]
    fn letters_are_never_lost(text in "[a-c *_#>\\-\\[\\]!\n]{0,60}") {
        let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).collect::<String>();
        prop_assert_eq!(letters(&plain(&text)), letters(&text));
    }
}
