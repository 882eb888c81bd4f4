"""Inputs of a program that crash it, by angr: what its states say of division by zero and of reads at null."""
import sys

import angr
import claripy

project = angr.Project(sys.argv[1], auto_load_libs=False)
card = claripy.BVS("card", 64)
state = project.factory.entry_state(stdin=angr.SimFile("stdin", content=card, size=8),
                                    add_options={angr.options.STRICT_PAGE_ACCESS, angr.options.PRODUCE_ZERODIV_SUCCESSORS})
manager = project.factory.simulation_manager(state)
manager.run()
for error in manager.errored:
    kind = "SIGFPE" if "ZeroDivision" in type(error.error).__name__ else "SIGSEGV"
    print(kind, hex(error.state.addr), error.error, error.state.solver.eval(card, cast_to=bytes).hex())
print({name: len(states) for name, states in manager.stashes.items()})
