//! What content costs: loading items without a model, and asking for them by words.
//!
//! `cargo run --release -p forecourt-index --example items -- FOLDER [ITEMS] [QUESTIONS] [ENGINE [CANDIDATES]]`
//!
//! Items are made of `examples/kitchen`'s recipes, the same in every run. What `FOLDER` holds already is not loaded
//! again, so that a second run asks alone. With the URL of a PostgreSQL (`postgres://…`) or of a server of the search API
//! (`http://…`) as ENGINE, the items are there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::Language;
use forecourt_egress::{Egress, EgressConfig};
use forecourt_engines::{OpenSearch, OpenSearchOptions, PostgresEngine};
use forecourt_index::{EngineOptions, Library, Options, Query};
use forecourt_loaders::ContentSource;
use forecourt_retrieval::Retriever;
use forecourt_retrieval::limits::CANDIDATES;
use forecourt_testkit::HandClock;
use http::HeaderMap;
use serde_json::{Value, json};

const NAME_WORDS: usize = 3;
const INGREDIENTS: usize = 8;

fn main() {
    let engine_url = std::env::args().nth(4);
    let mut given = std::env::args().skip(1);
    let folder = PathBuf::from(given.next().expect("a folder"));
    let mut count = |usual| given.next().and_then(|count| count.parse().ok()).unwrap_or(usual);
    let (items, questions) = (count(10_000), count(1_000));
    let pantry = Pantry::stocked();
    let candidates = given.nth(1).and_then(|count| count.parse().ok()).unwrap_or(CANDIDATES);
    let engine = engine_url.map(|url| engine(&url, candidates));
    let library = Library::open(&folder.join("index"), Options { engine, ..Options::default() }).expect("an index");
    if library.is_empty() && items > 0 {
        let file = folder.join("items.jsonl");
        let text = (0..items).fold(String::new(), |text, n| text + &pantry.recipe(n).to_string() + "\n");
        std::fs::write(&file, text).expect("a file");
        let (begun, moment) = (cpu_nanos(), Instant::now());
        library.index(&[ContentSource::new(&file)], &mut (), &|| false).expect("items");
        let each = (cpu_nanos() - begun) / library.len() as f64;
        println!("loading  {:8.2} µs of CPU an item, {:.0} a second", each / 1e3, 1e9 / each);
        println!("         {:8.2} s in all", moment.elapsed().as_secs_f64());
    }
    let language = Language::english();
    let begun = cpu_nanos();
    let mut found = 0;
    let mut waits: Vec<Duration> = Vec::new();
    for n in 0..questions {
        let moment = Instant::now();
        let asked = library.understand(&pantry.phrase(&mut Dice(n ^ 0x5eed_0000_0000)), &language);
        let query = Query { filters: asked.filters, ..Query::new(asked.text) };
        found += library.search(&query).expect("hits").len();
        waits.push(moment.elapsed());
    }
    waits.sort_unstable();
    let at = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or_default();
    println!("         {:?} at the median, {:?} at 99 of 100", at(50), at(99));
    println!("asking   {:8.2} µs of CPU a question, {found} hits", (cpu_nanos() - begun) / 1e3 / questions as f64);
}

/// The engine at a URL.
fn engine(url: &str, candidates: usize) -> EngineOptions {
    let clock = Arc::new(HandClock::new());
    let retriever: Arc<dyn Retriever> = if url.starts_with("postgres") {
        Arc::new(PostgresEngine::new(url, "items").expect("a URL"))
    } else {
        let egress = Egress::builder(EgressConfig::default()).build().expect("a way out");
        let (url, index, clock) = (url.to_owned(), "items".to_owned(), clock.clone());
        Arc::new(OpenSearch::new(OpenSearchOptions { egress, url, index, headers: HeaderMap::new(), clock }))
    };
    EngineOptions { retriever, place: url.to_owned(), candidates, clock }
}

/// What recipes are made of, each word as often as in the real ones.
#[derive(Default)]
struct Pantry {
    words: Vec<String>,
    ingredients: Vec<String>,
    categories: Vec<String>,
}

impl Pantry {
    fn stocked() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kitchen/content/recipes.jsonl");
        let mut pantry = Self::default();
        for line in std::fs::read_to_string(file).expect("recipes").lines() {
            let recipe: Value = serde_json::from_str(line).expect("a recipe");
            let name = recipe["name"].as_str().unwrap_or_default();
            let words = name.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 3);
            pantry.words.extend(words.map(str::to_owned));
            let texts = recipe["recipeIngredient"].as_array().into_iter().flatten().filter_map(Value::as_str);
            pantry.ingredients.extend(texts.map(str::to_owned));
            pantry.categories.extend(recipe["recipeCategory"].as_str().map(str::to_owned));
        }
        pantry
    }

    fn recipe(&self, n: u64) -> Value {
        let mut dice = Dice(n);
        let ingredients: Vec<&str> = (0..INGREDIENTS).map(|_| dice.pick(&self.ingredients)).collect();
        json!({
            "@context": "https://schema.org",
            "@type": "Recipe",
            "url": format!("https://recipes.example/{n}"),
            "name": self.phrase(&mut dice),
            "inLanguage": "en",
            "recipeCategory": dice.pick(&self.categories),
            "recipeIngredient": ingredients,
            "totalTime": format!("PT{}M", 5 + dice.roll(180)),
            "license": "https://creativecommons.org/licenses/by-sa/4.0/",
        })
    }

    fn phrase(&self, dice: &mut Dice) -> String {
        (0..NAME_WORDS).fold(String::new(), |mut phrase, n| {
            let gap = if n == 0 { "" } else { " " };
            // Writing to memory does not fail.
            let _ = write!(phrase, "{gap}{}", dice.pick(&self.words));
            phrase
        })
    }
}

/// Numbers without a pattern that are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<'a>(&mut self, from: &'a [String]) -> &'a str {
        let place = self.roll(from.len() as u64);
        usize::try_from(place).ok().and_then(|place| from.get(place)).map_or("", String::as_str)
    }
}

/// Nanoseconds that the threads of this process have been on a CPU, those that have ended too.
fn cpu_nanos() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: f64 = fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks * 1e7
}
