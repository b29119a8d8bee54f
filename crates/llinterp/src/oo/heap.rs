//! The heap: objects by number, each with words for its fields or items.
//!
//! The word of a number is that of [`taipan_lltype::eval_num`]. The word of a reference is the number of the object, 0 is
//! null. Static methods are the numbers that the low-level heap has for functions. Prebuilt objects are made when they are
//! used first.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use taipan_lltype::{
    Collected, Finalizers, Heap, HeapError, LLConst, LLType, OBJECT, Program, StaticSym,
    StaticValue, Trigger, TypeKind, WEAKREF,
};
use taipan_ootype::{OOType, Place, base_of, fields_of, identity_field, member, storage};

/// The content of an object.
enum Content {
    /// Fields or items.
    Words(Vec<i128>),
    /// Items that are characters, or nothing.
    Bytes(Vec<u8>),
    /// A weak reference to an object.
    Weak(usize),
    /// Prebuilt, not used so far.
    Later(StaticSym),
    /// There is no object of this number.
    Free,
}

struct Object {
    /// Its container type.
    ty: LLType,
    content: Content,
    /// It lives for ever.
    prebuilt: bool,
    marked: bool,
}

impl Object {
    fn size(&self) -> usize {
        64 + match &self.content {
            Content::Words(words) => 16 * words.len(),
            Content::Bytes(bytes) => bytes.len(),
            Content::Weak(_) | Content::Later(_) | Content::Free => 0,
        }
    }
}

/// Facts about a type.
pub(super) struct Shape {
    /// The content of each field; of items, the only one.
    parts: Vec<OOType>,
    /// Parts that are objects, which the container makes.
    made: Vec<(usize, LLType)>,
    /// The field with the identity hash.
    identity: Option<usize>,
}

/// A collection begins when this number of bytes was allocated since the last one.
const COLLECT_AT: usize = 256 << 20;

/// No object has more bytes.
const MOST_BYTES: i128 = 1 << 31;

/// The heap.
pub(super) struct Objects<'p> {
    pub(super) program: &'p dyn Program,
    /// The numbers of functions, and the strings of functions of the runtime.
    pub(super) low: Heap<'p>,
    objects: Vec<Object>,
    free: Vec<usize>,
    statics: FxHashMap<StaticSym, usize>,
    shapes: FxHashMap<LLType, Rc<Shape>>,
    casts: FxHashMap<(LLType, LLType), bool>,
    allocated: usize,
    collect_at: usize,
    pub(super) finalizers: Finalizers,
}

/// Whether a type is that of an object inside of another one.
pub(super) fn is_part(ty: LLType) -> bool {
    matches!(
        ty.kind(),
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)
    )
}

/// The `lltype` type of the items of an array.
pub(super) fn items_of(ty: LLType) -> Option<LLType> {
    match ty.kind() {
        TypeKind::Array(a) => Some(a.of),
        TypeKind::FixedArray(of, _) => Some(*of),
        _ => None,
    }
}

/// Whether items are kept as bytes.
fn is_byte(item: LLType) -> bool {
    matches!(
        item.kind(),
        TypeKind::Char | TypeKind::Bool | TypeKind::Void
    )
}

