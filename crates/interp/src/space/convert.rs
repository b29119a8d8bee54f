//! Making instances of builtin classes: `int(x)`, `list(x)`, `str(x)` and so on,
//! for the classes themselves and for their subclasses.

use super::builtin::Args;
use super::builtins::object::make_method;
use super::collect::WeakRef;
use super::dict::Dict;
use super::heap::{Caught, Exception, Kind, Ref};
use super::modules::sys::make_function;
use super::modules::system::new_stat_result;
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

impl Interp<'_> {
    /// What the builtin `__new__` of a class does. `own_init` says that an
    /// `__init__` written in Python follows, which is what the arguments are for.
    pub(crate) fn builtin_new(&mut self, class: Ref, args: Args<'_>, own_init: bool) -> R {
        let layout = self.heap.the_class(class).layout;
        let Some(layout) = layout else {
            return self.new_plain(class);
        };
        let kind = match layout {
            ty::TYPE => return self.make_type(class, args),
            ty::FUNCTION => return make_function(self, args),
            ty::METHOD => return make_method(self, args),
            ty::LIST => Kind::List(Vec::new()),
            ty::DICT => Kind::Dict(Dict::default()),
            ty::SET => Kind::Set(Dict::default()),
            ty::FROZENSET => {
                if let (Some(v @ Value::Ref(r)), true) = (args.get(0), class == ty::FROZENSET)
                    && self.heap.get(*r).class == ty::FROZENSET
                {
                    return Ok(v.clone());
                }
                Kind::FrozenSet(self.table_of(args.get(0))?)
            }
            ty::BASE_EXCEPTION => Kind::Exception(Box::new(Exception {
                args: Value::tuple(if own_init { vec![] } else { args.pos.to_vec() }),
                traceback: Vec::new(),
                caught: Caught::default(),
                lacks: None,
            })),
            ty::MODULE => {
                let name = args
                    .get(0)
                    .and_then(Value::as_text)
                    .unwrap_or("?")
                    .to_owned();
                let m = self.heap.alloc(class, Kind::Module(name.as_str().into()));
                self.heap.set_attr(m, "__name__", Value::str(&name));
                return Ok(Value::Ref(m));
            }
            ty::PROPERTY => {
                let part = |i, n| args.named(i, n).cloned().unwrap_or(Value::None);
                Kind::Property(Box::new([
                    part(0, "fget"),
                    part(1, "fset"),
                    part(2, "fdel"),
                    part(3, "doc"),
                ]))
            }
            ty::STATICMETHOD => Kind::StaticMethod(args.need(self, 0, "staticmethod")?.clone()),
            ty::CLASSMETHOD => Kind::ClassMethod(args.need(self, 0, "classmethod")?.clone()),
            ty::WEAKREF => Kind::WeakRef(Box::new(WeakRef {
                target: args.need(self, 0, "ref")?.clone(),
                callback: args.get(1).cloned().unwrap_or(Value::None),
                hash: None,
                is_finalizer: false,
            })),
            ty::SUPER => return self.make_super(args),
            _ if class == ty::STAT_RESULT => return new_stat_result(self, args),
            immutable => {
                let args = if own_init && immutable == ty::TUPLE && args.pos.len() > 1 {
                    Args::new(&args.pos[..1])
                } else {
                    args
                };
                let v = self.convert(immutable, class, args)?;
                if class == immutable || class == ty::BOOL {
                    return Ok(v);
                }
                // An instance of a subclass of a class that is the value's own.
                let v = self.unboxed(&v);
                Kind::Boxed(v)
            }
        };
        Ok(Value::Ref(self.heap.alloc(class, kind)))
    }

    fn new_plain(&mut self, class: Ref) -> R {
        let c = self.heap.the_class(class);
        if c.builtin && class != ty::OBJECT {
            let name = c.name.to_string();
            let alone = [ty::SLICE, ty::XRANGE, ty::FILE];
            if !alone.contains(&class) {
                return self.type_error(format!("cannot create '{name}' instances"));
            }
        }
        Ok(Value::Ref(self.heap.alloc(class, Kind::Plain)))
    }

    fn make_super(&mut self, args: Args<'_>) -> R {
        let Some(Value::Ref(after)) = args.get(0) else {
            return self.type_error("super() argument 1 must be type");
        };
        let obj = args.get(1).cloned().filter(|v| !v.is_none());
        let class = match &obj {
            None => *after,
            Some(Value::Ref(o)) if self.heap.is_subclass(*o, *after) => *o,
            Some(v) if self.is_instance_of(v, *after) => self.heap.type_of(v),
            Some(_) => {
                return self
                    .type_error("super(type, obj): obj must be an instance or subtype of type");
            }
        };
        Ok(Value::Ref(
            self.heap.alloc(ty::SUPER, Kind::Super(*after, obj, class)),
        ))
    }

    /// What the builtin `__init__` of an object's class does.
    pub(crate) fn builtin_init(&mut self, obj: &Value, args: Args<'_>) -> R<()> {
        let Value::Ref(r) = obj else { return Ok(()) };
        match self.heap.kind(*r) {
            Kind::List(_) => {
                let bytes = self
                    .heap
                    .is_subclass(self.heap.get(*r).class, ty::BYTEARRAY);
                let items = match args.get(0) {
                    Some(Value::Str(s)) if bytes => {
                        s.iter().map(|b| Value::Int(i64::from(*b))).collect()
                    }
                    Some(Value::Int(n)) if bytes => {
                        vec![Value::Int(0); usize::try_from(*n).unwrap_or(0).min(1 << 24)]
                    }
                    Some(v) => self.list_of(v)?,
                    None => vec![],
                };
                self.heap.get_mut(*r).kind = Kind::List(items);
            }
            Kind::Dict(_) => {
                if args.pos.len() > 1 {
                    return self.type_error(format!(
                        "dict expected at most 1 arguments, got {}",
                        args.pos.len()
                    ));
                }
                self.dict_update(*r, args)?;
            }
            Kind::Set(_) => {
                let table = self.table_of(args.get(0))?;
                self.heap.get_mut(*r).kind = Kind::Set(table);
            }
            Kind::Exception(_) => {
                let given = Value::tuple(args.pos.to_vec());
                if let Kind::Exception(e) = &mut self.heap.get_mut(*r).kind {
                    e.args = given;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The table of a set of these items. Another set is copied with the hashes that it has.
    fn table_of(&mut self, items: Option<&Value>) -> R<Dict> {
        let Some(items) = items else {
            return Ok(Dict::default());
        };
        if let Value::Ref(r) = items
            && let Kind::Set(table) | Kind::FrozenSet(table) = self.heap.kind(*r)
        {
            let table = table.clone();
            self.copy_items(2 * table.len())?;
            return Ok(table);
        }
        let items = self.list_of(items)?;
        self.make_table(&items)
    }

    /// The builtin value inside an instance of a subclass of an immutable class.
    pub(crate) fn unboxed(&self, v: &Value) -> Value {
        match v {
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::Boxed(inner) => inner.clone(),
                _ => v.clone(),
            },
            _ => v.clone(),
        }
    }

    /// A value of an immutable builtin class from the arguments of its constructor.
    fn convert(&mut self, layout: Ref, class: Ref, args: Args<'_>) -> R {
        let arg = args.get(0);
        match layout {
            ty::INT if class == ty::BOOL => match arg {
                Some(v) => Ok(Value::Bool(self.truth(v)?)),
                None => Ok(Value::Bool(false)),
            },
            ty::INT => match arg.or_else(|| args.keyword("x")) {
                Some(v) => {
                    let base = args.named(1, "base").cloned();
                    self.int_of(v, base.as_ref())
                }
                None => Ok(Value::Int(0)),
            },
            ty::LONG => match arg {
                Some(v) => {
                    let v = self.int_of(v, args.get(1))?;
                    self.long_of(&v)
                }
                None => Ok(Value::long(0.into())),
            },
            ty::FLOAT => match arg {
                Some(v) => Ok(Value::Float(self.float_of(v)?)),
                None => Ok(Value::Float(0.0)),
            },
            ty::COMPLEX => self.complex_of(arg, args.named(1, "imag")),
            ty::STR => match arg {
                Some(v) => self.str_of(v),
                None => Ok(Value::str("")),
            },
            ty::UNICODE => match arg {
                Some(v) => {
                    let encoding = args.named(1, "encoding").cloned();
                    let errors = args.named(2, "errors").cloned();
                    self.unicode_of(v, encoding.as_ref(), errors.as_ref())
                }
                None => Ok(Value::unicode("")),
            },
            ty::TUPLE => match arg {
                Some(v @ Value::Tuple(_)) => Ok(v.clone()),
                Some(v) => Ok(Value::tuple(self.list_of(v)?)),
                None => Ok(Value::tuple(vec![])),
            },
            _ => {
                let name = self.heap.class_name(layout).to_owned();
                self.type_error(format!("cannot create '{name}' instances"))
            }
        }
    }
}
