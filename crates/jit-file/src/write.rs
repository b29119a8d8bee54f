//! Writing an executable.

use taipan_codegen::{CodegenError, Image, SymbolRef};
use taipan_codegen_cranelift::FiledImage;
use taipan_jit_native::JitTables;
use taipan_lltype::SharedNames;

use crate::container::{Header, SectionId, Writer};
use crate::embedded::Runtime;
use crate::keyed::{keyed, sorted};

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
    /// Regions are optimised on a second thread, unless the environment says otherwise.
    pub background: bool,
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
    out.pieces(SectionId::Names, &named);
    let mut write = || {
        let functions = (0_u32..).zip(&tables.functions);
        let functions: Vec<_> = functions.map(|(n, (f, facts))| (f, (n, facts))).collect();
        out.pieces(SectionId::Functions, &keyed(&names, &functions)?.0);
        let kinds: Vec<_> = tables.kinds.numbered().collect();
        out.pieces(SectionId::TouchKinds, &keyed(&names, &kinds)?.0);
        let touches = tables.touches.iter().map(|t| names.to_bytes(t));
        let touches: Vec<Vec<u8>> = touches.collect::<Option<_>>()?;
        out.records(SectionId::TouchIndex, SectionId::Touches, &touches);
        let graphs = tables.graphs.iter().map(|g| names.to_bytes(g));
        let graphs: Vec<Vec<u8>> = graphs.collect::<Option<_>>()?;
        out.records(SectionId::GraphIndex, SectionId::Graphs, &graphs);
        out.pieces(SectionId::Bodies, &keyed(&names, &tables.bodies)?.0);
        let (placed, positions) = keyed(&names, &places)?;
        let functions = places
            .iter()
            .zip(positions)
            .filter_map(|((s, place), position)| {
                matches!(s, SymbolRef::Func(_)).then_some((place.offset, position))
            });
        let mut order: Vec<(u64, u32)> = functions.collect();
        order.sort_unstable();
        out.pieces(SectionId::Places, &placed);
        out.pieces(SectionId::PlaceOrder, &sorted(&order));
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
        background: program.background,
    };
    out.finish(&header).ok_or_else(unserializable)
}