impl<'p> Objects<'p> {
    pub(super) fn new(program: &'p dyn Program) -> Objects<'p> {
        let null = Object {
            ty: *taipan_lltype::VOID,
            content: Content::Free,
            prebuilt: false,
            marked: false,
        };
        Objects {
            program,
            low: Heap::new(program),
            objects: vec![null],
            free: Vec::new(),
            statics: FxHashMap::default(),
            shapes: FxHashMap::default(),
            casts: FxHashMap::default(),
            allocated: 0,
            collect_at: COLLECT_AT,
            finalizers: Finalizers::default(),
        }
    }

    fn shape(&mut self, ty: LLType) -> Rc<Shape> {
        let program = self.program;
        let shape = self.shapes.entry(ty).or_insert_with(|| {
            let types: Vec<LLType> = match items_of(ty) {
                Some(of) => vec![of],
                None => fields_of(ty, program).iter().map(|m| m.ty).collect(),
            };
            let made = types.iter().enumerate().filter(|(_, t)| is_part(**t));
            Rc::new(Shape {
                parts: types.iter().map(|t| storage(*t)).collect(),
                made: made.map(|(i, t)| (i, *t)).collect(),
                identity: has_base(ty, *OBJECT, program).then(|| identity_field(program)),
            })
        });
        shape.clone()
    }

    // Allocation.

    fn add(&mut self, ty: LLType, content: Content, prebuilt: bool) -> usize {
        let object = Object {
            ty,
            content,
            prebuilt,
            marked: false,
        };
        self.allocated += object.size();
        match self.free.pop() {
            Some(i) => {
                self.objects[i] = object;
                i
            }
            None => {
                self.objects.push(object);
                self.objects.len() - 1
            }
        }
    }

    /// A new object with its parts. `length` is the number of items, of an array or of the array at its end. Its word is 0
    /// if it would be too large.
    pub(super) fn new_object(&mut self, ty: LLType, length: i128) -> i128 {
        match (0..MOST_BYTES / 16).contains(&length) {
            true => self.make(ty, length as usize, false) as i128,
            false => 0,
        }
    }

    fn make(&mut self, ty: LLType, length: usize, prebuilt: bool) -> usize {
        let content = self.content(ty, length, prebuilt);
        self.add(ty, content, prebuilt)
    }

    /// The content of a new object. Its parts are there.
    fn content(&mut self, ty: LLType, length: usize, prebuilt: bool) -> Content {
        let Some(of) = items_of(ty) else {
            let shape = self.shape(ty);
            let mut words = vec![0; shape.parts.len()];
            for (i, part) in &shape.made {
                let is_last = i + 1 == words.len() && part.as_array().is_some();
                let length = if is_last { length } else { 0 };
                words[*i] = self.make(*part, length, prebuilt) as i128;
            }
            return Content::Words(words);
        };
        let length = match ty.kind() {
            TypeKind::FixedArray(_, n) => *n as usize,
            _ => length,
        };
        if is_byte(of) {
            Content::Bytes(vec![0; length])
        } else if is_part(of) {
            let items = (0..length).map(|_| self.make(of, 0, prebuilt) as i128);
            Content::Words(items.collect())
        } else {
            Content::Words(vec![0; length])
        }
    }

    /// A new weak reference.
    pub(super) fn new_weakref(&mut self, target: i128) -> i128 {
        self.add(*WEAKREF, Content::Weak(target as usize), false) as i128
    }

    // Prebuilt objects.

    /// The word of a constant.
    pub(super) fn constant(&mut self, c: &LLConst) -> Result<i128, HeapError> {
        Ok(match c {
            LLConst::Static(s, _) => self.prebuilt(s)?,
            other => self.low.const_value(other),
        })
    }

    fn prebuilt(&mut self, s: &StaticSym) -> Result<i128, HeapError> {
        let StaticSym::Within(root, path) = s else {
            if let Some(i) = self.statics.get(s) {
                return Ok(*i as i128);
            }
            let i = self.add(*taipan_lltype::VOID, Content::Later(s.clone()), true);
            self.statics.insert(s.clone(), i);
            return Ok(i as i128);
        };
        let mut part = self.prebuilt(root)?;
        let mut ty = self.type_of(part)?;
        for step in path.iter() {
            let bad = HeapError::Type("a place inside of no object");
            let step = usize::try_from(*step).map_err(|_| bad.clone())?;
            if let Some(of) = items_of(ty) {
                part = self.item(part, step as i128)?;
                ty = of;
                continue;
            }
            let body = self.program.body(ty.as_struct().ok_or(bad.clone())?);
            let field = body.fields.get(step).ok_or(bad.clone())?;
            match member(ty, &field.name, self.program) {
                Some(Place::Base(base)) => ty = base,
                Some(Place::Field(i, of)) if is_part(of) => {
                    part = self.field(part, i)?;
                    ty = of;
                }
                _ => return Err(bad),
            }
        }
        Ok(part)
    }

    #[cold]
    fn make_prebuilt(&mut self, i: usize) -> Result<(), HeapError> {
        let Content::Later(s) = &self.objects[i].content else {
            return Ok(());
        };
        let s = s.clone();
        let data = self.program.static_data(&s);
        let content = self.content(data.ty, 0, true);
        let o = &mut self.objects[i];
        (o.ty, o.content) = (data.ty, content);
        self.fill(i, data.ty, &data.value)?;
        if let Some(field) = self.shape(data.ty).identity {
            self.set_field(i as i128, field, i128::from(s.identity_hash()))?;
        }
        Ok(())
    }

    /// Fills an object, seen as one of type `ty`, with prebuilt contents.
    fn fill(&mut self, i: usize, ty: LLType, value: &StaticValue) -> Result<(), HeapError> {
        match (value, items_of(ty)) {
            (StaticValue::Zero, _) => {}
            (StaticValue::Bytes(bytes), Some(_)) => {
                self.objects[i].content = Content::Bytes(bytes.to_vec());
            }
            (StaticValue::Array(items), Some(of)) => {
                self.objects[i].content = self.content(ty, items.len(), true);
                for (n, item) in items.iter().enumerate().filter(|_| !of.is_void()) {
                    match self.static_word(of, item)? {
                        Some(word) => self.set_item(i as i128, n as i128, word)?,
                        None => {
                            let part = self.item(i as i128, n as i128)?;
                            self.fill(part as usize, of, item)?;
                        }
                    }
                }
            }
            (StaticValue::Struct(parts), None) => {
                let bad = HeapError::Type("prebuilt data does not fit its type");
                let body = self.program.body(ty.as_struct().ok_or(bad)?);
                for (field, part) in body.fields.iter().zip(parts) {
                    match member(ty, &field.name, self.program) {
                        Some(Place::Base(base)) => self.fill(i, base, part)?,
                        Some(Place::Field(n, of)) => match self.static_word(of, part)? {
                            Some(word) => self.set_field(i as i128, n, word)?,
                            None => {
                                let inner = self.field(i as i128, n)?;
                                self.fill(inner as usize, of, part)?;
                            }
                        },
                        Some(Place::Nothing) | None => {}
                    }
                }
            }
            _ => return Err(HeapError::Type("prebuilt data does not fit its type")),
        }
        Ok(())
    }

    /// The word of a prebuilt field or item; none if it is a part.
    fn static_word(&mut self, ty: LLType, value: &StaticValue) -> Result<Option<i128>, HeapError> {
        match value {
            _ if is_part(ty) => Ok(None),
            StaticValue::Const(c) => self.constant(c).map(Some),
            _ => Ok(Some(0)),
        }
    }

    // Access.

    fn object(&mut self, word: i128) -> Result<&mut Object, HeapError> {
        let i = usize::try_from(word).unwrap_or(usize::MAX);
        if matches!(self.objects.get(i), Some(o) if matches!(o.content, Content::Later(_))) {
            self.make_prebuilt(i)?;
        }
        match self.objects.get_mut(i) {
            _ if i == 0 => Err(HeapError::Null),
            Some(o) if !matches!(o.content, Content::Free) => Ok(o),
            _ => Err(HeapError::NotAnObject),
        }
    }

    fn words(&mut self, word: i128) -> Result<&mut Vec<i128>, HeapError> {
        match &mut self.object(word)?.content {
            Content::Words(words) => Ok(words),
            _ => Err(HeapError::Type("an object without fields")),
        }
    }

    /// The container type of an object, as it was made.
    pub(super) fn type_of(&mut self, word: i128) -> Result<LLType, HeapError> {
        Ok(self.object(word)?.ty)
    }

    /// The field of that number.
    #[inline]
    pub(super) fn field(&mut self, word: i128, i: usize) -> Result<i128, HeapError> {
        let bad = HeapError::Type("an object without the field");
        self.words(word)?.get(i).copied().ok_or(bad)
    }

    #[inline]
    pub(super) fn set_field(&mut self, word: i128, i: usize, v: i128) -> Result<(), HeapError> {
        let bad = HeapError::Type("an object without the field");
        *self.words(word)?.get_mut(i).ok_or(bad)? = v;
        Ok(())
    }

    /// The field of that name.
    pub(super) fn named_field(
        &mut self,
        word: i128,
        ty: LLType,
        name: &str,
    ) -> Result<i128, HeapError> {
        match member(ty, name, self.program) {
            Some(Place::Field(i, _)) => self.field(word, i),
            _ => Err(HeapError::Type("an object without the field")),
        }
    }

    #[inline]
    pub(super) fn item(&mut self, word: i128, index: i128) -> Result<i128, HeapError> {
        let i = usize::try_from(index).unwrap_or(usize::MAX);
        let o = self.object(word)?;
        let found = match &o.content {
            Content::Words(words) => words.get(i).copied(),
            Content::Bytes(bytes) => bytes.get(i).map(|b| i128::from(*b)),
            _ => None,
        };
        found.ok_or(HeapError::OutOfBounds(o.ty))
    }

    #[inline]
    pub(super) fn set_item(&mut self, word: i128, index: i128, v: i128) -> Result<(), HeapError> {
        let i = usize::try_from(index).unwrap_or(usize::MAX);
        let o = self.object(word)?;
        let done = match &mut o.content {
            Content::Words(words) => words.get_mut(i).map(|w| *w = v),
            Content::Bytes(bytes) => bytes.get_mut(i).map(|b| *b = v as u8),
            _ => None,
        };
        done.ok_or(HeapError::OutOfBounds(o.ty))
    }

    pub(super) fn length(&mut self, word: i128) -> Result<i128, HeapError> {
        Ok(match &self.object(word)?.content {
            Content::Words(words) => words.len() as i128,
            Content::Bytes(bytes) => bytes.len() as i128,
            _ => 0,
        })
    }

    /// The characters of an array of bytes.
    pub(super) fn bytes(&mut self, word: i128) -> Result<&mut Vec<u8>, HeapError> {
        match &mut self.object(word)?.content {
            Content::Bytes(bytes) => Ok(bytes),
            _ => Err(HeapError::Type("an object without characters")),
        }
    }

    /// Leaves an array fewer items.
    pub(super) fn shrink(&mut self, array: i128, length: i128) -> Result<(), HeapError> {
        let n = usize::try_from(length).unwrap_or(0);
        match &mut self.object(array)?.content {
            Content::Words(words) => words.truncate(n),
            Content::Bytes(bytes) => bytes.truncate(n),
            _ => {}
        }
        Ok(())
    }

    /// Copies items as `memmove` does; of items that are parts, their contents.
    pub(super) fn copy_items(
        &mut self,
        [source, dest, from, to, length]: [i128; 5],
    ) -> Result<(), HeapError> {
        let ty = self.type_of(source)?;
        for (array, start) in [(source, from), (dest, to)] {
            if start < 0 || length < 0 || start + length > self.length(array)? {
                return Err(HeapError::OutOfBounds(ty));
            }
        }
        let part = items_of(ty).filter(|of| is_part(*of));
        let backwards = to > from;
        for n in 0..length {
            let n = if backwards { length - 1 - n } else { n };
            let item = self.item(source, from + n)?;
            match part {
                None => self.set_item(dest, to + n, item)?,
                Some(part) => {
                    let onto = self.item(dest, to + n)?;
                    self.copy_part(item, onto, part)?;
                }
            }
        }
        Ok(())
    }

    fn copy_part(&mut self, from: i128, to: i128, ty: LLType) -> Result<(), HeapError> {
        if from == to {
            return Ok(());
        }
        let shape = self.shape(ty);
        if items_of(ty).is_some() {
            let n = self.length(from)?;
            return self.copy_items([from, to, 0, 0, n]);
        }
        for i in 0..shape.parts.len() {
            let word = self.field(from, i)?;
            match shape.made.iter().find(|(part, _)| *part == i) {
                None => self.set_field(to, i, word)?,
                Some((_, part)) => {
                    let onto = self.field(to, i)?;
                    self.copy_part(word, onto, *part)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that an object can be seen as one of type `to`.
    pub(super) fn check_cast(&mut self, word: i128, to: LLType) -> Result<(), HeapError> {
        let ty = self.type_of(word)?;
        if ty == to {
            return Ok(());
        }
        let program = self.program;
        let casts = self.casts.entry((ty, to));
        match *casts.or_insert_with(|| has_base(ty, to, program)) {
            true => Ok(()),
            false => Err(HeapError::BadCast(ty, to)),
        }
    }

    /// A number that an instance keeps.
    pub(super) fn identity_hash(&mut self, word: i128) -> Result<i128, HeapError> {
        if word == 0 {
            return Ok(0);
        }
        let ty = self.type_of(word)?;
        let bad = HeapError::Type("an identity hash of no instance");
        let field = self.shape(ty).identity.ok_or(bad)?;
        match self.field(word, field)? {
            0 => {
                self.set_field(word, field, word)?;
                Ok(word)
            }
            hash => Ok(hash),
        }
    }

    /// The object of a weak reference, or null.
    pub(super) fn deref(&mut self, word: i128) -> Result<i128, HeapError> {
        match self.object(word)?.content {
            Content::Weak(target) => Ok(target as i128),
            _ => self.named_field(word, *WEAKREF, "target"),
        }
    }

    // Collection.

    /// Has an object finalized when it dies: by its class, or by a queue.
    pub(super) fn register(&mut self, trigger: Trigger, word: i128) -> Result<(), HeapError> {
        let ty = self.type_of(word)?;
        let light = trigger == 0
            && (self.program.destructor(ty)).is_some_and(|f| self.program.is_light_destructor(&f));
        self.finalizers.register(trigger, word as usize, light);
        Ok(())
    }

    pub(super) fn wants_collection(&self) -> bool {
        self.allocated > self.collect_at
    }

    /// Frees the objects that are reachable neither from prebuilt ones nor from `roots`.
    pub(super) fn collect(&mut self, roots: impl Iterator<Item = i128>) -> Result<(), HeapError> {
        let mut todo: Vec<usize> = roots.map(|w| w as usize).collect();
        todo.extend(self.finalizers.waiting());
        for i in 0..self.objects.len() {
            if self.objects[i].prebuilt {
                todo.extend(self.references(i));
            }
        }
        self.mark_from(todo);
        let mut finalizers = std::mem::take(&mut self.finalizers);
        finalizers.finalize_dead(self);
        self.finalizers = finalizers;
        let mut live = 0;
        for i in 1..self.objects.len() {
            let dies = self.is_collected(i) && !self.objects[i].marked;
            let o = &mut self.objects[i];
            o.marked = false;
            if dies {
                o.content = Content::Free;
                self.free.push(i);
            } else {
                live += o.size();
            }
        }
        self.allocated = live;
        self.collect_at = (2 * live).max(COLLECT_AT);
        self.low.collect(std::iter::empty())
    }
}

impl Collected for Objects<'_> {
    fn is_collected(&self, i: usize) -> bool {
        let o = self.objects.get(i);
        o.is_some_and(|o| !o.prebuilt && !matches!(o.content, Content::Free))
    }

    fn is_marked(&self, i: usize) -> bool {
        self.objects[i].marked
    }

    fn references(&mut self, i: usize) -> Vec<usize> {
        let shape = self.shape(self.objects[i].ty);
        let Content::Words(words) = &self.objects[i].content else {
            return Vec::new();
        };
        let refers = |part: &OOType| part.is_reference();
        match shape.parts.as_slice() {
            [item] if items_of(self.objects[i].ty).is_some() => match refers(item) {
                true => words.iter().map(|w| *w as usize).collect(),
                false => Vec::new(),
            },
            parts => (words.iter().zip(parts))
                .filter(|(_, part)| refers(part))
                .map(|(w, _)| *w as usize)
                .collect(),
        }
    }

    fn mark_from(&mut self, mut todo: Vec<usize>) {
        while let Some(i) = todo.pop() {
            if self.is_collected(i) && !self.objects[i].marked {
                self.objects[i].marked = true;
                todo.extend(self.references(i));
            }
        }
    }

    fn clear_weakrefs(&mut self, revived: &FxHashMap<usize, usize>) {
        for i in 0..self.objects.len() {
            if let Content::Weak(target) = self.objects[i].content
                && (self.objects[i].marked || revived.contains_key(&i))
                && self.is_collected(target)
                && !self.objects[target].marked
            {
                self.objects[i].content = Content::Weak(0);
            }
        }
    }
}

/// Whether objects of type `ty` are objects of type `base`, too.
fn has_base(ty: LLType, base: LLType, program: &dyn Program) -> bool {
    let mut ty = Some(ty);
    while let Some(t) = ty {
        if t == base {
            return true;
        }
        ty = base_of(t, program);
    }
    false
}
