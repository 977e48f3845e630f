//! Units of measures: what items and questions say of lengths, weights, areas and the like, in one base unit each.

/// What a unit measures. Its id ends the path under which an item's measure is kept in the base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// In metres.
    Length,
    /// In grams.
    Mass,
    /// In square metres.
    Area,
    /// In litres.
    Volume,
    /// In watts.
    Power,
    /// In bytes.
    Data,
    /// In degrees Celsius.
    Temperature,
    /// In ampere hours.
    Charge,
    /// In volts.
    Voltage,
    /// In lumens.
    Light,
    /// In days: ages, warranties.
    Duration,
    /// In minutes: how long something lasts or takes.
    Time,
    /// In parts of a hundred.
    Percent,
    /// In decibels.
    Sound,
    /// In hertz.
    Frequency,
    /// In turns a minute.
    Rotation,
    /// In watt hours.
    Energy,
    /// In kilometres an hour.
    Speed,
    /// In bars.
    Pressure,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Length,
        Self::Mass,
        Self::Area,
        Self::Volume,
        Self::Power,
        Self::Data,
        Self::Temperature,
        Self::Charge,
        Self::Voltage,
        Self::Light,
        Self::Duration,
        Self::Time,
        Self::Percent,
        Self::Sound,
        Self::Frequency,
        Self::Rotation,
        Self::Energy,
        Self::Speed,
        Self::Pressure,
    ];

    /// The name of the base unit, as the last part of a path.
    pub fn id(self) -> &'static str {
        match self {
            Self::Length => "metre",
            Self::Mass => "gram",
            Self::Area => "square_metre",
            Self::Volume => "litre",
            Self::Power => "watt",
            Self::Data => "byte",
            Self::Temperature => "celsius",
            Self::Charge => "ampere_hour",
            Self::Voltage => "volt",
            Self::Light => "lumen",
            Self::Duration => "day",
            Self::Time => "minute",
            Self::Percent => "percent",
            Self::Sound => "decibel",
            Self::Frequency => "hertz",
            Self::Rotation => "turns_a_minute",
            Self::Energy => "watt_hour",
            Self::Speed => "kilometre_an_hour",
            Self::Pressure => "bar",
        }
    }

    /// Whether people tell its amounts in one unit only, and leave that out: "a spin speed of 1400".
    pub(crate) fn has_one_unit(self) -> bool {
        matches!(self, Self::Percent | Self::Sound | Self::Rotation | Self::Voltage | Self::Light)
    }

    /// The dimension whose measures a path holds, and the path of the property.
    pub fn of_path(path: &str) -> Option<(Self, &str)> {
        let (property, last) = path.rsplit_once('.')?;
        Some((Self::ALL.into_iter().find(|dimension| dimension.id() == last)?, property))
    }
}

