//! The one screen of watch mode, on standard error: what was told last and what can be
//! done. Where standard error is no terminal, plain lines, each round below the last.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stderr, stdout};

use crossterm::style::Stylize;
use crossterm::terminal::{Clear, ClearType, size};
use crossterm::{cursor, execute};

use super::Shown;

pub(super) struct Screen {
    title: String,
    /// Whether there is a screen that can be cleared.
    clears: bool,
    color: bool,
    /// If there are keys, those of the task.
    keys: Option<&'static str>,
    input: bool,
    /// What stands on the screen, to draw it again.
    last: Option<Page>,
    /// Whether the last line is one that is about to be replaced.
    transient: bool,
}

#[derive(Clone)]
struct Page {
    told: String,
    ok: bool,
    status: String,
    body: String,
    footer: String,
}

impl Screen {
    pub(super) fn new(title: String, keys: Option<&'static str>, input: bool) -> Screen {
        let clears = stderr().is_terminal();
        Screen {
            title,
            clears,
            color: crate::output::color(),
            keys,
            input,
            last: None,
            transient: false,
        }
    }

    /// Work is under way.
    pub(super) fn working(&mut self) {
        if self.clears {
            self.transient_line("working ...");
        }
    }

    /// The line being typed for the program, or that it has been.
    pub(super) fn typed(&mut self, line: Option<&str>) {
        match line {
            Some(line) => self.transient_line(&format!("input (Esc to cancel): {line}")),
            None => self.end_transient(),
        }
    }

    /// Shows an outcome, with what is told of the round that led to it.
    pub(super) fn show(&mut self, told: Option<String>, shown: Shown, watching: String) {
        self.end_transient();
        if let Some(output) = shown.output {
            let mut out = stdout().lock();
            let _ = writeln!(out, "{output}").and_then(|()| out.flush());
        }
        let page = Page {
            told: told.unwrap_or_default(),
            ok: shown.ok,
            status: shown.status,
            body: shown.body,
            footer: self.footer(&watching),
        };
        if self.clears {
            self.draw(&page, shown.clear);
        } else {
            self.print(&page);
        }
        self.last = Some(page);
    }

    /// Draws what was shown last again, after the screen has changed.
    pub(super) fn redraw(&mut self) {
        // Where a program writes too, there is more on the screen than we know.
        if let Some(page) = self.last.clone()
            && self.clears
            && !self.input
        {
            self.draw(&page, true);
        }
    }

    /// Leaves the screen to whoever comes next.
    pub(super) fn leave(&mut self) {
        self.end_transient();
    }

    fn footer(&self, watching: &str) -> String {
        let mut out = watching.to_owned();
        if let Some(keys) = self.keys {
            out.push_str(" · r re-run");
            out.push_str(keys);
            out.push_str(" · q quit");
            if self.input {
                out.push_str(" · i input");
            }
        }
        out
    }

    /// Plain lines.
    fn print(&self, page: &Page) {
        let mut out = String::new();
        for line in page.told.lines().chain(page.status.lines()) {
            out.push_str("taipan: ");
            out.push_str(line);
            out.push('\n');
        }
        out.push_str(&page.body);
        if self
            .last
            .as_ref()
            .is_none_or(|last| last.footer != page.footer)
        {
            let _ = writeln!(out, "taipan: {}", page.footer);
        }
        let _ = stderr().lock().write_all(out.as_bytes());
    }

    fn draw(&self, page: &Page, clear: bool) {
        let mut out = Vec::new();
        if clear {
            let _ = execute!(
                out,
                Clear(ClearType::All),
                Clear(ClearType::Purge),
                cursor::MoveTo(0, 0)
            );
            let title = format!("taipan watch {}", self.title);
            let _ = writeln!(out, "{}", self.style(&title, |t| t.bold().to_string()));
        }
        for line in page.told.lines() {
            let _ = writeln!(out, "{}", self.style(line, |t| t.dim().to_string()));
        }
        let status = match page.ok {
            true => self.style(&page.status, |t| t.green().to_string()),
            false => self.style(&page.status, |t| t.red().bold().to_string()),
        };
        if !page.status.is_empty() {
            let _ = writeln!(out, "{status}");
        }
        let (_, rows) = size().unwrap_or((80, 24));
        // Title, what is told, status and footer.
        let used = page.told.lines().count() + 3;
        let room = usize::from(rows).saturating_sub(used).max(3);
        let lines: Vec<&str> = page.body.lines().collect();
        let fits = match lines.len() {
            n if n <= room => n,
            _ => room - 1,
        };
        for line in &lines[..fits] {
            let _ = writeln!(out, "{line}");
        }
        if fits < lines.len() {
            let _ = writeln!(out, "... {} more lines", lines.len() - fits);
        }
        let footer = self.style(&page.footer, |t| t.dim().to_string());
        let _ = writeln!(out, "{footer}");
        let _ = stderr().lock().write_all(&out);
    }

    fn style(&self, text: &str, styled: impl Fn(&str) -> String) -> String {
        match self.color {
            true => styled(text),
            false => text.to_owned(),
        }
    }

    fn transient_line(&mut self, text: &str) {
        self.end_transient();
        let mut out = stderr().lock();
        let _ = write!(out, "{text}").and_then(|()| out.flush());
        self.transient = true;
    }

    fn end_transient(&mut self) {
        if std::mem::take(&mut self.transient) && self.clears {
            let _ = execute!(
                stderr().lock(),
                cursor::MoveToColumn(0),
                Clear(ClearType::CurrentLine)
            );
        }
    }
}
