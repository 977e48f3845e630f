//! Sentences whose ids come from other data: properties, availability, questions back and codes.

use fluent_bundle::FluentArgs;

use crate::say::message;
use crate::sentences::Sentences;

impl Sentences {
    /// The name of its own language: `Deutsch`.
    pub fn language_name(self) -> String {
        self.say("language-name", &FluentArgs::new())
    }

    /// What an item states about a property, such as `time` or `price`. `None` for a property that there is no
    /// sentence for.
    pub fn fact(self, property: &str, item: &str, value: &str) -> Option<String> {
        let mut values = FluentArgs::new();
        values.set("item", item);
        values.set("value", value);
        message(self.language(), &format!("fact-{property}"), &values)
    }

    /// What a property tells, as part of a sentence: "how long it takes". `None` for one without words.
    pub fn fact_name(self, property: &str) -> Option<String> {
        self.plain(&format!("fact-{property}-what"))
    }

    /// The availability of schema.org of this name (`in-stock` for `InStock`), in words.
    pub fn availability(self, name: &str) -> Option<String> {
        self.plain(&format!("fact-available-{name}"))
    }

    /// The question which value of a property is meant: `dish` for "Which kind of dish?".
    pub fn which(self, property: &str) -> Option<String> {
        self.plain(&format!("which-{property}"))
    }

    /// What a property is called over its values: `dish` for "kind of dish". `None` for one without a name.
    pub fn facet(self, property: &str) -> Option<String> {
        self.plain(&format!("facet-{property}"))
    }

    /// Why a payment was refused, by the code of its scheme: `cart_expired`. `None` for a code without a sentence.
    pub fn payment_fault(self, code: &str) -> Option<String> {
        self.plain(&format!("payment-fault-{}", code.replace('_', "-")))
    }

    fn plain(self, id: &str) -> Option<String> {
        message(self.language(), id, &FluentArgs::new())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

    use crate::decisions::DECISION_METHODS;
    use crate::pages::PAGE_METHODS;
    use crate::payments::PAYMENT_METHODS;
    use crate::say::source;
    use crate::sentences::METHODS;
    use crate::servers::SERVER_METHODS;
    use crate::{Sentences, SpokenLanguage};

    /// Of every message of a language, the values that it takes.
    fn placeholders(language: SpokenLanguage) -> BTreeMap<String, BTreeSet<String>> {
        let resource = fluent_syntax::parser::parse(source(language)).unwrap();
        let mut all = BTreeMap::new();
        for entry in &resource.body {
            let Entry::Message(message) = entry else { continue };
            let mut found = BTreeSet::new();
            in_pattern(message.value.as_ref().unwrap(), &mut found);
            assert!(all.insert(message.id.name.to_owned(), found).is_none(), "twice: {}", message.id.name);
        }
        all
    }

    fn in_pattern(pattern: &Pattern<&str>, found: &mut BTreeSet<String>) {
        for element in &pattern.elements {
            let PatternElement::Placeable { expression } = element else { continue };
            let inline = match expression {
                Expression::Inline(inline) => inline,
                Expression::Select { selector, variants } => {
                    variants.iter().for_each(|variant| in_pattern(&variant.value, found));
                    selector
                }
            };
            if let InlineExpression::VariableReference { id } = inline {
                found.insert(id.name.to_owned());
            }
        }
    }

    #[test]
    fn every_language_has_every_sentence_with_the_same_values() {
        let english = placeholders(SpokenLanguage::English);
        for language in SpokenLanguage::ALL {
            let own = placeholders(language);
            let (own_ids, ids): (Vec<_>, Vec<_>) = (own.keys().collect(), english.keys().collect());
            assert_eq!(own_ids, ids, "{language:?}");
            own.iter().for_each(|(id, values)| assert_eq!(*values, english[id], "{language:?} {id}"));
        }
    }

    #[test]
    fn every_method_says_a_sentence_that_is_there_with_its_values() {
        let english = placeholders(SpokenLanguage::English);
        for (id, values) in
            METHODS.iter().chain(PAGE_METHODS).chain(DECISION_METHODS).chain(PAYMENT_METHODS).chain(SERVER_METHODS)
        {
            let values: BTreeSet<String> = values.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(english.get(*id), Some(&values), "{id}");
        }
        let is_named =
            |id: &&String| ["fact-", "which-", "facet-", "payment-fault-"].iter().any(|family| id.starts_with(family));
        let named = |id: &&String| is_named(id) || *id == "language-name";
        let said: BTreeSet<&str> = METHODS
            .iter()
            .chain(PAGE_METHODS)
            .chain(DECISION_METHODS)
            .chain(PAYMENT_METHODS)
            .chain(SERVER_METHODS)
            .map(|(id, _)| *id)
            .collect();
        let unsaid: Vec<_> = english.keys().filter(|id| !said.contains(id.as_str()) && !named(id)).collect();
        assert!(unsaid.is_empty(), "nobody says {unsaid:?}");
    }

    #[test]
    fn numbers_have_the_form_that_their_language_wants() {
        let of = |language| Sentences::in_language(language);
        let (english, german) = (of(SpokenLanguage::English), of(SpokenLanguage::German));
        let (french, spanish) = (of(SpokenLanguage::French), of(SpokenLanguage::Spanish));
        assert_eq!([0, 1, 2].map(|n| english.minutes(n)), ["0 minutes", "1 minute", "2 minutes"]);
        assert_eq!([0, 1, 2].map(|n| german.hours(n)), ["0 Stunden", "1 Stunde", "2 Stunden"]);
        assert_eq!([0, 1, 2].map(|n| french.days(n)), ["0 jour", "1 jour", "2 jours"]);
        assert_eq!([0, 1, 1_000_000].map(|n| spanish.minutes(n)), ["0 minutos", "1 minuto", "1000000 minutos"]);
        assert!(french.left_out(1, "x").starts_with("1 élément a été"), "{}", french.left_out(1, "x"));
    }

    #[test]
    fn values_are_put_in_as_they_are() {
        let english = Sentences::in_language(SpokenLanguage::English);
        let best = "**[A { $b }](https://e.example/?a={c})**";
        assert_eq!(english.one_match(best), format!("One match: {best}."));
        assert_eq!(english.fact("nothing", "x", "y"), None);
        assert_eq!(english.fact("time", "Soup", "5 minutes").unwrap(), "Soup takes 5 minutes.");
    }
}
