//! Documents that others publish, where they are at hand: a folder named by `OPENAPI_DOCUMENTS`, else `openapi` of the
//! test data.

use std::path::PathBuf;

use super::{Figures, measured};
use crate::support::folder;

#[tokio::test]
async fn s14_1_nearly_every_operation_of_published_documents_arrives_whole() {
    let Some(folder) = folder() else { return };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    let (mut all, mut faults) = (Figures::default(), Vec::new());
    for file in files {
        let document = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let figures = measured(&document).await;
        eprintln!("{}: {}", file.display(), figures.said());
        all.operations += figures.operations;
        all.imported += figures.imported;
        all.served += figures.served;
        all.whole += figures.whole;
        faults.extend(figures.faults.iter().map(|fault| format!("{}: {fault}", file.display())));
    }
    eprintln!("all: {}; {faults:#?}", all.said());
    let is_nearly = |part: usize, whole: usize, per_mille: usize| part * 1000 >= whole * per_mille;
    assert!(is_nearly(all.imported, all.operations, 998), "imported: {faults:#?}");
    assert_eq!(all.served, all.imported, "served: {faults:#?}");
    assert!(is_nearly(all.whole, all.served, 990), "whole: {faults:#?}");
}
