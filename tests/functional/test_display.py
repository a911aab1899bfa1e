"""What a person sees: a live region on a terminal, plain lines without one."""
import hashlib
import os
import re

import pytest
from screen import Terminal

TWO = ('local a = sh("first", "echo reading; sleep 1.5; echo > $out")\n'
       'local b = sh("second", "echo écrire; sleep 2.5; echo > $out")\n'
       'return sh("third", "cat " .. a .. " " .. b .. " > $out")')


def on_terminal(project, *args, columns=80, rows=24, **env):
    base = {k: v for k, v in project.env.items() if k not in ("NO_COLOR", "TERM")}
    return Terminal([project.program, *args], columns, rows, base | {"TERM": "xterm"} | env, project.folder)


def lines_of(text):
    """Its lines, with the times blotted out."""
    return [re.sub(r" +[0-9.]+ m?s  ", " TIME  ", line) for line in text.splitlines()]


PLAIN = ["3 to build", "[1/3] build TIME  first", "[2/3] build TIME  second", "[3/3] build TIME  third"]


def test_a_live_region_is_drawn_and_removed(project):
    terminal = on_terminal(project, "realise", "-j", "2", project.recipe(TWO))
    out, left = terminal.end()
    assert lines_of(left) == PLAIN
    assert out.strip().endswith("-third")
    both = [f for f in terminal.frames if re.search(r"^  build +0:0\d  first  reading$", f, re.M)]
    assert any(re.search(r"^  build +0:0\d  second  écrire$", f, re.M) for f in both)
    assert any(re.search(r"^0:0\d  0 of 3 done, 2 running$", f, re.M) for f in both)
    assert any(re.search(r"^0:0\d  1 of 3 done, 1 running$", f, re.M) for f in terminal.frames)
    assert terminal.screen.colours > 0 and terminal.screen.wraps
    # it is never erased without being drawn again, until all is done
    drawn = re.split(r"\r\033\[\d+A\033\[J", terminal.raw)
    assert len(drawn) > 10 and all("running" in part or "[3/3]" in part for part in drawn)


def test_plain_lines_without_a_terminal(project):
    out, err = project.realise(TWO, "-j", "2")
    assert lines_of(err) == PLAIN and "\033" not in err
    assert out.strip().endswith("-third")


def test_no_color_gives_no_colour_codes(project):
    recipe = project.recipe(TWO.replace("2.5; echo > $out", "0.5; exit 1"))
    terminal = on_terminal(project, "realise", "-j", "2", recipe, NO_COLOR="1")
    _, left = terminal.end(status=100)
    assert terminal.screen.colours == 0 and "build second failed" in left
    assert any("running" in f for f in terminal.frames)
    terminal = on_terminal(project, "realise", "-j", "2", recipe, NO_COLOR="")  # empty is as not set
    terminal.end(status=100)
    assert "\033[31mbuild second failed" in terminal.raw


def test_a_dumb_terminal_gets_plain_lines(project):
    terminal = on_terminal(project, "realise", "-j", "2", project.recipe(TWO), TERM="dumb")
    _, left = terminal.end()
    assert "\033" not in terminal.raw and lines_of(left) == PLAIN


def test_quiet_draws_nothing(project):
    terminal = on_terminal(project, "realise", "--quiet", project.recipe(TWO))
    out, _ = terminal.end()
    assert terminal.raw == "" and out.strip().endswith("-third")


def test_a_small_terminal_is_not_overrun(project):
    text = "local s = ''\nfor i = 1, 6 do s = s .. 'cat ' .. sh('a-package-with-a-long-name-' .. i, " \
           "'echo that $(seq 100); sleep 100; : ' .. i) .. ';' end\nreturn sh('all', s .. 'echo > $out')"
    terminal = on_terminal(project, "realise", "-j", "6", project.recipe(text), columns=40, rows=10)
    terminal.read(until=lambda screen: len(re.findall("  that 1 2.*…$", screen, re.M)) == 4 and " 6 running (2 n" in screen)
    lines = terminal.screen.text().splitlines()
    assert all(re.fullmatch(r"  build +0:\d\d  a-packag\S*…  that 1.*…", line) for line in lines[1:5]) and len(lines) == 6
    terminal.type(b"\003")
    terminal.end(status=130)
    assert terminal.screen.widest == 39


def test_downloads_show_bytes_and_rate(project, server, tmp_path):
    """Two at once, from a server without TLS: neither waits for the other's end."""
    (tmp_path / "www").mkdir()
    fetches = []
    for name in ("one", "two"):
        data = os.urandom(600_000)
        (tmp_path / "www" / name).write_bytes(data)
        fetches.append((name, hashlib.sha256(data).hexdigest()))
    url = server(tmp_path / "www", {f"/{name}": [{"rate": 400_000}] for name, _ in fetches})
    text = "".join(f'local {name} = forge.fetch {{ from = "url", name = "{name}", size = 600000, urls = {{ "{url}{name}" }}, '
                   f'sha256 = "{digest}" }}\n' for name, digest in fetches)
    terminal = on_terminal(project, "realise", project.recipe(text + 'return sh("x", "cat " .. one .. two .. " > $out")'
                                                              .replace('one .. two', 'one .. " " .. two')))
    _, left = terminal.end()
    progress = r"^  fetch +0:0\d  {}  \d+ kB of 600 kB, \d+ kB/s$"
    assert any(all(re.search(progress.format(name), f, re.M) for name in ("one", "two")) for f in terminal.frames)
    assert any(re.search(r"^0:0\d  0 of 3 done, 2 running, \d+ kB of 1.2 MB at \d+ kB/s$", f, re.M) for f in terminal.frames)
    assert left.startswith("2 to fetch (1.2 MB), 1 to build\n")


def test_interrupted_by_the_keyboard(project):
    terminal = on_terminal(project, "realise", project.recipe('return sh("long", "echo here; sleep 100")'))
    terminal.read(until=lambda screen: "  here" in screen)
    terminal.type(b"\003")
    _, left = terminal.end(status=130)
    assert "running" not in left and "forge: " in left.splitlines()[-1]
    assert project.tmp() == []


def test_a_progress_bar_shows_its_last_state(project):
    _, err = project.realise(r'return sh("x", "printf \"10%%\\r55%%\\r100%%\\r\\nnext\\r\\n\"; exit 1")', status=100)
    assert "  | 100%\n  | next\n" in err


@pytest.mark.parametrize("env", [{}, {"TERM": "dumb"}])
def test_what_a_build_prints_can_not_play_with_the_terminal(project, env):
    text = r'return sh("evil", "printf \"\\033[2J\\033]0;owned\\007\\302\\233A\\r\\n\"; sleep 0.4; exit 1")'
    terminal = on_terminal(project, "realise", project.recipe(text), **env)
    _, left = terminal.end(status=100)  # the screen refuses all that the display itself does not use
    assert "  | ?[2J?]0;owned??A\n" in left


def test_verbose_lines_stand_above_the_region(project):
    terminal = on_terminal(project, "realise", "--verbose", project.recipe(TWO))
    _, left = terminal.end()
    assert re.search(r"^first> reading$", left, re.M) and re.search(r"^second> écrire$", left, re.M)
    assert lines_of(left)[0] == PLAIN[0] and lines_of(left)[-1] == PLAIN[-1]
