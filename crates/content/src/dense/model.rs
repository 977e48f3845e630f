//! A static embedding model: a tokenizer and a matrix with a row per token. A text is the mean of
//! its tokens' rows.

use std::fs;
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use tokenizers::Tokenizer;

use crate::error::{Error, Result};
use crate::item::hash;
use crate::limits::{EMBED_BYTES_MAX, MODEL_BYTES_MAX};

/// A loaded model.
pub(crate) struct Model {
    tokenizer: Tokenizer,
    /// The rows as they lie in the file, little-endian.
    rows: Vec<u8>,
    half: bool,
    dims: usize,
    /// Names the vectors that this model makes.
    pub(crate) id: u64,
}

impl Model {
    /// Reads a folder with one tokenizer (`tokenizer.json`, or one `*tokenizer*.json`) and one
    /// `*.safetensors` with a two-dimensional tensor of f16 or f32.
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let files = list(folder)?;
        let tokenizer_file = the_one(folder, &files, "tokenizer.json", is_tokenizer)?;
        let weights_file = the_one(folder, &files, "model.safetensors", is_weights)?;
        let tokenizer_bytes = read(tokenizer_file)?;
        let mut tokenizer = Tokenizer::from_bytes(&tokenizer_bytes).map_err(|error| unusable(tokenizer_file, error))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| unusable(tokenizer_file, error))?;
        let weights = read(weights_file)?;
        let id = hash(&[&tokenizer_bytes, &weights]);
        let (rows, half, dims) = matrix(weights).map_err(|reason| unusable(weights_file, reason))?;
        Ok(Self { tokenizer, rows, half, dims, id })
    }

    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// The vector of a text, of length 1; reads at most [`EMBED_BYTES_MAX`] of it. `None` when
    /// there is nothing in it.
    pub(crate) fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let mut end = text.len().min(EMBED_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let tokens = self.tokenizer.encode_fast(&text[..end], false).ok()?;
        let mut sum = vec![0.0; self.dims];
        tokens.get_ids().iter().for_each(|token| self.add_row(*token as usize, &mut sum));
        normalize(&mut sum).then_some(sum)
    }

    fn add_row(&self, token: usize, sum: &mut [f32]) {
        let width = if self.half { 2 } else { 4 };
        let start = token * self.dims * width;
        let Some(row) = self.rows.get(start..start + self.dims * width) else { return };
        match self.half {
            true => row.as_chunks().0.iter().zip(sum).for_each(|(bytes, sum)| *sum += half_to_float(*bytes)),
            false => row.as_chunks().0.iter().zip(sum).for_each(|(bytes, sum)| *sum += f32::from_le_bytes(*bytes)),
        }
    }
}

