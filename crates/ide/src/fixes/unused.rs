//! Edits that leave out what nothing uses.

use taipan_base::TextRange;
use taipan_syntax::Stmt;

use super::Fixer;

impl Fixer<'_> {
    /// The marked name leaves its import, or the import goes if it has no other name.
    pub(super) fn remove_import(&mut self) {
        let Some(stmt) = self.index.stmt_at(self.at.start) else {
            return;
        };
        let stmt = self.index.parsed.spans.stmt(stmt);
        let (start, end) = (self.at.start as usize, self.at.end as usize);
        let before = &self.text[stmt.start as usize..start];
        let after = &self.text[end..stmt.end as usize];
        let title = format!("Remove the import of `{}`", self.source(self.at));
        let previous = before.rfind(',').map(|i| stmt.start as usize + i);
        match (previous, after.find(',')) {
            (Some(comma), _) => {
                let range = TextRange::new(comma as u32, self.at.end);
                self.add(title, vec![(range, String::new())]);
            }
            (None, Some(comma)) => {
                let opened = before.rfind('(').map_or(0, |i| i + 1);
                let keyword = before.rfind("import").map_or(0, |i| i + "import".len());
                let item = &before[opened.max(keyword)..];
                let item = item.trim_start().len();
                let blanks = after[comma + 1..].len() - after[comma + 1..].trim_start().len();
                let range = TextRange::new(
                    self.at.start - item as u32,
                    (end + comma + 1 + blanks) as u32,
                );
                self.add(title, vec![(range, String::new())]);
            }
            (None, None) => self.remove_lines(stmt, &title),
        }
    }

    /// The value of an assignment stays, for its effect.
    pub(super) fn drop_variable(&mut self) {
        let Some(stmt) = self.index.stmt_at(self.at.start) else {
            return;
        };
        if let Stmt::Assign(targets, value) = &self.index.parsed.ast.stmts[stmt]
            && targets.len() == 1
        {
            let range = TextRange::new(self.at.start, self.range(*value).start);
            let title = format!("Leave the variable `{}` out", self.source(self.at));
            // Parentheses around the value are not part of it.
            if !self.source(range).contains('(') {
                self.add(title, vec![(range, String::new())]);
            }
        }
    }

    /// Whole lines go, unless other code stands in them.
    pub(super) fn remove_lines(&mut self, range: TextRange, title: &str) {
        let (start, end) = (range.start as usize, range.end as usize);
        let line_start = self.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = self.text[end..]
            .find('\n')
            .map_or(self.text.len(), |i| end + i + 1);
        let rest = self.text[end..line_end].trim();
        let alone = self.text[line_start..start].trim().is_empty();
        if alone && (rest.is_empty() || rest.starts_with('#')) {
            let range = TextRange::new(line_start as u32, line_end as u32);
            self.add(title, vec![(range, String::new())]);
        }
    }
}
