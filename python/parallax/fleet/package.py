"""Checks every program of one source package. A program of its own: python3 -S -E package.py PARALLAX FOLDER-OR-TAR ARGUMENTS

Nothing of the package is run, its `configure` neither. A `config.h` is made from `config.h.in` by what this machine has:
headers by their files, functions by the C library. Macros that a makefile would define as texts (VERSION, DATADIR) are
defined after the compiler missed them. What does not compile all the same is left out and counted.

Each file with a `main` is one program, together with the files of its folder that have none, or alone where these clash.
The files of a folder without any `main` are a library: a function that calls each of its external functions, with
arguments that are not null, is where `check` starts.
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
from typing import Any

CLANG = "clang-19"
# Where `check` starts in a library, and the bound that goes with it.
ENTRY = "parallax_fleet_entry"
DRIVER_FLAGS = ["-std=gnu89", "-fno-builtin"]
LIBRARY = "a library: started at each external function, with arguments that are not null"
LENIENT = ["-w", "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int", "-Wno-error=int-conversion"]
LENIENT += ["-Wno-error=incompatible-function-pointer-types", "-Wno-error=return-mismatch", "-D_GNU_SOURCE"]
# With the declarations of parameters that old C has between the list and the body.
MAIN = re.compile(rb"^[ \t]*(?:(?:extern|int|void|signed|auto)\s+)*\bmain\s*\([^;{}()]*\)[\w\s*,\[\];]*\{", re.MULTILINE)
TEXTUAL = re.compile(r"(VERSION|PACKAGE|PREFIX|DIR|PATH|DATE|NAME|FILE|LIB|HOST|BUILD|CONF|RELEASE|REVISION|AUTHOR|COPYRIGHT|YEAR|URL|BUGREPORT)")
SKIPPED = re.compile(r"(^|/)(tests?|testsuite|examples?|contrib|debian|win32|windows|msvc|dos|vms|amiga|os2)(/|$)", re.IGNORECASE)


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """Unpack a tar file; what would stand outside the folder, and devices, are refused."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")


def value_of(name: str, library: Any) -> str:
    """Return what this machine's configuration says of a macro; nothing where it would not define it."""
    if name in ("STDC_HEADERS", "PROTOTYPES", "TIME_WITH_SYS_TIME", "_GNU_SOURCE", "_ALL_SOURCE"):
        return "1"
    if name.startswith("HAVE_") and name.endswith("_H"):
        path = name[5:-2].lower()
        tried = [path + ".h", path.replace("_", "/") + ".h", path.replace("_", "/", 1) + ".h"]
        places = ["/usr/include", f"/usr/include/{os.uname().machine}-linux-gnu"]
        return "1" if any(os.path.exists(f"{place}/{header}") for place in places for header in tried) else ""
    if name.startswith("HAVE_"):
        return "1" if hasattr(library, name[5:].lower().removeprefix("decl_")) else ""
    if name.startswith(("PACKAGE", "VERSION")):
        return '"0"'
    if name.startswith("SIZEOF_"):
        sizes = {"CHAR": 1, "SHORT": 2, "INT": 4, "LONG": 8, "LONG_LONG": 8, "VOID_P": 8, "SIZE_T": 8, "FLOAT": 4, "DOUBLE": 8}
        return str(sizes.get(name[7:], ""))
    return "void" if name == "RETSIGTYPE" else ""


def defined(name: str, library: Any) -> str:
    """Return the lines that define a macro as this machine has it."""
    value = value_of(name, library)
    return f"#ifndef {name}\n#define {name} {value}\n#endif\n" if value else ""


def configure(folder: pathlib.Path) -> int:
    """Make the configuration headers that the package's build would make, and return how many."""
    library = ctypes.CDLL(None)
    made = 0
    for template in sorted(folder.rglob("config*.h.in")) + sorted(folder.rglob("config*.hin")):
        header = template.parent / re.sub(r"\.h\.in$|\.hin$", ".h", template.name)
        if not header.exists():
            lines = template.read_text("utf-8", "replace").splitlines()
            undefined = [(line, re.match(r"\s*#\s*undef\s+(\w+)", line)) for line in lines]
            header.write_text("".join(defined(found.group(1), library) if found else line + "\n" for line, found in undefined))
            made += 1
    if not made and not any(folder.rglob("config.h")):
        # The template itself is made by autoheader: what the sources ask for stands in for it.
        texts = [path.read_bytes() for path in sorted(folder.rglob("*.[ch]")) if path.is_file()]
        if any(re.search(rb'#\s*include\s*[<"]config\.h[>"]', text) for text in texts):
            names = sorted({name.decode() for text in texts for name in re.findall(rb"\b(?:HAVE|SIZEOF|PACKAGE|VERSION)\w*", text)})
            (folder / "config.h").write_text("".join(defined(name, library) for name in [*names, "STDC_HEADERS"]))
            made = 1
    return made


