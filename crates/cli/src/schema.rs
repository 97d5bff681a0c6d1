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
                    object(&[("path", json!({ "type": "string" })), ("size", reference("number"))], &["path"]),
                ]
            },
            "output": {
                "anyOf": [
                    { "$ref": "#/$defs/scalar" },
                    object(
                        &[
                            ("path", json!({ "type": "string" })),
                            ("size", reference("number")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::workflow::{Format, NoFiles, Workflow};

    /// Values of each key that are right, as JSON.
    const RIGHT: [(&str, &[&str]); 28] = [
        ("run", &[r#""echo hi""#]),
        ("exec", &[r#"["echo", "hi", 3]"#]),
        ("noop", &["true"]),
        ("sleep", &[r#""1s""#, "2"]),
        (
            "in",
            &[
                r#""a""#,
                r#"["a", {"all": "other"}]"#,
                r#"{"x": "a", "y": ["b", {"all": "other"}]}"#,
                r#"{"all": "other"}"#,
                r#"{"path": "a", "size": "12MB"}"#,
                r#"["a", {"path": "b", "size": 3000}, {"path": "c"}]"#,
                r#"{"x": {"path": "a", "size": "12MB"}}"#,
            ],
        ),
        (
            "out",
            &[
                r#""a""#,
                r#"["a", {"path": "b", "temp": true, "optional": false, "size": "2KiB"}]"#,
                r#"{"x": "a", "y": [{"path": "b"}]}"#,
            ],
        ),
        ("after", &[r#""other""#, r#"["other"]"#]),
        (
            "foreach",
            &[
                r#"{"i": "1..3"}"#,
                r#"{"i": ["a", 2], "j": [{"a": 1, "b": 2}]}"#,
                r#"{"zip": {"a": [1, 2], "b": "1..2"}}"#,
                r#"{"zip": [{"a": [1]}, {"b": [1]}]}"#,
            ],
        ),
        ("when", &[r#""yes""#, "true"]),
        ("cpus", &["2", "0.5", r#""2""#]),
        ("memory", &[r#""2GB * attempt""#, "3000"]),
        ("gpus", &["1"]),
        ("resources", &[r#"{"a": 1}"#, r#"[{"gpus": 1}, {"cpus": 8}]"#]),
        ("retries", &["3", r#"{"times": 3, "codes": [75, "100..110"]}"#]),
        ("timeout", &["90", r#""5m""#]),
        ("priority", &["-3"]),
        ("env", &[r#"{"A": "b", "C": 3}"#]),
        ("kind", &[r#""k""#]),
        ("estimate", &[r#"{"time": "2s", "memory": "1GB", "out": 3000}"#]),
        ("stdin", &[r#""f""#]),
        ("stdout", &[r#""f""#]),
        ("stderr", &[r#""f""#]),
        ("dir", &[r#""d""#]),
        ("shell", &[r#""bash -e""#, r#"["bash", "-e"]"#]),
        ("container", &[r#""debian""#, r#"{"image": "debian", "with": "podman", "options": ["-x"]}"#]),
        ("uses", &[r#"["scripts/"]"#]),
        ("temp", &["true"]),
        ("description", &[r#""text""#]),
    ];

    /// Values that neither the reader nor the schema takes.
    const WRONG: [(&str, &str); 26] = [
        ("run", r#"["x"]"#),
        ("exec", r#""x""#),
        ("exec", "[]"),
        ("in", r#"[{"al": "other"}]"#),
        ("in", r#"[["a"]]"#),
        ("in", r#"[{"path": "a", "temp": true}]"#),
        ("in", r#"[{"all": "other", "size": 3}]"#),
        ("in", r#"[{"size": 3}]"#),
        ("out", r#"[{"path": "b", "tmp": true}]"#),
        ("out", r#"[{"temp": true}]"#),
        ("out", r#"[{"path": "a", "size": [1]}]"#),
        ("foreach", "{}"),
        ("foreach", "[1]"),
        ("foreach", r#"{"i": []}"#),
        ("foreach", r#"{"i": {"cvs": "x"}}"#),
        ("foreach", r#"{"i": {"lines": "x", "key": "y"}}"#),
        ("resources", "3"),
        ("retries", r#"{"time": 3}"#),
        ("env", r#"["A"]"#),
        ("estimate", r#"{"tiem": "2s"}"#),
        ("container", r#"{"with": "podman"}"#),
        ("container", r#"{"image": "x", "with": "lxc"}"#),
        ("stdin", r#"["f"]"#),
        ("cpus", "[1]"),
        ("outt", r#""x""#),
        ("sleep", r#"{"a": 1}"#),
    ];

    fn flow(key: &str, value: &str) -> String {
        let action = if matches!(key, "run" | "exec" | "noop" | "sleep") { "" } else { r#""noop": true, "# };
        format!(r#"{{"tasks": {{"other": {{"noop": true, "out": "o"}}, "t": {{{action}"{key}": {value}}}}}}}"#)
    }

    #[test]
    fn the_schema_and_the_reader_agree() {
        let validator = jsonschema::validator_for(&schema()).unwrap();
        let by_schema = |text: &str| validator.is_valid(&serde_json::from_str(text).unwrap());
        let by_reader = |text: &str| Workflow::parse(text, Format::Json, "x", &NoFiles);
        for key in keys::TASK {
            let (_, values) = RIGHT.iter().find(|(name, _)| *name == key.name).expect("every key has an example here");
            for value in *values {
                let text = flow(key.name, value);
                assert!(by_reader(&text).is_ok(), "{text}: {}", by_reader(&text).unwrap_err());
                assert!(by_schema(&text), "the schema refuses {text}");
            }
        }
        for (key, value) in WRONG {
            let text = flow(key, value);
            assert!(by_reader(&text).is_err(), "the reader takes {text}");
            assert!(!by_schema(&text), "the schema takes {text}");
        }
        let whole = r#"{"name": "x", "params": {"a": [1]}, "defaults": {"cpus": 2}, "tasks": {"t": {"noop": true}}}"#;
        assert!(by_reader(whole).is_ok() && by_schema(whole));
        for wrong in
            [r#"{"taskz": {}}"#, r#"{"defaults": {"run": "x"}, "tasks": {}}"#, r#"{"include": [{"prefix": "a"}]}"#]
        {
            assert!(by_reader(wrong).is_err() && !by_schema(wrong), "{wrong}");
        }
    }
}
