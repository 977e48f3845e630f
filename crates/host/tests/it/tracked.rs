//! Work where the wire knows direct answers and tasks that wait: A2A's messages.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::limits::{TASK_TTL, TASK_TURNS_BYTES_MAX, TASK_TURNS_MAX, THREAD_TTL, WEBHOOKS_PER_TASK_MAX};
use forecourt_core::message::text_of;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::reply::Question;
use forecourt_core::store::{IfTaskEnded, TaskFilter, Webhook};
use forecourt_core::{
    Admitted, Agent, AgentCard, Authority, Clock, Ending, Error, Event, EventStream, Handle, Message, MessageId,
    PolicyPart, Reply, Role, ScopeSet, Sender, Task, TaskId, TaskState, ThreadId,
};
use forecourt_host::{FollowUntil, Host, LimitSettings, Rate, Run, TaskAccess};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;

use crate::support::{Setup, handle, message, signed_in};

fn tracked() -> Run {
    Run::task_unless_message(Duration::ZERO)
}

async fn on(host: &Host, task: &TaskId) -> Run {
    Run::next_turn(host.task(task, TaskAccess::ById).await.unwrap(), Duration::ZERO)
}

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

fn asking(question: &str) -> Event {
    Event::Ending(Ending::Question(Question { text: question.to_owned(), questions: Vec::new() }))
}

fn refusing(kind: RefusalKind) -> Event {
    Event::Ending(Ending::Refused(Box::new(PolicyPart::new(kind, "First this."))))
}

fn unauthorized() -> RefusalKind {
    RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new("Bearer").with("realm", "demo.localhost")] }
}

fn said(text: &str, id: &str) -> Message {
    Message { id: MessageId::parse(id).unwrap(), ..message(text) }
}

/// An agent that plays one list of events for each message, and then only hangs.
struct Turns {
    turns: Mutex<Vec<Vec<Event>>>,
    heard: Mutex<Vec<Message>>,
}

impl Turns {
    fn new<const N: usize>(turns: [Vec<Event>; N]) -> Arc<Self> {
        Arc::new(Self { turns: Mutex::new(turns.into_iter().rev().collect()), heard: Mutex::default() })
    }
}

impl Agent for Turns {
    fn handle(&self, admitted: Admitted) -> EventStream {
        self.heard.lock().push(admitted.into_message());
        match self.turns.lock().pop() {
            Some(events) => Box::pin(futures::stream::iter(events)),
            None => Box::pin(futures::stream::pending()),
        }
    }
}

async fn finish(reply: Reply) -> Vec<Event> {
    reply.events.collect().await
}

/// A task that waits for an answer to `Which?`.
async fn waiting(host: &Host) -> TaskId {
    let reply = host.receive(said("Dinner?", "m1"), tracked()).await.unwrap();
    let id = reply.task.clone().unwrap();
    assert_eq!(finish(reply).await.last(), Some(&asking("Which?")));
    id
}

async fn numbered(host: &Host, id: &TaskId, after: u64) -> Vec<(u64, Event)> {
    host.task(id, TaskAccess::ById).await.unwrap().follow(after, FollowUntil::Pause).collect().await
}

#[tokio::test]
async fn a_message_that_is_there_at_once_comes_without_a_task() {
    let setup = Setup { remembers: true, ..Setup::default() };
    let answer = Event::Ending(Ending::Message("Soup.".to_owned()));
    let host = setup.host(Turns::new([vec![answer.clone()], vec![answer.clone()]])).await;
    let reply = host.receive(message("Dinner?"), tracked()).await.unwrap();
    assert_eq!(reply.task, None);
    let thread = reply.thread.clone().unwrap();
    assert_eq!(finish(reply).await, [answer]);
    assert_eq!(
        setup.store.tasks(TaskFilter { limit: 9, ..TaskFilter::default() }, setup.clock.now()).await.unwrap().total,
        0
    );
    host.write_conversations().await;
    let turns = setup.store.thread(&thread, &handle(), setup.clock.now()).await.unwrap().unwrap();
    assert_eq!(turns.turns.iter().map(|turn| text_of(&turn.parts)).collect::<Vec<_>>(), ["Dinner?", "Soup."]);
    // Where the wire has no such choice, there is one all the same.
    assert!(host.receive(message("Dinner?"), Run::in_background(None)).await.unwrap().task.is_some());
}

