# Runs inside GDB: stops a program at its marked lines, writes a core file each time, and then tells what GDB says of
# each core. The variables PROGRAM, SOURCE, FOLDER and STOPS (a list of [line, [expressions]]) are set before.
import json
import os

import gdb

for setting in [
    "confirm off", "pagination off", "width 0", "print null-stop off", "print static-members off", "debuginfod enabled off",
    "print entry-values no", "debug-file-directory /nonexistent", "startup-with-shell off", "max-completions 0", "print demangle on", "print asm-demangle on",
]:
    gdb.execute("set " + setting)
gdb.execute("handle SIGUSR1 nostop noprint pass")
gdb.execute("file " + PROGRAM)


def text(value):
    try:
        return value.format_string(repeat_threshold=0, max_elements=200, raw=True, static_members=False, deref_refs=True)
    except gdb.error as error:
        return "<error: %s>" % error


def live():
    for line, _ in STOPS:
        gdb.Breakpoint("%s:%d" % (os.path.basename(SOURCE), line), internal=True)
    hits, cores = {}, []
    gdb.execute("run > /dev/null", to_string=True)
    while gdb.selected_inferior().pid:
        line = gdb.selected_frame().find_sal().line
        pc = gdb.selected_frame().pc()
        hits[pc] = hits.get(pc, 0) + 1
        if hits[pc] <= 2 and len(cores) < 24:
            core = os.path.join(FOLDER, "core.%d" % len(cores))
            gdb.execute("gcore " + core, to_string=True)
            cores.append(core)
        gdb.execute("continue", to_string=True)
    return cores


def variables(frame):
    found = []
    try:
        block = frame.block()
    except RuntimeError:
        return None
    while block:
        for symbol in block:
            # What the compiler made up is no part of the source.
            if symbol.name.startswith("__vla_expr"):
                continue
            if symbol.is_variable or symbol.is_argument or symbol.is_constant:
                try:
                    value = symbol.value(frame)
                    found.append([symbol.name, text(value), str(symbol.type)])
                except (gdb.error, ValueError, RuntimeError) as error:
                    found.append([symbol.name, "<error: %s>" % error, str(symbol.type)])
        if block.function:
            break
        block = block.superblock
    return found


def told(core):
    gdb.execute("core-file " + core, to_string=True)
    frame = gdb.newest_frame()
    frames = []
    while frame is not None:
        frame.select()
        sal = frame.find_sal()
        frames.append({
            "function": frame.name(),
            "pc": frame.pc(),
            "line": sal.line if sal.symtab else 0,
            "file": os.path.basename(sal.symtab.filename) if sal.symtab else None,
            "inline": frame.type() == gdb.INLINE_FRAME,
            "variables": variables(frame),
        })
        frame = frame.older()
    gdb.newest_frame().select()
    line = frames[0]["line"]
    expressions = {}
    for where, texts in STOPS:
        if where == line:
            for one in texts:
                try:
                    expressions[one] = text(gdb.parse_and_eval(one))
                except gdb.error as error:
                    expressions[one] = "<error: %s>" % error
    return {"core": core, "frames": frames, "expressions": expressions}


def starts():
    """Where GDB puts a breakpoint on each function."""
    found = {"functions": {}}
    for name in FUNCTIONS:
        found["functions"][name] = sorted(one.address for one in gdb.Breakpoint(name).locations)
    return found


cores = live()
result = {"stops": [told(core) for core in cores]}
gdb.execute("core-file", to_string=True)
gdb.execute("file", to_string=True)
gdb.execute("file " + PROGRAM)
result.update(starts())
with open(os.path.join(FOLDER, "truth.json"), "w") as out:
    json.dump(result, out)
