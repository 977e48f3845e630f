//! This module seals tasks: ids, protocol, turns and outcome.

use forecourt_core::reply::CollectedReply;
use forecourt_core::store::{Resumption, TaskChange, Webhook};
use forecourt_core::{Account, Ending, Handle, Part, Role, StoreError, Task, TaskId, TaskState, ThreadId, Turn};
use serde::{Deserialize, Serialize};

use super::webhooks::{NewWebhook, cost_of_all};
use super::{Holder, corrupt, cost_of};
use crate::seal::{Hash, Label, Seal, hash};
use crate::slim;
use crate::time::{moment, nanos};

/// What of a task is sealed: its ids, where it came from and what was said.
#[derive(Serialize, Deserialize)]
struct Body {
    id: TaskId,
    thread: Option<ThreadId>,
    received_via: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    #[serde(default)]
    turns: Vec<Turn>,
    /// The request, in rows of version 1, which had no turns.
    #[serde(default, skip_serializing)]
    request: Vec<Part>,
}

impl Body {
    fn turns(turns: Vec<Turn>, request: Vec<Part>) -> Vec<Turn> {
        let asked = |parts| vec![Turn::new(Role::User, parts)];
        // A row of version 1 has only a request; a migration can't rewrite what is sealed.
        if turns.is_empty() && !request.is_empty() { asked(request) } else { turns }
    }
}

/// A task as a row, ready to be written.
pub(crate) struct NewTask {
    pub(crate) hash: Hash,
    pub(crate) thread: Option<Hash>,
    pub(crate) agent: String,
    pub(crate) owner: Option<String>,
    pub(crate) state: TaskState,
    pub(crate) run: String,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) body: Vec<u8>,
    pub(crate) outcome: Option<Vec<u8>>,
    pub(crate) webhooks: Vec<NewWebhook>,
    pub(crate) holder: Holder,
}

/// A move as it is written.
pub(crate) struct Move {
    pub(crate) from: TaskState,
    pub(crate) run: String,
    pub(crate) to: TaskState,
    pub(crate) at: i64,
    pub(crate) outcome: Option<Vec<u8>>,
    pub(crate) ending: Option<Ending>,
    pub(crate) resume: Option<Resumption>,
    pub(crate) webhooks: Vec<NewWebhook>,
    /// The bytes of the turns of `resume` as JSON.
    pub(crate) resume_bytes: usize,
}

fn body_label(task: &Hash) -> Label<'_> {
    Label { kind: "task", of: task, part: b"" }
}

fn outcome_label(task: &Hash) -> Label<'_> {
    Label { kind: "outcome", of: task, part: b"" }
}

fn seal_outcome(seal: &Seal, task: &Hash, outcome: Option<&CollectedReply>) -> Result<Option<Vec<u8>>, StoreError> {
    outcome.map(|outcome| seal.seal(outcome_label(task), &slim::with_parts(outcome)?)).transpose()
}

impl NewTask {
    pub(crate) fn new(seal: &Seal, task: Task, webhooks: &[Webhook]) -> Result<Self, StoreError> {
        let name = hash(task.id.expose());
        let webhooks = NewWebhook::all(seal, &name, webhooks)?;
        let outcome = seal_outcome(seal, &name, task.outcome.as_ref())?;
        let thread = task.thread.as_ref().map(|thread| hash(thread.key()));
        let (id, received_via, trace, turns) = (task.id, task.received_via, task.trace, task.turns);
        let body = Body { id, thread: task.thread, received_via, trace, turns, request: Vec::new() };
        Ok(Self {
            hash: name,
            thread,
            agent: task.agent.into(),
            owner: task.owner,
            state: task.state,
            run: task.run,
            created_at: nanos(task.created_at),
            updated_at: nanos(task.updated_at),
            expires_at: nanos(task.expires_at),
            body: seal.seal(body_label(&name), &slim::with_turns(&body)?)?,
            outcome,
            webhooks,
            holder: Holder::new(seal, &task.account),
        })
    }
}

impl NewTask {
    /// The bytes that are charged for it, with the webhooks that come with it.
    pub(crate) fn cost(&self) -> u64 {
        cost_of(self.outcome.iter().chain([&self.body])) + cost_of_all(&self.webhooks)
    }
}

impl Move {
    pub(crate) fn new(seal: &Seal, task: &TaskId, change: TaskChange) -> Result<Self, StoreError> {
        let hash = hash(task.expose());
        let outcome = seal_outcome(seal, &hash, change.outcome.as_ref())?;
        let ending = change.outcome.map(|outcome| outcome.ending);
        let told = change.resume.as_ref().map(|resumption| &resumption.webhooks[..]).unwrap_or_default();
        let webhooks = NewWebhook::all(seal, &hash, told)?;
        let turns = change.resume.as_ref().map(|resumption| serde_json::to_vec(&resumption.turns));
        let resume_bytes = turns.and_then(Result::ok).map_or(0, |json| json.len());
        Ok(Self {
            webhooks,
            from: change.from,
            run: change.run,
            to: change.to,
            at: nanos(change.at),
            outcome,
            ending,
            resume: change.resume,
            resume_bytes,
        })
    }
}

/// A task as it was read, still sealed.
pub(crate) struct SealedTask {
    pub(crate) hash: Hash,
    pub(crate) agent: String,
    pub(crate) owner: Option<String>,
    pub(crate) run: String,
    pub(crate) created_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) body: Vec<u8>,
    pub(crate) state: String,
    pub(crate) updated_at: i64,
    pub(crate) outcome: Option<Vec<u8>>,
}

impl SealedTask {
    pub(crate) fn hash(&self) -> &Hash {
        &self.hash
    }

    pub(crate) fn open(self, seal: &Seal) -> Result<Task, StoreError> {
        let body: Body = seal.open(body_label(&self.hash), self.body)?;
        let outcome = self.outcome.map(|sealed| seal.open(outcome_label(&self.hash), sealed)).transpose()?;
        Ok(Task {
            id: body.id,
            agent: Handle::parse(&self.agent).map_err(|e| corrupt(e.to_string()))?,
            thread: body.thread,
            owner: self.owner,
            // The store has only a keyed hash of the account, from which it can't be told.
            account: Account::HOST,
            received_via: body.received_via,
            trace: body.trace,
            turns: Body::turns(body.turns, body.request),
            state: TaskState::from_name(&self.state).ok_or_else(|| corrupt("a task is in no known state"))?,
            outcome,
            run: self.run,
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
            expires_at: moment(self.expires_at),
        })
    }
}

/// The body of a task with what is new as it goes on. Its turns are few and bounded, so they are sealed as one.
pub(crate) fn resumed(
    seal: &Seal,
    task: &Hash,
    sealed: Vec<u8>,
    resumption: &Resumption,
) -> Result<Vec<u8>, StoreError> {
    let mut body: Body = seal.open(body_label(task), sealed)?;
    body.turns = Body::turns(body.turns, std::mem::take(&mut body.request));
    body.turns.extend(resumption.turns.iter().cloned());
    seal.seal(body_label(task), &slim::with_turns(&body)?)
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::store_suite::some_task;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_asked_in_version_1_is_a_turn() {
        let task = some_task();
        let request = json!([{"kind": "text", "mime": "text/plain", "content": "hi"}]);
        let body = json!({"id": task.id, "thread": null, "received_via": "rest", "request": request});
        let body: Body = serde_json::from_value(body).unwrap();
        let turns = Body::turns(body.turns, body.request);
        assert_eq!((turns.len(), turns[0].role), (1, Role::User));
        assert_eq!(turns[0].parts, [Part::text("hi")]);
    }
}
