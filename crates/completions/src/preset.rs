//! Providers whose compatible APIs are known: where they are, where their keys are found, and in what they differ.

use schemars::JsonSchema;
use serde::Deserialize;

/// A provider that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// The `provider` of the settings.
    pub name: &'static str,
    /// Where its API is. `None`: everybody has an address of their own.
    pub base_url: Option<&'static str>,
    /// The variable that usually holds the key. `None`: it needs no key.
    pub key_variable: Option<&'static str>,
    /// In what it differs.
    pub quirks: Quirks,
}

/// In what an API differs from the common form of chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// Whether it takes tools.
    pub tools: bool,
    /// Whether it has to be asked for the usage of a streamed reply (`stream_options.include_usage`).
    pub stream_usage: bool,
    /// How it calls the bound of a reply.
    pub max_tokens: TokensField,
    /// The role of the instructions.
    pub system_role: SystemRole,
    /// Whether it takes marks up to where a request is worth keeping (`cache_control`).
    pub cache_control: bool,
    /// Whether the key is in `api-key`, and not a bearer token.
    pub key_in_api_key: bool,
    /// Whether replies begin within a thought, whose opening tag the server has put into the prompt.
    pub starts_thinking: bool,
    /// Who tells how many tokens the model reads.
    pub window: WindowSource,
}

/// How an API calls the bound of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`, the newer name.
    MaxCompletionTokens,
}

impl TokensField {
    /// The field.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// The role of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
    /// They stand before the first words of the user: for models that know no such role.
    User,
}

/// Who tells how many tokens a model reads at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSource {
    /// Nobody: `context_tokens` says it, or an error does.
    Settings,
    /// Ollama: `/api/ps` for models that are loaded, else `/api/show`.
    Ollama,
    /// llama.cpp: `/props`.
    LlamaCpp,
    /// vLLM and others: `max_model_len` in `/models`.
    Models,
}

/// An API in the common form.
const COMMON: Quirks = Quirks {
    tools: true,
    stream_usage: false,
    max_tokens: TokensField::MaxTokens,
    system_role: SystemRole::System,
    cache_control: false,
    key_in_api_key: false,
    starts_thinking: false,
    window: WindowSource::Settings,
};

/// The same, which tells the usage of a streamed reply when it is asked to.
const TELLING: Quirks = Quirks { stream_usage: true, ..COMMON };

const NEWER: Quirks = Quirks { max_tokens: TokensField::MaxCompletionTokens, ..TELLING };

/// Everybody that is known, those that run on one's own machines first.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "ollama",
        base_url: Some("http://127.0.0.1:11434/v1"),
        key_variable: None,
        quirks: Quirks { window: WindowSource::Ollama, ..TELLING },
    },
    Preset {
        name: "llama.cpp",
        base_url: Some("http://127.0.0.1:8080/v1"),
        key_variable: None,
        quirks: Quirks { window: WindowSource::LlamaCpp, ..TELLING },
    },
    Preset {
        name: "vllm",
        base_url: Some("http://127.0.0.1:8000/v1"),
        key_variable: None,
        quirks: Quirks { window: WindowSource::Models, ..TELLING },
    },
    Preset {
        name: "openai",
        base_url: Some("https://api.openai.com/v1"),
        key_variable: Some("OPENAI_API_KEY"),
        quirks: Quirks { system_role: SystemRole::Developer, ..NEWER },
    },
    Preset {
        name: "anthropic",
        base_url: Some("https://api.anthropic.com/v1"),
        key_variable: Some("ANTHROPIC_API_KEY"),
        quirks: TELLING,
    },
    Preset {
        name: "gemini",
        base_url: Some("https://generativelanguage.googleapis.com/v1beta/openai"),
        key_variable: Some("GEMINI_API_KEY"),
        quirks: TELLING,
    },
    // It tells the usage unasked, and refuses fields that it does not know.
    Preset {
        name: "mistral",
        base_url: Some("https://api.mistral.ai/v1"),
        key_variable: Some("MISTRAL_API_KEY"),
        quirks: COMMON,
    },
    Preset {
        name: "groq",
        base_url: Some("https://api.groq.com/openai/v1"),
        key_variable: Some("GROQ_API_KEY"),
        quirks: NEWER,
    },
    Preset {
        name: "openrouter",
        base_url: Some("https://openrouter.ai/api/v1"),
        key_variable: Some("OPENROUTER_API_KEY"),
        quirks: TELLING,
    },
    Preset {
        name: "deepseek",
        base_url: Some("https://api.deepseek.com"),
        key_variable: Some("DEEPSEEK_API_KEY"),
        quirks: TELLING,
    },
    Preset {
        name: "azure",
        base_url: None,
        key_variable: Some("AZURE_OPENAI_API_KEY"),
        quirks: Quirks { key_in_api_key: true, ..NEWER },
    },
];

