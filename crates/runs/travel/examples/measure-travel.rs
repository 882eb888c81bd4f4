//! Measures travel in a recording: `measure RECORDING ADDRESS WORKERS SEEKS [WATCHED...]`.
//!
//! The address is that of a function whose executions are searched for; the watched ones are never written, but share pages
//! with what is written all the time. Addresses are hexadecimal. Prints one JSON object; times are seconds of the wall clock, seeks
//! milliseconds.

use parallax_record::{Archive, replay};
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Filter, Settings, Travel};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [recording, address, workers, count, watched @ ..] = arguments.as_slice() else {
        return Err("measure RECORDING ADDRESS WORKERS SEEKS [WATCHED...]".into());
    };
    let number = |text: &String| u64::from_str_radix(text, 16);
    let path = Path::new(recording);
    let calls = [Filter::Execute(number(address)?.into())];
    let settings = Settings { workers: workers.parse()?, ..Settings::default() };
    // The first time nothing is known.
    let index = path.join("0.index");
    if index.exists() {
        std::fs::remove_file(&index)?;
    }
    let log = Archive::open(path)?.log("0")?;
    let (replayed, _) = timed(|| Ok(replay(&log, false, false)?.run()))?;
    drop(log);

    let search = |travel: &Travel, filters: &[Filter], direction| {
        timed(|| Ok(travel.search(filters, travel.span(), direction, usize::MAX, &Unwatched)?.hits.len()))
    };
    let travel = Travel::open(path, "0", settings.clone())?;
    let steps = travel.span().end - 1;
    let (first, hits) = search(&travel, &calls, Direction::Forward)?;
    let (again, _) = search(&travel, &calls, Direction::Forward)?;
    let (again_backward, _) = search(&travel, &calls, Direction::Backward)?;
    let (kept, ()) = timed(|| {
        drop(travel);
        Ok(())
    })?;
    let index_bytes = std::fs::metadata(&index)?.len();

    // The next who opens it, in either direction.
    let (opened, travel) = timed(|| Ok(Travel::open(path, "0", settings.clone())?))?;
    let (indexed, _) = search(&travel, &calls, Direction::Forward)?;
    drop(travel);
    let travel = Travel::open(path, "0", settings)?;
    let (indexed_backward, _) = search(&travel, &calls, Direction::Backward)?;
    // A condition that holds nowhere, on pages that are not touched, and on some that are all the time.
    let (cold, _) = search(&travel, &[Filter::Write((8..16).into())], Direction::Forward)?;
    let filters: Result<Vec<Filter>, _> =
        watched.iter().map(|at| number(at).map(|at| Filter::Write((at..at + 8).into()))).collect();
    let filters = filters?;
    let armed =
        if filters.is_empty() { None } else { Some(search(&travel, &filters, Direction::Forward)?.0) };

    let mut seeks: Vec<f64> = Vec::new();
    let mut random = 0x2545_f491_4f6c_dd1du64;
    for _ in 0..count.parse::<u32>()?.max(1) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (seconds, _) = timed(|| Ok(travel.state(1 + random % steps)?))?;
        seeks.push(seconds * 1000.0);
    }
    seeks.sort_by(f64::total_cmp);
    let (keyframes, keyframe_bytes) = travel.keyframes();
    let part = |hundredths: usize| seeks[(seeks.len() - 1) * hundredths / 100];
    let mut rows = vec![
        ("steps", steps as f64),
        ("hits", hits as f64),
        ("replay_s", replayed),
        ("first_s", first),
        ("again_s", again),
        ("again_backward_s", again_backward),
        ("keep_s", kept),
        ("index_bytes", index_bytes as f64),
        ("open_s", opened),
        ("indexed_s", indexed),
        ("indexed_backward_s", indexed_backward),
        ("cold_watch_s", cold),
        ("seek_median_ms", part(50)),
        ("seek_p99_ms", part(99)),
        ("keyframes", keyframes as f64),
        ("keyframe_bytes", keyframe_bytes as f64),
    ];
    rows.extend(armed.map(|armed| ("armed_watch_s", armed)));
    let rows: Vec<String> = rows.iter().map(|(name, value)| format!("\"{name}\": {value:.4}")).collect();
    println!("{{{}}}", rows.join(", "));
    Ok(())
}

/// Seconds that something takes, and what it gives.
fn timed<T>(
    work: impl FnOnce() -> Result<T, Box<dyn std::error::Error>>,
) -> Result<(f64, T), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let done = work()?;
    Ok((started.elapsed().as_secs_f64(), done))
}
