//! What is wanted names a shelf of the site: nothing else is listed, and amounts and values are asked of what lies there.

use forecourt_agents::BuiltAgent;
use forecourt_core::reply::collect;
use forecourt_core::{Language, Message, Part};
use serde_json::{Value, json};

use crate::support::{build, in_folder, message, stream};

/// A thing of a shop: its name, shelf, price, and what it states.
fn thing(name: &str, shelf: &str, price: f64, stated: &[(&str, Value)]) -> Value {
    let stated = stated.iter().map(|(name, value)| json!({"@type": "PropertyValue", "name": name, "value": value}));
    json!({
        "@type": "Product", "name": name, "category": shelf, "url": format!("https://s.example/{}", name.replace(' ', "-")),
        "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR"},
        "additionalProperty": stated.collect::<Vec<_>>(),
    })
}

struct Shop {
    built: BuiltAgent,
    language: &'static str,
    _folder: tempfile::TempDir,
}

impl Shop {
    fn open(language: &'static str, items: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lines = items.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
        let settings =
            format!("[backend]\nkind = \"search\"\nlanguage = \"{language}\"\ncontent = [\"items.jsonl\"]\n");
        let built = build(&settings, &in_folder(folder.path()));
        built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
        Self { built, language, _folder: folder }
    }

    /// The names of what is listed, in the order of the alphabet.
    async fn lists(&self, question: &str) -> Vec<String> {
        let asked =
            Message { language: Language::parse(self.language), ..message(vec![Part::text(question.to_owned())]) };
        let answer = collect(stream(&self.built, asked).await).await;
        let data = answer.parts.iter().filter_map(|part| match part {
            Part::Data(data) => data.data["name"].as_str().map(str::to_owned),
            _ => None,
        });
        let mut names: Vec<String> = data.collect();
        names.sort_unstable();
        names
    }
}

#[tokio::test]
async fn a_tool_shop_lists_what_was_asked_for_and_asks_its_amounts_of_that() {
    let shop = Shop::open(
        "en",
        &[
            thing(
                "Bora 12",
                "Tools > Drills",
                89.0,
                &[("Weight", json!("1.4 kg")), ("Drive", json!("brushless")), ("Noise", json!("74 dB"))],
            ),
            thing(
                "Bora 18",
                "Tools > Drills",
                149.0,
                &[("Weight", json!("2.2 kg")), ("Drive", json!("brushed")), ("Noise", json!("82 dB"))],
            ),
            thing("Kerf 190", "Tools > Saws", 59.0, &[("Weight", json!("4.1 kg")), ("Blade load", json!("6 kg"))]),
            thing("Drill case", "Storage", 19.0, &[("Load", json!("8 kg"))]),
            thing("Green hose 20", "Garden > Hoses", 29.0, &[("Length", json!("20 m"))]),
            thing("Green hose 50", "Garden > Hoses", 79.0, &[("Length", json!("50 m"))]),
            thing("Folding ladder", "Ladders", 99.0, &[("Height", json!("2.5 m")), ("Load", json!("150 kg"))]),
            thing("Step ladder", "Ladders", 49.0, &[("Height", json!("1.2 m")), ("Load", json!("120 kg"))]),
        ],
    );
    for (question, names) in [
        ("a drill under 100", &["Bora 12"][..]),
        ("which drills would be quieter than 80 dB", &["Bora 12"]),
        ("a brushless drill", &["Bora 12"]),
        ("hoses longer than 30 m", &["Green hose 50"]),
        ("a ladder for 140 kg", &["Folding ladder"]),
        ("ladders no taller than 2 m", &["Step ladder"]),
        ("a saw for less than a tenner", &[]),
    ] {
        assert_eq!(shop.lists(question).await, names, "{question}");
    }
}

#[tokio::test]
async fn shelves_are_asked_for_in_the_words_of_each_language() {
    let furniture = Shop::open(
        "de",
        &[
            thing("Alma", "Möbel > Stühle", 79.0, &[("Stapelbar", json!("Ja"))]),
            thing("Birke", "Möbel > Stühle", 129.0, &[("Stapelbar", json!("Nein"))]),
            thing("Tafel", "Möbel > Tische", 199.0, &[("Ausziehbar", json!("Ja"))]),
            thing("Leselicht", "Lampen", 39.0, &[("Dimmbar", json!("Ja"))]),
            thing("Bogenlicht", "Lampen", 89.0, &[("Dimmbar", json!("Nein"))]),
        ],
    );
    assert_eq!(furniture.lists("stapelbare Stühle unter 100 Euro").await, ["Alma"]);
    assert_eq!(furniture.lists("Lampen, die man dimmen kann, unter fünfzig Euro").await, ["Leselicht"]);
    assert_eq!(furniture.lists("Tische unter 50 Euro").await, Vec::<String>::new());
    let books = Shop::open(
        "es",
        &[
            thing("La casa azul", "Libros > Novelas", 18.0, &[("Encuadernación", json!("tapa dura"))]),
            thing("El mar", "Libros > Novelas", 9.0, &[("Encuadernación", json!("bolsillo"))]),
            thing("Cuaderno rayado", "Papelería > Cuadernos", 4.0, &[("Páginas", json!(96))]),
        ],
    );
    assert_eq!(books.lists("novelas por menos de diez euros").await, ["El mar"]);
    assert_eq!(books.lists("un cuaderno barato").await, ["Cuaderno rayado"]);
    let bikes = Shop::open(
        "fr",
        &[
            thing("Colibri", "Vélos > Vélos pliants", 690.0, &[("Poids", json!("11 kg"))]),
            thing("Gazelle", "Vélos > Vélos de course", 1490.0, &[("Poids", json!("8 kg"))]),
            thing("Coque", "Casques", 59.0, &[("Poids", json!("0.3 kg"))]),
        ],
    );
    assert_eq!(bikes.lists("un vélo à moins de mille euros").await, ["Colibri"]);
    assert_eq!(bikes.lists("un casque à moins de 20 euros").await, Vec::<String>::new());
}
