//! A kitchen, a shop, a nursery and a town, each with questions.

use std::path::Path;

use serde_json::{Value, json};

/// Every which of the kitchen's recipes is taken.
const STEP: usize = 4;

/// Some of the recipes of the example, a line each.
pub(crate) fn recipes() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kitchen/content/recipes.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().step_by(STEP).fold(String::new(), |all, line| all + line + "\n")
}

pub(crate) const KITCHEN: &[&str] = &[
    "something quick with chickpeas, no nuts",
    "vegetarian curry",
    "chicken soup",
    "chocolate cake without eggs",
    "gluten-free bread",
    "a dessert with apples",
    "moriccan salad",
    "under 30 minutes",
    "vegan dinner in less than an hour",
    "pasta with tomatoes but no garlic",
    "how to make hummus",
    "ethiopian dishes",
    "fish for friday",
    "the quickest soup",
    "breakfast without dairy",
    "beef stew",
    "indian food with lentils and rice",
    "dishes with coconut milk",
    "potatoes in the oven",
    "cookies",
    "something with chickpees",
    "pork is out",
    "sauce for spaghetti",
    "mexican food for 4 people",
    "a cake for a birthday",
    "Kichererbsen",
    "aubergine",
    "eggplant curry",
    "gâteau au chocolat",
    "garbanzo beans",
];

pub(crate) const SHOP: &[&str] = &[
    "rain jacket under 60",
    "a rain jacket, not blue",
    "red hat",
    "the cheapest backpack",
    "boots by Norrfell",
    "waterproof boots in size 43",
    "a gift under 20",
    "rain jacket",
    "something warm for winter",
    "black backpack with 30 litres",
    "gloves between 20 and 40 euros",
    "in stock hats",
    "jackets by Alpenglow",
    "bagpack",
    "blue boots",
    "a tent for two people",
    "sleeping bag under 100",
    "not black gloves",
    "the most expensive tent",
    "green jacket for children",
    "lightweight tent",
    "cotton hat",
    "wool gloves",
    "backpacks over 80",
    "everything by Tideline",
    // Other names of things, and names in other languages than the items'.
    "parka",
    "rucksack",
    "a warm beanie",
    "anorak under 80",
    "Regenjacke",
    "Schlafsack unter 100",
    "un sac à dos rouge",
    "una chaqueta para la lluvia",
    "the cheapest parka",
    "bobble hat",
    "mittens for children",
];

/// Products of a shop, the same every time: what, by whom, in which colour and size, for how much.
pub(crate) fn shop() -> String {
    let brands = ["Norrfell", "Alpenglow", "Tideline", "Hagen", "Pinecrest", "Ostro", "Kestrel"];
    let colours = ["red", "blue", "black", "green", "yellow"];
    let materials = ["cotton", "wool", "nylon", "leather"];
    let things = [
        ("rain jacket", "Jackets", "keeps the rain out on long walks, with a hood"),
        ("down jacket", "Jackets", "warm for winter and packs small"),
        ("hiking boots", "Boots", "waterproof boots for rough paths"),
        ("hat", "Hats", "a soft hat for cold days"),
        ("backpack", "Backpacks", "30 litres, with straps that breathe"),
        ("gloves", "Gloves", "for cold hands, made to last"),
        ("tent", "Tents", "lightweight, for two people and three seasons"),
        ("sleeping bag", "Sleeping bags", "for nights down to zero degrees"),
    ];
    let mut lines = String::new();
    for number in 0..900_usize {
        // Numbers without a pattern: steps that share no divisor with what is chosen from.
        let (thing, category, text) = things[number * 5 % things.len()];
        let (brand, colour) = (brands[number * 3 % brands.len()], colours[number / 3 % colours.len()]);
        let material = materials[number / 7 % materials.len()];
        let price = 9.5 + (number * 37 % 190) as f64;
        let stock = if number % 11 == 0 { "OutOfStock" } else { "InStock" };
        let mut product = json!({
            "@context": "https://schema.org", "@type": "Product", "@id": format!("https://shop.example/p/{number}"),
            "name": format!("{brand} {colour} {thing} {number}"), "category": category, "color": colour,
            "brand": {"@type": "Brand", "name": brand}, "material": material,
            "description": format!("A {material} {thing} that {text}."),
            "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": format!("https://schema.org/{stock}")},
        });
        if category == "Boots" {
            product["size"] = Value::from((36 + number % 12).to_string());
        }
        if number % 9 == 0 {
            product["audience"] = json!({"@type": "PeopleAudience", "suggestedMaxAge": 12, "audienceType": "children"});
        }
        lines += &format!("{product}\n");
    }
    lines
}

/// The plants of a small trade.
pub(crate) const PLANTS: &str = include_str!("../../data/nursery/items.jsonl");

pub(crate) const NURSERY: &[&str] = &[
    "roses under 20 euros, in stock",
    "evergreen shrubs, not poisonous to pets",
    "climbers for full shade",
    "apple tree, height at most 200 cm",
    "hardy to at least minus 25 degrees, fruit",
    "herbs without peat",
    "blue flowers",
    "annual plants that are not sold out",
    "Kräuter unter 4 Euro",
    "a canoe for two",
    "only perennial ones",
];

/// Cafés, a station, and medicines of a pharmacy that warn of something.
pub(crate) fn town() -> String {
    let place = |id: &str, name: &str, kind: &str, (latitude, longitude): (f64, f64), city: &str| {
        json!({"@type": kind, "@id": id, "name": name, "address": {"addressLocality": city},
            "geo": {"@type": "GeoCoordinates", "latitude": latitude, "longitude": longitude}})
    };
    let medicine = |id: &str, name: &str, pregnant: &str| {
        json!({"@type": "Drug", "@id": id, "name": name, "pregnancyWarning": pregnant,
            "description": format!("{name} for headaches and fever.")})
    };
    let items = [
        place("a", "Café Aliança", "CafeOrCoffeeShop", (41.150, -8.610), "Porto"),
        place("b", "Café Bolhão", "CafeOrCoffeeShop", (41.180, -8.690), "Matosinhos"),
        place("c", "Café Coimbra", "CafeOrCoffeeShop", (41.545, -8.427), "Braga"),
        place("d", "Café Douro", "CafeOrCoffeeShop", (38.722, -9.139), "Lisboa"),
        place("s", "Campanhã Station", "TrainStation", (41.149, -8.585), "Porto"),
        medicine("m", "Mildol", "Safe in pregnancy"),
        medicine("n", "Novalax", "Do not use in pregnancy"),
        medicine("o", "Ostran", "Not safe in pregnancy, avoid"),
        medicine("p", "Paxil", "Can be used"),
    ];
    items.iter().map(|item| format!("{item}\n")).collect()
}

pub(crate) const TOWN: &[&str] = &[
    "cafés within 15 km of Porto",
    "cafés near Porto",
    "cafés within 3 km of the station",
    "cafés a menos de 100 km de Braga",
    "a medicine for headaches that is safe in pregnancy",
    "fever, suitable in pregnancy",
];
