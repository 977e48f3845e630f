//! JSON into a question, or into what to do about a promise. NLWeb 3, 4.2.
//!
//! Faults of structure are found first, then bounds, then what is not spoken here: format and mode.

use forecourt_core::{Language, json};
use forecourt_surface::negotiate;
use http::header::ACCEPT_LANGUAGE;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use crate::api_error::ApiError;
use crate::fields::Fields;
use crate::limits::{
    CONTEXT_BYTES_MAX, FILTERS_BYTES_MAX, FILTERS_MAX, NAME_BYTES_MAX, PREFERENCES_MAX, PREV_MAX, SESSION_BYTES_MAX,
    SKIPPED_MAX, TEXT_BYTES_MAX, USER_BYTES_MAX,
};
use crate::wire::{Action, Ask, Await, Context, Dialect, Format, Meta, Prefer, Query, Style};

/// The context that is meant when no type is named. NLWeb 3.2.
const CONVERSATIONAL: &str = "ConversationalContext";
/// The format by which clients of 0.54 show themselves.
const CONV_SEARCH: &str = "conv_search";
/// Names of a version in `meta`, the current one first.
const VERSION_KEYS: [&str; 2] = ["version", "api_version"];
/// What of `meta` says that other agents are asked the same at once.
const ASKS_SEVERAL: &str = "forecourt/asks_several";

/// Reads a body as JSON.
pub(crate) fn parse(body: &[u8]) -> Result<Value, ApiError> {
    match json::parse(body) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(ApiError::Malformed("it is no object".to_owned())),
        Err(reason) => Err(ApiError::Malformed(reason)),
    }
}

/// The dialect in which a request is answered, whatever else is wrong with it.
pub(crate) fn dialect(request: &Value) -> Dialect {
    let versions = VERSION_KEYS.iter().filter_map(|key| request.pointer(&format!("/meta/{key}"))?.as_str());
    let named: Vec<&str> = versions.collect();
    let prefer = |key: &str| request.get("prefer").and_then(|prefer| prefer.get(key)?.as_str());
    let format = prefer("response_format").or_else(|| prefer("format"));
    match named.contains(&Dialect::V0_54.version()) || (named.is_empty() && format == Some(CONV_SEARCH)) {
        true => Dialect::V0_54,
        false => Dialect::V0_55,
    }
}

/// Reads a question. NLWeb 3.
pub(crate) fn ask(request: Value) -> Result<Ask, ApiError> {
    let dialect = dialect(&request);
    let mut fields = Fields::of("", Some(request))?;
    let mut notes = Vec::new();
    let Some(query) = fields.value("query") else {
        return Err(ApiError::wrong("query", "an object with the question in `text`"));
    };
    let (query, in_query) = query_of(query)?;
    let context = context_of(fields.value("context"))?;
    let mut meta = Fields::of("meta", fields.value("meta"))?;
    let Paging { shown, looked_at, start } = in_query.or(Paging::read(&mut meta)?);
    let meta = meta_of(meta, &mut notes)?;
    let mut prefer = Fields::of("prefer", fields.value("prefer"))?;
    let formats = match prefer.names("response_format", PREFERENCES_MAX)? {
        formats if formats.is_empty() => prefer.names("format", PREFERENCES_MAX)?,
        formats => formats,
    };
    let modes = prefer.names("mode", PREFERENCES_MAX)?;
    let wishes = prefer_of(&mut prefer, &mut notes)?;
    // What was not looked at is not shown.
    let limit = [shown, looked_at].into_iter().flatten().min();
    let skip = start.unwrap_or_default();
    let style =
        Style { dialect, format: format_of(&formats)?, summarize: summarizes(&modes, &mut notes)?, limit, skip };
    Ok(Ask { query, context, style, prefer: wishes, meta, notes })
}

/// Reads what to do about a promise. NLWeb 4.2.
pub(crate) fn awaited(request: Value) -> Result<Await, ApiError> {
    let dialect = dialect(&request);
    let mut fields = Fields::of("", Some(request))?;
    let token = fields.text("promise_token")?.filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| ApiError::wrong("promise_token", "the token that came with the promise"))?;
    let action = match fields.text("action")?.as_deref() {
        Some("checkin") => Action::Checkin,
        Some("cancel") => Action::Cancel,
        _ => return Err(ApiError::wrong("action", "\"checkin\" or \"cancel\"")),
    };
    let mut notes = Vec::new();
    let meta = meta_of(Fields::of("meta", fields.value("meta"))?, &mut notes)?;
    Ok(Await { token, action, dialect, meta, notes })
}

/// Which part of an answer a client of 0.54 wants to see. They say it in `query` or in `meta`.
struct Paging {
    /// Results that are shown, at most.
    shown: Option<usize>,
    /// Results that are looked at, at most.
    looked_at: Option<usize>,
    /// Results before the first one that is shown.
    start: Option<usize>,
}

