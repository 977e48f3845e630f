//! Agents that could speak with each other without end: of two hosts, which reach each other over the network, and of one.
//! They stop by themselves, after a number of notes that is known.

use std::time::{Duration, Instant};

use axum::middleware::{self, Next};
use forecourt_core::{Handle, Site};

use super::*;
use crate::federation::Federation;
use crate::iri::Iri;
use crate::names;

/// How long hosts on one machine may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A host that others reach.
struct Town {
    site: Site,
    agents: Vec<(Handle, Arc<ScriptedAgent>)>,
    mounted: MountedHost,
    /// Its paths, past the network.
    router: Router,
    /// Activities that were posted to it, and answered.
    taken: Arc<AtomicUsize>,
}

impl Town {
    /// A host with agents of these names, each of which says these words whatever it hears.
    async fn found(section: &str, handles: &[&str], words: &str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let scripted: Vec<Arc<ScriptedAgent>> = handles.iter().map(|_| ScriptedAgent::saying([words])).collect();
        let residents = handles.iter().zip(&scripted).map(|(handle, agent)| {
            let asked: Arc<dyn Agent> = agent.clone();
            resident(card(handle), asked, Vec::new())
        });
        let blueprint = Blueprint {
            residents: residents.collect(),
            egress: EgressConfig {
                allow: vec!["127.0.0.0/8".parse().unwrap()],
                allow_http: true,
                ..Default::default()
            },
            section: format!("enabled = true\n{section}"),
            origin,
            ..Blueprint::default()
        };
        let mounted = blueprint.start(Some(&PROTOCOL)).await;
        let taken: Arc<AtomicUsize> = Arc::default();
        let counted = taken.clone();
        let own = mounted.answering_router().unwrap();
        let router = own.clone().layer(middleware::from_fn(move |request: Request, next: Next| {
            let counted = counted.clone();
            async move {
                let is_post = request.method() == Method::POST;
                let response = next.run(request).await;
                counted.fetch_add(usize::from(is_post), Ordering::SeqCst);
                response
            }
        }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let site = mounted.mount.host.site().clone();
        let agents = handles.iter().map(|handle| Handle::parse(handle).unwrap()).zip(scripted).collect();
        Self { site, agents, mounted, router: own, taken }
    }

    fn actor(&self, number: usize) -> String {
        names::actor(&self.site, &self.agents[number].0)
    }

    fn inbox(&self) -> String {
        names::shared_inbox(&self.site)
    }

    /// How often each agent was asked.
    fn heard(&self) -> Vec<usize> {
        self.agents.iter().map(|(_, agent)| agent.heard().len()).collect()
    }

    /// Has an agent of this host post an activity somewhere else, as nothing here ever does by itself.
    async fn post(&self, number: usize, inbox: &str, activity: &Value) {
        let federation = Federation::new(self.mounted.mount.egress.clone());
        let (host, agent) = (&self.mounted.mount.host, &self.agents[number].0);
        let outcome = federation.post(host, agent, &Iri::parse(inbox).unwrap(), activity).await;
        assert_eq!(outcome, forecourt_host::CarryOutcome::Delivered);
    }
}

/// Waits until something is so.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "it never came to pass that {what}");
        tokio::task::yield_now().await;
    }
}

/// A note of `author` to actors, in what makes it.
fn note(author: &str, id: &str, to: &[String], words: &str) -> Value {
    let tags: Vec<Value> = to.iter().map(|to| json!({"type": "Mention", "href": to, "name": "@agent"})).collect();
    json!({
        "id": format!("{id}/activity"), "type": "Create", "actor": author,
        "object": {
            "id": id, "type": "Note", "attributedTo": author, "to": to, "content": format!("<p>{words}</p>"), "tag": tags,
        },
    })
}

