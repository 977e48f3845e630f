//! Questions that a server asks in the middle of a call: the answer here ends with the question, and the call
//! waits, on a connection of its own, until its conversation goes on.

use std::collections::HashMap;
use std::future::Future;

use forecourt_client::form::{AnswerKind, Choice, Field, Form};
use forecourt_core::reply::Question;
use forecourt_core::{Message, Progress, ThreadId};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::limits::{ANSWER_TIME_MAX, CALLS_WAITING_MAX, PROGRESS_WAITING_MAX};
use crate::upstream::call_error::CallError;
use crate::visit::Person;

/// Nobody is there whom a server could ask.
pub(super) struct Nobody;

impl Person for Nobody {
    fn show_progress(&self, _: Progress) {}

    fn can_answer(&self) -> bool {
        false
    }

    fn fill_in(&self, _: Form) -> BoxFuture<'_, Option<Map<String, Value>>> {
        async { None }.boxed()
    }

    fn open_page(&self, _: String, _: String) -> BoxFuture<'_, bool> {
        async { false }.boxed()
    }
}

/// Whoever stands behind a conversation.
pub(super) struct Caller(mpsc::Sender<PendingQuestion>);

impl Person for Caller {
    fn show_progress(&self, _: Progress) {}

    fn can_answer(&self) -> bool {
        true
    }

    fn fill_in(&self, form: Form) -> BoxFuture<'_, Option<Map<String, Value>>> {
        async {
            let (answer, answered) = oneshot::channel();
            self.0.send(PendingQuestion { form, answer }).await.ok()?;
            answered.await.ok()
        }
        .boxed()
    }

    /// A page of another host is no place to send callers of this one. PolicyPart 3.2.
    fn open_page(&self, _: String, _: String) -> BoxFuture<'_, bool> {
        async { false }.boxed()
    }
}

/// A question, and where its answer goes. Dropped, it is declined.
pub(super) struct PendingQuestion {
    form: Form,
    answer: oneshot::Sender<Map<String, Value>>,
}

/// A call that may ask. Dropped, it is given up with its connection.
pub(super) struct Call {
    result: BoxFuture<'static, Result<CallToolResult, CallError>>,
    asked: mpsc::Receiver<PendingQuestion>,
    told: mpsc::Receiver<Progress>,
}

/// How a call went on.
pub(super) enum Step {
    Told(Progress),
    Asks(PendingQuestion),
    Ended(Result<CallToolResult, CallError>),
}

impl Call {
    /// A call that is made by the future which `begin` gives, in the name of a caller who can be asked and
    /// is told of its progress.
    pub(super) fn new<F>(begin: impl FnOnce(Caller, mpsc::Sender<Progress>) -> F) -> Self
    where
        F: Future<Output = Result<CallToolResult, CallError>> + Send + 'static,
    {
        let (sender, asked) = mpsc::channel(1);
        let (listener, told) = mpsc::channel(PROGRESS_WAITING_MAX);
        Self { result: begin(Caller(sender), listener).boxed(), asked, told }
    }

    pub(super) async fn step(&mut self) -> Step {
        tokio::select! {
            // What was told before the end is passed on before it.
            biased;
            Some(progress) = self.told.recv() => Step::Told(progress),
            Some(asked) = self.asked.recv() => Step::Asks(asked),
            result = &mut self.result => Step::Ended(result),
        }
    }
}

/// Calls that wait for an answer, by their conversation.
#[derive(Default)]
pub(super) struct Waiting(Mutex<HashMap<ThreadId, WaitingCall>>);

struct WaitingCall {
    call: Call,
    asked: PendingQuestion,
    until: Instant,
}

impl Waiting {
    /// Keeps a call until its conversation goes on, and gives its question. `None`, and the question is
    /// declined, when there is no conversation or too many calls wait.
    pub(super) fn keep(&self, thread: Option<&ThreadId>, call: Call, asked: PendingQuestion) -> Result<Question, Call> {
        let mut waiting = self.0.lock();
        let now = Instant::now();
        waiting.retain(|_, kept| kept.until > now);
        // A conversation that waits already takes no further place: its earlier call is replaced, and given up.
        let Some(thread) = thread.filter(|thread| waiting.len() < CALLS_WAITING_MAX || waiting.contains_key(thread))
        else {
            return Err(call);
        };
        let question = question(&asked.form);
        waiting.insert(thread.clone(), WaitingCall { call, asked, until: now + ANSWER_TIME_MAX });
        Ok(question)
    }

    /// The call that a message goes on with. What is no answer to its question gives it up.
    pub(super) fn answered(&self, message: &Message) -> Option<Call> {
        let kept = self.0.lock().remove(message.thread.as_ref()?)?;
        let values = values(&kept.asked.form, &message.addressed_text()).filter(|_| kept.until > Instant::now())?;
        kept.asked.answer.send(values).ok()?;
        Some(kept.call)
    }
}

