//! What a message of ours holds. Client-Server API, `m.room.message`.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_connectors::{Place, Post, PostButton};
use serde_json::{Value, json};

use crate::html::{formatted, plain};
use crate::limits::NAME_CHARS_MAX;
use crate::marks::{address, escaped};

/// The words of a message. It is a notice: no program answers one, so that two agents never talk to each other. Nobody
/// is mentioned by it, whatever stands in it.
pub(crate) fn words(post: &Post) -> Value {
    let text = match &post.button {
        // There are no buttons.
        Some(PostButton { label, url }) => {
            format!("{}\n\n<a href=\"{}\">{}</a>", post.text, address(url), escaped(label))
        }
        None => post.text.clone(),
    };
    json!({
        "msgtype": "m.notice", "body": plain(&text), "format": "org.matrix.custom.html",
        "formatted_body": formatted(&text), "m.mentions": {},
    })
}

/// Words of this host as a message.
pub(crate) fn post(text: &str) -> Post {
    Post { text: escaped(text), ..Post::default() }
}

/// A message as it stands in its place: in its thread, or as a reply where others speak, too.
pub(crate) fn placed(mut content: Value, place: &Place, reply_to: Option<&str>) -> Value {
    match (&place.thread, reply_to.filter(|_| !place.is_direct)) {
        (Some(root), reply_to) => {
            // Clients that know no threads show a reply.
            let before = reply_to.unwrap_or(root);
            content["m.relates_to"] = json!({
                "rel_type": "m.thread", "event_id": root, "is_falling_back": true,
                "m.in_reply_to": {"event_id": before},
            });
        }
        (None, Some(reply_to)) => content["m.relates_to"] = json!({"m.in_reply_to": {"event_id": reply_to}}),
        // In a conversation of two everybody knows what is answered.
        (None, None) => {}
    }
    content
}

/// Other words for a message of ours.
pub(crate) fn edit(id: &str, post: &Post) -> Value {
    let new = words(post);
    let shown = format!("* {}", new["body"].as_str().unwrap_or_default());
    json!({
        "msgtype": "m.notice", "body": shown, "m.mentions": {}, "m.new_content": new,
        "m.relates_to": {"rel_type": "m.replace", "event_id": id},
    })
}

/// A file at an address.
pub(crate) fn file(uri: &str, name: &str, mime: &str, bytes: usize) -> Value {
    let kind = match mime.split('/').next() {
        Some("image") => "m.image",
        Some("audio") => "m.audio",
        Some("video") => "m.video",
        _ => "m.file",
    };
    json!({
        "msgtype": kind, "body": name, "filename": name, "url": uri, "info": {"mimetype": mime, "size": bytes},
        "m.mentions": {},
    })
}

/// The name of a file, without what could be a path.
pub(crate) fn file_name(name: Option<&str>) -> String {
    let name = name.unwrap_or("file").replace(['/', '\\'], "_");
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    Some(name).filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "file".to_owned())
}

/// The transaction of what is sent: the same for the same, so that what is sent again is not there twice.
pub(crate) fn transaction(of: &[&str]) -> String {
    let hash = digest(&SHA256, of.join("\0").as_bytes());
    hash.as_ref()[..16].iter().fold("f".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use forecourt_connectors::split;

    use super::*;
    use crate::limits::MESSAGE_CHARS_MAX;
    use crate::marks::CODE_MARKS;

    fn place(thread: Option<&str>, is_direct: bool) -> Place {
        Place { channel: "!r".to_owned(), thread: thread.map(str::to_owned), is_direct, ..Place::default() }
    }

    #[test]
    fn messages_stand_in_their_thread_or_answer_one_where_others_speak() {
        let of = |place: &Place, reply_to| placed(json!({}), place, reply_to)["m.relates_to"].clone();
        let thread = of(&place(Some("$root"), false), Some("$q"));
        assert_eq!((&thread["event_id"], &thread["m.in_reply_to"]["event_id"]), (&json!("$root"), &json!("$q")));
        assert_eq!(of(&place(Some("$root"), false), None)["m.in_reply_to"]["event_id"], "$root");
        assert_eq!(of(&place(None, false), Some("$q")), json!({"m.in_reply_to": {"event_id": "$q"}}));
        assert_eq!(of(&place(None, true), Some("$q")), Value::Null);
    }

    #[test]
    fn the_longest_edit_fits_an_event() {
        // As many bytes as a character can have, and words that are longer in JSON.
        for text in
            ["🍲".repeat(2 * MESSAGE_CHARS_MAX), "\"\\".repeat(MESSAGE_CHARS_MAX), "<&".repeat(MESSAGE_CHARS_MAX)]
        {
            let text = escaped(&text);
            let first = split(&[text], MESSAGE_CHARS_MAX, CODE_MARKS).remove(0);
            assert_eq!(first.chars().count(), MESSAGE_CHARS_MAX);
            let event = edit("$id", &Post { text: first, ..Post::default() }).to_string();
            // What the homeserver adds: ids, hashes, signatures, the events before it.
            assert!(event.len() + 8 * 1024 < 65_536, "{}", event.len());
        }
    }

    #[test]
    fn a_link_is_in_words_and_nobody_is_mentioned() {
        let button = PostButton { label: "Agree".to_owned(), url: "https://a.example/x?y&\"z".to_owned() };
        let content = words(&Post { text: "Please.".to_owned(), button: Some(button), ..Post::default() });
        assert_eq!(content["body"], "Please.\n\nAgree (https://a.example/x?y&%22z)");
        let html = "Please.<br><br><a href=\"https://a.example/x?y&amp;%22z\">Agree</a>";
        assert_eq!((&content["formatted_body"], &content["m.mentions"]), (&json!(html), &json!({})));
        assert_eq!(content["msgtype"], "m.notice");
    }

    #[test]
    fn the_same_is_sent_in_the_same_transaction() {
        assert_eq!(transaction(&["a", "b"]), transaction(&["a", "b"]));
        assert_ne!(transaction(&["a", "b"]), transaction(&["ab"]));
        assert_eq!(file_name(Some("../a\n.txt")), ".._a.txt");
        assert_eq!((file_name(Some(" ")), file_name(None)), ("file".to_owned(), "file".to_owned()));
    }
}