#[tokio::test(start_paused = true)]
async fn anything_else_is_a_task_from_its_first_event_on() {
    let late = Step::Do(Event::Ending(Ending::Message("Soup.".to_owned())));
    let agents = [
        ScriptedAgent::saying(["So", "up."]),
        ScriptedAgent::new(vec![Step::Do(text("So")), late.clone()]),
        ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(1)), late]),
        ScriptedAgent::new(vec![Step::Panic]),
    ];
    for agent in agents {
        let host = Setup::default().host(agent.clone()).await;
        let reply = host.receive(message("Dinner?"), tracked()).await.unwrap();
        let id = reply.task.clone().unwrap();
        let events = finish(reply).await;
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Ending(_))).count(), 1, "{events:?}");
        let task = host.task(&id, TaskAccess::ById).await.unwrap();
        assert!(task.state.is_final(), "whoever sees the ending sees the task ended");
        let logged: Vec<Event> = host
            .task(&id, TaskAccess::ById)
            .await
            .unwrap()
            .events(0, 9)
            .await
            .unwrap()
            .into_iter()
            .map(|(_, event)| event)
            .collect();
        assert_eq!(logged, events);
        assert_eq!(agent.heard().len(), 1, "the agent is begun once");
    }
}

#[tokio::test]
async fn a_question_is_answered_and_the_log_goes_on() {
    let agent = Turns::new([
        vec![text("Hm. "), asking("Which?")],
        vec![text("Soup "), text("it is."), Event::Ending(Ending::Complete)],
    ]);
    let setup = Setup::default();
    let host = setup.host(agent.clone()).await;
    let id = waiting(&host).await;
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::InputRequired);
    setup.clock.advance(TASK_TTL / 2);
    let reply = host.receive(said("Soup", "m2"), on(&host, &id).await).await.unwrap();
    assert_eq!(reply.task.as_ref(), Some(&id));
    let answer = [text("Soup "), text("it is."), Event::Ending(Ending::Complete)];
    assert_eq!(finish(reply).await, answer);

    let task = host.task(&id, TaskAccess::ById).await.unwrap();
    assert_eq!((task.state, task.outcome.clone().unwrap().text()), (TaskState::Completed, "Soup it is.".to_owned()));
    let turns: Vec<_> = task.turns.iter().map(|turn| (turn.role, turn.id.as_deref(), text_of(&turn.parts))).collect();
    let words = ["Dinner?", "Hm. \nWhich?", "Soup"].map(str::to_owned);
    let [asked, back, answered] = words;
    assert_eq!(
        turns,
        [(Role::User, Some("m1"), asked), (Role::Assistant, None, back), (Role::User, Some("m2"), answered)]
    );
    assert_eq!(task.expires_at, setup.clock.now() + TASK_TTL);

    let all: Vec<(u64, Event)> = (1..).zip([vec![text("Hm. "), asking("Which?")], answer.to_vec()].concat()).collect();
    assert_eq!(numbered(&host, &id, 0).await, all);
    for after in 1..5 {
        assert_eq!(numbered(&host, &id, after).await, all[after as usize..], "after {after}");
    }
    assert_eq!(numbered(&host, &id, 5).await, []);
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().events(1, 2).await.unwrap(), all[1..3]);
}

#[tokio::test]
async fn an_agent_that_remembers_nothing_is_told_what_was_said_in_the_task() {
    for remembers in [false, true] {
        let agent = Turns::new([vec![asking("Which?")], vec![refusing(unauthorized())], vec![]]);
        let host = Setup { remembers, ..Setup::default() }.host(agent.clone()).await;
        let id = waiting(&host).await;
        finish(host.receive(said("Soup", "m2"), on(&host, &id).await).await.unwrap()).await;
        finish(host.receive(said("Yes", "m3"), on(&host, &id).await).await.unwrap()).await;
        let heard = agent.heard.lock();
        let history: Vec<String> = heard[2].history.iter().map(|turn| text_of(&turn.parts)).collect();
        assert_eq!(history, ["Dinner?", "Which?", "Soup", "First this."], "remembers: {remembers}");
        assert_eq!(heard[1].thread, heard[0].thread);
        assert_eq!(heard[1].thread.is_some(), remembers);
    }
}

