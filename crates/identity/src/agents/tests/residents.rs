use super::*;
use crate::agents::settings::DEFAULT_SCOPES;

#[test]
fn s5_8_1_an_origin_is_made_at_the_first_start_and_stays() {
    let place = Place::new();
    let (first, notices) = place.load();
    assert_eq!(raised(&notices), []);
    assert!(notices.iter().any(|notice| notice.reason.contains("a genesis document was made")), "{notices:?}");
    let chef = &first.hosted()[0];
    let kept = place.data.path().join("agents/chef.genesis.json");
    let read = Genesis::parse(&std::fs::read(&kept).unwrap(), Some(&chef.agent_id)).unwrap();
    assert_eq!(Some(&read), chef.genesis().as_ref());
    assert_eq!(read.scope().collect::<Vec<_>>(), DEFAULT_SCOPES);
    assert_eq!((read.owner(), read.governance_zone()), (Some("demo.localhost"), Some("demo.localhost")));
    assert_eq!(chef.declared.iter().count(), 2, "the default scopes are tokens");
    assert!(!chef.wildcards && chef.is_hosted());
    // The keys may be rotated: a genesis document stays what it is.
    let later = Place { keys: HostKeys::in_memory(&counted(9)), ..place };
    let (second, notices) = later.load();
    assert_eq!(second.hosted()[0].agent_id, chef.agent_id);
    assert!(!notices.iter().any(|notice| notice.reason.contains("made")), "{notices:?}");
    assert!(!later.folder.path().join("agents").exists(), "the deployment is not written to");
}

#[test]
fn nothing_is_kept_by_who_only_looks() {
    let place = Place::new();
    let chef = card("chef");
    let look = |home: AgentHome<'_>| load(&home, [(&chef, &AgentIdentitySettings::default())]);
    for data in [None, Some(place.data.path()), Some(Path::new("is/not/there"))] {
        let (known, notices) = look(AgentHome { data, keeps: false, ..place.home() });
        assert_eq!((known.len(), raised(&notices)), (1, vec![]));
        assert_eq!(std::fs::read_dir(place.data.path()).unwrap().count(), 0);
    }
    let made = place.load().0.hosted()[0].agent_id.clone();
    let (known, _) = look(AgentHome { keeps: false, ..place.home() });
    assert_eq!(known.hosted()[0].agent_id, made, "what is there is seen");
}

#[test]
fn base_6_3_the_document_of_an_agent_says_all_that_readers_want() {
    let place = Place::new();
    let (known, _) = place.load();
    let document = known.hosted()[0].document().unwrap();
    let key = place.keys.current();
    let current = Current { status: "active", updated_at: None, methods: &["DESCRIBE"] };
    let served = document.current(current, Issuer { name: "demo.localhost", key }).unwrap();
    let fields = AgentDocument::check(served.fields().clone()).unwrap();
    for name in crate::agents::document::REQUIRED.into_iter().chain(["trust_tier", "owner_id"]) {
        assert!(fields.fields().contains_key(name), "{name}");
    }
    assert_eq!(fields.text("name"), Some("chef"));
    assert_eq!(fields.text("trust_warning"), Some("verification-incomplete"));
    assert_eq!(fields.fields()["requires"], json!({"methods": [], "scopes": DEFAULT_SCOPES, "wildcards": false}));
    assert_eq!(fields.agent_id().as_ref(), Some(&known.hosted()[0].agent_id));
}

#[test]
fn settings_go_into_an_origin_once() {
    let place = Place::new();
    let settings: AgentIdentitySettings = serde_json::from_value(json!({
        "scopes": ["booking:*", "rcns:negotiate"], "trust_tier": 3, "wildcards": true, "owner": "acme.tld",
        "archetype": "monitor", "governance_zone": "test",
    }))
    .unwrap();
    assert_eq!(settings.problem(), None);
    let (known, notices) = place.load_with(&[card("chef")], &settings);
    assert_eq!(raised(&notices), []);
    let chef = &known.hosted()[0];
    assert_eq!(chef.declared.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(), ["booking:*", "rcns:negotiate"]);
    assert_eq!((chef.posture.trust_tier, chef.wildcards), (TrustTier::Experimental, true));
    assert_eq!(chef.document().unwrap().text("name"), Some("X-chef"));
    assert_eq!(chef.governance_zone.as_deref(), Some("test"));
    let other: AgentIdentitySettings =
        serde_json::from_value(json!({"scopes": ["a:b"], "trust_tier": 2, "owner": "acme.tld"})).unwrap();
    let (known, notices) = place.load_with(&[card("chef")], &other);
    assert_eq!(known.hosted()[0].agent_id, chef.agent_id);
    assert_eq!(raised(&notices), [("chef.genesis.json".to_owned(), Severity::Warning)]);
    let said = &notices.iter().find(|notice| notice.severity == Severity::Warning).unwrap().reason;
    assert!(said.contains("`scopes`, `trust_tier`") && !said.contains("owner"), "{said}");
}