/// Days of a year.
const YEAR: f64 = 365.0;
/// Words for units, folded, with what one is in the base unit. The code of UN/CEFACT comes first, where there is one.
const UNITS: &[(Dimension, f64, &[&str])] = &[
    (
        Dimension::Length,
        0.001,
        &[
            "mmt",
            "mm",
            "millimeter",
            "millimeters",
            "millimetre",
            "millimetres",
            "milimetro",
            "milimetros",
            "millimetern",
        ],
    ),
    (
        Dimension::Length,
        0.01,
        &[
            "cmt",
            "cm",
            "centimeter",
            "centimeters",
            "centimetre",
            "centimetres",
            "zentimeter",
            "zentimetern",
            "centimetro",
            "centimetros",
        ],
    ),
    (Dimension::Length, 1.0, &["mtr", "m", "meter", "meters", "metre", "metres", "metro", "metros", "metern"]),
    (
        Dimension::Length,
        1_000.0,
        &["kmt", "km", "kilometer", "kilometers", "kilometre", "kilometres", "kilometro", "kilometros", "kilometern"],
    ),
    (Dimension::Length, 1_609.344, &["smi", "mile", "miles", "meilen", "millas"]),
    (Dimension::Length, 0.025_4, &["inh", "inch", "inches", "zoll", "pouces", "pulgadas", "\""]),
    (Dimension::Length, 0.304_8, &["fot", "ft", "foot", "feet"]),
    (Dimension::Mass, 0.000_001, &["mc", "mcg", "µg", "μg", "microgram", "micrograms"]),
    (Dimension::Mass, 0.001, &["mgm", "mg", "milligram", "milligrams", "milligramm", "milligrammes", "miligramos"]),
    (Dimension::Mass, 1.0, &["grm", "g", "gr", "gram", "grams", "gramm", "gramme", "grammes", "gramo", "gramos"]),
    (
        Dimension::Mass,
        1_000.0,
        &["kgm", "kg", "kilo", "kilos", "kilogram", "kilograms", "kilogramm", "kilogrammes", "kilogramo", "kilogramos"],
    ),
    (Dimension::Mass, 1e6, &["tne", "t", "ton", "tons", "tonne", "tonnes", "tonnen", "tonelada", "toneladas"]),
    (Dimension::Mass, 453.592_37, &["lbr", "lb", "lbs", "pound", "pounds"]),
    (Dimension::Mass, 28.349_523, &["onz", "oz", "ounce", "ounces"]),
    (
        Dimension::Area,
        1.0,
        &[
            "mtk",
            "m2",
            "m²",
            "sqm",
            "qm",
            "square meter",
            "square meters",
            "square metre",
            "square metres",
            "quadratmeter",
            "quadratmetern",
            "metre carre",
            "metres carres",
            "metro cuadrado",
            "metros cuadrados",
        ],
    ),
    (Dimension::Area, 10_000.0, &["har", "ha", "hectare", "hectares", "hektar", "hectarea", "hectareas"]),
    (Dimension::Area, 0.092_903_04, &["ftk", "sqft", "sq ft", "square foot", "square feet"]),
    (Dimension::Volume, 0.001, &["mlt", "ml", "milliliter", "milliliters", "millilitre", "millilitres", "mililitros"]),
    (Dimension::Volume, 0.01, &["clt", "cl", "centiliter", "centilitre", "centilitres"]),
    (Dimension::Volume, 1.0, &["ltr", "l", "liter", "liters", "litre", "litres", "litern", "litro", "litros"]),
    (Dimension::Power, 1.0, &["wtt", "w", "watt", "watts", "vatios"]),
    (Dimension::Power, 1_000.0, &["kwt", "kw", "kilowatt", "kilowatts"]),
    (Dimension::Power, 735.498_75, &["bhp", "hp", "ps", "cv", "horsepower"]),
    (Dimension::Data, 1e6, &["4l", "mb", "megabyte", "megabytes"]),
    (Dimension::Data, 1e9, &["e34", "gb", "gigabyte", "gigabytes", "go"]),
    (Dimension::Data, 1e12, &["e35", "tb", "terabyte", "terabytes"]),
    (
        Dimension::Temperature,
        1.0,
        &[
            "cel",
            "°c",
            "°",
            "degree",
            "degrees",
            "grad",
            "degres",
            "grados",
            "celsius",
            "degree celsius",
            "degrees celsius",
            "grad celsius",
            "degres celsius",
            "grados celsius",
        ],
    ),
    (Dimension::Charge, 0.001, &["e09", "mah"]),
    (Dimension::Charge, 1.0, &["amh", "ah"]),
    (Dimension::Voltage, 1.0, &["vlt", "v", "volt", "volts", "voltios"]),
    (Dimension::Light, 1.0, &["lum", "lm", "lumen", "lumens", "lumenes"]),
    (Dimension::Time, 1.0 / 60.0, &["sec", "secs", "second", "seconds", "sekunde", "sekunden", "secondes", "segundos"]),
    (Dimension::Time, 1.0, &["min", "mins", "minute", "minutes", "minuten", "minuto", "minutos"]),
    (
        Dimension::Time,
        60.0,
        &["hur", "h", "hr", "hrs", "std", "hour", "hours", "stunde", "stunden", "heure", "heures", "hora", "horas"],
    ),
    (
        Dimension::Percent,
        1.0,
        &["p1", "%", "percent", "prozent", "pour cent", "por ciento", "vol.-%", "% vol", "% vol."],
    ),
    (Dimension::Sound, 1.0, &["2n", "db", "dba", "db(a)", "decibel", "decibels", "dezibel", "decibelios"]),
    (Dimension::Frequency, 1.0, &["htz", "hz", "hertz", "hercios"]),
    (Dimension::Frequency, 1e3, &["khz", "kilohertz"]),
    (Dimension::Frequency, 1e6, &["mhz", "megahertz"]),
    (Dimension::Frequency, 1e9, &["a86", "ghz", "gigahertz"]),
    (Dimension::Rotation, 1.0, &["rpm", "u/min", "tr/min", "r/min", "1/min", "min-1"]),
    (Dimension::Energy, 1.0, &["whr", "wh", "watt hours", "wattstunden", "vatios hora"]),
    (Dimension::Energy, 1e3, &["kwh", "kilowatt hours", "kilowattstunden"]),
    (Dimension::Speed, 1.0, &["kmh", "km/h", "kph"]),
    (Dimension::Speed, 1.609_344, &["hm", "mph"]),
    (Dimension::Speed, 3.6, &["mts", "m/s"]),
    (Dimension::Pressure, 1.0, &["bar"]),
    (Dimension::Duration, 1.0, &["day", "days", "tag", "tage", "tagen", "jour", "jours", "dia", "dias"]),
    (
        Dimension::Duration,
        7.0,
        &["wee", "week", "weeks", "woche", "wochen", "semaine", "semaines", "semana", "semanas"],
    ),
    (
        Dimension::Duration,
        YEAR / 12.0,
        &["mon", "month", "months", "monat", "monate", "monaten", "mois", "mes", "meses"],
    ),
    (Dimension::Duration, YEAR, &["ann", "year", "years", "jahr", "jahre", "jahren", "ans", "annees", "ano", "anos"]),
];
/// Bytes of the longest text that is a measure.
const MEASURE_BYTES_MAX: usize = 40;
/// Bytes of the longest word of a unit.
const UNIT_BYTES_MAX: usize = 20;

