//! Where an installed command finds the solver's library: beside itself, wherever that is.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/../lib/parallax");
    println!("cargo::rerun-if-changed=build.rs");
}
