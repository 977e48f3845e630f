//! CONFIRM: a decision about something that waits for one, with a signed receipt. Base 3.1.

use forecourt_core::{Part, TaskId};
use forecourt_host::{OperatorAnswer, OperatorAnswerOutcome, OperatorDecision, Run, TaskPermit};
use forecourt_identity::jws;
use serde_json::{Value, json};

use super::Floor;
use super::carry::{CarriedMessage, answered, said};
use super::execute::status;
use super::inspect::escalation;

use crate::NAME;
use crate::limits::{ANSWER_PATIENCE, RECEIPT_TTL, WORK_PATIENCE};
use crate::reply::{Problem, Reply};
use crate::status::Status;

/// The decisions, and what the reference implementation calls the first one.
const DECISIONS: [&str; 4] = ["accepted", "rejected", "deferred", "confirmed"];
/// What the header of a receipt says that it is.
const TYPE: &str = "agtp-attestation+jws";

impl Floor<'_> {
    /// Decides, and gives a receipt. The same decision again gives the same receipt.
    pub(super) async fn confirm(&self) -> Result<Reply, Problem> {
        let caller = self.caller()?;
        let is_named = self.given.get(&["target_id"]).is_some();
        match is_named {
            true => self.given.require(&[&["status", "decision"]])?,
            false => self.given.require(&[&["target_id", "attestation_target"]])?,
        }
        let target = self.given.name(&["target_id", "attestation_target"])?.unwrap_or_default();
        let decision = match self.given.one_of(&["status", "decision"], &DECISIONS)?.unwrap_or(DECISIONS[0]) {
            "rejected" => OperatorDecision::Rejected,
            "deferred" => OperatorDecision::Deferred,
            _ => OperatorDecision::Accepted,
        };
        let stream = format!("receipt:{}:{caller}:{target}", caller.len());
        let (number, kept) = match self.service.host.ledger(NAME).last(&stream).await? {
            Some((number, entry)) => (number, Some(entry.body)),
            None => (0, None),
        };
        if let Some(receipt) = kept.filter(|receipt| receipt["status"] == json!(decision)) {
            return Ok(Reply::ok(receipt));
        }
        let reason = self.given.reason()?;
        let effect = self.decide(target, decision, is_named).await?;
        let receipt = self.receipt(caller, target, (decision, reason), effect);
        let until = self.now() + RECEIPT_TTL;
        self.service.host.ledger(NAME).append(&stream, receipt.clone(), Some(until), Some(number)).await?;
        Ok(Reply::ok(receipt))
    }

    /// What goes on by the decision: a task that waits for its caller, or a question to the operator.
    async fn decide(&self, target: &str, decision: OperatorDecision, is_named: bool) -> Result<Value, Problem> {
        if let Some(asked) = self.service.host.inquiries().question(target).await? {
            return self.decide_question(target, decision, asked.inquiry.by.as_deref()).await;
        }
        match self.task(target).await {
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
        let caller = self.caller()?;
        if by == Some(caller) && decision == OperatorDecision::Accepted {
            let message = "who asked can't be the one who decides: the operator answers";
            return Err(Problem::new(Status::FORBIDDEN, "own-escalation", message));
        }
        if by != Some(caller) {
            self.is_operator()?;
        }
        let reason = self.given.reason()?;
        let answer = OperatorAnswer { decision, reason, by: caller.to_owned(), at: self.now() };
        match self.service.host.operator().answer(id, answer).await? {
            OperatorAnswerOutcome::Now(asked) => Ok(json!({"escalation": escalation(&asked)})),
            OperatorAnswerOutcome::Before(asked) => {
                let message = "this question was answered already";
                Err(Problem::new(Status::CONFLICT, "answered-already", message).with("escalation", escalation(&asked)))
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
        let reason = self.given.reason()?;
        let word = match decision {
            OperatorDecision::Rejected => "rejected",
            OperatorDecision::Accepted | OperatorDecision::Deferred => "accepted",
        };
        let text = reason.as_ref().map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}"));
        let told = json!({"confirmation": {
            "status": word, "reason": reason, "attestation": self.given.get(&["attestation"]),
        }});
        let message = self.message(&task.agent, vec![Part::text(text), Part::data(told)]);
        let run = Run::next_turn(task.clone(), ANSWER_PATIENCE);
        Ok(json!({"task": self.gone_on(self.carried(message, run, WORK_PATIENCE).await?, &task.id)?}))
    }

    fn gone_on(&self, carried: CarriedMessage, id: &TaskId) -> Result<Value, Problem> {
        Ok(match carried {
            CarriedMessage::Working(_) => json!({"task_id": id.expose(), "status": "working"}),
            CarriedMessage::Answered { answer, .. } => {
                let answer = answered(answer)?;
                let mut shown = said(&answer);
                shown.insert("task_id".to_owned(), id.expose().into());
                shown.insert("status".to_owned(), status(&answer.ending).into());
                Value::Object(shown)
            }
        })
    }

    /// What was decided, by whom and when, signed by this host.
    fn receipt(&self, caller: &str, target: &str, decided: (OperatorDecision, Option<String>), effect: Value) -> Value {
        let (decision, reason) = decided;
        let attestation_id = self.name("att");
        let claims = json!({
            "attestation_id": attestation_id,
            "server_id": self.server_id(),
            "target_id": target,
            "status": decision,
            "reason": reason,
            "agent_id": caller,
            "issued_at": self.now(),
        });
        let keys = self.service.keys.load();
        let mut receipt = claims.clone();
        receipt["method"] = self.method.into();
        receipt["timestamp"] = claims["issued_at"].clone();
        receipt["attestation"] = jws::sign(keys.current(), TYPE, claims.to_string().as_bytes()).into();
        if let (Value::Object(effect), Value::Object(receipt)) = (effect, &mut receipt) {
            receipt.extend(effect);
        }
        receipt
    }
}