/// The unit of a word or a code, in any case and with or without accents: what it measures, and what one is in the
/// base unit.
pub fn unit(word: &str) -> Option<(Dimension, f64)> {
    let word = word.trim().trim_end_matches('.');
    if word.is_empty() || word.len() > UNIT_BYTES_MAX {
        return None;
    }
    let word = forecourt_vocabulary::folded(word);
    let found = UNITS.iter().find(|(_, _, words)| words.contains(&word.as_str()));
    found.map(|(dimension, factor, _)| (*dimension, *factor))
}

/// Words for degrees that do not begin at the same nothing, folded.
const FAHRENHEIT: [&str; 5] = ["fah", "°f", "fahrenheit", "degrees fahrenheit", "grad fahrenheit"];

/// A number of a unit in the base unit of what that measures, where a unit of temperature may have another nothing.
pub fn in_base(word: &str, number: f64) -> Option<(Dimension, f64)> {
    let word = word.trim();
    if word.len() <= UNIT_BYTES_MAX && FAHRENHEIT.contains(&forecourt_vocabulary::folded(word).as_str()) {
        return Some((Dimension::Temperature, (number - 32.0) / 1.8));
    }
    written_unit(word).map(|(dimension, factor)| (dimension, number * factor))
}

/// The unit of what an item states, where "in" are inches: in a question it is a word.
fn written_unit(word: &str) -> Option<(Dimension, f64)> {
    if word.trim() == "in" { unit("inch") } else { unit(word) }
}

/// The unit that a text begins with, and the bytes that it takes. The longest word counts; it ends where no letter
/// follows.
pub(crate) fn leading(text: &str) -> Option<(Dimension, f64, usize)> {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= UNIT_BYTES_MAX);
    let is_end = |end: &usize| text[*end..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    let mut ends: Vec<usize> = ends.filter(is_end).collect();
    ends.reverse();
    ends.into_iter().find_map(|end| unit(&text[..end]).map(|(dimension, factor)| (dimension, factor, end)))
}

/// Words in front of a measure that leave it what it is, folded: "up to 18 hours".
const MEASURE_LEADS: &[&str] = &[
    "up to", "about", "approx.", "approx", "ca.", "ca", "circa", "max.", "max", "bis zu", "bis", "etwa", "environ",
    "jusqu'a", "hasta", "unos", "~",
];
/// What stands between the ends of a range, in lower case.
const RANGE_TIES: &[&str] = &[" - ", "-", " – ", "–", " to ", " bis ", " a ", " à "];

/// A text without the words in front of a measure.
fn without_lead(text: &str) -> &str {
    let text = text.trim();
    let Some(at) = text.find(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '−')) else { return text };
    let lead = forecourt_vocabulary::folded(&text[..at]);
    if MEASURE_LEADS.contains(&lead.trim()) { &text[at..] } else { text }
}

/// The two numbers of a text that is a range, and what stands behind them: `2-5`, `20 to 30 minutes`.
fn range(text: &str) -> Option<(f64, f64, &str)> {
    let text = without_lead(text);
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let (low, rest) = text.split_at(text.find(|c: char| !is_digit(c))?);
    let tie = RANGE_TIES.iter().find_map(|tie| rest.strip_prefix(tie))?;
    let end = tie.find(|c: char| !is_digit(c)).unwrap_or(tie.len());
    let (from, to) = (decimal(low)?, decimal(&tie[..end])?);
    (from < to && text.len() <= MEASURE_BYTES_MAX).then(|| (from, to, tie[end..].trim()))
}

