//! This module has the endpoints of a host, and finds the one that a call is for. Section 5.4.
//!
//! Literal paths are found by hash, templates by a tree with a level for each segment, so that ten
//! thousand endpoints cost what ten do. Registration refuses templates between which no call could
//! choose.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::endpoint::Endpoint;
use crate::handler::Handler;
use crate::limits::ENDPOINTS_MAX;
use crate::method::Method;
use crate::path::{RequestPath, Segment, Template};
use crate::scope::Scope;

/// An endpoint and what answers it.
#[derive(Clone)]
pub struct RegisteredEndpoint {
    /// The method, the path and the schemas.
    pub endpoint: Arc<Endpoint>,
    /// The code that answers its calls.
    pub handler: Arc<dyn Handler>,
    /// What a caller needs for it.
    pub needs: CallerNeeds,
}

/// What a caller needs for an endpoint, with all that it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerNeeds {
    /// The scopes, in the order in which they were found.
    pub scopes: Arc<[Scope]>,
    /// Whether something that it is made of is for callers who show a bearer token.
    pub token: bool,
}

impl RegisteredEndpoint {
    /// An endpoint that needs what it says itself.
    pub fn new(endpoint: Arc<Endpoint>, handler: Arc<dyn Handler>) -> RegisteredEndpoint {
        let needs = CallerNeeds { scopes: endpoint.required_scopes.clone().into(), token: false };
        RegisteredEndpoint { endpoint, handler, needs }
    }

    /// Has the endpoint say what it needs. Whoever holds the endpoint as it was, such as its handler, keeps that.
    fn seal(&mut self, needs: CallerNeeds) {
        if self.endpoint.required_scopes[..] != needs.scopes[..] {
            let required_scopes = needs.scopes.to_vec();
            self.endpoint = Arc::new(Endpoint { required_scopes, ..Endpoint::clone(&self.endpoint) });
        }
        self.needs = needs;
    }
}

/// An endpoint that a call is for, with what its path says.
#[derive(Clone)]
pub struct MatchedEndpoint {
    /// The endpoint.
    pub registered: RegisteredEndpoint,
    /// The path's parameters, decoded, by name.
    pub values: Vec<(String, String)>,
}

/// Why an endpoint can't be added to others.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There is one of the same method and path.
    #[error("endpoint-duplicate: `{0}` is registered already")]
    Duplicate(String),
    /// Another template with as many parameters matches a common path, so that a call could not choose. Section 5.4.
    #[error("path-ambiguity: `{0}` and `{1}` match the same paths with as many parameters")]
    Ambiguous(String, String),
    /// [`ENDPOINTS_MAX`] are registered already.
    #[error("a host has at most {ENDPOINTS_MAX} endpoints")]
    Full,
}

/// All endpoints of a host.
pub struct Registry {
    literal: HashMap<String, BTreeMap<Method, RegisteredEndpoint>>,
    /// The tree of templates; the first node is its root.
    tree: Vec<Node>,
    count: usize,
}

/// A place in the tree: which segments lead on, and what is registered here.
#[derive(Default)]
struct Node {
    literals: HashMap<String, usize>,
    parameter: Option<usize>,
    here: BTreeMap<Method, RegisteredEndpoint>,
}

/// A node that a path ends at, and how many parameters led there.
type NodeMatch = (usize, usize);

impl Default for Registry {
    fn default() -> Registry {
        Registry { literal: HashMap::new(), tree: vec![Node::default()], count: 0 }
    }
}

impl Registry {
    /// Adds an endpoint.
    ///
    /// # Errors
    /// Another one is in its way. Section 5.4.
    pub fn insert(&mut self, endpoint: Arc<Endpoint>, handler: Arc<dyn Handler>) -> Result<(), RegistryError> {
        if self.count == ENDPOINTS_MAX {
            return Err(RegistryError::Full);
        }
        let (method, path) = (endpoint.method.clone(), endpoint.path.clone());
        let place = match path.is_literal() {
            true => self.literal.entry(path.as_str().to_owned()).or_default(),
            false => {
                // Before the tree grows: a template that is refused leaves no nodes behind.
                self.refuse_rivals(&method, &path)?;
                let node = self.grow(&path);
                &mut self.tree[node].here
            }
        };
        if place.contains_key(&method) {
            return Err(RegistryError::Duplicate(format!("{method} {path}")));
        }
        place.insert(method, RegisteredEndpoint::new(endpoint, handler));
        self.count += 1;
        Ok(())
    }

    /// The endpoint for a call: a literal path, else the template with the fewest parameters.
    pub fn find(&self, method: &Method, path: &RequestPath) -> Option<MatchedEndpoint> {
        if let Some(registered) = self.literal.get(path.as_str()).and_then(|place| place.get(method)) {
            return Some(MatchedEndpoint { registered: registered.clone(), values: Vec::new() });
        }
        // By method first: a better template that lacks the method must not hide one that has it.
        let candidates = self.ends(path).into_iter().filter(|(node, _)| self.tree[*node].here.contains_key(method));
        // One alone has the fewest parameters: `refuse_rivals` let no second one in.
        let (node, _) = candidates.min_by_key(|(_, parameters)| *parameters)?;
        let registered = self.tree[node].here.get(method)?.clone();
        let values = values(&registered.endpoint.path, path);
        Some(MatchedEndpoint { registered, values })
    }

