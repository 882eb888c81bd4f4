//! What an explored program may do to the world outside: nothing.
//!
//! An explorer invents arguments: a program that removes `argv[1]` gets names that nobody chose. So every run has a world of
//! its own, a view of the file system that is copied where it is written, with a network of its own. What would leave that
//! world ends the run with its reason, which is a bound of the exploration. Before a run has entered its view, or where the
//! kernel makes none, changes end the run as well.

use parallax_process::Process;
use parallax_process::outside::Call;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What holds a run's effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum World {
    /// Nothing: any change ends the run.
    #[default]
    Outside,
    /// A view of its own. With addresses that may be reached, it has the network of the machine.
    View(Vec<SocketAddr>),
    /// The real world, by a person's word.
    Real,
}

/// Devices that hold nothing.
const NOTHING: [&[u8]; 3] = [b"/dev/null", b"/dev/zero", b"/dev/full"];

/// Why a call would leave the world of a run, if it would.
pub fn leaves(world: &World, process: &mut Process, name: &str, call: &Call) -> Option<String> {
    let network = match world {
        World::Real => return None,
        World::Outside => {
            if changes(process, name, call) {
                return Some(format!(
                    "{name}, which changes the world outside, and there is no layer for it here"
                ));
            }
            Network::None
        }
        World::View(allowed) if allowed.is_empty() => Network::Own,
        World::View(allowed) => Network::Shared(allowed),
    };
    other_process(name, call).or_else(|| goes_out(&network, process, name, call))
}

/// Whether opening a file with these flags changes it, or makes it.
pub fn opens_to_change(flags: u64) -> bool {
    flags as i32 & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0
}

/// Whether a call changes files or makes something that others can find.
fn changes(process: &mut Process, name: &str, call: &Call) -> bool {
    let [first, second, third, ..] = call.arguments;
    match name {
        "open" | "openat" => {
            let (path, flags) = if name == "open" { (first, second) } else { (second, third) };
            let path = process.world().memory.read_string(path, 4095).ok().flatten().unwrap_or_default();
            opens_to_change(flags) && !NOTHING.contains(&path.as_slice())
        }
        "creat" | "openat2" | "unlink" | "unlinkat" | "rename" | "renameat" | "renameat2" | "mkdir"
        | "mkdirat" | "rmdir" | "mknod" | "mknodat" | "link" | "linkat" | "symlink" | "symlinkat"
        | "truncate" | "chmod" | "fchmod" | "fchmodat" | "fchmodat2" | "chown" | "lchown" | "fchown"
        | "fchownat" | "utime" | "utimes" | "futimesat" | "utimensat" | "setxattr" | "lsetxattr"
        | "fsetxattr" | "removexattr" | "lremovexattr" | "fremovexattr" | "shmget" | "semget" | "msgget"
        | "mq_open" | "mq_unlink" => true,
        _ => false,
    }
}

/// Calls on another process. The process numbers of a run are those of the machine.
fn other_process(name: &str, call: &Call) -> Option<String> {
    let [first, second, ..] = call.arguments;
    let target = match name {
        "rt_sigqueueinfo" | "rt_tgsigqueueinfo" | "prlimit64" | "sched_setaffinity"
        | "sched_setscheduler" | "sched_setparam" | "sched_setattr" | "kill" | "tgkill" | "tkill"
        | "migrate_pages" | "move_pages" => first,
        "setpriority" if first == 0 => second,
        "ioprio_set" if first == 1 => second,
        "setpriority" | "ioprio_set" => u64::MAX,
        "pidfd_send_signal" | "pidfd_getfd" | "process_vm_readv" | "process_vm_writev" | "ptrace"
        | "kcmp" | "process_madvise" | "mount" | "umount2" | "setns" | "unshare" => {
            return Some(format!("{name}, which reaches other processes"));
        }
        _ => return None,
    };
    let own = target == 0 || target == u64::from(std::process::id()) || is_own_thread(target);
    (!own).then(|| format!("{name} of process {}, which is not its own", target as i32))
}

fn is_own_thread(target: u64) -> bool {
    std::path::Path::new(&format!("/proc/self/task/{target}")).exists()
}

/// Which network a run has.
enum Network<'a> {
    /// None that it may use.
    None,
    /// One with itself.
    Own,
    /// The machine's, and these addresses of it.
    Shared(&'a [SocketAddr]),
}

/// Messages that would leave the network of a run.
fn goes_out(network: &Network<'_>, process: &mut Process, name: &str, call: &Call) -> Option<String> {
    let [_, second, third, _, fifth, sixth] = call.arguments;
    let (at, length) = match name {
        "connect" | "bind" => (second, third),
        "sendto" if fifth != 0 => (fifth, sixth),
        "sendmsg" => {
            let header = process.peek(second, 16);
            let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
            let (at, length) = (word(header.get(..8)?), word(header.get(8..16)?) & 0xffff_ffff);
            if at == 0 {
                return None;
            }
            (at, length)
        }
        "sendmmsg" if !matches!(network, Network::Own) => {
            return Some(String::from("sendmmsg, which sends messages"));
        }
        _ => return None,
    };
    let address = Address::read(&process.peek(at, length.min(128)));
    let is_bind = name == "bind";
    let fine = match (network, &address) {
        (_, Address::Other) => true,
        (Network::None, _) => false,
        (Network::Own, Address::Internet(address)) => {
            is_bind || address.ip().is_loopback() || address.ip().is_unspecified()
        }
        (Network::Own, _) | (Network::Shared(_), Address::Path(_)) => true,
        (Network::Shared(allowed), Address::Internet(address)) => !is_bind && allowed.contains(address),
        (Network::Shared(_), Address::Hidden) => false,
    };
    let hint = |address: &SocketAddr| {
        format!("{name} to {address}, which is outside; --allow-net {address} lets it")
    };
    (!fine).then(|| match address {
        Address::Internet(address) if is_bind => format!("bind to {address}, where others can connect"),
        Address::Internet(address) => hint(&address),
        Address::Path(path) => format!("{name} to the socket {path}, and there is no layer for it here"),
        Address::Hidden | Address::Other => format!("{name} to an abstract socket"),
    })
}

/// Where a message goes.
enum Address {
    Internet(SocketAddr),
    Path(String),
    Hidden,
    Other,
}

impl Address {
    fn read(bytes: &[u8]) -> Address {
        let family = bytes.get(..2).and_then(|two| two.try_into().ok()).map(u16::from_ne_bytes);
        let port = bytes.get(2..4).and_then(|two| two.try_into().ok()).map_or(0, u16::from_be_bytes);
        match family.map(i32::from) {
            Some(libc::AF_INET) => {
                let Some(four) = bytes.get(4..8).and_then(|four| <[u8; 4]>::try_from(four).ok()) else {
                    return Address::Other;
                };
                Address::Internet(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(four)), port))
            }
            Some(libc::AF_INET6) => {
                let Some(all) = bytes.get(8..24).and_then(|all| <[u8; 16]>::try_from(all).ok()) else {
                    return Address::Other;
                };
                let address = Ipv6Addr::from(all);
                let address = address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
                Address::Internet(SocketAddr::new(address, port))
            }
            Some(libc::AF_UNIX) if bytes.get(2) == Some(&0) => Address::Hidden,
            Some(libc::AF_UNIX) => {
                let path = bytes[2..].split(|byte| *byte == 0).next().unwrap_or_default();
                Address::Path(String::from_utf8_lossy(path).into_owned())
            }
            _ => Address::Other,
        }
    }
}
