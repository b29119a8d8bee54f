//! Annotation of prelude helpers, specialised by low-level types.

use std::sync::Arc;

use taipan_base::Db;

use crate::HelperKey;
use crate::result::FunctionAnnotation;
use crate::solution::unreached;

pub(crate) fn annotate(_db: &dyn Db, _key: HelperKey) -> Arc<FunctionAnnotation> {
    Arc::new(unreached())
}
