/* The C part of a module for Python: between Python's objects and the functions of the program.
 *
 * It declares what it uses of Python's stable ABI (PEP 384) itself, as of 3.10, so no header of
 * Python's is needed, and a module works with that version and all later ones.
 *
 * While a function of the program runs, nothing here runs code of Python's that could call the
 * program again or let another thread do so: what is an exception is made when it has returned,
 * and containers are made without collecting garbage.
 */

#include <stdint.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ Python */

typedef intptr_t Py_ssize_t;
typedef struct _object { Py_ssize_t ob_refcnt; struct _object *ob_type; } PyObject;
typedef PyObject PyTypeObject;
typedef struct PyThreadState PyThreadState;
typedef struct PyInterpreterState PyInterpreterState;
typedef PyObject *(*PyCFunctionFastWithKeywords)(PyObject *, PyObject *const *, Py_ssize_t,
                                                 PyObject *);
typedef struct { const char *ml_name; void *ml_meth; int ml_flags; const char *ml_doc; } PyMethodDef;
typedef struct { int slot; void *value; } PyModuleDef_Slot;
typedef struct {
    PyObject ob_base; PyObject *(*m_init)(void); Py_ssize_t m_index; PyObject *m_copy;
    const char *m_name, *m_doc; Py_ssize_t m_size; PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots; void *m_traverse, *m_clear, *m_free;
} PyModuleDef;

enum { METH_FASTCALL_KEYWORDS = 0x82, PY_MOD_EXEC = 2, PY_FILE_INPUT = 257 };
enum { LONG_FLAG = 1 << 24, LIST_FLAG = 1 << 25, TUPLE_FLAG = 1 << 26, BYTES_FLAG = 1 << 27,
       TEXT_FLAG = 1 << 28, DICT_FLAG = 1 << 29 };

#pragma GCC visibility push(default)
extern PyObject _Py_NoneStruct, _Py_TrueStruct;
extern PyTypeObject PyLong_Type, PyFloat_Type, PyBool_Type, PyList_Type, PyUnicode_Type;
extern PyObject *PyExc_Exception, *PyExc_ArithmeticError, *PyExc_AssertionError,
    *PyExc_AttributeError, *PyExc_BufferError, *PyExc_EOFError, *PyExc_FloatingPointError,
    *PyExc_ImportError, *PyExc_IndexError, *PyExc_KeyError, *PyExc_LookupError,
    *PyExc_MemoryError, *PyExc_NameError, *PyExc_NotImplementedError, *PyExc_OSError,
    *PyExc_OverflowError, *PyExc_ReferenceError, *PyExc_RuntimeError, *PyExc_StopIteration,
    *PyExc_SyntaxError, *PyExc_SystemError, *PyExc_TypeError, *PyExc_UnicodeError,
    *PyExc_ValueError, *PyExc_ZeroDivisionError;

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
unsigned long PyType_GetFlags(PyTypeObject *);
int PyType_IsSubtype(PyTypeObject *, PyTypeObject *);
PyObject *PyObject_Type(PyObject *);
PyObject *PyObject_GetAttrString(PyObject *, const char *);
int PyObject_SetAttrString(PyObject *, const char *, PyObject *);
PyObject *PyObject_CallObject(PyObject *, PyObject *);
PyObject *PyObject_Str(PyObject *);
PyObject *PyNumber_Index(PyObject *);
PyObject *PyLong_FromLongLong(long long);
PyObject *PyLong_FromUnsignedLongLong(unsigned long long);
PyObject *PyLong_FromString(const char *, char **, int);
long long PyLong_AsLongLongAndOverflow(PyObject *, int *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
PyObject *PyFloat_FromDouble(double);
double PyFloat_AsDouble(PyObject *);
double PyLong_AsDouble(PyObject *);
PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
char *PyBytes_AsString(PyObject *);
Py_ssize_t PyBytes_Size(PyObject *);
PyObject *PyUnicode_DecodeUTF8(const char *, Py_ssize_t, const char *);
PyObject *PyUnicode_DecodeUTF32(const char *, Py_ssize_t, const char *, int *);
PyObject *PyUnicode_FromFormat(const char *, ...);
PyObject *PyUnicode_AsEncodedString(PyObject *, const char *, const char *);
const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
uint32_t *PyUnicode_AsUCS4(PyObject *, uint32_t *, Py_ssize_t, int);
Py_ssize_t PyUnicode_GetLength(PyObject *);
int PyUnicode_CompareWithASCIIString(PyObject *, const char *);
PyObject *PyList_New(Py_ssize_t);
Py_ssize_t PyList_Size(PyObject *);
PyObject *PyList_GetItem(PyObject *, Py_ssize_t);
int PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
PyObject *PyTuple_New(Py_ssize_t);
Py_ssize_t PyTuple_Size(PyObject *);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
PyObject *PyDict_New(void);
Py_ssize_t PyDict_Size(PyObject *);
int PyDict_SetItem(PyObject *, PyObject *, PyObject *);
int PyDict_SetItemString(PyObject *, const char *, PyObject *);
PyObject *PyDict_GetItemString(PyObject *, const char *);
int PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **);
PyObject *PyErr_Format(PyObject *, const char *, ...);
void PyErr_SetString(PyObject *, const char *);
void PyErr_SetObject(PyObject *, PyObject *);
PyObject *PyErr_NoMemory(void);
PyObject *PyErr_Occurred(void);
int PyErr_ExceptionMatches(PyObject *);
void PyErr_Clear(void);
PyObject *PyErr_NewException(const char *, PyObject *, PyObject *);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
PyObject *PyEval_EvalCode(PyObject *, PyObject *, PyObject *);
PyObject *Py_CompileString(const char *, const char *, int);
PyInterpreterState *PyInterpreterState_Get(void);
int64_t PyInterpreterState_GetID(PyInterpreterState *);
PyObject *PyImport_ImportModule(const char *);
PyObject *PyModule_GetNameObject(PyObject *);
PyObject *PyModuleDef_Init(PyModuleDef *);
int PyGC_Disable(void);
int PyGC_Enable(void);
#pragma GCC visibility pop

