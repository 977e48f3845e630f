//! One tool for each agent: a message in, its answer out.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_stream::stream;
use forecourt_core::policy::Submission;
use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::{
    AgentCard, CollectedReply, Ending, Error, Event, Handle, LazyJson, Message, MessageId, Noun, Part, PolicyPart,
    QuestionAnswer, Reply, Role, StateToken, TaskState, ThreadId, Turn, in_place,
};
use forecourt_host::{Host, Run, TaskAccess};
use forecourt_surface::abandon::CancelOnDrop;
use forecourt_surface::tool::{ElicitedAnswer, Tool, ToolCall, ToolEvent, ToolOutput};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::answer::{self, TaskLocation};
use crate::content::failed;
use crate::limits::BECOMES_TASK_AFTER;
use crate::{payment, task};

/// The name of an agent's tool.
pub(crate) fn name(handle: &Handle) -> String {
    // Many hosts allow letters, digits, `_` and `-` only, which a handle has.
    format!("ask_{handle}")
}

/// The tool of the agent of `card`. A call that takes longer than `patience` gives the task that goes
/// on.
pub(crate) fn tool(host: &Arc<Host>, card: &AgentCard, patience: Duration) -> Tool {
    let (host, agent) = (host.clone(), card.handle().clone());
    Tool {
        name: name(&agent),
        title: card.name.clone(),
        description: description(card),
        input: INPUT.clone(),
        output: Some(answer::schema()),
        agent: Some(agent.clone()),
        // What other agents do with a message is not known here.
        reads_only: card.finds,
        is_idempotent: false,
        as_tool: true,
        as_skill: false,
        call: Arc::new(move |call| ask(host.clone(), agent.clone(), patience, call)),
        // How agents' tasks end is known without the tool.
        outcome: None,
    }
}

fn description(card: &AgentCard) -> String {
    let mut words = format!("Ask {} ({}). {}", card.name, card.address, card.description);
    for skill in &card.skills {
        words.push_str(&format!("\n- {}: {}", skill.name, skill.description));
    }
    words
}

/// One value for all agents, of which there may be thousands.
static INPUT: LazyLock<LazyJson> = LazyLock::new(|| {
    LazyJson::from(json!({
        "type": "object",
        "properties": {
            "message": {"type": "string", "minLength": 1, "description": "What to say, in the person's own words."},
            "context_id": {
                "type": "string",
                "description": "The context_id of an earlier answer, to follow up on it. Leave it out to start a new conversation.",
            },
            "task_id": {
                "type": "string",
                "description": "The task_id of an answer in the state input_required, to go on with that task.",
            },
            "state": {
                "type": "string",
                "description": "The state of a refusal, once what it asks for was done. Send the context_id along.",
            },
        },
        "required": ["message"],
    }))
});

/// Puts `message` of a call to an agent; tells of its progress, and ends with its answer or its task.
pub(crate) fn ask(host: Arc<Host>, agent: Handle, patience: Duration, call: ToolCall) -> BoxStream<'static, ToolEvent> {
    in_place(move || {
        stream! {
            let begun_at = Instant::now();
            let begun = match begin(&host, agent, patience, &call).await {
                Ok(begun) => begun,
                Err(called) => {
                    yield ToolEvent::Done(called);
                    return;
                }
            };
            let Reply { thread, task, mut events, receipt, usage, .. } = begun;
            let mut place = TaskLocation { thread, task: None };
            let mut deadline = begun_at + patience;
            // A caller that leaves wants no answer; one that was told of the task may.
            let mut abandon = None;
            if let Some(id) = task {
                place.task = host.task(&id, TaskAccess::As(&call.sender)).await.ok();
                abandon = place.task.clone().map(CancelOnDrop::new);
                // A client that goes on with tasks by itself is given the task at once.
                deadline = if call.gives_tasks { begun_at } else { deadline };
            }
            let mut gathered = ReplyAccumulator::default();
            let ending = loop {
                match timeout_at(deadline, events.next()).await {
                    Ok(Some(Event::Progress(progress))) => yield ToolEvent::Progress(progress),
                    Ok(Some(Event::Task(id))) => {
                        place.task = host.task(&id, TaskAccess::As(&call.sender)).await.ok();
                        abandon = place.task.clone().map(CancelOnDrop::new);
                        if call.gives_tasks {
                            break None;
                        }
                    }
                    Ok(Some(event)) => if let Some(ending) = gathered.take(event) {
                        break Some(ending);
                    },
                    Ok(None) => break Some(Ending::unfinished()),
                    Err(_) => break None,
                }
            };
            if let Some(abandon) = &mut abandon {
                abandon.no_more();
            }
            let mut called = match ending {
                Some(ending) => {
                    let collected = CollectedReply { usage: usage.so_far(), ..gathered.finish(ending) };
                    answer::ended(&host, collected, &place).await
                }
                None => answer::working(gathered.finish(Ending::Complete).text(), &place),
            };
            if let Some(receipt) = receipt.get() {
                payment::tell(&mut called.meta, receipt.clone());
            }
            yield ToolEvent::Done(Box::new(called));
        }
    })
}

