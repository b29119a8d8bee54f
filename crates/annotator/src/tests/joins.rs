//! Values that do not go together inside of a function: both places are shown, and they are
//! those of the values, not of what decides between the ways.

use expect_test::expect;

use super::origins::check;

#[test]
fn results() {
    check(
        "
        def two(flag):
            if flag:
                return 1
            return 'x'
        def either(flag):
            return [1, 2] if flag else {}
        def end(flag):
            if flag:
                return 1
        def bare(flag):
            if flag:
                return
            return 5
        def handled(s):
            try:
                n = int(s)
            except ValueError:
                n = s
            return n
        def f():
            import os
            flag = len(os.getcwd()) > 3
            two(flag)
            either(flag)
            end(flag)
            bare(flag)
            handled(os.getcwd())
        ",
        expect![[r#"
            error[TP0300]: the result of two() mixes an int and a str
             --> /main.py:4:12
              |
            3 |         return 1
              |                - an int is returned here
            4 |     return 'x'
              |            ^^^ a str is returned here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: the result of either() mixes a list and a dict
             --> /main.py:6:32
              |
            6 |     return [1, 2] if flag else {}
              |            ------              ^^ a dict is returned here
              |            |
              |            a list is returned here

            error[TP0300]: the result of end() mixes None and an int
             --> /main.py:9:16
              |
            7 | def end(flag):
              |     --- None is returned where the function ends
            8 |     if flag:
            9 |         return 1
              |                ^ an int is returned here
              |
              = help: only strings, lists, dicts, instances and the like may be None; use a special value instead

            error[TP0300]: the result of bare() mixes None and an int
              --> /main.py:13:12
               |
            12 |         return
               |         ------ None is returned here
            13 |     return 5
               |            ^ an int is returned here
               |
               = help: only strings, lists, dicts, instances and the like may be None; use a special value instead

            error[TP0300]: the result of handled() mixes an int and a str
              --> /main.py:18:13
               |
            16 |         n = int(s)
               |             ------ an int is returned here
            17 |     except ValueError:
            18 |         n = s
               |             ^ a str is returned here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}

#[test]
fn variables() {
    check(
        "
        def branch(flag):
            if flag:
                x = 1
                y = 2
            else:
                y = 3
                x = 'a'
            print y
            print x
        def either(flag):
            x = 1 if flag else u'a'
            print x
        def both(flag):
            y = flag and 'a'
            print y
        def loop(n):
            x = 'a'
            while n > 0:
                n -= 1
                x = n
            print x
        def last(n):
            x = None
            for i in range(n):
                x = i
            return x
        def two(n):
            if n == 1:
                x = 1
                y = 'a'
            elif n == 2:
                x = 2
                y = 'b'
            else:
                x = None
                y = 1
            print x
            print y
        def f():
            import os
            n = len(os.getcwd())
            branch(n > 3)
            either(n > 3)
            both(n > 3)
            loop(n)
            last(n)
            two(n)
        ",
        expect![[r#"
            error[TP0300]: variable x mixes an int and a str
             --> /main.py:7:13
              |
            3 |         x = 1
              |             - an int comes from here
            ...
            7 |         x = 'a'
              |             ^^^ a str comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: variable x mixes an int and a unicode
              --> /main.py:11:24
               |
            11 |     x = 1 if flag else u'a'
               |         -              ^^^^ a unicode comes from here
               |         |
               |         an int comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: variable y mixes a bool and a str
              --> /main.py:14:18
               |
            14 |     y = flag and 'a'
               |         ----     ^^^ a str comes from here
               |         |
               |         a bool comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: variable x mixes a str and an int
              --> /main.py:20:13
               |
            17 |     x = 'a'
               |         --- a str comes from here
            ...
            20 |         x = n
               |             ^ an int comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: variable x mixes None and an int
              --> /main.py:25:13
               |
            23 |     x = None
               |         ---- None comes from here
            24 |     for i in range(n):
            25 |         x = i
               |             ^ an int comes from here
               |
               = help: only strings, lists, dicts, instances and the like may be None; use a special value instead

            error[TP0300]: variable x mixes an int and None
              --> /main.py:35:13
               |
            29 |         x = 1
               |             - an int comes from here
            ...
            35 |         x = None
               |             ^^^^ None comes from here
               |
               = help: only strings, lists, dicts, instances and the like may be None; use a special value instead

            error[TP0300]: variable y mixes a str and an int
              --> /main.py:36:13
               |
            30 |         y = 'a'
               |             --- a str comes from here
            ...
            36 |         y = 1
               |             ^ an int comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}

#[test]
fn items_of_displays() {
    check(
        "
        def g(n, words):
            a = [1, 'two', n]
            b = {'x': n, 'y': words, 3: 4}
            c = [n]
            c.append('x')
            return len(a) + len(b) + len(c)
        def f():
            import os
            return g(len(os.getcwd()), [os.getcwd()])
        ",
        expect![[r#"
            error[TP0300]: a list mixes an int and a str
             --> /main.py:2:13
              |
            2 |     a = [1, 'two', n]
              |          -  ^^^^^ a str comes from here
              |          |
              |          an int comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: the set of values of a dict mixes an int and a list
             --> /main.py:3:23
              |
            3 |     b = {'x': n, 'y': words, 3: 4}
              |               -       ^^^^^ a list comes from here
              |               |
              |               an int comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: the set of keys of a dict mixes a str and an int
             --> /main.py:3:30
              |
            3 |     b = {'x': n, 'y': words, 3: 4}
              |          ---                 ^ an int comes from here
              |          |
              |          a str comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: a list mixes an int and a str
             --> /main.py:5:5
              |
            4 |     c = [n]
              |          - an int comes from here
            5 |     c.append('x')
              |     ^^^^^^^^^^^^^ a str comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}

#[test]
fn results_of_one_call() {
    check(
        "
        class A(object):
            def m(self):
                return 1
        class B(A):
            def m(self):
                return 'one'
        def number():
            return 1
        def text():
            return 'one'
        def other():
            return 2
        def f():
            import os
            n = len(os.getcwd())
            print [number, text][n]()
            a = A() if n > 3 else B()
            print a.m()
            # Nothing is wrong with this.
            print [number, other][n]()
        ",
        expect![[r#"
            error[TP0300]: the functions called here return a str and an int
              --> /main.py:16:11
               |
            16 |     print [number, text][n]()
               |           ^^^^^^^^^^^^^^^^^^^
               |
            note: a str is returned by text()
              --> /main.py:9:5
               |
             9 | def text():
               |     ^^^^
            note: an int is returned by number()
              --> /main.py:7:5
               |
             7 | def number():
               |     ^^^^^^

            error[TP0300]: the functions called here return a str and an int
              --> /main.py:18:11
               |
            18 |     print a.m()
               |           ^^^^^
               |
            note: a str is returned by m()
              --> /main.py:5:9
               |
             5 |     def m(self):
               |         ^
            note: an int is returned by m()
              --> /main.py:2:9
               |
             2 |     def m(self):
               |         ^"#]],
    );
}

/// Content that lists share, and fields that subclasses have: the places are those of the values.
#[test]
fn shared_content() {
    check(
        "
        class Node(object):
            pass
        class Number(Node):
            def __init__(self, n):
                self.value = n
        class Text(Node):
            def __init__(self, s):
                self.value = s
        def field(n):
            node = Number(n) if n > 0 else Text('a')
            return node.value
        def items(n):
            numbers = [1]
            names = ['a']
            x = numbers
            if n > 0:
                x = names
            return len(x)
        def values(n):
            numbers = {1: 1}
            names = {1: 'a'}
            x = numbers
            if n > 0:
                x = names
            return len(x)
        def f():
            import os
            n = len(os.getcwd())
            field(n)
            items(n)
            values(n)
        ",
        expect![[r#"
            error[TP0300]: attribute value of Node mixes an int and a str
             --> /main.py:8:9
              |
            5 |         self.value = n
              |         ---------- an int comes from here
            ...
            8 |         self.value = s
              |         ^^^^^^^^^^ a str comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: a list mixes an int and a str
              --> /main.py:14:14
               |
            13 |     numbers = [1]
               |                - an int comes from here
            14 |     names = ['a']
               |              ^^^ a str comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: the set of values of a dict mixes an int and a str
              --> /main.py:21:17
               |
            20 |     numbers = {1: 1}
               |                   - an int comes from here
            21 |     names = {1: 'a'}
               |                 ^^^ a str comes from here
               |
               = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}
