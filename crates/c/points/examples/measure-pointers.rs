//! Measures the pointer analysis on a module: `measure-pointers FILE.bc`.

use std::time::Instant;

fn main() {
    for file in std::env::args().skip(1) {
        let bytes = std::fs::read(&file).expect("a module");
        let input = parallax_cread::Input { name: file.clone(), bytes: &bytes };
        let started = Instant::now();
        let module = parallax_cread::read(&[input], parallax_cread::MODELS).expect("a module that is read");
        let loaded = started.elapsed();
        let started = Instant::now();
        let points = parallax_points::Points::of(&module);
        let solved = started.elapsed();
        let sizes = points.objects().count();
        println!(
            "{file}: {} instructions, {sizes} objects, {} cells; read {:.2} s, solved {:.2} s",
            module.instruction_count(),
            points.cell_count(),
            loaded.as_secs_f64(),
            solved.as_secs_f64()
        );
    }
}
