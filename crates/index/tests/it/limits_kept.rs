//! Limits of the kind "without X" are kept: over the whole example kitchen, by words that are written here and come
//! from no vocabulary; items that state nothing don't pass; a changed vocabulary judges items anew.

use std::path::Path;

use forecourt_index::limits::HITS_MAX;
use forecourt_index::{Hit, Options, Query};
use forecourt_understanding::{Exclusion, Filter};
use forecourt_vocabulary::Vocabulary;
use regex::Regex;

use crate::common::Shelf;

/// A limit, words that break it, and phrases with such words that don't.
struct Limit {
    exclusion: Exclusion,
    broken_by: &'static str,
    unless: &'static str,
}

fn limit(ids: &[&str], broken_by: &'static str, unless: &'static str) -> Limit {
    let is_diet = |id: &&&str| Vocabulary::shipped().diet(id).is_some_and(|diet| diet.id != "gluten-free");
    let (diets, classes): (Vec<&&str>, Vec<&&str>) = ids.iter().partition(is_diet);
    let owned = |ids: Vec<&&str>| ids.into_iter().map(|id| (*id).to_owned()).collect();
    let exclusion = Exclusion { classes: owned(classes), diets: owned(diets), words: Vec::new() };
    Limit { exclusion, broken_by, unless }
}

const MEAT: &str = "meat|beef|pork|lamb|mutton|veal|chicken|turkey|duck|goose|bacon|ham|sausages?|chorizo|salami|pepperoni|rabbit|venison|liver|lard|oxtail|brisket|prosciutto|pancetta|hot dogs?|hotdogs?|gelatine?|hamburger|marshmallows?";
const NO_MEAT: &str = "vegan|vegetarian|veggie|meatless|substitute|coconut meat|crab meat|crabmeat|imitation|chicken seasoning|chicken eggs?|duck eggs?|hamburger buns?|meat masala|meat seasoning|walnut meat|meatless|meat flavou?red|montreal|meat tenderi[sz]er|nut meats?|steak seasoning|chicken egg|goose eggs?|lamb's lettuce|rib rub|seasoning|lobster meat|shrimp meat|clam meat";
const SEA: &str = "fish|salmon|tuna|cod|anchov(?:y|ies)|shrimps?|prawns?|crabs?|crabmeat|lobster|clams?|mussels?|oysters?|squid|scallops?|octopus|sardines?|mackerel|worcestershire|crayfish|caviar|trout|halibut|tilapia|stockfish|snails?";
const NO_SEA: &str = "vegan|vegetarian|oyster mushrooms?|scallop edges?|crab apples?";
const DAIRY: &str = "milk|butter|buttermilk|cheese|cream|yogh?o?urt|ghee|parmesan|cheddar|mozzarella|ricotta|feta|mascarpone|whey|custard|kefir";
const NO_DAIRY: &str = "(?:coconut|almond|soy|rice|oat|cashew|hemp|nut|macadamia)(?:-milk| milk| cream| yogurt)|(?:peanut|almond|cocoa|apple|cashew|shea) butter|butter beans?|creamed corn|cream sherry|cream soda|cream of tartar|vegan|non-?dairy|dairy-free|butter ?nut|butternut|tiger nut milk|coconut cream|milk tins?|cheese ?cloth|milkfish|butter lettuce|soy or|rice milk|peanut milk|cream of coconut|creme de";
const GLUTEN: &str = "flour|wheat|bread|breadcrumbs?|pasta|spaghetti|noodles?|macaroni|barley|rye|couscous|bulgh?ur|semolina|crackers?|beer|malt|soy sauce|pastry|phyllo|filo|seitan|orzo|penne|oats?|oatmeal|baguette|panko";
const NO_GLUTEN: &str = "(?:rice|corn|chick-?pea|cassava|plantain|yam|potato|almond|coconut|buckwheat|millet|sorghum|teff|amaranth|gram|besan|lentil|tapioca|maize?|arrowroot|quinoa|soy|pea|plantain|mung bean|moong|urad|glutinous rice|sweet rice|ragi|bean|banana|coconut) flour|flour corn|gluten-free|wheat-free|flourless|spaghetti sauce|pasta sauce|rice noodles?|shirataki noodles?|spaghetti squash|ginger beer|root beer|corn masa flour|floury|flour \\(besan\\)|indian rice noodles|bread ?fruit|besan \\(chickpea flour\\)|gram \\(chickpea\\) flour|glass noodles?|bread machine yeast|kelp noodles?|chickpea\\) flour|mochiko\\)|sweet potato noodles|beer yeast|cassava bread|rice\\) flour";
const NUTS: &str = "nuts?|almonds?|walnuts?|pecans?|cashews?|hazelnuts?|pistachios?|peanuts?|groundnuts?|macadamias?|marzipan|praline|nutella|amaretto";
const NO_NUTS: &str = "tiger nuts?|water chestnuts?|nut-free|tiger nut milk";
const ALCOHOL: &str =
    "wine|beer|rum|vodka|brandy|whiske?y|bourbon|gin|tequila|liqueur|sherry|cognac|sake|champagne|vermouth|kirsch";
