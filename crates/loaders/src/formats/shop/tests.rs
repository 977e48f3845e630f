use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::tests::{Heap, load_bytes, names};
use super::super::{Format, Input, Reason, load};
use crate::limits::VARIANTS_MAX;
use crate::mapping::TableMapping;

const SHOPIFY: &str = "Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,Variant Compare At Price,Image Src,Cost per item,Fabric care,Status
runner,Trail Runner,<p>Light &amp; fast</p>,Acme,Shoes,\"trail, sale\",true,Color,Red,Size,43,TR-R43,shopify,4,deny,59.90,79.90,https://s.example/r.jpg,21,cold wash,active
runner,,,,,,,,Blue,,43,TR-B43,shopify,0,deny,on request,,,,,
runner,,,,,,,,,,,,,,,,,https://s.example/2.jpg,,,
cap,Cap,,Acme,Hats,,true,Title,Default Title,,,CAP,,,deny,12.00,,,3,,active
secret,Next year,,Acme,Hats,,false,Title,Default Title,,,S,,,deny,12.00,,,3,,draft
secret,,,,,,,,Other,,,S2,,,deny,13.00,,,,,
";

fn with_url(format: Format, text: &str) -> Heap {
    let mut heap = Heap::default();
    load(format, &mut Input::new(text.as_bytes(), "file", Some("https://s.example")), &mut heap).unwrap();
    heap
}

fn reasons(heap: &Heap) -> Vec<String> {
    heap.skipped.iter().map(|(line, reason)| format!("{line}: {reason}")).collect()
}

#[test]
fn rows_of_one_shopify_handle_are_one_product() {
    let heap = with_url(Format::Csv, SHOPIFY);
    assert_eq!(names(&heap), ["Trail Runner", "Cap"]);
    let group = &heap.items[0];
    assert_eq!(
        (&group["@type"], &group["url"], &group["variesBy"], &group["description"]),
        (
            &json!("ProductGroup"),
            &json!("https://s.example/products/runner"),
            &json!(["color"]),
            &json!("Light & fast")
        )
    );
    assert_eq!(group["image"], json!(["https://s.example/r.jpg", "https://s.example/2.jpg"]));
    let red = json!({"@type": "Product", "color": "Red", "size": "43", "sku": "TR-R43", "offers": {"@type": "Offer",
        "price": "59.90", "availability": "https://schema.org/InStock",
        "inventoryLevel": {"@type": "QuantitativeValue", "value": 4.0},
        "priceSpecification": [{"@type": "UnitPriceSpecification", "priceType": "https://schema.org/ListPrice", "price": "79.90"}]}});
    assert_eq!(group["hasVariant"][0], red);
    let blue = &group["hasVariant"][1]["offers"];
    assert_eq!((blue.get("price"), &blue["description"]), (None, &json!("on request")));
    assert_eq!(blue["availability"], "https://schema.org/OutOfStock");
    let text = group.to_string();
    assert!(!text.contains("21\"") && text.contains("cold wash"), "costs stay in the shop: {text}");
    let cap = &heap.items[1];
    assert_eq!(
        (&cap["@type"], &cap["offers"]["price"], cap.get("hasVariant")),
        (&json!("Product"), &json!("12.00"), None)
    );
    assert_eq!(
        reasons(&heap),
        [
            "3: column `Variant Price`: `on request` is no price; cells like it from here on: 1; their items have none",
            "6: drafts and rows that are hidden or not published were left out from here on: 2",
        ]
    );
}

#[test]
fn what_the_operator_says_of_all_rows_is_said_of_variants() {
    let constants = BTreeMap::from([("offers.priceCurrency".to_owned(), "EUR".to_owned())]);
    let mapping = TableMapping { constants, ..TableMapping::default() };
    let mut heap = Heap::default();
    let mut input = Input::new(SHOPIFY.as_bytes(), "file", None).with_table(Some(&mapping));
    load(Format::Csv, &mut input, &mut heap).unwrap();
    assert_eq!(heap.items[0]["hasVariant"][0]["offers"]["priceCurrency"], "EUR");
    assert_eq!(heap.items[1]["offers"]["priceCurrency"], "EUR");
}

