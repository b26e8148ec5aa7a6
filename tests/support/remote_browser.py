"""Steers headless Chromium over a pipe in its remote protocol: opens pages, presses keys, reads what is shown.

One browser opens the pages of many tests; each test has a profile of its own in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

READY = "document.documentElement?.dataset.ready"
#: The numbers that Chromium has for keys.
KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    """A headless Chromium whose keys can be pressed and whose pages can be read; ``folder`` is for its profile."""

    def __init__(self, command: str, folder: Path) -> None:
        hears, self._say = os.pipe()
        self._hear, says = os.pipe()
        options = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-pipe"
        script = f'exec "$0" {options} "--user-data-dir=$1" 3<&{hears} 4>&{says}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, command, str(folder)], pass_fds=(hears, says), stderr=subprocess.DEVNULL
        )
        os.close(hears)
        os.close(says)
        self._number, self._rest = 0, b""
        self._session: str | None = None
        self._profile: str | None = None

    def start_afresh(self) -> None:
        """Forget everything of the pages before, and open an empty one."""
        self._session = None
        if self._profile:
            self.call("Target.disposeBrowserContext", browserContextId=self._profile)
        self._profile = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self._profile)["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._say, json.dumps(message).encode() + b"\0")
        answer = self._next(lambda found: found.get("id") == self._number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _next(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read messages until the one that is wanted."""
        while True:
            while b"\0" not in self._rest:
                read = os.read(self._hear, 1 << 20)
                assert read, "the browser ended"
                self._rest += read
            text, self._rest = self._rest.split(b"\0", 1)
            found = json.loads(text)
            if wanted(found):
                return found

    def value(self, expression: str) -> Any:
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return found.get("result", {}).get("value")

    def open(self, address: str) -> None:
        """Open a page, and return when its scripts have run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        while not self.value(READY):
            time.sleep(0.005)

    def dump(self, page: Path, address: str = "") -> str:
        """Return the page as HTML after five seconds of its own clock; ``address`` is what follows ``#``."""
        self.start_afresh()
        self.call("Page.enable")
        self.call("Emulation.setVirtualTimePolicy", policy="pause")
        self.call("Page.navigate", url=f"{page.as_uri()}#{address}")
        self.call("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending", budget=5000)
        self._next(lambda found: found.get("method") == "Emulation.virtualTimeBudgetExpired")
        return str(self.value("document.documentElement.outerHTML"))

    def press(self, key: str) -> None:
        """Press a key, as the reader would."""
        known = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", text="\r" if key == "Enter" else "", **known)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def close(self) -> None:
        self._session = None
        self.call("Browser.close")
        self._process.wait(60)
