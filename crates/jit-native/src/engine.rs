//! The compiler at work: what the running program asks of it.

use std::any::Any;
use std::cell::{Cell as StdCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashSet;
use taipan_codegen::CodegenError;
use taipan_codegen_cranelift::LoadedImage;
use taipan_jit::engine::{Entered, Portals};
use taipan_jit::{Failure, JitProgram, PARAMETERS, ResidualCounts, Word};
use taipan_lltype::{FuncType, LLGraph, LLType, word_of_u64};
use taipan_runtime::gc::api::{rpy_gc_can_move, settle};
use taipan_runtime::jit::{Hooks, set_hooks};
use taipan_runtime::state::rpy_state;
use taipan_runtime::{exc, threads};

use crate::account::Account;
use crate::arrived::{Arrived, Values};
use crate::assumptions::Assumptions;
use crate::background::MakeTables;
use crate::cells::{load, second};
use crate::free_passes::FreePasses;
use crate::functions::Functions;
use crate::greens::{GreenTable, Seen, Summary};
use crate::inside::Inside;
use crate::program::{CallEffects, Running};
use crate::room::with_room;

/// How often code comes by before it is compiled, if nobody says otherwise.
pub(crate) const THRESHOLD: i64 = 1039;
/// How many times code comes by with greens in the nursery before they are moved out.
const YOUNG: u64 = 64;
/// Maximum number of free passes given at once.
const MOST_PASSES: u64 = 1 << 20;
/// Factor of the threshold for greens that differ from those of compiled code in numbers only: further loops of a function
/// of the interpreted program. The existing code mostly contains them. Code that starts outside all loops is compiled before
/// they reach the higher threshold.
const ELSEWHERE: u64 = 3;
/// Greens are compiled at this multiple of their threshold whatever the account says: the interpreter has then spent
/// about the time of their compilation on them.
const OWN: u64 = 10;
/// If the account refuses to compile a loop, the loop asks again after this fraction of the threshold.
const PARTS: u64 = 8;

/// Choices that do not change what programs do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How often code comes by before it is compiled; what the program says if it is not
    /// given.
    pub threshold: Option<i64>,
    /// How often a loop is entered before its code is compiled with optimisations.
    pub hot: u64,
    /// How often code leaves the rest to the interpreter at one place before what follows is
    /// compiled, in proportion to the threshold.
    pub leaves: u64,
    /// When there are so many bytes of code nothing is added any more, but for what code that
    /// is running needs to get to its next merge point.
    pub most_code: usize,
    /// Units whose machine code has more bytes than this are compiled in pieces, as those
    /// are that the code generator refuses.
    pub largest_unit: usize,
    /// A program whose code cannot be compiled sees an exception, and goes on until it is
    /// asked what was wrong. Otherwise it goes on without, or ends if that is too late.
    pub raises: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threshold: None,
            hot: 2_000,
            leaves: 200,
            most_code: 128 << 20,
            largest_unit: 16 << 20,
            raises: false,
        }
    }
}

/// What was compiled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Units that were compiled quickly.
    pub units: usize,
    /// Units that were compiled with optimisations.
    pub hot: usize,
    /// Number of operations in optimised units.
    pub optimised: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// What the residual functions consist of.
    pub residual: ResidualCounts,
}

/// A driver, and what is known of its greens.
struct Driver {
    greens: Vec<LLType>,
    /// Which of them are objects.
    objects: Vec<usize>,
    entry: FuncType,
    threshold: StdCell<i64>,
    table: RefCell<GreenTable>,
    passes: FreePasses,
    young: StdCell<u64>,
    /// Objects among the greens of compiled code.
    compiled: RefCell<FxHashSet<Vec<u64>>>,
}

