//! `taipan jitlog`: what a just-in-time compiler wrote into `TAIPAN_JITLOG`.

mod advise;
mod groups;
mod remedies;
mod totals;
mod values;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::args::{AdviceFormat, JitlogArgs};
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
        #[serde(default)]
        greens: Vec<String>,
        #[serde(default)]
        passed: u64,
        #[serde(default)]
        cpu_us: u64,
    },
    Refused(Refused),
    Grown(Grown),
    Unit(Unit),
    Entered {
        unit: usize,
        #[serde(flatten)]
        entries: Entries,
    },
    Greens(Greens),
    End(End),
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
    #[serde(default)]
    green_names: Vec<String>,
    /// The greens that are used as an index or passed to functions.
    #[serde(default)]
    deciding_greens: Vec<bool>,
    file: Option<String>,
    line: Option<u64>,
}

impl Driver {
    /// Whether code may depend on the value of a green.
    fn decides(&self, green: usize) -> bool {
        self.deciding_greens.get(green).is_none_or(|d| *d)
    }

    /// The function with the merge point.
    fn function(&self) -> Option<String> {
        self.portal.strip_prefix("portal of ").map(str::to_owned)
    }
}

/// A loop that stays interpreted.
#[derive(Deserialize)]
struct Refused {
    driver: String,
    location: String,
    why: String,
}

/// Compilation resumed at a stub.
#[derive(Deserialize)]
struct Grown {
    function: usize,
    stub: usize,
    value: Option<String>,
    specialise_us: u64,
    /// Reason and place of the promotion.
    what: Option<String>,
    green: Option<usize>,
    file: Option<String>,
    line: Option<u64>,
}

/// Entries of a unit and rounds of its loops.
#[derive(Default, Deserialize)]
struct Entries {
    count: u64,
    #[serde(default)]
    rounds: Vec<u64>,
}

/// Summary of a driver's greens.
#[derive(Deserialize)]
struct Greens {
    driver: String,
    seen: u64,
    compiled: u64,
    refused: u64,
    passed: u64,
    values: Vec<u64>,
}

/// The end of the program.
#[derive(Deserialize)]
struct End {
    #[serde(skip)]
    at: f64,
    specialise_us: u64,
    compile_us: u64,
    bytes: u64,
    #[serde(default)]
    cpu_us: u64,
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
    forced: Vec<Cost>,
    code: Vec<String>,
    #[serde(default)]
    assembly: Vec<String>,
    /// Number of operations of each loop, and outside loops.
    #[serde(default)]
    loops: Vec<u64>,
    #[serde(default)]
    outside: u64,
    #[serde(default)]
    calls: Vec<Cost>,
    #[serde(default)]
    reads: Vec<Cost>,
}

/// A cost at one place of a unit: a call, an allocation, or a read. Each kind uses some of the fields.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Cost {
    count: u64,
    file: Option<String>,
    line: Option<u64>,
    function: Option<String>,
    location: String,
    #[serde(rename = "loop")]
    in_loop: Option<usize>,
    each_round: Option<bool>,
    /// For calls and allocations.
    why: Option<String>,
    callee: Option<String>,
    targets: Vec<String>,
    target_count: u64,
    arguments: u64,
    unknown_arguments: Vec<usize>,
    writes: bool,
    helper: bool,
    loop_file: Option<String>,
    loop_line: Option<u64>,
    /// For allocations.
    r#type: Option<String>,
    /// For reads.
    class: String,
    field: String,
    immutable: bool,
    known: bool,
    follows: bool,
    list: bool,
    resized: bool,
    deep: bool,
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
    greens: Vec<String>,
    /// Visits of the interpreter to all merge points, and CPU time, when the function was started.
    passed: u64,
    cpu_us: u64,
}

enum Step {
    Grown(f64, Grown),
    Unit(f64, Unit),
}

impl Function {
    fn units(&self) -> impl Iterator<Item = &Unit> {
        self.story.iter().filter_map(|step| match step {
            Step::Unit(_, unit) => Some(unit),
            Step::Grown(..) => None,
        })
    }
}

/// All of a log.
#[derive(Default)]
struct Log {
    drivers: Vec<Driver>,
    functions: Vec<Function>,
    refused: Vec<Refused>,
    entered: BTreeMap<usize, Entries>,
    greens: Vec<Greens>,
    end: Option<End>,
}

pub(crate) fn jitlog(args: &JitlogArgs) -> i32 {
    let log = match std::fs::read_to_string(&args.file) {
        Ok(text) => Log::read(&text),
        Err(e) => Err(e.to_string()),
    };
    match log {
        Ok(log) if args.advise => put(&log.advice(args.format)),
        Ok(log) => put(&log.text(args)),
        Err(why) => {
            tell(&format!("taipan: {}: {why}\n", args.file));
            2
        }
    }
}

