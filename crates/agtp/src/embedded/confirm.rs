//! CONFIRM: a decision about something that waits for one, with a signed receipt. Base 3.1.

use arc_swap::ArcSwap;
use forecourt_agtp_wire::status::Status;
use forecourt_core::{Error, Part, TaskId, Timestamp};
use forecourt_host::{
    Host, Inquiries, Ledger, OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, Run, TaskPermit,
};
use forecourt_identity::{HostKeys, jws};
use serde_json::{Value, json};

use super::ambient::Ambient;
use super::call::MethodCall;
use super::escalate::describe_question;
use super::messenger::{CarriedMessage, Messenger, members_of, require_answer, work_status};
use super::tasks::CallerTasks;
use crate::limits::{ANSWER_PATIENCE, RECEIPT_APPENDS_MAX, RECEIPT_TTL, WORK_PATIENCE};
use crate::reply::{Problem, Reply};

/// The decisions, and what the reference implementation calls the first one.
const DECISIONS: [&str; 4] = ["accepted", "rejected", "deferred", "confirmed"];
/// What the header of a receipt says that it is.
const TYPE: &str = "agtp-attestation+jws";

/// Answers questions to the operator, whose say this method carries, and does nothing else of the host.
#[derive(Clone, Copy)]
pub(super) struct DecisionControl<'a>(&'a Host);

impl<'a> DecisionControl<'a> {
    pub(super) fn new(host: &'a Host) -> Self {
        Self(host)
    }

    async fn answer(self, id: &str, answer: OperatorAnswer) -> Result<OperatorAnswerOutcome, Error> {
        self.0.operator().answer(id, answer).await
    }
}

/// A decision about something that waits for one, with a signed receipt.
pub(super) struct ConfirmMethod<'a> {
    pub call: MethodCall<'a>,
    pub messenger: Messenger<'a>,
    pub tasks: CallerTasks<'a>,
    pub ambient: Ambient<'a>,
    pub inquiries: Inquiries<'a>,
    pub decisions: DecisionControl<'a>,
    /// The ledger that receipts are stored in.
    pub ledger: Ledger,
    pub keys: &'a ArcSwap<HostKeys>,
    /// The name of this server, which signs.
    pub server_id: &'a str,
}

