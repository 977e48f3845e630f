//! Messages that are changed or deleted, also while they are in hand.

use forecourt_core::{CollectedReply, Ending, Part};
use forecourt_correspondence::{Carrier, Content, Letter, Outgoing};
use forecourt_host::CarryOutcome;

use super::pause::carrying;
use super::*;
use crate::records::{Records, SentItem};

impl Here {
    /// Waits until the platform is asked for so many profiles.
    async fn looked_up(&self, count: usize) {
        for _ in 0..10_000 {
            if self.cage.looked_up.load(Ordering::SeqCst) >= count {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("nobody is looked up");
    }

    /// Whether the question of a message was taken back.
    async fn is_taken_back(&self, message: &str) -> bool {
        let records = Records::of(&self.mounted.mount.host, Parrot::KIND);
        let asked = records.question(&format!("door/C1/{message}")).await.unwrap().unwrap();
        records.sent(&asked.letter).await.unwrap().contains(&SentItem::TakenBack)
    }
}

#[tokio::test]
async fn a_message_that_is_deleted_while_it_is_in_hand_is_taken_back() {
    let here = Arc::new(Here::start("deleted in hand", 9).await);
    let held = here.cage.gate.clone().acquire_owned().await.unwrap();
    let asking = tokio::spawn({
        let here = here.clone();
        async move { here.ask("1", "hi").await }
    });
    here.looked_up(1).await;
    assert_eq!(here.tell(&json!({"kind": "deleted", "message": "1"})).await, StatusCode::OK);
    drop(held);
    assert_eq!(asking.await.unwrap(), StatusCode::OK);
    assert!(here.is_taken_back("1").await);
    // One that is deleted afterwards is, too; one that nobody knows is nothing.
    assert_eq!(here.ask("2", "hi").await, StatusCode::OK);
    assert!(!here.is_taken_back("2").await);
    for message in ["2", "3"] {
        assert_eq!(here.tell(&json!({"kind": "deleted", "message": message})).await, StatusCode::OK);
    }
    assert!(here.is_taken_back("2").await);
    assert_eq!(here.counted(EventOutcome::Ignored), 1);
}

#[tokio::test]
async fn what_a_question_was_answered_with_is_that_of_its_edits() {
    let here = Here::start("adopted", 9).await;
    let records = Records::of(&here.mounted.mount.host, Parrot::KIND);
    let asked = async || records.question("door/C1/1").await.unwrap().unwrap();
    assert_eq!(here.ask("1", "hi").await, StatusCode::OK);
    let first = asked().await;
    for sent in [SentItem::Message("a".to_owned()), SentItem::Message("b".to_owned()), SentItem::Gone("a".to_owned())] {
        records.keep_sent(first.sender.account(), &first.letter, &sent).await.unwrap();
    }
    // Twice, before anything is answered: a deletion now finds what was said at first.
    for text in ["hello", "good morning"] {
        let edit = json!({"kind": "edited", "message": "1", "text": text});
        assert_eq!(here.tell(&edit).await, StatusCode::OK);
    }
    let last = asked().await;
    assert_ne!(last.letter, first.letter);
    assert_eq!(records.sent(&last.letter).await.unwrap(), [SentItem::Message("b".to_owned())]);
}

#[tokio::test]
async fn an_answer_that_was_late_does_not_stand_beside_that_of_an_edit() {
    let here = Here::start("superseded", 9).await;
    let (carrier, desk, letter) = carrying(&here);
    assert_eq!(here.ask("1", "hi").await, StatusCode::OK);
    let records = Records::of(desk.host(), Parrot::KIND);
    let first = records.question("door/C1/1").await.unwrap().unwrap();
    let edit = json!({"kind": "edited", "message": "1", "text": "hello"});
    assert_eq!(here.tell(&edit).await, StatusCode::OK);
    // Its task was over by then, and the platform wanted to be left alone.
    let letter = Letter { token: first.letter, sender: first.sender, ..letter };
    let reply = CollectedReply::new(vec![Part::text("Old soup.")], Ending::Complete);
    let outgoing = Outgoing { desk: &desk, letter: &letter, content: Content::Reply(&reply), id: "1", task: None };
    assert_eq!(carrier.send(outgoing).await, CarryOutcome::Delivered);
    let said = here.cage.said.lock();
    assert!(!said.iter().any(|text| text.contains("Old soup.")), "{said:?}");
}

#[tokio::test]
async fn an_edit_that_is_deleted_while_it_is_in_hand_is_taken_back() {
    let here = Arc::new(Here::start("edited in hand", 9).await);
    assert_eq!(here.ask("1", "hi").await, StatusCode::OK);
    let held = here.cage.gate.clone().acquire_owned().await.unwrap();
    let asking = tokio::spawn({
        let here = here.clone();
        async move { here.tell(&json!({"kind": "edited", "message": "1", "text": "hello"})).await }
    });
    here.looked_up(2).await;
    assert_eq!(here.tell(&json!({"kind": "deleted", "message": "1"})).await, StatusCode::OK);
    drop(held);
    assert_eq!(asking.await.unwrap(), StatusCode::OK);
    assert!(here.is_taken_back("1").await, "the last edit is the one that is kept");
}