#define IS(o, flag) ((PyType_GetFlags((o)->ob_type) & (flag)) != 0)
#define IS_EXACTLY_OR(o, type, flag) ((o)->ob_type == &(type) || IS(o, flag))
#define IS_LIST(o) IS_EXACTLY_OR(o, PyList_Type, LIST_FLAG)
#define IS_TEXT(o) IS_EXACTLY_OR(o, PyUnicode_Type, TEXT_FLAG)
#define IS_INT(o) IS_EXACTLY_OR(o, PyLong_Type, LONG_FLAG)
#define IS_BYTES(o) ((o)->ob_type != &PyUnicode_Type && IS(o, BYTES_FLAG))
#define IS_NONE(o) ((o) == &_Py_NoneStruct)

static PyObject *new_none(void)
{
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

static PyObject *new_bool(int value)
{
    extern PyObject *PyBool_FromLong(long) __attribute__((visibility("default")));
    return PyBool_FromLong(value);
}

/* ------------------------------------------------------------- the program */

struct location { const char *file, *function; uint64_t line; };
struct string { uintptr_t header; int64_t hash; int64_t length; char bytes[]; };
struct unicode { uintptr_t header; int64_t hash; int64_t length; uint32_t chars[]; };

enum { IN = 0, WAS_IN = 1, BUSY = 2 };
int64_t rpy_extension_enter(void);
int64_t rpy_extension_return(void);
void rpy_extension_leave(void);
void rpy_extension_wait(void);
int64_t rpy_extension_traceback(const struct location **, int64_t);
int taipan_start(_Bool with_lock);

/* --------------------------------------------------------- types, functions */

struct type {
    /* i: int, s, u: integers, b: bool, f: float, t: text, y: bytes, w: unicode,
       o: optional, l: list, d: dict, p: tuple */
    char kind;
    int count;
    const struct type *const *items;
    const char *name;
};

struct function {
    const char *name;
    int count, required;
    const char *const *names;
    const struct type *const *types;
    PyObject **defaults;
    struct location place;
};

/* What the program has given: its functions by their numbers. */
static void *entries[];

void taipan_py_register(int64_t i, void *entry) { entries[i] = entry; }

static inline int64_t leave(int64_t in)
{
    if (in == IN)
        rpy_extension_leave();
    return 0;
}

static void wait_without_lock(void)
{
    PyThreadState *state = PyEval_SaveThread();
    rpy_extension_wait();
    PyEval_RestoreThread(state);
}

static __attribute__((cold, noinline)) int64_t wait_to_enter(int64_t in)
{
    while (in > WAS_IN) {
        if (in != BUSY) {
            PyErr_SetString(PyExc_RuntimeError,
                            "the process was forked while another thread ran a function of "
                            "this module");
            return -1;
        }
        wait_without_lock();
        in = rpy_extension_enter();
    }
    return in;
}

/* Lets the thread in: what leave() is to be given, or -1. */
static inline int64_t enter(void)
{
    int64_t in = rpy_extension_enter();
    return __builtin_expect(in <= WAS_IN, 1) ? in : wait_to_enter(in);
}

static __thread PyThreadState *released;

void taipan_py_release(void) { released = PyEval_SaveThread(); }

void taipan_py_acquire(void)
{
    /* Whoever has Python's lock may wait for this one. */
    rpy_extension_leave();
    PyEval_RestoreThread(released);
    while (rpy_extension_return() == BUSY)
        wait_without_lock();
}

/* --------------------------------------------------------------- arguments */

/* Puts arguments in their places. */
static __attribute__((noinline)) PyObject *const *arrange(
    const struct function *f, PyObject *const *args, Py_ssize_t given, PyObject *names,
    PyObject **out)
{
    Py_ssize_t by_name = names ? PyTuple_Size(names) : 0;
    if (given > f->count)
        return (void *)PyErr_Format(PyExc_TypeError,
                                    "%s() takes %d positional argument%s but %zd %s given", f->name,
                                    f->count, f->count == 1 ? "" : "s", given,
                                    given == 1 ? "was" : "were");
    memset(out, 0, f->count * sizeof *out);
    memcpy(out, args, given * sizeof *out);
    for (Py_ssize_t k = 0; k < by_name; k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        int i = 0;
        while (i < f->count && PyUnicode_CompareWithASCIIString(name, f->names[i]) != 0)
            i++;
        if (i == f->count)
            return (void *)PyErr_Format(PyExc_TypeError,
                                        "%s() got an unexpected keyword argument '%U'", f->name,
                                        name);
        if (out[i])
            return (void *)PyErr_Format(PyExc_TypeError,
                                        "%s() got multiple values for argument '%s'", f->name,
                                        f->names[i]);
        out[i] = args[given + k];
    }
    for (int i = 0; i < f->count; i++) {
        if (!out[i] && i >= f->required)
            out[i] = f->defaults[i - f->required];
        if (!out[i])
            return (void *)PyErr_Format(PyExc_TypeError,
                                        "%s() missing required argument '%s' (pos %d)", f->name,
                                        f->names[i], i + 1);
    }
    return out;
}

/* Says that an argument, or what is at a place in it, is no such type. */
static __attribute__((cold, noinline)) PyObject *wrong_type(
    const struct function *f, int i, const char *place, const char *expected, PyObject *got)
{
    PyObject *type = PyObject_Type(got);
    PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
    if (name)
        PyErr_Format(PyExc_TypeError, "%s() argument '%s' (pos %d)%s must be %s, not %U", f->name,
                     f->names[i], i + 1, place, expected, name);
    if (name)
        Py_DecRef(name);
    if (type)
        Py_DecRef(type);
    return NULL;
}

static __attribute__((cold, noinline)) PyObject *out_of_range(
    const struct function *f, int i, const char *place, const char *type)
{
    return PyErr_Format(PyExc_OverflowError, "%s() argument '%s' (pos %d)%s is out of range for %s",
                        f->name, f->names[i], i + 1, place, type);
}

/* Whether an int has 64 bits, and these. */
static int as_64_bits(char kind, PyObject *o, int64_t *out)
{
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (kind == 'm')
        return !overflow && *out >= 0;
    if (kind != 'u')
        return !overflow;
    if (!overflow)
        return *out >= 0;
    if (overflow < 0)
        return 0;
    int gc = PyGC_Disable();
    *out = (int64_t)PyLong_AsUnsignedLongLong(o);
    int fits = !PyErr_Occurred();
    PyErr_Clear();
    if (gc)
        PyGC_Enable();
    return fits;
}

static __attribute__((noinline)) int other_integer(const struct function *f, int i, PyObject *o,
                                                   int64_t *out)
{
    const struct type *t = f->types[i];
    PyObject *index = PyNumber_Index(o);
    if (!index) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            wrong_type(f, i, "", "int", o);
        }
        return 0;
    }
    int fits = as_64_bits(t->kind, index, out);
    Py_DecRef(index);
    if (!fits)
        out_of_range(f, i, "", t->name);
    return fits;
}

