char __libc_single_threaded __attribute__((visibility("hidden"))) = 0;
