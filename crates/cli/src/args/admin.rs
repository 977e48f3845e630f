//! The words of `forecourt admin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Admin {
    /// The folder of the deployment.
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    pub dir: PathBuf,
    /// Where state is kept: the daemon is found by what it has written there. [default: DIR/.forecourt]
    #[arg(long, env = "FORECOURT_DATA_DIR", global = true)]
    pub data: Option<PathBuf>,
    /// Where the operator's listener is, such as http://127.0.0.1:9080, when it is not found by the folder.
    #[arg(long, global = true)]
    pub url: Option<String>,
    /// The admin token, when it is not in the folder's forecourt.toml.
    #[arg(long, env = "FORECOURT_ADMIN_TOKEN", hide_env_values = true, allow_hyphen_values = true, global = true)]
    pub token: Option<String>,
    /// Print what the API answers, as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to see, or to do.
    #[command(subcommand)]
    pub what: AdminWhat,
}

/// What is done, to what, and why.
#[derive(Debug, Args)]
pub(crate) struct ReasonedAction {
    /// Its name, as the lists have it.
    pub name: String,
    /// Why: kept with what was done.
    #[arg(long)]
    pub reason: Option<String>,
}

/// Which consents or payments are listed, and how.
#[derive(Debug, Args)]
pub(crate) struct HeldList {
    /// Only those to this agent.
    #[arg(long)]
    pub agent: Option<String>,
    /// Only those of whose name this is a part.
    #[arg(long)]
    pub who: Option<String>,
    /// Only those of this day or moment and later, such as 2026-11-30.
    #[arg(long)]
    pub since: Option<String>,
    /// At most so many, up to 200.
    #[arg(long, default_value_t = 50, conflicts_with = "all")]
    pub limit: usize,
    /// All of them, up to 100,000.
    #[arg(long)]
    pub all: bool,
    /// Print them as CSV (RFC 4180).
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// What is searched for, and how it is listed.
#[derive(Debug, Args)]
pub(crate) struct SearchWords {
    /// Only what has all of these words.
    pub text: Vec<String>,
    /// Only of these kinds, with commas between: task, refusal, step, usage, consent, payment, conversation, delivery.
    #[arg(long)]
    pub kind: Option<String>,
    /// Only with this agent.
    #[arg(long)]
    pub agent: Option<String>,
    /// Only of callers of whose name this is a part.
    #[arg(long)]
    pub who: Option<String>,
    /// Only from this day or moment on, such as 2026-11-30.
    #[arg(long)]
    pub since: Option<String>,
    /// Only up to this day, its end included, or before this moment.
    #[arg(long)]
    pub until: Option<String>,
    /// What was told at the end of the page before.
    #[arg(long)]
    pub cursor: Option<String>,
    /// At most so many, up to 200.
    #[arg(long, default_value_t = 50)]
    pub limit: usize,
    /// Print them as CSV (RFC 4180).
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// A list of the log of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum QuestionList {
    /// What was asked most.
    Asked,
    /// What was asked without a good answer.
    Unanswered,
    /// The results that were clicked most.
    Clicked,
    /// The results that were shown most and never clicked.
    NeverClicked,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminWhat {
    /// How it goes, at a glance. Exits with 1 when it is not ready.
    Status,
    /// The agents: where they stand, and what they did. With a handle, one of them.
    Agents {
        /// The agent.
        handle: Option<String>,
    },
    /// Tasks of everybody, the last updated first. With a name, one of them with what happened.
    Tasks {
        /// The task, by its name in the list.
        task: Option<String>,
        /// Only tasks in this state: submitted, working, input_required, auth_required, completed, failed, canceled,
        /// rejected.
        #[arg(long)]
        state: Option<String>,
        /// Only tasks of this agent.
        #[arg(long)]
        agent: Option<String>,
        /// At most so many, up to 200.
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// What happened around a task: requests, trace, refusals, consents, payments, models, posts, other tasks.
    Follow {
        /// The task, by its name in the list.
        task: String,
    },
    /// What happened, searched: tasks, refusals, consents, payments, models, conversations, deliveries, the last one
    /// first. By names, ids and states; what was said is not searched.
    Search(SearchWords),
    /// Alerts that are firing, and with `--rules` what they go by.
    Alerts {
        /// The rules instead.
        #[arg(long)]
        rules: bool,
    },
    /// Has nobody told of the alerts of a rule until a moment.
    Silence {
        /// The rule.
        rule: String,
        /// A moment such as 2026-11-30T12:00:00Z, or a time from now such as 8h or 7d; at most 30 days.
        #[arg(long)]
        until: String,
        /// Why: kept with what was done.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Has the alerts of a rule told of again.
    Unsilence(ReasonedAction),
    /// Why an item is found for a question, or is not.
    Why {
        /// The agent.
        agent: String,
        /// The question.
        question: String,
        /// The item: its id, its link or its name.
        item: String,
    },
    /// Who is logged in to the console, and sessions of protocols.
    Sessions,
    /// Who was refused, or asked for something first, and who was let through.
    Refusals {
        /// Only messages to this agent.
        #[arg(long)]
        agent: Option<String>,
        /// Only records that ended so, such as refused or paid.
        #[arg(long)]
        outcome: Option<String>,
    },
    /// What callers agreed to for more than one message.
    Consents(HeldList),
    /// What callers paid.
    Payments(HeldList),
    /// What language models used for answers: tokens, and costs where a price is set.
    Usage {
        /// Only answers of this agent.
        #[arg(long)]
        agent: Option<String>,
        /// Only answers to this subject or network.
        #[arg(long)]
        who: Option<String>,
    },
    /// What it costs: budgets and how far they last, models by agent, model and caller, and what was paid.
    Costs,
    /// What happened over time on every node, for up to thirty days: requests, refusals, failures, time, tasks, tokens,
    /// costs, payments and content.
    Trends {
        /// hour, day, week or month: how far back.
        #[arg(long, default_value = "day")]
        span: Option<String>,
        /// Only of this agent.
        #[arg(long)]
        agent: Option<String>,
        /// Only of this node, as `admin nodes` calls it.
        #[arg(long)]
        node: Option<String>,
        /// Print all numbers as CSV (RFC 4180).
        #[arg(long, conflicts_with = "json")]
        csv: bool,
    },
    /// What people ask, and which results they click, where that is counted ([questions] in forecourt.toml).
    Questions {
        /// At most so many lines of each list, up to 200.
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// Print this list as CSV (RFC 4180).
        #[arg(long, value_name = "LIST", conflicts_with = "json")]
        csv: Option<QuestionList>,
    },
    /// Crawlers: who came, what they took, and what the verified ones owe.
    Bots {
        /// Print them as CSV (RFC 4180).
        #[arg(long, conflicts_with = "json")]
        csv: bool,
    },
    /// Takes what was billed off what a crawler owes.
    Bill {
        /// The crawler, by the host of its signature agent.
        name: String,
        /// How much, in US dollars. [default: everything]
        #[arg(long)]
        amount: Option<String>,
        /// Why, such as the number of the bill: kept with what was done.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Contracts in force that were made with single callers.
    Contracts,
    /// Posts that wait to be made, and those that fail.
    Deliveries,
    /// Questions that wait for you. With a name, one of them.
    Queue {
        /// The question.
        id: Option<String>,
        /// Those that were answered as well.
        #[arg(long)]
        all: bool,
    },
    /// Bounds that callers ran into.
    Limits,
    /// Content behind agents, and what is wrong with it.
    Content,
    /// Servers behind this host, and how they do.
    Servers,
    /// Hubs elsewhere whose agents are fronted, and how they do.
    Hubs,
    /// Chats, the Fediverse and mail: what came over them, what is under way, and what was not delivered.
    Chats,
    /// The nodes that share the store.
    Nodes,
    /// The certificates that are shown to clients.
    Certificates,
    /// The settings as they were read, without secrets.
    Config,
    /// The files of the deployment that may be changed from the console, and what was served before.
    Deployment,
    /// What operators did.
    Actions,
    /// Has the deployment read again. With a mistake in it nothing changes; exits with 1 then.
    Reload {
        /// Only say when and how it was read last.
        #[arg(long)]
        status: bool,
        /// Why: kept with what was done.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Replaces the key with which agents sign in the Fediverse: the new one signs in two minutes.
    RotateKey {
        /// Why: kept with what was done.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Has an agent answer nobody until it is resumed.
    Suspend(ReasonedAction),
    /// Has a suspended agent answer again.
    Resume(ReasonedAction),
    /// Has an agent never answer again.
    Retire(ReasonedAction),
    /// Ends a task.
    Cancel(ReasonedAction),
    /// Has a delivery tried now.
    Retry(ReasonedAction),
    /// Drops a delivery: nobody is told.
    Drop(ReasonedAction),
    /// Puts the files of the deployment back as they were in a version, and has it read again. Exits with 1 where that is
    /// refused: then nothing has changed.
    PutBack(ReasonedAction),
    /// Takes a consent back: whoever gave it is asked again.
    WithdrawConsent(ReasonedAction),
    /// Ends a session of the console.
    EndSession(ReasonedAction),
    /// Revokes a contract.
    EndContract(ReasonedAction),
    /// Answers a question: accepted, rejected or deferred.
    Answer {
        /// The question.
        id: String,
        /// The decision.
        #[arg(value_parser = ["accepted", "rejected", "deferred"])]
        decision: String,
        /// Why, or what to do instead.
        #[arg(long)]
        reason: Option<String>,
    },
}
