//! Ids and language tags.

use forecourt_core::ids::{is_token, mint, uuid7};
use forecourt_core::limits::{CLIENT_ID_BYTES_MAX, TOKEN_BYTES};
use forecourt_core::{Language, MessageId, Sender, TaskId, ThreadId, Timestamp};
use forecourt_testkit::CountedEntropy;
use proptest::prelude::*;

use crate::cases;

/// What nobody in particular, or an owner, calls a conversation.
fn adopt(owner: Option<&str>, name: &str) -> Option<ThreadId> {
    match owner {
        Some(owner) => ThreadId::adopt_for(owner, name),
        None => ThreadId::adopt(name, &Sender::anonymous().caller(None)),
    }
}

#[test]
fn a_token_is_32_random_bytes_in_base64url() {
    let entropy = CountedEntropy::default();
    let (first, second) = (mint(&entropy), mint(&entropy));
    assert_ne!(first, second);
    for token in [&first, &second] {
        assert_eq!(token.len(), (TOKEN_BYTES * 8).div_ceil(6));
        assert!(is_token(token));
    }
    assert!(!is_token(&format!("{first}A")));
    assert!(!is_token(&first[1..]));
}

#[test]
fn what_is_not_shaped_like_an_id_is_none() {
    for case in cases("paths/ids.json").iter().chain(&cases("paths/traversal.json")) {
        let text = case.as_str().or_else(|| case["id"].as_str()).unwrap_or_default();
        let shaped = text.len() == 43 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        assert_eq!(TaskId::parse(text).is_some(), shaped, "{text:?}");
    }
    for text in ["", "é", &"+".repeat(43), &"a=".repeat(22), &" ".repeat(43), &"a".repeat(100_000)] {
        assert!(TaskId::parse(text).is_none() && ThreadId::parse(text).is_none());
    }
}

#[test]
fn ids_that_open_something_are_never_printed() {
    let entropy = CountedEntropy::default();
    let (task, thread) = (TaskId::mint(&entropy), ThreadId::mint(&entropy));
    let printed = format!("{task:?} {thread:?} {:#?}", (Some(&task), vec![&thread]));
    for secret in [task.expose(), thread.expose()] {
        assert!(!printed.contains(&secret[..8]), "{printed}");
    }
    assert_eq!(format!("{task:?}"), "TaskId([redacted])");
    assert_eq!(TaskId::parse(task.expose()), Some(task));
}

#[test]
fn a_clients_name_never_equals_a_token_nor_meets_another_owners() {
    let token = mint(&CountedEntropy::default());
    let ours = ThreadId::parse(&token).unwrap();
    let owners = [None, Some(""), Some("ann"), Some("ann\0"), Some(":ann"), Some("~"), Some("\0")];
    let adopted = owners.map(|owner| adopt(owner, &token).unwrap());
    for (n, one) in adopted.iter().enumerate() {
        assert_eq!((one.expose(), one.is_adopted()), (token.as_str(), true));
        assert_ne!(one.key(), token);
        assert_ne!(*one, ours);
        assert!(adopted[n + 1..].iter().all(|other| other != one), "{:?}", owners[n]);
    }
    assert_eq!((ours.expose(), ours.key(), ours.is_adopted()), (token.as_str(), token.as_str(), false));
    assert_eq!(
        ThreadId::adopt("ctx", &Sender::anonymous().caller(None)),
        ThreadId::adopt("ctx", &Sender::anonymous().caller(None))
    );
    assert_eq!(format!("{:?}", adopted[0]), "ThreadId([redacted])");
}

#[test]
fn a_clients_name_of_a_conversation_has_1_to_256_printable_bytes() {
    let adopt = |name: &str| adopt(Some("ann"), name).map(|thread| thread.expose().to_owned());
    for name in ["1", "urn:x:ü ~", "~:bob", &"a".repeat(CLIENT_ID_BYTES_MAX)] {
        assert_eq!(adopt(name).as_deref(), Some(name));
    }
    for name in ["", "a\nb", "a\0b", "a\u{85}b", &"a".repeat(CLIENT_ID_BYTES_MAX + 1)] {
        assert_eq!(adopt(name), None, "{name:?}");
    }
}