impl Paging {
    fn read(fields: &mut Fields) -> Result<Self, ApiError> {
        let (shown, looked_at) = (fields.count("max_results")?, fields.count("num_results")?);
        let start = fields.number("start_num")?;
        if start.is_some_and(|start| start > SKIPPED_MAX) {
            return Err(ApiError::wrong(fields.name("start_num"), format!("at most {SKIPPED_MAX}")));
        }
        Ok(Self { shown, looked_at, start })
    }

    /// This, and what it leaves open by `other`.
    fn or(self, other: Self) -> Self {
        Self {
            shown: self.shown.or(other.shown),
            looked_at: self.looked_at.or(other.looked_at),
            start: self.start.or(other.start),
        }
    }
}

/// NLWeb 3.1. Clients of 0.54 may page there, and may have put the question on its own feet.
fn query_of(value: Value) -> Result<(Query, Paging), ApiError> {
    let mut fields = match value {
        Value::Object(_) => Fields::of("query", Some(value))?,
        _ => return Err(ApiError::wrong("query", "an object, such as {\"text\": \"soup for a cold day\"}")),
    };
    let wanted = "the question: a string that is not empty";
    let text = match fields.value("text") {
        Some(Value::String(text)) if !text.trim().is_empty() => text,
        _ => return Err(ApiError::wrong("query.text", wanted)),
    };
    // A client of 0.54 may have resolved the earlier turns itself: this text then stands without them.
    let decontextualized = fields.text("decontextualized_query")?.filter(|text| !text.trim().is_empty());
    let text = decontextualized.unwrap_or(text);
    let site = fields.short("site", NAME_BYTES_MAX)?.map(|site| site.trim().to_owned()).filter(|site| !site.is_empty());
    let paging = Paging::read(&mut fields)?;
    // NLWeb 3.1: every further attribute is a filter. What has a meaning of its own was taken out above.
    let filters: Map<String, Value> = fields.rest().into_iter().filter(|(_, value)| !value.is_null()).collect();
    bounded("query.text", text.len(), TEXT_BYTES_MAX)?;
    if filters.len() > FILTERS_MAX {
        return Err(ApiError::TooMuch { field: "query", bound: format!("{FILTERS_MAX} filters") });
    }
    bounded("query", written(&filters), FILTERS_BYTES_MAX)?;
    Ok((Query { text, site, filters }, paging))
}

/// NLWeb 3.2. Contexts of other types are kept as they are.
fn context_of(value: Option<Value>) -> Result<Context, ApiError> {
    let mut fields = Fields::of("context", value)?;
    let kind = fields.text("@type")?;
    let Some(kind) = kind.filter(|kind| kind != CONVERSATIONAL) else { return conversation(fields) };
    let mut about = fields.rest();
    about.insert("@type".to_owned(), kind.into());
    bounded("context", written(&about), CONTEXT_BYTES_MAX)?;
    Ok(Context { prev: Vec::new(), about })
}

fn conversation(mut fields: Fields) -> Result<Context, ApiError> {
    let prev = match fields.value("prev") {
        None => Some(Vec::new()),
        Some(Value::Array(items)) => items.into_iter().map(into_text).collect::<Option<Vec<_>>>(),
        Some(_) => None,
    };
    let prev = prev.ok_or_else(|| ApiError::wrong("context.prev", "an array of strings, the earlier queries"))?;
    let text = fields.text("text")?;
    let memory = match fields.value("memory") {
        None => None,
        Some(memory) if is_memory(&memory) => Some(memory),
        Some(_) => return Err(ApiError::wrong("context.memory", "a string, or an array of strings")),
    };
    let mut about = fields.rest();
    about.extend(text.map(|text| ("text".to_owned(), text.into())));
    about.extend(memory.map(|memory| ("memory".to_owned(), memory)));
    if prev.len() > PREV_MAX {
        return Err(ApiError::TooMuch { field: "context.prev", bound: format!("{PREV_MAX} earlier queries") });
    }
    let bytes = prev.iter().map(String::len).sum::<usize>() + written(&about);
    bounded("context", bytes, CONTEXT_BYTES_MAX)?;
    Ok(Context { prev, about })
}

fn into_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn is_memory(value: &Value) -> bool {
    value.is_string() || value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
}

/// What of NLWeb 3.3 is no matter of style.
fn prefer_of(fields: &mut Fields, notes: &mut Vec<String>) -> Result<Prefer, ApiError> {
    let streaming = fields.flag("streaming")?;
    let wanted = fields.short("accept-language", NAME_BYTES_MAX)?;
    let language = wanted.as_deref().and_then(language);
    if let (Some(wanted), None) = (&wanted, &language) {
        notes.push(format!("prefer.accept-language: `{wanted}` names no language"));
    }
    let user_agent = fields.short("user-agent", NAME_BYTES_MAX)?;
    Ok(Prefer { streaming, language, user_agent })
}

/// The language that a value of `Accept-Language` asks for most.
fn language(text: &str) -> Option<Language> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_str(text).ok()?);
    negotiate::language(&headers)
}

