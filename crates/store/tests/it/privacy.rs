//! What lies on the disk tells nobody who may not know.

use std::path::Path;

use forecourt_core::store::{Account, IfTaskEnded, LedgerEntry, TaskChange, WebhookRegistration};
use forecourt_core::{Event, Role, Store, Task, Turn};
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::store_suite::artifacts::artifact;
use forecourt_testkit::store_suite::{
    addition, after, chef, completed, outcome, some_task, some_thread, start, webhook,
};

/// Files that vanish meanwhile, as those of a log do, hold nothing.
fn contains(folder: &Path, needle: &str) -> bool {
    let found =
        |path: &Path| std::fs::read(path).unwrap_or_default().windows(needle.len()).any(|w| w == needle.as_bytes());
    std::fs::read_dir(folder).unwrap().any(|entry| found(&entry.unwrap().path()))
}

#[tokio::test]
async fn no_id_secret_or_word_is_written_in_the_clear() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&dir.path().join("forecourt.db"), SqliteOptions::default()).unwrap();
    let thread = some_thread();
    let task = Task {
        thread: Some(thread.clone()),
        owner: Some("owner-is-looked-up".to_owned()),
        turns: vec![Turn::text(Role::User, "word-in-request")],
        ..some_task()
    };
    store.create_task(task.clone(), Vec::new()).await.unwrap();
    store.append_events(&task.id, "run-1", 1, vec![Event::Text("word-in-event".to_owned())]).await.unwrap();
    let named = forecourt_core::store::StoredArtifact {
        name: Some("word-in-name".to_owned()),
        ..artifact("artifact-id-of-the-task", "word-in-artifact")
    };
    store.put_artifact(&task.id, "run-1", named).await.unwrap();
    let mut hook = webhook("https://example.com/?word-in-url");
    hook.details.insert("word-in-details".to_owned(), "word-in-details".into());
    assert_eq!(store.add_webhook(&task.id, hook, 1, IfTaskEnded::Refuse).await.unwrap(), WebhookRegistration::Yes);
    store.set_route(&thread, &chef(), after(60), &Account::HOST).await.unwrap();
    let change = TaskChange { outcome: Some(outcome("word-in-outcome")), ..completed() };
    store.advance_task(&task.id, change).await.unwrap();
    let turns = vec![Turn::text(Role::User, "word-in-turn")];
    store.append_turns(&thread, &chef(), addition(turns, 10, after(60))).await.unwrap();
    let entry = LedgerEntry::new("word-in-entry".into(), start());
    store.append_entry("stream-is-hashed", entry, None).await.unwrap();
    store.claim_once("state-token-of-a-page", start(), after(60)).await.unwrap();

    // Twice: as it lies in the log, and as it lies in the database.
    for _ in 0..2 {
        let secrets = [
            task.id.expose(),
            thread.expose(),
            "s3cret",
            "example.com",
            "word-in-",
            "artifact-id",
            "state-token",
            "stream-is",
        ];
        for secret in secrets {
            assert!(!contains(dir.path(), secret), "{secret}");
        }
        assert!(contains(dir.path(), "owner-is-looked-up"), "the search itself does not work");
        store.close().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn every_file_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("data");
    let store = Sqlite::open(&folder.join("forecourt.db"), SqliteOptions::default()).unwrap();
    store.create_task(some_task(), Vec::new()).await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}
