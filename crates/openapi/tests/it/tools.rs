//! Tools of a server elsewhere as endpoints.

use forecourt_openapi::reimport::{ImportRecord, plan};
use forecourt_openapi::{Import, ImportFate, ImportedOperation, ToolDescription, ToolServer, import_tools};
use serde_json::{Value, json};

use crate::again::Memory;

fn server() -> ToolServer {
    ToolServer {
        name: "my-weather".to_owned(),
        title: "Weather".to_owned(),
        version: "1.2".to_owned(),
        functions: "servers.my-weather.".to_owned(),
        errors: vec!["tool_failed".to_owned()],
    }
}

fn tool(name: &str, description: &str) -> ToolDescription {
    let input = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ToolDescription { name: name.to_owned(), description: description.to_owned(), input, ..ToolDescription::default() }
}

fn only(tool: ToolDescription) -> Import {
    import_tools(&server(), &[tool], &ImportRecord::default()).unwrap()
}

fn text(import: &Import) -> &str {
    &import.operations[0].fate.written().unwrap().files[0].text
}

fn endpoint(import: &Import) -> Value {
    let file = std::path::Path::new("a.toml");
    let section = forecourt_settings::Section::parse(file, text(import), &|_: &str| None).unwrap();
    section.read::<Value>().unwrap()["endpoint"].clone()
}

#[test]
fn a_tool_becomes_an_endpoint_that_calls_it() {
    let import = only(tool("get_forecast", "Gets the forecast for a city. Up to seven days."));
    let written = import.operations[0].fate.written().unwrap();
    assert_eq!(written.files[0].name, "my_weather_get_forecast.toml");
    let endpoint = endpoint(&import);
    assert_eq!(
        endpoint["handler"],
        json!({
            "type": "registered_function", "function": "servers.my-weather.get_forecast", "timeout_seconds": 30
        })
    );
    assert_eq!(
        (&endpoint["method"], &endpoint["semantic"]["intent"]),
        (&json!("FETCH"), &json!("Get the forecast for a city."))
    );
    assert_eq!(endpoint["input_schema"]["required"], json!(["city"]));
    assert!(
        text(&import).contains("# Imported from the tool get_forecast of my-weather (Weather) 1.2."),
        "{}",
        text(&import)
    );
}

#[test]
fn hints_decide_what_a_call_changes() {
    let of = |reads_only, is_destructive, is_idempotent| {
        let tool =
            ToolDescription { reads_only, is_destructive, is_idempotent, ..tool("weather", "The weather of a city") };
        let semantic = endpoint(&only(tool))["semantic"].clone();
        (semantic["impact"].as_str().unwrap().to_owned(), semantic["is_idempotent"].as_bool().unwrap())
    };
    assert_eq!(of(Some(true), None, None), ("informational".to_owned(), true));
    assert_eq!(of(Some(false), Some(true), Some(true)), ("irreversible".to_owned(), true));
    assert_eq!(of(Some(false), Some(false), None), ("reversible".to_owned(), false));
    let reading = only(ToolDescription { reads_only: Some(true), ..tool("weather", "The weather of a city") });
    let scopes = endpoint(&reading)["required_scopes"].clone();
    assert!(scopes[0].as_str().unwrap().ends_with(":read"), "{scopes}");
}

#[test]
fn names_are_taken_as_servers_write_them() {
    let names = ["getForecast", "get_forecast", "weather.for-tomorrow", "wetter.für-morgen", "a/b", "a..b"];
    let tools = names.map(|name| tool(name, ""));
    let import = import_tools(&server(), &tools, &ImportRecord::default()).unwrap();
    let failed = |operation: &&ImportedOperation| matches!(operation.fate, ImportFate::Failed(_));
    let failed: Vec<&str> = import.operations.iter().filter(failed).map(|operation| operation.id.as_str()).collect();
    assert_eq!(failed, ["a/b", "a..b", "wetter.für-morgen"], "no dotted path names these");
    assert_eq!(import.operations.len(), names.len(), "none takes the place of one that is spelled alike");
}

#[test]
fn no_tools_are_no_import() {
    assert!(import_tools(&server(), &[], &ImportRecord::default()).is_err());
}

#[test]
fn what_people_edited_stays() {
    let mut folder = Memory::default();
    let take = |folder: &mut Memory, description: &str| {
        let import = import_tools(&server(), &[tool("get_forecast", description)], &folder.record).unwrap();
        let plan = plan(&import, folder.record.clone(), folder, false);
        for file in &plan.files {
            folder.files.extend(file.text.clone().map(|text| (file.name.clone(), text)));
        }
        folder.record = plan.record;
    };
    take(&mut folder, "Gets the forecast.");
    let file = folder.files.get_mut("my_weather_get_forecast.toml").unwrap();
    *file = file.replace("Get the forecast.\"\nactor", "Tell the forecast.\"\nactor");
    assert!(file.contains("Tell the forecast."));
    take(&mut folder, "Gets the forecast. Includes wind speed and humidity levels.");
    let file = &folder.files["my_weather_get_forecast.toml"];
    assert!(file.contains("Tell the forecast.") && file.contains("humidity"), "{file}");
}
