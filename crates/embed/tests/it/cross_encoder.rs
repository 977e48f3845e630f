//! A tiny cross-encoder, held against numbers that an implementation in another language (Python, numpy, 64 bits)
//! gave for the same weights.

use std::fs;
use std::path::Path;

use forecourt_embed::CrossEncoder;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

const WORDS: [&str; 4] = ["[UNK]", "soup", "stew", "car"];

/// The tensors of a BERT of one layer with two heads, in the order in which they are filled.
fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![4, 4]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![8, 4]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 4]),
    ];
    for name in ["embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"] {
        shapes.extend(["weight", "bias"].map(|part| (format!("{name}.LayerNorm.{part}"), vec![4])));
    }
    let dense = [
        ("encoder.layer.0.attention.self.query", [4, 4]),
        ("encoder.layer.0.attention.self.key", [4, 4]),
        ("encoder.layer.0.attention.self.value", [4, 4]),
        ("encoder.layer.0.attention.output.dense", [4, 4]),
        ("encoder.layer.0.intermediate.dense", [6, 4]),
        ("encoder.layer.0.output.dense", [4, 6]),
        ("pooler.dense", [4, 4]),
        ("classifier", [1, 4]),
    ];
    for (name, [rows, columns]) in dense {
        shapes.push((format!("{name}.weight"), vec![rows, columns]));
        shapes.push((format!("{name}.bias"), vec![rows]));
    }
    shapes
}

fn write(folder: &Path, left_out: &str) {
    let vocab: Value = WORDS.iter().zip(0..).map(|(word, at)| ((*word).to_owned(), json!(at))).collect();
    let (first, second) =
        (json!({"Sequence": {"id": "A", "type_id": 0}}), json!({"Sequence": {"id": "B", "type_id": 1}}));
    let sentences = json!({"type": "TemplateProcessing", "single": [first], "pair": [first, second],
        "special_tokens": {}});
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": sentences,
        "decoder": null, "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}});
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let config = json!({"model_type": "bert", "hidden_size": 4, "intermediate_size": 6, "num_attention_heads": 2,
        "num_hidden_layers": 1, "max_position_embeddings": 8, "type_vocab_size": 2, "vocab_size": 4});
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let number = |seed: usize| ((seed * 37 + 11) % 101) as f32 / 101.0 - 0.5;
    let filled: Vec<(String, Vec<usize>, Vec<u8>)> = (0..)
        .zip(shapes())
        .map(|(at, (name, shape)): (usize, _)| {
            let count: usize = shape.iter().product();
            (name, shape, (0..count).flat_map(|n| number(at * 50 + n).to_le_bytes()).collect())
        })
        .collect();
    let views = filled
        .iter()
        .filter(|(name, ..)| !name.starts_with(left_out))
        .map(|(name, shape, bytes)| (name.clone(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    fs::write(folder.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
}

fn loaded(left_out: &str) -> Result<CrossEncoder, String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), left_out);
    CrossEncoder::load(folder.path()).map_err(|error| error.to_string())
}

#[test]
fn scores_are_those_of_the_reference() {
    let model = loaded("nothing").unwrap();
    for (question, text, expected) in [
        ("soup", "stew", -0.166_248_25),
        ("soup", "car", -0.166_183_84),
        ("soup car", "stew stew soup", -0.166_308_93),
        ("car", "soup stew car unknown", -0.166_338),
    ] {
        let score = model.score(question, text).unwrap();
        assert!((score - expected).abs() < 2e-6, "{question} / {text}: {score} instead of {expected}");
    }
}

#[test]
fn nothing_has_no_score_and_what_is_late_has_none() {
    let model = loaded("nothing").unwrap();
    assert_eq!((model.score("", "soup"), model.score("soup", " ")), (None, None));
    let texts = ["stew".to_owned(), String::new(), "car".to_owned()];
    let all = model.score_all("soup", &texts, &|| false);
    assert_eq!(all, [model.score("soup", "stew"), None, model.score("soup", "car")]);
    assert_eq!(model.score_all("soup", &texts, &|| true), [None, None, None]);
    assert!(model.score_all("soup", &[], &|| false).is_empty());
}

#[test]
fn an_encoder_without_a_classifier_is_refused_and_one_without_a_pooler_is_not() {
    let refused = loaded("classifier").err().unwrap();
    assert!(refused.contains("a classifier with one label"), "{refused}");
    assert!(loaded("pooler").unwrap().score("soup", "stew").is_some());
}
