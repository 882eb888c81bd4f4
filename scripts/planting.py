"""Planting known mistakes into a copy of some crates, one at a time, to see that a test dies of each."""
import csv, os, pathlib, re, shutil, signal, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A test that takes so many times as long as without a mistake does not end; nor is it given fewer seconds than these.
PATIENCE = 3
LEAST_PATIENCE = 45


class Plant:
    """A mistake: its name, (file, what stands there, what is planted) for each edit, and the command whose tests are to die,
    with names of tests behind `--`."""

    def __init__(self, name, edits, command):
        self.name, self.edits, self.command = name, edits, tuple(command)


class Copy:
    """Some crates, with those they use, in a workspace of their own. Its target folder is kept from plant to plant."""

    def __init__(self, name, crates, environment=None):
        self.folder = ROOT / "target" / name
        self.environment = {**(environment or {}), "CARGO_TARGET_DIR": str(self.folder / "target")}
        crates = with_dependencies(crates)
        bring({place(crate): ROOT / place(crate) for crate in crates}, self.folder)
        manifest = re.sub(r"^members = .*$", 'members = ["crates/*/*"]', (ROOT / "Cargo.toml").read_text(), flags=re.M)
        if "process" not in crates:
            manifest = manifest.replace("opt-level = 3\ndebug-assertions = false", "").replace("[profile.dev.package.parallax-process]", "")
        (self.folder / "Cargo.toml").write_text(manifest)
        shutil.copy(ROOT / "Cargo.lock", self.folder / "Cargo.lock")

    def run(self, arguments, seconds):
        """Run a command; one that takes too long is ended with everything it started."""
        output = self.folder / "output.txt"
        with open(output, "w") as file:
            process = subprocess.Popen(
                arguments,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                code = -1
        return code, output.read_text(errors="replace")

    def build(self, command):
        return self.run([*command[: command.index("--")], "--no-run"], 1800)

    def edited(self, plant):
        """The files of a plant as they are, and as they are with the mistake."""
        files = {}
        for file, old, new in plant.edits:
            path = self.folder / file
            right, wrong = files.get(path) or (path.read_text(),) * 2
            if wrong.count(old) != 1:
                sys.exit(f"{plant.name}: {file} holds this {wrong.count(old)} times instead of once: {old}")
            files[path] = right, wrong.replace(old, new)
        return files


def place(crate):
    """Where a crate stands below the repository."""
    (folder,) = ROOT.glob(f"crates/*/{crate}")
    return folder.relative_to(ROOT)


def bring(folders, target):
    """Makes `target/crates` hold these folders and nothing else. What is the same stays: cargo looks at times."""
    wanted = {target / name / file.relative_to(folder): file for name, folder in folders.items() for file in folder.rglob("*") if file.is_file()}
    for old in [file for file in (target / "crates").rglob("*") if file.is_file() and file not in wanted]:
        old.unlink()
    for new, file in wanted.items():
        if not new.exists() or new.read_bytes() != file.read_bytes():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, new)


def with_dependencies(crates):
    """These crates and the crates of ours that they use, also in their tests."""
    known, left = {"features"}, list(crates)
    while left:
        crate = left.pop()
        if crate not in known:
            known.add(crate)
            left += re.findall(r"^parallax-([a-z]+)\b", (ROOT / place(crate) / "Cargo.toml").read_text(), re.M)
    return sorted(known)


def verdict(code, output):
    if code == 0:
        return "MISSED", ""
    failed = sorted(set(re.findall(r"^test (.+?) *\.\.\. FAILED$", output, re.M)))
    if failed:
        return "caught", ", ".join(failed)
    if code == -1:
        return "caught", "does not end"
    if "error[E" in output or "error: mismatched" in output or "could not compile" in output:
        return "caught", "does not compile"
    panicked = re.search(r"panicked at (\S+):\d+:", output)
    if panicked:
        return "caught", f"{panicked[1]} panicked"
    return "caught", "crashed" if "SIG" in output or "overflowed its stack" in output else output.strip().splitlines()[-1]


def arguments():
    """--out FOLDER and names of plants, as both commands take them."""
    given, out = sys.argv[1:], None
    if given[:1] == ["--out"]:
        out, given = pathlib.Path(given[1]), given[2:]
    return out, given


def plant_all(copy, plants, out, names, must_compile=False):
    """Plants all mistakes, or those that are named; ends with an error if a test misses one.

    A mistake that the compiler finds counts as caught, unless it `must_compile`.
    """
    strange = set(names) - {plant.name for plant in plants}
    if strange:
        sys.exit(f"no such plant: {', '.join(sorted(strange))}")
    # Before anything is built: a text that has moved on is the most frequent reason to stop.
    for plant in plants:
        copy.edited(plant)
    chosen = [plant for plant in plants if not names or plant.name in names]
    patience = {}
    for command in dict.fromkeys(plant.command for plant in chosen):
        code, output = copy.build(command)
        begun = time.time()
        if code == 0:
            code, output = copy.run(command, 1800)
        if code != 0:
            sys.exit(f"{' '.join(command)}: fails without a mistake planted:\n" + output[-3000:])
        patience[command] = max(LEAST_PATIENCE, PATIENCE * (time.time() - begun))
    rows = []
    for plant in chosen:
        files = copy.edited(plant)
        begun = time.time()
        try:
            for path, (_, wrong) in files.items():
                path.write_text(wrong)
            code, output = copy.build(plant.command)
            if code != 0 and must_compile:
                sys.exit(f"{plant.name}: does not compile:\n" + output[-3000:])
            built = time.time()
            what, by = verdict(*(copy.run(plant.command, patience[plant.command]) if code == 0 else (code, output)))
            named = plant.command[plant.command.index("--") + 1 :]
            if by == "does not end" and not any(word.startswith("-") for word in named):
                by = " ".join([*named, by])
        finally:
            for path, (right, _) in files.items():
                path.write_text(right)
        ended = time.time()
        rows.append((plant.name, what, by, built - begun, ended - built))
        print(f"{what:7} {plant.name}: {by} (built in {built - begun:.0f} s, tested in {ended - built:.1f} s)", flush=True)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        with open(out / "raw.csv", "w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["name", "verdict", "by", "build seconds", "test seconds"])
            table.writerows((name, what, by, f"{build:.0f}", f"{test:.1f}") for name, what, by, build, test in rows)
    if any(what == "MISSED" for _, what, *_ in rows):
        sys.exit(1)
