//! Documents that others publish, where they are at hand: a folder named by `OPENAPI_DOCUMENTS`, else `openapi` of the
//! test data.

use std::path::PathBuf;

use forecourt_testkit::data;

use super::measured;

fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("OPENAPI_DOCUMENTS").map(PathBuf::from);
    given.or_else(|| data("openapi"))
}

#[tokio::test]
async fn s14_1_nearly_every_operation_of_published_documents_arrives_whole() {
    let Some(folder) = folder() else { return };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    for file in files {
        let document = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let figures = measured(&document).await;
        eprintln!("{}: {}", file.display(), figures.said());
        let is_nearly = |part: usize, all: usize, percent: usize| part * 100 >= all * percent;
        let faults = &figures.faults;
        assert!(is_nearly(figures.imported, figures.operations, 99), "imported: {faults:#?}");
        assert_eq!(figures.served, figures.imported, "served: {faults:#?}");
        assert!(is_nearly(figures.whole, figures.served, 98), "whole: {faults:#?}");
    }
}
