//! The object space that records operations.
//!
//! An instruction that comes to a fork in the middle of its work (a truth test, an
//! operation that may raise where somebody catches it) ends the block and is executed
//! again in each of the blocks that follow: what it had recorded is then answered
//! from the log, up to the fork, whose outcome the log has too
//! (RPython: `Replayer`).

mod builtins;

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_base::{ErrorCode, Problem};
use taipan_code::{CallDesc, Code, CodeId, ImportDesc, Instr};
use taipan_engine::{Answer, Frame, Named, Next, ObjectSpace, Truth, Unwind};
use taipan_graph::{BlockId, CallShape, Const, FunctionGraph, HlOp, ObjId, Operation, VarId};
use taipan_interp::constants::{Computed, ConstantSpace};
use taipan_interp::{Builtin, ObjData, named_id};
use taipan_language::{Exc, FlowFunction, instead_of_module};

use crate::build::CLOSURE;
use crate::construct::Construct;
use crate::fold::{fold, fold_call};
use crate::value::{Operand, Value};
use crate::world::World;
use crate::{ERROR_VALUE, FAILED_IMPORT, FlowError, INSTEAD_OF_RAISING, Lacks, no_exception};

/// Why an instruction does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It wants to record something, and control has come here from several places:
    /// the state has to be merged first.
    Merge,
    /// A truth test.
    ForkBool(Operand),
    /// The last operation may raise these.
    ForkException(Vec<ObjId>),
    /// The function is not RPython.
    Error(FlowError),
}

/// Something an instruction has done already.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Recorded an operation with this result.
    Op(VarId),
    /// Tested a truth.
    Bool(bool),
    /// Let an operation raise: its class and instance, or nothing.
    Exception(Option<(Operand, VarId)>),
}

/// The flow space.
pub(crate) struct FlowSpace<'a> {
    pub(crate) world: World<'a>,
    /// What computes with constants.
    pub(crate) constants: ConstantSpace<'a>,
    pub(crate) graph: FunctionGraph,
    /// The constants of the function's code.
    pub(crate) consts: Vec<Value>,
    /// Name of the module whose globals the function uses.
    pub(crate) module: &'a str,
    /// Where operations are recorded.
    pub(crate) block: BlockId,
    /// The instruction.
    pub(crate) at: u32,
    /// Whether an exception would be caught here.
    pub(crate) protected: bool,
    /// A handler around the current instruction names MemoryError.
    pub(crate) catches_memory_error: bool,
    /// Whether what the instruction works on is written as literals.
    pub(crate) literal_operands: bool,
    /// Whether the state must be merged before anything is recorded.
    pub(crate) merge_due: bool,
    /// What the instruction has done so far.
    pub(crate) log: Vec<Event>,
    /// How much of the log has been answered.
    pub(crate) replayed: usize,
    /// Values of which nothing is known because an operation is wrong.
    pub(crate) errors: FxHashSet<VarId>,
    /// Whether inner functions use variables of this one, which is told of the function as a
    /// whole.
    pub(crate) leaks: bool,
    /// Makes function objects of nested functions.
    pub(crate) make_function: &'a dyn Fn(CodeId, &[Const]) -> ObjId,
}

type Raised = Unwind<Value, Stop>;

fn error<T>(code: ErrorCode, message: impl Into<String>) -> Result<T, Raised> {
    Err(Unwind::Stop(Stop::Error(FlowError::new(code, message))))
}

/// Stops at a construct that RPython does not have.
pub(crate) fn not_rpython<T>(construct: Construct<'_>) -> Result<T, Raised> {
    Err(Unwind::Stop(Stop::Error(construct.error())))
}

/// The error for a use of a standard module without source.
fn not_in_translated_code(module: &str) -> FlowError {
    let text = format!("module {module} of Python's library cannot be used in translated code");
    let help = instead_of_module(module).unwrap_or("look for a replacement in rpython.rlib");
    FlowError::new(ErrorCode::ConstantRaises, text).with_help(help)
}

