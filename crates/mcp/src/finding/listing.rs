//! The tools of one endpoint, all of them, and those of them that its list shows.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use forecourt_core::Glob;
use forecourt_ranking::{Description, Ranking};
use rmcp::model::Tool;
use serde_json::Value;

use crate::limits::OUTPUT_SCHEMAS_BYTES_MAX;

/// A tool as an endpoint has it, whoever it is of.
pub(crate) trait ListedTool: Send + Sync {
    /// What it is called at the endpoint.
    fn name(&self) -> &str;

    /// All of it, as a list has it.
    fn described(&self) -> Tool;

    /// Whether a short list has it.
    fn pin(&self) -> Pin;
}

/// How surely a short list has a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pin {
    /// In any case.
    Always,
    /// As long as there is room for all tools of this kind: the owner's own naming.
    Named,
    /// The same, after those: what asks an agent.
    Agent,
    /// Only if all tools are listed.
    Never,
}

/// The tools of one endpoint.
pub(crate) struct Listing {
    tools: Vec<Arc<dyn ListedTool>>,
    /// The places of those that the list shows.
    shown: Vec<usize>,
    /// Whether the list leaves any out.
    pub(crate) is_cut: bool,
    index: OnceLock<Index>,
}

/// What is made when somebody looks for a tool.
struct Index {
    ranking: Ranking,
    places: HashMap<String, usize>,
}

impl Listing {
    /// The list of `tools`, with no more than `listed_max` where that is possible: what finds the others is among
    /// those, and `own` is how many tools that is.
    pub(crate) fn new(tools: Vec<Arc<dyn ListedTool>>, pinned: &[Glob], listed_max: usize, own: usize) -> Self {
        let is_cut = tools.len() > listed_max;
        let shown = match is_cut {
            false => (0..tools.len()).collect(),
            true => pinned_of(&tools, pinned, listed_max.saturating_sub(own)),
        };
        Self { tools, shown, is_cut, index: OnceLock::new() }
    }

    /// How many tools there are, listed or not.
    pub(crate) fn len(&self) -> usize {
        self.tools.len()
    }

    /// The tools that the list shows, in its order. Their output schemas are there as far as they fit into
    /// [`OUTPUT_SCHEMAS_BYTES_MAX`] together.
    pub(crate) fn shown(&self) -> Vec<Tool> {
        let mut left = OUTPUT_SCHEMAS_BYTES_MAX;
        let listed = |at: &usize| {
            let mut tool = self.tools[*at].described();
            let bytes = tool.output_schema.as_deref().map_or(0, written_bytes);
            match left.checked_sub(bytes) {
                Some(rest) => left = rest,
                // Once one was left out, the others are: a list says that of all of them or of none.
                None => (left, tool.output_schema) = (0, None),
            }
            tool
        };
        self.shown.iter().map(listed).collect()
    }

    /// The tool of a name, all of it.
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        self.index().places.get(name).map(|at| self.tools[*at].described())
    }

    /// Whether there is a tool of a name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.index().places.contains_key(name)
    }

    /// The tools that fit a question, the best first.
    pub(crate) fn search(&self, question: &str, limit: usize) -> Vec<Tool> {
        let found = self.index().ranking.search(question, limit);
        found.into_iter().map(|found| self.tools[found.at].described()).collect()
    }

    /// The names that are most like one, the most likely first.
    pub(crate) fn nearest(&self, name: &str, limit: usize) -> Vec<&str> {
        let found = self.index().ranking.nearest(name, limit);
        found.into_iter().map(|at| self.tools[at].name()).collect()
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut places = HashMap::new();
            let described: Vec<(Tool, Value)> = self.tools.iter().map(|tool| of(tool.described())).collect();
            for (at, tool) in self.tools.iter().enumerate() {
                // Of two with one name the first counts.
                places.entry(tool.name().to_owned()).or_insert(at);
            }
            Index { ranking: Ranking::new(described.iter().map(|(tool, input)| description(tool, input))), places }
        })
    }
}

