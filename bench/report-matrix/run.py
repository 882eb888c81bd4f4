#!/usr/bin/env python3
"""Runs real tools on real programs and measures what their reports lose on the way to the page.

    run.py WORK PARALLAX [OUT]

WORK is a folder for sources, tools and reports; PARALLAX the command. With OUT, the table is written to OUT/README.md and
the numbers to OUT/raw.csv. Programs are Debian's sources of zip, bzip2 and gzip. A tool that is not there is reported as
missing, never as passed. gcc 14 and CBMC come from Debian 13, unpacked into WORK/trixie and run in a chroot, which needs
root; Semgrep and Flawfinder come from PyPI.
"""
import csv, glob, json, os, shutil, subprocess, sys, tarfile, urllib.request

from mirror import mirror

WORK, PARALLAX = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
OUT = sys.argv[3] if len(sys.argv) > 3 else None
HERE = os.path.dirname(os.path.abspath(__file__))
# Program, source, the files that the compilers look at, and how they are compiled.
PROGRAMS = [
    ("zip30", "z/zip/zip_3.0.orig.tar.gz", ["fileio.c", "zipnote.c", "unix/unix.c"], ["-I.", "-DUNIX"]),
    ("bzip2-1.0.8", "b/bzip2/bzip2_1.0.8.orig.tar.gz", ["bzip2.c", "bzip2recover.c", "bzlib.c"], ["-I."]),
    ("unzip60", "u/unzip/unzip_6.0.orig.tar.gz", ["fileio.c", "process.c", "unix/unix.c"],
     ["-I.", "-Iunix", "-DUNIX", "-DHAVE_DIRENT_H"]),
]
ROOT = os.path.join(WORK, "trixie")


