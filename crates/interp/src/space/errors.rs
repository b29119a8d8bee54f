//! Raising exceptions.

use super::heap::{Caught, Exception, Kind, Ref};
use super::meant::Lacks;
use super::types::ty;
use super::value::Value;
use super::{Interp, R};
use taipan_engine::Unwind;

impl Interp<'_> {
    /// A new exception of a builtin class.
    pub(crate) fn exception(&mut self, class: Ref, args: Vec<Value>) -> Value {
        let e = Exception {
            args: Value::tuple(args),
            traceback: Vec::new(),
            caught: Caught::default(),
            lacks: None,
        };
        Value::Ref(self.heap.alloc(class, Kind::Exception(Box::new(e))))
    }

    /// Raises a builtin exception with these arguments.
    pub(crate) fn raise_args<T>(&mut self, class: Ref, args: Vec<Value>) -> R<T> {
        let v = self.exception(class, args);
        Err(Unwind::raised(Value::Ref(class), v))
    }

    /// Raises a builtin exception with a message.
    pub(crate) fn raise<T>(&mut self, class: Ref, message: impl AsRef<str>) -> R<T> {
        self.raise_args(class, vec![Value::str(message.as_ref())])
    }

    /// Raises TypeError.
    pub(crate) fn type_error<T>(&mut self, message: impl AsRef<str>) -> R<T> {
        self.raise(ty::TYPE_ERROR, message)
    }

    /// Raises ValueError.
    pub(crate) fn value_error<T>(&mut self, message: impl AsRef<str>) -> R<T> {
        self.raise(ty::VALUE_ERROR, message)
    }

    /// Raises IndexError.
    pub(crate) fn index_error<T>(&mut self, message: impl AsRef<str>) -> R<T> {
        self.raise(ty::INDEX_ERROR, message)
    }

    /// Raises KeyError.
    pub(crate) fn key_error<T>(&mut self, key: &Value) -> R<T> {
        self.raise_args(ty::KEY_ERROR, vec![key.clone()])
    }

    /// Raises AttributeError for a missing attribute.
    pub(crate) fn no_attribute<T>(&mut self, obj: &Value, name: &str) -> R<T> {
        let message = match obj {
            Value::Ref(r) if self.heap.class(*r).is_some_and(|c| c.old_style) => {
                format!(
                    "class {} has no attribute '{name}'",
                    self.heap.class_name(*r)
                )
            }
            Value::Ref(r) if self.heap.class(*r).is_some() => {
                format!(
                    "type object '{}' has no attribute '{name}'",
                    self.heap.class_name(*r)
                )
            }
            Value::Ref(r) if matches!(self.heap.kind(*r), Kind::Module(_)) => {
                format!("'module' object has no attribute '{name}'")
            }
            Value::Ref(r) if self.heap.the_class(self.heap.get(*r).class).old_style => {
                format!(
                    "{} instance has no attribute '{name}'",
                    self.heap.class_name(self.heap.get(*r).class)
                )
            }
            _ => format!(
                "'{}' object has no attribute '{name}'",
                self.heap.type_name(obj)
            ),
        };
        let lacks = Lacks::Attribute(obj.clone(), name.into());
        self.raise_lacking(ty::ATTRIBUTE_ERROR, message, lacks)
    }

    /// Turns an exception of this class into None.
    pub(crate) fn catch<T>(&mut self, r: R<T>, class: Ref) -> R<Option<T>> {
        match r {
            Ok(v) => Ok(Some(v)),
            Err(Unwind::Raise(raised)) if self.matches(&raised.0, &Value::Ref(class)) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// What `raise` with these operands raises.
    pub(crate) fn raise_operands(&mut self, operands: &[Value]) -> R<(Value, Value)> {
        let arg = operands.get(1).cloned().unwrap_or(Value::None);
        let Some(first) = operands.first() else {
            self.use_exc_info();
            return match &self.exc_info {
                Some((t, v)) => Ok((t.clone(), v.clone())),
                None => self.type_error(
                    "exceptions must be old-style classes or derived from BaseException, not NoneType",
                ),
            };
        };
        // `raise (E, x), y` raises E.
        if let Value::Tuple(t) = first
            && let Some(head) = t.first()
        {
            let head = head.clone();
            return self.raise_operands(&[head, arg]);
        }
        if let Value::Ref(c) = first
            && let Some(class) = self.heap.class(*c)
            && (class.old_style || self.heap.is_subclass(*c, ty::BASE_EXCEPTION))
        {
            let value = if self.is_instance_of(&arg, *c) {
                arg
            } else {
                let args = match &arg {
                    Value::None => vec![],
                    Value::Tuple(t) => t.to_vec(),
                    other => vec![other.clone()],
                };
                self.call(first, &args)?
            };
            return Ok((Value::Ref(self.heap.type_of(&value)), value));
        }
        let class = self.heap.type_of(first);
        let fine = self.heap.the_class(class).old_style
            || self.heap.is_subclass(class, ty::BASE_EXCEPTION);
        if !fine {
            let name = self.heap.type_name(first).to_owned();
            return self.type_error(format!(
                "exceptions must be old-style classes or derived from BaseException, not {name}"
            ));
        }
        if !arg.is_none() {
            return self.type_error("instance exception may not have a separate value");
        }
        Ok((Value::Ref(class), first.clone()))
    }

    /// Whether an exception class matches an `except` clause. While a program loads, the stack overflows by a
    /// RuntimeError, as Python's does.
    pub(crate) fn matches(&self, etype: &Value, class: &Value) -> bool {
        match (etype, class) {
            (_, Value::Tuple(t)) => t.iter().any(|c| self.matches(etype, c)),
            (Value::Ref(e), Value::Ref(c)) => {
                self.heap.is_subclass(*e, *c)
                    || *c == ty::STACK_OVERFLOW && self.heap.is_subclass(*e, ty::RUNTIME_ERROR)
            }
            _ => false,
        }
    }
}
