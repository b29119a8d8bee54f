//! `taipan emit`

use camino::Utf8Path;
use serde_json::json;
use taipan_driver::{EmitRequest, Failure, Stage as DriverStage};

use crate::args::{EmitArgs, EmitFormat, Stage};
use crate::output::{Context, put};

pub(crate) fn emit(args: &EmitArgs) -> i32 {
    let context = Context::once(&args.common, Some(args.function.as_str().into()));
    let code = match stage(args.stage) {
        Ok(stage) => print(args, stage, context),
        Err(f) => context.fail(&f),
    };
    context.finish(&args.common, code)
}

fn stage(stage: Stage) -> Result<DriverStage, Failure> {
    Ok(match stage {
        Stage::Bytecode => DriverStage::Bytecode,
        Stage::Flow => DriverStage::Flow,
        Stage::Annotations => DriverStage::Annotations,
        Stage::Rtyped => DriverStage::Rtyped,
        Stage::Optimized => DriverStage::Optimized,
        Stage::Exceptions => DriverStage::Exceptions,
        Stage::Gc => DriverStage::Gc,
        Stage::Clif => DriverStage::Clif,
        Stage::Asm => DriverStage::Asm,
        Stage::Colors => DriverStage::Colors,
        Stage::Timeshifted => DriverStage::Timeshifted,
        Stage::C | Stage::Llvm | Stage::Python => {
            return Err(Failure::Usage("this stage is not there yet".to_owned()));
        }
    })
}

fn print(args: &EmitArgs, stage: DriverStage, context: &mut Context) -> i32 {
    let (file, func) = match args.function.rsplit_once(':') {
        Some((file, func)) if !Utf8Path::new(&args.function).exists() => (file, Some(func)),
        _ => (args.function.as_str(), None),
    };
    let request = EmitRequest {
        stage,
        file: file.into(),
        func: func.map(str::to_owned),
        inputs: args.inputs.clone(),
        dot: args.format == EmitFormat::Dot,
        result_only: args.format == EmitFormat::Json && stage == DriverStage::Annotations,
    };
    let json = args.format == EmitFormat::Json;
    match taipan_driver::emit(&context.db, &context.load, &request, &mut context.timings) {
        Ok(text) if request.result_only => put(&format!("{}\n", json!({"annotation": text}))),
        Ok(text) if json => put(&format!(
            "{}\n",
            json!({"stage": stage.name(), "text": text})
        )),
        Ok(text) => put(&text),
        Err(Failure::Diagnostics(all)) if json => {
            let text = all
                .first()
                .map_or(String::new(), |d| format!("[{}] {}", d.code, d.message));
            let code = put(&format!("{}\n", json!({"error": text})));
            context.print(&all);
            code.max(1)
        }
        Err(f) => context.fail(&f),
    }
}
