//! Reads cases, puts their requests to core, and compares the answers.

mod bench;
mod budget;
mod compare;
mod daws;
mod mpdis;
mod request;
mod weasel;

use serde_json::{Map, Value};

use request::Request;

/// A file of cases.
pub struct Vectors {
    part: String,
    /// The cases, as they come.
    pub cases: Vec<Case>,
}

/// A question and what has to be in the answer.
pub struct Case {
    /// What it is called.
    pub name: String,
    request: Map<String, Value>,
    expect: Value,
}

impl Vectors {
    /// The cases in a text; or why it holds none.
    pub fn parse(text: &str) -> Result<Vectors, String> {
        let not_vectors = |what: &str| format!("not a file of test vectors: {what}");
        let file: Value = serde_json::from_str(text).map_err(|error| not_vectors(&error.to_string()))?;
        let part = file["part"].as_str().ok_or_else(|| not_vectors("`part` is missing"))?.to_owned();
        let cases = file["cases"].as_array().ok_or_else(|| not_vectors("`cases` is missing"))?;
        let why = |at: usize| not_vectors(&format!("case {at} lacks `name`, `request` or `expect`"));
        let cases = cases.iter().enumerate().map(|(at, case)| Case::of(case).ok_or_else(|| why(at)));
        Ok(Vectors { part, cases: cases.collect::<Result<_, _>>()? })
    }

    /// Runs one case; says what is wrong with the answer.
    pub fn check(&self, case: &Case) -> Result<(), String> {
        let request = Request::new(&case.request);
        let answer =
            answer(&self.part, &request).map_err(|why| format!("  expected {}\n  got      {why}", case.expect))?;
        let differences = compare::differences(&case.expect, &answer);
        if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
    }
}

impl Case {
    fn of(case: &Value) -> Option<Case> {
        let (request, expect) = (case["request"].as_object()?.clone(), case["expect"].as_object()?.clone());
        Some(Case { name: case["name"].as_str()?.to_owned(), request, expect: expect.into() })
    }
}

/// Core's answer to a request.
fn answer(part: &str, request: &Request) -> Result<Value, String> {
    let op = request.text("op")?;
    let answer = match part {
        "budget" => budget::answer(op, request),
        "daws" => daws::answer(op, request),
        "mpdis" => mpdis::answer(op, request),
        "weasel" => weasel::answer(op, request),
        _ => return Err(format!("no answer: the part `{part}` is not implemented")),
    };
    answer.unwrap_or_else(|| Err(format!("no answer: the operation `{op}` of `{part}` is not implemented")))
}