static inline int integer(const struct function *f, int i, PyObject *o, int64_t *out)
{
    if (__builtin_expect(o->ob_type == &PyLong_Type && f->types[i]->kind != 'u', 1)) {
        int overflow;
        *out = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (__builtin_expect(!overflow && (f->types[i]->kind != 'm' || *out >= 0), 1))
            return 1;
    }
    return other_integer(f, i, o, out);
}

static inline int boolean(const struct function *f, int i, PyObject *o, int64_t *out)
{
    *out = o == &_Py_TrueStruct;
    if (o->ob_type == &PyBool_Type)
        return 1;
    wrong_type(f, i, "", "bool", o);
    return 0;
}

static inline int real(const struct function *f, int i, PyObject *o, double *out)
{
    *out = PyFloat_AsDouble(o);
    if (__builtin_expect(*out == -1.0, 0) && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            wrong_type(f, i, "", "float", o);
        }
        return 0;
    }
    return 1;
}

/* What is wrong with an argument. */
struct fault {
    PyObject *object;
    const char *expected;
    int is_range, is_text;
    char place[160];
};

static int fault_of(struct fault *fault, PyObject *o, const struct type *t, int is_range)
{
    Py_IncRef(o);
    fault->object = o;
    fault->expected = t->name;
    fault->is_range = is_range;
    fault->is_text = 0;
    fault->place[0] = 0;
    return 0;
}

