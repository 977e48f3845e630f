//! What is due: a platform that wants to be left alone is, by every answer of its connector, and a question that was
//! deleted is not answered.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use forecourt_core::{CollectedReply, Ending, Part, Sender};
use forecourt_correspondence::{Carrier, Content, Desk, Letter, Outgoing};
use forecourt_host::CarryOutcome;

use super::*;
use crate::address::ChatAddress;
use crate::carrier::ChatCarrier;
use crate::connector::Connector;
use crate::live::LiveAnswers;
use crate::records::{Records, SentItem};

const WAIT: Duration = Duration::from_secs(30);

/// A carrier of the connector `door`, its desk, and a letter that it has to bring.
pub(super) fn carrying(here: &Here) -> (ChatCarrier<Parrot>, Desk<ChatAddress<Parrot>>, Letter<ChatAddress<Parrot>>) {
    let (host, egress) = (here.mounted.mount.host.clone(), here.mounted.mount.egress.clone());
    let (door, chef) = (Handle::parse("door").unwrap(), Handle::parse("chef").unwrap());
    let section = Section::parse(std::path::Path::new("a.toml"), "", &|_: &str| None).unwrap();
    let connector = Connector::new(door.clone(), Parrot(here.cage.clone()), ConnectorSettings::default(), section);
    let connectors = Arc::new(BTreeMap::from([(door.clone(), connector)]));
    let carrier = ChatCarrier { connectors, egress, live: Arc::<LiveAnswers>::default() };
    let desk = Desk::<ChatAddress<Parrot>>::new(host, 9.try_into().unwrap());
    let place = Place { channel: "C1".to_owned(), is_direct: true, ..Place::default() };
    let (message, user) = ("1".to_owned(), "U1".to_owned());
    let address =
        ChatAddress { connector: door, place, message, user, replaces: None, too_large: Vec::new(), of: PhantomData };
    let letter = desk.letter(chef, Sender::anonymous(), None, None, address);
    (carrier, desk, letter)
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_deleted_is_not_answered_when_it_is_asked_again() {
    let here = Here::start("asked again", 9).await;
    let (carrier, desk, first) = carrying(&here);
    let records = Records::of(desk.host(), Parrot::KIND);
    let again = Letter { token: "b".repeat(43), first: Some(first.origin().to_owned()), ..first.clone() };
    let reply = CollectedReply::new(vec![Part::text("Soup.")], Ending::Complete);
    let send = async |id| {
        let outgoing = Outgoing { desk: &desk, letter: &again, content: Content::Reply(&reply), id, task: None };
        (carrier.send(outgoing).await, here.cage.posted.load(Ordering::SeqCst))
    };
    assert_eq!(send("1").await, (CarryOutcome::Delivered, 1));
    let sent = records.sent(first.origin()).await.unwrap();
    assert_eq!(sent, [SentItem::Message("0".to_owned())], "a deletion of the question finds it");
    records.keep_sent(first.sender.account(), first.origin(), &SentItem::TakenBack).await.unwrap();
    tokio::time::advance(Parrot::EDIT_EVERY).await;
    assert_eq!(send("2").await, (CarryOutcome::Delivered, 1));
}

#[tokio::test(start_paused = true)]
async fn what_somebody_took_down_is_not_said_again_and_no_file_follows_it() {
    let here = Here::start("taken down", 9).await;
    let (carrier, desk, letter) = carrying(&here);
    let file = File::inline("text/plain".to_owned(), Some("a.txt".to_owned()), Bytes::from_static(b"x"));
    let reply = CollectedReply::new(vec![Part::text("Soup.")], Ending::Complete);
    let longer = CollectedReply::new(vec![Part::text("Soup and salt."), Part::File(file)], Ending::Complete);
    let send = async |reply| {
        let content = Content::Reply(reply);
        carrier.send(Outgoing { desk: &desk, letter: &letter, content, id: "1", task: None }).await
    };
    assert_eq!(send(&reply).await, CarryOutcome::Delivered);
    here.cage.is_taken_down.store(true, Ordering::SeqCst);
    tokio::time::advance(Parrot::EDIT_EVERY).await;
    assert_eq!(send(&longer).await, CarryOutcome::Delivered);
    assert_eq!((here.cage.posted.load(Ordering::SeqCst), here.cage.uploaded.lock().len()), (1, 0));
    // Before anybody had, its edit is seen.
    here.cage.is_taken_down.store(false, Ordering::SeqCst);
    assert_eq!(send(&longer).await, CarryOutcome::Delivered);
    assert_eq!(
        (here.cage.said.lock().last().unwrap().as_str(), here.cage.uploaded.lock().len()),
        ("Soup and salt.", 1)
    );
}

#[tokio::test(start_paused = true)]
async fn who_is_told_to_wait_has_all_others_wait_and_nobody_asks_meanwhile() {
    let here = Here::start("paused", 9).await;
    let (carrier, desk, letter) = carrying(&here);
    let reply = CollectedReply::new(vec![Part::text("Soup.")], Ending::Complete);
    let send = async || {
        let content = Content::Reply(&reply);
        let outcome = carrier.send(Outgoing { desk: &desk, letter: &letter, content, id: "1", task: None }).await;
        (outcome, here.cage.posted.load(Ordering::SeqCst))
    };
    *here.cage.later.lock() = Some(WAIT);
    assert_eq!(send().await, (CarryOutcome::Wait(WAIT), 1));
    *here.cage.later.lock() = None;
    // One behind the other, and the platform hears of neither.
    assert_eq!(send().await, (CarryOutcome::Wait(WAIT + Parrot::EDIT_EVERY), 1));
    assert_eq!(send().await, (CarryOutcome::Wait(WAIT + 2 * Parrot::EDIT_EVERY), 1));
    tokio::time::advance(WAIT).await;
    assert_eq!(send().await, (CarryOutcome::Delivered, 2));
}
