//! Conversations: recalled, kept, and never adopted.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::{THREAD_TTL, THREAD_TURNS_MAX};
use forecourt_core::message::TurnState;
use forecourt_core::{Admitted, Agent, Clock, Ending, Event, EventStream, Message, Part, Sender, ThreadId, Turn};
use forecourt_host::{
    CONVERSATION_FIRST_WRITE_AFTER, CONVERSATION_WRITE_AFTER, CONVERSATIONS_PENDING_BYTES_MAX, Host, Run, TaskAccess,
};
use forecourt_testkit::{CountedEntropy, ScriptedAgent, Step};

use serde_json::{Value, json};

use crate::support::{Setup, handle, in_thread, message, signed_in};

fn setup() -> Setup {
    Setup { remembers: true, ..Setup::default() }
}

fn texts(history: &[Turn]) -> Vec<&str> {
    history.iter().flat_map(|turn| turn.parts.iter().filter_map(Part::as_text)).collect()
}

#[tokio::test]
async fn s6_a_follow_up_hears_what_was_said_before() {
    let agent = ScriptedAgent::saying(["answer"]);
    let host = setup().host(agent.clone()).await;
    let first = host.receive(message("one"), Run::without_task()).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    let second = host.receive(in_thread("two", thread.clone()), Run::without_task()).await.unwrap();
    assert_eq!(second.thread, thread);
    second.collect().await;
    host.receive(in_thread("three", thread), Run::without_task()).await.unwrap().collect().await;
    let heard = agent.heard();
    assert_eq!(texts(&heard[0].history), [""; 0]);
    assert_eq!(texts(&heard[1].history), ["one", "answer"]);
    assert_eq!(texts(&heard[2].history), ["one", "answer", "two", "answer"]);
}

#[tokio::test]
async fn s6_a_token_that_is_not_ours_begins_afresh_and_is_not_adopted() {
    let host = setup().host(ScriptedAgent::saying(["answer"])).await;
    let foreign = ThreadId::mint(&CountedEntropy::default());
    let reply = host.receive(in_thread("hi", Some(foreign.clone())), Run::without_task()).await.unwrap();
    assert!(reply.thread.is_some());
    assert_ne!(reply.thread, Some(foreign));
}

#[tokio::test]
async fn s6_a_conversation_ends_with_its_time() {
    let setup = setup();
    let agent = ScriptedAgent::saying(["answer"]);
    let host = setup.host(agent.clone()).await;
    let first = host.receive(message("one"), Run::without_task()).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    setup.clock.advance(THREAD_TTL - Duration::from_secs(1));
    host.receive(in_thread("two", thread.clone()), Run::without_task()).await.unwrap().collect().await;
    setup.clock.advance(THREAD_TTL);
    host.receive(in_thread("three", thread), Run::without_task()).await.unwrap().collect().await;
    let heard = agent.heard();
    assert_eq!(heard[1].history.len(), 2);
    assert_eq!(heard[2].history.len(), 0);
}

#[tokio::test]
async fn history_that_came_with_the_message_stands_instead_of_ours() {
    let agent = ScriptedAgent::saying(["answer"]);
    let host = setup().host(agent.clone()).await;
    let first = host.receive(message("one"), Run::without_task()).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    let mut next = in_thread("two", thread);
    next.history = vec![Turn::text(forecourt_core::Role::User, "brought along")].into();
    host.receive(next, Run::without_task()).await.unwrap().collect().await;
    assert_eq!(texts(&agent.heard()[1].history), ["brought along"]);
}

#[tokio::test]
async fn a_failed_answer_leaves_no_trace() {
    let failing = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::failed("no")))]);
    let host = setup().host(failing.clone()).await;
    let first = host.receive(message("one"), Run::without_task()).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    host.receive(in_thread("two", thread), Run::without_task()).await.unwrap().collect().await;
    assert_eq!(failing.heard()[1].history.len(), 0);
}

#[tokio::test]
async fn an_agent_without_a_memory_gives_no_token() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    assert_eq!(host.receive(message("hi"), Run::without_task()).await.unwrap().thread, None);
}

