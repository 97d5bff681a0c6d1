//! What is wrong with a workflow, where, and what to do about it.

use std::fmt;

/// A place in the workflow's text; both count from one, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Line, from one; zero means the file as a whole.
    pub line: u32,
    /// Column, from one.
    pub column: u32,
    /// Which file: zero is the workflow itself, others are those that it includes.
    pub file: u32,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub mark: Mark,
    /// How many characters from there belong to it.
    pub length: u32,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// Another place that has to do with it, and how.
    pub related: Option<Box<(Mark, String)>>,
    /// The very words that are wrong, if they stand somewhere behind `mark`: a long command has many lines.
    pub words: Option<Box<str>>,
}

impl Problem {
    /// A problem at a place.
    pub fn new(mark: Mark, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Problem { mark, length: 1, message: message.into(), remedy: remedy.into(), related: None, words: None }
    }

    /// Underlines this much of the text.
    #[must_use]
    pub fn spanning(mut self, text: &str) -> Self {
        self.length = (text.chars().count() as u32).max(1);
        self
    }

    /// Says which words behind the mark are meant.
    #[must_use]
    pub fn about(mut self, words: impl Into<Box<str>>) -> Self {
        self.words = Some(words.into());
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn with_related(mut self, mark: Mark, why: impl Into<String>) -> Self {
        self.related = Some(Box::new((mark, why.into())));
        self
    }
}

/// Everything found wrong with a workflow: never empty, the first few in full and the rest counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// Those kept in full, in order of their place.
    pub shown: Vec<Problem>,
    /// How many more there are.
    pub hidden: u64,
    /// The files besides the workflow that marks may point into; the first has number one.
    pub files: Vec<SourceFile>,
}

/// A file that a workflow includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as it was written.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// A person reads ten messages; a million would bury the first.
const SHOWN: usize = 10;

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.shown {
            writeln!(f, "{}:{}: {}; {}", problem.mark.line, problem.mark.column, problem.message, problem.remedy)?;
        }
        if self.hidden > 0 {
            writeln!(f, "and {} more", self.hidden)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Problems { shown: vec![problem], hidden: 0, files: Vec::new() }
    }
}

/// Gathers problems while a stage goes on, so that one look shows them all.
#[derive(Debug, Default)]
pub(crate) struct ProblemList {
    shown: Vec<Problem>,
    hidden: u64,
}

impl ProblemList {
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.shown.len() < SHOWN {
            self.shown.push(problem);
        } else {
            self.hidden += 1;
        }
    }

    /// Whether nothing has been found so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Ends a stage: an error if anything was found in it.
    pub(crate) fn check(&mut self) -> Result<(), Problems> {
        if self.shown.is_empty() {
            return Ok(());
        }
        let mut shown = std::mem::take(&mut self.shown);
        shown.sort_by_key(|problem| (problem.mark.file, problem.mark));
        Err(Problems { shown, hidden: self.hidden, files: Vec::new() })
    }
}