/// What a provider is called that is none of [`PRESETS`].
pub const OTHER: &str = "other";

impl Preset {
    /// The preset of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Whether some provider's key is usually in this variable.
    pub fn is_key_variable(name: &str) -> bool {
        PRESETS.iter().any(|preset| preset.key_variable == Some(name))
    }

    /// All names, for people.
    pub fn names() -> String {
        PRESETS.iter().map(|preset| format!("`{}`", preset.name)).collect::<Vec<_>>().join(", ")
    }

    /// In what it differs for `model`.
    pub fn quirks_for(&self, model: &str) -> Quirks {
        // Of the models behind this one, those of one maker alone are cached by marks.
        let is_marked = self.name == "openrouter" && model.starts_with("anthropic/");
        Quirks { cache_control: is_marked || self.quirks.cache_control, ..self.quirks }
    }
}

impl Default for Quirks {
    fn default() -> Self {
        COMMON
    }
}

/// In what an API differs from what its preset says, or from the common form.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuirkSettings {
    /// Whether it takes tools.
    pub tools: Option<bool>,
    /// Whether it is asked to tell the tokens of streamed replies (`stream_options`).
    pub stream_usage: Option<bool>,
    /// How it calls the bound of a reply: `max_tokens` or `max_completion_tokens`.
    pub max_tokens: Option<TokensField>,
    /// The role of the instructions: `system`, `developer`, or `user` for models that know neither.
    pub system_role: Option<SystemRole>,
    /// Whether it takes `cache_control` marks, as APIs in front of Anthropic's models do.
    pub cache_control: Option<bool>,
    /// Whether the key goes into the field `api-key` of the head, and not into `Authorization`.
    pub key_in_api_key: Option<bool>,
    /// Whether replies begin within a thought that only ends with `</think>`.
    pub starts_thinking: Option<bool>,
}

impl QuirkSettings {
    /// These quirks, with those of `own` where a key is absent.
    pub fn over(self, own: Quirks) -> Quirks {
        Quirks {
            tools: self.tools.unwrap_or(own.tools),
            stream_usage: self.stream_usage.unwrap_or(own.stream_usage),
            max_tokens: self.max_tokens.unwrap_or(own.max_tokens),
            system_role: self.system_role.unwrap_or(own.system_role),
            cache_control: self.cache_control.unwrap_or(own.cache_control),
            key_in_api_key: self.key_in_api_key.unwrap_or(own.key_in_api_key),
            starts_thinking: self.starts_thinking.unwrap_or(own.starts_thinking),
            window: own.window,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_found_and_has_a_plain_address() {
        for preset in PRESETS {
            assert_eq!(Preset::find(preset.name), Some(preset));
            if let Some(url) = preset.base_url {
                let is_own = preset.key_variable.is_none();
                assert!(url.starts_with(if is_own { "http://127.0.0.1:" } else { "https://" }), "{url}");
                assert!(!url.ends_with('/'), "{url}");
            }
        }
        assert_eq!(Preset::find("Ollama"), None);
    }

    #[test]
    fn what_is_set_by_hand_goes_before_the_preset() {
        let own = Preset::find("openai").unwrap().quirks;
        let set = QuirkSettings { stream_usage: Some(false), ..QuirkSettings::default() };
        assert_eq!(set.over(own), Quirks { stream_usage: false, ..own });
        let openrouter = Preset::find("openrouter").unwrap();
        assert!(openrouter.quirks_for("anthropic/any").cache_control);
        assert!(!openrouter.quirks_for("mistralai/any").cache_control);
    }
}