static int fault_in(struct fault *fault, const char *what, Py_ssize_t i)
{
    char rest[sizeof fault->place], *end = fault->place;
    strcpy(rest, fault->place);
    size_t n = strlen(what);
    memcpy(end, what, n);
    end += n;
    if (i >= 0) {
        char digits[24], *d = digits + sizeof digits;
        *--d = 0;
        do
            *--d = '0' + i % 10;
        while (i /= 10);
        end = strcpy(end, d) + strlen(d);
    }
    if (rest[0] && (size_t)(end - fault->place) + strlen(rest) + 2 < sizeof rest) {
        *end++ = ',';
        strcpy(end, rest);
    } else
        *end = 0;
    return 0;
}

/* Texts with surrogates, as the bytes that they stand for, while a function is called. */
struct kept { PyObject *text, *bytes; struct kept *next; };
static struct kept *all_kept;

static __attribute__((cold, noinline)) int keep_encoded(PyObject *o)
{
    int gc = PyGC_Disable();
    PyErr_Clear();
    PyObject *bytes = PyUnicode_AsEncodedString(o, "utf-8", "surrogateescape");
    struct kept *k = bytes ? malloc(sizeof *k) : NULL;
    if (k) {
        Py_IncRef(o);
        *k = (struct kept){o, bytes, all_kept};
        all_kept = k;
    } else
        PyErr_Clear();
    if (gc)
        PyGC_Enable();
    return k != NULL;
}

