use std::sync::OnceLock;

use forecourt_core::store::{Delivery, Webhook};
use forecourt_core::{CollectedReply, Ending, Handle, Part, Sender};
use forecourt_correspondence::Content;
use forecourt_host::{CarryOutcome, Courier};
use http::header::CACHE_CONTROL;
use serde_json::Map;

use super::*;
use crate::compose::NoteContent;
use crate::courier::FediverseCourier;
use crate::federation::Federation;
use crate::iri::Iri;
use crate::kept::KeptNotes;
use crate::letter::{Letter, NoteAddress};
use crate::section::ActivityPubSettings;
use crate::service::{POST, Service};

/// The service of a host, and a letter from ann of `there`, who asked in public or not.
pub(super) fn letter(
    here: &Here,
    there: &Elsewhere,
    is_public: bool,
    settings: ActivityPubSettings,
) -> (Arc<Service>, Letter) {
    let federation = Arc::new(Federation::new(here.mounted.mount.egress.clone()));
    let service = Service::new(&here.mounted.mount, settings, federation);
    let iri = |text: &str| Iri::parse(text).unwrap();
    let address = NoteAddress {
        actor: iri(&there.actor("ann")),
        username: "ann".to_owned(),
        inbox: iri(&format!("{}/inbox", there.actor("ann"))),
        note: iri(&format!("{}/notes/1", there.origin)),
        is_public,
        hop: 0,
        revision: 0,
    };
    let letter = service.desk.letter(Handle::parse("chef").unwrap(), Sender::anonymous(), None, None, address);
    (service, letter)
}

pub(super) fn enabled() -> ActivityPubSettings {
    ActivityPubSettings { enabled: true, ..Default::default() }
}

pub(super) async fn answer(service: &Service, letter: &Letter, words: &str) -> CarryOutcome {
    let parts = vec![Part::markdown(words)];
    let reply =
        CollectedReply { parts, findings: None, usage: Default::default(), receipt: None, ending: Ending::Complete };
    let content = NoteContent::Content(Content::Reply(&reply));
    service.answer(letter, &letter.token, &content, None).await.unwrap()
}

pub(super) fn path(there: &Elsewhere, count: usize) -> String {
    let posted = there.posted.lock()[count].clone();
    posted["object"]["id"].as_str().unwrap().strip_prefix(ORIGIN).unwrap().to_owned()
}

#[tokio::test]
async fn a_long_task_is_told_of_once_and_a_reply_to_that_goes_on_with_its_conversation() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let (service, letter) = letter(&here, &there, true, enabled());
    assert_eq!(service.tell_of_delay(&letter).await, CarryOutcome::Delivered);
    // A copy of the question has it looked at, too.
    assert_eq!(service.tell_of_delay(&letter).await, CarryOutcome::Delivered);
    assert_eq!(there.posted.lock().len(), 1);
    let told = there.posted.lock()[0]["object"].clone();
    assert!(told["content"].as_str().unwrap().contains("The answer will follow"), "{told}");
    let token = told["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let found = service.desk.threads().find(&token, &letter.agent, &letter.reader()).await.unwrap();
    assert_eq!(found.as_deref(), Some(letter.conversation.as_str()));
    assert_eq!(answer(&service, &letter, "Soup.").await, CarryOutcome::Delivered);
    // Whatever is looked at now is answered.
    assert_eq!(service.tell_of_delay(&letter).await, CarryOutcome::Delivered);
    assert_eq!(there.posted.lock().len(), 2);
}

#[tokio::test]
async fn copies_of_a_note_have_one_answer_in_one_conversation_and_others_have_their_own() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let (service, letter) = letter(&here, &there, true, enabled());
    let notes = KeptNotes::of(service.host());
    let copy = Letter { token: "b".repeat(43), conversation: "another".to_owned(), ..letter.clone() };
    assert!(notes.first_of(letter.clone()).await.unwrap() == letter);
    assert!(notes.first_of(copy.clone()).await.unwrap() == letter);
    let address = NoteAddress { actor: Iri::parse(&there.actor("bob")).unwrap(), ..copy.address.clone() };
    let of_bob = Letter { address, ..copy };
    assert!(notes.first_of(of_bob.clone()).await.unwrap() == of_bob);
}

