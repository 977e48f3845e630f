//! What is due: answers as notes, activities that wait for a server, and the word that an answer takes longer.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forecourt_core::store::Delivery;
use forecourt_core::{Error, Task, ids};
use forecourt_correspondence::{Carrier, Content, LetterCourier, OpenDesk, Outgoing};
use forecourt_host::{AnswerKind, CarryOutcome, Courier};
use forecourt_sentences::Sentences;
use futures::future::BoxFuture;

use crate::NAME;
use crate::compose::{self, NoteContent, Style, compose};
use crate::files::about_files;
use crate::kept::{KeptNote, KeptNotes};
use crate::letter::{Letter, NoteAddress};
use crate::limits::DELIVERY_TTL;
use crate::names;
use crate::relations::{Relation, Relations};
use crate::service::{AnsweredQuestion, LONG, POST, QueuedPost, Service};

/// How long what is due before the protocol is mounted waits.
const MOUNTED_AFTER: Duration = Duration::from_secs(2);

/// A service that is there once the protocol is mounted: couriers are made before that.
pub(crate) type OpenService = Arc<OnceLock<Arc<Service>>>;

/// Carries deliveries of this protocol.
pub(crate) struct FediverseCourier {
    service: OpenService,
    letters: LetterCourier<NoteAddress, NoteCarrier>,
}

/// Sends answers.
struct NoteCarrier(OpenService);

impl FediverseCourier {
    pub(crate) fn new(service: OpenService, desk: OpenDesk<NoteAddress>) -> Self {
        Self { letters: LetterCourier { desk, carrier: NoteCarrier(service.clone()) }, service }
    }
}

impl Courier for FediverseCourier {
    fn carry<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, CarryOutcome> {
        Box::pin(async move {
            let details = &delivery.webhook.details;
            let Some(service) = self.service.get() else { return CarryOutcome::Wait(MOUNTED_AFTER) };
            if let Some(post) = details.get(POST) {
                let Ok(post) = serde_json::from_value::<QueuedPost>(post.clone()) else { return CarryOutcome::Never };
                return service.deliver_late(&post).await;
            }
            if let Some(letter) = details.get(LONG) {
                let Ok(letter) = serde_json::from_value::<Letter>(letter.clone()) else { return CarryOutcome::Never };
                return service.tell_of_delay(&letter).await;
            }
            self.letters.carry(delivery).await
        })
    }
}

impl Carrier<NoteAddress> for NoteCarrier {
    /// What a server does not take waits as a delivery of its own.
    fn is_counted(&self) -> bool {
        false
    }

    fn send<'a>(&'a self, outgoing: Outgoing<'a, NoteAddress>) -> BoxFuture<'a, CarryOutcome> {
        Box::pin(async move {
            let Some(service) = self.0.get() else { return CarryOutcome::Wait(MOUNTED_AFTER) };
            let letter = outgoing.letter;
            let told = NoteContent::Content(outgoing.content);
            service.answer(letter, &letter.token, &told, outgoing.task).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "an answer could not be sent");
                CarryOutcome::Later
            })
        })
    }
}

