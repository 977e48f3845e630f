//! A real sentence transformer, against the cosines that its makers publish.

use std::path::PathBuf;

use forecourt_embed::{Kind, Model};

/// The folder of all-MiniLM-L6-v2: `FORECOURT_MINILM`. `None`, and a line that says so, without.
fn minilm() -> Option<Model> {
    let folder = std::env::var_os("FORECOURT_MINILM").map(PathBuf::from).unwrap_or_default();
    match folder.join("config.json").exists() {
        true => Some(Model::load(&folder).unwrap()),
        false => {
            eprintln!("skipped: no model (FORECOURT_MINILM)");
            None
        }
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn cosines_are_those_that_are_published() {
    let Some(model) = minilm() else { return };
    assert_eq!((model.kind(), model.dims()), (Kind::Contextual, 384));
    let texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."];
    let vectors: Vec<Vec<f32>> = model.embed_all(&texts).into_iter().map(Option::unwrap).collect();
    for (a, b, expected) in [(0, 0, 1.0), (0, 1, 0.6660), (0, 2, 0.1046), (1, 2, 0.1411)] {
        let found = cosine(&vectors[a], &vectors[b]);
        assert!((found - expected).abs() < 1e-4, "{a} and {b}: {found} instead of {expected}");
    }
}

#[test]
fn long_texts_are_read_up_to_the_models_bound() {
    let Some(model) = minilm() else { return };
    let text = |words: usize| "soup ".repeat(words) + "car";
    // Two of the 256 tokens frame the text.
    assert_ne!(model.embed(&text(253)), model.embed(&text(254)));
    assert_eq!(model.embed(&text(254)), model.embed(&text(1_000)));
    assert_eq!(model.embed("  \n"), None);
}
