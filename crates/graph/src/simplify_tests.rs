use expect_test::{Expect, expect};

use crate::text::{HlNames, parse_graph, print_graph};
use crate::*;

fn graph(text: &str) -> FunctionGraph {
    let mut names = HlNames::default();
    names.insert(ObjId(7), "E");
    parse_graph(text, names).expect("parses")
}

/// The graphs of `tests/flow`.
#[test]
fn passes() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flow");
    taipan_testkit::check_flow_files(dir, |passes, text| {
        let mut g = graph(text);
        for pass in passes {
            pass_named(pass)(&mut g);
        }
        assert_valid(&g);
        g.compact();
        print_graph(&g, HlNames::default())
    });
}

fn pass_named(name: &str) -> fn(&mut FunctionGraph) {
    match name {
        "cleanup" => cleanup,
        "constfold_exitswitch" => constfold_exitswitch,
        "eliminate_empty_blocks" => eliminate_empty_blocks,
        "join_blocks" => join_blocks,
        "join_blocks_ssa" => join_blocks_ssa,
        "remove_identical_vars" => remove_identical_vars,
        "remove_identical_vars_ssa" => remove_identical_vars_ssa,
        "ssa_to_ssi" => ssa_to_ssi,
        "transform_dead_op_vars" => transform_dead_op_vars,
        other => panic!("no pass {other}"),
    }
}

fn check(pass: impl Fn(&mut FunctionGraph), text: &str, after: Expect) {
    let mut g = graph(text);
    pass(&mut g);
    assert_valid(&g);
    g.compact();
    after.assert_eq(&print_graph(&g, HlNames::default()));
}

#[test]
fn links_and_blocks_split() {
    let split = |g: &mut FunctionGraph| {
        let new = g.split_block(BlockId(0), 1);
        g.insert_empty_block(LinkId {
            source: new,
            exit: 1,
        });
    };
    check(
        split,
        "graph f
        block0(v0, v1): v2 = neg(v0) v3 = getitem(v2, v1) canraise
            ok: return(v3)
            #E(v4, v5): except(v4, v5)
        return(v6) except(v7, v8)",
        expect![[r#"
            graph f
            block0(v0, v1):
                v2 = neg(v0)
                goto block1(v2, v1)
            block1(v3, v4):
                v5 = getitem(v3, v4)
                canraise
                    ok: return(v5)
                    #0000000000000007(v6, v7): block2(v6, v7)
            block2(v8, v9):
                goto except(v8, v9)
            return(v10)
            except(v11, v12)
        "#]],
    );
}

const NESTED_LOOPS: &str = "graph f
    block0(v0): goto block1()
    block1(): v1 = lt(1, 2) switch v1
        False: return(1)
        True: block2()
    block2(): v2 = lt(1, 2) switch v2
        False: block1()
        True: block3()
    block3(): v3 = lt(1, 2) switch v3
        False: block2()
        True: block1()
    return(v4) except(v5, v6)";

#[test]
fn dominators_and_loops() {
    let g = graph(NESTED_LOOPS);
    let d = Dominators::new(&g);
    assert_eq!(d.immediate(BlockId(0)), None);
    assert_eq!(d.immediate(BlockId(3)), Some(BlockId(2)));
    assert_eq!(d.immediate(g.returnblock), Some(BlockId(1)));
    assert!(d.dominates(BlockId(1), BlockId(3)));
    assert!(!d.dominates(BlockId(3), BlockId(1)));
    let text: Vec<String> = find_loops(&g)
        .iter()
        .map(|l| {
            let back: Vec<_> = l.back_links.iter().map(|l| l.source).collect();
            format!("{:?}: {:?}, back from {back:?}", l.header, l.blocks)
        })
        .collect();
    expect![[r#"
        BlockId1: [BlockId1, BlockId2, BlockId3], back from [BlockId2, BlockId3]
        BlockId2: [BlockId2, BlockId3], back from [BlockId3]"#]]
    .assert_eq(&text.join("\n"));
}

#[test]
fn blocks_are_copied() {
    let mut g = graph(NESTED_LOOPS);
    let (copies, _) = g.copy_blocks(&[BlockId(2), BlockId(3)]);
    g.block_mut(BlockId(1)).exits[1].target = copies[0];
    assert_valid(&g);
    assert_eq!(find_loops(&g)[1].blocks, copies);
    let mut two = graph(NESTED_LOOPS);
    let (blocks, _) = two.append(&graph(NESTED_LOOPS));
    two.block_mut(BlockId(3)).exits[1].target = BlockId(blocks + 1);
    let inner = BlockId(blocks + two.returnblock.0);
    let link = Link::new(two.returnblock, vec![Operand::Const(Const::None)]);
    two.block_mut(inner).exits = vec![link];
    assert_valid(&two);
}

#[test]
fn dot_form() {
    let g = graph(
        "graph f
        block0(v0): v1 = getitem(v0, 'a') canraise
            ok: return(v1)
            #E(v2, v3): except(v2, v3)
        return(v4) except(v5, v6)",
    );
    expect![[r##"
        digraph "f" {
            node [shape=box, fontname=monospace];
            b0 [label="block0(v0)\lv1 = getitem(v0, 'a')\l"];
            b0 -> b1 [label="(v1)"];
            b0 -> b2 [label="#0000000000000007(v2, v3): (v2, v3)"];
            b1 [label="return(v4)\l"];
            b2 [label="except(v5, v6)\l"];
        }
    "##]]
    .assert_eq(&print_dot(&g, HlNames::default()));
}
