#!/usr/bin/env python3
"""Unpacks Debian packages of another release, with everything they depend on, into a folder to chroot into.

    unpack.py FOLDER trixie gcc-14 g++-14 libc6-dev cbmc

Nothing is configured and nothing of the host is touched: enough to run a compiler that this release does not have.
"""
import lzma, os, re, subprocess, sys, urllib.request

from mirror import mirror


def fetch(address):
    with urllib.request.urlopen(mirror() + address, timeout=120) as answer:
        return answer.read()


def main(folder, release, *wanted):
    done = os.path.join(folder, ".unpacked")
    have = set(open(done).read().split()) if os.path.exists(done) else set()
    if set(wanted) <= have:
        return
    index = lzma.decompress(fetch(f"dists/{release}/main/binary-amd64/Packages.xz")).decode()
    packages, provided = {}, {}
    for paragraph in index.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Depends|Pre-Depends|Provides|Filename): (.*)$", paragraph, re.M))
        if fields:
            packages[fields["Package"]] = fields
            for name in re.findall(r"([^\s,(]+)(?: \([^)]*\))?", fields.get("Provides", "")):
                provided.setdefault(name, fields["Package"])
    queue, chosen = list(wanted), set()
    while queue:
        name = queue.pop()
        name = name if name in packages else provided.get(name, "")
        if not name or name in chosen:
            continue
        chosen.add(name)
        for field in ("Depends", "Pre-Depends"):
            for clause in packages[name].get(field, "").split(","):
                # The first alternative will do.
                queue.extend(re.findall(r"^\s*([^\s(|:]+)", clause))
    # The merged /usr must be there before the first package puts a file below /lib.
    for merged in ("bin", "lib", "lib64", "sbin"):
        os.makedirs(os.path.join(folder, "usr", merged), exist_ok=True)
        if not os.path.lexists(os.path.join(folder, merged)):
            os.symlink("usr/" + merged, os.path.join(folder, merged))
    for name in sorted(chosen - have):
        package = os.path.join(folder, name + ".deb")
        with open(package, "wb") as file:
            file.write(fetch(packages[name]["Filename"]))
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        os.remove(package)
        print(name, os.path.basename(packages[name]["Filename"]).split("_")[1], file=sys.stderr)
    with open(done, "w") as file:
        file.write("\n".join(sorted(have | chosen | set(wanted))))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
