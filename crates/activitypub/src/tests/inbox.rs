use forecourt_core::gate::RuleVerdict;
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::{AgentCard, Message};
use forecourt_correspondence::Threads;
use futures::future::BoxFuture;

use super::*;
use crate::limits::{ACTIVITY_BYTES_MAX, ACTOR_RETRY};
use crate::relations::{Relation, Relations};

#[tokio::test]
async fn an_actor_is_described_with_its_key_and_this_server_with_its_agents() {
    let here = Here::start("", Vec::new()).await;
    let (status, actor) = here.get("/activitypub/users/chef").await;
    assert_eq!((status, &actor["id"], &actor["type"]), (StatusCode::OK, &json!(CHEF), &json!("Service")));
    assert_eq!(actor["publicKey"]["owner"], CHEF);
    assert_eq!(actor["webfinger"], "chef@demo.localhost");
    assert!(actor["publicKey"]["publicKeyPem"].as_str().unwrap().starts_with("-----BEGIN PUBLIC KEY-----"));
    for below in ["inbox", "outbox", "followers", "following", "featured"] {
        assert_eq!(actor[below], format!("{CHEF}/{below}"));
    }
    for below in ["outbox", "followers", "following", "featured"] {
        let (status, collection) = here.get(&format!("/activitypub/users/chef/{below}")).await;
        assert_eq!((status, &collection["totalItems"]), (StatusCode::OK, &json!(0)), "{below}");
    }
    assert_eq!(here.get("/activitypub/users/nobody").await.0, StatusCode::NOT_FOUND);
    let by_browser = Request::get("/activitypub/users/chef").header("accept", "text/html,*/*;q=0.8");
    let led = here.router.clone().oneshot(by_browser.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(led.status(), StatusCode::SEE_OTHER);
    assert_eq!(led.headers()["location"], "https://demo.localhost/~chef");
    let (_, links) = here.get("/.well-known/nodeinfo").await;
    assert_eq!(links["links"][0]["href"], "https://demo.localhost/nodeinfo/2.1");
    let (_, info) = here.get("/nodeinfo/2.1").await;
    assert_eq!((&info["software"]["name"], &info["usage"]["users"]["total"]), (&json!("forecourt"), &json!(1)));
}

#[tokio::test]
async fn a_note_signed_in_either_form_is_a_message_of_its_actor() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let key_id = format!("{}#main-key", there.actor("ann"));
    for (number, by_draft) in [true, false].into_iter().enumerate() {
        let signed = Signed { by_draft, key: &there.key, key_id: &key_id };
        assert_eq!(here.post_as(signed, &there.note("ann", number, "hi")).await, StatusCode::ACCEPTED);
        here.heard(number + 1).await;
        let message = &here.agent.heard()[number];
        assert_eq!((message.text().as_str(), message.received_via), ("hi", "activitypub"));
        assert_eq!(message.sender.owner(), Some(format!("activitypub:{}", there.actor("ann")).as_str()));
        assert!(message.sender.verified && message.sender.address.starts_with("@ann@127.0.0.1"));
    }
    // The actor was fetched once, with a signature.
    assert_eq!(there.fetched(), 1);
}

