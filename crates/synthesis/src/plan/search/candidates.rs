//! The endpoints that a plan may call: let in by the policy, within what the caller holds and the proposal admits,
//! and on some way to what is wanted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use forecourt_contract::path::Segment;
use forecourt_contract::recipe::{Aggregation, Recipe, Step};
use forecourt_contract::registry::RegisteredEndpoint;
use forecourt_contract::{Caller, Dispatcher, Endpoint};
use serde_json::Value;

use super::super::fit::{ANNOTATIONS, satisfies};
use super::super::shape::{Kinds, Member, Shape};
use super::Goal;
use crate::limits::SEARCH_ENDPOINTS_MAX;

/// Names that say what something is, and not of what.
const GENERIC: [&str; 24] = [
    "id",
    "name",
    "type",
    "kind",
    "status",
    "state",
    "value",
    "values",
    "data",
    "result",
    "results",
    "item",
    "items",
    "text",
    "content",
    "title",
    "description",
    "url",
    "code",
    "key",
    "message",
    "count",
    "total",
    "date",
];

/// An endpoint that a plan may call, with where its input can come from.
pub(super) struct PlanCandidate {
    pub(super) endpoint: Arc<Endpoint>,
    /// What it can't be called without.
    pub(super) needs: Vec<Need>,
    /// What it can do without and the caller may give.
    pub(super) optional: Vec<String>,
    /// Whether its whole result is what is wanted.
    pub(super) is_an_end: bool,
    /// The members of the wanted result that its own results always have.
    pub(super) gives: Vec<String>,
}

/// An input that an endpoint can't be called without.
pub(super) struct Need {
    pub(super) name: String,
    /// Whether the caller always gives it.
    pub(super) by_caller: bool,
    /// The candidates whose results always have it, by their places.
    pub(super) makers: Vec<usize>,
}

/// An endpoint that may be called, held against others.
struct Callable<'a>(&'a Endpoint);

impl<'a> Callable<'a> {
    /// What it can't be called without: what its path takes, and what its input requires.
    fn needs(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.0.path.parameters().collect();
        let required = Shape::of(&self.0.input).required();
        names.extend(required.into_iter().filter(|name| !self.takes_in_path(name)));
        names
    }

    /// What it takes besides.
    fn takes(&self) -> Vec<&'a str> {
        let needs = self.needs();
        Shape::of(&self.0.input).declared().into_iter().filter(|name| !needs.contains(name)).collect()
    }

    fn takes_in_path(&self, name: &str) -> bool {
        self.0.path.parameters().any(|parameter| parameter == name)
    }

    /// Whether every value of `given` may stand for one of its inputs.
    fn accepts(&self, name: &str, given: &[Shape<'_>]) -> bool {
        let Member::Known(taken, _) = Shape::of(&self.0.input).member(name) else { return false };
        let in_path = self.takes_in_path(name);
        given.iter().any(|given| {
            // A path carries text: the number 7 comes back as "7", which fits only where no text is taken as well.
            let is_word = !in_path || travels(given.kinds(), &taken);
            is_word && taken.iter().all(|taken| satisfies(*given, *taken, true))
        })
    }

    /// Whether the caller gives an input that fits: always, or at times.
    fn given_by_caller(&self, name: &str, goal: &Goal<'_>, always: bool) -> bool {
        matches!(goal.input.member(name), Member::Known(given, sure) if (sure || !always) && self.accepts(name, &given))
    }

    /// A member that its results always have.
    fn gives(&self, name: &str) -> Option<Vec<Shape<'a>>> {
        let output = Shape::of(&self.0.output);
        match output.member(name) {
            Member::Known(given, true) if output.kinds() == Kinds::OBJECT && !given.is_empty() => Some(given),
            _ => None,
        }
    }

    /// Whether its results always have a member that is what the wanted output says of it.
    fn gives_wanted(&self, name: &str, output: Shape<'_>) -> bool {
        let Some(given) = self.gives(name) else { return false };
        match output.member(name) {
            Member::Known(wanted, _) => {
                wanted.iter().all(|wanted| given.iter().any(|given| satisfies(*given, *wanted, false)))
            }
            Member::Open => true,
            Member::Never => false,
        }
    }

    /// Whether it can take an input from the results of another endpoint. A name that says nothing of what it is
    /// of means the same within one resource alone.
    fn takes_from(&self, name: &str, maker: &Callable<'_>) -> bool {
        // `id` of a customer must not be given to what takes the `id` of an order, although both are texts.
        let is_same = !GENERIC.contains(&name) || resource(self.0) == resource(maker.0);
        is_same && maker.gives(name).is_some_and(|given| self.accepts(name, &given))
    }
}

/// Whether a value is the same once a path has carried it as text.
fn travels(given: Kinds, taken: &[Shape<'_>]) -> bool {
    let takes_text = taken.iter().any(|taken| taken.kinds().meets(Kinds::STRING));
    given.is_within(Kinds::STRING) || (given.is_within(Kinds::WORDS) && !given.meets(Kinds::STRING) && !takes_text)
}

/// What the path of an endpoint begins with.
fn resource(endpoint: &Endpoint) -> Option<&str> {
    endpoint.path.segments().iter().find_map(|segment| match segment {
        Segment::Literal(text) => Some(text.as_str()),
        Segment::Parameter(_) => None,
    })
}

/// The endpoints on some way to what is wanted, in the order of the registry: at most [`SEARCH_ENDPOINTS_MAX`], the
/// nearest to the end first.
pub(super) fn leading_to(goal: &Goal<'_>, dispatcher: &Dispatcher, caller: &Caller) -> Vec<PlanCandidate> {
    let open = dispatcher.registry.iter().filter(|registered| may_be_called(registered, goal, dispatcher, caller));
    let all: Vec<Arc<Endpoint>> = open.map(|registered| Arc::clone(&registered.endpoint)).collect();
    let mut giving: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, endpoint) in all.iter().enumerate() {
        for name in Shape::of(&endpoint.output).required() {
            giving.entry(name).or_default().push(at);
        }
    }
    let ends: Vec<usize> = match goal.output.kinds().meets(Kinds::OBJECT) {
        true => goal.wanted().iter().filter_map(|name| giving.get(name)).flatten().copied().collect(),
        false => (0..all.len()).filter(|at| is_an_end(&all[*at], goal)).collect(),
    };
    let leading = closure(ends, &all, &giving, goal);
    let places: BTreeMap<usize, usize> = leading.keys().enumerate().map(|(place, at)| (*at, place)).collect();
    leading.into_iter().map(|(at, makers)| candidate(&all[at], makers, &places, goal)).collect()
}

