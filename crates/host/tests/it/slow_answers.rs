//! Work whose caller waits for a while: NLWeb's promises.

use std::time::Duration;

use forecourt_core::store::TaskFilter;
use forecourt_core::{Clock, Ending, Event, TaskState};
use forecourt_host::{Run, TaskAccess};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use crate::support::{Setup, handle, message};

const PATIENCE: Duration = Duration::from_secs(5);

fn slow(wait: Duration) -> std::sync::Arc<ScriptedAgent> {
    let text = |text: &str| Step::Do(Event::Text(text.to_owned()));
    let ending = Step::Do(Event::Ending(Ending::Complete));
    ScriptedAgent::new(vec![text("So"), Step::Wait(wait), text("up."), ending])
}

fn whole() -> [Event; 3] {
    [Event::Text("So".to_owned()), Event::Text("up.".to_owned()), Event::Ending(Ending::Complete)]
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_leaves_no_task() {
    let setup = Setup { remembers: true, ..Setup::default() };
    let host = setup.host(slow(PATIENCE - Duration::from_millis(1))).await;
    let reply = host.receive(message("Dinner?"), Run::task_if_slow(PATIENCE)).await.unwrap();
    assert_eq!(reply.task, None);
    let thread = reply.thread.clone().unwrap();
    assert_eq!(reply.events.collect::<Vec<_>>().await, whole());
    assert_eq!(
        setup.store.tasks(TaskFilter { limit: 9, ..TaskFilter::default() }, setup.clock.now()).await.unwrap().total,
        0
    );
    host.write_conversations().await;
    let turns = setup.store.thread(&thread, &handle(), setup.clock.now()).await.unwrap();
    assert_eq!(turns.unwrap().turns.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_slower_one_becomes_a_task_that_lost_nothing() {
    let agent = slow(PATIENCE + Duration::from_millis(1));
    let host = Setup::default().host(agent.clone()).await;
    let reply = host.receive(message("Dinner?"), Run::task_if_slow(PATIENCE)).await.unwrap();
    assert_eq!(reply.task, None, "it streams from the start");
    let mut events = reply.events.collect::<Vec<_>>().await;
    let is_task = |event: &Event| matches!(event, Event::Task(_));
    let Event::Task(id) = events.remove(events.iter().position(is_task).expect("it took too long")) else {
        panic!("a task")
    };
    assert_eq!(events, whole());
    assert_eq!(host.task(&id, TaskAccess::ById).await.unwrap().state, TaskState::Completed);
    assert_eq!(agent.heard().len(), 1, "the agent is begun once");
}
