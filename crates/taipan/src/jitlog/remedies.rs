//! Costs, causes and remedies in words.

use super::{Cost, Greens};

/// A cost, its cause, and its remedy.
pub(super) struct Said {
    pub(super) what: String,
    pub(super) why: String,
    pub(super) remedy: String,
}

impl Said {
    fn new(what: String, why: impl Into<String>, remedy: impl Into<String>) -> Said {
        let (why, remedy) = (why.into(), remedy.into());
        Said { what, why, remedy }
    }
}

/// Maximum number of listed names.
const MOST_NAMES: usize = 5;

/// A number with thousands separators.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p >= 9.95 => format!("{p:.0}%"),
        p => format!("{p:.1}%"),
    }
}

fn milliseconds(us: u64) -> String {
    format!("{:.1} ms", us as f64 / 1000.0)
}

fn names<S: AsRef<str>>(all: &[S]) -> String {
    let mut out: Vec<&str> = all.iter().take(MOST_NAMES).map(|n| n.as_ref()).collect();
    if all.len() > MOST_NAMES {
        out.push("...");
    }
    out.join(", ")
}

/// A type in RPython's terms.
fn type_words(ty: &str) -> String {
    let items = |of: &str| match of {
        "Signed" => "integers".to_owned(),
        "Float" => "floats".to_owned(),
        "Char" => "characters".to_owned(),
        of => format!("{} objects", of.trim_start_matches("*GcStruct ")),
    };
    match ty.strip_prefix("GcArray of ") {
        Some("Struct dictentry") => "the entries of a dict".to_owned(),
        Some("Int32" | "Signed32") => "the index of a dict".to_owned(),
        Some(of) => format!("the items of a list of {}", items(of)),
        None if ty == "rpy_string" => "a string".to_owned(),
        None if ty == "rpy_unicode" => "a unicode string".to_owned(),
        None if ty == "list" || ty.starts_with("list~") => "a list".to_owned(),
        None if ty == "dict" || ty.starts_with("dict~") => "a dict".to_owned(),
        None => ty.to_owned(),
    }
}

/// A call that is not followed. None if there is no remedy.
pub(super) fn call(c: &Cost, often: &str) -> Option<Said> {
    let Some(callee) = c.callee.as_deref() else {
        return Some(Said::new(
            format!("a function that is not known is called {often}"),
            format!(
                "it may be one of {} ({}), and it is not known which: more than eight classes came by, or \
                 nothing says what class the object has",
                c.target_count,
                names(&c.targets)
            ),
            "give the classes one method that decides by a value which is known, or call different \
             methods from different instructions",
        ));
    };
    if c.helper {
        return Some(helper(callee, often));
    }
    let what = format!("{callee} is called {often}");
    let said = match c.why.as_deref() {
        Some("loop") => {
            let at = match (&c.loop_file, c.loop_line) {
                (Some(file), Some(line)) => format!(" ({}:{line})", super::shown(file)),
                _ => String::new(),
            };
            let pure = if c.writes {
                ""
            } else {
                "; since it writes nothing, `@elidable` if its result depends on its arguments alone"
            };
            Said::new(
                what,
                format!(
                    "it has a loop{at} and is not `@unroll_safe`, so it is not compiled into its callers: \
                     it is the interpreter's code, and all that it gets is made"
                ),
                format!(
                    "`@unroll_safe` if the loop goes over what is fixed at each place of the interpreted \
                     program, and is short; else move the loop into a function of its own, so that the rest \
                     is compiled{pure}"
                ),
            )
        }
        Some("dont_look_inside") => Said::new(
            what,
            "it is `@dont_look_inside`",
            "take the decorator away; a loop in it stays a call if it is a function of its own",
        ),
        Some("elidable") => {
            let unknown: Vec<String> = c
                .unknown_arguments
                .iter()
                .map(|i| (i + 1).to_string())
                .collect();
            if unknown.is_empty() {
                Said::new(
                    what,
                    "it is `@elidable`, and its arguments are known, but it raised or gave None while \
                     compiling",
                    "look things up when they are there, or give a value that stands for nothing",
                )
            } else {
                let (noun, verb) = match unknown.len() {
                    1 => ("argument", "is"),
                    _ => ("arguments", "are"),
                };
                // A method is in a class.
                let is_method = callee
                    .rsplit('.')
                    .nth(1)
                    .is_some_and(|c| c.starts_with(|c: char| c.is_ascii_uppercase()));
                let own = if is_method && c.unknown_arguments.contains(&0) {
                    " (the first is its object)"
                } else {
                    ""
                };
                Said::new(
                    what,
                    format!(
                        "it is `@elidable`, but {noun} {} of {}{own} {verb} not known while compiling",
                        unknown.join(", "),
                        c.arguments
                    ),
                    "`promote()` what is not known before the call, if few values come by at each place (a \
                     class, a map, a version): then the call is made while compiling",
                )
            }
        }
        Some("set_param") => Said::new(
            what,
            "it sets a parameter of a driver",
            "set parameters where the program starts",
        ),
        Some("external") => Said::new(
            what,
            "it is a function of a C library",
            "call it less often: keep what it gave",
        ),
        _ => Said::new(
            what,
            "it is compiled into other callers, but here it calls itself, or there is too much code \
             around",
            "move what is seldom needed into a function with `@dont_look_inside`",
        ),
    };
    Some(said)
}