/// The just-in-time compiler of a program that runs in this process.
pub struct NativeJit<'p> {
    pub(crate) portals: &'p dyn Portals<'p>,
    pub(crate) program: Running<'p>,
    pub(crate) types: &'p dyn JitProgram,
    pub(crate) options: Options,
    /// The drivers, by number.
    pub(crate) entered: Vec<Entered>,
    drivers: Vec<Driver>,
    functions: RefCell<Functions<'p>>,
    /// It is asked while functions are compiled, too.
    assumptions: Rc<Assumptions>,
    failure: RefCell<Option<Failure>>,
    refused: RefCell<Vec<String>>,
    /// What compiling may cost.
    pub(crate) account: Account,
    /// The thread that compiles.
    busy: StdCell<Option<i64>>,
    /// There is so much code that what it does not cover is interpreted for good.
    pub(crate) full: StdCell<bool>,
    /// What was entered since then.
    inside: Inside,
    /// The compiler has made a mistake: everything is interpreted.
    broken: StdCell<bool>,
}

/// The compiler of the program that runs.
static CURRENT: AtomicPtr<NativeJit<'static>> = AtomicPtr::new(ptr::null_mut());

static TURN: Mutex<()> = Mutex::new(());

static HOOKS: Hooks = Hooks {
    enter,
    set_param,
    unique_string,
    field_written,
};

