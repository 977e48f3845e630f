//! Documents that others publish, where they are at hand: a folder named by `OPENAPI_DOCUMENTS`, else `data/openapi`
//! beside the vectors.

use std::path::PathBuf;

use forecourt_testkit::vectors_dir;

use super::measured;

fn folder() -> PathBuf {
    let given = std::env::var_os("OPENAPI_DOCUMENTS").map(PathBuf::from);
    given.unwrap_or_else(|| vectors_dir().join("../data/openapi"))
}

#[tokio::test]
async fn s14_1_nearly_every_operation_of_published_documents_arrives_whole() {
    let folder = folder();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no documents at {}", folder.display());
        return;
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
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