/// The reply to a call, or why there is none.
async fn begin(host: &Host, agent: Handle, patience: Duration, call: &ToolCall) -> Result<Reply, Box<ToolOutput>> {
    let asked = AgentQuestion::read(call)?;
    let run = match &asked.task {
        Some(id) => {
            let waiting = task::readable(host, id, &call.sender).await?;
            match (waiting.agent == agent, waiting.state.is_waiting()) {
                (false, _) => return Err(Box::new(answer::error_output(&Error::not_found(Noun::Task)))),
                (true, false) => {
                    let conflict = Error::Conflict { what: Noun::Task, state: waiting.state };
                    return Err(Box::new(answer::error_output(&conflict)));
                }
                (true, true) => Run::next_turn(waiting, patience),
            }
        }
        None => Run::task_if_slow(patience.min(BECOMES_TASK_AFTER)),
    };
    let message = asked.message(host, agent, call);
    host.receive(message, run).await.map_err(|error| Box::new(answer::error_output(&error)))
}

/// The arguments of a call.
struct AgentQuestion {
    text: String,
    thread: Option<ThreadId>,
    task: Option<String>,
    history: Vec<Turn>,
    /// What the person behind the client said, by the fields of the agent's question.
    answers: Vec<QuestionAnswer>,
    /// The refusal that was met since.
    state: Option<StateToken>,
}

impl AgentQuestion {
    fn read(call: &ToolCall) -> Result<Self, Box<ToolOutput>> {
        let wrong = |words: &str| Box::new(failed(words));
        let field = |key: &str| match &call.arguments[key] {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.clone())),
            _ => Err(Box::new(failed(format!("`{key}` must be a string")))),
        };
        let text = field("message")?.filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| wrong("`message` is missing: put the question into it"))?;
        let before = |key: &str| call.visited.as_ref().and_then(|visited| visited[key].as_str()).map(str::to_owned);
        let thread = field("context_id")?.or_else(|| before("context_id")).as_deref().and_then(ThreadId::parse);
        let task = field("task_id")?;
        let refusal = call.visited.as_ref().and_then(|visited| visited["refusal"].as_object().cloned());
        let met = refusal.and_then(|refusal| PolicyPart::from_json(refusal).ok()?.state());
        let state = field("state")?.as_deref().and_then(StateToken::parse).or(met);
        Ok(match &call.answered {
            None => Self { text, thread, task, history: Vec::new(), answers: Vec::new(), state },
            Some(answered) => Self::again(text, answered),
        })
    }

    /// The message that answers the agent's question: in its task, or in its conversation, or, where
    /// there is neither, with what was said before.
    fn again(before: String, answered: &ElicitedAnswer) -> Self {
        let text = crate::elicit::words(answered);
        let named = |key: &str| answered.earlier[key].as_str();
        let waits = named("state") == Some(TaskState::InputRequired.name());
        let task = named("task_id").filter(|_| waits).map(str::to_owned);
        let thread = named("context_id").and_then(ThreadId::parse);
        let history = match (&task, &thread) {
            (None, None) => {
                let asked = Turn::text(Role::Assistant, answered.question.text.clone());
                let question = Some(Box::new(answered.question.clone()));
                vec![Turn::text(Role::User, before), Turn { question, ..asked }]
            }
            _ => Vec::new(),
        };
        let answer = |(id, value): (&String, &Value)| QuestionAnswer { id: id.clone(), value: value.clone() };
        let answers = answered.answers.iter().map(answer).collect();
        Self { text, thread, task, history, answers, state: None }
    }

    fn message(self, host: &Host, agent: Handle, call: &ToolCall) -> Message {
        let id = MessageId::mint(&**host.entropy());
        let payment = call.payment.as_deref().cloned();
        let brings = self.state.is_some() || payment.is_some();
        Message {
            submission: brings.then(|| Box::new(Submission { state: self.state, payment })),
            thread: self.thread,
            history: self.history.into(),
            answers: self.answers,
            sender: call.sender.clone(),
            hop: call.hop,
            language: call.language.clone(),
            ..Message::new(id, agent, vec![Part::text(self.text)], call.via, host.clock().now())
        }
    }
}
