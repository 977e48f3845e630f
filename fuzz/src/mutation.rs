//! Changes to inputs whose requests have bodies of JSON: every other one is a change of a value, so that what comes of it
//! is read, and not refused as no JSON.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Map, Value, json};

use crate::script;

/// Bytes of room that a text has to grow.
const GROWTH: usize = 16;

/// Changes the first `size` bytes of an input, which may grow to `size_max`; gives how many there are then.
pub fn mutate(data: &mut [u8], size: usize, size_max: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed) << 1 | 1);
    let changed = if random.below(2) == 0 { None } else { changed(&data[..size], &mut random) };
    match changed {
        Some(changed) if changed.len() <= size_max => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => fuzzer_mutate(data, size, size_max),
    }
}

/// The input with another value in one of its bodies. `None`: that one has no JSON.
fn changed(input: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut requests: Vec<Vec<u8>> = script::requests(input).into_iter().map(<[u8]>::to_vec).collect();
    let at = random.below(requests.len());
    let request = requests.get_mut(at)?;
    let begin = request.iter().position(|byte| b"{[".contains(byte))?;
    let mut body: Value = serde_json::from_slice(&request[begin..]).ok()?;
    let count = count(&body);
    let other = nth(&mut body, &mut random.below(count))?.clone();
    change(nth(&mut body, &mut random.below(count))?, other, random);
    request.truncate(begin);
    request.extend(serde_json::to_vec(&body).ok()?);
    Some(requests.join(script::BETWEEN))
}

fn change(value: &mut Value, other: Value, random: &mut Random) {
    let dice = random.below(8);
    *value = match (std::mem::take(value), dice) {
        (Value::Object(fields), 0..=4) => Value::Object(fields_changed(fields, other, random)),
        (Value::Array(mut items), 0..=2) => {
            let at = random.below(items.len());
            let copy = items.get(at).cloned().unwrap_or(other);
            items.insert(at, copy);
            Value::Array(items)
        }
        (Value::Array(mut items), 3) => {
            let at = random.below(items.len());
            items.drain(at..items.len().min(at + 1));
            Value::Array(items)
        }
        (Value::String(text), 0..=3) => Value::String(text_changed(text)),
        (value, 4) => json!([value]),
        (value, 5) => json!({"data": value}),
        (_, 6) => other,
        _ => odd(random),
    };
}

/// One field less, or called like another one, or another one more.
fn fields_changed(mut fields: Map<String, Value>, other: Value, random: &mut Random) -> Map<String, Value> {
    let Some((key, value)) =
        fields.iter().nth(random.below(fields.len())).map(|(key, value)| (key.clone(), value.clone()))
    else {
        return fields;
    };
    match random.below(4) {
        0 => drop(fields.remove(&key)),
        1 => drop(fields.insert(key, other)),
        2 => drop(fields.insert(text_changed(key), value)),
        _ => drop(fields.insert(key, odd(random))),
    }
    fields
}

fn text_changed(text: String) -> String {
    let mut bytes = text.into_bytes();
    let (size, size_max) = (bytes.len(), bytes.len() + GROWTH);
    bytes.resize(size_max, 0);
    let size = fuzzer_mutate(&mut bytes, size, size_max);
    String::from_utf8_lossy(&bytes[..size]).into_owned()
}

/// A value that is seldom expected.
fn odd(random: &mut Random) -> Value {
    let mut all = vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("\u{0}"),
        json!("é\u{202e}🍲"),
        json!([]),
        json!({}),
        json!(["a", {"b": []}]),
    ];
    all.swap_remove(random.below(all.len()))
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// The value that is `left` behind the first one, in their order.
fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, left)),
        _ => None,
    }
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    /// A number below `bound`; 0 below 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or_default() % bound.max(1)
    }
}