impl<'p> NativeJit<'p> {
    /// A compiler for portals of a loaded program.
    pub fn new(
        portals: &'p dyn Portals<'p>,
        program: &'p dyn JitProgram,
        effects: &'p dyn CallEffects,
        image: &'p LoadedImage,
        options: Options,
    ) -> Result<NativeJit<'p>, CodegenError> {
        let entered = portals.drivers();
        let assumptions = Rc::new(Assumptions::default());
        let drivers = entered.iter().map(|d| {
            let objects = d.greens.iter().enumerate();
            let objects = objects.filter(|(_, t)| t.is_gc_ptr()).map(|(i, _)| i);
            Driver {
                objects: objects.collect(),
                table: RefCell::new(GreenTable::new(d.greens.len())),
                passes: FreePasses::new(d.greens.len()),
                greens: d.greens.clone(),
                entry: d.entry.clone(),
                threshold: StdCell::new(options.threshold.unwrap_or(THRESHOLD)),
                young: StdCell::new(0),
                compiled: RefCell::default(),
            }
        });
        Ok(NativeJit {
            portals,
            program: Running::new(program, effects),
            types: program,
            options,
            drivers: drivers.collect(),
            entered,
            functions: RefCell::new(Functions::new(image, assumptions.clone())?),
            assumptions,
            failure: RefCell::default(),
            refused: RefCell::default(),
            account: Account::default(),
            busy: StdCell::new(None),
            full: StdCell::new(false),
            inside: Inside::default(),
            broken: StdCell::new(false),
        })
    }

    /// Optimises regions on a second thread from now on, which makes its own tables of the program.
    pub fn optimise_in_background(&self, tables: MakeTables) {
        self.functions.borrow_mut().optimise_in_background(tables);
    }

    /// Runs `f` with this as the compiler of the program. One program at a time has one.
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                set_hooks(None);
                CURRENT.store(ptr::null_mut(), Relaxed);
            }
        }
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        CURRENT.store(ptr::from_ref(self).cast_mut().cast(), Relaxed);
        let _reset = Reset;
        set_hooks(Some(&HOOKS));
        self.functions.borrow_mut().begin(self);
        let result = f();
        if let Ok(mut functions) = self.functions.try_borrow_mut() {
            functions.end(self);
        }
        result
    }

    /// Why something could not be compiled, if that happened.
    pub fn failure(&self) -> Option<Failure> {
        self.failure.borrow().clone()
    }

    /// Why loops stay interpreted.
    pub fn refused(&self) -> Vec<String> {
        self.refused.borrow().clone()
    }

    /// The residual functions, in the order in which they were compiled.
    pub fn residual_graphs(&self) -> Vec<LLGraph> {
        self.functions.borrow().residual_graphs()
    }

    /// What was compiled so far.
    pub fn counts(&self) -> Counts {
        self.functions.borrow().counts(self.types)
    }

    /// Takes the compiler for this thread; waits if another one has it. None if this one
    /// has it already.
    fn take(&self) -> Option<Busy<'_, 'p>> {
        let me = threads::ident();
        loop {
            match self.busy.get() {
                None => break,
                Some(thread) if thread == me => return None,
                // It has let others run in the middle of a call of the program.
                Some(_) => threads::give_way(),
            }
        }
        self.busy.set(Some(me));
        Some(Busy(self, Exception::put_aside()))
    }

    /// Whether the greens of a driver have a free pass, or its compiler is switched off.
    fn passes(&self, driver: usize, greens: *const u64) -> bool {
        self.drivers.get(driver).is_some_and(|d| {
            // SAFETY: there is a word for each green.
            let greens = unsafe { slice::from_raw_parts(greens, d.greens.len()) };
            d.passes.pass(greens) || d.is_off()
        })
    }

    fn enter(&self, driver: usize, greens: *const u64) -> usize {
        let Some(d) = self.drivers.get(driver) else {
            return 0;
        };
        // SAFETY: there is a word for each green.
        let greens = unsafe { slice::from_raw_parts(greens, d.greens.len()) };
        // Functions of the program that are called while compiling enter no compiled code:
        // it might be what is being compiled.
        if self.busy.get().is_some() || self.broken.get() {
            return 0;
        }
        // SAFETY: compiled code calls this in the mutator thread, and greens of this kind are
        // objects.
        let is_young = |i: &usize| unsafe { rpy_gc_can_move(greens[*i] as usize) };
        if d.objects.iter().any(is_young) {
            let mut greens = greens.to_vec();
            return match d.settle(&mut greens) {
                true => self.look(driver, d, &greens),
                false => 0,
            };
        }
        self.look(driver, d, greens)
    }

    fn look(&self, number: usize, d: &Driver, greens: &[u64]) -> usize {
        let threshold = d.threshold.get();
        self.free_pass(d, greens);
        self.account.comes_by(1);
        let count = match d.table.borrow_mut().entry(greens) {
            Seen::Compiled(at) if !self.full.get() => return *at,
            Seen::Compiled(at) => return self.enter_when_full(*at),
            Seen::Refused => {
                d.passes.give(greens, MOST_PASSES);
                return 0;
            }
            Seen::Counted(n) => {
                *n += 1;
                let most = d.most(greens);
                if *n < most {
                    d.passes.give(greens, (most - *n - 1).min(MOST_PASSES));
                    return 0;
                }
                let may = self.account.allows(threshold) || *n >= most.saturating_mul(OWN);
                if self.full.get() || !may {
                    d.passes.give(greens, most / PARTS);
                    return 0;
                }
                *n
            }
        };
        with_room(|| self.compile_or_refuse(number, d, greens, count as i64))
    }

    /// Adds the used passes to the counts in the table.
    fn free_pass(&self, d: &Driver, greens: &[u64]) {
        d.passes.free(greens, |greens, n| self.passed(d, greens, n));
    }

    fn passed(&self, d: &Driver, greens: &[u64], times: u64) {
        self.account.comes_by(times);
        if let Seen::Counted(n) = d.table.borrow_mut().entry(greens) {
            *n += times;
        }
    }

    /// Replaces the table entry of these greens and revokes their passes.
    fn set(&self, d: &Driver, greens: &[u64], seen: Seen) {
        self.free_pass(d, greens);
        *d.table.borrow_mut().entry(greens) = seen;
    }

    /// What to enter once nothing can be compiled any more.
    #[cold]
    fn enter_when_full(&self, at: usize) -> usize {
        let here = 0_u8;
        let stack = ptr::from_ref(&here) as usize;
        match self.inside.enters(threads::ident(), stack, at) {
            true => at,
            false => 0,
        }
    }

    /// As [`NativeJit::compile`]. An error of the compiler itself leaves the loop to the
    /// interpreter, and every one after it, since nobody knows what else is wrong.
    fn compile_or_refuse(&self, number: usize, d: &Driver, greens: &[u64], count: i64) -> usize {
        let compile = || Ok(self.compile(number, d, greens, count));
        self.or_broken(compile).unwrap_or_else(|why: Failure| {
            self.refused.borrow_mut().push(why.why);
            self.set(d, greens, Seen::Refused);
            0
        })
    }

    /// What `f` answers. If the compiler makes a mistake in it, nothing is compiled any more.
    pub(crate) fn or_broken<T>(
        &self,
        f: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
            self.broken.set(true);
            Err(format!("internal error: {}", text_of(&*panic)).into())
        })
    }

    /// Compiles nothing any more, after an internal error of the second thread.
    pub(crate) fn stop_compiling(&self, why: &str) {
        self.broken.set(true);
        let text = format!("internal error: {why}");
        self.refused.borrow_mut().push(text);
    }

    /// Leaves a loop to the interpreter for good.
    pub(crate) fn refuse(&self, driver: usize, greens: &[Word], why: Failure) {
        self.refused.borrow_mut().push(why.why);
        self.interprets(driver, greens);
    }

    /// Whether loops of a driver are compiled at all.
    pub(crate) fn compiles(&self, driver: usize) -> bool {
        self.drivers[driver].threshold.get() >= 0
    }

    /// How often code leaves the rest to the interpreter at one place before what follows is
    /// compiled: with a threshold that is lower than usual, less often, but once at least.
    pub(crate) fn leaves(&self) -> u64 {
        let thresholds = self.drivers.iter().map(|d| d.threshold.get());
        let least = thresholds.filter(|t| *t >= 0).min().unwrap_or(THRESHOLD);
        let least = (least as u64).min(THRESHOLD as u64);
        (self.options.leaves * least / THRESHOLD as u64).max(1)
    }

    /// Has a portal entered for greens by compiled code that was made without being asked
    /// for by the interpreter.
    pub(crate) fn has_compiled(&self, driver: usize, greens: &[Word], at: usize) {
        let greens: Vec<u64> = greens.iter().map(|w| *w as u64).collect();
        let d = &self.drivers[driver];
        d.compiled.borrow_mut().insert(d.objects_of(&greens));
        self.set(d, &greens, Seen::Compiled(at));
    }

    /// Has the interpreter run a loop from now on: its code has come to where nothing is
    /// compiled, and nothing can be. Otherwise each place like that would be compiled up to
    /// the next merge point.
    pub(crate) fn interprets(&self, driver: usize, greens: &[Word]) {
        let greens: Vec<u64> = greens.iter().map(|w| *w as u64).collect();
        self.set(&self.drivers[driver], &greens, Seen::Refused);
    }

    #[cold]
    fn compile(&self, number: usize, d: &Driver, greens: &[u64], count: i64) -> usize {
        let Some(_busy) = self.take() else {
            return 0;
        };
        let mut functions = self.functions.borrow_mut();
        let mut world = functions.world(self);
        let known: Vec<Word> = (greens.iter().zip(&d.greens))
            .map(|(w, ty)| world.stable(word_of_u64(*w, *ty), *ty))
            .collect();
        let (seen, at) = match functions.portal_entry(self, number, &known, count) {
            Ok(at) => {
                d.compiled.borrow_mut().insert(d.objects_of(greens));
                (Seen::Compiled(at), at)
            }
            Err(why) => {
                functions.log_refused(self, number, &known, &why.why);
                self.give_up(why);
                match self.options.raises {
                    true => {
                        let at = functions.failing_entry(self, &d.entry).unwrap_or(0);
                        (Seen::Compiled(at), at)
                    }
                    false => {
                        let failure = self.failure.take();
                        self.refused.borrow_mut().extend(failure.map(|f| f.why));
                        (Seen::Refused, 0)
                    }
                }
            }
        };
        *d.table.borrow_mut().entry(greens) = seen;
        at
    }

    fn resume(&self, cell: usize, arrived: &Arrived<'_>) -> usize {
        let Some(_busy) = self.take() else {
            // Compiled code is not entered meanwhile.
            exc::fatal(b"compiled code ran while it was compiled");
        };
        let mut functions = self.functions.borrow_mut();
        let why = match functions.resume(self, cell, arrived) {
            Ok(next) => return next,
            Err(why) => why,
        };
        if self.options.raises {
            self.give_up(why.clone());
            if let Ok(cell) = functions.failing_cell(self, cell) {
                return cell;
            }
        }
        exc::fatal(format!("code cannot be compiled: {why}").as_bytes())
    }

    /// Summary of each driver's table of greens, for the log.
    pub(crate) fn summaries(&self) -> Vec<Summary> {
        let summary = |d: &Driver| {
            let noted = |greens: &[u64], n| self.passed(d, greens, n);
            d.passes.free_all(noted);
            d.table.borrow().summary()
        };
        self.drivers.iter().map(summary).collect()
    }

    fn give_up(&self, why: Failure) {
        self.failure.borrow_mut().get_or_insert(why);
    }

    /// The string that stands for all with the characters of one.
    fn unique_string(&self, string: usize, wide: bool) -> usize {
        // Somebody else compiles: then it stands for itself.
        let functions = self.functions.try_borrow_mut();
        match functions {
            Ok(mut functions) if string != 0 => functions.unique_string(self, string, wide),
            _ => string,
        }
    }

    fn set_param(&self, driver: i64, parameter: i64, value: i64) {
        let parameter = usize::try_from(parameter)
            .ok()
            .and_then(|p| PARAMETERS.get(p));
        if self.options.threshold.is_some() || parameter != Some(&"threshold") {
            return;
        }
        for (i, d) in self.drivers.iter().enumerate() {
            if driver < 0 || driver == i as i64 {
                d.passes.free_all(|greens, n| self.passed(d, greens, n));
                d.threshold.set(match value {
                    i64::MIN => THRESHOLD,
                    n => n,
                });
            }
        }
    }
}

