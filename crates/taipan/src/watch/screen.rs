//! The one screen of watch mode, on standard error: what was told last and what can be
//! done. Where standard error is no terminal, plain lines, each round below the last.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stderr, stdout};

use crossterm::style::Stylize;
use crossterm::terminal::{Clear, ClearType, size};
use crossterm::{cursor, execute};

use super::Shown;
use super::report::Told;

/// A scrolling step.
#[derive(Clone, Copy)]
pub(super) enum Scroll {
    Line(isize),
    Page(isize),
}

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
    /// Whether statistics of rounds are shown.
    statistics: bool,
    /// The first line of the body that is shown.
    first: usize,
}

#[derive(Clone)]
struct Page {
    told: Told,
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
            statistics: false,
            first: 0,
        }
    }

    /// Shows statistics of rounds, or no longer.
    pub(super) fn toggle_statistics(&mut self) {
        self.statistics = !self.statistics;
        match &self.last {
            // The screen has lines of the program as well, which stay.
            Some(page) if self.input && self.clears => self.draw(page, false),
            _ => self.redraw(),
        }
    }

    /// Shows other lines of an outcome that is longer than the screen.
    pub(super) fn scroll(&mut self, by: Scroll) {
        let Some(page) = &self.last else { return };
        let lines: Vec<&str> = page.body.lines().collect();
        let room = self.room(page);
        let steps = match by {
            Scroll::Line(n) => n,
            Scroll::Page(n) => n * room.saturating_sub(1).max(1) as isize,
        };
        self.first =
            (self.first.saturating_add_signed(steps)).min(last_first(&lines, room, self.columns()));
        self.redraw();
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
    pub(super) fn show(&mut self, told: Option<Told>, shown: Shown, watching: String) {
        self.end_transient();
        self.first = 0;
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
            out.push_str(" · s statistics · q quit");
            if self.input {
                out.push_str(" · i input");
            }
        }
        out
    }

    /// Plain lines.
    fn print(&self, page: &Page) {
        let mut out = String::new();
        for line in page.told.all().lines().chain(page.status.lines()) {
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
        let dim = |text: &str| self.style(text, |t| t.dim().to_string());
        // Changed files and verdict come first.
        for line in page.told.changed.lines() {
            let _ = writeln!(out, "{}", dim(line));
        }
        let status = if page.ok {
            self.style(&page.status, |t| t.green().to_string())
        } else {
            self.style(&page.status, |t| t.red().bold().to_string())
        };
        if !page.status.is_empty() {
            let _ = writeln!(out, "{status}");
        }
        for line in self.extra(page).lines() {
            let _ = writeln!(out, "{}", dim(line));
        }
        let lines: Vec<&str> = page.body.lines().collect();
        let (room, columns) = (self.room(page), self.columns());
        let above = self.first.min(last_first(&lines, room, columns));
        let shown = fitting(&lines[above..], room, columns);
        for line in &lines[above..above + shown] {
            let _ = writeln!(out, "{line}");
        }
        if shown < lines.len() {
            let _ = writeln!(
                out,
                "{}",
                dim(&format!(
                    "lines {} to {} of {}: arrows and page keys show the others",
                    above + 1,
                    above + shown,
                    lines.len()
                ))
            );
        }
        let footer = self.style(&page.footer, |t| t.dim().to_string());
        let _ = writeln!(out, "{footer}");
        let _ = stderr().lock().write_all(&out);
    }

    /// The lines that are shown between the verdict and its details.
    fn extra(&self, page: &Page) -> String {
        let statistics = if self.statistics {
            &*page.told.statistics
        } else {
            ""
        };
        format!("{statistics}{}", page.told.timings)
    }

    fn columns(&self) -> usize {
        dimensions().0
    }

    /// Rows for the body: those of the screen without title, files, verdict, statistics, the line that says which lines
    /// are shown, footer and cursor.
    fn room(&self, page: &Page) -> usize {
        let (columns, rows) = dimensions();
        let title = format!("taipan watch {}", self.title);
        let extra = self.extra(page);
        let around = [
            &*title,
            &page.told.changed,
            &page.status,
            &extra,
            &page.footer,
        ];
        let lines = around.iter().flat_map(|text| text.lines());
        let used: usize = lines.map(|line| rows_of(line, columns)).sum();
        rows.saturating_sub(used + 2).max(3)
    }

    fn style(&self, text: &str, styled: impl Fn(&str) -> String) -> String {
        if self.color {
            styled(text)
        } else {
            text.to_owned()
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

/// Columns and rows of the terminal; 80 and 24 if unknown.
fn dimensions() -> (usize, usize) {
    match size() {
        Ok((columns @ 1.., rows @ 1..)) => (usize::from(columns), usize::from(rows)),
        _ => (80, 24),
    }
}

/// Number of rows that a line takes on a screen with `columns` columns.
fn rows_of(line: &str, columns: usize) -> usize {
    width(line).div_ceil(columns).max(1)
}

/// Number of columns of a line, without escape sequences.
fn width(line: &str) -> usize {
    let mut chars = line.chars();
    let mut width = 0;
    while let Some(c) = chars.next() {
        match c {
            // `ESC [ ... letter`
            '\x1b' => drop(chars.by_ref().skip(1).find(|c| ('@'..='~').contains(c))),
            '\t' => width += 8 - width % 8,
            _ => width += 1,
        }
    }
    width
}

/// Number of lines, from the first, that fit into `room` rows; at least one.
fn fitting(lines: &[&str], room: usize, columns: usize) -> usize {
    let mut used = 0;
    let fits = lines.iter().take_while(|line| {
        used += rows_of(line, columns);
        used <= room
    });
    fits.count().max(usize::from(!lines.is_empty()))
}

/// The first line of a screen that ends with the last line.
fn last_first(lines: &[&str], room: usize, columns: usize) -> usize {
    let mut used = 0;
    let fits = lines.iter().rev().take_while(|line| {
        used += rows_of(line, columns);
        used <= room
    });
    lines.len() - fits.count().max(usize::from(!lines.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_take_no_room() {
        assert_eq!(width("plain"), 5);
        assert_eq!(width("\x1b[1m\x1b[31merror\x1b[0m: x"), 8);
        assert_eq!(width("a\tb"), 9);
        assert_eq!(rows_of("", 10), 1);
        assert_eq!(rows_of("0123456789", 10), 1);
        assert_eq!(rows_of("0123456789a", 10), 2);
    }

    #[test]
    fn wrapped_lines_count() {
        let lines = ["short", "a line of three rows, as it is", "short", "short"];
        assert_eq!(fitting(&lines, 4, 10), 2);
        assert_eq!(fitting(&lines, 3, 10), 1);
        assert_eq!(fitting(&lines[1..], 1, 10), 1);
        assert_eq!(fitting(&[], 3, 10), 0);
        assert_eq!(last_first(&lines, 4, 10), 2);
        assert_eq!(last_first(&lines, 5, 10), 1);
        assert_eq!(last_first(&lines, 100, 10), 0);
        assert_eq!(last_first(&[], 3, 10), 0);
    }
}
