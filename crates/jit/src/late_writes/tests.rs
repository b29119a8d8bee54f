//! After any edits all is as if nothing had been known before.

use std::sync::Arc;

use taipan_fuzz::{Choices, Target};
use taipan_graph::ObjId;
use taipan_lltype::{FuncKind, FuncSym, FuncType, VOID};

use super::LateWrites;
use super::object_flow::{Call, FlowBlock, FlowExit, ObjectFlow, Site, Step, Value, Write};

const FUNCTIONS: usize = 9;
const ARGUMENTS: usize = 2;

fn sym(n: usize) -> FuncSym {
    let kind = FuncKind::Helper {
        name: format!("f{n}").into(),
        args: Arc::from([]),
    };
    let ty = FuncType {
        args: Vec::new(),
        result: *VOID,
    };
    FuncSym::new(kind, ty)
}

/// A function of some blocks in a row, with jumps back.
fn random_flow(random: &mut Choices<'_>) -> ObjectFlow {
    let mut flow = ObjectFlow {
        marked: random.below(12) == 0,
        arguments: ARGUMENTS,
        sites: vec![Site::Argument(0), Site::Argument(1)],
        vars: ARGUMENTS,
        given: vec![(0, 0), (1, 1)],
        ..ObjectFlow::default()
    };
    let blocks = 1 + random.below(3);
    // Every block is entered with two objects.
    for b in 0..blocks {
        let first = if b == 0 { 0 } else { flow.vars as u32 };
        if b > 0 {
            flow.vars += 2;
        }
        let mut block = FlowBlock {
            inputs: vec![first, first + 1],
            ..FlowBlock::default()
        };
        let mut known = vec![Value::Var(first), Value::Var(first + 1), Value::Unknown];
        for _ in 0..random.below(4) {
            let value = known[random.below(known.len())];
            let step = match random.below(10) {
                0 => Step::Share(vec![value]),
                1 => Step::Promote(value),
                2 if random.below(4) == 0 => Step::Run,
                3 | 4 => {
                    flow.writes.push(Write {
                        class: ObjId(1),
                        field: format!("inst_{}", random.below(2)).into(),
                        at: random.below(100) as u32,
                        object: value,
                    });
                    Step::Write(flow.writes.len() as u32 - 1)
                }
                5 => {
                    let (var, site) = new(&mut flow);
                    known.push(Value::Var(var));
                    Step::Make(var, site)
                }
                _ => {
                    let known_targets = random.below(20) > 0;
                    let targets =
                        (0..1 + random.below(2)).map(|_| sym(random.below(FUNCTIONS + 1)));
                    let targets = Some(targets.collect()).filter(|_| known_targets);
                    let arguments = vec![value, known[random.below(known.len())]];
                    let result = new(&mut flow);
                    known.push(Value::Var(result.0));
                    flow.calls.push(Call {
                        targets,
                        at: random.below(100) as u32,
                        arguments,
                        result: Some(result),
                    });
                    Step::Call(flow.calls.len() as u32 - 1)
                }
            };
            block.steps.push(step);
        }
        let target = |b: usize| if b == 0 { 0 } else { ARGUMENTS as u32 };
        let last = known[known.len() - 1];
        if b + 1 < blocks {
            let input = flow.vars as u32;
            block.exits.push(FlowExit {
                target: b as u32 + 1,
                passed: vec![(known[0], input), (last, input + 1)],
            });
        } else {
            flow.returned = Some((b as u32, last));
        }
        if b > 0 && random.below(3) == 0 {
            let input = target(0);
            block.exits.push(FlowExit {
                target: 0,
                passed: vec![(last, input), (known[1], input + 1)],
            });
        }
        flow.blocks.push(block);
    }
    flow
}

fn new(flow: &mut ObjectFlow) -> (u32, u32) {
    flow.vars += 1;
    flow.sites.extend([Site::New, Site::Older]);
    (flow.vars as u32 - 1, flow.sites.len() as u32 - 2)
}

#[test]
fn edits_leave_nothing_behind() {
    let mut late = 0;
    let target = Target::new("late-writes").cases(60).bytes(8192);
    let cases = target.run(|random| {
        let mut flows: Vec<Option<Arc<ObjectFlow>>> = vec![None; FUNCTIONS];
        let mut all = LateWrites::default();
        for _ in 0..30 {
            let mut changed = Vec::new();
            for _ in 0..1 + random.below(3) {
                let f = random.below(FUNCTIONS);
                flows[f] = (random.below(6) > 0).then(|| Arc::new(random_flow(random)));
                changed.push((sym(f), flows[f].clone()));
            }
            let entries = [sym(random.below(2))];
            all.update(changed, &entries);
            let mut fresh = LateWrites::default();
            fresh.update((0..).map(sym).zip(flows.iter().cloned()), &entries);
            for f in (0..FUNCTIONS).map(sym) {
                assert_eq!(all.now(&f), fresh.now(&f), "{flows:#?}");
            }
            assert_eq!(all.found(), fresh.found());
            late += fresh.found().len();
        }
    });
    assert!(cases < 60 || late > 100, "{late}");
}

#[test]
fn an_edit_concerns_those_who_see_it() {
    let flow = |calls: &[usize], shares: bool| {
        let mut flow = ObjectFlow {
            marked: false,
            arguments: 1,
            sites: vec![Site::Argument(0)],
            vars: 1,
            given: vec![(0, 0)],
            ..ObjectFlow::default()
        };
        let mut block = FlowBlock {
            inputs: vec![0],
            ..FlowBlock::default()
        };
        for c in calls {
            block.steps.push(Step::Call(flow.calls.len() as u32));
            flow.calls.push(Call {
                targets: Some([sym(*c)].into()),
                at: 7 * *c as u32 % 100,
                arguments: vec![Value::Var(0)],
                result: None,
            });
        }
        if shares {
            block.steps.push(Step::Share(vec![Value::Var(0)]));
        }
        flow.blocks.push(block);
        Arc::new(flow)
    };
    // A long cycle; the first one puts its argument somewhere.
    let all: Vec<_> = (0..200).map(|f| flow(&[(f + 1) % 200], f == 0)).collect();
    let mut late = LateWrites::default();
    let changes = (0..).map(sym).zip(all.into_iter().map(Some));
    late.update(changes, &[sym(0)]);
    late.take_looked();
    // Its caller knows it as before.
    late.update([(sym(100), Some(flow(&[101], false)))], &[sym(0)]);
    assert!(late.take_looked() <= 4);
    // Nobody does any more, and nobody holds anybody else to it.
    late.update([(sym(0), Some(flow(&[1], false)))], &[sym(0)]);
    let mut alone = LateWrites::default();
    alone.update([(sym(7), Some(flow(&[], false)))], &[]);
    assert_eq!(late.now(&sym(7)), alone.now(&sym(7)));
}