#[tokio::test]
async fn each_attempt_sends_the_same_note() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let (service, letter) = letter(&here, &there, true, enabled());
    answer(&service, &letter, "Soup.").await;
    answer(&service, &letter, "Something else.").await;
    let posted = there.posted.lock();
    assert_eq!(posted[0], posted[1]);
}

#[tokio::test]
async fn an_answer_is_as_long_as_its_server_says_and_the_whole_is_behind_its_link() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let link = json!({"links": [{"rel": "http://nodeinfo.diaspora.software/ns/schema/2.1", "href": format!("{}/info", there.origin)}]});
    there.documents.lock().insert("/.well-known/nodeinfo".to_owned(), link);
    there.documents.lock().insert("/info".to_owned(), json!({"metadata": {"maxNoteTextLength": 20}}));
    let (service, letter) = letter(&here, &there, false, enabled());
    answer(&service, &letter, &"word ".repeat(10)).await;
    let content = there.posted.lock()[0]["object"]["content"].as_str().unwrap().to_owned();
    assert!(content.contains("word word word word…"), "{content}");
    let (_, whole) = content.split_once("https://demo.localhost/activitypub/answers/").unwrap();
    let whole = format!("/activitypub/answers/{}", whole.split('"').next().unwrap());
    let page = here.router.clone().oneshot(Request::get(&whole).body(Body::empty()).unwrap()).await.unwrap();
    let page = axum::body::to_bytes(page.into_body(), usize::MAX).await.unwrap();
    assert!(String::from_utf8_lossy(&page).contains(&"word ".repeat(9)));
    assert_eq!(here.get("/activitypub/answers/guessed").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_answer_that_is_not_public_is_read_by_its_reader_alone() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    there.has("bob", "Person", &there.key);
    let (service, direct) = letter(&here, &there, false, enabled());
    answer(&service, &direct, "Between us.").await;
    let direct = path(&there, 0);
    assert_eq!(here.get(&direct).await.0, StatusCode::NOT_FOUND);
    assert_eq!(here.get_as(&there, "bob", &direct).await.0, StatusCode::NOT_FOUND);
    let (status, note) = here.get_as(&there, "ann", &direct).await;
    assert_eq!((status, &note["type"]), (StatusCode::OK, &json!("Note")));
    let (_, create) = here.get_as(&there, "ann", &format!("{direct}/activity")).await;
    assert_eq!((&create["type"], &create["object"]["id"]), (&json!("Create"), &note["id"]));
    let (_, open) = letter(&here, &there, true, enabled());
    answer(&service, &open, "For all.").await;
    assert_eq!(here.get(&path(&there, 1)).await.0, StatusCode::OK);
}

#[tokio::test]
async fn with_authorized_fetch_servers_sign_to_read_and_featured_answers_are_listed() {
    let here = Here::start("authorized_fetch = true\nfeatured_answers = true", Vec::new()).await;
    let there = Elsewhere::start().await;
    there.has("bob", "Person", &there.key);
    let settings = ActivityPubSettings { authorized_fetch: true, featured_answers: true, ..enabled() };
    let (service, asked) = letter(&here, &there, true, settings);
    answer(&service, &asked, "For all.").await;
    let note = path(&there, 0);
    assert_eq!(here.get(&note).await.0, StatusCode::NOT_FOUND);
    assert_eq!(here.get_as(&there, "bob", &note).await.0, StatusCode::OK);
    // Nobody could check a signature without the actor.
    assert_eq!(here.get("/activitypub/users/chef").await.0, StatusCode::OK);
    let (_, featured) = here.get("/activitypub/users/chef/featured").await;
    assert_eq!(featured["orderedItems"], json!([format!("{ORIGIN}{note}")]));
    let (_, outbox) = here.get("/activitypub/users/chef/outbox").await;
    assert_eq!(outbox["orderedItems"], json!([format!("{ORIGIN}{note}/activity")]));
}