    /// The methods that are registered for a path. Empty: the path is not known.
    pub fn methods_at(&self, path: &RequestPath) -> BTreeSet<Method> {
        let literal = self.literal.get(path.as_str()).into_iter().flat_map(BTreeMap::keys);
        let templates = self.ends(path).into_iter().flat_map(|(node, _)| self.tree[node].here.keys());
        literal.chain(templates).cloned().collect()
    }

    /// Whether any method is registered for a path.
    pub fn has(&self, path: &RequestPath) -> bool {
        self.literal.contains_key(path.as_str()) || !self.ends(path).is_empty()
    }

    /// Has each endpoint say what it needs, in the order of [`Registry::iter`].
    pub(crate) fn seal(&mut self, needs: Vec<CallerNeeds>) {
        let literal = self.literal.values_mut().flat_map(BTreeMap::values_mut);
        let mut all: Vec<&mut RegisteredEndpoint> =
            literal.chain(self.tree.iter_mut().flat_map(|node| node.here.values_mut())).collect();
        // The order of `iter`, in which `needs` was gathered: hash maps have none of their own.
        all.sort_by(|a, b| place(a).cmp(&place(b)));
        for (registered, needs) in all.into_iter().zip(needs) {
            registered.seal(needs);
        }
    }

    /// All endpoints, by path and method.
    pub fn iter(&self) -> impl Iterator<Item = &RegisteredEndpoint> {
        let literal = self.literal.values().flat_map(BTreeMap::values);
        let mut all: Vec<&RegisteredEndpoint> =
            literal.chain(self.tree.iter().flat_map(|node| node.here.values())).collect();
        all.sort_by(|a, b| place(a).cmp(&place(b)));
        all.into_iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The nodes that a path ends at.
    fn ends(&self, path: &RequestPath) -> Vec<NodeMatch> {
        let mut open: Vec<NodeMatch> = vec![(0, 0)];
        for (at, segment) in path.segments().enumerate() {
            let takes = path.value(at).is_some();
            open = open.into_iter().flat_map(|(node, count)| self.next(node, count, segment, takes)).collect();
            if open.is_empty() {
                break;
            }
        }
        open.retain(|(node, _)| !self.tree[*node].here.is_empty());
        open
    }

    /// The nodes after a segment; `takes` says whether a parameter takes it.
    fn next(&self, node: usize, count: usize, segment: &str, takes: bool) -> impl Iterator<Item = NodeMatch> + use<> {
        let literal = self.tree[node].literals.get(segment).map(|&next| (next, count));
        let parameter = self.tree[node].parameter.filter(|_| takes).map(|next| (next, count + 1));
        literal.into_iter().chain(parameter)
    }

    /// The node of a template, made where it is missing.
    fn grow(&mut self, path: &Template) -> usize {
        let mut node = 0;
        for segment in path.segments() {
            let known = match segment {
                Segment::Literal(text) => self.tree[node].literals.get(text).copied(),
                Segment::Parameter(_) => self.tree[node].parameter,
            };
            node = known.unwrap_or_else(|| self.sprout(node, segment));
        }
        node
    }

    fn sprout(&mut self, node: usize, segment: &Segment) -> usize {
        let new = self.tree.len();
        self.tree.push(Node::default());
        match segment {
            Segment::Literal(text) => drop(self.tree[node].literals.insert(text.clone(), new)),
            Segment::Parameter(_) => self.tree[node].parameter = Some(new),
        }
        new
    }

    /// Refuses a template when another of its method matches a common path with as many parameters.
    fn refuse_rivals(&self, method: &Method, path: &Template) -> Result<(), RegistryError> {
        let wanted = path.parameters().count();
        let mut open: Vec<NodeMatch> = vec![(0, 0)];
        for segment in path.segments() {
            let on = |(node, count): NodeMatch| {
                let node = &self.tree[node];
                let literals: Vec<usize> = match segment {
                    Segment::Literal(text) => node.literals.get(text).copied().into_iter().collect(),
                    Segment::Parameter(_) => node.literals.values().copied().collect(),
                };
                let literals = literals.into_iter().map(move |next| (next, count));
                literals.chain(node.parameter.map(|next| (next, count + 1)))
            };
            // What has more parameters already can't end as a rival.
            open = open.into_iter().flat_map(on).filter(|(_, count)| *count <= wanted).collect();
        }
        let rivals = open.into_iter().filter(|(_, count)| *count == wanted);
        let rival = rivals.filter_map(|(node, _)| self.tree[node].here.get(method)).next();
        match rival.map(|rival| &rival.endpoint.path) {
            Some(other) if other == path => Err(RegistryError::Duplicate(format!("{method} {path}"))),
            Some(other) => Err(RegistryError::Ambiguous(format!("{method} {path}"), format!("{method} {other}"))),
            None => Ok(()),
        }
    }
}

/// Where an endpoint stands among all.
fn place(registered: &RegisteredEndpoint) -> (&str, &Method) {
    (registered.endpoint.path.as_str(), &registered.endpoint.method)
}

/// What the parameters of a template take from a path that it matches.
fn values(template: &Template, path: &RequestPath) -> Vec<(String, String)> {
    let taken = |(at, segment): (usize, &Segment)| match segment {
        Segment::Parameter(name) => Some((name.clone(), path.value(at)?.to_owned())),
        Segment::Literal(_) => None,
    };
    template.segments().iter().enumerate().filter_map(taken).collect()
}
