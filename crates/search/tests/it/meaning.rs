//! `search` by meaning: what the vectors of an index need.

use std::path::Path;

use forecourt_agents::EmbeddingProgress;
use serde_json::json;

use crate::support::{ask, build, in_folder};

const SETTINGS: &str = "[backend]\nkind = \"search\"\ncontent = [\"a.jsonl\"]\nitem_label = \"dishes\"\n\
                        model_dir = \"model\"\n";

/// A static model that holds soup for stew.
fn write_model(folder: &Path) {
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "soup": 1, "stew": 2}, "unk_token": "[UNK]"}});
    let head = json!({"rows": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}}).to_string();
    let rows = [0.0_f32, 0.0, 1.0, 0.1, 1.0, 0.2].map(f32::to_le_bytes);
    let weights = [&(head.len() as u64).to_le_bytes(), head.as_bytes(), rows.as_flattened()].concat();
    std::fs::create_dir(folder).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.join("model.safetensors"), weights).unwrap();
}

#[tokio::test]
async fn meaning_follows_words_and_is_made_again_when_it_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    write_model(&folder.path().join("model"));
    std::fs::write(folder.path().join("a.jsonl"), "{\"name\": \"Stew\", \"url\": \"https://e.example/\"}\n").unwrap();
    let context = in_folder(folder.path());
    for _ in 0..2 {
        let built = build(SETTINGS, &context);
        let indexing = built.indexing.clone().unwrap();
        indexing.index(&mut |_| {}).unwrap();
        assert!(indexing.is_current(indexing.fingerprint().unwrap()));
        assert_eq!(indexing.embedding(), Some(EmbeddingProgress { embedded: 0, missing: 1 }));
        assert!(ask(&built, "stew").await.text().contains("Stew"), "its word is known at once");
        assert!(!ask(&built, "soup").await.text().contains("Stew"));
        let mut told = Vec::new();
        indexing.embed(&mut |progress| told.push(progress.percent()), &|| false).unwrap();
        assert_eq!(told, [0, 100]);
        assert!(ask(&built, "soup").await.text().contains("Stew"));
        drop((built, indexing));
        std::fs::remove_dir_all(context.data_dir.join("index/agent/vectors")).unwrap();
    }
}
