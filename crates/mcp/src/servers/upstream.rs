//! A server behind this host at work: its sessions, what it has, and how it does. It goes on from one state of the
//! deployment to the next as long as its file says the same.

mod challenge;
mod lists;

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use forecourt_agents::declined::UpstreamError;
use forecourt_agents::on_behalf_of::TokenExchange;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Clock, Ending, Handle, PolicyPart, SubjectToken};
use forecourt_egress::Egress;
use forecourt_host::{Metrics, ServerState};
use http::HeaderValue;
use http::header::AUTHORIZATION;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Notify, watch};

use self::challenge::resource_metadata;
use super::catalog::Catalog;
use super::events::SessionEvents;
use super::health::Health;
use super::places::{CallPlace, Places};
use super::session::{Opening, Session};
use super::sessions::{SessionKey, SessionOwner, SessionSlot, Sessions, Whose};
use super::settings::{CheckedServer, OfferRules, Revision, SessionMode};
use super::shelf::Shelf;
use super::sign_in::Broker;
use crate::client::ConnectionNotes;
use crate::elicit::Modes;
use crate::limits::{PROGRAMS_PER_SERVER_MAX, SESSIONS_PER_SERVER_MAX};
use crate::person::WhoAsks;
use crate::upstream::call_error::CallError;
use crate::upstream::target::Target;

/// A server behind this host.
pub(crate) struct Upstream {
    pub(crate) name: Handle,
    pub(crate) time_max: Duration,
    pub(crate) clock: Arc<dyn Clock>,
    target: Target,
    exchange: Option<Arc<TokenExchange>>,
    /// What people have signed in there with, where they do.
    broker: Option<Arc<Broker>>,
    mode: Option<SessionMode>,
    revision: Option<Revision>,
    rules: Arc<OfferRules>,
    egress: Egress,
    sessions: Sessions,
    places: Places,
    shelf: RwLock<Arc<Shelf>>,
    /// Whether it ever told what it has.
    has_listed: AtomicBool,
    health: Mutex<Health>,
    /// What is known of how it speaks, once it was connected to.
    nature: Mutex<Option<Nature>>,
    lists_changed: Arc<Notify>,
    /// Counted up whenever something that is listed has changed, of any server.
    changes: watch::Sender<u64>,
    metrics: Arc<Metrics>,
    /// Tells tokens apart without keeping them.
    hasher: RandomState,
    /// Whether it is being listened to for changes.
    is_heard: Arc<AtomicBool>,
}

/// How a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Nature {
    is_modern: bool,
    gives_sessions: bool,
}

/// A session, for as long as it is used.
pub(crate) struct SessionLease {
    pub(crate) session: Arc<Session>,
    slot: Option<SessionSlot>,
}

/// Who asks, as far as a session there depends on it.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    /// `None`: nothing that two of its calls would have in common.
    pub(crate) owner: Option<SessionOwner>,
    /// What all of its calls are counted by.
    pub(crate) counted_by: String,
    pub(crate) modes: Modes,
    pub(crate) token: Option<SubjectToken>,
    /// Whose sign-in there counts.
    pub(crate) who: WhoAsks,
}

impl Upstream {
    pub(crate) fn new(
        checked: &CheckedServer,
        broker: Option<Broker>,
        egress: Egress,
        clock: Arc<dyn Clock>,
        changes: watch::Sender<u64>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (max, health) = match &checked.target {
            Target::Url { .. } => (SESSIONS_PER_SERVER_MAX, Health::of_url()),
            Target::Program(_) => (PROGRAMS_PER_SERVER_MAX, Health::of_program()),
        };
        let shelf = checked.imported.clone().map_or_else(Shelf::default, |lists| Shelf::new(lists, &checked.rules));
        Self {
            name: checked.name.clone(),
            time_max: checked.time_max,
            clock,
            target: checked.target.clone(),
            exchange: checked.exchange.clone(),
            broker: broker.map(Arc::new),
            mode: checked.sessions,
            revision: checked.revision,
            rules: checked.rules.clone(),
            egress,
            sessions: Sessions::new(max),
            places: Places::default(),
            shelf: RwLock::new(Arc::new(shelf)),
            has_listed: AtomicBool::new(false),
            health: Mutex::new(health),
            nature: Mutex::default(),
            lists_changed: Arc::default(),
            changes,
            metrics,
            hasher: RandomState::new(),
            is_heard: Arc::default(),
        }
    }

