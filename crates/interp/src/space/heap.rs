//! The heap: an arena of objects that only grows. It is plain data, so that the
//! image can keep it and wake it up later: a call after import time works on a heap of its
//! own that stands upon the image's, which it leaves as it is ([`Heap::upon`]).

use std::sync::Arc;

use camino::Utf8PathBuf;
use rustc_hash::FxHashMap;
use taipan_code::CodeId;
use taipan_graph::ObjId;
use taipan_lltype::LLType;

use super::builtin::Builtin;
use super::collect::WeakRef;
use super::dict::{Dict, KnownName, Name};
use super::generator::Generator;
use super::iter::Iter;
use super::journal::{Journal, Part};
use super::lowmem::{Container, LLFunction, Pointer};
use super::meant::Lacks;
use super::slots::Slots;
use super::types::{self, ty};
use super::value::{Bound, Value};
use recorded::Round;

mod recorded;

/// An object of the heap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Ref(pub(crate) u32);

impl Ref {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where an object was made: an index into [`Heap::sites`], and the instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Site {
    /// 0 stands for objects of the interpreter's own.
    pub(crate) code: u32,
    /// The instruction.
    pub(crate) pc: u32,
}

/// An object with identity.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Its class.
    pub(crate) class: Ref,
    /// Its `__dict__` (a dict object), made when first needed.
    pub(crate) attrs: Option<Ref>,
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it was made.
    pub(crate) site: Site,
    /// The number from which `id()` and `hash()` are computed; 0 until it is needed.
    number: u32,
}

impl Object {
    /// The number of the identity, if there is one.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Sets the number of the identity.
    pub(crate) fn set_number(&mut self, number: u32) {
        self.number = number;
    }
}

