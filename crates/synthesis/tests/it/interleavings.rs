//! Whatever happens in whatever order, in two processes that restart: a contract never runs for the wrong holder,
//! after its end, or under another plan than its own.

use std::collections::BTreeMap;

use forecourt_contract::call::Thread;
use forecourt_contract::{Call, Caller, ContractRefusal, Refusal};
use forecourt_core::{Clock, Timestamp};
use forecourt_synthesis::negotiator::{ContractActor, ProposeOutcome};
use forecourt_synthesis::settings::OnPolicyChange;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Process, World, agent, call, claimed, opted, presenting, session};

/// Something that happens, in one of two processes.
#[derive(Clone, Debug)]
enum Happening {
    Propose { agent: u8, session: u8, path: u8, is_persistent: bool, lasts: u16 },
    Ask { agent: u8, path: u8 },
    Present { agent: u8, session: u8, path: u8, contract: u8 },
    Call { agent: u8, session: u8, path: u8 },
    Release { agent: u8, contract: u8 },
    Revoke { contract: u8 },
    Wait { seconds: u16 },
    Sweep { invalidates: bool },
    Edit,
    Restart,
}

/// What is known of a contract by whoever made it.
#[derive(Clone, Debug)]
struct Known {
    agent: u8,
    /// The session that it is bound to.
    session: Option<u8>,
    path: &'static str,
    edition: u32,
    expires_at: Timestamp,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Offered,
    Active,
    Revoked,
    /// Released or swept away.
    Gone,
}

/// What is proposed, and what is called.
const PATHS: [(&str, &str); 3] =
    [("/suites/1", "/suites/1"), ("/suites/{id}", "/suites/2"), ("/halls/{id}", "/halls/1")];

fn happening() -> impl Strategy<Value = (bool, Happening)> {
    let (agents, sessions, paths, contracts) = (0..3_u8, 0..2_u8, 0..3_u8, 0..8_u8);
    let one = prop_oneof![
        4 => (agents.clone(), sessions.clone(), paths.clone(), any::<bool>(), 50..400_u16).prop_map(
            |(agent, session, path, is_persistent, lasts)| Happening::Propose { agent, session, path, is_persistent, lasts }
        ),
        3 => (agents.clone(), paths.clone()).prop_map(|(agent, path)| Happening::Ask { agent, path }),
        8 => (agents.clone(), sessions.clone(), paths.clone(), contracts.clone())
            .prop_map(|(agent, session, path, contract)| Happening::Present { agent, session, path, contract }),
        5 => (agents.clone(), sessions, paths).prop_map(|(agent, session, path)| Happening::Call { agent, session, path }),
        2 => (agents, contracts.clone()).prop_map(|(agent, contract)| Happening::Release { agent, contract }),
        2 => contracts.prop_map(|contract| Happening::Revoke { contract }),
        2 => (1..300_u16).prop_map(|seconds| Happening::Wait { seconds }),
        1 => any::<bool>().prop_map(|invalidates| Happening::Sweep { invalidates }),
        1 => Just(Happening::Edit),
        1 => Just(Happening::Restart),
    ];
    (any::<bool>(), one)
}

/// Agent 2 is the name of agent 0, only claimed.
fn caller(n: u8) -> Caller {
    if n == 2 { claimed("0") } else { agent(&n.to_string()) }
}

fn thread(n: u8) -> Thread {
    session(&n.to_string())
}

struct Model {
    world: World,
    processes: [Process; 2],
    edition: u32,
    known: BTreeMap<String, Known>,
    /// The names in the order in which they were learnt.
    names: Vec<String>,
}

impl Model {
    fn start() -> Model {
        let world = World::new();
        let processes = [Process::start(&world), Process::start(&world)];
        Model { world, processes, edition: 1, known: BTreeMap::new(), names: Vec::new() }
    }

    fn pick(&self, contract: u8) -> Option<String> {
        let at = usize::from(contract).checked_rem(self.names.len())?;
        // The newest ones are the more telling.
        self.names.iter().rev().nth(at).cloned()
    }

    fn is_over(&self, known: &Known) -> bool {
        known.expires_at <= self.world.clock.now()
    }

