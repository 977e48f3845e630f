//! One message of one language, with its values.

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use unic_langid::LanguageIdentifier;

use crate::spoken::SpokenLanguage;

type Bundle = FluentBundle<FluentResource>;

static BUNDLES: LazyLock<[Bundle; 4]> = LazyLock::new(|| SpokenLanguage::ALL.map(bundle));

/// The files of a language, one behind the other.
macro_rules! written {
    ($code:literal) => {
        concat!(
            include_str!(concat!("../data/", $code, ".ftl")),
            include_str!(concat!("../data/pages/", $code, ".ftl")),
            include_str!(concat!("../data/decisions/", $code, ".ftl")),
            include_str!(concat!("../data/payments/", $code, ".ftl")),
            include_str!(concat!("../data/servers/", $code, ".ftl"))
        )
    };
}

/// The messages of a language, as they are written.
pub(crate) fn source(language: SpokenLanguage) -> &'static str {
    match language {
        SpokenLanguage::English => written!("en"),
        SpokenLanguage::German => written!("de"),
        SpokenLanguage::French => written!("fr"),
        SpokenLanguage::Spanish => written!("es"),
    }
}

/// The message of this id with its values. `None` when there is none of this id.
pub(crate) fn message(language: SpokenLanguage, id: &str, values: &FluentArgs<'_>) -> Option<String> {
    let bundle = BUNDLES.iter().zip(SpokenLanguage::ALL).find(|(_, of)| *of == language)?.0;
    let pattern = bundle.get_message(id)?.value()?;
    // Values that are missing are named in the text; the tests of the data see to it that none is.
    Some(bundle.format_pattern(pattern, Some(values), &mut Vec::new()).into_owned())
}

fn bundle(language: SpokenLanguage) -> Bundle {
    // Panics here are mistakes in files of this crate, which its tests load.
    let id: LanguageIdentifier = language.code().parse().expect("a code of our own");
    // The concurrent kind, since the bundles are a static that all threads read.
    let mut bundle = FluentBundle::new_concurrent(vec![id]);
    // Fluent would put direction marks around values, and these would stand between markup and words.
    bundle.set_use_isolating(false);
    let resource = FluentResource::try_new(source(language).to_owned());
    let resource = resource.unwrap_or_else(|(_, errors)| panic!("{}.ftl: {errors:?}", language.code()));
    bundle.add_resource(resource).unwrap_or_else(|errors| panic!("{}.ftl: {errors:?}", language.code()));
    bundle
}
