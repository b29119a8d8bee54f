//! `taipan jitlog`: what a just-in-time compiler wrote into `TAIPAN_JITLOG`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::args::JitlogArgs;
use crate::output::{put, tell};

/// The version of the format that this reads.
const VERSION: u32 = 1;

/// A line of the log, after the time.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Begin {
        version: u32,
        drivers: Vec<Driver>,
    },
    Function {
        function: usize,
        driver: String,
        portal: String,
        location: String,
        count: i64,
        specialise_us: u64,
    },
    Refused {
        driver: String,
        location: String,
        why: String,
    },
    Grown {
        function: usize,
        stub: usize,
        value: Option<String>,
        specialise_us: u64,
    },
    Unit(Unit),
    Entered {
        unit: usize,
        count: u64,
    },
    End {
        specialise_us: u64,
        compile_us: u64,
        bytes: u64,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Timed {
    at: f64,
    #[serde(flatten)]
    event: Event,
}

#[derive(Deserialize)]
struct Driver {
    name: String,
    portal: String,
    greens: Vec<String>,
    reds: Vec<String>,
}

/// Machine code that was made at once.
#[derive(Deserialize)]
struct Unit {
    function: usize,
    unit: usize,
    kind: String,
    why: String,
    blocks: u64,
    operations: u64,
    bytes: u64,
    address: String,
    compile_us: u64,
    merge_points: Vec<String>,
    forced: Vec<Forced>,
    code: Vec<String>,
    #[serde(default)]
    assembly: Vec<String>,
}

#[derive(Deserialize)]
struct Forced {
    r#type: String,
    why: String,
}

/// A residual function, and what became of it.
struct Function {
    number: usize,
    driver: String,
    location: String,
    head: String,
    /// What happened, in order.
    story: Vec<Step>,
    specialise_us: u64,
}

enum Step {
    Grown(String),
    Unit(f64, Unit),
}

/// All of a log.
#[derive(Default)]
struct Log {
    drivers: Vec<Driver>,
    functions: Vec<Function>,
    refused: Vec<(String, String)>,
    entered: BTreeMap<usize, u64>,
    end: Option<(u64, u64, u64)>,
}

pub(crate) fn jitlog(args: &JitlogArgs) -> i32 {
    let log = match std::fs::read_to_string(&args.file) {
        Ok(text) => Log::read(&text),
        Err(e) => Err(e.to_string()),
    };
    match log {
        Ok(log) => put(&log.text(args)),
        Err(why) => {
            tell(&format!("taipan: {}: {why}\n", args.file));
            2
        }
    }
}

impl Log {
    fn read(text: &str) -> Result<Log, String> {
        let mut log = Log::default();
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let event = match serde_json::from_str::<Timed>(line) {
                Ok(event) => event,
                // The program ended while it wrote.
                Err(_) if i > 0 && i + 1 == lines.len() && !text.ends_with('\n') => break,
                Err(e) => return Err(format!("line {} is none of a JIT log: {e}", i + 1)),
            };
            log.add(event, i)?;
        }
        match lines.is_empty() {
            true => Err("an empty file: was anything run with a just-in-time compiler?".to_owned()),
            false => Ok(log),
        }
    }

    fn add(&mut self, Timed { at, event }: Timed, line: usize) -> Result<(), String> {
        let wrong = || format!("line {} is about a function that was not started", line + 1);
        match event {
            Event::Begin { version, drivers } => {
                if version != VERSION {
                    return Err(format!(
                        "version {version} of the format; this taipan reads version {VERSION}"
                    ));
                }
                self.drivers = drivers;
            }
            Event::Function {
                function,
                driver,
                portal,
                location,
                count,
                specialise_us,
            } => {
                let head = format!(
                    "function {function}: {location}\n    driver {driver}, {portal}; \
                     came by {count} times until {at:.6} s, specialised in {specialise_us} us\n"
                );
                self.functions.push(Function {
                    number: function,
                    driver,
                    location,
                    head,
                    story: Vec::new(),
                    specialise_us,
                });
            }
            Event::Refused {
                driver,
                location,
                why,
            } => {
                let text = format!("{location} ({driver}) stays interpreted: {why}\n");
                self.refused.push((driver, text));
            }
            Event::Grown {
                function,
                stub,
                value,
                specialise_us,
            } => {
                let what = match value {
                    Some(value) => format!("{value} arrived at stub {stub}"),
                    None => format!("stub {stub} was reached"),
                };
                let text = format!("    {at:.6} s: {what}, specialised in {specialise_us} us\n");
                let f = self.functions.get_mut(function).ok_or_else(wrong)?;
                f.specialise_us += specialise_us;
                f.story.push(Step::Grown(text));
            }
            Event::Unit(unit) => {
                let f = self.functions.get_mut(unit.function).ok_or_else(wrong)?;
                f.story.push(Step::Unit(at, unit));
            }
            Event::Entered { unit, count } => _ = self.entered.insert(unit, count),
            Event::End {
                specialise_us,
                compile_us,
                bytes,
            } => self.end = Some((specialise_us, compile_us, bytes)),
            Event::Other => {}
        }
        Ok(())
    }

    fn text(&self, args: &JitlogArgs) -> String {
        let of_driver = |name: &String| args.driver.as_ref().is_none_or(|d| d == name);
        let wanted = |f: &&Function| {
            of_driver(&f.driver)
                && args.function.as_ref().is_none_or(|text| {
                    f.number.to_string() == *text || f.location.contains(&**text)
                })
        };
        let functions: Vec<&Function> = self.functions.iter().filter(wanted).collect();
        let mut out = String::new();
        for d in self.drivers.iter().filter(|d| of_driver(&d.name)) {
            let (greens, reds) = (d.greens.join(", "), d.reds.join(", "));
            let _ = writeln!(out, "driver {}: {}", d.name, d.portal);
            let _ = writeln!(out, "    greens: {greens}\n    reds: {reds}");
        }
        if !args.summary {
            for f in &functions {
                let _ = write!(out, "\n{}", f.head);
                for step in &f.story {
                    self.step(step, args, &mut out);
                }
            }
        }
        for (driver, text) in &self.refused {
            if of_driver(driver) && args.function.as_ref().is_none_or(|t| text.contains(&**t)) {
                let _ = write!(out, "\n{text}");
            }
        }
        out.push('\n');
        self.tables(&functions, &mut out);
        out
    }

    fn step(&self, step: &Step, args: &JitlogArgs, out: &mut String) {
        let (at, unit) = match step {
            Step::Grown(text) => return out.push_str(text),
            Step::Unit(at, unit) => (at, unit),
        };
        let entered = match self.entered.get(&unit.unit) {
            Some(1) => ", entered once".to_owned(),
            Some(n) => format!(", entered {n} times"),
            None => String::new(),
        };
        let kind = match &*unit.kind {
            "loop" => "unit with optimisations",
            _ => "unit",
        };
        let _ = writeln!(
            out,
            "    {at:.6} s: {kind} {}, since {}: {} operations in {} blocks, {} bytes at {}, \
             compiled in {} us{entered}",
            unit.unit,
            unit.why,
            unit.operations,
            unit.blocks,
            unit.bytes,
            unit.address,
            unit.compile_us,
        );
        for place in &unit.merge_points {
            let _ = writeln!(out, "        # {place}");
        }
        for forced in &unit.forced {
            let _ = writeln!(out, "        a {} is made: {}", forced.r#type, forced.why);
        }
        if args.code {
            for line in &unit.code {
                let _ = writeln!(out, "        {line}");
            }
        }
        if args.asm {
            for line in &unit.assembly {
                let _ = writeln!(out, "        {line}");
            }
        }
    }

    /// What all that was compiled comes to.
    fn tables(&self, functions: &[&Function], out: &mut String) {
        let _ = writeln!(
            out,
            "{:>8} {:>6} {:>6} {:>6} {:>8} {:>14} {:>13} {:>12}  location",
            "function", "units", "loops", "ops", "bytes", "specialise us", "compile us", "entered"
        );
        let mut all = [0; 7];
        let mut reasons: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for f in functions {
            let mut row = [0; 7];
            row[4] = f.specialise_us;
            for step in &f.story {
                let Step::Unit(_, unit) = step else { continue };
                row[usize::from(unit.kind == "loop")] += 1;
                row[2] += unit.operations;
                row[3] += unit.bytes;
                row[5] += unit.compile_us;
                row[6] += self.entered.get(&unit.unit).copied().unwrap_or(0);
                for forced in &unit.forced {
                    *reasons.entry((&forced.r#type, &forced.why)).or_default() += 1;
                }
            }
            let number = f.number.to_string();
            self.row(&number, &row, &f.location, out);
            for (sum, n) in all.iter_mut().zip(row) {
                *sum += n;
            }
        }
        self.row("all", &all, "", out);
        if !reasons.is_empty() {
            let mut reasons: Vec<_> = reasons.into_iter().collect();
            reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            out.push_str("\nplaces where objects are made that existed while compiling only:\n");
            for ((ty, why), n) in reasons {
                let _ = writeln!(out, "{n:>8}  {ty}: {why}");
            }
        }
        match self.end {
            Some((specialising, compiling, bytes)) => {
                let _ = writeln!(
                    out,
                    "\nall of the program: {} us specialising, {} us compiling, {} bytes of code, \
                     {} functions",
                    specialising,
                    compiling,
                    bytes,
                    self.functions.len()
                );
            }
            None => out.push_str("\nthe program did not end by itself: nobody counted entries\n"),
        }
    }

    fn row(&self, number: &str, row: &[u64; 7], location: &str, out: &mut String) {
        let [
            units,
            loops,
            operations,
            bytes,
            specialise,
            compile,
            entered,
        ] = row;
        let entered = match self.end {
            Some(_) => entered.to_string(),
            None => "-".to_owned(),
        };
        let line = format!(
            "{number:>8} {units:>6} {loops:>6} {operations:>6} {bytes:>8} {specialise:>14} \
             {compile:>13} {entered:>12}  {location}"
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
