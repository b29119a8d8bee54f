//! Allocation, of GC objects, which are null where there is no memory, and of raw memory.
//!
//! New objects are cleared by stores of single words; LLVM drops those of words that are
//! stored to right away.

use taipan_codegen::abi::state;
use taipan_codegen::{Allocation, SymbolRef, nursery_size, runtime};
use taipan_graph::Operation;
use taipan_lltype::{ConstantOperand, LLOperand, Layout, LowLevel, VarLayout};

use super::{Emitter, HEAP, STATE, Value};
use crate::text::Metadata;
use crate::types::{Bad, Ty};

/// What allocation functions return: nobody else knows the address.
const FRESH: &str = "noalias ";

/// An object that is allocated inline if it is short.
struct Inline {
    /// The short one.
    object: Value,
    /// The one from the runtime, and the label that it comes from.
    long: (Value, String),
    /// Where both ways meet.
    done: String,
}

impl Emitter<'_> {
    /// `malloc` and its like, of an object with so many items.
    pub(super) fn malloc(
        &mut self,
        ty: &LLOperand,
        flavor: &LLOperand,
        length: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let (gc, zero) = taipan_codegen::flavor(flavor, ty);
        let count = length.map(|l| self.word(l)).transpose()?;
        let l = self.layout(ty);
        if !gc {
            return self.malloc_raw(&l, count, zero);
        }
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        let how = taipan_codegen::allocation(ty, &l, length, op, zero, self.inlines())?;
        let n = count.unwrap_or_else(|| info.clone());
        match (how, &l.var) {
            (Allocation::Bump { size, length_at }, _) => {
                let length = length_at.map(|at| (at, &n));
                Ok(self.malloc_inline(&info, size, length))
            }
            (
                Allocation::Items {
                    most,
                    length_at,
                    zero,
                },
                Some(var),
            ) => {
                let made = self.malloc_up_to(most, &info, var, length_at, &n, zero);
                if zero {
                    self.clear_items(&made.object, var, &n);
                }
                Ok(self.met(made))
            }
            (Allocation::Fixed, _) if self.in_cold_block => {
                Ok(self.allocate_slowly(runtime::SLOW_MALLOC_FIXED, &[info]))
            }
            (Allocation::Fixed, _) => self
                .call_runtime_with(FRESH, runtime::GC_MALLOC_FIXED, &[info])
                .ok_or_else(|| "no result".to_owned()),
            (Allocation::Varsize { zero }, _) if self.in_cold_block => {
                let zero = self.int(Ty::I64, i128::from(zero));
                Ok(self.allocate_slowly(runtime::SLOW_MALLOC_VARSIZE, &[info, n, zero]))
            }
            (Allocation::Varsize { zero } | Allocation::Items { zero, .. }, _) => {
                let zero = self.int(Ty::I8, i128::from(zero));
                let args = [info, n, zero];
                self.call_runtime_with(FRESH, runtime::GC_MALLOC_VARSIZE, &args)
                    .ok_or_else(|| "no result".to_owned())
            }
        }
    }

    pub(super) fn raw_malloc(&mut self, size: Value, zero: bool) -> Option<Value> {
        let (f, args) = match zero {
            true => (runtime::CALLOC, vec![self.int(Ty::I64, 1), size]),
            false => (runtime::MALLOC, vec![size]),
        };
        // Checked code reads what was never written, to see whether it was freed: what LLVM
        // knows to be fresh has any contents it likes.
        let attribute = if self.checked { "" } else { "noalias " };
        self.call_runtime_with(attribute, f, &args)
    }

    fn malloc_raw(&mut self, l: &Layout, n: Option<Value>, zero: bool) -> Result<Value, Bad> {
        let size = match (&n, &l.var) {
            (Some(n), Some(var)) => {
                let text = format!("mul {}, {}", n.typed(), var.item_size);
                let items = self.part(&text);
                self.ins(Ty::I64, &format!("add i64 {items}, {}", var.empty_size))
            }
            _ => self.int(Ty::I64, i128::from(l.size.max(1))),
        };
        let p = self.raw_malloc(size, zero).ok_or("no result")?;
        if let (
            Some(n),
            Some(VarLayout {
                length: Some(at), ..
            }),
        ) = (n, &l.var)
        {
            let at = self.offset(&p, *at);
            self.store_raw(&at, &n);
        }
        Ok(p)
    }

    /// Whether allocation is worth code of its own here.
    fn inlines(&self) -> bool {
        !self.in_cold_block && self.program.collector().has_nursery()
    }

    /// An object of known size, cleared, with its length if it has one. The nursery's free pointer is
    /// bumped inline.
    fn malloc_inline(&mut self, info: &Value, size: u64, length: Option<(u64, &Value)>) -> Value {
        let (slow, done) = (self.new_label("slow"), self.new_label("done"));
        let (made_label, known) = (self.new_label("made"), self.new_label("known"));
        let size_value = self.int(Ty::I64, i128::from(size));
        let fast = self.bump(&size_value, &slow);
        let before = self.label.clone();
        self.go(&done);
        self.start(&slow);
        let made = self.allocate_slowly(runtime::SLOW_MALLOC, &[size_value]);
        self.go(&done);
        self.start(&done);
        let p = self.merge(Ty::Ptr, &[(&fast, &before), (&made, &slow)]);
        let is_made = self.part(&format!("icmp ne ptr {}, null", p.text));
        self.branch_if(&is_made, &made_label, &known, Some(Metadata::SecondIsRare));
        self.start(&made_label);
        self.clear(&p, info, size);
        if let Some((at, n)) = length {
            self.store_word(&p, at, n);
        }
        self.go(&known);
        self.start(&known);
        p
    }

    /// An object of fixed size that ends its block: the second exit is for when the nursery
    /// is full.
    pub(super) fn malloc_nursery(&mut self, ty: &LLOperand) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let l = self.layout(ty);
        let size = nursery_size(ty, &l)?;
        let full = self.new_label("full");
        let size_value = self.int(Ty::I64, i128::from(size));
        let p = self.bump(&size_value, &full);
        self.nursery_full = Some(full);
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        self.clear(&p, &info, size);
        Ok(p)
    }

    /// Fills a new object: its header, and zeroes.
    fn clear(&mut self, p: &Value, info: &Value, size: u64) {
        self.store_word(p, 0, info);
        let zero = self.int(Ty::I64, 0);
        for at in (8..size).step_by(8) {
            self.store_word(p, at, &zero);
        }
    }

    fn store_word(&mut self, p: &Value, offset: u64, word: &Value) {
        let at = self.offset(p, offset);
        let tag = self.tag(&[HEAP]);
        let text = format!("store {}, ptr {}, align 8{tag}", word.typed(), at.text);
        self.run(&text);
    }

    /// Takes `size` bytes of the nursery, or jumps to `slow` if they are not there.
    fn bump(&mut self, size: &Value, slow: &str) -> Value {
        let fast = self.new_label("fast");
        let free = self.load_nursery_free();
        let text = format!("getelementptr i8, ptr {}, {}", free.text, size.typed());
        let end = self.ins(Ty::Ptr, &text);
        let top = self.load_state(state::NURSERY_TOP, Ty::Ptr);
        let fits = self.part(&format!("icmp ule {}, {}", end.typed(), top.text));
        self.branch_if(&fits, &fast, slow, Some(Metadata::SecondIsRare));
        self.start(&fast);
        self.store_state(state::NURSERY_FREE, &end);
        free
    }

    /// Where the free part of the nursery starts, which is not null even if there is none.
    fn load_nursery_free(&mut self) -> Value {
        let (place, tag) = (self.state_place(state::NURSERY_FREE), self.tag(&[STATE]));
        let empty = self.metadata(Metadata::Empty);
        let text = format!("load ptr, ptr {place}, align 8{tag}, !nonnull {empty}");
        self.ins(Ty::Ptr, &text)
    }

    /// Clears the items of a short array, word by word.
    fn clear_items(&mut self, p: &Value, var: &VarLayout, n: &Value) {
        let (clear, cleared) = (self.new_label("clear"), self.new_label("cleared"));
        let bytes = self.part(&format!("mul {}, {}", n.typed(), var.item_size));
        let start = self.offset(p, var.items);
        let end = self.part(&format!(
            "getelementptr i8, ptr {}, i64 {bytes}",
            start.text
        ));
        let some = self.part(&format!("icmp ult ptr {}, {end}", start.text));
        let before = self.label.clone();
        self.branch_if(&some, &clear, &cleared, None);
        self.start(&clear);
        let next = self.name();
        let text = format!(
            "phi ptr [ {}, %{before} ], [ {next}, %{clear} ]",
            start.text
        );
        let at = self.part(&text);
        let tag = self.tag(&[HEAP]);
        self.run(&format!("store i64 0, ptr {at}, align 8{tag}"));
        self.run(&format!("{next} = getelementptr i8, ptr {at}, i64 8"));
        let more = self.part(&format!("icmp ult ptr {next}, {end}"));
        self.branch_if(&more, &clear, &cleared, None);
        self.start(&cleared);
    }

    /// Goes on where both ways of an allocation meet.
    fn met(&mut self, made: Inline) -> Value {
        let before = self.label.clone();
        self.go(&made.done);
        self.start(&made.done);
        let (long, from) = &made.long;
        self.merge(Ty::Ptr, &[(&made.object, &before), (long, from)])
    }

    /// An object of up to `most` items in the nursery, all but its items filled in, or one
    /// from the runtime. What follows is the way of the former.
    fn malloc_up_to(
        &mut self,
        most: u64,
        info: &Value,
        var: &VarLayout,
        length_at: u64,
        n: &Value,
        zero: bool,
    ) -> Inline {
        let (short, long) = (self.new_label("short"), self.new_label("long"));
        let done = self.new_label("done");
        let is_short = self.part(&format!("icmp ult {}, {most}", n.typed()));
        self.branch_if(&is_short, &short, &long, Some(Metadata::SecondIsRare));
        self.start(&long);
        let clear = self.int(Ty::I64, i128::from(zero));
        let args = [info.clone(), n.clone(), clear];
        let slow = self.allocate_slowly(runtime::SLOW_MALLOC_VARSIZE, &args);
        self.go(&done);
        self.start(&short);
        let items = self.part(&format!("mul {}, {}", n.typed(), var.item_size));
        let end = self.part(&format!("add i64 {items}, {}", var.empty_size + 7));
        let size = self.ins(Ty::I64, &format!("and i64 {end}, -8"));
        let p = self.bump(&size, &long);
        self.store_word(&p, 0, info);
        let null = self.int(Ty::I64, 0);
        for at in (8..var.items).step_by(8).filter(|at| *at != length_at) {
            self.store_word(&p, at, &null);
        }
        self.store_word(&p, length_at, n);
        Inline {
            object: p,
            long: (slow, long),
            done,
        }
    }
}
