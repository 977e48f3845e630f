//! A state is its holder's, its agent's and its conversation's, and looks the same to everybody else.

use std::num::NonZeroU64;
use std::sync::Arc;

use forecourt_core::policy::{PaidFor, RefusalKind};
use forecourt_core::{Account, Handle, Message, Sender, StateToken, ThreadId};
use forecourt_host::LimitSettings;
use forecourt_issuance::{ASKED_BYTES_MAX, Holder, Issuance, IssuanceStatus};
use forecourt_testkit::{CountedEntropy, ScriptedAgent};

use super::support::{Till, Wants, ask, coins, consent, payment, setup, stores, submitting, with_state};
use crate::support::{Setup, in_thread, message, signed_in};

#[tokio::test]
async fn policy3_3_4_a_state_is_good_for_its_holder_alone() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup(&store, &rule, &till).host(agent.clone()).await;
        let ada = ask(&host, Message { sender: signed_in("@ada@example.org"), ..message("Dinner?") }).await;
        let guest = ask(&host, message("Dinner?")).await;
        for refused in [&ada, &guest] {
            host.pay(&refused.state(), &coins("5", refused.state().expose()), &Default::default()).await.unwrap();
        }
        let other = ask(&host, message("Dinner?")).await.thread;
        let unknown = StateToken::mint(&CountedEntropy::default());
        let mut told = Vec::new();
        for foreign in [
            // Another subject, in the same conversation even.
            Message { sender: signed_in("@bob@example.org"), ..with_state("Hi", ada.thread.clone(), &ada.state()) },
            // Nobody, with the conversation of a subject.
            with_state("Hi", ada.thread.clone(), &ada.state()),
            // Another conversation, and none.
            with_state("Hi", other, &guest.state()),
            with_state("Hi", None, &guest.state()),
            // None of ours.
            with_state("Hi", guest.thread.clone().filter(|_| false), &unknown),
        ] {
            let refused = ask(&host, foreign).await;
            told.push((refused.refusal().message.clone(), refused.refusal().code.clone()));
        }
        told.dedup();
        assert_eq!((told.len(), agent.heard().len()), (1, 0), "all alike: {told:?}");
        assert!(ask(&host, with_state("", guest.thread.clone(), &guest.state())).await.is_answer());
    }
}

#[tokio::test]
async fn policy3_3_4_a_state_is_good_for_its_agent_alone() {
    let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", Some(0))));
    let setup = setup(&store, &rule, &Arc::default());
    let host = setup.host_of_two(ScriptedAgent::saying(["Soup."])).await;
    let sender = || signed_in("@ada@example.org");
    let refused = ask(&host, Message { sender: sender(), ..message("Dinner?") }).await;
    host.accept_consent(&refused.state(), &Default::default()).await.unwrap();
    let to = |handle: &str| Message {
        recipient: Handle::parse(handle).unwrap(),
        sender: sender(),
        ..with_state("Dinner?", refused.thread.clone(), &refused.state())
    };
    assert!(!ask(&host, to("other")).await.is_answer());
    assert!(ask(&host, to("bot")).await.is_answer());
}

#[tokio::test]
async fn the_token_of_a_refusal_is_known_again_and_no_other() {
    for remembers in [true, false] {
        let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", None)));
        let setup = Setup { remembers, ..setup(&store, &rule, &Arc::default()) };
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let refused = ask(&host, message("Dinner?")).await;
        let again = ask(&host, in_thread("Dinner?", refused.thread.clone())).await;
        assert_eq!(again.thread, refused.thread);
        let planted = ThreadId::parse(&"A".repeat(43)).unwrap();
        assert_ne!(ask(&host, in_thread("Dinner?", Some(planted.clone()))).await.thread, Some(planted));
        host.accept_consent(&again.state(), &Default::default()).await.unwrap();
        let answered = ask(&host, in_thread("Dinner?", refused.thread.clone())).await;
        assert!(answered.is_answer());
        assert_eq!(answered.thread, refused.thread);
    }
}

#[tokio::test]
async fn open_issuances_have_a_bound_that_is_named() {
    let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", None)));
    let limits = LimitSettings { open_issuances_per_caller_max: NonZeroU64::new(3).unwrap(), ..Default::default() };
    let setup = Setup { limits, ..setup(&store, &rule, &Arc::default()) };
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    for _ in 0..3 {
        ask(&host, message("Dinner?")).await.state();
    }
    let fourth = ask(&host, message("Dinner?")).await;
    assert!(matches!(fourth.refusal().kind, RefusalKind::TooManyRequests { retry_after_seconds: Some(_) }));
    assert!(fourth.refusal().message.contains("limits.open_issuances_per_caller_max"));
    // Another caller has its own, and time frees them.
    let elsewhere = Sender { peer: Some("192.0.2.9".parse().unwrap()), ..Sender::anonymous() };
    ask(&host, Message { sender: elsewhere, ..message("Dinner?") }).await.state();
    setup.clock.advance(std::time::Duration::from_secs(60 * 60));
    ask(&host, message("Dinner?")).await.state();
}

#[tokio::test]
async fn what_was_said_is_kept_to_its_bound_and_whole_or_not_at_all() {
    let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", None)));
    let host = setup(&store, &rule, &Arc::default()).host(ScriptedAgent::saying(["Soup."])).await;
    // Text is written twice in the JSON of a part.
    let around = serde_json::to_string(&message("").parts).unwrap().len();
    let longest = (ASKED_BYTES_MAX - around) / 2;
    for (len, is_kept) in [(longest, true), (longest + 1, false)] {
        let refused = ask(&host, message(&"x".repeat(len))).await;
        let issuance = host.issuance(&refused.state()).await.unwrap().unwrap();
        assert_eq!(!issuance.asked.is_empty(), is_kept, "{len}");
    }
}

#[test]
fn an_issuance_is_shown_to_its_holder() {
    let [ada, guest] = ["ada", "guest"].map(|name| ThreadId::parse(&format!("{name:A<43}")).unwrap());
    let of = |subject: Option<&str>, thread: &ThreadId| Issuance {
        status: IssuanceStatus::Issued,
        requirement: consent("1", None),
        agent: Handle::parse("bot").unwrap(),
        holder: Holder { subject: subject.map(str::to_owned), thread: Some(thread.clone()), account: Account::HOST },
        task: None,
        asked: Vec::new(),
        language: None,
        issued_at: Default::default(),
        expires_at: Default::default(),
        resolution: None,
        receipt: None,
        is_reserved: false,
        is_at_checkout: false,
    };
    let (subject, nobody) = (signed_in("ada"), Sender::anonymous());
    assert!(of(Some("ada"), &ada).is_held_by(&subject, None));
    assert!(!of(Some("ada"), &ada).is_held_by(&nobody, Some(&ada)));
    assert!(of(None, &guest).is_held_by(&nobody, Some(&guest)));
    assert!(!of(None, &guest).is_held_by(&nobody, Some(&ada)));
    assert!(!of(None, &guest).is_held_by(&nobody, None));
}

#[tokio::test]
async fn a_payment_for_one_state_is_none_for_another() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let rule = Wants::this(payment("5", PaidFor::Turn));
    let host = setup(&store, &rule, &till).host(ScriptedAgent::saying(["Soup."])).await;
    let [first, second] = [ask(&host, message("Dinner?")).await, ask(&host, message("Dinner?")).await];
    host.pay(&first.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    let replayed =
        ask(&host, submitting("Hi", second.thread.clone(), Some(second.state()), Some(coins("5", "a")))).await;
    assert_eq!(replayed.refusal().code.as_deref(), Some("payment:payment_already_used"));
}
