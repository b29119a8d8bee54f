//! Operations on constants after import time.
//!
//! Constants are frozen and the concrete space computes with live values, so an operation
//! makes values of its operands, runs in a small heap of its own, and makes a constant of
//! what comes out:
//!
//! ```text
//! pow(-1024, 42)   operands    Int(-1024), Int(42)
//!                  computed    Value::Long(..)
//!                  result      Const::Long(..)
//! ```
//!
//! Objects of the image are read through its projections, when an operation comes to look
//! into them ([`objects`]). Code of the program does not run here. What depends on the
//! place of an object in memory or on the order of hashes is not computed: the same
//! operation gives the same result in every process.

mod objects;
mod plain;

use std::sync::{Arc, OnceLock};

use taipan_base::{Db, Program};
use taipan_graph::{Const, HlOp};

use crate::named_id;
use crate::space::heap::{Heap, Ref};
use crate::space::types::{self, ty};
use crate::space::value::Value;
use crate::space::{Interp, R};
use objects::{Depth, Named, Objects};
use taipan_engine::Unwind;

pub use plain::{class_has, compare, float_of, has_attribute, int_of, truth};

/// Steps that an operation may take. It runs no code and goes through no iterator.
const STEPS: u64 = 1_000_000;
/// Bytes or items of the largest result that becomes a constant: larger ones are left to
/// run time.
const MOST: usize = 1 << 20;
/// Bits of the largest long.
const MOST_BITS: u64 = 1 << 16;

/// What an operation on constants comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Computed {
    /// This constant.
    To(Const),
    /// It always raises that.
    Raises(Raised),
    /// Only run time can tell, or code of the program.
    Unknown,
}

/// An exception that an operation on constants always raises.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    /// Name of the builtin exception class.
    pub class: Box<str>,
    /// Its text.
    pub message: Box<str>,
}

/// The concrete space for operations on constants.
pub struct ConstantSpace<'db> {
    db: &'db dyn Db,
    program: Program,
    /// Made for the first operation.
    started: Option<Started<'db>>,
}

struct Started<'db> {
    it: Interp<'db>,
    objects: Objects,
}

/// The heap that all of them stand upon: builtins alone, the same for every program.
struct Builtins {
    heap: Arc<Heap>,
    modules: Ref,
    builtins: Ref,
    /// Builtin classes and singletons by id.
    named: Named,
}

impl<'db> ConstantSpace<'db> {
    /// A space that knows the objects of a program's image.
    pub fn new(db: &'db dyn Db, program: Program) -> Self {
        ConstantSpace {
            db,
            program,
            started: None,
        }
    }

    /// An operation of the flow model.
    pub fn op(&mut self, op: HlOp, args: &[Const]) -> Computed {
        match op {
            // Those that are functions to the concrete space.
            HlOp::Hex | HlOp::Oct | HlOp::Ord | HlOp::Cmp | HlOp::Pow | HlOp::Int => {
                self.call(op.name(), args)
            }
            HlOp::Float | HlOp::Long | HlOp::Chr | HlOp::Unicode => self.call(op.name(), args),
            _ => {
                let depth = match op {
                    HlOp::Len | HlOp::Bool | HlOp::GetItem | HlOp::GetSlice => Depth::Itself,
                    _ => Depth::Contents,
                };
                self.compute(args, depth, |it, values| it.operation(op, values))
            }
        }
    }

    /// A call of the builtin function of that name.
    pub fn call(&mut self, name: &str, args: &[Const]) -> Computed {
        self.compute(args, Depth::Contents, |it, values| {
            match it.heap.the_dict(it.builtins).get_str(name).cloned() {
                Some(f) => it.call(&f, values),
                None => it.untold(),
            }
        })
    }

    /// An attribute of a constant that is no object of the image. Methods stay what they
    /// are an attribute of.
    pub fn getattr(&mut self, c: &Const, name: &str) -> Computed {
        self.compute(std::slice::from_ref(c), Depth::Itself, |it, values| {
            it.getattr(&values[0], name)
        })
    }

    fn compute(
        &mut self,
        args: &[Const],
        depth: Depth,
        run: impl FnOnce(&mut Interp<'_>, &[Value]) -> R,
    ) -> Computed {
        let (db, program) = (self.db, self.program);
        let Started { it, objects } = self.started.get_or_insert_with(|| {
            let base = Builtins::get();
            let heap = Heap::upon(base.heap.clone());
            let mut it = Interp::with(db, program, STEPS, heap, base.modules, base.builtins);
            it.timeless = true;
            Started {
                it,
                objects: Objects::new(&base.named),
            }
        });
        it.steps = STEPS;
        let mut values = Vec::with_capacity(args.len());
        for c in args {
            let v = objects.value(it, c);
            if objects.open(it, &v, depth).is_none() {
                return Computed::Unknown;
            }
            values.push(v);
        }
        let result = run(it, &values);
        match result {
            Ok(v) if is_small(&v) => objects.constant(&v).map_or(Computed::Unknown, Computed::To),
            Ok(_) | Err(Unwind::Stop(_)) => Computed::Unknown,
            Err(Unwind::Raise(raised)) => match (&raised.0, &raised.1) {
                // The limits of this space.
                (Value::Ref(ty::MEMORY_ERROR | ty::RUNTIME_ERROR), _) => Computed::Unknown,
                (Value::Ref(class), Value::Ref(e)) => Computed::Raises(Raised {
                    class: it.heap.class_name(*class).into(),
                    message: crate::heap_image::import_time::text_of_exception(it, *e).into(),
                }),
                _ => Computed::Unknown,
            },
        }
    }
}

impl Builtins {
    fn get() -> &'static Builtins {
        static BUILTINS: OnceLock<Builtins> = OnceLock::new();
        BUILTINS.get_or_init(Builtins::new)
    }

    fn new() -> Builtins {
        let (heap, modules, builtins) = Interp::builtin_heap();
        let mut named = Named::default();
        for (r, name, module) in types::all_types() {
            named.insert(named_id(&format!("{module}.{name}")), r);
        }
        named.insert(
            named_id("__builtin__.NotImplemented"),
            types::NOT_IMPLEMENTED,
        );
        named.insert(named_id("__builtin__.Ellipsis"), types::ELLIPSIS);
        Builtins {
            heap: Arc::new(heap),
            modules,
            builtins,
            named,
        }
    }
}

fn is_small(v: &Value) -> bool {
    match v {
        Value::Str(s) => s.len() <= MOST,
        Value::Unicode(s) => s.len() <= MOST,
        Value::Tuple(t) => t.len() <= MOST,
        Value::Long(n) => n.bits() <= MOST_BITS,
        _ => true,
    }
}