#[tokio::test]
async fn only_a_task_of_this_agent_that_waits_goes_on() {
    let host = Setup::default().host(Turns::new([vec![Event::Ending(Ending::Complete)]])).await;
    let ended = host.receive(message("x"), tracked()).await.unwrap();
    let id = ended.task.clone().unwrap();
    finish(ended).await;
    let error = host.receive(message("x"), on(&host, &id).await).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { state: TaskState::Completed, .. }), "{error:?}");

    let working = host.receive(message("x"), tracked()).await.unwrap().task.unwrap();
    let error = host.receive(message("x"), on(&host, &working).await).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { state: TaskState::Working, .. }), "{error:?}");
}

#[tokio::test]
async fn a_task_of_another_agent_is_not_found() {
    let setup = Setup::default();
    let host = setup.host(Turns::new([])).await;
    let theirs = Task {
        agent: Handle::parse("other").unwrap(),
        state: TaskState::InputRequired,
        expires_at: setup.clock.now() + TASK_TTL,
        ..forecourt_testkit::store_suite::some_task()
    };
    setup.store.create_task(theirs.clone(), Vec::new()).await.unwrap();
    let error = host.receive(message("x"), on(&host, &theirs.id).await).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
}

#[tokio::test]
async fn of_two_answers_at_once_one_goes_on() {
    let host = Setup::default().host(Turns::new([vec![asking("Which?")]])).await;
    let id = waiting(&host).await;
    let on = on(&host, &id).await;
    let answers = (0..8).map(|_| host.receive(message("This"), on.clone()));
    let results = futures::future::join_all(answers).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert!(matches!(error, Error::Conflict { state: TaskState::Working, .. }), "{error:?}");
    }
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().turns.len(), 3);
    // What was taken off the list is the work that lost, not the work that goes on.
    host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
    assert_eq!(numbered(&host, &id, 1).await, [(2, Event::Ending(Ending::Canceled))]);
}

#[tokio::test]
async fn turns_of_one_task_are_bounded() {
    let setup = Setup::default();
    let host = setup.host(Turns::new([])).await;
    let turn = |bytes: usize| forecourt_core::Turn::text(Role::User, "x".repeat(bytes));
    let cases = [
        (vec![turn(1); TASK_TURNS_MAX - 2], true),
        (vec![turn(1); TASK_TURNS_MAX - 1], false),
        (vec![turn(TASK_TURNS_BYTES_MAX / 2); 2], true),
        (vec![turn(TASK_TURNS_BYTES_MAX / 2 + 1); 2], false),
        (vec![turn(TASK_TURNS_BYTES_MAX + 1)], true),
    ];
    for (n, (turns, fits)) in cases.into_iter().enumerate() {
        let (agent, state, expires_at) = (handle(), TaskState::AuthRequired, setup.clock.now() + TASK_TTL);
        let task = Task { agent, state, turns, expires_at, ..forecourt_testkit::store_suite::some_task() };
        setup.store.create_task(task.clone(), Vec::new()).await.unwrap();
        match host.receive(message("x"), on(&host, &task.id).await).await {
            Ok(_) => assert!(fits, "case {n}"),
            Err(error) => assert!(!fits && matches!(error, Error::Invalid { .. }), "case {n}: {error:?}"),
        }
    }
}

#[tokio::test]
async fn a_follower_stays_while_a_question_is_answered_and_leaves_when_it_is_not() {
    let agent = Turns::new([vec![asking("Which?")], vec![asking("How?")]]);
    let host = Setup::default().host(agent).await;
    let id = waiting(&host).await;
    assert_eq!(numbered(&host, &id, 0).await, [(1, asking("Which?"))]);
    finish(host.receive(message("This"), on(&host, &id).await).await.unwrap()).await;
    assert_eq!(numbered(&host, &id, 0).await, [(1, asking("Which?")), (2, asking("How?"))]);
    host.receive(message("So"), on(&host, &id).await).await.unwrap();
    let mut following = host.task(&id, TaskAccess::ById).await.unwrap().follow(0, FollowUntil::Pause);
    assert_eq!(following.next().await, Some((1, asking("Which?"))));
    assert_eq!(following.next().await, Some((2, asking("How?"))));
    assert_eq!(futures::FutureExt::now_or_never(following.next()), None);
    host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
    assert_eq!(following.collect::<Vec<_>>().await, [(3, Event::Ending(Ending::Canceled))]);
}

