use expect_test::{Expect, expect};

use super::{Fixture, fixture};

fn shown(f: &Fixture, lines: Vec<String>, expected: Expect) {
    let _ = f;
    let mut text = lines.join("\n");
    text.push('\n');
    expected.assert_eq(&text);
}

fn definitions(text: &str, expected: Expect) {
    let f = fixture(text);
    let found = crate::definitions(&f.db, &f.workspace, f.position);
    let lines = found.into_iter().map(|s| f.show(s)).collect();
    shown(&f, lines, expected);
}

fn references(text: &str, expected: Expect) {
    let f = fixture(text);
    let found = crate::references(&f.db, &f.workspace, &f.others, f.position);
    let mark = |w: bool| if w { " (write)" } else { "" };
    let lines = found
        .into_iter()
        .map(|r| format!("{}{}", f.show(r.span), mark(r.write)))
        .collect();
    shown(&f, lines, expected);
}

/// A program of several modules: a hierarchy, imports of each kind, aliases.
pub(crate) const PROGRAM: &str = "
#- /shapes.py
class Shape(object):
    sides = 0
    def area(self):
        raise NotImplementedError
class Square(Shape):
    sides = 4
    def __init__(self, side):
        self.side = side
    def area(self):
        return self.side * self.side
class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius
    def area(self):
        return 3 * self.radius
class Other(object):
    def area(self):
        return 0
def make(kind, size):
    if kind:
        return Square(size)
    return Circle(size)
LIMIT = 10
#- /helper.py
from shapes import make as build, LIMIT
import shapes
def total(shapes_list):
    result = 0
    for shape in shapes_list:
        result += shape.area()
    if result > LIMIT:
        return shapes.LIMIT
    return result
def sample(n):
    return build(n > 1, size=n)
#- /main.py
import helper
from shapes import Other
def entry_point(argv):
    items = [helper.sample(len(argv)), helper.sample(2)]
    other = Other()
    return helper.total(items) + other.area()
";

fn at(wanted: &str, nth: usize) -> String {
    let (place, _) = PROGRAM.match_indices(wanted).nth(nth).unwrap();
    format!("{}$0{}", &PROGRAM[..place], &PROGRAM[place..])
}

