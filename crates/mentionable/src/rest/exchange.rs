//! The trip of a message: from what was asked to the agent, and with the answer back.

use bytes::Bytes;
use forecourt_core::policy::{PaymentSubmission, Submission};
use forecourt_core::{Allowance, File, Link, Part, Reply, Sender, Timestamp};
use forecourt_egress::hops;
use forecourt_host::Run;
use forecourt_surface::credentials;
use forecourt_surface::same_origin::is_cross_site;

use super::answer::{HttpAnswer, Outcome, RestError};
use super::from_wire::{Envelope, message};
use super::media::Media;
use super::once::{IdempotencyKey, KeyedCall};
use super::payment;
use super::reply;
use super::responder::Responder;
use super::resumption::{ResumedRequest, Resumption, resume};
use super::search::{self, Search};
use super::signed_in::{account, or_person, way_back};
use super::suggestions;
use super::transport::Rest;
use super::visitor::browser;
use super::wire::{Ask, Entry};

/// What a POST brings beside what is asked.
#[derive(Default)]
pub(crate) struct PostExtras<'a> {
    /// A payment in its header.
    pub(crate) payment: Option<PaymentSubmission>,
    /// The raw body, which is what signatures cover.
    pub(crate) body: Option<&'a Bytes>,
    /// The key under which it is carried out once.
    pub(crate) key: Option<IdempotencyKey>,
}

/// Carries what was asked to the agent, and the answer back.
pub(crate) async fn carry(
    rest: &Rest,
    responder: &Responder<'_>,
    ask: Ask,
    PostExtras { payment, body, key }: PostExtras<'_>,
    run: Run,
) -> Outcome {
    let Responder { request, route, .. } = responder;
    let media = request.media()?;
    let host = &rest.host;
    let received_at = host.clock().now();
    let body = body.map(|body| &**body);
    // Before `resume`, which completes `ask`: a sign-in leads back to what this request itself said.
    let back = way_back(responder, &rest.verifier, &ask);
    let proof = credentials::Request { head: request.parts, body, agent: &route.card.address, now: received_at };
    let sender = credentials::sender(&rest.verifier, host.site(), proof).await?;
    let sender = or_person(sender, responder.person, &route.card.address);
    let payment = match payment {
        Some(payment) => Some(payment),
        // The account of a crawler, which is verified by its signature of this request: no link can have one signed.
        None => payment::agreed(request.headers(), &sender)?,
    };
    // Before what it resumes is used up: a repetition uses up nothing.
    let once = match key {
        // On the heap: few requests have a key.
        Some(key) => match Box::pin(key.call(rest, responder, &sender, run.clone())).await? {
            KeyedCall::New(call) => Some(call),
            KeyedCall::Known(reply) => {
                return Ok(AnswerForm::of(responder, media, &ask, Vec::new()).answer(rest, responder, *reply).await);
            }
        },
        None => None,
    };
    let run = once.as_ref().map_or(run, |call| call.run());
    let mut exchange = exchange(rest, responder, AskedMessage { ask, sender, payment, received_at }, run).await;
    if let Some(call) = once {
        let reply = exchange.as_mut().ok().and_then(|exchange| exchange.as_mut().ok());
        Box::pin(call.settle(host, reply.map(|(reply, _)| reply))).await;
    }
    match exchange? {
        Ok((reply, form)) => {
            let reply = match back {
                Some(back) => back.of(reply),
                None => reply,
            };
            Ok(form.answer(rest, responder, reply).await)
        }
        Err(answer) => Ok(*answer),
    }
}

/// What is asked, and by whom.
struct AskedMessage {
    ask: Ask,
    sender: Sender,
    payment: Option<PaymentSubmission>,
    received_at: Timestamp,
}

/// The reply to it, with how that is written; or an answer that was decided without.
type Exchange = Result<(Reply, AnswerForm), Box<HttpAnswer>>;

async fn exchange(
    rest: &Rest,
    responder: &Responder<'_>,
    AskedMessage { mut ask, sender, payment, received_at }: AskedMessage,
    run: Run,
) -> Result<Exchange, RestError> {
    let (host, media) = (&rest.host, responder.request.media()?);
    let Resumption { submission, asked } = match ask.state {
        // On the heap: few requests go on after a refusal.
        Some(_) => match Box::pin(resume(host, responder, &mut ask, &sender)).await? {
            ResumedRequest::Message(resumption) => resumption,
            ResumedRequest::Answer(answer) => return Ok(Err(answer)),
        },
        None => Resumption::default(),
    };
    let submission = match payment {
        Some(payment) => Some(Box::new(Submission {
            payment: Some(payment),
            ..submission.map(|submission| *submission).unwrap_or_default()
        })),
        None => submission,
    };
    let form = AnswerForm::of(responder, media, &ask, asked);
    let envelope = Envelope {
        submission,
        with_facets: form.search.is_some(),
        completes: form.completes,
        ..envelope(rest, responder, sender, received_at)
    };
    Ok(Ok((host.receive(message(ask, envelope)?, run).await?, form)))
}

/// What the head of a request says of its message to the agent of the responder.
pub(crate) fn envelope(rest: &Rest, responder: &Responder<'_>, sender: Sender, received_at: Timestamp) -> Envelope {
    let Responder { request, route, .. } = responder;
    Envelope {
        recipient: route.card.handle().clone(),
        sender,
        language: request.language(),
        finds: route.card.finds,
        with_facets: false,
        completes: false,
        asks_several: false,
        hop: hops::read(request.headers()),
        id: rest.ids.next(),
        submission: None,
        // Any site can have a browser send a GET here; it must not use up what its person has paid for.
        allowance: match is_cross_site(request.headers(), request.site) {
            true => Allowance::WithoutCredit,
            false => Allowance::Whole,
        },
        consents: responder.person.is_none().then(|| browser(request).consent_token()).flatten(),
        received_at,
    }
}

/// How an answer is written.
struct AnswerForm {
    media: Media,
    search: Option<Search>,
    /// Whether it says what a half-typed question may become, and answers none.
    completes: bool,
    /// What it answers, where a page shows that.
    asked: Vec<Part>,
}

impl AnswerForm {
    fn of(responder: &Responder<'_>, media: Media, ask: &Ask, asked: Vec<Part>) -> Self {
        let search = Search::of(responder, ask, &asked);
        let asked = if asked.is_empty() && media == Media::Html { last_turn(ask) } else { asked };
        let completes = ask.completes && media == Media::Json && responder.route.card.finds;
        Self { media, search, completes, asked }
    }

    async fn answer(self, rest: &Rest, responder: &Responder<'_>, reply: Reply) -> HttpAnswer {
        match self.search {
            // On the heap, as is a stream: what most requests don't need must not make every request's future larger.
            Some(search) => {
                Box::pin(search::answer(responder, account(responder, &rest.verifier), search, reply)).await
            }
            None if self.completes => suggestions::answer(responder, reply).await,
            None => reply::answer(responder, self.media, reply, &self.asked).await,
        }
    }
}

/// What the last turn says, for the page of its answer.
fn last_turn(ask: &Ask) -> Vec<Part> {
    let entries = ask.runs.last().map(|run| run.entries.as_slice()).unwrap_or_default();
    let part = |entry: &Entry| match entry {
        Entry::Text { text, .. } if !text.starts_with("data:") => Part::text(text.clone()),
        Entry::Text { .. } => Part::Link(Link { url: String::new(), title: None, description: None }),
        Entry::File { mime, name, .. } => Part::File(File::inline(mime.clone(), name.clone(), Bytes::new())),
    };
    entries.iter().map(part).collect()
}
