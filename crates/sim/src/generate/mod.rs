//! Benchmark workflows: made-up graphs of sleeping tasks, in the shapes by which schedulers are compared.
//!
//! ```text
//!   Options ── shape ──▶ stages or jobs ── Plan ──▶ yaml (templates)  |  single (one task after the other)
//! ```
//!
//! A shape is a function from [`Options`] to stages: groups of tasks that are alike but for their numbers, and for the
//! times and sizes that are drawn. Everything else follows from the stages, so that both ways of writing a workflow
//! mean the same graph. Where a graph is too irregular for that, a shape gives a list of jobs instead, which are written
//! one after the other in either format. The text is an ordinary workflow file: a task's true length is its `sleep`, the bytes that it
//! moves are the `size`s of its files. Text is written as it is made, so that ten million tasks fit anywhere.
//!
//! Each shape has a file, which says where the shape comes from and what of it is our own reconstruction.

mod all_pairs;
mod bot;
mod cybershake;
mod dag1;
mod dag1_tasks;
mod epigenomics;
mod fan_in;
mod fan_out;
mod fmri;
mod heterogeneous;
mod image_stacking;
mod job;
mod ligo;
pub mod mapreduce;
mod moldyn;
mod montage;
mod options;
mod pipeline;
mod plan;
mod random;
mod single;
mod sipht;
mod source;
mod spread;
mod stage;
mod tree;
mod yaml;

pub use image_stacking::LOCALITIES;
pub use options::{Options, Wrong};
pub use plan::Plan;

use job::Job;
use plan::Body;
use source::Source;
use stage::Stage;

/// A shape of workflow.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name on the command line, and the name of the workflow.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// Where it comes from: what is published, and what is not.
    pub origin: &'static str,
    /// The options that it takes.
    pub takes: &'static [Parameter],
    make: Make,
}

/// How a shape is made.
#[derive(Clone, Copy, Debug)]
enum Make {
    /// Of tasks that are alike but for their numbers.
    Stages(fn(&Options) -> Result<Vec<Stage>, Wrong>),
    /// Of tasks of which each is different.
    Jobs(fn(&Options, &mut Source) -> Result<Vec<Job>, Wrong>),
}

/// An option of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name on the command line, without the dashes.
    pub name: &'static str,
    /// What it is if nobody says; empty if it is left out then.
    pub default: &'static str,
}

const fn parameter(name: &'static str, default: &'static str) -> Parameter {
    Parameter { name, default }
}

/// All shapes.
pub const SHAPES: [Shape; 23] = [
    bot::SHAPE,
    pipeline::SHAPE,
    fan_out::SHAPE,
    fan_in::SHAPE,
    all_pairs::SHAPE,
    image_stacking::SHAPE,
    fmri::SHAPE,
    moldyn::SHAPE,
    heterogeneous::SHAPE,
    random::SHAPE,
    montage::SHAPE,
    cybershake::SHAPE,
    ligo::SHAPE,
    sipht::SHAPE,
    epigenomics::SHAPE,
    dag1::SHAPES[0],
    dag1::SHAPES[1],
    dag1::SHAPES[2],
    dag1::SHAPES[3],
    dag1::SHAPES[4],
    dag1::SHAPES[5],
    mapreduce::SHAPES[0],
    mapreduce::SHAPES[1],
];

/// Where the four plain shapes and their numbers come from.
const TABLE_3: &str = "Table 3 of the MATRIX paper has 1000 tasks per core, lengths drawn evenly from 0 to 100 ms, \
                       outputs from 0 to 10 MB, and 10 as the degree of trees and the length of pipes";
/// What tasks take and write there.
const TABLE_3_TIMES: &str = "0ms..100ms";
const TABLE_3_SIZES: &str = "0MB..10MB";

/// Times and sizes of shapes whose types of tasks have their own, unless somebody wants others.
const PEGASUS_TIMES: [Parameter; 2] = [parameter("times", ""), parameter("sizes", "")];

impl Shape {
    /// The shape of this name.
    pub fn find(name: &str) -> Option<&'static Shape> {
        SHAPES.iter().find(|shape| shape.name == name)
    }

    /// Works out the tasks, or says which option is wrong.
    pub fn plan(&'static self, options: &Options) -> Result<Plan, Wrong> {
        let options = options.for_shape(self)?;
        let body = match self.make {
            Make::Stages(stages) => Body::Stages(stages(&options)?),
            Make::Jobs(jobs) => Body::Jobs(jobs(&options, &mut Source::with_wanted(&options)?)?),
        };
        Plan::new(self, &options, body)
    }
}

#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
