//! Items of five trades, as far as questions need to know them.

use forecourt_vocabulary::Vocabulary;

use crate::filter::{Filter, Test};
use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
use crate::paths::{AGES, EVENT_BEGINS, EVENT_DAYS, EVENT_WEEKDAYS, MONTHLY_PRICE, OPENING_TIMES};
use crate::scope::QuestionScope;
use crate::tests::Everything;

/// What things are made of: a property, and an area of the vocabulary.
const MATERIAL: &str = "material";
/// The part of the items that state a property.
const SHARE: f64 = 0.9;

/// The items of a trade.
pub(super) struct Trade {
    /// What they state; `None`: [`Everything`].
    items: Option<Items>,
    pub(super) learnt: LearntProperties,
}

impl Trade {
    pub(super) fn known(&self) -> &dyn QuestionScope {
        self.items.as_ref().map_or(&Everything, |items| items as &dyn QuestionScope)
    }

    fn of(items: Items, stated: Vec<StatedProperty>) -> Self {
        Self { items: Some(items), learnt: LearntProperties::of(stated, &Vocabulary::shipped()) }
    }
}

/// What items state that is not learnt from them.
struct Items {
    /// Paths of numbers, or how they begin.
    numbers: Vec<&'static str>,
    /// Values by their paths, in lower case.
    values: &'static [(&'static str, &'static str)],
}

impl QuestionScope for Items {
    fn has_number(&self, path: &str) -> bool {
        self.numbers.iter().any(|known| path == *known || (known.ends_with('.') && path.starts_with(known)))
    }

    fn has_word(&self, path: &str, word: &str) -> bool {
        self.has_value(path, word)
    }

    fn has_value(&self, path: &str, value: &str) -> bool {
        self.values.contains(&(path, value.to_lowercase().as_str()))
    }

    fn share(&self, path: &str) -> f64 {
        let is_stated = self.has_number(path) || self.values.iter().any(|(known, _)| *known == path);
        if is_stated { SHARE } else { 0.0 }
    }

    fn quantile(&self, _: &str, part: f64) -> Option<f64> {
        Some(part * 100.0)
    }

    /// Some item keeps whatever is asked, but that what calls itself so is of somebody else.
    fn finds(&self, _: &str, filters: &[Filter]) -> bool {
        !filters.iter().any(|filter| matches!(filter.test, Test::NoneOf(_)))
    }

    fn has_written(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        self.values.iter().any(|(_, value)| *value == word)
    }

    fn is_name(&self, _: &str) -> bool {
        false
    }

    fn states(&self, area: &str) -> bool {
        area == MATERIAL && self.share(MATERIAL) > 0.0
    }

    fn position(&self, name: &str) -> Option<(f64, f64)> {
        name.eq_ignore_ascii_case("porto").then_some((41.15, -8.61))
    }
}

fn property(path: &str, values: StatedValues) -> StatedProperty {
    StatedProperty { path: path.to_owned(), share: SHARE, values }
}

fn broken(path: &str) -> StatedProperty {
    property(path, StatedValues::Numbers { are_whole: false })
}

fn whole(path: &str) -> StatedProperty {
    property(path, StatedValues::Numbers { are_whole: true })
}

fn truth(path: &str) -> StatedProperty {
    property(path, StatedValues::Truth)
}

/// The trades, by their names.
pub(super) fn all() -> [(&'static str, Trade); 5] {
    let kitchen = Trade { items: None, learnt: LearntProperties::default() };
    [("kitchen", kitchen), ("shop", shop()), ("events", events()), ("homes", homes()), ("cafes", cafes())]
}

fn shop() -> Trade {
    let values =
        &[("material", "plastic"), ("material", "metal"), ("brand.name", "kronos"), ("offers.availability", "instock")];
    let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
    let stated = vec![
        broken("weight.gram"),
        broken("width.metre"),
        broken("height.metre"),
        broken("additionalProperty.Power.watt"),
        broken("additionalProperty.Capacity.litre"),
        broken("additionalProperty.Battery life.minute"),
        whole("warranty.day"),
        truth("additionalProperty.Dimmable"),
        property("material", texts(&["plastic", "metal"])),
    ];
    Trade::of(Items { numbers: vec!["offers.price"], values }, stated)
}

fn events() -> Trade {
    let numbers = ["startDate", EVENT_WEEKDAYS, EVENT_BEGINS, "offers.price"].into_iter().chain(EVENT_DAYS).chain(AGES);
    let values = &[
        ("location.address.addressLocality", "madrid"),
        ("isAccessibleForFree", "true"),
        ("isAccessibleForFree", "false"),
    ];
    let about = StatedValues::Texts(["jazz", "rock"].map(str::to_owned).to_vec());
    Trade::of(Items { numbers: numbers.collect(), values }, vec![property("about", about)])
}

fn homes() -> Trade {
    let stated = vec![
        whole("numberOfRooms"),
        broken("floorSize.square_metre"),
        whole("yearBuilt"),
        whole("additionalProperty.Sleeps"),
        truth("petsAllowed"),
        truth("amenityFeature.Balcony"),
    ];
    Trade::of(Items { numbers: vec![MONTHLY_PRICE, "offers.price"], values: &[] }, stated)
}

fn cafes() -> Trade {
    let numbers = vec![OPENING_TIMES, "geo.latitude"];
    Trade::of(Items { numbers, values: &[] }, vec![truth("amenityFeature.Terrace")])
}
