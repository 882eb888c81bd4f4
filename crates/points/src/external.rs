//! What functions without a body do with pointers: the C library in rows.
//!
//! Library functions are described here and not by the bodies of their models: one body for all callers would let every
//! caller's arguments meet in it. What is not listed is assumed to keep nothing, to return memory of its own and never
//! null; the analyses say so in their answers.

/// One thing that a function does with pointers. Arguments count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Returns new memory.
    Allocates,
    /// Returns new memory, all zero.
    AllocatesZeroed,
    /// Returns this argument.
    Returns(u8),
    /// Returns a pointer into what this argument points to.
    ReturnsInto(u8),
    /// Copies what the second argument points to, to where the first points.
    Copies(u8, u8),
    /// Stores a pointer into what the second argument points to, where the first points.
    Stores(u8, u8),
    /// Stores new memory where the argument points.
    StoresNew(u8),
    /// Stores null where the argument points.
    StoresNull(u8),
    /// Calls the argument with pointers into what another argument points to, for each of its parameters.
    Calls(u8, u8),
    /// Calls the argument with nothing.
    CallsBack(u8),
    /// The result may be null.
    Nullable,
    /// Reads or writes through this argument: it must not be null.
    Dereferences(u8),
    /// Does not return.
    Never,
}

use Effect::{
    Allocates, AllocatesZeroed, Calls, CallsBack, Copies, Dereferences as D, Never, Nullable, Returns,
    ReturnsInto, Stores, StoresNew, StoresNull,
};

const D0: Effect = D(0);
const D1: Effect = D(1);
const D2: Effect = D(2);
const D3: Effect = D(3);