/// The first format that is spoken here. NLWeb 3.3.1.
fn format_of(names: &[String]) -> Result<Format, ApiError> {
    let known = |name: &String| match name.as_str() {
        "conversational_search" | CONV_SEARCH => Some(Format::ConversationalSearch),
        "chatgpt_app" => Some(Format::ChatgptApp),
        _ => None,
    };
    match names.iter().find_map(known) {
        Some(format) => Ok(format),
        None if names.is_empty() => Ok(Format::ConversationalSearch),
        None => Err(ApiError::Format(listing(names))),
    }
}

/// Whether a summary is wanted. Modes that nobody knows are passed over beside ones that we do, since
/// the list is open; alone they can't be served. NLWeb 3.3.2.
fn summarizes(names: &[String], notes: &mut Vec<String>) -> Result<bool, ApiError> {
    let is_known = |name: &&String| ["list", "summarize"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let unknown: Vec<String> = names.iter().filter(|name| !is_known(name)).cloned().collect();
    if !unknown.is_empty() && unknown.len() == names.len() {
        return Err(ApiError::Mode(listing(names)));
    }
    if !unknown.is_empty() {
        notes.push(format!("prefer.mode: {} is not known here and was left out", listing(&unknown)));
    }
    Ok(names.iter().any(|name| name.eq_ignore_ascii_case("summarize")))
}

/// Reads `meta`: version, session, user. A version that is not spoken here becomes a note. NLWeb 3.4.
fn meta_of(mut fields: Fields, notes: &mut Vec<String>) -> Result<Meta, ApiError> {
    for key in VERSION_KEYS {
        let version = fields.short(key, NAME_BYTES_MAX)?;
        let spoken = |version: &String| [Dialect::V0_54, Dialect::V0_55].iter().any(|known| known.version() == version);
        if let Some(other) = version.filter(|version| !spoken(version)) {
            notes.push(format!("meta.{key}: version {other} is not spoken here; this is 0.55, and 0.54 is understood"));
        }
    }
    let session = fields.object("session_context")?;
    let user = fields.value("user");
    if user.as_ref().is_some_and(|user| !user.is_string() && !user.is_object()) {
        return Err(ApiError::wrong("meta.user", "a string or an object"));
    }
    let remember = fields.flag("remember")?.unwrap_or(true);
    let asks_several = fields.flag(ASKS_SEVERAL)?.unwrap_or(false);
    let request_id = fields.short("request_id", NAME_BYTES_MAX)?;
    bounded("meta.session_context", written(&session), SESSION_BYTES_MAX)?;
    bounded("meta.user", user.as_ref().map_or(0, |user| user.to_string().len()), USER_BYTES_MAX)?;
    Ok(Meta { session, user, remember, asks_several, request_id })
}

fn bounded(field: &'static str, bytes: usize, bytes_max: usize) -> Result<(), ApiError> {
    match bytes > bytes_max {
        true => Err(ApiError::TooMuch { field, bound: format!("{bytes_max} bytes") }),
        false => Ok(()),
    }
}

/// Bytes of an object as JSON; an empty one counts as nothing.
fn written(object: &Map<String, Value>) -> usize {
    if object.is_empty() { 0 } else { serde_json::to_string(object).map_or(usize::MAX, |text| text.len()) }
}

/// Names for a message, shortened.
fn listing(names: &[String]) -> String {
    names.join(", ").chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// JSON with the names of requests in it, so that the reader gets deep.
    fn jsonish() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z0-9.,\\\\ \u{e9}\n]{0,8}|0.54|0.55|list|summarize|conv_search|checkin".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let key = prop_oneof![
                "query|context|prefer|meta|text|site|prev|memory|mode|response_format|streaming|version",
                "session_context|user|remember|promise_token|action|@type|[a-z]{1,4}",
            ];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(key, inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(request) = parse(&bytes) {
                let _ = (dialect(&request), ask(request.clone()), awaited(request));
            }
        }

        #[test]
        fn what_is_read_has_a_question_within_bounds(request in jsonish()) {
            let _ = awaited(request.clone());
            if let Ok(ask) = ask(request) {
                prop_assert!(!ask.query.text.trim().is_empty() && ask.query.text.len() <= TEXT_BYTES_MAX);
                prop_assert!(ask.query.filters.len() <= FILTERS_MAX && ask.context.prev.len() <= PREV_MAX);
            }
        }

        #[test]
        fn a_fault_says_what_to_change(request in jsonish()) {
            if let Err(fault) = ask(request) {
                prop_assert!(!fault.message(crate::response::sentences(None)).is_empty());
            }
        }

        #[test]
        fn words_go_through_unchanged(text in "\\PC{1,60}", site in "[a-z]{1,8}", prev in proptest::collection::vec("\\PC{0,20}", 0..5)) {
            prop_assume!(!text.trim().is_empty());
            let read = ask(json!({"query": {"text": text, "site": site}, "context": {"prev": prev}})).expect("it is a question");
            prop_assert_eq!((read.query.text, read.query.site, read.context.prev), (text, Some(site), prev));
        }
    }
}
