//! Notes that are changed or deleted after they asked.

use super::answers::{answer, enabled, letter, path};
use super::*;
use crate::iri::Iri;
use crate::kept::{AskedNote, KeptNotes};
use crate::letter::NoteAddress;
use crate::limits::{ASKS_PER_NOTE_MAX, KEY_BEGINS_AFTER, KEY_FRESH, RELATION_TTL};
use crate::relations::{Relation, Relations};
use forecourt_core::Handle;

/// The note of this number with other words.
fn edited(there: &Elsewhere, number: usize, activity: usize, words: &str) -> Value {
    let note = there.note("ann", number, words)["object"].clone();
    there.activity("ann", "Update", activity, &note)
}

async fn asked(here: &Here, there: &Elsewhere, number: usize) -> Option<AskedNote> {
    let note = Iri::parse(&format!("{}/notes/{number}", there.origin)).unwrap();
    let (ann, chef) = (Iri::parse(&there.actor("ann")).unwrap(), Handle::parse("chef").unwrap());
    KeptNotes::of(&here.mounted.mount.host).asked(&note, &ann).await.unwrap().remove(&chef)
}

#[tokio::test]
async fn an_edited_note_is_asked_anew_once_and_a_deleted_one_is_taken_back() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    there.has("bob", "Person", &there.key);
    here.post(&there, "ann", &there.note("ann", 1, "soup")).await;
    here.heard(1).await;
    let first = asked(&here, &there, 1).await.unwrap();
    for (number, words, expected) in [(11, "stew", 2), (12, "stew", 2), (13, "soup", 3), (14, "stew", 4)] {
        assert_eq!(here.post(&there, "ann", &edited(&there, 1, number, words)).await, StatusCode::ACCEPTED);
        assert_eq!(here.heard(expected).await.len(), expected, "{number} {words}");
    }
    let last = asked(&here, &there, 1).await.unwrap();
    assert_eq!((&last.letter.token, last.letter.address.revision), (&first.letter.token, 3));
    let notes = KeptNotes::of(&here.mounted.mount.host);
    // Somebody else of that server can't delete it.
    let object = json!({"id": format!("{}/notes/1", there.origin), "type": "Tombstone"});
    let of_bob = there.activity("bob", "Delete", 15, &object);
    assert_eq!(here.post(&there, "bob", &of_bob).await, StatusCode::ACCEPTED);
    assert!(!notes.is_withdrawn(&first.letter.token).await.unwrap());
    let delete = there.activity("ann", "Delete", 16, &object);
    assert_eq!(here.post(&there, "ann", &delete).await, StatusCode::ACCEPTED);
    assert!(notes.is_withdrawn(&first.letter.token).await.unwrap());
}

#[tokio::test]
async fn an_edit_that_mentions_nobody_any_more_takes_the_question_back() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    here.post(&there, "ann", &there.note("ann", 1, "soup")).await;
    here.heard(1).await;
    let mut update = edited(&there, 1, 2, "never mind");
    update["object"]["tag"] = json!([]);
    assert_eq!(here.post(&there, "ann", &update).await, StatusCode::ACCEPTED);
    let token = asked(&here, &there, 1).await.unwrap().letter.token;
    assert!(KeptNotes::of(&here.mounted.mount.host).is_withdrawn(&token).await.unwrap());
    assert_eq!(here.heard(1).await.len(), 1);
}

#[tokio::test]
async fn the_answer_to_an_edit_takes_the_place_of_the_one_before_and_goes_with_its_question() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    let (service, first) = letter(&here, &there, true, enabled());
    answer(&service, &first, "Soup.").await;
    let address = NoteAddress { revision: 1, ..first.address.clone() };
    let second = crate::letter::Letter { address, ..first.clone() };
    answer(&service, &second, "Stew.").await;
    // An attempt at the first one that comes late.
    answer(&service, &first, "Soup.").await;
    answer(&service, &second, "Another try.").await;
    let posted = there.posted.lock().clone();
    let kinds: Vec<_> = posted.iter().map(|activity| activity["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Create", "Update", "Update"], "{posted:?}");
    assert_eq!((&posted[1]["object"]["id"], &posted[1]), (&posted[0]["object"]["id"], &posted[2]));
    assert!(posted[1]["object"]["updated"].is_string() && posted[0]["object"]["updated"].is_null());
    let (_, note) = here.get(&path(&there, 0)).await;
    assert!(note["content"].as_str().unwrap().contains("Stew."));
    KeptNotes::of(service.host()).withdraw(&second).await.unwrap();
    answer(&service, &second, "Stew.").await;
    assert_eq!(here.get(&path(&there, 0)).await.0, StatusCode::NOT_FOUND);
    assert_eq!(there.posted.lock().len(), 3);
}

#[tokio::test]
async fn a_note_asks_so_often_and_no_more() {
    let (here, there) = (Here::start("messages_per_actor_per_hour = 1000", Vec::new()).await, Elsewhere::start().await);
    let (_, letter) = letter(&here, &there, true, enabled());
    let notes = KeptNotes::of(&here.mounted.mount.host);
    for number in 0..ASKS_PER_NOTE_MAX {
        let asked = AskedNote { letter: letter.clone(), said: number.to_string() };
        assert!(notes.keep_asked(&asked).await.unwrap(), "{number}");
    }
    assert!(!notes.keep_asked(&AskedNote { letter, said: "one more".to_owned() }).await.unwrap());
}

#[tokio::test]
async fn a_follow_is_forgotten_in_the_end_and_can_be_said_again() {
    let (here, there) = (Here::start("", Vec::new()).await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    let (chef, ann) = (Handle::parse("chef").unwrap(), Iri::parse(&there.actor("ann")).unwrap());
    let follows = async || {
        let relations = Relations::of(&here.mounted.mount.host);
        (relations.is(Relation::Follows, &chef, &ann).await.unwrap(), relations.followers(&chef).await.unwrap())
    };
    here.post(&there, "ann", &there.activity("ann", "Follow", 1, &json!(CHEF))).await;
    assert_eq!(follows().await, (true, 1));
    here.mounted.clock.advance(RELATION_TTL);
    assert_eq!(follows().await, (false, 0));
    there.has("ann", "Person", &there.key);
    here.post(&there, "ann", &there.activity("ann", "Follow", 2, &json!(CHEF))).await;
    assert_eq!(follows().await, (true, 1));
}

#[tokio::test]
async fn a_key_that_is_replaced_signs_until_the_new_one_begins_on_every_node() {
    let here = Here::start("", Vec::new()).await;
    let host = &here.mounted.mount.host;
    let published = async || {
        let (_, actor) = here.get("/activitypub/users/chef").await;
        actor["publicKey"]["publicKeyPem"].as_str().unwrap().to_owned()
    };
    let before = published().await;
    let from = crate::key::rotate(host).await.unwrap();
    assert_eq!(published().await, before);
    here.mounted.clock.advance(KEY_FRESH);
    assert_eq!(published().await, before, "it is known, and has not begun");
    here.mounted.clock.advance(KEY_BEGINS_AFTER - KEY_FRESH);
    assert_eq!(host.clock().now(), from);
    let after = published().await;
    assert_ne!(after, before);
    // A node that was not there meanwhile.
    let other = crate::key::ActorKey::default();
    assert_eq!(other.get(host).await.unwrap().public_pem(), after);
    let replaced = here.mounted.mount.services.get::<forecourt_host::KeyRotation>().unwrap();
    assert!((replaced.rotate)().await.unwrap() > from);
}
