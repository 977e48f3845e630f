//! Made-up recipes, the same in every run, from the words of real ones.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::ensure;
use serde::Deserialize;
use serde_json::{Value, json};

/// Words of a name, and of a question.
const NAME_WORDS: u64 = 3;
/// Lines of ingredients.
const INGREDIENTS: u64 = 8;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recipe {
    name: String,
    recipe_ingredient: Vec<String>,
    recipe_category: Option<String>,
}

/// What recipes are made of, each word as often as in the real ones.
pub struct Pantry {
    words: Vec<String>,
    ingredients: Vec<String>,
    categories: Vec<String>,
}

impl Pantry {
    /// Reads the demonstration's recipes.
    ///
    /// # Errors
    /// When they are not where they should be.
    pub fn stocked() -> anyhow::Result<Self> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kitchen/content/recipes.jsonl");
        let text = std::fs::read_to_string(file)?;
        let mut pantry = Self { words: Vec::new(), ingredients: Vec::new(), categories: Vec::new() };
        for line in text.lines() {
            let recipe: Recipe = serde_json::from_str(line)?;
            let words = recipe.name.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 3);
            pantry.words.extend(words.map(str::to_owned));
            pantry.ingredients.extend(recipe.recipe_ingredient);
            pantry.categories.extend(recipe.recipe_category);
        }
        ensure!(!pantry.words.is_empty() && !pantry.ingredients.is_empty(), "there are no recipes");
        Ok(pantry)
    }

    /// Writes the first `count` recipes, a line each.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(&self, file: &Path, count: u64) -> anyhow::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        for n in 0..count {
            serde_json::to_writer(&mut out, &self.recipe(n))?;
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }

    /// About as long as a real one: 600 bytes.
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

    /// Question number `n`.
    pub fn question(&self, n: u64) -> String {
        self.phrase(&mut Dice(n ^ 0x5eed_0000_0000))
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
