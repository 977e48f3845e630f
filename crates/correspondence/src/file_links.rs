//! Links to files that can't be sent where the answer goes: each opens one file of one answer, for whoever has it, until
//! the task of the answer is over. Nothing else of the task can be read with it. Mentionable REST 3.2.1.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::store::StoredArtifact;
use forecourt_core::{Error, Sender, Task, TaskId};
use forecourt_host::{Host, Ledger, TaskAccess};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::letter::{Address, Letter};

/// Hexadecimal digits of a token: 256 bits.
const TOKEN_DIGITS: usize = 64;

/// What a link opens, as it is kept.
#[derive(Serialize, Deserialize)]
struct FileLink {
    task: String,
    file: String,
    sender: Sender,
    /// What all letters of the question have in common.
    origin: String,
}

/// A file that a link opens.
pub struct LinkedFile {
    /// The file.
    pub file: StoredArtifact,
    /// What all letters of its question have in common: [`Letter::origin`].
    pub origin: String,
}

/// The links of one protocol.
pub struct FileLinks<'a> {
    host: &'a Host,
    ledger: Ledger,
}

impl<'a> FileLinks<'a> {
    /// Those of a protocol, which serves them at a path of its own.
    pub fn of(host: &'a Host, protocol: &'static str) -> Self {
        Self { host, ledger: host.ledger(protocol) }
    }

    /// A link to the file of this id among those that are kept with the task of an answer: its token, the same each time.
    ///
    /// # Errors
    /// The store does not take it.
    pub fn make<'b, A: Address>(
        &'b self,
        letter: &'b Letter<A>,
        task: &'b Task,
        file: &'b str,
    ) -> BoxFuture<'b, Result<String, Error>> {
        let kept = FileLink {
            task: task.id.expose().to_owned(),
            file: file.to_owned(),
            sender: letter.sender.clone(),
            origin: letter.origin().to_owned(),
        };
        self.keep(kept, task)
    }

    fn keep<'b>(&'b self, link: FileLink, task: &'b Task) -> BoxFuture<'b, Result<String, Error>> {
        Box::pin(async move {
            // Nobody who was not told it finds it, since the id of the task is as long as it; and it does not tell that.
            let token = hash(&format!("file-link\0{}\0{}\0{}", link.task, link.origin, link.file));
            let account = link.sender.account();
            let body = serde_json::to_value(link).map_err(Error::internal)?;
            self.ledger.append_on(account, &stream(&token), body, Some(task.expires_at), Some(0)).await?;
            Ok(token)
        })
    }

    /// The file that the link of this token opens. `None`: there is none, or not any more.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn find<'b>(&'b self, token: &'b str) -> BoxFuture<'b, Result<Option<LinkedFile>, Error>> {
        Box::pin(async move {
            if token.len() != TOKEN_DIGITS || !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Ok(None);
            }
            let entry = self.ledger.last(&stream(token)).await?;
            let link = entry.and_then(|(_, entry)| serde_json::from_value::<FileLink>(entry.body).ok());
            let Some(link) = link else { return Ok(None) };
            let Some(id) = TaskId::parse(&link.task) else { return Ok(None) };
            let found = async {
                let permit = self.host.task(&id, TaskAccess::As(&link.sender)).await?;
                permit.artifact(&link.file).await
            };
            match found.await {
                Ok(file) => Ok(Some(LinkedFile { file, origin: link.origin })),
                Err(Error::NotFound { .. } | Error::Gone { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }
}

fn hash(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// Tokens are capabilities: the store knows their hashes alone.
fn stream(token: &str) -> String {
    format!("file:{}", hash(token))
}