/// Posts an activity of ann, signed by her server.
async fn post_of_ann(there: &Elsewhere, town: &Town, activity: &Value) {
    let url = Url::parse(&town.inbox()).unwrap();
    let (mut headers, body) = (HeaderMap::new(), activity.to_string());
    let (key_id, now) = (format!("{}#main-key", there.actor("ann")), town.mounted.mount.host.clock().now());
    signature::sign(&there.key, &key_id, &Method::POST, &url, &mut headers, body.as_bytes(), now).unwrap();
    let mut request = Request::post(url.path()).body(Body::from(body)).unwrap();
    *request.headers_mut() = headers;
    let host = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    request.headers_mut().insert(HOST, HeaderValue::from_str(&host).unwrap());
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    let response = town.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn agents_of_two_hosts_that_mention_each_other_answer_a_person_once_each() {
    let words = "Ask @one@demo.localhost and @two@demo.localhost, too.";
    let (one, two) = (Town::found("", &["one"], words).await, Town::found("", &["two"], words).await);
    let there = Elsewhere::start().await;
    there.has("ann", "Person", &there.key);
    let ask = async |number: usize| {
        let id = format!("{}/notes/{number}", there.origin);
        let asked = note(&there.actor("ann"), &id, &[one.actor(0), two.actor(0)], "hello both");
        for town in [&one, &two] {
            post_of_ann(&there, town, &asked).await;
        }
    };
    ask(1).await;
    until("both have answered", || there.posted.lock().len() == 2).await;
    // What comes next is the answers to another note, and nothing else was said in between.
    ask(2).await;
    until("both have answered again", || there.posted.lock().len() == 4).await;
    assert_eq!((one.heard(), two.heard()), (vec![2], vec![2]));
    let ann = there.actor("ann");
    for answer in there.posted.lock().iter() {
        let mentioned: Vec<&Value> =
            answer["object"]["tag"].as_array().unwrap().iter().map(|tag| &tag["href"]).collect();
        assert_eq!((mentioned, &answer["to"]), (vec![&json!(ann)], &json!([ann])), "nobody else is written to");
    }
    // Nothing but what ann posted came to either, which was not over the network.
    assert_eq!([&one, &two].map(|town| town.taken.load(Ordering::SeqCst)), [0, 0]);
}

#[tokio::test]
async fn agents_of_one_host_that_mention_each_other_answer_a_person_once_each() {
    let words = "Ask @one@demo.localhost and @two@demo.localhost, too.";
    let town = Town::found("answers_to_bots = 9", &["one", "two"], words).await;
    let there = Elsewhere::start().await;
    there.has("ann", "Person", &there.key);
    for number in [1, 2] {
        let id = format!("{}/notes/{number}", there.origin);
        let asked = note(&there.actor("ann"), &id, &[town.actor(0), town.actor(1)], "hello both");
        post_of_ann(&there, &town, &asked).await;
        until("both have answered", || there.posted.lock().len() == 2 * number).await;
    }
    assert_eq!((town.heard(), town.taken.load(Ordering::SeqCst)), (vec![2, 2], 0));
}

/// Two hosts that answer bots so often, of which one was made to write to the other: how often each was asked, once the
/// last note was dropped.
async fn conversation(answers_to_bots: u32, notes_to: [usize; 2]) -> [usize; 2] {
    let section = format!("answers_to_bots = {answers_to_bots}");
    let one = Town::found(&section, &["one"], "And you?").await;
    let two = Town::found(&section, &["two"], "And you?").await;
    let id = names::note(&one.site, &one.agents[0].0, &"a".repeat(43));
    one.post(0, &two.inbox(), &note(&one.actor(0), &id, &[two.actor(0)], "hello")).await;
    until("the last note has come", || [&one, &two].map(|town| town.taken.load(Ordering::SeqCst)) == notes_to).await;
    [one.heard()[0], two.heard()[0]]
}

#[tokio::test]
async fn two_hosts_whose_agents_answer_each_other_stop_after_as_many_notes_as_they_may() {
    // The fourth note of the one that began is dropped.
    assert_eq!(conversation(3, [3, 4]).await, [3, 3]);
}

#[tokio::test]
async fn two_hosts_that_answer_each_other_without_a_bound_stop_when_a_note_was_handed_on_too_often() {
    let half = usize::try_from(forecourt_core::limits::HOPS_MAX).unwrap() / 2;
    // The note that was handed on eight times is dropped.
    assert_eq!(conversation(1_000, [half, half + 1]).await, [half, half]);
}
