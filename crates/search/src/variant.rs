//! What one variant of an item costs, where a question names it by what it has of its own: "what does a case of 6 cost?".

use forecourt_index::Hit;
use forecourt_vocabulary::folded;
use serde_json::Value;

use crate::fact_context::FactContext;
use crate::fact_question::FactReading;
use crate::markdown::{link, plain};
use crate::values::{at, parts};
use crate::{fact_data, limits::VARIANTS_READ_MAX};

/// The answer to a question for a fact that the variants of an item state each for itself. `None`: it names none of them.
pub(crate) fn answer(tell: &FactContext<'_>, hit: &Hit, reading: &FactReading<'_>) -> Option<String> {
    if reading.has_pronoun() {
        return None;
    }
    let kind = fact_data::facts().kind(&reading.ask.fact)?;
    let name = folded(&hit.name);
    let names = reading.names();
    // "A case of 6 of the Riesling": the words of the item's own name say nothing of the variant.
    let own: Vec<&str> = words(&name).collect();
    let said: Vec<Vec<&str>> =
        names.iter().map(|said| words(said).filter(|word| !own.contains(word)).collect()).collect();
    let variants = hit.item.get("hasVariant")?.as_array()?.iter().take(VARIANTS_READ_MAX);
    let (variant, value) = variants
        .filter_map(|variant| Some((variant, told(variant)?)))
        .find(|(_, value)| said.iter().any(|said| is_said(said, value)))?;
    let item = format!("{} ({})", link(&hit.name, hit.url.as_deref()), plain(&value));
    kind.sources.iter().find_map(|source| {
        let value = parts(tell.say, source.form, at(variant, &source.property)?, 1)?;
        tell.say.fact(source.says.as_deref().unwrap_or(&kind.id), &item, &plain(&value.join(", ")))
    })
}

/// What tells a variant from the others, in its words.
fn told(variant: &Value) -> Option<String> {
    let fields = ["size", "color", "material", "pattern", "name"].iter().filter_map(|key| variant.get(*key)?.as_str());
    let own = variant.get("additionalProperty").and_then(Value::as_array).into_iter().flatten();
    let own = own.filter_map(|property| property.get("value")?.as_str());
    let all: Vec<&str> = fields.chain(own).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Whether all that is said is what a variant has.
fn is_said(said: &[&str], value: &str) -> bool {
    let value = folded(value);
    let has: Vec<&str> = words(&value).collect();
    !said.is_empty() && said.iter().all(|word| has.contains(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