/// The rows, in groups of functions that do the same.
const TABLE: &[(&[&str], &[Effect])] = &[
    (&["malloc", "valloc", "aligned_alloc", "memalign", "pvalloc"], &[Allocates]),
    (&["calloc"], &[AllocatesZeroed]),
    (&["realloc", "reallocarray"], &[Allocates, Copies(RESULT, 0)]),
    (&["strdup", "strndup", "wcsdup"], &[Allocates, D0]),
    (&["free", "cfree"], &[]),
    (&["posix_memalign"], &[StoresNew(0), D0]),
    (&["asprintf", "vasprintf", "__asprintf_chk", "__vasprintf_chk"], &[StoresNew(0), D0]),
    (&["getline", "__getdelim", "getdelim"], &[StoresNew(0), D0, D1]),
    (&["memcpy", "memmove", "__memcpy_chk", "__memmove_chk", "mempcpy", "wmemcpy", "wmemmove"], &[Returns(0), Copies(0, 1), D0, D1]),
    (&["bcopy"], &[Copies(1, 0), D0, D1]),
    (&["memset", "__memset_chk", "wmemset", "bzero", "explicit_bzero"], &[Returns(0), D0]),
    (&["strcpy", "strncpy", "strcat", "strncat", "__strcpy_chk", "__strncpy_chk", "__strcat_chk", "__strncat_chk", "wcscpy", "wcsncpy", "wcscat", "wcsncat"], &[Returns(0), D0, D1]),
    (&["stpcpy", "stpncpy", "__stpcpy_chk"], &[ReturnsInto(0), D0, D1]),
    (&["strlcpy", "strlcat", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcoll", "strspn", "strcspn", "strxfrm", "memcmp", "bcmp", "wcscmp"], &[D0, D1]),
    (&["strlen", "strnlen", "wcslen", "atoi", "atol", "atoll", "atof", "puts", "unlink", "remove", "rmdir", "chdir", "fclose", "feof", "ferror", "fileno", "rewind", "fgetc", "getc", "closedir", "pclose", "freeaddrinfo"], &[D0]),
    (&["strchr", "strrchr", "index", "rindex", "memchr", "memrchr", "wcschr", "wcsrchr", "wmemchr"], &[ReturnsInto(0), Nullable, D0]),
    (&["strchrnul", "rawmemchr", "basename", "dirname", "__xpg_basename"], &[ReturnsInto(0)]),
    (&["strstr", "strcasestr", "strpbrk", "memmem", "wcsstr", "wcspbrk"], &[ReturnsInto(0), Nullable, D0]),
    (&["strtok", "strtok_r", "wcstok"], &[ReturnsInto(0), Nullable]),
    (&["strsep"], &[Nullable, D0]),
    (&["strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "strtold", "strtoimax", "strtoumax", "__isoc23_strtol", "__isoc23_strtoul", "__isoc23_strtoll", "__isoc23_strtoull"], &[Stores(1, 0), D0]),
    (&["fopen", "fopen64", "freopen", "popen"], &[Nullable, D0, D1]),
    (&["fdopen"], &[Nullable, D1]),
    (&["tmpfile", "getpass", "setlocale", "getlogin", "ttyname", "dlopen", "dlerror"], &[Nullable]),
    (&["getenv", "secure_getenv", "opendir", "gethostbyname", "getpwnam", "getgrnam", "getservbyname", "getprotobyname"], &[Nullable, D0]),
    (&["gethostbyaddr", "getpwuid", "getgrgid", "getservbyport", "getpwent", "getgrent", "getspnam", "fdopendir", "crypt", "dlsym"], &[Nullable]),
    (&["readdir", "readdir64"], &[Nullable, D0]),
    (&["fgets", "__fgets_chk", "fgets_unlocked"], &[Returns(0), Nullable, D0, D2]),
    (&["gets"], &[Returns(0), Nullable, D0]),
    (&["getcwd"], &[Returns(0), Nullable]),
    (&["realpath"], &[Returns(1), Allocates, Nullable, D0]),
    (&["localtime", "gmtime"], &[Nullable, D0]),
    (&["localtime_r", "gmtime_r", "asctime_r", "ctime_r"], &[Returns(1), Nullable, D0, D1]),
    (&["strerror", "strsignal", "ctime", "asctime", "inet_ntoa", "__errno_location", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "gai_strerror", "localeconv"], &[]),
    (&["inet_ntop"], &[Returns(2), Nullable, D1, D2]),
    (&["fread", "fwrite"], &[D0, D3]),
    (&["fputs"], &[D0, D1]),
    (&["printf"], &[D0]),
    (&["fprintf", "sprintf", "vfprintf", "vsprintf", "sscanf", "fscanf"], &[D0, D1]),
    (&["snprintf", "vsnprintf", "__snprintf_chk", "__vsnprintf_chk", "__sprintf_chk", "__fprintf_chk"], &[]),
    (&["bsearch"], &[ReturnsInto(1), Nullable, Calls(4, 1), Calls(4, 0)]),
    (&["lfind", "lsearch"], &[ReturnsInto(1), Nullable, Calls(4, 1), Calls(4, 0)]),
    (&["qsort"], &[Calls(3, 0), D3]),
    (&["qsort_r"], &[Calls(3, 0), Calls(3, 4)]),
    (&["tsearch", "tfind"], &[Nullable, Calls(2, 0)]),
    (&["atexit", "at_quick_exit"], &[CallsBack(0)]),
    (&["signal", "bsd_signal", "sysv_signal"], &[CallsBack(1), Nullable]),
    (&["pthread_create", "thrd_create"], &[Calls(2, 3), D0]),
    (&["on_exit"], &[Calls(0, 1)]),
    (&["getaddrinfo"], &[StoresNew(3), D3]),
    (&["getpwnam_r", "getpwuid_r", "getgrnam_r", "getgrgid_r"], &[StoresNull(4), Stores(4, 1), D1, D2]),
    (&["open_memstream"], &[StoresNew(0), Nullable, D0, D1]),
    (&["mmap", "mmap64", "shmat", "sbrk"], &[Allocates]),
    (&["exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail", "__assert", "longjmp", "_longjmp", "siglongjmp", "err", "errx", "verr", "verrx", "__builtin_trap"], &[Never]),
];

/// The number of an argument that stands for the result: copies into new memory.
pub const RESULT: u8 = 250;

/// What a function of the library does with pointers; `None` when it is not listed.
pub fn effects(name: &str) -> Option<&'static [Effect]> {
    use std::sync::OnceLock;
    static INDEX: OnceLock<rustc_hash::FxHashMap<&'static str, &'static [Effect]>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        TABLE.iter().flat_map(|(names, effects)| names.iter().map(|name| (*name, *effects))).collect()
    });
    index.get(name).copied()
}

/// Functions of the library that neither keep nor return pointers: calling them assumes nothing.
pub fn is_plain(name: &str) -> bool {
    const PLAIN: &[&str] = &[
        "abs", "labs", "llabs", "rand", "srand", "random", "srandom", "toupper", "tolower", "isalpha", "isdigit",
        "isalnum", "isspace", "isupper", "islower", "isxdigit", "isprint", "ispunct", "iscntrl", "isgraph", "isblank",
        "putchar", "getchar", "putc", "fputc", "perror", "fflush", "ungetc", "fseek", "ftell", "fseeko", "ftello",
        "setvbuf", "setbuf", "clearerr", "open", "open64", "openat", "close", "read", "write", "pread", "pwrite", "lseek",
        "lseek64", "stat", "fstat", "lstat", "fstatat", "access", "chmod", "fchmod", "chown", "fchown", "lchown", "mkdir",
        "rename", "link", "symlink", "readlink", "dup", "dup2", "pipe", "pipe2", "fcntl", "ioctl", "select", "poll",
        "socket", "bind", "listen", "accept", "accept4", "connect", "send", "sendto", "sendmsg", "recv", "recvfrom",
        "recvmsg", "shutdown", "getsockname", "getpeername", "setsockopt", "getsockopt", "htons", "htonl", "ntohs",
        "ntohl", "inet_addr", "inet_aton", "inet_pton", "time", "clock", "clock_gettime", "gettimeofday", "nanosleep",
        "usleep", "sleep", "alarm", "mktime", "timegm", "strftime", "difftime", "getpid", "getppid", "getuid", "geteuid",
        "getgid", "getegid", "setuid", "seteuid", "setgid", "setegid", "setresuid", "setresgid", "setgroups", "initgroups",
        "chroot", "umask", "fork", "vfork", "wait", "waitpid", "wait4", "kill", "raise", "sigaction", "sigprocmask",
        "sigemptyset", "sigfillset", "sigaddset", "sigdelset", "sigsuspend", "setjmp", "_setjmp", "sigsetjmp",
        "__sigsetjmp", "execv", "execve", "execvp", "execl", "execlp", "system", "munmap", "mprotect", "msync", "ftruncate",
        "truncate", "fsync", "fdatasync", "flock", "isatty", "setsid", "setpgid", "getpgrp", "tcsetattr", "tcgetattr",
        "getrlimit", "setrlimit", "getrusage", "getpriority", "setpriority", "sysconf", "syslog", "vsyslog", "openlog",
        "closelog", "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex_init", "pthread_mutex_destroy",
        "pthread_mutex_trylock", "pthread_cond_wait", "pthread_cond_signal", "pthread_cond_broadcast", "pthread_join",
        "pthread_self", "pthread_once", "putenv", "setenv", "unsetenv", "gethostname", "uname", "utime", "utimes",
        "scanf", "__isoc99_scanf", "__isoc99_sscanf", "__isoc99_fscanf", "__isoc23_scanf", "__isoc23_sscanf",
        "__isoc23_fscanf", "vprintf", "__printf_chk", "__vfprintf_chk", "dprintf", "rewinddir", "telldir", "seekdir",
        "tzset", "sched_yield", "prctl", "getopt", "getopt_long", "posix_fadvise", "sendfile", "splice", "swab",
    ];
    use std::sync::OnceLock;
    static INDEX: OnceLock<rustc_hash::FxHashSet<&'static str>> = OnceLock::new();
    INDEX.get_or_init(|| PLAIN.iter().copied().collect()).contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_one_row() {
        let mut names: Vec<&str> = TABLE.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| !is_plain(name)), "a function is in the table or plain, not both");
    }
}
