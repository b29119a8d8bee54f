use std::fmt::Write as _;

use expect_test::{Expect, expect};
use taipan_base::TextRange;

use super::fixture;
use super::navigation::PROGRAM;

#[test]
fn document_symbols_nest() {
    let f = fixture(
        "
        import os$0
        X = Y = 1
        X = 2
        class A(object):
            attr = 3
            def method(self):
                def inner():
                    pass
                local = 4
            class B:
                pass
        def f():
            pass
        ",
    );
    let mut out = String::new();
    fn show(out: &mut String, symbols: &[crate::DocumentSymbol], depth: usize) {
        for s in symbols {
            let _ = writeln!(out, "{}{:?} {}", "  ".repeat(depth), s.kind, s.name);
            show(out, &s.children, depth + 1);
        }
    }
    show(&mut out, &crate::document_symbols(&f.db, f.file()), 0);
    expect![[r#"
        Variable X
        Variable Y
        Class A
          Variable attr
          Method method
            Function inner
          Class B
        Function f
    "#]]
    .assert_eq(&out);
}

#[test]
fn workspace_symbols_by_letters() {
    let f = fixture(PROGRAM);
    let find = |query: &str, expected: Expect| {
        let found = crate::workspace_symbols(&f.db, &f.workspace, &f.others.files, query);
        let lines: Vec<String> = found
            .iter()
            .map(|s| format!("{:?} {} in {:?}", s.kind, f.show(s.span), s.container))
            .collect();
        expected.assert_eq(&lines.join("\n"));
    };
    find(
        "area",
        expect![[r#"
        Method /shapes.py:3:9 area in Some("Shape")
        Method /shapes.py:9:9 area in Some("Square")
        Method /shapes.py:14:9 area in Some("Circle")
        Method /shapes.py:17:9 area in Some("Other")"#]],
    );
    find("sq", expect!["Class /shapes.py:5:7 Square in None"]);
    find("LIMIT", expect!["Variable /shapes.py:23:1 LIMIT in None"]);
    find("nothing", expect![]);
}

#[test]
fn workspace_symbols_best_first() {
    let f = fixture(
        "
        def set_value(): pass
        def get_value_of_set(): pass
        def reset(): pass
        def Set(): pass
        class SomeEarlyThing(object): pass
        def some_other_end_of_this(): pass
        def shortest(): pass
        def set(): pass
        def entry_point(argv): return 0
        #- /tests/helper.py
        # No program has it.
        def set_up(): pass
        ",
    );
    let find = |query: &str| -> String {
        let found =
            crate::workspace_symbols(&f.db, &f.workspace, &f.others.files, query).into_iter();
        found.map(|s| s.name).collect::<Vec<_>>().join(" ")
    };
    expect!["set set_up set_value Set get_value_of_set SomeEarlyThing some_other_end_of_this reset shortest"].assert_eq(&find("set"));
    expect!["Set set set_up set_value get_value_of_set SomeEarlyThing some_other_end_of_this reset shortest"].assert_eq(&find("SET"));
    expect!["SomeEarlyThing some_other_end_of_this"].assert_eq(&find("SeTh"));
    expect!["get_value_of_set"].assert_eq(&find("gvs"));
}

#[test]
fn folds_and_selections() {
    let f = fixture(
        "
        import a
        import b
        def f(x):
            if x:
                return [
                    $0x,
                ]
        ",
    );
    let text = f.file().text(&f.db);
    let piece = |r: TextRange| text[r.start as usize..r.end as usize].replace('\n', "|");
    let folds: Vec<String> = crate::folds(&f.db, f.file())
        .iter()
        .map(|x| piece(x.range))
        .collect();
    expect![[r#"
        import a|import b
        def f(x):|    if x:|        return [|            x,|        ]
        if x:|        return [|            x,|        ]
        [|            x,|        ]"#]]
    .assert_eq(&folds.join("\n"));
    let all: Vec<String> = crate::selections(&f.db, f.file(), f.position.offset)
        .into_iter()
        .map(piece)
        .collect();
    expect![[r#"
        x
        [|            x,|        ]
        return [|            x,|        ]
        if x:|        return [|            x,|        ]
        def f(x):|    if x:|        return [|            x,|        ]
        import a|import b|def f(x):|    if x:|        return [|            x,|        ]|"#]]
    .assert_eq(&all.join("\n"));
}

#[test]
fn hints() {
    let f = fixture(PROGRAM);
    for path in ["/shapes.py", "/helper.py", "/main.py"] {
        let file = taipan_base::Db::files(&f.db).get(&f.db, path.into());
        let mut text = file.text(&f.db).to_owned();
        let all = TextRange::new(0, text.len() as u32);
        let hints = crate::inlay_hints(&f.db, &f.workspace, file, all);
        for h in hints.iter().rev() {
            text.insert_str(h.offset as usize, &format!("«{}»", h.text));
        }
        match path {
            "/shapes.py" => expect![[r#"
                class Shape(object):
                    sides = 0
                    def area(self)« -> int>=0»:
                        raise NotImplementedError
                class Square(Shape):
                    sides = 4
                    def __init__(self, side«: int>=0»):
                        self.side«: int>=0» = side
                    def area(self)« -> int>=0»:
                        return self.side * self.side
                class Circle(Shape):
                    def __init__(self, radius«: int>=0»):
                        self.radius«: int>=0» = radius
                    def area(self)« -> int>=0»:
                        return 3 * self.radius
                class Other(object):
                    def area(self)« -> int>=0»:
                        return 0
                def make(kind«: bool», size«: int>=0»)« -> Shape»:
                    if kind:
                        return Square(size)
                    return Circle(size)
                LIMIT = 10
            "#]]
            .assert_eq(&text),
            "/helper.py" => expect![[r#"
                from shapes import make as build, LIMIT
                import shapes
                def total(shapes_list«: [Shape]»)« -> int>=0»:
                    result = 0
                    for shape in shapes_list:
                        result += shape.area()
                    if result > LIMIT:
                        return shapes.LIMIT
                    return result
                def sample(n«: int>=0»)« -> Shape»:
                    return build(n > 1, size=n)
            "#]]
            .assert_eq(&text),
            _ => expect![[r#"
                import helper
                from shapes import Other
                def entry_point(argv«: [str]»)« -> int>=0»:
                    items = [helper.sample(len(argv)), helper.sample(2)]
                    other = Other()
                    return helper.total(items) + other.area()
            "#]]
            .assert_eq(&text),
        }
    }
}

#[test]
fn tokens() {
    let f = fixture(PROGRAM);
    let file = taipan_base::Db::files(&f.db).get(&f.db, "/helper.py".into());
    let text = file.text(&f.db);
    let all = TextRange::new(0, text.len() as u32);
    let mut out = String::new();
    for t in crate::semantic_tokens(&f.db, &f.workspace, file, all) {
        let name = &text[t.range.start as usize..t.range.end as usize];
        let flags = [
            (t.declaration, " declaration"),
            (t.constant, " constant"),
            (t.builtin, " builtin"),
        ];
        let flags: String = flags.iter().filter(|f| f.0).map(|f| f.1).collect();
        let _ = writeln!(out, "{name}: {:?}{flags}", t.kind);
    }
    expect![[r#"
        shapes: Namespace
        make: Function constant
        build: Function constant
        LIMIT: Variable constant
        shapes: Namespace
        total: Function declaration
        shapes_list: Parameter declaration
        result: Variable
        shape: Variable
        shapes_list: Parameter
        result: Variable
        shape: Variable
        area: Method
        result: Variable
        LIMIT: Variable constant
        shapes: Namespace constant
        LIMIT: Property constant
        result: Variable
        sample: Function declaration
        n: Parameter declaration
        build: Function constant
        n: Parameter
        size: Parameter
        n: Parameter
    "#]]
    .assert_eq(&out);
}