impl ConfirmMethod<'_> {
    /// Decides, and gives a receipt. The same decision again gives the same receipt.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let caller = self.call.agent_id()?;
        let is_named = self.call.given.get(&["target_id"]).is_some();
        match is_named {
            true => self.call.given.require(&[&["status", "decision"]])?,
            false => self.call.given.require(&[&["target_id", "attestation_target"]])?,
        }
        let target = self.call.given.name(&["target_id", "attestation_target"])?.unwrap_or_default();
        let decision = match self.call.given.one_of(&["status", "decision"], &DECISIONS)?.unwrap_or(DECISIONS[0]) {
            "rejected" => OperatorDecision::Rejected,
            "deferred" => OperatorDecision::Deferred,
            _ => OperatorDecision::Accepted,
        };
        // With its length, since the names of callers and targets may hold colons.
        let stream = format!("receipt:{}:{caller}:{target}", caller.len());
        let (number, kept) = last_receipt(&self.ledger, &stream).await?;
        if let Some(receipt) = kept.filter(|receipt| receipt["status"] == json!(decision)) {
            return Ok(Reply::ok(receipt));
        }
        let reason = self.call.given.reason()?;
        let effect = self.decide(target, decision, is_named).await?;
        let receipt = self.receipt(caller, target, (decision, reason), effect);
        let until = self.ambient.now() + RECEIPT_TTL;
        Ok(Reply::ok(keep(&self.ledger, &stream, receipt, until, number).await?))
    }

    /// What goes on by the decision: a task that waits for its caller, or a question to the operator.
    async fn decide(&self, target: &str, decision: OperatorDecision, is_named: bool) -> Result<Value, Problem> {
        if let Some(asked) = self.inquiries.question(target).await? {
            return self.decide_question(target, decision, asked.inquiry.by.as_deref()).await;
        }
        match self.tasks.find(target).await {
            Ok(task) => self.decide_task(&task, decision).await,
            // The reference implementation confirms what only its caller knows.
            Err(problem) if problem.status != Status::NOT_FOUND || !is_named => match is_named {
                true => Err(problem),
                false => Ok(Value::Null),
            },
            Err(_) => {
                let message = "nothing of this name waits for a decision here";
                Err(Problem::new(Status::NOT_FOUND, "confirm-target-not-found", message))
            }
        }
    }

    /// Who asked can't be the one who decides.
    async fn decide_question(&self, id: &str, decision: OperatorDecision, by: Option<&str>) -> Result<Value, Problem> {
        let caller = self.call.agent_id()?;
        if by == Some(caller) && decision == OperatorDecision::Accepted {
            let message = "who asked can't be the one who decides: the operator answers";
            return Err(Problem::new(Status::FORBIDDEN, "own-escalation", message));
        }
        // Who asked may take the question back or put it off; to grant it takes an operator.
        if by != Some(caller) {
            self.call.require_operator()?;
        }
        let reason = self.call.given.reason()?;
        let answer = OperatorAnswer { decision, reason, by: caller.to_owned(), at: self.ambient.now() };
        match self.decisions.answer(id, answer).await? {
            OperatorAnswerOutcome::Now(asked) => Ok(json!({"escalation": describe_question(&asked)})),
            OperatorAnswerOutcome::Before(asked) => {
                let message = "this question was answered already";
                Err(Problem::new(Status::CONFLICT, "answered-already", message)
                    .with("escalation", describe_question(&asked)))
            }
            OperatorAnswerOutcome::Unknown => {
                Err(Problem::new(Status::NOT_FOUND, "escalation-not-found", "no such question"))
            }
        }
    }

    /// A task that waits goes on with the decision as the caller's next turn. One that does not wait is
    /// as it was.
    async fn decide_task(&self, task: &TaskPermit, decision: OperatorDecision) -> Result<Value, Problem> {
        if !task.state.is_waiting() || decision == OperatorDecision::Deferred {
            return Ok(json!({"task": {"task_id": task.id.expose(), "status": task.state.name()}}));
        }
        let reason = self.call.given.reason()?;
        let word = match decision {
            OperatorDecision::Rejected => "rejected",
            OperatorDecision::Accepted | OperatorDecision::Deferred => "accepted",
        };
        let text = reason.as_ref().map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}"));
        let confirmation = json!({"confirmation": {
            "status": word, "reason": reason, "attestation": self.call.given.get(&["attestation"]),
        }});
        let message = self.messenger.message(&task.agent, vec![Part::text(text), Part::data(confirmation)]);
        let run = Run::next_turn(task.clone(), ANSWER_PATIENCE);
        Ok(json!({"task": progress_of(self.messenger.run(message, run, WORK_PATIENCE).await?, &task.id)?}))
    }

    /// What was decided, by whom and when, signed by this host.
    fn receipt(&self, caller: &str, target: &str, decided: (OperatorDecision, Option<String>), effect: Value) -> Value {
        let (decision, reason) = decided;
        let attestation_id = self.ambient.mint("att");
        let claims = json!({
            "attestation_id": attestation_id,
            "server_id": self.server_id,
            "target_id": target,
            "status": decision,
            "reason": reason,
            "agent_id": caller,
            "issued_at": self.ambient.now(),
        });
        let keys = self.keys.load();
        let mut receipt = claims.clone();
        receipt["method"] = self.call.method.into();
        receipt["timestamp"] = claims["issued_at"].clone();
        receipt["attestation"] = jws::sign(keys.current(), TYPE, claims.to_string().as_bytes()).into();
        if let (Value::Object(effect), Value::Object(receipt)) = (effect, &mut receipt) {
            receipt.extend(effect);
        }
        receipt
    }
}

/// The last receipt of a stream, with its number; 0 for none.
async fn last_receipt(ledger: &Ledger, stream: &str) -> Result<(u64, Option<Value>), Error> {
    let last = ledger.last(stream).await?;
    Ok(last.map_or((0, None), |(number, entry)| (number, Some(entry.body))))
}

/// Keeps a receipt behind the one with this number, and gives the one that stands. Where the same was decided meanwhile,
/// over another connection or node, that is the first one: two receipts of one decision would contradict each other.
pub(super) async fn keep(
    ledger: &Ledger,
    stream: &str,
    receipt: Value,
    until: Timestamp,
    mut number: u64,
) -> Result<Value, Error> {
    for _ in 0..RECEIPT_APPENDS_MAX {
        if ledger.append(stream, receipt.clone(), Some(until), Some(number)).await?.is_some() {
            return Ok(receipt);
        }
        let (last, kept) = last_receipt(ledger, stream).await?;
        match kept {
            Some(kept) if kept["status"] == receipt["status"] => return Ok(kept),
            _ => number = last,
        }
    }
    Err(Error::unavailable())
}

/// How a task goes on that was decided about.
fn progress_of(carried: CarriedMessage, id: &TaskId) -> Result<Value, Problem> {
    Ok(match carried {
        CarriedMessage::Working(_) => json!({"task_id": id.expose(), "status": "working"}),
        CarriedMessage::Answered { answer, .. } => {
            let answer = require_answer(answer)?;
            let mut members = members_of(&answer);
            members.insert("task_id".to_owned(), id.expose().into());
            members.insert("status".to_owned(), work_status(&answer.ending).into());
            Value::Object(members)
        }
    })
}
