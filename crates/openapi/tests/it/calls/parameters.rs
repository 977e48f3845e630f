//! Parameters out of a request, by the styles of OpenAPI.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::modern::{Document, Way};
use super::service::Request;
use super::typed::Tree;

/// A parameter as the document declares it.
pub(super) struct Declared<'a> {
    pub(super) value: &'a Value,
    /// Its schema, which stands alone.
    pub(super) schema: Value,
}

impl Declared<'_> {
    fn text(&self, key: &str) -> &str {
        self.value[key].as_str().unwrap_or_default()
    }

    fn is_json(&self) -> bool {
        self.value["content"].as_object().is_some_and(|content| content.keys().all(|media| media.contains("json")))
    }

    /// Whether its values may have items, and the names of the members that they may have.
    fn shape(&self) -> (bool, Vec<String>) {
        let (mut is_list, mut names) = (false, Vec::new());
        shape(&self.schema, &self.schema, 0, &mut is_list, &mut names);
        (is_list, names)
    }

    fn explodes(&self, usual: bool) -> bool {
        self.value["explode"].as_bool().unwrap_or(usual)
    }
}

fn shape(schema: &Value, root: &Value, depth: usize, is_list: &mut bool, names: &mut Vec<String>) {
    if depth > 10 {
        return;
    }
    *is_list |= schema["type"] == "array" || schema.get("items").is_some();
    names.extend(schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    let target = schema["$ref"].as_str().and_then(|pointer| root.pointer(&pointer[1..]));
    let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|list| schema[*list].as_array()).flatten();
    target.into_iter().chain(lists).for_each(|part| shape(part, root, depth + 1, is_list, names));
}

/// Every parameter of an operation and its values, and what is wrong with them.
pub(super) fn read(
    document: &Document,
    item: &Value,
    operation: &Value,
    template: &str,
    request: &Request,
) -> Result<Map<String, Value>, String> {
    let mut declared: Vec<Declared<'_>> = Vec::new();
    for value in [operation, item].iter().filter_map(|owner| owner["parameters"].as_array()).flatten() {
        let value = document.resolve(value);
        let content = value["content"].as_object().and_then(|content| content.values().next()?.get("schema"));
        let schema = value.get("schema").or(content).unwrap_or(&Value::Bool(true));
        if !declared.iter().any(|other| other.value["name"] == value["name"] && other.value["in"] == value["in"]) {
            declared.push(Declared { value, schema: document.schema(schema, Way::Sent) });
        }
    }
    let mut query = request.query();
    let segments = segments(template, &request.path)?;
    let mut found = Map::new();
    for parameter in &declared {
        let (name, place) = (parameter.text("name"), parameter.text("in"));
        let tree = match place {
            "path" => segments.get(name).map(|raw| of_path(parameter, raw)).transpose()?,
            "query" => of_query(parameter, &mut query),
            "header" => request.header(name).map(|text| of_header(parameter, &text)),
            _ => request.cookies().remove(name).map(Tree::Text),
        };
        let is_ignored = place == "header" && ["accept", "content-type"].contains(&name.to_ascii_lowercase().as_str());
        let Some(tree) = tree.filter(|_| !is_ignored) else {
            match parameter.value["required"] == true && !is_ignored {
                true => return Err(format!("{place} parameter {name} is missing")),
                false => continue,
            }
        };
        let value = match (parameter.is_json(), &tree) {
            (true, Tree::Text(text)) => serde_json::from_str(text).map_err(|_| format!("{name} is no JSON: {text}"))?,
            _ => tree.typed(&parameter.schema),
        };
        super::body::hold(&parameter.schema, &value).map_err(|why| format!("{place} parameter {name}: {why}"))?;
        found.insert(format!("{place} {name}"), value);
    }
    match query.first() {
        Some((name, _)) => Err(format!("the query has {name}, which is not declared")),
        None => Ok(found),
    }
}

/// The raw texts of the path by the names in a template.
fn segments<'a>(template: &'a str, path: &'a str) -> Result<BTreeMap<&'a str, &'a str>, String> {
    let (mut found, mut left, mut rest) = (BTreeMap::new(), path, template);
    let other = || format!("the path {path} is not {template}");
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(other)?;
        left = left.strip_prefix(before).ok_or_else(other)?;
        let next = after.split('{').next().unwrap_or_default();
        let end =
            if next.is_empty() { left.find('/').unwrap_or(left.len()) } else { left.find(next).ok_or_else(other)? };
        found.insert(name, &left[..end]);
        (left, rest) = (&left[end..], after);
    }
    if left == rest { Ok(found) } else { Err(other()) }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