/// The places of the tools that a short list has, with room for `room` beside those that it has in any case.
fn pinned_of(tools: &[Arc<dyn ListedTool>], pinned: &[Glob], room: usize) -> Vec<usize> {
    let is_named = |tool: &Arc<dyn ListedTool>| pinned.iter().any(|glob| glob.matches(tool.name()));
    let pin = |tool: &Arc<dyn ListedTool>| if is_named(tool) { Pin::Always } else { tool.pin() };
    let pins: Vec<Pin> = tools.iter().map(pin).collect();
    let count = |wanted: Pin| pins.iter().filter(|pin| **pin == wanted).count();
    let mut most = Pin::Always;
    let mut taken = count(Pin::Always);
    // Some agents and not others would be a choice that nobody made: all of a kind, or none.
    for kind in [Pin::Named, Pin::Agent] {
        taken += count(kind);
        if taken > room {
            break;
        }
        most = kind;
    }
    pins.iter().enumerate().filter(|(_, pin)| **pin <= most).map(|(at, _)| at).collect()
}

fn of(mut tool: Tool) -> (Tool, Value) {
    let input = Value::Object((*tool.input_schema).clone());
    // Nothing of it is searched, and it is the largest part.
    tool.output_schema = None;
    (tool, input)
}

fn description<'a>(tool: &'a Tool, input: &'a Value) -> Description<'a> {
    let annotations = tool.annotations.as_ref();
    let title = tool.title.as_deref().or_else(|| annotations?.title.as_deref());
    Description {
        name: &tool.name,
        title: title.unwrap_or_default(),
        text: tool.description.as_deref().unwrap_or_default(),
        input: Some(input),
        reads_only: annotations.and_then(|annotations| annotations.read_only_hint).unwrap_or_default(),
    }
}

/// Bytes of a schema as it is sent.
fn written_bytes(schema: &serde_json::Map<String, Value>) -> usize {
    serde_json::to_vec(schema).map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct One(String, Pin, usize);

    impl ListedTool for One {
        fn name(&self) -> &str {
            &self.0
        }

        fn described(&self) -> Tool {
            let padding = "x".repeat(self.2);
            let tool = json!({"name": self.0, "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "x": padding}});
            serde_json::from_value(tool).expect("a tool")
        }

        fn pin(&self) -> Pin {
            self.1
        }
    }

    fn listing(pins: &[(Pin, usize)], pinned: &[&str], listed_max: usize) -> Listing {
        let kinds = pins.iter().flat_map(|(pin, count)| (0..*count).map(move |n| (*pin, n)));
        let tools =
            kinds.map(|(pin, n)| Arc::new(One(format!("{pin:?}_{n}").to_lowercase(), pin, 0)) as Arc<dyn ListedTool>);
        let globs: Vec<Glob> = pinned.iter().map(|glob| glob.parse().expect("a pattern")).collect();
        Listing::new(tools.collect(), &globs, listed_max, 3)
    }

    fn names(listing: &Listing) -> Vec<String> {
        listing.shown().into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    #[test]
    fn a_list_is_whole_up_to_its_bound() {
        assert_eq!(names(&listing(&[(Pin::Never, 4)], &[], 4)).len(), 4);
        let cut = listing(&[(Pin::Never, 5)], &[], 4);
        assert!(cut.is_cut && names(&cut).is_empty());
    }

    #[test]
    fn tools_of_a_kind_are_listed_as_long_as_all_of_them_fit() {
        let of = |named, agents| names(&listing(&[(Pin::Never, 9), (Pin::Named, named), (Pin::Agent, agents)], &[], 7));
        assert_eq!(of(2, 2), ["named_0", "named_1", "agent_0", "agent_1"]);
        assert_eq!(of(2, 3), ["named_0", "named_1"]);
        assert!(of(5, 1).is_empty());
    }

    #[test]
    fn pinned_tools_are_listed_however_many_they_are() {
        let cut = listing(&[(Pin::Never, 12), (Pin::Always, 6)], &["never_1*"], 4);
        assert_eq!(names(&cut)[..3], ["never_1", "never_10", "never_11"]);
        assert_eq!(names(&cut).len(), 3 + 6);
    }

    #[test]
    fn output_schemas_are_listed_up_to_their_bytes() {
        let schema = written_bytes(json!({"type": "object", "x": ""}).as_object().expect("an object"));
        let of = |bytes: usize| {
            let tools = [bytes - schema, 1]
                .map(|padding| Arc::new(One(String::new(), Pin::Never, padding)) as Arc<dyn ListedTool>);
            let listed = Listing::new(tools.to_vec(), &[], 4, 3).shown();
            listed.iter().map(|tool| tool.output_schema.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(of(OUTPUT_SCHEMAS_BYTES_MAX - schema - 1), [true, true]);
        assert_eq!(of(OUTPUT_SCHEMAS_BYTES_MAX), [true, false]);
        assert_eq!(of(OUTPUT_SCHEMAS_BYTES_MAX + 1), [false, false]);
    }
}
