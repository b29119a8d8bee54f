//! Lists that loops build.

use expect_test::expect;

use super::check;

#[test]
fn a_list_is_complete_after_the_loop_that_builds_it() {
    check(
        "
#- /main.py
def f(n):
    l = []
    for x in range(n):
        if x == 3:
            continue
        l.append(x)
    return l
",
        expect![[r#"
            graph f
            block0(n_0):
                l_1 = newlist()
                v2 = simple_call(#__builtin__.range, n_0) @4
                v3 = iter(v2) @5
                goto block1(v3, l_1)
            block1(v4, l_5):
                x_6 = next(v4) @6
                canraise
                    ok: block2(v4, l_5, x_6)
                    #exceptions.StopIteration(last_exception_7, last_exc_value_8): block4(l_5)
            block2(v9, l_10, x_11):
                v12 = eq(x_11, 3) @10
                v13 = bool(v12) @11
                switch v13
                    False: block3(v9, l_10, x_11)
                    True: block1(v9, l_10)
            block3(v14, l_15, x_16):
                v17 = getattr(l_15, 'append') @14
                v18 = simple_call(v17, x_16) @16
                goto block1(v14, l_15)
            block4(l_19):
                l_20 = hint(l_19, 'fence') @6
                goto return(l_20)
            return(v21)
            except(etype_22, evalue_23)
        "#]],
    );
}

#[test]
fn a_loop_may_be_left_early() {
    check(
        "
#- /main.py
def f(items, stop):
    l = []
    for x in items:
        if x == stop:
            break
        l.append(x)
    return l
",
        expect![[r#"
            graph f
            block0(items_0, stop_1):
                l_2 = newlist()
                v3 = iter(items_0) @3
                goto block1(v3, l_2, stop_1)
            block1(v4, l_5, stop_6):
                x_7 = next(v4) @4
                canraise
                    ok: block2(v4, l_5, x_7, stop_6)
                    #exceptions.StopIteration(last_exception_8, last_exc_value_9): block5(l_5)
            block2(v10, l_11, x_12, stop_13):
                v14 = eq(x_12, stop_13) @8
                v15 = bool(v14) @9
                switch v15
                    False: block3(v10, l_11, stop_13, x_12)
                    True: block4(l_11)
            block3(v16, l_17, stop_18, x_19):
                v20 = getattr(l_17, 'append') @13
                v21 = simple_call(v20, x_19) @15
                goto block1(v16, l_17, stop_18)
            block4(l_22):
                l_23 = hint(l_22, 'fence') @4
                goto return(l_23)
            block5(l_24):
                l_25 = hint(l_24, 'fence') @4
                goto return(l_25)
            return(v26)
            except(etype_27, evalue_28)
        "#]],
    );
}

/// Here the list is still under construction, or known elsewhere.
#[test]
fn what_a_loop_does_not_build_alone_is_left_as_it_is() {
    for body in [
        // Twice per round.
        "
    for x in items:
        l.append(x)
        l.append(x)
    return l",
        // Before.
        "
    l.append(1)
    for x in items:
        l.append(x)
    return l",
        // Looked at meanwhile.
        "
    for x in items:
        l.append(len(l))
    return l",
        "
    for x in items:
        l.append(x)
        l.pop()
    return l",
        // In a loop inside.
        "
    for x in items:
        for y in x:
            l.append(y)
    return l",
        // Without an iterator.
        "
    while items:
        l.append(items)
    return l",
        // The method is kept.
        "
    append = l.append
    for x in items:
        append(x)
    return l",
    ] {
        let db = taipan_testkit::TestDb::with_fixture(&format!(
            "#- /main.py\ndef f(items):\n    l = []{body}\n"
        ));
        let text = super::text(&db, super::function(&db, db.program(), "f"));
        assert!(!text.contains("fence"), "{body}\n{text}");
    }
}
