"""Steers headless Chromium over a pipe in its remote protocol, for what no address can show: keys, clicks and times."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

READY = "document.documentElement?.dataset.ready && location.href"
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
        self._number, self._rest, self._session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._say, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                self._rest += os.read(self._hear, 1 << 20)
            found, self._rest = self._rest.split(b"\0", 1)
            answer = json.loads(found)
            if answer.get("id") == self._number:
                return answer["result"]

    def value(self, expression: str) -> Any:
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return found.get("result", {}).get("value")

    def open(self, address: str) -> None:
        """Open a page, and return when its scripts have run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        while self.value(READY) != address:
            time.sleep(0.005)

    def press(self, key: str) -> None:
        """Press a key, as the reader would."""
        known = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", text="\r" if key == "Enter" else "", **known)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def close(self) -> None:
        self.call("Browser.close")
        self._process.wait(10)
