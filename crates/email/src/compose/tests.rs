//! Answers as messages, read back by a parser.

use forecourt_core::policy::RefusalKind;
use forecourt_core::{CollectedReply, Ending, Handle, Part, Sender};
use forecourt_correspondence::Letter;
use mail_parser::MessageParser;
use serde_json::Value;

use super::*;
use crate::address::MailAddress;
use crate::mailbox::Mailbox;

fn to() -> MailLetter {
    Letter {
        agent: Handle::parse("chef").unwrap(),
        sender: Sender::anonymous(),
        language: Language::parse("de-AT"),
        conversation: "c".to_owned(),
        token: "token".to_owned(),
        repeats: 0,
        first: None,
        asked_at: None,
        address: MailAddress {
            agent_name: "Chef \"de\" cuisine\r\nBcc: x@y.example".to_owned(),
            to: Mailbox::parse("ann@x.example").unwrap(),
            subject: "Re: Crème brûlée".to_owned(),
            in_reply_to: Some("q@x.example".to_owned()),
            references: vec!["p@x.example".to_owned(), "q@x.example".to_owned()],
        },
    }
}

fn composed(content: &Content<'_>, is_signed: bool) -> String {
    let style = Style { domain: "demo.example", html: true, is_signed, now: 1_700_000_000 };
    String::from_utf8(compose(content, &to(), &style).unwrap()).unwrap()
}

fn asking() -> PolicyPart {
    let state = "s".repeat(43);
    let kind = RefusalKind::ConsentRequired { state, return_to: "https://demo.example/~chef".to_owned() };
    let mut part = PolicyPart::new(kind, "Please agree.");
    part.url = Some("https://demo.example/consent/abc".to_owned());
    let translation = serde_json::from_value(json!({"message": "Bitte stimmen Sie zu."})).unwrap();
    part.message_translations.insert("de".to_owned(), translation);
    part
}

#[test]
fn policy4_4_a_refusal_is_its_message_with_the_url_inline_and_the_envelope_beside() {
    let text = composed(&Content::Refusal(&asking()), true);
    let message = MessageParser::default().parse(text.as_bytes()).unwrap();
    let body = message.body_text(0).unwrap();
    assert_eq!(body.trim(), "Bitte stimmen Sie zu.\r\n\r\nhttps://demo.example/consent/abc", "{body:?}");
    assert_eq!(message.in_reply_to().as_text(), Some("q@x.example"));
    assert_eq!(message.references().as_text_list().unwrap().len(), 2);
    let envelope: String = message.header_raw(POLICY_FIELD).unwrap().split_whitespace().collect();
    let envelope: Value = serde_json::from_slice(&STANDARD.decode(envelope).unwrap()).unwrap();
    assert_eq!(envelope["v"], "v0.1");
    assert_eq!(envelope["part"]["url"], "https://demo.example/consent/abc");
    assert!(text.lines().all(|line| line.len() <= 998));
}

#[test]
fn policy4_4_without_a_signature_there_is_neither_url_nor_envelope() {
    let text = composed(&Content::Refusal(&asking()), false);
    assert!(
        text.contains("Bitte stimmen Sie zu.") && !text.contains("https://") && !text.contains(POLICY_FIELD),
        "{text}"
    );
}

#[test]
fn rfc3834_3_1_answers_say_that_a_program_wrote_them_and_nobody_adds_a_field() {
    let reply = CollectedReply::new(vec![Part::markdown("**Hi** <script>")], Ending::Complete);
    let text = composed(&Content::Reply(&reply), true);
    let message = MessageParser::default().parse(text.as_bytes()).unwrap();
    assert_eq!(message.header_raw("Auto-Submitted").map(str::trim), Some("auto-replied"));
    assert_eq!(message.header_raw(LOOP_FIELD).map(str::trim), Some("demo.example"));
    assert_eq!(message.message_id(), Some("token@demo.example"));
    assert_eq!(message.subject(), Some("Re: Crème brûlée"));
    assert!(message.bcc().is_none(), "{text}");
    assert_eq!(message.body_text(0).unwrap().trim(), "**Hi** <script>");
    assert!(message.body_html(0).unwrap().contains("<strong>Hi</strong> &lt;script&gt;"), "{text}");
}