impl Service {
    /// Sends a note, and has it sent for days if its server does not take it now.
    pub(crate) async fn answer(
        &self,
        letter: &Letter,
        token: &str,
        told: &NoteContent<'_>,
        task: Option<&Task>,
    ) -> Result<CarryOutcome, Error> {
        let host = self.host();
        if KeptNotes::of(host).is_withdrawn(&letter.token).await? {
            return Ok(CarryOutcome::Delivered);
        }
        let Some(kept) = self.composed(letter, token, (told, task)).await? else {
            // A task that was cancelled has nothing to tell, nor has one whose question says something else by now.
            return Ok(CarryOutcome::Delivered);
        };
        if Relations::of(host).is(Relation::Blocks, &letter.agent, &letter.address.actor).await? {
            return Ok(CarryOutcome::Never);
        }
        let answered = |content: Content<'_>| AnsweredQuestion {
            is_refusal: content.kind() == AnswerKind::Refusal,
            asked_at: letter.asked_at,
        };
        let post = QueuedPost {
            agent: letter.agent.clone(),
            inbox: letter.address.inbox.clone(),
            reader: letter.address.actor.clone(),
            activity: match kept.is_update {
                true => compose::update(&kept.note, kept.revision),
                false => compose::create(&kept.note),
            },
            answered: told.content().map(answered),
        };
        match self.attempt(&post).await {
            // Longer than its task is kept.
            CarryOutcome::Later => self.queue(&post, letter, Duration::ZERO).await,
            CarryOutcome::Wait(wait) => self.queue(&post, letter, wait).await,
            outcome => Ok(outcome),
        }
    }

    /// Has an answer sent for days, from so long after now on.
    async fn queue(&self, post: &QueuedPost, letter: &Letter, wait: Duration) -> Result<CarryOutcome, Error> {
        self.send_after(post, letter.sender.account(), wait, DELIVERY_TTL).await?;
        Ok(CarryOutcome::Delivered)
    }

    /// Makes one attempt at an activity, and counts it if it is an answer.
    async fn attempt(&self, post: &QueuedPost) -> CarryOutcome {
        let host = self.host();
        let outcome = self.federation.post(host, &post.agent, &post.inbox, &post.activity).await;
        if let Some(AnsweredQuestion { is_refusal, asked_at }) = &post.answered {
            let kind = if *is_refusal { AnswerKind::Refusal } else { AnswerKind::Answer };
            let since = asked_at.filter(|_| !is_refusal).map(|asked_at| host.clock().now().duration_since(asked_at));
            host.metrics().platforms.answer(NAME, kind, outcome, since);
        }
        outcome
    }

    /// Delivers what waited, unless its reader blocked the agent meanwhile. ActivityPub 6.9.
    async fn deliver_late(&self, post: &QueuedPost) -> CarryOutcome {
        let host = self.host();
        let blocks = Relations::of(host).is(Relation::Blocks, &post.agent, &post.reader).await;
        match blocks {
            Ok(false) => self.attempt(post).await,
            Ok(true) => CarryOutcome::Never,
            Err(error) => {
                tracing::warn!(%error, "it is not known whether the reader of what waits blocked its agent");
                CarryOutcome::Later
            }
        }
    }

    /// The note of a token: the one that was kept, so that each attempt sends the same, or a new one.
    async fn composed(
        &self,
        letter: &Letter,
        token: &str,
        (told, task): (&NoteContent<'_>, Option<&Task>),
    ) -> Result<Option<KeptNote>, Error> {
        let (host, notes) = (self.host(), KeptNotes::of(self.host()));
        let revision = letter.address.revision;
        let (last, before) = notes.last(token).await?;
        if let Some(kept) = before.filter(|kept| kept.revision >= revision) {
            return Ok(Some(kept).filter(|kept| kept.revision == revision));
        }
        let resident = host.directory().find(&letter.agent).unwrap_or(host.directory().default_agent());
        let whole = ids::mint(host.entropy().as_ref());
        let say = Sentences::for_caller(letter.language.as_ref(), &resident.card.language);
        let about_files = match told.reply() {
            Some(reply) => about_files(host, letter, (reply, task), say).await?,
            None => Vec::new(),
        };
        let of_server = self.federation.note_chars(host, &letter.agent, &letter.address.actor).await;
        let own = usize::try_from(self.settings.answer_chars.get()).unwrap_or(usize::MAX);
        let style = Style {
            site: host.site(),
            card: &resident.card,
            chars_max: of_server.map_or(own, |chars| own.min(chars)),
            now: host.clock().now(),
            whole: &names::whole(host.site(), &whole),
            about_files: &about_files,
        };
        let Some(mut composed) = compose(told, letter, token, &style) else { return Ok(None) };
        if last > 0 {
            composed.note["updated"] = style.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
        }
        let is_public = composed.is_public;
        let kept = KeptNote {
            agent: letter.agent.clone(),
            reader: letter.address.actor.clone(),
            is_public,
            note: composed.note,
            words: composed.words,
            revision,
            is_update: last > 0,
        };
        // What everybody may read is whole where the note is.
        let whole = (composed.is_cut && !is_public).then_some(whole.as_str());
        let kept = notes.keep(letter, token, kept, last, whole).await?;
        if is_public && self.settings.featured_answers && matches!(told, NoteContent::Content(_)) {
            notes.feature(letter, &names::note(host.site(), &letter.agent, token)).await?;
        }
        Ok(Some(kept))
    }

    /// Says once that an answer takes longer, unless it is there.
    pub(crate) async fn tell_of_delay(&self, letter: &Letter) -> CarryOutcome {
        let told = async {
            let notes = KeptNotes::of(self.host());
            if notes.find(&letter.token).await?.is_some() || !notes.delay(letter).await? {
                return Ok(CarryOutcome::Delivered);
            }
            // Another note than the answer, of which a reply goes on with the same conversation.
            let token = ids::mint(self.host().entropy().as_ref());
            let (threads, reader) = (self.desk.threads(), letter.reader());
            threads.remember(&token, &letter.agent, &reader, &letter.conversation).await?;
            self.answer(letter, &token, &NoteContent::TakesLonger, None).await
        };
        let outcome: Result<CarryOutcome, Error> = told.await;
        outcome.unwrap_or_else(|error| {
            tracing::warn!(%error, "it could not be told that an answer takes longer");
            CarryOutcome::Never
        })
    }
}
