//! The fields of one entry of a trace, with their types: what is missing or is something else is told with its place.

use super::super::problem::{Mark, Problem};
use super::super::value::{Text, Value};

/// An object of the document.
pub(super) struct Fields {
    entries: Vec<(Text, Value)>,
    pub mark: Mark,
    /// How messages call it: `the task "x"`, once its id is known.
    pub subject: String,
}

/// What a value is, in the words of JSON.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Scalar { quoted: true, .. } => "text",
        Value::Scalar { text, .. } if text == "true" || text == "false" => "a truth value",
        Value::Scalar { .. } if value.is_null() => "null",
        Value::Scalar { .. } => "a number",
        Value::List { .. } => "a list",
        Value::Map { .. } => "an object",
    }
}

impl Fields {
    /// The fields of what should be an object.
    pub(super) fn of(value: Value, subject: &str) -> Result<Fields, Problem> {
        match value {
            Value::Map { entries, mark } => Ok(Fields { entries, mark, subject: subject.to_owned() }),
            other => {
                let message = format!("{subject} is {}, not an object", kind_of(&other));
                Err(Problem::new(other.mark(), message, "write it as { \"field\": value, … }"))
            }
        }
    }

    /// Takes a field; null stands for nothing. If it is there twice, the last counts, as most programs have it.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.entries.iter().rposition(|(key, _)| key.text == name)?;
        let (_, value) = self.entries.swap_remove(at);
        (!value.is_null()).then_some(value)
    }

    /// The problem of a field that has to be there and is not.
    pub(super) fn missing(&self, name: &str) -> Problem {
        Problem::new(self.mark, format!("{} has no `{name}`", self.subject), format!("add the field `{name}`"))
    }

    fn wrong(&self, name: &str, value: &Value, wanted: &str, example: &str) -> Problem {
        let message = format!("`{name}` of {} is {}, not {wanted}", self.subject, kind_of(value));
        Problem::new(value.mark(), message, format!("write {example}"))
    }

    /// A field that is text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<Text>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Scalar { text, quoted: true, mark }) => Ok(Some(Text { text, mark })),
            Some(other) => Err(self.wrong(name, &other, "text", "it in quotes")),
        }
    }

    /// The id of an entry, which has to be there and to name something.
    pub(super) fn id(&mut self) -> Result<Text, Problem> {
        let id = self.text("id")?.ok_or_else(|| self.missing("id"))?;
        check_id(&id, &self.subject)?;
        Ok(id)
    }

    /// A field that is a number, zero or more.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<f64>, Problem> {
        let value = match self.take(name) {
            None => return Ok(None),
            Some(value) => value,
        };
        let Value::Scalar { text, quoted: false, mark } = &value else {
            return Err(self.wrong(name, &value, "a number", "a number without quotes"));
        };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            Ok(_) => {
                let message = format!("`{name}` of {} cannot be {text}", self.subject);
                Err(Problem::new(*mark, message, "write a number from zero up").spanning(text))
            }
            Err(_) => Err(self.wrong(name, &value, "a number", "a number")),
        }
    }

    /// A field that is a whole number of bytes.
    pub(super) fn bytes(&mut self, name: &str) -> Result<Option<u64>, Problem> {
        let at = self.entries.iter().rev().find(|(key, _)| key.text == name).map(|(_, value)| value.mark());
        let Some(number) = self.number(name)? else { return Ok(None) };
        // More than an exabyte is a slip of the pen, as everywhere in Throng.
        if number.fract() != 0.0 || number > 1e18 {
            let message = format!("`{name}` of {} cannot be {number}", self.subject);
            return Err(Problem::new(at.unwrap_or(self.mark), message, "write a whole number of bytes below 1e18"));
        }
        Ok(Some(number as u64))
    }

    /// A field that is a list of ids.
    pub(super) fn ids(&mut self, name: &str) -> Result<Option<Vec<Text>>, Problem> {
        let items = match self.take(name) {
            None => return Ok(None),
            Some(Value::List { items, .. }) => items,
            Some(other) => return Err(self.wrong(name, &other, "a list", "a list of ids, such as [\"a\", \"b\"]")),
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            let Value::Scalar { text, quoted: true, mark } = item else {
                let message = format!("`{name}` of {} holds {}, not the id of something", self.subject, kind_of(&item));
                return Err(Problem::new(item.mark(), message, "write ids in quotes"));
            };
            let id = Text { text, mark };
            check_id(&id, &format!("`{name}` of {}", self.subject))?;
            texts.push(id);
        }
        Ok(Some(texts))
    }

    /// A field that is an object.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Fields>, Problem> {
        let subject = format!("`{name}` of {}", self.subject);
        self.take(name).map(|value| Fields::of(value, &subject)).transpose()
    }
}

fn check_id(id: &Text, subject: &str) -> Result<(), Problem> {
    let what = match id.text.as_str() {
        "" => "an empty id",
        text if text.contains('\0') => "an id with a NUL character in it",
        _ => return Ok(()),
    };
    Err(Problem::new(id.mark, format!("{subject} has {what}"), "give it a name"))
}