def run(command, folder, stdout=None, stderr=None, inside=False, seconds=300):
    """Runs a tool; its status says little, for most report by failing. None when it is not there."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if inside:
        shutil.copytree(folder, ROOT + folder, dirs_exist_ok=True)
        environment["LC_ALL"] = "C"  # The unpacked release has no other locale, and would say so into the report.
        command = ["chroot", ROOT, "/usr/bin/bash", "-c", f"cd {folder} && exec \"$@\"", "-"] + command
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=seconds)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    for target, data in ((stdout, done.stdout), (stderr, done.stderr)):
        if target:
            with open(target, "wb") as file:
                file.write(data)
    return done


def sources():
    for name, address, *_ in PROGRAMS:
        if not os.path.isdir(os.path.join(WORK, name)):
            archive = os.path.join(WORK, os.path.basename(address))
            urllib.request.urlretrieve(mirror() + "pool/main/" + address, archive)
            with tarfile.open(archive) as tar:
                tar.extractall(WORK, filter="data")


def compilers(program, files, flags, folder, report):
    for source in files:
        stem = report(os.path.basename(source)[:-2])
        common = ["-c", "-w", "-O1", *flags, source, "-o", "/dev/null"]
        run(["gcc", "-fanalyzer", *common[:1], *common[2:]], folder, stderr=stem + ".gcc12.txt")
        run(["gcc", "-fanalyzer", "-fdiagnostics-format=json", *common[:1], *common[2:]], folder, stderr=stem + ".gcc12.json")
        if os.path.isdir(ROOT):
            for kind, ending in (("text", "txt"), ("json", "json"), ("sarif-stderr", "sarif")):
                run(["gcc-14", "-fanalyzer", f"-fdiagnostics-format={kind}", *common[:1], *common[2:]], folder,
                    stderr=f"{stem}.gcc14.{ending}", inside=True)
        for kind, ending in (("plist-multi-file", "plist"), ("sarif", "clang.sarif")):
            run(["clang-19", "--analyze", "-w", *flags, "--analyzer-output", kind, "-Xclang", "-analyzer-config", "-Xclang",
                 "expand-macros=true", "-o", f"{stem}.{ending}", source], folder)
        run(["clang-19", "--analyze", "-w", *flags, "-Xclang", "-analyzer-output=text", source], folder,
            stderr=stem + ".clang.txt")
        if os.path.isdir(ROOT) and source == files[-1]:
            for kind, ending in (("--json-ui", "cbmc.json"), ("--xml-ui", "cbmc.xml"), (None, "cbmc.txt")):
                function = {"zip30": "ex2in", "bzip2-1.0.8": "BZ2_bzCompressInit", "unzip60": "mapattr"}[program]
                run(["cbmc", "--trace", "--unwind", "3", "--no-unwinding-assertions", "--object-bits", "12", *([kind] if kind else []), "--function",
                     function, *flags, source], folder, stdout=f"{stem}.{ending}", inside=True, seconds=120)


def scanners(files, folder, report):
    run(["cppcheck", "--xml", "--enable=all", "--quiet", *files], folder, stderr=report("all") + ".cppcheck.xml")
    rules = os.path.join(HERE, "rules.yaml")
    semgrep, flawfinder = (os.path.join(WORK, "pypi/bin", name) for name in ("semgrep", "flawfinder"))
    run([semgrep, "scan", "--quiet", "--metrics=off", "--disable-version-check", "--sarif", "--config", rules, *files], folder,
        stdout=report("all") + ".semgrep.sarif")
    run([flawfinder, "--sarif", *files], folder, stdout=report("all") + ".flawfinder.sarif")


def runtime(program, folder, report):
    """A small program around the library or tool, with the errors that its tests do not have."""
    driver = os.path.join(HERE, "driver.c")
    binary = report("driver")
    libraries = {"bzip2-1.0.8": ["blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c", "bzlib.c"]}
    extra = [os.path.join(folder, name) for name in libraries.get(program, [])]
    use = ["-DUSE_BZIP2", f"-I{folder}"] if extra else []
    if run(["gcc", "-g", "-O0", "-w", *use, driver, *extra, "-o", binary, "-lpthread"], folder) is None:
        return
    for tool, mode in (("memcheck", "memory"), ("helgrind", "race"), ("drd", "race")):
        run(["valgrind", f"--tool={tool}", "--xml=yes", f"--xml-file={binary}.{tool}.xml", binary, mode], folder)
        run(["valgrind", f"--tool={tool}", binary, mode], folder, stderr=f"{binary}.{tool}.txt")
    for sanitizer, mode in (("address", "memory"), ("thread", "race"), ("undefined", "undefined"), ("leak", "leak")):
        run(["gcc", "-g", "-O0", "-w", f"-fsanitize={sanitizer}", *use, driver, *extra, "-o", f"{binary}.{sanitizer}", "-lpthread"], folder)
        run([f"{binary}.{sanitizer}", mode], folder, stderr=f"{binary}.{sanitizer}.txt")


def main():
    os.makedirs(WORK, exist_ok=True)
    sources()
    rows = []
    for program, _, files, flags in PROGRAMS:
        folder, reports = os.path.join(WORK, program), os.path.join(WORK, "reports", program)
        os.makedirs(reports, exist_ok=True)
        report = lambda name: os.path.join(reports, name)
        compilers(program, files, flags, folder, report)
        scanners(files, folder, report)
        runtime(program, folder, report)
        for path in sorted(glob.glob(reports + "/*.*")):
            if os.path.getsize(path) == 0 or os.access(path, os.X_OK) or path.endswith(".html"):
                continue
            measured = subprocess.run([PARALLAX, "convert", "--loss", "--json", path], capture_output=True, text=True)
            name = os.path.relpath(path, os.path.join(WORK, "reports"))
            if measured.returncode == 2:
                # Nothing found is no report: the compilers then print nothing that is one.
                rows.append([name, "", 0, 0, 0, 0, 0, "", "no report: " + measured.stderr.strip().split("\n")[0][:100]])
                continue
            (entry,) = json.loads(measured.stdout)
            loss = entry["loss"]
            page = path + ".html"
            made = subprocess.run([PARALLAX, "view", path, "--src", folder, "-o", page], capture_output=True, text=True)
            if loss is None:
                rows.append([name, "not counted", 0, 0, 0, 0, 0, "", ""])
                continue
            held, kept = loss["held"], loss["kept"]
            lost = ", ".join(f"{count} {thing}" for thing, count in entry["lost"].items())
            rows.append([name, loss["format"], held["reports"], kept["reports"], held["steps"], kept["steps"], kept["frames"], lost,
                         "; ".join(loss["named"])[:160] + ("" if made.returncode == 0 else " PAGE FAILED")])
    head = ["file", "format", "reports in", "reports out", "events in", "steps out", "frames out", "lost", "named"]
    writer = csv.writer(sys.stdout)
    writer.writerow(head)
    writer.writerows(rows)
    if OUT:
        os.makedirs(OUT, exist_ok=True)
        with open(os.path.join(OUT, "raw.csv"), "w", newline="") as file:
            csv.writer(file).writerows([head, *rows])


if __name__ == "__main__":
    main()
