//! What an agent gives, as items. NLWeb 4.1.1.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::findings::ItemFindings;
use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{File, FileSource, Handle, LazyJson, Part, TaskId};
use forecourt_pages::markdown;
use serde_json::{Map, Value, json};

use crate::action::Action;
use crate::limits::{FILE_BYTES_MAX, ITEM_NAME_CHARS_MAX};
use crate::wire::Dialect;

const SCHEMA_ORG: &str = "https://schema.org";
/// The members that name an item, the best first.
const NAMES: [&str; 3] = ["name", "headline", "title"];
/// Others that do in items of no vocabulary.
const LOOSE_NAMES: [&str; 6] = ["label", "displayName", "display_name", "subject", "heading", "caption"];
/// The members whose first words tell most of what an item is.
const TELLING: [&str; 5] = ["description", "summary", "text", "content", "body"];

/// Whose items they are, and where its files are.
#[derive(Clone, Copy)]
pub(crate) struct Shelf<'a> {
    /// The agent.
    pub(crate) agent: &'a Handle,
    /// The base of addresses here.
    pub(crate) base: &'a str,
    /// The task, when the answer is kept by one.
    pub(crate) task: Option<&'a TaskId>,
    /// What can be done with items.
    pub(crate) actions: &'a [Action],
}

/// What a part comes to.
pub(crate) enum PartItems {
    /// Items, most often one.
    Items(Vec<LazyJson>),
    /// It can't be shown; why.
    Not(String),
}

impl Shelf<'_> {
    /// The items of a part. Tool calls and refusals have no place among results.
    pub(crate) fn items(self, part: Part) -> PartItems {
        let one = |item: Value| PartItems::Items(vec![item.into()]);
        match part {
            Part::Data(data) => {
                PartItems::Items(objects(data.data).into_iter().map(|item| self.furnished(item)).collect())
            }
            Part::Link(link) => one(named(
                json!({"@context": SCHEMA_ORG, "@type": "WebPage", "url": link.url}),
                link.title,
                link.description,
            )),
            Part::File(file) => self.file(file),
            Part::Artifact(artifact) => self.artifact(artifact),
            Part::Text(_) | Part::ToolCall(_) | Part::Policy(_) | Part::Unknown(_) => PartItems::Items(Vec::new()),
        }
    }

    /// An item with where it comes from and what can be done with it.
    fn furnished(self, item: LazyJson) -> LazyJson {
        let actions: Vec<Value> = self.actions.iter().filter_map(|action| action.for_item(&item, self.agent)).collect();
        let item = grounded(typed(item));
        if actions.is_empty() {
            return item;
        }
        let mut item = item.into_value();
        if let Value::Object(fields) = &mut item {
            match fields.get_mut("actions").and_then(Value::as_array_mut) {
                Some(own) => own.extend(actions),
                None => drop(fields.insert("actions".to_owned(), actions.into())),
            }
        }
        item.into()
    }

    fn file(self, file: File) -> PartItems {
        let name = file.name.clone().unwrap_or_else(|| "a file".to_owned());
        let Some(url) = self.address(&file.source, &file.mime, file.id.as_deref()) else {
            return PartItems::Not(format!("{name} is too large to be given here"));
        };
        let mut item = json!({"@context": SCHEMA_ORG, "@type": "MediaObject", "encodingFormat": file.mime,
            "contentUrl": url});
        if let Some(size) = file.size_bytes {
            item["contentSize"] = size.to_string().into();
        }
        PartItems::Items(vec![named(item, file.name, None).into()])
    }

    fn artifact(self, artifact: Artifact) -> PartItems {
        let Artifact { mime, name, content, .. } = artifact;
        let mut item = json!({"@context": SCHEMA_ORG, "@type": "CreativeWork", "encodingFormat": mime});
        match content {
            ArtifactContent::Text(text) => item["text"] = text.into(),
            ArtifactContent::Bytes(source) => match self.address(&source, &mime, None) {
                Some(url) => item["contentUrl"] = url.into(),
                None => return PartItems::Not("an artifact is too large to be given here".to_owned()),
            },
        }
        PartItems::Items(vec![named(item, name, None).into()])
    }

    /// Where a file is: small ones are in the address itself.
    fn address(self, source: &FileSource, mime: &str, id: Option<&str>) -> Option<String> {
        match source {
            FileSource::Inline(bytes) => (bytes.len() <= FILE_BYTES_MAX)
                // A comma would end the media type of a `data:` URL.
                .then(|| format!("data:{};base64,{}", mime.replace([',', ' '], ""), STANDARD.encode(bytes))),
            FileSource::Url { url, .. } if url.starts_with('/') => Some(format!("{}{url}", self.base)),
            FileSource::Url { url, .. } => Some(url.clone()),
            FileSource::Kept => Some(format!("{}/tasks/{}/artifacts/{}", self.base, self.task?.expose(), id?)),
        }
    }
}

