use parallax_llvm::*;
fn main() {
    let file = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let compiled = clang::compile(&file, &clang::Options::default()).unwrap();
    let module = read(&[Input { name: "x".into(), bytes: &compiled.bitcode }], MODELS).unwrap();
    println!("{module:#?}");
}
