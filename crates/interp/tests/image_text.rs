//! From source to image: what is there of a module after import time, as text.
//!
//! An object is written out where it comes first, and called by the way to it after that.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::{Expect, expect};
use taipan_base::Program;
use taipan_graph::{Const, ObjId};
use taipan_interp::{
    ClassData, Name, ObjData, Object, image_diagnostics, module_global, names_of, object,
    target_module,
};
use taipan_testkit::TestDb;

/// Names of attributes that every module and class has.
const USUAL: [&str; 6] = [
    "__builtins__",
    "__doc__",
    "__file__",
    "__module__",
    "__name__",
    "__package__",
];

#[track_caller]
fn check(source: &str, expected: Expect) {
    let db = TestDb::with_fixture(source);
    let program = db.program();
    let wrong = image_diagnostics(&db, program);
    assert!(wrong.is_empty(), "{}", wrong[0].message);
    let module = target_module(&db, program).expect("a module");
    let mut text = Text {
        db: &db,
        program,
        known: BTreeMap::from([(module, "main".to_owned())]),
    };
    let mut out = String::new();
    for name in names_of(&db, Object::new(&db, program, module)).iter() {
        if USUAL.contains(&&**name) {
            continue;
        }
        let value = module_global(&db, Name::new(&db, program, module, &**name)).clone();
        let value = value.expect("a global");
        writeln!(out, "{name} = {}", text.value(&value, name)).unwrap();
    }
    expected.assert_eq(&out);
}

struct Text<'a> {
    db: &'a TestDb,
    program: Program,
    /// The way to each object that was written out.
    known: BTreeMap<ObjId, String>,
}

impl Text<'_> {
    fn value(&mut self, c: &Const, path: &str) -> String {
        match c {
            Const::Obj(id) => self.object(*id, path),
            Const::Tuple(items) => {
                let items: Vec<String> = (items.iter().enumerate())
                    .map(|(i, c)| self.value(c, &format!("{path}[{i}]")))
                    .collect();
                format!("({})", items.join(", "))
            }
            other => other.to_string(),
        }
    }

    fn object(&mut self, id: ObjId, path: &str) -> String {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        self.known.insert(id, path.to_owned());
        let found = object(self.db, Object::new(self.db, self.program, id)).clone();
        match &*found.expect("an object of the image") {
            ObjData::Module { name } => format!("module {name}"),
            ObjData::Class(c) => self.class(c, path),
            ObjData::Function(f) => {
                let mut out = format!("function {}.{}", f.module, f.name);
                let mut part = |kind: &str, text: String| write!(out, " {kind} {text}").unwrap();
                for (i, c) in f.defaults.iter().enumerate() {
                    part("default", self.value(c, &format!("{path}.default{i}")));
                }
                for (i, c) in f.closure.iter().flatten().enumerate() {
                    part("cell", self.value(c, &format!("{path}.cell{i}")));
                }
                for (name, c) in f.attrs.iter() {
                    let text = self.value(c, &format!("{path}.{name}"));
                    part("with", format!("{name} = {text}"));
                }
                out
            }
            ObjData::Instance(data) => {
                let class = self.class_name(data.class);
                let attrs = self.attributes(data.attrs.iter(), path);
                let value: Vec<String> = (data.value.iter().enumerate())
                    .map(|(i, c)| self.value(c, &format!("{path}.value{i}")))
                    .collect();
                format!("{class}({}){attrs}", value.join(", "))
            }
            ObjData::List(items) => {
                let items: Vec<String> = (items.iter().enumerate())
                    .map(|(i, c)| self.value(c, &format!("{path}[{i}]")))
                    .collect();
                format!("[{}]", items.join(", "))
            }
            ObjData::Dict(items) => {
                let items: Vec<String> = (items.iter())
                    .map(|(k, v)| {
                        let key = self.value(k, &format!("{path}.key"));
                        let at = format!("{path}[{key}]");
                        format!("{key}: {}", self.value(v, &at))
                    })
                    .collect();
                format!("{{{}}}", items.join(", "))
            }
            ObjData::Method {
                im_self, im_func, ..
            } => {
                let of = match im_self {
                    Some(c) => self.value(c, &format!("{path}.im_self")),
                    None => "nothing".to_owned(),
                };
                let function = self.value(im_func, &format!("{path}.im_func"));
                format!("method of {of}: {function}")
            }
            ObjData::StaticMethod(c) => format!("staticmethod {}", self.value(c, path)),
            ObjData::ClassMethod(c) => format!("classmethod {}", self.value(c, path)),
            ObjData::Property { fget, fset, .. } => {
                let fget = self.value(fget, &format!("{path}.fget"));
                let fset = self.value(fset, &format!("{path}.fset"));
                format!("property {fget}, {fset}")
            }
            ObjData::Builtin { name, .. } => format!("builtin {name}"),
            other => format!("{other:?}"),
        }
    }

    fn class(&mut self, c: &ClassData, path: &str) -> String {
        if c.builtin {
            return format!("class {}.{}", c.module, c.name);
        }
        let bases: Vec<String> = c.bases.iter().map(|b| self.class_name(*b)).collect();
        let own = self.attributes(c.dict.iter(), path);
        let mixed_in = match c.mixed_in.is_empty() {
            true => String::new(),
            false => format!(" mixed in{}", self.attributes(c.mixed_in.iter(), path)),
        };
        format!("class {}({}){own}{mixed_in}", c.name, bases.join(", "))
    }

    fn class_name(&self, id: ObjId) -> String {
        let found = object(self.db, Object::new(self.db, self.program, id)).clone();
        match found.as_deref() {
            Some(ObjData::Class(c)) => c.name.to_string(),
            other => format!("{other:?}"),
        }
    }

    fn attributes<'a>(
        &mut self,
        attrs: impl Iterator<Item = &'a (Box<str>, Const)>,
        path: &str,
    ) -> String {
        let own: Vec<String> = attrs
            .filter(|(name, _)| !USUAL.contains(&&**name))
            .map(|(name, c)| format!("{name} = {}", self.value(c, &format!("{path}.{name}"))))
            .collect();
        match own.is_empty() {
            true => String::new(),
            false => format!(" {{ {} }}", own.join("; ")),
        }
    }
}

