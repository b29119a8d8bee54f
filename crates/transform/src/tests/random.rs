//! Random programs: what they compute must be the same at every stage.

use std::sync::Arc;

use taipan_fuzz::{Choices, Target};
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, VarId, ssa_to_ssi};
use taipan_language::Exc;
use taipan_lltype::{
    BOOL, Field, FuncKind, FuncSym, FuncType, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel,
    OBJECT, OBJECT_VTABLE, PlainOp, Program, SIGNED, StructBody, TableProgram, VOID, VoidConst,
};

use super::Pipeline;
use crate::ssa::{branch, constant, goto, push};

struct Maker<'a, 'c> {
    r: &'a mut Choices<'c>,
    g: LLGraph,
    program: &'a TableProgram,
    callees: Vec<FuncSym>,
    point: LLType,
    array: LLType,
    block: BlockId,
    ints: Vec<LLOperand>,
    points: Vec<VarId>,
    arrays: Vec<VarId>,
}

fn int(v: i64) -> LLOperand {
    constant(LLConst::signed(v))
}

fn field(name: &str) -> LLOperand {
    constant(LLConst::field(name))
}

impl Maker<'_, '_> {
    fn op(
        &mut self,
        op: impl Into<LLOp>,
        args: impl IntoIterator<Item = LLOperand>,
        ty: LLType,
    ) -> VarId {
        let args: Vec<LLOperand> = args.into_iter().collect();
        push(&mut self.g, self.block, op.into().view(&args), ty, 0)
    }

    fn int(&mut self) -> LLOperand {
        match self.r.below(4) {
            0 => int(self.r.below(7) as i64 - 2),
            _ => self.ints[self.r.below(self.ints.len())].clone(),
        }
    }

    fn point(&mut self) -> LLOperand {
        let i = self.r.below(self.points.len() + 1);
        match self.points.get(i) {
            Some(p) => (*p).into(),
            None => {
                let p = self.malloc(PlainOp::Malloc, self.point, None);
                self.points.push(p);
                p.into()
            }
        }
    }

    fn malloc(&mut self, op: PlainOp, ty: LLType, length: Option<LLOperand>) -> VarId {
        let flavor = VoidConst::Flavor {
            gc: true,
            zero: true,
        };
        let mut args = vec![
            constant(LLConst::Void(VoidConst::Type(ty))),
            constant(LLConst::Void(flavor)),
        ];
        args.extend(length);
        self.op(op, args, ty.ptr())
    }

    fn condition(&mut self) -> VarId {
        let name = ["int_lt", "int_eq", "int_ge", "int_ne"][self.r.below(4)];
        let args = [self.int(), self.int()];
        self.op(LLOp::from_name(name).unwrap(), args, *BOOL)
    }

    fn link(&self, target: BlockId, args: Vec<LLOperand>) -> Link<LowLevel> {
        Link::new(target, args)
    }

    /// Code that may use what is known here; what it defines is forgotten after it,
    /// as it does not dominate what follows.
    fn scope(&mut self, depth: usize) {
        let known = (self.ints.len(), self.points.len(), self.arrays.len());
        for _ in 0..self.r.below(5) + 1 {
            self.statement(depth);
        }
        self.ints.truncate(known.0);
        self.points.truncate(known.1);
        self.arrays.truncate(known.2);
    }