#[tokio::test]
async fn who_did_not_sign_as_the_actor_is_refused() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    there.has("bob", "Person", &there.key);
    let note = there.note("ann", 1, "hi");
    assert_eq!(here.send(HeaderMap::new(), note.to_string()).await.0, StatusCode::UNAUTHORIZED);
    let ann = format!("{}#main-key", there.actor("ann"));
    let stranger = RsaSigningKey::generate().unwrap();
    let forged = Signed { by_draft: true, key: &stranger, key_id: &ann };
    assert_eq!(here.post_as(forged, &note).await, StatusCode::UNAUTHORIZED);
    // Another actor of the same server says it for her.
    assert_eq!(here.post(&there, "bob", &note).await, StatusCode::UNAUTHORIZED);
    // What was signed is another body.
    let headers = here.headers(Signed { key: &there.key, ..forged }, note.to_string().as_bytes());
    let (status, words) = here.send(headers, there.note("ann", 2, "else").to_string()).await;
    assert_eq!(
        (status, words["error"].as_str()),
        (StatusCode::UNAUTHORIZED, Some("the content digest does not match the body"))
    );
    // A key of a server that answers nothing, and one that nobody has.
    let nowhere = Signed { key_id: "http://127.0.0.1:1/users/ann#main-key", ..forged };
    assert_eq!(here.post_as(nowhere, &note).await, StatusCode::SERVICE_UNAVAILABLE);
    let gone = format!("{}#main-key", there.actor("gone"));
    assert_eq!(here.post_as(Signed { key_id: &gone, ..forged }, &note).await, StatusCode::UNAUTHORIZED);
    assert_eq!(here.heard(0).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_is_no_activity_or_too_large_is_told_so() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    assert_eq!(here.send(HeaderMap::new(), "{".to_owned()).await.0, StatusCode::BAD_REQUEST);
    let mut empty = there.note("ann", 1, "x");
    empty["object"]["content"] = json!("");
    assert_eq!(here.post(&there, "ann", &empty).await, StatusCode::BAD_REQUEST);
    let bare = there.note("ann", 2, "").to_string().len();
    let sized = |bytes: usize| there.note("ann", 2, &"x".repeat(bytes - bare));
    assert_eq!(here.post(&there, "ann", &sized(ACTIVITY_BYTES_MAX)).await, StatusCode::ACCEPTED);
    assert_eq!(here.post(&there, "ann", &sized(ACTIVITY_BYTES_MAX + 1)).await, StatusCode::PAYLOAD_TOO_LARGE);
    let mut request = Request::post(SHARED_INBOX).body(Body::from("{}")).unwrap();
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    let response = here.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let likes = there.activity("ann", "Like", 3, &json!(CHEF));
    assert_eq!(here.post(&there, "ann", &likes).await, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_key_that_was_replaced_is_fetched_again_and_not_at_will() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    assert_eq!(here.post(&there, "ann", &there.note("ann", 1, "one")).await, StatusCode::ACCEPTED);
    let (fresh, key_id) = (RsaSigningKey::generate().unwrap(), format!("{}#main-key", there.actor("ann")));
    there.has("ann", "Person", &fresh);
    let signed = Signed { by_draft: true, key: &fresh, key_id: &key_id };
    // Within a minute after a fetch nothing is fetched: a forged signature must not have us ask.
    assert_eq!(here.post_as(signed, &there.note("ann", 2, "two")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(there.fetched(), 1);
    here.mounted.clock.advance(ACTOR_RETRY);
    assert_eq!(here.post_as(signed, &there.note("ann", 2, "two")).await, StatusCode::ACCEPTED);
    assert_eq!((here.heard(2).await, there.fetched()), (vec!["one".to_owned(), "two".to_owned()], 2));
}

#[tokio::test]
async fn a_key_may_have_a_document_of_its_own_which_is_fetched_once_and_names_its_owner() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let (ann, key_id) = (there.actor("ann"), format!("{}/main-key", there.actor("ann")));
    let mut actor = there.documents.lock()["/users/ann"].clone();
    actor["publicKey"]["id"] = json!(key_id);
    // The form of GoToSocial: a stub of the actor, with its key.
    let stub = json!({"id": ann, "type": "Person", "publicKey": actor["publicKey"]});
    there.documents.lock().insert("/users/ann".to_owned(), actor);
    there.documents.lock().insert("/users/ann/main-key".to_owned(), stub);
    let signed = Signed { by_draft: true, key: &there.key, key_id: &key_id };
    for number in 0..3 {
        assert_eq!(here.post_as(signed, &there.note("ann", number, "hi")).await, StatusCode::ACCEPTED);
    }
    assert_eq!((here.heard(3).await.len(), there.fetched()), (3, 2));
    let elsewhere = json!({"owner": "https://other.example/users/ann", "publicKeyPem": there.key.public_pem()});
    there.documents.lock().insert("/keys/1".to_owned(), elsewhere);
    let foreign = format!("{}/keys/1", there.origin);
    let signed = Signed { key_id: &foreign, ..signed };
    assert_eq!(here.post_as(signed, &there.note("ann", 9, "hi")).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_actor_that_says_it_changed_is_fetched_at_its_next_message() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    here.post(&there, "ann", &there.note("ann", 1, "one")).await;
    let update = there.activity("ann", "Update", 2, &json!({"id": there.actor("ann"), "type": "Person"}));
    assert_eq!(here.post(&there, "ann", &update).await, StatusCode::ACCEPTED);
    here.post(&there, "ann", &there.note("ann", 3, "two")).await;
    assert_eq!(there.fetched(), 2);
}

#[tokio::test]
async fn what_changes_nothing_leaves_nothing_in_the_store() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let threads = Threads::of(&here.mounted.mount.host, crate::NAME);
    let (note, nobody) = (format!("{}/notes/1", there.origin), "https://demo.localhost/activitypub/actors/nobody");
    for (number, (kind, object, is_kept)) in [
        ("Delete", json!({"id": note, "type": "Tombstone"}), false),
        ("Update", json!({"id": note, "type": "Note"}), false),
        ("Update", json!({"id": there.actor("ann"), "type": "Person"}), false),
        ("Undo", json!(note), false),
        ("Follow", json!(nobody), false),
        ("Block", json!(nobody), false),
        ("Follow", json!(CHEF), true),
    ]
    .into_iter()
    .enumerate()
    {
        let activity = there.activity("ann", kind, number, &object);
        assert_eq!(here.post(&there, "ann", &activity).await, StatusCode::ACCEPTED, "{activity}");
        let id = activity["id"].as_str().unwrap();
        assert_eq!(threads.was_taken(id.as_bytes()).await.unwrap(), is_kept, "{activity}");
    }
}

async fn stands(here: &Here, there: &Elsewhere) -> (bool, bool, u64) {
    let relations = Relations::of(&here.mounted.mount.host);
    let (chef, ann) =
        (forecourt_core::Handle::parse("chef").unwrap(), crate::iri::Iri::parse(&there.actor("ann")).unwrap());
    let is = async |relation| relations.is(relation, &chef, &ann).await.unwrap();
    (is(Relation::Follows).await, is(Relation::Blocks).await, relations.followers(&chef).await.unwrap())
}

#[tokio::test]
async fn follows_and_blocks_hold_until_they_are_undone_and_replays_change_nothing() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let follow = there.activity("ann", "Follow", 1, &json!(CHEF));
    let undo = there.activity("ann", "Undo", 2, &follow);
    let block = there.activity("ann", "Block", 3, &json!(CHEF));
    for (activity, expected) in [
        (&follow, (true, false, 1)),
        (&follow, (true, false, 1)),
        (&undo, (false, false, 0)),
        // A copy of what was undone.
        (&follow, (false, false, 0)),
        (&there.activity("ann", "Follow", 4, &json!(CHEF)), (true, false, 1)),
        (&block, (false, true, 0)),
        (&there.activity("ann", "Undo", 5, &block), (false, false, 0)),
    ] {
        assert_eq!(here.post(&there, "ann", activity).await, StatusCode::ACCEPTED);
        assert_eq!(stands(&here, &there).await, expected, "{activity}");
    }
    here.post(&there, "ann", &there.activity("ann", "Block", 6, &json!(CHEF))).await;
    assert_eq!(here.post(&there, "ann", &there.note("ann", 7, "hi")).await, StatusCode::ACCEPTED);
    assert_eq!(here.heard(0).await.len(), 0, "who blocked an agent is not answered by it");
}

#[tokio::test]
async fn an_actor_that_is_gone_follows_nobody_and_one_that_nobody_knows_is_not_looked_up() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let delete = |number| there.activity("ann", "Delete", number, &json!(there.actor("ann")));
    assert_eq!(here.post(&there, "ann", &delete(1)).await, StatusCode::ACCEPTED);
    assert_eq!(there.fetched(), 0);
    there.has("ann", "Person", &there.key);
    here.post(&there, "ann", &there.activity("ann", "Follow", 2, &json!(CHEF))).await;
    assert_eq!(stands(&here, &there).await, (true, false, 1));
    there.documents.lock().clear();
    assert_eq!(here.post(&there, "ann", &delete(3)).await, StatusCode::ACCEPTED);
    assert_eq!(stands(&here, &there).await, (false, true, 0));
    // Nothing can be due any more, and nothing is kept of who is gone.
    here.mounted.clock.advance(THREAD_TTL);
    assert_eq!(stands(&here, &there).await, (false, false, 0));
}