impl Driver {
    /// Whether nothing is compiled, and there is no code to enter.
    fn is_off(&self) -> bool {
        let nothing = || (self.compiled.try_borrow()).is_ok_and(|compiled| compiled.is_empty());
        self.threshold.get() < 0 && nothing()
    }

    /// The objects among greens.
    fn objects_of(&self, greens: &[u64]) -> Vec<u64> {
        self.objects.iter().map(|i| greens[*i]).collect()
    }

    /// Number of visits before these greens are compiled. A threshold below the default is kept as it is: it asks for
    /// code as soon as possible.
    fn most(&self, greens: &[u64]) -> u64 {
        let threshold = u64::try_from(self.threshold.get()).unwrap_or(u64::MAX);
        let is_default = threshold >= THRESHOLD as u64 && !self.objects.is_empty();
        if is_default && self.compiled.borrow().contains(&self.objects_of(greens)) {
            threshold.saturating_mul(ELSEWHERE)
        } else {
            threshold
        }
    }

    /// Moves the greens out of the nursery if code came by with young ones often enough.
    #[cold]
    fn settle(&self, greens: &mut [u64]) -> bool {
        let count = self.young.get() + 1;
        self.young.set(count);
        let threshold = u64::try_from(self.threshold.get()).unwrap_or(u64::MAX);
        if !count.is_multiple_of(YOUNG.min(threshold).max(1)) {
            return false;
        }
        let mut objects: Vec<usize> = self.objects.iter().map(|i| greens[*i] as usize).collect();
        // SAFETY: these words are objects; the caller's roots are saved.
        unsafe { settle(&mut objects) };
        for (i, obj) in self.objects.iter().zip(objects) {
            greens[*i] = obj as u64;
        }
        true
    }
}