static __attribute__((cold, noinline)) void forget_all_kept(void)
{
    while (all_kept) {
        struct kept *k = all_kept;
        all_kept = k->next;
        Py_DecRef(k->text);
        Py_DecRef(k->bytes);
        free(k);
    }
}

static inline void forget_kept(void)
{
    if (__builtin_expect(all_kept != NULL, 0))
        forget_all_kept();
}

static const char *text_bytes(PyObject *o, Py_ssize_t *size)
{
    if (IS_BYTES(o)) {
        *size = PyBytes_Size(o);
        return PyBytes_AsString(o);
    }
    for (struct kept *k = all_kept; k; k = k->next)
        if (k->text == o) {
            *size = PyBytes_Size(k->bytes);
            return PyBytes_AsString(k->bytes);
        }
    return PyUnicode_AsUTF8AndSize(o, size);
}

/* Whether an argument has its type, deeply. Loading it can then not fail. */
static int check(const struct type *t, PyObject *o, struct fault *fault)
{
    int64_t number;
    Py_ssize_t n, at;
    PyObject *key, *value;
    switch (t->kind) {
    case 'o':
        return IS_NONE(o) || check(t->items[0], o, fault);
    case 'i': case 'm': case 's': case 'u':
        if (!IS_INT(o))
            return fault_of(fault, o, t, 0);
        return as_64_bits(t->kind, o, &number) || fault_of(fault, o, t, 1);
    case 'b':
        return o->ob_type == &PyBool_Type || fault_of(fault, o, t, 0);
    case 'f':
        if (o->ob_type == &PyFloat_Type || PyType_IsSubtype(o->ob_type, &PyFloat_Type))
            return 1;
        if (!IS_INT(o))
            return fault_of(fault, o, t, 0);
        /* An int that is too large is no float. */
        int gc = PyGC_Disable();
        int fits = !(PyLong_AsDouble(o) == -1.0 && PyErr_Occurred());
        PyErr_Clear();
        if (gc)
            PyGC_Enable();
        return fits || fault_of(fault, o, t, 1);
    case 't':
        if (IS_BYTES(o))
            return 1;
        if (!IS_TEXT(o))
            return fault_of(fault, o, t, 0);
        gc = PyGC_Disable();
        fits = PyUnicode_AsUTF8AndSize(o, &n) || keep_encoded(o);
        if (gc)
            PyGC_Enable();
        if (!fits) {
            fault_of(fault, o, t, 0);
            fault->is_text = 1;
        }
        return fits;
    case 'y':
        return IS_BYTES(o) || fault_of(fault, o, t, 0);
    case 'w':
        return IS_TEXT(o) || fault_of(fault, o, t, 0);
    case 'l':
        if (IS_LIST(o))
            n = PyList_Size(o);
        else if (IS(o, TUPLE_FLAG))
            n = PyTuple_Size(o);
        else
            return fault_of(fault, o, t, 0);
        for (at = 0; at < n; at++) {
            value = IS_LIST(o) ? PyList_GetItem(o, at) : PyTuple_GetItem(o, at);
            if (!check(t->items[0], value, fault))
                return fault_in(fault, " item ", at);
        }
        return 1;
    case 'p':
        if (!IS(o, TUPLE_FLAG) || PyTuple_Size(o) != t->count)
            return fault_of(fault, o, t, 0);
        for (at = 0; at < t->count; at++)
            if (!check(t->items[at], PyTuple_GetItem(o, at), fault))
                return fault_in(fault, " item ", at);
        return 1;
    case 'd':
        if (!IS(o, DICT_FLAG))
            return fault_of(fault, o, t, 0);
        at = 0;
        while (PyDict_Next(o, &at, &key, &value)) {
            if (!check(t->items[0], key, fault))
                return fault_in(fault, " a key", -1);
            if (!check(t->items[1], value, fault))
                return fault_in(fault, " a value", -1);
        }
        return 1;
    }
    return 0;
}

