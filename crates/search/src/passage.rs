//! A section of a document as it was written, shortened at a sensible place: between blocks, never inside a code
//! block, a row of a table, an item of a list or a sentence.

use crate::limits::PASSAGE_BYTES_MAX;

/// A part of a section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Markdown.
    pub(crate) text: String,
    /// Whether something of the section stands behind it.
    pub(crate) is_cut: bool,
}

/// What a block is: where it may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Code,
    Table,
    List,
    Prose,
}

/// The blocks of a section that fit, from its beginning as far as these hold the best one by `worth`, else from the
/// best one on.
pub(crate) fn passage(markdown: &str, worth: &dyn Fn(&str) -> f32) -> Passage {
    let blocks = blocks(markdown);
    let mut best = 0;
    let worths: Vec<f32> = blocks.iter().map(|block| worth(block)).collect();
    worths.iter().enumerate().for_each(|(at, worth)| best = if *worth > worths[best] { at } else { best });
    // With the block behind the best one, which often goes on with it.
    let upto: usize = blocks.iter().take(best + 2).map(|block| block.len() + 2).sum();
    let first = match upto <= PASSAGE_BYTES_MAX {
        true => 0,
        // What leads a block in belongs to it.
        false if best > 0 && introduces(blocks[best - 1], blocks[best]) => best - 1,
        false => best,
    };
    let (mut text, mut at) = (if first > 0 { "…\n\n".to_owned() } else { String::new() }, first);
    while let Some(block) = blocks.get(at).filter(|block| at == first || text.len() + block.len() <= PASSAGE_BYTES_MAX)
    {
        if at == first && block.len() > PASSAGE_BYTES_MAX && kind(block) != BlockKind::Code {
            text.push_str(&cut(block));
            return Passage { text, is_cut: true };
        }
        if at > first {
            text.push_str("\n\n");
        }
        text.push_str(block);
        at += 1;
    }
    // A block that ends in a colon says nothing without the next one.
    if at < blocks.len() && at > first + 1 && blocks[at - 1].ends_with(':') {
        text.truncate(text.len() - blocks[at - 1].len());
        text.truncate(text.trim_end().len());
    }
    Passage { text, is_cut: at < blocks.len() }
}

/// Whether a block leads to the next one.
fn introduces(block: &str, next: &str) -> bool {
    block.ends_with(':') || (kind(next) == BlockKind::Code && kind(block) == BlockKind::Prose)
}

/// The blocks of a text: what blank lines part, with code between fences in one piece.
fn blocks(markdown: &str) -> Vec<&str> {
    let (mut blocks, mut start, mut end) = (Vec::new(), None, 0);
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let bare = line.trim();
        let opened = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, opened) {
            // A fence with a language opens; only a bare one closes.
            (Some(open), Some(mark)) if open == mark && bare.trim_start_matches(['`', '~']).is_empty() => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            _ => {}
        }
        if bare.is_empty() && fence.is_none() {
            if !followed_by_inset(&markdown[at + line.len()..], start.map(|from: usize| &markdown[from..end])) {
                blocks.extend(start.take().map(|from: usize| markdown[from..end].trim_end()));
            }
        } else {
            start.get_or_insert(at);
            end = at + line.len();
        }
        at += line.len();
    }
    blocks.extend(start.map(|from| markdown[from..end].trim_end()));
    blocks
}

/// Whether a list goes on behind a blank line with lines that are set in.
fn followed_by_inset(rest: &str, block: Option<&str>) -> bool {
    let is_list = block.is_some_and(|block| kind(block) == BlockKind::List);
    let next = rest.lines().find(|line| !line.trim().is_empty());
    is_list && next.is_some_and(|line| line.starts_with("  "))
}

fn kind(block: &str) -> BlockKind {
    let first = block.trim_start();
    let is_numbered = || {
        let digits = first.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && first[digits..].starts_with(['.', ')'])
    };
    match first.chars().next() {
        _ if first.starts_with("```") || first.starts_with("~~~") => BlockKind::Code,
        Some('|') => BlockKind::Table,
        Some('-' | '*' | '+') if first[1..].starts_with(' ') => BlockKind::List,
        _ if is_numbered() => BlockKind::List,
        _ => BlockKind::Prose,
    }
}

/// The beginning of a block that is longer than fits.
fn cut(block: &str) -> String {
    let head = &block[..block.floor_char_boundary(PASSAGE_BYTES_MAX)];
    let end = match kind(block) {
        BlockKind::Table | BlockKind::Code => head.rfind('\n'),
        BlockKind::List => last_item(head),
        BlockKind::Prose => [". ", "? ", "! ", ".\n"].iter().filter_map(|stop| head.rfind(stop)).max().map(|at| at + 1),
    };
    head[..end.unwrap_or(head.rfind(' ').unwrap_or(head.len()))].trim_end().to_owned()
}

/// Where the last item of a list begins that is not whole.
fn last_item(head: &str) -> Option<usize> {
    let mut starts = head.match_indices('\n').map(|(at, _)| at + 1);
    let is_item = |at: &usize| kind(&head[*at..]) == BlockKind::List && !head[*at..].starts_with(' ');
    starts.rfind(is_item).filter(|at| *at > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn about(word: &'static str) -> impl Fn(&str) -> f32 {
        move |block| block.matches(word).count() as f32
    }

    #[test]
    fn a_short_section_is_told_whole() {
        let text = "Do this:\n\n```toml\n[a]\n\nb = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n\n  more\n- two\n\nEnd.";
        let told = passage(text, &about("End"));
        assert_eq!(told, Passage { text: text.to_owned(), is_cut: false });
        assert_eq!(blocks(text).len(), 5, "{:?}", blocks(text));
    }

    #[test]
    fn a_long_section_is_cut_between_blocks_around_what_was_asked_for() {
        let filler = "Words of no matter. ".repeat(PASSAGE_BYTES_MAX / 40);
        let code = "```sh\nneedle --all\n\nneedle --again\n```";
        let text = format!("First.\n\n{filler}\n\n{filler}\n\nRun it:\n\n{code}\n\n{filler}\n\n{filler}");
        let told = passage(&text, &about("needle"));
        assert!(told.text.starts_with("…\n\nRun it:") && told.text.contains(code) && told.is_cut, "{}", told.text);
        let early = passage(&text, &about("First"));
        assert!(early.text.starts_with("First.") && early.is_cut && !early.text.contains("Run it"), "{}", early.text);
    }

    #[test]
    fn a_block_that_is_too_long_ends_with_a_sentence_an_item_or_a_row() {
        let long = |piece: &str| piece.repeat(2 * PASSAGE_BYTES_MAX / piece.len());
        assert!(passage(&long("It is so. "), &about("x")).text.ends_with("so."));
        assert!(passage(&long("- an item of it\n"), &about("x")).text.ends_with("of it"));
        assert!(passage(&long("| a | row |\n"), &about("x")).text.ends_with("row |"));
        let code = format!("```\n{}```", long("line\n"));
        assert_eq!(passage(&code, &about("x")).text, code, "code is told whole");
    }

    proptest! {
        #[test]
        fn any_section_has_a_passage(text in "(```|~~~|- |1\\. |\\| a \\||word|é|:|\n|\n\n| ){0,80}") {
            let told = passage(&text, &about("word"));
            prop_assert!(told.text.matches("```").count() <= text.matches("```").count());
        }
    }
}
