//! `forecourt ask`: one question to an agent anywhere, over the protocol that is asked for.

mod address_book;
mod words;

use std::sync::Arc;

use forecourt::registry::PROTOCOLS;
use forecourt_client::ask::{AskArguments, AskCall, AskClient, AskOptions};

use self::address_book::CardDirectory;
use crate::output::{Failure, Outcome};

/// Asks, and shows the answer.
pub(crate) async fn run(ask: AskArguments) -> Outcome {
    let client = clients().find(|client| client.name == ask.via);
    let options = client.map(|client| client.options).unwrap_or_default();
    // Before standard input is read: whoever has typed a question should not lose it to a wrong flag.
    if !ask.answers.is_empty() && !options.answers {
        return Err(misplaced("--answer", |options| options.answers));
    }
    if client.is_some() && ask.task.is_some() && !options.task {
        return Err(misplaced("--task", |options| options.task));
    }
    if ask.pay && !options.payment {
        return Err(misplaced("--pay", |options| options.payment));
    }
    if client.is_some() && !options.resumption && (ask.state.is_some() || ask.wait.is_some()) {
        let flag = if ask.state.is_some() { "--state" } else { "--wait" };
        return Err(misplaced(flag, |options| options.resumption));
    }
    let Some(client) = client else {
        let known = listed(clients().map(|client| format!("`{}`", client.name)));
        return Err(Failure::usage(format!("`--via {}` is not there; there are {known}", ask.via)));
    };
    let call = AskCall {
        arguments: words::complete(ask)?,
        addresses: Arc::new(CardDirectory { takes_domains: options.domain }),
        tools: clients().filter_map(|client| client.tool.as_ref()).collect(),
    };
    (client.run)(call).await
}

/// The protocols over which can be asked.
fn clients() -> impl Iterator<Item = &'static AskClient> {
    PROTOCOLS.iter().filter_map(|protocol| protocol.ask)
}

/// That a flag does not go with the chosen protocol, and with which it does.
fn misplaced(flag: &str, takes: fn(AskOptions) -> bool) -> Failure {
    let takers = clients().filter(|client| takes(client.options)).map(|client| format!("`--via {}`", client.name));
    Failure::usage(format!("`{flag}` goes with {}", listed(takers)))
}

/// Names in a sentence: `a, b and c`.
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_in_the_wrong_place_names_the_protocols_that_take_it() {
        let words = |flag, takes| format!("{:?}", misplaced(flag, takes));
        assert!(words("--pay", |options| options.payment).contains("`--pay` goes with `--via rest`"));
        let task = words("--task", |options| options.task);
        assert!(task.contains("`--task` goes with `--via a2a`, `--via nlweb` and `--via mcp`"), "{task}");
    }
}
