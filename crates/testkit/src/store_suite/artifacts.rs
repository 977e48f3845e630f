//! Artifacts: of one task, written once, bounded.

use bytes::Bytes;
use forecourt_core::limits::ARTIFACT_BYTES_MAX;
use forecourt_core::store::StoredArtifact;

use super::*;

/// An artifact of this id and these bytes.
pub fn artifact(id: &str, bytes: impl Into<Bytes>) -> StoredArtifact {
    StoredArtifact {
        id: id.to_owned(),
        mime: "image/png".to_owned(),
        name: Some("plot.png".to_owned()),
        bytes: bytes.into(),
    }
}

/// An unknown artifact is not found, under a task that exists or under none.
pub async fn an_unknown_artifact_is_not_found(store: Fresh) {
    let id = created(&store, some_task()).await;
    assert_eq!(store.artifact(&id, "a", start()).await.unwrap(), None);
    store.put_artifact(&some_task().id, "run-1", artifact("a", "x")).await.unwrap();
    assert_eq!(store.artifact(&some_task().id, "a", start()).await.unwrap(), None);
}

/// An artifact is found under its own task only: the query has both ids.
pub async fn tok_task_cross_an_artifact_belongs_to_its_task(store: Fresh) {
    let (one, other) = (created(&store, some_task()).await, created(&store, some_task()).await);
    store.put_artifact(&one, "run-1", artifact("a", "x")).await.unwrap();
    assert_eq!(store.artifact(&one, "a", start()).await.unwrap(), Some(artifact("a", "x")));
    assert_eq!(store.artifact(&other, "a", start()).await.unwrap(), None);
    store.put_artifact(&other, "run-1", artifact("a", "y")).await.unwrap();
    assert_eq!(store.artifact(&other, "a", start()).await.unwrap(), Some(artifact("a", "y")));
}

/// The first artifact of an id stays: a second one of that id changes nothing.
pub async fn the_first_artifact_of_an_id_stays(store: Fresh) {
    let id = created(&store, some_task()).await;
    store.put_artifact(&id, "run-1", artifact("a", "first")).await.unwrap();
    store.put_artifact(&id, "run-1", artifact("a", "second")).await.unwrap();
    assert_eq!(store.artifact(&id, "a", start()).await.unwrap().unwrap().bytes, "first");
}

/// An artifact expires with its task.
pub async fn an_artifact_expires_with_its_task(store: Fresh) {
    let task = some_task();
    let end = task.expires_at;
    let id = created(&store, task).await;
    store.put_artifact(&id, "run-1", artifact("a", "x")).await.unwrap();
    assert_eq!(store.artifact(&id, "a", end).await.unwrap(), None);
}

/// An artifact of the largest size is taken, and one of a byte more is refused.
pub async fn an_artifact_has_a_bounded_size(store: Fresh) {
    let id = created(&store, some_task()).await;
    let most = artifact("most", vec![7; ARTIFACT_BYTES_MAX]);
    store.put_artifact(&id, "run-1", most.clone()).await.unwrap();
    assert!(store.artifact(&id, "most", start()).await.unwrap() == Some(most));
    let over = artifact("over", vec![7; ARTIFACT_BYTES_MAX + 1]);
    assert!(is_unavailable(&store.put_artifact(&id, "run-1", over).await));
    assert_eq!(store.artifact(&id, "over", start()).await.unwrap(), None);
}