fn list(raw: &str, mark: &str) -> Tree {
    Tree::List(raw.split(mark).map(|item| Tree::Text(decoded(item))).collect())
}

/// Members that are listed by name and value, or as `name=value`.
fn members(raw: &str, mark: &str, explodes: bool) -> Tree {
    let parts: Vec<&str> = raw.split(mark).collect();
    let pairs: Vec<(String, Tree)> = match explodes {
        true => parts
            .iter()
            .filter_map(|part| part.split_once('='))
            .map(|(n, v)| (decoded(n), Tree::Text(decoded(v))))
            .collect(),
        false => parts
            .chunks(2)
            .filter(|pair| pair.len() == 2)
            .map(|pair| (decoded(pair[0]), Tree::Text(decoded(pair[1]))))
            .collect(),
    };
    Tree::Named(pairs.into_iter().collect())
}

fn of_path(parameter: &Declared<'_>, raw: &str) -> Result<Tree, String> {
    let (is_list, names) = parameter.shape();
    let (name, explodes) = (parameter.text("name"), parameter.explodes(false));
    let (raw, mark) = match parameter.text("style") {
        "label" => (raw.strip_prefix('.').ok_or("no label")?, if explodes { "." } else { "," }),
        "matrix" => {
            let raw = raw.strip_prefix(';').ok_or("no matrix")?;
            if explodes && is_list {
                let items: Option<Vec<&str>> =
                    raw.split(';').map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).collect();
                return Ok(list(&items.ok_or("no matrix of that name")?.join(","), ","));
            }
            match explodes && !names.is_empty() {
                true => (raw, ";"),
                false => {
                    (raw.strip_prefix(name).and_then(|raw| raw.strip_prefix('=')).ok_or("no matrix of that name")?, ",")
                }
            }
        }
        _ => (raw, ","),
    };
    Ok(match (is_list, names.is_empty()) {
        (true, _) => list(raw, mark),
        (false, false) => members(raw, mark, explodes),
        (false, true) => Tree::Text(decoded(raw)),
    })
}

fn of_header(parameter: &Declared<'_>, text: &str) -> Tree {
    let (is_list, names) = parameter.shape();
    match (is_list, names.is_empty()) {
        (true, _) => list(text, ","),
        (false, false) if !parameter.is_json() => members(text, ",", parameter.explodes(false)),
        _ => Tree::Text(text.to_owned()),
    }
}

/// Takes what belongs to a parameter out of the raw pairs of a query.
fn of_query(parameter: &Declared<'_>, query: &mut Vec<(String, String)>) -> Option<Tree> {
    let (name, (is_list, names)) = (parameter.text("name"), parameter.shape());
    let style = parameter.text("style");
    let is_deep = style == "deepObject";
    let spreads = !is_deep
        && !is_list
        && !names.is_empty()
        && parameter.explodes(true)
        && parameter.value.get("schema").is_some();
    let is_own = |key: &str| match () {
        () if spreads => names.iter().any(|own| own == key),
        () if is_deep => key == name || key.strip_prefix(name).is_some_and(|rest| rest.starts_with('[')),
        () => key == name,
    };
    let (own, others): (Vec<_>, Vec<_>) = query.drain(..).partition(|(key, _)| is_own(key));
    *query = others;
    if own.is_empty() {
        return None;
    }
    let mark = match (style, parameter.value["explode"].as_bool()) {
        ("spaceDelimited", explodes) if explodes != Some(true) => Some("%20"),
        ("pipeDelimited", explodes) if explodes != Some(true) => Some("%7C"),
        (_, Some(false)) => Some(","),
        _ => None,
    };
    match mark.filter(|_| !is_deep && (is_list || !names.is_empty())) {
        Some(mark) if is_list => return Some(list(&own[0].1, mark)),
        Some(mark) => return Some(members(&own[0].1, mark, false)),
        None => {}
    }
    let mut tree = Tree::Named(BTreeMap::new());
    for (key, raw) in own {
        let steps = if spreads { vec![key] } else { brackets(&key[name.len()..]) };
        tree.put(&steps, decoded(&raw));
    }
    Some(tree)
}

/// The steps in brackets: `[a][0]`.
pub(super) fn brackets(text: &str) -> Vec<String> {
    text.split('[').skip(1).map(|step| step.trim_end_matches(']').to_owned()).collect()
}
