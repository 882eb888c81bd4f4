"""The programs that the tools look at: real ones, from Debian's sources, and how each is compiled and run."""
import lzma, os, re, tarfile, urllib.request
from dataclasses import dataclass, field

from mirror import mirror

RELEASE = "bookworm"
BZIP2 = ["blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c", "bzlib.c"]


@dataclass
class Program:
    """One program: its Debian source, what the compilers look at, and what makes it run."""
    package: str
    folder: str
    files: list  # What the static tools look at.
    flags: list
    whole: list  # What makes up the program itself.
    race: list = field(default_factory=list)  # What the driver of races is linked with.
    define: str = ""
    cbmc: tuple = ()  # The function that CBMC begins with, and its file.
    cxx: bool = False

    def compiler(self, which):
        return {"gcc": "g++", "gcc-14": "g++-14", "gcc-15": "g++-15", "clang-19": "clang++-19"}[which] if self.cxx else which


PROGRAMS = [
    Program("zip", "zip30", ["zipnote.c", "unix/unix.c"], ["-I.", "-DUNIX"],
            ["zip.c", "zipfile.c", "zipup.c", "fileio.c", "util.c", "globals.c", "crc32.c", "crypt.c", "ttyio.c", "unix/unix.c",
             "deflate.c", "trees.c", "zbz2err.c"], ["crc32.c"], "USE_CRC", ("ex2in", "unix/unix.c")),
    Program("bzip2", "bzip2-1.0.8", ["decompress.c", "bzlib.c", "bzip2recover.c"], ["-I."], BZIP2, BZIP2, "USE_BZIP2",
            ("BZ2_hbCreateDecodeTables", "huffman.c")),
    Program("unzip", "unzip60", ["zipinfo.c", "unix/unix.c"], ["-I.", "-Iunix", "-DUNIX", "-DHAVE_DIRENT_H", "-DHAVE_TERMIOS_H"],
            ["unzip.c", "crc32.c", "crypt.c", "envargs.c", "explode.c", "extract.c", "fileio.c", "globals.c", "inflate.c", "list.c",
             "match.c", "process.c", "ttyio.c", "ubz2err.c", "unreduce.c", "unshrink.c", "zipinfo.c", "unix/unix.c"], ["crc32.c"],
            "USE_CRC"),
    Program("pbzip2", "pbzip2-1.1.13", ["BZ2StreamScanner.cpp", "ErrorContext.cpp"], ["-I.", "-I../bzip2-1.0.8", "-DUSE_STACKSIZE_CUSTOMIZATION"],
            ["pbzip2.cpp", "BZ2StreamScanner.cpp", "ErrorContext.cpp", *(f"../bzip2-1.0.8/{name}" for name in BZIP2)], cxx=True),
    Program("figlet", "figlet-2.2.5", ["figlet.c", "zipio.c"], ["-I.", "-DTLF_FONTS", '-DDEFAULTFONTDIR="fonts"', '-DDEFAULTFONTFILE="standard.flf"'],
            ["figlet.c", "zipio.c", "crc.c", "inflate.c", "utf8.c"], cbmc=("CrcUpdate", "crc.c")),
]


def fetch(work):
    """Takes the sources from the archive, unless they are there."""
    wanted = {one.package: one for one in PROGRAMS if not os.path.isdir(os.path.join(work, one.folder))}
    if not wanted:
        return
    with urllib.request.urlopen(mirror() + f"dists/{RELEASE}/main/source/Sources.xz", timeout=120) as answer:
        index = lzma.decompress(answer.read()).decode()
    for paragraph in index.split("\n\n"):
        name = re.search(r"^Package: (.*)$", paragraph, re.M)
        if name and name.group(1) in wanted:
            folder = re.search(r"^Directory: (.*)$", paragraph, re.M).group(1)
            file = re.search(r"(\S+\.orig\.tar\.\w+)$", paragraph, re.M).group(1)
            archive = os.path.join(work, file)
            urllib.request.urlretrieve(f"{mirror()}{folder}/{file}", archive)
            with tarfile.open(archive) as tar:
                tar.extractall(work, filter="data")