static __attribute__((cold, noinline)) PyObject *complain(const struct function *f, int i,
                                                          struct fault *fault, int64_t in)
{
    leave(in);
    forget_kept();
    if (fault->is_text)
        PyErr_Format(PyExc_ValueError, "%s() argument '%s' (pos %d)%s is no text in UTF-8", f->name,
                     f->names[i], i + 1, fault->place);
    else if (fault->is_range)
        out_of_range(f, i, fault->place, fault->expected);
    else
        wrong_type(f, i, fault->place, fault->expected, fault->object);
    Py_DecRef(fault->object);
    return NULL;
}

/* ------------------------------------- what the program reads of containers */

int64_t taipan_py_is_none(PyObject *o) { return IS_NONE(o); }

int64_t taipan_py_int(PyObject *o)
{
    int64_t value = 0;
    as_64_bits('i', o, &value) || as_64_bits('u', o, &value);
    return value;
}

double taipan_py_float(PyObject *o)
{
    /* Subclasses of int may convert themselves in some other way. */
    return o->ob_type != &PyFloat_Type && IS_INT(o) ? PyLong_AsDouble(o) : PyFloat_AsDouble(o);
}

int64_t taipan_py_length(PyObject *o)
{
    return IS_LIST(o) ? PyList_Size(o) : PyTuple_Size(o);
}

PyObject *taipan_py_item(PyObject *o, int64_t i)
{
    return IS_LIST(o) ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
}

int64_t taipan_py_text_size(PyObject *o)
{
    Py_ssize_t n = 0;
    text_bytes(o, &n);
    return n;
}

void taipan_py_text_copy(PyObject *o, struct string *to)
{
    Py_ssize_t n = 0;
    const char *bytes = text_bytes(o, &n);
    memcpy(to->bytes, bytes, n);
}

int64_t taipan_py_unicode_size(PyObject *o) { return PyUnicode_GetLength(o); }

void taipan_py_unicode_copy(PyObject *o, struct unicode *to)
{
    if (to->length > 0)
        PyUnicode_AsUCS4(o, to->chars, to->length, 0);
}

static PyObject *entry_key, *entry_value;

int64_t taipan_py_next_entry(PyObject *o, int64_t at)
{
    Py_ssize_t next = at;
    return PyDict_Next(o, &next, &entry_key, &entry_value) ? next : -1;
}

PyObject *taipan_py_key(void) { return entry_key; }
PyObject *taipan_py_value(void) { return entry_value; }

/* -------------------------------------------------- what the program returns */

PyObject *taipan_py_new_none(void) { return new_none(); }
PyObject *taipan_py_new_bool(int64_t value) { return new_bool(value != 0); }
PyObject *taipan_py_new_int(int64_t value) { return PyLong_FromLongLong(value); }
PyObject *taipan_py_new_uint(uint64_t value) { return PyLong_FromUnsignedLongLong(value); }
PyObject *taipan_py_new_float(double value) { return PyFloat_FromDouble(value); }

PyObject *taipan_py_new_text(struct string *s)
{
    return s ? PyUnicode_DecodeUTF8(s->bytes, s->length, "surrogateescape") : new_none();
}

PyObject *taipan_py_new_bytes(struct string *s)
{
    return s ? PyBytes_FromStringAndSize(s->bytes, s->length) : new_none();
}

PyObject *taipan_py_new_unicode(struct unicode *s)
{
    if (!s)
        return new_none();
    int order = -1;
    return PyUnicode_DecodeUTF32((const char *)s->chars, s->length * 4, "surrogatepass", &order);
}

PyObject *taipan_py_new_list(int64_t n)
{
    int gc = PyGC_Disable();
    PyObject *o = PyList_New(n);
    if (gc)
        PyGC_Enable();
    return o;
}

PyObject *taipan_py_new_tuple(int64_t n)
{
    int gc = PyGC_Disable();
    PyObject *o = PyTuple_New(n);
    if (gc)
        PyGC_Enable();
    return o;
}