#[test]
fn settings_that_contradict_themselves_are_named() {
    let problem = |settings| serde_json::from_value::<AgentIdentitySettings>(settings).unwrap().problem().map(|p| p.0);
    assert_eq!(problem(json!({})), None);
    assert_eq!(problem(json!({"trust_tier": 1})), Some("trust_tier"));
    assert_eq!(problem(json!({"trust_tier": 1, "verification_path": "hybrid"})), None);
    assert_eq!(problem(json!({"verification_path": "blockchain"})), Some("verification_path"));
    assert_eq!(problem(json!({"owner": " "})), Some("owner"));
    assert_eq!(problem(json!({"governance_zone": ""})), Some("governance_zone"));
    for wrong in [json!({"trust_tier": 0}), json!({"scopes": ["booking"]}), json!({"scope": []})] {
        assert!(serde_json::from_value::<AgentIdentitySettings>(wrong).is_err());
    }
}

#[test]
fn base_6_3_files_of_the_deployment_go_first() {
    let place = Place::new();
    let origin = genesis(&["booking:room"]);
    place.write("agents/chef.genesis.json", &json!(origin.document()));
    let (known, notices) = place.load();
    assert_eq!(raised(&notices), []);
    assert_eq!(
        (&known.hosted()[0].agent_id, known.hosted()[0].posture.owner_id.as_deref()),
        (origin.id(), Some("acme.tld"))
    );
    assert_eq!(std::fs::read_dir(place.data.path()).unwrap().count(), 0, "no other is made");
}

#[test]
fn base_6_5_explicit_before_origin_before_default() {
    let place = Place::new();
    let origin = genesis(&["booking:room"]);
    place.write("agents/chef.genesis.json", &json!(origin.document()));
    let mut own = document(origin.id().as_str());
    own["owner_id"] = json!("explicit.tld");
    own["trust_tier"] = json!(1);
    own["verification_path"] = json!("blockchain");
    place.write("agents/chef.agent.json", &own);
    let (known, notices) = place.load();
    assert_eq!(raised(&notices), []);
    let told = notices.iter().find(|notice| notice.reason.contains("trust_tier")).unwrap();
    assert_eq!(
        told.reason,
        "trust_tier 2 (document), verification_path blockchain (document), owner_id explicit.tld (document)"
    );
    let chef = &known.hosted()[0];
    // What is served says what was resolved, and the rest as the operator wrote it.
    let document = chef.document().unwrap();
    let fields = document.fields();
    assert_eq!((&fields["trust_tier"], &fields["trust_warning"]), (&json!(2), &json!("verification-path-unsupported")));
    assert_eq!((&fields["owner_id"], &fields["name"]), (&json!("explicit.tld"), &json!("lauren")));
    assert_eq!((&chef.wildcards, chef.declared.iter().count()), (&true, 1));
}

#[test]
fn base_6_3_an_origin_of_another_agent_is_skipped() {
    let place = Place::new();
    place.write("agents/chef.genesis.json", &json!(genesis(&["booking:room"]).document()));
    let id = "ab".repeat(32);
    place.write("agents/chef.agent.json", &document(&id));
    let (known, notices) = place.load();
    assert_eq!(raised(&notices), [("chef.genesis.json".to_owned(), Severity::Refused)]);
    let chef = &known.hosted()[0];
    assert_eq!((chef.agent_id.as_str(), chef.genesis()), (id.as_str(), None));
}

#[test]
fn a_document_alone_keeps_its_name_and_has_no_origin() {
    let place = Place::new();
    let id = "ab".repeat(32);
    place.write("agents/chef.agent.json", &document(&id));
    let (known, notices) = place.load();
    assert_eq!(raised(&notices), []);
    let chef = &known.hosted()[0];
    assert_eq!((chef.agent_id.as_str(), chef.genesis(), chef.posture.owner_id.as_ref()), (id.as_str(), None, None));
    assert_eq!(chef.declared.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(), ["booking:room"]);
    assert_eq!(std::fs::read_dir(place.data.path()).unwrap().count(), 0);
}

