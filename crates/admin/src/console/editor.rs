//! Files of the deployment on a page: changed, checked and applied, with what differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use forecourt_pages::escape::query;
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};

use super::trial::{ask, command, render_page};
use super::view::{Act, Body, Cell, DiffMark, Page, Section, Tone, Trial, TrialButton, TrialField, sentence};
use super::{sent, visitor};
use crate::access;
use crate::api_error::ApiError;
use crate::desk::{Ask, Desk};
use crate::editor::{EditProblem, Texts, state_of};
use crate::nouns::deployment::{self, DeploymentFiles, Difference, EditOutcome};
use crate::role::Actor;

/// Where a file is changed.
const EDIT: &str = "/console/edit";
/// The page that leads there.
const HOME: &str = "/console/deployment";
/// The buttons of the form.
const CHECK: &str = "check";
const APPLY: &str = "apply";
const REMOVE: &str = "remove";
/// What a new file is called until somebody says otherwise.
const NEW_FILE: &str = "agents/new.toml";

/// The files, and what was served before.
pub(super) async fn deployment_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let found = match access::for_operators(ask) {
        Ok(ask) => deployment::one(ask).await,
        Err(error) => Err(error),
    };
    let DeploymentFiles { files, versions, .. } = match found {
        Ok(found) => found,
        // Whoever follows the navigation is told why there is nothing here, and what turns it on.
        Err(error) if matches!(error.status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND) => return Ok(none(&error)),
        Err(error) => return Err(error),
    };
    let fresh = vec![Cell::link(address_of(NEW_FILE), "A new file…"), Cell::Nothing];
    let file = |file: deployment::EditableFile| {
        let lines = file.text.lines().count() as u64;
        vec![Cell::link(address_of(&file.name), &file.name), Cell::Number(lines)]
    };
    let newest = versions.first().map(|version| version.number);
    let version = |version: crate::editor::HouseVersion| {
        let number = version.number;
        let act = Act::new(
            format!("deployment/versions/{number}/put-back"),
            "Put back",
            "The files are written as they were in this version, and the deployment is read again. With a mistake in \
             them nothing changes.",
        );
        vec![
            Cell::link(format!("{HOME}/versions/{number}"), number.to_string()),
            Cell::time(version.at, now),
            Cell::text(version.by),
            Cell::maybe(version.reason),
            Cell::text(shown(&version.changed)),
            if newest == Some(number) {
                Cell::Badge { tone: Tone::Good, text: "served".to_owned() }
            } else {
                Cell::Act(Box::new(act.dangerous()))
            },
        ]
    };
    Ok(Page {
        lead: Some(
            "What you change here is checked, written into the deployment's folder on this node, and served at once. With \
             a mistake in it everything stays as it was."
                .to_owned(),
        ),
        sections: vec![
            Section::table("Files", vec!["File", "Lines"], files.into_iter().map(file).chain([fresh]).collect(), ""),
            Section::table(
                "Versions",
                vec!["Version", "Served from", "By", "Why", "Files that changed", ""],
                versions.into_iter().map(version).collect(),
                "None was kept yet: the first one is, as soon as the deployment is read.",
            ),
        ],
        ..Page::new(HOME, "Deployment")
    })
}

/// Why there are no files on the page.
fn none(error: &ApiError) -> Page {
    let words = [Some(&error.message), error.hint.as_ref()].into_iter().flatten().map(|text| sentence(text));
    let words = words.collect::<Vec<_>>().join(" ");
    Page { sections: vec![Section::new("Files", Body::Empty(words))], ..Page::new(HOME, "Deployment") }
}

/// A version, and what would change if it were put back.
pub(super) async fn version_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let found = deployment::version(access::for_operators(ask)?).await?;
    let number = found.version.number;
    let about = "The files are written as they were in this version, and the deployment is read again.";
    let put_back = Act::new(format!("deployment/versions/{number}/put-back"), "Put back", about).dangerous();
    let is_now = found.differences.is_empty();
    let lead = if is_now { "The files are as they were then." } else { "What would change if it were put back now." };
    Ok(Page {
        crumb: Some((HOME.to_owned(), "Deployment".to_owned())),
        lead: Some(lead.to_owned()),
        facts: vec![
            ("Served from", Cell::time(found.version.at, now)),
            ("By", Cell::text(found.version.by)),
            ("Why", Cell::maybe(found.version.reason)),
        ],
        actions: if is_now { Vec::new() } else { vec![put_back] },
        sections: found.differences.into_iter().map(difference).collect(),
        ..Page::new(HOME, format!("Version {number}"))
    })
}

