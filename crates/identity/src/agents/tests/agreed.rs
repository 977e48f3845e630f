//! What nodes of one deployment agree on.

use super::*;

fn kept(place: &Place) -> Vec<(forecourt_core::Handle, String)> {
    let settings = AgentIdentitySettings::default();
    kept_genesis(&place.home(), [card("chef"), card("gate")].iter().map(|card| (card, &settings)))
}

fn id(place: &Place) -> String {
    place.load().0.of_handle(card("chef").handle()).unwrap().agent_id.to_string()
}

#[test]
fn a_node_that_takes_over_what_another_made_has_the_same_agents() {
    let (first, second) = (Place::new(), Place { entropy: counted(9), ..Place::new() });
    let second = Place { keys: HostKeys::in_memory(&second.entropy), ..second };
    let made = kept(&first);
    assert_eq!(made.iter().map(|(handle, _)| handle.as_str()).collect::<Vec<_>>(), ["chef", "gate"]);
    assert_eq!(kept(&first), made, "it is made once");
    assert_ne!(id(&first), id(&second), "two nodes that do not agree");
    for (handle, genesis) in &made {
        assert!(adopt_genesis(second.data.path(), handle, genesis, &second.entropy).unwrap());
        assert!(!adopt_genesis(second.data.path(), handle, genesis, &second.entropy).unwrap(), "nothing is new");
    }
    assert_eq!(id(&first), id(&second));
    assert_eq!(kept(&second), made);
}

#[test]
fn agents_with_files_of_their_own_need_no_agreement() {
    let place = Place::new();
    place.write("agents/chef.genesis.json", &Value::Object(genesis(&[]).document().clone()));
    place.write("agents/gate.agent.json", &document(&"a".repeat(64)));
    assert_eq!(kept(&place), []);
    assert!(!place.data.path().join("agents").exists(), "and nothing is made for them");
}
