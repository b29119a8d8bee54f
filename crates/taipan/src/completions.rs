//! `taipan completions` and `taipan man`: what packages install beside the binary, made from
//! clap's definitions.

use std::io;

use clap_mangen::Man;

use crate::args::{CompletionsArgs, ManArgs};
use crate::output::{put, tell};

pub(crate) fn completions(args: &CompletionsArgs) -> i32 {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "taipan", &mut text);
    put(&String::from_utf8_lossy(&text))
}

pub(crate) fn man(args: &ManArgs) -> i32 {
    match write_pages(args) {
        Ok(()) => 0,
        Err(e) => {
            tell(&format!("taipan: cannot write to {}: {e}\n", args.folder));
            2
        }
    }
}

fn write_pages(args: &ManArgs) -> io::Result<()> {
    std::fs::create_dir_all(&args.folder)?;
    let mut command = crate::command();
    // Subcommands know their full names, as `taipan-watch-check`, once this has run.
    command.build();
    write_page(args, &command, "taipan")?;
    let mut waiting: Vec<(String, &clap::Command)> = subcommands(&command, "taipan");
    while let Some((name, command)) = waiting.pop() {
        write_page(args, command, &name)?;
        waiting.extend(subcommands(command, &name));
    }
    Ok(())
}

fn subcommands<'a>(of: &'a clap::Command, name: &str) -> Vec<(String, &'a clap::Command)> {
    of.get_subcommands()
        .filter(|c| !c.is_hide_set() && c.get_name() != "help")
        .map(|c| (format!("{name}-{}", c.get_name()), c))
        .collect()
}

fn write_page(args: &ManArgs, command: &clap::Command, name: &str) -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone().display_name(name.to_owned())).render(&mut page)?;
    std::fs::write(args.folder.join(format!("{name}.1")), page)
}
