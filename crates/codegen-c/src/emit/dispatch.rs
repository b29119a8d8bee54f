//! Jumps to the handlers of a loop over bytecodes, by their addresses ("computed goto").
//!
//! Each link to a block that is nothing but a large switch ends with a jump of its own. gcc joins
//! these jumps while it optimises and takes them apart at the end, so that compiling takes no longer.

use taipan_codegen::DispatchTable;
use taipan_codegen::machine::Operands;
use taipan_graph::{BlockId, Link};
use taipan_lltype::{LLOperand, LowLevel};

use super::Emitter;
use crate::types::Bad;

impl Emitter<'_> {
    /// The statements that jump by a block's table.
    pub(super) fn jump_by_table(
        &mut self,
        id: BlockId,
        table: &DispatchTable,
    ) -> Result<Vec<String>, Bad> {
        let value = self.value(&LLOperand::Var(table.on))?;
        let index = match table.first {
            0 => format!("(Unsigned){value}"),
            first => format!("(Unsigned){value} - (Unsigned)({first})"),
        };
        let mut lines = Vec::new();
        if !table.complete {
            let (count, otherwise) = (table.exits.len(), otherwise(id));
            lines.push(format!(
                "if (RPY_UNLIKELY({index} >= {count})) goto {otherwise};"
            ));
        }
        lines.push(format!("goto *handlers{}[{index}];", id.0));
        Ok(lines)
    }

    /// The table itself, and what is on the way to blocks that others lead to as well.
    pub(super) fn table(
        &mut self,
        id: BlockId,
        table: &DispatchTable,
        exits: &[Link<LowLevel>],
        entries: &[u32],
    ) -> Result<(), Bad> {
        let mut labels = Vec::with_capacity(exits.len());
        for (i, link) in exits.iter().enumerate() {
            let lines = self.link(link, entries, None)?;
            let target = format!("block{}", link.target.0);
            let label = match &lines[..] {
                _ if table.otherwise == Some(i) => otherwise(id),
                [one] if *one == format!("goto {target};") => target.clone(),
                _ => format!("handler{}_{i}", id.0),
            };
            if label != target {
                self.statement(format!("{label}:;"));
                lines.iter().for_each(|line| self.statement(line));
            }
            labels.push(label);
        }
        if table.otherwise.is_none() {
            self.statement(format!("{}: RPY_NEVER();", otherwise(id)));
        }
        let mut text = format!("    static const void *const handlers{}[] = {{\n", id.0);
        if table.exits.contains(&None) {
            let (last, label) = (table.exits.len() - 1, otherwise(id));
            text.push_str(&format!("        [0 ... {last}] = &&{label},\n"));
        }
        for (i, exit) in table.exits.iter().enumerate() {
            if let Some(exit) = exit {
                text.push_str(&format!("        [{i}] = &&{},\n", labels[*exit]));
            }
        }
        text.push_str("    };\n");
        self.declarations.push_str(&text);
        Ok(())
    }
}

/// The label for values that have no entry.
fn otherwise(id: BlockId) -> String {
    format!("otherwise{}", id.0)
}
