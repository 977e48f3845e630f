//! Properties that several rules know.

/// Where the ages lie that an item is for, as an index keeps them.
pub const AGES: [&str; 2] = ["suitableAge.from", "suitableAge.to"];
/// Where the first and the last day of an event lie, in days since 1970.
pub const EVENT_DAYS: [&str; 2] = ["eventDays.from", "eventDays.to"];
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
    "jobLocation.address.addressLocality",
    "jobLocation.address.addressRegion",
    "jobLocation.address.addressCountry",
    "availableAtOrFrom.address.addressLocality",
    "areaServed.name",
    "areaServed",
    "spatialCoverage.name",
    "spatialCoverage",
    "contentLocation.name",
    "countryOfOrigin.name",
    "countryOfOrigin",
];
