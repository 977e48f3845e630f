//! What a variant is chosen by: colour, size and the like, by schema.org's names.

/// Properties, and what shops call them.
const CHOICES: &[(&str, &[&str])] = &[
    ("color", &["color", "colour", "farbe", "couleur", "colore", "kleur"]),
    (
        "size",
        &[
            "size",
            "größe",
            "groesse",
            "grösse",
            "taille",
            "talla",
            "taglia",
            "maat",
            "shoesize",
            "schuhgröße",
            "pointure",
        ],
    ),
    ("material", &["material", "matière", "matiere", "materiale", "fabric", "stoff"]),
    ("pattern", &["pattern", "muster", "motif", "motivo", "estampado"]),
    ("width", &["width", "breite", "largeur", "ancho"]),
];

/// The property of what a shop calls a choice. `None`: it is one of the shop's own.
pub(super) fn property(said: &str) -> Option<&'static str> {
    let folded: String = said.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    // WooCommerce and Magento put `pa_` in front of what is theirs.
    let bare = folded.strip_prefix("pa").unwrap_or(&folded);
    let known = |name: &str| CHOICES.iter().find(|(_, names)| names.contains(&name)).map(|(property, _)| *property);
    known(&folded).or_else(|| known(bare))
}