/// The objects of a data part. What is no object becomes the value of one.
fn objects(data: LazyJson) -> Vec<LazyJson> {
    if data.text().is_some_and(|text| text.starts_with('{')) {
        return vec![data];
    }
    match data.into_value() {
        object @ Value::Object(_) => vec![object.into()],
        Value::Array(items) if items.iter().all(Value::is_object) => items.into_iter().map(LazyJson::from).collect(),
        other => {
            let name = plain(&other).map(|words| beginning(&words));
            let item = json!({"@context": SCHEMA_ORG, "@type": "PropertyValue", "value": other});
            vec![named(item, name, None).into()]
        }
    }
}

/// An item of some type, as clients sort and show them by it. One without is a thing, and has a name.
fn typed(item: LazyJson) -> LazyJson {
    if item.has_member("@type") || !item.is_object() {
        return item;
    }
    let name = if item.has_member("name") { None } else { invented_name(&item) };
    let item = item.with_member("@type", "Thing".into());
    match name {
        Some(name) => item.with_member("name", name.into()),
        None => item,
    }
}

/// What an item without a name is called: by another member that names it, else by its first words.
fn invented_name(item: &Value) -> Option<String> {
    let named = |key: &&str| Some(item.get(*key)?.as_str()?.to_owned()).filter(|name| !name.trim().is_empty());
    let words = |key: &&str| Some(markdown::to_plain(item.get(*key)?.as_str()?)).filter(|words| !words.is_empty());
    let found = NAMES.iter().chain(&LOOSE_NAMES).find_map(named).or_else(|| TELLING.iter().find_map(words));
    let any = || {
        let mut members = item.as_object()?.iter().filter_map(|(key, value)| Some((key, plain(value)?)));
        // The address of an item is no name while it says anything else of itself.
        let is_telling = |(key, words): &(&String, String)| !key.starts_with('@') && !words.contains("://");
        members.find(is_telling).map(|(key, words)| format!("{key} {words}"))
    };
    found.or_else(any).map(|words| beginning(&words))
}

/// A value in words, if it has some.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The first words, on one line.
fn beginning(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(ITEM_NAME_CHARS_MAX) else { return line };
    // At the end of a word, where one ends.
    let end = line[..end].rfind(' ').unwrap_or(end);
    line.truncate(end);
    line.push('…');
    line
}

/// An item that says where it comes from, as far as it says that at all.
fn grounded(item: LazyJson) -> LazyJson {
    // NLWeb 4.1.1: what the agent itself says of an item's origin stands.
    if item.has_member("grounding") {
        return item;
    }
    match source(&item).map(str::to_owned) {
        Some(source) => item.with_member("grounding", json!({"source_urls": [source]})),
        None => item,
    }
}

fn named(mut item: Value, name: Option<String>, description: Option<String>) -> Value {
    if let Some(name) = name {
        item["name"] = name.into();
    }
    if let Some(description) = description {
        item["description"] = description.into();
    }
    item
}

/// Where an item says that it is from.
fn source(item: &Value) -> Option<&str> {
    let texts = ["url", "@id", "mainEntityOfPage"].iter().filter_map(|key| item.get(*key)?.as_str());
    texts.into_iter().find(|text| text.starts_with("https://") || text.starts_with("http://"))
}

/// The item that holds a summary. NLWeb 4.1.1, design 24.
pub(crate) fn summary(text: &str, dialect: Dialect) -> Value {
    match dialect {
        Dialect::V0_55 => json!({"@type": "SearchSummary", "text": text}),
        // Clients of 0.54 show the text as it is: sentences, without marks.
        Dialect::V0_54 => json!({"@type": "Summary", "text": markdown::to_plain(text)}),
    }
}

/// The item of an agent that answers in words alone.
pub(crate) fn words(text: &str) -> Value {
    json!({"@context": SCHEMA_ORG, "@type": "Answer", "text": text})
}

/// An item as clients of 0.54 take it: a string `@id`, its `site`, a number `score`. Design 24.
pub(crate) fn in_054(item: LazyJson, site: &Handle, told: Option<&ItemFindings>, index: usize) -> LazyJson {
    let mut item = item.into_value();
    let own = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = own(&item, "@id").or_else(|| own(&item, "url")).unwrap_or_else(|| format!("#{index}"));
    if let Value::Object(fields) = &mut item {
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        set("@id", id.into());
        set("site", site.as_str().into());
        // Always a number, as clients of 0.54 expect it (design 24). JSON has none for NaN.
        set("score", json!(told.map(|told| told.score).filter(|score| score.is_finite()).unwrap_or(0.0)));
        // What clients of 0.54 show beside a score.
        if let (Some(why), false) = (told.and_then(why), fields.contains_key("description")) {
            fields.insert("description".to_owned(), why.into());
        }
    }
    item.into()
}

/// The member that says why an item stands where it does.
const WHY: &str = "forecourt/why";

/// An item with what the search says of it: why it stands where it does, where somebody judged it. What the
/// item says of that itself gives way.
pub(crate) fn with_findings(item: LazyJson, told: &ItemFindings) -> LazyJson {
    let item = match item.has_member(WHY) {
        false => item,
        true => {
            let mut item = item.into_value();
            item.as_object_mut().and_then(|fields| fields.remove(WHY));
            item.into()
        }
    };
    match why(told) {
        Some(why) => item.with_member(WHY, why.into()),
        None => item,
    }
}