/// While the compiler works for a thread.
struct Busy<'a, 'p>(&'a NativeJit<'p>, Exception);

impl Drop for Busy<'_, '_> {
    fn drop(&mut self) {
        self.1.restore();
        self.0.busy.set(None);
    }
}

/// The exception that is set where residual code calls the compiler. It is a root while
/// calls of the program are made.
struct Exception {
    etype: *mut std::ffi::c_void,
    root: *mut usize,
}

impl Exception {
    fn put_aside() -> Exception {
        // SAFETY: the mutator's own state; its shadow stack has room for what the machine
        // stack has room for.
        unsafe {
            let state = &raw mut rpy_state;
            let saved = Exception {
                etype: (*state).exc_type,
                root: (*state).root_stack_top,
            };
            *saved.root = (*state).exc_value as usize;
            (*state).root_stack_top = saved.root.add(1);
            exc::clear_exception();
            saved
        }
    }

    fn restore(&self) {
        // SAFETY: the mutator's own state. Calls of the program have given their roots back, so the
        // word that `put_aside` wrote is the last one.
        unsafe {
            let state = &raw mut rpy_state;
            (*state).exc_type = self.etype;
            (*state).exc_value = *self.root as *mut std::ffi::c_void;
            (*state).root_stack_top = self.root;
        }
    }
}

