"""The child process of `workbench.harness.launch`: does one job and tells of it in events."""

import json
import os
import shutil
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.harness import runner
from workbench.harness.progress import FILE_VARIABLE, append_event


def main(folder: Path) -> None:
    """Do the job described in `folder`; the last event is its end or its error."""
    _end_with_parent(folder)
    events = Path(os.environ[FILE_VARIABLE])
    job = json.loads((folder / "job.json").read_text())
    try:
        if job["notebook"]:
            from workbench.harness import _papermill

            _papermill.execute(job, events)
        else:
            _study(job)
        append_event(events, finished=True)
    except WorkbenchError as error:
        _fail(events, str(error), error.exit_code)
    except Exception as error:
        traceback.print_exc()
        _fail(events, f"{type(error).__name__}: {error}", 1)


def _study(job: dict[str, Any]) -> None:
    runner.run(job["method"], job["params"], data=job["data"], out=job["out"], threads=job["threads"])


def _fail(events: Path, message: str, code: int) -> None:
    append_event(events, error=message, exit=code)
    sys.exit(code)


def _end_with_parent(folder: Path) -> None:
    """End this process when its parent dies, which closes our standard input; a kernel ends with us."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        shutil.rmtree(folder, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
