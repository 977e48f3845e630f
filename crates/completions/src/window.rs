//! How many tokens a model reads at once, and how many a text has: as far as the settings, the server and earlier
//! replies tell. No tokenizer: bytes are counted, and what a byte weighs is learned from what providers say they read.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use forecourt_egress::{Deadlines, Purpose, UpstreamRequest};
use futures::future::BoxFuture;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::preset::WindowSource;
use crate::provider::Provider;

/// Thousandths of a token that a byte weighs before anything was learned: three bytes to a token, where English has
/// four.
const WEIGHT_FIRST: u32 = 334;
/// The least that a byte is taken to weigh.
const WEIGHT_MIN: u32 = 125;
/// The most: a token for each byte.
const WEIGHT_MAX: u32 = 1_000;
/// Bytes of a request from which its weight is learned: less is mostly frame.
const LEARNED_BYTES_MIN: usize = 400;
/// Tokens that an image is taken for.
pub const IMAGE_TOKENS: u64 = 1_200;
/// Tokens that the frame of a message is taken for.
pub const MESSAGE_TOKENS: u64 = 6;
/// The smallest window that a server may name.
pub(crate) const WINDOW_MIN: u32 = 256;
/// What Ollama reads of a model, whatever the model could, unless its settings say more.
const OLLAMA_WINDOW: u32 = 4_096;
/// How long a server is waited for that is asked about its model.
const PROBE_TIME_MAX: Duration = Duration::from_secs(3);
/// How long what it said, or that it said nothing, is kept.
const PROBE_KEPT: Duration = Duration::from_secs(5 * 60);
/// Bytes of what it says.
const PROBE_BYTES_MAX: usize = 1024 * 1024;

/// The context window of a model, and the tokens that a byte weighs: from settings, server and replies.
#[derive(Debug)]
pub struct Window {
    /// From the settings; 0 where they say nothing.
    own: u32,
    /// From an error, which is right whatever anybody says; 0 for none.
    learned: AtomicU32,
    /// Thousandths of a token for each byte.
    weight: AtomicU32,
    /// What the server said, and until when that holds.
    told: Mutex<Option<(Instant, u32)>>,
}

impl Window {
    /// The window that the settings name, if they do.
    pub fn new(own: Option<u32>) -> Self {
        Self {
            own: own.unwrap_or_default(),
            learned: AtomicU32::new(0),
            weight: AtomicU32::new(WEIGHT_FIRST),
            told: Mutex::new(None),
        }
    }

    /// How many tokens the model reads and writes at once; asks its server where the settings say nothing, which is
    /// done once in a while. `None`: nobody knows.
    pub fn tokens<'a>(&'a self, provider: &'a Provider) -> BoxFuture<'a, Option<u32>> {
        Box::pin(async move {
            let learned = self.learned.load(Ordering::Relaxed);
            let said = match self.own {
                0 => self.asked(provider).await,
                own => own,
            };
            match (said, learned) {
                (0, 0) => None,
                (one, 0) | (0, one) => Some(one),
                (said, learned) => Some(said.min(learned)),
            }
        })
    }

    async fn asked(&self, provider: &Provider) -> u32 {
        if provider.quirks.window == WindowSource::Settings {
            return 0;
        }
        // Held while the server is asked: those who come meanwhile wait for one answer instead of asking too.
        let mut told = self.told.lock().await;
        if let Some((until, tokens)) = *told
            && Instant::now() < until
        {
            return tokens;
        }
        let tokens = match probe(provider).await {
            Some(tokens) if tokens >= WINDOW_MIN => tokens,
            _ => 0,
        };
        tracing::debug!(tokens, "a model's server was asked how much it reads");
        *told = Some((Instant::now() + PROBE_KEPT, tokens));
        tokens
    }

    /// Learns from an error that the model reads no more than so many.
    pub fn learn(&self, tokens: u32) {
        self.learned.store(tokens.max(WINDOW_MIN), Ordering::Relaxed);
    }

    /// Tokens that so many bytes are taken for, rounded up.
    pub fn estimate(&self, bytes: usize) -> u64 {
        let weight = u64::from(self.weight.load(Ordering::Relaxed));
        (bytes as u64).saturating_mul(weight).div_ceil(1_000)
    }

    /// Learns what a byte weighs from what a provider says it read: at once when that is more than was believed, and
    /// slowly when it is less. A tenth is added, so that estimates err on the safe side.
    pub fn measure(&self, bytes: usize, tokens: u64) {
        if bytes < LEARNED_BYTES_MIN || tokens == 0 {
            return;
        }
        let seen = tokens.saturating_mul(1_100) / bytes as u64;
        let seen = u32::try_from(seen).unwrap_or(WEIGHT_MAX).clamp(WEIGHT_MIN, WEIGHT_MAX);
        let believed = self.weight.load(Ordering::Relaxed);
        let next = if seen > believed { seen } else { believed - (believed - seen) / 8 };
        self.weight.store(next, Ordering::Relaxed);
    }
}