fn no_string_exception<T>(what: &str) -> Result<T, Raised> {
    let error = FlowError::new(ErrorCode::NotRPython, no_exception(what));
    Err(Unwind::Stop(Stop::Error(
        error.with_help(INSTEAD_OF_RAISING),
    )))
}

/// What works on a variable that an inner function uses.
fn captured<T>() -> Result<T, Raised> {
    error(CLOSURE, "this variable is used by an inner function")
}

fn builtin(name: &str) -> Value {
    Value::Const(Const::Obj(named_id(name)))
}

impl FlowSpace<'_> {
    /// Does an operation: folds it, or records it.
    fn eval(&mut self, op: HlOp, args: &[Value]) -> Answer<Self> {
        let mut operands = Vec::with_capacity(args.len());
        for a in args {
            match a.operand() {
                Some(o) => operands.push(o),
                None => return not_rpython(Construct::Operand),
            }
        }
        let constants: Option<Vec<Const>> =
            operands.iter().map(|o| o.as_const().cloned()).collect();
        if let Some(constants) = constants
            && let Some(v) = self.folded(op, &constants)?
        {
            return Ok(v);
        }
        let raises: &'static [Exc] = match operands.first() {
            Some(Operand::Const(callee)) if matches!(op, HlOp::SimpleCall | HlOp::CallArgs) => {
                self.world.call_raises(callee).unwrap_or(op.raises())
            }
            _ => op.raises(),
        };
        let result = self.record(op, operands)?;
        let raises = self.with_memory_error(op, raises);
        if self.protected && !raises.is_empty() {
            self.guess_exception(&raises)?;
        }
        Ok(Value::Var(result))
    }

    /// What an operation raises, and MemoryError if that is caught by name: all that makes an
    /// object may raise it. RPython has no such links, which would be in the way everywhere.
    fn with_memory_error(&self, op: HlOp, raises: &'static [Exc]) -> Cow<'static, [Exc]> {
        let adds = self.catches_memory_error && op.may_allocate();
        if !adds || raises.contains(&Exc::Exception) {
            return Cow::Borrowed(raises);
        }
        Cow::Owned([raises, &[Exc::MemoryError]].concat())
    }

    /// The result of an operation on constants, if it is folded.
    fn folded(&mut self, op: HlOp, args: &[Const]) -> Result<Option<Value>, Raised> {
        let computed = fold(self.world, &mut self.constants, op, args);
        self.computed(|args| op.applied(args), args, computed)
    }

    /// The same for a builtin function.
    fn folded_call(&mut self, function: &str, args: &[Value]) -> Result<Option<Value>, Raised> {
        let args: Option<Vec<Const>> = args.iter().map(|v| v.as_const().cloned()).collect();
        let Some(args) = args else { return Ok(None) };
        let computed = fold_call(self.world, &mut self.constants, function, &args);
        self.computed(
            |args| format!("{function}({})", args.join(", ")),
            &args,
            computed,
        )
    }

    fn computed(
        &self,
        written: impl Fn(&[String]) -> String,
        args: &[Const],
        computed: Computed,
    ) -> Result<Option<Value>, Raised> {
        match computed {
            Computed::To(c) => Ok(Some(self.constant(c))),
            Computed::Unknown => Ok(None),
            Computed::Raises(raised) => {
                if let [Const::Obj(of), Const::Str(name)] = args
                    && &*raised.class == "AttributeError"
                {
                    let name = String::from_utf8_lossy(name);
                    let lacks = Lacks::Attribute(*of, name.as_ref().into());
                    if let Some(module) = self.world.empty_module(*of) {
                        let error = not_in_translated_code(module).with_lacking(lacks);
                        return Err(Unwind::Stop(Stop::Error(error)));
                    }
                    let of_what = self.describe(&args[0]);
                    let text = format!(
                        "{} has no attribute `{name}`",
                        of_what.trim_matches(['<', '>'])
                    );
                    let error = FlowError::new(ErrorCode::ConstantRaises, text).with_lacking(lacks);
                    return Err(Unwind::Stop(Stop::Error(error)));
                }
                let args: Vec<_> = args.iter().map(|c| self.describe(c)).collect();
                let (class, message) = (raised.class, raised.message);
                let mut text = format!("`{}` always raises {class}", written(&args));
                if !message.is_empty() {
                    text += &format!(": {message}");
                }
                error(ErrorCode::ConstantRaises, text)
            }
        }
    }

    /// A constant, or what it wants to be replaced by.
    fn constant(&self, c: Const) -> Value {
        if let Const::Obj(id) = &c
            && let Some(f) = self.world.function(*id)
            && let Some(other) = f.get("_flowspace_rewrite_directly_as_")
        {
            return Value::Const(other.clone());
        }
        Value::Const(c)
    }

    /// A constant for people.
    fn describe(&self, c: &Const) -> String {
        let id = match c {
            Const::Obj(id) => id,
            Const::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|c| self.describe(c)).collect();
                return match &items[..] {
                    [one] => format!("({one},)"),
                    all => format!("({})", all.join(", ")),
                };
            }
            _ => return c.to_string(),
        };
        match self.world.object(*id) {
            Some(ObjData::Module { name }) => format!("<module {name}>"),
            Some(ObjData::Class(c)) => format!("<class {}.{}>", c.module, c.name),
            Some(ObjData::Function(f)) => format!("<function {}.{}>", f.module, f.name),
            Some(ObjData::Instance(i)) => match self.world.class(i.class) {
                Some(c) => format!("<{}.{} object>", c.module, c.name),
                None => "<object>".into(),
            },
            Some(ObjData::Builtin { name, .. }) => format!("<builtin {name}>"),
            Some(ObjData::List(_)) => "<list>".into(),
            Some(ObjData::Dict(_)) => "<dict>".into(),
            _ => "<object>".into(),
        }
    }

    fn record(&mut self, op: HlOp, args: Vec<Operand>) -> Result<VarId, Raised> {
        if let Some(Event::Op(v)) = self.log.get(self.replayed) {
            self.replayed += 1;
            return Ok(*v);
        }
        if self.merge_due {
            return Err(Unwind::Stop(Stop::Merge));
        }
        let result = self.graph.new_var("", ());
        self.graph.block_mut(self.block).operations.push(Operation {
            op,
            args: args.into(),
            result,
            at: self.at,
        });
        self.log.push(Event::Op(result));
        self.replayed += 1;
        Ok(result)
    }

    /// A value of which nothing is known because an operation is wrong; none where the state
    /// has to be merged before anything is recorded.
    pub(crate) fn error_value(&mut self) -> Option<Value> {
        let callee = Operand::Const(Const::Obj(named_id(ERROR_VALUE)));
        let v = self.record(HlOp::SimpleCall, vec![callee]).ok()?;
        self.errors.insert(v);
        Some(Value::Var(v))
    }

    /// Which way a truth test goes.
    fn guess_bool(&mut self, condition: &Value) -> Result<bool, Raised> {
        if let Some(Const::Bool(b)) = condition.as_const() {
            return Ok(*b);
        }
        if let Some(Event::Bool(b)) = self.log.get(self.replayed) {
            self.replayed += 1;
            return Ok(*b);
        }
        match condition.operand() {
            Some(o) => Err(Unwind::Stop(Stop::ForkBool(o))),
            None => not_rpython(Construct::Truth),
        }
    }

    fn guess_exception(&mut self, classes: &[Exc]) -> Result<(), Raised> {
        if let Some(Event::Exception(outcome)) = self.log.get(self.replayed) {
            self.replayed += 1;
            return match outcome {
                None => Ok(()),
                Some((class, value)) => Err(Unwind::raised(
                    Value::Implicit(class.clone()),
                    Value::Var(*value),
                )),
            };
        }
        let classes = classes.iter().map(|c| named_id(c.qualified())).collect();
        Err(Unwind::Stop(Stop::ForkException(classes)))
    }

    /// The truth of a value.
    fn is_true(&mut self, v: &Value) -> Result<bool, Raised> {
        let b = self.eval(HlOp::Bool, std::slice::from_ref(v))?;
        self.guess_bool(&b)
    }

    /// The exception that `raise` makes of a class or instance and what follows it.
    fn exc_from_raise(&mut self, first: &Value, second: &Value) -> Result<(Value, Value), Raised> {
        let none = Value::Const(Const::None);
        let type_ = builtin("__builtin__.type");
        let is_type = match first.as_const() {
            Some(Const::Obj(id)) if self.world.class(*id).is_some() => {
                Value::Const(Const::Bool(true))
            }
            Some(Const::Str(_)) => return no_string_exception("a str"),
            Some(Const::Unicode(_)) => return no_string_exception("a unicode"),
            _ => self.eval(HlOp::IsInstance, &[first.clone(), type_])?,
        };
        let value = if self.guess_bool(&is_type)? {
            let alone = self.eval(HlOp::Is, &[second.clone(), none])?;
            if self.guess_bool(&alone)? {
                self.simple_call(first.clone(), &[])?
            } else {
                // Whatever is no instance of the class is an argument for it.
                let fits = self.eval(HlOp::IsInstance, &[second.clone(), first.clone()])?;
                if self.guess_bool(&fits)? {
                    second.clone()
                } else {
                    self.simple_call(first.clone(), std::slice::from_ref(second))?
                }
            }
        } else {
            let alone = self.eval(HlOp::Is, &[second.clone(), none])?;
            if !self.guess_bool(&alone)? {
                return error(
                    ErrorCode::NotRPython,
                    "an instance that is raised cannot have a separate value",
                );
            }
            first.clone()
        };
        // As in RPython, a prebuilt instance is known no longer once it is raised: what
        // handlers say of it is the same whichever one comes.
        let value = match value {
            Value::Const(_) => {
                self.call_shipped("rpython.rlib.debug", "ll_assert_not_none", &[value])?
            }
            _ => value,
        };
        let class = self.eval(HlOp::Type, std::slice::from_ref(&value))?;
        Ok((class, value))
    }

    fn matches(&mut self, etype: &Value, class: &Const) -> Result<bool, Raised> {
        match class {
            Const::Tuple(classes) => {
                for class in classes.iter() {
                    if self.matches(etype, class)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Const::Obj(id) if let Some(data) = self.world.class(*id) => {
                for never in [
                    "exceptions.NotImplementedError",
                    "exceptions.AssertionError",
                ] {
                    if self.world.is_exception(*id, never) {
                        let name = match &*data.module {
                            "exceptions" => data.name.to_string(),
                            module => format!("class {module}.{}", data.name),
                        };
                        let text = format!("catching {name} is not RPython");
                        let error = FlowError::new(ErrorCode::InvalidExcept, text).with_help(
                            "it ends the program: test for it, or raise another exception",
                        );
                        return Err(Unwind::Stop(Stop::Error(error)));
                    }
                }
                let args = [etype.clone(), Value::Const(class.clone())];
                let matches = self.eval(HlOp::IsSubtype, &args)?;
                self.guess_bool(&matches)
            }
            other => {
                let text = self.describe(other);
                error(
                    ErrorCode::InvalidExcept,
                    format!("{text} in an except clause is no exception class"),
                )
            }
        }
    }

    fn imported(&mut self, name: &str) -> Answer<Self> {
        match self.world.module(name) {
            Some(Ok(id)) => Ok(Value::Const(Const::Obj(id))),
            Some(Err(e)) if !is_missing(&e, name) => self.failed_import(name, e),
            Some(Err(e)) => self.import_error(e),
            None => {
                let text = format!("there is no module `{name}`");
                let problem = Problem::NoModule { name: name.into() };
                let error = FlowError::new(ErrorCode::FailedImport, text);
                self.import_error(error.with_module(Some(problem)))
            }
        }
    }

    /// A module that is there fails while it loads, which does not matter unless the import
    /// is reached.
    fn failed_import(&mut self, module: &str, error: FlowError) -> Answer<Self> {
        if self.protected {
            return self.import_error(error);
        }
        let text = |t: &str| Operand::Const(Const::str(t));
        let callee = Operand::Const(Const::Obj(named_id(FAILED_IMPORT)));
        let mut args = vec![callee, text(module), text(&error.message)];
        args.extend(error.help.map(|help| text(&help.to_string())));
        self.record(HlOp::SimpleCall, args).map(Value::Var)
    }

    /// An import fails: somebody may catch that.
    fn import_error(&self, error: FlowError) -> Answer<Self> {
        if !self.protected {
            return Err(Unwind::Stop(Stop::Error(error)));
        }
        let class = builtin("exceptions.ImportError");
        Err(Unwind::raised(class, Value::Const(Const::None)))
    }
}

impl FlowSpace<'_> {
    fn attribute(&mut self, obj: &Value, name: &str) -> Answer<Self> {
        let name = Value::Const(Const::str(name));
        self.eval(HlOp::GetAttr, &[obj.clone(), name])
    }
}

