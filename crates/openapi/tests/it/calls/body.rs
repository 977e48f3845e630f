//! The body of a request, by its media type, held against the document.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::modern::{Document, Way};
use super::parameters::brackets;
use super::service::Request;
use super::typed::Tree;

/// Whether a value keeps a schema that stands alone.
///
/// # Errors
/// What it does not keep.
pub(super) fn hold(schema: &Value, value: &Value) -> Result<(), String> {
    let validator = jsonschema::draft202012::options().build(schema).map_err(|why| format!("bad schema: {why}"))?;
    validator.validate(value).map_err(|why| format!("{why} at {}", why.instance_path()))
}

/// The body as a value. `None`: there is none, and may be none.
///
/// # Errors
/// It is missing, of another media type, not readable, or not valid.
pub(super) fn read(document: &Document, operation: &Value, request: &Request) -> Result<Option<Value>, String> {
    let media = request.header("content-type");
    let Some(declared) = operation.get("requestBody").map(|body| document.resolve(body)) else {
        return match request.body.is_empty() && media.is_none() {
            true => Ok(None),
            false => Err(format!("a body that is not declared: {media:?}")),
        };
    };
    let Some(media) = media else {
        return match declared["required"] == true || !request.body.is_empty() {
            true => Err("the body is missing".to_owned()),
            false => Ok(None),
        };
    };
    let plain = |media: &str| media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let content = declared["content"].as_object().into_iter().flatten();
    let found = content.into_iter().find(|(known, _)| {
        let known = plain(known);
        known == plain(&media)
            || known == "*/*"
            || known.strip_suffix('*').is_some_and(|group| media.starts_with(group))
    });
    let (_, found) = found.ok_or_else(|| format!("{media} is not declared"))?;
    let schema = document.schema(found.get("schema").unwrap_or(&Value::Bool(true)), Way::Sent);
    let value = match plain(&media).as_str() {
        json if json.ends_with("json") => serde_json::from_slice(&request.body).map_err(|why| why.to_string())?,
        "application/x-www-form-urlencoded" => form(&schema, &found["encoding"], &request.text())?,
        "multipart/form-data" => multipart(&schema, &media, &request.body)?,
        text if text.starts_with("text/") || text.ends_with("xml") => json!(request.text()),
        _ => json!(STANDARD.encode(&request.body)),
    };
    // What XML says of a schema is not read here.
    if media.contains("xml") {
        return Ok(Some(value));
    }
    hold(&schema, &value).map_err(|why| format!("body: {why} in {value}"))?;
    known(&schema, &value)?;
    Ok(Some(value))
}

/// Whether an outermost member has a name that is declared nowhere, though others are.
fn known(schema: &Value, value: &Value) -> Result<(), String> {
    let (mut names, mut is_open) = (Vec::new(), false);
    names_of(schema, schema, 0, &mut names, &mut is_open);
    let unknown = value.as_object().into_iter().flatten().find(|(name, _)| !names.contains(name));
    match unknown.filter(|_| !is_open && !names.is_empty()) {
        Some((name, _)) => Err(format!("the body has {name}, which is not declared")),
        None => Ok(()),
    }
}

fn names_of(schema: &Value, root: &Value, depth: usize, names: &mut Vec<String>, is_open: &mut bool) {
    names.extend(schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    // Some documents require what they declare nowhere.
    names.extend(schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    *is_open |= schema.get("additionalProperties").is_some_and(|more| *more != json!(false)) || depth > 8;
    let target = schema["$ref"].as_str().and_then(|pointer| root.pointer(&pointer[1..]));
    let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|list| schema[*list].as_array()).flatten();
    target
        .into_iter()
        .chain(lists)
        .filter(|_| depth <= 8)
        .for_each(|part| names_of(part, root, depth + 1, names, is_open));
}

fn form(schema: &Value, encoding: &Value, text: &str) -> Result<Value, String> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8().unwrap().into_owned();
    let mut tree = Tree::Named(BTreeMap::new());
    for (name, raw) in text.split('&').filter_map(|pair| pair.split_once('=')) {
        let name = decoded(name);
        let outer = name.split('[').next().unwrap_or_default().to_owned();
        let is_listed = encoding[&outer]["explode"] == false && encoding[&outer]["style"] != "deepObject";
        let is_deep = encoding[&outer]["style"] == "deepObject";
        if name.contains('[') && !is_deep {
            return Err(format!("brackets that are not declared: {name}"));
        }
        let steps: Vec<String> = std::iter::once(outer).chain(brackets(&name)).collect();
        let values: Vec<&str> = if is_listed { raw.split(',').collect() } else { vec![raw] };
        values.into_iter().for_each(|value| tree.put(&steps, decoded(value)));
    }
    Ok(tree.typed(schema))
}

fn multipart(schema: &Value, media: &str, body: &[u8]) -> Result<Value, String> {
    let boundary = media.split("boundary=").nth(1).ok_or("no boundary")?;
    let text: String = body.iter().copied().map(char::from).collect();
    let inner = text.strip_suffix(&format!("--{boundary}--\r\n")).ok_or("no end")?;
    let (mut tree, mut whole) = (Tree::Named(BTreeMap::new()), Map::new());
    for part in inner.split(&format!("--{boundary}\r\n")).skip(1) {
        let (head, content) = part.split_once("\r\n\r\n").ok_or("a part without a head")?;
        let content = content.strip_suffix("\r\n").ok_or("a part without an end")?;
        let name = head.split("name=\"").nth(1).and_then(|rest| rest.split('"').next()).ok_or("no name")?;
        let bytes: Vec<u8> = content.chars().map(|c| c as u8).collect();
        let text = match (head.contains("filename="), head.contains("application/json")) {
            (true, _) => STANDARD.encode(&bytes),
            (false, true) => {
                whole.insert(name.to_owned(), serde_json::from_slice(&bytes).map_err(|why| why.to_string())?);
                continue;
            }
            _ => String::from_utf8(bytes).map_err(|why| why.to_string())?,
        };
        tree.put(&[name.to_owned()], text);
    }
    let mut value = tree.typed(schema);
    value.as_object_mut().ok_or("no object")?.extend(whole);
    Ok(value)
}
