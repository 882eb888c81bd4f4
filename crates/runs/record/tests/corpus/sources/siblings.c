// Threads that wait for each other at pipes, locks and files: the emulator's own test of it, recorded.
#include "../../../../process/tests/programs/sources/waiting_x86.c"
