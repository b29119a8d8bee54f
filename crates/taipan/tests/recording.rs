//! The recording of README.md: a terminal, as a picture that moves (`docs/pictures/terminal.svg`).
//!
//! The real binary runs its commands. The picture must show their output, except for times;
//! `UPDATE_RECORDING=1` (`just recording`) updates it.

mod support {
    pub(crate) mod terminal;
}

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use support::terminal::on_terminal;
use vt100::{Cell, Color, Screen};

/// The commands of the recording. The first creates a folder, in which the others run.
const COMMANDS: &[&str] = &[
    "taipan init minnow && cd minnow",
    "taipan run main.py examples/fib.mw",
    "taipan test -q",
    "sed -i '/compare(instruction/s/Integer(int(//; s/line))))/line))/' interpreter.py    # a slip",
    "taipan check",
    "sed -i '/compare(instruction/s/push(\\(.*\\))/push(Integer(int(\\1)))/' interpreter.py",
    "taipan build -o plain main.py && time ./plain examples/primes.mw",
    "taipan build --jit -o minnow main.py && time ./minnow examples/primes.mw",
];

/// Rows of a command's terminal; columns of the picture.
const SIZE: (u16, u16) = (40, 104);

/// In pixels.
const LINE: usize = 19;
const MARGIN: usize = 16;
/// Of a character of the font, at 14 pixels.
const ADVANCE: f64 = 8.43;

/// Seconds between a command and its output, between lines, and before the next command.
const ANSWER: f64 = 0.7;
const NEXT_LINE: f64 = 0.06;
const NEXT_COMMAND: f64 = 1.6;

/// A piece of a line in one colour.
#[derive(Clone, PartialEq, Eq, Default)]
struct Span {
    text: String,
    /// Class of the style sheet.
    class: String,
}

/// A line, and when it appears.
struct Line {
    spans: Vec<Span>,
    at: f64,
}

#[test]
fn the_recording_is_current() {
    let lines = record();
    let picture = draw(&lines);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/terminal.svg");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    if without_times(&old) != without_times(&picture) {
        if std::env::var_os("UPDATE_RECORDING").is_some() {
            std::fs::write(path, &picture).unwrap();
        } else {
            panic!(
                "docs/pictures/terminal.svg is not what the commands print (UPDATE_RECORDING=1 makes it anew):\n{}",
                plain(&lines)
            );
        }
    }
    // The diagnostic that README.md shows is the one of the recording.
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let text = plain(&lines);
    let from = text.find("error[TP0300]").unwrap();
    let end = text[from..].find("\n\n").unwrap();
    let diagnostic = &text[from..from + end];
    assert!(readme.contains(diagnostic), "README.md lacks\n{diagnostic}");
}

/// Runs the commands.
fn record() -> Vec<Line> {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_taipan"), bin.join("taipan")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut lines = Vec::new();
    let mut at = 0.5;
    for (i, command) in COMMANDS.iter().enumerate() {
        let mut shell = Command::new("bash");
        let here = if i == 0 { "" } else { "minnow" };
        shell
            .args(["-c", command])
            .current_dir(folder.path().join(here))
            .env("PATH", &path)
            .env("HOME", folder.path())
            .env("TERM", "xterm")
            .env("TIMEFORMAT", "%2R s")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("NO_COLOR");
        let (terminal, status) = on_terminal(shell, SIZE, |_| ());
        let is_wrong = *command == "taipan check";
        assert_eq!(
            !status.success(),
            is_wrong,
            "{command}: {}",
            terminal.screen().contents()
        );
        let prompt = Span {
            text: "$ ".to_owned(),
            class: "prompt".to_owned(),
        };
        let typed = Span {
            text: (*command).to_owned(),
            class: "bold".to_owned(),
        };
        lines.push(Line {
            spans: vec![prompt, typed],
            at,
        });
        at += ANSWER;
        for spans in rows(terminal.screen()) {
            lines.push(Line { spans, at });
            at += NEXT_LINE;
        }
        at += NEXT_COMMAND - ANSWER;
    }
    lines
}

/// The rows of a screen up to the last one with text.
fn rows(screen: &Screen) -> Vec<Vec<Span>> {
    let mut rows: Vec<Vec<Span>> = (0..SIZE.0).map(|row| spans(screen, row)).collect();
    while rows.last().is_some_and(Vec::is_empty) {
        rows.pop();
    }
    rows
}

fn spans(screen: &Screen, row: u16) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for column in 0..SIZE.1 {
        let Some(cell) = screen.cell(row, column) else {
            break;
        };
        let class = class(cell);
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        match spans.last_mut() {
            Some(span) if span.class == class => span.text.push_str(text),
            _ => spans.push(Span {
                text: text.to_owned(),
                class,
            }),
        }
    }
    while let Some(last) = spans.last_mut() {
        let end = last.text.trim_end().len();
        last.text.truncate(end);
        if end > 0 {
            break;
        }
        spans.pop();
    }
    spans
}

/// The class of the style sheet for a cell.
fn class(cell: &Cell) -> String {
    let color = match cell.fgcolor() {
        Color::Idx(1 | 9) => "red",
        Color::Idx(2 | 10) => "green",
        Color::Idx(3 | 11) => "yellow",
        Color::Idx(4 | 12) => "blue",
        Color::Idx(5 | 13) => "magenta",
        Color::Idx(6 | 14) => "cyan",
        _ => "",
    };
    let bold = if cell.bold() { "bold" } else { "" };
    format!("{color} {bold}").trim().to_owned()
}

/// The text of lines.
fn plain(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        line.spans.iter().for_each(|s| out.push_str(&s.text));
        out.push('\n');
    }
    out
}

/// The same without times.
fn without_times(text: &str) -> String {
    let times = Regex::new(r"\d+\.\d+ ?s\b").unwrap();
    times.replace_all(text, "T s").into_owned()
}

const STYLE: &str = "\
text { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre }
.bold { font-weight: bold }
.prompt { fill: #7d8590 }
.red { fill: #ff7b72 }
.green { fill: #7ee787 }
.yellow { fill: #e3b341 }
.blue { fill: #79c0ff }
.magenta { fill: #d2a8ff }
.cyan { fill: #76e3ea }
@keyframes show { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: no-preference) { text { animation: show 1ms backwards } }
";

/// Draws lines that appear one after another. A viewer without animation shows the end.
fn draw(lines: &[Line]) -> String {
    let width = (f64::from(SIZE.1) * ADVANCE) as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>Taipan on a terminal: a new project runs, is tested, has an error, and is built with a just-in-time compiler</title>\n\
         <style>\n{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#161b22\"/>\n"
    );
    for (i, line) in lines.iter().enumerate() {
        if line.spans.is_empty() {
            continue;
        }
        let y = MARGIN + i * LINE + 14;
        let _ = write!(
            out,
            "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\" style=\"animation-delay:{:.0}ms\">",
            line.at * 1000.0
        );
        for span in &line.spans {
            let text = span.text.replace('&', "&amp;").replace('<', "&lt;");
            match span.class.as_str() {
                "" => out.push_str(&text),
                class => {
                    let _ = write!(out, "<tspan class=\"{class}\">{text}</tspan>");
                }
            }
        }
        out.push_str("</text>\n");
    }
    out.push_str("</svg>\n");
    out
}
