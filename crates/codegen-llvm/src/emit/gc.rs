//! Roots, write barriers, and what else the collector does for programs.

use std::rc::Rc;

use taipan_codegen::abi::{self, state};
use taipan_codegen::{RootsFrame, runtime};
use taipan_lltype::{LLOperand, VarLayout};

use super::{Emitter, HEAP, ROOTS, Value};
use crate::text::Metadata;
use crate::types::{Bad, Ty};

/// Bytes that the frame of a function that calls others has at least: where to return to.
const LINKAGE: i64 = 8;

/// The variable with the address of the frame on the shadow stack.
const FRAME: &str = "%roots";

impl Emitter<'_> {
    /// `gc_save_root(slot, root)`
    pub(super) fn save_root(
        &mut self,
        slot: &LLOperand,
        root: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let place = self.root_place(slot)?;
        let v = self.pointer(root)?;
        let tag = self.tag(&[ROOTS]);
        let text = format!("store {}, ptr {}, align 8{tag}", v.typed(), place.text);
        self.run(&text);
        Ok(None)
    }

    /// `gc_restore_root(slot)`
    pub(super) fn restore_root(&mut self, slot: &LLOperand) -> Result<Value, Bad> {
        let place = self.root_place(slot)?;
        let tag = self.tag(&[ROOTS]);
        Ok(self.ins(
            Ty::Ptr,
            &format!("load ptr, ptr {}, align 8{tag}", place.text),
        ))
    }

    /// `gc_leave_roots_frame`
    pub(super) fn leave_roots(&mut self) -> Result<Option<Value>, Bad> {
        self.roots.ok_or("no roots frame was entered")?;
        let base = self.ins(Ty::Ptr, &format!("load ptr, ptr {FRAME}, align 8"));
        self.store_state(state::ROOT_STACK_TOP, &base);
        Ok(None)
    }

    /// `shrink_array(array, length)`
    pub(super) fn shrink_array(
        &mut self,
        array: &LLOperand,
        length: &LLOperand,
    ) -> Result<Value, Bad> {
        let ty = self.pointee(array)?;
        let (array, length) = (self.pointer(array)?, self.word(length)?);
        let l = self.layout(ty);
        if let Some(VarLayout {
            length: Some(at), ..
        }) = l.var
        {
            let at = self.offset(&array, at);
            let tag = self.tag(&[HEAP]);
            let text = format!("store {}, ptr {}, align 8{tag}", length.typed(), at.text);
            self.run(&text);
        }
        Ok(self.int(Ty::I8, 1))
    }

    /// The barrier before a store into the object, or into one item of an array.
    pub(super) fn write_barrier(&mut self, obj: &Value, index: Option<Value>) {
        let tag = self.tag(&[HEAP]);
        let text = format!("load i8, ptr {}, align 8{tag}", obj.text);
        let header = self.part(&text);
        let tracked = self.part(&format!("and i8 {header}, {}", abi::TRACK));
        let bit = self.part(&format!("icmp ne i8 {tracked}, 0"));
        let (slow, next) = (self.new_label("barrier"), self.new_label("next"));
        self.branch_if(&bit, &slow, &next, Some(Metadata::FirstIsRare));
        self.start(&slow);
        match index {
            Some(i) => self.call_slow(runtime::SLOW_WRITEBARRIER_ARRAY, &[obj.clone(), i]),
            None => self.call_slow(runtime::SLOW_WRITEBARRIER, std::slice::from_ref(obj)),
        }
        self.go(&next);
        self.start(&next);
    }

    /// Counts a new reference to an object.
    pub(super) fn incref(&mut self, obj: &Value) {
        let next = self.new_label("next");
        let (place, count) = self.count_of(obj, &next);
        let more = self.part(&format!("add i64 {count}, 1"));
        let tag = self.tag(&[HEAP]);
        self.run(&format!("store i64 {more}, ptr {place}, align 8{tag}"));
        self.go(&next);
        self.start(&next);
    }

    /// Counts a reference that is gone. The runtime deals with the last one.
    pub(super) fn decref(&mut self, obj: &Value) {
        let next = self.new_label("next");
        let (place, count) = self.count_of(obj, &next);
        let (less, last) = (self.new_label("less"), self.new_label("last"));
        let others = self.part(&format!("icmp sgt i64 {count}, 1"));
        self.branch_if(&others, &less, &last, Some(Metadata::SecondIsRare));
        self.start(&last);
        self.call_slow(runtime::SLOW_DECREF, std::slice::from_ref(obj));
        self.go(&next);
        self.start(&less);
        let fewer = self.part(&format!("sub i64 {count}, 1"));
        let tag = self.tag(&[HEAP]);
        self.run(&format!("store i64 {fewer}, ptr {place}, align 8{tag}"));
        self.go(&next);
        self.start(&next);
    }

    /// Where the count of an object is, and what it is; null and objects that are not counted
    /// lead to another place.
    fn count_of(&mut self, obj: &Value, other: &str) -> (Rc<str>, Rc<str>) {
        let (there, counted) = (self.new_label("there"), self.new_label("counted"));
        let is_there = self.part(&format!("icmp ne {}, null", obj.typed()));
        self.branch_if(&is_there, &there, other, None);
        self.start(&there);
        let tag = self.tag(&[HEAP]);
        let header = self.part(&format!("load i8, ptr {}, align 8{tag}", obj.text));
        let outside = self.part(&format!("and i8 {header}, {}", abi::OUTSIDE));
        let is_counted = self.part(&format!("icmp eq i8 {outside}, 0"));
        self.branch_if(&is_counted, &counted, other, None);
        self.start(&counted);
        let place = self.part(&format!(
            "getelementptr i8, ptr {}, i64 {}",
            obj.text,
            abi::COUNT
        ));
        let count = self.part(&format!("load i64, ptr {place}, align 8{tag}"));
        (place, count)
    }

    /// The identity hash of an object. That of a small old one, which most keys of dicts are,
    /// is made of its address (`rpy_gc_identityhash` of the runtime).
    pub(super) fn identity_hash(&mut self, obj: &Value) -> Value {
        let [there, old, other, done] =
            ["there", "old", "other", "done"].map(|l| self.new_label(l));
        let is_there = self.part(&format!("icmp ne {}, null", obj.typed()));
        self.branch_if(&is_there, &there, &other, Some(Metadata::SecondIsRare));
        self.start(&there);
        let tag = self.tag(&[HEAP]);
        let text = format!("load i8, ptr {}, align 8{tag}", obj.text);
        let header = self.part(&text);
        let mask = abi::TRACK | abi::MARKED_OR_OUTSIDE;
        let kind = self.part(&format!("and i8 {header}, {mask}"));
        let small = self.part(&format!("icmp eq i8 {kind}, {}", abi::TRACK));
        self.branch_if(&small, &old, &other, Some(Metadata::SecondIsRare));
        self.start(&old);
        let number = self.as_type(obj, Ty::I64);
        let low = self.part(&format!("lshr {}, 4", number.typed()));
        let mixed = self.ins(Ty::I64, &format!("xor {}, {low}", number.typed()));
        self.go(&done);
        self.start(&other);
        let args = std::slice::from_ref(obj);
        let found = self.call_runtime(runtime::GC_IDENTITYHASH, args);
        let found = found.unwrap_or_else(|| mixed.clone());
        self.go(&done);
        self.start(&done);
        self.merge(Ty::I64, &[(&mixed, &old), (&found, &other)])
    }

    /// `gc_copy_array(source, dest, source_start, dest_start, length)`
    pub(super) fn copy_array(&mut self, operands: [&LLOperand; 5]) -> Result<Option<Value>, Bad> {
        let [source, dest, from, to, n] = operands;
        let ty = self.pointee(source)?;
        let l = self.layout(ty);
        let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
        let (source, dest) = (self.pointer(source)?, self.pointer(dest)?);
        let (from, to, n) = (self.word(from)?, self.word(to)?, self.word(n)?);
        if ty.is_gc_container() && !var.item_gc_pointers.is_empty() {
            self.write_barrier(&dest, None);
        }
        let mut item = |array: &Value, index: &Value| {
            let distance = self.scaled(index, var.item_size);
            let at = self.advance(array, &distance);
            self.offset(&at, var.items)
        };
        let (from, to) = (item(&source, &from), item(&dest, &to));
        let bytes = self.scaled(&n, var.item_size);
        self.call_runtime(runtime::MEMMOVE, &[to, from, bytes]);
        Ok(None)
    }

    /// Takes slots of the shadow stack. The transform fills all of them before the collector
    /// looks.
    pub(super) fn enter_roots(&mut self, slots: &LLOperand) -> Result<Option<Value>, Bad> {
        let frame = RootsFrame::with(slots)?;
        if self.roots.is_none() {
            self.slot(FRAME, "ptr");
        }
        self.take_machine_stack(frame);
        let base = self.load_state(state::ROOT_STACK_TOP, Ty::Ptr);
        self.run(&format!("store {}, ptr {FRAME}, align 8", base.typed()));
        self.roots = Some(frame);
        let text = format!("getelementptr i8, ptr {}, i64 {}", base.text, frame.size());
        let top = self.ins(Ty::Ptr, &text);
        self.store_state(state::ROOT_STACK_TOP, &top);
        Ok(None)
    }

    /// See [`RootsFrame::machine_bytes`]. An instruction that mentions the memory and does nothing keeps LLVM from
    /// dropping it.
    fn take_machine_stack(&mut self, frame: RootsFrame) {
        let bytes = frame.machine_bytes(LINKAGE);
        if bytes == 0 {
            return;
        }
        let name = self.name();
        let ty = format!("[{bytes} x i8]");
        self.slot(&name, &ty);
        let text = format!("call void asm sideeffect \"\", \"*m\"(ptr elementtype({ty}) {name})");
        self.run(&text);
    }

    fn root_place(&mut self, slot: &LLOperand) -> Result<Value, Bad> {
        let slot = RootsFrame::slot(self.roots, slot)?;
        let base = self.ins(Ty::Ptr, &format!("load ptr, ptr {FRAME}, align 8"));
        Ok(self.offset(&base, RootsFrame::offset(slot) as u64))
    }

    /// Whether the machine stack is used up.
    pub(super) fn stack_check(&mut self) -> Value {
        let limit = self.load_state(state::STACK_LIMIT, Ty::I64);
        let register = self.metadata(Metadata::StackPointer);
        (self.declarations)
            .entry("llvm.read_register.i64".to_owned())
            .or_insert_with(|| "declare i64 @llvm.read_register.i64(metadata)".to_owned());
        let text = format!("call i64 @llvm.read_register.i64(metadata {register})");
        let sp = self.ins(Ty::I64, &text);
        self.compared("ult", &sp, &limit)
    }
}
