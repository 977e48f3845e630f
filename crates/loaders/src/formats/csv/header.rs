//! What the columns of a table are, in schema.org's words.

use std::collections::HashMap;

use crate::formats::Reason;
use crate::limits::{COLUMN_NAMES_SAID, COLUMNS_MAX};
use crate::mapping::TableMapping;

/// Properties, and what people and programs call their columns: without case, spaces and hyphens. A property is
/// known by its own name too.
const KNOWN: &[(&str, &[&str])] = &[
    ("@type", &["type", "schematype"]),
    ("@id", &[]),
    (
        "name",
        &[
            "title",
            "productname",
            "producttitle",
            "itemname",
            "eventname",
            "titel",
            "bezeichnung",
            "produktname",
            "artikelname",
            "nom",
            "nomduproduit",
            "titre",
            "nombre",
            "titulo",
            "nome",
        ],
    ),
    ("headline", &[]),
    (
        "description",
        &[
            "desc",
            "longdescription",
            "productdescription",
            "details",
            "beschreibung",
            "artikelbeschreibung",
            "descripcion",
            "descrizione",
        ],
    ),
    ("text", &["body", "content", "inhalt", "texte", "texto"]),
    ("url", &["link", "href", "productlink", "producturl", "webseite", "website", "lien", "enlace"]),
    ("image", &["imagelink", "imageurl", "picture", "photo", "imagesrc", "bild", "bildurl", "imagen"]),
    ("offers.price", &["price", "preis", "verkaufspreis", "prix", "precio", "prezzo", "unitprice", "variantprice"]),
    ("offers.priceCurrency", &["pricecurrency", "currency", "waehrung", "währung", "devise", "moneda", "valuta"]),
    (
        "offers.availability",
        &[
            "availability",
            "stockstatus",
            "verfügbarkeit",
            "verfuegbarkeit",
            "disponibilité",
            "disponibilite",
            "disponibilidad",
        ],
    ),
    ("offers.itemCondition", &["condition", "itemcondition", "zustand"]),
    (
        "category",
        &[
            "producttype",
            "productcategory",
            "kategorie",
            "warengruppe",
            "catégorie",
            "categorie",
            "categoría",
            "categoria",
        ],
    ),
    ("brand", &["marke", "hersteller", "marque", "marca", "vendor"]),
    ("manufacturer", &[]),
    ("sku", &["artikelnummer", "itemnumber", "artnr", "variantsku"]),
    ("gtin", &["ean", "upc", "barcode", "gtin13"]),
    ("mpn", &[]),
    ("color", &["colour", "farbe", "couleur"]),
    ("size", &["größe", "groesse", "taille", "talla"]),
    ("material", &[]),
    ("keywords", &["tags", "schlagworte", "schlagwörter", "stichworte", "motsclés"]),
    ("genre", &[]),
    ("author", &["autor", "auteur"]),
    (
        "datePublished",
        &["published", "publishedat", "publicationdate", "pubdate", "erscheinungsdatum", "veröffentlicht"],
    ),
    ("dateModified", &["modified", "updated", "updatedat", "lastmodified"]),
    ("startDate", &["start", "startsat", "begin", "beginn", "starttime", "début", "inicio"]),
    ("endDate", &["end", "endsat", "ende", "endtime", "fin"]),
    ("location", &["venue", "ort", "veranstaltungsort", "lieu", "lugar"]),
    ("address", &["adresse", "anschrift", "dirección"]),
    ("telephone", &["phone", "tel", "telefon", "téléphone", "teléfono"]),
    ("email", &["mail", "emailaddress"]),
    ("openingHours", &["hours", "öffnungszeiten", "oeffnungszeiten", "horaires", "horario"]),
    ("inLanguage", &["language", "lang", "sprache", "langue", "idioma"]),
    ("aggregateRating.ratingValue", &["rating", "ratingvalue", "bewertung"]),
    ("aggregateRating.reviewCount", &["reviewcount", "reviews", "ratingcount"]),
    ("recipeIngredient", &["ingredients", "zutaten", "ingrédients", "ingredientes"]),
    ("recipeInstructions", &["instructions", "zubereitung"]),
    ("totalTime", &[]),
    ("prepTime", &[]),
    ("cookTime", &[]),
    ("recipeYield", &[]),
    ("recipeCategory", &[]),
    ("recipeCuisine", &[]),
    ("director", &[]),
    ("actor", &[]),
    ("duration", &[]),
    ("isbn", &[]),
    ("publisher", &[]),
    ("numberOfPages", &[]),
    ("performer", &[]),
    ("organizer", &[]),
    ("articleBody", &[]),
    ("lowPrice", &[]),
    ("highPrice", &[]),
    ("price", &[]),
    ("offers", &[]),
    ("brand.name", &[]),
    ("aggregateRating", &[]),
    ("addressLocality", &[]),
    ("postalCode", &[]),
    ("streetAddress", &[]),
    ("addressCountry", &[]),
    ("identifier", &[]),
    ("priceRange", &[]),
    ("jobTitle", &[]),
    ("datePosted", &[]),
    ("geo", &[]),
    ("latitude", &[]),
    ("longitude", &[]),
    ("alternateName", &[]),
    ("sameAs", &[]),
];

/// A column that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// What it is called.
    pub(super) name: String,
    /// The dot path of its property. Empty: it is not read.
    pub(super) path: String,
    /// The text between several values of one cell. `None`: a cell is one value.
    pub(super) separator: Option<String>,
}

