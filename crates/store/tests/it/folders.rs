//! Data folders that earlier versions wrote, kept as they were: every later version opens them.

use std::fs;
use std::path::{Path, PathBuf};

use forecourt_core::{Event, Store, TaskId};
use forecourt_store::{SCHEMA_VERSION, Sqlite, SqliteOptions, schema_version};
use forecourt_testkit::store_suite::start;

/// The folders that are kept, by the schema that each has. `task` in them names the task that is in the store.
fn kept() -> Vec<(usize, PathBuf)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let of = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name.strip_prefix("schema-")?.parse().ok()?, entry.path()))
    };
    let mut kept: Vec<_> = fs::read_dir(data).unwrap().map(Result::unwrap).filter_map(of).collect();
    kept.sort();
    kept
}

#[test]
fn a_folder_of_this_schema_is_kept_for_the_next_one() {
    assert_eq!(
        kept().last().map(|(schema, _)| *schema),
        Some(SCHEMA_VERSION),
        "keep one before there is another schema"
    );
}

#[tokio::test]
async fn what_an_earlier_version_kept_is_read_and_goes_on() {
    for (schema, folder) in kept() {
        let copy = tempfile::tempdir().unwrap();
        for name in ["forecourt.db", "store.key"] {
            fs::copy(folder.join(name), copy.path().join(name)).unwrap();
        }
        let database = copy.path().join("forecourt.db");
        assert_eq!(schema_version(&database).unwrap(), schema);
        let store = Sqlite::open(&database, SqliteOptions::default()).unwrap();
        assert_eq!(schema_version(&database).unwrap(), SCHEMA_VERSION);
        let task = TaskId::parse(&fs::read_to_string(folder.join("task")).unwrap()).unwrap();
        let found = store.task(&task, start()).await.unwrap().expect("its task");
        let events = store.events(&task, 0, 10).await.unwrap();
        assert_eq!(events, [(1, Event::Text(format!("kept since version {schema}")))]);
        store.append_events(&task, &found.run, 2, vec![Event::Text("and on".to_owned())]).await.unwrap();
        assert_eq!(store.last_event(&task).await.unwrap(), 2, "schema {schema}");
    }
}
