//! `throng schema`: the JSON Schema of the workflow file, for editors that complete and check while one types.
//!
//! It is made from the list of keys that the reader itself uses. What a schema cannot say (names, paths, edges)
//! `throng check` does.

use clap::Args;
use serde_json::{Map, Value, json};
use throng_core::workflow::keys::{self, Form, Key};

use crate::exit::{Code, Failure};

/// What `throng schema` takes.
#[derive(Args)]
#[command(after_help = "\
Example:
  throng schema > flow.schema.json

With the YAML extension of VS Code, or any other editor that uses the YAML language server, begin a workflow with
  # yaml-language-server: $schema=flow.schema.json")]
pub struct Arguments {}

/// Runs the command.
pub fn run(_: &Arguments) -> Result<Code, Failure> {
    tell!("{}", serde_json::to_string_pretty(&schema()).expect("plain data can be written"));
    Ok(Code::Done)
}

/// The whole schema.
pub fn schema() -> Value {
    let actions = ["run", "exec", "noop", "sleep"].map(|action| json!({ "required": [action] }));
    let defaults: Vec<Key> = keys::TASK.iter().filter(|key| key.in_defaults).copied().collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Throng workflow",
        "type": "object",
        "properties": properties(&keys::TOP),
        "additionalProperties": false,
        "anyOf": [{ "required": ["tasks"] }, { "required": ["include"] }],
        "$defs": {
            "task": {
                "type": "object",
                "properties": properties(&keys::TASK),
                "additionalProperties": false,
                "oneOf": actions,
            },
            "defaults": { "type": "object", "properties": properties(&defaults), "additionalProperties": false },
            // A parameter may stand wherever a number may.
            "number": { "type": ["number", "string"] },
            "scalar": { "type": ["string", "number", "boolean"] },
            "texts": one_or_many(json!({ "$ref": "#/$defs/scalar" })),
            "input": {
                "anyOf": [
                    { "$ref": "#/$defs/scalar" },
                    object(&[("all", json!({ "type": "string" }))], &["all"]),
                ]
            },
            "output": {
                "anyOf": [
                    { "$ref": "#/$defs/scalar" },
                    object(
                        &[
                            ("path", json!({ "type": "string" })),
                            ("temp", flag()),
                            ("optional", flag()),
                        ],
                        &["path"],
                    ),
                ]
            },
            "amounts": { "type": "object", "additionalProperties": { "$ref": "#/$defs/number" } },
            "values": {
                "anyOf": [
                    { "type": ["string", "number"] },
                    { "type": "array", "items": { "anyOf": [{ "$ref": "#/$defs/scalar" }, { "type": "object" }] }, "minItems": 1 },
                    object(&[("glob", json!({ "type": "string" })), ("except", reference("texts"))], &["glob"]),
                    object(&[("lines", json!({ "type": "string" }))], &["lines"]),
                    table("csv"),
                    table("tsv"),
                ]
            },
        },
    })
}

fn properties(keys: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut form = form(key.form);
        form["description"] = json!(format!("{} Example: {}", key.summary, key.example));
        properties.insert(key.name.to_owned(), form);
    }
    Value::Object(properties)
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn flag() -> Value {
    json!({ "type": ["boolean", "string"] })
}

fn one_or_many(item: Value) -> Value {
    json!({ "anyOf": [item.clone(), { "type": "array", "items": item }] })
}

fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn table(kind: &str) -> Value {
    let properties = [
        (kind, json!({ "type": "string" })),
        ("column", json!({ "type": ["string", "number"] })),
        ("key", reference("texts")),
        ("header", flag()),
    ];
    object(&properties, &[kind])
}

/// A list of entries, one entry, or a map that gives them names.
fn entries(entry: &str) -> Value {
    let entry = reference(entry);
    let named = json!({ "type": "object", "additionalProperties": one_or_many(entry.clone()) });
    json!({ "anyOf": [entry, { "type": "array", "items": entry }, named] })
}

fn form(form: Form) -> Value {
    match form {
        Form::Text => reference("scalar"),
        Form::Words => json!({ "type": "array", "items": reference("scalar"), "minItems": 1 }),
        Form::TextOrWords | Form::Texts => reference("texts"),
        Form::Flag => flag(),
        Form::Whole => json!({ "type": ["integer", "string"] }),
        Form::Number | Form::Bytes | Form::Time => reference("number"),
        Form::TextMap => json!({ "type": "object", "additionalProperties": reference("scalar") }),
        Form::AnyMap => json!({ "type": "object" }),
        Form::Foreach => json!({
            "type": "object",
            "minProperties": 1,
            "properties": {
                "zip": one_or_many(json!({ "type": "object", "additionalProperties": reference("values"), "minProperties": 1 })),
            },
            "additionalProperties": reference("values"),
        }),
        Form::Inputs => entries("input"),
        Form::Outputs => entries("output"),
        Form::Resources => one_or_many(reference("amounts")),
        Form::Retries => json!({
            "anyOf": [
                reference("number"),
                object(&[("times", reference("number")), ("codes", reference("texts"))], &[]),
            ]
        }),
        Form::Estimate => {
            let names = ["time", "memory", "out"].map(|name| (name, reference("number")));
            object(&names, &[])
        }
        Form::Container => json!({
            "anyOf": [
                { "type": "string" },
                object(
                    &[
                        ("image", json!({ "type": "string" })),
                        ("with", json!({ "enum": throng_core::workflow::CONTAINER_RUNNERS })),
                        ("options", json!({ "type": "array", "items": reference("scalar") })),
                    ],
                    &["image"],
                ),
            ]
        }),
        Form::Include => {
            let parts = [
                ("file", json!({ "type": "string" })),
                ("prefix", json!({ "type": "string" })),
                ("params", json!({ "type": "object" })),
            ];
            one_or_many(json!({ "anyOf": [{ "type": "string" }, object(&parts, &["file"])] }))
        }
        Form::Defaults => reference("defaults"),
        Form::Tasks => json!({ "type": "object", "additionalProperties": reference("task") }),
    }
}