/// The columns of a header row. Fails when no item could have a name, and past [`COLUMNS_MAX`].
pub(super) fn columns(header: &[String], mapping: Option<&TableMapping>) -> Result<Vec<Column>, Reason> {
    if header.len() > COLUMNS_MAX {
        return Err(Reason::Rest(format!("more than {COLUMNS_MAX} columns")));
    }
    let known = known();
    let mut of_path: HashMap<String, &str> = HashMap::new();
    let mut columns = Vec::with_capacity(header.len());
    for name in header.iter().map(|name| name.trim()) {
        let said = mapping.and_then(|mapping| looked_up(&mapping.columns, name));
        let mut path = said.cloned().unwrap_or_else(|| path(name, &known));
        // Two columns with different names are two properties; with one name they are a list.
        if said.is_none() && of_path.get(path.as_str()).is_some_and(|other| *other != name) {
            path = name.to_owned();
        }
        of_path.entry(path.clone()).or_insert(name);
        let separator = mapping.and_then(|mapping| looked_up(&mapping.lists, name)).cloned();
        columns.push(Column { name: name.to_owned(), path, separator });
    }
    let constants = mapping.map(|mapping| &mapping.constants);
    let names = ["name", "headline", "title"];
    let is_named = columns.iter().any(|column| names.contains(&column.path.as_str()))
        || constants.is_some_and(|constants| names.iter().any(|name| constants.contains_key(*name)));
    if is_named || header.iter().all(|name| name.trim().is_empty()) {
        return Ok(columns);
    }
    // Their names are in the reason, so that the operator sees which column to map.
    let said: Vec<&str> = header.iter().map(String::as_str).take(COLUMN_NAMES_SAID).collect();
    Err(Reason::NoNameColumn(said.join(", ")))
}

/// A key of a mapping, whatever its case.
fn looked_up<'m, T>(map: &'m std::collections::BTreeMap<String, T>, name: &str) -> Option<&'m T> {
    map.get(name).or_else(|| {
        let folded = name.to_lowercase();
        map.iter().find(|(key, _)| key.trim().to_lowercase() == folded).map(|(_, value)| value)
    })
}

fn known() -> HashMap<String, &'static str> {
    let own = KNOWN.iter().map(|(property, _)| (folded(property), *property));
    let names = KNOWN.iter().flat_map(|(property, names)| names.iter().map(|name| ((*name).to_owned(), *property)));
    // What a column is called usually counts before a property of that name: `price` is that of an offer.
    own.chain(names).collect()
}

/// Without case and without what words are joined by.
fn folded(name: &str) -> String {
    let name = name.strip_prefix("g:").unwrap_or(name).to_lowercase();
    name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-' | '/')).collect()
}

/// The path that a column means: each part of it in schema.org's spelling, if it has one.
fn path(name: &str, known: &HashMap<String, &'static str>) -> String {
    if let Some(property) = known.get(&folded(name)) {
        return (*property).to_owned();
    }
    if !name.contains('.') {
        return name.to_owned();
    }
    let own: HashMap<String, &str> = KNOWN.iter().map(|(property, _)| (folded(property), *property)).collect();
    let leaves = KNOWN.iter().filter_map(|(property, _)| property.rsplit('.').next());
    let leaves: HashMap<String, &str> = leaves.map(|leaf| (folded(leaf), leaf)).collect();
    let part = |part: &str| {
        let folded = folded(part);
        own.get(&folded).or_else(|| leaves.get(&folded)).map_or(part, |known| *known).to_owned()
    };
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(header: &[&str]) -> Vec<String> {
        let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
        columns(&header, None).unwrap().into_iter().map(|column| column.path).collect()
    }

    #[test]
    fn columns_are_known_in_any_case() {
        assert_eq!(
            paths(&["NAME", " Price ", "Image URL", "Start Date"]),
            ["name", "offers.price", "image", "startDate"]
        );
        assert_eq!(paths(&["Titel", "Preis", "Verfügbarkeit"]), ["name", "offers.price", "offers.availability"]);
        assert_eq!(paths(&["title", "g:price", "image_link"]), ["name", "offers.price", "image"]);
        assert_eq!(paths(&["Name", "OFFERS.PRICE", "x.y"]), ["name", "offers.price", "x.y"]);
        assert_eq!(paths(&["name", "title", "tag", "tag"]), ["name", "title", "tag", "tag"]);
        assert_eq!(paths(&["name", "offers.price", "price"]), ["name", "offers.price", "price"]);
    }

    #[test]
    fn a_table_without_a_name_says_what_it_has() {
        let header = ["Code".to_owned(), "Was".to_owned()];
        assert_eq!(columns(&header, None), Err(Reason::NoNameColumn("Code, Was".to_owned())));
        let mut mapping = TableMapping::default();
        mapping.columns.insert("was".to_owned(), "name".to_owned());
        mapping.columns.insert("code".to_owned(), String::new());
        let found = columns(&header, Some(&mapping)).unwrap();
        assert_eq!((found[0].path.as_str(), found[1].path.as_str()), ("", "name"));
    }

    #[test]
    fn columns_end_at_their_bound() {
        let header = |count: usize| vec!["name".to_owned(); count];
        assert!(columns(&header(COLUMNS_MAX), None).is_ok());
        assert!(matches!(columns(&header(COLUMNS_MAX + 1), None), Err(Reason::Rest(_))));
    }
}
