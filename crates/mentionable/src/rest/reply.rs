//! What came of a message, as a response: whole, as it comes, or where it will be.

use bytes::Bytes;
use forecourt_core::{Ending, Event, Part, Reply, ThreadId};
use forecourt_surface::sse::{HEARTBEAT, KeepAlive};
use futures::{StreamExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_LOCATION};
use http::{HeaderName, HeaderValue, StatusCode};

use super::answer::{Content, HttpAnswer};
use super::callback::{PREFERENCE_APPLIED, RESPOND_ASYNC};
use super::errors::Failure;
use super::links;
use super::media::Media;
use super::payment;
use super::render::{self, Frame, ReplyStart};
use super::responder::Responder;

/// Asks proxies not to hold a stream back.
static X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What came of a message.
///
/// `asked` is what it answers, where that was not in the request.
pub(crate) async fn answer(responder: &Responder<'_>, media: Media, reply: Reply, asked: &[Part]) -> HttpAnswer {
    if reply.task.is_some() {
        return accepted(responder, media, &reply);
    }
    if media == Media::Stream {
        return Box::pin(stream_of(responder, reply)).await;
    }
    let (thread, language) = (reply.thread.clone(), reply.language.clone());
    let receipt = reply.receipt.clone();
    let collected = reply.collect().await;
    if let Some(failure) = Failure::of_ending(&collected.ending) {
        return responder.unanswered(&failure, &collected.ending, thread.as_ref());
    }
    if let Ending::Refused(part) = &collected.ending {
        return responder.refused(media, part, thread.as_ref());
    }
    // Only pages show it, and it costs an allocation.
    let url = if media == Media::Html { responder.request.url() } else { String::new() };
    let session = thread.as_ref().map(ThreadId::expose);
    let transaction = receipt.get().and_then(payment::transaction);
    let frame = Frame { transaction, ..responder.frame(&url, &language, session, "") };
    let mut head = responder.answer_head(media, &language, thread.as_ref());
    if let Some(receipt) = receipt.get() {
        payment::add_receipt(&mut head, responder.request.headers(), receipt);
    }
    if media == Media::Markdown {
        links::add(&mut head, &collected.parts);
    }
    HttpAnswer::whole(StatusCode::OK, head, render::answer(media, &frame, asked, collected))
}

/// An answer that is made in the background: nothing but where it will be. REST 5.4.
fn accepted(responder: &Responder<'_>, media: Media, reply: &Reply) -> HttpAnswer {
    let mut head = responder.head_of(media, &reply.language, reply.thread.as_ref());
    let task = reply.task.as_ref().map(|task| format!("/tasks/{}", task.expose()));
    if let Some(location) = task.and_then(|path| HeaderValue::from_str(&responder.request.base().path(&path)).ok()) {
        head.insert(CONTENT_LOCATION, location);
    }
    head.insert(&PREFERENCE_APPLIED, RESPOND_ASYNC);
    HttpAnswer::empty(StatusCode::ACCEPTED, head)
}

/// An answer as it comes. Until its first byte it can still fail with a status; from then on it is 200,
/// whatever comes. REST 4.3.
async fn stream_of(responder: &Responder<'_>, reply: Reply) -> HttpAnswer {
    let Reply { thread, language, receipt, mut events, .. } = reply;
    let ReplyStart { events: begun, is_late } = render::begin(&mut events, responder.route.card.streams).await;
    if let Some(Event::Ending(ending)) = begun.last()
        && let Some(failure) = Failure::of_ending(ending)
    {
        return responder.unanswered(&failure, ending, thread.as_ref());
    }
    let mut head = responder.head_of(Media::Stream, &language, thread.as_ref());
    if let Some(Event::Ending(Ending::Refused(part))) = begun.last() {
        // Now or never: a cookie stands in the head, which is sent before the frames.
        responder.keep_waiting(&mut head, part, thread.as_ref());
    }
    // What is paid at the end stands in the last frame: unless that is here already, the head goes before it.
    if let Some(receipt) = receipt.get() {
        payment::add_receipt(&mut head, responder.request.headers(), receipt);
    }
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    head.insert(&X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    links::add(
        &mut head,
        begun.iter().filter_map(|event| match event {
            Event::Part(part) => Some(part),
            _ => None,
        }),
    );
    let sign = stream::iter(is_late.then(|| Bytes::from_static(HEARTBEAT)));
    let events = Box::pin(stream::iter(begun).chain(events));
    let frames = sign.chain(render::frames(events, responder.route.card.streams, receipt));
    let frames = KeepAlive::new(Box::pin(frames));
    HttpAnswer { status: StatusCode::OK, head, content: Content::Frames(Box::pin(frames)) }
}
