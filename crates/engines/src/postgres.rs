//! PostgreSQL 15 or later as the engine of one agent: a table of documents, whose terms are a `tsvector` with a GIN index
//! and whose numbers are JSON.
//!
//! | file | holds |
//! |---|---|
//! | `terms.rs` | terms as lexemes |
//! | `statement.rs` | SQL with its parameters, and tests of documents as conditions |
//! | `table.rs` | the tables: made, looked at, written to |
//! | `find.rs` | candidates and counts |

mod find;
mod statement;
mod table;
mod terms;

use forecourt_core::StoreError;
use forecourt_retrieval::{
    Candidate, CandidateQuery, Candidates, Change, EngineState, Predicate, RetrievalError, Retriever, StoredEntry,
};
use forecourt_store::Database;

use crate::limits::{NAME_BYTES_MAX, POSTGRES_CONNECTIONS};
use crate::waiting::wait;
use table::Table;

/// A table of documents in a PostgreSQL.
pub struct PostgresEngine(Table);

impl PostgresEngine {
    /// The table `name`, which [`is_table_name`], in the database of a URL. Opens no connection.
    ///
    /// # Errors
    /// The URL is none; the error does not tell the password in it.
    pub fn new(url: &str, name: &str) -> Result<Self, RetrievalError> {
        let database = Database::new(url, POSTGRES_CONNECTIONS).map_err(failed)?;
        Ok(Self(Table::new(database, name)))
    }

    /// Where it is, without a name and a password.
    pub fn place(&self) -> String {
        format!("{} of {}", self.0.name, self.0.database.place())
    }
}

/// Whether a text can be the name of a table, and the beginning of the names of those beside it: small letters, digits and
/// `_`, a letter first.
pub fn is_table_name(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.len() <= NAME_BYTES_MAX
        && text.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
        && text.bytes().all(is_fine)
}

/// The error of the seam for one of the store.
fn failed(error: StoreError) -> RetrievalError {
    match error {
        StoreError::Unavailable(why) => RetrievalError::Unavailable(why),
        StoreError::Corrupt(why) => RetrievalError::Refused(why),
        other => RetrievalError::Unavailable(other.to_string()),
    }
}

/// What traces call it.
const SYSTEM: &str = "postgresql";

impl Retriever for PostgresEngine {
    fn state(&self) -> Result<EngineState, RetrievalError> {
        wait(SYSTEM, "state", self.0.state())
    }

    fn prepare(&self) -> Result<(), RetrievalError> {
        wait(SYSTEM, "prepare", self.0.prepare())
    }

    fn summary(&self) -> Result<Option<String>, RetrievalError> {
        wait(SYSTEM, "summary", self.0.summary())
    }

    fn items(&self) -> Result<u64, RetrievalError> {
        wait(SYSTEM, "items", self.0.items())
    }

    fn entries(&self, after: Option<u64>) -> Result<Vec<StoredEntry>, RetrievalError> {
        wait(SYSTEM, "entries", self.0.entries(after))
    }

    fn by_key(&self, keys: &[u64]) -> Result<Vec<Candidate>, RetrievalError> {
        wait(SYSTEM, "by_key", self.0.by_key(keys))
    }

    fn write(&self, changes: &[Change]) -> Result<(), RetrievalError> {
        wait(SYSTEM, "write", self.0.write(changes))
    }

    fn commit(&self, before: Option<&str>, summary: &str) -> Result<bool, RetrievalError> {
        wait(SYSTEM, "commit", self.0.commit(before, summary))
    }

    fn find(&self, query: &CandidateQuery) -> Result<Candidates, RetrievalError> {
        wait(SYSTEM, "find", self.0.find(query))
    }

    fn count(&self, limits: &Predicate, most: usize) -> Result<u64, RetrievalError> {
        wait(SYSTEM, "count", self.0.count(limits, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_need_no_quotation_marks() {
        assert!(is_table_name("shop_items") && is_table_name("a") && is_table_name(&"a".repeat(NAME_BYTES_MAX)));
        for name in ["", "1a", "Items", "a-b", "a;drop table b", "ä", &"a".repeat(NAME_BYTES_MAX + 1)] {
            assert!(!is_table_name(name), "{name}");
        }
    }

    #[test]
    fn no_refusal_tells_the_password() {
        let refused = PostgresEngine::new("mysql://a:secret@db/x", "items").map(drop).unwrap_err().to_string();
        assert!(refused.contains("postgres://") && !refused.contains("secret"), "{refused}");
        assert_eq!(PostgresEngine::new("postgres://a:secret@db:7/x", "items").unwrap().place(), "items of db:7/x");
    }
}