/// A call of a helper of lists, dicts or strings.
fn helper(callee: &str, often: &str) -> Said {
    let (module, name) = callee.split_once('.').unwrap_or(("", callee));
    let (what, why, remedy) = match (module, name) {
        ("rlist", "clear_items" | "grow" | "resize" | "reallocate" | "shrink") => (
            "a list grows or shrinks",
            "its length is not known while compiling, so it is a list in memory, with all that is in it",
            "for the stack of an interpreter: a list of fixed length in the frame, with a depth beside it \
             that is a field as well, and `_virtualizable_ = ['depth', 'stack[*]']`",
        ),
        ("rlist", "fill_items") => (
            "a list is made and filled",
            "its length is not known while compiling",
            "take the length from a field in `_immutable_fields_` of an object that is known",
        ),
        ("rlist", _) => (
            "a list is worked on as a whole",
            "its length is not known while compiling",
            "work on one item for each instruction, or on lists of known length",
        ),
        ("rdict" | "rordereddict", "find_free" | "resize" | "insert" | "remove") => (
            "a dict is written to",
            "dicts are in memory",
            "for attributes, a list, and a map that is promoted says at which index; no hint helps with a \
             dict of the interpreted program",
        ),
        ("rdict" | "rordereddict", _) => (
            "something is looked up in a dict",
            "dicts are in memory, and what is in them may change",
            "for names, an `@elidable` method of an object that is promoted: a map of attributes, or globals \
             with a field `version?` that is written when a name is added; no hint helps with a dict of the \
             interpreted program",
        ),
        ("rstr" | "ll_str" | "runicode" | "rbuilder" | "rbytearray", _) => (
            "characters of a string are worked on",
            "the string is not known while compiling",
            "`promote_string()` for names; numbers in the place of names; no hint helps with text that the \
             interpreted program works on",
        ),
        _ => (
            "a function of the runtime is called",
            "it has a loop",
            "work on less at each instruction",
        ),
    };
    Said::new(format!("{what} ({callee}) {often}"), why, remedy)
}