#[tokio::test]
async fn a_task_that_waits_can_be_cancelled_and_then_goes_on_no_more() {
    let host = Setup::default().host(Turns::new([vec![asking("Which?")]])).await;
    let id = waiting(&host).await;
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap().state, TaskState::Canceled);
    assert_eq!(numbered(&host, &id, 0).await, [(1, asking("Which?")), (2, Event::Ending(Ending::Canceled))]);
    let error = host.receive(message("This"), on(&host, &id).await).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { state: TaskState::Canceled, .. }), "{error:?}");
    assert!(matches!(
        host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap_err(),
        Error::Conflict { state: TaskState::Canceled, .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_goes_on_ends_with_its_host_or_its_time() {
    let host = Setup::default().host(Turns::new([vec![asking("Which?")]])).await;
    let id = waiting(&host).await;
    host.receive(message("This"), on(&host, &id).await).await.unwrap();
    host.drain(Duration::from_secs(1)).await;
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::Failed);
    assert!(matches!(numbered(&host, &id, 1).await[..], [(2, Event::Ending(Ending::Failed { .. }))]));

    let setup = Setup { time_max: Duration::from_secs(2), ..Setup::default() };
    let host = setup.host(Turns::new([vec![asking("Which?")]])).await;
    let id = waiting(&host).await;
    let reply = host.receive(message("This"), on(&host, &id).await).await.unwrap();
    assert!(matches!(finish(reply).await[..], [Event::Ending(Ending::Failed { .. })]));

    let host = setup.host(Turns::new([vec![asking("Which?")]])).await;
    let id = waiting(&host).await;
    host.receive(message("This"), on(&host, &id).await).await.unwrap();
    let next = setup.host(Turns::new([])).await;
    assert_eq!(next.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::Failed);
    assert!(matches!(numbered(&next, &id, 0).await[..], [(1, _), (2, Event::Ending(Ending::Failed { .. }))]));
}

#[tokio::test]
async fn a_task_that_waits_outlives_its_host() {
    let setup = Setup::default();
    let before = setup.host(Turns::new([vec![asking("Which?")]])).await;
    let id = waiting(&before).await;
    let after = setup.host(Turns::new([vec![Event::Ending(Ending::Complete)]])).await;
    finish(after.receive(message("This"), on(&after, &id).await).await.unwrap()).await;
    assert_eq!(after.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::Completed);
}

/// Lets those pass who say the word.
struct Word;

impl Rule for Word {
    fn judge<'a>(&'a self, _: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let verdict = match message.text() == "please" {
            true => Ok(()),
            false => Err(PolicyPart::new(unauthorized(), "Say the word.").into()),
        };
        Box::pin(std::future::ready(verdict))
    }
}

#[tokio::test]
async fn policy4_2_a_refusal_of_the_gate_is_a_task_that_can_be_continued() {
    let agent = Turns::new([vec![Event::Ending(Ending::Message("Soup.".to_owned()))]]);
    let host = Setup { rules: vec![Arc::new(Word)], ..Setup::default() }.host(agent.clone()).await;
    let reply = host.receive(said("Dinner?", "m1"), tracked()).await.unwrap();
    let id = reply.task.clone().unwrap();
    assert!(
        matches!(&finish(reply).await[..], [Event::Ending(Ending::Refused(part))] if part.message == "Say the word.")
    );
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::AuthRequired);
    finish(host.receive(said("Now!", "m2"), on(&host, &id).await).await.unwrap()).await;
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::AuthRequired);
    assert_eq!(agent.heard.lock().len(), 0, "the agent is not reached");

    let answer = finish(host.receive(said("please", "m3"), on(&host, &id).await).await.unwrap()).await;
    assert_eq!(answer, [Event::Ending(Ending::Message("Soup.".to_owned()))]);
    let task = host.task(&id, TaskAccess::ById).await.unwrap();
    assert_eq!((task.state, task.turns.len()), (TaskState::Completed, 5));
    assert_eq!(numbered(&host, &id, 0).await.len(), 3);

    // Where the wire has no tasks that wait, a refusal is only an answer.
    let reply = host.receive(message("Dinner?"), Run::in_background(None)).await.unwrap();
    assert_eq!(reply.task, None);
}

