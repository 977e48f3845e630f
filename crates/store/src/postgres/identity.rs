//! This module binds a database to a deployment and to a key: the first node that opens it writes both, and others must
//! have the same.

use forecourt_core::StoreError;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

use super::error::{is_conflict, to_store_error};
use crate::seal::{Label, Seal};
use crate::sealed::corrupt;

const CHECK: Label<'_> = Label { kind: "key", of: b"", part: b"" };

/// Fails when the database is another deployment's, or sealed with another key.
pub(super) async fn agree(client: &Client, seal: &Seal, deployment: &str) -> Result<(), StoreError> {
    let owner = first(client, "deployment", deployment.as_bytes().to_vec()).await?;
    if owner != deployment.as_bytes() {
        let owner = String::from_utf8_lossy(&owner);
        return Err(corrupt(format!(
            "the database belongs to the deployment `{owner}`, and this is `{deployment}`: each has a database of its own"
        )));
    }
    let check = first(client, "key", seal.seal_bytes(CHECK, b"")?).await?;
    seal.open_bytes(CHECK, check).map(drop).map_err(|_| {
        corrupt("the database is sealed with another key: all nodes of a deployment have the same one ([store] key)")
    })
}

/// Writes `value` under a name where there is none, and gives the value that is there now: the first node's.
async fn first(client: &Client, name: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    let fault = |error| to_store_error(&error);
    let insert = "INSERT INTO forecourt.meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let select = "SELECT value FROM forecourt.meta WHERE name = $1";
    let params = [(&name as &(dyn ToSql + Sync), Type::TEXT)];
    if let Some(row) = client.query_typed(select, &params).await.map_err(fault)?.first() {
        return row.try_get(0).map_err(fault);
    }
    match client.execute_typed(insert, &[(&name, Type::TEXT), (&value, Type::BYTEA)]).await {
        // Another node inserted it in between. Under a default of repeatable read that is an error, and not a conflict
        // to do nothing about.
        Err(error) if is_conflict(&error) => {}
        inserted => drop(inserted.map_err(fault)?),
    }
    let rows = client.query_typed(select, &params).await.map_err(fault)?;
    rows.first().ok_or_else(|| corrupt("the database forgets what it was told"))?.try_get(0).map_err(fault)
}