/// An allocation.
pub(super) fn object(c: &Cost, often: &str, inside: &[&str]) -> Said {
    let ty = type_words(c.r#type.as_deref().unwrap_or("an object"));
    let made = if ty.starts_with("the ") { "are" } else { "is" };
    let article = match ty.split(' ').next() {
        Some("a" | "the") => "",
        _ => "a ",
    };
    let mut what = format!("{article}{ty} {made} made {often}");
    let mut inside: Vec<String> = inside.iter().map(|ty| type_words(ty)).collect();
    inside.sort();
    inside.dedup();
    if !inside.is_empty() {
        what += &format!("; with what is in it: {}", names(&inside));
    }
    let lists = "if that is the interpreter's own list (a stack, locals): fixed length, in a frame with \
                 `_virtualizable_ = ['stack[*]']`, at indexes that are known; if it is one of the interpreted \
                 program, no hint helps, but a list of unboxed values does (a strategy)";
    let Some(why) = c.why.as_deref() else {
        return Said::new(
            what,
            "its length is not known while compiling, or it has more than 64 items",
            "if the interpreter needs it for itself: a length from a field in `_immutable_fields_` of an \
             object that is known",
        );
    };
    let (why, remedy) = if why == "passed to a call of the interpreter" {
        (
            "it is passed to a call of the interpreter that is not compiled into its caller".to_owned(),
            "no hint helps: recursion of the interpreted program, or a loop in the function; frames with \
             fewer fields cost less"
                .to_owned(),
        )
    } else if let Some(callee) = why.strip_prefix("passed to ") {
        (
            format!("it escapes into {callee}, a call that stays a call"),
            "see that call: what is compiled into its caller needs no objects for its arguments"
                .to_owned(),
        )
    } else if why.starts_with("stored into items of")
        || matches!(why, "used by setarrayitem" | "used by setinteriorfield")
    {
        (
            "it is written to a list that is in memory".to_owned(),
            lists.to_owned(),
        )
    } else if let Some((field, class)) = why
        .strip_prefix("stored into ")
        .and_then(|s| s.split_once(" of "))
    {
        let field = field.strip_prefix("inst_").unwrap_or(field);
        let class = type_words(class);
        (
            format!("it is written to the field {field} of {class}, which is in memory"),
            format!(
                "if {class} is the interpreter's frame: `_virtualizable_ = ['{field}']`; if it is made for \
                 each call of the interpreted program, it is in memory as long as that call is one"
            ),
        )
    } else if why == "used by setfield" {
        (
            "it is written to a field of an object that is in memory".to_owned(),
            "if that object is the interpreter's frame: name the field in its `_virtualizable_`"
                .to_owned(),
        )
    } else if matches!(
        why,
        "passed on where code joins other code" | "not known any more where states meet"
    ) {
        (
            "paths join here, and on another one the variable is an object in memory, or of another class"
                .to_owned(),
            "no hint helps; a variable of the interpreter that is one kind of object on every path stays \
             virtual"
                .to_owned(),
        )
    } else if why == "returned" {
        (
            "it is what a call of the interpreter returns, and that call is not compiled into its caller"
                .to_owned(),
            "no hint helps: recursion of the interpreted program, or a loop in the function".to_owned(),
        )
    } else if let Some(op) = why.strip_prefix("used by ") {
        (
            format!("an operation needs it in memory ({op})"),
            "compare and convert what is in it rather than the object".to_owned(),
        )
    } else {
        (
            format!("it is {why}"),
            "see the code of the unit: `taipan jitlog --code`".to_owned(),
        )
    };
    Said::new(what, why, remedy)
}

fn field_names<'a>(fields: &[&'a Cost]) -> Vec<&'a str> {
    fields.iter().map(|f| &*f.field).collect()
}

/// Fields that are read although they could be known.
pub(super) fn fields(class: &str, fields: &[&Cost], often: &str) -> Said {
    let (noun, verb) = match fields.len() {
        1 => ("field", "is"),
        _ => ("fields", "are"),
    };
    let quoted = fields.iter().map(|f| {
        let items = if f.list { "[*]" } else { "" };
        format!("'{}{items}'", f.field)
    });
    let quoted = names(&quoted.collect::<Vec<_>>());
    let resized = fields.iter().find(|f| f.resized);
    let lists = match (resized, fields.iter().any(|f| f.list)) {
        (Some(f), _) => format!(
            "; `[*]` says that a list is not changed after that, and it has to be one that is never resized: \
             `self.{} = items[:]` when all of it is known",
            f.field
        ),
        (None, true) => " (`[*]` if the list is not changed after that either)".to_owned(),
        (None, false) => String::new(),
    };
    Said::new(
        format!(
            "{noun} {} of {class} {verb} read {often}",
            names(&field_names(fields))
        ),
        format!(
            "the object is known while compiling, or would be if all such fields were, and the program writes \
             the {noun} only while it makes the object; but its class does not say so"
        ),
        format!("`_immutable_fields_ = [{quoted}]` in class {class}{lists}"),
    )
}

/// Fields that never change, of objects that are not known.
pub(super) fn promote(class: &str, fields: &[&Cost], often: &str) -> Said {
    let (noun, verb) = match fields.len() {
        1 => ("field", "is"),
        _ => ("fields", "are"),
    };
    Said::new(
        format!(
            "{noun} {} of {class} {verb} read {often}",
            names(&field_names(fields))
        ),
        "they never change, but which object it is is not known while compiling",
        "`promote()` the object if few of them come by at each place (a class, a map, a function, code): \
         what is in it is known then; if each round has another one, leave it",
    )
}

