//! Addresses that do something when they are opened, such as `javascript:`: an item has none, whoever wrote it. Pages
//! and clients make links of what an item says, and not all of them look at where these lead.

use std::borrow::Cow;

use serde_json::Value;

/// Schemes whose addresses are code.
const CODE: [&str; 3] = ["javascript:", "vbscript:", "livescript:"];
/// Documents within an address that may hold code.
const DOCUMENTS: [&str; 5] =
    ["data:text/html", "data:image/svg", "data:application/xhtml", "data:text/xml", "data:application/xml"];
/// Characters of a value that are looked at: more than any of these beginnings has, with room for what browsers skip.
const CHARS_LOOKED_AT: usize = 256;

/// An item without the members and list entries that are such addresses, however deep; the same item where it has none.
pub(crate) fn without_active_addresses(item: &Value) -> Cow<'_, Value> {
    if !has_active(item) {
        return Cow::Borrowed(item);
    }
    let mut harmless = item.clone();
    remove_active(&mut harmless);
    Cow::Owned(harmless)
}

fn has_active(value: &Value) -> bool {
    match value {
        Value::String(text) => is_active(text),
        Value::Array(entries) => entries.iter().any(has_active),
        Value::Object(members) => members.values().any(has_active),
        _ => false,
    }
}

fn remove_active(value: &mut Value) {
    let is_address = |value: &Value| value.as_str().is_some_and(is_active);
    match value {
        Value::Array(entries) => {
            entries.retain(|entry| !is_address(entry));
            entries.iter_mut().for_each(remove_active);
        }
        Value::Object(members) => {
            members.retain(|_, member| !is_address(member));
            members.values_mut().for_each(remove_active);
        }
        _ => {}
    }
}

/// Whether a browser would run something at this address. `JavaScript: The Good Parts` is a title: what follows the
/// colon of an address is no space.
fn is_active(text: &str) -> bool {
    // Nearly all values are told apart by their first letter.
    let mut looked_at = text.chars().take(CHARS_LOOKED_AT).skip_while(|letter| is_skipped_first(*letter));
    let Some(first) = looked_at.next().map(|letter| letter.to_ascii_lowercase()) else { return false };
    if !matches!(first, 'j' | 'v' | 'l' | 'd') {
        return false;
    }
    // Browsers take tabs and line ends out of an address, wherever they are. WHATWG URL 4.4.
    let rest =
        looked_at.filter(|letter| !matches!(letter, '\t' | '\n' | '\r')).map(|letter| letter.to_ascii_lowercase());
    let plain: String = std::iter::once(first).chain(rest).collect();
    let follows = |scheme: &&str| plain.strip_prefix(scheme).and_then(|rest| rest.chars().next());
    CODE.iter().filter_map(follows).any(|next| !next.is_whitespace())
        || DOCUMENTS.iter().any(|document| plain.starts_with(document))
}

/// Control characters and spaces before an address, which browsers pass over.
fn is_skipped_first(letter: char) -> bool {
    letter <= ' '
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_runs_when_it_is_opened_is_left_out_however_it_is_written() {
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert('a b')",
            " \u{1}javascript:x",
            "java\nscript\t:x",
            "vbscript:x",
            "data:text/html,<script>x</script>",
            "data:image/svg+xml;base64,AAAA",
        ] {
            let item =
                json!({"name": "a", "url": address, "offers": [{"url": address}], "sameAs": [address, "https://b"]});
            let expected = json!({"name": "a", "offers": [{}], "sameAs": ["https://b"]});
            assert_eq!(*without_active_addresses(&item), expected, "{address:?}");
        }
    }

    #[test]
    fn what_only_looks_like_one_stays_as_it_is() {
        for text in [
            "JavaScript: The Good Parts",
            "javascript",
            "javascript:",
            "https://a.example/javascript:x",
            "data:image/png;base64,AAAA",
            "data protection",
            "about javascript:x",
            "",
        ] {
            let item = json!({"name": text, "url": text});
            assert!(matches!(without_active_addresses(&item), Cow::Borrowed(_)), "{text:?}");
        }
    }
}