    /// What of it is offered now.
    pub(crate) fn shelf(&self) -> Arc<Shelf> {
        self.shelf.read().clone()
    }

    /// Whether it is known not to answer.
    pub(crate) fn is_away(&self) -> bool {
        self.health.lock().answers == Some(false)
    }

    /// How it does, for the operator.
    pub(crate) fn state(&self) -> ServerState {
        let tools = self.shelf().tools.len();
        let health = self.health.lock();
        let (answers, last_error) = (health.answers, health.last_error.clone());
        ServerState { name: self.name.clone(), answers, last_error, tools, sessions: self.sessions.count() }
    }

    /// A place among the calls of this server, unless it is left alone for now or has too many.
    pub(crate) async fn place(&self, asker: &Asker) -> Result<CallPlace, CallError> {
        if let Some(left) = self.health.lock().left_alone() {
            return Err(CallError::LeftAlone(left));
        }
        self.places.take(&asker.counted_by).await.ok_or(CallError::Busy)
    }

    /// Where people sign in there, if they do.
    pub(crate) fn broker(&self) -> Option<&Arc<Broker>> {
        self.broker.as_ref()
    }

    /// What the server is shown in the name of `asker`. `None`: it is asked in the name of this host.
    pub(crate) async fn authorization(&self, asker: &Asker) -> Result<Option<HeaderValue>, CallError> {
        if let Some(broker) = &self.broker {
            return broker.authorization(&asker.who).await.map(Some);
        }
        let Some(exchange) = &self.exchange else { return Ok(None) };
        exchange.authorization(asker.token.as_ref()).await.map(Some).map_err(CallError::Unasked)
    }

    /// A session for a call of `asker`.
    pub(crate) async fn session(&self, asker: &Asker) -> Result<SessionLease, CallError> {
        let authorization = self.authorization(asker).await?;
        self.session_with(asker, authorization).await
    }

    /// A session for a call of `asker`, in which the server is shown this.
    pub(crate) async fn session_with(
        &self,
        asker: &Asker,
        authorization: Option<HeaderValue>,
    ) -> Result<SessionLease, CallError> {
        let mut owner = asker.owner.clone();
        let target = match authorization {
            Some(authorization) => {
                if let Some(owner) = &mut owner {
                    // Another token is another session: what one was opened with may not hold any more.
                    owner.key = format!("{} {:x}", owner.key, self.hasher.hash_one(&authorization));
                }
                Cow::Owned(self.target.authorized(authorization))
            }
            None => Cow::Borrowed(&self.target),
        };
        let whose = match (self.session_mode().await?, &owner) {
            (SessionMode::Shared, _) => Some(Whose::All),
            (SessionMode::Caller, Some(owner)) => Some(Whose::Caller(owner.clone())),
            (SessionMode::Caller, None) | (SessionMode::Call, _) => None,
        };
        let Some(whose) = whose else {
            let session = Arc::new(Box::pin(self.open(&target, asker.modes)).await?);
            return Ok(SessionLease { session, slot: None });
        };
        self.kept(&SessionKey { whose, modes: asker.modes }, &target).await
    }

    /// The session that the server is asked by what it has.
    async fn lister(&self) -> Result<SessionLease, CallError> {
        let modes = Modes { form: false, url: false };
        self.kept(&SessionKey { whose: Whose::All, modes }, &self.target).await
    }

    async fn kept(&self, key: &SessionKey, target: &Target) -> Result<SessionLease, CallError> {
        let slot = self.sessions.slot(key).ok_or(CallError::Busy)?;
        // Held while the session is opened, so that calls that come at once share one.
        let mut kept = slot.lock().await;
        if let Some(session) = kept.clone()
            && session.is_usable().await
        {
            drop(kept);
            return Ok(SessionLease { session, slot: Some(slot) });
        }
        // On the heap, since most calls find one that is open.
        let session = Arc::new(Box::pin(self.open(target, key.modes)).await?);
        *kept = Some(session.clone());
        drop(kept);
        Ok(SessionLease { session, slot: Some(slot) })
    }

