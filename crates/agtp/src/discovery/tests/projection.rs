//! What the manifest never shows. AGTP-API 8.9.

use std::collections::BTreeMap;
use std::time::Duration;

use forecourt_contract::endpoint::{AnswerKind, ExternalService, Headers, UPSTREAM_ERRORS};
use forecourt_testkit::dear;
use proptest::prelude::*;

use super::*;

/// How an endpoint is realised, with words that nobody outside may see.
fn binding() -> impl Strategy<Value = (Binding, Vec<String>)> {
    let word = "[a-z]{12,20}";
    let time = Duration::from_secs(5);
    let function = word.prop_map(move |word| {
        let function = format!("pkg.{word}");
        (Binding::RegisteredFunction { function: function.clone(), timeout: time }, vec![word])
    });
    let service = (word, word, word, word).prop_map(move |(host, secret, from, to)| {
        let service = ExternalService {
            address_bytes_max: 8_192,
            answer_bytes_max: 1_048_576,
            url: format!("https://{host}.example/v1"),
            method: "POST".to_owned(),
            headers: Headers(BTreeMap::from([("Authorization".to_owned(), secret.clone())])),
            input_transform: BTreeMap::from([(from.clone(), to.clone())]),
            styles: BTreeMap::new(),
            body: None,
            answer: AnswerKind::Json,
            passes_reasons: false,
            output_transform: BTreeMap::from([(to.clone(), from.clone())]),
            error_map: BTreeMap::new(),
            timeout: time,
        };
        (Binding::ExternalService(Box::new(service)), vec![host, secret, from, to])
    });
    let composition =
        Just((Binding::Composition { recipe: RECIPE.to_owned(), timeout: time }, vec![RECIPE.to_owned()]));
    prop_oneof![function, service, composition]
}

/// The name of a recipe that compositions are made of.
const RECIPE: &str = "theinnerrecipe";

fn place_of(bindings: &[(Binding, Vec<String>)]) -> Dispatcher {
    let bound = bindings.iter().enumerate().map(|(at, (binding, _))| {
        let errors = UPSTREAM_ERRORS.into_iter().chain(["composition_failed"]).map(str::to_owned).collect();
        Definition {
            binding: Some(binding.clone()),
            errors: Some(errors),
            ..definition("BOOK", &format!("/room-{at}"))
        }
    });
    let recipes = recipes(&format!("[[recipe]]\nname = \"{RECIPE}\"\nsteps = [{{ method = \"QUERY\" }}]"));
    contract(bound.collect(), json!({}), recipes)
}

proptest! {
    #![proptest_config(dear(12))]

    #[test]
    fn s8_9_of_what_answers_an_endpoint_the_kind_is_shown_and_nothing_else(
        bindings in proptest::collection::vec(binding(), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let place = Place::of_contract(place_of(&bindings)).await;
            let shown = [targetless(), stranger("/"), stranger("/methods")];
            for ask in shown {
                let text = String::from_utf8(bytes(&place.reply(&ask).await)).unwrap();
                for word in bindings.iter().flat_map(|(_, words)| words) {
                    assert!(!text.contains(word.as_str()), "{word} is shown");
                }
            }
            let manifest = place.manifest().await;
            for endpoint in manifest["endpoints"].as_array().unwrap() {
                assert_eq!(endpoint["handler"].as_object().unwrap().keys().collect::<Vec<_>>(), ["type"]);
            }
        });
    }
}

#[tokio::test]
async fn a_thousand_endpoints_are_served_from_what_was_written_once() {
    let many = (0..1_000).map(|at| definition("BOOK", &format!("/room-{at}"))).collect();
    let place = Place::of_contract(endpoints(many)).await;
    let first = place.reply(&targetless()).await;
    assert_eq!(body(&first)["endpoints"].as_array().unwrap().len(), 1_008);
    for _ in 0..100 {
        let Body::Made { bytes, .. } = place.reply(&targetless()).await.body else { panic!("it was made before") };
        let Body::Made { bytes: same, .. } = &first.body else { panic!("it was made before") };
        assert_eq!(bytes.as_ptr(), same.as_ptr());
    }
}