#[test]
fn shopifys_products_are_read_with_their_variants() {
    let products = json!({"products": [
        {"id": 1, "title": "Runner", "handle": "runner", "body_html": "<b>x</b>", "published_at": "2026-01-01", "vendor": "Acme",
         "product_type": "Shoes", "tags": ["a", "b"], "options": [{"name": "Farbe"}, {"name": "Engraving"}],
         "images": [{"src": "https://s.example/a.jpg"}],
         "variants": [
            {"id": 11, "option1": "Rot", "option2": "none", "price": "10.00", "compare_at_price": "12.00", "available": true, "grams": 200},
            {"id": 12, "option1": "Blau", "option2": "none", "price": "9.00", "compare_at_price": null, "available": false}]},
        {"id": 2, "title": "Draft", "handle": "d", "published_at": null, "variants": []}]});
    let heap = with_url(Format::Json, &products.to_string());
    assert_eq!(names(&heap), ["Runner"]);
    let variants = &heap.items[0]["hasVariant"];
    assert_eq!(
        (&variants[0]["color"], &variants[0]["url"]),
        (&json!("Rot"), &json!("https://s.example/products/runner?variant=11"))
    );
    assert_eq!(variants[1]["offers"]["availability"], "https://schema.org/OutOfStock");
    assert_eq!(variants[0]["additionalProperty"][0]["name"], "Engraving");
    assert_eq!(heap.skipped, [(1, Reason::Unpublished(1))]);
    let other = r#"{"products": [{"name": "a"}, {"name": "b"}]}"#;
    assert_eq!(names(&load_bytes(Format::Json, other.as_bytes())), ["a", "b"]);
    let shop = r#"{"@type": "Store", "name": "S", "products": [{"name": "a"}]}"#;
    assert_eq!(names(&load_bytes(Format::Json, shop.as_bytes())), ["S"]);
}

const MERCHANT: &str = r#"<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>
<item><g:id>1</g:id><g:title>Boot, red, 43</g:title><link>https://s.example/boot?v=1</link><g:item_group_id>B</g:item_group_id>
<g:price>80.00 EUR</g:price><g:sale_price>60.00 EUR</g:sale_price><g:sale_price_effective_date>2026-11-27T00:00+0100/2026-11-30T23:59+0100</g:sale_price_effective_date>
<g:availability>in_stock</g:availability><g:color>red</g:color><g:size>43</g:size><g:gender>female</g:gender><g:age_group>adult</g:age_group>
<g:material>leather</g:material><g:shipping_weight>1.2 kg</g:shipping_weight><g:condition>new</g:condition><g:custom_label_0>low margin</g:custom_label_0></item>
<item><g:id>9</g:id><g:title>Lace</g:title><link>https://s.example/lace</link><g:price>free</g:price></item>
<item><g:id>2</g:id><g:title>Boot, blue, 44</g:title><link>https://s.example/boot?v=2</link><g:item_group_id>B</g:item_group_id>
<g:price>80.00 EUR</g:price><g:availability>out of stock</g:availability><g:color>blue</g:color><g:size>44</g:size><g:gender>female</g:gender><g:age_group>adult</g:age_group></item>
</channel></rss>"#;

#[test]
fn entries_of_one_group_are_one_product() {
    let heap = load_bytes(Format::Feed, MERCHANT.as_bytes());
    assert_eq!(names(&heap), ["Lace", "Boot"]);
    let group = &heap.items[1];
    assert_eq!((&group["productGroupID"], &group["variesBy"]), (&json!("B"), &json!(["color", "size", "material"])));
    assert_eq!(
        group["audience"],
        json!({"@type": "PeopleAudience", "suggestedGender": "female", "audienceType": "adult"})
    );
    let offer = &group["hasVariant"][0]["offers"];
    assert_eq!((&offer["price"], &offer["priceCurrency"]), (&json!("80.00"), &json!("EUR")));
    assert_eq!(offer["priceSpecification"][1]["validThrough"], "2026-11-30T23:59+0100");
    assert_eq!(offer["shippingDetails"]["weight"]["unitText"], "kg");
    assert!(!group.to_string().contains("low margin"));
    assert_eq!(
        reasons(&heap),
        ["6: column `price`: `free` is no price; cells like it from here on: 1; their items have none"]
    );
}

#[test]
fn a_merchant_feed_with_tabs_is_read_like_one_of_xml() {
    let table = "id\ttitle\tdescription\tlink\timage link\tavailability\tprice\titem group id\tcolor\tflavor\n\
        1\tTea red\tx\thttps://s.example/1\thttps://s.example/1.jpg\tin stock\t4,50 EUR\tT\tred\tberry\n\
        2\tTea green\tx\thttps://s.example/2\thttps://s.example/2.jpg\tpreorder\t5,50 EUR\tT\tgreen\tmint\n";
    let heap = load_bytes(Format::Tsv, table.as_bytes());
    assert_eq!(names(&heap), ["Tea"]);
    let variants = &heap.items[0]["hasVariant"];
    assert_eq!(
        (&variants[0]["offers"]["price"], &variants[1]["offers"]["availability"]),
        (&json!("4.50"), &json!("https://schema.org/PreOrder"))
    );
    assert_eq!(
        variants[1]["additionalProperty"],
        json!([{"@type": "PropertyValue", "name": "flavor", "value": "mint"}])
    );
}

