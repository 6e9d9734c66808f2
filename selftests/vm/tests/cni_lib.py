# SPDX-License-Identifier: GPL-2.0
"""
What a container runtime does with a list of CNI plugins: a namespace per pod,
the plugins one after the other with the result of those before, in the
network namespace of the host, and all of them backwards when the pod goes.
"""

import copy
import json
import os
import random
import subprocess
import tempfile

from cli_lib import TOP, net, ns
from ktap import eq

BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
PLUGINS = [f"{BUILD}/cni", f"{BUILD}/tools/bin"]
ANNOTATIONS = "io.kubernetes.cri.pod-annotations"
DATA = tempfile.mkdtemp(prefix="srpol-cni-")

IPAM = {"type": "host-local", "dataDir": DATA,
        "ranges": [[{"subnet": "10.9.0.0/24"}],
                   [{"subnet": "2001:db8:9::/64"}]],
        "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]}
PTP = {"type": "ptp", "mtu": 1400, "ipam": IPAM}
BRIDGE = {"type": "bridge", "bridge": "cni0", "isGateway": True,
          "ipam": {**IPAM, "ranges": [[{"subnet": "10.8.0.0/24"}],
                                      [{"subnet": "2001:db8:8::/64"}]]}}
SRPOL = {"type": "srpol", "capabilities": {ANNOTATIONS: True}, "color": 1,
         "colors": [1, 2]}


class Refused(Exception):
    """A plugin says no: the error that it printed."""

    def __init__(self, plugin, status, text):
        super().__init__(f"{plugin}: status {status}: {text}")
        self.status = status
        self.error = json.loads(text)
        self.code = self.error["code"]


class Call:
    """A plugin that is running."""

    def __init__(self, plugin, config, env):
        self.plugin = plugin
        path, = (p for p in (f"{d}/{plugin}" for d in PLUGINS)
                 if os.path.exists(p))
        text = config if isinstance(config, str) else json.dumps(config)
        with tempfile.TemporaryFile("w+", encoding="utf-8") as stdin, ns:
            stdin.write(text)
            stdin.seek(0)
            # the directory is that of the host's namespace, not of a pod's
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                [path], stdin=stdin, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, encoding="utf-8",
                env={"PATH": os.environ["PATH"], **env})

    def result(self):
        """What it printed: JSON, or nothing."""
        out, err = self.process.communicate()
        if self.process.returncode:
            raise Refused(self.plugin, self.process.returncode, out or err)
        eq(err, "", f"{self.plugin} says on stderr")
        return json.loads(out) if out else None


class Pod:
    """A pod: its namespace, and what a runtime remembers of it."""

    def __init__(self, *plugins, annotations=None, args="", version="1.0.0"):
        self.netns = net.Netns()
        self.path = f"/run/netns/{self.netns.name}"
        self.container = f"{random.getrandbits(256):064x}"
        self.plugins = plugins or (PTP, SRPOL)
        self.annotations = annotations or {}
        self.args = args
        self.version = version
        self.results = [None]

    def env(self, command, **more):
        return {"CNI_COMMAND": command, "CNI_CONTAINERID": self.container,
                "CNI_NETNS": self.path, "CNI_IFNAME": "eth0",
                "CNI_ARGS": self.args, "CNI_PATH": ":".join(PLUGINS), **more}

    def config(self, plugin, prev):
        config = copy.deepcopy(plugin)
        capable = config.pop("capabilities", {})
        config.update(cniVersion=self.version, name="pods")
        if prev:
            config["prevResult"] = prev
        if capable.get(ANNOTATIONS) and self.annotations:
            config["runtimeConfig"] = {ANNOTATIONS: self.annotations}
        return config

    def call(self, command, plugin, prev, **env):
        return Call(plugin["type"], self.config(plugin, prev),
                    self.env(command, **env))

    def add_first(self):
        """All but the last plugin."""
        for plugin in self.plugins[:-1]:
            self.results.append(self.call("ADD", plugin, self.results[-1])
                                .result())

    def add_last(self):
        return self.call("ADD", self.plugins[-1], self.results[-1])

    def add(self):
        self.add_first()
        self.results.append(self.add_last().result())
        return self

    def check(self):
        for plugin in self.plugins:
            self.call("CHECK", plugin, self.results[-1]).result()

    def del_last(self, **env):
        return self.call("DEL", self.plugins[-1], self.results[-1], **env)

    def delete(self):
        """As a runtime does also for a pod that could not be added."""
        for plugin in reversed(self.plugins):
            self.call("DEL", plugin, self.results[-1]).result()

    def address(self, family):
        found, = (ip["address"].split("/")[0] for ip in self.results[-1]["ips"]
                  if (":" in ip["address"]) == (family == 6))
        return found

    def veth(self):
        """The host's end, as the first plugin tells it."""
        return [i["name"] for i in self.results[-1]["interfaces"]
                if not i.get("sandbox") and i["name"] != "cni0"][0]


def refusal(fn, *args, **kwargs):
    """What a plugin says that has to refuse."""
    try:
        fn(*args, **kwargs)
    except Refused as refused:
        eq((refused.status, refused.error["cniVersion"] != ""), (1, True),
           "status and version")
        return refused
    raise AssertionError("not refused")
