//! The files that come with the program.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("shipped/", $name), include_str!(concat!("../data/", $name)))),*]
    };
}

/// Their names, for messages, and their texts.
pub(crate) const SHIPPED: &[(&str, &str)] = files!["absence.toml", "food.toml"];
