//! Jumps to the handlers of a loop over bytecodes, by their addresses.
//!
//! LLVM puts such a jump behind each handler when it has optimised the function.

use std::fmt::Write as _;

use taipan_codegen::machine::{Arithmetic, Bad, Instructions, Ty};
use taipan_codegen::{DispatchTable, mangle_function};
use taipan_graph::BlockId;
use taipan_lltype::{LLOperand, SIGNED};

use super::Emitter;
use crate::names::global;

impl Emitter<'_> {
    /// Jumps by a block's table, which has one more entry for what is not in it.
    pub(super) fn jump_by_table(&mut self, id: BlockId, table: &DispatchTable) -> Result<(), Bad> {
        let exits = &self.graph.block(id).exits;
        let labels: Vec<String> = exits.iter().map(|_| self.new_label("handler")).collect();
        let otherwise = match table.otherwise {
            Some(i) => labels[i].clone(),
            None => self.new_label("none"),
        };
        let function = mangle_function(self.f);
        let name = global(&format!("{function}.handlers{}", id.index()));
        let function = global(&function);
        let entries = table.exits.iter().map(|exit| match exit {
            Some(i) => &labels[*i],
            None => &otherwise,
        });
        let entries: Vec<String> = (entries.chain([&otherwise]))
            .map(|label| format!("ptr blockaddress({function}, %{label})"))
            .collect();
        let (count, more) = (table.exits.len(), entries.len());
        let _ = writeln!(
            self.tables,
            "{name} = private unnamed_addr constant [{more} x ptr] [{}]",
            entries.join(", ")
        );
        let value = self.convert(&LLOperand::Var(table.on), *SIGNED)?;
        let mut index = value.text.clone();
        if table.first != 0 {
            index = self.part(&format!("sub i64 {index}, {}", table.first));
        }
        if !table.complete {
            let inside = self.part(&format!("icmp ult i64 {index}, {count}"));
            index = self.part(&format!("select i1 {inside}, i64 {index}, i64 {count}"));
        }
        let at = self.part(&format!(
            "getelementptr inbounds ptr, ptr {name}, i64 {index}"
        ));
        let target = self.ins(Ty::Ptr, &format!("load ptr, ptr {at}, align 8"));
        let mut ways: Vec<String> = labels.iter().map(|l| format!("label %{l}")).collect();
        if table.otherwise.is_none() {
            ways.push(format!("label %{otherwise}"));
        }
        self.run(&format!(
            "indirectbr {}, [{}]",
            target.typed(),
            ways.join(", ")
        ));
        if table.otherwise.is_none() {
            self.start_label(&otherwise);
            self.never_reached();
        }
        for (link, label) in exits.iter().zip(labels) {
            self.start_label(&label);
            self.follow(link)?;
        }
        Ok(())
    }
}