#[test]
fn fields_of_a_shopify_shops_own_are_called_as_the_shop_calls_them() {
    let text = "Handle,Title,Variant Price,ABV (product.metafields.custom.abv), (product.metafields.x.y),Care (cold)\n\
                rum,Rum,9.00,40%,z,no\n";
    let heap = load_bytes(Format::Csv, text.as_bytes());
    let all = heap.items[0]["additionalProperty"].as_array().unwrap();
    let called: Vec<&str> = all.iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(called.contains(&"ABV") && called.contains(&"Care (cold)"), "{called:?}");
    assert!(called.iter().all(|name| !name.is_empty()), "{called:?}");
}

const WOO: &str = "ID,Type,SKU,Name,Published,Short description,Description,Date sale price starts,Date sale price ends,In stock?,Stock,Sale price,Regular price,Categories,Images,Parent,Attribute 1 name,Attribute 1 value(s),Attribute 2 name,Attribute 2 value(s),Meta: _cost,Weight (kg)
10,variable,HOOD,Hoodie,1,Warm.,Very\\nwarm.,,,1,,,,Clothing > Hoodies,https://s.example/h.jpg,,pa_color,\"Red, Blue\",Logo,\"Yes, No\",3,0.8
11,variation,HOOD-R,Hoodie - Red,1,,,2026-11-01,2026-11-30,1,3,40,50,,,HOOD,pa_color,Red,Logo,Yes,3,
12,variation,HOOD-B,Hoodie - Blue,1,,,,,0,0,,55,,,id:10,pa_color,Blue,Logo,No,3,
13,variation,GONE-1,Gone - Red,1,,,,,1,,,9,,,GONE,Color,Red,,,,
14,simple,MUG,Mug,1,,,,,backorder,,,8,Home,,,,,,,,
15,simple,OLD,Old,0,,,,,1,,,8,,,,,,,,,
";

#[test]
fn woocommerce_variations_find_their_parents_by_sku_and_by_id() {
    let heap = load_bytes(Format::Csv, WOO.as_bytes());
    assert_eq!(names(&heap), ["Mug", "Hoodie", "Gone - Red"]);
    let group = &heap.items[1];
    assert_eq!((&group["description"], &group["category"]), (&json!("Warm. Very warm."), &json!("Clothing > Hoodies")));
    assert_eq!((&group["hasVariant"][0]["sku"], &group["hasVariant"][1]["sku"]), (&json!("HOOD-R"), &json!("HOOD-B")));
    assert_eq!(group["hasVariant"][0]["offers"]["priceSpecification"][1]["validThrough"], "2026-11-30");
    assert_eq!(heap.items[0]["offers"]["availability"], "https://schema.org/BackOrder");
    assert_eq!(heap.skipped, [(5, Reason::NoParent(1)), (7, Reason::Unpublished(1))]);
}

const MAGENTO: &str = "sku,store_view_code,attribute_set_code,product_type,categories,name,description,product_online,visibility,price,special_price,special_price_from_date,special_price_to_date,url_key,base_image,additional_attributes,qty,is_in_stock,configurable_variations,cost
J-S,,Top,simple,Default Category/Men,Jacket-S,,1,Not Visible Individually,50.0,40.0,11/1/26,11/30/26,jacket-s,/j/s.jpg,\"color=Red,size=S,climate=Cool, dry\",5,1,,20
J-M,,Top,simple,Default Category/Men,Jacket-M,,1,Not Visible Individually,50.0,,,,jacket-m,/j/m.jpg,\"color=Red,size=M\",0,0,,20
J,,Top,configurable,Default Category/Men,Jacket,<p>Warm</p>,1,\"Catalog, Search\",,,,,jacket,/j/j.jpg,,,1,\"sku=J-S,size=S|sku=J-M,size=M|sku=J-L,size=L\",
J,de,Top,configurable,,Jacke,,1,,,,,,,,,,,,
BAG,,Bag,simple,Default Category/Gear,Bag,,1,\"Catalog, Search\",30.0,,,,bag,,,9,1,,
LOST,,Bag,simple,,Lost,,1,Not Visible Individually,30.0,,,,lost,,,9,1,,
";

