//! Skills that are called by their name with data, beside the agents that are talked to.
//!
//! A message to the hub whose only data is `{"skill": ID, "input": {…}}` calls the skill of that id, and
//! its result comes back as data. Of a skill that failed, or was refused, there is a task that says so.

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Skill, TaskId, TaskState, ThreadId};
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent, ToolOutput};
use futures::StreamExt;
use serde_json::{Map, Value, json};

use crate::card::limits::EXAMPLE_FIELDS_MAX;
use crate::model::{Content, Item, Message, Metadata, OperationOutcome, Part, Role};
use crate::{NAME, view};

use super::{Caller, OperationReply, Service, ServiceError};

/// What cards say of a skill, with an example of the data that calls it.
pub(crate) fn card_skill(tool: &Tool) -> Skill {
    // Its own copy: one that is kept as a text stays so.
    let schema = tool.input.clone().into_value();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let fields = required.filter_map(Value::as_str).take(EXAMPLE_FIELDS_MAX);
    let input: Map<String, Value> = fields.map(|name| (name.to_owned(), json!("…"))).collect();
    Skill {
        id: tool.name.clone(),
        name: tool.title.clone(),
        description: tool.description.clone(),
        tags: vec!["endpoint".to_owned()],
        examples: vec![json!({ "skill": tool.name, "input": input }).to_string()],
    }
}

/// A call of a skill.
pub(super) struct SkillCall<'a> {
    skill: &'a Tool,
    input: Value,
}

/// The skill that a message calls, if it is one of `skills`.
pub(super) fn requested<'a>(skills: &'a [Tool], message: &Message) -> Option<SkillCall<'a>> {
    let mut data = message.parts.iter().filter_map(|part| match &part.content {
        Content::Data(Value::Object(data)) => Some(data),
        _ => None,
    });
    // Any other data is for the agent that the message is for.
    let (Some(only), None) = (data.next(), data.next()) else { return None };
    let id = only.get("skill")?.as_str()?;
    let skill = skills.iter().find(|skill| skill.name == id)?;
    Some(SkillCall { skill, input: only.get("input").cloned().unwrap_or_else(|| json!({})) })
}

impl Service {
    /// Calls a skill, and says what came of it.
    pub(super) async fn call_skill(
        &self,
        caller: &Caller<'_>,
        message: &Message,
        request: SkillCall<'_>,
    ) -> Result<OperationReply, ServiceError> {
        let sender = self.sender(caller, self.host.directory().default_agent()).await?;
        let thread = self.thread(message.context.as_deref(), None, &sender).await?;
        let call = ToolCall {
            arguments: request.input,
            sender,
            hop: caller.hop(),
            language: None,
            via: NAME,
            gives_tasks: false,
            answered: None,
            visited: None,
            payment: None,
        };
        let mut events = (request.skill.call)(call);
        let mut output = ToolOutput::default();
        while let Some(event) = events.next().await {
            if let ToolEvent::Done(done) = event {
                output = *done;
            }
        }
        self.skill_reply(output, &thread)
    }

    fn skill_reply(&self, output: ToolOutput, thread: &ThreadId) -> Result<OperationReply, ServiceError> {
        match output.refusal {
            // Nothing was begun, and a task would read as if it had been.
            Some(part) if matches!(part.kind, RefusalKind::ServiceUnavailable { .. }) => {
                return Err(ServiceError::Refused(part));
            }
            Some(part) => return Ok(self.refused(thread, part)),
            None => {}
        }
        let mut parts = vec![data(output.structured)];
        if !output.is_error {
            let message = self.skill_message(parts, output.meta, thread);
            return Ok(OperationReply::Once(OperationOutcome::Sent(Item::Message(message))));
        }
        parts.extend(output.text.into_iter().map(Part::text));
        let id = TaskId::mint(&**self.host.entropy()).expose().to_owned();
        let task =
            view::ended(id, self.skill_message(parts, output.meta, thread), TaskState::Failed, self.host.clock().now());
        Ok(OperationReply::Once(OperationOutcome::Sent(Item::Task(task))))
    }

    /// What a skill says: its result, and beside it what its endpoint wants known, such as that it is deprecated.
    fn skill_message(&self, parts: Vec<Part>, metadata: Metadata, thread: &ThreadId) -> Message {
        Message {
            id: forecourt_core::ids::mint(&**self.host.entropy()),
            role: Role::Agent,
            parts,
            context: Some(thread.expose().to_owned()),
            task: None,
            references: Vec::new(),
            extensions: Vec::new(),
            metadata,
        }
    }
}

fn data(value: Value) -> Part {
    Part { content: Content::Data(value), filename: None, media_type: None, metadata: Metadata::new() }
}
