//! The nouns and rules of Forecourt: no IO, no runtime, no wire format and no status number.
//!
//! Every protocol translates its own vocabulary to and from these types; nothing here knows which
//! protocol a message came by. The words are Mentionable's for messages and A2A's for tasks.
//!
//! | module | holds |
//! |---|---|
//! | [`address`] | `@agent@domain`, handles and domains |
//! | [`agent_id`] | agents named by the hash of their origin |
//! | [`bot`] | crawlers, by their own proof or by their own word |
//! | [`caller`] | who a caller is, by the surest thing that is known of it |
//! | [`message`] | a message, its sender and its history |
//! | [`network`] | which addresses count as one caller |
//! | [`mention`] | whom a text speaks to |
//! | [`clean`] | characters that nobody should see |
//! | [`findings`] | what a search tells about its own answer |
//! | [`hashed`] | maps whose keys are hashes already |
//! | [`in_place()`] | large values, such as futures, on the heap without a copy |
//! | [`LazyJson`] | JSON that is parsed when somebody looks into it |
//! | [`MaybeBoxed`] | what crates wait for of each other |
//! | [`part`] | what messages and replies are made of |
//! | [`receipt`] | the receipt of what was paid for an answer |
//! | [`reply`] | the stream of events that answers a message, and its one ending |
//! | [`task`] | work that outlives a connection, and its legal moves |
//! | [`usage`] | what language models used for an answer |
//! | [`agent_state`] | what an agent keeps in a conversation |
//! | [`stop`] | why the work on a message is stopped before its end |
//! | [`policy`] | refusals as content, and what is required instead |
//! | [`gate`] | the rules before an agent, and the one value that opens it |
//! | [`glob`] | patterns for names |
//! | [`identity`] | evidence of who is speaking |
//! | [`site`] | what the outside calls a place |
//! | [`standing`] | where an agent stands in its life |
//! | [`agent`], [`store`] | the two traits that backends and storage implement |
//! | [`limits`] | every bound, with its unit |

mod account;
pub mod address;
pub mod agent;
pub mod agent_id;
pub mod agent_state;
pub mod authority;
pub mod bot;
pub mod bus;
pub mod caller;
mod card;
pub mod clean;
pub mod clock;
pub mod codes;
mod credential;
pub mod error;
pub mod findings;
pub mod gate;
pub mod glob;
pub mod hashed;
pub mod identity;
pub mod ids;
mod in_place;
pub mod journal;
pub mod json;
pub mod language;
mod lazy_json;
pub mod limits;
mod maybe_boxed;
pub mod mention;
pub mod message;
pub mod network;
pub mod origin;
pub mod part;
pub mod policy;
pub mod question;
mod quota;
pub mod receipt;
pub mod reply;
pub mod scope;
pub mod site;
pub mod standing;
pub mod stop;
pub mod store;
pub mod task;
mod task_state;
pub mod usage;
pub mod yaml;

pub use account::Account;
pub use address::{Address, Domain, Handle};
pub use agent::{Agent, AgentCard, ContentMode, Endpoint, Skill};
pub use agent_id::AgentId;
pub use agent_state::{AgentState, AgentStateError};
pub use authority::Authority;
pub use bot::{Bot, BotPurpose};
pub use bus::{Bus, NoBus};
pub use caller::CallerKey;
pub use clock::{Clock, Entropy, MachineClock, MachineTime, SystemClock};
pub use credential::SubjectToken;
pub use error::{Error, Noun};
pub use findings::{Findings, FindingsDetail, SearchOptions, SearchRefinement};
pub use gate::{Admitted, Policy, Rule};
pub use glob::Glob;
pub use identity::IdentityEvidence;
pub use ids::{ConsentToken, MessageId, StateToken, TaskId, ThreadId};
pub use in_place::in_place;
pub use journal::{EarlierTry, WorkJournal};
pub use language::Language;
pub use lazy_json::LazyJson;
pub use maybe_boxed::{MaybeBoxed, at_once, in_time};
pub use mention::{behind_mention, first_mention};
pub use message::{Allowance, ClientAddr, History, Message, Profile, Role, Sender, Transport, Turn};
pub use part::{File, FileSource, Link, Part, Text, ToolCall, ToolOutcome};
pub use policy::PolicyPart;
pub use question::{FieldKind, Question, QuestionAnswer, QuestionField, QuestionOption};
pub use quota::{CallerBounds, QuotaBound};
pub use receipt::PaymentReceipt;
pub use reply::{CollectedReply, Ending, Event, EventStream, FailureCause, Progress, Reply, SignIn};
pub use scope::{Scope, ScopeSet};
pub use site::Site;
pub use standing::{LifecycleState, LifecycleTransition};
pub use stop::{StopReason, StopSign};
pub use store::{Store, StoreError};
pub use task::{Task, TaskState};
pub use usage::{AnswerUsage, ModelUsage, UsageMeter};

/// A moment in UTC. Written as RFC 3339.
pub use jiff::Timestamp;
