//! A message of ours as one of A2A.

use forecourt_core::limits::HOPS_MAX;
use forecourt_core::part::ArtifactContent;
use forecourt_core::{FileSource, Message, Part, ToolOutcome};
use serde_json::{Map, Value, json};

use super::threads::RemoteThread;
use crate::model::{self, Configuration, Content, Metadata, Role, Send};
use crate::payment;

/// What ours is called among metadata.
const OURS: &str = "mentionable";
/// Keys of ours that mean something to us only: the chain is counted anew, and the history is that
/// of this host.
const OWN_KEYS: [&str; 2] = ["agent_chain", "history"];

/// Which agent in line the remote one would be, counted from 1, and how many there may be. `None`:
/// it would be one too many. Companion specifications 4.6.
pub(super) fn chain(message: &Message) -> Option<(u32, u32)> {
    // A caller may shorten the chain, and never lengthen it.
    let claimed = message.metadata.get(OURS).and_then(|ours| ours["agent_chain"]["max_hops"].as_u64());
    let max = claimed.and_then(|max| u32::try_from(max).ok()).map_or(HOPS_MAX, |max| max.min(HOPS_MAX));
    // `hop` agents stood before this one, which is number `hop + 1`; the remote agent is the next.
    let hop = message.hop.saturating_add(2);
    (hop <= max).then_some((hop, max))
}

/// The message for the other end of its conversation. Its id is fresh: two callers may choose the
/// same one, and the remote agent may take that for a repetition.
pub(super) fn send(
    message: &Message,
    id: String,
    remote: &RemoteThread,
    (hop, max): (u32, u32),
    send_history: bool,
) -> Box<Send> {
    let mut ours = match message.metadata.get(OURS) {
        Some(Value::Object(ours)) => ours.clone(),
        _ => Map::new(),
    };
    OWN_KEYS.iter().for_each(|key| drop(ours.remove(*key)));
    ours.insert("agent_chain".to_owned(), json!({"hop": hop, "max_hops": max, "is_final": hop == max}));
    // Only when the conversation begins there: afterwards the remote agent has a history of its own for `contextId`.
    if send_history && remote.context.is_none() && !message.history.is_empty() {
        ours.insert("history".to_owned(), json!(message.history));
    }
    let mut metadata: Metadata = message.metadata.clone();
    metadata.insert(OURS.to_owned(), ours.into());
    // What this host asks for itself it has taken by now: what is left is for who asked for it there.
    let payment = message.submission.as_ref().and_then(|submission| submission.payment.as_ref());
    if let Some(payment) = payment.filter(|_| remote.wants_payment) {
        payment::submit(&mut metadata, payment);
    }
    Box::new(Send {
        message: model::Message {
            id,
            role: Role::User,
            parts: message.parts.iter().filter_map(part).collect(),
            context: remote.context.clone(),
            task: remote.waiting.clone(),
            references: Vec::new(),
            extensions: message.extensions.clone(),
            metadata,
        },
        configuration: Configuration::default(),
        metadata: Metadata::new(),
    })
}

/// A part, as A2A has it. What only this host can read is left out.
fn part(part: &Part) -> Option<model::Part> {
    Some(match part {
        Part::Text(text) => {
            let media_type = (text.mime != "text/plain").then(|| text.mime.clone());
            model::Part { media_type, ..model::Part::text(&text.content) }
        }
        Part::Link(link) => model::Part::text(match &link.title {
            Some(title) => format!("[{title}]({})", link.url),
            None => link.url.clone(),
        }),
        Part::Data(data) => model::Part { media_type: data.mime.clone(), ..model::Part::data((*data.data).clone()) },
        Part::File(file) => filed(&file.source, &file.mime, file.name.as_deref())?,
        Part::Artifact(artifact) => match &artifact.content {
            ArtifactContent::Text(text) => model::Part {
                media_type: Some(artifact.mime.clone()),
                filename: artifact.name.clone(),
                ..model::Part::text(text)
            },
            ArtifactContent::Bytes(source) => filed(source, &artifact.mime, artifact.name.as_deref())?,
        },
        Part::ToolCall(call) => model::Part::data(match &call.outcome {
            ToolOutcome::Running => {
                json!({"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.args})
            }
            ToolOutcome::Result(output) => {
                json!({"type": "tool-result", "toolCallId": call.id, "toolName": call.name, "output": output})
            }
            ToolOutcome::Error(message) => json!({
                "type": "tool-error", "toolCallId": call.id, "toolName": call.name, "error": {"message": message},
            }),
        }),
        // A refusal of one's own in a question: its words say what it is.
        Part::Policy(policy) => model::Part::text(&policy.message),
        Part::Unknown(unknown) => model::Part::data(unknown.fields.clone().into()),
    })
}

fn filed(source: &FileSource, mime: &str, name: Option<&str>) -> Option<model::Part> {
    let content = match source {
        FileSource::Inline(bytes) => Content::Raw(bytes.clone()),
        FileSource::Url { url, .. } => Content::Url(url.clone()),
        // The message does not hold these bytes: they are in the store of this host.
        FileSource::Kept => return None,
    };
    Some(model::Part {
        media_type: Some(mime.to_owned()),
        filename: name.map(str::to_owned),
        ..model::Part::of(content)
    })
}
