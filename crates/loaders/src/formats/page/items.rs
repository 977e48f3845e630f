//! The items of a page, made whole: addresses and language.

use serde_json::{Map, Value};
use url::Url;

use super::outline_of;
use super::sections::read as sections;
use super::tags::PageTags;
use crate::formats::DocumentContents;
use crate::formats::linked::each_item;
use crate::formats::outline::Outline;
use crate::item;
use crate::item::type_name;
use crate::limits::PAGE_ITEMS_MAX;

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

/// Types that say of a page that it is a text, which is on the page and not in them.
const ARTICLES: &[&str] =
    &["Article", "NewsArticle", "BlogPosting", "TechArticle", "Report", "ScholarlyArticle", "AdvertiserContentArticle"];
/// What an article says of itself that holds for all of its sections.
const OF_ARTICLE: &[&str] = &["datePublished", "dateModified", "author", "keywords", "image"];

/// The items of a page at `url`: its data, else its sections, else the page as one item. At most [`PAGE_ITEMS_MAX`].
pub(super) fn of(html: &str, seen: &PageTags, url: &Url) -> Vec<Value> {
    let mut items = data(seen);
    if items.is_empty() {
        let sections = sections_of(html, seen, url);
        if sections.len() > 1 {
            return sections;
        }
        items.extend(
            articles(seen).into_iter().next().map(|article| with_text(article, seen)).or_else(|| preview(seen)),
        );
    }
    items.truncate(PAGE_ITEMS_MAX);
    items.into_iter().zip(1..).map(|(item, place)| whole(item, place, seen, url)).collect()
}

/// The items that a page has as data, without those that only say that its text is an article.
pub(crate) fn data(seen: &PageTags) -> Vec<Map<String, Value>> {
    let mut items = all_data(seen);
    // Data that says only that the page is an article would hide its text.
    if items.iter().all(is_bare_article) {
        items.clear();
    }
    items
}

fn all_data(seen: &PageTags) -> Vec<Map<String, Value>> {
    let mut items: Vec<Map<String, Value>> = seen.data.iter().flat_map(|data| linked(data)).collect();
    if !items.iter().any(is_content) {
        items = seen.microdata.iter().filter_map(Value::as_object).cloned().collect();
    }
    items.retain(is_content);
    items
}

fn articles(seen: &PageTags) -> Vec<Map<String, Value>> {
    all_data(seen).into_iter().filter(is_bare_article).collect()
}

fn is_bare_article(item: &Map<String, Value>) -> bool {
    kinds(item).iter().any(|kind| ARTICLES.contains(&type_name(kind)))
        && !["articleBody", "text"].iter().any(|key| item.contains_key(*key))
}

fn with_text(mut article: Map<String, Value>, seen: &PageTags) -> Map<String, Value> {
    let text = seen.text.trim();
    if !text.is_empty() {
        article.insert("articleBody".to_owned(), text.into());
    }
    article
}

/// The sections of a page whose headings make some.
fn sections_of(html: &str, seen: &PageTags, url: &Url) -> Vec<Value> {
    let link = |link: &str| seen.resolve(link).map(String::from);
    let mut outline = Outline::of_page(url.as_str());
    let title = seen.title();
    outline.titled(seen.meta("og:title").unwrap_or(&title));
    outline.in_language(seen.language.as_deref().unwrap_or_default());
    for article in articles(seen).iter().take(1) {
        let said = OF_ARTICLE.iter().filter_map(|key| Some(((*key).to_owned(), article.get(*key)?.clone())));
        outline.with(said.collect());
    }
    let mut found = DocumentContents::default();
    // What is too long is left out, and nothing else fails.
    let _ = outline_of(sections(html, &link), outline, &mut found);
    found.items.into_iter().map(|(_, item)| item).take(PAGE_ITEMS_MAX).collect()
}

/// A script without the marks around it by which old browsers and XML are kept from reading it.
fn unwrapped(data: &str) -> &str {
    const BEFORE: [&str; 7] = ["<![CDATA[", "<!--", "-->", "//", "><!--", "/*", "*/"];
    const BEHIND: [&str; 8] = ["]]>", "<!]]>", "-->", "//", "/*", "*/", ";", "<!"];
    let mut data = data.trim();
    while let Some(inner) = BEFORE.iter().find_map(|mark| data.strip_prefix(mark)) {
        data = inner.trim_start();
    }
    while let Some(inner) = BEHIND.iter().find_map(|mark| data.strip_suffix(mark)) {
        data = inner.trim_end();
    }
    data
}

/// Objects with a name in a JSON-LD text. Line breaks in strings, a usual mistake, are forgiven.
fn linked(data: &str) -> Vec<Map<String, Value>> {
    let data = unwrapped(data);
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
    match item.contains_key("@type") {
        true => !kinds(item).iter().any(|kind| FRAME.contains(&type_name(kind))),
        false => item.contains_key("name"),
    }
}

fn kinds(item: &Map<String, Value>) -> Vec<&str> {
    match item.get("@type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The page itself as an item: OpenGraph, else its title and text.
fn preview(seen: &PageTags) -> Option<Map<String, Value>> {
    let title = seen.title();
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
pub(crate) fn whole(mut item: Map<String, Value>, place: usize, seen: &PageTags, url: &Url) -> Value {
    for key in ["@id", "url", "image"] {
        if let Some(Value::String(link)) = item.get_mut(key) {
            let resolved = if link.trim().is_empty() { None } else { seen.resolve(link) };
            match resolved {
                Some(whole) => *link = whole.into(),
                // `urn:isbn:…` is an id and leads nowhere.
                None if key == "@id" && link.contains(':') => {}
                None => drop(item.remove(key)),
            }
        }
    }
    if !item.contains_key("url") {
        // The first has the page's own address as its id, so that it stays the same item when others come.
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
