/* libstdc++'s headers refer to it, and glibc has it only since 2.32; 0, "there may be threads", is always right. */
char __libc_single_threaded __attribute__((visibility("hidden"), weak)) = 0;
