//! An agent's reply as the result of a tool: the words, and what programs go on with.

use std::sync::LazyLock;

use forecourt_core::clock::whole_seconds;
use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::reply::Question;
use forecourt_core::{CollectedReply, Ending, Error, File, FileSource, LazyJson, Part, TaskState, ThreadId};
use forecourt_host::{Host, TaskPermit};
use forecourt_surface::ending::put_code;
use forecourt_surface::tool::ToolOutput;
use forecourt_surface::usage::put_usage;
use serde_json::{Map, Value, json};

use crate::content::failed;
use crate::limits::INLINE_FILE_BYTES_MAX;
use crate::payment;

/// What a reply belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskLocation {
    /// The conversation, when the agent keeps one.
    pub(crate) thread: Option<ThreadId>,
    /// The task that records it, when there is one.
    pub(crate) task: Option<TaskPermit>,
}

/// The shape of [`ToolOutput::structured`] for replies of agents: an object.
pub(crate) fn schema() -> LazyJson {
    SCHEMA.clone()
}

/// One value for the tools of all agents, of which there may be thousands.
static SCHEMA: LazyLock<LazyJson> = LazyLock::new(|| {
    LazyJson::from(json!({
        "type": "object",
        "properties": {
            "state": {
                "type": "string",
                "enum": TaskState::ALL.map(TaskState::name),
                "description": "completed: the answer is whole. working: call await_task with task_id. \
                    input_required: call again with the same context_id or task_id and what was asked for.",
            },
            "text": {"type": "string", "description": "The answer so far, in markdown."},
            "context_id": {"type": "string", "description": "Names the conversation. Send it back to follow up."},
            "task_id": {"type": "string", "description": "Names the task, when the answer takes its time."},
            "items": {"type": "array", "description": "Structured results, such as schema.org objects.", "items": {}},
            "question": {"type": "object", "description": "What the agent would like to know."},
            "refusal": {
                "type": "object",
                "description": "Why the agent declined, and what can be done. Once it was done at `url`, call again with \
                    the `state` of the refusal.",
            },
            "error": {"type": "string", "description": "Why the agent could not answer."},
            "code": {
                "type": "string",
                "description": "The same for programs: declined (asking again changes nothing), sign-in-needed, canceled, \
                    or what it failed of.",
            },
        },
        "required": ["state", "text"],
    }))
});

/// A reply that has ended.
pub(crate) async fn ended(host: &Host, collected: CollectedReply, place: &TaskLocation) -> ToolOutput {
    let state = TaskState::after(&collected.ending);
    let text = collected.text();
    let mut called = ToolOutput { text: words(&text), ..ToolOutput::default() };
    put_usage(&mut called.meta, &collected.usage);
    let mut items = Vec::new();
    for part in collected.parts {
        match part {
            Part::Data(data) => items.push(data.data.into_value()),
            Part::Unknown(unknown) => items.push(Value::Object(unknown.fields)),
            Part::File(_) | Part::Link(_) | Part::Artifact(_) => called.parts.push(near(host, place, part).await),
            Part::Text(_) | Part::ToolCall(_) | Part::Policy(_) => {}
        }
    }
    let mut fields = fields(state, text, place);
    if !items.is_empty() {
        fields.insert("items".to_owned(), items.into());
    }
    close(&mut called, &mut fields, collected.ending);
    finish(called, fields)
}

/// A reply that goes on as a task. `so_far` is what was said until now.
pub(crate) fn working(so_far: String, place: &TaskLocation) -> ToolOutput {
    let mut called = ToolOutput {
        text: words(&so_far),
        task: place.task.as_ref().map(|task| task.id.clone()),
        ..ToolOutput::default()
    };
    called.text.push("This takes longer. Call await_task with this task_id to have the rest.".to_owned());
    finish(called, fields(TaskState::Working, so_far, place))
}

/// What an error says to a caller. The cause of ours goes to the log.
pub(crate) fn error_output(error: &Error) -> ToolOutput {
    if let Error::Internal(cause) = error {
        tracing::error!(%cause, "a call failed");
    }
    let message = match error {
        Error::Unavailable { retry_after } => format!("{error}; try again in {} s", whole_seconds(*retry_after)),
        error => error.to_string(),
    };
    let structured = json!({"error": {"code": error.code(), "message": message}});
    ToolOutput { structured, ..failed(message) }
}

