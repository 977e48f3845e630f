//! What a node hears over NATS: what somebody listens to there, and nothing else. Counted by the server itself.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_bus::{BUS_SUBSCRIPTIONS_MAX, NatsBus, NatsOptions};
use forecourt_core::{Bus, Entropy};
use forecourt_testkit::nats::NatsServer;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;

/// How long anything is waited for that must come. Far above what it takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Tasks, and the events of each, whose traffic is counted.
const TASKS: usize = 100;
const EVENTS: usize = 20;

#[derive(Debug)]
struct Numbered(u8);

impl Entropy for Numbered {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

/// A server that tells what it counts.
struct Scene {
    server: NatsServer,
    monitor: u16,
}

impl Scene {
    fn start() -> Option<Self> {
        let monitor = forecourt_testkit::free_port();
        let server = NatsServer::start_with(&["--http_port", &monitor.to_string()])?;
        Some(Self { server, monitor })
    }

    async fn node(&self, number: u8) -> Arc<NatsBus> {
        let options = NatsOptions {
            url: self.server.url(),
            deployment: "kitchen".to_owned(),
            credentials: None,
            ca: None,
            certificate: None,
        };
        NatsBus::open(&options, &Numbered(number), PATIENCE).await.unwrap()
    }

    /// What the server says at a path of its monitoring.
    fn asked(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }

    /// Its connections in the order in which they were opened.
    fn connections(&self) -> Vec<Value> {
        let mut all = self.asked("/connz?subs=1&limit=100").map(|mut answer| answer["connections"].take());
        let mut all = all.as_mut().and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
        all.sort_by_key(|one| one["cid"].as_u64());
        all
    }

    /// The subjects to which each connection is subscribed.
    fn subjects(&self) -> Vec<Vec<String>> {
        let list = |one: &Value| {
            let list = one["subscriptions_list"].as_array().into_iter().flatten();
            let mut list: Vec<String> = list.filter_map(|subject| subject.as_str().map(str::to_owned)).collect();
            list.sort();
            list
        };
        self.connections().iter().map(list).collect()
    }

    async fn until_subjects(&self, what: &str, wanted: impl Fn(&[Vec<String>]) -> bool) {
        within(what, || wanted(&self.subjects())).await;
    }
}

async fn within(what: &str, done: impl Fn() -> bool) {
    let waiting = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "{what}");
}

/// Listens to a topic of one thing until the server knows of it, which is told by an empty message.
async fn follow(bus: &NatsBus, topic: &str) -> BoxStream<'static, Bytes> {
    let mut heard = bus.subscribe(topic);
    assert_eq!(next(&mut heard).await, "", "it is to be looked at once more");
    heard
}

async fn next(stream: &mut BoxStream<'static, Bytes>) -> String {
    let message = tokio::time::timeout(PATIENCE, stream.next()).await.expect("it is told in time").unwrap();
    String::from_utf8(message.to_vec()).unwrap()
}

/// What is said next: no word of the server's knowing, which may come between.
async fn next_said(stream: &mut BoxStream<'static, Bytes>) -> String {
    loop {
        let said = next(stream).await;
        if !said.is_empty() {
            return said;
        }
    }
}

