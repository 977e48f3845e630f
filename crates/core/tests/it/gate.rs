//! The gate before agents, and the errors that are no refusals.

use std::sync::{Arc, Mutex};

use forecourt_core::gate::RuleVerdict;
use forecourt_core::policy::{ConsentTerms, Demand, Objection, RefusalKind, Requirement};
use forecourt_core::store::StoreError;
use forecourt_core::{Address, AgentCard, Error, Language, Message, Noun, Policy, PolicyPart, Rule, TaskState};
use futures::future::{BoxFuture, FutureExt};

use crate::message::message;

/// Writes its name down and passes, or refuses.
struct Noting {
    name: &'static str,
    refuses: bool,
    asked: Arc<Mutex<Vec<&'static str>>>,
}

impl Rule for Noting {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        self.asked.lock().unwrap().push(self.name);
        let refusal = || PolicyPart::new(RefusalKind::Forbidden, self.name).into();
        futures::future::ready(if self.refuses { Err(refusal()) } else { Ok(()) }).boxed()
    }
}

fn card() -> Arc<AgentCard> {
    Arc::new(AgentCard {
        address: Address::parse("@chef@demo.localhost").unwrap(),
        name: "Chef".into(),
        description: "Cooks.".into(),
        version: "1.0.0".into(),
        icon: None,
        skills: vec![],
        input_modes: vec![],
        output_modes: vec![],
        homepage: None,
        language: Language::english(),
        streams: true,
        uses_tools: false,
        remembers: false,
        finds: false,
        composes: false,
        wants_token: false,
        cors: false,
        cache_control: None,
        examples: vec![],
        endpoints: vec![],
        via: Vec::new(),
    })
}

#[test]
fn rules_are_asked_in_order_and_the_first_refusal_stands() {
    let asked = Arc::new(Mutex::new(vec![]));
    let rule = |name, refuses| Arc::new(Noting { name, refuses, asked: asked.clone() }) as Arc<dyn Rule>;
    let policy = Policy::new(vec![rule("a", false), rule("b", true), rule("c", true)]);
    let refusal = policy.admit(card(), message(), &[]).now_or_never().unwrap().unwrap_err().1;
    let Objection::Refused(refusal) = refusal else { panic!("a refusal") };
    assert_eq!(refusal.message, "b");
    assert_eq!(*asked.lock().unwrap(), ["a", "b"]);
}

/// Wants something first, and counts what it lets pass.
struct Wanting(Arc<Mutex<usize>>);

impl Rule for Wanting {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let wanted = Requirement {
            rule: "wanting".into(),
            title: None,
            message: "Agree first.".into(),
            message_translations: Default::default(),
            demand: Demand::Consent(ConsentTerms { scope: Default::default(), lifetime_seconds: None }),
        };
        futures::future::ready(Err(Objection::Required(Box::new(wanted)))).boxed()
    }

    fn count(&self, _: &AgentCard, _: &Message) -> RuleVerdict {
        *self.0.lock().unwrap() += 1;
        Ok(())
    }
}

#[test]
fn what_was_admitted_is_admitted_again_without_being_counted_unless_a_rule_refuses_it_by_now() {
    let (asked, counted) = (Arc::new(Mutex::new(vec![])), Arc::default());
    let rule = |name, refuses| Arc::new(Noting { name, refuses, asked: asked.clone() }) as Arc<dyn Rule>;
    let wanting = || Arc::new(Wanting(Arc::clone(&counted))) as Arc<dyn Rule>;
    let readmitted = |rules| Policy::new(rules).readmit(card(), message()).now_or_never().unwrap();
    assert_eq!(readmitted(vec![]).unwrap().message().id, message().id);
    let admitted = readmitted(vec![wanting(), rule("a", false)]).unwrap();
    assert_eq!(admitted.message().parts, message().parts);
    let refused = readmitted(vec![wanting(), rule("b", true), rule("c", false)]).unwrap_err();
    assert_eq!((refused.message.as_str(), *counted.lock().unwrap()), ("b", 0));
    assert_eq!(*asked.lock().unwrap(), ["a", "b"]);
}

#[test]
fn what_no_rule_refuses_is_admitted_unchanged() {
    let admitted = Policy::new(Vec::new()).admit(card(), message(), &[]).now_or_never().unwrap().unwrap();
    assert_eq!(admitted.card().handle().as_str(), "chef");
    assert_eq!(admitted.message().parts, message().parts);
    assert_eq!(admitted.into_message().id, message().id);
}

#[test]
fn errors_tell_nothing_of_the_inside() {
    let inside = std::io::Error::other("/var/lib/db: disk I/O error");
    assert_eq!(Error::internal(inside).to_string(), "internal error");
    assert_eq!(Error::from(StoreError::Corrupt("table tasks".into())).to_string(), "internal error");
    let away = Error::from(StoreError::Unavailable("database is locked".into()));
    assert!(matches!(away, Error::Unavailable { .. }));
    assert!(!away.to_string().contains("locked"));
    assert_eq!(Error::not_found(Noun::Task).to_string(), "no such task");
    let done = Error::Conflict { what: Noun::Task, state: TaskState::Completed };
    assert_eq!(done.to_string(), "the task is completed");
}

#[test]
fn what_an_operator_needs_of_an_internal_error_is_kept() {
    let error = Error::internal(std::io::Error::other("the cause"));
    assert_eq!(std::error::Error::source(&error).map(ToString::to_string).as_deref(), Some("the cause"));
}
