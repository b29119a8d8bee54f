//! Calls of builtin functions: operations of the graph, constants, or calls of shipped functions
//! (RPython: `flowspace/specialcase.py`).

use taipan_base::ErrorCode;
use taipan_engine::{Answer, ObjectSpace};
use taipan_graph::{Const, HlOp, IntKind};
use taipan_interp::Builtin;
use taipan_language::{FlowFunction, KnownFunction};

use super::{FlowSpace, error, not_rpython};
use crate::construct::Construct;
use crate::value::Value;

impl FlowSpace<'_> {
    pub(super) fn simple_call(&mut self, callee: Value, args: &[Value]) -> Answer<Self> {
        if let Some(f) = callee.as_const().and_then(|c| self.world.builtin(c))
            && let Some(answer) = self.builtin_call(&f, args)
        {
            return answer;
        }
        let mut all = vec![callee];
        all.extend_from_slice(args);
        self.eval(HlOp::SimpleCall, &all)
    }

    /// A call of a builtin function that is no call in the graph (RPython: `SPECIAL_CASES`,
    /// `func2op`); none if it is one.
    pub(super) fn builtin_call(&mut self, f: &Builtin, args: &[Value]) -> Option<Answer<Self>> {
        match f {
            Builtin::Operation(op) if op.operands().contains(&args.len()) => {
                Some(self.eval(*op, args))
            }
            Builtin::Operation(HlOp::Str) if args.is_empty() => {
                Some(Ok(Value::Const(Const::str(""))))
            }
            Builtin::Operation(HlOp::Bool) if args.is_empty() => Some(Ok(self.bool(false))),
            Builtin::Shipped(f) => Some(self.call_shipped(f.module, f.function, args)),
            Builtin::Flow(f) => match f {
                FlowFunction::Buffer => self.buffer(args),
                FlowFunction::Coerce => self.folded_call("coerce", args).transpose(),
                FlowFunction::Import => Some(match args.first().and_then(Value::as_const) {
                    Some(Const::Str(name)) => {
                        let name = String::from_utf8_lossy(name).into_owned();
                        self.imported(&name)
                    }
                    _ => not_rpython(Construct::VariableImport),
                }),
                FlowFunction::Locals => Some(error(
                    ErrorCode::NotRPython,
                    "a function that calls locals() is not RPython",
                )),
                FlowFunction::Print => Some(self.print_function(args, None)),
            },
            Builtin::Known(KnownFunction::WeAreTranslated) => {
                Some(Ok(Value::Const(Const::Bool(true))))
            }
            Builtin::Known(KnownFunction::Bin) => Some(match self.folded_call("bin", args) {
                Ok(None) => self.call_shipped("rpython.flowspace.builtins", "rpython_bin", args),
                Ok(Some(v)) => Ok(v),
                Err(e) => Err(e),
            }),
            Builtin::Known(KnownFunction::RUint) => {
                let v = match self.folded_call("int", args) {
                    Ok(Some(Value::Const(Const::Int(i)))) => i128::from(i),
                    // What does not fit so many bits is not in the last 64 either.
                    Ok(Some(Value::Const(Const::Long(l)))) => i128::try_from(&*l).ok()?,
                    _ => return None,
                };
                let v = IntKind::UNSIGNED.wrap(v);
                Some(Ok(Value::Const(Const::RInt(IntKind::UNSIGNED, v.into()))))
            }
            _ => None,
        }
    }

    /// Whether calls of a builtin function are the flow space's, and take no keywords.
    pub(super) fn is_own(f: &Builtin) -> bool {
        use KnownFunction::{Bin, RUint, WeAreTranslated};
        matches!(
            f,
            Builtin::Operation(_)
                | Builtin::Flow(_)
                | Builtin::Known(WeAreTranslated | Bin | RUint)
        )
    }

    /// `buffer(s[, offset[, size]])` of constants. Buffers exist while compiling only: the
    /// byte string that one shows stands for it.
    pub(super) fn buffer(&mut self, args: &[Value]) -> Option<Answer<Self>> {
        let [Value::Const(Const::Str(s)), bounds @ ..] = args else {
            return None;
        };
        let bounds: Option<Vec<usize>> = (bounds.iter())
            .map(|v| match v.as_const()? {
                Const::Int(i) => usize::try_from(*i).ok(),
                _ => None,
            })
            .collect();
        let shown = match bounds?[..] {
            [] => &s[..],
            [offset] => &s[offset.min(s.len())..],
            [offset, size] => {
                let rest = &s[offset.min(s.len())..];
                &rest[..size.min(rest.len())]
            }
            _ => return None,
        };
        Some(Ok(Value::Const(Const::Str(shown.into()))))
    }

    /// Calls a function of a shipped module, which is part of every image.
    pub(super) fn call_shipped(
        &mut self,
        module: &str,
        name: &str,
        args: &[Value],
    ) -> Answer<Self> {
        let function = self.shipped_function(module, name)?;
        self.simple_call(function, args)
    }

    pub(super) fn shipped_function(&mut self, module: &str, name: &str) -> Answer<Self> {
        let function = match self.world.module(module) {
            Some(Ok(id)) => self.world.global(id, name),
            _ => None,
        };
        match function {
            Some(f) => Ok(Value::Const(f)),
            None => error(
                ErrorCode::FailedImport,
                format!("{name} of {module} is missing"),
            ),
        }
    }

    pub(super) fn print_helper(&mut self, name: &str, args: &[Value]) -> Answer<Self> {
        self.call_shipped("rpython.rlib.rprint", name, args)
    }

    pub(super) fn print_function(&mut self, args: &[Value], end: Option<&Value>) -> Answer<Self> {
        for a in args {
            let s = self.eval(HlOp::Str, std::slice::from_ref(a))?;
            self.print_helper("rpython_print_item", &[s])?;
        }
        match end {
            Some(end) => self.print_helper("rpython_print_end", std::slice::from_ref(end))?,
            None => self.print_helper("rpython_print_newline", &[])?,
        };
        Ok(Value::Const(Const::None))
    }
}