fn words(text: &str) -> Vec<String> {
    Vec::from_iter((!text.is_empty()).then(|| text.to_owned()))
}

fn fields(state: TaskState, text: String, place: &TaskLocation) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("state".to_owned(), state.name().into());
    fields.insert("text".to_owned(), text.into());
    let (thread, task) = (place.thread.as_ref(), place.task.as_ref());
    fields.extend(thread.map(|thread| ("context_id".to_owned(), thread.expose().into())));
    fields.extend(task.map(|task| ("task_id".to_owned(), task.id.expose().into())));
    fields
}

/// Adds what an ending says: a question, a refusal, or why there is no answer.
fn close(called: &mut ToolOutput, fields: &mut Map<String, Value>, ending: Ending) {
    match ending {
        Ending::Complete | Ending::Message(_) => {}
        Ending::Question(question) => {
            fields.insert("question".to_owned(), json!(question));
            called.text.push(asked(&question));
            called.question = Some(question);
        }
        Ending::Refused(part) => {
            fields.insert("refusal".to_owned(), json!(part));
            called.refusal = Some(part);
        }
        ending @ (Ending::SignIn(_) | Ending::Declined { .. } | Ending::Failed { .. } | Ending::Canceled) => {
            let reason = ending.reason().unwrap_or_default();
            called.text.push(reason.clone().into_owned());
            fields.insert("error".to_owned(), reason.into());
            fields.insert("code".to_owned(), ending.code().into());
            put_code(&mut called.meta, &ending);
            called.is_error = true;
        }
    }
}

/// A question in words, with its choices.
fn asked(question: &Question) -> String {
    let mut words = question.text.clone();
    for one in &question.questions {
        let Some(text) = one["text"].as_str() else { continue };
        words.push_str(&format!("\n- {text}"));
        let options: Vec<&str> = one["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !options.is_empty() {
            words.push_str(&format!(" ({})", options.join(", ")));
        }
    }
    words
}

/// The whole, with what programs read once more as text where there is more than words: many models
/// see nothing else.
fn finish(mut called: ToolOutput, fields: Map<String, Value>) -> ToolOutput {
    let more = |key: &&String| !matches!(key.as_str(), "state" | "text" | "question" | "refusal" | "error" | "code");
    if fields.keys().any(|key| more(&key)) {
        let shown: Map<String, Value> =
            fields.iter().filter(|(key, _)| more(key) || key.as_str() == "state").map(owned).collect();
        called.text.push(Value::Object(shown).to_string());
    }
    called.structured = Value::Object(fields);
    if let Some(part) = &called.refusal {
        payment::offer(&mut called.structured, part);
    }
    called
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// The same part with the bytes of a small kept file in place, and the address of a large one.
async fn near(host: &Host, place: &TaskLocation, part: Part) -> Part {
    match part {
        Part::File(mut file) => {
            let small = file.size_bytes.is_some_and(|size| size <= INLINE_FILE_BYTES_MAX as u64);
            file.source = sourced(host, place, file.source.clone(), file.id.as_deref(), small).await;
            Part::File(file)
        }
        Part::Artifact(Artifact { content: ArtifactContent::Bytes(source), mime, artifact_type, name }) => {
            let source = sourced(host, place, source, None, false).await;
            let file = File { id: None, name: name.or(artifact_type), mime, size_bytes: None, source };
            Part::File(file)
        }
        other => other,
    }
}

async fn sourced(host: &Host, place: &TaskLocation, source: FileSource, id: Option<&str>, small: bool) -> FileSource {
    let site = host.site();
    match (source, &place.task, id) {
        (FileSource::Url { url, expires_at }, _, _) if url.starts_with('/') => {
            FileSource::Url { url: site.url(&url), expires_at }
        }
        (FileSource::Kept, Some(task), Some(id)) => {
            if small && let Ok(kept) = task.artifact(id).await {
                return FileSource::Inline(kept.bytes);
            }
            let url = site.url(&format!("/tasks/{}/artifacts/{id}", task.id.expose()));
            FileSource::Url { url, expires_at: None }
        }
        (source, _, _) => source,
    }
}
