//! Coloured and timeshifted graphs as text.

use std::fmt::Write as _;

use taipan_graph::text::print_graph;
use taipan_lltype::LowLevel;

use crate::annotator::{Annotator, SpecIx};
use crate::code::{Arg, TsExit, TsGraph, TsKind, TsLink, TsOp};
use crate::colors::{CallColor, Colors};
use crate::timeshift::NO_SLOT;

/// All function copies; behind each graph its variables by color.
pub(crate) fn colors(a: &Annotator<'_>, colors: &Colors) -> String {
    let mut out = String::new();
    for s in (0..a.specs.len()).map(|i| SpecIx(i as u32)) {
        let spec = a.spec(s);
        let color = color_name(colors.graph(s));
        let key = match &*spec.key {
            "" => String::new(),
            key => format!(", copy {key}"),
        };
        let _ = writeln!(out, "; {}: {color}{key}", spec.graph.name);
        let mut names: [Vec<String>; 2] = Default::default();
        for b in spec.graph.reachable() {
            for v in spec.graph.block(b).definitions() {
                if !spec.graph.ty(v).is_void() {
                    let name = variable(&spec.graph.vars[v.index()].name, v.0);
                    names[usize::from(!colors.green(s, v))].push(name);
                }
            }
        }
        let [green, red] = names.map(|n| n.join(" "));
        let _ = writeln!(out, "; green: {green}");
        let _ = writeln!(out, "; red: {red}");
        let graph = print_graph::<LowLevel>(&spec.graph, Default::default());
        let _ = writeln!(out, "{graph}");
    }
    out
}

fn color_name(c: CallColor) -> &'static str {
    match c {
        CallColor::Gray => "gray",
        CallColor::Yellow => "yellow",
        CallColor::Red => "red",
    }
}

fn variable(name: &str, number: u32) -> String {
    match name {
        "" => format!("v{number}"),
        name => format!("{name}_{number}"),
    }
}

/// One timeshifted graph.
pub(crate) fn timeshifted(g: &TsGraph) -> String {
    let mut out = format!("timeshifted {} ; {}\n", g.name, color_name(g.color));
    let reached = reached(g);
    for (i, block) in g.blocks.iter().enumerate().filter(|(i, _)| reached[*i]) {
        let inputs: Vec<String> = block.inputs.iter().map(|s| defined(g, *s)).collect();
        let start = if i as u32 == g.start { " ; start" } else { "" };
        let _ = writeln!(out, "block{i}({}):{start}", inputs.join(", "));
        for op in &block.ops {
            let _ = writeln!(out, "    {}", operation(g, op));
        }
        exit(g, &block.exit, &mut out);
    }
    out
}

/// Which blocks the start leads to.
fn reached(g: &TsGraph) -> Vec<bool> {
    let mut reached = vec![false; g.blocks.len()];
    let mut pending = vec![g.start];
    while let Some(b) = pending.pop() {
        if !std::mem::replace(&mut reached[b as usize], true) {
            pending.extend(g.blocks[b as usize].exit.links().map(|l| l.target));
        }
    }
    reached
}

fn slot(g: &TsGraph, s: u32) -> String {
    variable(&g.slots[s as usize].name, s)
}

/// A variable where it is defined, with its color.
fn defined(g: &TsGraph, s: u32) -> String {
    let color = match g.slots[s as usize].green {
        true => "green",
        false => "red",
    };
    format!("{}: {color}", slot(g, s))
}

fn arg(g: &TsGraph, a: &Arg) -> String {
    match a {
        Arg::Slot(s) => slot(g, *s),
        Arg::Const(c) => c.to_string(),
    }
}

fn args(g: &TsGraph, of: &[Arg]) -> String {
    of.iter().map(|a| arg(g, a)).collect::<Vec<_>>().join(", ")
}

