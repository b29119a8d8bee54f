//! Keys of queries in words, for logs.

use std::sync::Arc;

use salsa::Id;
use salsa::plumbing::FromId;
use taipan_annotator::{HelperKey, Roots, Spec};
use taipan_base::{Db, File, Program};
use taipan_code::CodeId;
use taipan_interp::{Function, Name, Object};
use taipan_lltype::LLType;
use taipan_rtyper::{FuncKey, FuncKeyKind};

use crate::function::{ClassKey, LLFunction};
use crate::names::object_name;

/// A module file as part of a program.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub(crate) struct FileKey {
    /// The program.
    #[returns(copy)]
    pub(crate) roots: Roots,
    /// The file.
    #[returns(copy)]
    pub(crate) file: File,
}

/// A type of a program.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub(crate) struct TypeKey {
    /// The program.
    #[returns(copy)]
    pub(crate) roots: Roots,
    /// The type.
    #[returns(copy)]
    pub(crate) ty: LLType,
}

/// A module of what LLVM is given for a program.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub(crate) struct ModuleKey {
    /// What the program starts with.
    #[returns(copy)]
    pub(crate) entry: LLFunction,
    /// The module's name.
    #[returns(ref)]
    pub(crate) name: Arc<str>,
}

/// The key of a query as text; none for queries whose keys have no name.
pub fn key_text(db: &dyn Db, query: &str, id: Id) -> Option<String> {
    let function = |spec: Spec| {
        let name = object_name(db, spec.roots(db).program(db), spec.func(db));
        let name = name.unwrap_or_else(|| format!("{:?}", spec.func(db)));
        match &**spec.key(db) {
            "" => name,
            key => format!("{name} {key}"),
        }
    };
    let helper = |key: HelperKey| format!("{}{:?}", key.name(db), key.args(db));
    let low_level = |id| LLFunction::from_id(id).sym(db).name().to_owned();
    Some(match query {
        "parse" | "module_codes" | "syntax_diagnostics" | "module_code_id" | "assigned_in"
        | "unused_in_file" | "mentioned_in_file" => File::from_id(id).path(db).to_string(),
        "code" | "code_spans" | "code_signature" | "code_variables" | "first_line" => {
            let code = CodeId::from_id(id);
            let file = code.file(db).map_or("<text>", |f| f.path(db).as_str());
            match code.nth(db) {
                0 => format!("{file}:{}", code.qualname(db)),
                n => format!("{file}:{}#{n}", code.qualname(db)),
            }
        }
        "image" | "image_diagnostics" | "entry_point" | "target_module" | "known_attributes"
        | "mentioned_in" => Program::from_id(id).target(db).to_string(),
        "object" | "names_above" => {
            let key = Object::from_id(id);
            let obj = key.obj(db);
            object_name(db, key.program(db), obj).unwrap_or_else(|| format!("{obj:?}"))
        }
        "module_global" => {
            let key = Name::from_id(id);
            let owner = object_name(db, key.program(db), key.obj(db)).unwrap_or_default();
            format!("{owner}.{}", key.name(db))
        }
        "late_fields" | "shared_lists" => {
            let key = ClassKey::from_id(id);
            object_name(db, key.roots(db).program(db), key.class(db))?
        }
        "unreached_in_file" => FileKey::from_id(id).file(db).path(db).to_string(),
        "flow_graph" | "flow_diagnostics" | "findings" => {
            let key = Function::from_id(id);
            object_name(db, key.program(db), key.obj(db))?
        }
        "solve"
        | "specs_of"
        | "called_functions"
        | "live_codes"
        | "unreached_functions"
        | "annotation_diagnostics"
        | "dead_operation_warnings"
        | "program_effects"
        | "jit_program_effects"
        | "low_level_facts"
        | "rewritten_fields"
        | "jit_drivers"
        | "late_writes" => Roots::from_id(id).program(db).target(db).to_string(),
        "annotation" | "signature" | "func_sym_of" => function(Spec::from_id(id)),
        "annotate_helper" | "helper_sym_of" => helper(HelperKey::from_id(id)),
        "struct_body" => {
            let id = taipan_rtyper::LayoutKey::from_id(id);
            format!("{:?}", id.id(db))
        }
        "llvm_contents" | "llvm_module" => ModuleKey::from_id(id).name(db).to_string(),
        "llvm_type_info" => TypeKey::from_id(id).ty(db).to_string(),
        "static_data" | "llvm_data" => {
            let id = taipan_rtyper::StaticKey::from_id(id);
            format!("{:?}", id.sym(db))
        }
        "rtyped_graph" => match FuncKey::from_id(id).kind(db) {
            FuncKeyKind::User(spec) => function(*spec),
            FuncKeyKind::Helper(key) => helper(*key),
            FuncKeyKind::Synth(_, sym) => sym.name().to_owned(),
        },
        "kept_simplified" | "kept_optimized" | "kept_code" | "kept_llvm_code" => low_level(id),
        _ if has_low_level_key(query) => low_level(id),
        _ => return None,
    })
}

/// Whether the key of a query is a low-level function of a program, an [`LLFunction`]; what
/// is kept of such queries is left out.
pub(crate) fn has_low_level_key(query: &str) -> bool {
    matches!(
        query,
        "inlining"
            | "simplified"
            | "simplified_summary"
            | "simplified_mentions"
            | "optimized"
            | "optimized_summary"
            | "optimized_mentions"
            | "exceptions"
            | "gc"
            | "c_code"
            | "oo_graph"
            | "wasmgc_code"
            | "function_effects"
            | "jit_effects"
            | "graph_to_follow"
            | "jit_graph"
            | "jit_attributes"
            | "entered_graph"
            | "entered_exceptions"
            | "looks_inside"
            | "timeshifted"
            | "own_touches"
            | "object_flow_of"
            | "leaked_lists_of"
            | "rewritten_fields_of"
            | "machine_code"
            | "python_text"
            | "llvm_code"
            | "llvm_source"
            | "llvm_row"
            | "llvm_program"
            | "code_debug"
    )
}
