//! A crowd of callers who proved nothing, beside one who proved who it is. Design 36.

use std::net::Ipv6Addr;
use std::num::NonZeroU8;
use std::sync::Arc;

use forecourt_core::message::text_of;
use forecourt_core::{CallerBounds, Ending, Error, Event, Message, QuotaBound, Sender, TaskState};
use forecourt_host::{Host, LimitSettings, Run, TaskAccess};
use forecourt_store::{Memory, StoreReads};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;
use futures::future::join_all;

use crate::support::{Setup, message, signed_in};

/// Bytes that one caller may store.
const CALLER: u64 = 32 * 1024;
const ANSWER: &str = "Soup, of what there is in the house.";

/// From the n-th /64 of a /56.
fn neighbour(n: u16) -> Sender {
    let address = Ipv6Addr::new(0x2001, 0xdb8, 7, n & 0xff, 0, 0, 0, 1);
    Sender { peer: Some(address.into()), ..Sender::anonymous() }
}

fn said(sender: Sender, len: usize) -> Message {
    Message { sender, ..message(&"soup ".repeat(len / 5)) }
}

/// Whether a message was acknowledged, and then its answer kept; else which bound was named.
async fn background(host: &Host, message: Message) -> Result<(), QuotaBound> {
    let owner = message.sender.owner().map(str::to_owned);
    let reply = match host.receive(message, Run::in_background(None)).await {
        Ok(reply) => reply,
        Err(Error::Full { bound }) => return Err(bound),
        Err(error) => panic!("{error:?}"),
    };
    let id = reply.task.clone().expect("a task");
    let _events = reply.events.collect::<Vec<_>>().await;
    // What is a stranger's may have made room by now; what somebody proved to have asked stays.
    if let Ok(task) = host.task(&id, TaskAccess::ById).await {
        let outcome = task.outcome.clone().expect("it has ended");
        assert_eq!((task.state, text_of(&outcome.parts)), (TaskState::Completed, ANSWER.to_owned()));
    } else {
        assert_eq!(owner, None, "it is gone");
    }
    Ok(())
}

#[tokio::test]
async fn a_crowd_of_one_line_fills_no_more_than_the_share_of_its_network() {
    let store =
        Arc::new(Memory::bounded(CallerBounds { strangers: Some(64 * CALLER), ..CallerBounds::of_caller(CALLER) }));
    let setup = Setup { store: store.clone(), ..Setup::default() };
    let host = setup.host(ScriptedAgent::saying([ANSWER])).await;
    for _ in 0..2 {
        let crowd = join_all((0..200).map(|n| background(&host, said(neighbour(n), 6_000))));
        let ada = join_all((0..2).map(|_| background(&host, said(signed_in("ada"), 100))));
        let (crowd, ada) = futures::future::join(crowd, ada).await;
        let max = 4 * CALLER;
        let refused = crowd.iter().filter(|made| **made == Err(QuotaBound::Network { prefix: 56, max })).count();
        let kept = crowd.iter().filter(|made| made.is_ok()).count();
        assert_eq!(kept + refused, crowd.len(), "{crowd:?}");
        assert!(refused > 100, "{kept} were kept");
        assert!(ada.iter().all(Result::is_ok), "{ada:?}");
        host.ready().await.unwrap();
    }
    assert_eq!(store.load().strangers_tasks_removed, 0, "of others nothing went for them");
}

#[tokio::test]
async fn when_strangers_are_out_of_room_their_oldest_answers_go_and_nobody_elses() {
    let store =
        Arc::new(Memory::bounded(CallerBounds { strangers: Some(2 * CALLER), ..CallerBounds::of_caller(CALLER) }));
    let setup = Setup { store: store.clone(), ..Setup::default() };
    let host = setup.host(ScriptedAgent::saying([ANSWER])).await;
    background(&host, said(signed_in("ada"), 1_000)).await.unwrap();
    for n in 0..60 {
        // Each from another network, one after the other: there is always something that has ended.
        let address = Ipv6Addr::new(0x2001, 0xdb8, n, 0, 0, 0, 0, 1);
        let sender = Sender { peer: Some(address.into()), ..Sender::anonymous() };
        background(&host, said(sender, 6_000)).await.unwrap();
        host.ready().await.unwrap();
    }
    assert!(store.load().strangers_tasks_removed > 40, "{}", store.load().strangers_tasks_removed);
    let owned = forecourt_core::store::TaskFilter { owner: Some("ada".to_owned()), limit: 9, ..Default::default() };
    let now = forecourt_core::Clock::now(&*setup.clock);
    assert_eq!(forecourt_core::Store::tasks(&*store, owned, now).await.unwrap().total, 1);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_holds_every_place_it_may_leaves_those_of_callers_who_proved_who_they_are() {
    let limits = LimitSettings {
        replies_running_max: 40,
        strangers_percent: NonZeroU8::new(50).unwrap(),
        queue_seconds: 1,
        ..LimitSettings::default()
    };
    let setup = Setup { limits, ..Setup::default() };
    let host = setup.host(ScriptedAgent::new(vec![Step::Hang])).await;
    let ask = |sender: Sender| host.receive(said(sender, 5), Run::without_task());
    let mut crowd = Vec::new();
    for n in 0..300 {
        crowd.push(ask(Sender {
            peer: Some(Ipv6Addr::new(0x2001, 0xdb8, n, 0, 0, 0, 0, 1).into()),
            ..Sender::anonymous()
        }));
    }
    let mut held = Vec::new();
    let mut refused = 0;
    for reply in join_all(crowd).await {
        let mut reply = reply.unwrap();
        match futures::FutureExt::now_or_never(reply.events.next()) {
            None => held.push(reply),
            Some(Some(Event::Ending(Ending::Refused(part)))) => {
                assert!(part.message.contains("limits.strangers_percent"), "{}", part.message);
                refused += 1;
            }
            Some(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((held.len(), refused), (20, 280));
    for n in 0..20 {
        let mut reply = ask(signed_in(&n.to_string())).await.unwrap();
        assert!(futures::FutureExt::now_or_never(reply.events.next()).is_none(), "it is worked on");
        held.push(reply);
    }
    host.ready().await.unwrap();
}