#[test]
fn constants() {
    check(
        "
        n = 6 * 7
        big = 1 << 65
        x = 1.5 / 2
        text = 'ab' * 2 + '\\n'
        wide = u'\\xe9'
        pair = (n, text[0], None)
        flag = not n
        del x
        ",
        expect![[r#"
            big = 36893488147419103232L
            flag = False
            n = 42
            pair = (42, 'a', None)
            text = 'abab\n'
            wide = u'\u{e9}'
        "#]],
    );
}

#[test]
fn containers_share_what_they_share() {
    check(
        "
        shared = [1, 2]
        table = {'a': shared, 'b': {'c': shared}}
        nested = [shared, [shared]]
        cyclic = []
        cyclic.append(cyclic)
        ",
        expect![[r#"
            cyclic = [cyclic]
            nested = [[1, 2], [nested[0]]]
            shared = nested[0]
            table = {'a': nested[0], 'b': {'c': nested[0]}}
        "#]],
    );
}

#[test]
fn classes_and_what_becomes_of_their_bodies() {
    check(
        "
        class Base(object):
            kind = 'base'
            def name(self, suffix='!'): return self.kind + suffix
        class Left(Base):
            kind = 'left'
            names = [kind, Base.kind]
            @staticmethod
            def make(): return Left()
            @classmethod
            def called(cls): return cls.kind
            @property
            def size(self): return len(self.names)
        for letter in 'xy':
            setattr(Left, letter, ord(letter))
        ",
        expect![[r#"
            Base = class Base(object) { kind = 'base'; name = function main.name default '!' }
            Left = class Left(Base) { kind = 'left'; names = ['left', 'base']; make = staticmethod function main.make; called = classmethod function main.called; size = property function main.size, None; x = 120; y = 121 }
            letter = 'y'
        "#]],
    );
}

#[test]
fn instances_of_classes_with_constructors() {
    check(
        "
        class Node(object):
            def __init__(self, value, next):
                self.value = value
                self.next = next
        tail = Node(2, None)
        head = Node(1, tail)
        tail.next = head
        bound = head.__init__
        ",
        expect![[r#"
            Node = class Node(object) { __init__ = function main.__init__ }
            bound = method of Node() { value = 1; next = Node() { value = 2; next = bound.im_self } }: Node.__init__
            head = bound.im_self
            tail = bound.im_self.next
        "#]],
    );
}

#[test]
fn functions_with_defaults_cells_and_attributes() {
    check(
        "
        def counter(start, step=[]):
            count = start
            def next(n=start): return count + n
            next.unit = step
            return next
        def twice(f):
            f.times = 2
            return f
        first = counter(1)
        second = counter(2, [3])
        @twice
        def third(): pass
        ",
        expect![[r#"
            counter = function main.counter default []
            first = function main.next default 1 cell 1 with unit = counter.default0
            second = function main.next default 2 cell 2 with unit = [3]
            third = function main.third with times = 2
            twice = function main.twice
        "#]],
    );
}

#[test]
fn metaclasses_and_mixins() {
    check(
        "
        from rpython.rlib.objectmodel import import_from_mixin
        class Meta(type):
            def __new__(cls, name, bases, dict):
                dict['made_by'] = name.lower()
                return type.__new__(cls, name, bases, dict)
        class A(object):
            __metaclass__ = Meta
        class Mixin(object):
            _mixin_ = True
            def shared(self): return self.x
        class B(A, Mixin):
            x = 1
        class C(object):
            import_from_mixin(Mixin)
            x = 2
        ",
        expect![[r#"
            A = class A(object) { __metaclass__ = class Meta(type) { __new__ = staticmethod function main.__new__ }; made_by = 'a' }
            B = class B(A, Mixin) { x = 1; made_by = 'b' } mixed in { _mixin_ = True; shared = function main.shared }
            C = class C(object) { _mixin_ = True; shared = function main.shared with __module__ = 'main'; x = 2 }
            Meta = A.__metaclass__
            Mixin = class Mixin(object) { _mixin_ = True; shared = function main.shared }
            import_from_mixin = function rpython.rlib.objectmodel.import_from_mixin default ['__init__', '__del__']
        "#]],
    );
}

#[test]
fn code_that_runs_while_it_is_imported() {
    check(
        "
        def primes(n):
            for i in range(2, n):
                for j in range(2, i):
                    if i % j == 0:
                        break
                else:
                    yield i
        found = list(primes(12))
        squares = [i * i for i in found if i > 3]
        by_name = dict((str(i), i) for i in found[:2])
        try:
            found[99]
        except IndexError as e:
            caught = e.args
        finally:
            after = True
        with_exec = {}
        exec 'y = 1 + 1' in with_exec
        y = with_exec['y']
        del with_exec, i
        ",
        expect![[r#"
            after = True
            by_name = {'2': 2, '3': 3}
            caught = ('list index out of range')
            e = IndexError()
            found = [2, 3, 5, 7, 11]
            primes = function main.primes
            squares = [25, 49, 121]
            y = 2
        "#]],
    );
}

#[test]
fn modules_see_each_other() {
    check(
        "
        #- /main.py
        import pack.inner
        from pack import shared, make
        from pack.inner import made as alias
        pack.inner.made.append(2)
        mine = make()
        #- /pack/__init__.py
        shared = {}
        def make(): return shared
        #- /pack/inner.py
        from pack import shared
        made = [1]
        shared['made'] = made
        ",
        expect![[r#"
            alias = [1, 2]
            make = function pack.make
            mine = {'made': alias}
            pack = module pack
            shared = mine
        "#]],
    );
}