PyObject *taipan_py_new_dict(void)
{
    int gc = PyGC_Disable();
    PyObject *o = PyDict_New();
    if (gc)
        PyGC_Enable();
    return o;
}

/* Where an item could not be made there is an exception already: the container keeps a hole, and
   nobody sees it. */
void taipan_py_set_item(PyObject *o, int64_t i, PyObject *item)
{
    if (!o) {
        if (item)
            Py_DecRef(item);
    } else if (item) {
        if (IS_LIST(o))
            PyList_SetItem(o, i, item);
        else
            PyTuple_SetItem(o, i, item);
    }
}

void taipan_py_set_entry(PyObject *o, PyObject *key, PyObject *value)
{
    if (o && key && value)
        PyDict_SetItem(o, key, value);
    if (key)
        Py_DecRef(key);
    if (value)
        Py_DecRef(value);
}

/* A result that was made in parts: none if one of them failed. */
static PyObject *made(PyObject *o)
{
    if (o && PyErr_Occurred()) {
        Py_DecRef(o);
        return NULL;
    }
    return o;
}

/* -------------------------------------------------------------- exceptions */

enum { MOST_PLACES = 128 };

/* An exception that is on its way. */
static struct {
    int is_set, is_os;
    int64_t number;
    PyObject *text;
    int64_t places;
    const struct location *place[MOST_PLACES];
} pending;

void taipan_py_caught(void)
{
    pending.places = rpy_extension_traceback(pending.place, MOST_PLACES);
}

void taipan_py_raise(int64_t number, int64_t has_text, struct string *text)
{
    pending.is_set = 1;
    pending.is_os = 0;
    pending.number = number;
    pending.text = NULL;
    if (has_text && text)
        pending.text = PyUnicode_DecodeUTF8(text->bytes, text->length, "surrogateescape");
}

void taipan_py_raise_os(int64_t number, int64_t error)
{
    pending.is_set = pending.is_os = 1;
    pending.number = error;
    pending.text = NULL;
    (void)number;
}

/* Gives an exception a traceback: runs code that says it is of these places. */
static const char TRACE[] =
    "import sys, types\n"
    "codes = {}\n"
    "def code_at(file, line, name):\n"
    "    name = name.rpartition('.')[2]\n"
    "    code = codes.get((file, line, name))\n"
    "    if code is None:\n"
    "        code = compile('step()', file, 'exec')\n"
    "        known = {'co_name': name, 'co_firstlineno': line}\n"
    "        if sys.version_info >= (3, 11):\n"
    "            known['co_qualname'] = name\n"
    "            # All of it is in that line, and no columns are known.\n"
    "            n, table = len(code.co_code) // 2, b''\n"
    "            while n > 0:\n"
    "                table += bytes([0xe8 | min(n, 8) - 1, 0])\n"
    "                n -= 8\n"
    "            known['co_linetable'] = table\n"
    "        code = codes[file, line, name] = code.replace(**known)\n"
    "    return code\n"
    "def trace(error, places):\n"
    "    rest, spaces = list(places)[::-1], []\n"
    "    def step():\n"
    "        if not rest:\n"
    "            raise error\n"
    "        space = {'step': step}\n"
    "        spaces.append(space)\n"
    "        exec(code_at(*rest.pop()), space)\n"
    "    try:\n"
    "        step()\n"
    "    except BaseException:\n"
    "        tb, found, new = error.__traceback__, [], None\n"
    "        while tb is not None:\n"
    "            if tb.tb_frame.f_code.co_filename != __file__:\n"
    "                found.append(tb)\n"
    "            tb = tb.tb_next\n"
    "        for tb in reversed(found):\n"
    "            new = types.TracebackType(new, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)\n"
    "        error.__traceback__ = new\n"
    "        for space in spaces:\n"
    "            space.clear()\n"
    "        del tb, found, new, spaces\n";

static PyObject *trace;

