//! Words of identifiers and paths.

/// The words of an identifier in lower case: `listPets`, `list_pets` and `pets.list` have two.
pub(super) fn words(identifier: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut was_lower, mut was_upper) = (String::new(), false, false);
    let mut rest = identifier.chars().peekable();
    while let Some(c) = rest.next() {
        // The last capital of a row of them belongs to the next word: `APIKeys`.
        let is_next = was_upper && rest.peek().is_some_and(|next| next.is_lowercase() && *next != 's');
        let ends = !c.is_alphanumeric() || (c.is_uppercase() && (was_lower || is_next));
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        was_upper = c.is_uppercase();
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// A segment without the ending that names the format, which is the service's matter.
pub(super) fn without_format(segment: &str) -> &str {
    segment.strip_suffix(".json").filter(|name| !name.is_empty()).unwrap_or(segment)
}

/// The plural of an English noun, well enough for a path.
pub(super) fn plural(noun: &str) -> String {
    let before_y = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match before_y {
        Some(stem) => format!("{stem}ies"),
        None if ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// The singular of an English noun, well enough to look it up.
pub(super) fn singular(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("ies") {
        return format!("{stem}y");
    }
    // `addresses` and `statuses`, but not `databases` and `purchases`.
    let long = noun.strip_suffix("es").filter(|stem| {
        let is_long = |end: &&str| stem.ends_with(*end) && stem.len() > end.len() + 1;
        ["ss", "us", "ias", "x", "zz", "ch", "sh"].iter().any(is_long)
    });
    let stem = long.or_else(|| noun.strip_suffix('s').filter(|stem| !stem.ends_with('s')));
    stem.unwrap_or(noun).to_owned()
}

/// A text as one word of letters, digits and `_`: `X-Api Key` is `x_api_key`. May be empty.
pub(super) fn snake(text: &str) -> String {
    words(text).join("_").chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

/// A name that may stand in braces: itself if it has letters, digits and `_` alone, else made so.
pub(super) fn named(name: &str) -> String {
    let is_plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let plain = if is_plain { name.to_owned() } else { snake(name) };
    if plain.is_empty() { "value".to_owned() } else { plain }
}

/// A text on one line, without control characters, cut at `most` characters. Without marks of direction
/// either, which would show a reviewer other text than there is.
pub(super) fn line(text: &str, most: usize) -> String {
    let shown = text.chars().filter(|c| !is_direction(*c));
    let plain: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Marks, embeddings, overrides and isolates of direction. Unicode, standard annex 9.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text as a sentence: on one line, with a capital and a full stop. `None`: there is nothing.
pub(super) fn sentence(text: &str, most: usize) -> Option<String> {
    let line = line(text, most);
    let mut rest = line.chars();
    let first = rest.next()?;
    let stop = if line.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    Some(format!("{}{}{stop}", first.to_uppercase(), rest.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_fall_into_words() {
        for (identifier, expected) in [
            ("listPets", vec!["list", "pets"]),
            ("pets_find-byID", vec!["pets", "find", "by", "id"]),
            ("getV2Users", vec!["get", "v2", "users"]),
            ("APIKeys.rotate", vec!["api", "keys", "rotate"]),
            ("listURLs", vec!["list", "urls"]),
            ("", vec![]),
            ("--", vec![]),
        ] {
            assert_eq!(words(identifier), expected, "{identifier}");
        }
    }

    #[test]
    fn nouns_have_two_numbers() {
        for (one, many) in [("order", "orders"), ("query", "queries"), ("search", "searches"), ("key", "keys")] {
            assert_eq!((plural(one).as_str(), singular(many).as_str()), (many, one));
        }
        assert_eq!(singular("address"), "address");
        for (many, one) in
            [("databases", "database"), ("purchases", "purchase"), ("statuses", "status"), ("uses", "use")]
        {
            assert_eq!(singular(many), one);
        }
    }

    #[test]
    fn a_sentence_is_one_line_with_an_end() {
        assert_eq!(sentence("list\n all\u{7} pets ", 50).as_deref(), Some("List all pets."));
        assert_eq!(sentence("abcdef", 3).as_deref(), Some("Abc…"));
        assert_eq!(sentence(" \n", 3), None);
        assert_eq!(line("pay \u{202e}ecila\u{2069} now", 50), "pay ecila now");
    }
}