    fn statement(&mut self, depth: usize) {
        match self.r.below(if depth == 0 { 9 } else { 13 }) {
            0..=2 => {
                let ops = [
                    "int_add", "int_sub", "int_mul", "int_and", "int_xor", "int_or",
                ];
                let name = ops[self.r.below(6)];
                let args = [self.int(), self.int()];
                let v = self.op(LLOp::from_name(name).unwrap(), args, *SIGNED);
                self.ints.push(v.into());
            }
            3 => {
                let args = [self.point(), field(["x", "y"][self.r.below(2)])];
                let v = self.op(PlainOp::Getfield, args, *SIGNED);
                self.ints.push(v.into());
            }
            4 => {
                let args = [self.point(), field(["x", "y"][self.r.below(2)]), self.int()];
                self.op(PlainOp::Setfield, args, *VOID);
            }
            5 => {
                let args = [self.point(), field("next"), self.point()];
                self.op(PlainOp::Setfield, args, *VOID);
            }
            6 => {
                let p = self.point();
                let next = self.op(
                    PlainOp::Getfield,
                    [p.clone(), field("next")],
                    self.point.ptr(),
                );
                let known = self.op(PlainOp::PtrNonzero, [next.into()], *BOOL);
                self.diamond(known, 0, Some((next, p)));
            }
            7 => {
                let length = int(4);
                let i = self.r.below(self.arrays.len() + 1);
                let a = match self.arrays.get(i) {
                    Some(a) => *a,
                    None => self.malloc(PlainOp::MallocVarsize, self.array, Some(length)),
                };
                self.arrays.push(a);
                let i = self.int();
                let i = self.op(LLOp::from_name("int_and").unwrap(), [i, int(3)], *SIGNED);
                let value = self.int();
                self.op(PlainOp::Setarrayitem, [a.into(), i.into(), value], *VOID);
                let at = self.r.below(4) as i64;
                let v = self.op(PlainOp::Getarrayitem, [a.into(), int(at)], *SIGNED);
                self.ints.push(v.into());
            }
            8 => self.raising(),
            9 | 10 => {
                let c = self.condition();
                self.diamond(c, depth - 1, None);
            }
            11 => self.count_down(depth - 1),
            _ => {
                let args = [self.int(), int(5)];
                let c = self.op(LLOp::from_name("int_eq").unwrap(), args, *BOOL);
                let class = [Exc::IndexError, Exc::ValueError, Exc::KeyError][self.r.below(3)];
                let (t, v) = self.exception(class);
                let next = self.g.new_block(vec![]);
                let (no, yes) = (
                    self.link(next, vec![]),
                    self.link(self.g.exceptblock, vec![t, v]),
                );
                branch(&mut self.g, self.block, c, no, yes);
                self.block = next;
            }
        }
    }

    fn exception(&self, exception: Exc) -> (LLOperand, LLOperand) {
        let class = self.program.exception_vtable(exception);
        let value = self.program.exception_instance(exception);
        (
            constant(LLConst::data(class, OBJECT_VTABLE.ptr())),
            constant(LLConst::data(value, OBJECT.ptr())),
        )
    }

    /// `if`: both ways give a value for the merged integer, or for the merged point.
    fn diamond(&mut self, c: VarId, depth: usize, choice: Option<(VarId, LLOperand)>) {
        let (yes, no) = (self.g.new_block(vec![]), self.g.new_block(vec![]));
        let links = (self.link(no, vec![]), self.link(yes, vec![]));
        branch(&mut self.g, self.block, c, links.0, links.1);
        let ty = if choice.is_some() {
            self.point.ptr()
        } else {
            *SIGNED
        };
        let merged = self.g.new_var("", ty);
        let join = self.g.new_block(vec![merged]);
        for (i, b) in [yes, no].into_iter().enumerate() {
            self.block = b;
            self.scope(depth);
            let value = match &choice {
                Some((next, p)) => {
                    if i == 0 {
                        (*next).into()
                    } else {
                        p.clone()
                    }
                }
                None => self.int(),
            };
            let link = self.link(join, vec![value]);
            goto(&mut self.g, self.block, link);
        }
        self.block = join;
        match choice {
            Some(_) => self.points.push(merged),
            None => self.ints.push(merged.into()),
        }
    }

    /// `while`, a few times round.
    fn count_down(&mut self, depth: usize) {
        let [i, acc] = [0, 1].map(|_| self.g.new_var("", *SIGNED));
        let head = self.g.new_block(vec![i, acc]);
        let body = self.g.new_block(vec![]);
        let done = self.g.new_block(vec![]);
        let start = self.int();
        let rounds = int(self.r.below(8) as i64);
        let link = self.link(head, vec![rounds, start]);
        goto(&mut self.g, self.block, link);
        self.block = head;
        let c = self.op(
            LLOp::from_name("int_gt").unwrap(),
            [i.into(), int(0)],
            *BOOL,
        );
        let links = (self.link(done, vec![]), self.link(body, vec![]));
        branch(&mut self.g, head, c, links.0, links.1);
        self.block = body;
        self.ints.push(acc.into());
        let mark = self.ints.len();
        self.scope(depth);
        let term = self.int();
        self.ints.truncate(mark);
        let next = self.op(
            LLOp::from_name("int_add").unwrap(),
            [acc.into(), term],
            *SIGNED,
        );
        let less = self.op(
            LLOp::from_name("int_sub").unwrap(),
            [i.into(), int(1)],
            *SIGNED,
        );
        let link = self.link(head, vec![less.into(), next.into()]);
        goto(&mut self.g, self.block, link);
        self.block = done;
    }

