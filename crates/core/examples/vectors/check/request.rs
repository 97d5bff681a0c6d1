//! The fields of a request: numbers, of which some may be infinite, texts and lists.

use serde_json::{Map, Value};

/// A request, or an object inside one.
pub struct Request<'a> {
    fields: &'a Map<String, Value>,
}

impl<'a> Request<'a> {
    /// The fields of this object.
    pub fn new(fields: &'a Map<String, Value>) -> Request<'a> {
        Request { fields }
    }

    /// The fields of a value that has to be an object.
    pub fn of(value: &'a Value) -> Result<Request<'a>, String> {
        value.as_object().map(Request::new).ok_or_else(|| format!("bad request: {value} is not an object"))
    }

    /// A field, if it is there.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name)
    }

    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value))
    }

    fn required(&self, name: &str) -> Result<&'a Value, String> {
        self.get(name).ok_or_else(|| format!("bad request: `{name}` is missing"))
    }

    /// A text that has to be there.
    pub fn text(&self, name: &str) -> Result<&'a str, String> {
        text(self.required(name)?)
    }

    /// A number that has to be there.
    pub fn number(&self, name: &str) -> Result<f64, String> {
        number(self.required(name)?)
    }

    /// A number; infinite, if it is not there.
    pub fn limit(&self, name: &str) -> Result<f64, String> {
        self.number_or(name, f64::INFINITY)
    }

    /// A number with a default.
    pub fn number_or(&self, name: &str, default: f64) -> Result<f64, String> {
        self.get(name).map_or(Ok(default), number)
    }

    /// A whole number that has to be there.
    pub fn whole(&self, name: &str) -> Result<u64, String> {
        whole(self.required(name)?)
    }

    /// A whole number with a default.
    pub fn whole_or(&self, name: &str, default: u64) -> Result<u64, String> {
        self.get(name).map_or(Ok(default), whole)
    }

    /// A number of a task or a node, or how many there are.
    pub fn small(&self, name: &str) -> Result<u32, String> {
        small(self.required(name)?)
    }

    /// A list that has to be there.
    pub fn list(&self, name: &str) -> Result<&'a [Value], String> {
        let list = self.required(name)?.as_array();
        list.map(Vec::as_slice).ok_or_else(|| format!("bad request: `{name}` is not a list"))
    }
}

/// A value as text.
pub fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("bad request: {value} is not a text"))
}

/// A value as a number; `"inf"` and null are infinite.
pub fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Null => Ok(f64::INFINITY),
        Value::String(text) if text == "inf" => Ok(f64::INFINITY),
        _ => value.as_f64().ok_or_else(|| format!("bad request: {value} is not a number")),
    }
}

/// A value as a whole number, which may be written with a point.
pub fn whole(value: &Value) -> Result<u64, String> {
    let pointed =
        || value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|number| number as u64);
    value.as_u64().or_else(pointed).ok_or_else(|| format!("bad request: {value} is not a whole number"))
}

/// A value as a whole number below 2^32.
pub fn small(value: &Value) -> Result<u32, String> {
    u32::try_from(whole(value)?).map_err(|_| format!("bad request: {value} is too large"))
}
