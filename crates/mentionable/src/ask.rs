//! `forecourt ask --via rest`: one question to an agent, its answer as it comes, and its questions back.

mod answer;
mod decision;
mod form;
mod part;
mod pay;
mod question;
mod stream;

use forecourt_client::ask::{
    Addressee, AskArguments, AskCall, AskClient, AskOptions, AskTarget, JSON, STREAM, header_value,
};
use forecourt_client::output::{Failure, Outcome};
use forecourt_client::refusal;
use forecourt_egress::UpstreamRequest;
use forecourt_host::SystemEntropy;
use futures::future::BoxFuture;
use http::HeaderName;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE};

use self::form::Form;
use self::pay::{PaidAnswer, Payer};
use crate::discovery::names::REST;

/// The token of a conversation. Mentionable REST 6.
static SESSION: HeaderName = HeaderName::from_static("x-mentionable-session");

/// The REST transport, as `ask` knows it.
pub(crate) const CLIENT: AskClient = AskClient {
    name: REST,
    options: AskOptions { task: false, answers: true, payment: true, resumption: true, domain: false },
    tool: None,
    run: boxed,
};

/// A function of its own, since a closure in a constant is compiled in the crate that uses the constant.
fn boxed(call: AskCall) -> BoxFuture<'static, Outcome> {
    Box::pin(run(call))
}

/// Asks, and asks on while the agent asks back and somebody is there to answer.
async fn run(call: AskCall) -> Outcome {
    // Before anything is sent: a question that can't be put is not worth a way there.
    let mut request = request(&call.arguments)?;
    let to = connect(&call).await?;
    let mut ask = call.arguments;
    ask.check_token(&to.endpoint)?;
    let mut payer = if ask.pay { Some(Payer::new(&ask, &to)?) } else { None };
    loop {
        let PaidAnswer { incoming, session, is_paid } = match &payer {
            Some(payer) => payer.send(&to, request).await?,
            None => PaidAnswer::free(to.send(addressed(&to, request)).await.map_err(|error| to.unreachable(&error))?),
        };
        let printed = answer::print(incoming, &to, ask.json, payer.is_some()).await;
        if let (Err(_), Some(session)) = (&printed, &session) {
            pay::show_session(session);
        }
        let rest = printed?;
        ask = match &rest.policy {
            Some(policy) => {
                // What was agreed to is one payment: a host that refuses what was paid for is not paid again by itself.
                payer = payer.filter(|_| !is_paid);
                let refused = refusal::declined(policy, &to.label, &to.canonical_host);
                let paid = session.as_deref();
                let Some(next) = decision::done(&ask, &to, policy, rest.session.as_deref(), paid).await? else {
                    return Err(refused);
                };
                next
            }
            None => match question::answer(ask, rest).await? {
                Some(next) => next,
                None => return Ok(()),
            },
        };
        request = self::request(&ask)?;
    }
}

/// The question, to nobody yet.
fn request(ask: &AskArguments) -> Result<UpstreamRequest, Failure> {
    let mut form = Form::new(&SystemEntropy);
    if let Some(session) = &ask.session {
        form.text("session", session);
    }
    if let Some(state) = &ask.state {
        form.text("state", state);
    }
    if !ask.text.is_empty() {
        form.text("user", &ask.text.join(" "));
    }
    for answer in &ask.answers {
        let (name, value) = question::split(answer)?;
        form.text(&format!("answer.{name}"), value);
    }
    for path in &ask.attach {
        form.file("user", path)?;
    }
    let (media_type, body) = form.finish()?;
    let mut request = UpstreamRequest::post(String::new(), body)
        .header(ACCEPT, if ask.json { JSON } else { STREAM })
        .header(CONTENT_TYPE, header_value("the form", &media_type)?);
    if let Some(language) = ask.accept_language()? {
        request = request.header(ACCEPT_LANGUAGE, language);
    }
    if let Some(value) = ask.authorization()? {
        request = request.header(AUTHORIZATION, value);
    }
    Ok(request)
}

async fn connect(call: &AskCall) -> Result<AskTarget, Failure> {
    match call.addresses.resolve(&call.arguments).await? {
        Addressee::Url { url, egress } => Ok(AskTarget::typed(&url, url.clone(), egress)),
        Addressee::Agent { agent, egress } => match agent.endpoint(REST).map(str::to_owned) {
            Some(endpoint) => AskTarget::agent(agent, &endpoint, egress),
            None => Err(agent.not_available("REST")),
        },
        Addressee::Domain { domain, .. } => Err(Failure::usage(format!("{domain} is a domain and not an agent"))),
    }
}

/// The request as it is sent to an agent.
fn addressed(to: &AskTarget, request: UpstreamRequest) -> UpstreamRequest {
    UpstreamRequest { url: to.endpoint.as_str().into(), ..request }
}