    /// A call or an overflow check, with or without handlers.
    fn raising(&mut self) {
        let args = [self.int(), self.int()];
        let callee = self.r.below(self.callees.len() + 1);
        let v = match self.callees.get(callee) {
            Some(f) => {
                let f = constant(LLConst::Func(f.clone()));
                let args = [f].into_iter().chain(args);
                self.op(PlainOp::DirectCall, args, *SIGNED)
            }
            None => self.op(PlainOp::IntAddOvf, args, *SIGNED),
        };
        let merged = self.g.new_var("", *SIGNED);
        let join = self.g.new_block(vec![merged]);
        let mut exits = vec![self.link(join, vec![v.into()])];
        let classes: &[Exc] = match self.r.below(4) {
            0 => &[Exc::IndexError],
            1 => &[Exc::LookupError, Exc::OverflowError],
            2 => &[Exc::KeyError, Exc::Exception],
            _ => &[],
        };
        for class in classes {
            let (t, _) = self.exception(*class);
            let Some(case) = t.as_const().cloned() else {
                continue;
            };
            let value = self.int();
            let mut link = match *class {
                Exc::Exception => self.link(self.g.exceptblock, vec![]),
                _ => self.link(join, vec![value]),
            };
            let t = self.g.new_var("", OBJECT_VTABLE.ptr());
            let v = self.g.new_var("", OBJECT.ptr());
            if *class == Exc::Exception {
                link.args = vec![t.into(), v.into()];
            }
            (link.last_exception, link.last_exc_value) = (Some(t), Some(v));
            link.case = ExitCase::Exception(case);
            exits.push(link);
        }
        let b = self.g.block_mut(self.block);
        if exits.len() > 1 {
            b.exitswitch = ExitSwitch::LastException;
        }
        b.exits = exits;
        self.block = join;
        self.ints.push(merged.into());
    }
}

/// A program of three functions, each of that many statements at the outermost level.
fn random_program(choices: &mut Choices<'_>, size: usize) -> TableProgram {
    let forward = LLType::new(taipan_lltype::TypeKind::Struct(taipan_lltype::StructType {
        name: "node".into(),
        gc: true,
        id: taipan_lltype::StructId::Forward("node".into()),
    }));
    let mut program = TableProgram::default();
    program.structs.push((
        taipan_lltype::StructId::Forward("node".into()),
        StructBody {
            fields: vec![
                Field {
                    name: "x".into(),
                    ty: *SIGNED,
                },
                Field {
                    name: "y".into(),
                    ty: *SIGNED,
                },
                Field {
                    name: "next".into(),
                    ty: forward.ptr(),
                },
            ],
            ..StructBody::default()
        },
    ));
    for n in 0..3 {
        let name = format!("f{n}");
        let ty = FuncType {
            args: vec![*SIGNED, *SIGNED],
            result: *SIGNED,
        };
        let kind = FuncKind::Synth {
            name: name.as_str().into(),
            args: Arc::new([]),
        };
        let g = LLGraph::new(&name, *SIGNED, OBJECT_VTABLE.ptr(), OBJECT.ptr());
        let mut m = Maker {
            r: choices,
            g,
            program: &program,
            callees: program.functions.clone(),
            point: forward,
            array: LLType::gc_array(*SIGNED),
            block: BlockId(0),
            ints: Vec::new(),
            points: Vec::new(),
            arrays: Vec::new(),
        };
        let args: Vec<VarId> = (0..2).map(|_| m.g.new_var("", *SIGNED)).collect();
        m.ints = args.iter().map(|v| (*v).into()).collect();
        let start = m.g.startblock;
        m.g.block_mut(start).inputargs = args;
        for _ in 0..size {
            m.statement(2);
        }
        let mut result = int(0);
        for v in m.ints.clone() {
            result = m
                .op(LLOp::from_name("int_xor").unwrap(), [result, v], *SIGNED)
                .into();
        }
        let link = m.link(m.g.returnblock, vec![result]);
        goto(&mut m.g, m.block, link);
        let mut g = m.g;
        ssa_to_ssi(&mut g);
        g.compact();
        program.functions.push(FuncSym::new(kind, ty));
        program.graphs.insert(name, Arc::new(g));
    }
    program
}

#[test]
fn all_stages_agree_on_random_programs() {
    let target = Target::new("optimizations").cases(25).bytes(2048);
    target.run(|choices| {
        let size = 1 + choices.below(12);
        let p = Pipeline::of(random_program(choices, size));
        for args in [[0, 0], [3, -1], [-7, 12], [1 << 62, 2]] {
            p.run_named(&args, "a random program");
        }
    });
}