#[tokio::test]
async fn s8_4_being_asked_too_often_is_no_task() {
    let one = std::num::NonZeroU32::MIN;
    let rate = Rate { per_second: one, burst: one };
    let limits = LimitSettings { per_address: rate, ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(Turns::new([])).await;
    assert!(host.receive(message("x"), tracked()).await.unwrap().task.is_some());
    let reply = host.receive(message("x"), tracked()).await.unwrap();
    assert_eq!(reply.task, None);
    assert!(matches!(finish(reply).await[..], [Event::Ending(Ending::Refused(_))]));
}

#[tokio::test]
async fn one_caller_begins_only_so_many_and_none_is_begun_in_vain() {
    let agent = Turns::new([]);
    let limits = LimitSettings { tasks_per_caller_max: 2, queue_seconds: 0, ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(agent.clone()).await;
    for _ in 0..2 {
        host.receive(message("x"), tracked()).await.unwrap();
    }
    let third = host.receive(message("x"), tracked()).await.unwrap();
    assert_eq!(third.task, None);
    assert!(matches!(finish(third).await[..], [Event::Ending(Ending::Refused(_))]));
    assert_eq!(agent.heard.lock().len(), 2);
}

#[tokio::test]
async fn webhooks_are_added_listed_and_removed_until_the_end() {
    let host = Setup::default().host(Turns::new([vec![asking("Which?")]])).await;
    let task = host.task(&waiting(&host).await, TaskAccess::ById).await.unwrap();
    let hook =
        |n: usize| Webhook { id: n.to_string(), ..forecourt_testkit::store_suite::webhook("https://a.example/") };
    for n in 0..WEBHOOKS_PER_TASK_MAX {
        task.add_webhook(hook(n), IfTaskEnded::Refuse).await.unwrap();
    }
    task.add_webhook(hook(0), IfTaskEnded::Refuse).await.unwrap();
    let error = task.add_webhook(hook(WEBHOOKS_PER_TASK_MAX), IfTaskEnded::Refuse).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error:?}");
    assert!(task.remove_webhook("1").await.unwrap());
    assert!(!task.remove_webhook("1").await.unwrap());
    let ids: Vec<String> = task.webhooks().await.unwrap().into_iter().map(|hook| hook.id).collect();
    assert_eq!(ids, ["0", "2", "3", "4"]);
    task.cancel().await.unwrap();
    let error = task.add_webhook(hook(0), IfTaskEnded::Refuse).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { state: TaskState::Canceled, .. }), "{error:?}");
    task.add_webhook(hook(0), IfTaskEnded::Tell).await.unwrap();
}

/// Of what is somebody else's, nothing is learned, whatever is asked.
#[tokio::test]
async fn a_task_with_an_owner_is_not_found_for_others() {
    let host = Setup::default().host(Turns::new([vec![asking("Which?")], vec![asking("Which?")]])).await;
    let ask = async |sender: &Sender| {
        let asked = Message { sender: sender.clone(), ..message("Dinner?") };
        let reply = host.receive(asked, tracked()).await.unwrap();
        let id = reply.task.clone().unwrap();
        finish(reply).await;
        id
    };
    let (ann, bob, nobody) = (signed_in("ann"), signed_in("bob"), message("").sender);
    let (anns, nobodys) = (ask(&ann).await, ask(&nobody).await);
    assert!(host.task(&anns, TaskAccess::As(&ann)).await.is_ok());
    for other in [&bob, &nobody] {
        let error = host.task(&anns, TaskAccess::As(other)).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    }
    for anybody in [&ann, &bob, &nobody] {
        assert!(host.task(&nobodys, TaskAccess::As(anybody)).await.is_ok(), "its id is all there is to it");
    }
    let all = TaskFilter { limit: 9, ..TaskFilter::default() };
    for (sender, total) in [(&ann, 1), (&bob, 0), (&nobody, 0)] {
        assert_eq!(host.tasks(sender, all.clone()).await.unwrap().total, total);
        let owner = Some("ann".to_owned());
        let forged = host.tasks(sender, TaskFilter { owner, ..all.clone() }).await.unwrap();
        assert_eq!(forged.total, total, "whose they are is not for the filter to say");
    }
}

/// A question in the middle is no end for who waits for the end.
#[tokio::test]
async fn a_task_is_followed_over_its_questions_to_its_end() {
    let host = Setup::default().host(Turns::new([vec![asking("Which?")], vec![Event::Ending(Ending::Complete)]])).await;
    let id = waiting(&host).await;
    let task = host.task(&id, TaskAccess::ById).await.unwrap();
    let following = tokio::spawn(task.follow(0, FollowUntil::End).collect::<Vec<_>>());
    tokio::task::yield_now().await;
    finish(host.receive(said("This", "m2"), on(&host, &id).await).await.unwrap()).await;
    let seen: Vec<Event> = following.await.unwrap().into_iter().map(|(_, event)| event).collect();
    assert!(matches!(seen[..], [Event::Ending(Ending::Question(_)), Event::Ending(Ending::Complete)]), "{seen:?}");
    assert_eq!(task.follow(0, FollowUntil::Pause).collect::<Vec<_>>().await.len(), 2);
}