/// What an object is. Instances of a subclass of a builtin class have that class's
/// kind.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Nothing but attributes.
    Plain,
    /// An instance of a subclass of an immutable builtin class, and its value.
    Boxed(Value),
    /// `list`
    List(Vec<Value>),
    /// `dict`
    Dict(Dict),
    /// `set`; the values of the table mean nothing.
    Set(Dict),
    /// `frozenset`
    FrozenSet(Dict),
    /// A class.
    Class(Box<Class>),
    /// A function written in Python.
    Function(Box<Function>),
    /// A function written in Rust.
    Builtin(&'static Builtin),
    /// A module, by name; its globals are the attributes.
    Module(Box<str>),
    /// A closure's cell.
    Cell(Option<Value>),
    /// `property`: getter, setter, deleter, docstring.
    Property(Box<[Value; 4]>),
    /// `staticmethod`
    StaticMethod(Value),
    /// `classmethod`
    ClassMethod(Value),
    /// `super`: the class to look after, the object, and the class of the object.
    Super(Ref, Option<Value>, Ref),
    /// `slice`
    Slice(Box<[Value; 3]>),
    /// `xrange`: start, number of items, step.
    XRange(i64, i64, i64),
    /// An iterator written in Rust.
    Iter(Box<Iter>),
    /// A generator.
    Generator(Box<Generator>),
    /// An exception.
    Exception(Box<Exception>),
    /// A file, or one of the standard streams.
    File(Box<FileObject>),
    /// What `compile` answers, or a function's `func_code`.
    Code(CodeId),
    /// A function that only the compiler knows, by its qualified name.
    Opaque(Box<str>),
    /// A part of the original toolchain that does not ship, or what was made of one, by
    /// its qualified name.
    Absent(Box<str>),
    /// The member of a class's `__slots__`.
    Member(Box<str>),
    /// A weak reference.
    WeakRef(Box<WeakRef>),
    /// An object of the image of which no more is known here: see [`crate::constants`].
    Closed,
    /// A singleton by name (`NotImplemented`, `Ellipsis`).
    Singleton(&'static str),
    /// A compiled regular expression.
    Regex(Arc<super::modules::re::Regex>),
    /// A match of one.
    Match(Box<super::modules::re::Match>),
    /// A low-level type.
    LLType(LLType),
    /// A low-level struct or array.
    LLContainer(Box<Container>),
    /// A low-level pointer.
    LLPtr(Pointer),
    /// A function behind low-level pointers.
    LLFunction(Box<LLFunction>),
}

impl Kind {
    /// Calls a function with the values in an object, other than references that each object of its kind has.
    pub(crate) fn each_value(&self, f: &mut impl FnMut(&Value)) {
        match self {
            Kind::Boxed(v) | Kind::StaticMethod(v) | Kind::ClassMethod(v) => f(v),
            Kind::List(items) => items.iter().for_each(f),
            Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => {
                for (k, v) in d.iter() {
                    f(k);
                    f(v);
                }
            }
            Kind::Function(function) => function.defaults.iter().for_each(f),
            Kind::Cell(v) | Kind::Super(_, v, _) => v.iter().for_each(f),
            Kind::Property(parts) => parts.iter().for_each(f),
            Kind::Slice(parts) => parts.iter().for_each(f),
            Kind::Iter(state) => state.each_value(f),
            Kind::Generator(g) => {
                if let Some(frame) = &g.frame {
                    frame
                        .locals
                        .iter()
                        .flatten()
                        .chain(&frame.stack)
                        .for_each(f);
                }
            }
            Kind::Exception(e) => f(&e.args),
            Kind::WeakRef(w) => {
                f(&w.target);
                f(&w.callback);
            }
            Kind::Match(m) => f(&m.subject()),
            Kind::LLContainer(c) => c.parts.iter().for_each(f),
            Kind::LLFunction(function) => {
                f(&function.callable);
                f(&function.external);
            }
            Kind::Plain
            | Kind::Class(_)
            | Kind::Builtin(_)
            | Kind::Module(_)
            | Kind::XRange(..)
            | Kind::File(_)
            | Kind::Code(_)
            | Kind::Opaque(_)
            | Kind::Absent(_)
            | Kind::Member(_)
            | Kind::Closed
            | Kind::Singleton(_)
            | Kind::Regex(_)
            | Kind::LLType(_)
            | Kind::LLPtr(_) => {}
        }
    }
}

/// What there is to a class besides its dict.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    /// `__name__`
    pub(crate) name: Box<str>,
    /// `__bases__`
    pub(crate) bases: Vec<Ref>,
    /// `__mro__`, from the class itself.
    pub(crate) mro: Vec<Ref>,
    /// Python 2's `classobj`.
    pub(crate) old_style: bool,
    /// Written in Rust.
    pub(crate) builtin: bool,
    /// The builtin class that gives its instances their kind.
    pub(crate) layout: Option<Ref>,
    /// Whether `__getattribute__` is overridden.
    pub(crate) getattribute: bool,
    /// Whether `__slots__` forbid other attributes.
    pub(crate) slots_only: bool,
    /// The body that made it.
    pub(crate) body: Option<CodeId>,
    /// Direct subclasses, in the order in which they were made.
    pub(crate) subclasses: Vec<Ref>,
}

/// A function written in Python.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Its body.
    pub(crate) code: CodeId,
    /// `__name__`
    pub(crate) name: Box<str>,
    /// The dict of its globals.
    pub(crate) globals: Ref,
    /// Default values of the last parameters.
    pub(crate) defaults: Vec<Value>,
    /// Cells of its free variables.
    pub(crate) closure: Vec<Value>,
    /// The class whose body or attribute it became first.
    pub(crate) class: Option<Ref>,
}

/// An exception.
#[derive(Clone, Debug)]
pub(crate) struct Exception {
    /// `args`
    pub(crate) args: Value,
    /// The instructions it passed through, innermost first.
    pub(crate) traceback: Vec<TracebackEntry>,
    /// The activation that caught it, and whether it is being re-raised.
    pub(crate) caught: Caught,
    /// The name whose absence it is about.
    pub(crate) lacks: Option<Box<Lacks>>,
}

/// State of an exception after it was raised.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Caught {
    /// Number of the activation that caught it last; 0 if it was not caught.
    pub(crate) by: u64,
    /// A callee of the handler re-raised it, and it has not reached the handler yet.
    pub(crate) returns: bool,
}

/// One line of a traceback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TracebackEntry {
    /// The body.
    pub(crate) code: CodeId,
    /// The instruction.
    pub(crate) pc: u32,
    /// Depth of the frame, to tell a second pass through the same one.
    pub(crate) depth: u32,
}