/// The ends of a text that is a range of bare numbers: the `2-5` of a game for so many players.
pub fn bare_range(text: &str) -> Option<(f64, f64)> {
    range(text).filter(|(_, _, behind)| behind.is_empty()).map(|(from, to, _)| (from, to))
}

/// The ends of a text that is a range with its unit, in the base unit: `20 to 30 minutes`.
pub fn measured_range(text: &str) -> Option<(Dimension, f64, f64)> {
    let (from, to, behind) = range(text)?;
    let (dimension, factor) = written_unit(behind)?;
    Some((dimension, from * factor, to * factor))
}

/// Signs between the sides of a thing.
const SIDES: [char; 3] = ['x', 'X', '×'];
/// Sides that a thing has at most.
const SIDES_MAX: usize = 3;

/// The longest side of a text that has two or three with one unit behind them, in the base unit: `60 x 50 x 165 cm` is 1.65
/// metres long.
pub fn longest_side(text: &str) -> Option<(Dimension, f64)> {
    let text = text.trim();
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    if text.len() > MEASURE_BYTES_MAX || !text[..end].contains(SIDES) {
        return None;
    }
    let sides: Option<Vec<f64>> = text[..end].split(SIDES).map(|side| decimal(side.trim())).collect();
    let sides = sides.filter(|sides| (2..=SIDES_MAX).contains(&sides.len()))?;
    let longest = sides.into_iter().fold(f64::MIN, f64::max);
    in_base(&text[end..], longest).filter(|(dimension, _)| *dimension == Dimension::Length)
}

/// Numbers of one list that are read.
const LIST_NUMBERS_MAX: usize = 40;
/// Bytes of such a list.
const LIST_BYTES_MAX: usize = 240;

/// The numbers of a text that is a list of them, in the base unit where the last one has a unit: `7, 8, 8.5` are three
/// sizes, and `156, 163, 170 cm` three lengths.
pub fn listed(text: &str) -> Option<(Option<Dimension>, Vec<f64>)> {
    let parts: Vec<&str> = text.split([',', ';']).collect();
    let is_list = (2..=LIST_NUMBERS_MAX).contains(&parts.len()) && text.len() <= LIST_BYTES_MAX;
    // "1,250" is one number.
    if !is_list || !parts[1..].iter().all(|part| part.starts_with(' ')) {
        return None;
    }
    let (last, others) = parts.split_last()?;
    let last = last.trim();
    let end = last.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(last.len());
    let unit = match last[end..].trim() {
        "" => None,
        unit => Some(written_unit(unit)?),
    };
    let (dimension, factor) = unit.unzip();
    let own = |part: &str| {
        let part = part.trim();
        let bare = part.parse::<f64>().ok().map(|number| number * factor.unwrap_or(1.0));
        bare.or_else(|| measured(part).filter(|(of, _)| Some(*of) == dimension).map(|(_, number)| number))
    };
    let mut all: Vec<f64> = others.iter().map(|part| own(part)).collect::<Option<_>>()?;
    all.push(last[..end].parse::<f64>().ok()? * factor.unwrap_or(1.0));
    all.iter().all(|number| number.is_finite()).then_some((dimension, all))
}

/// A text that is one number and its unit, in the base unit: `10,000 mm` is 10 metres, and `up to 18 hours` are 18.
pub fn measured(text: &str) -> Option<(Dimension, f64)> {
    let text = without_lead(text);
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '−'));
    if text.len() > MEASURE_BYTES_MAX || !begins {
        return None;
    }
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | '−' | '\u{202f}' | '\u{a0}');
    let end = text.find(|c: char| !is_number(c))?;
    in_base(&text[end..], decimal(&text[..end])?)
}

