//! An endpoint's file, written for the person who will review it.

use std::collections::BTreeMap;

use forecourt_contract::endpoint::{AnswerKind, Style};
use forecourt_contract::limits::SCHEMA_BYTES_MAX;
use serde_json::Value;

use super::draft::{Draft, Pair};
use super::notes::{ImportNotes, Part, ReviewCauses};
use super::prose::capital;
use super::request::BodyBinding;
use super::toml::{inline, key, quoted, raw, table};
use super::tools::ToolHandler;
use super::words::line;
use super::{AnsweredBy, Base, File};
use crate::limits::{INLINE_LINES_MAX, SENTENCE_CHARS_MAX};

/// How long a service may take. Section 12.3 wants it said.
const TIMEOUT_SECONDS: u64 = 30;

/// The file of an endpoint, and the schemas beside it that are too long for it. On trial, a function stands for a
/// handler that only a deployment knows.
pub(super) fn files(
    name: &str,
    draft: &Draft<'_>,
    pair: &Pair,
    notes: &ImportNotes,
    base: &Base,
    stage: Stage<'_>,
) -> Vec<File> {
    let comments = Comments { notes, stage, file: format!("{name}.toml") };
    let comments = &comments;
    let input = place(name, "input", &draft.input.schema);
    let output = place(name, "output", &draft.success.schema);
    let mut text = head(draft, pair, comments, base);
    text.extend(endpoint(draft, pair, comments));
    for (part, key, placed) in [(Part::Input, "input_schema", &input), (Part::Output, "output_schema", &output)] {
        if let SchemaPlace::Beside(file) = placed {
            text.extend(comments.about(part));
            text.push(format!("{key} = {}", quoted(&file.name)));
        }
    }
    text.extend(semantic(pair, comments));
    for (part, placed) in [(Part::Input, &input), (Part::Output, &output)] {
        if let SchemaPlace::Inline(lines) = placed {
            text.push(String::new());
            text.extend(comments.about(part));
            text.extend(lines.clone());
        }
    }
    text.extend(deprecated(draft, comments));
    text.extend(match &base.answered {
        AnsweredBy::Functions(module) => function(&format!("{module}.{name}")),
        AnsweredBy::Tools(_) if matches!(stage, Stage::Trial) => function(&format!("trial.{name}")),
        AnsweredBy::Tools(tools) => tool(tools, draft, comments),
        AnsweredBy::Service => handler(draft, comments),
    });
    let own = File { name: format!("{name}.toml"), text: text.join("\n") + "\n" };
    let beside = [input, output].into_iter().filter_map(|placed| match placed {
        SchemaPlace::Beside(file) => Some(file),
        SchemaPlace::Inline(_) => None,
    });
    std::iter::once(own).chain(beside).collect()
}

/// Where a schema stands.
enum SchemaPlace {
    Inline(Vec<String>),
    Beside(File),
}

fn place(name: &str, which: &str, schema: &Value) -> SchemaPlace {
    let lines = schema.as_object().and_then(|fields| table(&format!("endpoint.{which}_schema"), fields));
    match lines.filter(|lines| lines.len() <= INLINE_LINES_MAX) {
        Some(lines) => SchemaPlace::Inline(lines),
        None => {
            let pretty = serde_json::to_string_pretty(schema).unwrap_or_default() + "\n";
            // As people read it where that fits into a file of a schema, else as short as it is counted.
            let text = if pretty.len() <= SCHEMA_BYTES_MAX { pretty } else { schema.to_string() };
            SchemaPlace::Beside(File { name: format!("{name}.{which}.json"), text })
        }
    }
}

fn head(draft: &Draft<'_>, pair: &Pair, comments: &Comments<'_>, base: &Base) -> Vec<String> {
    let operation = draft.operation;
    let id = match operation.text("operationId") {
        "" => String::new(),
        id => format!(" ({id})"),
    };
    let from = match &base.answered {
        AnsweredBy::Tools(_) => format!("the tool {} of {}", operation.text("operationId"), base.title),
        _ => format!("{} {}{id} of {}", operation.http, operation.path, base.title),
    };
    let mut lines = vec![
        format!("# {} {}", pair.verb, pair.path),
        "#".to_owned(),
        format!("# Imported from {}.", line(&from, SENTENCE_CHARS_MAX)),
    ];
    if !pair.semantic.is_stated {
        let source =
            if matches!(base.answered, AnsweredBy::Tools(_)) { "what the server says" } else { "the document" };
        lines.push(format!("# What it means is taken from {source}; nobody has confirmed intent, outcome and impact."));
    }
    if comments.has_mark() {
        lines.push("# A person has to look at what is marked: put it right and take the mark away.".to_owned());
    }
    if !comments.notes.losses.is_empty() {
        lines.extend(["#".to_owned(), "# Not carried over:".to_owned()]);
        lines.extend(comments.notes.losses.iter().map(|loss| format!("# - {loss}")));
    }
    lines.push(String::new());
    lines
}

/// What a file is written for.
#[derive(Clone, Copy)]
pub(super) enum Stage<'a> {
    /// To be read back: nobody sees it, and causes are not counted yet.
    Trial,
    /// For people, with the causes of the whole import.
    Final(&'a ReviewCauses),
}

/// The comments of a file.
struct Comments<'a> {
    notes: &'a ImportNotes,
    stage: Stage<'a>,
    file: String,
}