fn why(told: &ItemFindings) -> Option<&str> {
    told.reason.as_ref().map(|reason| reason.why.as_str()).filter(|why| !why.is_empty())
}

/// What an item is called.
pub(crate) fn name(item: &Value) -> Option<&str> {
    NAMES.iter().find_map(|key| item.get(*key)?.as_str())
}

/// `object` without what is `None`.
pub(crate) fn present<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use forecourt_core::Link;

    use super::*;

    fn shown(part: Part) -> Vec<LazyJson> {
        let agent = Handle::parse("chef").expect("a handle");
        let shelf = Shelf { agent: &agent, base: "https://demo.localhost", task: None, actions: &[] };
        match shelf.items(part) {
            PartItems::Items(items) => items,
            PartItems::Not(why) => vec![json!(why).into()],
        }
    }

    #[test]
    fn s4_1_1_items_are_grounded_in_where_they_are_from() {
        let item = json!({"@type": "Recipe", "name": "Soup", "url": "https://x.example/soup"});
        assert_eq!(shown(Part::data(item))[0]["grounding"], json!({"source_urls": ["https://x.example/soup"]}));
        let own =
            json!({"@type": "Recipe", "name": "Soup", "@id": "https://x.example/", "grounding": {"citations": [1]}});
        assert_eq!(shown(Part::data(own.clone())), [own]);
        for nowhere in [json!({"@type": "Recipe"}), json!({"@type": "Recipe", "url": "javascript:alert(1)"})] {
            assert_eq!(shown(Part::data(nowhere.clone())), [nowhere]);
        }
    }

    #[test]
    fn s4_1_1_items_of_no_type_are_things_with_a_name() {
        for (item, name) in [
            (json!({"name": "Soup", "title": "A title"}), "Soup"),
            (json!({"title": "Pea soup", "price": 4.5}), "Pea soup"),
            (json!({"id": 7, "label": "Leek tart"}), "Leek tart"),
            (json!({"price": 4.5, "text": "**Warm** and\ngreen."}), "Warm and green."),
            (json!({"url": "https://x.example/", "price": 4.5}), "price 4.5"),
        ] {
            let shown = &shown(Part::data(item))[0];
            assert_eq!((shown["@type"].as_str(), shown["name"].as_str()), (Some("Thing"), Some(name)));
        }
        for nameless in [json!({}), json!({"url": "https://x.example/"}), json!({"deep": {"name": "x"}})] {
            let shown = &shown(Part::data(nameless))[0];
            assert_eq!((shown["@type"].as_str(), shown.get("name")), (Some("Thing"), None));
        }
        assert_eq!(shown(Part::data(json!("pea")))[0]["name"], "pea");
    }

    #[test]
    fn names_of_first_words_are_bounded() {
        let name = |words: usize| {
            let item = json!({"text": "ab ".repeat(words)});
            shown(Part::data(item))[0]["name"].as_str().map(str::to_owned).expect("a name")
        };
        let fitting = (ITEM_NAME_CHARS_MAX + 1) / 3;
        assert!(name(fitting).chars().count() <= ITEM_NAME_CHARS_MAX && !name(fitting).ends_with('…'));
        let longer = name(fitting + 1);
        assert!(longer.ends_with("ab…") && longer.chars().count() <= ITEM_NAME_CHARS_MAX + 1, "{longer}");
        let unbroken = json!({"text": "ä".repeat(ITEM_NAME_CHARS_MAX + 1)});
        assert_eq!(
            shown(Part::data(unbroken))[0]["name"].as_str().map(|name| name.chars().count()),
            Some(ITEM_NAME_CHARS_MAX + 1)
        );
    }

    #[test]
    fn s4_1_1_links_and_files_are_items_of_schema_org() {
        let link = Link { url: "https://x.example/".to_owned(), title: Some("X".to_owned()), description: None };
        assert_eq!(
            shown(Part::Link(link)),
            [json!({"@context": SCHEMA_ORG, "@type": "WebPage", "url": "https://x.example/", "name": "X"})]
        );
        let file = File::inline("text/plain", Some("a.txt".to_owned()), "hi".into());
        assert_eq!(shown(Part::File(file))[0]["contentUrl"], "data:text/plain;base64,aGk=");
    }

    #[test]
    fn files_in_answers_are_bounded() {
        let of = |bytes: usize| shown(Part::File(File::inline("a/b", None, vec![0; bytes].into())));
        assert!(of(FILE_BYTES_MAX)[0].is_object());
        assert!(of(FILE_BYTES_MAX + 1)[0].as_str().is_some_and(|why| why.contains("too large")));
    }

    #[test]
    fn values_that_are_no_objects_still_are_items() {
        let both = shown(Part::data(json!([{"a": 1}, {"b": 2}])));
        assert_eq!((both.len(), &both[0]["a"], &both[1]["b"]), (2, &json!(1), &json!(2)));
        assert_eq!(shown(Part::data(json!(3)))[0]["value"], 3);
        assert_eq!(shown(Part::text("x")), [] as [LazyJson; 0]);
    }
}
