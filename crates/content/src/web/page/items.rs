//! The items of a page, made whole: addresses and language.

use serde_json::{Map, Value};
use url::Url;

use super::tags::Seen;
use crate::facts::type_name;
use crate::item;
use crate::limits::PAGE_ITEMS_MAX;
use crate::loaders::each_item;

/// Types that are about the site and not about what is on the page.
const FRAME: &[&str] = &[
    "BreadcrumbList",
    "WebSite",
    "WebPage",
    "Organization",
    "Corporation",
    "NewsMediaOrganization",
    "Person",
    "ImageObject",
    "SearchAction",
    "SiteNavigationElement",
    "WPHeader",
    "WPFooter",
    "ListItem",
    "ItemPage",
    "CollectionPage",
];

/// The items of a page whose address is `url`.
pub(super) fn of(seen: &Seen, url: &Url) -> Vec<Value> {
    let mut items: Vec<Map<String, Value>> = seen.data.iter().flat_map(|data| linked(data)).collect();
    if !items.iter().any(is_content) {
        items = seen.microdata.iter().filter_map(Value::as_object).cloned().collect();
    }
    items.retain(is_content);
    if items.is_empty() {
        items.extend(preview(seen));
    }
    items.truncate(PAGE_ITEMS_MAX);
    items.into_iter().zip(1..).map(|(item, place)| whole(item, place, seen, url)).collect()
}

/// Objects with a name in a JSON-LD text. Line breaks in strings, a usual mistake, are forgiven.
fn linked(data: &str) -> Vec<Map<String, Value>> {
    let data = data.trim().trim_end_matches(';');
    let read = serde_json::from_str::<Value>(data);
    let read = read.or_else(|_| serde_json::from_str(&data.replace(|c: char| c.is_control(), " ")));
    let mut out = Vec::new();
    if let Ok(value) = read {
        // Taking never fails.
        let _ = each_item(&value, &mut |item| {
            out.extend(item.as_object().filter(|_| item::name(item).is_some()).cloned());
            Ok(())
        });
    }
    out
}

fn is_content(item: &Map<String, Value>) -> bool {
    let kinds = match item.get("@type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return item.contains_key("name"),
    };
    !kinds.iter().any(|kind| FRAME.contains(&type_name(kind)))
}

/// The page itself as an item: OpenGraph, else its title and text.
fn preview(seen: &Seen) -> Option<Map<String, Value>> {
    let title = seen.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = seen.meta("og:title").map(str::to_owned).or((!title.is_empty()).then_some(title))?;
    let kind = match seen.meta("og:type") {
        Some("article") => "Article",
        Some("product") => "Product",
        Some("book") => "Book",
        Some("profile") => "ProfilePage",
        Some(kind) if kind.starts_with("video.") => "VideoObject",
        Some(kind) if kind.starts_with("music.") => "MusicRecording",
        _ => "WebPage",
    };
    let mut item = Map::new();
    item.insert("@type".to_owned(), kind.into());
    item.insert("name".to_owned(), name.into());
    let description = seen.meta("og:description").or_else(|| seen.meta("description"));
    let image = seen.meta("og:image").or_else(|| seen.meta("twitter:image"));
    let text = Some(seen.text.trim()).filter(|text| !text.is_empty());
    for (key, value) in [("description", description), ("image", image), ("text", text)] {
        item.extend(value.map(|value| (key.to_owned(), value.into())));
    }
    Some(item)
}

/// Links made whole, a URL, and an id of its own for every item but the first without.
fn whole(mut item: Map<String, Value>, place: usize, seen: &Seen, url: &Url) -> Value {
    for key in ["@id", "url", "image"] {
        if let Some(Value::String(link)) = item.get_mut(key) {
            let resolved = if link.trim().is_empty() { None } else { seen.resolve(link) };
            match resolved {
                Some(whole) => *link = whole.into(),
                None if key == "@id" && link.contains(':') => {}
                None => drop(item.remove(key)),
            }
        }
    }
    if !item.contains_key("url") {
        if place > 1 && !item.contains_key("@id") {
            item.insert("@id".to_owned(), format!("{url}#item-{place}").into());
        }
        item.insert("url".to_owned(), url.as_str().into());
    }
    if let Some(language) = seen.language.as_ref().filter(|language| !language.is_empty()) {
        item.entry("inLanguage").or_insert_with(|| language.as_str().into());
    }
    Value::Object(item)
}