/// Asks the server of a model how many tokens it reads.
async fn probe(provider: &Provider) -> Option<u32> {
    let base = provider.url.strip_suffix("/chat/completions")?;
    let root = base.strip_suffix("/v1").unwrap_or(base);
    let model = provider.fields.get("model")?.as_str()?;
    let tokens = match provider.quirks.window {
        WindowSource::Settings => None,
        WindowSource::Ollama => {
            // A loaded model first: it may have been loaded with another window than its parameters say.
            match fetch(provider, &format!("{root}/api/ps"), None).await.and_then(|ps| loaded(&ps, model)) {
                Some(tokens) => Some(tokens),
                None => {
                    ollama_window(&fetch(provider, &format!("{root}/api/show"), Some(json!({"model": model}))).await?)
                }
            }
        }
        WindowSource::LlamaCpp => {
            fetch(provider, &format!("{root}/props"), None).await?["default_generation_settings"]["n_ctx"].as_u64()
        }
        WindowSource::Models => listed(&fetch(provider, &format!("{base}/models"), None).await?, model),
    };
    u32::try_from(tokens?).ok()
}

async fn fetch(provider: &Provider, url: &str, body: Option<Value>) -> Option<Value> {
    let request = match body {
        None => UpstreamRequest::get(url),
        Some(body) => UpstreamRequest::post(url, body.to_string())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json")),
    };
    let mut headers = provider.headers.clone();
    headers.extend(request.headers.clone());
    let bounds = Deadlines {
        connect: PROBE_TIME_MAX,
        first_byte: PROBE_TIME_MAX,
        total: PROBE_TIME_MAX,
        body_bytes_max: PROBE_BYTES_MAX,
    };
    let request = UpstreamRequest { headers, ..request }.within(bounds);
    let fetched = provider.egress.fetch(Purpose::Upstream, request).await.ok()?;
    forecourt_core::json::parse(&fetched.bytes).ok()
}

/// What a loaded model reads, in Ollama's list of them.
fn loaded(list: &Value, model: &str) -> Option<u64> {
    let is_it = |one: &&Value| {
        let names = [&one["name"], &one["model"]];
        names.iter().any(|name| {
            name.as_str().is_some_and(|name| {
                // Ollama lists a model without a tag under `:latest`.
                name.strip_suffix(":latest").unwrap_or(name) == model.strip_suffix(":latest").unwrap_or(model)
            })
        })
    };
    list["models"].as_array()?.iter().find(is_it)?["context_length"].as_u64()
}

/// What Ollama will read of a model that is not loaded: what its parameters say, else the usual, and never more than
/// the model can.
fn ollama_window(about: &Value) -> Option<u64> {
    let info = about["model_info"].as_object()?;
    let can = info.iter().find(|(key, _)| key.ends_with(".context_length")).and_then(|(_, value)| value.as_u64());
    let parameters = about["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse::<u64>().ok());
    let reads = set.unwrap_or_else(|| u64::from(OLLAMA_WINDOW));
    Some(can.map_or(reads, |can| can.min(reads)))
}

/// `max_model_len` of a model in a list of them, or of the only one there is.
fn listed(list: &Value, model: &str) -> Option<u64> {
    let all = list["data"].as_array()?;
    let one = all.iter().find(|one| one["id"] == model).or_else(|| all.first().filter(|_| all.len() == 1))?;
    one["max_model_len"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_weighs_what_it_was_seen_to_weigh() {
        let window = Window::new(None);
        assert_eq!(window.estimate(3_000), 1_002);
        window.measure(1_000, 500);
        assert_eq!(window.estimate(1_000), 550, "more than was believed counts at once");
        window.measure(1_000, 250);
        assert!((500..550).contains(&window.estimate(1_000)), "less counts slowly");
        for _ in 0..100 {
            window.measure(1_000, 1);
        }
        assert!((125..=132).contains(&window.estimate(1_000)), "{}", window.estimate(1_000));
        window.measure(1_000, 1_000_000);
        assert_eq!(window.estimate(1_000), 1_000);
        let window = Window::new(None);
        window.measure(LEARNED_BYTES_MIN - 1, 1_000_000);
        assert_eq!(window.estimate(3_000), 1_002, "frames teach nothing");
    }

    #[test]
    fn servers_tell_their_windows_in_their_own_ways() {
        let ps = json!({"models": [{"name": "tiny:latest", "context_length": 8192}]});
        assert_eq!((loaded(&ps, "tiny"), loaded(&ps, "other")), (Some(8192), None));
        let about = |parameters: &str| json!({"parameters": parameters, "model_info": {"llama.context_length": 131_072, "x": 1}});
        assert_eq!(ollama_window(&about("stop \"x\"\nnum_ctx    16384\n")), Some(16_384));
        assert_eq!(ollama_window(&about("")), Some(4_096));
        assert_eq!(ollama_window(&about("num_ctx 999999")), Some(131_072));
        let models = json!({"data": [{"id": "a", "max_model_len": 2048}]});
        assert_eq!((listed(&models, "a"), listed(&models, "b")), (Some(2048), Some(2048)));
        assert_eq!(listed(&json!({"data": []}), "a"), None);
    }
}
