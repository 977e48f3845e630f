//! What a line is by its marks, told from the line alone.

/// What a line is.
pub(super) enum Block {
    Heading,
    Item,
    Quote,
}

/// Whether the beginning of a line may still become a mark.
pub(super) fn may_be_mark(held: &str) -> bool {
    let rest = held.trim_start_matches(' ');
    let Some(first) = rest.chars().next() else { return true };
    let is_one = |mark: char| rest.chars().all(|c| c == mark);
    match first {
        '#' => rest.len() <= 6 && is_one('#'),
        '-' | '*' | '_' | '`' | '~' => is_one(first),
        '+' | '>' => rest.len() == 1,
        _ => false,
    }
}

/// What a line is by its mark, and what is behind that.
pub(super) fn block(line: &str) -> Option<(Block, &str)> {
    let behind = line.trim_start_matches('#');
    if behind.len() < line.len() {
        return behind.strip_prefix(' ').map(|rest| (Block::Heading, rest));
    }
    if let Some(rest) = line.strip_prefix('>') {
        return Some((Block::Quote, rest.strip_prefix(' ').unwrap_or(rest)));
    }
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    item.map(|rest| (Block::Item, rest))
}

/// The mark and the length of a fence that a line begins with, and what is behind it. Backticks with another one behind
/// them are code within a line.
pub(super) fn fence(line: &str) -> Option<(char, usize, &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let behind = line.trim_start_matches(mark);
    let length = line.len() - behind.len();
    let is_within_line = mark == '`' && behind.contains(mark);
    (length >= 3 && !is_within_line).then_some((mark, length, behind))
}

/// Whether a line is nothing but a row of marks, which divides.
pub(super) fn is_divider(line: &str) -> bool {
    line.len() >= 3 && ["-", "*", "_"].iter().any(|mark| line.replace(mark, "").is_empty())
}

/// The name and the address of a link that is whole.
pub(super) fn link_of(held: &str) -> Option<(&str, &str)> {
    let (name, address) = held.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    let open = address.matches('(').count();
    let closed = address.matches(')').count();
    (open == closed).then(|| (name, address.split_whitespace().next().unwrap_or_default()))
}

/// A name without the marks in it.
pub(super) fn bare(name: &str) -> String {
    name.replace(['*', '`'], "").replace("\\[", "[").replace("\\]", "]")
}