/// An open file.
#[derive(Clone, Debug)]
pub(crate) struct FileObject {
    /// Its name.
    pub(crate) name: String,
    /// What can be read of a file that is only read.
    pub(crate) data: Arc<[u8]>,
    /// A file that is written.
    pub(crate) path: Option<Utf8PathBuf>,
    /// Whether all is written at its end.
    pub(crate) append: bool,
    /// How far it was read or written.
    pub(crate) at: usize,
    /// 1 for standard output, 2 for standard error (dropped), 0 for others.
    pub(crate) stream: u8,
    /// Closed.
    pub(crate) closed: bool,
}

/// The arena.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// The heap that this one stands upon.
    below: Option<Arc<Heap>>,
    /// Number of objects below.
    start: usize,
    /// Objects below that are no longer what they are there.
    changed: FxHashMap<Ref, Object>,
    /// The objects that were made here.
    objects: Vec<Object>,
    /// The modules among all objects.
    pub(crate) modules: Vec<Ref>,
    /// Bodies that objects were made in; entry 0 is unused.
    pub(crate) sites: Vec<Option<CodeId>>,
    /// Where the next object is made.
    pub(crate) site: Site,
    /// The dicts that low-level types name by id.
    pub(crate) adtmeths: Vec<(ObjId, Ref)>,
    /// Number of bound methods created.
    methods: u32,
    /// The last number that was given to an identity.
    numbers: u32,
    /// Iterators of loops that have ended: nothing refers to them.
    unused_iterators: Vec<Ref>,
    /// The first object that may become one of these.
    reusable: usize,
    /// Bytes allocated since memory was last measured: see [`super::meter`].
    pub(crate) fresh: u64,
    /// The first object that is read without a note, and the first that is changed without one.
    plain: Plain,
    /// Notes of what is read and changed.
    journal: Option<Box<Journal>>,
    /// With a journal, the objects as they were when a round of calls began.
    round: Option<Round>,
    /// The places of objects in a run that replays units.
    slots: Option<Box<Slots>>,
    /// The order in which the objects were made; none if it is that of their places.
    order: Option<Arc<[u32]>>,
}

/// The first objects of a heap that are accessed directly.
#[derive(Clone, Copy, Debug, Default)]
struct Plain {
    reads: usize,
    writes: usize,
}

impl Heap {
    /// A heap with the builtin classes in it.
    pub(crate) fn new() -> Heap {
        let mut heap = Heap {
            below: None,
            start: 0,
            changed: FxHashMap::default(),
            objects: Vec::with_capacity(4096),
            modules: Vec::new(),
            sites: vec![None],
            site: Site::default(),
            adtmeths: Vec::new(),
            methods: 0,
            numbers: 0,
            unused_iterators: Vec::new(),
            reusable: 0,
            fresh: 0,
            plain: Plain::default(),
            journal: None,
            round: None,
            slots: None,
            order: None,
        };
        types::bootstrap(&mut heap);
        heap
    }

    /// A heap with the same objects, whose changes stay its own.
    pub(crate) fn upon(below: Arc<Heap>) -> Heap {
        Heap {
            start: below.len(),
            changed: FxHashMap::default(),
            objects: Vec::new(),
            modules: below.modules.clone(),
            sites: below.sites.clone(),
            site: Site::default(),
            adtmeths: below.adtmeths.clone(),
            methods: below.methods,
            numbers: below.numbers,
            unused_iterators: Vec::new(),
            reusable: below.len(),
            fresh: 0,
            plain: Plain {
                reads: below.len(),
                writes: below.len(),
            },
            journal: None,
            round: None,
            slots: None,
            order: below.order.clone(),
            below: Some(below),
        }
    }

    /// A heap with the same objects, without the notes of this one.
    pub(crate) fn copy(&self) -> Heap {
        Heap {
            below: self.below.clone(),
            start: self.start,
            changed: self.changed.clone(),
            objects: self.objects.clone(),
            modules: self.modules.clone(),
            sites: self.sites.clone(),
            site: self.site,
            adtmeths: self.adtmeths.clone(),
            methods: self.methods,
            numbers: self.numbers,
            unused_iterators: self.unused_iterators.clone(),
            reusable: self.reusable,
            fresh: self.fresh,
            plain: Plain {
                reads: self.start,
                writes: self.start,
            },
            journal: None,
            round: None,
            slots: None,
            order: self.order.clone(),
        }
    }

