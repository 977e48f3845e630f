//! A platform that wants to be left alone is, by every answer of its connector.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use forecourt_core::{CollectedReply, Ending, Part, Sender};
use forecourt_correspondence::{Carrier, Content, Desk, Outgoing};
use forecourt_host::CarryOutcome;

use super::*;
use crate::address::ChatAddress;
use crate::carrier::ChatCarrier;
use crate::connector::Connector;
use crate::live::LiveAnswers;

const WAIT: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn who_is_told_to_wait_has_all_others_wait_and_nobody_asks_meanwhile() {
    let here = Here::start("paused", 9).await;
    let (host, egress) = (here.mounted.mount.host.clone(), here.mounted.mount.egress.clone());
    let (door, chef) = (Handle::parse("door").unwrap(), Handle::parse("chef").unwrap());
    let section = Section::parse(std::path::Path::new("a.toml"), "", &|_: &str| None).unwrap();
    let connector = Connector::new(door.clone(), Parrot(here.cage.clone()), ConnectorSettings::default(), section);
    let connectors = Arc::new(BTreeMap::from([(door.clone(), connector)]));
    let carrier = ChatCarrier { connectors, egress, live: Arc::<LiveAnswers>::default() };
    let desk = Desk::<ChatAddress<Parrot>>::new(host, 9.try_into().unwrap());
    let place = Place { channel: "C1".to_owned(), is_direct: true, ..Place::default() };
    let (message, user) = ("1".to_owned(), "U1".to_owned());
    let address = ChatAddress { connector: door, place, message, user, replaces: None, of: PhantomData };
    let letter = desk.letter(chef, Sender::anonymous(), None, None, address);
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