/// A path relative to the current folder, if it is inside it.
fn shown(path: &str) -> &str {
    let here = std::env::current_dir().ok();
    let inside = here.and_then(|here| path.strip_prefix(here.to_str()?)?.strip_prefix('/'));
    inside.unwrap_or(path)
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
        if lines.is_empty() {
            Err("an empty file: was anything run with a just-in-time compiler?".to_owned())
        } else {
            Ok(log)
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
                greens,
                passed,
                cpu_us,
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
                    greens,
                    passed,
                    cpu_us,
                });
            }
            Event::Refused(refused) => self.refused.push(refused),
            Event::Grown(grown) => {
                let f = self.functions.get_mut(grown.function).ok_or_else(wrong)?;
                f.specialise_us += grown.specialise_us;
                f.story.push(Step::Grown(at, grown));
            }
            Event::Unit(unit) => {
                let f = self.functions.get_mut(unit.function).ok_or_else(wrong)?;
                f.story.push(Step::Unit(at, unit));
            }
            Event::Entered { unit, entries } => _ = self.entered.insert(unit, entries),
            Event::Greens(greens) => self.greens.push(greens),
            Event::End(end) => self.end = Some(End { at, ..end }),
            Event::Other => {}
        }
        Ok(())
    }

    fn units(&self) -> impl Iterator<Item = &Unit> {
        self.functions.iter().flat_map(Function::units)
    }

    /// Rounds of a loop of a unit; entries of the unit if no loop is given.
    fn rounds(&self, unit: &Unit, in_loop: Option<usize>) -> u64 {
        let Some(entries) = self.entered.get(&unit.unit) else {
            return 0;
        };
        match in_loop {
            Some(i) => entries.rounds.get(i).copied().unwrap_or(0),
            None => entries.count,
        }
    }

    /// Entries of a unit, and rounds of its loops.
    fn all_rounds(&self, unit: &Unit) -> u64 {
        let entries = self.entered.get(&unit.unit);
        entries.map_or(0, |e| e.count + e.rounds.iter().sum::<u64>())
    }

    /// The name of a green of a driver.
    fn green_name(&self, driver: &str, green: usize) -> Option<String> {
        let driver = self.drivers.iter().find(|d| d.name == driver)?;
        driver.green_names.get(green).cloned()
    }

    /// Format of the cost report.
    fn advice(&self, format: AdviceFormat) -> String {
        let report = advise::report(self);
        match format {
            AdviceFormat::Text => report.text(),
            AdviceFormat::Json => {
                let json = serde_json::to_string(&report).unwrap_or_default();
                format!("{json}\n")
            }
        }
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
        for r in &self.refused {
            let (driver, location, why) = (&r.driver, &r.location, &r.why);
            let text = format!("{location} ({driver}) stays interpreted: {why}\n");
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
            Step::Grown(at, grown) => {
                let stub = grown.stub;
                let what = match &grown.value {
                    Some(value) => format!("{value} arrived at stub {stub}"),
                    None => format!("stub {stub} was reached"),
                };
                let took = grown.specialise_us;
                let _ = writeln!(out, "    {at:.6} s: {what}, specialised in {took} us");
                return;
            }
            Step::Unit(at, unit) => (at, unit),
        };
        let entered = match self.entered.get(&unit.unit).map(|e| e.count) {
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
            let (Some(ty), Some(why)) = (&forced.r#type, &forced.why) else {
                continue;
            };
            for _ in 0..forced.count.max(1) {
                let _ = writeln!(out, "        a {ty} is made: {why}");
            }
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
            for unit in f.units() {
                row[usize::from(unit.kind == "loop")] += 1;
                row[2] += unit.operations;
                row[3] += unit.bytes;
                row[5] += unit.compile_us;
                row[6] += self.entered.get(&unit.unit).map_or(0, |e| e.count);
                for forced in &unit.forced {
                    if let (Some(ty), Some(why)) = (&forced.r#type, &forced.why) {
                        *reasons.entry((ty, why)).or_default() += forced.count.max(1);
                    }
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
        match &self.end {
            Some(end) => {
                let _ = writeln!(
                    out,
                    "\nall of the program: {} us specialising, {} us compiling, {} bytes of code, \
                     {} functions",
                    end.specialise_us,
                    end.compile_us,
                    end.bytes,
                    self.functions.len()
                );
                for fault in advise::faults(self) {
                    let _ = writeln!(out, "\nfault: {fault}");
                }
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