#[tokio::test]
async fn what_was_asked_with_has_its_attachments_fetched_behind_the_gate_alone() {
    struct Closed;
    impl Rule for Closed {
        fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
            use forecourt_core::PolicyPart;
            use forecourt_core::policy::RefusalKind;
            let part = PolicyPart::new(RefusalKind::Forbidden, "Not you.");
            Box::pin(std::future::ready(Err(Box::new(part).into())))
        }
    }
    let (here, there) = (Here::start("", vec![Arc::new(Closed)]).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let mut note = there.note("ann", 1, "look");
    note["object"]["attachment"] =
        json!([{"type": "Image", "mediaType": "image/png", "url": format!("{}/x.png", there.origin)}]);
    assert_eq!(here.post(&there, "ann", &note).await, StatusCode::ACCEPTED);
    assert_eq!((here.heard(0).await.len(), there.fetched()), (0, 1));
}

#[tokio::test]
async fn a_name_that_looks_like_somebody_elses_address_is_no_address() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    for (number, name) in ["ann@social.example", "", "ann ann", "ann/../bob"].into_iter().enumerate() {
        let id = format!("p{number}");
        there.has(&id, "Person", &there.key);
        there.documents.lock().get_mut(&format!("/users/{id}")).unwrap()["preferredUsername"] = json!(name);
        assert_eq!(here.post(&there, &id, &there.note(&id, number, "hi")).await, StatusCode::ACCEPTED);
        here.heard(number + 1).await;
        assert_eq!(here.agent.heard()[number].sender.address, format!("activitypub:{}", there.actor(&id)), "{name}");
    }
}
