# Runs a command with a terminal as its standard error and, when a progress bar is seen there, sends it a signal, or NONE.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#     python3 stopped.py SIGNAL command...
#
# Ends as the command does (128 and the signal where one ended it). Says when the bar came (`bar: late`, `bar: early` within the first
# second, `bar: none`), what the list of processes shows then (`arguments: ...`), and the last line of the terminal (`said: ...`).
import os, pty, select, signal, subprocess, sys, time

PATIENCE = 120
main, side = pty.openpty()
begin = time.monotonic()
process = subprocess.Popen(sys.argv[2:], stderr=side, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
os.close(side)
seen, shown, arguments = b"", None, b""
while time.monotonic() - begin < PATIENCE:
    if select.select([main], [], [], 0.1)[0]:
        try:
            piece = os.read(main, 1000)
        except OSError:  # the other side is closed
            break
        seen += piece
        if shown is None and b"[" in seen and b"%" in seen:
            shown = time.monotonic() - begin
            if os.path.exists(f"/proc/{process.pid}/cmdline"):
                arguments = open(f"/proc/{process.pid}/cmdline", "rb").read()
            if sys.argv[1] != "NONE":
                process.send_signal(signal.Signals["SIG" + sys.argv[1]])
if process.poll() is None and time.monotonic() - begin >= PATIENCE:
    process.kill()
    print("bar: the command ran for too long")
code = process.wait()
lines = [line for line in seen.replace(b"\x1b[K", b"").replace(b"\r", b"\n").split(b"\n") if line.strip()]
print("bar:", "none" if shown is None else "late" if shown > 0.9 else "early")
print("arguments:", arguments.replace(b"\0", b" ").decode(errors="replace"))
print("said:", lines[-1].decode(errors="replace") if lines else "")
sys.exit(code if code >= 0 else 128 - code)
