//! Writing an executable.

use taipan_codegen::{CodegenError, Image, SymbolRef};
use taipan_codegen_cranelift::FiledImage;
use taipan_jit_native::JitTables;
use taipan_lltype::SharedNames;

use crate::container::{Header, SectionId, Writer};
use crate::embedded::Runtime;

/// What is put behind a runtime.
pub struct Attached<'a> {
    /// Code and data, with an entry point.
    pub image: &'a Image,
    /// What compiled loops may refer to.
    pub symbols: &'a [SymbolRef],
    /// What is known of the program.
    pub tables: &'a JitTables,
    /// The functions of C libraries that it brings, as a shared object.
    pub library: Option<&'a [u8]>,
}

/// The file of an executable.
pub fn executable(runtime: &Runtime<'_>, program: &Attached<'_>) -> Result<Vec<u8>, CodegenError> {
    let state = runtime.address("rpy_state");
    let state = state.ok_or_else(|| CodegenError::new("rpy_state", "not in the runtime"))?;
    let filed = FiledImage::new(program.image, |name| runtime.address(name))?;
    let unserializable = || CodegenError::new("tables", "they cannot be serialized");
    let tables = program.tables;
    let places = program.image.places(program.symbols);
    let shared = (
        &tables.functions,
        &tables.graphs,
        &tables.kinds,
        &tables.bodies,
        &tables.sources,
        &places,
    );
    let (names, named) = SharedNames::of(&shared).ok_or_else(unserializable)?;
    let mut out = Writer::new(runtime.bytes);
    out.mapped(SectionId::Code, &filed.code);
    out.mapped(SectionId::Data, &filed.data);
    out.checked(SectionId::Library, program.library.unwrap_or_default());
    out.checked(SectionId::Names, &named);
    let mut write = || {
        out.checked(SectionId::Functions, &names.to_bytes(&tables.functions)?);
        out.checked(SectionId::TouchKinds, &names.to_bytes(&tables.kinds)?);
        let touches = tables.touches.iter().map(|t| names.to_bytes(t));
        let touches: Vec<Vec<u8>> = touches.collect::<Option<_>>()?;
        out.records(SectionId::TouchIndex, SectionId::Touches, &touches);
        let graphs = tables.graphs.iter().map(|g| names.to_bytes(g));
        let graphs: Vec<Vec<u8>> = graphs.collect::<Option<_>>()?;
        out.records(SectionId::GraphIndex, SectionId::Graphs, &graphs);
        out.checked(SectionId::Bodies, &names.to_bytes(&tables.bodies)?);
        out.checked(SectionId::Places, &names.to_bytes(&places)?);
        out.checked(SectionId::Sources, &names.to_bytes(&tables.sources)?);
        Some(())
    };
    write().ok_or_else(unserializable)?;
    let header = Header {
        layout: filed.layout,
        sections: std::mem::take(&mut out.sections),
        state: state as u64,
        drivers: tables.drivers.clone(),
        exceptions: tables.exceptions.clone(),
    };
    out.finish(&header).ok_or_else(unserializable)
}
