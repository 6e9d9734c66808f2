# SPDX-License-Identifier: GPL-2.0
"""
A headless Chromium, told what to do by the DevTools protocol. Everything that
a page complains of is kept: exceptions, errors of the console, refused loads.
"""

import base64
import json
import re
import subprocess
import tempfile
import time

import websocket

PATIENCE = 60
# not the script of that name in /usr/bin, which would outlive its end
PROGRAM = "/usr/lib/chromium/chromium-headless-shell"


class Browser:
    def __init__(self, log):
        self.profile = tempfile.mkdtemp(prefix="srpol-browser-")
        self.log = open(log, "w+b")
        # what a container and root make necessary; no other host is asked
        self.process = subprocess.Popen(
            [PROGRAM, "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--no-first-run",
             "--disable-background-networking", "--hide-scrollbars",
             f"--user-data-dir={self.profile}", "about:blank"],
            stdout=self.log, stderr=self.log)
        self.complaints = []
        self.requests = []
        self.number = 0
        self.socket = None
        end = time.monotonic() + PATIENCE
        while not self.socket:
            if time.monotonic() > end or self.process.poll() is not None:
                self.end()
                raise TimeoutError("browser")
            time.sleep(0.05)
            with open(log, "rb") as f:
                where = re.search(rb"ws://(\S+?)/devtools", f.read())
            if where:
                self.socket = self.open(where[1].decode())
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, where):
        browser = websocket.create_connection(
            f"ws://{where}{self.path_of()}", timeout=PATIENCE)
        browser.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
        answer = json.loads(browser.recv())
        page = next(t["targetId"] for t in answer["result"]["targetInfos"]
                    if t["type"] == "page")
        browser.close()
        return websocket.create_connection(
            f"ws://{where}/devtools/page/{page}", timeout=PATIENCE)

    def path_of(self):
        self.log.seek(0)
        return re.search(rb"ws://[^/]+(/devtools/browser/\S+)",
                         self.log.read())[1].decode()

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method,
                                     "params": params}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ValueError(f"{method}: {answer['error']}")
                return answer["result"]
            self.take(answer)

    def take(self, event):
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get(
                "exception", {}).get("description", str(params)))
        elif event["method"] == "Runtime.consoleAPICalled" and \
                params["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(params["args"]))
        elif event["method"] == "Log.entryAdded" and \
                params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(params["entry"]))
        elif event["method"] == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise ValueError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, expression):
        """Until it is true; what it is then."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.js(expression)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"{expression}; the page says: " + self.js(
            "document.documentElement.innerText")[:300])

    def go(self, url):
        self.call("Page.navigate", url=url)

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def key(self, key, code=0):
        codes = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes[key],
                      **({"text": "\r"} if key == "Enter" and
                         kind == "keyDown" else {}))

    def shot(self, file):
        """The whole page as a picture."""
        height = self.js("document.documentElement.scrollHeight")
        width = self.js("document.documentElement.clientWidth")
        picture = self.call("Page.captureScreenshot", format="png",
                            captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": width,
                                  "height": height, "scale": 1})
        with open(file, "wb") as f:
            f.write(base64.b64decode(picture["data"]))

    def end(self):
        if self.socket:
            self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.log.close()
        subprocess.run(["rm", "-rf", self.profile], check=False)
