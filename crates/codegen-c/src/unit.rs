//! One C file: functions, with the declarations of what they refer to.

use std::sync::Arc;

use indexmap::IndexSet;
use taipan_codegen::CodegenError;
use taipan_lltype::{FuncSym, LLType, Program, StaticSym};

use crate::emit::{AT, CFunction};
use crate::program::CodePlaces;
use crate::types::Types;
use crate::{data, names};

/// A file that is being put together.
pub struct Unit {
    /// The functions in it, with where their code comes from.
    pub functions: Vec<(Arc<CFunction>, Option<CodePlaces>)>,
}

/// Text that knows its lines.
struct Text {
    text: String,
    lines: usize,
    /// Whether the lines are those of another file by now.
    elsewhere: bool,
}

impl Text {
    fn push(&mut self, text: &str) {
        self.lines += text.matches('\n').count();
        self.text.push_str(text);
    }

    /// From here on lines are those of this file.
    fn come_back(&mut self, file: &str) {
        if std::mem::take(&mut self.elsewhere) {
            let line = self.lines + 2;
            self.push(&format!("#line {line} \"{file}\"\n"));
        }
    }
}

impl Unit {
    /// The text of the file of that name.
    pub fn text(&self, program: &dyn Program, file: &str) -> Result<String, CodegenError> {
        let mut types = Types::of(program);
        let mut functions: IndexSet<&FuncSym> = IndexSet::new();
        let mut externals: IndexSet<&FuncSym> = IndexSet::new();
        let mut callbacks: IndexSet<&FuncSym> = IndexSet::new();
        let mut statics: IndexSet<&StaticSym> = IndexSet::new();
        let mut infos: IndexSet<LLType> = IndexSet::new();
        for (f, _) in &self.functions {
            types.mentioned.extend(f.mentioned.iter().copied());
            types.complete.extend(f.complete.iter().copied());
            functions.extend(&f.functions);
            externals.extend(&f.externals);
            callbacks.extend(&f.callbacks);
            statics.extend(&f.statics);
            infos.extend(f.type_infos.iter().copied());
        }
        let bad = |f: &FuncSym, m| CodegenError::new(f.name(), m);
        let mut declarations = String::new();
        for f in externals {
            let text = types.external(f).map_err(|m| bad(f, m))?;
            declarations.push_str(&text);
            declarations.push('\n');
        }
        for (f, name) in (functions.into_iter().map(|f| (f, names::function(f))))
            .chain(callbacks.into_iter().map(|f| (f, names::callback(f))))
        {
            let text = types.prototype(f.ty(), &name, None);
            declarations.push_str(&text.map_err(|m| bad(f, m))?);
            declarations.push_str(";\n");
        }
        for s in statics {
            let text = data::declaration(s, program);
            declarations.push_str(&text.map_err(|m| CodegenError::new(names::data(s), m))?);
        }
        for ty in infos {
            declarations.push_str(&format!("extern const char {}[];\n", names::type_info(ty)));
        }
        let mut out = Text {
            text: String::new(),
            lines: 0,
            elsewhere: false,
        };
        out.push("#include \"taipan.h\"\n\n");
        out.push(&types.definitions(program)?);
        out.push("\n");
        out.push(&declarations);
        for (f, places) in &self.functions {
            out.come_back(file);
            out.push("\n");
            function(&mut out, f, places.as_ref(), true);
        }
        Ok(out.text)
    }
}

/// The text of one function by itself: with comments in place of `#line`.
pub fn function_listing(f: &CFunction, places: Option<&CodePlaces>) -> String {
    let mut out = Text {
        text: String::new(),
        lines: 0,
        elsewhere: false,
    };
    function(&mut out, f, places, false);
    out.text
}

fn function(out: &mut Text, f: &CFunction, places: Option<&CodePlaces>, in_file: bool) {
    if in_file && !f.locations.is_empty() {
        out.push(&locations(f, places));
    }
    let mut last = None;
    // Whether what comes next is of the line that was said.
    let mut is_next = false;
    for line in f.text.split_inclusive('\n') {
        let Some(at) = line.strip_prefix(AT) else {
            // Statements of one line of the source are several here.
            let is_statement = line.starts_with(' ') && !line.trim_start().starts_with('}');
            if let Some(now) = last
                && in_file
                && is_statement
                && !is_next
            {
                out.push(&format!("#line {now}\n"));
            }
            is_next = false;
            out.push(line);
            continue;
        };
        let (Some(places), Ok(at)) = (places, at.trim_end().parse::<usize>()) else {
            continue;
        };
        let now = places.lines.get(at).copied().filter(|line| *line > 0);
        let Some(now) = now.filter(|now| in_file || last != Some(*now)) else {
            continue;
        };
        last = Some(now);
        match in_file {
            true => out.push(&format!("#line {now} {}\n", quoted(&places.file))),
            false => out.push(&format!("    /* {}:{now} */\n", places.file)),
        }
        is_next = true;
        out.elsewhere = true;
    }
}

/// The records of the places that a function names in tracebacks.
fn locations(f: &CFunction, places: Option<&CodePlaces>) -> String {
    let name = names::locations(&f.name);
    let mut out = format!("static const RPyLocation {name}[] = {{\n");
    for at in &f.locations {
        let (file, function, line) = match places {
            Some(p) => (
                &*p.file,
                &*p.function,
                p.lines.get(*at as usize).copied().unwrap_or(0),
            ),
            None => (&*f.unplaced_file, &*f.written_as, 0),
        };
        out.push_str(&format!(
            "    {{ {}, {}, {line} }},\n",
            quoted(file),
            quoted(function)
        ));
    }
    out.push_str("};\n");
    out
}

/// Text as a string of C.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
