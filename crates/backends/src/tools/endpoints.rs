//! The endpoints of the host that a section names as tools. A call of one goes through the host like every other,
//! in the name of whoever asked the model.

use std::sync::Arc;

use forecourt_agents::tool::{EndpointTool, Tool};
use forecourt_settings::{Problems, Section};

use super::limits::ENDPOINTS_MAX;

/// The tools for the endpoints that a section names under `endpoints`.
pub(crate) fn named(
    section: &Section,
    names: &[String],
    endpoints: &[EndpointTool],
    problems: &mut Problems,
) -> Vec<Arc<dyn Tool>> {
    if names.len() > ENDPOINTS_MAX {
        let message = format!("`endpoints` names at most {ENDPOINTS_MAX}");
        problems.push(section.problem(Some("endpoints"), message));
        return Vec::new();
    }
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for name in names {
        match endpoints.iter().find(|endpoint| endpoint.pair == *name) {
            // Named twice: APIs refuse two tools of one name.
            Some(endpoint) if tools.iter().any(|tool| tool.name() == endpoint.tool.name()) => {}
            Some(endpoint) => tools.push(endpoint.tool.clone()),
            None => {
                let problem = section.problem(Some("endpoints"), format!("there is no endpoint `{name}` to be a tool"));
                problems.push(problem.hint(hint(name, endpoints)));
            }
        }
    }
    tools
}

fn hint(name: &str, endpoints: &[EndpointTool]) -> String {
    let pairs = || endpoints.iter().map(|endpoint| endpoint.pair.as_str());
    let path = name.split_once(' ').map_or(name, |(_, path)| path);
    match pairs().find(|pair| pair.ends_with(path)).or_else(|| pairs().next()) {
        Some(pair) => format!("write method and path as the endpoint's file has them, such as `{pair}`"),
        None => "no file in endpoints/ is offered as a tool".to_owned(),
    }
}