    /// Who shares sessions: as the file says, else by how the server speaks. One that gives out sessions may keep
    /// something in them that is for one caller.
    async fn session_mode(&self) -> Result<SessionMode, CallError> {
        if let Some(mode) = self.mode {
            return Ok(mode);
        }
        if self.exchange.is_some() || self.broker.is_some() {
            return Ok(SessionMode::Caller);
        }
        if matches!(self.target, Target::Program(_)) {
            return Ok(SessionMode::Shared);
        }
        if self.nature.lock().is_none() {
            Box::pin(self.lister()).await?;
        }
        let gives_sessions = self.nature.lock().is_some_and(|nature| nature.gives_sessions);
        Ok(if gives_sessions { SessionMode::Caller } else { SessionMode::Shared })
    }

    async fn open(&self, target: &Target, modes: Modes) -> Result<Session, CallError> {
        let events = SessionEvents::new(self.lists_changed.clone());
        let known = self.nature.lock().map(|nature| nature.is_modern);
        let is_modern = self.revision.map(|revision| revision == Revision::Newest).or(known);
        let notes = Arc::new(ConnectionNotes::default());
        let opening = Opening { target, egress: &self.egress, modes, is_modern, notes: notes.clone(), events };
        let opened = Session::open(opening).await;
        match &opened {
            Ok(session) => {
                if session.is_modern() && self.shelf().names_headers() {
                    // The SDK repeats arguments in header fields for tools that it has seen in a list of this session.
                    // Where that fails, the server says what it lacks.
                    let _ = Catalog::ask(&session.lister()).await;
                }
                let (is_modern, gives_sessions) = (session.is_modern(), session.has_session() && !session.is_modern());
                *self.nature.lock() = Some(Nature { is_modern, gives_sessions });
            }
            // It may be another one by now, which speaks otherwise.
            Err(CallError::Said(_) | CallError::Unreadable(_)) => *self.nature.lock() = None,
            Err(_) => {}
        }
        opened.map_err(|error| self.led_to_sign_in(error, target, &notes))
    }

    /// An error of a server that wants its callers to sign in somewhere, as the refusal that leads them there. Where
    /// this host has credentials of its own, they are what is wrong.
    fn led_to_sign_in(&self, error: CallError, target: &Target, notes: &ConnectionNotes) -> CallError {
        let is_unsigned = matches!(&error, CallError::Declined { declined: UpstreamError::Credentials, .. })
            && matches!(target, Target::Url { headers, .. } if !headers.contains_key(AUTHORIZATION));
        let challenge = notes.challenge().filter(|_| is_unsigned);
        let Some(metadata) = challenge.as_deref().and_then(resource_metadata) else { return error };
        let name = &self.name;
        let challenge = AuthChallenge::new("Bearer").with("resource_metadata", metadata);
        let kind = RefusalKind::Unauthorized { auth_challenges: vec![challenge] };
        let words = format!("The server `{name}` behind this host answers only who signed in there: {metadata}");
        let part = PolicyPart { code: Some("oauth:upstream_sign_in".to_owned()), ..PolicyPart::new(kind, words) };
        CallError::Unasked(Ending::Refused(Box::new(part)))
    }

    /// Takes notice of what came of asking the server.
    pub(crate) fn note<T>(&self, outcome: &Result<T, CallError>) {
        let sessions = self.sessions.count();
        let mut health = self.health.lock();
        let is_news = match outcome {
            Ok(_) | Err(CallError::Said(_)) => health.worked(),
            Err(error) if !error.is_servers_failure() => false,
            Err(error) => {
                let wait = match error {
                    CallError::Declined { declined: UpstreamError::Later(wait), .. } => {
                        wait.map(|wait| Duration::from_secs(wait.seconds(&*self.clock)))
                    }
                    _ => None,
                };
                health.failed(error.to_string(), wait)
            }
        };
        let measured = health.measured(sessions);
        drop(health);
        if let Some(answers) = measured {
            self.metrics.server(&self.name, answers, sessions);
        }
        if is_news {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    /// Gives a session up that is of no use any more.
    pub(crate) async fn give_up(&self, lease: &SessionLease) {
        let Some(slot) = &lease.slot else { return };
        let mut kept = slot.lock().await;
        if kept.as_ref().is_some_and(|session| Arc::ptr_eq(session, &lease.session)) {
            *kept = None;
        }
    }
}