unsafe extern "C" fn enter(driver: usize, greens: *const u64) -> usize {
    // Fast path of most visits. It cannot panic, so it needs no `catch_unwind`.
    // SAFETY: `CURRENT` is null or a compiler that lives as long as the hooks are set.
    let passes = unsafe { CURRENT.load(Relaxed).as_ref() };
    if passes.is_some_and(|jit| jit.passes(driver, greens)) {
        return 0;
    }
    with_current(|jit| jit.enter(driver, greens))
}

/// Makes the code that a cell lacks, which was entered. The cell to go on by.
///
/// # Safety
/// It is called by [`arrival_code`] for a cell of the compiler.
///
/// [`arrival_code`]: taipan_codegen_cranelift::arrival_code
pub(crate) unsafe extern "C" fn resume(cell: usize) -> usize {
    with_current(|jit| {
        // SAFETY: `arrival_code` calls this in the mutator for a cell of the compiler. Its second
        // word is the address of a `Values`, which stays as long as the cell.
        let arrived = unsafe { Arrived::new(&*(load(second(cell)) as *const Values)) };
        with_room(|| jit.resume(cell, &arrived))
    })
}

unsafe extern "C" fn set_param(driver: i64, parameter: i64, value: i64) {
    with_current(|jit| {
        jit.set_param(driver, parameter, value);
        0
    });
}

unsafe extern "C" fn field_written(field: usize) {
    with_current(|jit| {
        jit.assumptions.written(field as u64);
        0
    });
}

unsafe extern "C" fn unique_string(string: usize, wide: i64) -> usize {
    with_current(|jit| jit.unique_string(string, wide != 0))
}

/// Runs `f` with the compiler of the program. Machine code cannot be unwound.
fn with_current(f: impl FnOnce(&NativeJit<'_>) -> usize) -> usize {
    let jit = CURRENT.load(Relaxed);
    // SAFETY: it is set as long as the hooks are, for the time that the value lives.
    let Some(jit) = (unsafe { jit.as_ref() }) else {
        return 0;
    };
    catch_unwind(AssertUnwindSafe(|| f(jit))).unwrap_or_else(|panic| {
        let text = format!("internal error in the JIT compiler: {}", text_of(&*panic));
        exc::fatal(text.as_bytes())
    })
}

/// What a panic says.
pub(crate) fn text_of(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "panic",
    }
}

#[cfg(test)]
mod tests {
    use taipan_lltype::{FuncType, OBJECT, SIGNED};

    use super::{Driver, ELSEWHERE, FreePasses, GreenTable, THRESHOLD};

    /// A driver whose greens are a position and a code object.
    fn driver() -> Driver {
        let (greens, result) = (vec![*SIGNED, OBJECT.ptr()], *SIGNED);
        Driver {
            objects: vec![1],
            table: GreenTable::new(greens.len()).into(),
            passes: FreePasses::new(greens.len()),
            greens,
            entry: FuncType {
                args: Vec::new(),
                result,
            },
            threshold: THRESHOLD.into(),
            young: 0.into(),
            compiled: Default::default(),
        }
    }

    #[test]
    fn a_compiler_with_code_is_never_off() {
        let driver = driver();
        assert!(!driver.is_off());
        driver.threshold.set(-1);
        assert!(driver.is_off());
        let compiled = driver.objects_of(&[3, 64]);
        driver.compiled.borrow_mut().insert(compiled);
        assert!(!driver.is_off());
    }

    #[test]
    fn loops_of_functions_with_code_are_compiled_later() {
        let mut driver = driver();
        let usual = THRESHOLD as u64;
        assert_eq!(driver.most(&[5, 64]), usual);
        let compiled = driver.objects_of(&[3, 64]);
        driver.compiled.borrow_mut().insert(compiled);
        assert_eq!(driver.most(&[5, 64]), usual * ELSEWHERE);
        assert_eq!(driver.most(&[5, 128]), usual);
        driver.threshold.set(10);
        assert_eq!(driver.most(&[5, 64]), 10);
        driver.threshold.set(THRESHOLD);
        // Without objects the function of greens is unknown.
        driver.objects.clear();
        assert_eq!(driver.most(&[5, 64]), usual);
    }
}
