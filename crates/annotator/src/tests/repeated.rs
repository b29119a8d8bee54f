//! Mistakes that differ only in their places: each is reported.

use expect_test::expect;

use super::origins::check;

/// Which class it is decides, not its name.
#[test]
fn classes_of_one_name() {
    check(
        "
        #- /one.py
        class A(dict):
            pass
        #- /two.py
        class A(dict):
            pass
        #- /main.py
        import one, two
        def f():
            one.A()
            two.A()
            one.A()
        ",
        expect![[r#"
            error[TP0312]: class A derives from the builtin type `dict`, so RPython has no instances of it
             --> /main.py:3:5
              |
            3 |     one.A()
              |     ^^^^^^^
              |
              = help: derive from `object`, and keep the `dict` in an attribute

            error[TP0312]: class A derives from the builtin type `dict`, so RPython has no instances of it
             --> /main.py:4:5
              |
            4 |     two.A()
              |     ^^^^^^^
              |
              = help: derive from `object`, and keep the `dict` in an attribute"#]],
    );
}

/// Two functions that one function makes have the same name.
#[test]
fn functions_of_one_name() {
    check(
        "
        def make(first):
            if first:
                def g(x):
                    return 1
            else:
                def g(x):
                    return 2
            return g
        one = make(True)
        two = make(False)
        def f():
            one(1)
            one('a')
            two(2)
            two('b')
        ",
        expect![[r#"
            error[TP0300]: argument x of g() mixes an int and a str
              --> /main.py:13:5
               |
            12 |     one(1)
               |     ------ an int comes from here
            13 |     one('a')
               |     ^^^^^^^^ a str comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: argument x of g() mixes an int and a str
              --> /main.py:15:5
               |
            14 |     two(2)
               |     ------ an int comes from here
            15 |     two('b')
               |     ^^^^^^^^ a str comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}