def compiles(folder: pathlib.Path, file: str, flags: list[str]) -> tuple[list[str] | None, str]:
    """Return the flags with which a file compiles; None, and the compiler's first error, if there are none."""
    more: list[str] = []
    error = ""
    for _ in range(3):
        command = [CLANG, "-fsyntax-only", "-ferror-limit=0", *LENIENT, *flags, *more, file]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=60)
        except subprocess.TimeoutExpired:
            return None, f"{CLANG} takes more than a minute"
        if done.returncode == 0:
            return [*flags, *more], ""
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        error = (errors or done.stderr.splitlines() or ["no message"])[0]
        missing = {name for line in errors for name in re.findall(r"use of undeclared identifier '([A-Z][A-Z0-9_]*)'", line)}
        texts = [f'-D{name}="0"' for name in sorted(missing) if TEXTUAL.search(name) and f'-D{name}="0"' not in more]
        if not texts:
            break
        more += texts
    return None, error


def programs(folder: pathlib.Path) -> list[tuple[str, list[str]]]:
    """Return the files with a main, and for each the files of its folder without one."""
    sources = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.c")) if path.is_file() and not path.is_symlink()]
    sources = [path for path in sources if not SKIPPED.search(path)]
    mains = {path for path in sources if MAIN.search((folder / path).read_bytes())}
    found = []
    for main in sorted(mains):
        beside = os.path.dirname(main)
        others = [path for path in sources if os.path.dirname(path) == beside and path not in mains]
        found.append((main, others))
    return found


def libraries(folder: pathlib.Path, found: list[tuple[str, list[str]]]) -> list[list[str]]:
    """Return the files of each folder that has none of the programs."""
    sources = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.c")) if path.is_file() and not path.is_symlink()]
    taken = {os.path.dirname(main) for main, _ in found}
    by_folder: dict[str, list[str]] = {}
    for path in sources:
        if not SKIPPED.search(path) and os.path.dirname(path) not in taken:
            by_folder.setdefault(os.path.dirname(path), []).append(path)
    return [files for _, files in sorted(by_folder.items())]


def external(folder: pathlib.Path, entries: list[tuple[str, list[str]]]) -> list[str]:
    """Return the external functions of some files."""
    names: set[str] = set()
    for file, flags in entries:
        made = folder / "parallax-fleet.o"
        done = subprocess.run([CLANG, "-c", *LENIENT, *flags, file, "-o", str(made)], cwd=folder, capture_output=True, check=False)
        if done.returncode == 0:
            listed = subprocess.run(["nm", "--defined-only", "-g", str(made)], capture_output=True, text=True, check=False)
            names.update(line.split()[2] for line in listed.stdout.splitlines() if line.split()[1:2] == ["T"])
    return sorted(name for name in names if re.fullmatch(r"[A-Za-z_]\w*", name))


def driver(names: list[str]) -> str:
    """Return a function that calls each of these."""
    return "".join(f"int {name}();\n" for name in names) + f"int {ENTRY}(void) {{\n" + "".join(f"  {name}();\n" for name in names) + "  return 0;\n}\n"