#[test]
fn a_callers_id_has_1_to_256_printable_bytes() {
    assert!(MessageId::parse(&"a".repeat(CLIENT_ID_BYTES_MAX)).is_some());
    assert!(MessageId::parse(&"a".repeat(CLIENT_ID_BYTES_MAX + 1)).is_none());
    assert!(MessageId::parse("").is_none());
    assert!(MessageId::parse("a\nb").is_none());
    assert!(MessageId::parse("a\u{85}b").is_none());
    assert_eq!(MessageId::parse("urn:x:ü").map(|id| id.as_str().to_owned()).as_deref(), Some("urn:x:ü"));
}

#[test]
fn rfc5646_4_4_1_a_tag_has_at_most_35_bytes() {
    let longest = "de-a-bbbbbbbb-cccccccc-dddddddd-eee";
    assert_eq!(longest.len(), 35);
    assert!(Language::parse(longest).is_some());
    assert!(Language::parse(&format!("{longest}e")).is_none());
}

#[test]
fn tags_get_their_usual_capitals() {
    for (text, tag) in [("DE", "de"), ("pt-br", "pt-BR"), ("ZH-HANT-tw", "zh-Hant-TW")] {
        assert_eq!(Language::parse(text).unwrap().as_str(), tag);
    }
    assert_eq!(Language::parse("pt-BR").unwrap().primary(), "pt");
}

#[test]
fn rfc4647_3_4_a_tag_is_shortened_from_its_end() {
    let ranges = |tag: &str| Language::parse(tag).unwrap().ranges().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(ranges("zh-Hant-CN-x-private1"), ["zh-Hant-CN-x-private1", "zh-Hant-CN", "zh-Hant", "zh"]);
    assert_eq!(ranges("en"), ["en"]);
}

#[test]
fn what_is_no_tag_is_none() {
    for text in ["", "-", "*", "e", "de_AT", "de-", "de AT", "de\r\n", "de,en", "de;q=1", "é", "\"de\"", "<de>"] {
        assert!(Language::parse(text).is_none(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn two_names_or_two_owners_are_two_conversations(
        one in (any::<String>(), any::<Option<String>>()),
        other in (any::<String>(), any::<Option<String>>()),
    ) {
        let adopt = |(name, owner): &(String, Option<String>)| adopt(owner.as_deref(), name);
        if let (Some(first), Some(second)) = (adopt(&one), adopt(&other)) {
            prop_assert_eq!(first == second, one == other);
            prop_assert_eq!(first.expose(), one.0);
            prop_assert!(ThreadId::parse(first.key()).is_none());
        }
    }

    #[test]
    fn a_tag_is_safe_in_headers_and_attributes(text in any::<String>(), tagged in "[a-zA-Z0-9-]{1,40}") {
        for text in [text, tagged] {
            if let Some(language) = Language::parse(&text) {
                prop_assert!(language.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
                prop_assert_eq!(Language::parse(language.as_str()), Some(language));
            }
        }
    }
}

#[test]
fn rfc9562_5_7_a_uuid_of_version_7_begins_with_its_millisecond() {
    let now: Timestamp = "2022-02-22T19:22:22Z".parse().unwrap();
    let entropy = CountedEntropy::default();
    let (first, second) = (uuid7(now, &entropy), uuid7(now, &entropy));
    assert!(first.starts_with("017f22e2-79b0-7") && second.starts_with("017f22e2-79b0-7"), "{first}");
    assert_ne!(first, second);
    assert_eq!(first.bytes().map(|b| b == b'-').filter(|is| *is).count(), 4);
    assert!(first.len() == 36 && matches!(first.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{first}");
    assert!(uuid7(Timestamp::MIN, &entropy).starts_with("00000000-0000-7"));
}
