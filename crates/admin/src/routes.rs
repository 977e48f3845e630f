//! Every call of the API, in one table: what is asked, by whom, and what is answered. The routes over HTTP, the
//! document of the API and the forms of the console all come from it.

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use crate::access::{Command, OperatorAsk};
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::nouns::{
    ActionOutcome, Why, actions, agents, alerts, bots, certificates, chats, config, consents, content, contracts,
    costs, deliveries, deployment, history, hubs, limits, nodes, overview, questions, queue, records, refusals, reload,
    search, servers, sessions, tasks, trends, usage, why,
};
use crate::role::Role;
use crate::verified::VerificationReport;
use crate::{live, playground};

/// Where the API is.
pub(crate) const BASE: &str = "/api/v1";

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;
type Frames = BoxStream<'static, Bytes>;
type Answering<A, T> = fn(A) -> BoxFuture<'static, Result<T, ApiError>>;

/// What answers a call that takes `A`.
pub(crate) struct Calls<A> {
    pub(crate) run: Answering<A, Value>,
    /// The same as it happens, as server-sent events, for whoever asks for that.
    pub(crate) follow: Option<Answering<A, Frames>>,
}

/// Whether a call does something, which decides who may make it: what does something takes a [`Command`], and there is
/// none of a viewer.
pub(crate) enum Does {
    /// It looks: `GET`, for viewers.
    Look(Calls<Ask>),
    /// It looks at what may hold secrets: `GET`, for operators.
    OperatorLook(Calls<OperatorAsk>),
    /// It acts: `POST`, for operators.
    Act(Calls<Command>),
}

/// A call.
pub(crate) struct Route {
    /// Behind [`BASE`].
    pub(crate) path: &'static str,
    /// What it does, in a sentence.
    pub(crate) about: &'static str,
    /// The parameters of its query, with what they mean.
    pub(crate) query: &'static [(&'static str, &'static str)],
    /// Whether all parameters are needed.
    pub(crate) is_query_needed: bool,
    pub(crate) body: Option<SchemaOf>,
    pub(crate) answer: SchemaOf,
    pub(crate) does: Does,
}

impl Route {
    /// The method that it is called with.
    pub(crate) fn verb(&self) -> &'static str {
        match self.does {
            Does::Look(_) | Does::OperatorLook(_) => "get",
            Does::Act(_) => "post",
        }
    }

    /// Whether it does something.
    pub(crate) fn acts(&self) -> bool {
        matches!(self.does, Does::Act(_))
    }

    /// Who may make it.
    pub(crate) fn role(&self) -> Role {
        match self.does {
            Does::Look(_) => Role::Viewer,
            Does::OperatorLook(_) | Does::Act(_) => Role::Operator,
        }
    }

    /// Whether it can be followed.
    pub(crate) fn is_followed(&self) -> bool {
        match &self.does {
            Does::Look(calls) => calls.follow.is_some(),
            Does::OperatorLook(calls) => calls.follow.is_some(),
            Does::Act(calls) => calls.follow.is_some(),
        }
    }

    const fn with_query(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }

    /// The same, with parameters without which it makes no sense.
    const fn with_needed_query(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, is_query_needed: true, ..self }
    }

    const fn with_body(self, body: SchemaOf) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// An answer as JSON.
fn json<T: Serialize>(answer: Result<T, ApiError>) -> Result<Value, ApiError> {
    serde_json::to_value(answer?).map_err(|_| ApiError::internal("the answer can't be written as JSON"))
}

/// A line of the table: verb, path, function, its answer, what it does, and what follows it.
macro_rules! route {
    ($verb:ident $path:literal $run:path => $answer:ty, $about:literal $(, follow $follow:path)?) => {
        Route {
            path: $path,
            about: $about,
            query: &[],
            is_query_needed: false,
            body: None,
            answer: |schemas| schemas.subschema_for::<$answer>(),
            does: Does::$verb(Calls {
                run: |call| Box::pin(async move { json($run(call).await) }),
                follow: route!(@ $($follow)?),
            }),
        }
    };
    (@) => { None };
    (@ $follow:path) => { Some(|call| Box::pin($follow(call))) };
}

const WHY: SchemaOf = |schemas| schemas.subschema_for::<Why>();
const EDIT: SchemaOf = |schemas| schemas.subschema_for::<deployment::Edit>();
const FOLLOW_EVENTS: &[(&str, &str)] = &[("after", "Only events with numbers above this one")];

