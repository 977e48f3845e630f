//! The words of the search box for other sites: data in `assets/widget_words.json`, of which a box is told one language.

use std::sync::LazyLock;

use forecourt_core::Language;
use forecourt_sentences::SpokenLanguage;
use serde_json::Value;

static WORDS: LazyLock<Value> = LazyLock::new(|| {
    // A file of this crate, which its tests load.
    serde_json::from_str(include_str!("../assets/widget_words.json")).expect("assets/widget_words.json is well-formed")
});

/// The words in the language of a tag such as `de-CH`, as an object; English where there are none in it.
pub fn widget_words(tag: &str) -> &'static Value {
    let spoken = Language::parse(tag).as_ref().and_then(SpokenLanguage::of);
    &WORDS[spoken.unwrap_or(SpokenLanguage::English).code()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_each_word_and_its_values() {
        let english = widget_words("en").as_object().unwrap();
        let values = |text: &Value| ["{0}", "{1}"].map(|value| text.as_str().unwrap().contains(value));
        for language in SpokenLanguage::ALL {
            let own = widget_words(language.code()).as_object().unwrap();
            assert_eq!(own.keys().collect::<Vec<_>>(), english.keys().collect::<Vec<_>>(), "{language:?}");
            own.iter().for_each(|(key, text)| assert_eq!(values(text), values(&english[key]), "{language:?} {key}"));
        }
        assert_eq!(widget_words("DE-ch")["ask"], "Fragen");
        assert_eq!((widget_words(""), widget_words("ja")), (widget_words("en"), widget_words("en")));
    }
}
