//! Proposals with an expert's key, in `tests/judged/cases`: which endpoints may keep each promise, or why none may.
//! A plan that the key does not accept is an error, however few there are; how many of those that can be made are
//! made is a score with a floor.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use forecourt_contract::recipe::{Aggregation, InputSource, Recipe, ResultReference};
use forecourt_contract::refusal::Refusal;
use forecourt_contract::{Catalog, Dispatcher};
use forecourt_settings::Section;
use forecourt_synthesis::proposal::{ProposalRefusal, RejectionReason};
use forecourt_synthesis::settings::{PlanSource, SynthesisSettings};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::deployments::{all_scopes, deployment, judged};
use crate::planning::{caller, evaluate_with};

/// Of those that can be made, how many of a hundred are.
const MADE_MIN: usize = 90;

/// Deployments whose cases are skipped where the test data has not their documents.
const DOCUMENTS_OF_OTHERS: [&str; 2] = ["verify", "twilio"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

/// A proposal with its key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    deployment: String,
    /// What the caller holds; all that the deployment requires anywhere when left out.
    scopes: Option<Vec<String>>,
    /// The parameters of PROPOSE, as JSON.
    proposal: String,
    /// The plans that are right, each as the endpoints that it calls, in any order.
    plans: Option<Vec<Vec<String>>>,
    /// Where members of the output come from.
    #[serde(default)]
    outputs: BTreeMap<String, String>,
    /// Where fields of the input of an endpoint that is called come from, such as `{ "CANCEL /orders/{order_id}" = { order_id
    /// = "FETCH /returns/{return_id} order_id" } }`; a field of the caller's as `caller order_id`.
    #[serde(default)]
    inputs: BTreeMap<String, BTreeMap<String, String>>,
    /// Why none may be made.
    none: Option<String>,
    /// Why the key is right, for people.
    #[allow(dead_code)]
    why: String,
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Right,
    /// It can be made and was not.
    Missed,
    /// It was refused as it must be, for another reason than the key has.
    OtherReason,
    /// A plan was made that the key does not accept.
    Wrong,
}

struct Judged {
    verdict: Verdict,
    can_be_made: bool,
    told: String,
}

#[test]
fn no_plan_is_made_that_an_expert_would_not_accept() {
    let mut hosts: BTreeMap<String, Option<Dispatcher>> = BTreeMap::new();
    let mut all: Vec<(String, Judged)> = Vec::new();
    let mut skipped: BTreeSet<String> = BTreeSet::new();
    for case in files().iter().flat_map(|file| cases(file)) {
        let host = hosts.entry(case.deployment.clone()).or_insert_with(|| deployment(&case.deployment));
        let Some(host) = host else {
            skipped.insert(case.deployment);
            continue;
        };
        all.push((case.id.clone(), judge(&case, host)));
    }
    skipped.iter().for_each(|name| println!("skipped: the document of {name} is not at hand"));
    assert!(skipped.iter().all(|name| DOCUMENTS_OF_OTHERS.contains(&name.as_str())), "{skipped:?}");
    let count = |verdict: Verdict| all.iter().filter(|(_, judged)| judged.verdict == verdict).count();
    for (id, judged) in all.iter().filter(|(_, judged)| judged.verdict != Verdict::Right) {
        println!("{:?} {id}: {}", judged.verdict, judged.told);
    }
    let can_be_made = all.iter().filter(|(_, judged)| judged.can_be_made).count();
    let made = all.iter().filter(|(_, judged)| judged.can_be_made && judged.verdict == Verdict::Right).count();
    println!(
        "{} cases: {} right, {} missed, {} refused for another reason, {} wrong; {made} of {can_be_made} made",
        all.len(),
        count(Verdict::Right),
        count(Verdict::Missed),
        count(Verdict::OtherReason),
        count(Verdict::Wrong)
    );
    assert_eq!(count(Verdict::Wrong), 0, "plans were made that are wrong");
    assert!(made * 100 >= can_be_made * MADE_MIN, "{made} of {can_be_made} were made");
}