#[test]
fn definitions_of_variables() {
    definitions(
        &at("result +=", 0),
        expect![[r#"
        /helper.py:4:5 result
    "#]],
    );
    definitions(
        &at("shapes_list:", 0),
        expect![[r#"
        /helper.py:3:11 shapes_list
    "#]],
    );
    definitions(
        &at("shape.area", 0),
        expect![[r#"
        /helper.py:5:9 shape
    "#]],
    );
    definitions(
        &at("LIMIT:", 0),
        expect![[r#"
        /shapes.py:23:1 LIMIT
    "#]],
    );
    definitions(
        &at("build(n", 0),
        expect![[r#"
        /shapes.py:19:5 make
    "#]],
    );
    definitions(
        &at("build, LIMIT", 0),
        expect![[r#"
        /shapes.py:19:5 make
    "#]],
    );
}

#[test]
fn definitions_through_modules_and_classes() {
    definitions(
        &at("shapes.LIMIT", 0),
        expect![[r#"
            /shapes.py:1:1 
        "#]],
    );
    definitions(
        &at("LIMIT\n    return", 0),
        expect![[r#"
        /shapes.py:23:1 LIMIT
    "#]],
    );
    definitions(
        &at("sample(len", 0),
        expect![[r#"
        /helper.py:10:5 sample
    "#]],
    );
    definitions(
        &at("Other()", 0),
        expect![[r#"
        /shapes.py:16:7 Other
    "#]],
    );
    // All that a call can reach.
    definitions(
        &at("area()\n    if", 0),
        expect![[r#"
        /shapes.py:3:9 area
        /shapes.py:9:9 area
        /shapes.py:14:9 area
    "#]],
    );
    definitions(
        &at("area()\n", 1),
        expect![[r#"
        /shapes.py:17:9 area
    "#]],
    );
    definitions(
        &at("radius\nclass Other", 0),
        expect![[r#"
        /shapes.py:13:14 radius
    "#]],
    );
    definitions(
        &at("Shape):", 0),
        expect![[r#"
        /shapes.py:1:7 Shape
    "#]],
    );
    definitions(
        &at("helper\n", 0),
        expect![[r#"
        /helper.py:1:1 
    "#]],
    );
    definitions(
        &at("size=n", 0),
        expect![[r#"
        /shapes.py:19:16 size
    "#]],
    );
}

#[test]
fn references_of_everything() {
    references(
        &at("result = 0", 0),
        expect![[r#"
        /helper.py:4:5 result (write)
        /helper.py:6:9 result (write)
        /helper.py:7:8 result
        /helper.py:9:12 result
    "#]],
    );
    references(
        &at("area(self)", 0),
        expect![[r#"
        /helper.py:6:25 area
        /shapes.py:3:9 area (write)
        /shapes.py:9:9 area (write)
        /shapes.py:14:9 area (write)
    "#]],
    );
    references(
        &at("area(self)", 3),
        expect![[r#"
        /main.py:6:40 area
        /shapes.py:17:9 area (write)
    "#]],
    );
    references(
        &at("side = side", 0),
        expect![[r#"
        /shapes.py:8:14 side (write)
        /shapes.py:10:21 side
        /shapes.py:10:33 side
    "#]],
    );
    references(
        &at("make(kind", 0),
        expect![[r#"
        /helper.py:1:20 make
        /helper.py:1:28 build (write)
        /helper.py:11:12 build
        /shapes.py:19:5 make (write)
    "#]],
    );
    references(
        &at("LIMIT = ", 0),
        expect![[r#"
        /helper.py:1:35 LIMIT (write)
        /helper.py:7:17 LIMIT
        /helper.py:8:23 LIMIT
        /shapes.py:23:1 LIMIT (write)
    "#]],
    );
    references(
        &at("size):", 0),
        expect![[r#"
            /helper.py:11:25 size
            /shapes.py:19:16 size (write)
            /shapes.py:21:23 size
            /shapes.py:22:19 size
        "#]],
    );
    references(
        &at("shapes\n", 0),
        expect![[r#"
            /helper.py:1:6 shapes
            /helper.py:2:8 shapes
            /helper.py:8:16 shapes
        "#]],
    );
}

#[test]
fn highlights_stay_in_the_file() {
    let f = fixture(&at("LIMIT\n    return", 0));
    let found = crate::highlights(&f.db, &f.workspace, f.position);
    let lines = found.iter().map(|r| f.show(r.span)).collect();
    shown(
        &f,
        lines,
        expect![[r#"
        /helper.py:1:35 LIMIT
        /helper.py:7:17 LIMIT
        /helper.py:8:23 LIMIT
    "#]],
    );
}

#[test]
fn references_in_all_programs() {
    references(
        "
        #- /lib.py
        def bu$0ild(n): return n
        #- /main.py
        from lib import build as make
        def entry_point(argv): return make(1)
        #- /second.py
        import lib
        def entry_point(argv): return lib.build(2)
        #- /third.py
        from main import make
        from main import make as again
        def entry_point(argv): return make(3) + again(4)
        #- /test_lib.py
        from lib import *
        def test_build(): assert build(5) == 5
        #- /tool.py
        import not_there
        from lib import build
        print build(6)
        ",
        expect![[r#"
            /lib.py:1:5 build (write)
            /main.py:1:17 build
            /main.py:1:26 make (write)
            /main.py:2:31 make
            /second.py:2:35 build
            /test_lib.py:2:26 build
            /third.py:1:18 make (write)
            /third.py:2:18 make
            /third.py:2:26 again (write)
            /third.py:3:31 make
            /third.py:3:41 again
            /tool.py:2:17 build (write)
            /tool.py:3:7 build
        "#]],
    );
    // Of several things that one place stands for, those of all.
    references(
        "
        class A(object):
            def get(self): return 1
        class B(object):
            def get(self): return 2
        class C(object):
            def get(self): return 3
        def f(x): return x.ge$0t()
        f._annspecialcase_ = 'specialize:argtype(0)'
        def entry_point(argv): return f(A()) + f(B()) + A().get() + C().get()
        ",
        expect![[r#"
            /main.py:2:9 get (write)
            /main.py:4:9 get (write)
            /main.py:7:20 get
            /main.py:9:53 get
        "#]],
    );
}
