//! `taipan emit`

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use taipan_base::render_json;
use taipan_driver::{
    EmitForm, EmitRequest, Failure, GDB_PRINTERS, Machine, Stage as DriverStage,
    configured_targets, find_targets, is_target,
};

use crate::args::{EmitArgs, EmitFormat, Stage};
use crate::output::{Context, put, tell};
use crate::progress;
use crate::run::PYTHON_IS_HERE;

pub(crate) fn emit(args: &EmitArgs) -> i32 {
    let Some(stage) = stage(args.stage) else {
        return put(GDB_PRINTERS);
    };
    let Some(function) = &args.function else {
        tell("error: stages are those of a function or a program: give FILE.py[:FUNC], too\n");
        return 2;
    };
    let context = match Context::once(&args.common, Some(function.as_str().into())) {
        Ok(context) => context,
        Err(code) => return code,
    };
    context.load.machine = match args.stage {
        Stage::Wat => Machine::Wasm32,
        _ => args.for_machine.machine(),
    };
    if matches!(args.stage, Stage::Clif | Stage::Asm | Stage::Llvm)
        && context.load.machine.needs_c()
    {
        let machine = context.load.machine;
        let text = format!("{machine}: programs are made by way of C: `emit c` shows that");
        return context.fail(&Failure::Usage(text));
    }
    if args.stage == Stage::Python && context.load.machine != Machine::HOST {
        return context.fail(&Failure::Usage(PYTHON_IS_HERE.to_owned()));
    }
    if args.stage == Stage::Python
        && let Err(f) = args.collector.supports_python()
    {
        return context.fail(&f);
    }
    if args.format != EmitFormat::Json {
        progress::begin(context.db.log());
    }
    context.load.collector = args.collector.gc();
    context.load.passes = args.passes.at(None);
    let code = print(args, function, stage, context);
    context.finish(&args.common, code)
}

/// None for what is no stage.
fn stage(stage: Stage) -> Option<DriverStage> {
    Some(match stage {
        Stage::Bytecode => DriverStage::Bytecode,
        Stage::Flow => DriverStage::Flow,
        Stage::Annotations => DriverStage::Annotations,
        Stage::Rtyped => DriverStage::Rtyped,
        Stage::Optimized => DriverStage::Optimized,
        Stage::Exceptions => DriverStage::Exceptions,
        Stage::Oo => DriverStage::Oo,
        Stage::Gc => DriverStage::Gc,
        Stage::Wat => DriverStage::Wat,
        Stage::Clif => DriverStage::Clif,
        Stage::Asm => DriverStage::Asm,
        Stage::Colors => DriverStage::Colors,
        Stage::Timeshifted => DriverStage::Timeshifted,
        Stage::C => DriverStage::C,
        Stage::Python => DriverStage::Python,
        Stage::Llvm => DriverStage::Llvm,
        Stage::Gdb => return None,
    })
}

fn print(args: &EmitArgs, function: &str, stage: DriverStage, context: &mut Context) -> i32 {
    let (file, func) = match function.rsplit_once(':') {
        Some((file, func)) if !Utf8Path::new(function).exists() => (file, Some(func)),
        _ => (function, None),
    };
    let request = EmitRequest {
        stage,
        file: file.into(),
        func: func.map(str::to_owned),
        inputs: args.inputs.clone(),
        form: match args.format {
            EmitFormat::Dot => EmitForm::Dot,
            EmitFormat::Svg => EmitForm::Svg,
            EmitFormat::Json if stage == DriverStage::Annotations => EmitForm::Result,
            EmitFormat::Text | EmitFormat::Json if args.lines => EmitForm::Lines,
            EmitFormat::Text | EmitFormat::Json => EmitForm::Text,
        },
        targets: match (func, &args.inputs) {
            (Some(_), None) => programs(context, file.into()),
            _ => Vec::new(),
        },
    };
    let json = args.format == EmitFormat::Json;
    match taipan_driver::emit(&context.db, &context.load, &request, &mut context.timings) {
        Ok(text) if request.form == EmitForm::Result => {
            put(&format!("{}\n", json!({"annotation": text})))
        }
        Ok(text) if json => put(&format!(
            "{}\n",
            json!({"stage": stage.name(), "text": text})
        )),
        Ok(text) => put(&text),
        Err(Failure::Diagnostics(all)) if json => {
            let text = all
                .first()
                .map_or(String::new(), |d| format!("[{}] {}", d.code, d.message));
            let diagnostics = render_json(&context.db, &all);
            let line = json!({"error": text, "diagnostics": diagnostics});
            let code = put(&format!("{line}\n"));
            context.print(&all);
            code.max(1)
        }
        Err(f) => context.fail(&f),
    }
}

/// The programs that a function of a file may be part of: the configured targets, else those
/// below this folder, or beside a file that is elsewhere. None if the file is one itself.
pub(crate) fn programs(context: &Context, file: &Utf8Path) -> Vec<Utf8PathBuf> {
    if std::fs::read_to_string(file).is_ok_and(|text| is_target(&text)) {
        return Vec::new();
    }
    let configured = &context.config.targets;
    let found = if configured.is_empty() {
        let folder = match (camino::absolute_utf8(file), camino::absolute_utf8(".")) {
            (Ok(file), Ok(here)) if file.starts_with(&here) => ".".into(),
            _ => match file.parent() {
                Some(folder) if folder != "" => folder.to_owned(),
                _ => ".".into(),
            },
        };
        find_targets(&context.db, &[folder])
    } else {
        let found = configured_targets(&context.db, configured);
        found.map(|all| all.into_iter().map(|(file, _)| file).collect())
    };
    // A folder without a program has none that could use the function.
    found.unwrap_or_default()
}