#[tokio::test]
async fn hub3_3_a_conversation_stays_with_its_agent_for_a_week() {
    let setup = Setup::default();
    let host = setup.host(Turns::new([])).await;
    let thread = ThreadId::adopt_for("ann", "ctx").unwrap();
    assert_eq!(host.route(&thread).await.unwrap(), None);
    host.set_route(&thread, &handle(), &Sender::anonymous()).await.unwrap();
    setup.clock.advance(THREAD_TTL - Duration::from_secs(1));
    assert_eq!(host.route(&thread).await.unwrap(), Some(handle()));
    host.set_route(&thread, &handle(), &Sender::anonymous()).await.unwrap();
    setup.clock.advance(THREAD_TTL - Duration::from_secs(1));
    assert_eq!(host.route(&thread).await.unwrap(), Some(handle()));
    setup.clock.advance(Duration::from_secs(1));
    assert_eq!(host.route(&thread).await.unwrap(), None);
}

const PATIENCE: Duration = Duration::from_millis(500);

fn late(wait: Duration) -> Arc<ScriptedAgent> {
    ScriptedAgent::new(vec![Step::Wait(wait), Step::Do(Event::Ending(Ending::Message("Soup.".to_owned())))])
}

#[tokio::test(start_paused = true)]
async fn a_first_message_is_waited_for_as_long_as_the_caller_said() {
    for (wait, direct) in [(PATIENCE - Duration::from_millis(1), true), (PATIENCE + Duration::from_millis(1), false)] {
        let host = Setup::default().host(late(wait)).await;
        let run = Run::task_unless_message(PATIENCE);
        let reply = host.receive(message("Dinner?"), run).await.unwrap();
        assert_eq!(reply.task.is_none(), direct);
        assert_eq!(finish(reply).await, [Event::Ending(Ending::Message("Soup.".to_owned()))]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_while_it_waits_does_not_stop_the_agent() {
    let agent = late(PATIENCE / 2);
    let limits = LimitSettings { replies_running_max: 1, queue_seconds: 0, ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(agent.clone()).await;
    let waiting = || Run::task_unless_message(PATIENCE);
    let asked = host.receive(message("Dinner?"), waiting());
    assert!(tokio::time::timeout(PATIENCE / 4, asked).await.is_err());
    assert_eq!(agent.begun_and_left(), (1, 0), "it is still at it");
    let other = finish(host.receive(message("Dinner?"), waiting()).await.unwrap()).await;
    assert!(matches!(&other[..], [Event::Ending(Ending::Refused(_))]), "and counts as work");
    tokio::time::advance(PATIENCE).await;
    while agent.begun_and_left() != (1, 1) {
        tokio::task::yield_now().await;
    }
    let other = host.receive(message("Dinner?"), waiting()).await.unwrap();
    assert_eq!((other.task, agent.begun_and_left()), (None, (2, 2)), "until it came to its end");
}

#[tokio::test]
async fn base_7_whoever_goes_on_with_a_task_is_held_to_what_it_was_begun_with() {
    let agent = Turns::new([vec![asking("Which?")], vec![asking("And?")], vec![text("done")]]);
    let host = Setup::default().host(agent.clone()).await;
    let held = |message: Message, tokens: &[&str]| {
        let authority = Authority::default().within(&ScopeSet::parse_all(tokens.iter().copied()).unwrap());
        Message { sender: forecourt_core::Sender { authority, ..message.sender }, ..message }
    };
    let begun = held(said("work", "m1"), &["booking:*", "documents:query"]);
    let begun = host.receive(begun, tracked()).await.unwrap();
    let task = begun.task.clone().unwrap();
    begun.collect().await;
    host.receive(held(said("that", "m2"), &["booking:room", "payments:pay"]), on(&host, &task).await)
        .await
        .unwrap()
        .collect()
        .await;
    host.receive(said("this", "m3"), on(&host, &task).await).await.unwrap().collect().await;
    let heard: Vec<_> = agent.heard.lock().iter().map(|message| message.sender.authority.ceiling().cloned()).collect();
    let tokens = |tokens: &[&str]| Some(ScopeSet::parse_all(tokens.iter().copied()).unwrap());
    assert_eq!(
        heard,
        [tokens(&["booking:*", "documents:query"]), tokens(&["booking:room"]), tokens(&["booking:room"])]
    );
}