/// A promotion with many values.
pub(super) fn promotion(
    what: &str,
    green: Option<String>,
    count: usize,
    values: &[&str],
    took: u64,
) -> Said {
    let shown = names(values);
    let took = milliseconds(took);
    match (what, green) {
        ("green", green) => {
            let green = green.unwrap_or_else(|| "a green".to_owned());
            Said::new(
                format!(
                    "green {green} arrived with {count} values ({shown}), compiled for some {took}"
                ),
                format!(
                    "{green} is computed from what is not known, and code is compiled for each value"
                ),
                format!(
                    "if {green} does not tell places of the interpreted program apart, make it red; if it \
                     does, compute it from other greens"
                ),
            )
        }
        ("index", _) => Said::new(
            format!(
                "an index into a virtualizable list had {count} values ({shown}), compiled for some {took}"
            ),
            "code is compiled for each value of an index",
            "index the frame's list with what is known at each place: the depth of the stack as a field of \
             the virtualizable, numbers from the code",
        ),
        _ => Said::new(
            format!("a promotion had {count} values ({shown}), compiled for some {took}"),
            "code is compiled for each value of what is promoted",
            "do not `promote()` what changes: promote a class, a map or a version in its place, or nothing",
        ),
    }
}

/// A green with too many values to compile.
pub(super) fn green_interpreted(green: &str, of: &Greens, seldom: u64) -> Said {
    Said::new(
        format!(
            "the interpreter came by {} times with {} different greens, {} with each; there is code for {}",
            number(of.passed),
            number(of.seen),
            match seldom {
                0 | 1 => "once".to_owned(),
                n => format!("{n} times"),
            },
            number(of.compiled)
        ),
        format!(
            "green {green} changes: code is compiled for each of its values, once that has come by often \
             enough, and most never do"
        ),
        format!(
            "make {green} red: greens are what tells places of the interpreted program apart, as position and \
             code do"
        ),
    )
}

/// A green whose values lead to identical code.
pub(super) fn green_compiled(green: &str, count: usize, cost: u64) -> Said {
    Said::new(
        format!(
            "the same code was compiled for {count} values of green {green}, in {}",
            milliseconds(cost)
        ),
        format!("code differs in the value of {green} alone, as a number in it"),
        format!("make {green} red"),
    )
}

/// Code without optimisations.
pub(super) fn quick(entries: u64, share: f64, seconds: Option<f64>) -> Said {
    let remedy = match seconds {
        Some(s) if s >= 10.0 => {
            "no hint helps: this is a fault of the compiler, please report it with the log"
        }
        _ => "run the program for longer: what is hot is optimised after some thousand rounds",
    };
    Said::new(
        format!(
            "{} rounds and entries, {} of all, are in code without optimisations",
            number(entries),
            percent(share)
        ),
        "code is compiled quickly first, and again with optimisations when it was entered often",
        remedy,
    )
}

/// Loops that are never compiled.
pub(super) fn refused(count: usize, why: &str) -> Said {
    let loops = match count {
        1 => "a loop stays".to_owned(),
        n => format!("{n} loops stay"),
    };
    let remedy = if why.contains("blocks already") {
        "less code: fewer values of greens and promotions, `@dont_look_inside` on what is large"
    } else {
        "report it with the log, unless it is an error in the interpreter's own functions"
    };
    Said::new(format!("{loops} interpreted"), why, remedy)
}

/// A run without compiled code.
pub(super) fn nothing(of: &Greens, cpu: u64) -> Said {
    Said::new(
        format!(
            "nothing was compiled in {} of CPU time: code came by {} times where compiled code can be \
             entered, with {} different greens",
            milliseconds(cpu),
            number(of.passed),
            number(of.seen)
        ),
        "code is compiled for greens that come by about a thousand times",
        "run the program for longer; if it does not come by although it runs for long, `can_enter_jit` is \
         missing where it spends its time: at each jump back, and where a function of the interpreted program \
         begins, for recursion",
    )
}

/// Functions whose compile time exceeds the time saved.
pub(super) fn compile_time(count: usize, cost: u64, saved: u64, part: f64) -> Said {
    let functions = match count {
        1 => "one function was".to_owned(),
        n => format!("{n} functions were"),
    };
    Said::new(
        format!(
            "{functions} compiled in {} ({} of CPU time), and ran too seldom to save more than {}",
            milliseconds(cost),
            percent(part),
            milliseconds(saved)
        ),
        "the program ended before code paid for itself, or each piece of code is for few rounds",
        "a longer run needs nothing; else see greens and promotions with many values, or raise the threshold: \
         `set_param(driver, 'threshold', n)`",
    )
}
