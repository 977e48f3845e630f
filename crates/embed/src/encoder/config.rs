//! What a model's settings say about its network, in the words of those files.

use serde::Deserialize;

use crate::error::Result;
use crate::folder::Folder;
use crate::limits::{DIMS_MAX, LAYERS_MAX, TOKENS_MAX};

/// `config.json` of a BERT, and what lies beside it for sentences.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Config {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_attention_heads: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    pub(super) vocab_size: usize,
    #[serde(default = "usual_eps")]
    pub(super) layer_norm_eps: f32,
    #[serde(default = "usual_act")]
    hidden_act: String,
    #[serde(default = "usual_places")]
    position_embedding_type: String,
    #[serde(skip)]
    sentence: Sentence,
    #[serde(skip)]
    pooling: PoolingFile,
}

/// How the tokens' vectors become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    First,
}

/// `sentence_bert_config.json`.
#[derive(Debug, Clone, Default, Deserialize)]
struct Sentence {
    max_seq_length: Option<usize>,
}

/// `1_Pooling/config.json`.
#[derive(Debug, Clone, Default, Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
}

/// The part of any `config.json` that says what it is about.
#[derive(Default, Deserialize)]
struct About {
    model_type: Option<String>,
}

impl Config {
    /// The settings of a transformer. `None` for a folder without any, or with those of a static
    /// model. Fails for transformers of other families.
    pub(crate) fn read(folder: &Folder) -> Result<Option<Self>> {
        let about: About = folder.settings(CONFIG)?;
        match about.model_type.as_deref() {
            None | Some("model2vec") => return Ok(None),
            Some("bert") => {}
            Some(other) => return Err(folder.unusable(format!("model_type is {other:?}; it takes \"bert\""))),
        }
        let Some(mut config): Option<Self> = folder.settings(CONFIG)? else { return Ok(None) };
        config.sentence = folder.settings("sentence_bert_config.json")?;
        config.pooling = folder.settings("1_Pooling/config.json")?;
        config.check().map_err(|reason| folder.unusable(reason))?;
        Ok(Some(config))
    }

    fn check(&self) -> Result<(), String> {
        let heads_fit = self.num_attention_heads > 0 && self.hidden_size.is_multiple_of(self.num_attention_heads);
        if !heads_fit || self.hidden_size == 0 || self.hidden_size > DIMS_MAX {
            return Err(format!("hidden_size {} with {} heads", self.hidden_size, self.num_attention_heads));
        }
        if self.num_hidden_layers > LAYERS_MAX {
            return Err(format!("more than {LAYERS_MAX} layers"));
        }
        if self.type_vocab_size == 0 || self.max_position_embeddings < TOKENS_MIN {
            return Err("no places for tokens".to_owned());
        }
        match (self.hidden_act.as_str(), self.position_embedding_type.as_str()) {
            // Others would be read without an error, and give vectors that mean nothing.
            ("gelu", "absolute") => Ok(()),
            (act, places) => Err(format!(
                "hidden_act {act:?}, position_embedding_type {places:?}; it takes \"gelu\" and \"absolute\""
            )),
        }
    }

    /// Tokens of a text that are read, those that frame it included.
    pub(crate) fn tokens_max(&self) -> usize {
        let wanted = self.sentence.max_seq_length.unwrap_or(TOKENS_MAX).min(self.max_position_embeddings);
        wanted.clamp(TOKENS_MIN, TOKENS_MAX)
    }

    pub(super) fn pooling(&self) -> Pooling {
        if self.pooling.pooling_mode_cls_token { Pooling::First } else { Pooling::Mean }
    }
}

const CONFIG: &str = "config.json";
/// Two tokens frame a text.
const TOKENS_MIN: usize = 3;

fn usual_eps() -> f32 {
    1e-12
}

fn usual_act() -> String {
    "gelu".to_owned()
}

fn usual_places() -> String {
    "absolute".to_owned()
}
