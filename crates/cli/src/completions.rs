//! `throng completions` and `throng man`: what a shell and a manual reader want of the command line.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use crate::exit::{Code, Failure};

/// What `throng completions` takes.
#[derive(Args)]
#[command(after_help = "\
Example:
  throng completions bash > /etc/bash_completion.d/throng
  throng completions zsh > ~/.zfunc/_throng
  throng completions fish > ~/.config/fish/completions/throng.fish")]
pub struct Arguments {
    /// For which shell
    shell: Shell,
}

/// Prints completions.
pub fn run(arguments: &Arguments, command: &clap::Command) -> Result<Code, Failure> {
    let mut script = Vec::new();
    // What is hidden is for Throng's own tests.
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut visible = clap::Command::new("throng").version(env!("CARGO_PKG_VERSION")).subcommands(shown);
    clap_complete::generate(arguments.shell, &mut visible, "throng", &mut script);
    tell!("{}", String::from_utf8_lossy(&script).trim_end());
    Ok(Code::Done)
}

/// What `throng man` takes.
#[derive(Args)]
#[command(after_help = "\
Example:
  throng man | man -l -                       read it here
  throng man --out /usr/local/share/man/man1  a page for throng and one for each of its commands")]
pub struct ManArguments {
    /// Write one page per command into this directory, instead of printing the first
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints or writes manual pages.
pub fn man(arguments: &ManArguments, command: clap::Command) -> Result<Code, Failure> {
    let trouble = |error: std::io::Error| {
        Failure::bad_input(
            format!("the manual cannot be written: {error}"),
            "choose a directory that can be written to",
        )
    };
    match &arguments.out {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).map_err(trouble)?;
            tell!("{}", String::from_utf8_lossy(&page).trim_end());
        }
        Some(directory) => {
            std::fs::create_dir_all(directory).map_err(trouble)?;
            clap_mangen::generate_to(command, directory).map_err(trouble)?;
        }
    }
    Ok(Code::Done)
}