const NO_ALCOHOL: &str = "(?:rice |red |white |)wine vinegar|sherry vinegar|champagne vinegar|ginger beer|root beer|rum extract|rum flavou?ring|brandy extract|(?:red|white|rice)-wine vinegar|non-?alcoholic|ginger ale|wine or cider vinegar|wine \\(or [a-z]+\\) vinegar|wineglass(?:ful)?";

/// Thirty limits.
fn limits() -> Vec<Limit> {
    vec![
        limit(&["vegetarian"], MEAT, NO_MEAT),
        limit(&["vegetarian"], SEA, NO_SEA),
        limit(&["vegan"], MEAT, NO_MEAT),
        limit(&["vegan"], SEA, NO_SEA),
        limit(&["vegan"], DAIRY, NO_DAIRY),
        limit(
            &["vegan"],
            "eggs?|yolks?|honey|mayonnaise|meringue",
            "egg-free|vegan|egg replacer|eggplants?|honeydew|egg substitute|vegetarian",
        ),
        limit(&["pescatarian"], MEAT, NO_MEAT),
        limit(
            &["meat"],
            MEAT,
            "gelatine?|marshmallows?|vegan|vegetarian|veggie|meatless|substitute|coconut meat|crab meat|crabmeat|imitation|chicken seasoning|chicken eggs?|duck eggs?|hamburger buns?|meat masala|meat seasoning|walnut meat|montreal|meat flavou?red|seasoning|goose eggs?|rib rub|lobster meat|shrimp meat|clam meat|fish meat",
        ),
        limit(
            &["pork"],
            "pork|bacon|ham|lard|prosciutto|pancetta|chorizo|salami|pepperoni",
            "imitation|vegetarian|vegan|turkey bacon|beef bacon|pork rub|pork seasoning",
        ),
        limit(
            &["halal"],
            "pork|bacon|ham|lard|prosciutto|wine|beer|rum|vodka|brandy|whiske?y|sherry",
            "imitation|vegetarian|vegan|turkey bacon|(?:rice |red |white |)wine vinegar|sherry vinegar|ginger beer|root beer|rum extract|wineglass(?:ful)?|wine \\(or [a-z]+\\) vinegar|non-?alcoholic|wine or cider vinegar",
        ),
        limit(
            &["kosher"],
            "pork|bacon|ham|lard|shrimps?|prawns?|lobster|clams?|mussels?|squid",
            "imitation|vegetarian|vegan|turkey bacon",
        ),
        limit(&["nuts"], NUTS, NO_NUTS),
        limit(&["tree-nuts"], "almonds?|walnuts?|pecans?|cashews?|hazelnuts?|pistachios?|macadamias?|marzipan", "$^"),
        limit(&["peanuts"], "peanuts?|groundnuts?|satay", "$^"),
        limit(&["dairy"], DAIRY, NO_DAIRY),
        limit(&["lactose"], DAIRY, NO_DAIRY),
        limit(&["cheese"], "cheese|parmesan|cheddar|mozzarella|ricotta|feta|gouda|brie", "vegan|cheese ?cloth"),
        limit(&["eggs"], "eggs?|yolks?|mayonnaise|meringue", "egg-free|vegan|egg replacer|egg substitute"),
        limit(&["gluten"], GLUTEN, NO_GLUTEN),
        limit(
            &["wheat"],
            "wheat|bread|breadcrumbs?|spaghetti|macaroni|couscous|semolina|baguette|panko",
            "wheat-free|gluten-free|spaghetti sauce|spaghetti squash|rye bread|bread machine yeast|bread ?fruit|cassava bread|pumpernickel bread",
        ),
        limit(
            &["fish"],
            "fish|salmon|tuna|cod|anchov(?:y|ies)|sardines?|mackerel|worcestershire|trout|halibut|tilapia",
            "vegan|vegetarian|shell ?fish|crayfish|craw ?fish|cuttle ?fish",
        ),
        limit(
            &["shellfish"],
            "shellfish|shrimps?|prawns?|crabs?|lobster|clams?|mussels?|oysters?|squid|scallops?|octopus|crayfish",
            "oyster mushrooms?|vegetarian|vegan",
        ),
        limit(&["soy"], "soy|soya|tofu|miso|tempeh|edamame|tamari|teriyaki|hoisin", "soy-free"),
        limit(&["sesame"], "sesame|tahini|hummus", "$^"),
        limit(&["mustard"], "mustard|dijon", "$^"),
        limit(&["celery"], "celery|celeriac", "$^"),
        limit(&["alcohol"], ALCOHOL, NO_ALCOHOL),
        limit(&["sugar"], "sugar|honey|syrup|molasses", "sugar-free|sugar snap|sugar substitute|sugar pumpkin"),
        limit(&["mushrooms"], "mushrooms?|shiitake|porcini", "$^"),
        limit(&["onions", "garlic"], "onions?|shallots?|scallions?|leeks?|garlic", "$^"),
        limit(&["caffeine"], "coffee|espresso|matcha|green tea|black tea", "decaff?einated|decaff?inated"),
    ]
}

