//! Agents that ask for something themselves: with a state of the host's, or with their own.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::{AcceptedPayment, RefusalKind};
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, Message, PolicyPart, TaskState, reply};
use forecourt_host::{Run, TaskAccess};
use forecourt_issuance::IssuanceOutcome;
use parking_lot::Mutex;
use serde_json::{Map, json};

use super::support::{Till, ask, coins, finish, state_in, stores, submitting, with_state};
use crate::support::{Setup, message};

/// Asks for something until it is told that it was done.
struct Demanding(PolicyPart, Mutex<Vec<Message>>);

impl Demanding {
    fn new(part: PolicyPart) -> Arc<Self> {
        Arc::new(Self(part, Mutex::default()))
    }
}

impl Agent for Demanding {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let is_done = admitted.message().policy_resolution.is_some();
        self.1.lock().push(admitted.into_message());
        reply::once(if is_done { Ending::Complete } else { Ending::Refused(Box::new(self.0.clone())) })
    }
}

fn bare_consent() -> PolicyPart {
    let kind = RefusalKind::ConsentRequired { state: String::new(), return_to: String::new() };
    let mut part = PolicyPart::new(kind, "May I?");
    part.data.insert("mentionable.scope".to_owned(), json!({"may": "I"}));
    part
}

fn bare_payment() -> PolicyPart {
    let payload: Map<_, _> = [("amount".to_owned(), json!("5"))].into_iter().collect();
    let offer = AcceptedPayment { scheme: "till.exact".to_owned(), payload };
    PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments: vec![offer] }, "Five coins.")
}

#[tokio::test]
async fn policy5_5_the_host_keeps_the_state_of_an_agent_that_has_none_and_asks_it_again() {
    for (store, _folder) in stores() {
        for remembers in [true, false] {
            let agent = Demanding::new(bare_consent());
            let setup = Setup { store: store.clone(), remembers, ..Setup::default() };
            let host = setup.host(agent.clone()).await;
            let refused =
                finish(host.receive(message("Dinner?"), Run::task_if_slow(Duration::from_secs(5))).await.unwrap());
            let refused = refused.await;
            refused.refusal().validate("demo.localhost").unwrap();
            assert_eq!(refused.refusal().message, "May I?");
            host.accept_consent(&refused.state(), &Default::default()).await.unwrap();
            let again = || with_state("", refused.thread.clone(), &refused.state());
            assert!(ask(&host, again()).await.is_answer());
            assert_eq!(agent.1.lock()[1].text(), "Dinner?");
            assert!(!ask(&host, again()).await.is_answer(), "once is once");
        }
    }
}

#[tokio::test]
async fn policy5_3_a_task_that_waits_for_a_payment_goes_on_with_it() {
    for (store, _folder) in stores() {
        let agent = Demanding::new(bare_payment());
        let till: Arc<Till> = Arc::default();
        let setup = Setup { store, remembers: true, schemes: vec![till], ..Setup::default() };
        let host = setup.host(agent.clone()).await;
        let reply = host.receive(message("Dinner?"), Run::task_unless_message(Duration::ZERO)).await.unwrap();
        let task = reply.task.clone().unwrap();
        let state = state_in(finish(reply).await.refusal());
        let waiting = host.task(&task, TaskAccess::ById).await.unwrap();
        assert_eq!(waiting.state, TaskState::InputRequired);
        let paying = submitting("", waiting.thread.clone(), None, Some(coins("5", "a")));
        let reply = host.receive(paying, Run::next_turn(waiting, Duration::ZERO)).await.unwrap();
        let answered = finish(reply).await;
        assert!(answered.is_answer() && answered.receipt.is_some());
        assert_eq!(host.task(&task, TaskAccess::ById).await.unwrap().state, TaskState::Completed);
        assert_eq!(agent.1.lock()[1].policy_resolution.as_ref().unwrap().in_reply_to_state, state);
        assert!(matches!(
            host.pay(&state, &coins("5", "b"), &Default::default()).await.unwrap(),
            IssuanceOutcome::Late(_)
        ));
    }
}

#[tokio::test]
async fn an_agent_with_a_state_of_its_own_keeps_its_own_books() {
    let mut part = bare_consent();
    part.kind = RefusalKind::ConsentRequired {
        state: "its-own".to_owned(),
        return_to: "https://demo.localhost/back".to_owned(),
    };
    let host = Setup::default().host(Demanding::new(part.clone())).await;
    let reply = host.receive(message("Dinner?"), Run::without_task()).await.unwrap();
    let last = futures::StreamExt::collect::<Vec<Event>>(reply.events).await.pop();
    assert_eq!(last, Some(Event::Ending(Ending::Refused(Box::new(part)))));
}
