//! Programs whose loops are compiled while they run.

#[path = "../support"]
mod support {
    pub(crate) mod jit;
}

mod bounds;
mod calls;
mod drivers;
mod exceptions;
mod hooks;
mod immutable;
mod leaving;
mod mistakes;
mod own_lists;
mod positions;
mod quasi_immutable;
mod switches;
mod virtual_arguments;
mod waiting;