impl ObjectSpace for FlowSpace<'_> {
    type Value = Value;
    type Stop = Stop;

    fn code_constant(&self, i: u32) -> &Value {
        &self.consts[i as usize]
    }

    fn op(&mut self, op: HlOp, args: &[Value]) -> Answer<Self> {
        match op {
            HlOp::Pow => {
                // Of literals only: these CPython's compiler computes.
                let folded = if self.literal_operands {
                    self.folded_call(op.name(), args)?
                } else {
                    None
                };
                folded.map_or_else(|| not_rpython(Construct::Power), Ok)
            }
            HlOp::InplacePow => not_rpython(Construct::InplacePower),
            HlOp::Iter => {
                if let Some(c) = args[0].as_const()
                    && let Some(items) = self.world.unrolling_items(c)
                {
                    return Ok(Value::Unroller(items, 0));
                }
                self.eval(op, args)
            }
            HlOp::NewDict => {
                let dict = self.eval(op, &[])?;
                for pair in args.chunks(2) {
                    let [key, value] = pair else { continue };
                    self.eval(HlOp::SetItem, &[dict.clone(), key.clone(), value.clone()])?;
                }
                Ok(dict)
            }
            op => self.eval(op, args),
        }
    }

    fn truth(&mut self, v: &Value) -> Answer<Self, Truth> {
        self.is_true(v).map(Truth::Known)
    }

    fn bool(&mut self, b: bool) -> Value {
        Value::Const(Const::Bool(b))
    }

    /// Of a `for` loop: StopIteration is always caught.
    fn next(&mut self, it: &Value) -> Answer<Self, Next<Value>> {
        let Some(it) = it.operand() else {
            return not_rpython(Construct::Iterator);
        };
        let item = self.record(HlOp::Next, vec![it])?;
        let raises = self.with_memory_error(HlOp::Next, HlOp::Next.raises());
        match self.guess_exception(&raises) {
            Ok(()) => Ok(Next::Item(Value::Var(item))),
            Err(Unwind::Raise(raised))
                if raised.0.as_const()
                    == Some(&Const::Obj(named_id("exceptions.StopIteration"))) =>
            {
                Ok(Next::Exhausted)
            }
            Err(other) => Err(other),
        }
    }

    fn unpack(&mut self, v: &Value, n: u32) -> Answer<Self, Vec<Value>> {
        let len = self.eval(HlOp::Len, std::slice::from_ref(v))?;
        let wanted = Value::Const(Const::Int(i64::from(n)));
        let fits = self.eval(HlOp::Eq, &[len, wanted])?;
        if !self.is_true(&fits)? {
            let class = builtin("exceptions.ValueError");
            let (class, value) = self.exc_from_raise(&class, &Value::Const(Const::None))?;
            return Err(Unwind::raised(class, value));
        }
        (0..i64::from(n))
            .map(|i| self.eval(HlOp::GetItem, &[v.clone(), Value::Const(Const::Int(i))]))
            .collect()
    }

    fn build_set(&mut self, _: &[Value]) -> Answer<Self> {
        not_rpython(Construct::Set)
    }

    fn list_append(&mut self, list: &Value, v: Value) -> Answer<Self, ()> {
        let append = self.attribute(list, "append")?;
        self.simple_call(append, &[v]).map(drop)
    }

    fn set_add(&mut self, _: &Value, _: Value) -> Answer<Self, ()> {
        // That there is a set at all is what is wrong.
        Ok(())
    }

    fn dict_add(&mut self, _: &Value, _: Value, _: Value) -> Answer<Self, ()> {
        let e = FlowError::new(ErrorCode::NotRPython, "a dict comprehension is not RPython")
            .with_help("fill a dict in a loop");
        Err(Unwind::Stop(Stop::Error(e)))
    }

    fn load_attr(&mut self, obj: &Value, name: Named<'_>) -> Answer<Self> {
        self.attribute(obj, name.text)
    }

    fn store_attr(&mut self, obj: &Value, name: Named<'_>, v: Value) -> Answer<Self, ()> {
        let name = Value::Const(Const::str(name.text));
        self.eval(HlOp::SetAttr, &[obj.clone(), name, v]).map(drop)
    }

    fn delete_attr(&mut self, _: &Value, _: &str) -> Answer<Self, ()> {
        not_rpython(Construct::DeletedAttribute)
    }

    fn unbound_local(&mut self, name: &str) -> Raised {
        let message = format!("variable `{name}` may have no value here");
        let error = FlowError::new(ErrorCode::MaybeUnassigned, message)
            .with_help("assign to it on every way that leads here");
        Unwind::Stop(Stop::Error(error))
    }

    fn load_global(&mut self, frame: &Frame<Value>, name: Named<'_>) -> Answer<Self> {
        let name = name.text;
        let undefined = || {
            FlowError::new(
                ErrorCode::UndefinedName,
                format!("name `{name}` is not defined"),
            )
        };
        let Some(Const::Obj(globals)) = frame.globals.as_const() else {
            return Err(Unwind::Stop(Stop::Error(undefined())));
        };
        let found = (self.world.global(*globals, name))
            .or_else(|| self.world.global(named_id("__builtin__"), name));
        match found {
            Some(c) => Ok(self.constant(c)),
            None => {
                let lacks = Lacks::Variable(*globals, name.into());
                Err(Unwind::Stop(Stop::Error(undefined().with_lacking(lacks))))
            }
        }
    }

    fn store_global(&mut self, _: &Frame<Value>, name: Named<'_>, _: Value) -> Answer<Self, ()> {
        let name = name.text;
        Err(Unwind::Stop(Stop::Error(
            FlowError::new(
                ErrorCode::GlobalChanged,
                format!("the global variable `{name}` is modified"),
            )
            .with_help(
                "globals are constants: keep what changes in an attribute of a global object",
            ),
        )))
    }

    fn delete_global(&mut self, _: &Frame<Value>, name: &str) -> Answer<Self, ()> {
        error(
            ErrorCode::GlobalChanged,
            format!("the global variable `{name}` is deleted"),
        )
    }

    fn load_name(&mut self, frame: &Frame<Value>, name: Named<'_>) -> Answer<Self> {
        self.load_global(frame, name)
    }

    fn store_name(&mut self, frame: &Frame<Value>, name: Named<'_>, v: Value) -> Answer<Self, ()> {
        self.store_global(frame, name, v)
    }

    fn delete_name(&mut self, frame: &Frame<Value>, name: &str) -> Answer<Self, ()> {
        self.delete_global(frame, name)
    }

    fn new_cell(&mut self, _: Option<Value>) -> Value {
        Value::Cell(None)
    }

    fn load_cell(&mut self, cell: &Value, name: &str) -> Answer<Self> {
        match cell {
            Value::Cell(Some(c)) => Ok(self.constant(c.clone())),
            // Of a function that has inner ones which use its variables: that is told.
            Value::Cell(None) if self.leaks => captured(),
            _ => error(
                ErrorCode::MaybeUnassigned,
                format!("variable `{name}` of the outer function has no value"),
            ),
        }
    }

    fn store_cell(&mut self, _: &Value, _: Value) -> Answer<Self, ()> {
        // That an inner function uses the variable is what is wrong.
        Ok(())
    }

    fn call(
        &mut self,
        code: &Code,
        frame: &Frame<Value>,
        callee: &Value,
        desc: &CallDesc,
        args: &[Value],
    ) -> Answer<Self> {
        // `__exit__(class, value, None)`: a class could not be merged with the None of
        // the call that happens without exception, so the value stands for it.
        let next = code.instrs.get(frame.pc as usize + 1);
        let handled;
        let args = match (next, args) {
            (Some(Instr::JumpIfSuppressed(_)), [_, value, none]) => {
                handled = [value.clone(), value.clone(), none.clone()];
                &handled
            }
            _ => args,
        };
        if desc.dstar {
            return not_rpython(Construct::UnpackedDict);
        }
        let (mut positional, rest) = args.split_at(desc.positional as usize);
        let (values, star) = rest.split_at(desc.keywords.len());
        let mut keywords: Vec<(&str, &Value)> =
            desc.keywords.iter().map(|k| &**k).zip(values).collect();
        keywords.sort_by_key(|(name, _)| *name);
        let builtin = callee.as_const().and_then(|c| self.world.builtin(c));
        if builtin == Some(Builtin::Flow(FlowFunction::Print)) {
            return match &keywords[..] {
                _ if !star.is_empty() => not_rpython(Construct::PrintUnpacked),
                [] => self.print_function(positional, None),
                [("end", end)] => self.print_function(positional, Some(end)),
                [(other, _), ..] => not_rpython(Construct::PrintKeyword(other)),
            };
        }
        // A constant tuple after the star is as good as arguments written out.
        let mut expanded;
        let mut star = star.first();
        if let Some(Const::Tuple(items)) = star.and_then(Value::as_const)
            && keywords.is_empty()
        {
            expanded = positional.to_vec();
            expanded.extend(items.iter().map(|c| self.constant(c.clone())));
            positional = &expanded;
            star = None;
        }
        if keywords.is_empty() && star.is_none() {
            return self.simple_call(callee.clone(), positional);
        }
        let shipped;
        let mut callee = callee;
        if let Some(Builtin::Shipped(f)) = builtin {
            shipped = self.shipped_function(f.module, f.function)?;
            callee = &shipped;
        } else if builtin.is_some_and(|f| FlowSpace::is_own(&f)) {
            return not_rpython(Construct::BuiltinKeyword);
        }
        let shape = CallShape {
            positional: positional.len() as u32,
            keywords: keywords.iter().map(|(name, _)| (*name).into()).collect(),
            star: star.is_some(),
        };
        let mut all = vec![callee.clone(), Value::Const(Const::Shape(Arc::new(shape)))];
        all.extend_from_slice(positional);
        all.extend(keywords.into_iter().map(|(_, v)| v.clone()));
        all.extend(star.cloned());
        self.eval(HlOp::CallArgs, &all)
    }

    fn make_function(
        &mut self,
        _: &Frame<Value>,
        body: CodeId,
        defaults: &[Value],
        closure: &[Value],
    ) -> Answer<Self> {
        if !closure.is_empty() {
            return captured();
        }
        let defaults: Option<Vec<Const>> = defaults.iter().map(|v| v.as_const().cloned()).collect();
        match defaults {
            Some(defaults) => {
                let f = (self.make_function)(body, &defaults);
                Ok(Value::Const(Const::Obj(f)))
            }
            None => not_rpython(Construct::NestedDefaults),
        }
    }

    fn build_class(&mut self, _: &Frame<Value>, _: &Value, _: &Value, _: &Value) -> Answer<Self> {
        not_rpython(Construct::InnerClass)
    }

    fn raise(&mut self, operands: &[Value]) -> Raised {
        let none = Value::Const(Const::None);
        let Some(first) = operands.first() else {
            return Unwind::Stop(Stop::Error(FlowError::new(
                ErrorCode::NotRPython,
                "nothing to raise",
            )));
        };
        match self.exc_from_raise(first, operands.get(1).unwrap_or(&none)) {
            Ok((class, value)) => Unwind::raised(class, value),
            Err(e) => e,
        }
    }

    fn exc_match(&mut self, etype: &Value, class: &Value) -> Answer<Self> {
        let Some(class) = class.as_const().cloned() else {
            return error(
                ErrorCode::InvalidExcept,
                "an except clause needs a constant class",
            );
        };
        let matches = self.matches(etype, &class)?;
        Ok(Value::Const(Const::Bool(matches)))
    }

    fn import(&mut self, _: &Frame<Value>, desc: &ImportDesc) -> Answer<Self> {
        let package = |dots: usize| {
            let mut parts: Vec<&str> = self.module.split('.').collect();
            parts.truncate(parts.len().saturating_sub(dots));
            parts.join(".")
        };
        let relative = |dots| match (package(dots), &*desc.name) {
            (p, "") => p,
            (p, name) if p.is_empty() => name.to_owned(),
            (p, name) => format!("{p}.{name}"),
        };
        let full = match desc.level {
            0 => desc.name.to_string(),
            n if n > 0 => relative(n as usize),
            _ => {
                let inner = relative(1);
                match self.world.module(&inner) {
                    Some(Ok(_)) => inner,
                    _ => desc.name.to_string(),
                }
            }
        };
        let leaf = self.imported(&full)?;
        let failed = matches!(leaf, Value::Var(_));
        if failed || desc.from.is_some() || desc.bind_leaf {
            return Ok(leaf);
        }
        match full.split_once('.') {
            Some((top, _)) => self.imported(top),
            None => Ok(leaf),
        }
    }

    fn import_from(&mut self, module: &Value, name: &str) -> Answer<Self> {
        if matches!(module, Value::Var(_)) {
            return self.eval(
                HlOp::GetAttr,
                &[module.clone(), Value::Const(Const::str(name))],
            );
        }
        let mut error = FlowError::new(
            ErrorCode::FailedImport,
            format!("cannot import name `{name}`"),
        );
        if let Some(Const::Obj(id)) = module.as_const() {
            if let Some(c) = self.world.global(*id, name) {
                return Ok(self.constant(c));
            }
            error = error.with_lacking(Lacks::Attribute(*id, name.into()));
            if let Some(ObjData::Module { name: package }) = self.world.object(*id) {
                let module = format!("{package}.{name}");
                match self.world.module(&module) {
                    Some(Ok(id)) => return Ok(Value::Const(Const::Obj(id))),
                    Some(Err(e)) if !is_missing(&e, &module) => {
                        return self.failed_import(&module, e);
                    }
                    _ => {}
                }
            }
        }
        self.import_error(error)
    }

    fn import_star(&mut self, _: &Frame<Value>, _: &Value) -> Answer<Self, ()> {
        not_rpython(Construct::InnerStar)
    }

    fn print_item(&mut self, file: Option<&Value>, v: &Value) -> Answer<Self, ()> {
        if file.is_some() {
            return not_rpython(Construct::PrintTo);
        }
        let s = self.eval(HlOp::Str, std::slice::from_ref(v))?;
        self.print_helper("rpython_print_item", &[s]).map(drop)
    }

    fn print_newline(&mut self, file: Option<&Value>) -> Answer<Self, ()> {
        if file.is_some() {
            return not_rpython(Construct::PrintTo);
        }
        self.print_helper("rpython_print_newline", &[]).map(drop)
    }

    fn exec(
        &mut self,
        _: &Code,
        _: &mut Frame<Value>,
        _: &Value,
        _: &Value,
        _: &Value,
    ) -> Answer<Self, ()> {
        not_rpython(Construct::Exec)
    }
}

/// Whether an import fails because there is no module of that name.
fn is_missing(error: &FlowError, module: &str) -> bool {
    matches!(&error.module, Some(Problem::NoModule { name }) if **name == *module)
}
