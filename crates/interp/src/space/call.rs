//! Calls: binding arguments to parameters, making instances.

use taipan_code::{CallDesc, Code};

use super::builtin::{Args, Keyword};
use super::generator::Generator;
use super::heap::{Kind, Ref};
use super::meant::Lacks;
use super::run::Outcome;
use super::types::ty;
use super::value::Value;
use super::{Interp, R};
use taipan_engine::Frame;

impl Interp<'_> {
    /// Calls with positional arguments.
    pub(crate) fn call(&mut self, callee: &Value, args: &[Value]) -> R {
        self.call_args(callee, Args::new(args))
    }

    /// Calls a method by name.
    pub(crate) fn call_method(&mut self, obj: &Value, name: &str, args: &[Value]) -> R {
        let m = self.getattr(obj, name)?;
        self.call(&m, args)
    }

    /// Calls.
    pub(crate) fn call_args(&mut self, callee: &Value, args: Args<'_>) -> R {
        match callee {
            Value::Method(m) => {
                let Some(slf) = &m.slf else {
                    return self.call_unbound(&m.func, m.class, args);
                };
                let mut all = Vec::with_capacity(args.pos.len() + 1);
                all.push(slf.clone());
                all.extend_from_slice(args.pos);
                let func = m.func.clone();
                self.call_args(
                    &func,
                    Args {
                        pos: &all,
                        kw: args.kw,
                    },
                )
            }
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::Function(_) => self.call_function(*r, args),
                Kind::Builtin(b) => {
                    let b = *b;
                    let result = self.with_buffers(|it| (b.func)(it, args))?;
                    self.check_size(&result)?;
                    // It may have grown what it is a method of.
                    if let Some(Value::Ref(slf)) = args.pos.first() {
                        self.check_container(*slf)?;
                        self.heap.fresh += super::meter::ENTRY;
                    }
                    Ok(result)
                }
                Kind::Class(_) => self.with_buffers(|it| it.call_class(*r, args)),
                Kind::LLType(_) => super::modules::lltype::call_type(self, *r, args),
                Kind::LLPtr(p) => {
                    let p = *p;
                    self.call_pointer(p, args)
                }
                Kind::WeakRef(w) => Ok(w.target.clone()),
                Kind::Opaque(n) => {
                    let message = format!("{n} cannot be called while a program is imported");
                    self.type_error(message)
                }
                Kind::Absent(n) => {
                    let name = n.to_string();
                    self.call_absent(&name)
                }
                Kind::Closed => self.untold(),
                _ => self.call_instance(callee, args),
            },
            _ => self.not_callable(callee),
        }
    }

    fn not_callable(&mut self, callee: &Value) -> R {
        let t = self.heap.type_name(callee).to_owned();
        self.type_error(format!("'{t}' object is not callable"))
    }

    fn call_instance(&mut self, callee: &Value, args: Args<'_>) -> R {
        match self.special(callee, "__call__")? {
            Some(m) => self.call_args(&m, args),
            None => {
                let class = self.heap.type_of(callee);
                if self.heap.the_class(class).old_style {
                    let name = self.heap.class_name(class).to_owned();
                    return self.raise(
                        ty::ATTRIBUTE_ERROR,
                        format!("{name} instance has no __call__ method"),
                    );
                }
                self.not_callable(callee)
            }
        }
    }

    fn call_unbound(&mut self, func: &Value, class: Ref, args: Args<'_>) -> R {
        let fits = match args.pos.first() {
            Some(v) => self.is_instance_of(v, class),
            None => false,
        };
        if !fits {
            let got = match args.pos.first() {
                Some(v) => format!("{} instance", self.heap.type_name(v)),
                None => "nothing".to_owned(),
            };
            let name = self.callable_name(func);
            let class = self.heap.class_name(class).to_owned();
            return self.type_error(format!(
                "unbound method {name}() must be called with {class} instance as first argument (got {got} instead)"
            ));
        }
        self.call_args(func, args)
    }

    /// A name for messages.
    pub(crate) fn callable_name(&self, v: &Value) -> String {
        match v {
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::Function(f) => f.name.to_string(),
                Kind::Builtin(b) => b.short_name().to_owned(),
                Kind::Class(c) => c.name.to_string(),
                _ => "?".to_owned(),
            },
            Value::Method(m) => self.callable_name(&m.func),
            _ => "?".to_owned(),
        }
    }

    /// Calls with the arguments of a `Call` instruction.
    pub(crate) fn call_desc(&mut self, callee: &Value, desc: &CallDesc, args: &[Value]) -> R {
        if desc.keywords.is_empty() && !desc.star && !desc.dstar {
            return self.call(callee, args);
        }
        let (pos, rest) = args.split_at(desc.positional as usize);
        let (kw, rest) = rest.split_at(desc.keywords.len());
        let mut pos = pos.to_vec();
        let mut keywords: Vec<Keyword> = desc
            .keywords
            .iter()
            .cloned()
            .zip(kw.iter().cloned())
            .collect();
        let mut rest = rest.iter();
        if desc.star
            && let Some(star) = rest.next()
        {
            pos.extend(self.list_of(star)?);
        }
        if desc.dstar
            && let Some(dstar) = rest.next()
        {
            for (k, v) in self.mapping_items(dstar)? {
                let Some(name) = k.as_text() else {
                    return self.type_error("keywords must be strings");
                };
                if keywords.iter().any(|(n, _)| &**n == name) {
                    let f = self.callable_name(callee);
                    return self.type_error(format!(
                        "{f}() got multiple values for keyword argument '{name}'"
                    ));
                }
                keywords.push((name.into(), v));
            }
        }
        self.call_args(
            callee,
            Args {
                pos: &pos,
                kw: &keywords,
            },
        )
    }

    fn call_function(&mut self, r: Ref, args: Args<'_>) -> R {
        let Kind::Function(f) = self.heap.kind(r) else {
            unreachable!("checked by the caller");
        };
        let (id, globals) = (f.code, f.globals);
        let body = self.body(id);
        let code = &body.code;
        let Kind::Function(f) = self.heap.kind(r) else {
            unreachable!("checked by the caller");
        };
        let simple = args.kw.is_empty()
            && args.pos.len() == code.argcount as usize
            && !code.varargs
            && !code.varkeywords;
        let closure = f.closure.clone();
        let locals = if simple {
            let mut locals = Vec::with_capacity(code.locals.len());
            locals.extend(args.pos.iter().cloned().map(Some));
            locals
        } else {
            let defaults = f.defaults.clone();
            let name = f.name.clone();
            self.bind_arguments(&name, code, &defaults, args)?
        };
        let memo = !code.generator && self.enter_memo(r, &locals);
        let mut frame = Frame::enter(
            self,
            code,
            body.consts.clone(),
            Value::Ref(globals),
            locals,
            &closure,
        );
        if code.generator {
            return Ok(Generator::make(self, id, frame));
        }
        let outcome = self.run(id, &body, &mut frame);
        let result = outcome.map(|o| match o {
            Outcome::Return(v) | Outcome::Yield(v) => v,
        });
        if memo {
            self.leave_memo(&result);
        }
        result
    }

    /// Parameters' values from arguments.
    fn bind_arguments(
        &mut self,
        name: &str,
        code: &Code,
        defaults: &[Value],
        args: Args<'_>,
    ) -> R<Vec<Option<Value>>> {
        let argcount = code.argcount as usize;
        let mut locals: Vec<Option<Value>> = vec![None; argcount];
        let given = args.pos.len().min(argcount);
        for (slot, v) in locals.iter_mut().zip(args.pos) {
            *slot = Some(v.clone());
        }
        if args.pos.len() > argcount && !code.varargs {
            return self.wrong_count(name, code, defaults, args.pos.len() + args.kw.len());
        }
        let mut extra = super::dict::Dict::default();
        for (k, v) in args.kw {
            match code.locals[..argcount].iter().position(|n| n == k) {
                Some(i) if i < given || locals[i].is_some() => {
                    return self.type_error(format!(
                        "{name}() got multiple values for keyword argument '{k}'"
                    ));
                }
                Some(i) => locals[i] = Some(v.clone()),
                None if code.varkeywords => extra.set_str(k, v.clone()),
                None if takes_live_variables(code) => {}
                None => {
                    let message = format!("{name}() got an unexpected keyword argument '{k}'");
                    let free = (code.locals[..argcount].iter().zip(&locals))
                        .filter(|(_, given)| given.is_none())
                        .map(|(n, _)| (**n).into());
                    let lacks = Lacks::Parameter(k.clone(), free.collect());
                    return self.raise_lacking(ty::TYPE_ERROR, message, lacks);
                }
            }
        }
        let first_default = argcount - defaults.len().min(argcount);
        for (slot, v) in locals[first_default..].iter_mut().zip(defaults) {
            slot.get_or_insert_with(|| v.clone());
        }
        if locals.iter().any(Option::is_none) {
            return self.wrong_count(name, code, defaults, args.pos.len() + args.kw.len());
        }
        if code.varargs {
            let rest = args.pos.get(argcount..).unwrap_or_default();
            let rest = Value::tuple(rest.to_vec());
            self.check_size(&rest)?;
            locals.push(Some(rest));
        }
        if code.varkeywords {
            let d = self.heap.dict(extra);
            locals.push(Some(Value::Ref(d)));
        }
        Ok(locals)
    }

    fn wrong_count<T>(
        &mut self,
        name: &str,
        code: &Code,
        defaults: &[Value],
        given: usize,
    ) -> R<T> {
        let max = code.argcount as usize;
        let min = max - defaults.len().min(max);
        let (how, bound) = if min == max && !code.varargs {
            ("exactly", max)
        } else if given < min {
            ("at least", min)
        } else {
            ("at most", max)
        };
        if max == 0 && !code.varargs {
            return self.type_error(format!("{name}() takes no arguments ({given} given)"));
        }
        self.type_error(format!(
            "{name}() takes {how} {bound} argument{} ({given} given)",
            if bound == 1 { "" } else { "s" }
        ))
    }

    /// Calls a class.
    fn call_class(&mut self, class: Ref, args: Args<'_>) -> R {
        let meta = self.heap.get(class).class;
        if meta != ty::TYPE && meta != ty::CLASSOBJ {
            if let Some(f) = self.heap.lookup(meta, "__call__").cloned()
                && !self.is_builtin_function(&f)
            {
                let f = self.bind(&f, Some(&Value::Ref(class)), meta)?;
                return self.call_args(&f, args);
            }
        } else if class == ty::TYPE && args.pos.len() == 1 {
            let class = self.heap.type_of(&args.pos[0]);
            let old_style = self.heap.the_class(class).old_style;
            return Ok(Value::Ref(if old_style { ty::INSTANCE } else { class }));
        } else if class == ty::CLASSOBJ {
            return self.make_type(class, args);
        }
        self.instantiate(class, args)
    }

    /// What `type.__call__` does.
    pub(crate) fn instantiate(&mut self, class: Ref, args: Args<'_>) -> R {
        if self.heap.the_class(class).old_style {
            let obj = Value::Ref(self.heap.alloc(class, Kind::Plain));
            match self.getattr_opt(&obj, "__init__")? {
                Some(init) => {
                    self.call_args(&init, args)?;
                }
                None if !args.pos.is_empty() || !args.kw.is_empty() => {
                    return self.type_error("this constructor takes no arguments");
                }
                None => {}
            }
            return Ok(obj);
        }
        let new = self.heap.lookup(class, "__new__").cloned();
        let new = match new {
            Some(v) => self.bind(&v, None, class)?,
            None => Value::None,
        };
        let own_new = !new.is_none() && !self.is_builtin_function(&new);
        let init = self.heap.lookup(class, "__init__").cloned();
        let own_init = init.as_ref().is_some_and(|f| !self.is_builtin_function(f));
        let obj = if own_new {
            let mut all = vec![Value::Ref(class)];
            all.extend_from_slice(args.pos);
            self.call_args(
                &new,
                Args {
                    pos: &all,
                    kw: args.kw,
                },
            )?
        } else {
            if self.heap.the_class(class).layout.is_none()
                && !own_init
                && (!args.pos.is_empty() || !args.kw.is_empty())
            {
                return self.type_error("object() takes no parameters");
            }
            self.builtin_new(class, args, own_init)?
        };
        if own_init
            && self.is_instance_of(&obj, class)
            && let Some(init) = init
        {
            let bound = self.bind(&init, Some(&obj), class)?;
            let v = self.call_args(&bound, args)?;
            if !v.is_none() {
                let t = self.heap.type_name(&v).to_owned();
                return self.type_error(format!("__init__() should return None, not '{t}'"));
            }
        } else if !own_init && !own_new {
            self.builtin_init(&obj, args)?;
        } else if !own_init && self.is_instance_of(&obj, class) {
            let layout = self.heap.the_class(class).layout;
            if layout.is_some_and(|l| [ty::LIST, ty::DICT, ty::SET].contains(&l)) {
                self.builtin_init(&obj, args)?;
            }
        }
        Ok(obj)
    }
}

/// Whether this is a method of `JitDriver` that tells where a loop is: callers name their
/// live variables, which go nowhere.
fn takes_live_variables(code: &Code) -> bool {
    matches!(&*code.name, "jit_merge_point" | "can_enter_jit")
        && code.argcount == 1
        && &*code.locals[0] == "_self"
}
