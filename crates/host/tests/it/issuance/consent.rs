//! A consent, from the asking to its use.

use std::sync::Arc;
use std::time::Duration;

use forecourt_audit::{Decider, RequestOrigin};
use forecourt_core::policy::{Confirmation, RefusalKind};
use forecourt_core::{Language, Message, Part};
use forecourt_issuance::{CONSENT_WAIT_SECONDS, IssuanceOutcome, IssuanceStatus};
use forecourt_testkit::ScriptedAgent;

use super::support::{Wants, ask, consent, setup, stores, with_state};
use crate::support::{Setup, in_thread, message, signed_in};

#[tokio::test]
async fn policy3_3_4_a_consent_is_asked_for_with_a_state_and_pages_on_the_own_host() {
    for (store, _folder) in stores() {
        let rule = Wants::this(consent("1", None));
        let host = setup(&store, &rule, &Arc::default()).host(ScriptedAgent::saying(["Soup."])).await;
        let refused = ask(&host, message("Dinner?")).await;
        let part = refused.refusal();
        part.validate("demo.localhost").unwrap();
        let RefusalKind::ConsentRequired { state, return_to } = &part.kind else { panic!("{part:?}") };
        assert_eq!(state.len(), 43, "256 bits in base64url");
        assert_eq!(part.url.as_deref(), Some(format!("https://demo.localhost/consent/{state}").as_str()));
        assert_eq!(return_to, "https://demo.localhost/~bot");
        assert!(refused.thread.is_some(), "who comes back is known by its conversation");
        let again = ask(&host, in_thread("Dinner?", refused.thread.clone())).await;
        assert_ne!(again.state(), refused.state(), "no state serves two calls");
        assert_eq!(again.thread, refused.thread);
    }
}

#[tokio::test]
async fn policy5_5_a_consent_lets_the_message_pass_that_was_refused_for_want_of_it() {
    for (store, _folder) in stores() {
        let rule = Wants::this(consent("1", Some(60)));
        let agent = ScriptedAgent::saying(["Soup."]);
        let setup = setup(&store, &rule, &Arc::default());
        let host = setup.host(agent.clone()).await;
        let asked = Message { language: Language::parse("de"), ..message("Dinner?") };
        let refused = ask(&host, asked).await;
        let state = refused.state();
        // Nothing was agreed to yet.
        assert!(!ask(&host, with_state("", refused.thread.clone(), &state)).await.is_answer());
        let issuance = host.issuance(&state).await.unwrap().unwrap();
        assert_eq!((issuance.status, issuance.asked), (IssuanceStatus::Issued, vec![Part::text("Dinner?")]));
        assert_eq!(host.accept_consent(&state, &Default::default()).await.unwrap(), IssuanceOutcome::Verified(None));
        assert_eq!(
            host.accept_consent(&state, &Default::default()).await.unwrap(),
            IssuanceOutcome::Verified(None),
            "twice is once"
        );
        // Without words of its own: those that were said before are asked again.
        assert!(ask(&host, with_state("", refused.thread.clone(), &state)).await.is_answer());
        let heard = agent.heard();
        let [heard] = &heard[..] else { panic!("{}", heard.len()) };
        assert_eq!((heard.text().as_str(), heard.language.as_ref().unwrap().as_str()), ("Dinner?", "de"));
        let resolution = heard.policy_resolution.as_ref().unwrap();
        assert_eq!((&resolution.in_reply_to_state, resolution.verified_by.as_str()), (&state, "self"));
        let Confirmation::ConsentRequired(given) = &resolution.confirmation else { panic!("{resolution:?}") };
        assert_eq!(given.scope_hash.len(), 64);
        assert_eq!(host.issuance(&state).await.unwrap().unwrap().status, IssuanceStatus::Consumed);
        // It holds for a minute, for this conversation, and then no more.
        assert!(ask(&host, in_thread("And then?", refused.thread.clone())).await.is_answer());
        assert!(agent.heard()[1].policy_resolution.is_none(), "once is once");
        setup.clock.advance(Duration::from_secs(59));
        assert!(ask(&host, in_thread("And then?", refused.thread.clone())).await.is_answer());
        setup.clock.advance(Duration::from_secs(1));
        assert!(!ask(&host, in_thread("And then?", refused.thread.clone())).await.is_answer());
    }
}

#[tokio::test]
async fn a_consent_is_found_by_its_conversation_without_its_state() {
    for (store, _folder) in stores() {
        let rule = Wants::this(consent("1", None));
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup(&store, &rule, &Arc::default()).host(agent.clone()).await;
        let refused = ask(&host, message("Dinner?")).await;
        host.accept_consent(&refused.state(), &Default::default()).await.unwrap();
        assert!(ask(&host, in_thread("Dinner?", refused.thread.clone())).await.is_answer());
        assert!(agent.heard()[0].policy_resolution.is_some());
    }
}

