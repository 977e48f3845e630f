//! Mentions. Mentionable hub card 3.1, 3.2.

use std::time::{Duration, Instant};

use forecourt_core::{Domain, Handle, behind_mention, first_mention};
use proptest::prelude::*;

fn mention(text: &str) -> Option<String> {
    let own = Domain::parse("demo.localhost").unwrap();
    first_mention(text, &own).map(|handle| handle.as_str().to_owned())
}

#[test]
fn s3_1_the_first_mention_is_found_and_folded() {
    for text in [
        "@chef",
        "@Chef hello",
        "hello @chef!",
        "(@chef)",
        "@chef, what does @baker say?",
        "dear @CHEF: hi",
        "hi\n@chef.",
        "-@chef",
        "\"@chef\"",
        "**@chef** hi",
        "@ @chef",
        "@@chef",
        "请问@chef你好",
        "@chef님 안녕",
        "@chef's list",
        "@chef@",
        "@chef@ demo",
        "@chef…",
    ] {
        assert_eq!(mention(text).as_deref(), Some("chef"), "{text}");
    }
}

#[test]
fn s3_2_an_unknown_first_mention_is_still_the_first() {
    assert_eq!(mention("@nobody and @chef").as_deref(), Some("nobody"));
}

#[test]
fn an_e_mail_address_is_no_mention() {
    for text in ["me@example.com", "write to a.b_c@chef.example", "josé@chef.example", "a1@chef", "x_@chef"] {
        assert_eq!(mention(text), None, "{text}");
    }
    assert_eq!(mention("me@example.com, @chef!").as_deref(), Some("chef"));
}

#[test]
fn a_profile_in_a_url_is_no_mention() {
    assert_eq!(mention("see https://social.example/@chef"), None);
}

#[test]
fn an_address_counts_only_on_our_domain() {
    for text in [
        "@chef@demo.localhost",
        "@Chef@Demo.LOCALHOST, hi",
        "@chef@demo.localhost.",
        "@chef@demo.localhost你好",
        "@chef@demo.localhost:8443 hi",
    ] {
        assert_eq!(mention(text).as_deref(), Some("chef"), "{text}");
    }
    for text in [
        "@chef@other.example",
        "@chef@demo.localhost.evil.example",
        "@chef@localhost",
        "@chef@demo.localhosté",
        "@chef@xdemo.localhost",
        "@chef@b@demo.localhost",
    ] {
        assert_eq!(mention(text), None, "{text}");
    }
    assert_eq!(mention("@bob@other.example asks @chef").as_deref(), Some("chef"));
}

#[test]
fn our_domain_may_be_written_in_unicode() {
    let own = Domain::parse("bücher.example").unwrap();
    for text in ["@chef@bücher.example hi", "@chef@BÜCHER.example", "@chef@xn--bcher-kva.example"] {
        assert_eq!(first_mention(text, &own), Handle::parse("chef").ok(), "{text}");
    }
    let own = Domain::parse("例え.example").unwrap();
    assert_eq!(first_mention("@chef@例え.example!", &own), Handle::parse("chef").ok());
}

#[test]
fn s3_1_a_handle_has_at_most_thirty_characters() {
    let name = "a".repeat(30);
    assert_eq!(mention(&format!("@{name} hi")), Some(name.clone()));
    assert_eq!(mention(&format!("@{name}a hi")), None);
    assert_eq!(mention(&format!("@{name}a @chef")).as_deref(), Some("chef"));
}

#[test]
fn a_name_that_goes_on_in_another_alphabet_is_another_name() {
    assert_eq!(mention("@leán hi"), None);
    assert_eq!(mention("@шеф @chef").as_deref(), Some("chef"));
}

#[test]
fn long_texts_are_scanned_once() {
    for text in ["@".repeat(1 << 20), "a@".repeat(1 << 19), "@a@b".repeat(1 << 18), "@a@例".repeat(1 << 17)] {
        let started = Instant::now();
        let _ = mention(&text);
        assert!(started.elapsed() < Duration::from_secs(5));
    }
    let long_domain = format!("@chef@{}", "a.".repeat(1 << 20));
    assert_eq!(mention(&long_domain), None);
}

proptest! {
    #[test]
    fn a_mention_is_found_wherever_it_stands(before in "[^@]*", handle in "[a-z0-9_-]{1,30}", after in "( [^@]*)?") {
        let found = mention(&format!("{before} @{handle}{after}"));
        prop_assert_eq!(found, Some(handle));
    }

    #[test]
    fn what_is_found_is_written_there(text in any::<String>()) {
        if let Some(handle) = mention(&text) {
            let spelled = format!("@{handle}");
            prop_assert!(text.to_ascii_lowercase().contains(&spelled));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[@a-zé例.\\-_ /]{0,60}") {
        let _ = mention(&text);
    }
}

#[test]
fn what_is_said_to_an_agent_stands_behind_its_mention() {
    let chef = Handle::parse("chef").unwrap();
    let cases = [
        ("@chef soup", "soup"),
        (" @Chef, soup for @echo", "soup for @echo"),
        ("@chef@demo.localhost: soup", "soup"),
        ("@chef@demo.localhost. Soup", ". Soup"),
        ("@chef — soup", "soup"),
        ("@chef", ""),
        ("@chefs soup", "@chefs soup"),
        ("soup, @chef", "soup, @chef"),
        ("@echo soup", "@echo soup"),
        ("@", "@"),
        ("", ""),
    ];
    for (text, words) in cases {
        assert_eq!(behind_mention(text, &chef), words, "{text}");
    }
}
