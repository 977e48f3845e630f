//! This module has one run of a recipe, as a value that is stepped. It makes no calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::reference::inside;
use super::{Aggregation, InputSource, Recipe, ResultReference, Step};
use crate::limits::ELEMENTS_MAX;
use crate::method::Method;
use crate::path::{Template, segment};
use crate::refusal::{FailedStep, Refusal};

/// A run of a recipe on an input, somewhere between its first step and its end.
#[derive(Clone, Debug)]
pub struct Run {
    recipe: Arc<Recipe>,
    input: Map<String, Value>,
    captured: BTreeMap<String, Value>,
    outputs: Vec<Value>,
    /// What the next step has come to so far, where it is called for the elements of a list.
    gathered: Vec<Value>,
}

/// The call of one step: a method, a path and a body.
#[derive(Clone, Debug, PartialEq)]
pub struct StepCall {
    /// The method.
    pub method: Method,
    /// The path, with its parameters filled in.
    pub path: String,
    /// The parameters of the body.
    pub body: Map<String, Value>,
}

/// Why a step can't be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReference {
    /// Its path takes a value that is not there, or that no segment takes.
    #[error("a step of the recipe takes a value for its path that is not there")]
    Path,
    /// It is called for the elements of a list that is not there.
    #[error("a step of the recipe is called for each element of a list that is not there")]
    List,
    /// It would be called too often.
    #[error("a step of the recipe is called for at most {ELEMENTS_MAX} elements of a list")]
    Elements,
}

impl Run {
    /// A run that is before its first step.
    pub fn new(recipe: Arc<Recipe>, input: Map<String, Value>) -> Run {
        Run { recipe, input, captured: BTreeMap::new(), outputs: Vec::new(), gathered: Vec::new() }
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// How many steps are done; also the index of the next one, counted from 0.
    pub fn done(&self) -> usize {
        self.outputs.len()
    }

    /// The captured results so far, by name.
    pub fn captured(&self) -> &BTreeMap<String, Value> {
        &self.captured
    }

    /// The field of the input that the path of a step takes, and that is not there or that no path takes.
    pub fn unfit(&self) -> Option<&str> {
        let mut fields = self.recipe.steps.iter().flat_map(|step| {
            let names = step.path.iter().flat_map(Template::parameters);
            names.filter_map(|name| match step.parameters.get(name)? {
                InputSource::Proposal(field) => Some(field.as_str()),
                // Constants were checked when the file was read; results are not there yet.
                InputSource::Constant(_) | InputSource::PreviousStep(_) | InputSource::Element(_) => None,
            })
        });
        fields.find(|field| self.input.get(*field).and_then(segment).is_none())
    }

    /// Where the calls go whose path is known by now: it takes nothing of results that are not there.
    pub fn foreseen(&self) -> impl Iterator<Item = (&Method, String)> {
        let word = |step: &Step, name: &str| self.value(step.parameters.get(name)?, None).as_ref().and_then(segment);
        self.recipe.steps.iter().filter_map(move |step| match &step.path {
            None => Some((&step.method, "/".to_owned())),
            Some(path) => Some((&step.method, path.fill(|name| word(step, name))?)),
        })
    }

    /// The next call. `None`: all steps are done. A step for each element of a list without any is done without a
    /// call.
    pub fn next_call(&mut self) -> Option<Result<StepCall, BadReference>> {
        loop {
            let recipe = Arc::clone(&self.recipe);
            let step = recipe.steps.get(self.outputs.len())?;
            let Some(list) = &step.for_each else { return Some(self.call(step, None)) };
            let Some(Value::Array(elements)) = self.taken(list) else { return Some(Err(BadReference::List)) };
            if elements.len() > ELEMENTS_MAX {
                return Some(Err(BadReference::Elements));
            }
            match elements.get(self.gathered.len()) {
                Some(element) => return Some(self.call(step, Some(element))),
                None => self.finish_step(step),
            }
        }
    }

    /// Notes the result of the call that [`Run::next_call`] gave. Nothing happens after the last one.
    pub fn record(&mut self, output: Value) {
        let recipe = Arc::clone(&self.recipe);
        let Some(step) = recipe.steps.get(self.outputs.len()) else { return };
        self.gathered.push(output);
        let is_done = step.for_each.as_ref().is_none_or(|list| {
            self.taken(list).and_then(|list| list.as_array().map(Vec::len)).is_none_or(|all| all <= self.gathered.len())
        });
        if is_done {
            self.finish_step(step);
        }
    }

    fn finish_step(&mut self, step: &Step) {
        let mut gathered = std::mem::take(&mut self.gathered);
        let output = match step.for_each.is_some() {
            true => Value::Array(gathered),
            false => gathered.pop().unwrap_or_default(),
        };
        if let Some(name) = &step.capture_as {
            self.captured.insert(name.clone(), output.clone());
        }
        self.outputs.push(output);
    }

    /// The result of all steps. Of a merge, results that are no objects are left out.
    pub fn finish(self) -> Value {
        match &self.recipe.aggregation {
            Aggregation::Fields(fields) => {
                let taken = fields.iter().filter_map(|(name, result)| Some((name.clone(), self.taken(result)?)));
                Value::Object(taken.collect())
            }
            Aggregation::Last => self.outputs.into_iter().next_back().unwrap_or_default(),
            Aggregation::List => Value::Array(self.outputs),
            Aggregation::Merge => {
                let objects = self.outputs.into_iter().filter_map(|output| match output {
                    Value::Object(fields) => Some(fields),
                    _ => None,
                });
                Value::Object(objects.flatten().collect())
            }
        }
    }

    /// Ends the run at its next step, a call of `method` that came to `refusal`.
    pub fn fail(self, method: Method, refusal: Refusal) -> FailedStep {
        FailedStep {
            recipe: self.recipe.name.clone(),
            version: self.recipe.version.clone(),
            step: self.outputs.len(),
            method,
            refusal,
            captured: self.captured,
        }
    }

    fn call(&self, step: &Step, element: Option<&Value>) -> Result<StepCall, BadReference> {
        let given =
            step.parameters.iter().filter_map(|(name, source)| Some((name.clone(), self.value(source, element)?)));
        let mut body: Map<String, Value> = given.collect();
        let path = match &step.path {
            None => "/".to_owned(),
            Some(path) => {
                let filled = path.fill(|name| body.get(name).and_then(segment)).ok_or(BadReference::Path)?;
                // Dispatch reads these from the path; in the body they would be a second copy.
                path.parameters().for_each(|name| drop(body.remove(name)));
                filled
            }
        };
        Ok(StepCall { method: step.method.clone(), path, body })
    }

    fn value(&self, source: &InputSource, element: Option<&Value>) -> Option<Value> {
        match source {
            InputSource::Constant(value) => Some(value.clone()),
            InputSource::Proposal(name) => self.input.get(name).cloned(),
            InputSource::PreviousStep(result) => self.taken(result),
            InputSource::Element(members) => inside(element?, members),
        }
    }

    /// The selected part of a captured result. `None`: it is not captured yet, or has no such part.
    fn taken(&self, result: &ResultReference) -> Option<Value> {
        result.select(self.captured.get(&result.capture)?, &self.input)
    }
}
