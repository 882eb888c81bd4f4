#!/usr/bin/env python3
"""Steps and seconds to the first answer of each tutorial in docs/first-hour, beside other tools on the same question.

usage: bench/first-answers/compare.py [TOOL...]    (tools: parallax gdb clang angr; angr by the interpreter that ANGR names;
       ONLY="A crash,Reports" takes these tasks alone)

A step is a command that a person types, at a shell or at a prompt; compiling the program is none, for all tools need it. A task is
answered if what is printed has what the question asks for. Seconds are those of the processor, the best of two rounds.
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
HOUR = "corpus/first-hour"

GDB_CRASH = ["run < corpus/first-hour/crash/friday.txt", "up", "print guest", "print &guests->next->next->next->next",
             "start < corpus/first-hour/crash/friday.txt", "watch *(long *)$2", "continue", "continue"]
# Task; what is asked; what compiles it; what the answer has in it; by tool: what is typed, how many steps that is.
TASKS = [
    ("A crash", "which line wrote the bad pointer?", f"gcc -g -o guests {HOUR}/crash/guests.c", r"check_in.*(line 31|guests\.c:31)", {
        "parallax": ([f"parallax record -o friday.rec -- ./guests < {HOUR}/crash/friday.txt",
                      f"parallax script friday.rec {HOUR}/crash/write.py"], 2),
        "gdb": (["gdb -nx -batch " + " ".join(f"-ex '{line}'" for line in ["set pagination off", *GDB_CRASH]) + " ./guests"], len(GDB_CRASH) + 1),
    }),
    ("A race", "which two accesses, under which locks?", f"gcc -g -pthread -o theatre {HOUR}/race/theatre.c", r"theatre\.c:\d+|line \d+", {
        "parallax": (["parallax record --seed 1 -o theatre.rec -- ./theatre", f"parallax script theatre.rec {HOUR}/race/races.py"], 2),
        "clang": ([f"clang-19 --analyze --analyzer-output text -o /dev/null {HOUR}/race/theatre.c"], 1),
    }),
    ("A null error in many files", "where is null followed, and on which input?", "true", r"null-dereference.*\n.*report\.c:7", {
        "parallax": ([f"parallax explore {HOUR}/null/*.c --stdin 6 --first --time 600"], 1),
        "clang": ([f"clang-19 --analyze --analyzer-output text {HOUR}/null/*.c"], 1),
    }),
    ("Reports", "the eight reports of two analysers, as code on one page", f"LC_ALL=C.UTF-8 gcc -c -fanalyzer -o /dev/null {HOUR}/triage/names.c 2> gcc.txt; "
     f"clang-19 --analyze --analyzer-output plist -o clang.plist {HOUR}/triage/names.c 2> clang.txt", r"8 reports", {
        "parallax": ([f"parallax view gcc.txt clang.plist --src {HOUR}/triage -o names.html"], 1),
    }),
    ("A program without source", "which inputs crash it?", f"cp {HOUR}/binary/gate .", r"(?s)SIGFPE.*SIGSEGV|SIGSEGV.*SIGFPE", {
        "parallax": (["parallax explore --stdin 8 --time 600 -o cards -- ./gate"], 1),
        "angr": ([f"{os.environ.get('ANGR', 'python3')} {TOP}/bench/first-answers/gate_angr.py ./gate"], 1),
    }),
    ("The papers", "what does a write through a pointer come to?", "true", r".", {
        "parallax": (["parallax wlp corpus/pl/morris.pl --post 'x == 5'"], 1),
    }),
]


def once(tool, compile_it, commands):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(TOP / "corpus", f"{folder}/corpus")
        subprocess.run(["bash", "-c", compile_it], cwd=folder, check=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = ""
        for command in commands:
            ran = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
            text += ran.stdout + ran.stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    wanted = sys.argv[1:] or ["parallax", "gdb", "clang", "angr"]
    print("| task | asked | tool | steps | processor s | answered |\n| --- | --- | --- | ---: | ---: | --- |")
    for task, asked, compile_it, answer, tools in TASKS:
        if task not in os.environ.get("ONLY", task).split(","):
            continue
        for tool, (commands, steps) in tools.items():
            if tool not in wanted:
                continue
            rounds = [once(tool, compile_it, commands) for _ in range(2)]
            text = rounds[0][0]
            said = "yes" if re.search(answer, text) else "no"
            if os.environ.get("SHOW"):
                print(text)
            print(f"| {task} | {asked} | {tool} | {steps} | {min(seconds for _, seconds in rounds):.1f} | {said} |", flush=True)


main()