    async fn happen(&mut self, is_second: bool, what: Happening) {
        let process = &self.processes[usize::from(is_second)];
        match what {
            Happening::Wait { seconds } => self.world.pass(seconds.into()),
            Happening::Edit => {
                self.edition += 1;
                self.processes.iter().for_each(|process| process.edit_recipe(&self.edition.to_string()));
            }
            Happening::Restart => {
                let process = Process::start(&self.world);
                process.edit_recipe(&self.edition.to_string());
                self.processes[usize::from(is_second)] = process;
            }
            Happening::Propose { agent, session, path, is_persistent, lasts } => {
                let more = json!({"persistent": is_persistent, "duration": lasts});
                let path_of = PATHS[usize::from(path)].0;
                let outcome = process.propose(&caller(agent), &thread(session), path_of, more).await;
                let ProposeOutcome::Approved { contract, .. } = outcome else { panic!("{outcome:?}") };
                let session = (!is_persistent).then_some(session);
                let (edition, expires_at) = (self.edition, contract.record.expires_at);
                let known = Known { agent, session, path: path_of, edition, expires_at, state: State::Active };
                self.learn(&contract.record.synthesis_id, known);
            }
            Happening::Ask { agent, path } => {
                let outcome = process.dispatch(opted(caller(agent), PATHS[usize::from(path)].1)).await;
                if let Err(Refusal::Contract { refusal, .. }) = outcome.answer
                    && let ContractRefusal::Available(preview) = *refusal
                {
                    let (edition, expires_at) = (self.edition, preview.expires_at);
                    let path = PATHS[usize::from(path)].1;
                    let known = Known { agent, session: None, path, edition, expires_at, state: State::Offered };
                    self.learn(&preview.synthesis_id, known);
                }
            }
            Happening::Present { agent, session, path, contract } => {
                let Some(name) = self.pick(contract) else { return };
                let call = presenting(caller(agent), PATHS[usize::from(path)].1, &name);
                let word = process.word(Call { thread: thread(session), ..call }).await;
                let expected = self.expected(&name, agent, session, path);
                assert_eq!(word, expected, "{:?} presented by {agent} in {session}", self.known[&name]);
                if word.starts_with("edition")
                    && let Some(known) = self.known.get_mut(&name)
                {
                    known.state = State::Active;
                }
            }
            Happening::Call { agent, session, path } => {
                let call = call(caller(agent), PATHS[usize::from(path)].1);
                let word = process.word(Call { thread: thread(session), ..call }).await;
                assert_eq!(word, self.expected_unasked(agent, session, path));
            }
            Happening::Release { agent, contract } => {
                let Some(name) = self.pick(contract) else { return };
                let released = process.negotiator.release(&name, &caller(agent), None).await.is_ok();
                self.end(&name, released, State::Gone, |known| known.agent == agent);
            }
            Happening::Revoke { contract } => {
                let Some(name) = self.pick(contract) else { return };
                let revoked = process.negotiator.revoke(&name, ContractActor::Operator("op"), None).await.is_ok();
                self.end(&name, revoked, State::Revoked, |_| true);
            }
            Happening::Sweep { invalidates } => {
                let mode = if invalidates { OnPolicyChange::Invalidate } else { OnPolicyChange::Grandfather };
                let swept = process.negotiator.sweep(Some(mode), "op").await.unwrap();
                let now = self.world.clock.now();
                let open = self
                    .known
                    .values_mut()
                    .filter(|known| matches!(known.state, State::Offered | State::Active) && known.expires_at > now);
                let mut examined = 0;
                for known in open {
                    examined += 1;
                    if invalidates && known.edition != self.edition {
                        known.state = State::Gone;
                    }
                }
                assert_eq!(swept.len(), examined);
            }
        }
    }

    fn learn(&mut self, name: &str, known: Known) {
        if let Some(before) = self.known.insert(name.to_owned(), known.clone()) {
            assert_eq!((before.agent, before.edition, before.state), (known.agent, known.edition, known.state));
        } else {
            self.names.push(name.to_owned());
        }
    }

    fn end(&mut self, name: &str, has_ended: bool, state: State, may: impl Fn(&Known) -> bool) {
        let known = self.known[name].clone();
        let is_open = matches!(known.state, State::Offered | State::Active) && !self.is_over(&known);
        assert_eq!(has_ended, is_open && may(&known), "{known:?}");
        if has_ended {
            self.known.insert(name.to_owned(), Known { state, ..known });
        }
    }

    /// What a presentation comes to.
    fn expected(&self, name: &str, agent: u8, session: u8, path: u8) -> String {
        let known = &self.known[name];
        match known.state {
            State::Gone => "contract-not-found".to_owned(),
            State::Revoked => "464 contract-revoked".to_owned(),
            State::Offered | State::Active if self.is_over(known) => "464 contract-revoked".to_owned(),
            _ if known.agent != agent || known.session.is_some_and(|own| own != session) => {
                "464 contract-not-yours".to_owned()
            }
            _ if !serves(known, path) => "contract-mismatch".to_owned(),
            State::Offered | State::Active => format!("edition {}", known.edition),
        }
    }

    /// What a call without any header comes to: the nearest path, then the newest contract.
    fn expected_unasked(&self, agent: u8, session: u8, path: u8) -> String {
        let is_literal = |known: &Known| !known.path.contains('{');
        let own = self.names.iter().rev().map(|name| &self.known[name]).filter(|known| {
            known.state == State::Active
                && !self.is_over(known)
                && known.agent == agent
                && known.session.is_none_or(|own| own == session)
                && serves(known, path)
        });
        let own: Vec<&Known> = own.collect();
        let nearest = own.iter().find(|known| is_literal(known)).or(own.first());
        nearest.map_or_else(|| "404".to_owned(), |known| format!("edition {}", known.edition))
    }
}

/// Whether a contract is for what is called.
fn serves(known: &Known, called: u8) -> bool {
    let called = PATHS[usize::from(called)].1;
    let folder = called.rsplit_once('/').map(|(folder, _)| folder);
    known.path == called || known.path.strip_suffix("/{id}") == folder
}

proptest! {
    #[test]
    fn a_contract_serves_its_holder_until_it_ends_under_its_own_plan(
        happenings in prop::collection::vec(happening(), 1..40)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut model = Model::start();
            for (is_second, what) in happenings {
                model.happen(is_second, what).await;
            }
        });
    }
}
