//! What an item of a site may say of itself. Its id is believed on its own site only: elsewhere it would take the
//! place of somebody else's item.

use serde_json::Value;
use url::Url;

use forecourt_loaders::item::first_text;

/// Members that are links.
const LINKS: &[&str] = &["url", "image", "thumbnailUrl", "contentUrl"];

/// An item as it is taken from a document: its links made whole, and an id under that document where it claims one of
/// another site.
pub(crate) fn believed(mut item: Value, document: &Url) -> Value {
    make_links_whole(&mut item, document);
    let Some(id) = first_text(&item, &["@id", "url"]).map(str::to_owned) else { return item };
    if let Value::Object(fields) = &mut item
        && !is_own(&id, document)
    {
        fields.insert("@id".to_owned(), format!("{document}#{id}").into());
    }
    item
}

fn is_own(id: &str, document: &Url) -> bool {
    Url::parse(id).is_ok_and(|url| url.origin() == document.origin() && url.origin().is_tuple())
}

/// Relative links of the item itself lead where the document's do.
fn make_links_whole(item: &mut Value, document: &Url) {
    for key in LINKS {
        let Some(value) = item.get_mut(*key) else { continue };
        let links = match value {
            Value::Array(links) => links.iter_mut().collect(),
            one => vec![one],
        };
        for link in links {
            if let Value::String(link) = link
                && Url::parse(link) == Err(url::ParseError::RelativeUrlWithoutBase)
                && let Ok(whole) = document.join(link.trim())
            {
                *link = whole.into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_id_is_believed_at_home() {
        let document = Url::parse("https://e.org/feed.xml").unwrap();
        let id = |item: Value| believed(item, &document).get("@id").and_then(Value::as_str).map(str::to_owned);
        assert_eq!(id(json!({"@id": "https://e.org/a"})).as_deref(), Some("https://e.org/a"));
        assert_eq!(id(json!({"url": "https://e.org/a"})), None);
        assert_eq!(id(json!({"url": "a"})), None, "it is relative");
        assert_eq!(id(json!({"@id": "https://o.org/a"})).as_deref(), Some("https://e.org/feed.xml#https://o.org/a"));
        assert_eq!(id(json!({"url": "https://o.org/a"})).as_deref(), Some("https://e.org/feed.xml#https://o.org/a"));
        assert_eq!(
            id(json!({"@id": "urn:1", "url": "https://e.org/a"})).as_deref(),
            Some("https://e.org/feed.xml#urn:1")
        );
        let whole = believed(json!({"url": "/a", "image": ["b.jpg", "https://o.org/c.jpg"]}), &document);
        assert_eq!(whole, json!({"url": "https://e.org/a", "image": ["https://e.org/b.jpg", "https://o.org/c.jpg"]}));
    }
}