/// The files of cases, with those of the folder that `FORECOURT_JUDGED` names instead, where it does.
fn files() -> Vec<PathBuf> {
    let folder = std::env::var_os("FORECOURT_JUDGED").map_or_else(|| judged().join("cases"), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn cases(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let section = Section::parse(file, &text, &|_: &str| None).unwrap();
    section.read::<Cases>().unwrap_or_else(|problems| panic!("{problems:?}")).case
}

fn judge(case: &Case, host: &Dispatcher) -> Judged {
    let scopes = case.scopes.as_ref().map_or_else(|| all_scopes(host), |scopes| scopes.join(","));
    let proposal = whole(serde_json::from_str(&case.proposal).unwrap_or_else(|error| panic!("{}: {error}", case.id)));
    let settings =
        SynthesisSettings { policies: vec![PlanSource::Recipes, PlanSource::Schemas], ..SynthesisSettings::default() };
    let answer = evaluate_with(host, proposal, &caller(&scopes), &settings);
    let can_be_made = case.plans.is_some();
    assert!(can_be_made != case.none.is_some(), "{} has a plan or a reason for none", case.id);
    let (verdict, told) = match (answer, &case.plans) {
        (Ok(made), Some(plans)) => {
            let calls = calls(&made.plan);
            let is_right = plans.iter().any(|plan| sorted(plan.clone()) == calls);
            let strays = strays(case, &made.plan);
            match is_right && strays.is_empty() {
                true => (Verdict::Right, String::new()),
                false => (Verdict::Wrong, format!("{calls:?} {strays:?}")),
            }
        }
        (Ok(made), None) => (Verdict::Wrong, format!("{:?}", calls(&made.plan))),
        (Err(refusal), Some(_)) => (Verdict::Missed, format!("{refusal:?}").chars().take(600).collect()),
        (Err(refusal), None) => match Some(word(&refusal)) == case.none.as_deref() {
            true => (Verdict::Right, String::new()),
            false => (Verdict::OtherReason, format!("{refusal:?}").chars().take(600).collect()),
        },
    };
    Judged { verdict, can_be_made, told }
}

/// The proposal with what its semantic block leaves out.
fn whole(mut proposal: Value) -> Value {
    let definition = match proposal.get_mut("endpoint") {
        Some(definition) => definition,
        None => &mut proposal,
    };
    let method = definition["method"].as_str().unwrap_or_default().to_owned();
    let catalog = Catalog::shipped();
    let category = catalog.verb(&method).and_then(|verb| verb.categories.first().cloned());
    let Some(semantic) = definition["semantic"].as_object_mut() else { return proposal };
    let is_informational = semantic.get("impact") == Some(&json!("informational"));
    let left_out = [
        ("actor", json!("agent")),
        ("confidence", json!(0.9)),
        ("capability", json!(category.unwrap_or_else(|| "mechanics".to_owned()))),
        ("is_idempotent", json!(is_informational)),
    ];
    for (name, value) in left_out {
        semantic.entry(name).or_insert(value);
    }
    proposal
}

fn word(refusal: &ProposalRefusal) -> &'static str {
    match refusal {
        ProposalRefusal::Grammar(refusal) if matches!(**refusal, Refusal::Method { .. }) => "catalog",
        ProposalRefusal::Scope { .. } => "scope",
        ProposalRefusal::Rejected { reason: RejectionReason::Ambiguous, .. } => "ambiguous",
        ProposalRefusal::Rejected { reason: RejectionReason::PolicyRefused, .. } => "policy",
        ProposalRefusal::Rejected { reason: RejectionReason::CompositionImpossible, .. } => "impossible",
        _ => "another",
    }
}

fn title(plan: &Recipe, at: usize) -> String {
    let step = &plan.steps[at];
    format!("{} {}", step.method, step.path.as_ref().map_or("/", |path| path.as_str()))
}

fn calls(plan: &Recipe) -> Vec<String> {
    sorted((0..plan.steps.len()).map(|at| title(plan, at)).collect())
}

fn sorted(mut calls: Vec<String>) -> Vec<String> {
    calls.sort();
    calls
}

/// The members of the output that come from elsewhere than the key says.
fn strays(case: &Case, plan: &Recipe) -> Vec<String> {
    let from = |name: &str| match &plan.aggregation {
        Aggregation::Fields(fields) => fields.get(name).map(|reference| origin(plan, reference)),
        Aggregation::Last => Some(format!("{} {name}", title(plan, plan.steps.len() - 1))),
        Aggregation::List | Aggregation::Merge => None,
    };
    let stray = |(name, expected): (&String, &String)| {
        let found = from(name);
        (found.as_ref() != Some(expected)).then(|| format!("{name} is from {found:?}"))
    };
    case.outputs.iter().filter_map(stray).chain(misled(case, plan)).collect()
}

/// The fields of inputs that come from elsewhere than the key says.
fn misled(case: &Case, plan: &Recipe) -> Vec<String> {
    let source = |call: &str, field: &str| {
        let at = (0..plan.steps.len()).find(|at| title(plan, *at) == call)?;
        Some(match plan.steps[at].parameters.get(field)? {
            InputSource::Constant(value) => value.to_string(),
            InputSource::Proposal(name) => format!("caller {name}"),
            InputSource::PreviousStep(reference) => origin(plan, reference),
            InputSource::Element(members) => format!("element {}", members.join(".")),
        })
    };
    let fields =
        case.inputs.iter().flat_map(|(call, fields)| fields.iter().map(move |(field, from)| (call, field, from)));
    let misled = fields.filter_map(|(call, field, from)| {
        let found = source(call, field);
        (found.as_ref() != Some(from)).then(|| format!("{field} of {call} is from {found:?}"))
    });
    misled.collect()
}

fn origin(plan: &Recipe, reference: &ResultReference) -> String {
    let at = plan.steps.iter().position(|step| step.capture_as.as_ref() == Some(&reference.capture));
    format!("{} {}", title(plan, at.unwrap()), reference.members.join("."))
}

#[test]
fn s10_3_whoever_proposes_one_of_two_readings_again_is_understood() {
    let host = deployment("shop").unwrap();
    let asked = |output: &Value| {
        let proposal = json!({"endpoint": {
            "method": "FETCH",
            "path": "/dossiers/{order_id}",
            "description": "Get the state of the order's shipment and its payment.",
            "semantic": {"intent": "Look.", "outcome": "It is known.", "impact": "informational"},
            "input_schema": {
                "type": "object", "properties": {"order_id": {}}, "required": ["order_id"], "additionalProperties": false,
            },
            "output_schema": output,
        }});
        let settings = SynthesisSettings { policies: vec![PlanSource::Schemas], ..SynthesisSettings::default() };
        evaluate_with(&host, whole(proposal), &caller(&all_scopes(&host)), &settings)
    };
    let output = json!({"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]});
    let refused = asked(&output).unwrap_err();
    let ProposalRefusal::Rejected { reason, counter_proposal: Some(readings), .. } = refused else { panic!() };
    assert_eq!(reason, RejectionReason::Ambiguous);
    let ends: Vec<String> = readings
        .as_array()
        .unwrap()
        .iter()
        .map(|reading| title(&asked(&reading["output_schema"]).unwrap().plan, 1))
        .collect();
    assert_eq!(ends, ["FETCH /payments/{payment_id}", "FETCH /shipments/{shipment_id}"]);
    // Where no type can be written to a member, the readings are named, and nothing is proposed that would not help.
    for output in
        [json!({"allOf": [&output]}), json!({"type": "object", "properties": {"status": true}, "required": ["status"]})]
    {
        let refused = asked(&output).unwrap_err();
        let ProposalRefusal::Rejected { reason, explanation, counter_proposal } = refused else { panic!() };
        assert_eq!((reason, counter_proposal), (RejectionReason::Ambiguous, None), "{output}");
        assert!(explanation.contains("/payments/{payment_id}") && explanation.contains("/shipments/"), "{explanation}");
    }
}