#[tokio::test]
async fn a_node_without_followers_hears_nothing() {
    let Some(scene) = Scene::start() else { return };
    let (one, two, three) = (scene.node(1).await, scene.node(2).await, scene.node(3).await);
    let mut here = one.subscribe("task.00");
    let mut there = follow(&two, "task.00").await;
    // Whoever listens to all of a deployment hears what every node would, without topics.
    let before = async_nats::connect(scene.server.url()).await.unwrap();
    let mut all = before.subscribe("forecourt.kitchen.>").await.unwrap();
    before.flush().await.unwrap();
    scene.until_subjects("everybody is known", |all| all.len() == 4 && all[3].len() == 1).await;
    for _ in 0..EVENTS {
        for task in 0..TASKS {
            one.publish(&format!("task.{task:02}"), Bytes::new());
        }
        tokio::task::yield_now().await;
    }
    one.publish("task.00", Bytes::from_static(b"last"));
    while next(&mut there).await != "last" {}
    while next(&mut here).await != "last" {}
    for _ in 0..=EVENTS * TASKS {
        tokio::time::timeout(PATIENCE, all.next()).await.expect("a wildcard hears all").unwrap();
    }
    assert_eq!((one.counts().published, one.counts().dropped), ((EVENTS * TASKS + 1) as u64, 0));
    assert_eq!((one.counts().received, three.counts().received), (0, 0));
    assert_eq!(two.counts().received, (EVENTS + 1) as u64, "of the task that is followed there");
    let sent = |at: usize| {
        let one = &scene.connections()[at];
        (one["out_msgs"].as_u64().unwrap(), one["out_bytes"].as_u64().unwrap())
    };
    println!(
        "messages and bytes to a node: followers of nothing {:?} and {:?}, of one task {:?}, before {:?}",
        sent(0),
        sent(2),
        sent(1),
        sent(3)
    );
    assert_eq!((sent(0).0, sent(1).0, sent(2).0), (0, (EVENTS + 1) as u64, 0));
    assert_eq!(sent(3).0, (EVENTS * TASKS + 1) as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_who_follow_and_leave_leave_no_subscription() {
    let Some(scene) = Scene::start() else { return };
    let bus = scene.node(1).await;
    let kept = follow(&bus, "task.kept").await;
    let comings = (0..10_000).map(|n| {
        let bus = bus.clone();
        async move {
            let topic = format!("task.{}", n % 2_500);
            let mut heard = bus.subscribe(&topic);
            if n % 2 == 0 {
                next(&mut heard).await;
            }
        }
    });
    futures::stream::iter(comings.map(tokio::spawn))
        .buffer_unordered(200)
        .for_each(|done| async { done.unwrap() })
        .await;
    scene.until_subjects("all but one are left", |all| all == [["forecourt.kitchen.task.kept"]]).await;
    within("and counted", || bus.counts().subscriptions == 1).await;
    drop(kept);
    scene.until_subjects("none is left", |all| all == [Vec::<String>::new()]).await;
}

#[tokio::test]
async fn over_the_bound_everything_is_heard_and_below_it_by_name_again() {
    let Some(scene) = Scene::start() else { return };
    let (one, two) = (scene.node(1).await, scene.node(2).await);
    let mut rates = two.subscribe("rates");
    let listen = |n: usize| two.subscribe(&format!("task.{n}"));
    // One of them is that of everybody, and stays whatever the others do.
    let mut all: HashMap<usize, _> = (1..BUS_SUBSCRIPTIONS_MAX).map(|n| (n, listen(n))).collect();
    within("as many as may be", || two.counts().subscriptions == BUS_SUBSCRIPTIONS_MAX as u64).await;
    all.insert(0, listen(0));
    within("one more", || two.counts().subscriptions == 2).await;
    let wide = ["forecourt.kitchen.*.>", "forecourt.kitchen.rates"];
    scene.until_subjects("the server knows of two", |all| all[1] == wide).await;
    for (n, heard) in all.iter_mut().filter(|(n, _)| *n % 1_000 == 0) {
        one.publish(&format!("task.{n}"), Bytes::from_static(b"news"));
        assert_eq!(next_said(heard).await, "news");
    }
    one.publish("rates", Bytes::from_static(b"once"));
    one.publish("rates", Bytes::from_static(b"and again"));
    assert_eq!((next(&mut rates).await, next(&mut rates).await), ("once".to_owned(), "and again".to_owned()));
    all.retain(|n, _| *n < 5);
    let by_name = |all: &[Vec<String>]| all[1].len() == 6 && all[1].iter().all(|subject| !subject.contains('*'));
    scene.until_subjects("by name again", by_name).await;
    let heard = all.get_mut(&3).unwrap();
    one.publish("task.3", Bytes::from_static(b"other news"));
    assert_eq!(next_said(heard).await, "other news");
}

#[tokio::test]
async fn whoever_was_told_that_the_server_knows_hears_the_very_next_word() {
    let Some(scene) = Scene::start() else { return };
    let (one, two) = (scene.node(1).await, scene.node(2).await);
    for n in 0..500 {
        let topic = format!("task.{n}");
        let mut heard = follow(&two, &topic).await;
        one.publish(&topic, Bytes::from_static(b"said at once"));
        assert_eq!(next(&mut heard).await, "said at once");
    }
    // Somebody who listens to everything, such as an operator who looks on, takes the server's answer away.
    let client = async_nats::connect(scene.server.url()).await.unwrap();
    let _all = client.subscribe("forecourt.>").await.unwrap();
    client.flush().await.unwrap();
    let mut heard = follow(&two, "task.watched").await;
    one.publish("task.watched", Bytes::from_static(b"said at once"));
    assert_eq!(next(&mut heard).await, "said at once");
}

#[tokio::test]
async fn a_server_that_comes_back_is_told_again_what_is_listened_to() {
    let Some(mut scene) = Scene::start() else { return };
    let (one, two) = (scene.node(1).await, scene.node(2).await);
    let mut kept = follow(&two, "task.kept").await;
    let left = follow(&two, "task.left").await;
    scene.server.stop();
    within("it is noticed", || one.fault().is_some() && two.fault().is_some()).await;
    drop(left);
    let mut new = two.subscribe("task.new");
    // More than the client's own queue holds come and go while nobody is there.
    (0..2_000).for_each(|n| drop(two.subscribe(&format!("task.{n}"))));
    scene.server.start_again();
    tokio::time::timeout(PATIENCE, async { (one.connected().await, two.connected().await) }).await.unwrap();
    assert_eq!(next(&mut new).await, "", "it is told once the server knows");
    let wanted = ["forecourt.kitchen.task.kept", "forecourt.kitchen.task.new"].map(str::to_owned);
    scene.until_subjects("as before", |all| all.iter().any(|subjects| *subjects == wanted)).await;
    for (topic, heard) in [("task.kept", &mut kept), ("task.new", &mut new)] {
        one.publish(topic, Bytes::from_static(b"on"));
        assert_eq!(next(heard).await, "on", "{topic}");
    }
}

#[tokio::test]
async fn foreign_messages_on_a_topic_do_nothing() {
    let Some(scene) = Scene::start() else { return };
    let (one, two) = (scene.node(1).await, scene.node(2).await);
    let (mut heard, mut other) = (follow(&two, "task.a").await, follow(&two, "task.b").await);
    let client = async_nats::connect(scene.server.url()).await.unwrap();
    // The last one says the topic of another subject.
    let foreign: [&[u8]; 5] =
        [b"", b"hello", b"forecourt/1 x\n", b"forecourt/9 me task.a\nx", b"forecourt/1 me task.b\nx"];
    for payload in foreign {
        client.publish("forecourt.kitchen.task.a", Bytes::from_static(payload)).await.unwrap();
    }
    client.flush().await.unwrap();
    within("they are counted", || two.counts().foreign == 5).await;
    for (topic, heard) in [("task.a", &mut heard), ("task.b", &mut other)] {
        one.publish(topic, Bytes::from_static(b"ours"));
        assert_eq!(next(heard).await, "ours", "{topic}");
    }
    assert_eq!((two.counts().received, two.fault()), (2, None));
}

#[tokio::test]
async fn a_listener_who_does_not_read_misses_the_oldest_and_nobody_else_does() {
    let Some(scene) = Scene::start() else { return };
    let (one, two) = (scene.node(1).await, scene.node(2).await);
    let mut slow = follow(&two, "task.a").await;
    let client = async_nats::connect(scene.server.url()).await.unwrap();
    let payload = |n: usize| Bytes::from(format!("forecourt/1 three task.a\n{n}"));
    const MESSAGES: usize = 200_000;
    const AGAIN: usize = MESSAGES + 1;
    for n in 1..=MESSAGES {
        client.publish("forecourt.kitchen.task.a", payload(n)).await.unwrap();
    }
    client.flush().await.unwrap();
    let mut other = follow(&two, "task.b").await;
    one.publish("task.b", Bytes::from_static(b"heard"));
    assert_eq!(next(&mut other).await, "heard");
    // Of a flood, some are dropped by the listener's own queue, the oldest, and some on the way to it, the newest: what
    // is said once more after it is heard.
    let mut read = 0;
    let heard_again = async {
        loop {
            client.publish("forecourt.kitchen.task.a", payload(AGAIN)).await.unwrap();
            client.flush().await.unwrap();
            let pause = Duration::from_millis(50);
            while let Ok(Some(message)) = tokio::time::timeout(pause, slow.next()).await {
                read += 1;
                if message == AGAIN.to_string() {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, heard_again).await.expect("it goes on");
    assert!(read < MESSAGES, "there is a bound on what waits");
    assert_eq!(two.fault(), None);
}
