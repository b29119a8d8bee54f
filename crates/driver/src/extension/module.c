
/* -------------------------------------------------------------- the module */

static PyObject *known_class(int64_t number)
{
    PyObject *all[] = {KNOWN_EXCEPTIONS};
    return all[number];
}

static PyObject *exception_class(int64_t number)
{
    return number < KNOWN_COUNT ? known_class(number) : own_classes[number - KNOWN_COUNT].class;
}

static int make_classes(PyObject *module)
{
    PyObject *name = PyModule_GetNameObject(module);
    const char *of = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int result = of ? 0 : -1;
    for (int i = 0; !result && i < OWN_COUNT; i++) {
        struct own_class *c = &own_classes[i];
        char *full = malloc(strlen(of) + strlen(c->name) + 2);
        if (!full) {
            PyErr_NoMemory();
            result = -1;
            break;
        }
        strcat(strcat(strcpy(full, of), "."), c->name);
        c->class = PyErr_NewException(full, exception_class(c->base), NULL);
        free(full);
        result = c->class ? 0 : -1;
    }
    if (name)
        Py_DecRef(name);
    return result;
}

/* Adds a new reference, which it takes. */
static int add(PyObject *module, const char *name, PyObject *value)
{
    int result = value ? PyObject_SetAttrString(module, name, value) : -1;
    if (value)
        Py_DecRef(value);
    return result;
}

static int start_once(PyObject *module)
{
    static int started;
    if (started)
        return 0;
    if (make_trace() || make_classes(module) || make_defaults())
        return -1;
    if (taipan_start(WITH_LOCK) != 0) {
        PyErr_SetString(PyExc_ImportError, "the module cannot be started");
        return -1;
    }
    rpy_extension_leave();
    started = 1;
    return 0;
}

static int execute(PyObject *module)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError,
                        "this module has one heap: it is for the main interpreter alone");
        return -1;
    }
    if (start_once(module))
        return -1;
    for (int i = 0; i < OWN_COUNT; i++) {
        PyObject *class = own_classes[i].class;
        Py_IncRef(class);
        if (own_classes[i].shown_as && add(module, own_classes[i].shown_as, class))
            return -1;
        if (!own_classes[i].shown_as)
            Py_DecRef(class);
    }
    return add_constants(module);
}

static PyModuleDef_Slot slots[] = {{PY_MOD_EXEC, (void *)execute}, {0, NULL}};

static PyModuleDef definition = {
    .ob_base = {1, NULL}, .m_name = MODULE_NAME, .m_doc = MODULE_DOC, .m_methods = methods,
    .m_slots = slots,
};

__attribute__((visibility("default"))) PyObject *INIT(void)
{
    return PyModuleDef_Init(&definition);
}
