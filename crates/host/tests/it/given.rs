//! What an agent is given of a message: its words without the mention, and files that are named by their address.

use std::sync::Arc;

use forecourt_core::agent::AddressedFiles;
use forecourt_core::{Admitted, Agent, Error, EventStream, File, FileSource, Message, Part};
use forecourt_egress::EgressConfig;
use forecourt_host::Run;
use forecourt_testkit::ScriptedAgent;

use crate::support::{Setup, message};

/// An agent that is given addressed files in one of the ways.
struct Given(Arc<ScriptedAgent>, AddressedFiles);

impl Agent for Given {
    fn handle(&self, admitted: Admitted) -> EventStream {
        self.0.handle(admitted)
    }

    fn addressed_files(&self) -> AddressedFiles {
        self.1
    }
}

/// What the agent hears of a message with a file at `url`.
async fn heard(files: AddressedFiles, url: &str, name: Option<&str>) -> Result<Message, Error> {
    let agent = ScriptedAgent::saying(["x"]);
    // Nothing is reachable, and plain http on this machine may be tried.
    let egress = EgressConfig { allow: vec!["127.0.0.0/8".parse().unwrap()], allow_http: true, ..Default::default() };
    let host = Setup { egress, ..Setup::default() }.host(Arc::new(Given(agent.clone(), files))).await;
    let source = FileSource::Url { url: url.to_owned(), expires_at: None };
    let file = File { id: None, name: name.map(str::to_owned), mime: "a/b".into(), size_bytes: None, source };
    let mut asked = message("see");
    asked.parts.push(Part::File(file));
    host.receive(asked, Run::without_task()).await?.collect().await;
    Ok(agent.heard().remove(0))
}

#[tokio::test]
async fn a_file_is_passed_by_its_address_where_it_can_not_or_need_not_be_fetched() {
    let nobody = "http://127.0.0.1:9/menu.pdf";
    for files in [AddressedFiles::FetchedIfReachable, AddressedFiles::Passed] {
        let given = heard(files, nobody, None).await.unwrap();
        assert!(
            matches!(&given.parts[1], Part::File(File { source: FileSource::Url { url, .. }, .. }) if url == nobody)
        );
    }
    for (name, called) in [(Some("Menu"), "`Menu`"), (None, "`menu.pdf`")] {
        let error = heard(AddressedFiles::Fetched, nobody, name).await.unwrap_err();
        assert_eq!(error.to_string(), format!("attachments: {called} could not be fetched from its address"));
    }
    let error = heard(AddressedFiles::Fetched, "http://127.0.0.1:9/", None).await.unwrap_err();
    assert_eq!(error.to_string(), "attachments: number 1 could not be fetched from its address");
}

#[tokio::test]
async fn s5_4_an_address_where_nobody_may_be_sent_is_passed_to_nobody() {
    for files in [AddressedFiles::Fetched, AddressedFiles::FetchedIfReachable, AddressedFiles::Passed] {
        for url in ["https://10.0.0.1/secret", "https://[fd00::1]/secret", "ftp://files.example/secret"] {
            let error = heard(files, url, None).await.unwrap_err();
            assert_eq!(error.to_string(), "attachments: `secret` could not be fetched from its address", "{files:?}");
        }
    }
}

#[tokio::test]
async fn every_agent_is_given_its_words_without_its_mention() {
    let agent = ScriptedAgent::saying(["x"]);
    let host = Setup::default().host(agent.clone()).await;
    for said in ["@bot a soup", "@bot@demo.localhost: a soup", "a soup", "@other a soup", "@bot", "a soup, @bot"] {
        host.receive(message(said), Run::without_task()).await.unwrap().collect().await;
    }
    let words: Vec<String> = agent.heard().iter().map(Message::text).collect();
    assert_eq!(words, ["a soup", "a soup", "a soup", "@other a soup", "@bot", "a soup, @bot"]);
    // Beside something else, words that only mention are no part of their own.
    let mut with_file = message("@bot");
    with_file.parts.push(Part::File(File::inline("a/b", None, "x".into())));
    host.receive(with_file, Run::without_task()).await.unwrap().collect().await;
    let last = agent.heard().pop().unwrap();
    assert_eq!((last.text().as_str(), last.parts.len()), ("", 1));
}
