//! Tables that another part of the program has in a PostgreSQL: with the pool, the TLS and the deadlines of the store.

use forecourt_core::StoreError;
use futures::future::BoxFuture;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::connect::Connections;

/// A parameter of a statement, with its type: no statement is prepared, so that poolers between need to know of none.
pub type SqlParameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// A PostgreSQL. Connections are opened when they are needed.
pub struct Database(Connections);

impl Database {
    /// At most `connections` to `url`, which says by `sslmode` and `sslrootcert` how they are encrypted.
    ///
    /// # Errors
    /// The URL is none; the error does not tell the password in it.
    pub fn new(url: &str, connections: usize) -> Result<Self, StoreError> {
        Ok(Self(Connections::new(url, connections)?))
    }

    /// Where it is, without a name and a password.
    pub fn place(&self) -> &str {
        self.0.place()
    }

    /// Runs one statement, within [`crate::limits::POSTGRES_OPERATION_MAX`]. Where a connection is lost it is run once
    /// more: it must do no harm to run it twice.
    pub fn query<'a>(
        &'a self,
        sql: &'a str,
        parameters: &'a [SqlParameter<'a>],
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        Box::pin(self.0.query(sql, parameters))
    }
}
