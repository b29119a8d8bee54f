use expect_test::{Expect, expect};

use crate::text::{HlNames, parse_graph, print_graph};
use crate::*;

fn graph(text: &str) -> FunctionGraph {
    let mut names = HlNames::default();
    names.insert(ObjId(7), "E");
    parse_graph(text, names).expect("parses")
}

fn check(pass: impl Fn(&mut FunctionGraph), text: &str, after: Expect) {
    let mut g = graph(text);
    pass(&mut g);
    assert_valid(&g);
    g.compact();
    after.assert_eq(&print_graph(&g, HlNames::default()));
}

#[test]
fn empty_blocks_go() {
    check(
        eliminate_empty_blocks,
        "graph f
        block0(v0): goto block1(v0)
        block1(v1): goto block2(v1, 5)
        block2(v2, v3): v4 = add(v2, v3) goto block3()
        block3(): goto block4()
        block4(): goto block3()
        return(v5) except(v6, v7)",
        expect![[r#"
            graph f
            block0(v0):
                goto block1(v0, 5)
            block1(v1, v2):
                v3 = add(v1, v2)
                goto block2()
            block2():
                goto block3()
            block3():
                goto block3()
            return(v4)
            except(v5, v6)
        "#]],
    );
}

#[test]
fn blocks_join_in_ssa_form() {
    check(
        |g| {
            join_blocks_ssa(g);
            ssa_to_ssi(g);
        },
        "graph f
        block0(v0): v1 = neg(v0) goto block1(v1)
        block1(v2): goto block2(v2)
        block2(v3): switch v0
            False: return(v2)
            True: block3()
        block3(): v4 = add(v2, v3) goto return(v4)
        return(v5) except(v6, v7)",
        expect![[r#"
            graph f
            block0(v0):
                v1 = neg(v0)
                switch v0
                    False: return(v1)
                    True: block1(v1)
            block1(v2):
                v3 = add(v2, v2)
                goto return(v3)
            return(v4)
            except(v5, v6)
        "#]],
    );
}

#[test]
fn blocks_join() {
    check(
        join_blocks,
        "graph f
        block0(v0): goto block1(v0, True)
        block1(v1, v2): v3 = neg(v1) switch v2
            False: return(1)
            True: block2(v3)
        block2(v4): v5 = pos(v4) goto return(v5)
        return(v6) except(v7, v8)",
        expect![[r#"
            graph f
            block0(v0):
                v1 = neg(v0)
                v2 = pos(v1)
                goto return(v2)
            return(v3)
            except(v4, v5)
        "#]],
    );
}

#[test]
fn dead_operations_and_variables_go() {
    check(
        transform_dead_op_vars,
        "graph f
        block0(v0, v1): v2 = add(v0, v1) goto block1(v0, v2, v1)
        block1(v3, v4, v5): v6 = simple_call(v3) v7 = getitem(v3, v5) canraise
            ok: block1(v3, v4, v5)
            #E(v8, v9): return(0)
        return(v10) except(v11, v12)",
        expect![[r#"
            graph f
            block0(v0, v1):
                goto block1(v0, v1)
            block1(v2, v3):
                v4 = simple_call(v2)
                v5 = getitem(v2, v3)
                canraise
                    ok: block1(v2, v3)
                    #0000000000000007(v6, v7): return(0)
            return(v8)
            except(v9, v10)
        "#]],
    );
}

#[test]
fn identical_variables_become_one() {
    check(
        remove_identical_vars,
        "graph f
        block0(v0): goto block1(v0, v0, 3, 3, 1)
        block1(v1, v2, v3, v4, v5): v6 = add(v1, v5) v7 = add(v2, v3) v8 = lt(v6, v4) switch v8
            False: block1(v6, v6, v3, 4, v7)
            True: block2(v6, v7, v3)
        block2(v9, v10, v11): v12 = newtuple(v9, v10, v11) goto return(v12)
        return(v13) except(v14, v15)",
        expect![[r#"
            graph f
            block0(v0):
                goto block1(v0, 3, 1)
            block1(v1, v2, v3):
                v4 = add(v1, v3)
                v5 = add(v1, 3)
                v6 = lt(v4, v2)
                switch v6
                    False: block1(v4, 4, v5)
                    True: block2(v4, v5)
            block2(v7, v8):
                v9 = newtuple(v7, v8, 3)
                goto return(v9)
            return(v10)
            except(v11, v12)
        "#]],
    );
}

#[test]
fn ssa_becomes_ssi() {
    check(
        ssa_to_ssi,
        "graph f
        block0(v0): v1 = bool(v0) switch v1
            False: block1()
            True: block2()
        block1(): v2 = neg(v0) goto block3(v2)
        block2(): goto block3(v0)
        block3(v3): v4 = add(v3, v0) v5 = lt(v4, v1) switch v5
            False: block3(v4)
            True: return(v0)
        return(v6) except(v7, v8)",
        expect![[r#"
            graph f
            block0(v0):
                v1 = bool(v0)
                switch v1
                    False: block1(v0, v1)
                    True: block2(v0, v1)
            block1(v2, v3):
                v4 = neg(v2)
                goto block3(v4, v2, v3)
            block2(v5, v6):
                goto block3(v5, v5, v6)
            block3(v7, v8, v9):
                v10 = add(v7, v8)
                v11 = lt(v10, v9)
                switch v11
                    False: block3(v10, v8, v9)
                    True: return(v8)
            return(v12)
            except(v13, v14)
        "#]],
    );
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
