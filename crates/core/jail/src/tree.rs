//! The processes of a run, as `/proc` shows them.

use std::fs;

/// All processes below one.
pub fn below(root: i32) -> Vec<i32> {
    let mut all: Vec<i32> = Vec::new();
    let mut open = vec![root];
    while let Some(process) = open.pop() {
        let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for task in tasks.flatten() {
            let Ok(list) = fs::read_to_string(task.path().join("children")) else { continue };
            // A process that changes its parent while we look can be seen twice.
            for child in list.split_whitespace().filter_map(|word| word.parse().ok()) {
                if !all.contains(&child) {
                    all.push(child);
                    open.push(child);
                }
            }
        }
    }
    all
}

/// The number of threads of all processes below one.
pub fn threads(root: i32) -> u32 {
    let count =
        |process: &i32| fs::read_dir(format!("/proc/{process}/task")).map_or(0, |tasks| tasks.count() as u32);
    below(root).iter().map(count).sum()
}

/// Bytes of memory in use by the processes below one.
pub fn memory(root: i32) -> u64 {
    // SAFETY: it only asks.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let resident = |process: &i32| {
        let text = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
        text.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0)
    };
    below(root).iter().map(resident).sum::<u64>().saturating_mul(page)
}

/// Whether a process or thread is below another one.
pub fn is_below(process: i32, root: i32) -> bool {
    let mut at = process;
    // A chain of parents cannot be longer than there are processes.
    for _ in 0..1 << 22 {
        if at <= 1 {
            return false;
        }
        let Some(parent) = parent(at) else { return false };
        if parent == root {
            return true;
        }
        at = parent;
    }
    false
}

fn parent(process: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}
