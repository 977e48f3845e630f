//! An agent that does what it is told, so that the words of an input reach each way in which a reply can go.

use std::time::Duration;

use bytes::Bytes;
use forecourt_core::findings::ItemFindings;
use forecourt_core::policy::{AcceptedPayment, AuthChallenge, RefusalKind};
use forecourt_core::{
    Admitted, Agent, Ending, Event, EventStream, FailureCause, File, Findings, Message, Part, PolicyPart, Progress,
    Question, SignIn, ToolCall, ToolOutcome,
};
use forecourt_testkit::Step;
use futures::{StreamExt, stream};
use serde_json::{Value, json};

/// Longer than a protocol waits before it answers with a task.
const SLOW: Duration = Duration::from_secs(75);
/// Fragments of a long answer.
const FRAGMENTS: usize = 200;

/// The agent.
#[derive(Debug)]
pub struct Player;

impl Agent for Player {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let steps = stream::iter(steps(&admitted.into_message()));
        Box::pin(steps.filter_map(|step| async {
            match step {
                Step::Do(event) => return Some(event),
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Hang | Step::Panic => std::future::pending::<()>().await,
            }
            None
        }))
    }
}

/// What it does: the first word says so. Other words it gives back, with all that came along.
fn steps(message: &Message) -> Vec<Step> {
    let text = message.addressed_text();
    let ends = |ending: Ending| vec![Step::Do(Event::Ending(ending))];
    let refuses = |kind: RefusalKind| ends(Ending::Refused(Box::new(PolicyPart::new(kind, "Not so."))));
    let fails = |cause: FailureCause| ends(cause.ending("It did not work."));
    match text.split_ascii_whitespace().next().unwrap_or_default() {
        "ask" => ends(Ending::Question(question())),
        "login" => ends(Ending::SignIn(Box::new(SignIn { question: question(), challenges: vec![bearer()] }))),
        "prove" => refuses(RefusalKind::Unauthorized { auth_challenges: vec![bearer()] }),
        "pay" => refuses(RefusalKind::PaymentRequired { accepted_payments: vec![payment()] }),
        "forbid" => refuses(RefusalKind::Forbidden),
        "often" => refuses(RefusalKind::TooManyRequests { retry_after_seconds: Some(3) }),
        "law" => refuses(RefusalKind::UnavailableForLegalReasons),
        "busy" => refuses(RefusalKind::ServiceUnavailable { retry_after_seconds: None }),
        "other" => refuses(RefusalKind::Other("x_other".to_owned())),
        "decline" => ends(Ending::Declined { reason: "No.".to_owned() }),
        "cancel" => ends(Ending::Canceled),
        "message" => ends(Ending::Message("*Hello.*".to_owned())),
        "fail" => fails(FailureCause::Agent),
        "unreachable" => fails(FailureCause::Unreachable),
        "refused" => fails(FailureCause::UpstreamRefused),
        "late" => fails(FailureCause::TimedOut),
        "cut" => fails(FailureCause::CutOff),
        "lost" => fails(FailureCause::NodeLost),
        "large" => fails(FailureCause::OverBound),
        "nothing" => Vec::new(),
        "hang" => vec![Step::Do(Event::Text("Well".to_owned())), Step::Hang],
        "slow" => vec![Step::Do(progress()), Step::Wait(SLOW), Step::Do(Event::Text("Done.".to_owned())), complete()],
        "long" => (0..FRAGMENTS).map(|n| Step::Do(Event::Text(format!("{n} ")))).chain([complete()]).collect(),
        "tool" => tools(),
        "find" => found(),
        _ => echo(&text, message),
    }
}

fn echo(text: &str, message: &Message) -> Vec<Step> {
    let parts = message.parts.iter().filter(|part| part.as_text().is_none());
    let parts = parts.map(|part| Step::Do(Event::Part(part.clone())));
    let file = File::inline("text/plain", Some("a.txt".to_owned()), Bytes::from_static(b"hi"));
    let file = text.starts_with("file").then(|| Step::Do(Event::Part(Part::File(file))));
    let text = Step::Do(Event::Text(text.to_owned()));
    [text].into_iter().chain(parts).chain(file).chain([complete()]).collect()
}

fn complete() -> Step {
    Step::Do(Event::Ending(Ending::Complete))
}

fn progress() -> Event {
    Event::Progress(Progress { fraction: Some(0.1), note: Some("begun".to_owned()) })
}

fn bearer() -> AuthChallenge {
    AuthChallenge::new("Bearer").with("realm", "demo")
}

fn payment() -> AcceptedPayment {
    let payload = json!({"x402Version": 1, "error": "payment required", "accepts": []});
    AcceptedPayment { scheme: "x402.exact".to_owned(), payload: payload.as_object().cloned().unwrap_or_default() }
}

/// A question with a field of each type.
fn question() -> Question {
    let questions = json!([
        {"id": "name", "text": "Name?", "type": "free_text"},
        {"id": "age", "text": "Age?", "type": "integer", "default": 30},
        {"id": "size", "text": "Size?", "type": "single_select", "options": ["s", "m"]},
        {"id": "diet", "text": "Diet?", "type": "multi_select", "options": ["vegan", "none"], "default": ["none"]},
        {"id": "sure", "text": "Sure?", "type": "boolean"},
    ]);
    let Value::Array(questions) = questions else { unreachable!("it is an array") };
    Question { text: "Who are you?".to_owned(), questions }
}

fn tools() -> Vec<Step> {
    let call = |outcome| ToolCall { id: "c1".to_owned(), name: "search".to_owned(), args: json!({"q": 1}), outcome };
    let outcomes = [ToolOutcome::Running, ToolOutcome::Result(json!({"hits": 3})), ToolOutcome::Error("e".to_owned())];
    outcomes.map(|outcome| Step::Do(Event::ToolCall(call(outcome)))).into_iter().chain([complete()]).collect()
}

/// What a search says that found two things.
fn found() -> Vec<Step> {
    let items = [9.5, 2.0].map(ItemFindings::scored).to_vec();
    let findings = Findings { summary: "Two.".to_owned(), count: 2, items, ..Findings::default() };
    let item = |name: &str| Part::data(json!({"@type": "Recipe", "name": name, "url": "https://soups.example/x"}));
    let said = [Event::Findings(Box::new(findings)), Event::Part(item("Soup")), Event::Part(item("Bread"))];
    said.map(Step::Do).into_iter().chain([complete()]).collect()
}
