//! `echo` repeats the current turn, and nothing else. Design, decision 10.

use forecourt_core::{Ending, Event, File, Link, Part, PolicyPart, Role, ToolCall, ToolOutcome, Turn};

use crate::support::{build, context, events, message, problems};

const ECHO: &str = "[backend]\nkind = \"echo\"\n";

#[tokio::test]
async fn text_entries_come_back_unchanged_joined_by_a_newline() {
    let mut asked = message(vec![Part::text("  a\r\n"), Part::markdown("**b**")]);
    asked.history = vec![Turn::text(Role::User, "earlier")].into();
    let answer = events(&build(ECHO, &context()), asked).await;
    assert_eq!(answer, [Event::Ending(Ending::Message("  a\r\n\n**b**".to_owned()))]);
}

#[tokio::test]
async fn attachments_come_back_as_parts() {
    let file = Part::File(File::inline("image/png", Some("a.png".to_owned()), "png".into()));
    let link = Part::Link(Link { url: "https://a.example".to_owned(), title: None, description: None });
    let answer = events(&build(ECHO, &context()), message(vec![file.clone(), link.clone()])).await;
    assert_eq!(answer, [Event::Part(file), Event::Part(link), Event::Ending(Ending::Complete)]);
}

#[tokio::test]
async fn a_refusal_that_a_caller_wrote_is_not_repeated() {
    let refusal = Part::Policy(PolicyPart::new(forecourt_core::policy::RefusalKind::Forbidden, "no"));
    let (id, name) = ("1".to_owned(), "x".to_owned());
    let call = Part::ToolCall(ToolCall { id, name, args: 1.into(), outcome: ToolOutcome::Running });
    let answer = events(&build(ECHO, &context()), message(vec![refusal, call])).await;
    assert_eq!(answer, [Event::Ending(Ending::Complete)]);
}

#[test]
fn an_unknown_key_is_named() {
    assert!(problems(&format!("{ECHO}kidn = 1\n")).contains("unknown key `kidn` in [backend]"));
}
