use forecourt_core::policy::RefusalKind;
use forecourt_core::{Domain, Handle, Sender};

use super::*;
use crate::letter::NoteAddress;

fn letter(is_public: bool) -> Letter {
    let iri = |text: &str| Iri::parse(text).unwrap();
    Letter {
        agent: Handle::parse("chef").unwrap(),
        sender: Sender::anonymous(),
        language: Language::parse("de"),
        conversation: "c".to_owned(),
        token: "t".to_owned(),
        repeats: 0,
        first: None,
        asked_at: None,
        address: NoteAddress {
            actor: iri("https://social.example/users/ann"),
            username: "ann".to_owned(),
            inbox: iri("https://social.example/users/ann/inbox"),
            note: iri("https://social.example/users/ann/statuses/1"),
            is_public,
            hop: 0,
            revision: 0,
        },
    }
}

fn reply(parts: Vec<Part>, ending: Ending) -> CollectedReply {
    CollectedReply { parts, findings: None, usage: Default::default(), receipt: None, ending }
}

fn told(content: Content<'_>, is_public: bool, chars_max: usize) -> Option<ComposedNote> {
    let domain = Domain::parse("demo.localhost").unwrap();
    let site = Site { domain, name: "Demo".to_owned(), base: "https://demo.localhost".to_owned() };
    let card = forecourt_testkit::card("chef");
    let whole = "https://demo.localhost/activitypub/answers/w";
    let style = Style { site: &site, card: &card, chars_max, now: Timestamp::UNIX_EPOCH, whole, about_files: &[] };
    compose(&NoteContent::Content(content), &letter(is_public), "t", &style)
}

#[test]
fn an_answer_mentions_who_asked_in_the_thread_and_a_public_one_is_unlisted() {
    let reply = reply(vec![Part::markdown("**Soup**.")], Ending::Complete);
    let note = told(Content::Reply(&reply), true, 100).unwrap().note;
    assert_eq!(note["inReplyTo"], "https://social.example/users/ann/statuses/1");
    assert_eq!(note["to"], json!(["https://social.example/users/ann"]));
    assert_eq!(note["cc"], json!([PUBLIC]));
    assert_eq!(
        note["tag"][0],
        json!({"type": "Mention", "href": "https://social.example/users/ann", "name": "@ann@social.example"})
    );
    let content = note["content"].as_str().unwrap();
    assert!(content.starts_with("<p><span class=\"h-card\"><a href=\"https://social.example/users/ann\""), "{content}");
    assert!(content.ends_with("</span> <strong>Soup</strong>.</p>"), "{content}");
    assert_eq!(note["contentMap"]["de"], note["content"]);
    assert_eq!(note[HOP], 1);
    let create = create(&note);
    assert_eq!((&create["actor"], &create["object"]["id"]), (&note["attributedTo"], &note["id"]));
    let direct = told(Content::Reply(&reply), false, 100).unwrap().note;
    assert_eq!(direct["cc"], json!([]));
}

#[test]
fn policy4_3_a_refusal_is_its_words_and_its_link_for_its_reader_alone() {
    let mut part = PolicyPart::new(RefusalKind::Forbidden, "Please agree.");
    part.url = Some("https://demo.localhost/consent/x".to_owned());
    let composed = told(Content::Refusal(&part), true, 100).unwrap();
    let content = composed.note["content"].as_str().unwrap();
    assert!(
        content.contains("Please agree.") && content.contains("href=\"https://demo.localhost/consent/x\""),
        "{content}"
    );
    assert!(!composed.is_public);
    assert_eq!(composed.note["cc"], json!([]));
    assert_eq!(composed.note[POLICY]["v"], ENVELOPE_VERSION);
    assert_eq!(composed.note[POLICY]["part"]["message"], "Please agree.");
}

#[test]
fn a_long_answer_ends_in_a_link_to_the_whole() {
    let reply = reply(vec![Part::markdown("word ".repeat(100))], Ending::Complete);
    for (is_public, link) in [(true, "/activitypub/users/chef/notes/t"), (false, "/activitypub/answers/w")] {
        let composed = told(Content::Reply(&reply), is_public, 50).unwrap();
        let content = composed.note["content"].as_str().unwrap();
        assert!(composed.is_cut && content.contains(&format!("https://demo.localhost{link}\"")), "{content}");
        assert!(content.contains("Die ganze Antwort") && composed.words.len() > 400);
    }
    assert!(!told(Content::Reply(&reply), true, 1_000).unwrap().is_cut);
}

#[test]
fn pictures_have_a_description_and_items_are_not_told_twice() {
    let item = |n: usize| {
        Part::data(
            json!({"name": format!("Soup {n}"), "url": format!("https://a.example/{n}"), "image": "https://a.example/i.JPG"}),
        )
    };
    let parts = std::iter::once(Part::markdown("[Soup 0](https://a.example/0)")).chain((0..6).map(item)).collect();
    let note = told(Content::Reply(&reply(parts, Ending::Complete)), true, 500).unwrap().note;
    let pictures = note["attachment"].as_array().unwrap();
    assert_eq!(pictures.len(), PICTURES_MAX);
    let first = json!({"type": "Image", "url": "https://a.example/i.JPG", "name": "Soup 0", "mediaType": "image/jpeg"});
    assert_eq!(pictures[0], first);
    assert_eq!(note["content"].as_str().unwrap().matches("Soup 0").count(), 1);
    assert_eq!(note["content"].as_str().unwrap().matches("Soup 1").count(), 1);
}

#[test]
fn a_question_is_a_note_that_asks_and_a_cancelled_task_says_nothing() {
    let question = forecourt_core::Question::new("For how many?");
    let asked = reply(Vec::new(), Ending::Question(question));
    assert!(
        told(Content::Reply(&asked), true, 500).unwrap().note["content"].as_str().unwrap().contains("For how many?")
    );
    assert!(told(Content::Reply(&reply(Vec::new(), Ending::Canceled)), true, 500).is_none());
}
