//! Feeds carry HTML in their texts; what is searched is its words.

/// The text of an HTML fragment: no tags, no scripts, entities resolved, white space collapsed.
pub(super) fn plain_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        push_text(&mut out, &rest[..at]);
        rest = match rest.as_bytes()[at] {
            b'<' => tag(&rest[at..], &mut out),
            _ => entity(&rest[at..], &mut out),
        };
    }
    push_text(&mut out, rest);
    out.truncate(out.trim_end().len());
    out
}

/// What a text without a title is called: its first sentence, or as many of its first words as a title may have.
pub(super) fn title_of(text: &str) -> Option<String> {
    const CHARS: usize = 80;
    let text = text.trim();
    let end = text.char_indices().nth(CHARS).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    // A point needs a space behind it: `v1.2` ends no sentence.
    let sentence = head.find(". ").or_else(|| head.find(['!', '?', '\n'])).map(|at| head[..=at].trim_end());
    let whole = || if end == text.len() { head.to_owned() } else { format!("{}…", words(head)) };
    Some(sentence.map_or_else(whole, str::to_owned)).filter(|title| !title.is_empty())
}

/// A text without a last word that may be cut off.
fn words(text: &str) -> &str {
    text.rfind(char::is_whitespace).map_or(text, |at| text[..at].trim_end())
}

fn push_text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c.is_whitespace() {
            false => out.push(c),
            true if out.is_empty() || out.ends_with(' ') => {}
            true => out.push(' '),
        }
    }
}

/// Passes over a tag, a comment, or a whole script or style. Returns what follows.
fn tag<'t>(text: &'t str, out: &mut String) -> &'t str {
    // `a < b` is no tag.
    let is_tag = text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
    if !is_tag {
        out.push('<');
        return &text[1..];
    }
    if text.starts_with("<!--") {
        return after(text, "-->");
    }
    for (open, close) in [("<script", "</script"), ("<style", "</style")] {
        if text.get(..open.len()).is_some_and(|start| start.eq_ignore_ascii_case(open)) {
            return after(after_ignoring_case(text, close), ">");
        }
    }
    if !is_inline(text) {
        push_text(out, " ");
    }
    after(text, ">")
}

/// Tags inside of a word or sentence leave no space.
fn is_inline(tag: &str) -> bool {
    let name = tag[1..].trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    ["a", "b", "i", "u", "em", "strong", "span", "code", "sub", "sup", "small", "mark", "abbr", "font"]
        .iter()
        .any(|inline| inline.eq_ignore_ascii_case(&name[..end]))
}

fn after<'t>(text: &'t str, end: &str) -> &'t str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

fn after_ignoring_case<'t>(text: &'t str, end: &str) -> &'t str {
    let found = text.as_bytes().windows(end.len()).position(|part| part.eq_ignore_ascii_case(end.as_bytes()));
    found.map_or("", |at| &text[at..])
}

/// Resolves `&name;` and `&#n;`; anything else is an ampersand. Returns what follows.
fn entity<'t>(text: &'t str, out: &mut String) -> &'t str {
    const LONGEST: usize = 10;
    // Names are short: without a bound, every ampersand of a long text would be looked behind to its end.
    let end = text.bytes().take(LONGEST).position(|b| b == b';');
    match end.and_then(|end| Some((end, resolve_entity(&text[1..end])?))) {
        Some((end, c)) => {
            push_text(out, c.encode_utf8(&mut [0; 4]));
            &text[end + 1..]
        }
        None => {
            out.push('&');
            &text[1..]
        }
    }
}

/// The character that a reference names: a number, or one of the names that feeds use.
pub fn resolve_entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| !c.is_control() || c.is_whitespace());
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "eacute" => 'é',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "szlig" => 'ß',
        "deg" => '°',
        "frac12" => '½',
        "frac14" => '¼',
        "frac34" => '¾',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tags_go_and_words_stay() {
        assert_eq!(
            plain_text("<p>One&nbsp;<b>t</b>wo</p><p>3 &lt; 4 &amp; 5 < 6 &c.</p>"),
            "One two 3 < 4 & 5 < 6 &c."
        );
        assert_eq!(plain_text("a<script>var x = '<b>';</SCRIPT >b<!-- c -->d"), "abd");
        assert_eq!(plain_text("&#233;&#x20AC;&#0;&#xD800;"), "é€&#0;&#xD800;");
        assert_eq!(plain_text("open <a href="), "open");
    }

    proptest! {
        #[test]
        fn any_text_ends(html in "([<>&;#!/-]|a|script|é| ){0,100}") {
            plain_text(&html);
        }
    }
}