fn kitchen() -> Shelf {
    let shelf = Shelf::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kitchen/content/recipes.jsonl");
    shelf.index_from(&file);
    shelf
}

/// The first phrase of an item that breaks a limit.
fn breach(hit: &Hit, broken_by: &Regex, unless: &Regex) -> Option<String> {
    let ingredients = hit.item.get("recipeIngredient").and_then(|list| list.as_array()).cloned().unwrap_or_default();
    let phrases = ingredients.iter().filter_map(|phrase| phrase.as_str()).chain([hit.name.as_str()]);
    let mut broken = phrases.filter(|phrase| broken_by.is_match(&unless.replace_all(phrase, " ")));
    broken.next().map(|phrase| format!("{}: {phrase}", hit.name))
}

#[test]
fn thirty_limits_are_kept_by_every_listed_item() {
    let shelf = kitchen();
    let vocabulary = Vocabulary::shipped();
    let (mut listed, mut broken) = (0, Vec::new());
    for limit in limits() {
        let word = |words: &str| Regex::new(&format!(r"(?i)\b(?:{words})\b")).unwrap();
        let (broken_by, unless) = (word(limit.broken_by), Regex::new(&format!("(?i)(?:{})", limit.unless)).unwrap());
        let filter = limit.exclusion.filter(&vocabulary, "en");
        for text in ["", "soup", "cake", "quick dinner", "salad", "sauce"] {
            let query = Query { filters: vec![filter.clone()], limit: HITS_MAX, ..Query::new(text) };
            let hits = shelf.library.search(&query).unwrap();
            assert!(!text.is_empty() || hits.len() > 100, "{}: {}", filter.words, hits.len());
            listed += hits.len();
            broken.extend(
                hits.iter()
                    .filter_map(|hit| breach(hit, &broken_by, &unless))
                    .map(|hit| format!("{}: {hit}", filter.words)),
            );
        }
    }
    broken.sort();
    broken.dedup();
    println!("{} of {listed} listed items break a limit: {broken:#?}", broken.len());
    assert!(broken.len() * 1_000 <= listed, "{} of {listed}: {broken:#?}", broken.len());
}