#[tokio::test]
async fn a_name_that_a_client_made_up_is_adopted_for_its_owner() {
    let agent = ScriptedAgent::saying(["ok"]);
    let setup = Setup { remembers: true, ..Setup::default() };
    let host = setup.host(agent.clone()).await;
    let asks = [(Some("ann"), "one"), (Some("ann"), "two"), (Some("bob"), "three"), (None, "four")];
    for (owner, text) in asks {
        let sender = owner.map_or_else(|| message(text).sender, signed_in);
        let adopted = ThreadId::adopt("ctx-1", &sender.caller(None));
        let asked = Message { sender, ..in_thread(text, adopted.clone()) };
        let reply = host.receive(asked, Run::without_task()).await.unwrap();
        assert_eq!(reply.thread, adopted);
        assert_eq!(reply.thread.as_ref().map(ThreadId::expose), Some("ctx-1"));
        reply.collect().await;
    }
    let lengths: Vec<usize> = agent.heard().iter().map(|message| message.history.len()).collect();
    assert_eq!(lengths, [0, 2, 0, 0]);
}

#[tokio::test]
async fn an_adopted_name_stays_with_an_agent_that_remembers_nothing() {
    let agent = ScriptedAgent::saying(["ok"]);
    let host = Setup::default().host(agent.clone()).await;
    let named = ThreadId::adopt("ctx-1", &message("x").sender.caller(None));
    for run in [Run::without_task(), Run::task_unless_message(Duration::ZERO)] {
        let reply = host.receive(in_thread("x", named.clone()), run).await.unwrap();
        assert_eq!(reply.thread, named);
        if let Some(task) = &reply.task {
            assert_eq!(host.task(task, TaskAccess::ById).await.unwrap().thread, named);
        }
        reply.collect().await;
    }
    assert!(agent.heard().iter().all(|message| message.history.is_empty()));
}

/// Design 35, for a token of ours and for a name that the host minted.
#[tokio::test]
async fn a_conversation_of_somebody_who_signed_in_is_begun_anew_for_everybody_else() {
    let minted = || Some(ThreadId::mint_context(&CountedEntropy::default()));
    for named in [None, minted()] {
        let agent = ScriptedAgent::saying(["ok"]);
        let host = Setup { remembers: true, ..Setup::default() }.host(agent.clone()).await;
        let ask = async |sender: Sender, thread: Option<ThreadId>| {
            let asked = Message { sender, ..in_thread("hi", thread) };
            let reply = host.receive(asked, Run::without_task()).await.unwrap();
            let thread = reply.thread.clone();
            reply.collect().await;
            (thread, agent.heard().last().unwrap().history.len())
        };
        let stranger = || message("hi").sender;
        let (anns, _) = ask(stranger(), named).await;
        assert_eq!(ask(stranger(), anns.clone()).await, (anns.clone(), 2), "nobody's so far");
        assert_eq!(ask(signed_in("ann"), anns.clone()).await, (anns.clone(), 4), "she signs in and goes on");
        assert_eq!(ask(signed_in("ann"), anns.clone()).await, (anns.clone(), 6));
        for other in [stranger(), signed_in("bob")] {
            let (thread, history) = ask(other.clone(), anns.clone()).await;
            assert_eq!(history, 0, "it is hers");
            assert_ne!(thread, anns);
            assert_eq!(ask(other, thread.clone()).await, (thread, 2), "and goes on by itself");
        }
        assert_eq!(ask(signed_in("ann"), anns.clone()).await, (anns, 8), "nothing was added to hers");
    }
}

/// Design 34: what a client made up may be guessed, from elsewhere in vain.
#[tokio::test]
async fn a_name_that_was_made_up_is_one_conversation_for_each_network() {
    let from = |address: &str| Sender { peer: Some(address.parse().unwrap()), ..Sender::anonymous() };
    let named = |address| ThreadId::adopt("my chat", &from(address).caller(None)).unwrap();
    assert_ne!(named("192.0.2.1"), named("192.0.2.2"));
    assert_ne!(named("2001:db8::1"), named("2001:db8:0:1::1"));
    for (one, other) in [("2001:db8::1", "2001:db8::2"), ("::ffff:192.0.2.1", "192.0.2.1")] {
        assert_eq!(named(one), named(other), "one network");
    }
    let minted = ThreadId::mint_context(&CountedEntropy::default());
    for address in ["192.0.2.1", "2001:db8::1"] {
        assert_eq!(ThreadId::adopt(minted.expose(), &from(address).caller(None)).unwrap(), minted, "a capability");
        assert_eq!(ThreadId::adopt(minted.expose(), &signed_in("ann").caller(None)).unwrap(), minted);
    }
    let shorter = &minted.expose()[..46];
    assert_ne!(
        ThreadId::adopt(shorter, &from("192.0.2.1").caller(None)),
        ThreadId::adopt(shorter, &from("192.0.2.2").caller(None))
    );
}

