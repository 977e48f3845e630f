//! What every bus does, whatever carries it, and what a bus over NATS does while its server is away.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_bus::{BUS_QUEUE_MAX, LocalBus, NatsBus, NatsOptions};
use forecourt_core::bus::BUS_MESSAGE_BYTES_MAX;
use forecourt_core::{Bus, Entropy};
use forecourt_testkit::nats::NatsServer;
use futures::StreamExt;

/// How long anything is waited for that must come. Far above what it takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that no two nodes have in common.
#[derive(Debug)]
struct Numbered(u8);

impl Entropy for Numbered {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

async fn node(url: &str, number: u8) -> Arc<NatsBus> {
    node_of(url, number, "kitchen").await
}

async fn node_of(url: &str, number: u8, deployment: &str) -> Arc<NatsBus> {
    let deployment = deployment.to_owned();
    let options = NatsOptions { url: url.to_owned(), deployment, credentials: None, ca: None, certificate: None };
    let bus = NatsBus::open(&options, &Numbered(number), PATIENCE).await.unwrap();
    assert_eq!(bus.fault(), None);
    bus
}

/// Says something on `one` until a listener of `other` has heard of it: from then on each hears the other.
async fn meet(one: &dyn Bus, other: &dyn Bus) {
    let mut heard = other.subscribe("meeting");
    let saying = async {
        loop {
            one.publish("meeting", Bytes::from_static(b"here"));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let hearing = tokio::time::timeout(PATIENCE, heard.next());
    tokio::select! {
        said = hearing => assert!(said.is_ok_and(|said| said.is_some()), "nothing is heard"),
        () = saying => {}
    }
}

async fn said(stream: &mut (impl futures::Stream<Item = Bytes> + Unpin)) -> String {
    let message = tokio::time::timeout(PATIENCE, stream.next()).await.expect("it is told in time").unwrap();
    String::from_utf8(message.to_vec()).unwrap()
}

/// The next of what is said that is neither an empty message, which tells a listener over a wire to look once more,
/// nor a question whether it is there.
async fn told(stream: &mut (impl futures::Stream<Item = Bytes> + Unpin)) -> String {
    loop {
        match said(stream).await {
            word if word.is_empty() || word == "?" => {}
            word => return word,
        }
    }
}

/// Asks on `bus` until a listener of `topic` hears it.
async fn is_heard(bus: &dyn Bus, topic: &str, stream: &mut (impl futures::Stream<Item = Bytes> + Unpin)) {
    let asking = async {
        loop {
            bus.publish(topic, Bytes::from_static(b"?"));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = async { while said(stream).await != "?" {} } => {}
        () = asking => {}
    }
}

/// Whoever listens to a topic hears it, on the node that says it and on the other, in order; nobody hears another
/// topic, nor what is too long.
async fn suite(one: &dyn Bus, other: &dyn Bus) {
    let mut all = [one.subscribe("task.a"), one.subscribe("task.a"), other.subscribe("task.a")];
    let mut another = other.subscribe("task.b");
    for stream in &mut all {
        is_heard(one, "task.a", stream).await;
    }
    is_heard(one, "task.b", &mut another).await;
    one.publish("task.b", vec![b'x'; BUS_MESSAGE_BYTES_MAX + 1].into());
    one.publish("task.b", vec![b'x'; BUS_MESSAGE_BYTES_MAX].into());
    for word in ["first", "second", "third"] {
        one.publish("task.a", Bytes::from_static(word.as_bytes()));
    }
    for stream in &mut all {
        for word in ["first", "second", "third"] {
            assert_eq!(told(stream).await, word);
        }
    }
    assert_eq!(told(&mut another).await.len(), BUS_MESSAGE_BYTES_MAX);
    one.publish("task.b", Bytes::from_static(b"on"));
    assert_eq!(told(&mut another).await, "on", "what was too long is left out");
    drop(all);
    one.publish("task.a", Bytes::from_static(b"to nobody"));
    let mut late = other.subscribe("task.a");
    is_heard(one, "task.a", &mut late).await;
    one.publish("task.a", Bytes::from_static(b"to who came"));
    loop {
        match told(&mut late).await.as_str() {
            "to who came" => break,
            earlier => assert_eq!(earlier, "to nobody", "over a wire it may still be on its way"),
        }
    }
}

#[tokio::test]
async fn local() {
    let bus = LocalBus::default();
    suite(&bus, &bus).await;
}

#[tokio::test]
async fn nats() {
    let Some(server) = NatsServer::start() else { return };
    let (one, other) = (node(&server.url(), 1).await, node(&server.url(), 2).await);
    meet(&*one, &*other).await;
    suite(&*one, &*other).await;
    meet(&*other, &*one).await;
    suite(&*other, &*one).await;
}

#[test]
fn who_stops_listening_leaves_nothing_behind() {
    let bus = LocalBus::default();
    let listeners: Vec<_> = (0..1_000).flat_map(|n| [n, n]).map(|n| bus.subscribe(&format!("task.{n}"))).collect();
    assert_eq!(bus.topics(), 1_000);
    drop(listeners);
    assert_eq!(bus.topics(), 0);
}

#[tokio::test]
async fn another_deployment_hears_nothing_and_foreign_messages_are_counted() {
    let Some(server) = NatsServer::start() else { return };
    let (one, other) = (node(&server.url(), 1).await, node(&server.url(), 2).await);
    let stranger = node_of(&server.url(), 3, "garden").await;
    meet(&*one, &*other).await;
    let mut heard = stranger.subscribe("task.a");
    let mut own = other.subscribe("task.a");
    assert_eq!((said(&mut heard).await, said(&mut own).await), (String::new(), String::new()));
    let client = async_nats::connect(server.url()).await.unwrap();
    for foreign in ["", "hello", "forecourt/1 x\n", "forecourt/9 me task.a\nx"] {
        client.publish("forecourt.kitchen.task.a", foreign.into()).await.unwrap();
    }
    client.publish("forecourt.kitchen.task.b", Bytes::from_static(b"nobody listens")).await.unwrap();
    // The server has taken in what a connection sent before its last word comes back.
    let mut last = client.subscribe("alike.last").await.unwrap();
    client.publish("alike.last", Bytes::new()).await.unwrap();
    tokio::time::timeout(PATIENCE, last.next()).await.unwrap().unwrap();
    one.publish("task.a", Bytes::from_static(b"ours"));
    assert_eq!(said(&mut own).await, "ours");
    assert_eq!(other.counts().foreign, 4);
    stranger.publish("task.a", Bytes::from_static(b"theirs"));
    assert_eq!(said(&mut heard).await, "theirs");
    assert_eq!(stranger.counts().received, 0);
}

#[tokio::test]
async fn while_its_server_is_away_nothing_waits_for_it_and_afterwards_all_is_well() {
    let Some(mut server) = NatsServer::start() else { return };
    let (one, other) = (node(&server.url(), 1).await, node(&server.url(), 2).await);
    meet(&*one, &*other).await;
    server.stop();
    while one.fault().is_none() || other.fault().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(one.fault().unwrap().contains(&server.url()), "{:?}", one.fault());
    let mut here = one.subscribe("task.here");
    let begun = std::time::Instant::now();
    for _ in 0..2 * BUS_QUEUE_MAX {
        one.publish("task.a", Bytes::from_static(b"x"));
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "publishing waits for nothing: {:?}", begun.elapsed());
    assert!(one.counts().dropped > 0, "{:?}", one.counts());
    one.publish("task.here", Bytes::from_static(b"said"));
    assert_eq!(said(&mut here).await, "said", "this process hears itself without a server");
    server.start_again();
    tokio::time::timeout(PATIENCE, async { (one.connected().await, other.connected().await) }).await.unwrap();
    meet(&*one, &*other).await;
    meet(&*other, &*one).await;
    assert_eq!((one.fault(), other.fault()), (None, None));
}

#[tokio::test]
async fn a_server_that_stands_still_is_noticed() {
    let Some(server) = NatsServer::start() else { return };
    let one = node(&server.url(), 1).await;
    server.pause();
    let noticed = async {
        while one.fault().is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let noticed = tokio::time::timeout(PATIENCE, noticed).await;
    server.resume();
    noticed.expect("it is noticed");
    tokio::time::timeout(PATIENCE, one.connected()).await.expect("it is back");
}

#[tokio::test]
async fn names_and_passwords_are_for_the_server_alone() {
    let Some(server) = NatsServer::start_with(&["--user", "ann", "--pass", "s3cret"]) else { return };
    let url = |who: &str| server.url().replace("//", &format!("//{who}@"));
    let one = node(&url("ann:s3cret"), 1).await;
    assert_eq!(one.fault(), None);
    let options = NatsOptions {
        url: url("ann:wr0ng"),
        deployment: "kitchen".to_owned(),
        credentials: None,
        ca: None,
        certificate: None,
    };
    let refused = NatsBus::open(&options, &Numbered(2), Duration::from_secs(2)).await.unwrap();
    let fault = refused.fault().expect("it is refused");
    assert!(fault.contains("127.0.0.1") && !fault.contains("wr0ng"), "{fault}");
}
