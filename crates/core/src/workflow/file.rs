//! The workflow as one file: its arrays, one after the other, as they lie in memory.
//!
//! A run keeps this file beside its trace, so that numbers in the trace can be turned into names long after
//! the text has changed. Nothing in it is a pointer, so it can be mapped instead of read.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use thiserror::Error;

use super::Workflow;
use super::demand::{Demands, Planned};
use super::strings::Strings;
use crate::fingerprint::hash;

/// Changes whenever an array is added or changes its meaning.
const MAGIC: [u8; 8] = *b"throngw4";

/// A workflow file that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum BadFile {
    /// Another program's file, or another version's.
    #[error("it was written by another version of Throng")]
    Version,
    /// There is nothing in it.
    #[error("the run ended before it was written")]
    Empty,
    /// Cut off or changed.
    #[error("it is damaged")]
    Damaged,
}

impl Workflow {
    /// The workflow as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.array(&[self.name]);
        out.strings(&self.strings);
        out.array(&self.templates);
        out.array(&self.settings);
        out.array(&self.columns);
        out.array(&self.values);
        out.array(&self.pieces);
        out.array(&self.variables);
        out.array(&self.kinds);
        out.array(&self.extras);
        out.array(&self.paths);
        out.array(&self.ranges);
        out.array(&self.codes);
        out.array(&self.demands.classes);
        out.array(&self.demands.demands);
        out.array(&self.demands.named);
        out.array(&self.object_flags);
        out.array(&self.sizes);
        out.array(&self.task_template);
        out.strings(&self.objects);
        out.array(&self.producers);
        out.array(&self.output_start);
        out.array_or_zeros(&self.input_start, self.task_count() + 1);
        out.array(&self.inputs);
        out.array_or_zeros(&self.child_start, self.task_count() + 1);
        out.array(&self.children);
        out.array_or_zeros(&self.parent_count, self.task_count());
        let sum = hash(&out.0);
        out.0.extend_from_slice(&sum.to_le_bytes());
        out.0
    }

    /// Reads what [`Workflow::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Workflow, BadFile> {
        if bytes.len() < MAGIC.len() + 8 {
            return Err(BadFile::Empty);
        }
        if bytes[..MAGIC.len()] != MAGIC {
            return Err(BadFile::Version);
        }
        let (content, sum) = bytes.split_at(bytes.len() - 8);
        if hash(content).to_le_bytes() != sum {
            return Err(BadFile::Damaged);
        }
        let mut from = Reader(&content[MAGIC.len()..]);
        let mut flow = Workflow {
            name: *from.array::<u32>()?.first().ok_or(BadFile::Damaged)?,
            strings: from.strings()?,
            templates: from.array()?,
            settings: from.array()?,
            columns: from.array()?,
            values: from.array()?,
            pieces: from.array()?,
            variables: from.array()?,
            kinds: from.array()?,
            extras: from.array()?,
            paths: from.array()?,
            ranges: from.array()?,
            codes: from.array()?,
            demands: Demands { classes: from.array()?, demands: from.array()?, named: from.array()? },
            planned: Planned::default(),
            object_flags: from.array()?,
            sizes: from.array()?,
            task_template: from.array()?,
            objects: from.strings()?,
            producers: from.array()?,
            output_start: from.array()?,
            input_start: from.array()?,
            inputs: from.array()?,
            child_start: from.array()?,
            children: from.array()?,
            parent_count: from.array()?,
        };
        if flow.inputs.is_empty() {
            flow.input_start = Vec::new();
        }
        if flow.children.is_empty() {
            (flow.child_start, flow.parent_count) = (Vec::new(), Vec::new());
        }
        Ok(flow)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn array<T: Pod>(&mut self, array: &[T]) {
        let bytes: &[u8] = cast_slice(array);
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        // Every array begins on a multiple of eight, so that a mapped one needs no copy.
        self.0.resize(self.0.len().next_multiple_of(8), 0);
    }

    /// An array that is left out in memory where it would hold nothing but zeros.
    fn array_or_zeros(&mut self, array: &[u32], length: usize) {
        if array.is_empty() { self.array(&vec![0u32; length]) } else { self.array(array) }
    }

    fn strings(&mut self, strings: &Strings) {
        self.array(&strings.bytes);
        self.array(&strings.ends);
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<T: Pod>(&mut self) -> Result<Vec<T>, BadFile> {
        let (length, rest) = self.0.split_first_chunk::<8>().ok_or(BadFile::Damaged)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| BadFile::Damaged)?;
        let bytes = rest.get(..length).ok_or(BadFile::Damaged)?;
        self.0 = rest.get(length.next_multiple_of(8)..).ok_or(BadFile::Damaged)?;
        if length % size_of::<T>() != 0 {
            return Err(BadFile::Damaged);
        }
        let mut array = vec![T::zeroed(); length / size_of::<T>()];
        cast_slice_mut(&mut array).copy_from_slice(bytes);
        Ok(array)
    }

    fn strings(&mut self) -> Result<Strings, BadFile> {
        Ok(Strings { bytes: self.array()?, ends: self.array()? })
    }
}
