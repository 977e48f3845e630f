//! Properties that several rules know, and how many items have to state one.

/// The part of the items of its types that state a property whose values are limits. Where fewer do, its values find
/// items as words.
pub(crate) const SHARE_MIN: f64 = 0.5;
/// Where it lies how many signs of money an item's price range has: 2 for "€€".
pub const PRICE_LEVEL: &str = "priceRange.level";
/// Where the ages lie that an item is for, as an index keeps them.
pub const AGES: [&str; 2] = ["suitableAge.from", "suitableAge.to"];
/// Where the first and the last day of an event lie, in days since 1970.
pub const EVENT_DAYS: [&str; 2] = ["eventDays.from", "eventDays.to"];
/// Where the days of the week lie on which something takes place, 1 (Monday) to 7.
pub const EVENT_WEEKDAYS: &str = "eventDays.weekday";
/// Where the moments of the week lie at which something begins, in minutes since Monday, 0 o'clock, by the clocks of
/// where it is.
pub const EVENT_BEGINS: &str = "eventDays.begins";
/// Where the days of the week lie on which something comes back every week without an end, 1 (Monday) to 7.
pub const EVENT_EVERY: &str = "eventDays.every";
/// Where those lie on which something comes back every week between two dates.
pub const EVENT_SERIES: &str = "eventDays.series";
/// Where the least and the most hours of work a week lie.
pub const WORK_HOURS: [&str; 2] = ["workHours.from", "workHours.to"];
/// Minutes of a day.
pub const DAY_MINUTES: f64 = 1_440.0;
/// Times of one day at which something is open, one after the other: before and after lunch.
pub const OPEN_SPANS_MAX: usize = 3;
/// What the paths of these times begin with.
pub const OPENING_TIMES: &str = "openingTimes.";

/// Where it lies when something is open on a day of the week, 1 (Monday) to 7, in minutes since 0 o'clock by the clocks
/// of where it is: the beginning and the last minute of one of [`OPEN_SPANS_MAX`] spans.
pub fn open_span(weekday: i8, span: usize) -> [String; 2] {
    ["from", "to"].map(|end| format!("{OPENING_TIMES}{weekday}.{span}.{end}"))
}

/// Where what somebody is paid lies, the least and the most, for a year: of what says for which time it is.
pub const YEARLY_PAY: [&str; 2] = ["pay.from", "pay.to"];
/// Where what something costs each month lies, of what says that it is paid by the day, week, month or year.
pub const MONTHLY_PRICE: &str = "offers.monthly";
/// Where it lies for what something is offered: [`FOR_RENT`] or [`FOR_SALE`].
pub const OFFERED: &str = "offers.offered";
/// What is offered for rent.
pub const FOR_RENT: &str = "rent";
/// What is offered for sale.
pub const FOR_SALE: &str = "sale";
/// Where what something costs each hour lies.
pub const HOURLY_PRICE: &str = "offers.hourly";

/// Where the last day lies on which an item is not over, in days since 1970.
pub const LAST_DAY: &str = "lastDay";
/// What the ends of a range of measures lie under, below the measures: `additionalProperty.Head size.metre.rangeFrom`.
pub const RANGE_ENDS: [&str; 2] = ["rangeFrom", "rangeTo"];
/// What the months lie under, 1 to 12, that a property names: `additionalProperty.Season.calendarMonth`.
pub const CALENDAR_MONTH: &str = "calendarMonth";
/// Where the things lie that an item says are not in it, each as [`forecourt_vocabulary::thing_key`] has it. No property has
/// such a name.
pub const ABSENT: &str = "\u{1}absent";
/// What became of an event: `https://schema.org/EventCancelled`.
pub const EVENT_STATUS: &str = "eventStatus";
/// The last day of what was cancelled: before any day that a date can name, so that what took place long ago is after it.
pub const CANCELLED_DAY: f64 = -1e7;
/// The area of the vocabulary whose classes are eaten or put on the skin.
pub const FOOD: &str = "food";
/// Words of a warning that permits what it is about.
pub const PERMITTING: &[&str] = &[
    "may",
    "can",
    "safe",
    "suitable",
    "allowed",
    "permitted",
    "ok",
    "yes",
    "darf",
    "kann",
    "geeignet",
    "erlaubt",
    "unbedenklich",
    "ja",
    "peut",
    "peuvent",
    "convient",
    "compatible",
    "autorisé",
    "oui",
    "puede",
    "pueden",
    "apto",
    "apta",
    "adecuado",
    "permitido",
    "sí",
];
/// Words of a warning that forbids it, or leaves it to somebody who knows.
pub const FORBIDDING: &[&str] = &[
    "not",
    "no",
    "never",
    "avoid",
    "only",
    "unless",
    "except",
    "until",
    "ask",
    "consult",
    "talk",
    "contact",
    "doctor",
    "physician",
    "pharmacist",
    "leaflet",
    "unknown",
    "insufficient",
    "harm",
    "risk",
    "caution",
    "contraindicated",
    "nicht",
    "kein",
    "keine",
    "nie",
    "nur",
    "vermeiden",
    "arzt",
    "apotheker",
    "rücksprache",
    "risiko",
    "vorsicht",
    "schaden",
    "ne",
    "pas",
    "jamais",
    "éviter",
    "seulement",
    "médecin",
    "pharmacien",
    "avis",
    "risque",
    "prudence",
    "nunca",
    "evitar",
    "solo",
    "sólo",
    "médico",
    "farmacéutico",
    "consultar",
    "riesgo",
    "precaución",
    "kontraindiziert",
];
/// Properties that say what sort of thing an item is.
pub(crate) const SORT_PATHS: &[&str] =
    &["genre", "recipeCategory", "recipeCuisine", "category", "articleSection", "eventType"];
/// Properties that say where something is. Countries stand as names or as codes.
pub const PLACE_PATHS: &[&str] = &[
    "location.address.addressLocality",
    "location.address.addressRegion",
    "location.address.addressCountry",
    "location.address",
    "location.name",
    "location",
    "address.addressLocality",
    "address.addressRegion",
    "address.addressCountry",
    "address",
    "containedInPlace.address.addressLocality",
    "containedInPlace.address.addressRegion",
    "containedInPlace.address.addressCountry",
    "jobLocation.address.addressLocality",
    "jobLocation.address.addressRegion",
    "jobLocation.address.addressCountry",
    "hasCourseInstance.location.address.addressLocality",
    "hasCourseInstance.location.address.addressRegion",
    "hasCourseInstance.location.name",
    "availableAtOrFrom.address.addressLocality",
    "areaServed.name",
    "areaServed",
    "spatialCoverage.name",
    "spatialCoverage",
    "contentLocation.name",
    "countryOfOrigin.name",
    "countryOfOrigin",
];

/// The property of the vocabulary that says for how many people there is room.
pub(crate) const CAPACITY: &str = "capacity";
/// The one that says how many seats there are: so many people have a place.
pub(crate) const SEATS: &str = "seats";