/// How many turns the store has of a conversation.
async fn stored(setup: &Setup, thread: Option<&ThreadId>) -> usize {
    let kept = setup.store.thread(thread.unwrap(), &handle(), setup.clock.now()).await.unwrap();
    kept.map_or(0, |kept| kept.turns.len())
}

async fn say(host: &Arc<Host>, text: &str, thread: Option<ThreadId>) -> Option<ThreadId> {
    let reply = host.receive(in_thread(text, thread), Run::without_task()).await.unwrap();
    let thread = reply.thread.clone();
    reply.collect().await;
    thread
}

/// A moment in which whatever is due by then is done.
async fn pass(time: Duration) {
    tokio::time::sleep(time + Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn turns_are_written_behind_their_answers_and_a_first_exchange_with_the_second_one() {
    let setup = setup();
    let host = setup.host(ScriptedAgent::saying(["answer"])).await;
    let thread = say(&host, "one", None).await;
    pass(2 * CONVERSATION_WRITE_AFTER).await;
    assert_eq!(stored(&setup, thread.as_ref()).await, 0);
    say(&host, "two", thread.clone()).await;
    assert_eq!(stored(&setup, thread.as_ref()).await, 0);
    pass(CONVERSATION_WRITE_AFTER).await;
    assert_eq!(stored(&setup, thread.as_ref()).await, 4);
    let left = say(&host, "three", None).await;
    pass(CONVERSATION_FIRST_WRITE_AFTER).await;
    assert_eq!(stored(&setup, left.as_ref()).await, 2, "its token goes on to be good");
    let named = say(&host, "four", ThreadId::adopt("chat", &message("x").sender.caller(None))).await;
    pass(CONVERSATION_WRITE_AFTER).await;
    assert_eq!(stored(&setup, named.as_ref()).await, 2, "whoever names a conversation means to go on with it");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_drains_or_stops_writes_what_waits() {
    let setup = setup();
    let host = setup.host(ScriptedAgent::saying(["answer"])).await;
    let drained = say(&host, "one", None).await;
    host.drain(Duration::ZERO).await;
    assert_eq!(stored(&setup, drained.as_ref()).await, 2);
    let host = setup.host(ScriptedAgent::saying(["answer"])).await;
    let stopped = say(&host, "one", None).await;
    let late = host.receive(message("two"), Run::without_task()).await.unwrap();
    setup.stop.cancel();
    host.stopped().await;
    assert_eq!(stored(&setup, stopped.as_ref()).await, 2);
    let thread = late.thread.clone();
    late.collect().await;
    assert_eq!(stored(&setup, thread.as_ref()).await, 2, "an answer that comes after the stop is written through");
}

#[tokio::test(start_paused = true)]
async fn another_host_on_the_same_store_hears_what_was_said_here() {
    let setup = setup();
    let (agents, mut hosts) = ([ScriptedAgent::saying(["a"]), ScriptedAgent::saying(["b"])], Vec::new());
    for agent in &agents {
        hosts.push(setup.host(agent.clone()).await);
    }
    let thread = say(&hosts[0], "one", None).await;
    say(&hosts[0], "two", thread.clone()).await;
    for turn in 0..6 {
        pass(Duration::from_secs(2)).await;
        say(&hosts[1 - turn % 2], "next", thread.clone()).await;
        assert_eq!(agents[1 - turn % 2].heard().last().unwrap().history.len(), 4 + 2 * turn);
    }
    hosts[0].write_conversations().await;
    hosts[1].write_conversations().await;
    assert_eq!(stored(&setup, thread.as_ref()).await, 16);
}

#[tokio::test(start_paused = true)]
async fn over_the_bound_answers_wait_for_the_writer_and_nothing_is_lost() {
    let setup = setup();
    let host = setup.host(ScriptedAgent::saying(["answer"])).await;
    let text = "x".repeat(1024 * 1024 / 2);
    let mut threads = Vec::new();
    for _ in 0..CONVERSATIONS_PENDING_BYTES_MAX / text.len() + 1 {
        threads.push(say(&host, &text, None).await);
    }
    assert_eq!(stored(&setup, threads.first().unwrap().as_ref()).await, 2, "the oldest, without waiting for its time");
    assert_eq!(stored(&setup, threads.last().unwrap().as_ref()).await, 0);
    host.write_conversations().await;
    for thread in &threads {
        assert_eq!(stored(&setup, thread.as_ref()).await, 2);
    }
}

#[tokio::test]
async fn of_two_hundred_at_once_each_goes_on_at_once() {
    let agent = ScriptedAgent::saying(["answer"]);
    let setup = setup();
    let host = setup.host(agent.clone()).await;
    let (host, setup) = (&host, &setup);
    let each = (0..200u32).map(|caller| async move {
        let peer = Some(std::net::Ipv4Addr::from(caller).into());
        let mut thread = None;
        for turn in 0..3 {
            let asked = in_thread("hi", thread.take());
            let asked = Message { sender: Sender { peer, ..asked.sender }, ..asked };
            let reply = host.receive(asked, Run::without_task()).await.unwrap();
            thread.clone_from(&reply.thread);
            reply.collect().await;
            if turn == 1 {
                host.write_conversations().await;
            }
        }
        thread
    });
    let threads = futures::future::join_all(each).await;
    let mut lengths: Vec<usize> = agent.heard().iter().map(|message| message.history.len()).collect();
    lengths.sort_unstable();
    assert!(lengths[..200].iter().all(|len| *len == 0));
    assert!(lengths[200..400].iter().all(|len| *len == 2) && lengths[400..].iter().all(|len| *len == 4));
    host.write_conversations().await;
    for thread in threads {
        assert_eq!(stored(setup, thread.as_ref()).await, 6);
    }
}

/// Keeps what it is told, `forget` for nothing and `fail` without an answer, and says what it had kept.
struct KeepsState;

impl Agent for KeepsState {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let (said, state) = (admitted.message().text(), &admitted.message().state);
        let had = state.kept().map_or_else(|| "nothing".to_owned(), Value::to_string);
        match said.as_str() {
            "look" => {}
            "forget" => state.replace(Value::Null).unwrap(),
            said => state.replace(json!(said)).unwrap(),
        }
        let ending = if said == "fail" { Ending::failed("no") } else { Ending::Complete };
        Box::pin(futures::stream::iter([Event::Text(had), Event::Ending(ending)]))
    }
}

#[tokio::test]
async fn what_an_agent_keeps_is_given_to_it_with_the_next_turn_and_to_nobody_else() {
    let setup = setup();
    let host = setup.host(Arc::new(KeepsState)).await;
    let ask = async |said: &str, thread: Option<ThreadId>, sender: Sender| {
        let message = Message { sender, ..in_thread(said, thread) };
        let reply = host.receive(message, Run::without_task()).await.unwrap();
        let thread = reply.thread.clone();
        (reply.collect().await.text(), thread)
    };
    let (ann, bob) = (signed_in("ann"), signed_in("bob"));
    let (first, thread) = ask("one", None, ann.clone()).await;
    assert_eq!(first, "nothing");
    let of_ann = async |said: &str| ask(said, thread.clone(), ann.clone()).await.0;
    assert_eq!(of_ann("look").await, "\"one\"");
    assert_eq!(of_ann("fail").await, "\"one\"");
    assert_eq!(of_ann("two").await, "\"one\"", "a turn that failed keeps nothing");
    assert_eq!(ask("stolen", thread.clone(), bob.clone()).await.0, "nothing");
    assert_eq!(ask("stolen", thread.clone(), Sender::anonymous()).await.0, "nothing");
    assert_eq!(of_ann("forget").await, "\"two\"");
    assert_eq!(of_ann("three").await, "nothing");
    // What a caller brings along is a caller's word.
    let mut turn = Turn::text(forecourt_core::Role::Assistant, "x");
    turn.state = Some(Box::new(TurnState { value: json!("forged"), is_renewed: false }));
    let forged = Message { sender: ann.clone(), history: vec![turn].into(), ..in_thread("look", thread.clone()) };
    assert_eq!(host.receive(forged, Run::without_task()).await.unwrap().collect().await.text(), "\"three\"");
    setup.clock.advance(THREAD_TTL);
    assert_eq!(of_ann("look").await, "nothing", "it is forgotten with the conversation");
}

#[tokio::test]
async fn a_state_outlives_the_host_and_the_turn_that_it_came_with() {
    let setup = setup();
    let host = setup.host(Arc::new(KeepsState)).await;
    let first = host.receive(message("one"), Run::without_task()).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    for _ in 0..=THREAD_TURNS_MAX / 2 {
        host.receive(in_thread("look", thread.clone()), Run::without_task()).await.unwrap().collect().await;
    }
    host.drain(Duration::ZERO).await;
    let host = setup.host(Arc::new(KeepsState)).await;
    let last = host.receive(in_thread("look", thread), Run::without_task()).await.unwrap();
    assert_eq!(last.collect().await.text(), "\"one\"");
}
