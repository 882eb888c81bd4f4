"""The tools that look at a run. Each program is built with them and made to fail on inputs that it does not expect."""
import glob, os, random, shutil

HERE = os.path.dirname(os.path.abspath(__file__))
MUTANTS = 300


def inputs(folder):
    """Files to pack, and the folder to work in."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    dice = random.Random(1)
    words = [bytes(dice.choices(b"abcdefghij \n", k=dice.randint(2, 9))) for _ in range(200)]
    for name, size in (("one.txt", 3000), ("two.txt", 90_000), ("three.bin", 900_000)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b" ".join(dice.choices(words, k=size // 6)))
    return folder


def mutants(good, folder, name):
    """Copies of a file with a few bytes changed, always the same ones."""
    data = open(good, "rb").read()
    # What is packed says little; the headers are at both ends.
    ends = [*range(min(120, len(data))), *range(max(0, len(data) - 300), len(data))]
    for number in range(MUTANTS):
        dice = random.Random(number)
        mutant = bytearray(data)
        for _ in range(dice.randint(1, 6)):
            mutant[dice.choice(ends)] = dice.choice([0, 1, 2, 0x7F, 0x80, 0xFF, dice.randrange(256)])
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(mutant)
        yield path


class Runs:
    """The reports of one program."""

    def __init__(self, program, folder, reports, run):
        self.program, self.folder, self.run = program, folder, run
        self.report = lambda name: os.path.join(reports, name)
        self.work = inputs(os.path.join(reports, "work"))
        self.binaries = os.path.join(reports, "bin")
        os.makedirs(self.binaries, exist_ok=True)

    def build(self, name, sources, options):
        binary = os.path.join(self.binaries, name)
        language = ["g++" if self.program.cxx else "gcc", "-g", "-O0", "-w", *options, *self.program.flags]
        if self.program.cxx:
            # The library is C.
            objects = []
            for source in [one for one in sources if one.endswith(".c")]:
                target = f"{binary}.{os.path.basename(source)}.o"
                self.run(["gcc", "-g", "-O0", "-w", *options, "-c", source, "-o", target], self.folder)
                objects.append(target)
            sources = [one for one in sources if not one.endswith(".c")] + objects
        done = self.run([*language, *sources, "-o", binary, "-lpthread"], self.folder)
        return binary if done and done.returncode == 0 else None

    def valgrind(self, tool, stem, command):
        more = ["--leak-check=full", "--show-leak-kinds=all"] if tool == "memcheck" else []
        out = self.report(f"{stem}.{tool}")
        self.run(["valgrind", f"--tool={tool}", *more, "--xml=yes", f"--xml-file={out}.xml", *command], self.work, seconds=120)
        self.run(["valgrind", f"--tool={tool}", *more, *command], self.work, stderr=out + ".txt", seconds=120)

    def driver(self):
        """The errors that no tool should miss, around a library of the program."""
        source = os.path.join(HERE, "driver.c")
        sources = [source, *self.program.race]
        define = f"-D{self.program.define}"
        plain = self.build("driver", sources, [define, "-DDYNAMIC_CRC_TABLE"])
        for tool, mode in (("memcheck", "memory"), ("helgrind", "race"), ("drd", "race")):
            if plain:
                self.valgrind(tool, "driver", [plain, mode])
        for sanitizer, mode in (("address", "memory"), ("thread", "race"), ("undefined", "undefined"), ("leak", "leak")):
            binary = self.build(f"driver.{sanitizer}", sources, [define, "-DDYNAMIC_CRC_TABLE", f"-fsanitize={sanitizer}"])
            if binary:
                self.run([binary, mode], self.work, stderr=self.report(f"driver.{sanitizer}.txt"))

    def itself(self):
        """The program as it is used, and on archives that are broken."""
        plain = self.build("program", self.program.whole, [])
        sanitized = {one: self.build(f"program.{one}", self.program.whole, [f"-fsanitize={one}"])
                     for one in ("address", "undefined", "thread", "leak")}
        shutil.copy("/etc/hostname", os.path.join(self.work, "extra.txt"))
        use = {
            "zip": lambda binary: [binary, "-9", "-r", "good.zip", "one.txt", "two.txt", "extra.txt"],
            "unzip": lambda binary: [binary, "-t", "good.zip"],
            "pbzip2": lambda binary: [binary, "-k", "-f", "-p4", "-b1", "three.bin"],
            "figlet": lambda binary: [binary, "-d", os.path.join(self.folder, "fonts"), "-w", "120", "-c", "parallax"],
        }[self.program.package]
        broken = {
            "zip": lambda binary, archive: [binary, "-FF", archive, "--out", "mended.zip"],
            "unzip": lambda binary, archive: [binary, "-t", "-P", "x", archive],
            "figlet": lambda binary, font: [binary, "-d", self.work, "-f", font, "parallax"],
        }.get(self.program.package)
        if self.program.package == "unzip":
            good = glob.glob(os.path.join(os.path.dirname(os.path.dirname(self.work)), "zip30", "*", "good.zip"))
            if good:
                shutil.copy(good[0], self.work)
        if plain:
            self.run(use(plain), self.work)
            self.valgrind("memcheck", "program", use(plain))
            if self.program.package == "pbzip2":
                for tool in ("helgrind", "drd"):
                    self.valgrind(tool, "program", use(plain))
        for sanitizer, binary in sanitized.items():
            if binary and (sanitizer != "thread" or self.program.package == "pbzip2"):
                self.run(use(binary), self.work, stderr=self.report(f"program.{sanitizer}.txt"))
        figlet = self.program.package == "figlet"
        good = os.path.join(self.folder, "fonts/standard.flf") if figlet else os.path.join(self.work, "good.zip")
        if broken and sanitized["address"] and os.path.exists(good):
            for archive in mutants(good, self.work, "mutant.flf" if figlet else "mutant.zip"):
                done = self.run(broken(sanitized["address"], archive), self.work, seconds=10)
                if done and b"AddressSanitizer" in done.stderr:
                    with open(self.report("broken.address.txt"), "wb") as file:
                        file.write(done.stderr)
                    if plain:
                        self.valgrind("memcheck", "broken", broken(plain, archive))
                    break

    def all(self):
        if self.program.define:
            self.driver()
        if self.program.package != "bzip2":
            self.itself()