/// A number with `.` or `,` between thousands or in front of decimals. A mark in front of three digits that stands
/// once is one of thousands where it is a comma.
fn decimal(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().replace('−', "-");
    let (last, marks) = (text.rfind(['.', ',']), text.matches(['.', ',']).count());
    let plain = match last {
        None => text,
        Some(at) => {
            let is_thousands = text.len() - at == 4 && (marks > 1 || text[at..].starts_with(','));
            let (whole, part) = text.split_at(at);
            let whole = whole.replace(['.', ','], "");
            if is_thousands { format!("{whole}{}", &part[1..]) } else { format!("{whole}.{}", &part[1..]) }
        }
    };
    plain.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn measures_are_kept_in_their_base_unit() {
        for (text, dimension, value) in [
            ("10,000 mm", Dimension::Length, 10.0),
            ("54.000,5 km", Dimension::Length, 54_000_500.0),
            ("1.2kg", Dimension::Mass, 1_200.0),
            ("1,2 kg", Dimension::Mass, 1_200.0),
            ("500 mg", Dimension::Mass, 0.5),
            ("80 m²", Dimension::Area, 80.0),
            ("-5 °C", Dimension::Temperature, -5.0),
            ("0.75 l", Dimension::Volume, 0.75),
            ("up to 18 hours", Dimension::Time, 1_080.0),
            ("bis zu 90 Minuten", Dimension::Time, 90.0),
            ("2 t", Dimension::Mass, 2e6),
            ("10 in", Dimension::Length, 0.254),
            ("14,5 %", Dimension::Percent, 14.5),
            ("70 percent", Dimension::Percent, 70.0),
            ("392 °F", Dimension::Temperature, 200.0),
            ("-40 Fahrenheit", Dimension::Temperature, -40.0),
            ("200 degrees Celsius", Dimension::Temperature, 200.0),
        ] {
            let (found, base) = measured(text).unwrap_or_else(|| panic!("{text}"));
            assert!(found == dimension && (base - value).abs() < 1e-6, "{text}: {base}");
        }
        for text in ["7 dwarfs", "mm", "12", "1.2.3 x kg", "a 5 kg bag", ""] {
            assert_eq!(measured(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_have_two_ends() {
        assert_eq!(
            (bare_range("2-5"), bare_range("1 to 4"), bare_range("2 – 8")),
            (Some((2.0, 5.0)), Some((1.0, 4.0)), Some((2.0, 8.0)))
        );
        assert_eq!(measured_range("20 to 30 minutes"), Some((Dimension::Time, 20.0, 30.0)));
        assert_eq!(measured_range("1 à 2 heures"), Some((Dimension::Time, 60.0, 120.0)));
        for text in ["5-2", "2-", "2-5 dwarfs", "a 2-5", "2", ""] {
            assert_eq!((bare_range(text), measured_range(text)), (None, None), "{text}");
        }
    }

    #[test]
    fn lists_have_numbers_of_one_unit() {
        let metres = |all: &[f64]| Some((Some(Dimension::Length), all.to_vec()));
        assert_eq!(listed("7, 8, 8.5"), Some((None, vec![7.0, 8.0, 8.5])));
        assert_eq!(listed("100, 200 cm"), metres(&[1.0, 2.0]));
        assert_eq!(listed("100 cm; 200 cm"), metres(&[1.0, 2.0]));
        for text in ["7", "1,250", "7, large", "S, M, L", "100 g, 2 m", "7,", "", "7, 8 of 9"] {
            assert_eq!(listed(text), None, "{text}");
        }
        let many = |n: usize| vec!["7"; n].join(", ");
        assert!(listed(&many(LIST_NUMBERS_MAX)).is_some() && listed(&many(LIST_NUMBERS_MAX + 1)).is_none());
    }

    #[test]
    fn a_thing_is_as_long_as_its_longest_side() {
        let metres = |text: &str| longest_side(text).map(|(_, metres)| (metres * 100.0).round());
        assert_eq!((metres("60 x 50 x 165 cm"), metres("1,2×0,8 m")), (Some(165.0), Some(120.0)));
        for text in ["60 cm", "60 x 50", "60 x 50 kg", "1 x 2 x 3 x 4 cm", "a x b cm", "x cm", ""] {
            assert_eq!(metres(text), None, "{text}");
        }
    }

    #[test]
    fn codes_and_words_are_one_unit() {
        assert_eq!(unit("KMT"), unit("kilometres"));
        assert_eq!(unit("Métros"), unit("m"));
        assert_eq!(leading("mm or more").map(|(_, _, end)| end), Some(2));
        assert_eq!(leading("square metres, please").map(|(_, _, end)| end), Some(13));
        assert!(leading("men").is_none());
    }

    #[test]
    fn no_word_is_two_units() {
        let mut seen = std::collections::BTreeSet::new();
        for word in UNITS.iter().flat_map(|(_, _, words)| words.iter()) {
            assert!(seen.insert(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_finite_measure_or_none(text in any::<String>(), number in "[0-9.,−-]{0,12} ?(mm|kg|m²|°C)") {
            prop_assert!(measured(&text).is_none_or(|(_, value)| value.is_finite()));
            prop_assert!(measured(&number).is_none_or(|(_, value)| value.is_finite()));
            prop_assert!(measured_range(&number).is_none_or(|(_, from, to)| from < to));
            prop_assert!(bare_range(&text).is_none_or(|(from, to)| from < to));
            prop_assert!(listed(&text).is_none_or(|(_, all)| all.len() > 1));
            leading(&text);
            prop_assert!(longest_side(&text).is_none_or(|(_, value)| value.is_finite()));
        }
    }
}