#[tokio::test]
async fn a_subject_has_agreed_wherever_it_comes_from() {
    let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", None)));
    let host = setup(&store, &rule, &Arc::default()).host(ScriptedAgent::saying(["Soup."])).await;
    let ada = || Message { sender: signed_in("@ada@example.org"), ..message("Dinner?") };
    host.accept_consent(&ask(&host, ada()).await.state(), &Default::default()).await.unwrap();
    for _ in 0..2 {
        assert!(ask(&host, ada()).await.is_answer());
    }
    let bob = Message { sender: signed_in("@bob@example.org"), ..message("Dinner?") };
    assert!(!ask(&host, bob).await.is_answer());
}

#[tokio::test]
async fn a_person_who_signs_in_here_decides_alone_and_any_other_subject_by_the_address() {
    let decided = |subject: Option<&str>| RequestOrigin {
        decider: Some(Decider { subject: subject.map(str::to_owned), proof: "session".to_owned() }),
        ..RequestOrigin::default()
    };
    for (store, _folder) in stores() {
        let rule = Wants::this(consent("1", None));
        let setup = Setup { people: Some("oidc:https://login#".to_owned()), ..setup(&store, &rule, &Arc::default()) };
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let asked = |name: &'static str| ask(&host, Message { sender: signed_in(name), ..message("Dinner?") });
        let state = asked("oidc:https://login#ada").await.state();
        let issuance = host.issuance(&state).await.unwrap().unwrap();
        assert!(host.is_for_a_person(&issuance));
        for stranger in [decided(None), decided(Some("oidc:https://login#bob")), RequestOrigin::default()] {
            assert_eq!(host.accept_consent(&state, &stranger).await.unwrap(), IssuanceOutcome::NotTheirs);
            assert_eq!(host.decline(&state, &stranger).await.unwrap(), IssuanceOutcome::NotTheirs);
        }
        assert_eq!(host.issuance(&state).await.unwrap().unwrap().status, IssuanceStatus::Issued);
        let ada = decided(Some("oidc:https://login#ada"));
        assert_eq!(host.accept_consent(&state, &ada).await.unwrap(), IssuanceOutcome::Verified(None));
        // A key can't open a page: whoever it gave the address to decides for it.
        let key = asked("key:robot").await.state();
        assert!(!host.is_for_a_person(&host.issuance(&key).await.unwrap().unwrap()));
        assert_eq!(host.accept_consent(&key, &decided(None)).await.unwrap(), IssuanceOutcome::Verified(None));
    }
}

#[tokio::test]
async fn policy3_3_4_other_terms_want_another_consent() {
    let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", None)));
    let host = setup(&store, &rule, &Arc::default()).host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    *rule.0.lock() = Some(consent("2", None));
    host.accept_consent(&refused.state(), &Default::default()).await.unwrap();
    let again = ask(&host, with_state("Dinner?", refused.thread.clone(), &refused.state())).await;
    assert_ne!(again.state(), refused.state());
    host.accept_consent(&again.state(), &Default::default()).await.unwrap();
    assert!(ask(&host, in_thread("Dinner?", again.thread.clone())).await.is_answer());
}

#[tokio::test]
async fn a_consent_that_was_declined_or_came_too_late_lets_nobody_pass() {
    let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", None)));
    let setup = setup(&store, &rule, &Arc::default());
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    assert_eq!(host.decline(&refused.state(), &Default::default()).await.unwrap(), IssuanceOutcome::Declined);
    assert_eq!(
        host.accept_consent(&refused.state(), &Default::default()).await.unwrap(),
        IssuanceOutcome::Late(IssuanceStatus::Declined)
    );
    assert!(!ask(&host, with_state("Dinner?", refused.thread.clone(), &refused.state())).await.is_answer());
    let [in_time, late] = [ask(&host, message("Dinner?")).await, ask(&host, message("Dinner?")).await];
    setup.clock.advance(Duration::from_secs(CONSENT_WAIT_SECONDS - 1));
    assert_eq!(
        host.accept_consent(&in_time.state(), &Default::default()).await.unwrap(),
        IssuanceOutcome::Verified(None)
    );
    setup.clock.advance(Duration::from_secs(1));
    assert_eq!(
        host.accept_consent(&late.state(), &Default::default()).await.unwrap(),
        IssuanceOutcome::Late(IssuanceStatus::Expired)
    );
    assert!(ask(&host, with_state("", in_time.thread.clone(), &in_time.state())).await.is_answer());
    assert!(!ask(&host, with_state("Dinner?", late.thread.clone(), &late.state())).await.is_answer());
}
