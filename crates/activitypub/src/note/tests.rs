use forecourt_core::Domain;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn site() -> Site {
    let domain = Domain::parse("demo.localhost").unwrap();
    Site { domain, name: String::new(), base: "https://demo.localhost".to_owned() }
}

/// The object of a Create as a server sends it: a file of `tests/fixtures`, with who sent it.
fn fixture(name: &str) -> (Value, Iri) {
    let file = format!("{}/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let create: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let actor = Iri::parse(create["actor"].as_str().unwrap()).unwrap();
    (create["object"].clone(), actor)
}

fn read(name: &str) -> InboundNote {
    let (object, actor) = fixture(name);
    InboundNote::read(&object, &actor, &site()).unwrap().unwrap()
}

fn words(note: &InboundNote) -> &str {
    note.parts.iter().find_map(Part::as_text).unwrap_or_default()
}

#[test]
fn a_direct_note_of_mastodon_asks_who_is_mentioned() {
    let note = read("mastodon-direct");
    assert_eq!(words(&note), "what can I cook with chickpeas?");
    assert_eq!(note.agents, [Handle::parse("chef").unwrap()]);
    assert_eq!(note.language.as_ref().map(Language::as_str), Some("en"));
    assert!(!note.is_public && note.in_reply_to.is_none() && note.hop == 0);
}

#[test]
fn a_public_note_of_mastodon_keeps_its_thread_its_warning_and_its_picture() {
    let note = read("mastodon-public");
    assert_eq!(words(&note), "food\n\nund ohne Zwiebeln?");
    assert!(note.is_public);
    assert!(note.in_reply_to.as_deref().is_some_and(|before| before.contains("/notes/")));
    let file = note.parts.iter().find_map(|part| match part {
        Part::File(file) => Some(file),
        _ => None,
    });
    let file = file.unwrap();
    assert_eq!((file.mime.as_str(), file.name.as_deref()), ("image/jpeg", Some("A bowl of soup")));
    let url = "https://files.social.example/soup.jpg".to_owned();
    assert_eq!(file.source, FileSource::Url { url, expires_at: None });
}

#[test]
fn notes_of_gotosocial_and_misskey_are_read_as_they_come() {
    let note = read("gotosocial");
    assert_eq!((words(&note), note.is_public), ("any soup today?", true));
    let note = read("misskey");
    assert_eq!((words(&note), note.is_public), ("hello\nchef", false));
}

#[test]
fn whoever_is_only_among_the_readers_is_not_asked() {
    let (mut object, actor) = fixture("mastodon-direct");
    object["tag"] = json!([]);
    assert!(InboundNote::read(&object, &actor, &site()).unwrap().is_none());
    // An answer to what an agent said asks it, also without a mention.
    object["inReplyTo"] = json!(format!("https://demo.localhost/activitypub/users/chef/notes/{}", "a".repeat(43)));
    assert_eq!(InboundNote::read(&object, &actor, &site()).unwrap().unwrap().agents.len(), 1);
    object["to"] = json!([]);
    assert!(InboundNote::read(&object, &actor, &site()).unwrap().is_none());
}

#[test]
fn nobody_speaks_for_another_server_or_another_actor() {
    let (object, actor) = fixture("mastodon-direct");
    let with = |key: &str, value: Value| {
        let mut object = object.clone();
        object[key] = value;
        InboundNote::read(&object, &actor, &site()).map(|note| note.is_some())
    };
    let other = json!("https://social.example/users/bob");
    assert_eq!(with("attributedTo", other), Err(DecodeError::Foreign("object.attributedTo")));
    assert_eq!(with("id", json!("https://other.example/1")), Err(DecodeError::Foreign("object.id")));
    assert_eq!(with("content", json!("<p> </p>")), Err(DecodeError::Empty));
    assert_eq!(with("type", json!("Question")), Ok(false));
}

#[test]
fn agents_and_attachments_beyond_the_bound_are_left_out() {
    let (mut object, actor) = fixture("mastodon-direct");
    let actors = "https://demo.localhost/activitypub/users";
    let mention = |n: usize| json!({"type": "Mention", "href": format!("{actors}/a{n}")});
    let document =
        |n: usize| json!({"type": "Image", "mediaType": "image/png", "url": format!("https://a.example/{n}")});
    for over in [0, 1] {
        object["tag"] = (0..AGENTS_ASKED_MAX + over).map(mention).collect();
        object["attachment"] = (0..ATTACHMENTS_MAX + over).map(document).collect();
        let note = InboundNote::read(&object, &actor, &site()).unwrap().unwrap();
        assert_eq!((note.agents.len(), note.parts.len()), (AGENTS_ASKED_MAX, ATTACHMENTS_MAX + 1));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        "[a-z<>/:.@#]{0,20}".prop_map(Value::from),
        Just(json!("https://demo.localhost/activitypub/users/chef")),
        Just(json!("Mention")),
    ];
    let keys = prop_oneof![Just("href".to_owned()), Just("type".to_owned()), Just("url".to_owned()), "[a-z]{1,4}"];
    leaf.prop_recursive(3, 20, 5, move |inner| {
        let map = proptest::collection::btree_map(keys.clone(), inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            map.prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The members of a note that are read.
const MEMBERS: [&str; 8] = ["tag", "to", "content", "contentMap", "attachment", "inReplyTo", "summary", "attributedTo"];

proptest! {
    #[test]
    fn no_member_of_any_form_breaks_the_reader(key in proptest::sample::select(&MEMBERS[..]), value in any_json()) {
        let (mut object, actor) = fixture("mastodon-public");
        object[key] = value;
        if let Ok(Some(note)) = InboundNote::read(&object, &actor, &site()) {
            prop_assert!(note.agents.len() <= AGENTS_ASKED_MAX && !note.parts.is_empty());
        }
    }
}