impl Comments<'_> {
    /// What is said about a part, a line each.
    fn about(&self, part: Part) -> Vec<String> {
        let remarks = self.notes.remarks_about(part).map(|remark| format!("# {}", capital(remark)));
        let reviews = self.notes.about(part).map(|review| match self.stage {
            Stage::Trial => format!("# REVIEW: {}", review.text()),
            Stage::Final(causes) => causes.comment(&self.file, review),
        });
        remarks.chain(reviews).collect()
    }

    fn has_mark(&self) -> bool {
        matches!(self.stage, Stage::Final(causes) if causes.has_mark(&self.file))
    }
}

fn endpoint(draft: &Draft<'_>, pair: &Pair, comments: &Comments<'_>) -> Vec<String> {
    let mut lines = vec!["[endpoint]".to_owned()];
    lines.extend(comments.about(Part::Method));
    lines.push(format!("method = {}", quoted(&pair.verb)));
    lines.extend(comments.about(Part::Path));
    lines.push(format!("path = {}", quoted(&pair.path)));
    lines.push(format!("description = {}", quoted(&pair.description)));
    lines.extend(draft.namespace.iter().map(|namespace| format!("namespace = {}", quoted(namespace))));
    lines.extend(comments.about(Part::Scopes));
    if !pair.scopes.is_empty() {
        lines.push(format!("required_scopes = {}", list(&pair.scopes)));
    }
    lines.push(format!("errors = {}", list(&draft.failures.names)));
    if draft.formats_annotate() {
        lines.push(
            "# Documents claim formats that their services do not keep to; \"check\" holds both sides to them."
                .to_owned(),
        );
        lines.push("format = \"annotate\"".to_owned());
    }
    lines
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

fn semantic(pair: &Pair, comments: &Comments<'_>) -> Vec<String> {
    let semantic = &pair.semantic;
    let mut lines = vec![String::new()];
    lines.extend(comments.about(Part::Semantic));
    lines.push("[endpoint.semantic]".to_owned());
    for (name, text) in [
        ("intent", &semantic.intent),
        ("actor", &semantic.actor),
        ("outcome", &semantic.outcome),
        ("capability", &semantic.capability),
    ] {
        lines.push(format!("{name} = {}", quoted(text)));
    }
    lines.extend(inline(&Value::from(semantic.confidence)).map(|value| format!("confidence = {value}")));
    lines.push(format!("impact = {}", quoted(&semantic.impact)));
    lines.push(format!("is_idempotent = {}", semantic.is_idempotent));
    lines
}

fn deprecated(draft: &Draft<'_>, comments: &Comments<'_>) -> Vec<String> {
    let Some(version) = &draft.deprecated_in else { return Vec::new() };
    let mut lines = vec![String::new()];
    lines.extend(comments.about(Part::Deprecated));
    lines.extend(["[endpoint.deprecated]".to_owned(), format!("deprecated_in = {}", quoted(version))]);
    lines
}

fn function(path: &str) -> Vec<String> {
    vec![
        String::new(),
        "[endpoint.handler]".to_owned(),
        "type = \"registered_function\"".to_owned(),
        format!("function = {}", quoted(path)),
        format!("timeout_seconds = {TIMEOUT_SECONDS}"),
    ]
}

fn tool(handler: &ToolHandler, draft: &Draft<'_>, comments: &Comments<'_>) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(comments.about(Part::Handler));
    lines.extend([
        "[endpoint.handler]".to_owned(),
        "type = \"registered_function\"".to_owned(),
        format!("function = {}", quoted(&format!("{}{}", handler.functions, draft.operation.text("operationId")))),
        format!("timeout_seconds = {TIMEOUT_SECONDS}"),
    ]);
    lines
}

fn handler(draft: &Draft<'_>, comments: &Comments<'_>) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(comments.about(Part::Handler));
    lines.extend([
        "[endpoint.handler]".to_owned(),
        "type = \"external_service\"".to_owned(),
        format!("url = {}", quoted(&draft.url)),
        format!("method = {}", quoted(&draft.operation.http)),
        format!("timeout_seconds = {TIMEOUT_SECONDS}"),
    ]);
    // What the service says of a conflict tells a caller more than that there was one.
    lines.push("pass_reasons = true".to_owned());
    if draft.success.kind != AnswerKind::Json {
        lines.push(format!("answer = {}", quoted(draft.success.kind.name())));
    }
    // Variables of the environment are meant here.
    let headers = draft.access.headers.iter().map(|(name, value)| format!("{} = {}", key(name), raw(value)));
    lines.extend(section("headers", headers.collect()));
    for (name, map) in [
        ("input_transform", &draft.input.transform),
        ("input_styles", &names(&draft.input.styles)),
        ("error_map", &draft.failures.map),
    ] {
        lines.extend(section(name, pairs(map)));
    }
    lines.extend(draft.input.body.iter().flat_map(body));
    lines
}

/// What the body is.
fn body(body: &BodyBinding) -> Vec<String> {
    let mut own = vec![format!("media = {}", quoted(&body.media))];
    own.extend(body.is_required.then(|| "is_required = true".to_owned()));
    own.extend(body.field.iter().map(|field| format!("field = {}", quoted(field))));
    let mut lines = section("body", own);
    lines.extend(section("body.styles", pairs(&names(&body.styles))));
    lines.extend(section("body.files", pairs(&body.files)));
    lines
}

fn names(styles: &BTreeMap<String, Style>) -> BTreeMap<String, String> {
    styles.iter().map(|(field, style)| (field.clone(), style.name().to_owned())).collect()
}

fn pairs(map: &BTreeMap<String, String>) -> Vec<String> {
    map.iter().map(|(from, to)| format!("{} = {}", key(from), quoted(to))).collect()
}

fn section(name: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    [String::new(), format!("[endpoint.handler.{name}]")].into_iter().chain(lines).collect()
}