    /// What the heap holds now. Later changes are its own, until [`Heap::keep`].
    pub(crate) fn mark(&mut self) -> Arc<Heap> {
        let (site, fresh) = (self.site, self.fresh);
        let before = Arc::new(std::mem::take(self));
        *self = Heap::upon(before.clone());
        (self.site, self.fresh) = (site, fresh);
        before
    }

    /// Takes the changes since [`Heap::mark`] over for good.
    pub(crate) fn keep(&mut self, before: Arc<Heap>) {
        self.below = None;
        let Ok(mut whole) = Arc::try_unwrap(before) else {
            unreachable!("a mark that others hold");
        };
        let since = std::mem::take(self);
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each takes the place of another object"
        )]
        for (r, changed) in since.changed {
            *whole.get_mut(r) = changed;
        }
        whole.objects.extend(since.objects);
        whole.modules = since.modules;
        whole.sites = since.sites;
        whole.site = since.site;
        whole.adtmeths = since.adtmeths;
        whole.methods = since.methods;
        whole.numbers = since.numbers;
        whole.unused_iterators.extend(since.unused_iterators);
        whole.fresh = since.fresh;
        *self = whole;
    }

    /// Adds an object.
    pub(crate) fn alloc(&mut self, class: Ref, kind: Kind) -> Ref {
        let object = self.new_object(class, kind);
        if self.slots.is_some() {
            return self.put_in_slot(object, None);
        }
        self.put_behind(object)
    }

    #[inline(always)]
    fn new_object(&mut self, class: Ref, kind: Kind) -> Object {
        self.fresh += size_of::<Object>() as u64 + super::meter::shallow(&kind);
        Object {
            class,
            attrs: None,
            kind,
            site: self.site,
            number: 0,
        }
    }

    /// Adds an object behind the others.
    #[inline(always)]
    fn put_behind(&mut self, object: Object) -> Ref {
        let r = self.next();
        if let Kind::Module(_) = object.kind {
            self.modules.push(r);
        }
        if self.objects.len() == self.objects.capacity() {
            self.make_room();
        }
        self.objects.push(object);
        r
    }

    /// Adds an object in a run that replays units; the `__dict__` of `owner` if there is one.
    #[inline(never)]
    fn put_in_slot(&mut self, object: Object, owner: Option<Ref>) -> Ref {
        let Some(slots) = &mut self.slots else {
            unreachable!("the run replays units");
        };
        let r = match slots.find(&object, owner) {
            Some(r) => r,
            None => Ref((self.start + self.objects.len()) as u32),
        };
        slots.note_made(r);
        if let Kind::Module(_) = object.kind {
            self.modules.push(r);
        }
        match self.objects.get_mut(r.index()) {
            Some(place) => *place = object,
            None => self.objects.push(object),
        }
        if let Some(Journal::Changes(changes)) = self.journal() {
            changes.write(r);
        }
        r
    }

    /// The iterator of a loop. Only the loop may refer to it.
    pub(crate) fn loop_iterator(&mut self, state: Iter) -> Ref {
        let Some(r) = self.unused_iterators.pop() else {
            return self.alloc(ty::ITERATOR, Kind::Iter(Box::new(state)));
        };
        let site = self.site;
        let o = self.get_mut(r);
        o.site = site;
        if let Kind::Iter(place) = &mut o.kind {
            **place = state;
        }
        r
    }

    /// Reuses the iterator of a loop that has ended.
    pub(crate) fn loop_ended(&mut self, r: Ref) {
        // An object below may not change.
        if self.age(r) as usize >= self.reusable
            && let Kind::Iter(state) = &mut self.get_mut(r).kind
        {
            **state = Iter::Done;
            self.unused_iterators.push(r);
        }
    }

    /// The iterators of loops that have ended, which are not reused until they are put back.
    pub(crate) fn take_unused_iterators(&mut self) -> Vec<Ref> {
        std::mem::take(&mut self.unused_iterators)
    }

    /// Puts iterators back; those of loops that have ended since are not reused any more.
    pub(crate) fn put_unused_iterators(&mut self, unused: Vec<Ref>) {
        self.unused_iterators = unused;
    }

    /// Number of bound methods created.
    pub(crate) fn methods(&self) -> u32 {
        self.methods
    }

    /// Continues with this number of bound methods.
    pub(crate) fn set_methods(&mut self, methods: u32) {
        self.methods = methods;
    }

    /// Large heaps grow by a quarter: twice as much as is needed may not be there.
    #[cold]
    fn make_room(&mut self) {
        let len = self.objects.len();
        let more = if len < 1 << 20 { len.max(16) } else { len / 4 };
        self.objects.reserve_exact(more);
    }

    /// All objects, in the order in which they were made.
    pub(crate) fn refs(&self) -> impl Iterator<Item = Ref> + use<> {
        (0..self.len() as u32).map(Ref)
    }

    /// The objects that were made here, and those below that were changed.
    pub(crate) fn own_objects(&self) -> (&[Object], impl Iterator<Item = &Object>) {
        (&self.objects, self.changed.values())
    }

    /// What the next object will be.
    pub(crate) fn next(&self) -> Ref {
        Ref(self.len() as u32)
    }

    /// Number of objects.
    pub(crate) fn len(&self) -> usize {
        self.start + self.objects.len()
    }

    /// The object.
    #[inline]
    pub(crate) fn get(&self, r: Ref) -> &Object {
        self.get_part(r, || Part::WHOLE)
    }

    /// The object. The caller uses only a part of it.
    #[inline]
    pub(crate) fn get_part(&self, r: Ref, part: impl FnOnce() -> Part) -> &Object {
        if r.index() >= self.plain.reads {
            &self.objects[r.index() - self.start]
        } else {
            self.get_noted(r, part())
        }
    }

    /// The object, for uses that have no effect on the program.
    #[inline]
    pub(crate) fn peek(&self, r: Ref) -> &Object {
        if r.index() >= self.plain.reads {
            &self.objects[r.index() - self.start]
        } else if self.journal.is_some() {
            &self.objects[r.index()]
        } else {
            self.get_below(r)
        }
    }

    #[inline(never)]
    fn get_noted(&self, r: Ref, part: Part) -> &Object {
        match &self.journal {
            Some(journal) => {
                journal.read(r, part);
                &self.objects[r.index()]
            }
            None => self.get_below(r),
        }
    }

    fn get_below(&self, r: Ref) -> &Object {
        let mut heap = self;
        loop {
            if let Some(o) = heap.changed.get(&r) {
                return o;
            }
            heap = heap.below.as_ref().expect("an object of a heap below");
            if let Some(own) = r.index().checked_sub(heap.start) {
                return &heap.objects[own];
            }
        }
    }

    /// The object.
    #[inline]
    pub(crate) fn get_mut(&mut self, r: Ref) -> &mut Object {
        self.get_mut_part(r, || Some(Part::WHOLE))
    }

    /// The object. The caller uses and changes only a part of it; none if the change depends on nothing.
    #[inline]
    pub(crate) fn get_mut_part(
        &mut self,
        r: Ref,
        part: impl FnOnce() -> Option<Part>,
    ) -> &mut Object {
        if r.index() >= self.plain.writes {
            &mut self.objects[r.index() - self.start]
        } else {
            self.get_mut_noted(r, part())
        }
    }

    #[inline(never)]
    fn get_mut_noted(&mut self, r: Ref, part: Option<Part>) -> &mut Object {
        match &mut self.journal {
            Some(journal) => {
                let object = &mut self.objects[r.index()];
                journal.write(r, part, object);
                if let Some(round) = &mut self.round {
                    round.write(r, object);
                }
                object
            }
            None => self.change(r),
        }
    }

    fn change(&mut self, r: Ref) -> &mut Object {
        if !self.changed.contains_key(&r) {
            let before = self.get_below(r).clone();
            self.changed.insert(r, before);
        }
        self.changed.get_mut(&r).expect("put there above")
    }

    /// What the object is.
    #[inline]
    pub(crate) fn kind(&self, r: Ref) -> &Kind {
        &self.get(r).kind
    }

    /// The kind of the object. The caller does not use the items of a table.
    #[inline]
    pub(crate) fn shape(&self, r: Ref) -> &Kind {
        match &self.get_part(r, || Part::KIND).kind {
            table @ (Kind::Dict(_) | Kind::Set(_) | Kind::FrozenSet(_)) => table,
            _ => self.kind(r),
        }
    }

    /// A new list.
    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        Value::Ref(self.alloc(ty::LIST, Kind::List(items)))
    }

    /// A new dict.
    pub(crate) fn dict(&mut self, d: Dict) -> Ref {
        self.alloc(ty::DICT, Kind::Dict(d))
    }

    /// The class data, if it is a class.
    pub(crate) fn class(&self, r: Ref) -> Option<&Class> {
        match self.kind(r) {
            Kind::Class(c) => Some(c),
            _ => None,
        }
    }

    /// The class data of what is known to be a class.
    pub(crate) fn the_class(&self, r: Ref) -> &Class {
        self.class(r).expect("a class")
    }

    /// The class data of what is known to be a class.
    pub(crate) fn the_class_mut(&mut self, r: Ref) -> &mut Class {
        match &mut self.get_mut(r).kind {
            Kind::Class(c) => c,
            _ => unreachable!("not a class"),
        }
    }

    /// Direct subclasses of a class.
    pub(crate) fn subclasses(&self, r: Ref) -> Vec<Ref> {
        match &self.get_part(r, || Part::SUBCLASSES).kind {
            Kind::Class(c) => c.subclasses.clone(),
            _ => Vec::new(),
        }
    }

    /// Adds a direct subclass of a class.
    pub(crate) fn add_subclass(&mut self, r: Ref, subclass: Ref) {
        if let Kind::Class(c) = &mut self.get_mut_part(r, || None).kind {
            c.subclasses.push(subclass);
        }
    }

    /// The items of a list object.
    pub(crate) fn list_items(&self, r: Ref) -> Option<&Vec<Value>> {
        match self.kind(r) {
            Kind::List(l) => Some(l),
            _ => None,
        }
    }

    /// The table of a dict object.
    pub(crate) fn dict_of(&self, r: Ref) -> Option<&Dict> {
        match self.kind(r) {
            Kind::Dict(d) => Some(d),
            _ => None,
        }
    }

    /// The table of what is known to be a dict.
    pub(crate) fn the_dict(&self, r: Ref) -> &Dict {
        self.dict_of(r).expect("a dict")
    }

    /// A dict. The caller uses only the item of a name.
    #[inline]
    pub(crate) fn names(&self, r: Ref, name: Name<'_>) -> &Dict {
        self.names_opt(r, name).expect("a dict")
    }

    /// The same for an object that may be no dict.
    #[inline]
    pub(crate) fn names_opt(&self, r: Ref, name: Name<'_>) -> Option<&Dict> {
        match &self.get_part(r, || Part::name(name)).kind {
            Kind::Dict(d) => Some(d),
            _ => None,
        }
    }

    /// A dict. The caller uses, changes or adds only the item of a name.
    #[inline]
    pub(crate) fn names_mut(&mut self, r: Ref, name: Name<'_>) -> &mut Dict {
        match &mut self.get_mut_part(r, || Some(Part::name(name))).kind {
            Kind::Dict(d) => d,
            _ => unreachable!("not a dict"),
        }
    }

    /// An item of a dict.
    pub(crate) fn item(&self, dict: Ref, name: &str) -> Option<&Value> {
        let name = Name::new(name);
        self.names(dict, name).get_name(name)
    }

    /// Sets an item of a dict.
    pub(crate) fn set_item(&mut self, dict: Ref, name: &str, v: Value) {
        self.names_mut(dict, Name::new(name)).set_str(name, v);
    }

    /// The table of what is known to be a dict.
    pub(crate) fn the_dict_mut(&mut self, r: Ref) -> &mut Dict {
        match &mut self.get_mut(r).kind {
            Kind::Dict(d) => d,
            _ => unreachable!("not a dict"),
        }
    }

    /// A new bound method.
    #[inline]
    pub(crate) fn bound(&mut self, func: Ref, slf: Ref, class: Ref) -> Value {
        self.methods = self.methods.wrapping_add(1);
        Value::Bound(Bound {
            func,
            slf,
            class,
            number: self.methods,
        })
    }

    /// The `__dict__` of an object, made if it has none yet.
    pub(crate) fn attrs(&mut self, r: Ref) -> Ref {
        if let Some(d) = self.get(r).attrs {
            return d;
        }
        let d = self.own_dict(r);
        self.set_attrs(r, d);
        d
    }

    /// A new dict that becomes the `__dict__` of an object.
    fn own_dict(&mut self, owner: Ref) -> Ref {
        let object = self.new_object(ty::DICT, Kind::Dict(Dict::default()));
        match self.slots {
            Some(_) => self.put_in_slot(object, Some(owner)),
            None => self.put_behind(object),
        }
    }

    /// Gives an object its `__dict__`.
    pub(crate) fn set_attrs(&mut self, r: Ref, d: Ref) {
        let o = self.get_mut(r);
        o.attrs = Some(d);
        if let Kind::Class(_) = o.kind {
            self.the_dict_mut(d).belong_to_class();
        }
    }

    /// An entry of the object's own `__dict__`.
    #[inline]
    pub(crate) fn attr(&self, r: Ref, name: &str) -> Option<&Value> {
        self.named_attr(r, Name::new(name))
    }

    /// An entry of the object's own `__dict__`.
    #[inline]
    pub(crate) fn named_attr(&self, r: Ref, name: Name<'_>) -> Option<&Value> {
        self.names(self.get(r).attrs?, name).get_name(name)
    }

    /// Sets an entry of the object's own `__dict__`.
    pub(crate) fn set_attr(&mut self, r: Ref, name: &str, v: Value) {
        let d = self.attrs(r);
        self.fresh += super::meter::ENTRY;
        self.set_item(d, name, v);
    }

    /// Sets an entry of the object's own `__dict__`.
    pub(crate) fn set_known_attr(&mut self, r: Ref, name: &KnownName, v: Value) {
        let d = self.attrs(r);
        self.fresh += super::meter::ENTRY;
        self.names_mut(d, name.name()).set_known(name, v);
    }

    /// Notes which name an exception is about.
    pub(crate) fn set_lacking(&mut self, exception: Ref, lacks: Lacks) {
        if let Kind::Exception(e) = &mut self.get_mut(exception).kind {
            e.lacks = Some(Box::new(lacks));
        }
    }

    /// Whether `sub` is `sup` or inherits from it.
    pub(crate) fn is_subclass(&self, sub: Ref, sup: Ref) -> bool {
        sub == sup || self.class(sub).is_some_and(|c| c.mro.contains(&sup))
    }

    /// A class attribute along the method resolution order, and the class that has it.
    pub(crate) fn lookup_where(&self, class: Ref, name: Name<'_>) -> Option<(Ref, &Value)> {
        let c = self.class(class)?;
        c.mro
            .iter()
            .find_map(|c| Some((*c, self.named_attr(*c, name)?)))
    }

    /// A class attribute along the method resolution order.
    #[inline]
    pub(crate) fn lookup(&self, class: Ref, name: &str) -> Option<&Value> {
        Some(self.lookup_where(class, Name::new(name))?.1)
    }

    /// The class of a value, as `type()` tells it.
    pub(crate) fn type_of(&self, v: &Value) -> Ref {
        match v {
            Value::None => ty::NONE_TYPE,
            Value::Bool(_) => ty::BOOL,
            Value::Int(_) => ty::INT,
            Value::Long(_) => ty::LONG,
            Value::Float(_) => ty::FLOAT,
            Value::Complex(_) => ty::COMPLEX,
            Value::Str(_) => ty::STR,
            Value::Unicode(_) => ty::UNICODE,
            Value::Tuple(_) => ty::TUPLE,
            Value::Bound(m) => match self.kind(m.func) {
                Kind::Builtin(_) => ty::BUILTIN,
                _ => ty::METHOD,
            },
            Value::Method(m) => match &m.func {
                Value::Ref(r) if matches!(self.kind(*r), Kind::Builtin(_)) => ty::BUILTIN,
                _ => ty::METHOD,
            },
            Value::Ref(r) => self.get_part(*r, || Part::KIND).class,
        }
    }

    /// Name of a class.
    pub(crate) fn class_name(&self, class: Ref) -> &str {
        self.class(class).map_or("?", |c| &c.name)
    }

    /// Name of the class of a value, for messages.
    pub(crate) fn type_name(&self, v: &Value) -> &str {
        let class = self.type_of(v);
        if self.class(class).is_some_and(|c| c.old_style) {
            return "instance";
        }
        self.class_name(class)
    }
}