/// Brings a vector to length 1. `false` when it has none.
fn normalize(vector: &mut [f32]) -> bool {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_finite() || length == 0.0 {
        return false;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    true
}

/// IEEE 754 binary16.
fn half_to_float(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (sign, exponent, fraction) = ((bits & 0x8000) << 16, (bits >> 10) & 0x1F, bits & 0x3FF);
    match exponent {
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        0x1F => f32::from_bits(sign | 0x7F80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

fn matrix(mut file: Vec<u8>) -> Result<(Vec<u8>, bool, usize), String> {
    let (start, length, half, dims) = {
        let tensors = SafeTensors::deserialize(&file).map_err(|error| error.to_string())?;
        if tensors.names().contains(&"mapping") {
            return Err("a model with a token mapping; export it without".to_owned());
        }
        let (_, tensor) = tensors
            .iter()
            .find(|(_, tensor)| tensor.shape().len() == 2 && matches!(tensor.dtype(), Dtype::F16 | Dtype::F32))
            .ok_or("no two-dimensional tensor of f16 or f32")?;
        let start = tensor.data().as_ptr() as usize - file.as_ptr() as usize;
        (start, tensor.data().len(), tensor.dtype() == Dtype::F16, tensor.shape()[1])
    };
    if dims == 0 || dims > u16::MAX.into() {
        return Err(format!("rows of {dims} dimensions"));
    }
    file.truncate(start + length);
    file.drain(..start);
    Ok((file, half, dims))
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| unusable(folder, error))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn is_tokenizer(name: &str) -> bool {
    name.ends_with(".json") && name.contains("tokenizer") && name != "tokenizer_config.json"
}

fn is_weights(name: &str) -> bool {
    name.ends_with(".safetensors")
}

/// The file of the usual name, else the only one of its kind.
fn the_one<'f>(folder: &Path, files: &'f [PathBuf], usual: &str, kind: fn(&str) -> bool) -> Result<&'f PathBuf> {
    let name = |file: &PathBuf| file.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    if let Some(file) = files.iter().find(|file| name(file) == usual) {
        return Ok(file);
    }
    let all: Vec<&PathBuf> = files.iter().filter(|file| kind(&name(file))).collect();
    match all.as_slice() {
        [file] => Ok(file),
        [] => Err(unusable(folder, format!("there is no {usual}"))),
        _ => Err(unusable(folder, format!("there are several files for {usual}; name one of them so"))),
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let bytes = fs::metadata(file).map_err(|error| unusable(file, error))?.len();
    if bytes > MODEL_BYTES_MAX {
        return Err(unusable(file, format!("more than {MODEL_BYTES_MAX} bytes")));
    }
    fs::read(file).map_err(|error| unusable(file, error))
}

fn unusable(path: &Path, reason: impl ToString) -> Error {
    Error::Model { path: path.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A model of four words in three dimensions: `soup` and `stew` are close, `car` is not.
    pub(crate) fn write_toy(folder: &Path) {
        let tokenizer = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],
            "normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
            "model":{"type":"WordLevel","vocab":{"[UNK]":0,"soup":1,"stew":2,"car":3},"unk_token":"[UNK]"}}"#;
        fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
        let rows: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.2, 0.0, 0.0, 0.0, 1.0];
        let data: Vec<u8> = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
        let view = safetensors::tensor::TensorView::new(Dtype::F32, vec![4, 3], &data).unwrap();
        fs::write(folder.join("model.safetensors"), safetensors::serialize([("embeddings", view)], None).unwrap())
            .unwrap();
    }

    #[test]
    fn texts_are_means_of_their_tokens() {
        let dir = tempfile::tempdir().unwrap();
        write_toy(dir.path());
        let model = Model::load(dir.path()).unwrap();
        let dot = |a: &str, b: &str| -> f32 {
            model.embed(a).unwrap().iter().zip(model.embed(b).unwrap()).map(|(x, y)| x * y).sum()
        };
        assert!(dot("Soup", "stew") > 0.98 && dot("soup", "car") < 0.01);
        assert!((dot("soup car", "soup car") - 1.0).abs() < 1e-6);
        assert_eq!(model.embed("unknown words"), None);
        assert_eq!(model.embed(""), None);
        let late = |bytes: usize| model.embed(&format!("{}soup", " ".repeat(bytes)));
        assert!(late(EMBED_BYTES_MAX - 4).is_some() && late(EMBED_BYTES_MAX).is_none());
    }

    #[test]
    fn a_folder_without_a_model_says_what_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let message = |dir: &Path| Model::load(dir).err().unwrap().to_string();
        assert!(message(dir.path()).contains("tokenizer.json"));
        write_toy(dir.path());
        fs::write(dir.path().join("model.safetensors"), b"oops").unwrap();
        assert!(message(dir.path()).contains("model.safetensors"));
        fs::remove_file(dir.path().join("model.safetensors")).unwrap();
        assert!(message(dir.path()).contains("no model.safetensors"));
    }

    #[test]
    fn halves_are_read_exactly() {
        for (bits, value) in [(0x3C00_u16, 1.0), (0xC000, -2.0), (0x0001, 5.960_464_5e-8), (0x7BFF, 65_504.0), (0, 0.0)]
        {
            assert_eq!(half_to_float(bits.to_le_bytes()), value);
        }
        assert!(half_to_float(0x7E00_u16.to_le_bytes()).is_nan());
    }
}