/// The form for a file.
pub(super) async fn form(State(desk): State<Arc<Desk>>, uri: Uri, headers: HeaderMap) -> Response {
    let actor = match visitor(&desk, &headers, &uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let asked: BTreeMap<String, String> =
        url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let page = async {
        let name = asked.get("file").map_or(NEW_FILE, String::as_str);
        let texts = texts(&desk, &actor).await?;
        let (state, text) = (state_of(&texts), texts.get(name));
        let (is_there, text) = (text.is_some(), text.map_or("", String::as_str));
        Ok(of_file(&OpenFile { name, text, state: &state, is_there }, ""))
    };
    render_page(&desk, page.await, &actor, &uri).await
}

/// Checks, applies or removes, and shows what came of it beside what was written.
pub(super) async fn send(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let actor = match visitor(&desk, &head.headers, &head.uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let page = async {
        let (meant, form) = sent(&desk, &actor, &head.headers, body).await?;
        let acting = access::permit(&actor, meant)?;
        let field = |name: &str| form.get(name).cloned().unwrap_or_default();
        let (name, does, reason) = (field("file").trim().to_owned(), field("do"), field("reason"));
        // Browsers send lines that end in CR and LF, whatever the file has.
        let text = field("text").replace("\r\n", "\n");
        let wanted = if does == REMOVE { Value::Null } else { Value::from(text.clone()) };
        let edit = |state: Option<String>| {
            json!({
                "change": { "files": { name.clone(): wanted.clone() }, "based_on": state },
                "reason": Some(&reason).filter(|reason| !reason.is_empty()),
            })
        };
        let call = command(&desk, &actor, &[], edit(Some(field("state"))), acting)?;
        let outcome = match does.as_str() {
            APPLY | REMOVE => deployment::apply(call).await,
            _ => deployment::check(call).await,
        };
        let is_applied = outcome.as_ref().is_ok_and(|outcome| outcome.is_applied);
        let is_stale = outcome.as_ref().is_err_and(|error| error.status == StatusCode::CONFLICT);
        // What was written stays on the page, whatever is wrong with it. Whoever has seen what others changed since may
        // apply it all the same.
        let state = match &outcome {
            Ok(outcome) => outcome.state.clone(),
            Err(_) if is_stale => state_of(&texts(&desk, &actor).await?),
            Err(_) => field("state"),
        };
        let opened = OpenFile { name: &name, text: &text, state: &state, is_there: does != REMOVE || !is_applied };
        let mut page = of_file(&opened, &reason);
        match outcome {
            Ok(outcome) => tell(&mut page, outcome, &does),
            Err(error) => {
                (page.alert, page.hint) = (Some(sentence(&error.message)), error.hint.as_deref().map(sentence));
                if is_stale {
                    page.hint = Some("What is written here against the files as they are now stands below.".to_owned());
                    let again = command(&desk, &actor, &[], edit(None), acting)?;
                    let differences = deployment::check(again).await.map(|outcome| outcome.differences);
                    page.sections.extend(differences.unwrap_or_default().into_iter().map(difference));
                }
            }
        }
        Ok(page)
    };
    render_page(&desk, page.await, &actor, &head.uri).await
}

async fn texts(desk: &Arc<Desk>, actor: &Actor) -> Result<Texts, ApiError> {
    deployment::texts(access::for_operators(ask(desk, actor, &[], Value::Null)?)?).await
}

/// A file on the page.
struct OpenFile<'a> {
    name: &'a str,
    text: &'a str,
    /// What all files were when it was opened.
    state: &'a str,
    is_there: bool,
}

fn of_file(opened: &OpenFile<'_>, reason: &str) -> Page {
    let field = |name: &str, label: &str, about: &str, kind: &'static str, value: &str| TrialField {
        name: name.to_owned(),
        label: label.to_owned(),
        about: about.to_owned(),
        is_required: false,
        kind,
        choices: Vec::new(),
        value: value.to_owned(),
    };
    let mut buttons = vec![
        TrialButton { label: "Check", does: CHECK, is_main: false },
        TrialButton { label: "Apply", does: APPLY, is_main: true },
    ];
    if opened.is_there {
        buttons.push(TrialButton { label: "Remove this file", does: REMOVE, is_main: false });
    }
    let trial = Trial {
        action: EDIT.to_owned(),
        stream: String::new(),
        fields: vec![
            field("file", "File", "Another name makes another file.", "text", opened.name),
            field("text", "Text", "", "file", opened.text),
            field("reason", "Why", "Kept with the version.", "text", reason),
            field("state", "", "", "hidden", opened.state),
        ],
        more: None,
        buttons,
    };
    Page {
        crumb: Some((HOME.to_owned(), "Deployment".to_owned())),
        trial: Some(trial),
        ..Page::new(HOME, format!("Edit {}", opened.name))
    }
}

/// What came of it, above and below the form.
fn tell(page: &mut Page, outcome: EditOutcome, does: &str) {
    let is_fine = outcome.problems.is_empty();
    let (state, words) = match (is_fine, outcome.is_applied, outcome.differences.is_empty()) {
        (true, _, true) => ("already", "Nothing differs from what is served."),
        (true, true, false) => ("done", "It is served now."),
        (true, false, false) => ("fine", "Nothing is wrong with it. It is not served yet."),
        (false, ..) if does == CHECK => ("refused", "It can't be served like that."),
        (false, ..) => ("refused", "It can't be served like that, and nothing has changed."),
    };
    if is_fine {
        page.facts = vec![("Outcome", Cell::state(state))];
        page.lead = Some(words.to_owned());
    } else {
        page.alert = Some(words.to_owned());
        // Before the text, which may be longer than a screen.
        page.hint = outcome.problems.first().map(in_words);
        let rows = outcome.problems.into_iter().map(problem).collect();
        page.sections.push(Section::table("What is wrong", vec!["File", "Line", "What", "What to do"], rows, ""));
    }
    page.sections.extend(outcome.differences.into_iter().map(difference));
}

/// A problem in a sentence, with its place before it.
fn in_words(problem: &EditProblem) -> String {
    let line = problem.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let hint = problem.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{}{line}: {}{hint}", problem.file, sentence(&problem.message).trim_end_matches('.'))
}

fn problem(problem: EditProblem) -> Vec<Cell> {
    vec![
        Cell::text(problem.file),
        problem.line.map_or(Cell::Nothing, Cell::Number),
        Cell::text(problem.message),
        Cell::maybe(problem.hint),
    ]
}

fn difference(difference: Difference) -> Section {
    Section::new(difference.file, Body::Diff(DiffMark::lines(&difference.lines)))
}

fn address_of(name: &str) -> String {
    format!("{EDIT}?file={}", query(name))
}

/// The first names of some, and how many more there are.
fn shown(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let first = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len() {
        more if more > SHOWN => format!("{first} and {} more", more - SHOWN),
        _ => first,
    }
}
