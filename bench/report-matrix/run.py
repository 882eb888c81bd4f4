#!/usr/bin/env python3
"""Runs real tools on real programs and measures what their reports lose on the way to the page.

    run.py WORK PARALLAX [OUT]

WORK is a folder for sources, tools and reports; PARALLAX the command. With OUT, the table is written to OUT/table.md, the
numbers to OUT/raw.csv, what was run to OUT/tools.txt. Programs are Debian's
sources of zip, bzip2, unzip, pbzip2 and figlet. A tool that is not there is reported as missing, never as passed. gcc 14 and CBMC come from Debian 13,
unpacked into WORK/trixie, gcc 15 from Debian testing, unpacked into WORK/testing; both run in a chroot, which needs root; Semgrep and Flawfinder come from PyPI.
"""
import csv, glob, json, os, shutil, subprocess, sys

from programs import PROGRAMS, fetch
from runtime import Runs

WORK, PARALLAX = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
OUT = sys.argv[3] if len(sys.argv) > 3 else None
HERE = os.path.dirname(os.path.abspath(__file__))
# Releases that this machine does not run, unpacked: for each newer compiler the one that has it.
STABLE, TESTING = os.path.join(WORK, "trixie"), os.path.join(WORK, "testing")
NEWER = {"gcc-14": STABLE, "gcc-15": TESTING}


def run(command, folder, stdout=None, stderr=None, inside=None, seconds=300):
    """Runs a tool; its status says little, for most report by failing. None when it is not there."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if inside:
        for one in PROGRAMS:
            if not os.path.isdir(os.path.join(inside + WORK, one.folder)):
                shutil.copytree(os.path.join(WORK, one.folder), os.path.join(inside + WORK, one.folder))
        environment["LC_ALL"] = "C"  # The unpacked release has no other locale, and would say so into the report.
        command = ["chroot", inside, "/usr/bin/bash", "-c", f"cd {folder} && exec \"$@\"", "-"] + command
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    for target, data in ((stdout, done.stdout), (stderr, done.stderr)):
        if target:
            with open(target, "wb") as file:
                file.write(data)
    return done


def compilers(program, folder, report):
    for source in program.files:
        stem = report(os.path.basename(source).rsplit(".", 1)[0])
        common = ["-c", "-O1", *program.flags, source, "-o", "/dev/null"]
        gcc, clang = (program.compiler(which) for which in ("gcc", "clang-19"))
        run([gcc, "-fanalyzer", *common], folder, stderr=stem + ".gcc12.txt")
        run([gcc, "-fanalyzer", "-fdiagnostics-format=json", *common], folder, stderr=stem + ".gcc12.json")
        for which, root in NEWER.items():
            for kind, ending in (("text", "txt"), ("json", "json"), ("sarif-stderr", "sarif")):
                if os.path.isdir(root):
                    run([program.compiler(which), "-fanalyzer", f"-fdiagnostics-format={kind}", *common], folder,
                        stderr=f"{stem}.{which.replace('-', '')}.{ending}", inside=root)
        for kind, ending in (("plist-multi-file", "plist"), ("sarif", "clang.sarif")):
            run([clang, "--analyze", "-w", *program.flags, "--analyzer-output", kind, "-Xclang", "-analyzer-config", "-Xclang",
                 "expand-macros=true", "-o", f"{stem}.{ending}", source], folder)
        run([clang, "--analyze", "-w", *program.flags, "-Xclang", "-analyzer-output=text", source], folder, stderr=stem + ".clang.txt")
    if os.path.isdir(STABLE) and program.cbmc:
        for kind, ending in (("--json-ui", "cbmc.json"), ("--xml-ui", "cbmc.xml"), (None, "cbmc.txt")):
            run(["cbmc", "--trace", "--unwind", "3", "--no-unwinding-assertions", "--object-bits", "12", *([kind] if kind else []),
                 "--function", program.cbmc[0], *program.flags, program.cbmc[1]], folder, stdout=f"{report('bounded')}.{ending}", inside=STABLE, seconds=120)


def scanners(files, folder, report):
    run(["cppcheck", "--xml", "--enable=all", "--quiet", *files], folder, stderr=report("all") + ".cppcheck.xml")
    rules = os.path.join(HERE, "rules.yaml")
    semgrep, flawfinder = (os.path.join(WORK, "pypi/bin", name) for name in ("semgrep", "flawfinder"))
    run([semgrep, "scan", "--quiet", "--metrics=off", "--disable-version-check", "--sarif", "--config", rules, *files], folder,
        stdout=report("all") + ".semgrep.sarif")
    run([flawfinder, "--sarif", *files], folder, stdout=report("all") + ".flawfinder.sarif")


def main():
    os.makedirs(WORK, exist_ok=True)
    fetch(WORK)
    rows = []
    for program in PROGRAMS:
        folder, reports = os.path.join(WORK, program.folder), os.path.join(WORK, "reports", program.folder)
        os.makedirs(reports, exist_ok=True)
        report = lambda name: os.path.join(reports, name)
        if not os.environ.get("MEASURE_ONLY"):
            compilers(program, folder, report)
            scanners(program.files, folder, report)
            Runs(program, folder, reports, run).all()
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
            made = subprocess.run([PARALLAX, "view", path, "--src", folder, "--src", HERE, "-o", page], capture_output=True, text=True)
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
        with open(os.path.join(OUT, "table.md"), "w") as file:
            file.write("| report | format | reports in | out | events in | steps out | lost | why |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
            for name, kind, into, out, events, steps, _, lost, named in rows:
                file.write(f"| `{name}` | {kind} | {into} | {out} | {events} | {steps} | {lost or '-'} | {named.replace('|', ' ') or '-'} |\n")
        with open(os.path.join(OUT, "tools.txt"), "w") as file:
            file.write("\n".join(versions()) + "\n")


def versions():
    """The first line of what each tool says of itself, or that it is missing."""
    tools = [("gcc", None), *NEWER.items(), ("clang-19", None), ("cppcheck", None), ("valgrind", None), ("cbmc", STABLE),
             (os.path.join(WORK, "pypi/bin/semgrep"), None), (os.path.join(WORK, "pypi/bin/flawfinder"), None)]
    for command, inside in tools:
        done = run([command, "--version"], os.path.join(WORK, PROGRAMS[0].folder), inside=inside) if not inside or os.path.isdir(inside) else None
        said = done and done.stdout.decode().strip().split("\n")[0]
        yield f"{os.path.basename(command)}: {said or 'missing'}"


if __name__ == "__main__":
    main()
