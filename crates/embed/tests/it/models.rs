//! Small models of both kinds, and folders that hold none.

use std::fs;
use std::path::Path;

use forecourt_embed::limits::{LAYERS_MAX, TEXT_BYTES_MAX};
use forecourt_embed::{Kind, Model};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

const WORDS: [&str; 4] = ["[UNK]", "soup", "stew", "car"];

fn write_tokenizer(folder: &Path) {
    let vocab: Value = WORDS.iter().zip(0..).map(|(word, at)| ((*word).to_owned(), json!(at))).collect();
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
        "decoder": null, "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}});
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

fn write_weights(folder: &Path, tensors: &[(String, Vec<usize>, Vec<f32>)]) {
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|(_, _, values)| values.iter().flat_map(|value| value.to_le_bytes()).collect()).collect();
    let views = tensors
        .iter()
        .zip(&bytes)
        .map(|((name, shape, _), bytes)| (name.clone(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    fs::write(folder.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
}

/// Four words in three dimensions: `soup` and `stew` are close, `car` is not.
fn write_static(folder: &Path) {
    write_tokenizer(folder);
    let rows = vec![0.0, 0.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.2, 0.0, 0.0, 0.0, 1.0];
    write_weights(folder, &[("embeddings".to_owned(), vec![4, 3], rows)]);
}

/// One layer with two heads over the same words, of weights that are small and all different.
fn write_bert(folder: &Path, config: &Value) {
    write_tokenizer(folder);
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![4, 4]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![8, 4]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 4]),
    ];
    let norms = ["embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"];
    let dense = [
        ("attention.self.query", [4, 4]),
        ("attention.self.key", [4, 4]),
        ("attention.self.value", [4, 4]),
        ("attention.output.dense", [4, 4]),
        ("intermediate.dense", [6, 4]),
        ("output.dense", [4, 6]),
    ];
    for name in norms {
        shapes.extend(["weight", "bias"].map(|part| (format!("{name}.LayerNorm.{part}"), vec![4])));
    }
    for (name, [rows, columns]) in dense {
        shapes.push((format!("encoder.layer.0.{name}.weight"), vec![rows, columns]));
        shapes.push((format!("encoder.layer.0.{name}.bias"), vec![rows]));
    }
    let number = |seed: usize| ((seed * 37 + 11) % 101) as f32 / 101.0 - 0.5;
    let filled = shapes.into_iter().zip(0..).map(|((name, shape), at): ((_, Vec<usize>), usize)| {
        let values = (0..shape.iter().product()).map(|n: usize| number(at * 50 + n)).collect();
        (name, shape, values)
    });
    write_weights(folder, &filled.collect::<Vec<_>>());
}

fn config() -> Value {
    json!({"model_type": "bert", "hidden_size": 4, "intermediate_size": 6, "num_attention_heads": 2,
        "num_hidden_layers": 1, "max_position_embeddings": 8, "type_vocab_size": 2, "vocab_size": 4})
}

fn changed(key: &str, value: Value) -> Value {
    let mut config = config();
    config[key] = value;
    config
}

/// What is said about a folder that `write` fills.
fn refused(write: impl FnOnce(&Path)) -> String {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    Model::load(dir.path()).err().unwrap().to_string()
}

fn loaded(write: impl FnOnce(&Path)) -> Model {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    Model::load(dir.path()).unwrap()
}

fn cosine(model: &Model, a: &str, b: &str) -> f32 {
    model.embed(a).unwrap().iter().zip(model.embed(b).unwrap()).map(|(x, y)| x * y).sum()
}

#[test]
fn a_folder_without_a_model_says_what_is_missing() {
    assert!(refused(|_| {}).contains("there is no tokenizer.json"));
    assert!(refused(write_tokenizer).contains("there is no model.safetensors"));
    let broken = refused(|dir| {
        write_static(dir);
        fs::write(dir.join("model.safetensors"), b"oops").unwrap();
    });
    assert!(broken.contains("model.safetensors"), "{broken}");
    let two = refused(|dir| {
        write_static(dir);
        fs::rename(dir.join("tokenizer.json"), dir.join("a_tokenizer.json")).unwrap();
        fs::write(dir.join("b_tokenizer.json"), "{}").unwrap();
    });
    assert!(two.contains("several files"), "{two}");
}

#[test]
fn transformers_that_would_be_misread_are_refused() {
    for (key, value, said) in [
        ("model_type", json!("roberta"), "it takes \"bert\""),
        ("hidden_act", json!("relu"), "hidden_act"),
        ("position_embedding_type", json!("relative_key"), "position_embedding_type"),
        ("num_attention_heads", json!(3), "3 heads"),
        ("num_attention_heads", json!(0), "0 heads"),
        ("num_hidden_layers", json!(2), "there is no tensor encoder.layer.1"),
        ("num_hidden_layers", json!(LAYERS_MAX + 1), "layers"),
        ("max_position_embeddings", json!(2), "no places"),
        ("vocab_size", json!(5), "[4, 4] instead of [5, 4]"),
        ("hidden_size", json!("wide"), "config.json"),
    ] {
        let error = refused(|dir| write_bert(dir, &changed(key, value)));
        assert!(error.contains(said), "{key}: {error}");
    }
}

#[test]
fn static_texts_are_means_of_their_tokens() {
    let model = loaded(write_static);
    assert_eq!((model.kind(), model.dims()), (Kind::Static, 3));
    assert!(cosine(&model, "Soup", "stew") > 0.98 && cosine(&model, "soup", "car") < 0.01);
    assert_eq!(model.embed("soup car"), model.embed("car soup"));
    assert_eq!(model.embed("unknown words"), None);
    assert_eq!(model.embed(""), None);
    let late = |bytes: usize| model.embed(&format!("{}soup", " ".repeat(bytes)));
    assert!(late(TEXT_BYTES_MAX - 4).is_some() && late(TEXT_BYTES_MAX).is_none());
}

#[test]
fn a_transformer_reads_tokens_in_their_order_and_up_to_its_last_place() {
    let model = loaded(|dir| write_bert(dir, &config()));
    assert_eq!((model.kind(), model.dims()), (Kind::Contextual, 4));
    assert!((cosine(&model, "soup car", "soup car") - 1.0).abs() < 1e-6);
    assert_ne!(model.embed("soup car"), model.embed("car soup"));
    let text = |cars: usize| "soup ".repeat(7) + &"car ".repeat(cars);
    assert_ne!(model.embed(&text(0)), model.embed(&text(1)));
    assert_eq!(model.embed(&text(1)), model.embed(&text(9)));
    assert_eq!(model.embed(" "), None);
}

#[test]
fn the_files_beside_it_say_how_sentences_are_read() {
    let plain = loaded(|dir| write_bert(dir, &config()));
    let first = loaded(|dir| {
        write_bert(dir, &config());
        fs::create_dir(dir.join("1_Pooling")).unwrap();
        fs::write(dir.join("1_Pooling/config.json"), r#"{"pooling_mode_cls_token":true}"#).unwrap();
    });
    assert_ne!(plain.embed("soup car"), first.embed("soup car"));
    assert_ne!(plain.id(), first.id());
    let short = loaded(|dir| {
        write_bert(dir, &config());
        fs::write(dir.join("sentence_bert_config.json"), r#"{"max_seq_length":3}"#).unwrap();
    });
    assert_eq!(short.embed("soup car stew"), short.embed("soup car stew car"));
}

#[test]
fn many_texts_come_back_in_their_order() {
    let model = loaded(|dir| write_bert(dir, &config()));
    let texts: Vec<String> =
        (0..50).map(|n| if n % 7 == 0 { String::new() } else { "soup ".repeat(n % 6) + "car" }).collect();
    let one_by_one: Vec<_> = texts.iter().map(|text| model.embed(text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(model.embed_all(&texts), one_by_one);
    assert!(model.embed_all(&[]).is_empty());
}
