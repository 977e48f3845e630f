//! Texts as clients write them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn us() -> Us {
    Us::new("kitchen", "example.org")
}

fn of(body: &str, html: &str, may_quote: bool) -> (String, bool, bool) {
    let content = json!({"format": "org.matrix.custom.html", "formatted_body": html});
    let read = read(body, content.as_object().unwrap(), &us(), may_quote);
    (read.words, read.mentions_us, read.is_for_others)
}

fn fine(words: &str, mentions_us: bool, is_for_others: bool) -> (String, bool, bool) {
    (words.to_owned(), mentions_us, is_for_others)
}

#[test]
fn mentions_of_the_bot_are_taken_out_however_they_are_written() {
    let pill = |user: &str, label: &str| format!("<a href=\"https://matrix.to/#/{user}\">{label}</a>: how long?");
    for (body, html) in [
        ("Kitchen: how long?", pill("@kitchen:example.org", "Kitchen")),
        ("Kitchen: how long?", pill("%40kitchen%3Aexample.org?via=example.org", "<b>Kitchen</b>")),
        ("Kitchen: how long?", "<a href='matrix:u/kitchen:example.org'>Kitchen</a>: how long?".to_owned()),
        ("@kitchen:example.org: how long?", pill("@kitchen:example.org", "@kitchen:example.org")),
        ("@kitchen:example.org how long?", String::new()),
        ("@kitchen:Example.org, how long?", String::new()),
        ("@kitchen: how long?", String::new()),
        ("@kitchen how long?", String::new()),
    ] {
        assert_eq!(of(body, &html, false), fine("how long?", true, false), "{body} {html}");
    }
    assert_eq!(
        of("Kitchen: @chef how long?", &pill("@kitchen:example.org", "Kitchen"), false),
        fine("@chef how long?", true, false)
    );
    // Not within another word, and once.
    assert_eq!(
        of("Cookery, Cook: hi", &pill("@kitchen:example.org", "Cook"), false),
        fine("Cookery,  hi", true, false)
    );
    assert_eq!(of("ann@kitchen.example.org", "", false), fine("ann@kitchen.example.org", false, false));
}

#[test]
fn other_people_are_no_agents_and_may_be_meant_alone() {
    let ann = "<a href=\"https://matrix.to/#/@chef:far.example\">@chef</a> look";
    assert_eq!(of("@chef look", ann, false), fine("chef look", false, true));
    assert_eq!(of("@chef:far.example: look", "", false), fine("chef:far.example: look", false, true));
    assert_eq!(of("@kitchen:far.example look", "", false), fine("kitchen:far.example look", false, true));
    assert_eq!(of("@kitchen ask @chef:far.example", "", false), fine("ask chef:far.example", true, false));
    // An agent, with a word right behind it.
    assert_eq!(of("@chef:how long? @chef: now", "", false), fine("@chef:how long? @chef: now", false, false));
}

#[test]
fn who_is_mentioned_by_the_fields_of_a_message_is_mentioned() {
    let content = json!({"m.mentions": {"user_ids": ["@ann:example.org", "@kitchen:example.org"]}});
    let content = content.as_object().unwrap();
    assert_eq!(mentions(content, &us()), (true, true));
    assert!(read("how long?", content, &us(), false).mentions_us);
    for odd in [
        json!({"m.mentions": {}}),
        json!({"m.mentions": {"user_ids": "@kitchen:example.org"}}),
        json!({"m.mentions": 7}),
    ] {
        assert_eq!(mentions(odd.as_object().unwrap(), &us()), (true, false), "{odd}");
    }
}

#[test]
fn copies_of_what_is_answered_are_left_out_and_quotes_of_a_person_stay() {
    let body = "> <@kitchen:example.org> soup\n> and salt\n\nhow long?";
    let html = "<mx-reply><blockquote><a href=\"https://matrix.to/#/@kitchen:example.org\">k</a></blockquote></mx-reply>how long?";
    assert_eq!(of(body, html, true), fine("how long?", false, false));
    assert_eq!(of("> said\n\nyes", "", false), fine("> said\n\nyes", false, false));
    assert_eq!(of("> only a quote", "", true), fine("", false, false));
}

#[test]
fn so_many_links_to_users_are_read_and_no_more() {
    let link = |at: usize| format!("<a href=\"https://matrix.to/#/@u{at}:example.org\">u{at}</a> ");
    let of = |many: usize| pills(&(0..many).map(link).collect::<String>()).len();
    assert_eq!((of(PILLS_MAX), of(PILLS_MAX + 1)), (PILLS_MAX, PILLS_MAX));
}

proptest! {
    #[test]
    fn no_text_panics(body in "[@a-z:.äß> \n]{0,60}", html in "[<>a/\"'= hrefmtix.o#@:k%&;ü]{0,80}", may_quote: bool) {
        let _ = of(&body, &html, may_quote);
    }

    #[test]
    fn words_without_an_at_are_read_as_they_are(body in "[a-z äß,.:]{0,40}") {
        prop_assert_eq!(of(&body, "", true), fine(body.trim(), false, false));
    }
}
