//! Addresses that do something when they are opened, such as `javascript:`: an item has none, whoever wrote it. Pages
//! and clients make links of what an item says, and not all of them look at where these lead.

use std::borrow::Cow;

use serde_json::Value;

/// Schemes whose addresses are code.
const CODE: [&str; 3] = ["javascript", "vbscript", "livescript"];
/// Documents within a `data:` address that may hold code.
const DOCUMENTS: [&str; 5] = ["text/html", "image/svg", "application/xhtml", "text/xml", "application/xml"];
/// Characters of the longest of these schemes, with its colon.
const SCHEME_CHARS_MAX: usize = 11;
/// Characters of the longest of these documents.
const DOCUMENT_CHARS_MAX: usize = 17;
/// Members that are read and not opened. `JavaScript: an introduction` is a title there; an address begins without a
/// space there, too.
const PROSE: [&str; 21] = [
    "abstract",
    "alternateName",
    "alternativeHeadline",
    "articleBody",
    "articleSection",
    "caption",
    "category",
    "content",
    "description",
    "disambiguatingDescription",
    "headline",
    "keywords",
    "name",
    "reviewBody",
    "slogan",
    "summary",
    "tags",
    "teaches",
    "text",
    "title",
    "transcript",
];

/// An item without the members and list entries that are such addresses, however deep; the same item where it has none.
pub(crate) fn without_active_addresses(item: &Value) -> Cow<'_, Value> {
    if !has_active(item, false) {
        return Cow::Borrowed(item);
    }
    let mut harmless = item.clone();
    remove_active(&mut harmless, false);
    Cow::Owned(harmless)
}

fn has_active(value: &Value, is_prose: bool) -> bool {
    match value {
        Value::String(text) => is_active(text, is_prose),
        Value::Array(entries) => entries.iter().any(|entry| has_active(entry, is_prose)),
        Value::Object(members) => members.iter().any(|(key, member)| has_active(member, holds_prose(key, is_prose))),
        _ => false,
    }
}

fn remove_active(value: &mut Value, is_prose: bool) {
    let is_address = |value: &Value, is_prose| value.as_str().is_some_and(|text| is_active(text, is_prose));
    match value {
        Value::Array(entries) => {
            entries.retain(|entry| !is_address(entry, is_prose));
            entries.iter_mut().for_each(|entry| remove_active(entry, is_prose));
        }
        Value::Object(members) => {
            members.retain(|key, member| !is_address(member, holds_prose(key, is_prose)));
            members.iter_mut().for_each(|(key, member)| remove_active(member, holds_prose(key, is_prose)));
        }
        _ => {}
    }
}

/// Whether a member is prose, within something that is or is not.
fn holds_prose(key: &str, is_within_prose: bool) -> bool {
    match key {
        // What JSON-LD writes around a text is of the member that it stands in.
        "@value" | "@list" | "@set" => is_within_prose,
        _ => key.rsplit(['/', '#', ':']).next().is_some_and(|name| PROSE.contains(&name)),
    }
}

/// Whether a browser would run something at this address.
fn is_active(text: &str, is_prose: bool) -> bool {
    // Browsers take tabs and line ends out of an address, wherever they are. WHATWG URL 4.4.
    let mut letters = text
        .chars()
        .filter(|letter| !matches!(letter, '\t' | '\n' | '\r'))
        .skip_while(|letter| letter.is_control() || letter.is_whitespace())
        .map(|letter| letter.to_ascii_lowercase())
        .peekable();
    // Nearly all values are told apart by their first letter.
    if !matches!(letters.peek(), Some('j' | 'v' | 'l' | 'd')) {
        return false;
    }
    let scheme: String = letters.by_ref().take(SCHEME_CHARS_MAX).take_while(|letter| *letter != ':').collect();
    let mut rest = letters.skip_while(|letter| !is_prose && letter.is_whitespace());
    match scheme.as_str() {
        "data" => {
            let document: String = rest.take(DOCUMENT_CHARS_MAX).collect();
            DOCUMENTS.iter().any(|known| document.starts_with(known))
        }
        scheme => CODE.contains(&scheme) && rest.next().is_some_and(|next| !next.is_whitespace()),
    }
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
            "javascript: alert(1)",
            &format!("{}javascript:x", " ".repeat(256)),
            &format!("java{}script:x", "\t".repeat(256)),
            "vbscript:x",
            "data:text/html,<script>x</script>",
            "data: text/html,<script>x</script>",
            &format!("data:{}text/html,x", " ".repeat(256)),
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
            "javascript",
            "javascript:",
            "javascript: ",
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

    #[test]
    fn prose_about_one_stays_where_prose_is_and_an_address_does_not() {
        let (title, address) = ("JavaScript: an introduction", "javascript:alert(1)");
        let prose = json!({
            "name": title,
            "https://schema.org/description": {"@language": "en", "@value": title},
            "schema:keywords": [title, "data: text/html and other types"],
            "hasPart": [{"headline": title}],
        });
        assert_eq!(*without_active_addresses(&prose), prose);
        let item = json!({"name": [address, title], "url": title, "text": {"url": title}, "@id": title});
        assert_eq!(*without_active_addresses(&item), json!({"name": [title], "text": {}}));
    }
}
