//! Language models behind a chat completions API: one request, its reply as it comes in, and the provider's errors in
//! words; what it uses and costs, and how much of it an agent may use. Whatever a provider does wrong is an honest
//! failure; the details go to the log.
//!
//! It knows no conversation: what a model is told, and what becomes of its words, is for whoever asks it.
//!
//! | module | holds |
//! |---|---|
//! | [`preset`] | providers that are known by name, and in what their APIs differ |
//! | [`settings`] | the keys that every section with a provider has |
//! | [`provider`] | one request and its reply |
//! | [`service`], `reply_trace` | what traces tell of both |
//! | [`draft`], `filter` | chunks of a reply, put together; what is thought and no answer |
//! | [`error`] | why there is no reply, told by what can be done about it |
//! | [`chain`], [`breaker`] | several providers in their order, asked again within bounds, and left alone when they fail |
//! | [`window`] | how many tokens a model reads, and how many a text has |
//! | [`metering`], [`budget`] | what models use and cost, and how much they may |
//! | [`limits`] | every bound, with its unit |

pub mod breaker;
pub mod budget;
pub mod chain;
pub mod draft;
pub mod error;
mod filter;
pub mod limits;
pub mod metering;
pub mod preset;
pub mod provider;
mod reply_trace;
pub mod service;
pub mod settings;
mod tool_call;
pub mod window;

pub use error::{ProviderError, WHO};
pub use provider::{ModelReply, Piece, Provider, ReplyWait};
pub use tool_call::ToolCallRequest;
