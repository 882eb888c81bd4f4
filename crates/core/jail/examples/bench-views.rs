//! What a view costs to make: processor time of this process and its children, a view.

use parallax_jail::{Jail, SharedView};

fn processor_seconds() -> f64 {
    let of = |who| {
        // SAFETY: the structure is made of numbers, and the call fills it.
        unsafe {
            let mut used: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &raw mut used);
            let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
            seconds(used.ru_utime) + seconds(used.ru_stime)
        }
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

fn main() {
    const VIEWS: u32 = 50;
    for network in [false, true] {
        let start = processor_seconds();
        for _ in 0..VIEWS {
            SharedView::new(&Jail::default(), network).expect("a view");
        }
        let each = (processor_seconds() - start) * 1000.0 / f64::from(VIEWS);
        println!(
            "view_{} {each:.2} ms",
            if network { "with_network_outside" } else { "with_network_of_its_own" }
        );
    }
}
