//! Where agents stand: who answers, who does not, and what is kept of it.

use std::time::Duration;

use forecourt_core::store::Span;
use forecourt_core::{Ending, Error, Handle, LifecycleState, LifecycleTransition};
use forecourt_host::{CHANGES_PER_READ_MAX, Host, LifecycleChange, LifecycleOutcome, Run, STANDING_AGE_MAX};
use forecourt_testkit::ScriptedAgent;

use crate::support::{Setup, handle, message};

fn unsigned(_: &LifecycleTransition) -> Option<String> {
    None
}

async fn change(host: &Host, to: LifecycleState) -> LifecycleOutcome {
    let wish =
        LifecycleChange { to, by: Some("ops".to_owned()), reason: Some("a test".to_owned()), ..Default::default() };
    host.operator().change_lifecycle(&handle(), &wish, &unsigned).await.unwrap()
}

async fn ending(host: &Host) -> Result<Ending, Error> {
    Ok(host.receive(message("hi"), Run::without_task()).await?.collect().await.ending)
}

#[tokio::test]
async fn an_agent_that_nothing_is_known_of_is_active() {
    let host = Setup::default().host(ScriptedAgent::saying(["answer"])).await;
    assert_eq!(host.lifecycle().state(&handle()).await.unwrap(), LifecycleState::Active);
    assert_eq!(ending(&host).await.unwrap(), Ending::Complete);
}

#[tokio::test]
async fn a_suspended_agent_answers_nobody_until_it_is_active_again() {
    let agent = ScriptedAgent::saying(["answer"]);
    let host = Setup::default().host(agent.clone()).await;
    assert!(matches!(change(&host, LifecycleState::Suspended).await, LifecycleOutcome::Now(_)));
    for run in [Run::without_task(), Run::in_background(None)] {
        let reply = host.receive(message("hi"), run).await.unwrap();
        assert!(reply.task.is_none());
        let Ending::Refused(refusal) = reply.collect().await.ending else { panic!("not refused") };
        assert_eq!(refusal.kind(), "service_unavailable");
        assert!(refusal.message.contains("suspended"), "{}", refusal.message);
    }
    assert!(agent.heard().is_empty());
    assert!(matches!(change(&host, LifecycleState::Active).await, LifecycleOutcome::Now(_)));
    assert_eq!(ending(&host).await.unwrap(), Ending::Complete);
}

#[tokio::test]
async fn a_deprecated_agent_answers() {
    let host = Setup::default().host(ScriptedAgent::saying(["answer"])).await;
    assert!(matches!(change(&host, LifecycleState::Deprecated).await, LifecycleOutcome::Now(_)));
    assert_eq!(ending(&host).await.unwrap(), Ending::Complete);
}

#[tokio::test]
async fn a_retired_agent_is_gone_for_good() {
    let host = Setup::default().host(ScriptedAgent::saying(["answer"])).await;
    assert!(matches!(change(&host, LifecycleState::Retired).await, LifecycleOutcome::Now(_)));
    assert!(matches!(ending(&host).await, Err(Error::Gone { .. })));
    for to in [LifecycleState::Active, LifecycleState::Suspended, LifecycleState::Deprecated] {
        assert_eq!(change(&host, to).await, LifecycleOutcome::Never(LifecycleState::Retired));
    }
    assert_eq!(change(&host, LifecycleState::Retired).await, LifecycleOutcome::Already);
}

