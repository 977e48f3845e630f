//! What a person wrote, without what was quoted.

use forecourt_email::own_words;
use proptest::prelude::*;

#[test]
fn quotes_and_what_introduces_them_are_left_out_in_many_languages() {
    for introduction in [
        "On Mon, Jan 1, 2024 at 10:00 AM Parrot <parrot@demo.example> wrote:",
        "On Mon, Jan 1, 2024 at 10:00 AM Parrot\n<parrot@demo.example> wrote:",
        "Am 01.01.2024 um 10:00 schrieb Parrot:",
        "Am Mo., 1. Jan. 2024 um 10:00 Uhr schrieb Parrot <parrot@demo.example>:",
        "Le lun. 1 janv. 2024 à 10:00, Parrot <parrot@demo.example> a écrit :",
        "El lun, 1 ene 2024 a las 10:00, Parrot (<parrot@demo.example>) escribió:",
        "Il giorno lun 1 gen 2024 alle 10:00 Parrot <parrot@demo.example> ha scritto:",
        "Em seg., 1 de jan. de 2024 às 10:00, Parrot <parrot@demo.example> escreveu:",
        "Op ma 1 jan 2024 om 10:00 schreef Parrot <parrot@demo.example>:",
        "Den mån 1 jan. 2024 kl 10:00 skrev Parrot <parrot@demo.example>:",
        "W dniu 1.01.2024 o 10:00, Parrot pisze:",
        "пн, 1 янв. 2024 г. в 10:00, Parrot <parrot@demo.example> пишет:",
        "Parrot <parrot@demo.example> 于2024年1月1日周一 10:00写道：",
    ] {
        let marked = format!("And then?\n\n{introduction}\n\n> You said: hi\n>> deeper\n> more\n");
        assert_eq!(own_words(&marked), "And then?", "{introduction}");
        let bare = format!("And then?\r\n\r\n{introduction}\r\nYou said: hi\r\n");
        assert_eq!(own_words(&bare), "And then?", "{introduction}");
    }
}

#[test]
fn words_below_a_quote_and_between_its_parts_are_kept() {
    let text = "On 1/1/2024 Bob wrote:\n> first?\nYes.\n\n> second?\nNo.\n";
    assert_eq!(own_words(text), "Yes.\n\nNo.");
}

#[test]
fn whole_messages_that_outlook_copies_are_left_out() {
    for copy in [
        "-----Original Message-----\nFrom: Bob",
        "-----Ursprüngliche Nachricht-----\nVon: Bob",
        "________________________________\nFrom: Bob <bob@x.example>\nSent: Monday\nTo: Ann\nSubject: hi",
        "Von: Bob <bob@x.example>\nGesendet: Montag\nAn: Ann\nBetreff: hi",
        "*From:* Bob\n*Sent:* Monday",
        "De : Bob <bob@x.example>\nEnvoyé : lundi",
        "---------- Forwarded message ---------\nFrom: Bob",
    ] {
        assert_eq!(own_words(&format!("Yes, please.\n\n{copy}\n\nold words")), "Yes, please.", "{copy}");
    }
}

#[test]
fn signatures_and_advertisements_are_left_out() {
    assert_eq!(own_words("Hi\n-- \nAnn\nCEO"), "Hi");
    assert_eq!(own_words("Hi\n--\nAnn"), "Hi");
    assert_eq!(own_words("Hi\n\nSent from my iPhone"), "Hi");
    assert_eq!(own_words("Hi\n\nVon meinem iPhone gesendet"), "Hi");
}

#[test]
fn what_only_looks_alike_is_kept() {
    for text in [
        "On Monday I wrote: nothing",
        "From: here to there, please.\nWhat is the way?",
        "Am I late? He wrote 3 things:\nmilk",
        "a - b -- c",
        "-- is this a question?",
    ] {
        assert_eq!(own_words(text), text);
    }
    // A message that is nothing but a copy is what was meant.
    assert!(own_words("---------- Forwarded message ---------\nFrom: Bob\n\nhi").contains("hi"));
}

proptest! {
    #[test]
    fn any_text_is_shortened_and_no_line_of_it_is_a_quote(text in "\\PC{0,300}|([>a-z:0-9@ \n-]{0,300})") {
        let own = own_words(&text);
        prop_assert!(own.len() <= text.len());
        prop_assert!(own.lines().all(|line| !line.trim_start().starts_with('>')));
        prop_assert_eq!(own_words(&own).len() <= own.len(), true);
    }
}
