//! Everything that Forecourt shows in a browser: pure functions from values to HTML.
//!
//! Nothing here opens a socket, reads a clock or knows a status number. A protocol crate fills in
//! one of the structs, calls `render` and sends the string with the policy named beside it.
//!
//! | page | what it shows | content security policy |
//! |---|---|---|
//! | [`ReplyPage`] | an agent's answer. Mentionable REST 4.1 | [`Branding::answer_policy`], or [`Branding::asking_policy`] |
//! | [`RefusalPage`] | a refusal. Mentionable REST 5.1 | [`Branding::asking_policy`] |
//! | [`DecisionPage`] | a consent or a payment, to be decided. PolicyPart 5.3 | [`DecisionPage::policy`] |
//! | [`ErrorPage`] | a fault, and what would be right | [`Branding::asking_policy`] |
//! | [`FrontPage`] | the host and its agents; also as markdown | [`csp::PAGE`] |
//! | [`AgentPage`] | one agent with a chat box; also as markdown | [`csp::PAGE`] |
//! | [`SearchPage`] | one agent that finds things, and what it found | [`csp::SEARCH`], then [`Branding::found_policy`] |
//! | [`SeveralPage`] | a question to several agents, and what each found | [`Branding::found_policy`] |
//! | [`AccountPage`] | signing in and out, and what went wrong with it | [`Branding::asking_policy`] |
//! | [`HoldingsPage`] | what somebody agreed to and paid for | [`Branding::asking_policy`] |
//! | [`ManualPage`] | a page of the program's own manual | [`Branding::manual_policy`] |
//! | [`asset`] | style and script of the pages above, by path | [`Branding::answer_policy`] |
//!
//! Every HTML answer also wants the headers of [`csp::HEADERS`]. URLs given to a page are the
//! canonical text of the URL; they are escaped here. Whatever else is text, from agents and
//! callers alike, is cleaned ([`clean`]) and escaped by the templates; markdown goes through
//! [`markdown::to_html`]. Links with another scheme than http, https and mailto lose their target.
//!
//! A list item that begins with a bold link (`- **[Name](url)** why it fits`) is shown as a card,
//! in answers and in the chat, so that an agent which streams markdown can show results. Data parts
//! become cards of their own, folded away when the words already link to all of them.

mod account;
mod agent_page;
mod asked;
mod asset;
mod branding;
pub mod clean;
mod colour;
pub mod csp;
mod decision;
mod embed;
mod error_page;
pub mod escape;
mod front;
mod highlight;
mod holdings;
mod item;
mod limits;
mod manual_page;
pub mod markdown;
mod part;
mod qr;
pub mod query;
mod question;
mod refusal;
mod reply;
mod robots;
mod script_words;
mod search;
mod settings;
mod span;
mod template;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod visitor;
mod widget_words;

pub use account::{AccountPage, SIGN_IN, SIGN_OUT, sign_in_path};
pub use agent_page::AgentPage;
pub use asset::Asset;
pub use branding::{Branding, FAVICON, WIDGET};
pub use colour::Palette;
pub use decision::{CardPanel, DecisionPage, DecisionStatus, DecisionVisitor, WalletPanel};
pub use embed::EmbedOrigins;
pub use error_page::ErrorPage;
pub use front::{AgentListItem, FrontPage};
pub use highlight::FUNCTION_WORDS;
pub use holdings::{HeldRow, HeldStatus, HoldingsOwner, HoldingsPage};
pub use item::CARD_KINDS;
pub use limits::{EARLIER_MAX, GROUP_RESULTS_SHOWN};
pub use manual_page::{ManualGroup, ManualLink, ManualPage};
pub use part::bytes_said;
pub use refusal::RefusalPage;
pub use reply::ReplyPage;
pub use search::{AskedAgent, GroupAnswer, GroupWriter, SearchAnswer, SearchPage, SeveralPage, questions_without};
pub use settings::PagesSettings;
pub use visitor::{ACCOUNT, Account};
pub use widget_words::widget_words;

/// Where the thumbs under the answers of the agent at `path` are sent.
pub fn feedback_path(path: &str) -> String {
    format!("{}/feedback", path.trim_end_matches('/'))
}

/// Where clicks on results of the agent at `path` are counted.
pub fn click_path(path: &str) -> String {
    format!("{}/click", path.trim_end_matches('/'))
}

/// How the pages of one deployment look, and who may embed its search box: `[pages]`.
#[derive(Debug)]
pub struct Pages {
    /// How they look.
    pub branding: Branding,
    /// Who may embed the search box.
    pub embed: EmbedOrigins,
    /// Whether the program's manual is among them.
    pub has_manual: bool,
}

impl Default for Pages {
    fn default() -> Self {
        Self { branding: Branding::default(), embed: EmbedOrigins::default(), has_manual: true }
    }
}