#[tokio::test]
async fn what_depends_on_who_asks_is_kept_by_no_cache() {
    let own = "private, no-store";
    for (authorized_fetch, is_public, expected) in
        [(false, true, "public, max-age=60"), (false, false, own), (true, true, own)]
    {
        let here = Here::start(&format!("authorized_fetch = {authorized_fetch}"), Vec::new()).await;
        let there = Elsewhere::start().await;
        there.has("ann", "Person", &there.key);
        let settings = ActivityPubSettings { authorized_fetch, ..enabled() };
        let (service, asked) = letter(&here, &there, is_public, settings);
        answer(&service, &asked, "Soup.").await;
        let note = path(&there, 0);
        for at in [note.clone(), format!("{note}/activity")] {
            let signed = here.signed_get(&there, "ann", &at).await;
            let cached = signed.headers()[CACHE_CONTROL].to_str().unwrap();
            assert_eq!((signed.status(), cached), (StatusCode::OK, expected), "{at}");
            // What a stranger is told must not be what its reader hears next.
            let unsigned = Request::get(&at).body(Body::empty()).unwrap();
            let unsigned = here.router.clone().oneshot(unsigned).await.unwrap();
            assert_eq!(unsigned.headers()[CACHE_CONTROL].to_str().unwrap(), expected, "{at}");
        }
    }
}

/// A post that waits for the server of a letter.
fn waiting(letter: &Letter) -> Delivery {
    let (inbox, reader) = (letter.address.inbox.as_str(), letter.address.actor.as_str());
    let activity = json!({"agent": "chef", "inbox": inbox, "reader": reader, "activity": {"type": "Create"}});
    let webhook = Webhook {
        id: "1".to_owned(),
        protocol: crate::NAME.to_owned(),
        url: inbox.to_owned(),
        secret: None,
        callback: false,
        retries: 1,
        details: Map::from_iter([(POST.to_owned(), activity)]),
    };
    Delivery { id: 1, webhook, task: None, attempts: 0 }
}

#[tokio::test]
async fn what_waits_for_a_server_is_not_sent_to_who_blocked_its_agent_meanwhile() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let (service, letter) = letter(&here, &there, true, enabled());
    let courier = FediverseCourier::new(Arc::new(OnceLock::from(service)), Arc::default());
    let delivery = waiting(&letter);
    assert_eq!(courier.carry(&delivery).await, CarryOutcome::Delivered);
    let block = there.activity("ann", "Block", 1, &json!(CHEF));
    assert_eq!(here.post(&there, "ann", &block).await, StatusCode::ACCEPTED);
    assert_eq!(courier.carry(&delivery).await, CarryOutcome::Never);
    assert_eq!(there.posted.lock().len(), 1);
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone_is_not_tried_until_then() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let (service, letter) = letter(&here, &there, true, enabled());
    there.full_for.store(7, Ordering::SeqCst);
    assert_eq!(answer(&service, &letter, "Soup.").await, CarryOutcome::Delivered, "it is queued");
    let courier = FediverseCourier::new(Arc::new(OnceLock::from(service)), Arc::default());
    let delivery = waiting(&letter);
    assert_eq!(courier.carry(&delivery).await, CarryOutcome::Wait(std::time::Duration::from_secs(7)));
    there.full_for.store(0, Ordering::SeqCst);
    assert_eq!(courier.carry(&delivery).await, CarryOutcome::Delivered);
}

#[tokio::test]
async fn whoever_may_not_read_an_answer_can_not_tell_that_there_is_one() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let (service, direct) = letter(&here, &there, false, enabled());
    answer(&service, &direct, "Between us.").await;
    let there_is = path(&there, 0);
    let there_is_none = format!("{}/{}", there_is.rsplit_once('/').unwrap().0, "b".repeat(43));
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::POST] {
        for behind in ["", "/activity"] {
            let ask = async |path: &str| {
                let request = Request::builder().method(&method).uri(format!("{path}{behind}")).body(Body::empty());
                let response = here.router.clone().oneshot(request.unwrap()).await.unwrap();
                (response.status(), response.headers().clone())
            };
            assert_eq!(ask(&there_is).await, ask(&there_is_none).await, "{method} {behind}");
        }
    }
}