#[test]
fn magento_rows_are_claimed_by_their_configurable_product() {
    let heap = with_url(Format::Csv, MAGENTO);
    assert_eq!(names(&heap), ["Jacket", "Bag", "Lost"]);
    let group = &heap.items[0];
    assert_eq!((&group["url"], &group["variesBy"]), (&json!("https://s.example/jacket.html"), &json!(["size"])));
    assert_eq!(group["image"], "https://s.example/media/catalog/product/j/j.jpg");
    let variants = group["hasVariant"].as_array().unwrap();
    assert_eq!(variants.iter().map(|variant| &variant["size"]).collect::<Vec<_>>(), ["S", "M"]);
    assert_eq!(variants[0]["additionalProperty"][0]["value"], "Cool, dry");
    assert_eq!(variants[0]["offers"]["priceSpecification"][1]["validThrough"], "11/30/26");
    assert!(!heap.items.iter().any(|item| item.to_string().contains("\"20\"")));
    assert_eq!(heap.skipped, [(7, Reason::NoParent(1)), (5, Reason::OtherViews(1))]);
}

#[test]
fn ten_thousand_variants_are_all_kept() {
    let mut feed = String::from("id\ttitle\tlink\timage_link\tavailability\tprice\titem_group_id\tsize\n");
    for n in 0..10_000 {
        feed +=
            &format!("{n}\tTile {n}\thttps://s.example/{n}\thttps://s.example/i.jpg\tin stock\t{n}.00 EUR\tT\t{n}\n");
    }
    let heap = load_bytes(Format::Tsv, feed.as_bytes());
    let counts: Vec<usize> = heap.items.iter().map(|item| item["hasVariant"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(counts.iter().sum::<usize>(), 10_000);
    assert!(counts.iter().all(|count| *count <= VARIANTS_MAX) && counts[0] == VARIANTS_MAX, "{counts:?}");
    assert_eq!(heap.items[1]["@id"], "https://s.example/0#variants-2");
    assert!(heap.skipped.is_empty());
}

#[test]
fn columns_that_the_operator_names_are_read_as_he_says() {
    let mut mapping = TableMapping::default();
    mapping.columns.insert("Title".to_owned(), "headline".to_owned());
    let mut heap = Heap::default();
    let mut input = Input::new(SHOPIFY.as_bytes(), "file", None).with_table(Some(&mapping));
    load(Format::Csv, &mut input, &mut heap).unwrap();
    assert_eq!(heap.items.len(), 6);
}

#[test]
fn another_encoding_costs_nothing() {
    let latin = SHOPIFY.replace("Red", "Grün");
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(&latin);
    assert_eq!(load_bytes(Format::Csv, &latin).items[0]["hasVariant"][0]["color"], "Grün");
}

#[test]
fn prices_that_are_none_are_told_in_every_table_and_document() {
    let heap = load_bytes(Format::Csv, b"name,price\na,5\nb,on request\nc,ask\n");
    assert_eq!(heap.items[1], json!({"name": "b", "offers": {"description": "on request"}}));
    assert!(matches!(&heap.skipped[..], [(3, Reason::Cells { cells: 2, .. })]), "{:?}", heap.skipped);
    let heap = load_bytes(Format::JsonLines, br#"{"name": "a", "offers": {"price": "on request"}}"#);
    assert_eq!(heap.items[0]["offers"], json!({"description": "on request"}));
    assert_eq!(heap.skipped, [(1, Reason::NoPrice("on request".to_owned()))]);
    let graph =
        br#"{"@graph": [{"name": "a", "offers": {"price": "call us"}}, {"name": "b", "offers": {"price": ""}}]}"#;
    assert_eq!(load_bytes(Format::Json, graph).skipped, [(1, Reason::NoPrice("call us".to_owned()))]);
}

proptest! {
    #[test]
    fn any_rows_of_a_shop_are_read(rows in proptest::collection::vec("[a-z0-9,|=:\"/;. -]{0,80}", 0..12)) {
        for start in [SHOPIFY, WOO, MAGENTO] {
            let header = start.lines().next().unwrap_or_default();
            load_bytes(Format::Csv, format!("{header}\n{}", rows.join("\n")).as_bytes());
        }
    }

    #[test]
    fn any_product_of_shopify_is_read(title in ".{0,20}", option in proptest::option::of("[a-z]{0,8}"), price in ".{0,10}") {
        let product: Value = json!({"products": [{"title": title, "handle": "x", "options": [option],
            "variants": [{"option1": option, "price": price}, {"option1": price, "price": 3}, option]}]});
        load_bytes(Format::Json, product.to_string().as_bytes());
    }
}