/// The calls.
pub(crate) static ROUTES: &[Route] = &[
    route!(Look "/overview" overview::one => overview::Overview, "How it goes, at a glance; as events, whenever something changes", follow live::changes),
    route!(Look "/agents" agents::list => agents::Agents, "The agents: where they stand, and what they did"),
    route!(Look "/agents/{handle}" agents::one => agents::AgentDetail, "An agent, with how it came to stand where it does"),
    route!(Act "/agents/{handle}/suspend" agents::suspend => ActionOutcome, "Has an agent answer nobody until it is resumed").with_body(WHY),
    route!(Act "/agents/{handle}/resume" agents::resume => ActionOutcome, "Has a suspended agent answer again").with_body(WHY),
    route!(Act "/agents/{handle}/retire" agents::retire => ActionOutcome, "Has an agent never answer again").with_body(WHY),
    route!(Look "/tasks" tasks::list => tasks::Tasks, "Tasks of everybody on every node, the last updated first").with_query(tasks::QUERY),
    route!(Look "/tasks/{task}" tasks::one => tasks::TaskDetail, "A task, with what was said and what happened"),
    route!(Look "/tasks/{task}/events" tasks::events => tasks::TaskEvents, "Events of a task; as events, as they happen", follow live::task)
        .with_query(FOLLOW_EVENTS),
    route!(Look "/tasks/{task}/history" history::one => history::TaskHistory, "What happened around a task: requests, refusals, consents, payments, models, posts, and tasks beside it"),
    route!(Act "/tasks/{task}/cancel" tasks::cancel => ActionOutcome, "Ends a task").with_body(WHY),
    route!(Look "/alerts" alerts::list => alerts::Alerts, "Alerts that are firing on any node, and the rules that they go by"),
    route!(Act "/alerts/{rule}/silence" alerts::silence => ActionOutcome, "Has nobody told of the alerts of a rule until a moment")
        .with_body(|schemas| schemas.subschema_for::<alerts::SilenceOrder>()),
    route!(Act "/alerts/{rule}/unsilence" alerts::unsilence => ActionOutcome, "Has the alerts of a rule told of again").with_body(WHY),
    route!(Look "/search" search::list => search::SearchResults, "What happened, searched: tasks, refusals, consents, payments, models, conversations and deliveries, the last one first")
        .with_query(search::QUERY),
    route!(Look "/sessions" sessions::list => sessions::Sessions, "Who is logged in here, who signed in to talk to agents, sessions of protocols, and conversations by number"),
    route!(Act "/sessions/{id}/end" sessions::end => ActionOutcome, "Ends a session of the console, or of somebody who signed in, on every node").with_body(WHY),
    route!(Look "/refusals" refusals::list => refusals::Refusals, "Who was refused or asked for something first, and who was let through").with_query(refusals::QUERY),
    route!(Look "/consents" consents::list => consents::Consents, "What callers agreed to for more than one message").with_query(consents::QUERY),
    route!(Act "/consents/{id}/withdraw" consents::withdraw => ActionOutcome, "Takes a consent back: whoever gave it is asked again").with_body(WHY),
    route!(Look "/payments" consents::payments => consents::Payments, "What callers paid, with where it stands and its receipt").with_query(consents::QUERY),
    route!(Look "/bots" bots::list => bots::Bots, "Crawlers: who came, what they took, and what they owe"),
    route!(Act "/bots/{id}/bill" bots::bill => ActionOutcome, "Takes what was billed off what a crawler owes").with_body(|schemas| schemas.subschema_for::<bots::Bill>()),
    route!(Look "/usage" usage::list => usage::Usages, "What language models used for answers, by who asked: tokens and costs").with_query(usage::QUERY),
    route!(Look "/trends" trends::list => trends::Trends, "What happened over time on every node, for up to thirty days").with_query(trends::QUERY),
    route!(Look "/costs" costs::list => costs::Costs, "What it costs: budgets and how far they last, models by agent, model and caller, and what was paid"),
    route!(Look "/contracts" contracts::list => contracts::Contracts, "Contracts in force that were made with single callers").with_query(contracts::QUERY),
    route!(Act "/contracts/{id}/end" contracts::end => ActionOutcome, "Revokes a contract on every node").with_body(WHY),
    route!(Look "/records" records::one => records::Records, "Signed records of what was answered, and up to when they were verified"),
    route!(Act "/records/verify" records::look_through => VerificationReport, "Looks through all signed records of this node"),
    route!(Look "/deliveries" deliveries::list => deliveries::Deliveries, "Posts that wait to be made, and those that fail").with_query(deliveries::QUERY),
    route!(Act "/deliveries/{id}/retry" deliveries::retry => ActionOutcome, "Has a delivery tried now").with_body(WHY),
    route!(Act "/deliveries/{id}/drop" deliveries::discard => ActionOutcome, "Drops a delivery: nobody is told").with_body(WHY),
    route!(Look "/content" content::list => content::Contents, "Content behind agents on this node: what can be found, and what is wrong"),
    route!(Look "/content/{agent}/why" why::one => why::WhyFound, "Why an item is found for a question, or is not, by the index of this node")
        .with_needed_query(why::QUERY),
    route!(Look "/hubs" hubs::list => hubs::Hubs, "Hubs elsewhere whose agents this host fronts, and how they do"),
    route!(Look "/chats" chats::list => chats::Chats, "Chats, the Fediverse and mail: what came over them, what is under way, and what was not delivered"),
    route!(Act "/chats/rotate-key" chats::rotate_key => ActionOutcome, "Replaces the key with which agents sign in the Fediverse").with_body(WHY),
    route!(Look "/servers" servers::list => servers::Servers, "Servers behind this host on this node, and how they do"),
    route!(Look "/limits" limits::list => limits::Limits, "Bounds that callers of this node ran into"),
    route!(Look "/queue" queue::list => queue::Queue, "Questions that wait for the operator").with_query(queue::QUERY),
    route!(Look "/queue/{id}" queue::one => queue::Question, "A question to the operator"),
    route!(Act "/queue/{id}/answer" queue::answer => ActionOutcome, "Answers a question, once").with_body(|schemas| schemas.subschema_for::<queue::Answer>()),
    route!(Look "/questions" questions::list => questions::QuestionStatistics, "What people ask and click, where that is counted").with_query(questions::QUERY),
    route!(Look "/nodes" nodes::list => nodes::Nodes, "The nodes that share the store, side by side"),
    route!(Look "/certificates" certificates::list => certificates::Certificates, "Certificates that this node shows"),
    route!(Look "/config" config::one => config::Config, "The settings as this node has read them, without secrets"),
    route!(Look "/reload" reload::one => reload::Reload, "When and how the deployment was read last"),
    route!(Act "/reload" reload::now => reload::ReloadOutcome, "Reads the deployment again; one with a mistake changes nothing").with_body(WHY),
    route!(OperatorLook "/deployment" deployment::one => deployment::DeploymentFiles, "The files of the deployment as they are, and what was served before"),
    route!(Act "/deployment/check" deployment::check => deployment::EditOutcome, "Says what would be wrong with files changed like that; writes nothing").with_body(EDIT),
    route!(Act "/deployment/apply" deployment::apply => deployment::EditOutcome, "Writes files and reads the deployment again; with a mistake in them everything stays as it was").with_body(EDIT),
    route!(OperatorLook "/deployment/versions/{version}" deployment::version => deployment::VersionDetail, "A version that was served, and what would change if it were put back"),
    route!(Act "/deployment/versions/{version}/put-back" deployment::put_back => deployment::EditOutcome, "Puts the files back as they were in a version, and reads the deployment again").with_body(WHY),
    route!(Look "/actions" actions::list => actions::Actions, "What operators did").with_query(actions::QUERY),
    route!(Look "/playground" playground::list => playground::Playground, "What can be tried out: agents, endpoints and tools"),
    route!(Act "/playground/agents/{handle}" playground::message => playground::TrialAnswer, "Says something to an agent, as an anonymous caller would; as events, as it answers", follow playground::follow)
        .with_body(|schemas| schemas.subschema_for::<playground::Words>()),
    route!(Act "/playground/endpoints/{endpoint}" playground::endpoint => playground::TrialCall, "Calls an endpoint, as an anonymous caller would")
        .with_body(|schemas| schemas.subschema_for::<playground::Arguments>()),
    route!(Act "/playground/tools/{tool}" playground::tool => playground::TrialCall, "Calls a tool, as an anonymous caller would")
        .with_body(|schemas| schemas.subschema_for::<playground::Arguments>()),
];