#[tokio::test]
async fn standings_survive_a_restart_with_all_that_led_to_them() {
    let setup = Setup::default();
    let again = Setup { store: setup.store.clone(), ..Setup::default() };
    let host = setup.host(ScriptedAgent::saying(["answer"])).await;
    let sign = |change: &LifecycleTransition| Some(format!("signed {}", change.to.name()));
    let wish = LifecycleChange { to: LifecycleState::Deprecated, ..Default::default() };
    host.operator().change_lifecycle(&handle(), &wish, &sign).await.unwrap();
    change(&host, LifecycleState::Suspended).await;
    change(&host, LifecycleState::Suspended).await;

    let host = again.host(ScriptedAgent::saying(["answer"])).await;
    assert_eq!(host.lifecycle().state(&handle()).await.unwrap(), LifecycleState::Suspended);
    let kept = host.lifecycle().changes(&handle(), Span::Before(u64::MAX), CHANGES_PER_READ_MAX + 1).await.unwrap();
    let moves: Vec<_> = kept.iter().map(|(n, kept)| (*n, kept.change.from, kept.change.to)).collect();
    assert_eq!(
        moves,
        [
            (2, LifecycleState::Deprecated, LifecycleState::Suspended),
            (1, LifecycleState::Active, LifecycleState::Deprecated)
        ]
    );
    assert_eq!(kept[0].1.change.by.as_deref(), Some("ops"));
    assert_eq!(kept[1].1.statement.as_deref(), Some("signed deprecated"));
}

#[tokio::test]
async fn a_change_is_made_from_the_truth_though_another_host_made_the_last_one() {
    let setup = Setup::default();
    let other = Setup { store: setup.store.clone(), ..Setup::default() };
    let (host, other) =
        (setup.host(ScriptedAgent::saying(["a"])).await, other.host(ScriptedAgent::saying(["a"])).await);
    change(&other, LifecycleState::Retired).await;
    assert_eq!(change(&host, LifecycleState::Suspended).await, LifecycleOutcome::Never(LifecycleState::Retired));
    assert_eq!(host.lifecycle().state(&handle()).await.unwrap(), LifecycleState::Retired);
}

#[tokio::test]
async fn what_another_host_did_is_heard_within_the_bound_and_the_store_is_not_asked_each_time() {
    let setup = Setup::default();
    let other = Setup { store: setup.store.clone(), ..Setup::default() };
    let agent = ScriptedAgent::saying(["answer"]);
    let (host, other) = (setup.host(agent.clone()).await, other.host(ScriptedAgent::saying(["a"])).await);
    change(&other, LifecycleState::Retired).await;
    setup.clock.advance(STANDING_AGE_MAX);
    assert_eq!(ending(&host).await.unwrap(), Ending::Complete, "what was read at the start still holds");
    setup.clock.advance(Duration::from_millis(1));
    assert_eq!(host.lifecycle().state_at_hand(&handle()), LifecycleState::Active);
    assert!(matches!(ending(&host).await, Err(Error::Gone { .. })));
    assert_eq!((host.lifecycle().state_at_hand(&handle()), agent.heard().len()), (LifecycleState::Retired, 1));
}

#[tokio::test]
async fn a_host_of_its_own_state_reads_and_keeps_standings_where_it_is_told_to() {
    let deployment = Setup::default();
    let served = deployment.host(ScriptedAgent::saying(["a"])).await;
    change(&served, LifecycleState::Suspended).await;
    let beside = Setup { standings: Some(deployment.store.clone()), ..Setup::default() };
    let host = beside.host(ScriptedAgent::saying(["answer"])).await;
    assert!(matches!(ending(&host).await.unwrap(), Ending::Refused(_)));
    change(&host, LifecycleState::Retired).await;
    deployment.clock.advance(STANDING_AGE_MAX + Duration::from_millis(1));
    assert_eq!(served.lifecycle().state(&handle()).await.unwrap(), LifecycleState::Retired);
    let kept = host.lifecycle().changes(&handle(), Span::Before(u64::MAX), CHANGES_PER_READ_MAX).await.unwrap();
    assert_eq!(kept.len(), 2);
    assert!(
        beside.host(ScriptedAgent::saying(["a"])).await.lifecycle().state(&handle()).await.unwrap()
            == LifecycleState::Retired
    );
}

#[tokio::test]
async fn an_agent_that_is_not_here_is_not_found() {
    let host = Setup::default().host(ScriptedAgent::saying(["answer"])).await;
    let nobody = Handle::parse("nobody").unwrap();
    let result = host.operator().change_lifecycle(&nobody, &LifecycleChange::default(), &unsigned).await;
    assert!(matches!(result, Err(Error::NotFound { .. })));
}
