use expect_test::expect;

use super::*;
use crate::{HighLevel, ObjId, verify};

fn names() -> HlNames {
    let mut names = HlNames::default();
    names.insert(ObjId(7), "exceptions.IndexError");
    names.insert(ObjId(8), "m.f.<locals>.g");
    names
}

fn roundtrip(text: &str) {
    let mut graph = parse_graph::<HighLevel>(text, names()).expect("parses");
    assert_eq!(verify(&graph), Ok(()));
    assert_eq!(print_graph(&graph, names()), text);
    let before = graph.clone();
    graph.compact();
    assert_eq!(graph, before);
}

#[test]
fn canonical_text_is_kept() {
    roundtrip(
        "\
graph f
block0(x_0, n_1):
    v2 = getitem(x_0, n_1) @4
    canraise
        ok: block1(v2)
        #exceptions.IndexError(etype_3, evalue_4): except(etype_3, evalue_4)
        #0000000000000009(_, _): return(None)
block1(v5):
    v6 = bool(v5) @6
    switch v6
        False: return(0)
        True: block2(v5)
block2(.w_7):
    v8 = call_args(#m.f.<locals>.g, shape(2, key=, *), .w_7, -5, 'a\\'b\\n\\x00', (1, 2), (3,)) @7
    v9 = newtuple(1.5, 5u32, -3i8, 123456789012345678901234567890L, u'\\u{e9}x', True, None) @8
    switch v9
        1: return(inf)
        u'a': return(1e100)
        default: return(v9)
return(v10)
except(etype_11, evalue_12)
",
    );
}

#[test]
fn free_form() {
    let text = "
        graph f ; a comment
        block_start(x, y): v = add(x, y) goto done(v)
        return(r) except(t, u)";
    let error = parse_graph::<HighLevel>(text, names()).unwrap_err();
    expect!["line 4: done is not defined"].assert_eq(&error.to_string());
    let text = text.replace("done", "return");
    let graph = parse_graph::<HighLevel>(&text, names()).expect("parses");
    expect![[r#"
        graph f
        block0(x_0, y_1):
            v_2 = add(x_0, y_1)
            goto return(v_2)
        return(r_3)
        except(t_4, u_5)
    "#]]
    .assert_eq(&print_graph(&graph, names()));
}

#[test]
fn errors_have_lines() {
    let check = |text: &str| {
        parse_graph::<HighLevel>(text, names())
            .unwrap_err()
            .to_string()
    };
    expect!["line 2: v1 is not defined"].assert_eq(&check("graph f\nblock0(v0): goto return(v1)"));
    expect!["line 2: no operation `frob`"].assert_eq(&check("graph f\nblock0(v0): v1 = frob(v0)"));
    expect!["line 3: no object is called `nothing`"]
        .assert_eq(&check("graph f\nblock0():\ngoto return(#nothing)"));
    expect!["line 2: no except block"]
        .assert_eq(&check("graph f\nblock0(): goto return(1) return(v1)"));
}

#[test]
fn the_verifier_finds() {
    let check = |text: &str| {
        let graph = parse_graph::<HighLevel>(text, names()).expect("parses");
        verify(&graph).map_or_else(|e| e.to_string(), |()| "nothing".into())
    };
    expect![[r#"
        block0: 2 arguments for 1 input arguments of block1
        block1: v0 is not defined in this block
        block1: exit 0 does not fit a switch on a value
        block1: two exits with the same case"#]]
    .assert_eq(&check(
        "graph f
        block0(v0): goto block1(v0, v0)
        block1(v1): switch v0
            default: return(v1)
            default: return(v1)
        return(v2) except(v3, v4)",
    ));
    expect![[r#"
        block0: v1 is not defined in this block
        block1: no exits"#]]
    .assert_eq(&check(
        "graph f
        block0(v0): v1 = next(v0) canraise
            ok: return(v1)
            #exceptions.IndexError(v2, v3): return(v1)
            #exceptions.IndexError(v4, v5): block1()
        block1(): stop
        return(v6) except(v7, v8)",
    ));
}