fn operation(g: &TsGraph, op: &TsOp) -> String {
    let name = match &op.kind {
        TsKind::Plain(op) => op.to_string(),
        TsKind::Read { op, .. } => op.to_string(),
        TsKind::SameAs => "same_as".to_owned(),
        TsKind::Cast => "cast_pointer".to_owned(),
        TsKind::Malloc(ty) => format!("virtual_malloc <{ty}>"),
        TsKind::MallocVarsize(ty) => format!("virtual_malloc_varsize <{ty}>"),
        TsKind::MergePoint { global: false } => "merge_point".to_owned(),
        TsKind::MergePoint { global: true } => "global_merge_point".to_owned(),
        TsKind::Promote => "promote".to_owned(),
        TsKind::UniqueString => "unique_string".to_owned(),
        TsKind::AssumeField => "assume_field".to_owned(),
        TsKind::PromoteField => "promote_field".to_owned(),
        TsKind::ForceVirtualizable => "force_virtualizable".to_owned(),
        TsKind::RevealConst => "revealconst".to_owned(),
        TsKind::GreenCall => "green_call".to_owned(),
        TsKind::Call(color, _) => format!("{}_call", color_name(*color)),
        TsKind::Inline(_) => "inline_call".to_owned(),
        TsKind::ElidableCall => "elidable_call".to_owned(),
        TsKind::ResidualCall => "residual_call".to_owned(),
        TsKind::DriverMergePoint { greens } => format!("driver_merge_point[{greens}]"),
        TsKind::LoopCloses => "loop_closes".to_owned(),
        TsKind::IsConstant => "isconstant".to_owned(),
        TsKind::IsVirtual => "isvirtual".to_owned(),
        TsKind::AssertGreen => "assert_green".to_owned(),
        TsKind::RecordExactClass => "record_exact_class".to_owned(),
        TsKind::RecordExactValue => "record_exact_value".to_owned(),
        TsKind::RecordNonNull => "record_nonnull".to_owned(),
        TsKind::CheckIndex => "check_index".to_owned(),
        TsKind::ExcOccurred => "exc_occurred".to_owned(),
        TsKind::ExcType => "exc_type".to_owned(),
        TsKind::ExcValue => "exc_value".to_owned(),
        TsKind::ExcSet => "exc_set".to_owned(),
        TsKind::ExcClear => "exc_clear".to_owned(),
        TsKind::ReverseSplitQueue => "reverse_split_queue".to_owned(),
    };
    let mut text = match op.result {
        NO_SLOT => format!("{name}({})", args(g, &op.args)),
        s if g.slots[s as usize].ty.is_void() => format!("{name}({})", args(g, &op.args)),
        s => format!("{} = {name}({})", defined(g, s), args(g, &op.args)),
    };
    if !op.live.is_empty() {
        let live: Vec<String> = op.live.iter().map(|s| slot(g, *s)).collect();
        let _ = write!(text, " live({})", live.join(", "));
    }
    text
}

fn link(g: &TsGraph, l: &TsLink) -> String {
    format!("block{}({})", l.target, args(g, &l.args))
}

fn exit(g: &TsGraph, e: &TsExit, out: &mut String) {
    let _ = match e {
        TsExit::Goto(l) => writeln!(out, "    goto {}", link(g, l)),
        TsExit::Split(on, yes, no) => writeln!(
            out,
            "    split {}\n        True: {}\n        False: {}",
            arg(g, on),
            link(g, yes),
            link(g, no)
        ),
        TsExit::Overflow(ok, raised) => writeln!(
            out,
            "    split_raisingop\n        ok: {}\n        overflow: {}",
            link(g, ok),
            link(g, raised)
        ),
        TsExit::Return(s) => writeln!(out, "    return {}", slot(g, *s)),
        TsExit::Switch(on, links) => {
            let _ = writeln!(out, "    switch {}", arg(g, on));
            for l in links {
                let case = match &l.case {
                    taipan_graph::ExitCase::Bool(b) => {
                        (if *b { "True" } else { "False" }).to_owned()
                    }
                    taipan_graph::ExitCase::Value(c) => c.to_string(),
                    _ => "default".to_owned(),
                };
                let _ = writeln!(out, "        {case}: {}", link(g, l));
            }
            Ok(())
        }
    };
}
