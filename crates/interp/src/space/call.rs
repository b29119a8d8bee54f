//! Calls: binding arguments to parameters, making instances.

use taipan_code::{CallDesc, Code};

use super::builtin::{Args, Builtin, Keyword};
use super::generator::Generator;
use super::heap::{Kind, Ref};
use super::meant::Lacks;
use super::ops::Running;
use super::types::ty;
use super::value::Value;
use super::words;
use super::{Body, Interp, R};
use taipan_engine::Frame;

/// Maximum number of unused frames whose memory is kept for the next calls.
const MOST_SPARE: usize = 64;

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
            Value::Bound(m) => {
                let slf = Value::Ref(m.slf);
                if let Kind::Function(_) = self.heap.kind(m.func) {
                    let mut result = Value::None;
                    self.call_function(m.func, Some(&slf), args, &mut result)?;
                    return Ok(result);
                }
                let func = Value::Ref(m.func);
                match (args.kw, args.pos) {
                    ([], []) => self.call(&func, &[slf]),
                    ([], [a]) => self.call(&func, &[slf, a.clone()]),
                    ([], [a, b]) => self.call(&func, &[slf, a.clone(), b.clone()]),
                    (kw, pos) => {
                        let pos = &with_first(&slf, pos);
                        self.call_args(&func, Args { pos, kw })
                    }
                }
            }
            Value::Method(m) => {
                let Some(slf) = &m.slf else {
                    return self.call_unbound(&m.func, m.class, args);
                };
                if let Value::Ref(f) = m.func
                    && let Kind::Function(_) = self.heap.kind(f)
                {
                    let mut result = Value::None;
                    self.call_function(f, Some(slf), args, &mut result)?;
                    return Ok(result);
                }
                let all = with_first(slf, args.pos);
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
                Kind::Function(_) => {
                    let mut result = Value::None;
                    self.call_function(*r, None, args, &mut result)?;
                    Ok(result)
                }
                Kind::Builtin(b) => self.call_builtin(b, args),
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
            Value::Bound(m) => self.callable_name(&Value::Ref(m.func)),
            Value::Method(m) => self.callable_name(&m.func),
            _ => "?".to_owned(),
        }
    }

    /// Calls a function written in Rust.
    pub(crate) fn call_builtin(&mut self, b: &'static Builtin, args: Args<'_>) -> R {
        let result = self.with_buffers(|it| (b.func)(it, args))?;
        self.check_size(&result)?;
        // The method may have grown its object, so the object is measured again.
        if let Some(Value::Ref(slf)) = args.pos.first() {
            self.check_container(*slf)?;
            self.heap.fresh += super::meter::ENTRY;
        }
        Ok(result)
    }

    /// Fast path of calls with keywords: every keyword is a parameter and given once. None in other cases, before
    /// any effect.
    fn call_keywords(&mut self, callee: &Value, desc: &CallDesc, args: &[Value]) -> Option<R> {
        let (r, slf) = match callee {
            Value::Ref(r) => (*r, None),
            Value::Bound(m) => (m.func, Some(Value::Ref(m.slf))),
            _ => return None,
        };
        let slf = slf.as_ref();
        let Kind::Function(f) = self.heap.kind(r) else {
            return None;
        };
        let id = f.code;
        let body = self.body(id);
        let code = &body.code;
        if desc.star || desc.dstar || code.varargs || code.varkeywords || code.generator {
            return None;
        }
        let Kind::Function(f) = self.heap.kind(r) else {
            return None;
        };
        let argcount = code.argcount as usize;
        let (pos, kw) = args.split_at(desc.positional as usize);
        let given = pos.len() + usize::from(slf.is_some());
        if given > argcount || f.defaults.len() > argcount {
            return None;
        }
        let (mut locals, stack) = self.spare.pop().unwrap_or_default();
        locals.extend(slf.cloned().map(Some));
        locals.extend(pos.iter().cloned().map(Some));
        locals.resize(argcount, None);
        for (name, v) in desc.keywords.iter().zip(kw) {
            let at = code.locals[..argcount].iter().position(|n| n == name)?;
            if locals[at].is_some() {
                return None;
            }
            locals[at] = Some(v.clone());
        }
        let first_default = argcount - f.defaults.len();
        for (slot, v) in locals[first_default..].iter_mut().zip(&f.defaults) {
            if slot.is_none() {
                *slot = Some(v.clone());
            }
        }
        if locals.iter().any(Option::is_none) {
            return None;
        }
        let mut result = Value::None;
        let ran = self.enter_function(r, &body, locals, stack, &mut result);
        Some(ran.map(|()| result))
    }

    /// Calls with the arguments of a `Call` instruction.
    pub(crate) fn call_desc(&mut self, callee: &Value, desc: &CallDesc, args: &[Value]) -> R {
        if let Some(result) = self.call_keywords(callee, desc, args) {
            return result;
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
                let ascii = |c: &u32| u8::try_from(*c).ok().filter(u8::is_ascii).map(char::from);
                let name: Option<String> = match &k {
                    Value::Unicode(u) => u.iter().map(ascii).collect(),
                    k => k.as_text().map(str::to_owned),
                };
                let Some(name) = name else {
                    return self.type_error("keywords must be strings");
                };
                if keywords.iter().any(|(n, _)| **n == *name) {
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

    /// Calls a function written in Python, with `slf` before the other arguments, and sets the result.
    pub(crate) fn call_function(
        &mut self,
        r: Ref,
        slf: Option<&Value>,
        args: Args<'_>,
        result: &mut Value,
    ) -> R<()> {
        let Kind::Function(f) = self.heap.kind(r) else {
            unreachable!("checked by the caller");
        };
        let body = self.body(f.code);
        let code = &body.code;
        let Kind::Function(f) = self.heap.kind(r) else {
            unreachable!("checked by the caller");
        };
        let given = args.pos.len() + usize::from(slf.is_some());
        let argcount = code.argcount as usize;
        let simple = args.kw.is_empty()
            && given <= argcount
            && f.defaults.len() <= argcount
            && given + f.defaults.len() >= argcount
            && !code.varargs
            && !code.varkeywords;
        let (mut locals, stack) = match code.generator {
            // A generator keeps its frame, and its size counts towards the memory limit.
            true => (Vec::with_capacity(code.locals.len()), Vec::new()),
            false => self.spare.pop().unwrap_or_default(),
        };
        if simple {
            let left = argcount - given;
            if let Some(slf) = slf {
                words::push_local(&mut locals, slf);
            }
            for v in args.pos {
                words::push_local(&mut locals, v);
            }
            locals.extend(
                f.defaults[f.defaults.len() - left..]
                    .iter()
                    .cloned()
                    .map(Some),
            );
        } else {
            let defaults = f.defaults.clone();
            let name = f.name.clone();
            let all;
            let args = match slf {
                Some(slf) => {
                    all = with_first(slf, args.pos);
                    Args {
                        pos: &all,
                        kw: args.kw,
                    }
                }
                None => args,
            };
            locals = self.bind_arguments(&name, code, &defaults, args)?;
        }
        self.enter_function(r, &body, locals, stack, result)
    }

    /// Runs a function with the values of its parameters.
    #[inline(always)]
    fn enter_function(
        &mut self,
        r: Ref,
        body: &Body,
        locals: Vec<Option<Value>>,
        stack: Vec<Value>,
        result: &mut Value,
    ) -> R<()> {
        let Kind::Function(f) = self.heap.kind(r) else {
            unreachable!("checked by the caller");
        };
        let (id, globals) = (f.code, f.globals);
        let code = &body.code;
        let memo = !code.generator && self.enter_memo(r, &locals);
        let mut frame = Frame::enter(
            &mut Running { it: self, body },
            code,
            Value::Ref(globals),
            locals,
            stack,
            &[],
        );
        if let Kind::Function(f) = self.heap.kind(r) {
            frame.cells.extend_from_slice(&f.closure);
        }
        if code.generator {
            *result = Generator::make(self, id, frame);
            return Ok(());
        }
        let ran = self.run_unit(id, body, &mut frame);
        let ran = ran.map(|_| words::pop_to(&mut frame.stack, result));
        if memo {
            let outcome = match &ran {
                Ok(()) => Ok(result.clone()),
                Err(e) => Err(e.clone()),
            };
            self.leave_memo(&outcome);
        }
        if self.spare.len() < MOST_SPARE {
            words::discard_locals(&mut frame.locals);
            frame.stack.clear();
            self.spare.push((frame.locals, frame.stack));
        }
        ran
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
            if let Some(f) = self.lookup(meta, "__call__").cloned()
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
        let c = self.heap.the_class(class);
        if c.builtin && c.layout.is_some() {
            let obj = self.builtin_new(class, args, false)?;
            self.builtin_init(&obj, args)?;
            return Ok(obj);
        }
        let name = self.special.new.name();
        let new = self.lookups.find(&self.heap, class, name);
        let new = match new.map(|(_, v)| v.clone()) {
            Some(v) => self.bind(&v, None, class)?,
            None => Value::None,
        };
        let own_new = !new.is_none() && !self.is_builtin_function(&new);
        let name = self.special.init.name();
        let init = self.lookups.find(&self.heap, class, name);
        let init = init.map(|(_, v)| v.clone());
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
            let v = match init {
                Value::Ref(f) if matches!(self.heap.kind(f), Kind::Function(_)) => {
                    let mut result = Value::None;
                    self.call_function(f, Some(&obj), args, &mut result)?;
                    result
                }
                _ => {
                    let bound = self.bind(&init, Some(&obj), class)?;
                    self.call_args(&bound, args)?
                }
            };
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

fn with_first(first: &Value, rest: &[Value]) -> Vec<Value> {
    let mut all = Vec::with_capacity(rest.len() + 1);
    all.push(first.clone());
    all.extend_from_slice(rest);
    all
}

/// Whether this is a method of `JitDriver` that tells where a loop is: callers name their
/// live variables, which go nowhere.
fn takes_live_variables(code: &Code) -> bool {
    matches!(&*code.name, "jit_merge_point" | "can_enter_jit")
        && code.argcount == 1
        && &*code.locals[0] == "_self"
}