#[test]
fn what_states_nothing_passes_no_limit_of_a_class_and_is_counted() {
    let shelf = Shelf::new();
    let items = [
        r#"{"name": "Plain soup", "recipeIngredient": ["water", "salt"]}"#,
        r#"{"name": "Almond soup", "recipeIngredient": ["water", "almonds"]}"#,
        r#"{"name": "Mystery soup", "description": "Who knows what is in it?"}"#,
        r#"{"name": "Nut-free soup", "description": "No list of ingredients."}"#,
        r#"{"name": "Promised soup", "suitableForDiet": "https://schema.org/VeganDiet"}"#,
        r#"{"name": "Soupe", "inLanguage": "xx", "recipeIngredient": ["eau"]}"#,
    ];
    shelf.put("a.jsonl", &items.join("\n"));
    shelf.index();
    let vocabulary = Vocabulary::shipped();
    let names = |filter: Filter| {
        let hits = shelf.library.search(&Query { filters: vec![filter], ..Query::new("") }).unwrap();
        let mut names: Vec<String> = hits.into_iter().map(|hit| hit.name).collect();
        names.sort();
        names
    };
    let without = |phrase: &str| Exclusion::of(phrase, &vocabulary).filter(&vocabulary, "en");
    assert_eq!(names(without("nuts")), ["Nut-free soup", "Plain soup"]);
    assert_eq!(names(without("nuts").unstated().unwrap()), ["Mystery soup", "Promised soup", "Soupe"]);
    let vegan = Exclusion { diets: vec!["vegan".into()], ..Exclusion::default() }.filter(&vocabulary, "en");
    assert_eq!(
        (vegan.words.as_str(), names(vegan.clone())),
        ("vegan", vec!["Almond soup".into(), "Plain soup".into(), "Promised soup".into()])
    );
    assert_eq!(names(without("almonds")), ["Nut-free soup", "Plain soup"], "free of nuts is free of almonds");
    assert_eq!(names(without("mystery")).len(), 5, "a word that no class knows");
    assert!(without("mystery").unstated().is_none());
    assert_eq!(without("Nüsse").words, "no nuts");
}

#[test]
fn a_changed_vocabulary_judges_items_anew() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("vocabulary")).unwrap();
    let own = |members: &str| {
        let text = format!("[[class]]\nid = \"nuts\"\nen.members = [{members}]\n");
        std::fs::write(dir.path().join("vocabulary/own.toml"), text).unwrap();
        Vocabulary::of_deployment(dir.path()).unwrap()
    };
    let item = dir.path().join("a.jsonl");
    std::fs::write(&item, r#"{"name": "Soup", "recipeIngredient": ["1 cup crunchies"]}"#).unwrap();
    let listed = |vocabulary: &std::sync::Arc<Vocabulary>| {
        let options = Options { vocabulary: Some(vocabulary.clone()), ..Options::default() };
        let library = forecourt_index::Library::open(&dir.path().join("index"), options).unwrap();
        let report = library.index(&[forecourt_loaders::ContentSource::new(&item)], &mut (), &|| false).unwrap();
        let filter = Exclusion::of("nuts", vocabulary).filter(vocabulary, "en");
        (report.updated, library.search(&Query { filters: vec![filter], ..Query::new("") }).unwrap().len())
    };
    let (before, after) = (own("\"other\""), own("\"crunchies\""));
    assert_eq!(listed(&before), (0, 1));
    assert_eq!(listed(&after), (1, 0), "marked anew");
    assert_eq!(listed(&after), (0, 0), "once");
}