fn is_an_end(endpoint: &Endpoint, goal: &Goal<'_>) -> bool {
    satisfies(Shape::of(&endpoint.output), goal.output, false)
}

/// For each input that an endpoint needs and the caller does not give, who makes it.
type Makers = BTreeMap<String, Vec<usize>>;

/// `ends`, and whatever gives one of these what the caller does not.
fn closure(
    ends: Vec<usize>,
    all: &[Arc<Endpoint>],
    giving: &BTreeMap<&str, Vec<usize>>,
    goal: &Goal<'_>,
) -> BTreeMap<usize, Makers> {
    let mut leading: BTreeMap<usize, Makers> = BTreeMap::new();
    let mut open: VecDeque<usize> = ends.into();
    while let Some(at) = open.pop_front() {
        if leading.len() == SEARCH_ENDPOINTS_MAX || leading.contains_key(&at) {
            continue;
        }
        let callable = Callable(&all[at]);
        let needed = callable.needs().into_iter().filter(|name| !callable.given_by_caller(name, goal, true));
        let makers = needed.map(|name| {
            let makers = giving.get(name).into_iter().flatten().copied();
            (name.to_owned(), makers.filter(|maker| callable.takes_from(name, &Callable(&all[*maker]))).collect())
        });
        let makers: Makers = makers.collect();
        // What can't be had from anywhere makes the whole endpoint useless.
        if makers.values().any(Vec::is_empty) {
            continue;
        }
        open.extend(makers.values().flatten().copied());
        leading.insert(at, makers);
    }
    leading
}

fn candidate(
    endpoint: &Arc<Endpoint>,
    makers: Makers,
    places: &BTreeMap<usize, usize>,
    goal: &Goal<'_>,
) -> PlanCandidate {
    let callable = Callable(endpoint);
    let need = |name: &str| {
        let makers = makers.get(name);
        let known = makers.into_iter().flatten().filter_map(|at| places.get(at)).copied();
        Need { name: name.to_owned(), by_caller: makers.is_none(), makers: known.collect() }
    };
    let optional = callable.takes().into_iter().filter(|name| callable.given_by_caller(name, goal, false));
    let wanted: BTreeSet<&str> = goal.output.declared().into_iter().chain(goal.wanted()).collect();
    let gives = wanted.into_iter().filter(|name| callable.gives_wanted(name, goal.output));
    PlanCandidate {
        needs: callable.needs().into_iter().map(need).collect(),
        optional: optional.map(str::to_owned).collect(),
        is_an_end: is_an_end(endpoint, goal),
        gives: gives.map(str::to_owned).collect(),
        endpoint: Arc::clone(endpoint),
    }
}

/// Whether a plan may call an endpoint at all: it is here to stay, is no stronger than what is proposed, and the
/// caller may call it by hand.
fn may_be_called(registered: &RegisteredEndpoint, goal: &Goal<'_>, dispatcher: &Dispatcher, caller: &Caller) -> bool {
    let RegisteredEndpoint { endpoint, needs, .. } = registered;
    let is_within = endpoint.semantic.impact <= goal.semantic.impact
        && (endpoint.semantic.is_idempotent || !goal.semantic.is_idempotent);
    let policy = &dispatcher.policy;
    let resolved = policy.resolve(endpoint.method.as_str(), &dispatcher.catalog);
    // An endpoint whose calls are redirected or renamed by the policy would not be the one that was planned with.
    let is_itself = resolved.is_some_and(|resolved| resolved.method == endpoint.method)
        && policy.redirect(&endpoint.method, endpoint.path.as_str()).is_none()
        && policy.admits(&endpoint.method, &endpoint.method);
    is_within
        && is_itself
        && endpoint.deprecated.is_none()
        && caller.authority().in_use().missing(needs.scopes.iter()).is_empty()
        && is_plain(endpoint.input.source())
        && dispatcher.proven_for_plan(&alone(endpoint), caller).is_ok()
}

/// Whether an input is an object of properties, and nothing is said of them together.
fn is_plain(input: &Value) -> bool {
    const KEYWORDS: [&str; 4] = ["type", "properties", "required", "additionalProperties"];
    let plain = |keyword: &String| KEYWORDS.contains(&keyword.as_str()) || ANNOTATIONS.contains(&keyword.as_str());
    input.as_object().is_some_and(|keywords| keywords.keys().all(plain))
}

/// A plan of one call.
fn alone(endpoint: &Endpoint) -> Recipe {
    let step = Step {
        method: endpoint.method.clone(),
        path: Some(endpoint.path.clone()),
        capture_as: None,
        parameters: BTreeMap::new(),
    };
    Recipe {
        name: String::new(),
        version: String::new(),
        description: String::new(),
        pattern: None,
        steps: vec![step],
        aggregation: Aggregation::Last,
    }
}
