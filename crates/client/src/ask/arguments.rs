//! What can be typed behind `forecourt ask`.

use std::path::PathBuf;

use clap::Args;
use http::HeaderValue;
use url::Url;

use crate::network::{Trust, is_here};
use crate::output::{Failure, Outcome};

/// Seconds that `--wait` may name: a day, after which no decision is open any more.
const WAIT_SECONDS_MAX: u64 = 24 * 60 * 60;

/// What was typed behind `ask`. The words of its fields are those of `--help`.
#[derive(Debug, Clone, Args)]
pub struct AskArguments {
    /// An address such as @chef@demo.localhost (a port may follow), or the URL of an endpoint. Over
    /// the other protocols also a domain, which decides who answers, and over a2a the URL of a card.
    pub agent: String,
    /// What to say. Several words are one message; `-`, or nothing, reads it from standard input.
    pub text: Vec<String>,
    /// Answer one of the questions that the agent asked, by its name or its words; may be repeated, for
    /// several choices too. Over rest.
    #[arg(long = "answer", value_name = "NAME=VALUE")]
    pub answers: Vec<String>,
    /// Attach a file; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Go on with this task, printed when it began: without words to hear the rest or its result,
    /// with words to answer its question. Over a2a; over nlweb and mcp the token of a promise, without
    /// words.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub task: Option<String>,
    /// Continue the conversation of this token, printed at the end of an earlier answer.
    #[arg(long, allow_hyphen_values = true)]
    pub session: Option<String>,
    /// Go on after a refusal that asked for a consent or a payment: with its state, once that is done on
    /// the host's page. Without words the question that was refused is answered. Over rest.
    #[arg(long, allow_hyphen_values = true)]
    pub state: Option<String>,
    /// Where a consent or a payment is wanted first, wait until that is done on the host's page, for
    /// this many seconds at most, and go on. A person at a terminal is waited for without it. Over rest.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "600",
          value_parser = clap::value_parser!(u64).range(1..=WAIT_SECONDS_MAX))]
    pub wait: Option<u64>,
    /// The language to answer in, such as `de`.
    #[arg(long)]
    pub lang: Option<String>,
    /// Print the whole answer as one JSON object, without streaming. Over a2a: what comes as it
    /// comes, one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Send this bearer token.
    #[arg(long, env = "FORECOURT_TOKEN", hide_env_values = true, allow_hyphen_values = true)]
    pub token: Option<String>,
    /// Over which protocol: rest, a2a, nlweb or mcp.
    #[arg(long, default_value = "rest")]
    pub via: String,
    /// Pay, if the agent wants to be paid: shows what, to whom and for what, and asks before it signs. With the
    /// private key in the variable FORECOURT_WALLET_KEY. Over rest.
    #[arg(long)]
    pub pay: bool,
    /// Never pay more than this at once, such as `0.10 USDC` or `$0.10`; of any token, `50000 units`.
    #[arg(long, value_name = "PRICE", requires = "pay")]
    pub pay_max: Option<String>,
    /// Pay up to `--pay-max` without being asked.
    #[arg(long, requires = "pay_max")]
    pub yes: bool,
    /// The data folder whose local authority is trusted for names under .localhost.
    #[arg(long, env = "FORECOURT_DATA_DIR")]
    pub data: Option<PathBuf>,
    /// Trust the authorities in this PEM file too.
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Trust any certificate. For a try on one's own machine: whoever stands between reads everything.
    #[arg(long)]
    pub insecure: bool,
}

impl AskArguments {
    /// The authorities that the flags `--data`, `--cacert` and `--insecure` name.
    pub fn trust(&self) -> Trust<'_> {
        Trust { data: self.data.as_deref(), cacert: self.cacert.as_deref(), insecure: self.insecure }
    }

    /// Who asks, if they say: the value of `Authorization`.
    ///
    /// # Errors
    /// The token can't stand in a header.
    pub fn authorization(&self) -> Result<Option<HeaderValue>, Failure> {
        let Some(token) = &self.token else { return Ok(None) };
        let mut value = header_value("--token", &format!("Bearer {token}"))?;
        // A sensitive value is not printed with its headers.
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// The language to answer in: the value of `Accept-Language`.
    ///
    /// # Errors
    /// It can't stand in a header.
    pub fn accept_language(&self) -> Result<Option<HeaderValue>, Failure> {
        self.lang.as_deref().map(|language| header_value("--lang", language)).transpose()
    }

    /// A token over plain HTTP goes to this machine and no further.
    ///
    /// # Errors
    /// There is a token, and `endpoint` is plain HTTP elsewhere.
    pub fn check_token(&self, endpoint: &Url) -> Outcome {
        match self.token.is_some() && endpoint.scheme() == "http" && !is_here(endpoint) {
            true => Err(Failure::usage("a token is not sent over plain HTTP").hint("use the https URL")),
            false => Ok(()),
        }
    }
}

/// The value of a header. The failure names `what` and never shows the value, which may be a secret.
///
/// # Errors
/// `text` can't stand in a header.
pub fn header_value(what: &str, text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|_| Failure::usage(format!("{what} can't be sent as it is")))
}
