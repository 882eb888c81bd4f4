//! `fuzz-lifter [--seconds N] [--seed N]`: random and mutated bytes of every processor through the lifter, and what is
//! lifted through both readings. Nothing may crash, hang, or have no length. Prints counts, and how long lifting takes.

use parallax_ir::meaning::{State, exec};
use parallax_op::Bits;
use parallax_sem::{Concrete, Symbolic, Table};
use parallax_silicon::random::Random;
use parallax_sleigh::{LANGUAGES, LiftError, Lifter};
use parallax_term::Store;
use std::error::Error;
use std::time::{Duration, Instant};

/// What happened to the bytes of one processor.
#[derive(Default)]
struct Tally {
    lifted: u64,
    undecodable: u64,
    unsupported: u64,
    crashes: u64,
    executed: u64,
    without_meaning: u64,
    longest: Duration,
    /// How long each lift took, the first ones.
    lifting: Vec<Duration>,
}

/// Bytes that were an instruction are worth changing a little.
const KEPT: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut seconds, mut seed) = (60, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--seconds" => seconds = value.parse()?,
            "--seed" => seed = value.parse()?,
            _ => return Err(format!("unknown argument {argument}; see the head of the source").into()),
        }
    }
    let share = Duration::from_secs(seconds) / LANGUAGES.len() as u32;
    for language in LANGUAGES {
        let mut tally = fuzz(&mut Lifter::new(language)?, share, seed);
        println!(
            "{:<12} {:>8} lifted, {:>8} undecodable, {:>5} unsupported, {:>4} crashes of the library contained, {:>8} \
             executed in both readings, {:>6} without a meaning; half within {:.1} us, longest {:.1} ms",
            language.name,
            tally.lifted,
            tally.undecodable,
            tally.unsupported,
            tally.crashes,
            tally.executed,
            tally.without_meaning,
            median(&mut tally.lifting).as_secs_f64() * 1e6,
            tally.longest.as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

/// Half of the lifts take no longer: on a busy machine the mean is about who else is running.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn fuzz(lifter: &mut Lifter, share: Duration, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut tally = Tally::default();
    let start = Instant::now();
    let mut round = 0u64;
    while start.elapsed() < share {
        round += 1;
        let mut bytes: Vec<u8> = (0..2).flat_map(|_| random.number().to_le_bytes()).collect();
        if !kept.is_empty() && random.below(2) == 0 {
            let old = &kept[random.below(kept.len() as u64) as usize];
            bytes[..old.len().min(16)].copy_from_slice(&old[..old.len().min(16)]);
            for _ in 0..=random.below(3) {
                let bit = random.below(old.len().min(16) as u64 * 8) as usize;
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        // Now and then bytes that end in the middle of an instruction.
        if random.below(16) == 0 {
            bytes.truncate(random.below(8) as usize);
        }
        if round.is_multiple_of(10_000) {
            lifter.forget();
        }
        let before = Instant::now();
        let answer = lifter.lift(0x10000 + 64 * (round % 0x1000), &bytes);
        let took = before.elapsed();
        tally.longest = tally.longest.max(took);
        match answer {
            Ok(instruction) => {
                assert!(instruction.length > 0, "an instruction without bytes: {bytes:02x?}");
                tally.lifted += 1;
                if tally.lifting.len() < 1 << 20 {
                    tally.lifting.push(took);
                }
                if kept.len() < KEPT {
                    kept.push(bytes[..bytes.len().min(usize::from(instruction.length))].to_vec());
                }
                let processor = lifter.processor();
                let state = State::with_memory(processor, Table::new(Bits::zero(8)));
                let concrete = exec(&Concrete, &instruction, state);
                // Terms cost more: every eighth.
                if round.is_multiple_of(8) {
                    let store = Store::new();
                    let core = Symbolic::new(&store);
                    let _ = exec(&core, &instruction, State::identity(&core, processor));
                }
                match concrete {
                    Ok(_) => tally.executed += 1,
                    Err(_) => tally.without_meaning += 1,
                }
            }
            Err(LiftError::Undecodable { reason, .. }) if reason.contains("crashes") => tally.crashes += 1,
            Err(LiftError::Undecodable { .. }) => tally.undecodable += 1,
            Err(LiftError::Unsupported { .. }) => tally.unsupported += 1,
            Err(error) => panic!("{bytes:02x?}: {error}"),
        }
    }
    tally
}
