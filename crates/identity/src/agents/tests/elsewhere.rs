use super::*;

#[test]
fn agents_of_elsewhere_are_known_by_their_files() {
    let place = Place::new();
    let origin = genesis(&["booking:room", "admin"]);
    place.write("known/lauren.genesis.json", &json!(origin.document()));
    let alone = "ab".repeat(32);
    place.write("known/morgan.agent.json", &document(&alone));
    place.write("known/readme.md", &json!("not an agent"));
    let (known, notices) = place.load();
    assert_eq!(raised(&notices), [("lauren.genesis.json".to_owned(), Severity::Warning)]);
    let lauren = known.get(origin.id()).unwrap();
    assert_eq!((lauren.name.as_str(), lauren.is_hosted(), lauren.document()), ("lauren", false, None));
    assert_eq!(lauren.declared.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(), ["booking:room"]);
    let morgan = known.get(&forecourt_core::AgentId::parse(&alone).unwrap()).unwrap();
    assert_eq!((morgan.genesis(), morgan.wildcards), (None, true));
    assert_eq!(known.hosted().len(), 1);
    assert_eq!(known.of_name("lauren"), None, "it does not live here");
}

#[test]
fn a_stranger_with_a_broken_file_is_not_known() {
    let place = Place::new();
    let origin = genesis(&["booking:room"]);
    let mut forged = origin.document().clone();
    forged.insert("scope".to_owned(), json!(["*:*"]));
    place.write("known/eve.genesis.json", &json!(forged));
    place.write("known/eve.agent.json", &document(&"ab".repeat(32)));
    place.write("known/mallory.genesis.json", &json!(origin.document()));
    place.write("known/mallory.agent.json", &json!({"manifest_signature": "AA"}));
    place.write("known/nobody.agent.json", &json!({"name": "nobody"}));
    let (known, notices) = place.load();
    assert_eq!(known.len(), 1);
    let refused = ["eve.genesis.json", "mallory.agent.json", "nobody.agent.json"];
    assert_eq!(raised(&notices), refused.map(|file| (file.to_owned(), Severity::Refused)));
}

#[test]
fn what_can_not_be_read_is_said() {
    let place = Place::new();
    place.write("known/lauren.genesis.json/inside", &json!(0));
    let (_, notices) = place.load();
    assert_eq!(raised(&notices), [("lauren.genesis.json".to_owned(), Severity::Refused)]);
    assert!(notices.iter().any(|notice| notice.reason == "it is not a regular file"), "{notices:?}");

    let place = Place::new();
    place.write("known", &json!("a file"));
    assert_eq!(raised(&place.load().1), [("known".to_owned(), Severity::Refused)]);
}

#[test]
fn a_stranger_can_not_take_the_name_of_one_who_lives_here() {
    let place = Place::new();
    let chef = place.load().0.hosted()[0].clone();
    place.write("known/chef.agent.json", &document(chef.agent_id.as_str()));
    let (known, notices) = place.load();
    assert_eq!((known.len(), raised(&notices).len()), (1, 1));
    assert!(known.get(&chef.agent_id).unwrap().is_hosted());
}

#[test]
fn base_6_7_a_certificate_is_an_agents_own_by_its_key() {
    let place = Place::new();
    let fingerprint = genesis(&[]).issuer_fingerprint().unwrap();
    let mut named = document(&"ab".repeat(32));
    named["cert_fingerprint"] = json!(fingerprint.to_uppercase());
    place.write("known/a.agent.json", &named);
    place.write("known/b.agent.json", &document(&fingerprint));
    place.write("known/c.genesis.json", &json!(genesis(&[]).document()));
    let (known, _) = place.load();
    let agent = |id: &str| known.get(&forecourt_core::AgentId::parse(id).unwrap()).unwrap();
    let named = agent(&"ab".repeat(32));
    assert!(named.has_key(&fingerprint) && agent(&fingerprint).has_key(&fingerprint));
    assert!(!agent(genesis(&[]).id().as_str()).has_key(&fingerprint), "whoever issued an agent is not the agent");
    assert!(!named.has_key(""));
}

#[test]
fn there_is_room_for_so_many_and_no_more() {
    let mut known = KnownAgents::default();
    let stranger = |n: usize| {
        let id = format!("{n:064x}");
        let document = AgentDocument::check(object(document(&id))).unwrap();
        AgentIdentity::of(&id, None, None, Some(document)).unwrap()
    };
    for n in 0..crate::limits::KNOWN_AGENTS_MAX {
        known.add(stranger(n)).unwrap();
    }
    assert!(known.add(stranger(crate::limits::KNOWN_AGENTS_MAX)).is_err());
    assert_eq!(known.len(), crate::limits::KNOWN_AGENTS_MAX);
}
