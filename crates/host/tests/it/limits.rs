//! Bounds at n and n+1.

use std::num::NonZeroU8;
use std::time::Duration;

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Event, Part};
use forecourt_host::{LimitSettings, Rate, Run};
use forecourt_testkit::{ScriptedAgent, Step};

use crate::support::{Setup, message};

fn rate(burst: u32) -> Rate {
    Rate { per_second: 1.try_into().unwrap(), burst: burst.try_into().unwrap() }
}

#[tokio::test]
async fn s8_4_over_the_limit_of_an_address_is_a_refusal_with_seconds() {
    let limits = LimitSettings { per_address: rate(3), ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(ScriptedAgent::saying(["x"])).await;
    for _ in 0..3 {
        let answer = host.receive(message("hi"), Run::without_task()).await.unwrap().collect().await;
        assert_eq!(answer.ending, Ending::Complete);
    }
    let answer = host.receive(message("hi"), Run::without_task()).await.unwrap().collect().await;
    let Ending::Refused(part) = answer.ending else { panic!("{:?}", answer.ending) };
    assert!(matches!(part.kind, RefusalKind::TooManyRequests { retry_after_seconds: Some(1..) }));
}

#[tokio::test]
async fn s8_4_over_the_limit_of_a_session_is_a_refusal_whatever_the_address() {
    let limits = LimitSettings { per_session: rate(2), ..LimitSettings::default() };
    let host = Setup { limits, remembers: true, ..Setup::default() }.host(ScriptedAgent::saying(["x"])).await;
    let first = host.receive(message("hi"), Run::without_task()).await.unwrap();
    let thread = first.thread.clone();
    first.collect().await;
    let mut kinds = Vec::new();
    for n in 0..3 {
        let mut message = crate::support::in_thread("hi", thread.clone());
        message.sender.peer = Some(format!("192.0.2.{n}").parse().unwrap());
        kinds.push(host.receive(message, Run::without_task()).await.unwrap().collect().await.ending);
    }
    assert_eq!(kinds[..2], [Ending::Complete, Ending::Complete]);
    assert!(matches!(&kinds[2], Ending::Refused(part) if part.kind() == "too_many_requests"));
}

/// The key that a refusal of too much at once names, with when to come back.
fn bound(ending: &Ending) -> &str {
    let Ending::Refused(part) = ending else { panic!("{ending:?}") };
    assert!(matches!(part.kind, RefusalKind::TooManyRequests { retry_after_seconds: Some(_) }));
    part.message.split(['(', ')']).nth(1).unwrap()
}

#[tokio::test(start_paused = true)]
async fn two_hundred_at_once_of_one_address_all_complete() {
    let second = Duration::from_secs(1);
    for run in [Run::without_task(), Run::task_unless_message(30 * second), Run::in_background(None)] {
        let agent = ScriptedAgent::new(vec![Step::Wait(second), Step::Do(Event::Ending(Ending::Complete))]);
        let host = Setup::default().host(agent).await;
        let ask = async || host.receive(message("x"), run.clone()).await.unwrap().collect().await.ending;
        let endings = futures::future::join_all((0..200).map(|_| ask())).await;
        assert!(endings.iter().all(|ending| *ending == Ending::Complete));
    }
}

#[tokio::test(start_paused = true)]
async fn replies_in_the_making_are_bounded() {
    let limits =
        LimitSettings { replies_running_max: 2, strangers_percent: NonZeroU8::MAX, ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(ScriptedAgent::new(vec![Step::Hang])).await;
    let kept = [
        host.receive(message("1"), Run::without_task()).await.unwrap(),
        host.receive(message("2"), Run::without_task()).await.unwrap(),
    ];
    let third = host.receive(message("3"), Run::without_task()).await.unwrap().collect().await;
    assert_eq!(bound(&third.ending), "limits.replies_running_max");
    drop(kept);
    host.receive(message("4"), Run::without_task()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn background_tasks_of_one_caller_are_bounded() {
    let limits = LimitSettings { tasks_per_caller_max: 2, ..LimitSettings::default() };
    let host = Setup { limits, ..Setup::default() }.host(ScriptedAgent::new(vec![Step::Hang])).await;
    for _ in 0..2 {
        host.receive(message("x"), Run::in_background(None)).await.unwrap();
    }
    let third = host.receive(message("x"), Run::in_background(None)).await.unwrap();
    assert_eq!(third.task, None, "never a failed task");
    assert_eq!(bound(&third.collect().await.ending), "limits.tasks_per_caller_max");
    let mut other = message("x");
    other.sender.peer = Some("192.0.2.99".parse().unwrap());
    host.receive(other, Run::in_background(None)).await.unwrap();
}

#[tokio::test]
async fn a_message_names_only_so_many_attachments_by_address() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    let mut many = message("x");
    let source = forecourt_core::FileSource::Url { url: "https://198.51.100.1/a".into(), expires_at: None };
    let file = forecourt_core::File { id: None, name: None, mime: "a/b".into(), size_bytes: None, source };
    many.parts.extend(vec![Part::File(file); 5]);
    let error = host.receive(many, Run::without_task()).await.unwrap_err();
    assert!(error.to_string().contains("at most 4"), "{error}");
}

#[tokio::test]
async fn s5_4_an_attachment_at_a_private_address_is_refused_in_plain_words() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    let mut message = message("x");
    let source = forecourt_core::FileSource::Url { url: "https://127.0.0.1/secret".into(), expires_at: None };
    let file = forecourt_core::File { id: None, name: None, mime: "a/b".into(), size_bytes: None, source };
    message.parts.push(Part::File(file));
    let error = host.receive(message, Run::without_task()).await.unwrap_err();
    assert_eq!(error.to_string(), "attachments: `secret` could not be fetched from its address");
}

#[tokio::test]
async fn agents_call_each_other_only_so_often_in_a_row() {
    let host = Setup::default().host(ScriptedAgent::saying(["x"])).await;
    for (hop, fits) in [(forecourt_core::limits::HOPS_MAX - 1, true), (forecourt_core::limits::HOPS_MAX, false)] {
        let message = forecourt_core::Message { hop, ..message("hi") };
        assert_eq!(host.receive(message, Run::without_task()).await.is_ok(), fits, "{hop}");
    }
}