static int make_trace(void)
{
    PyObject *space = PyDict_New(), *builtins = PyImport_ImportModule("builtins");
    PyObject *file = PyUnicode_FromFormat("<taipan>");
    PyObject *code = Py_CompileString(TRACE, "<taipan>", PY_FILE_INPUT);
    PyObject *result = NULL;
    if (space && builtins && file && code
        && PyDict_SetItemString(space, "__builtins__", builtins) == 0
        && PyDict_SetItemString(space, "__file__", file) == 0)
        result = PyEval_EvalCode(code, space, space);
    if (result) {
        trace = PyDict_GetItemString(space, "trace");
        Py_IncRef(trace);
    }
    PyObject *all[] = {space, builtins, file, code, result};
    for (int i = 0; i < 5; i++)
        if (all[i])
            Py_DecRef(all[i]);
    return trace ? 0 : -1;
}

/* A tuple of `n` new references, which it takes; none if one of them is none. */
static PyObject *new_tuple(int n, ...)
{
    va_list items;
    PyObject *t = PyTuple_New(n);
    va_start(items, n);
    for (int i = 0; i < n; i++) {
        PyObject *item = va_arg(items, PyObject *);
        if (!item) {
            if (t)
                Py_DecRef(t);
            t = NULL;
        } else if (t)
            PyTuple_SetItem(t, i, item);
        else
            Py_DecRef(item);
    }
    va_end(items);
    return t;
}

static PyObject *exception_class(int64_t number);

static PyObject *text_at(const char *text)
{
    return PyUnicode_DecodeUTF8(text, strlen(text), "surrogateescape");
}

/* Whether a place is in the text of a function. */
static int is_in(const struct function *f, const struct location *place)
{
    const char *name = strrchr(place->function, '.');
    return !strcmp(name ? name + 1 : place->function, f->name)
        && !strcmp(place->file, f->place.file);
}

/* Raises what is pending. */
static __attribute__((cold, noinline)) PyObject *raise_pending(
    const struct function *f, int64_t in, PyObject *result)
{
    int is_os = pending.is_os;
    int64_t number = pending.number, count = 0;
    PyObject *text = pending.text, *type, *arguments;
    const struct location *place[MOST_PLACES + 1];
    /* What goes on in its last call leaves a function out. */
    if (!pending.places || !is_in(f, pending.place[0]))
        place[count++] = &f->place;
    for (int64_t i = 0; i < pending.places; i++)
        /* Helpers have no place. */
        if (pending.place[i]->line)
            place[count++] = pending.place[i];
    pending.is_set = 0;
    pending.places = 0;
    pending.text = NULL;
    leave(in);
    forget_kept();
    if (result)
        Py_DecRef(result);
    PyErr_Clear();
    if (is_os) {
        type = PyExc_OSError;
        arguments = new_tuple(2, PyLong_FromLongLong(number), text_at(strerror((int)number)));
    } else {
        type = exception_class(number);
        arguments = text ? new_tuple(1, text) : new_tuple(0);
    }
    PyObject *error = arguments ? PyObject_CallObject(type, arguments) : NULL;
    if (arguments)
        Py_DecRef(arguments);
    if (!error)
        return NULL;
    PyObject *places = PyTuple_New(count);
    for (int64_t i = 0; places && i < count; i++) {
        PyObject *p = new_tuple(3, text_at(place[i]->file), PyLong_FromLongLong(place[i]->line),
                                text_at(place[i]->function));
        if (!p) {
            Py_DecRef(places);
            places = NULL;
            break;
        }
        PyTuple_SetItem(places, i, p);
    }
    PyObject *traced = NULL;
    if (places) {
        Py_IncRef(error);
        PyObject *args = new_tuple(2, error, places);
        traced = args ? PyObject_CallObject(trace, args) : NULL;
        if (args)
            Py_DecRef(args);
    }
    if (traced) {
        Py_DecRef(traced);
        PyErr_SetObject((PyObject *)error->ob_type, error);
    }
    Py_DecRef(error);
    return NULL;
}