/// A form as a question, its fields by the types of NLWeb 4.1.3.
fn question(form: &Form) -> Question {
    Question { text: form.text.clone(), questions: form.fields.iter().map(asked).collect() }
}

fn asked(field: &Field) -> Value {
    let titles = |choices: &[Choice]| choices.iter().map(|choice| choice.title.clone()).collect::<Vec<_>>();
    let mut asked = match &field.kind {
        AnswerKind::Text => json!({"type": "free_text"}),
        AnswerKind::Number { .. } => json!({"type": "number"}),
        AnswerKind::Boolean => json!({"type": "boolean"}),
        AnswerKind::One(choices) => json!({"type": "single_select", "options": titles(choices)}),
        AnswerKind::Many(choices) => json!({"type": "multi_select", "options": titles(choices)}),
    };
    asked["id"] = field.name.clone().into();
    asked["text"] = field.title.clone().into();
    if let Some(default) = &field.default {
        asked["default"] = default.clone();
    }
    asked
}

/// What words answer: all of them a single question, and one line each of several, behind the words of the
/// question. `None` when that makes no answer. A form without questions is agreed to.
fn values(form: &Form, words: &str) -> Option<Map<String, Value>> {
    let said = |field: &Field| match form.fields.len() {
        1 => field.value(without(words, field).unwrap_or(words)),
        _ => field.value(words.lines().find_map(|line| without(line, field)).unwrap_or_default()),
    };
    if form.fields.is_empty() {
        return matches!(words.trim().to_lowercase().as_str(), "y" | "yes" | "ok").then(Map::new);
    }
    let given: Vec<_> = form.fields.iter().map(|field| (field.clone(), said(field))).collect();
    let answers_something = given.iter().any(|(field, value)| value.is_some() && *value != field.default);
    let values = Field::values(&given)?;
    (answers_something || form.fields.len() == 1).then_some(values)
}

/// The rest of a line that begins with the words, or the name, of a question.
fn without<'a>(line: &'a str, field: &Field) -> Option<&'a str> {
    let rest = [&field.title, &field.name].into_iter().find_map(|start| line.trim().strip_prefix(start.as_str()))?;
    let said = rest.trim_start_matches(':');
    (said.len() < rest.len() || rest.starts_with(' ') || rest.is_empty()).then(|| said.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: Value, order: &[&str]) -> Form {
        let order: Vec<String> = order.iter().map(|name| (*name).to_owned()).collect();
        crate::form::read_schema("Tell me.".into(), &json!({"properties": properties, "required": order}), &order)
    }

    #[test]
    fn words_answer_the_questions_that_they_name() {
        let two = form(
            json!({"kind": {"type": "string", "title": "Which kind?", "enum": ["Pea", "Tomato"]},
                "minutes": {"type": "integer", "title": "How long?"}}),
            &["kind", "minutes"],
        );
        let of = |words: &str| values(&two, words).map(Value::Object);
        let both = Some(json!({"kind": "Pea", "minutes": 20}));
        assert_eq!(of("Which kind? Pea\nHow long? 20"), both);
        assert_eq!(of("minutes: 20\nkind: Pea"), both);
        for no_answer in ["", "something else", "Which kind? Pea", "Which kind? Leek\nHow long? 20", "kindly 3"] {
            assert_eq!(of(no_answer), None, "{no_answer}");
        }
    }

    #[test]
    fn all_words_answer_a_single_question() {
        let one = form(json!({"a": {"type": "string", "title": "Where?"}}), &["a"]);
        assert_eq!(values(&one, "in Rome").map(Value::Object), Some(json!({"a": "in Rome"})));
        assert_eq!(values(&one, "Where? in Rome").map(Value::Object), Some(json!({"a": "in Rome"})));
        let none = form(json!({}), &[]);
        assert_eq!((values(&none, "Yes"), values(&none, "never")), (Some(Map::new()), None));
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_calls_wait_for_so_long() {
        let entropy = forecourt_testkit::CountedEntropy::default();
        let waiting = Waiting::default();
        let keep = || {
            let form = form(json!({"a": {"type": "string"}}), &["a"]);
            let asked = PendingQuestion { form, answer: oneshot::channel().0 };
            let call = Call::new(|_, _| futures::future::pending());
            waiting.keep(Some(&ThreadId::mint(&entropy)), call, asked).is_ok()
        };
        for n in 0..CALLS_WAITING_MAX {
            assert!(keep(), "{n}");
        }
        assert!(!keep());
        tokio::time::advance(ANSWER_TIME_MAX).await;
        assert!(keep());
    }
}
