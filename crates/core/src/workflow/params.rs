//! Parameters: values that a workflow names once and a person may change without touching the file.
//!
//! A parameter's `{name}` may stand in any text of a task. Where a command or a path is meant, it stays a value, so
//! that a shell sees it as data; in numbers, patterns of file names and the like it is written in before they
//! are read.

use std::collections::BTreeMap;

use super::problem::{Mark, Problem};
use super::value::{Text, Value};
use crate::spelling;

/// The parameters that the tasks of one file may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params {
    values: BTreeMap<String, (Mark, Value)>,
}

impl Params {
    /// Declares a parameter; false if it is there already.
    pub(crate) fn declare(&mut self, name: &Text, value: Value) -> bool {
        self.values.insert(name.text.clone(), (name.mark, value)).is_none()
    }

    /// Gives a declared parameter another value; false if there is no such parameter.
    pub(crate) fn set(&mut self, name: &str, value: Value) -> bool {
        match self.values.get_mut(name) {
            Some((_, old)) => {
                *old = value;
                true
            }
            None => false,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(_, value)| value)
    }

    pub(crate) fn mark(&self, name: &str) -> Option<Mark> {
        self.values.get(name).map(|(mark, _)| *mark)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// The first parameter that nobody has given a value.
    pub(crate) fn without_value(&self) -> Option<(&str, Mark)> {
        let open = self.values.iter().find(|(_, (_, value))| value.is_null());
        open.map(|(name, (mark, _))| (name.as_str(), *mark))
    }

    /// The parameter whose name is most like this one.
    pub(crate) fn nearest(&self, name: &str) -> Option<&str> {
        spelling::nearest(name, self.names())
    }

    /// Writes parameters into text that no shell will see.
    pub(crate) fn expand(&self, text: Text) -> Result<Text, Problem> {
        if !text.text.contains(['{', '}']) {
            return Ok(text);
        }
        let Text { text, mark } = text;
        let (mut out, mut rest) = (String::new(), text.as_str());
        while let Some(brace) = rest.find(['{', '}']) {
            out.push_str(&rest[..brace]);
            let from_brace = &rest[brace..];
            if from_brace.starts_with("{{") || from_brace.starts_with("}}") {
                out.push_str(&from_brace[..1]);
                rest = &from_brace[2..];
                continue;
            }
            let end = from_brace.find('}').filter(|_| from_brace.starts_with('{')).ok_or_else(|| {
                Problem::new(
                    mark,
                    "a brace without its partner",
                    "write `{{` and `}}` for braces that are not Throng's",
                )
                .spanning(&text)
            })?;
            let name = &from_brace[1..end];
            match self.get(name) {
                Some(Value::Scalar { text, .. }) => out.push_str(text),
                Some(other) => return Err(in_text(name, other, mark)),
                None => return Err(self.unknown(name, mark)),
            }
            rest = &from_brace[end + 1..];
        }
        out.push_str(rest);
        Ok(Text { text: out, mark })
    }

    /// Writes parameters into every text of a value; `{name}` alone may stand for a whole list.
    ///
    /// What a parameter stands for may name others that are texts, but not lists or maps again: they could stand for
    /// themselves.
    pub(crate) fn expand_value(&self, value: Value) -> Result<Value, Problem> {
        match value {
            Value::Scalar { .. } => self.expand_texts(self.splice(value)?),
            Value::List { items, mark } => {
                let mut expanded = Vec::with_capacity(items.len());
                for item in items {
                    let is_text = matches!(item, Value::Scalar { .. });
                    match self.expand_value(item)? {
                        // A list inside a list is meant as several of its entries.
                        Value::List { items, .. } if is_text => expanded.extend(items),
                        other => expanded.push(other),
                    }
                }
                Ok(Value::List { items: expanded, mark })
            }
            Value::Map { entries, mark } => {
                let expand = |(key, value)| Ok((key, self.expand_value(value)?));
                Ok(Value::Map { entries: entries.into_iter().map(expand).collect::<Result<_, Problem>>()?, mark })
            }
        }
    }

    /// Writes parameters that are texts into every text of a value.
    fn expand_texts(&self, value: Value) -> Result<Value, Problem> {
        Ok(match value {
            Value::Scalar { text, quoted, mark } => {
                let Text { text, mark } = self.expand(Text { text, mark })?;
                Value::Scalar { text, quoted, mark }
            }
            Value::List { items, mark } => {
                let items = items.into_iter().map(|item| self.expand_texts(item)).collect::<Result<_, _>>()?;
                Value::List { items, mark }
            }
            Value::Map { entries, mark } => {
                let expand = |(key, value)| Ok((key, self.expand_texts(value)?));
                Value::Map { entries: entries.into_iter().map(expand).collect::<Result<_, Problem>>()?, mark }
            }
        })
    }

    /// Writes parameters into the texts of another, and leaves alone what else stands in braces: a list of patterns may
    /// name values of the tasks that it is for.
    pub(crate) fn expand_known(&self, value: Value) -> Value {
        match value {
            Value::Scalar { text, quoted, mark } => Value::Scalar { text: self.write_known(&text), quoted, mark },
            Value::List { items, mark } => {
                Value::List { items: items.into_iter().map(|item| self.expand_known(item)).collect(), mark }
            }
            map @ Value::Map { .. } => map,
        }
    }

    fn write_known(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(brace) = rest.find('{') {
            out.push_str(&rest[..brace]);
            let from_brace = &rest[brace..];
            let name = from_brace[1..].split_once('}').map(|(name, _)| name);
            let length = match name.and_then(|name| Some((name, self.get(name)?))) {
                Some((name, Value::Scalar { text: known, .. })) => {
                    out.push_str(known);
                    name.len() + 2
                }
                _ => {
                    let length = if from_brace.starts_with("{{") { 2 } else { 1 };
                    out.push_str(&from_brace[..length]);
                    length
                }
            };
            rest = &from_brace[length..];
        }
        out.push_str(rest);
        out
    }

    /// Puts a parameter that is a list or a map where its name stands alone; everything else stays as it is.
    pub(crate) fn splice(&self, value: Value) -> Result<Value, Problem> {
        if self.values.is_empty() {
            return Ok(value);
        }
        match value {
            Value::Scalar { text, quoted, mark } => {
                let name = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                match name.and_then(|name| self.get(name)) {
                    Some(Value::Scalar { .. }) | None => Ok(Value::Scalar { text, quoted, mark }),
                    Some(other) => Ok(other.clone()),
                }
            }
            Value::List { items, mark } => {
                let mut spliced = Vec::with_capacity(items.len());
                for item in items {
                    let is_text = matches!(item, Value::Scalar { .. });
                    match self.splice(item)? {
                        // A list inside a list is meant as several of its entries.
                        Value::List { items, .. } if is_text => spliced.extend(items),
                        other => spliced.push(other),
                    }
                }
                Ok(Value::List { items: spliced, mark })
            }
            map => Ok(map),
        }
    }

    fn unknown(&self, name: &str, mark: Mark) -> Problem {
        let remedy = match self.nearest(name) {
            Some(nearest) => format!("did you mean `{{{nearest}}}`?"),
            None if self.values.is_empty() => "only parameters can stand here: declare it below `params:`".to_owned(),
            None => format!("known parameters are {}", self.names().collect::<Vec<_>>().join(", ")),
        };
        Problem::new(mark, format!("there is no parameter `{name}`"), remedy).about(format!("{{{name}}}"))
    }
}

/// The problem of a list where text is needed.
pub(crate) fn in_text(name: &str, value: &Value, mark: Mark) -> Problem {
    let shape = value.shape();
    Problem::new(
        mark,
        format!("the parameter `{name}` is {shape}, so it cannot stand inside text"),
        format!("let `{{{name}}}` stand alone, where {shape} may be"),
    )
    .about(format!("{{{name}}}"))
}

/// Whether a condition on parameters holds: `{x}`, `not {x}`, `{x} == a` or `{x} != a`.
pub(crate) fn holds(condition: &Text, params: &Params) -> Result<bool, Problem> {
    let side = |text: &str| {
        let text = Text { text: text.trim().to_owned(), mark: condition.mark };
        params.expand(text).map(|text| text.text)
    };
    if let Some((left, right)) = condition.text.split_once("==") {
        return Ok(side(left)? == side(right)?);
    }
    if let Some((left, right)) = condition.text.split_once("!=") {
        return Ok(side(left)? != side(right)?);
    }
    let text = condition.text.trim();
    let (text, wanted) = text.strip_prefix("not ").map_or((text, true), |rest| (rest, false));
    // A bare word can only be meant as a parameter.
    let value = if params.get(text).is_some() { side(&format!("{{{text}}}"))? } else { side(text)? };
    let is_true = match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => true,
        "false" | "no" | "off" | "0" | "" => false,
        _ => {
            return Err(Problem::new(
                condition.mark,
                format!("`when` is neither true nor false here, but `{value}`"),
                "compare it, as in `{mode} == fast`, or use true and false",
            )
            .spanning(&condition.text));
        }
    };
    Ok(is_true == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        Text { text: text.to_owned(), mark: Mark::default() }
    }

