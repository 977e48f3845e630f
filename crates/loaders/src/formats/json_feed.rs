//! JSON Feed 1.0 and 1.1: an article per entry.

use serde_json::{Map, Value, json};

use super::html::{plain_text, title_of};

/// How the version of a feed begins.
pub(super) const VERSION: &str = "https://jsonfeed.org/version/";

/// The entries of a feed as items. `None` when it is none.
pub(super) fn items(value: &Value) -> Option<Vec<Value>> {
    value.get("version")?.as_str().filter(|version| version.starts_with(VERSION))?;
    let language = value.get("language").and_then(Value::as_str);
    let entries = value.get("items")?.as_array()?;
    Some(entries.iter().map(|entry| item(entry, language)).collect())
}

/// One entry.
pub(super) fn item(entry: &Value, language: Option<&str>) -> Value {
    let Some(fields) = entry.as_object() else { return entry.clone() };
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let mut out = Map::new();
    let mut put = |key: &str, value: Option<Value>| out.extend(value.map(|value| (key.to_owned(), value)));
    let body = text("content_html").map(plain_text).or_else(|| text("content_text").map(str::to_owned));
    let body = body.filter(|body| !body.is_empty());
    let summary = text("summary").map(plain_text);
    let name = text("title").map(plain_text);
    let name = name.or_else(|| title_of(body.as_deref().or(summary.as_deref())?));
    let url = text("url").or_else(|| text("external_url"));
    put("@type", Some("Article".into()));
    let id =
        fields.get("id").and_then(|id| id.as_str().map(str::to_owned).or_else(|| id.as_u64().map(|id| id.to_string())));
    // Only a URL is an id everywhere; `1` is one within its feed.
    put("@id", id.clone().filter(|id| id.contains(':')).map(Value::from));
    put("identifier", id.map(Value::from));
    put("url", url.map(Value::from));
    put("name", name.map(Value::from));
    put("description", summary.map(Value::from));
    put("articleBody", body.map(Value::from));
    put("image", text("image").or_else(|| text("banner_image")).map(Value::from));
    put("datePublished", text("date_published").map(Value::from));
    put("dateModified", text("date_modified").map(Value::from));
    put("keywords", fields.get("tags").filter(|tags| tags.is_array()).cloned());
    let author = fields.get("authors").and_then(|authors| authors.get(0)).or_else(|| fields.get("author"));
    let author = author.and_then(|author| author.get("name")?.as_str());
    put("author", author.map(|name| json!({"@type": "Person", "name": name})));
    put("inLanguage", text("language").or(language).map(Value::from));
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use super::*;

    #[test]
    fn entries_are_articles() {
        let feed = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "Blog", "language": "de", "items": [
            {"id": "https://e.org/1", "url": "https://e.org/1", "title": "One", "content_html": "<p>Long &amp; short</p>",
             "date_published": "2026-01-02T00:00:00Z", "tags": ["x"], "authors": [{"name": "Ann"}]},
            {"id": 2, "content_text": "No title here, only a text. And more."}]}"#;
        let expected = json!({"@type": "Article", "@id": "https://e.org/1", "identifier": "https://e.org/1",
            "url": "https://e.org/1", "name": "One", "articleBody": "Long & short", "datePublished": "2026-01-02T00:00:00Z",
            "keywords": ["x"], "author": {"@type": "Person", "name": "Ann"}, "inLanguage": "de"});
        let heap = load_bytes(Format::Json, feed.as_bytes());
        assert_eq!(heap.items[0], expected);
        assert_eq!(names(&heap), ["One", "No title here, only a text."]);
        let reversed = r#"{"items": [{"id": "1", "title": "A"}], "version": "https://jsonfeed.org/version/1"}"#;
        assert_eq!(load_bytes(Format::Json, reversed.as_bytes()).items[0]["@type"], "Article");
        assert_eq!(names(&load_bytes(Format::Json, br#"{"name": "Box", "items": [{"name": "a"}]}"#)), ["Box"]);
    }
}
