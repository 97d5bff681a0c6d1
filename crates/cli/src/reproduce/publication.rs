//! A publication whose experiments are run again: what is said of all of them, which there are, and how one gets from a wish to files.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::page;
use super::runner::{self, Job, Results};
use super::section::{self, Section};
use super::setting::Setting;
use crate::exit::{Code, Failure};

/// A publication.
pub struct Publication<J: Job + 'static> {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The heading of its page.
    pub title: &'static str,
    /// What is true of all experiments; which seeds there were comes behind it.
    pub about: &'static str,
    /// What stands beside the reproduction without being part of it.
    pub beside: &'static str,
    /// What a quick version leaves out.
    pub quick: &'static str,
    /// Its experiments, as the page has them.
    pub experiments: &'static [Experiment<J>],
}

/// A published experiment.
pub struct Experiment<J: Job> {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Whether it takes too much to be run unasked.
    pub only_if_named: bool,
    /// What is run.
    pub cases: fn(&Setting) -> Vec<J>,
    /// What is told of it.
    pub tell: fn(&Setting, &Results<J>) -> Section,
}

/// What somebody wants of a publication.
pub struct Wanted<'a> {
    /// Where files go.
    pub output: &'a PathBuf,
    /// Experiments; all, if there are none.
    pub only: &'a [String],
    /// How they are run.
    pub setting: Setting,
    /// Whether a program reads what is printed.
    pub json: bool,
}

impl<J: Job> Publication<J> {
    /// Runs what is wanted, writes the files and tells of them.
    pub fn reproduce(&self, wanted: &Wanted<'_>) -> Result<Code, Failure> {
        let chosen = self.chosen(wanted.only)?;
        // A folder that cannot be written is better known before half an hour than after.
        std::fs::create_dir_all(wanted.output).map_err(|error| unwritable(wanted.output, &error))?;
        let setting = &wanted.setting;
        let cases_of =
            |experiment: &&Experiment<J>| setting.of_each_seed().flat_map(|one| (experiment.cases)(&one)).collect();
        let results = runner::run(chosen.iter().map(cases_of).collect())?;
        let told: Vec<_> = chosen
            .iter()
            .zip(&results)
            .map(|(experiment, results)| {
                let mut section = (experiment.tell)(setting, results);
                section.tables.iter_mut().for_each(|table| table.caption += &setting.remark());
                (experiment.name, section, results)
            })
            .collect();
        let figures = self.as_json(setting, &told);
        let sections: Vec<_> = told.iter().map(|(name, section, _)| (*name, section)).collect();
        write(wanted.output, "results.json", &format!("{figures:#}\n"))?;
        write(wanted.output, "index.html", &page::html(self, setting, &sections))?;
        if wanted.json {
            tell!("{figures:#}");
        } else {
            section::paragraph(self.beside).iter().for_each(|line| tell!("{line}"));
            for (_, section) in &sections {
                section.lines().iter().for_each(|line| tell!("{line}"));
            }
        }
        note!("wrote {}: open it in a browser", wanted.output.join("index.html").display());
        Ok(if results.iter().all(Results::is_whole) { Code::Done } else { Code::TaskFailed })
    }

    /// The experiments that are asked for, in their own order.
    fn chosen(&self, only: &[String]) -> Result<Vec<&Experiment<J>>, Failure> {
        if let Some(stray) = only.iter().find(|name| self.experiments.iter().all(|known| known.name != name.as_str())) {
            let known: Vec<_> = self.experiments.iter().map(|experiment| experiment.name).collect();
            return Err(Failure::bad_input(
                format!("there is no experiment `{stray}`"),
                format!("choose among {}", known.join(", ")),
            ));
        }
        let is_chosen = |experiment: &&Experiment<J>| match only {
            [] => !experiment.only_if_named,
            only => only.iter().any(|name| name == experiment.name),
        };
        Ok(self.experiments.iter().filter(is_chosen).collect())
    }

    fn as_json(&self, setting: &Setting, told: &[(&str, Section, &Results<J>)]) -> Value {
        let experiments = told.iter().map(|(name, section, results)| {
            let mut value = section.as_json();
            value["name"] = json!(name);
            value["runs"] = results.iter().map(|(job, outcome)| job.as_json(outcome)).collect();
            value
        });
        json!({
            "of": self.name,
            "simulated": true,
            "quick": setting.quick,
            "seed": setting.seed,
            "seeds": setting.seeds,
            "experiments": experiments.collect::<Vec<_>>(),
        })
    }
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let file = folder.join(name);
    std::fs::write(&file, text).map_err(|error| unwritable(&file, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::bad_input(format!("cannot write {}: {error}", path.display()), "choose another place with --output")
}
