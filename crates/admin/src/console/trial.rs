//! Agents, endpoints and tools, tried out on a page.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use forecourt_pages::escape::query;
use forecourt_pages::markdown;
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};

use super::view::{ActivityLine, Body, Cell, Page, Section, Trial, TrialButton, TrialField};
use super::{failed, html, sent, visitor};
use crate::access::{self, Acting, Command};
use crate::api_error::ApiError;
use crate::desk::{Ask, Desk};
use crate::form::{self, Field, FieldKind, PREFIX};
use crate::playground::{self, Triable};
use crate::role::{Actor, Role};

pub(super) fn ask(desk: &Arc<Desk>, actor: &Actor, path: &[(&str, &str)], body: Value) -> Result<Ask, ApiError> {
    let path = path.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (desk, house) = (desk.clone(), desk.house()?);
    Ok(Ask { desk, house, actor: actor.clone(), path, query: BTreeMap::new(), body })
}

pub(super) fn command(
    desk: &Arc<Desk>,
    actor: &Actor,
    path: &[(&str, &str)],
    body: Value,
    acting: Acting,
) -> Result<Command, ApiError> {
    Ok(Command::new(ask(desk, actor, path, body)?, acting))
}

/// The form for an agent.
pub(super) async fn agent(
    State(desk): State<Arc<Desk>>,
    Path(handle): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let actor = match visitor(&desk, &headers, &uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let page = of_agent(&desk, &actor, &handle, ("", &BTreeMap::new()), None).await;
    render_page(&desk, page, &actor, &uri).await
}

/// Says something to an agent, and shows what came.
pub(super) async fn ask_agent(State(desk): State<Arc<Desk>>, Path(handle): Path<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let actor = match visitor(&desk, &head.headers, &head.uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let page = async {
        let (meant, form) = sent(&desk, &actor, &head.headers, body).await?;
        let acting = access::permit(&actor, meant)?;
        let field = |name: &str| form.get(name).filter(|text| !text.is_empty());
        let (text, conversation) = (field("text").cloned().unwrap_or_default(), field("conversation"));
        let caller = caller_of(&form);
        let words = json!({"text": text, "conversation": conversation, "caller": caller});
        let answered = playground::message(command(&desk, &actor, &[("handle", &handle)], words, acting)?).await?;
        let mut page = of_agent(&desk, &actor, &handle, (&text, &form), answered.conversation.clone()).await?;
        page.facts =
            vec![("Ending", Cell::state(&answered.ending)), ("Took", Cell::text(format!("{} ms", answered.took_ms)))];
        if !answered.answer.is_empty() {
            page.sections.push(Section::new("The answer", Body::Html(markdown::to_html(&answered.answer))));
        }
        page.sections.extend(answered.refusal.as_ref().map(|refusal| as_json("The refusal", refusal)));
        let log = answered.events.into_iter();
        let log = log.map(|event| ActivityLine { number: event.number, kind: event.kind, text: event.text }).collect();
        page.sections.push(Section::new("What happened", Body::Log(log)));
        Ok(page)
    };
    render_page(&desk, page.await, &actor, &head.uri).await
}

async fn of_agent(
    desk: &Arc<Desk>,
    actor: &Actor,
    handle: &str,
    (text, written): (&str, &BTreeMap<String, String>),
    conversation: Option<String>,
) -> Result<Page, ApiError> {
    let all = playground::list(ask(desk, actor, &[], Value::Null)?).await?;
    let found = all.agents.into_iter().find(|agent| agent.handle == handle);
    let found = found.ok_or_else(|| ApiError::not_found(format!("there is no agent `{handle}`")))?;
    let begin = found.examples.first().cloned().unwrap_or_default();
    let value = if text.is_empty() { begin } else { text.to_owned() };
    let field = |name: &str, label: &str, kind: &'static str, value: String| TrialField {
        name: name.to_owned(),
        label: label.to_owned(),
        about: String::new(),
        is_required: kind == "area",
        kind,
        choices: Vec::new(),
        value,
    };
    let fields = vec![
        field("text", "What you say", "area", value),
        field("conversation", "", "hidden", conversation.unwrap_or_default()),
    ];
    let trial = Trial {
        action: format!("/console/try/agents/{}", query(handle)),
        stream: format!("/api/v1/playground/agents/{}", query(handle)),
        fields,
        more: Some(("As a caller of your choice", caller_fields(written))),
        buttons: TrialButton::alone("Ask"),
    };
    Ok(Page {
        crumb: Some(("/console/playground".to_owned(), "Playground".to_owned())),
        lead: Some(format!(
            "{}. You are an anonymous caller, or the one that you name below, and meet what they meet.",
            found.name
        )),
        sections: for_operators(actor),
        trial: (actor.role == Role::Operator).then_some(trial),
        ..Page::new("/console/playground", format!("Try @{handle}"))
    })
}

/// The form for an endpoint or a tool.
pub(super) async fn thing(
    State(desk): State<Arc<Desk>>,
    Path((kind, id)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let actor = match visitor(&desk, &headers, &uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let page = async {
        let (thing, form) = found(&desk, &actor, &kind, &id).await?;
        Ok(of_thing(&actor, &kind, &thing, &form, &BTreeMap::new()))
    };
    render_page(&desk, page.await, &actor, &uri).await
}

/// Calls an endpoint or a tool, and shows what came.
pub(super) async fn call_thing(
    State(desk): State<Arc<Desk>>,
    Path((kind, id)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let actor = match visitor(&desk, &head.headers, &head.uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let page = async {
        let (meant, written) = sent(&desk, &actor, &head.headers, body).await?;
        let acting = access::permit(&actor, meant)?;
        let (thing, form) = found(&desk, &actor, &kind, &id).await?;
        let mut page = of_thing(&actor, &kind, &thing, &form, &written);
        let arguments = match form::read(&form, &written) {
            Ok(arguments) => arguments,
            Err(error) => {
                page.alert = Some(error.message);
                return Ok(page);
            }
        };
        let body = json!({ "arguments": arguments, "scopes": scopes_of(&written) });
        let called = match kind.as_str() {
            "tools" => playground::tool(command(&desk, &actor, &[("tool", &id)], body, acting)?).await?,
            _ => playground::endpoint(command(&desk, &actor, &[("endpoint", &id)], body, acting)?).await?,
        };
        let state = if called.is_fine { "done" } else { "failed" };
        page.facts = vec![("Outcome", Cell::state(state)), ("Took", Cell::text(format!("{} ms", called.took_ms)))];
        page.sections.push(as_json("The answer", &called.structured));
        // Most answers that refuse hold the refusal already.
        let refusal = called.refusal.as_ref().filter(|refusal| !holds(&called.structured, refusal));
        page.sections.extend(refusal.map(|refusal| as_json("The refusal", refusal)));
        if !called.text.is_empty() {
            page.sections.push(Section::new("In words", Body::Text(called.text)));
        }
        Ok(page)
    };
    render_page(&desk, page.await, &actor, &head.uri).await
}

async fn found(desk: &Arc<Desk>, actor: &Actor, kind: &str, id: &str) -> Result<(Triable, Vec<Field>), ApiError> {
    let all = playground::list(ask(desk, actor, &[], Value::Null)?).await?;
    let things = match kind {
        "tools" => all.tools,
        "endpoints" => all.endpoints,
        _ => Vec::new(),
    };
    let thing = things.into_iter().find(|thing| thing.id == id);
    let thing = thing.ok_or_else(|| ApiError::not_found("there is nothing of this name to try out"))?;
    let form = playground::form_of(&thing);
    Ok((thing, form))
}

fn of_thing(actor: &Actor, kind: &str, thing: &Triable, form: &[Field], written: &BTreeMap<String, String>) -> Page {
    let field = |field: &Field| {
        let name = format!("{PREFIX}{}", field.name);
        let (kind, choices) = match &field.kind {
            FieldKind::Text => ("text", Vec::new()),
            FieldKind::Number | FieldKind::Whole => ("number", Vec::new()),
            FieldKind::YesNo => ("choice", vec!["true".to_owned(), "false".to_owned()]),
            FieldKind::Choice(choices) => ("choice", choices.clone()),
            FieldKind::Json => ("code", Vec::new()),
        };
        let about = match field.kind {
            FieldKind::Json => format!("{} (JSON)", field.about).trim().to_owned(),
            _ => field.about.clone(),
        };
        let value = written.get(&name).cloned().unwrap_or_default();
        TrialField { name, label: field.name.clone(), about, is_required: field.is_required, kind, choices, value }
    };
    let trial = Trial {
        action: format!("/console/try/{kind}/{}", query(&thing.id)),
        stream: String::new(),
        fields: form.iter().map(field).collect(),
        more: Some(("With scopes", vec![scopes_field(written)])),
        buttons: TrialButton::alone("Call"),
    };
    Page {
        crumb: Some(("/console/playground".to_owned(), "Playground".to_owned())),
        lead: Some(thing.about.clone()),
        sections: for_operators(actor),
        trial: (actor.role == Role::Operator).then_some(trial),
        ..Page::new("/console/playground", format!("Try {}", thing.name))
    }
}

/// Whether a value is another one, or has it somewhere within.
fn holds(value: &Value, wanted: &Value) -> bool {
    value == wanted
        || match value {
            Value::Object(fields) => fields.values().any(|field| holds(field, wanted)),
            Value::Array(values) => values.iter().any(|one| holds(one, wanted)),
            _ => false,
        }
}

fn as_json(heading: &str, value: &Value) -> Section {
    Section::new(heading, Body::Text(serde_json::to_string_pretty(value).unwrap_or_default()))
}

/// What a viewer finds in the place of the form.
fn for_operators(actor: &Actor) -> Vec<Section> {
    let words = "Trying out is for operators, since it does what any caller would have done.";
    match actor.role {
        Role::Operator => Vec::new(),
        Role::Viewer => vec![Section::new("For operators", Body::Empty(words.to_owned()))],
    }
}

pub(super) async fn render_page(desk: &Desk, page: Result<Page, ApiError>, actor: &Actor, uri: &Uri) -> Response {
    match page {
        Ok(page) => html(StatusCode::OK, page.of(desk).await.render(actor, uri, None)),
        Err(error) => failed(&error, actor, uri),
    }
}

/// The fields of a form that say in whose name something is asked: name, label and what it is about.
const CALLER_FIELDS: [(&str, &str, &str); 4] = [
    ("subject", "Who", "Such as ann@example.com or @chef@example.com. Empty: an anonymous caller."),
    ("issuer", "Who says so", "Empty: this host."),
    ("method", "How it was established", "A URN. Empty: by signing in."),
    ("assurance", "How strong that is", "platform, domain, address, agent, oauth, wallet or delegated. Empty: oauth."),
];
/// The field of scopes.
const SCOPES_FIELD: &str = "scopes";
/// The field that has all consents and payments pass as if they were there.
const MET_FIELD: &str = "met";
/// What it says for that.
const MET: &str = "as if agreed and paid";

fn optional(name: &str, label: &str, about: &str, value: Option<&String>) -> TrialField {
    TrialField {
        name: name.to_owned(),
        label: label.to_owned(),
        about: about.to_owned(),
        is_required: false,
        kind: "text",
        choices: Vec::new(),
        value: value.cloned().unwrap_or_default(),
    }
}

fn caller_fields(written: &BTreeMap<String, String>) -> Vec<TrialField> {
    let named = CALLER_FIELDS.map(|(name, label, about)| optional(name, label, about, written.get(name)));
    let about = "Nothing of what this caller has is used up, and nothing is asked of it.";
    let met = TrialField {
        kind: "choice",
        choices: vec![MET.to_owned()],
        ..optional(MET_FIELD, "Consents and payments", about, written.get(MET_FIELD))
    };
    named.into_iter().chain([scopes_field(written), met]).collect()
}

fn scopes_field(written: &BTreeMap<String, String>) -> TrialField {
    optional(SCOPES_FIELD, "Scopes", "What the caller was granted, with spaces between.", written.get(SCOPES_FIELD))
}

fn scopes_of(written: &BTreeMap<String, String>) -> Vec<&str> {
    written.get(SCOPES_FIELD).map(|text| text.split_whitespace().collect()).unwrap_or_default()
}

/// In whose name a form asks; nobody's where none of its fields says anything.
fn caller_of(written: &BTreeMap<String, String>) -> Option<Value> {
    let said = |name: &str| written.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    let names = CALLER_FIELDS.iter().map(|(name, ..)| *name).chain([SCOPES_FIELD, MET_FIELD]);
    names.into_iter().any(|name| said(name).is_some()).then(|| {
        json!({
            "subject": said("subject"),
            "issuer": said("issuer"),
            "method": said("method"),
            "assurance": said("assurance"),
            "scopes": scopes_of(written),
            "as_if_met": said(MET_FIELD).is_some(),
        })
    })
}
