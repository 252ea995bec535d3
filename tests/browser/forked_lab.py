"""Run JupyterLab with kernels that are forked from a process that has imported IPython and numpy.

`python forked_lab.py …` takes the arguments of `python -m jupyterlab`. Only Linux can do this. A kernel is a process as
before: a child of the server, in a session of its own. It imports ipywidgets, roofwidget and all else by itself; only
the imports that are the same for every kernel, most of the processor time of its start, are made once.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
LAUNCHER = ["-m", "ipykernel_launcher"]
# ipywidgets is not among them: it registers with its kernel when it is imported.
IMPORTED_ONCE = ("ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell", "numpy")


class ForkedKernel:
    """What jupyter_client uses of a `subprocess.Popen`, for a child that this process did not start itself."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or None while the kernel runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self) -> int:
        """Wait until the kernel has ended, and return its exit status."""
        while (status := self.poll()) is None:
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the kernel has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the kernel to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the kernel."""
        self.send_signal(signal.SIGKILL)


@functools.cache
def _forking() -> socket.socket:
    """Start the process that forks kernels, and return the channel to it. It ends with this process."""
    ours, theirs = socket.socketpair()
    fork = [sys.executable, __file__, "--fork", str(theirs.fileno())]
    # ipykernel reads the variable when it is imported: without the number no kernel would notice that the server ended.
    variables = os.environ | {"JPY_PARENT_PID": str(os.getpid())}
    subprocess.Popen(fork, env=variables, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    theirs.close()
    return ours


def _launch(command: list[str], *, env: dict[str, str], cwd: str | None = None, **_: Any) -> ForkedKernel:
    """Stand in for `jupyter_client.launcher.launch_kernel`."""
    if command[1:3] != LAUNCHER:
        raise ValueError(f"only kernels of IPython are forked, not {command}")
    env = env | {"JPY_PARENT_PID": str(os.getpid())}
    channel = _forking()
    channel.sendall(json.dumps([command[3:], env, cwd or str(Path.cwd())]).encode() + b"\n")
    return ForkedKernel(int(channel.recv(32)))


def _run_kernel(arguments: list[str], env: dict[str, str], cwd: str) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv[1:] = arguments
    runpy.run_module(LAUNCHER[1], run_name="__main__", alter_sys=True)


def _fork(descriptor: int) -> None:
    """Fork a kernel for each line of the channel. Kernels become children of the server, which adopts orphans."""
    for name in IMPORTED_ONCE:
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(fileno=descriptor) as channel, channel.makefile() as lines:
        for line in lines:
            middle = os.fork()
            if middle:
                os.waitpid(middle, 0)
                continue
            middle = os.getpid()
            if os.fork():
                os._exit(0)
            while os.getppid() == middle:
                time.sleep(0.001)
            # Before its number is known: the server signals the group in which it finds the kernel.
            os.setsid()
            channel.sendall(str(os.getpid()).encode())
            channel.close()
            lines.close()
            _run_kernel(*json.loads(line))
            return


def _serve() -> None:
    local_provisioner: Any = importlib.import_module("jupyter_client.provisioning.local_provisioner")
    local_provisioner.launch_kernel = _launch
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    importlib.import_module("jupyterlab.labapp").main()


if __name__ == "__main__":
    # Python puts the folder of this file first.
    del sys.path[0]
    if sys.argv[1:2] == ["--fork"]:
        _fork(int(sys.argv[2]))
    else:
        _serve()