    fn scalar(value: &str) -> Value {
        Value::Scalar { text: value.to_owned(), quoted: false, mark: Mark::default() }
    }

    fn params() -> Params {
        let mut params = Params::default();
        for (name, value) in [("n", "3"), ("mode", "fast"), ("full", "false")] {
            assert!(params.declare(&text(name), scalar(value)));
        }
        let items = vec![scalar("Oslo"), scalar("Rome")];
        params.declare(&text("cities"), Value::List { items, mark: Mark::default() });
        params
    }

    #[test]
    fn written_into_text() {
        assert_eq!(params().expand(text("1..{n} {{x}}")).unwrap().text, "1..3 {x}");
        assert_eq!(params().expand(text("{m}")).unwrap_err().message, "there is no parameter `m`");
        assert!(params().expand(text("in {cities}")).is_err());
    }

    #[test]
    fn written_into_each_other() {
        let Value::Scalar { text, .. } = params().expand_known(scalar("{mode}/{n}/{i}/{{n}}/{")) else { panic!() };
        assert_eq!(text, "fast/3/{i}/{{n}}/{");
    }

    #[test]
    fn a_list_stands_for_itself() {
        assert!(matches!(params().splice(scalar("{cities}")).unwrap(), Value::List { items, .. } if items.len() == 2));
        let list = Value::List { items: vec![scalar("a"), scalar("{cities}")], mark: Mark::default() };
        assert!(matches!(params().splice(list).unwrap(), Value::List { items, .. } if items.len() == 3));
    }

    #[test]
    fn conditions() {
        let holds = |condition: &str| holds(&text(condition), &params());
        assert_eq!(holds("{mode} == fast"), Ok(true));
        assert_eq!(holds("{mode} != fast"), Ok(false));
        assert_eq!(holds("not {full}"), Ok(true));
        assert_eq!(holds("full"), Ok(false));
        assert!(holds("{mode}").is_err());
        assert!(holds("{fulll}").is_err());
    }
}