#[test]
fn a_document_for_the_origin_that_was_made_keeps_it() {
    let place = Place::new();
    let id = place.load().0.hosted()[0].agent_id.clone();
    place.write("agents/chef.agent.json", &document(id.as_str()));
    let (known, notices) = place.load();
    assert_eq!(raised(&notices), []);
    assert_eq!(known.hosted()[0].genesis().map(|genesis| genesis.id().clone()), Some(id));
}

#[test]
fn a_document_that_names_no_agent_adds_to_the_one_that_is_made() {
    let place = Place::new();
    let id = place.load().0.hosted()[0].agent_id.clone();
    place.write("agents/chef.agent.json", &json!({"description": "Cooks.", "requires": {"scopes": ["a:b"]}}));
    let (known, notices) = place.load();
    assert_eq!(raised(&notices), []);
    let chef = &known.hosted()[0];
    assert_eq!((&chef.agent_id, chef.document().unwrap().text("description")), (&id, Some("Cooks.")));
    assert_eq!(chef.document().unwrap().agent_id().as_ref(), Some(&id));
    // What it may do is in the origin.
    assert_eq!(chef.declared.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(), DEFAULT_SCOPES);
}

#[test]
fn what_is_broken_is_refused_and_never_replaced() {
    for (file, content) in [
        ("agents/chef.genesis.json", json!({"owner": "acme.tld"})),
        ("agents/chef.agent.json", json!({"name": 7})),
        ("agents/chef.agent.json", json!({"manifest_issuer": "acme.tld"})),
        ("agents/chef.genesis.json", json!("x".repeat(crate::limits::IDENTITY_FILE_BYTES_MAX as usize))),
    ] {
        let place = Place::new();
        place.write(file, &content);
        let (known, notices) = place.load();
        let name = file.strip_prefix("agents/").unwrap().to_owned();
        assert_eq!((known.len(), raised(&notices)), (0, vec![(name, Severity::Refused)]));
        assert_eq!(std::fs::read_dir(place.data.path()).unwrap().count(), 0);
    }
    let place = Place::new();
    std::fs::create_dir(place.data.path().join("agents")).unwrap();
    let kept = place.data.path().join("agents/chef.genesis.json");
    std::fs::write(&kept, "{").unwrap();
    let (known, notices) = place.load();
    assert_eq!((known.len(), raised(&notices).len()), (0, 1));
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "{");
}

#[test]
fn agents_are_found_by_each_of_their_names() {
    let place = Place::new();
    let cards = [card("chef"), card("Baker".to_lowercase().as_str())];
    let (known, _) = place.load_with(&cards, &AgentIdentitySettings::default());
    let baker = known.of_handle(cards[1].handle()).unwrap();
    assert_eq!(known.get(&baker.agent_id), Some(baker));
    assert_eq!(known.of_name("BAKER"), Some(baker));
    assert_eq!((known.of_name("nobody"), known.len(), known.is_empty()), (None, 2, false));
    assert_eq!(known.hosted().iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["chef", "baker"]);
}

#[test]
fn two_agents_do_not_share_a_name() {
    let place = Place::new();
    let origin = json!(genesis(&[]).document());
    place.write("agents/chef.genesis.json", &origin);
    place.write("agents/baker.genesis.json", &origin);
    let (known, notices) = place.load_with(&[card("chef"), card("baker")], &AgentIdentitySettings::default());
    assert_eq!((known.len(), raised(&notices)), (1, vec![("baker.genesis.json".to_owned(), Severity::Refused)]));
}

#[test]
fn s5_3_a_handle_that_spells_a_method_is_refused() {
    let place = Place::new();
    let cards = ["chef", "plan", "suspend", "echo", "planner"].map(card);
    let (known, notices) = place.load_with(&cards, &AgentIdentitySettings::default());
    let refused = [("plan.toml".to_owned(), Severity::Refused), ("suspend.toml".to_owned(), Severity::Refused)];
    assert_eq!(raised(&notices), refused);
    assert_eq!(known.len(), 5, "they go on to be served, here by their ids");
}