def check(parallax: str, folder: pathlib.Path, entries: list[tuple[str, list[str]]], options: list[str], report: str, seconds: float) -> Any:
    """Return the document of `check` on some files, with the exit status in it."""
    database = [{"directory": str(folder), "file": file, "arguments": ["cc", *LENIENT, *flags, "-c", file]} for file, flags in entries]
    at = folder / "parallax-fleet"
    at.mkdir(exist_ok=True)
    (at / "compile_commands.json").write_text(json.dumps(database))
    command = [parallax, "check", "--no-cache", "--json", "--report", report, *options, str(at / "compile_commands.json")]
    try:
        done = subprocess.run(command, capture_output=True, timeout=max(seconds, 1), check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {seconds:.0f} s", "status": 4}
    try:
        document = json.loads(done.stdout)
    except ValueError:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        document = {"error": f"exit status {done.returncode}: {words[-1] if words else 'it said nothing'}"}
    document["status"] = done.returncode
    return document


def first_error(document: Any) -> str:
    """Return the line of a verb's message that says most."""
    lines = str(document["error"]).strip().splitlines() or [f"exit status {document['status']}"]
    return next((line for line in lines if "error:" in line), lines[0])[:300]


def number_of(counts: dict[str, int]) -> int:
    """Return how many programs and libraries were checked."""
    return counts["checked"] + counts["libraries_checked"]


def main() -> int:
    """Check the package and write answer.json."""
    parallax, where, given = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
    out = pathlib.Path.cwd()
    folder = out / "tree"
    folder.mkdir()
    unpack(where, folder)
    inner = [path for path in folder.iterdir()]
    folder = inner[0] if len(inner) == 1 and inner[0].is_dir() else folder
    ends = time.monotonic() + float(given["seconds"])
    configure(folder)
    with_headers = {path.parent for path in folder.rglob("*.h")}
    # `part/part.h` is found from the folder above.
    holders = sorted({place for path in with_headers for place in (path, path.parent) if place.is_relative_to(folder)})
    includes = [f"-I{path.relative_to(folder).as_posix()}" for path in holders]
    known: dict[str, tuple[list[str] | None, str]] = {}
    findings: list[dict[str, Any]] = []
    bounds: list[str] = []
    counts = {"programs": 0, "checked": 0, "libraries": 0, "libraries_checked": 0, "files": 0, "compiled": 0, "findings": 0, "confirmed": 0}
    statuses: set[int] = set()

    def compiled(file: str) -> list[str] | None:
        if file not in known:
            own = f"-I{os.path.dirname(file) or '.'}"
            # Headers of folders for other systems shadow the machine's own: the file's own folder is tried alone first.
            for flags in ([own, "-I."], [own, "-I.", *includes], [own, "-I.", *includes, "-DHAVE_CONFIG_H"], [own, "-I.", *includes, "-std=gnu89"]):
                known[file] = compiles(folder, file, flags)
                if known[file][0] is not None:
                    break
            if known[file][0] is None:
                bounds.append(f"does not compile here: {known[file][1][:300]}")
        return known[file][0]

    def take(document: Any) -> None:
        statuses.add(document["status"])
        bounds.extend(gap if isinstance(gap, str) else json.dumps(gap, sort_keys=True) for gap in document.get("gaps", []))
        for finding in document["findings"]:
            row = {name: finding[name] for name in ("kind", "status", "file", "line", "function", "message", "fingerprint")}
            row["file"] = os.path.relpath(os.path.join(out, row["file"]), folder)
            findings.append(row)

    found = programs(folder)
    counts["programs"] = len(found)
    for number, (main_file, others) in enumerate(found):
        left = ends - time.monotonic()
        if left < 2:
            bounds.append(f"no time for {len(found) - number} of {len(found)} programs")
            break
        if number >= int(given.get("most", 1000)):
            bounds.append(f"only {number} of {len(found)} programs were asked for")
            break
        flags = compiled(main_file)
        if flags is None:
            continue
        entries = [(main_file, flags)]
        entries += [(file, own) for file in others for own in [compiled(file)] if own is not None]
        report = f"report-{number_of(counts)}.sarif"
        document = check(parallax, folder, entries, given.get("options", []), str(out / report), ends - time.monotonic())
        if "error" in document and len(entries) > 1 and ends - time.monotonic() > 2:
            bounds.append(f"{main_file}: alone, since with the files beside it: {first_error(document)}")
            document = check(parallax, folder, entries[:1], given.get("options", []), str(out / report), ends - time.monotonic())
        if "error" in document:
            bounds.append(f"{main_file}: {first_error(document)}")
            statuses.add(document["status"])
            continue
        counts["checked"] += 1
        take(document)
    groups = libraries(folder, found)
    counts["libraries"] = len(groups)
    for files in groups:
        left = ends - time.monotonic()
        if left < 2 or number_of(counts) >= int(given.get("most", 1000)):
            bounds.append(f"not looked at: the files of {os.path.dirname(files[0]) or '.'}")
            continue
        entries = [(file, own) for file in files for own in [compiled(file)] if own is not None]
        names = external(folder, entries)
        if not names:
            continue
        (folder / f"{ENTRY}.c").write_text(driver(names))
        report = f"report-{number_of(counts)}.sarif"
        words_of = ["--entry", ENTRY, *given.get("options", [])]
        document = check(parallax, folder, [*entries, (f"{ENTRY}.c", DRIVER_FLAGS)], words_of, str(out / report), ends - time.monotonic())
        if "error" in document:
            bounds.append(f"{os.path.dirname(files[0]) or '.'}: {first_error(document)}")
            statuses.add(document["status"])
            continue
        counts["libraries_checked"] += 1
        bounds.append(f"{os.path.dirname(files[0]) or '.'}: {LIBRARY}")
        take(document)
    # Programs of one folder share files, and with them findings.
    unique = {(row["file"], row["line"], row["fingerprint"]): row for row in reversed(findings)}
    findings = sorted(unique.values(), key=lambda row: (row["file"], row["line"], row["fingerprint"]))
    counts["files"], counts["compiled"] = len(known), sum(flags is not None for flags, _ in known.values())
    counts["findings"], counts["confirmed"] = len(findings), sum(row["status"] == "confirmed" for row in findings)
    if not known:
        verdict, summary = "unsupported", "no C file"
    elif not number_of(counts):
        verdict, summary = "unsupported", f"none of {counts['programs']} programs and {counts['libraries']} libraries could be checked"
    else:
        verdict = "findings" if findings else ("gave up" if bounds or statuses & {3, 4} else "clean")
        summary = f"{counts['checked']} of {counts['programs']} programs, {counts['libraries_checked']} of {counts['libraries']} libraries, "
        summary += f"{counts['compiled']} of {counts['files']} files: "
        summary += f"{len(findings)} findings, {counts['confirmed']} confirmed"
    answer = {"verdict": verdict, "summary": summary, "bounds": sorted(set(bounds)), "findings": findings, "counts": counts}
    (out / "answer.json").write_text(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
