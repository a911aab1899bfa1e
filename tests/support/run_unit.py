"""Run unit test programs, two at a time; print what failed and a closing line."""
import concurrent.futures
import os
import re
import subprocess
import sys


def run(program):
    got = subprocess.run([program], capture_output=True, text=True, errors="replace",
                         env=dict(os.environ, CMOCKA_MESSAGE_OUTPUT="STDOUT"))
    text = got.stdout + got.stderr
    passed = sum(map(int, re.findall(r"\[  PASSED  \] (\d+) test", text)))
    failed = sum(map(int, re.findall(r"\[  FAILED  \] (\d+) test", text)))
    skipped = sum(map(int, re.findall(r"\[  SKIPPED \] (\d+) test", text)))
    if got.returncode != 0 and failed == 0:
        failed = 1
    return program, passed, failed, skipped, text


def main(programs):
    total = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for program, passed, failed, skipped, text in pool.map(run, programs):
            total = [total[0] + passed, total[1] + failed, total[2] + skipped]
            if failed:
                print(text)
            for line in re.findall(r"^skipped: .*$", text, re.M):
                print(line)
            print(f"{program}: {passed} passed, {failed} failed")
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
